"""MDAV: microaggregation around the records farthest from the average record.

While at least 3k records are left: take the average record, the record farthest from it and the record farthest from
that one, and make a cluster of k records around each of the two. From 2k to 3k - 1 records give one more such cluster, around
the record farthest from the average; the rest is the last cluster. Every quasi-identifier is then published as the
average of its cluster: numbers as the mean, ordinals as the median, nominals as the most frequent value. Published values
are not true values of the people, and numbers need not occur in the table.

Distances are Euclidean over all quasi-identifiers: numbers by their standard deviation (`standardise = false`: as they
are), ordinals by the number of categories between them over the number of categories, nominals 0 or 1. `ordinal =
"convex"` takes the convex median: the median after every category between two frequent ones was counted as often as the
rarer of them. Means are kept; `restore = true` gives numeric columns back their variance as well.

Paper: J. Domingo-Ferrer, V. Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through Microaggregation", Data Mining
and Knowledge Discovery 11, 2005 (MDAV-generic).
Decided here: equal distances go to the row that stands first. If the second record falls to the first cluster, which only
happens in ties, the second cluster is formed around its place all the same. A missing number or ordinal stands at the
mean or median of its column and differs by one unit more from every present value; a missing nominal is a value of its
own. A class publishes the average of its present values, and missing where more than half of them are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least, need_quasi, need_rows, published_columns
from anonymizers.shapes import Points
from anonymizers.shared.aggregation import aggregate
from anonymizers.shared.grouping import Grouping, Groups
from anonymizers.shared.points import Middle, points_of
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Mdav(Grouping):
    """Clusters of k around the records farthest from the average, published as averages."""

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = "Microaggregation: clusters of k records around far ones, published as their average."
    paper: ClassVar[str] = "Domingo-Ferrer & Torra 2005"
    truthful: ClassVar[bool] = False

    k: int = 5
    ordinal: Middle = Middle.MEDIAN
    standardise: bool = True
    restore: bool = False

    def __post_init__(self) -> None:
        at_least(f"{self.name}: k", self.k, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    def clusters(self, points: Points, progress: Progress = silent) -> Ints:
        """The cluster of each point, numbered from 0."""
        from anonymizers.kernels.mdav import clusters_of

        return clusters_of(points, self.k, progress)

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        need_rows(table, self.k, self.name)
        points = points_of(table, quasi, self.ordinal, self.standardise)
        return Groups(self.clusters(points, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        quasi = need_quasi(table, self.name)
        labels, cells = aggregate(table, quasi, groups.member, self.ordinal, self.restore)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)
