"""Growing classes one at a time by the least information loss: greedy k-member and its kin.

Adding a tuple r to a class c raises the loss by (|c| + 1)·D(c ∪ r) - |c|·D(c), where D is the loss of one record. Since
|c| and D(c) are the same for all candidates, the least rise is the least D(c ∪ r): a sum over columns of the widened interval
or of the common ancestor's height. `search` minimises that sum; its tables are renewed only where the class changed. When a
tuple has joined without changing the class, its further copies are the first of the nearest again, and join at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.search import Costs, Stack, farthest, nearest
from anonymizers.kernels.sorting import below
from anonymizers.kernels.tree import Tree, remove
from anonymizers.shapes import Trees
from auditor.model.arrays import Ints
from auditor.model.compiling import kernel

MADE, ROWS, TUPLES, SEED, NEXT, DISTANCES = 0, 1, 2, 3, 4, 5
"""What `Growth.now` counts: classes made, rows left, tuples left, the last seed, the place in the list of seeds, and for CAAT
the distances that the printed algorithm evaluates, which compares a class with every row that is left."""


class Growth(NamedTuple):
    """The state of the work. `left` are the copies left of each tuple, `first` its first row in the order of tuples,
    `member` the class of each row in that order (-1: none yet); per class its interval on each line (`low`, `high`), its
    node in each tree and its size; `seeds` are the rows to start from, in order (empty: farthest from the last)."""

    left: Ints
    first: Ints
    member: Ints
    low: Ints
    high: Ints
    node: Ints
    size: Ints
    seeds: Ints
    now: Ints


@kernel
def fill(costs: Costs, trees: Trees, rise: Ints, node: int) -> None:
    """The cost of every slot of a tree for a class at `node`: that of the lowest node above both."""
    low, high = trees.low[node], trees.high[node]
    for slot in range(low, high + 1):
        costs.table[slot] = rise[node]
    while trees.parent[node] >= 0:
        node = trees.parent[node]
        for slot in range(trees.low[node], low):
            costs.table[slot] = rise[node]
        for slot in range(high + 1, trees.high[node] + 1):
            costs.table[slot] = rise[node]
        low, high = trees.low[node], trees.high[node]


@kernel
def above(trees: Trees, node: int, slot: int) -> int:
    """The lowest node that covers a node and a slot."""
    while slot < trees.low[node] or slot > trees.high[node]:
        node = trees.parent[node]
    return node


@kernel
def begin(costs: Costs, trees: Trees, rise: Ints, values: Ints, nodes: Ints) -> None:
    """Makes a class of one tuple the class that costs are about."""
    ordered = len(costs.low)
    for j in range(ordered):
        costs.low[j], costs.high[j], costs.base[j] = values[j], values[j], 0
    for j in range(ordered, len(values)):
        nodes[j - ordered] = trees.leaf[values[j]]
        costs.inside[j - ordered] = values[j]
        fill(costs, trees, rise, nodes[j - ordered])


@kernel
def widen(costs: Costs, trees: Trees, rise: Ints, values: Ints, nodes: Ints) -> bool:
    """Adds a tuple to the class that costs are about; whether that changed the class."""
    ordered = len(costs.low)
    changed = False
    for j in range(ordered):
        if values[j] < costs.low[j]:
            costs.low[j] = values[j]
            changed = True
        if values[j] > costs.high[j]:
            costs.high[j] = values[j]
            changed = True
        costs.base[j] = costs.high[j] - costs.low[j]
    for j in range(ordered, len(values)):
        node = above(trees, nodes[j - ordered], values[j])
        if node != nodes[j - ordered]:
            nodes[j - ordered] = node
            costs.inside[j - ordered] = trees.low[node]
            fill(costs, trees, rise, node)
            changed = True
    return changed


@kernel
def take(growth: Growth, tree: Tree, u: int, count: int, made: int) -> None:
    """Puts some copies of a tuple into class `made`."""
    place = growth.first[u + 1] - growth.left[u]
    for i in range(place, place + count):
        growth.member[i] = made
    growth.left[u] -= count
    growth.now[ROWS] -= count
    if growth.left[u] == 0:
        growth.now[TUPLES] -= 1
        remove(tree, u)


@kernel
def finish(growth: Growth, costs: Costs, nodes: Ints, count: int) -> None:
    """Notes the class that costs are about as made, with so many rows."""
    made = growth.now[MADE]
    for j in range(len(costs.low)):
        growth.low[made, j], growth.high[made, j] = costs.low[j], costs.high[j]
    for j in range(len(nodes)):
        growth.node[made, j] = nodes[j]
    growth.size[made] = count
    growth.now[MADE] += 1


@kernel
def enter(tuples: Ints, trees: Trees, growth: Growth, u: int, c: int) -> None:
    """Puts one copy of a tuple into class c, which is widened to cover it."""
    ordered = growth.low.shape[1]
    for j in range(ordered):
        growth.low[c, j] = min(growth.low[c, j], tuples[u, j])
        growth.high[c, j] = max(growth.high[c, j], tuples[u, j])
    for j in range(ordered, tuples.shape[1]):
        growth.node[c, j - ordered] = above(trees, growth.node[c, j - ordered], tuples[u, j])
    growth.size[c] += 1
    growth.member[growth.first[u + 1] - growth.left[u]] = c
    growth.left[u] -= 1
    growth.now[ROWS] -= 1


@kernel
def grow(
    tuples: Ints,
    tree: Tree,
    trees: Trees,
    rise: Ints,
    growth: Growth,
    costs: Costs,
    stack: Stack,
    least_rows: int,
    size: int,
    ceiling: int,
    most: int,
    least_tuples: int,
) -> None:
    """Makes up to `most` classes. Each grows to `size` rows, or until the next tuple would raise its loss above `ceiling`.
    Stops when fewer than `least_rows` rows or `least_tuples` tuples are left."""
    nodes = np.zeros(len(trees.root), dtype=np.int64)
    now = growth.now
    for _ in range(most):
        if now[ROWS] < least_rows or now[TUPLES] < least_tuples:
            return
        if len(growth.seeds) > 0:  # the next row in the list that is in no class yet
            while growth.member[growth.seeds[now[NEXT]]] >= 0:
                now[NEXT] += 1
            u = below(growth.first, len(growth.first), growth.seeds[now[NEXT]] + 1) - 1
        elif now[MADE] == 0:
            u = now[SEED]
        else:
            begin(costs, trees, rise, tuples[now[SEED]], nodes)
            u = farthest(tree, growth.left, costs, stack)
        made = now[MADE]
        now[SEED] = u
        begin(costs, trees, rise, tuples[u], nodes)
        take(growth, tree, u, 1, made)
        count = 1
        while count < size and now[ROWS] > 0:
            u, cost = nearest(tree, growth.left, costs, stack)
            if cost > ceiling:
                break
            copies = 1 if widen(costs, trees, rise, tuples[u], nodes) else min(growth.left[u], size - count)
            take(growth, tree, u, copies, made)
            count += copies
        finish(growth, costs, nodes, count)


@kernel
def join(tuples: Ints, trees: Trees, rise: Ints, growth: Growth, unit: int) -> None:
    """Puts each row that is left into the class whose total loss it raises least; ties go to the first class."""
    ordered = growth.low.shape[1]
    for u in range(len(tuples)):
        while growth.left[u] > 0:
            best, found = -1, -1
            for c in range(growth.now[MADE]):
                old, new = 0, 0
                for j in range(ordered):
                    low, high = growth.low[c, j], growth.high[c, j]
                    old += min(high - low, unit)
                    new += min(max(high, tuples[u, j]) - min(low, tuples[u, j]), unit)
                for j in range(ordered, tuples.shape[1]):
                    node = growth.node[c, j - ordered]
                    old += rise[node]
                    new += rise[above(trees, node, tuples[u, j])]
                more = (growth.size[c] + 1) * new - growth.size[c] * old
                if found < 0 or more < best:
                    best, found = more, c
            enter(tuples, trees, growth, u, found)
