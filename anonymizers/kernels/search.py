"""The nearest and the farthest tuple of a class, exactly, by branch and bound in the k-d tree.

The cost of a tuple is a sum over columns. On an ordered column it is `base + the way from the class's interval to the
tuple`, at most a unit. On a tree column it is read from a table with the cost of every value for the class as it is now.
A box bounds the cost of its tuples column by column:

- on a line the cost rises with the way from the interval, so the box's nearest point has the least cost and one of its two
  ends the greatest;
- leaves are numbered depth-first, so walking away from the class's node the common ancestor only rises. Where the cost
  follows it (`near` and `far` equal to the table) the same holds. Where it does not, because leaves lie at different depths,
  `near` holds at each value the least and `far` the greatest cost beyond it and before it, seen from the class: they are
  monotone again and bound the table from below and above.

A node is skipped when its bound is worse than the best tuple, or as good with no lower tuple number in it: ties go to the
lowest number, as in a plain scan.
"""

from __future__ import annotations

from typing import NamedTuple

from anonymizers.kernels.sorting import sort
from anonymizers.kernels.tree import Tree
from auditor.model.arrays import Ints
from auditor.model.compiling import kernel

HUGE = 1 << 60


class Costs(NamedTuple):
    """What a tuple costs the class as it is now: `low`, `high` and `base` for each ordered column; `table`, `near` and
    `far` for each slot of the tree columns; `inside` a slot under the class's node for each tree column."""

    low: Ints
    high: Ints
    base: Ints
    table: Ints
    near: Ints
    far: Ints
    inside: Ints
    unit: int


class Stack(NamedTuple):
    """Room for the nodes that a search has put off, with their bounds."""

    node: Ints
    bound: Ints


@kernel(inline="always")
def cost_of(costs: Costs, values: Ints) -> int:
    """The cost of one tuple."""
    ordered = len(costs.low)
    total = 0
    for j in range(ordered):
        x = values[j]
        way = max(costs.low[j] - x, x - costs.high[j], 0)
        total += min(costs.base[j] + way, costs.unit)
    for j in range(ordered, len(values)):
        total += costs.table[values[j]]
    return total


@kernel
def _least(costs: Costs, low: Ints, high: Ints) -> int:
    """No tuple in the box costs less."""
    ordered = len(costs.low)
    total = 0
    for j in range(ordered):
        way = max(costs.low[j] - high[j], low[j] - costs.high[j], 0)
        total += min(costs.base[j] + way, costs.unit)
    for j in range(ordered, len(low)):
        total += costs.near[min(max(costs.inside[j - ordered], low[j]), high[j])]
    return total


@kernel
def _most(costs: Costs, low: Ints, high: Ints) -> int:
    """No tuple in the box costs more."""
    ordered = len(costs.low)
    total = 0
    for j in range(ordered):
        way = max(costs.low[j] - low[j], high[j] - costs.high[j], 0)
        total += min(costs.base[j] + way, costs.unit)
    for j in range(ordered, len(low)):
        total += max(costs.far[low[j]], costs.far[high[j]])
    return total


@kernel
def nearest(tree: Tree, left: Ints, costs: Costs, stack: Stack) -> tuple[int, int]:
    """The tuple of least cost that has copies left, and its cost; (-1, HUGE) where there is none."""
    best, found = HUGE, -1
    stack.node[0], stack.bound[0] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v, bound = stack.node[waiting], stack.bound[waiting]
        if bound > best or (bound == best and tree.least[v] > found):
            continue
        child = tree.left[v]
        if child < 0:
            for i in range(tree.start[v], tree.stop[v]):
                u = tree.order[i]
                if left[u] > 0:
                    cost = cost_of(costs, tree.placed[i])
                    if cost < best or (cost == best and u < found):
                        best, found = cost, u
            continue
        one = _least(costs, tree.low[child], tree.high[child]) if tree.alive[child] > 0 else HUGE
        two = _least(costs, tree.low[child + 1], tree.high[child + 1]) if tree.alive[child + 1] > 0 else HUGE
        near, far = child, child + 1  # the more promising child is put on top of the stack
        if two < one or (two == one and tree.least[child + 1] < tree.least[child]):
            near, far, one, two = far, near, two, one
        if two <= best and two < HUGE:
            stack.node[waiting], stack.bound[waiting] = far, two
            waiting += 1
        if one <= best and one < HUGE:
            stack.node[waiting], stack.bound[waiting] = near, one
            waiting += 1
    return found, best


@kernel
def farthest(tree: Tree, left: Ints, costs: Costs, stack: Stack) -> int:
    """The tuple of greatest cost that has copies left; -1 where there is none."""
    best, found = -1, -1
    stack.node[0], stack.bound[0] = 0, HUGE
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v, bound = stack.node[waiting], stack.bound[waiting]
        if bound < best or (bound == best and tree.least[v] > found):
            continue
        child = tree.left[v]
        if child < 0:
            for i in range(tree.start[v], tree.stop[v]):
                u = tree.order[i]
                if left[u] > 0:
                    cost = cost_of(costs, tree.placed[i])
                    if cost > best or (cost == best and u < found):
                        best, found = cost, u
            continue
        one = _most(costs, tree.low[child], tree.high[child]) if tree.alive[child] > 0 else -1
        two = _most(costs, tree.low[child + 1], tree.high[child + 1]) if tree.alive[child + 1] > 0 else -1
        far, near = child, child + 1
        if two > one or (two == one and tree.least[child + 1] < tree.least[child]):
            far, near, one, two = near, far, two, one
        if two >= best and two >= 0:
            stack.node[waiting], stack.bound[waiting] = near, two
            waiting += 1
        if one >= best and one >= 0:
            stack.node[waiting], stack.bound[waiting] = far, one
            waiting += 1
    return found


@kernel
def all_at(tree: Tree, left: Ints, costs: Costs, stack: Stack, wanted: int, out: Ints) -> int:
    """Writes the tuples with copies left whose cost is exactly `wanted`, the least there is, into `out` in ascending
    order; returns how many there are."""
    count = 0
    stack.node[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v = stack.node[waiting]
        child = tree.left[v]
        if child < 0:
            for i in range(tree.start[v], tree.stop[v]):
                u = tree.order[i]
                if left[u] > 0 and cost_of(costs, tree.placed[i]) == wanted:
                    out[count] = u
                    count += 1
            continue
        for w in (child, child + 1):
            if tree.alive[w] > 0 and _least(costs, tree.low[w], tree.high[w]) <= wanted:
                stack.node[waiting] = w
                waiting += 1
    sort(out, count)
    return count
