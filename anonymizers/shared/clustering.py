"""Clustering: what the methods share that put rows into clusters of at least k and publish one label a cluster.

A method says how it finds the clusters (`find_clusters`). By default it compares rows by their quasi-identifiers and
publishes each of those as the narrowest label that covers the cluster.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizers.base import at_least, generalise, need_quasi, need_rows, published_columns
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Codes, Ints
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Clustering(Grouping):
    """A technique that forms clusters of at least k rows."""

    k: int = 5

    def __post_init__(self) -> None:
        at_least(f"{self.name}: k", self.k, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    @property
    def least_rows(self) -> int:
        return self.k

    @abstractmethod
    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        """The cluster of each row, numbered from 0 without gaps. Rows are compared by `columns`."""

    def compared(self, table: Table) -> Sequence[str]:
        """The columns that rows are compared by: the quasi-identifiers."""
        return need_quasi(table, self.name)

    def labels(self, table: Table, quasi: Sequence[str], member: Ints) -> tuple[dict[str, Labels], dict[str, Codes]]:
        """What the quasi-identifiers are published as, given the cluster of each row."""
        return generalise(table, quasi, member)

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        columns = self.compared(table)
        need_rows(table, self.k, self.name)
        return Groups(self.find_clusters(table, columns, rng, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        labels, cells = self.labels(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)

    def in_blocks(self, table: Table) -> Blocking:
        return replace(super().in_blocks(table), columns=tuple(self.compared(table)))
