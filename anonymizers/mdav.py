"""MDAV: microaggregation around the records farthest from the average record.

While at least 3k records are left, take the average record, the record farthest from it, and the record farthest from
that one; make a cluster of k records around each of the two. Of 2k to 3k - 1 records, one more such cluster is made around
the record farthest from the average. The rest is the last cluster. Every quasi-identifier is then published as the
average of its cluster: numbers as the mean, ordinals as the median, nominals as the most frequent value. Published values
are not the true values of the people, and a published number need not occur in the table.

Distances are Euclidean over all quasi-identifiers: numbers in standard deviations (`standardise = false`: as they are),
ordinals by the number of categories from one to the other over the number of categories, nominals 0 or 1. `ordinal =
"convex"` takes the convex median: the median after every category between two frequent ones is counted as often as the
rarer of the two. Averages keep the mean of a numeric column and shrink its variance. The method ends by giving both back:
all averages of a column are spread by one factor (`shared/aggregation.py`). `restore = false` (`--set restore=false`)
publishes the plain averages.

Paper: J. Domingo-Ferrer, V. Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through Microaggregation", Data Mining
and Knowledge Discovery 11, 2005 (MDAV-generic).
Decided here: ties go to the row that stands first. If the first cluster takes the second record, which only happens in
ties, the second cluster is still formed around that record's place. A missing number or ordinal stands at the mean or median
of its column and is one unit farther from every present value; a missing nominal is a value of its own. A class publishes
the average of its present values, or missing where more than half of its values are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shapes import Points
from anonymizers.shared.aggregation import aggregate
from anonymizers.shared.clustering import Clustering
from anonymizers.shared.points import Middle, points_of
from auditor.model.arrays import Codes, Ints
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.table import Table


@dataclass(frozen=True)
class Mdav(Clustering):
    """Clusters of k around the records farthest from the average, published as averages."""

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = "Microaggregation: clusters of k records around far ones, published as their average."
    paper: ClassVar[str] = "Domingo-Ferrer & Torra 2005"
    truthful: ClassVar[bool] = False

    ordinal: Middle = Middle.MEDIAN
    standardise: bool = True
    restore: bool = True

    def clusters(self, points: Points, progress: Progress = silent) -> Ints:
        """The cluster of each point, numbered from 0."""
        from anonymizers.kernels.mdav import clusters_of

        return clusters_of(points, self.k, progress)

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        return self.clusters(points_of(table, columns, self.ordinal, self.standardise), progress)

    def labels(self, table: Table, quasi: Sequence[str], member: Ints) -> tuple[dict[str, Labels], dict[str, Codes]]:
        return aggregate(table, quasi, member, self.ordinal, self.restore)
