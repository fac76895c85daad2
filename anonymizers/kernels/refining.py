"""Local search over clusters of at least k rows, in compiled code: every step lowers the loss.

The loss of a cluster is Σ d²(x, y)/n over the pairs of its n members. For numbers that is the sum of squared distances
from the mean; for 0/1 distances as well, if a value is the corner of a simplex with sides of length 1 and the centre lies
within. So everything happens in one Euclidean space, where for a row x and the centre of a cluster C

    d²(x, C) = (Σ d²(x, y) over y in C - loss(C)) / |C|

(`away`: by the mean for measured columns; by counting differences, less the spread of the cluster, for nominal ones), and

    moving x from A to B changes the loss by   |B|/(|B|+1)·d²(x, B) - |A|/(|A|-1)·d²(x, A),
    exchanging x in A and y in B by            d²(x, B) - d²(x, A) + d²(y, A) - d²(y, B) - d²(x, y)·(1/|A| + 1/|B|).

Dividing a cluster never raises the loss, so one that reaches 2k rows is divided at once and no cluster stays that large.
Means and losses are computed afresh from the members after each step: nothing drifts. The triangle inequality,
d(y, A) ≥ |d(x, y) - d(x, A)|, spares most of the distances from centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from anonymizers.kernels import tree as kd
from anonymizers.kernels.mdav import Floats, Integers, nearest, squared
from anonymizers.shared.points import Points
from auditor.model.progress import Progress, silent

_NEAR = 30
"""A row may go to the clusters of so many nearest rows."""
_LEAST = 1e-9
"""A step must be worth this share of the distances it is made of: less may be rounding."""
_ENOUGH = 1e-3
"""Another round must have lowered the loss by this share, or it was the last."""
_EFFORT = 3000
"""The most that a round may cost, for each row: members of clusters looked at."""
_TRIED = 1_000_000
"""What trials cost between two reports of progress."""
_LONGEST = 4096
"""Most transfers in one trial."""
_SLICE = 20_000
"""Rows looked at between two reports of progress."""
_FREE, _NOTED, _HEAD, _WAITING, _LOOKS, _COST = 0, 1, 2, 3, 4, 5


class Partition(NamedTuple):
    """Clusters under change.

    For each row its cluster, its place among the members and `own`, its squared distance from the centre. For each
    cluster its members, size, mean, spread, loss, the largest `own` (`widest`) and the look at which it was last considered
    (`mark`); `free` lists unused clusters. `journal` holds the transfers of the current trial (row, cluster it left), `queue`
    is a ring of rows to look at (`queued` says which). `figures` counts free clusters and journal entries, says where the
    queue begins and how long it is, and counts the looks at rows and what they cost; `change` is by how much the loss
    has changed since the trial began.
    """

    cluster: Integers
    place: Integers
    own: Floats
    members: Integers
    size: Integers
    mean: Floats
    spread: Floats
    widest: Floats
    loss: Floats
    free: Integers
    journal: Integers
    queue: Integers
    queued: NDArray[np.bool_]
    mark: Integers
    figures: Integers
    change: Floats


class Space(NamedTuple):
    """The points (see `anonymizers.shared.points`), and for each row its nearest ones."""

    values: Floats
    weight: Floats
    measured: int
    near: NDArray[np.int32]


@njit(cache=True)
def away(
    values: Floats, weight: Floats, measured: int, row: int, members: Integers, mean: Floats, spread: float
) -> float:
    """The squared distance of a row from the centre of a cluster with these members, mean and spread."""
    total = 0.0
    for j in range(measured):
        t = values[row, j] - mean[j]
        total += t * t * weight[j]
    if measured < values.shape[1]:
        total += differences(values, measured, row, members) / len(members) - spread
    return total


@njit(cache=True)
def differences(values: Floats, measured: int, row: int, members: Integers) -> int:
    """In how many nominal columns a row differs from the members of a cluster, in all."""
    total = 0
    for other in members:
        for j in range(measured, values.shape[1]):
            if values[row, j] != values[other, j]:
                total += 1
    return total


@njit(cache=True)
def _refresh(space: Space, part: Partition, c: int) -> None:
    """Computes a cluster's figures from its members."""
    values, weight, measured = space.values, space.weight, space.measured
    members, mean, own = part.members[c, : part.size[c]], part.mean[c], part.own
    size, before = len(members), part.loss[c]
    loss, widest, spread = 0.0, 0.0, 0.0
    if size > 0:
        mean[:] = 0.0
        for row in members:
            for j in range(measured):
                mean[j] += values[row, j]
        for j in range(measured):
            mean[j] /= size
        if measured < values.shape[1]:
            found = 0
            for row in members:
                found += differences(values, measured, row, members)
            spread = found / (2 * size * size)
        for row in members:
            own[row] = max(0.0, away(values, weight, measured, row, members, mean, spread))
            loss += own[row]
            widest = max(widest, own[row])
    part.spread[c], part.widest[c], part.loss[c] = spread, widest, loss
    part.change[0] += loss - before


