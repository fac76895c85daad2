"""CAAT: classes grown by the tuple nearest to the class, seeds farthest from the last class.

On a line a tuple is as far as the way to the nearer end of the class's interval. In a tree, with l the lowest node above the
class's node n and the leaf v, it is ½·(depth v - depth l)/depth v + ½·(depth n - depth l)/depth n, where a class at the root
pays nothing for its own half. Where leaves lie at different depths, dividing by a leaf's own depth breaks the order that a
search relies on. So bounds are kept apart from costs: see `search`.
"""

from __future__ import annotations

import numpy as np

from anonymizers.kernels.growing import DISTANCES, MADE, ROWS, SEED, TUPLES, Growth, above, enter, finish, take
from anonymizers.kernels.search import Costs, Stack, all_at, farthest, nearest
from anonymizers.kernels.tree import Tree
from anonymizers.shapes import Trees
from auditor.model.arrays import Ints
from auditor.model.compiling import kernel


@kernel
def _half(unit: int, depth: int, top: int) -> int:
    """Half a unit times the share of the way from `depth` to the root that lies below `top`."""
    return unit // 2 * (depth - top) // depth if depth > 0 else 0


@kernel
def fill(costs: Costs, trees: Trees, node: int) -> None:
    """The cost of every slot of a tree for a class at `node`, and bounds that are monotone away from the class."""
    first, last = trees.low[node], trees.high[node]
    own = trees.depth[node]
    for v in range(first, last + 1):
        costs.table[v] = _half(costs.unit, trees.depth[trees.leaf[v]], own)
    low, high, up = first, last, node
    while trees.parent[up] >= 0:
        up = trees.parent[up]
        top = trees.depth[up]
        paid = _half(costs.unit, own, top)
        for v in range(trees.low[up], low):
            costs.table[v] = paid + _half(costs.unit, trees.depth[trees.leaf[v]], top)
        for v in range(high + 1, trees.high[up] + 1):
            costs.table[v] = paid + _half(costs.unit, trees.depth[trees.leaf[v]], top)
        low, high = trees.low[up], trees.high[up]
    least = costs.table[low]
    for v in range(low, first):
        least = min(least, costs.table[v])
        costs.near[v] = least
    end = costs.table[high]
    for v in range(high, last, -1):
        end = min(end, costs.table[v])
        costs.near[v] = end
    least = min(least, end)
    most = costs.table[first]
    for v in range(first, last + 1):
        least, most = min(least, costs.table[v]), max(most, costs.table[v])
    for v in range(first, last + 1):
        costs.near[v], costs.far[v] = least, most
    end = most
    for v in range(first - 1, low - 1, -1):
        end = max(end, costs.table[v])
        costs.far[v] = end
    for v in range(last + 1, high + 1):
        most = max(most, costs.table[v])
        costs.far[v] = most


@kernel
def _begin(costs: Costs, trees: Trees, values: Ints, nodes: Ints) -> None:
    ordered = len(costs.low)
    for j in range(ordered):
        costs.low[j], costs.high[j] = values[j], values[j]
    for j in range(ordered, len(values)):
        nodes[j - ordered] = trees.leaf[values[j]]
        costs.inside[j - ordered] = values[j]
        fill(costs, trees, nodes[j - ordered])


@kernel
def grow(
    tuples: Ints,
    tree: Tree,
    trees: Trees,
    growth: Growth,
    costs: Costs,
    stack: Stack,
    k: int,
    room: int,
    most: int,
    least_tuples: int,
) -> None:
    """Makes up to `most` classes of at least k rows. All tuples nearest to the class join together, in their order, as long
    as the class has at most `room` rows. Stops when fewer than k rows or `least_tuples` tuples are left."""
    ordered, now = len(costs.low), growth.now
    nodes = np.zeros(len(trees.root), dtype=np.int64)
    nearby = np.empty(len(tuples), dtype=np.int64)
    for _ in range(most):
        if now[ROWS] < k or now[TUPLES] < least_tuples:
            return
        made = now[MADE]
        now[DISTANCES] += now[ROWS] if made else 0
        u = now[SEED] if made == 0 else farthest(tree, growth.left, costs, stack)
        _begin(costs, trees, tuples[u], nodes)
        filled = nodes.copy()
        take(growth, tree, u, 1, made)
        count = 1
        while count < k and now[ROWS] > 0:
            now[DISTANCES] += now[ROWS]
            _, cost = nearest(tree, growth.left, costs, stack)
            found = all_at(tree, growth.left, costs, stack, cost, nearby)
            for i in range(found):
                u = nearby[i]
                copies = min(growth.left[u], room - count)
                if copies <= 0:
                    break
                take(growth, tree, u, copies, made)
                count += copies
                for j in range(ordered):
                    costs.low[j] = min(costs.low[j], tuples[u, j])
                    costs.high[j] = max(costs.high[j], tuples[u, j])
                for j in range(ordered, tuples.shape[1]):
                    nodes[j - ordered] = above(trees, nodes[j - ordered], tuples[u, j])
            for j in range(len(nodes)):
                if nodes[j] != filled[j]:  # with many values in a column a table takes long
                    costs.inside[j] = trees.low[nodes[j]]
                    fill(costs, trees, nodes[j])
                    filled[j] = nodes[j]
        finish(growth, costs, nodes, count)


@kernel
def join(tuples: Ints, trees: Trees, growth: Growth, unit: int, room: int) -> None:
    """Puts each row that is left into the nearest class with fewer than `room` rows; ties go to the first class. Rows for
    which no class has room stay."""
    ordered = growth.low.shape[1]
    for u in range(len(tuples)):
        while growth.left[u] > 0:
            best, found = -1, -1
            for c in range(growth.now[MADE]):
                if growth.size[c] >= room:
                    continue
                growth.now[DISTANCES] += 1
                cost = 0
                for j in range(ordered):
                    x = tuples[u, j]
                    cost += min(max(growth.low[c, j] - x, x - growth.high[c, j], 0), unit)
                for j in range(ordered, tuples.shape[1]):
                    node = growth.node[c, j - ordered]
                    top = trees.depth[above(trees, node, tuples[u, j])]
                    cost += _half(unit, trees.depth[trees.leaf[tuples[u, j]]], top)
                    cost += _half(unit, trees.depth[node], top)
                if found < 0 or cost < best:
                    best, found = cost, c
            if found < 0:
                return
            enter(tuples, trees, growth, u, found)
