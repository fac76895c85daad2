"""Classes grown one at a time: what greedy k-member, CAAT and the algorithm of Loukides and Shao share.

The kernels work in slices. Between two slices progress is reported, an interruption is noticed, and the search tree is built
anew where enough tuples are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints
from auditor.model.progress import Progress

if TYPE_CHECKING:
    from anonymizers.kernels.search import Costs, Stack
    from anonymizers.kernels.tree import Tree

_ROWS_A_SLICE = 20_000


def new_costs(space: Space, apart: bool = False) -> Costs:
    """Room for the costs of a class; `apart` where bounds differ from the costs themselves."""
    from anonymizers.kernels.search import Costs

    low, high, base = np.zeros((3, space.ordered), dtype=np.int64)
    table = np.zeros(len(space.trees.leaf), dtype=np.int64)
    near, far = (np.zeros_like(table), np.zeros_like(table)) if apart else (table, table)
    inside = np.zeros(len(space.trees.root), dtype=np.int64)
    return Costs(low, high, base, table, near, far, inside, space.unit)


def new_stack() -> Stack:
    """Room for the nodes that a search puts off."""
    from anonymizers.kernels.search import Stack
    from anonymizers.kernels.tree import STACK

    return Stack(np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.int64))


class Growing:
    """At most `classes` classes, grown from row `start` and then from the farthest rows, or from the rows `seeds` in their
    order (both as places in the order of tuples)."""

    def __init__(
        self, space: Space, classes: int, *, start: int = 0, seeds: Ints | None = None, apart: bool = False
    ) -> None:
        from anonymizers.kernels.growing import Growth

        rows, first = len(space.rows), int(np.searchsorted(space.first, start, side="right")) - 1
        self.space, self.classes = space, classes
        self.growth = Growth(
            space.copies.copy(),
            space.first,
            np.full(rows, -1, dtype=np.int64),
            np.zeros((classes, space.ordered), dtype=np.int64),
            np.zeros((classes, space.ordered), dtype=np.int64),
            np.zeros((classes, len(space.trees.root)), dtype=np.int64),
            np.zeros(classes, dtype=np.int64),
            np.empty(0, dtype=np.int64) if seeds is None else seeds,
            np.array([0, rows, len(space.tuples), first, 0, 0], dtype=np.int64),
        )
        self.costs, self.stack = new_costs(space, apart), new_stack()

    def slices(self, least_rows: int, progress: Progress, what: str) -> Iterator[tuple[Tree, int, int]]:
        """The slices of the work, until fewer than `least_rows` rows are left: the search tree, how many classes to make at
        most, and the number of tuples below which to stop for a new tree. The caller runs its kernel on each."""
        from anonymizers.kernels.growing import MADE, ROWS, TUPLES
        from anonymizers.kernels.tree import REBUILD, build

        now, rows = self.growth.now, len(self.space.rows)
        a_slice = max(_ROWS_A_SLICE * max(self.classes, 1) // rows, 1)
        tree, floor = None, 0
        while now[ROWS] >= least_rows:
            if tree is None or now[TUPLES] < floor:
                tree = build(self.space.tuples, np.flatnonzero(self.growth.left > 0), self.space.weight)
                floor = int(REBUILD * now[TUPLES])
            progress(rows - int(now[ROWS]), rows, what)
            yield tree, min(a_slice, self.classes - int(now[MADE])), floor
