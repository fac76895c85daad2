"""Records and centroids: nearest centroid, centroids of clusters, and the farthest records of a cluster.

A centroid has a position on each ordered column, from 0 to 1 (2 where it is the missing value), and a slot in each tree
column. The distance is a sum over columns (trees first, then lines) of weight × the distance in the column or its square.

Nearest centroid by branch and bound in a k-d tree, exactly, though distances are floating-point numbers. Rounding keeps
order: if x ≤ y then the rounded x + z, x - z, x · z (z ≥ 0) are not above those of y. In a box of centroids the nearest point
of each column (on a line the nearest position; in a tree, leaves being numbered depth-first, the nearest slot) has no
greater distance in that column than any centroid of the box; the sum over columns is made in the same order, so the
rounded bound is not above the rounded distance of any centroid in the box. Boxes are skipped when their bound is greater than
the best distance, or equal with no lower cluster number in them: ties go to the lowest number, as in a plain scan.

The categorical centroid is the value v of least total distance Σ rise(lowest common ancestor of v and w) over the
cluster's values w. Two facts make it cheap. Only values that occur can be it: let u be the occurring value nearest to v;
heights of common ancestors form an ultrametric, so d(u,w) ≤ max(d(u,v), d(v,w)) = d(v,w) for every occurring w, and
d(u,u) = 0 < d(v,u). And with the number of values under each node, the total of v is
Σ rise(a)·(count(a) - count(child of a towards v)) over the ancestors a of v. Totals are whole numbers, so ties are ties; they
go to the first value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.sorting import order_of
from anonymizers.kernels.tree import Tree, remove
from anonymizers.shapes import Trees
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.compiling import kernel

MISSING = 2.0
"""The position of a missing value on a line."""


class Measure(NamedTuple):
    """What distances are: the first `ordered` columns are lines, the others trees; `apart` is the distance of two values
    whose lowest common ancestor is a node (squared where `square`), `rise` the same as a whole number, not squared."""

    ordered: int
    unit: int
    square: bool
    weight: Floats
    apart: Floats
    rise: Ints
    trees: Trees


class Search(NamedTuple):
    """A search for a tuple's nearest centroid: `values` is the tuple (empty at first: not a number), `table` the weighted
    distance of its values to every slot; `node` and `bound` are room for the nodes that are put off; `open` says whether
    each cluster takes part."""

    values: Floats
    table: Floats
    node: Ints
    bound: Floats
    open: Bools


@kernel(inline="always")
def line_part(measure: Measure, j: int, x: float, c: float) -> float:
    """The weighted distance of two positions on a line."""
    way = min(abs(x - c), 1.0)
    weight: float = measure.weight[j]
    return weight * (way * way if measure.square else way)


@kernel
def tree_part(measure: Measure, j: int, x: float, c: float) -> float:
    """The weighted distance of two slots of a tree."""
    trees, slot = measure.trees, int(c)
    node = trees.leaf[int(x)]
    while slot < trees.low[node] or slot > trees.high[node]:
        node = trees.parent[node]
    cost: float = measure.weight[j] * measure.apart[node]
    return cost


@kernel
def distance(measure: Measure, values: Floats, centre: Floats) -> float:
    """The distance of a record and a centroid: trees first, since they tell more, then lines."""
    total = 0.0
    for j in range(measure.ordered, len(values)):
        total += tree_part(measure, j, values[j], centre[j])
    for j in range(measure.ordered):
        total += line_part(measure, j, values[j], centre[j])
    return total


@kernel
def look_for(measure: Measure, search: Search, values: Floats) -> None:
    """Makes a tuple the one that the search is about. The table changes only below the lowest node that covers both the
    last value and this one."""
    trees = measure.trees
    for j in range(measure.ordered, len(values)):
        if values[j] == search.values[j]:
            continue
        slot, top = int(values[j]), -1
        if not np.isnan(search.values[j]):
            node = trees.leaf[int(search.values[j])]
            while slot < trees.low[trees.parent[node]] or slot > trees.high[trees.parent[node]]:
                node = trees.parent[node]
            top = trees.parent[node]
            search.table[trees.low[node] : trees.high[node] + 1] = measure.weight[j] * measure.apart[top]
        node = trees.leaf[slot]
        low = high = slot
        search.table[slot] = 0.0
        while trees.parent[node] != top:
            node = trees.parent[node]
            cost = measure.weight[j] * measure.apart[node]
            search.table[trees.low[node] : low] = cost
            search.table[high + 1 : trees.high[node] + 1] = cost
            low, high = trees.low[node], trees.high[node]
    for j in range(len(values)):
        search.values[j] = values[j]


@kernel(inline="always")
def _within(measure: Measure, search: Search, centre: Floats, limit: float) -> float:
    """The distance to a centroid, or some number above `limit` where it is greater."""
    total: float = 0.0
    for j in range(measure.ordered, len(centre)):
        total += search.table[int(centre[j])]
        if total > limit:
            return total
    for j in range(measure.ordered):
        total += line_part(measure, j, search.values[j], centre[j])
    return total


@kernel(inline="always")
def _bound(measure: Measure, search: Search, low: Floats, high: Floats, limit: float) -> float:
    """No centroid in the box is nearer; some number above `limit` where that is so."""
    total: float = 0.0
    for j in range(measure.ordered, len(low)):
        total += search.table[int(min(max(search.values[j], low[j]), high[j]))]
        if total > limit:
            return total
    for j in range(measure.ordered):
        x = search.values[j]
        total += line_part(measure, j, x, min(max(x, low[j]), high[j]))
    return total


@kernel
def nearest(tree: Tree, measure: Measure, search: Search, found: int, best: float) -> int:
    """The nearest open cluster of the tuple searched for. `found` is a first guess, at the distance `best` (-1 and
    infinity: none)."""
    search.node[0], search.bound[0] = 0, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v, bound = search.node[waiting], search.bound[waiting]
        if bound > best or (bound == best and tree.least[v] > found):
            continue
        child = tree.left[v]
        if child < 0:
            for i in range(tree.start[v], tree.stop[v]):
                c = tree.order[i]
                if search.open[c]:
                    cost = _within(measure, search, tree.placed[i], best)
                    if cost < best or (cost == best and c < found):
                        best, found = cost, c
            continue
        one = two = np.inf
        if tree.alive[child] > 0:
            one = _bound(measure, search, tree.low[child], tree.high[child], best)
        if tree.alive[child + 1] > 0:
            two = _bound(measure, search, tree.low[child + 1], tree.high[child + 1], best)
        near, far = child, child + 1  # the more promising child is put on top of the stack
        if two < one or (two == one and tree.least[child + 1] < tree.least[child]):
            near, far, one, two = far, near, two, one
        if two <= best and two < np.inf:
            search.node[waiting], search.bound[waiting] = far, two
            waiting += 1
        if one <= best and one < np.inf:
            search.node[waiting], search.bound[waiting] = near, one
            waiting += 1
    return found


@kernel
def assign(
    tree: Tree, measure: Measure, search: Search, values: Floats, centre: Floats, start: int, stop: int, near: Ints
) -> None:
    """The nearest cluster of each tuple from `start` to `stop`; `near` holds those of the last round (-1: none). First
    guesses are the last round's cluster and that of the tuple before, which is much like this one."""
    for u in range(start, stop):
        look_for(measure, search, values[u])
        found, best = -1, np.inf
        for guess in (near[u], near[u - 1] if u > 0 else -1):
            if guess >= 0:
                cost = _within(measure, search, centre[guess], best)
                if cost < best or (cost == best and guess < found):
                    best, found = cost, guess
        near[u] = nearest(tree, measure, search, found, best)


