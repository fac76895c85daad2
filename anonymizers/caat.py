"""CAAT, the clustering-anonymity algorithm for tables: classes grown by the row nearest to the class.

The first class starts from a random row. A class takes the rows nearest to it, all that are equally near together, until it
has k; the row farthest from the finished class starts the next. When fewer than k rows are left, each joins the nearest
class. Values are then generalised. The distance of a row to a class is, on numbers and ordinals, the way to the nearer end
of the class's interval over the range (nothing inside it); on other columns the mean of how far the row's value and
the class's common ancestor lie below the ancestor of both, each as a share of its own depth.

Paper: Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation".
Decided here: a class already at the root pays nothing for its own half. The paper promises k ≤ size < 2k, and taking all
equally near rows together breaks it: they join in the order of their values up to 2k - 1 rows, and leftovers go to the
nearest class with room below 2k; where none has room, the last class gives up rows to make one more class with them.
`ties = "all"` gives the printed rule, and then only k is promised. A column without a taxonomy counts as a
taxonomy of one level; a missing value is a whole column away from all others; ties go to the row whose values come first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import at_least, generalise, need_quasi, need_rows, published_columns
from anonymizers.shapes import Trees
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Grouping, Groups
from anonymizers.shared.growing import grow_classes
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.growing import Growth
    from anonymizers.kernels.search import Costs, Stack
    from anonymizers.kernels.tree import Tree


class Ties(StrEnum):
    """What happens to rows that are equally near to a class."""

    ROOM = "room"
    ALL = "all"


@dataclass(frozen=True)
class Caat(Grouping):
    """Classes of k to 2k - 1 rows, grown by the row nearest to the class."""

    name: ClassVar[str] = "caat"
    summary: ClassVar[str] = "Classes grown by the row nearest to the class, generalised; sizes from k to 2k - 1."
    paper: ClassVar[str] = "Jiang Huowen"

    k: int = 5
    ties: Ties = Ties.ROOM

    def __post_init__(self) -> None:
        at_least("caat: k", self.k, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        need_rows(table, self.k, self.name)
        space = Space.of(table, quasi, depths)
        return Groups(cluster(space, self.k, int(rng.integers(table.rows)), self.ties, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        labels, cells = generalise(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)


def depths(trees: Trees) -> Iterable[int]:
    """Halves of shares of every depth must be whole."""
    return (2 * int(depth) for depth in np.unique(trees.depth) if depth > 0)


def cluster(space: Space, k: int, start: int, ties: Ties = Ties.ROOM, progress: Progress = silent) -> Ints:
    """The class of each row. `start` is the first seed, as a place among the rows in the order of tuples."""
    from anonymizers.kernels.caat import grow, join
    from anonymizers.kernels.growing import ROWS

    rows = len(space.rows)
    room = 2 * k - 1 if ties is Ties.ROOM else rows

    def make(tree: Tree, growth: Growth, costs: Costs, stack: Stack, most: int, least: int) -> None:
        grow(space.tuples, tree, space.trees, growth, costs, stack, k, room, most, least)

    first = int(np.searchsorted(space.first, start, side="right")) - 1
    growth = grow_classes(space, rows // k, k, make, progress, "CAAT", start=first, apart=True)
    join(space.tuples, space.trees, growth, space.unit, room)
    member, homeless = growth.member, int(growth.now[ROWS])
    if homeless:
        last = int(growth.now[0]) - 1
        given = np.flatnonzero(member == last)[-(k - homeless) :]
        member[(member < 0) | np.isin(np.arange(rows), given)] = last + 1
    return space.groups(member)
