"""Refined MDAV: the clusters of MDAV, improved until no move or exchange of records lowers the loss.

It starts from the clusters of `mdav`. Whenever that lowers the loss, a record moves to another cluster (if its own keeps k
records), or two records of two clusters are exchanged. A cluster that reaches 2k records is divided. When no such step is
left, rounds of trials follow: a cluster is dissolved, its records go to the nearest clusters, and these are improved again;
a trial that has not lowered the loss in the end is taken back. There are at most `rounds` rounds (0: none). They end earlier
when one has lowered the loss by less than a thousandth.

The loss of a cluster is the sum of the squared distances between its records, each pair once, over the number of records.
For numbers that is the sum of squared distances from the mean; the literature compares methods by its share of the whole
(SSE/SST). The loss never rises. Distances, averages, other settings and rules are those of `mdav`.

Paper: J. Domingo-Ferrer, J. M. Mateo-Sanz, "Practical Data-Oriented Microaggregation for Statistical Disclosure Control",
IEEE TKDE 2002, which states the loss and its optimum: clusters of k to 2k - 1 records.
Decided here: a record goes only to clusters that hold one of its 30 nearest records. In a round, clusters are tried in the
order of their loss, and not all of them where that takes long (clusters of many records in large tables).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anonymizers.base import at_least
from anonymizers.mdav import Mdav
from anonymizers.shapes import Points
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent


@dataclass(frozen=True)
class MdavRefined(Mdav):
    """MDAV, then local search for clusters with less loss."""

    name: ClassVar[str] = "mdav-refined"
    summary: ClassVar[str] = "MDAV, then records are moved and exchanged between clusters while that lowers the loss."
    paper: ClassVar[str] = "Domingo-Ferrer & Mateo-Sanz 2002"

    rounds: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(f"{self.name}: rounds", self.rounds, 0)

    def clusters(self, points: Points, progress: Progress = silent) -> Ints:
        from anonymizers.kernels.refining import refined

        return refined(points, super().clusters(points, progress), self.k, self.rounds, progress)
