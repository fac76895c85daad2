"""CAAT, the clustering-anonymity algorithm for tables: classes grown by the row nearest to the class.

The first class starts from a random row. A class takes the rows nearest to it, all equally near ones together, until it has
k rows; the row farthest from the finished class starts the next one. When fewer than k rows are left, each joins the nearest
class. Values are then generalised. The distance of a row to a class is a sum over columns. For numbers and ordinals it is
the way to the nearer end of the class's interval over the range (0 inside the interval). For other columns, take the lowest
node above both the row's value and the class's common ancestor: the distance is the mean of how far the value and the
ancestor lie below that node, each as a share of its own depth.

Paper: Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation".
Decided here: a class that is already at the root pays nothing for its own half. The paper promises k ≤ size < 2k, but taking
all equally near rows together breaks that. So they join in the order of their values, up to 2k - 1 rows, and leftovers go to
the nearest class with room below 2k; where none has room, the last class gives up rows to form one more class with them.
`ties = "all"` follows the printed rule, and then only k is promised. A column without a taxonomy counts as a taxonomy of one
level. A missing value is a whole column away from all others. Ties go to the row whose values come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.shapes import Trees
from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import Space
from anonymizers.shared.growing import Growing
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent
from auditor.model.table import Table


class Ties(StrEnum):
    """What happens to rows that are equally near to a class."""

    ROOM = "room"
    ALL = "all"


@dataclass(frozen=True)
class Caat(Clustering):
    """Classes of k to 2k - 1 rows, grown by the row nearest to the class."""

    name: ClassVar[str] = "caat"
    summary: ClassVar[str] = "Classes grown by the row nearest to the class, generalised; sizes from k to 2k - 1."
    paper: ClassVar[str] = "Jiang Huowen"

    ties: Ties = Ties.ROOM

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        return cluster(Space.of(table, columns, depths), self.k, int(rng.integers(table.rows)), self.ties, progress)


def depths(trees: Trees) -> Iterable[int]:
    """What the unit of distances must be a multiple of, so that half of a share of any depth is a whole number."""
    return (2 * int(depth) for depth in np.unique(trees.depth) if depth > 0)


def cluster(space: Space, k: int, start: int, ties: Ties = Ties.ROOM, progress: Progress = silent) -> Ints:
    """The class of each row. `start` is the first seed, as a place among the rows in the order of tuples."""
    return cluster_counted(space, k, start, ties, progress)[0]


def cluster_counted(
    space: Space, k: int, start: int, ties: Ties = Ties.ROOM, progress: Progress = silent
) -> tuple[Ints, int]:
    """The class of each row, and how many distances the printed algorithm evaluates, which compares a class with every row
    that is left. The search here finds the same rows with fewer."""
    from anonymizers.kernels.caat import grow, join
    from anonymizers.kernels.growing import DISTANCES, MADE, ROWS

    rows = len(space.rows)
    room = 2 * k - 1 if ties is Ties.ROOM else rows
    work = Growing(space, rows // k, start=start, apart=True)
    growth, costs, stack = work.growth, work.costs, work.stack
    for tree, most, least in work.slices(k, progress, "CAAT"):
        grow(space.tuples, tree, space.trees, growth, costs, stack, k, room, most, least)
    join(space.tuples, space.trees, growth, space.unit, room)
    member, homeless = growth.member, int(growth.now[ROWS])
    if homeless:
        last = int(growth.now[MADE]) - 1
        given = np.flatnonzero(member == last)[-(k - homeless) :]
        member[(member < 0) | np.isin(np.arange(rows), given)] = last + 1
    return space.groups(member), int(growth.now[DISTANCES])
