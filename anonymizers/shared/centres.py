"""Clusters of at least r rows that are published as their centres: what r-gather and r-cellular clustering share.

A centre is a real row. Each row is published with the quasi-identifiers of its cluster's centre, the size of the cluster
and its radius, the distance of the row farthest from the centre.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import at_least, need_quasi, need_rows, published_columns
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from anonymizers.shared.growing import new_costs, new_stack
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import CLUSTER_RADIUS, CLUSTER_SIZE, DERIVED, Release
from auditor.model.table import Table
from auditor.model.values import format_number

if TYPE_CHECKING:
    from anonymizers.kernels.gathering import Ground, Search

A_SLICE = 2_000
"""Tuples that a kernel handles between two reports of progress."""
_DECIMALS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Rows around centres: the cluster of each row in the order of tuples (`member`) and its distance to the centre (`way`);
    the tuple that is the centre of each cluster."""

    member: Ints
    way: Ints
    centre: Ints

    @property
    def size(self) -> Ints:
        """The number of rows of each cluster."""
        return np.bincount(self.member, minlength=len(self.centre))

    @property
    def radius(self) -> Ints:
        """The distance of the farthest row of each cluster."""
        out = np.zeros(len(self.centre), dtype=np.int64)
        np.maximum.at(out, self.member, self.way)
        return out


@dataclass(frozen=True)
class ByCentres(Grouping):
    """Clusters of at least r rows, published as their centres."""

    paper: ClassVar[str] = "Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas & Zhu 2006"
    truthful: ClassVar[bool] = False

    r: int = 5

    def __post_init__(self) -> None:
        at_least(f"{self.name}: r", self.r, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.r}",)

    @property
    def least_rows(self) -> int:
        return self.r

    @abstractmethod
    def find_clusters(self, space: Space, rng: np.random.Generator, progress: Progress) -> Clusters:
        """The clusters."""

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        need_rows(table, self.r, self.name, "r")
        self._check_names(table)
        space = Space.of(table, quasi)
        clusters = self.find_clusters(space, rng, progress)
        member = space.groups(clusters.member)
        row = space.rows[space.first[clusters.centre]]  # a row that has the values of the centre
        radius = -(-clusters.radius * 10**_DECIMALS // space.unit)  # rounded up: no row is farther
        return Groups(member, centre=row[member], radius=radius[member])

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        assert groups.centre is not None
        assert groups.radius is not None
        member, quasi = groups.member, need_quasi(table, self.name)
        labels = {column: Labels.exact(table.domains[column]) for column in quasi}
        cells = {column: table.codes[column][groups.centre] for column in quasi}
        size, radius = np.bincount(member), np.zeros(int(member.max()) + 1)
        radius[member] = groups.radius / 10**_DECIMALS
        form = table.schema.format
        for column, numbers in ((CLUSTER_SIZE, size), (CLUSTER_RADIUS, radius)):
            texts = [format_number(float(number), form.decimal) for number in numbers]
            domain = Domain.of(DERIVED[column], form, [(column, texts)])
            labels[column] = Labels.exact(domain)
            cells[column] = domain.encode(texts, column)[member]
        block = [*published_columns(table), CLUSTER_SIZE, CLUSTER_RADIUS]
        return self.publish(table, labels, cells, [block], None, rng)

    def in_blocks(self, table: Table) -> Blocking:
        self._check_names(table)
        return super().in_blocks(table)

    def _check_names(self, table: Table) -> None:
        """An error where the table has a column with the name of one that the release adds."""
        taken = [column for column in (CLUSTER_SIZE, CLUSTER_RADIUS) if column in table.schema.columns]
        if taken:
            raise UsageError(
                f"{self.name}: the column {taken[0]!r} must have another name: the release adds one of that name."
            )


def reaches(space: Space, ground: Ground, r: int, progress: Progress) -> Ints:
    """For each tuple the least distance within which there are r rows, its own among them."""
    from anonymizers.kernels.gathering import reach

    tuples = len(space.tuples)
    out = np.zeros(tuples, dtype=np.int64)
    search = new_search(space, np.arange(tuples))
    for start in range(0, tuples, A_SLICE):
        progress(start, tuples, "distances to the nearest rows")
        reach(ground, search, r, start, min(start + A_SLICE, tuples), out)
    return out


def new_ground(space: Space) -> Ground:
    """What the kernels search on."""
    from anonymizers.kernels.gathering import Ground

    nodes = np.zeros(len(space.trees.root), dtype=np.int64)
    return Ground(space.tuples, space.first, space.trees, space.rise(), new_costs(space), nodes, new_stack())


def new_search(space: Space, chosen: Ints) -> Search:
    """A search among some tuples (numbers in ascending order)."""
    from anonymizers.kernels.gathering import Search
    from anonymizers.kernels.tree import build

    left = np.zeros(len(space.tuples), dtype=np.int64)
    left[chosen] = 1
    return Search(build(space.tuples, chosen, space.weight), left, np.empty(len(chosen), dtype=np.int64))
