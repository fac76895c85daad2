"""K-means with at least k rows a cluster: the three algorithms of El-Rashidy et al.

All begin with ⌊n/k⌋ random rows as centroids. In each round every row goes to the nearest centroid, and then the centroids
are computed anew, until they no longer change. The algorithms differ in how clusters get their k rows:

- `kmeans1` adjusts in every round: the rows farthest from the centroid leave clusters above k. In random order they join the
  nearest cluster below k while there is one, and then the nearest of all.
- `kmeans2` puts each row, in the table's order, into the nearest cluster below k while there is one, and then into the
  nearest of all.
- `kmeans3` adjusts once, after the last round.

`attributes = "all"`, as in the paper, compares rows by all columns but identifiers. Classes then tend to agree in the
sensitive column too, which helps data mining and the homogeneity attack alike. `"qi"` compares quasi-identifiers only.

Paper: M. El-Rashidy, N. Ayad, T. Taha, H. Sroor, "An Effective K-Anonymity Clustering Method for Less Effectiveness on
Accuracy of Data Mining Results", IJARCS 2011.
Decided here: the distance is Euclidean over columns scaled to 0..1, since the paper judges clusters by their square
error. A categorical centroid is the value with the least total taxonomic distance; means leave missing values out. Two
seeds are equal only where there are too few different rows. The adjustment measures to the centroids of the clusters as
assigned, and these do not move meanwhile. Its random order is drawn once, so a round depends on the centroids alone. A
cluster that no row is nearest to keeps its centroid. Rounds may never come to rest, so they also end when earlier centroids
come back (a cycle), and after `iterations` rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.centroids import Attributes, ByCentroids, Records, adjust, assign, deal, update
from auditor.model.arrays import Floats, Ints
from auditor.model.progress import Progress, silent


@dataclass(frozen=True)
class _KMeans(ByCentroids):
    """What the three algorithms share."""

    paper: ClassVar[str] = "El-Rashidy, Ayad, Taha & Sroor 2011"
    algorithm: ClassVar[int]

    attributes: Attributes = Attributes.ALL
    iterations: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(f"{self.name}: iterations", self.iterations, 1)

    def from_seeds(self, records: Records, seeds: Ints, rng: np.random.Generator, progress: Progress) -> Ints:
        order = rng.permutation(records.rows)
        return k_means(records, self.algorithm, self.k, seeds, order, self.iterations, progress)


@dataclass(frozen=True)
class KMeans1(_KMeans):
    """K-means, adjusted in every round."""

    name: ClassVar[str] = "kmeans1"
    summary: ClassVar[str] = "K-means clusters, brought to at least k rows in every round, generalised."
    algorithm: ClassVar[int] = 1


@dataclass(frozen=True)
class KMeans2(_KMeans):
    """K-means that fills clusters up to k first."""

    name: ClassVar[str] = "kmeans2"
    summary: ClassVar[str] = "K-means clusters, all filled up to k rows before any takes more, generalised."
    algorithm: ClassVar[int] = 2


@dataclass(frozen=True)
class KMeans3(_KMeans):
    """K-means, adjusted once at the end."""

    name: ClassVar[str] = "kmeans3"
    summary: ClassVar[str] = "K-means clusters, brought to at least k rows once at the end, generalised."
    algorithm: ClassVar[int] = 3


def k_means(
    records: Records,
    algorithm: int,
    k: int,
    seeds: Ints,
    order: Ints,
    iterations: int,
    progress: Progress = silent,
) -> Ints:
    """The cluster of each row of the table, by algorithm 1, 2 or 3. `seeds` are rows in the order of values, one for each
    cluster; `order` is the order, of the same rows, in which those that an adjustment takes out are put back."""
    measure = records.measure(square=True)
    centre = records.values[records.which[seeds]]
    near = np.full(len(records.values), -1, dtype=np.int64)
    table_order = np.argsort(records.space.rows)
    seen: set[bytes] = set()
    for done in range(iterations):
        what = f"k-means, round {done + 1} of at most {iterations}"
        if algorithm == 2:
            member = np.empty(records.rows, dtype=np.int64)
            size = np.zeros(len(centre), dtype=np.int64)
            deal(records, measure, centre, table_order, k, size, member, progress, what)
        else:
            member = assign(records, measure, centre, near, progress, what)
        if algorithm == 1:
            assigned = update(records, measure, member, centre)
            member = adjust(records, measure, assigned, member, order, k, progress, what)
        last, centre = centre, update(records, measure, member, centre)
        if np.array_equal(centre, last) or _again(centre, seen):
            break
    if algorithm == 3:
        member = adjust(records, measure, centre, member, order, k, progress, "k-means, adjustment")
    return records.space.groups(member)


def _again(centre: Floats, seen: set[bytes]) -> bool:
    """Whether these centroids were there before; they are noted."""
    mark = sha256(centre.tobytes()).digest()
    back = mark in seen
    seen.add(mark)
    return back
