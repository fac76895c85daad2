"""A k-d tree over points, for exact nearest and farthest search while points are taken away.

A node holds a set of points and the box around them. A search keeps the best point found so far and skips a node whose
box cannot hold a better one; since a box bounds every point in it, nothing is missed. Points that were taken away stay in
their leaf until the tree is built anew; a count per node says how many are left, and a node without any is skipped.
Boxes are not shrunk: they only get looser, which costs time and never an answer. Building takes O(n log n): each node is cut
at the median of a sample of its points along its widest side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


@kernel
def build(points: NDArray[np.generic], chosen: Ints, weight: Floats) -> Tree:
    """A tree over the points with the (ascending) numbers `chosen`; `weight` makes the sides of boxes comparable."""
    count, width = len(chosen), points.shape[1]
    room = max(4, 4 * (count // LEAF + 2))
    low = np.zeros((room, width), dtype=points.dtype)
    high = np.zeros((room, width), dtype=points.dtype)
    start, stop = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    left, above = np.full(room, -1, dtype=np.int64), np.full(room, -1, dtype=np.int64)
    least = np.zeros(room, dtype=np.int64)
    order, aside = chosen.copy(), np.empty(count, dtype=np.int64)
    placed = np.empty((count, width), dtype=points.dtype)  # moved along with their numbers: memory is read in sequence
    placed_aside = np.empty((count, width), dtype=points.dtype)
    for i in range(count):
        placed[i] = points[chosen[i]]
    sample = np.empty(_SAMPLE, dtype=points.dtype)
    stop[0] = count
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
        if b - a > LEAF and side >= 0 and nodes + 2 <= room:
            taken = min(b - a, _SAMPLE)
            for i in range(taken):
                sample[i] = placed[a + i * (b - a) // taken, side]
            cut = np.sort(sample[:taken])[(taken - 1) // 2]
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
        v += 1
    home = np.full(len(points), -1, dtype=np.int64)
    alive = np.empty(nodes, dtype=np.int64)
    for v in range(nodes):
        alive[v] = stop[v] - start[v]
        if left[v] < 0:
            for i in range(start[v], stop[v]):
                home[order[i]] = v
    return Tree(
        order,
        placed,
        low[:nodes].copy(),
        high[:nodes].copy(),
        start[:nodes].copy(),
        stop[:nodes].copy(),
        left[:nodes].copy(),
        above[:nodes].copy(),
        least[:nodes].copy(),
        alive,
        home,
    )


@kernel
def remove(tree: Tree, point: int) -> None:
    """Counts a point as taken away."""
    v = tree.home[point]
    while v >= 0:
        tree.alive[v] -= 1
        v = tree.above[v]
