"""EBKC: k-anonymous clusters by information entropy, bounded in size and diameter.

The entropy of a column says how much it tells about people, so a column counts by its share of the sum of the entropies of
all quasi-identifiers. The *diameter* of a class is its information loss, weighted so: 0 where all rows are equal, 1 where
it covers everything. The first class starts from a random row, every further one from the row farthest from the last seed.
A class takes the row that keeps its diameter least, until it has k rows; it goes on as long as its diameter stays within
`diameter` and it has fewer than `most` rows (default 2k - 1). When fewer than k rows are left, each joins the class whose
loss it raises least. Values are then generalised.

Paper: J. Zhang, Y. Zhao, Y. Yang, J. Yang, "A K-anonymity Clustering Algorithm Based on the Information Entropy", CSCWD
2014, named by Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation".
Decided here: the paper was not available. Its abstract names information entropy, a "diameter", and a clustering criterion
by the largest size of a class. That entropies weigh the columns, what the diameter is, how both limits act, their defaults,
and all else (as in `kmember`) are ours. Weights are rounded to thousandths, so that losses are whole numbers and ties are
ties. A class can exceed `most` by the rows that are left at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import Space
from anonymizers.shared.widening import Cover, Rows, join_rest
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.table import Table

_WHOLE = 1_000
"""The sum of the weights of all columns."""
LARGEST = 100_000
"""The largest `most`: losses of larger classes would not fit into 64 bits."""


@dataclass(frozen=True)
class Ebkc(Clustering):
    """Classes of k rows and more, grown within a diameter in which columns count by their entropy."""

    name: ClassVar[str] = "ebkc"
    summary: ClassVar[str] = (
        "Greedy clustering with columns weighted by entropy, up to a size and a diameter, generalised."
    )
    paper: ClassVar[str] = "Zhang, Zhao, Yang & Yang 2014 (not available: built from its abstract)"

    diameter: float = 0.05
    most: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.diameter <= 1:
            raise UsageError(f"{self.name}: diameter must be from 0 to 1. Got {self.diameter:g}.")
        if self.most is not None and not self.k <= self.most <= LARGEST:
            raise UsageError(f"{self.name}: most must be from k = {self.k} to {LARGEST}. Got {self.most}.")

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        space = Space.of(table, columns)
        share = {column: entropy(table.counts(column)) for column in columns}
        weight = weights(np.array([share[column] for column in space.columns]))
        most = 2 * self.k - 1 if self.most is None else self.most
        return bounded_clusters(space, weight, self.k, most, self.diameter, int(rng.integers(table.rows)), progress)


def entropy(counts: Ints) -> float:
    """The entropy of values that occur so often, in bits."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def weights(entropies: Floats) -> Ints:
    """What each column counts, in thousandths: its share of the sum of entropies; all alike where all are 0."""
    share = entropies / entropies.sum() if entropies.sum() > 0 else np.full(len(entropies), 1 / len(entropies))
    return np.asarray(np.rint(share * _WHOLE), dtype=np.int64)


def bounded_clusters(
    space: Space, weight: Ints, k: int, most: int, diameter: float, start: int, progress: Progress = silent
) -> Ints:
    """The class of each row of the table. `start` is the first seed, as a place in the order of values."""
    rows = Rows(space, weight)
    left, member, covers = np.ones(len(rows), dtype=np.bool_), np.full(len(rows), -1, dtype=np.int64), list[Cover]()
    ceiling = int(diameter * int(weight.sum()) * space.unit * (1 + 1e-12))
    seed, free = start, len(rows)
    while free >= k:
        progress(len(rows) - free, len(rows), "EBKC")
        if covers:
            places = np.flatnonzero(left)
            seed = int(places[rows.losses(rows.cover(seed), places).argmax()])
        cover, place = rows.cover(seed), seed
        while True:
            member[place], left[place] = len(covers), False
            free -= 1
            if cover.size >= most or not free:
                break
            places = np.flatnonzero(left)
            losses = rows.losses(cover, places)
            if cover.size >= k and losses.min() > ceiling:
                break
            place = int(places[losses.argmin()])
            rows.add(cover, place)
        covers.append(cover)
    join_rest(rows, covers, member)
    return space.groups(member)
