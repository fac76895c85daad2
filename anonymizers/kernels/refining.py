"""Local search over clusters of at least k rows, in compiled code: every step lowers the loss.

Moving a row x from cluster A to cluster B changes the loss (see `kernels.partition`) by

    |B|/(|B|+1)·d²(x, B) - |A|/(|A|-1)·d²(x, A),

exchanging x in A and y in B by

    d²(x, B) - d²(x, A) + d²(y, A) - d²(y, B) - d²(x, y)·(1/|A| + 1/|B|).

Dividing a cluster never raises the loss, so one that reaches 2k rows is divided at once and no cluster stays that large.
The triangle inequality, d(y, A) ≥ |d(x, y) - d(x, A)|, spares most of the distances from centres.
"""

from __future__ import annotations

import numpy as np

from anonymizers.kernels import tree as kd
from anonymizers.kernels.mdav import nearest, squared
from anonymizers.kernels.partition import (
    COST,
    FREE,
    HEAD,
    LOOKS,
    NOTED,
    WAITING,
    Partition,
    Space,
    away,
    begin,
    changed,
    divide,
    enqueue_all,
    new_partition,
    refresh,
    transfer,
    undo,
)
from anonymizers.shapes import Points
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.compiling import kernel
from auditor.model.progress import Progress, silent

_NEAR = 30
"""A row may go to the clusters of this many nearest rows."""
_LEAST = 1e-9
"""A step must lower the loss by this share of the distances in it: less may be rounding."""
_ENOUGH = 1e-3
"""A round that has lowered the loss by less than this share is the last."""
_EFFORT = 3000
"""The most that a round may cost for each row, in members of clusters looked at."""
_TRIED = 1_000_000
"""What trials cost between two reports of progress."""
_TRIAL = 2_000_000
"""The most that settling may cost in a single trial; what is better by then is kept."""
_SLICE = 5_000
"""Rows looked at between two reports of progress."""


@kernel
def _best_step(space: Space, part: Partition, k: int, x: int) -> tuple[float, int, int]:
    """The best step for a row: the change of the loss (0: there is no step), the cluster it goes to, and the row that comes
    in exchange (-1: none)."""
    values, weight, measured, near = space.values, space.weight, space.measured, space.near[x]  # out of the loops:
    cluster, own, members, sizes, mark = part.cluster, part.own, part.members, part.size, part.mark  # tuples are slow
    mean, spread, widest = part.mean, part.spread, part.widest
    point, a, here = values[x], cluster[x], own[x]
    size, root = sizes[a], np.sqrt(here)
    home, home_mean, home_spread = members[a, :size], mean[a], spread[a]
    best, target, partner = 0.0, -1, -1
    part.figures[LOOKS] += 1
    look, cost = part.figures[LOOKS], len(near)
    counted = measured < values.shape[1]  # a distance from a centre then takes a look at every member
    mark[a] = look
    for neighbour in near:
        b = cluster[neighbour]
        if mark[b] == look:
            continue
        mark[b] = look
        others = members[b, : sizes[b]]
        there = away(values, weight, measured, x, others, mean[b], spread[b])
        cost += len(others) if counted else 1
        if size > k:
            change = len(others) / (len(others) + 1) * there - size / (size - 1) * here
            if change < best and change < -_LEAST * (there + here):
                best, target, partner = change, b, -1
        share = 1 / size + 1 / len(others)
        # The least that an exchange can bring, over all places of y: it must lie farther than this from its own centre.
        least = there - best - here * (1 + share / (1 - share)) if share < 1 else 0.0
        if widest[b] <= least:
            continue
        cost += len(others)
        for y in others:
            if own[y] <= least:
                continue
            between = squared(values, y, point, weight, measured)
            so_far = there - here - own[y] - between * share
            if so_far + (1 - _LEAST) * (np.sqrt(between) - root) ** 2 >= best:
                continue
            back = away(values, weight, measured, y, home, home_mean, home_spread)
            cost += size if counted else 1
            change = so_far + back
            if change < best and change < -_LEAST * (there + here + back + own[y] + between):
                best, target, partner = change, b, y
    part.figures[COST] += cost
    return best, target, partner


@kernel
def settle(space: Space, part: Partition, k: int, most: int) -> int:
    """Looks at the queued rows, `most` of them, and takes the best step for each. Returns how many steps were taken."""
    steps = 0
    while part.figures[WAITING] > 0 and most > 0:
        most -= 1
        x = part.queue[part.figures[HEAD]]
        part.figures[HEAD] = (part.figures[HEAD] + 1) % len(part.queue)
        part.figures[WAITING] -= 1
        part.queued[x] = False
        _, b, y = _best_step(space, part, k, x)
        if b < 0:
            continue
        steps += 1
        a = part.cluster[x]
        transfer(part, x, b)
        if y >= 0:
            transfer(part, y, a)
        changed(space, part, a)
        changed(space, part, b)
        if part.size[b] >= 2 * k:
            divide(space, part, b)
    return steps


