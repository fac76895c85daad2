"""A k-d tree over points, for exact nearest and farthest search while points are taken away.

A node holds a set of points and the box around them. A search keeps the best point found so far and skips a node whose
box cannot hold a better one; since a box bounds every point in it, nothing is missed. Points that were taken away stay in
their leaf until the tree is built anew; a count per node says how many are left, and a node without any is skipped.
Boxes are not shrunk: they only get looser, which costs time and never an answer. Building takes O(n log n): each node is cut
at the median of a sample of its points along its widest side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizers.kernels.sorting import sort
from auditor.model.arrays import Floats, Ints
from auditor.model.compiling import kernel

REBUILD = 0.6
"""A tree is built anew when this share of its points is left."""
LEAF = 12
"""Most points in a leaf, where they can be told apart."""
STACK = 4096
"""Room for the nodes that a search has put off: two for each level of the tree, and far more than a tree has."""
_SAMPLE = 63


class Tree(NamedTuple):
    """The arrays of a tree. Node v holds the points `order[start[v]:stop[v]]`, in the box from `low[v]` to `high[v]`; its
    children are `left[v]` and `left[v] + 1` (-1 for a leaf), `above[v]` is its parent (-1 for the root), `least[v]` the
    lowest point number in it, `alive[v]` how many of its points are left; `home` is the leaf of each point and `placed`
    the points in the order of the leaves."""

    order: Ints
    placed: NDArray[np.generic]
    low: NDArray[np.generic]
    high: NDArray[np.generic]
    start: Ints
    stop: Ints
    left: Ints
    above: Ints
    least: Ints
    alive: Ints
    home: Ints


def build(points: NDArray[Any], chosen: Ints, weight: Floats) -> Tree:
    """A tree over the points with the (ascending) numbers `chosen`; `weight` makes the sides of boxes comparable."""
    count, width = len(chosen), points.shape[1]
    room = max(4, 4 * (count // LEAF + 2))
    boxes = np.zeros((2, room, width), dtype=points.dtype)
    numbers = np.zeros((6, room), dtype=np.int64)
    order, home = chosen.copy(), np.full(len(points), -1, dtype=np.int64)
    placed = points[chosen]  # moved along with their numbers: memory is read in sequence
    sample = np.empty(_SAMPLE, dtype=points.dtype)
    nodes = _cut(order, placed, boxes, numbers, home, weight, np.empty_like(order), np.empty_like(placed), sample)
    low, high = boxes[:, :nodes].copy()
    start, stop, left, above, least, alive = numbers[:, :nodes].copy()
    return Tree(order, placed, low, high, start, stop, left, above, least, alive, home)


@kernel
def _cut(
    order: Ints,
    placed: NDArray[Any],
    boxes: NDArray[Any],
    numbers: Ints,
    home: Ints,
    weight: Floats,
    aside: Ints,
    placed_aside: NDArray[Any],
    sample: NDArray[Any],
) -> int:
    """Cuts the points into nodes, and says how many these are; `numbers` are start, stop, left, above, least and alive."""
    count, width, room = len(order), placed.shape[1], numbers.shape[1]
    low, high = boxes[0], boxes[1]
    start, stop, left, above, least, alive = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    stop[0], above[0] = count, -1
    nodes = 1
    v = 0
    while v < nodes:
        a, b = start[v], stop[v]
        least[v] = order[a]  # cuts keep the ascending order
        for j in range(width):
            low[v, j] = placed[a, j]
            high[v, j] = placed[a, j]
        for i in range(a + 1, b):
            for j in range(width):
                x = placed[i, j]
                if x < low[v, j]:
                    low[v, j] = x
                elif x > high[v, j]:
                    high[v, j] = x
        widest, side = 0.0, -1
        for j in range(width):
            extent = (high[v, j] - low[v, j]) * weight[j]
            if extent > widest:
                widest, side = extent, j
        left[v], alive[v] = -1, b - a
        if b - a > LEAF and side >= 0 and nodes + 2 <= room:
            taken = min(b - a, _SAMPLE)
            for i in range(taken):
                sample[i] = placed[a + i * (b - a) // taken, side]
            sort(sample, taken)
            cut = sample[(taken - 1) // 2]
            if cut == high[v, side]:  # both parts must hold a point: cut below the greatest value
                cut = low[v, side]
                for i in range(a, b):
                    x = placed[i, side]
                    if cut < x < high[v, side]:
                        cut = x
            kept, moved = a, 0
            for i in range(a, b):
                if placed[i, side] <= cut:
                    order[kept] = order[i]
                    for j in range(width):
                        placed[kept, j] = placed[i, j]
                    kept += 1
                else:
                    aside[moved] = order[i]
                    for j in range(width):
                        placed_aside[moved, j] = placed[i, j]
                    moved += 1
            for i in range(moved):
                order[kept + i] = aside[i]
                for j in range(width):
                    placed[kept + i, j] = placed_aside[i, j]
            left[v] = nodes
            above[nodes], above[nodes + 1] = v, v
            start[nodes], stop[nodes] = a, kept
            start[nodes + 1], stop[nodes + 1] = kept, b
            nodes += 2
        if left[v] < 0:
            for i in range(a, b):
                home[order[i]] = v
        v += 1
    return nodes


@kernel
def remove(tree: Tree, point: int) -> None:
    """Counts a point as taken away."""
    v = tree.home[point]
    while v >= 0:
        tree.alive[v] -= 1
        v = tree.above[v]