@kernel
def deal(
    tree: Tree,
    measure: Measure,
    search: Search,
    values: Floats,
    which: Ints,
    order: Ints,
    start: int,
    stop: int,
    least: int,
    most: int,
    size: Ints,
    member: Ints,
) -> tuple[int, int]:
    """Puts the rows of `order`, from `start` to `stop`, one after the other into their nearest open cluster; a cluster closes
    when it has `most` rows. Stops early when fewer than `least` clusters of the tree are open. Returns how far it came and
    how many clusters are open."""
    left = tree.alive[0]
    for i in range(start, stop):
        if left < least:
            return i, left
        row = order[i]
        look_for(measure, search, values[which[row]])
        c = nearest(tree, measure, search, -1, np.inf)
        member[row] = c
        size[c] += 1
        if size[c] == most:
            search.open[c] = False
            remove(tree, c)
            left -= 1
    return stop, left


@kernel
def by_cluster(member: Ints, clusters: int) -> tuple[Ints, Ints]:
    """The rows in the order of their clusters, and where each cluster begins."""
    first = np.zeros(clusters + 1, dtype=np.int64)
    for c in member:
        first[c + 1] += 1
    for c in range(clusters):
        first[c + 1] += first[c]
    place = first.copy()
    rows = np.empty(len(member), dtype=np.int64)
    for i in range(len(member)):
        rows[place[member[i]]] = i
        place[member[i]] += 1
    return rows, first


