"""How close synthetic records come to people: the figures that tools for synthetic data print.

- share: of the records, how many are nearer to somebody of a group than to anybody of an equally large other group;
  ties count half. One half where the records owe nothing to the first group (the "DCR share");
- distances to the closest (DCR), and how far the closest is as a share of the second closest (NNDR);
- identical records: those at distance 0 from somebody;
- ε-identifiability: the share of people who are nearer to a record than to anybody else of their group.

Where a person has several rows (`person` numbers them from 0), the closest is the person with the closest row, the second
closest is somebody else, and nobody is kept from being found by another row of their own.

Papers: M. Platzer, T. Reutterer, "Holdout-Based Empirical Assessment of Mixed-Type Synthetic Data", Frontiers in Big
Data 2021 (DCR share, NNDR); J. Yoon, L. Drumright, M. van der Schaar, "Anonymization Through Data Synthesis Using
Generative Adversarial Networks (ADS-GAN)", IEEE JBHI 2020 (ε-identifiability); Y. Yao et al., "The DCR Delusion", 2025
(what these do not show).
"""

from __future__ import annotations

import numpy as np

from auditor.measure.densities import near
from auditor.measure.points import Axes
from auditor.model.arrays import Bools, Floats, Ints

_SAME = 1e-9


def identical(records: Axes, people: Axes) -> Floats:
    """1 for each record that is the very image of somebody."""
    rows = [np.column_stack([one.at.round(9) + 0.0, one.values]) for one in (records, people)]
    number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(-1)
    return np.isin(number[: records.rows], number[records.rows :]).astype(np.float64)


def to_people(records: Axes, people: Axes, person: Ints | None = None) -> Floats:
    """For each record the distances to the closest of at least two people, and to the second closest (records × 2)."""
    found = near(records, people, 1 + _most(person))
    second = found.square[:, -1]
    if person is not None:
        whose = person[found.place]
        second = np.where(whose != whose[:, :1], found.square, np.inf).min(axis=1)
    return np.asarray(np.sqrt(np.column_stack([found.square[:, 0], second])))


def ratio(apart: Floats) -> Floats:
    """How far the closest is from each record, as a share of the second closest; 1 where both are at the same place."""
    first, second = apart.T
    return np.asarray(np.divide(first, second, out=np.ones(len(first)), where=second > _SAME))


def nearer(ours: Floats, theirs: Floats) -> Floats:
    """1 for each record that is nearer to some people than to others, one half where both are as near."""
    return np.where(np.abs(ours - theirs) <= _SAME, 0.5, (ours < theirs).astype(np.float64))


def identifiable(records: Axes, people: Axes, person: Ints | None = None) -> Floats:
    """1 for each of at least two people who is nearer to a record than to anybody else."""
    to_record = np.sqrt(near(people, records, 1).square[:, 0])
    among = near(people, people, 1 + _most(person))
    whose = np.arange(people.rows) if person is None else person
    others = np.where(whose[among.place] != whose[:, None], among.square, np.inf)
    found = np.zeros(int(whose.max()) + 1)
    np.maximum.at(found, whose, to_record < np.sqrt(others.min(axis=1)) - _SAME)
    return found


def as_near(apart: Floats, least: Floats) -> Bools:
    """Which distances are as small as others, but for rounding."""
    return apart <= least + _SAME


def _most(person: Ints | None) -> int:
    """How many rows a person has at most."""
    return 1 if person is None else int(np.bincount(person).max())
