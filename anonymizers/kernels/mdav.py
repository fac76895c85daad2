"""MDAV in compiled code, exact: the same clusters as the naive procedure, cluster by cluster.

Squared distances are sums over columns, always in the same order: weight · difference² for measured columns, 0 or 1 for
nominal ones. Ties go to the row that stands first.

*Nearest to and farthest from a record* come from the k-d tree. A bound of a box is computed with the same operations
in the same order as a distance, with each difference replaced by the least (greatest) one that the box allows. Rounding
is monotone (a ≤ b gives fl(a) ≤ fl(b), for differences, products of nonnegative numbers and sums alike), so the computed
bound is never on the wrong side of the computed distance of a point in the box, and no margin is needed. The code of a
nominal column is equal to that of a point in the box only if it lies within the box's bounds, and must be equal only if
both bounds are that code. A node whose bound equals the best distance is skipped only if its first row stands later. The
rows of a leaf stand in their order, so a leaf of equal rows is left at the first one that is not wanted.

*Farthest from the average record* comes from a list of the rows by descending distance from an earlier average record.
The distance is a metric (a Euclidean sum of metrics), so no row is farther from the average record now than its listed
distance plus what the average record has moved since; the search goes down the list until that is below the best found,
with a margin far above rounding. When going down has cost several times the number of rows, a new list is made.

Sums behind the means are running sums: rows are added in their order and subtracted in the order they leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizers.kernels import tree as kd
from anonymizers.kernels.averages import median, mode
from anonymizers.shapes import Average, Points
from auditor.model.arrays import Floats, Ints
from auditor.model.compiling import kernel
from auditor.model.progress import Progress, silent

_MEAN, _CONVEX, _MODE = int(Average.MEAN), int(Average.CONVEX), int(Average.MODE)

Boxes = NDArray[Any]
"""Arrays of a tree, which may be of any type; here of floating-point numbers."""

_SLICE = 20_000_000
"""Distances and bounds computed between two reports of progress: well below a second."""
_PATIENCE = 4
"""The list is made anew after this many times its length was gone through."""
_CROWDED = 16
"""With more rows than this for each node of the tree, most rows are copies, and the tree is faster than the list."""
_MARGIN = 1e-9
"""Relative; rounding of distances stays below 1e-12."""
_DONE, _TREE, _LIST, _PAUSE = 0, 1, 2, 3
_LEFT, _NEXT, _FIRST, _SPENT, _BUILT = 0, 1, 2, 3, 4


class State(NamedTuple):
    """How far the work is. `figures` holds the number of rows left, the next cluster's number, the first place of the list
    that may hold a row that is left, what going down the list has cost, and how many rows the tree was built of; `total`
    and `counts` (from `offset`) describe the rows that are left."""

    figures: Ints
    cluster: Ints
    total: Floats
    counts: Ints
    offset: Ints
    kind: NDArray[np.int8]


class Ranked(NamedTuple):
    """Rows by descending distance from a reference record."""

    rows: Ints
    distance: Floats
    reference: Floats


@kernel
def squared(points: Boxes, row: int, centre: Floats, weight: Floats, measured: int) -> float:
    """The squared distance of a row from a record."""
    total = 0.0
    for j in range(measured):
        t = points[row, j] - centre[j]
        total += t * t * weight[j]
    for j in range(measured, len(centre)):
        if points[row, j] != centre[j]:
            total += 1.0
    return total


@kernel
def _least(low: Boxes, high: Boxes, v: int, centre: Floats, weight: Floats, measured: int) -> float:
    """No point of the node is nearer than this (squared)."""
    total = 0.0
    for j in range(measured):
        t = max(0.0, low[v, j] - centre[j], centre[j] - high[v, j])
        total += t * t * weight[j]
    for j in range(measured, len(centre)):
        if centre[j] < low[v, j] or centre[j] > high[v, j]:
            total += 1.0
    return total


@kernel
def _greatest(low: Boxes, high: Boxes, v: int, centre: Floats, weight: Floats, measured: int) -> float:
    """No point of the node is farther than this (squared)."""
    total = 0.0
    for j in range(measured):
        t = max(abs(low[v, j] - centre[j]), abs(high[v, j] - centre[j]))
        total += t * t * weight[j]
    for j in range(measured, len(centre)):
        if low[v, j] != centre[j] or high[v, j] != centre[j]:
            total += 1.0
    return total


@kernel
def _open_leaf(tree: kd.Tree, v: int, cluster: Ints) -> bool:
    """Drops the rows at the beginning of a leaf that have a cluster, and says whether it is one of many equal rows."""
    while tree.start[v] < tree.stop[v] and cluster[tree.order[tree.start[v]]] >= 0:
        tree.start[v] += 1
    if tree.stop[v] - tree.start[v] <= kd.LEAF:
        return False
    alike = True
    for j in range(tree.low.shape[1]):
        alike = alike and tree.low[v, j] == tree.high[v, j]
    return alike


@kernel
def nearest(
    tree: kd.Tree,
    cluster: Ints,
    centre: Floats,
    weight: Floats,
    measured: int,
    rows: Ints,
    distance: Floats,
    stack: Ints,
    bounds: Floats,
) -> int:
    """Fills `rows` with the nearest rows that are in no cluster yet, nearest first. Returns what it cost."""
    low, high, placed, order = tree.low, tree.high, tree.placed, tree.order  # passing on the tuple would be slow
    wanted, found, cost = len(rows), 0, 0
    stack[0], bounds[0] = 0, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v = stack[waiting]
        if found == wanted and (
            bounds[waiting] > distance[wanted - 1]
            or (bounds[waiting] == distance[wanted - 1] and tree.least[v] > rows[wanted - 1])
        ):
            continue
        child = tree.left[v]
        if child < 0:
            alike = _open_leaf(tree, v, cluster)
            for i in range(tree.start[v], tree.stop[v]):
                row = order[i]
                if cluster[row] >= 0:
                    continue
                cost += 1
                d = squared(placed, i, centre, weight, measured)
                if found == wanted and (
                    d > distance[found - 1] or (d == distance[found - 1] and row > rows[found - 1])
                ):
                    if alike:
                        break
                    continue
                if found < wanted:
                    found += 1
                place = found - 1
                while place > 0 and (distance[place - 1] > d or (distance[place - 1] == d and rows[place - 1] > row)):
                    distance[place] = distance[place - 1]
                    rows[place] = rows[place - 1]
                    place -= 1
                distance[place] = d
                rows[place] = row
            continue
        cost += 2
        first = _least(low, high, child, centre, weight, measured) if tree.alive[child] > 0 else np.inf
        second = _least(low, high, child + 1, centre, weight, measured) if tree.alive[child + 1] > 0 else np.inf
        near = child if first <= second else child + 1
        if max(first, second) < np.inf:
            stack[waiting], bounds[waiting] = 2 * child + 1 - near, max(first, second)
            waiting += 1
        if min(first, second) < np.inf:
            stack[waiting], bounds[waiting] = near, min(first, second)
            waiting += 1
    return cost


@kernel
def farthest(
    tree: kd.Tree, cluster: Ints, centre: Floats, weight: Floats, measured: int, stack: Ints, bounds: Floats
) -> tuple[int, int]:
    """The farthest row that is in no cluster yet, and what finding it cost."""
    low, high, placed, order = tree.low, tree.high, tree.placed, tree.order
    best, chosen, cost = -1.0, -1, 0
    stack[0], bounds[0] = 0, np.inf
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v = stack[waiting]
        if bounds[waiting] < best or (bounds[waiting] == best and tree.least[v] > chosen):
            continue
        child = tree.left[v]
        if child < 0:
            alike = _open_leaf(tree, v, cluster)
            for i in range(tree.start[v], tree.stop[v]):
                row = order[i]
                if cluster[row] >= 0:
                    continue
                cost += 1
                d = squared(placed, i, centre, weight, measured)
                if d > best or (d == best and row < chosen):
                    best, chosen = d, row
                if alike:
                    break
            continue
        cost += 2
        first = _greatest(low, high, child, centre, weight, measured) if tree.alive[child] > 0 else -1.0
        second = _greatest(low, high, child + 1, centre, weight, measured) if tree.alive[child + 1] > 0 else -1.0
        far = child if first >= second else child + 1
        if min(first, second) >= best and min(first, second) >= 0:
            stack[waiting], bounds[waiting] = 2 * child + 1 - far, min(first, second)
            waiting += 1
        if max(first, second) >= best and max(first, second) >= 0:
            stack[waiting], bounds[waiting] = far, max(first, second)
            waiting += 1
    return chosen, cost


@kernel
def average_record(state: State, centre: Floats) -> None:
    """The average record of the rows that are left: mean, median or mode of each column."""
    for j in range(len(centre)):
        counts = state.counts[state.offset[j] : state.offset[j + 1]]
        if state.kind[j] == _MEAN:
            centre[j] = state.total[j] / state.figures[_LEFT]
        elif state.kind[j] == _MODE:
            centre[j] = mode(counts)
        else:
            centre[j] = median(counts, state.kind[j] == _CONVEX)


@kernel
def _count(points: Floats, row: int, state: State, sign: int) -> None:
    """A row joins (1) or leaves (-1) those that the average record is of."""
    for j in range(points.shape[1]):
        if state.kind[j] == _MEAN:
            state.total[j] += sign * points[row, j]
        else:
            state.counts[state.offset[j] + int(points[row, j])] += sign


@kernel
def start(points: Floats, state: State) -> None:
    """All rows are left."""
    for row in range(len(points)):
        _count(points, row, state, 1)


@kernel
def _far_from_average(
    points: Floats, weight: Floats, measured: int, state: State, ranked: Ranked, centre: Floats
) -> int:
    """The farthest row from the average record `centre`, by the list."""
    moved = 0.0
    for j in range(measured):
        moved += (centre[j] - ranked.reference[j]) ** 2 * weight[j]
    for j in range(measured, len(centre)):
        if centre[j] != ranked.reference[j]:
            moved += 1.0
    moved = np.sqrt(moved)
    while state.cluster[ranked.rows[state.figures[_FIRST]]] >= 0:
        state.figures[_FIRST] += 1
    best, chosen = -1.0, -1
    place = state.figures[_FIRST]
    while place < len(ranked.rows):
        if best >= 0 and (ranked.distance[place] + moved) * (1 + _MARGIN) < np.sqrt(best):
            break
        row = ranked.rows[place]
        if state.cluster[row] < 0:
            d = squared(points, row, centre, weight, measured)
            if d > best or (d == best and row < chosen):
                best, chosen = d, row
        place += 1
    state.figures[_SPENT] += place - state.figures[_FIRST]
    return chosen


@kernel
def advance(
    points: Floats, weight: Floats, measured: int, k: int, state: State, tree: kd.Tree, ranked: Ranked, budget: int
) -> int:
    """Forms clusters until fewer than 2k rows are left, a new tree or list is due, or the budget is spent; says which."""
    centre = np.empty(points.shape[1])
    rows, distance = np.empty(k, dtype=np.int64), np.empty(k)
    stack, bounds = np.empty(kd.STACK, dtype=np.int64), np.empty(kd.STACK)
    figures = state.figures
    while figures[_LEFT] >= 2 * k:
        if figures[_LEFT] < kd.REBUILD * figures[_BUILT]:
            return _TREE
        if figures[_SPENT] > _PATIENCE * figures[_LEFT]:
            return _LIST
        if budget <= 0:
            return _PAUSE
        average_record(state, centre)
        budget += figures[_SPENT]
        ends = np.empty(2, dtype=np.int64)
        if _CROWDED * len(tree.start) < figures[_LEFT]:
            ends[0], cost = farthest(tree, state.cluster, centre, weight, measured, stack, bounds)
            budget -= cost
        else:
            ends[0] = _far_from_average(points, weight, measured, state, ranked, centre)
        budget -= figures[_SPENT]
        clusters = 1
        if figures[_LEFT] >= 3 * k:
            ends[1], cost = farthest(tree, state.cluster, points[ends[0]], weight, measured, stack, bounds)
            budget -= cost
            clusters = 2
        for end in ends[:clusters]:
            budget -= nearest(tree, state.cluster, points[end], weight, measured, rows, distance, stack, bounds)
            for place in range(k):
                row = int(rows[place])
                state.cluster[row] = figures[_NEXT]
                kd.remove(tree, row)
                _count(points, row, state, -1)
            figures[_NEXT] += 1
            figures[_LEFT] -= k
    return _DONE


@kernel
def _distances(points: Floats, rows: Ints, centre: Floats, weight: Floats, measured: int) -> Floats:
    out = np.empty(len(rows))
    for i in range(len(rows)):
        out[i] = np.sqrt(squared(points, rows[i], centre, weight, measured))
    return out


def clusters_of(points: Points, k: int, progress: Progress = silent) -> Ints:
    """The cluster of each row, numbered in the order they are formed."""
    values, weight, measured = points.values, points.weight, points.measured
    rows, width = values.shape
    state = State(
        figures=np.array([rows, 0, 0, 0, 0]),
        cluster=np.full(rows, -1, dtype=np.int64),
        total=np.zeros(width),
        counts=np.zeros(points.sizes.sum(), dtype=np.int64),
        offset=np.concatenate([[0], np.cumsum(points.sizes)]),
        kind=points.average,
    )
    start(values, state)
    sides = np.sqrt(weight)
    tree, ranked, due = None, None, _TREE
    while due != _DONE:
        left = np.flatnonzero(state.cluster < 0)
        if tree is None or due == _TREE:
            tree = kd.build(values, left, sides)
            state.figures[_BUILT] = len(left)
        if ranked is None or due == _LIST:
            reference = np.empty(width)
            average_record(state, reference)
            distance = _distances(values, left, reference, weight, measured)
            descending = np.argsort(-distance, kind="stable")
            ranked = Ranked(left[descending], distance[descending], reference)
            state.figures[[_FIRST, _SPENT]] = 0
        progress(rows - len(left), rows, "clusters")
        due = advance(values, weight, measured, k, state, tree, ranked, _SLICE)
    state.cluster[state.cluster < 0] = state.figures[_NEXT]
    return state.cluster
