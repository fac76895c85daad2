"""Weighted-feature C-means: k-means in which columns that tell clusters apart weigh more.

⌊n/k⌋ random rows start as centroids, and all columns weigh the same. Each round puts every row into the cluster with the
nearest centroid, computes the centroids anew, and moves the weights halfway to Δ: w ← ½(w + Δ), Δ_j = (b_j/a_j) / Σ(b/a).
Here a_j is the dispersion of column j within clusters: the total squared distance of rows to their centroid. b_j is its
dispersion between clusters: the same for centroids to the centroid of all rows, each counted once for each row of its
cluster. When no row changes its cluster any more, each cluster below k is merged into the nearest large one. Values are then
generalised.

Paper: C.-C. Chiu, C.-Y. Tsai, "A k-Anonymity Clustering Method for Effective Data Privacy Preservation", ADMA 2007 (as
in M. El-Rashidy et al., "An Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: distances are weighted sums of squared distances in columns scaled to 0..1. Columns in which all rows of every
cluster agree (a_j = 0 < b_j) share Δ in proportion to b, the limit of the formula; where no column differs between clusters
the weights stay. Each small cluster joins the nearest of those that have k rows by themselves (there always is one). A
categorical centroid is the value with the least total taxonomic distance; means leave missing values out. Rounds end after
`iterations` at the latest. `attributes = "qi"` compares rows by their quasi-identifiers, `"all"` by all columns but
identifiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.centroids import ByCentroids, Records, assign, new_search, update
from auditor.model.arrays import Floats, Ints
from auditor.model.progress import Progress, silent

if TYPE_CHECKING:
    from anonymizers.kernels.centroids import Measure


@dataclass(frozen=True)
class WeightedFeatureCMeans(ByCentroids):
    """K-means with weights of columns that follow their dispersion; small clusters are merged."""

    name: ClassVar[str] = "wfcm"
    summary: ClassVar[str] = "K-means with self-adjusting column weights; small clusters merged, generalised."
    paper: ClassVar[str] = "Chiu & Tsai 2007"

    iterations: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(f"{self.name}: iterations", self.iterations, 1)

    def from_seeds(self, records: Records, seeds: Ints, rng: np.random.Generator, progress: Progress) -> Ints:
        return weighted_c_means(records, self.k, seeds, self.iterations, progress)


def weighted_c_means(records: Records, k: int, seeds: Ints, iterations: int, progress: Progress = silent) -> Ints:
    """The cluster of each row of the table. `seeds` are rows in the order of values, one for each cluster."""
    from anonymizers.kernels.centroids import dispersion

    plain = records.measure(square=True)
    weight = np.full(len(plain.weight), 1 / len(plain.weight))
    centre = records.values[records.which[seeds]]
    whole = update(records, plain, np.zeros(records.rows, dtype=np.int64), centre[:1])[0]
    near = np.full(len(records.values), -1, dtype=np.int64)
    for done in range(iterations):
        measure = records.measure(square=True, weight=weight)
        last = near.copy()
        what = f"C-means, round {done + 1} of at most {iterations}"
        member = assign(records, measure, centre, near, progress, what)
        if np.array_equal(near, last):
            break
        centre = update(records, measure, member, centre)
        within, between = dispersion(plain, records.values, records.which, member, centre, whole)
        weight = next_weight(weight, within, between)
    member = merge(records, records.measure(square=True, weight=weight), centre, member, k)
    return records.space.groups(member)


def next_weight(weight: Floats, within: Floats, between: Floats) -> Floats:
    """The weights after a round, from the dispersion of each column within and between clusters."""
    parted = (within == 0) & (between > 0)
    ratio = (
        between * parted if parted.any() else np.divide(between, within, out=np.zeros_like(within), where=within > 0)
    )
    if not ratio.any():
        return weight
    moved: Floats = 0.5 * (weight + ratio / ratio.sum())
    return moved


def merge(records: Records, measure: Measure, centre: Floats, member: Ints, k: int) -> Ints:
    """Each cluster below k joins the one of those with at least k rows that has the nearest centroid."""
    from anonymizers.kernels.centroids import look_for, nearest

    size = np.bincount(member, minlength=len(centre))
    tree = records.search_tree(centre, np.flatnonzero(size >= k), measure)
    search = new_search(records, len(centre))
    target = np.arange(len(centre))
    for small in np.flatnonzero((size > 0) & (size < k)):
        look_for(measure, search, centre[small])
        target[small] = nearest(tree, measure, search, -1, np.inf)
    return target[member]
