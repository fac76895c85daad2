"""One-pass k-means (OKA): clusters from a single pass over the rows, then brought to at least k rows each.

⌊n/k⌋ random rows start a cluster each. In one pass, every other row joins the cluster with the nearest centroid, which is
updated at once. Then clusters are adjusted: the rows farthest from the centroid leave clusters above k. In random order they
join the nearest cluster below k while there is one, and then the nearest of all. Values are then generalised.

Paper: J.-L. Lin, M.-C. Wei, "An Efficient Clustering Method for k-Anonymization", PAIS 2008 (as in M. El-Rashidy et al., "An
Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: the distance is a sum over columns: of the difference over the range, or of the height of the common ancestor
over that of the taxonomy, squared. That is the distance of `kmeans1` to `kmeans3` and of the square error by which El-Rashidy
et al. compare the methods, so that methods are compared and not distances. `distance = "absolute"` sums without squares, as
for information loss, which Lin and Wei have in mind. The pass takes rows in the order of their values, not of the table. A
categorical centroid is the value with the least total taxonomic distance; means leave missing values out. Centroids do not
move during the adjustment. Two seeds are equal only where there are too few different rows. `attributes = "qi"` compares
rows by their quasi-identifiers, `"all"` by all columns but identifiers, as El-Rashidy et al. ran it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.shared.centroids import ByCentroids, Records, adjust, new_search
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent

_A_SLICE = 1000
"""Rows between two trees: boxes around moving centroids get wide."""


class Distance(StrEnum):
    """What is summed over columns."""

    SQUARED = "squared"
    ABSOLUTE = "absolute"


@dataclass(frozen=True)
class OnePassKMeans(ByCentroids):
    """One pass of k-means with centroids that follow at once, then an adjustment to at least k rows."""

    name: ClassVar[str] = "oka"
    summary: ClassVar[str] = "One-pass k-means: clusters from a single pass, brought to at least k rows, generalised."
    paper: ClassVar[str] = "Lin & Wei 2008"

    distance: Distance = Distance.SQUARED

    def from_seeds(self, records: Records, seeds: Ints, rng: np.random.Generator, progress: Progress) -> Ints:
        order = rng.permutation(records.rows)
        return one_pass_k_means(records, self.k, seeds, order, self.distance, progress)


def one_pass_k_means(
    records: Records,
    k: int,
    seeds: Ints,
    order: Ints,
    distance: Distance = Distance.SQUARED,
    progress: Progress = silent,
) -> Ints:
    """The cluster of each row of the table. `seeds` are rows in the order of values, one for each cluster; `order` is the
    order, of the same rows, in which those that the adjustment takes out are put back."""
    from anonymizers.kernels.oka import Running, one_pass, start_running

    space, clusters, rows = records.space, len(seeds), records.rows
    measure = records.measure(square=distance is Distance.SQUARED)
    lines, trees = space.ordered, len(space.columns) - space.ordered
    running = Running(
        np.zeros(clusters, dtype=np.int64),
        np.zeros((clusters, lines), dtype=np.int64),
        np.zeros((clusters, lines), dtype=np.int64),
        np.full((clusters, trees), -1, dtype=np.int64),
        np.zeros(rows * trees, dtype=np.int64),
        np.zeros(rows * trees, dtype=np.int64),
        np.zeros(rows * trees, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )
    centre = np.zeros((clusters, len(space.columns)))
    member = np.full(rows, -1, dtype=np.int64)
    start_running(running, measure, space.tuples, records.which, seeds, centre, member)
    search = new_search(records, clusters)
    for start in range(0, rows, _A_SLICE):
        progress(start, rows, "one-pass k-means")
        tree = records.search_tree(centre, np.arange(clusters), measure)
        stop = min(start + _A_SLICE, rows)
        one_pass(
            tree,
            running,
            measure,
            search,
            space.tuples,
            records.values,
            records.which,
            start,
            stop,
            centre,
            member,
        )
    member = adjust(records, measure, centre, member, order, k, progress, "one-pass k-means, adjustment")
    return space.groups(member)