@kernel
def _dissolve(space: Space, part: Partition, k: int, a: int) -> bool:
    """Sends each member of a cluster to the best other one; whether all found one."""
    values, weight, measured = space.values, space.weight, space.measured
    for x in part.members[a, : part.size[a]].copy():
        least, target = np.inf, -1
        part.figures[LOOKS] += 1
        part.mark[a] = part.figures[LOOKS]
        for neighbour in space.near[x]:
            b = part.cluster[neighbour]
            if part.mark[b] == part.figures[LOOKS]:
                continue
            part.mark[b] = part.figures[LOOKS]
            size = part.size[b]
            there = away(values, weight, measured, x, part.members[b, :size], part.mean[b], part.spread[b])
            if size / (size + 1) * there < least:
                least, target = size / (size + 1) * there, b
        if target < 0:
            return False
        transfer(part, x, target)
        changed(space, part, target)
        if part.size[target] >= 2 * k:
            divide(space, part, target)
    refresh(space, part, a)
    return True


@kernel
def shake(space: Space, part: Partition, k: int, order: Ints, most: int) -> int:
    """Tries for one cluster after the other to dissolve it and to settle what that touched; what does not lower the loss is
    taken back. Ends when it has cost `most`; returns how many clusters were tried."""
    figures, tried = part.figures, 0
    last = figures[COST] + most
    while tried < len(order) and figures[COST] < last:
        c = order[tried]
        tried += 1
        if part.loss[c] <= 0:
            continue
        free, loss = figures[FREE], part.loss[c]
        figures[NOTED], part.change[0] = 0, 0.0
        whole = _dissolve(space, part, k, c)
        until, room = figures[COST] + _TRIAL, len(part.journal) - 2 * k - 2
        while whole and figures[WAITING] > 0 and figures[NOTED] <= room and figures[COST] < until:
            settle(space, part, k, 1)
        while figures[WAITING] > 0:
            figures[WAITING] -= 1
            part.queued[part.queue[(figures[HEAD] + figures[WAITING]) % len(part.queue)]] = False
        if whole and part.change[0] < -_LEAST * loss:
            part.free[figures[FREE]] = c
            figures[FREE] += 1
        else:
            figures[FREE] = free  # clusters taken from the list since then are empty again, and still stand there
            undo(space, part)
    return tried


@kernel
def neighbours(
    tree: kd.Tree, values: Floats, weight: Floats, measured: int, near: Codes, first: int, last: int
) -> None:
    """Fills in the nearest other rows of the rows from `first` to before `last`."""
    wanted = near.shape[1] + 1
    nobody = np.full(len(values), -1, dtype=np.int64)
    rows, distance = np.empty(wanted, dtype=np.int64), np.empty(wanted)
    stack, bounds = np.empty(kd.STACK, dtype=np.int64), np.empty(kd.STACK)
    for x in range(first, last):
        nearest(tree, nobody, values[x], weight, measured, rows, distance, stack, bounds)
        place = 0
        for row in rows:
            if row != x and place < wanted - 1:
                near[x, place] = row
                place += 1


def refined(points: Points, cluster: Ints, k: int, rounds: int, progress: Progress = silent) -> Ints:
    """The clusters after local search. They must have from k to 2k - 1 rows each (or be a single one)."""
    if cluster.max() == 0:
        return cluster
    order, space = _space(points, progress)
    part = new_partition(space, _numbered(cluster[order]), k)
    begin(space, part)
    _settle_all(space, part, k, progress)
    for number in range(rounds):
        before = part.loss.sum()
        _round(space, part, k, progress, f"round {number + 1} of at most {rounds}")
        _settle_all(space, part, k, progress)
        if part.loss.sum() > (1 - _ENOUGH) * before:
            break
    found = np.empty_like(cluster)
    found[order] = part.cluster
    return _numbered(found)


def _numbered(cluster: Ints) -> Ints:
    """The clusters, numbered by their first rows."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]


def _round(space: Space, part: Partition, k: int, progress: Progress, what: str) -> None:
    """Tries the clusters by descending loss, all of them or as many as the effort allows."""
    order = np.argsort(-part.loss, kind="stable")
    whole = _EFFORT * len(part.cluster)
    spent, tried, start = 0, 0, int(part.figures[COST])
    while tried < len(order) and spent < whole:
        progress(max(spent * len(order) // whole, tried), len(order), what)
        tried += shake(space, part, k, order[tried:], min(_TRIED, whole - spent))
        spent = int(part.figures[COST]) - start


def _settle_all(space: Space, part: Partition, k: int, progress: Progress) -> None:
    """Until no single row has a step that lowers the loss."""
    steps = 1
    while steps:
        steps = 0
        enqueue_all(part)
        while part.figures[WAITING] > 0:
            progress(len(part.cluster) - int(part.figures[WAITING]), len(part.cluster), "exchanges")
            part.figures[NOTED] = 0
            steps += settle(space, part, k, _SLICE)


def _space(points: Points, progress: Progress) -> tuple[Ints, Space]:
    """The points in an order in which near ones stand together (memory is then read in sequence), and that order."""
    rows, sides = points.rows, np.sqrt(points.weight)
    first_tree = kd.build(points.values, np.arange(rows), sides)
    values = first_tree.placed.astype(np.float64)
    tree = kd.build(values, np.arange(rows), sides)
    near = np.empty((rows, min(_NEAR, rows - 1)), dtype=np.int32)
    for first in range(0, rows, _SLICE):
        progress(first, rows, "neighbours")
        neighbours(tree, values, points.weight, points.measured, near, first, min(first + _SLICE, rows))
    return first_tree.order, Space(values, points.weight, points.measured, near)
