"""How close synthetic records come to people: the figures that tools for synthetic data print.

- share: of the records, how many are nearer to somebody of a group than to anybody of an equally large other group;
  ties count half. One half where the records owe nothing to the first group (the "DCR share");
- distances to the closest (DCR), and how far the closest is as a share of the second closest (NNDR);
- identical records: those at distance 0 from somebody;
- ε-identifiability: the share of people who are nearer to a record than to anybody else of their group.

Papers: M. Platzer, T. Reutterer, "Holdout-Based Empirical Assessment of Mixed-Type Synthetic Data", Frontiers in Big
Data 2021 (DCR share, NNDR); J. Yoon, L. Drumright, M. van der Schaar, "Anonymization Through Data Synthesis Using
Generative Adversarial Networks (ADS-GAN)", IEEE JBHI 2020 (ε-identifiability); Y. Yao et al., "The DCR Delusion", 2025
(what these do not show).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditor.measure.densities import near
from auditor.measure.points import Axes
from auditor.model.arrays import Floats

_SAME = 1e-9


def identical(records: Axes, people: Axes) -> Floats:
    """1 for each record that is the very image of somebody."""
    rows = [np.column_stack([one.at.round(9) + 0.0, one.values]) for one in (records, people)]
    number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(-1)
    return np.isin(number[: records.rows], number[records.rows :]).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Close:
    """How close records come to a group of people: for each record the distances to the two nearest of them, and for each
    person the distances to the nearest record and to the nearest other person."""

    to_people: Floats
    to_record: Floats
    to_others: Floats

    @classmethod
    def of(cls, records: Axes, people: Axes) -> Close:
        """The distances of records and people, of whom there are at least two."""
        to_people = np.sqrt(near(records, people, 2).square)
        to_record = np.sqrt(near(people, records, 1).square[:, 0])
        among = near(people, people, 2)  # the nearest is the person themselves, or somebody at the same place
        return cls(to_people, to_record, np.sqrt(among.square[:, 1]))

    @property
    def ratio(self) -> Floats:
        """How far the closest is from each record, as a share of the second closest; 1 where both are at the same place."""
        first, second = self.to_people[:, 0], self.to_people[:, 1]
        return np.divide(first, second, out=np.ones(len(first)), where=second > _SAME)

    @property
    def identifiable(self) -> Floats:
        """1 for each person who is nearer to a record than to anybody else."""
        return (self.to_record < self.to_others - _SAME).astype(np.float64)

    def nearer(self, others: Close) -> Floats:
        """1 for each record that is nearer to these people than to others, one half where both are as near."""
        ours, theirs = self.to_people[:, 0], others.to_people[:, 0]
        return np.where(np.abs(ours - theirs) <= _SAME, 0.5, (ours < theirs).astype(np.float64))
