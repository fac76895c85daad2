"""One-pass k-means (OKA): clusters around centroids that follow every row at once, then brought to at least k rows.

⌊n/k⌋ random rows start a cluster each. Every other row, in one pass, joins the cluster with the nearest centroid, which is
computed anew at once. Then clusters are adjusted: the rows farthest from the centroid leave clusters above k and join, in
random order, the nearest cluster below k while there is one, then the nearest of all. Values are then generalised.

Paper: J.-L. Lin, M.-C. Wei, "An Efficient Clustering Method for k-Anonymization", PAIS 2008 (as in M. El-Rashidy et al., "An
Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: the distance is the sum over columns of the distance in the column (over the range; or the height of the common
ancestor over that of the taxonomy), as for information loss. The pass takes rows in the order of their values, not of the
table. A categorical centroid is the value with the least total taxonomic distance; means leave missing values out.
Centroids stay where they are during the adjustment. Two seeds are equal only where there are too few different rows.
`attributes = "qi"` compares quasi-identifiers, `"all"` all columns but identifiers, as El-Rashidy et al. ran it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least, generalise, need_quasi, need_rows, published_columns
from anonymizers.shared.centroids import Attributes, Records, adjust, new_search
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_A_SLICE = 1000
"""Rows between two trees: boxes around moving centroids get wide."""


@dataclass(frozen=True)
class OnePassKMeans(Grouping):
    """One pass of k-means with centroids that follow at once, then an adjustment to at least k rows."""

    name: ClassVar[str] = "oka"
    summary: ClassVar[str] = "One-pass k-means: clusters from a single pass, brought to at least k rows, generalised."
    paper: ClassVar[str] = "Lin & Wei 2008"

    k: int = 5
    attributes: Attributes = Attributes.QI

    def __post_init__(self) -> None:
        at_least("oka: k", self.k, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        need_rows(table, self.k, self.name)
        records = Records.of(Space.of(table, self.attributes.columns(table, self.name)))
        seeds, order = records.seeds(table.rows // self.k, rng), rng.permutation(table.rows)
        return Groups(one_pass_k_means(records, self.k, seeds, order, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        labels, cells = generalise(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)

    def in_blocks(self, table: Table) -> Blocking:
        return replace(super().in_blocks(table), columns=tuple(self.attributes.columns(table, self.name)))


def one_pass_k_means(records: Records, k: int, seeds: Ints, order: Ints, progress: Progress = silent) -> Ints:
    """The cluster of each row of the table. `seeds` are rows in the order of values, one for each cluster; `order` is the
    order, of the same rows, in which those that the adjustment takes out are put back."""
    from anonymizers.kernels.oka import Running, one_pass, start_running

    space, clusters, rows = records.space, len(seeds), records.rows
    measure = records.measure(square=False)
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