@njit(cache=True)
def _put(part: Partition, row: int, c: int) -> None:
    part.members[c, part.size[c]] = row
    part.place[row] = part.size[c]
    part.size[c] += 1
    part.cluster[row] = c


@njit(cache=True)
def _transfer(part: Partition, row: int, c: int) -> None:
    """Takes a row from its cluster to another; figures are to be refreshed after."""
    old = part.cluster[row]
    part.size[old] -= 1
    last = part.members[old, part.size[old]]
    part.members[old, part.place[row]] = last
    part.place[last] = part.place[row]
    _put(part, row, c)
    if part.figures[_NOTED] < len(part.journal):
        part.journal[part.figures[_NOTED], 0] = row
        part.journal[part.figures[_NOTED], 1] = old
        part.figures[_NOTED] += 1


@njit(cache=True)
def _enqueue(part: Partition, row: int) -> None:
    if not part.queued[row]:
        part.queued[row] = True
        part.queue[(part.figures[_HEAD] + part.figures[_WAITING]) % len(part.queue)] = row
        part.figures[_WAITING] += 1


@njit(cache=True)
def _changed(space: Space, part: Partition, c: int) -> None:
    """Refreshes a cluster and has its members looked at again."""
    _refresh(space, part, c)
    for i in range(part.size[c]):
        _enqueue(part, part.members[c, i])


