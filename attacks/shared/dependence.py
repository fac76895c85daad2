"""Dependence: by how much columns go together, given the sensitive value.

Naive Bayes takes columns as independent once the sensitive value is known. Averaged one-dependence estimators let every
column in turn depend on one other, and take the mean:

    P(x | s) = mean over i of P(x_i | s) · Π over j ≠ i of P(x_j | s, x_i)
             = Π over j of P(x_j | s) · mean over i of Π over j ≠ i of lift_ij,   lift_ij = P(x_j | s, x_i) / P(x_j | s)

They ask for counts of pairs only, and expected counts will do. P(x_j | s, x_i) is drawn towards P(x_j | s) as if by `_SHRUNK`
people, so that where there are few people this is naive Bayes.

Paper: G. Webb, J. Boughton, Z. Wang, "Not So Naive Bayes: Aggregating One-Dependence Estimators", Machine Learning 2005.
Decided here: rare values are drawn towards naive Bayes in place of being left out as the i. Only columns whose labels are
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
        place, share, people = [], [], []
        for column in columns:
            bins, size = self.bins[column]
            key = bins[self.row] * self.classes + self.klass
            place.append(key)
            share.append(tables[column].reshape(-1)[key])
            people.append(np.bincount(key, weights=chance, minlength=size * self.classes)[key])
        for i, first in enumerate(columns):
            for j in range(i):
                size = self.bins[columns[j]][1]
                if self.bins[first][1] * size * self.classes > len(self.row):
                    continue
                key = place[i] * size + self.bins[columns[j]][0][self.row]
                both = np.bincount(key, weights=chance)[key]
                lift[i] *= (both / share[j] + _SHRUNK) / (people[i] + _SHRUNK)
                lift[j] *= (both / share[i] + _SHRUNK) / (people[j] + _SHRUNK)
        mean = lift.mean(axis=0) if columns else np.ones(len(self.row))
        return np.asarray(np.log(np.maximum(mean, _NEVER)))
