"""Classes grown one at a time: what greedy k-member, CAAT and the algorithm of Loukides and Shao share.

The kernels do the work in slices. Between them the search tree is built anew when enough tuples are gone, progress is
said, and an interruption is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints
from auditor.model.progress import Progress

if TYPE_CHECKING:
    from anonymizers.kernels.growing import Growth
    from anonymizers.kernels.search import Costs, Stack
    from anonymizers.kernels.tree import Tree

Slice = Callable[["Tree", "Growth", "Costs", "Stack", int, int], None]
"""Makes up to so many classes, stopping earlier when fewer than so many tuples are left."""

_ROWS_A_SLICE = 20_000


def new_costs(space: Space, apart: bool = False) -> Costs:
    """Room for the costs of a class; `apart` where bounds differ from the costs themselves."""
    from anonymizers.kernels.search import Costs

    low, high, base = np.zeros((3, space.ordered), dtype=np.int64)
    table = np.zeros(len(space.trees.leaf), dtype=np.int64)
    near, far = (np.zeros_like(table), np.zeros_like(table)) if apart else (table, table)
    inside = np.zeros(len(space.trees.root), dtype=np.int64)
    return Costs(low, high, base, table, near, far, inside, space.unit)


def grow_classes(
    space: Space,
    classes: int,
    least_rows: int,
    make: Slice,
    progress: Progress,
    what: str,
    *,
    start: int = 0,
    seeds: Ints | None = None,
    apart: bool = False,
) -> Growth:
    """Grows at most `classes` classes until fewer than `least_rows` rows are left, beginning with tuple `start` or with the
    rows `seeds` in their order."""
    from anonymizers.kernels.growing import MADE, ROWS, TUPLES, Growth
    from anonymizers.kernels.search import Stack
    from anonymizers.kernels.tree import REBUILD, STACK, build

    rows = len(space.rows)
    growth = Growth(
        space.copies.copy(),
        space.first,
        np.full(rows, -1, dtype=np.int64),
        np.zeros((classes, space.ordered), dtype=np.int64),
        np.zeros((classes, space.ordered), dtype=np.int64),
        np.zeros((classes, len(space.trees.root)), dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
        np.empty(0, dtype=np.int64) if seeds is None else seeds,
        np.array([0, rows, len(space.tuples), start, 0], dtype=np.int64),
    )
    costs = new_costs(space, apart)
    stack = Stack(np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.int64))
    a_slice = max(_ROWS_A_SLICE * max(classes, 1) // rows, 1)
    tree, floor = None, 0
    while growth.now[ROWS] >= least_rows:
        if tree is None or growth.now[TUPLES] < floor:
            tree = build(space.tuples, np.flatnonzero(growth.left > 0), space.weight)
            floor = int(REBUILD * growth.now[TUPLES])
        progress(rows - int(growth.now[ROWS]), rows, what)
        make(tree, growth, costs, stack, min(a_slice, classes - int(growth.now[MADE])), floor)
    return growth