@njit(cache=True)
def _divide(space: Space, part: Partition, c: int) -> None:
    """Divides a cluster into halves: by the difference of the distances from two far members."""
    rows = part.members[c, : part.size[c]].copy()
    ends = np.zeros(2, dtype=np.int64)
    ends[0] = rows[np.argmax(part.own[rows])]
    gap = np.empty(len(rows))
    for i in range(len(rows)):
        gap[i] = squared(space.values, rows[i], space.values[ends[0]], space.weight, space.measured)
    ends[1] = rows[np.argmax(gap)]
    for i in range(len(rows)):
        gap[i] -= squared(space.values, rows[i], space.values[ends[1]], space.weight, space.measured)
    part.figures[_FREE] -= 1
    new = part.free[part.figures[_FREE]]
    for i in np.argsort(gap, kind="mergesort")[: len(rows) // 2]:
        _transfer(part, rows[i], new)
    _changed(space, part, c)
    _changed(space, part, new)


@njit(cache=True)
def _best_step(space: Space, part: Partition, k: int, x: int) -> tuple[float, int, int]:
    """The best step for a row: by how much it changes the loss (0: there is none), the cluster it goes to, and the row that
    comes in exchange (-1: none)."""
    values, weight, measured, near = space.values, space.weight, space.measured, space.near[x]  # out of the loops:
    cluster, own, members, sizes, mark = part.cluster, part.own, part.members, part.size, part.mark  # tuples are slow
    mean, spread, widest = part.mean, part.spread, part.widest
    point, a, here = values[x], cluster[x], own[x]
    size, root = sizes[a], np.sqrt(here)
    home, home_mean, home_spread = members[a, :size], mean[a], spread[a]
    best, target, partner = 0.0, -1, -1
    part.figures[_LOOKS] += 1
    look, cost = part.figures[_LOOKS], len(near)
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
    part.figures[_COST] += cost
    return best, target, partner


@njit(cache=True)
def settle(space: Space, part: Partition, k: int, most: int) -> int:
    """Looks at the queued rows, `most` of them, and takes the best step for each. Returns how many steps were taken."""
    steps = 0
    while part.figures[_WAITING] > 0 and most > 0:
        most -= 1
        x = part.queue[part.figures[_HEAD]]
        part.figures[_HEAD] = (part.figures[_HEAD] + 1) % len(part.queue)
        part.figures[_WAITING] -= 1
        part.queued[x] = False
        _, b, y = _best_step(space, part, k, x)
        if b < 0:
            continue
        steps += 1
        a = part.cluster[x]
        _transfer(part, x, b)
        if y >= 0:
            _transfer(part, y, a)
        _changed(space, part, a)
        _changed(space, part, b)
        if part.size[b] >= 2 * k:
            _divide(space, part, b)
    return steps


@njit(cache=True)
def enqueue_all(part: Partition) -> None:
    """All rows are to be looked at."""
    for row in range(len(part.cluster)):
        _enqueue(part, row)


@njit(cache=True)
def _dissolve(space: Space, part: Partition, k: int, a: int) -> bool:
    """Sends each member of a cluster to the best other one; whether all found one."""
    values, weight, measured = space.values, space.weight, space.measured
    for x in part.members[a, : part.size[a]].copy():
        least, target = np.inf, -1
        part.figures[_LOOKS] += 1
        part.mark[a] = part.figures[_LOOKS]
        for neighbour in space.near[x]:
            b = part.cluster[neighbour]
            if part.mark[b] == part.figures[_LOOKS]:
                continue
            part.mark[b] = part.figures[_LOOKS]
            size = part.size[b]
            there = away(values, weight, measured, x, part.members[b, :size], part.mean[b], part.spread[b])
            if size / (size + 1) * there < least:
                least, target = size / (size + 1) * there, b
        if target < 0:
            return False
        _transfer(part, x, target)
        _changed(space, part, target)
        if part.size[target] >= 2 * k:
            _divide(space, part, target)
    _refresh(space, part, a)
    return True


@njit(cache=True)
def _undo(space: Space, part: Partition) -> None:
    """Takes back all transfers of the trial, the last one first."""
    noted = part.figures[_NOTED]
    touched = np.empty(2 * noted, dtype=np.int64)
    for i in range(noted - 1, -1, -1):
        row, old = part.journal[i]
        touched[2 * i], touched[2 * i + 1] = part.cluster[row], old
        _transfer(part, row, old)
    for c in np.unique(touched):
        _refresh(space, part, c)


@njit(cache=True)
def shake(space: Space, part: Partition, k: int, order: Integers, most: int) -> int:
    """Tries for one cluster after the other to dissolve it and to settle what that touched; what does not lower the loss is
    taken back. Ends when it has cost `most`; returns how many clusters were tried."""
    figures, tried = part.figures, 0
    last = figures[_COST] + most
    while tried < len(order) and figures[_COST] < last:
        c = order[tried]
        tried += 1
        if part.loss[c] <= 0:
            continue
        free, loss = figures[_FREE], part.loss[c]
        figures[_NOTED], part.change[0] = 0, 0.0
        whole = _dissolve(space, part, k, c)
        while whole and figures[_WAITING] > 0 and figures[_NOTED] + 2 * k + 2 <= len(part.journal):
            settle(space, part, k, 1)
        while figures[_WAITING] > 0:
            figures[_WAITING] -= 1
            part.queued[part.queue[(figures[_HEAD] + figures[_WAITING]) % len(part.queue)]] = False
        if whole and part.change[0] < -_LEAST * loss:
            part.free[figures[_FREE]] = c
            figures[_FREE] += 1
        else:
            figures[_FREE] = free  # clusters taken from the list since then are empty again, and still stand there
            _undo(space, part)
    return tried


@njit(cache=True)
def neighbours(
    tree: kd.Tree, values: Floats, weight: Floats, measured: int, near: NDArray[np.int32], first: int, last: int
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


@njit(cache=True)
def begin(space: Space, part: Partition) -> None:
    """Fills in the clusters that `part.cluster` says."""
    for row in range(len(part.cluster)):
        _put(part, row, part.cluster[row])
    for c in range(len(part.size) - 1, -1, -1):
        if part.size[c] == 0:
            part.free[part.figures[_FREE]] = c
            part.figures[_FREE] += 1
        _refresh(space, part, c)


def refined(points: Points, cluster: Integers, k: int, rounds: int, progress: Progress = silent) -> Integers:
    """The clusters after local search. They must have from k to 2k - 1 rows each (or be a single one)."""
    if cluster.max() == 0:
        return cluster
    order, space = _space(points, progress)
    part = _partition(space, _numbered(cluster[order]), k)
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


def _numbered(cluster: Integers) -> Integers:
    """The clusters, numbered by their first rows."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]


def _round(space: Space, part: Partition, k: int, progress: Progress, what: str) -> None:
    """Tries the clusters by descending loss, all of them or as many as the effort allows."""
    order = np.argsort(-part.loss, kind="stable")
    whole = _EFFORT * len(part.cluster)
    spent, tried, start = 0, 0, int(part.figures[_COST])
    while tried < len(order) and spent < whole:
        progress(max(spent * len(order) // whole, tried), len(order), what)
        tried += shake(space, part, k, order[tried:], min(_TRIED, whole - spent))
        spent = int(part.figures[_COST]) - start


def _settle_all(space: Space, part: Partition, k: int, progress: Progress) -> None:
    """Until no single row has a step that lowers the loss."""
    steps = 1
    while steps:
        steps = 0
        enqueue_all(part)
        while part.figures[_WAITING] > 0:
            progress(len(part.cluster) - int(part.figures[_WAITING]), len(part.cluster), "exchanges")
            part.figures[_NOTED] = 0
            steps += settle(space, part, k, _SLICE)


def _space(points: Points, progress: Progress) -> tuple[Integers, Space]:
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


def _partition(space: Space, cluster: Integers, k: int) -> Partition:
    rows = len(cluster)
    most = rows // k + 1  # and one that a trial keeps back
    return Partition(
        cluster=cluster.copy(),
        place=np.zeros(rows, dtype=np.int64),
        own=np.zeros(rows),
        members=np.zeros((most, 2 * k), dtype=np.int64),
        size=np.zeros(most, dtype=np.int64),
        mean=np.zeros((most, space.measured)),
        spread=np.zeros(most),
        widest=np.zeros(most),
        loss=np.zeros(most),
        free=np.zeros(most, dtype=np.int64),
        journal=np.zeros((_LONGEST + 8 * k + min(2 * k * k, rows), 2), dtype=np.int64),
        queue=np.zeros(rows, dtype=np.int64),
        queued=np.zeros(rows, dtype=np.bool_),
        mark=np.zeros(most, dtype=np.int64),
        figures=np.zeros(6, dtype=np.int64),
        change=np.zeros(1),
    )