@kernel
def position(total: int, present: int, missing: int, unit: int) -> float:
    """The centroid's position on a line: the mean of the values present, or missing where most are."""
    return MISSING if missing > present else total / (present * unit)


@kernel
def count(trees: Trees, slot: int, copies: int, under: Ints) -> None:
    """Counts some copies of a value at all nodes above it; minus their number takes them back."""
    node = trees.leaf[slot]
    while node >= 0:
        under[node] += copies
        node = trees.parent[node]


@kernel
def total_of(trees: Trees, rise: Ints, slot: int, under: Ints) -> int:
    """The total distance of one value to the values that are counted."""
    node = trees.leaf[slot]
    total = 0
    while trees.parent[node] >= 0:
        above = trees.parent[node]
        total += rise[above] * (under[above] - under[node])
        node = above
    return total


@kernel
def centroids(tuples: Ints, which: Ints, member: Ints, measure: Measure, centre: Floats) -> None:
    """Writes the centroid of each cluster into `centre`; that of a cluster without rows stays as it is."""
    rows, first = by_cluster(member, len(centre))
    trees, gone = measure.trees, 2 * measure.unit
    under = np.zeros(len(trees.parent), dtype=np.int64)
    for c in range(len(centre)):
        mine = rows[first[c] : first[c + 1]]
        if len(mine) == 0:
            continue
        for j in range(measure.ordered):
            total, present = 0, 0
            for row in mine:
                x = tuples[which[row], j]
                if x != gone:
                    total += x
                    present += 1
            centre[c, j] = position(total, present, len(mine) - present, measure.unit)
        for j in range(measure.ordered, tuples.shape[1]):
            for row in mine:
                count(trees, tuples[which[row], j], 1, under)
            best, found, last = -1, -1, -1
            for row in mine:
                slot = tuples[which[row], j]
                if slot != last:
                    total = total_of(trees, measure.rise, slot, under)
                    if found < 0 or total < best or (total == best and slot < found):
                        best, found = total, slot
                last = slot
            for row in mine:
                count(trees, tuples[which[row], j], -1, under)
            centre[c, j] = found


@kernel
def release_farthest(
    measure: Measure, values: Floats, which: Ints, member: Ints, centre: Floats, k: int, size: Ints
) -> Bools:
    """Takes the rows farthest from the centroid out of every cluster above k, down to k; of rows equally far the first stay.
    Returns which rows were taken out; `size` is filled with the sizes afterwards."""
    out = np.zeros(len(member), dtype=np.bool_)
    rows, first = by_cluster(member, len(centre))
    for c in range(len(centre)):
        mine = rows[first[c] : first[c + 1]]
        size[c] = min(len(mine), k)
        if len(mine) <= k:
            continue
        away = np.empty(len(mine))
        for i in range(len(mine)):
            if i > 0 and which[mine[i]] == which[mine[i - 1]]:
                away[i] = away[i - 1]
            else:
                away[i] = distance(measure, values[which[mine[i]]], centre[c])
        for i in order_of(away)[k:]:
            out[mine[i]] = True
    return out


@kernel
def dispersion(
    measure: Measure, values: Floats, which: Ints, member: Ints, centre: Floats, whole: Floats
) -> tuple[Floats, Floats]:
    """Per column, without weights: the total distance of rows to their centroid, and of centroids, each as often as its
    cluster has rows, to that of all rows."""
    within, between = np.zeros(len(whole)), np.zeros(len(whole))
    for row in range(len(member)):
        c = member[row]
        for j in range(len(whole)):
            x, m = values[which[row], j], centre[c, j]
            if j < measure.ordered:
                within[j] += line_part(measure, j, x, m)
                between[j] += line_part(measure, j, m, whole[j])
            else:
                within[j] += tree_part(measure, j, x, m)
                between[j] += tree_part(measure, j, m, whole[j])
    return within, between
