"""Clusters around centroids: what one-pass k-means, the k-means algorithms and weighted-feature C-means share.

In an ordered column (numbers, ordinals) a centroid is the mean position. In other columns it is the value with the least
total distance to the cluster's values, where the distance of two values is the height of their lowest common ancestor over
the height of the taxonomy (1 without a taxonomy); ties go to the first value. Means leave missing values out; where most
values are missing, the centroid is missing in that column. As everywhere, a missing value is a whole column away from every
other (`anonymizers/shared/distance.py`).

Rows are handled in the order of their values ("places"); equal rows are one tuple with several copies.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from anonymizers.base import need_quasi, published_columns
from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import Space
from auditor.model.arrays import Floats, Ints
from auditor.model.progress import Progress
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.centroids import Measure, Search
    from anonymizers.kernels.tree import Tree


_A_SLICE = 4000
"""Rows that a kernel handles between two reports of progress."""


class Attributes(StrEnum):
    """The columns that rows are compared by."""

    ALL = "all"
    QI = "qi"

    def columns(self, table: Table, name: str) -> Sequence[str]:
        """Their names: all columns that are published, or the quasi-identifiers."""
        quasi = need_quasi(table, name)
        return quasi if self is Attributes.QI else published_columns(table)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The rows of a space as points. `values` are the tuples, positions on lines from 0 to 1 (2 for missing) and slots of
    trees; `which` is the tuple of each row."""

    space: Space
    values: Floats
    which: Ints

    @classmethod
    def of(cls, space: Space) -> Records:
        """The records of a space."""
        values = space.tuples.astype(np.float64)
        values[:, : space.ordered] /= space.unit
        return cls(space, values, np.repeat(np.arange(len(space.tuples)), space.copies))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.which)

    def measure(self, *, square: bool, weight: Floats | None = None) -> Measure:
        """The distance: the weighted sum over columns of the distance in the column, or of its square."""
        from anonymizers.kernels.centroids import Measure

        space = self.space
        rise = space.rise()
        apart = rise / space.unit
        if weight is None:
            weight = np.ones(len(space.columns))
        return Measure(space.ordered, space.unit, square, weight, apart * apart if square else apart, rise, space.trees)

    def seeds(self, clusters: int, rng: np.random.Generator) -> Ints:
        """Random rows, one for each cluster; two of them are equal only where there are too few different rows."""
        order = rng.permutation(self.rows)
        _, place = np.unique(self.which[order], return_index=True)
        again = np.ones(self.rows, dtype=np.bool_)
        again[place] = False
        return np.concatenate([order[~again], order[again]])[:clusters]

    def search_tree(self, centre: Floats, chosen: Ints, measure: Measure) -> Tree:
        """A tree over the chosen centroids."""
        from anonymizers.kernels.tree import build

        return build(centre, chosen, np.sqrt(measure.weight) * self._extent())

    def _extent(self) -> Floats:
        """What a step in each column is worth, on the scale of `values`."""
        scale = self.space.weight
        scale[self.space.ordered :] /= self.space.unit
        return scale


@dataclass(frozen=True)
class ByCentroids(Clustering):
    """Clusters around ⌊n/k⌋ centroids, which random rows are at first."""

    attributes: Attributes = Attributes.QI

    @abstractmethod
    def from_seeds(self, records: Records, seeds: Ints, rng: np.random.Generator, progress: Progress) -> Ints:
        """The cluster of each row of the table. `seeds` are rows in the order of values, one for each cluster."""

    def compared(self, table: Table) -> Sequence[str]:
        return self.attributes.columns(table, self.name)

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        records = Records.of(Space.of(table, columns))
        return self.from_seeds(records, records.seeds(table.rows // self.k, rng), rng, progress)


def new_search(records: Records, clusters: int) -> Search:
    """A search among open clusters."""
    from anonymizers.kernels.centroids import Search
    from anonymizers.kernels.tree import STACK

    return Search(
        np.full(len(records.space.columns), np.nan),
        np.zeros(len(records.space.trees.leaf)),
        np.zeros(STACK, dtype=np.int64),
        np.zeros(STACK),
        np.ones(clusters, dtype=np.bool_),
    )


def assign(records: Records, measure: Measure, centre: Floats, near: Ints, progress: Progress, what: str) -> Ints:
    """The nearest cluster of each row. `near` holds the nearest cluster of each tuple: on entry that of the last round (-1:
    none), on return that of this round."""
    from anonymizers.kernels.centroids import assign as kernel

    tree = records.search_tree(centre, np.arange(len(centre)), measure)
    search = new_search(records, len(centre))
    count = len(records.values)
    for start in range(0, count, _A_SLICE):
        progress(start, count, what)
        kernel(tree, measure, search, records.values, centre, start, min(start + _A_SLICE, count), near)
    return near[records.which]


def update(records: Records, measure: Measure, member: Ints, centre: Floats) -> Floats:
    """The centroids of the clusters; a cluster without rows keeps the one it had."""
    from anonymizers.kernels.centroids import centroids

    out = centre.copy()
    centroids(records.space.tuples, records.which, member, measure, out)
    return out


def deal(
    records: Records,
    measure: Measure,
    centre: Floats,
    order: Ints,
    k: int,
    size: Ints,
    member: Ints,
    progress: Progress,
    what: str,
) -> None:
    """Puts the rows of `order`, one after the other, into the nearest cluster below k while there is one, and then into the
    nearest of all. Centroids do not move."""
    from anonymizers.kernels.centroids import deal as kernel
    from anonymizers.kernels.tree import REBUILD

    done, whole = 0, len(order)
    search = new_search(records, len(centre))
    search.open[:] = size < k
    while done < whole and search.open.any():
        chosen = np.flatnonzero(search.open)
        tree, left = records.search_tree(centre, chosen, measure), len(chosen)
        least = max(int(REBUILD * left), 1)
        while done < whole and left >= least:
            progress(done, whole, what)
            stop = min(done + _A_SLICE, whole)
            done, left = kernel(
                tree, measure, search, records.values, records.which, order, done, stop, least, k, size, member
            )
    search.open[:] = True
    tree = records.search_tree(centre, np.arange(len(centre)), measure)
    while done < whole:
        progress(done, whole, what)
        stop = min(done + _A_SLICE, whole)
        done, _ = kernel(
            tree, measure, search, records.values, records.which, order, done, stop, 0, whole + k + 1, size, member
        )


def adjust(
    records: Records,
    measure: Measure,
    centre: Floats,
    member: Ints,
    order: Ints,
    k: int,
    progress: Progress,
    what: str,
) -> Ints:
    """The adjustment: the rows farthest from the centroid leave every cluster above k. In the order of `order` they join the
    nearest cluster below k while there is one, and then the nearest of all."""
    from anonymizers.kernels.centroids import release_farthest

    size = np.zeros(len(centre), dtype=np.int64)
    out = release_farthest(measure, records.values, records.which, member, centre, k, size)
    member = member.copy()
    deal(records, measure, centre, order[out[order]], k, size, member, progress, what)
    return member
