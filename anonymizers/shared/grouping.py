"""Anonymizers in two steps: rows are put into groups, then the groups are published.

The first step takes the time; the second says what every row becomes. So a large table can be cut into blocks of rows: each
block is grouped by itself, in its own process or on its own machine, and all groups are published together, as if they had
been found in the whole table (`anonymizers.blocks`). What a block gives back is a few numbers a row.

Where several rows are one person's, one row of each person is grouped, and the others join it (`people.py`).

A promise about classes alone (k, l, α, a size) holds for the whole table where it holds in every block. What is measured
against the whole table is not left to the block: ranges and taxonomies are those of the domains, and the frequencies of
values come with the block (`Table.counts`). Some blocks cannot keep a promise at all (a block with one sensitive value has
no diverse class); `Blocking.allows` finds that before the cut is made.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, need_quasi
from anonymizers.shared.people import People
from auditor.model.arrays import Codes, Ints
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """What a method decided about the rows of a table.

    `member` is the group of each row, numbered from 0 without gaps (-1: left out). Slicing adds its blocks of columns
    (`columns`) and, where it generalises, the groups of rows with the same labels in each block that has quasi-identifiers
    (`classes`). Methods that publish centres add the row that stands for each row (`centre`) and the distance of the
    farthest row of its group from that one (`radius`, in ten-thousandths of a column).
    """

    member: Ints
    columns: tuple[tuple[str, ...], ...] = ()
    classes: tuple[Ints, ...] = ()
    centre: Ints | None = None
    radius: Ints | None = None

    def spread(self, people: People, name: str) -> Groups:
        """The groups of all rows, where these are those of one row of each person."""
        if not people.several:
            return self
        if self.centre is not None:
            people.need_alike(name, "rows of one person must be as far from a centre")
        number, first = people.number, people.first
        return Groups(
            self.member[number],
            self.columns,
            tuple(classes[number] for classes in self.classes),
            None if self.centre is None else first[self.centre][number],
            None if self.radius is None else self.radius[number],
        )


def _any_rows(rows: Ints) -> bool:
    return len(rows) > 0


@dataclass(frozen=True, slots=True, eq=False)
class Blocking:
    """How a method can work in blocks of rows.

    `method` works in every block; what it must learn from the whole table is already settled in it. `columns` are the columns
    that it looks at, `cut` those that blocks are cut along. A block has at least `least` rows, and `allows` says whether some
    rows can be a block. `divide` says whether equal rows may go to different blocks where no other cut is even enough.
    """

    method: Grouping
    columns: tuple[str, ...]
    cut: tuple[str, ...]
    least: int
    divide: bool = True
    allows: Callable[[Ints], bool] = _any_rows


@dataclass(frozen=True)
class Grouping(Anonymizer):
    """A technique that puts rows into groups and publishes these."""

    needs_whole: ClassVar[str | None] = None

    @property
    @abstractmethod
    def least_rows(self) -> int:
        """The least number of rows in a group, and so in a block."""

    @abstractmethod
    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        """The groups of the rows of a table, or of a block of one."""

    @abstractmethod
    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        """The release of a table with these groups, and apart from it which row became which record."""

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        people = People(table)
        return self.publish_groups(table, self.groups(people.table, rng, progress).spread(people, self.name), rng)

    def publish(
        self,
        table: Table,
        labels: dict[str, Labels],
        cells: dict[str, Codes],
        blocks: Sequence[Sequence[str]],
        bucket: Ints | None,
        rng: np.random.Generator,
        sensitive: str | None = None,
    ) -> tuple[Release, Provenance]:
        made = super().publish(table, labels, cells, blocks, bucket, rng, sensitive)
        People(table).check(*made, self.name)
        return made

    def in_blocks(self, table: Table) -> Blocking:
        """How this table may be cut into blocks; an error where it may not be cut. The default is for groups by the
        quasi-identifiers that promise nothing but their size."""
        quasi = need_quasi(table, self.name)
        return Blocking(self, quasi, quasi, self.least_rows)
