"""Dependence: by how much columns go together, given the sensitive value.

Naive Bayes takes columns as independent once the sensitive value is known. Averaged one-dependence estimators let every
column in turn depend on one other, and take the mean:

    P(x | s) = mean over i of P(x_i | s) · Π over j ≠ i of P(x_j | s, x_i)
             = Π over j of P(x_j | s) · mean over i of Π over j ≠ i of lift_ij,   lift_ij = P(x_j | s, x_i) / P(x_j | s)

They ask for counts of pairs only, and expected counts will do. lift_ij is drawn towards that of everybody, P(x_i, x_j) /
(P(x_i) P(x_j)), as if by `_SHRUNK` people: how columns go together whatever the value says nothing of the value, and where
there are few people, or nothing was learned yet, this is naive Bayes.

Paper: G. Webb, J. Boughton, Z. Wang, "Not So Naive Bayes: Aggregating One-Dependence Estimators", Machine Learning 2005.
Decided here: rare values are drawn towards everybody in place of being left out as the i. Only columns whose labels are
single values take part; two columns with more combinations of values and classes than there are pairs to learn from are
taken as independent.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attacks.shared.learning import Lesson, Pairs
from auditor.model.arrays import Floats, Ints

_SHRUNK = 60.0
_NEVER = 1e-300


class Dependence:
    """The exact columns of one parted block, for each pair of a fragment and a slot."""

    def __init__(self, lesson: Lesson, block: int, pairs: Pairs) -> None:
        self.row, self.classes, self.klass = pairs.row, lesson.classes, lesson.slot_class[pairs.slot]
        self.bins: dict[str, tuple[Ints, int]] = {}
        for attribute in lesson.attributes:
            if attribute.block == block and not attribute.wide:
                bin_of = np.asarray(attribute.cover.argmax(axis=1)).reshape(-1)
                label = lesson.release.blocks[block].cell(attribute.column)
                self.bins[attribute.column] = bin_of[label].astype(np.int64), attribute.cover.shape[1]

    def log_lift(self, chance: Floats, tables: Mapping[str, Floats]) -> Floats:
        """What is added to naive Bayes' log P for each pair, by the chances so far and the tables P(bin | class)."""
        columns = list(self.bins)
        lift = np.ones((len(columns), len(self.row)))
        place, share, people, everybody = [], [], [], []
        for column in columns:
            bins = self.bins[column][0]
            key = bins[self.row] * self.classes + self.klass
            place.append(key)
            share.append(tables[column].reshape(-1)[key])
            people.append(_summed(key, chance))
            everybody.append(_summed(bins[self.row], chance) / chance.sum())
        for i, first in enumerate(columns):
            for j in range(i):
                size = self.bins[columns[j]][1]
                if self.bins[first][1] * size * self.classes > len(self.row):
                    continue
                other = self.bins[columns[j]][0][self.row]
                both = _summed(place[i] * size + other, chance)
                drawn = _SHRUNK * _summed(self.bins[first][0][self.row] * size + other, chance) / chance.sum()
                drawn /= everybody[i] * everybody[j]
                lift[i] *= (both / share[j] + drawn) / (people[i] + _SHRUNK)
                lift[j] *= (both / share[i] + drawn) / (people[j] + _SHRUNK)
        mean = lift.mean(axis=0) if columns else np.ones(len(self.row))
        return np.asarray(np.log(np.maximum(mean, _NEVER)))


def _summed(key: Ints, weight: Floats) -> Floats:
    """For each entry the weight of all with its key."""
    return np.asarray(np.bincount(key, weights=weight)[key])
