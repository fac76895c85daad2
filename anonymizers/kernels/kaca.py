"""KACA: merging the class at hand with the nearest class, exactly, by branch and bound in a tree of boxes.

A class is the box around its tuples: on every column the least and the greatest position or slot. Its loss L is a sum over
columns, of the interval's width (at most a unit) and of what generalising to the common ancestor gives up. A merge of C with
C' makes the hull H and distorts n rows of C and m of C' (all of them, or as many as C lacks where C' can spare them), so

    distance = n·(L(H) - L(C)) + m·(L(H) - L(C')).

The classes lie in a k-d tree built over the middles of their boxes; a node knows the box around its classes, their greatest
loss and their least size. Take any class C' in a node. On every column H covers C and some point of the node's box, so
L(H) is at least B, the loss of C widened to the nearest point of that box: on a line the width grows with the way; in a
tree leaves are numbered depth-first, so walking away from C the common ancestor only rises. With m at least the least size,
or what C lacks if that is less, and L(C') at most the greatest loss,

    distance ≥ n·(B - L(C)) + m·max(0, B - greatest loss).

A node is skipped when this is above the best distance, or equal with no lower class number in it, so the search finds the
class that a plain scan finds. When a class changes, the nodes above it are widened and never narrowed: bounds get looser,
never wrong. The tree is built anew after a share of its classes has changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.growing import above, fill
from anonymizers.kernels.search import HUGE, Costs, Stack
from anonymizers.kernels.sorting import order_of
from anonymizers.kernels.tree import Tree, remove
from anonymizers.shapes import Trees
from auditor.model.arrays import Floats, Ints
from auditor.model.compiling import kernel

SMALL, LIVE, CHANGED, DRAWN, PIECES, WORK, DISTANCES = 0, 1, 2, 3, 4, 5, 6
"""What `Classes.now` counts: classes below k, classes, changes since the tree was built, draws used, pieces, the classes
compared in this slice, and the distances that the printed algorithm evaluates, which compares with every other class."""


class Classes(NamedTuple):
    """The classes as they are: box, loss and size (0: merged into another); `alone` is the loss of each tuple by itself.
    Their rows are chains of pieces: piece p holds the rows `start[p]` to `start[p] + held[p] - 1` in the order of tuples,
    all copies of tuple `of[p]`; `head` and `tail` are the ends of a class's chain and `after` the next piece (-1: none).
    `small` counts the classes below k in a Fenwick tree, so that the r-th of them is found fast."""

    low: Ints
    high: Ints
    loss: Ints
    size: Ints
    alone: Ints
    head: Ints
    tail: Ints
    start: Ints
    held: Ints
    of: Ints
    after: Ints
    small: Ints
    now: Ints


class Bounds(NamedTuple):
    """What holds for all classes in a node of the search tree: the box around them, the greatest loss, the least size."""

    low: Ints
    high: Ints
    loss: Ints
    size: Ints


@kernel
def count_small(classes: Classes, c: int, change: int) -> None:
    """Adds a class to those below k, or takes it away."""
    classes.now[SMALL] += change
    i = c + 1
    while i < len(classes.small):
        classes.small[i] += change
        i += i & -i


@kernel
def pick_small(classes: Classes, rank: int) -> int:
    """The class below k that has so many classes below k before it."""
    place, step = 0, 1
    while 2 * step < len(classes.small):
        step *= 2
    while step > 0:
        if place + step < len(classes.small) and classes.small[place + step] <= rank:
            place += step
            rank -= classes.small[place]
        step //= 2
    return place


@kernel
def begin(classes: Classes, tuples: Ints, first: Ints, trees: Trees, rise: Ints, unit: int, k: int) -> None:
    """Makes each tuple, with all its copies, a class."""
    for c in range(len(tuples)):
        for j in range(tuples.shape[1]):
            classes.low[c, j], classes.high[c, j] = tuples[c, j], tuples[c, j]
        classes.loss[c] = loss_of(tuples[c], tuples[c], trees, rise, unit, classes.low.shape[1] - len(trees.root))
        classes.alone[c] = classes.loss[c]
        classes.size[c] = first[c + 1] - first[c]
        classes.head[c], classes.tail[c] = c, c
        classes.start[c], classes.held[c], classes.of[c], classes.after[c] = first[c], classes.size[c], c, -1
        if classes.size[c] < k:
            count_small(classes, c, 1)
    classes.now[LIVE], classes.now[PIECES] = len(tuples), len(tuples)


@kernel
def loss_of(low: Ints, high: Ints, trees: Trees, rise: Ints, unit: int, ordered: int) -> int:
    """The loss of a record that is generalised to a box."""
    total = np.int64(0)
    for j in range(ordered):
        total += min(high[j] - low[j], unit)
    for j in range(ordered, len(low)):
        total += rise[above(trees, trees.leaf[low[j]], high[j])]
    return int(total)


@kernel
def bounds_of(tree: Tree, classes: Classes) -> Bounds:
    """The bounds of a tree that was just built: children come after their parents, so from the last node up."""
    nodes, width = tree.low.shape
    bounds = Bounds(
        np.full((nodes, width), HUGE), np.full((nodes, width), -HUGE), np.full(nodes, -HUGE), np.full(nodes, HUGE)
    )
    for v in range(nodes - 1, -1, -1):
        if tree.left[v] < 0:
            for i in range(tree.start[v], tree.stop[v]):
                c = tree.order[i]
                _cover(bounds, v, classes.low[c], classes.high[c], classes.loss[c], classes.size[c])
        else:
            for w in (tree.left[v], tree.left[v] + 1):
                _cover(bounds, v, bounds.low[w], bounds.high[w], bounds.loss[w], bounds.size[w])
    return bounds


@kernel
def _cover(bounds: Bounds, v: int, low: Ints, high: Ints, loss: int, size: int) -> bool:
    """Widens the bounds of a node to cover a class or another node; whether they changed."""
    changed = False
    for j in range(len(low)):
        if low[j] < bounds.low[v, j]:
            bounds.low[v, j] = low[j]
            changed = True
        if high[j] > bounds.high[v, j]:
            bounds.high[v, j] = high[j]
            changed = True
    if loss > bounds.loss[v]:
        bounds.loss[v] = loss
        changed = True
    if size < bounds.size[v]:
        bounds.size[v] = size
        changed = True
    return changed


@kernel
def _cover_above(tree: Tree, bounds: Bounds, classes: Classes, c: int) -> None:
    """Widens the nodes above a class that changed."""
    v = tree.home[c]
    while v >= 0 and _cover(bounds, v, classes.low[c], classes.high[c], classes.loss[c], classes.size[c]):
        v = tree.above[v]


@kernel
def _look_from(classes: Classes, c: int, trees: Trees, rise: Ints, costs: Costs) -> None:
    """Makes class c the class that costs are about."""
    ordered = len(costs.low)
    for j in range(ordered):
        costs.low[j], costs.high[j] = classes.low[c, j], classes.high[c, j]
        costs.base[j] = costs.high[j] - costs.low[j]
    for j in range(ordered, classes.low.shape[1]):
        costs.inside[j - ordered] = classes.low[c, j]
        fill(costs, trees, rise, above(trees, trees.leaf[classes.low[c, j]], classes.high[c, j]))


@kernel(inline="always")
def _hull_loss(costs: Costs, low: Ints, high: Ints) -> int:
    """The loss of the hull of the class that costs are about and a box."""
    ordered = len(costs.low)
    total = np.int64(0)
    for j in range(ordered):
        total += min(max(costs.high[j], high[j]) - min(costs.low[j], low[j]), costs.unit)
    for j in range(ordered, len(low)):
        total += max(costs.table[low[j]], costs.table[high[j]])
    return int(total)


@kernel(inline="always")
def _least_hull_loss(costs: Costs, low: Ints, high: Ints) -> int:
    """No hull of the class that costs are about and a point of the box has less loss."""
    ordered = len(costs.low)
    total = np.int64(0)
    for j in range(ordered):
        total += min(costs.base[j] + max(costs.low[j] - high[j], low[j] - costs.high[j], 0), costs.unit)
    for j in range(ordered, len(low)):
        total += costs.table[min(max(costs.inside[j - ordered], low[j]), high[j])]
    return int(total)


@kernel
def _nearest(tree: Tree, bounds: Bounds, classes: Classes, costs: Costs, stack: Stack, c: int, k: int) -> int:
    """The class nearest to class c, which the costs are about; the first one of several. -1 where there is no other."""
    rows, loss = classes.size[c], classes.loss[c]
    lacking = k - rows
    best, found = HUGE, np.int64(-1)
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
                size = classes.size[u]
                if size > 0 and u != c:
                    hull = _hull_loss(costs, classes.low[u], classes.high[u])
                    moved = size if rows + size < 2 * k else lacking
                    distance = rows * (hull - loss) + moved * (hull - classes.loss[u])
                    if distance < best or (distance == best and u < found):
                        best, found = distance, u
            classes.now[WORK] += tree.stop[v] - tree.start[v]
            continue
        one, two = HUGE, HUGE
        if tree.alive[child] > 0:
            hull = _least_hull_loss(costs, bounds.low[child], bounds.high[child])
            one = rows * (hull - loss) + min(bounds.size[child], lacking) * max(hull - bounds.loss[child], 0)
        if tree.alive[child + 1] > 0:
            hull = _least_hull_loss(costs, bounds.low[child + 1], bounds.high[child + 1])
            two = rows * (hull - loss) + min(bounds.size[child + 1], lacking) * max(hull - bounds.loss[child + 1], 0)
        near, far = child, child + 1  # the more promising child is put on top of the stack
        if two < one or (two == one and tree.least[child + 1] < tree.least[child]):
            near, far, one, two = far, near, two, one
        if two <= best and two < HUGE:
            stack.node[waiting], stack.bound[waiting] = far, two
            waiting += 1
        if one <= best and one < HUGE:
            stack.node[waiting], stack.bound[waiting] = near, one
            waiting += 1
    return int(found)


@kernel
def _join(classes: Classes, tree: Tree, c: int, other: int, k: int) -> None:
    """Merges two classes into the first of them."""
    kept, gone = min(c, other), max(c, other)
    for member in (kept, gone):
        if classes.size[member] < k:
            count_small(classes, member, -1)
    for j in range(classes.low.shape[1]):
        classes.low[kept, j] = min(classes.low[kept, j], classes.low[gone, j])
        classes.high[kept, j] = max(classes.high[kept, j], classes.high[gone, j])
    classes.after[classes.tail[kept]] = classes.head[gone]
    classes.tail[kept] = classes.tail[gone]
    classes.size[kept] += classes.size[gone]
    classes.size[gone] = 0
    if classes.size[kept] < k:
        count_small(classes, kept, 1)
    classes.now[LIVE] -= 1
    remove(tree, gone)


@kernel
def _put(classes: Classes, c: int, piece: int) -> None:
    """Puts a piece at the end of a class."""
    classes.after[piece] = -1
    if classes.head[c] < 0:
        classes.head[c] = piece
    else:
        classes.after[classes.tail[c]] = piece
    classes.tail[c] = piece


@kernel
def _move(classes: Classes, tuples: Ints, costs: Costs, c: int, other: int, k: int) -> None:
    """Moves the rows that class c lacks from the other class: those nearest to c, which the costs are about."""
    count = 0
    piece = classes.head[other]
    while piece >= 0:
        count += 1
        piece = classes.after[piece]
    pieces = np.empty(count, dtype=np.int64)
    starts = np.empty(count, dtype=np.int64)
    piece = classes.head[other]
    for i in range(count):
        pieces[i], starts[i] = piece, classes.start[piece]
        piece = classes.after[piece]
    listed = pieces.copy()
    order = order_of(starts)
    for i in range(count):
        pieces[i] = listed[order[i]]
    distance = np.empty(count, dtype=np.int64)
    for i in range(count):
        u = classes.of[pieces[i]]
        hull = _hull_loss(costs, tuples[u], tuples[u])
        distance[i] = classes.size[c] * (hull - classes.loss[c]) + hull - classes.alone[u]
    order = order_of(distance)  # ties stay in the order of rows
    lacking = k - classes.size[c]
    count_small(classes, c, -1)
    classes.size[c] += lacking
    classes.size[other] -= lacking
    classes.head[other] = -1
    for nearest in order:
        piece = pieces[nearest]
        taken = min(classes.held[piece], lacking)
        lacking -= taken
        if taken == classes.held[piece]:
            _put(classes, c, piece)
        elif taken == 0:
            _put(classes, other, piece)
        else:  # the first rows of the piece go, the rest is a piece of its own
            rest = classes.now[PIECES]
            classes.now[PIECES] += 1
            classes.start[rest], classes.held[rest] = classes.start[piece] + taken, classes.held[piece] - taken
            classes.of[rest] = classes.of[piece]
            classes.held[piece] = taken
            _put(classes, c, piece)
            _put(classes, other, rest)
    for member in (c, other):
        for j in range(tuples.shape[1]):
            classes.low[member, j], classes.high[member, j] = HUGE, -HUGE
        piece = classes.head[member]
        while piece >= 0:
            u = classes.of[piece]
            for j in range(tuples.shape[1]):
                classes.low[member, j] = min(classes.low[member, j], tuples[u, j])
                classes.high[member, j] = max(classes.high[member, j], tuples[u, j])
            piece = classes.after[piece]


@kernel
def merge(
    classes: Classes,
    tuples: Ints,
    tree: Tree,
    bounds: Bounds,
    trees: Trees,
    rise: Ints,
    costs: Costs,
    stack: Stack,
    draws: Floats,
    k: int,
    changes: int,
    work: int,
) -> None:
    """Merges until no class is below k, so many classes have changed, or so many were compared."""
    now = classes.now
    now[WORK] = 0
    ordered = len(costs.low)
    while now[SMALL] > 0 and now[CHANGED] < changes and now[WORK] < work:
        c = pick_small(classes, int(draws[now[DRAWN]] * now[SMALL]))
        now[DRAWN] += 1
        now[DISTANCES] += now[LIVE] - 1
        _look_from(classes, c, trees, rise, costs)
        other = _nearest(tree, bounds, classes, costs, stack, c, k)
        if classes.size[c] + classes.size[other] < 2 * k:
            _join(classes, tree, c, other, k)
            c = min(c, other)
            other = c
        else:
            _move(classes, tuples, costs, c, other, k)
        for member in (c, other):
            low, high = classes.low[member], classes.high[member]
            classes.loss[member] = loss_of(low, high, trees, rise, costs.unit, ordered)
            _cover_above(tree, bounds, classes, member)
        now[CHANGED] += 1


@kernel
def members(classes: Classes, rows: int) -> Ints:
    """The class of each row in the order of tuples, classes numbered through."""
    member = np.empty(rows, dtype=np.int64)
    number = 0
    for c in range(len(classes.size)):
        if classes.size[c] > 0:
            piece = classes.head[c]
            while piece >= 0:
                for row in range(classes.start[piece], classes.start[piece] + classes.held[piece]):
                    member[row] = number
                piece = classes.after[piece]
            number += 1
    return member
