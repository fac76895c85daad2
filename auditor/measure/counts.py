"""Counts: how often each published value occurs in each class, as one sparse matrix (classes × values).

Every class statistic is computed from this. A *class* is a bucket of the release that counts. Under the conventions
`excluded` and `wildcard` the suppressed rows (all quasi-identifiers withheld) are left out of classes, counts and the
whole table; under `own` they are together one class of their own.

A *value* is a published label: a sensitive cell that covers several values counts as itself, since that is what is
published. Labels that denote the same set (`[10, 20]` and `10-20`) are one value; aliases that may stand for the same values
are each their own, since they stand for different ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from auditor.model.labels import Labels
from auditor.model.release import Release, Suppression

Matrix: TypeAlias = "NDArray[np.int64] | sparse.csr_array[np.int64, tuple[int, int]]"
"""Counts, rows = classes, columns = values: dense or sparse."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The counts above zero, by class and then by value; `sizes` are the classes' totals, `values` how many columns."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    count: NDArray[np.int64]
    sizes: NDArray[np.int64]
    values: int

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of each entry's value in its class."""
        share: NDArray[np.float64] = self.count / self.sizes[self.row]
        return share

    @property
    def whole(self) -> NDArray[np.int64]:
        """How often each value occurs in all classes together."""
        return np.bincount(self.column, weights=self.count, minlength=self.values).astype(np.int64)

    def per_class(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over each class's entries."""
        return np.bincount(self.row, weights=amounts, minlength=len(self.sizes)).astype(np.float64)


def entries(counts: Matrix) -> Entries:
    """The counts above zero of a dense or sparse matrix."""
    matrix = sparse.csr_array(counts)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()  # also puts each row's columns in order
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    count = matrix.data.astype(np.int64)
    column = matrix.indices.astype(np.int64)
    if (count <= 0).any():
        kept = count > 0
        row, column, count = row[kept], column[kept], count[kept]
    sizes = np.bincount(row, weights=count, minlength=matrix.shape[0]).astype(np.int64)
    return Entries(row, column, count, sizes, matrix.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """The counts of one column: `counts[c, v]` people of class c have value v, which is published as `label[v]`."""

    counts: sparse.csr_array[np.int64, tuple[int, int]]
    label: NDArray[np.int64]


def class_of_bucket(release: Release, suppression: Suppression = Suppression.EXCLUDED) -> NDArray[np.int64]:
    """The class number of each bucket, -1 for buckets that do not count."""
    number = np.full(len(release.sizes), -1, dtype=np.int64)
    counted = ~release.suppressed
    number[counted] = np.arange(int(counted.sum()))
    if suppression == Suppression.OWN:
        number[release.suppressed] = int(counted.sum())
    return number


def class_sizes(release: Release, suppression: Suppression = Suppression.EXCLUDED) -> NDArray[np.int64]:
    """The number of people in each class that counts."""
    number = class_of_bucket(release, suppression)
    kept = number >= 0
    sizes: NDArray[np.int64] = np.bincount(number[kept], weights=release.sizes[kept]).astype(np.int64)
    return sizes


def class_counts(release: Release, column: str, suppression: Suppression = Suppression.EXCLUDED) -> ClassCounts:
    """How often each value of a published column occurs in each class."""
    block = release.block_of(column)
    number = class_of_bucket(release, suppression)
    row, cell = number[block.bucket], block.cell(column).astype(np.int64)
    if (row < 0).any():
        row, cell = row[row >= 0], cell[row >= 0]
    labels = release.labels[column]
    occurring = np.flatnonzero(np.bincount(cell, minlength=len(labels.texts)))
    value = distinct_sets(labels, occurring)
    size = int(value.max(initial=-1)) + 1
    label = np.empty(size, dtype=np.int64)
    label[value[::-1]] = occurring[::-1]  # the first label of each set stands for it
    value_of_label = np.zeros(len(labels.texts), dtype=np.int64)
    value_of_label[occurring] = value
    classes = int(number.max(initial=-1)) + 1
    matrix = sparse.coo_array((np.ones(len(row), dtype=np.int64), (row, value_of_label[cell])), shape=(classes, size))
    counts = sparse.csr_array(matrix)
    counts.sum_duplicates()
    return ClassCounts(counts, label)


def distinct_sets(labels: Labels, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
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
