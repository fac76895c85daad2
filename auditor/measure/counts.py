"""Counts: how often each published value occurs in each class, stored as the counts above zero.

Every class statistic is computed from these. They are found once for each column, by sorting people by class and value in
one packed key. A *class* is a bucket of the release that counts. Under the conventions `excluded` and `wildcard`, suppressed
rows (all quasi-identifiers suppressed) are in no class: a wildcard is found by searching for people, and somebody who is told
a person's class is not told about it. Under `own` they are one class together. Their sensitive values are published in any
case. So they count in the whole table, with which classes are compared (t, β, δ), as in ARX.

A *value* is a published label: a sensitive cell that covers several values counts as itself, since that is what is
published. Labels that denote the same set (`[10, 20]` and `10-20`) are one value. Aliases that may stand for the same values
are separate values, since they stand for different ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from auditor.model.arrays import Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.release import Release, Suppression

if TYPE_CHECKING:
    from scipy import sparse  # only attacks hold counts so: a release is made without it

_ROOM = 4
"""Counts are laid out in full first if that takes at most this many places per person."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The counts above zero, by class and then by value, with what statistics share."""

    row: Ints
    """The class of each entry."""
    column: Ints
    """The value of each entry."""
    count: Ints
    sizes: Ints
    """The number of people of each class."""
    values: int
    """The number of values."""
    share: Floats
    """The share of each entry's value in its class."""
    whole: Ints
    """How often each value occurs in the whole table: in all classes together, and in rows that are in no class."""
    distinct: Ints
    """The number of values in each class."""

    @classmethod
    def of(cls, row: Ints, column: Ints, count: Ints, classes: int, values: int, whole: Ints | None = None) -> Entries:
        """The entries of counts that are sorted by class and then by value. `whole` is how often each value occurs in the
        whole table; by default all of it is in classes."""
        sizes = np.bincount(row, weights=count, minlength=classes).astype(np.int64)
        if whole is None:
            whole = np.bincount(column, weights=count, minlength=values).astype(np.int64)
        share: Floats = count / sizes[row]
        return cls(row, column, count, sizes, values, share, whole, np.bincount(row, minlength=classes))

    def per_class(self, amounts: Floats) -> Floats:
        """The sum over each class's entries."""
        return np.bincount(self.row, weights=amounts, minlength=len(self.sizes)).astype(np.float64)

    def arranged(self, order: Ints) -> Entries:
        """The entries of some values, renumbered in this order; the others are left out."""
        if len(order) == self.values and (np.diff(order) > 0).all():
            return self
        place = np.full(self.values, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        column = place[self.column]
        kept = np.flatnonzero(column >= 0)
        kept = kept[np.argsort(self.row[kept] * len(order) + column[kept])]
        whole = self.whole[order]
        return Entries.of(self.row[kept], column[kept], self.count[kept], len(self.sizes), len(order), whole)


Matrix: TypeAlias = "Ints | sparse.csr_array[np.int64, tuple[int, int]] | Entries"
"""Counts, rows = classes, columns = values: dense, sparse, or the entries themselves."""


def entries(counts: Matrix) -> Entries:
    """The counts above zero of a dense or sparse matrix."""
    if isinstance(counts, Entries):
        return counts
    if isinstance(counts, np.ndarray):
        row, column = np.nonzero(counts > 0)
        return Entries.of(row, column, counts[row, column].astype(np.int64), *counts.shape)
    matrix = counts
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()  # also sorts each row's columns
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    count = matrix.data.astype(np.int64)
    column = matrix.indices.astype(np.int64)
    if (count <= 0).any():
        kept = count > 0
        row, column, count = row[kept], column[kept], count[kept]
    return Entries.of(row, column, count, matrix.shape[0], matrix.shape[1])


def counted(row: Ints, column: Ints, classes: int, values: int, whole: Ints | None = None) -> Entries:
    """The entries of people, given the class and the value of each; `whole` as in `Entries.of`."""
    key = row * values + column
    if classes * values <= _ROOM * len(key):
        every = np.bincount(key, minlength=classes * values)
        key = np.flatnonzero(every)
        count = every[key]
    else:
        key, count = np.unique(key, return_counts=True)
    row, column = np.divmod(key, max(values, 1))
    return Entries.of(row, column, count.astype(np.int64), classes, values, whole)


def added(row: Ints, column: Ints, count: Ints, classes: int, values: int) -> Entries:
    """The entries of counts of classes and values, in any order; counts of the same class and value are added up."""
    key = row * values + column
    if classes * values <= _ROOM * len(key):
        every = np.bincount(key, weights=count, minlength=classes * values).astype(np.int64)
        key = np.flatnonzero(every)
        total = every[key]
    else:
        key, where = np.unique(key, return_inverse=True)
        total = np.bincount(where, weights=count, minlength=len(key)).astype(np.int64)
    row, column = np.divmod(key, max(values, 1))
    return Entries.of(row, column, total, classes, values)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """The counts of one column; its value v is published as `label[v]`."""

    counts: Entries
    label: Ints


def class_of_bucket(release: Release, suppression: Suppression = Suppression.EXCLUDED) -> Ints:
    """The class number of each bucket, -1 for buckets that do not count."""
    number = np.full(len(release.sizes), -1, dtype=np.int64)
    counted = ~release.suppressed
    number[counted] = np.arange(int(counted.sum()))
    if suppression == Suppression.OWN:
        number[release.suppressed] = int(counted.sum())
    return number


def class_sizes(release: Release, suppression: Suppression = Suppression.EXCLUDED) -> Ints:
    """The number of people in each class that counts."""
    number = class_of_bucket(release, suppression)
    kept = number >= 0
    return np.asarray(np.bincount(number[kept], weights=release.sizes[kept]).astype(np.int64))


def class_counts(release: Release, column: str, suppression: Suppression = Suppression.EXCLUDED) -> ClassCounts:
    """How often each value of a published column occurs in each class."""
    block, labels = release.block_of(column), release.labels[column]
    number, cell = class_of_bucket(release, suppression), block.cell(column).astype(np.int64)
    value, label = values_of(labels, np.bincount(cell, minlength=len(labels.texts)))
    row, of_row = number[block.bucket], value[cell]
    whole = np.bincount(of_row, minlength=len(label))
    if (row < 0).any():
        row, of_row = row[row >= 0], of_row[row >= 0]
    return ClassCounts(counted(row, of_row, int(number.max(initial=-1)) + 1, len(label), whole), label)


def values_of(labels: Labels, times: Ints) -> tuple[Ints, Ints]:
    """The value of each label, and the label that stands for each value. `times` is how often each label occurs; those that
    do not occur have no value (-1)."""
    occurring = np.flatnonzero(times)
    value = distinct_sets(labels, occurring)
    label = np.empty(int(value.max(initial=-1)) + 1, dtype=np.int64)
    label[value[::-1]] = occurring[::-1]  # the first label of each set stands for it
    value_of_label = np.full(len(labels.texts), -1, dtype=np.int64)
    value_of_label[occurring] = value
    return value_of_label, label


def distinct_sets(labels: Labels, chosen: Ints) -> Ints:
    """A number for each chosen label, the same for labels that denote the same set of values.

    Labels that cover no value of the domain (centroids) are told apart by their published bounds, aliases by their text.
    """
    lo, hi = labels.lo[chosen], labels.hi[chosen]
    covers_none = lo > hi
    gap = np.zeros(len(chosen))
    seen: dict[bytes, int] = {}
    if labels.gaps:
        for place, label in enumerate(chosen.tolist()):
            if label in labels.gaps:
                gap[place] = seen.setdefault(labels.gaps[label].tobytes(), len(seen) + 1)
    keys = [
        gap,
        np.where(labels.is_alias[chosen], chosen, -1),
        np.where(covers_none, np.nan_to_num(labels.high[chosen]), 0.0),
        np.where(covers_none, np.nan_to_num(labels.low[chosen]), 0.0),
        np.where(covers_none, -1, hi),
        np.where(covers_none, -1, lo),
    ]
    order = np.lexsort(keys)
    differs = np.zeros(len(chosen), dtype=np.bool_)
    for key in keys:
        differs[1:] |= np.diff(key[order]) != 0
    number = np.empty(len(chosen), dtype=np.int64)
    number[order] = np.cumsum(differs)
    return number
