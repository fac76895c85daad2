"""Clusters under change, in compiled code: what they hold, how far rows are from their centres, and what they lose.

The loss of a cluster is Σ d²(x, y)/n over the pairs of its n members. For numbers that is the sum of squared distances
from the mean; for 0/1 distances as well, if a value is the corner of a simplex with sides of length 1 and the centre lies
within. So everything happens in one Euclidean space, where for a row x and the centre of a cluster C

    d²(x, C) = (Σ d²(x, y) over y in C - loss(C)) / |C|

(`away`: by the mean for measured columns; by counting differences, less the spread of the cluster, for nominal ones).

Means and losses are computed afresh from the members after each change: nothing drifts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.mdav import squared
from anonymizers.kernels.sorting import order_of, sort
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.compiling import kernel

_LONGEST = 4096
"""Room for this many transfers of a trial, beside those of dissolving and dividing."""
FREE, NOTED, HEAD, WAITING, LOOKS, COST = range(6)
"""The places of `Partition.figures`."""


class Partition(NamedTuple):
    """Clusters under change.

    For each row its cluster, its place among the members and `own`, its squared distance from the centre. For each
    cluster its members, size, mean, spread, loss, the largest `own` (`widest`) and the look at which it was last considered
    (`mark`); `free` lists unused clusters. `journal` holds the transfers of the current trial (row, cluster it left), `queue`
    is a ring of rows to look at (`queued` says which). `figures` counts free clusters and journal entries, says where the
    queue begins and how long it is, and counts the looks at rows and what they cost; `change` is by how much the loss
    has changed since the trial began.
    """

    cluster: Ints
    place: Ints
    own: Floats
    members: Ints
    size: Ints
    mean: Floats
    spread: Floats
    widest: Floats
    loss: Floats
    free: Ints
    journal: Ints
    queue: Ints
    queued: Bools
    mark: Ints
    figures: Ints
    change: Floats


class Space(NamedTuple):
    """The points (see `anonymizers.shared.points`), and for each row its nearest ones."""

    values: Floats
    weight: Floats
    measured: int
    near: Codes


@kernel
def away(values: Floats, weight: Floats, measured: int, row: int, members: Ints, mean: Floats, spread: float) -> float:
    """The squared distance of a row from the centre of a cluster with these members, mean and spread."""
    total = 0.0
    for j in range(measured):
        t = values[row, j] - mean[j]
        total += t * t * weight[j]
    if measured < values.shape[1]:
        total += differences(values, measured, row, members) / len(members) - spread
    return total


@kernel
def differences(values: Floats, measured: int, row: int, members: Ints) -> int:
    """In how many nominal columns a row differs from the members of a cluster, in all."""
    total = 0
    for other in members:
        for j in range(measured, values.shape[1]):
            if values[row, j] != values[other, j]:
                total += 1
    return total


@kernel
def refresh(space: Space, part: Partition, c: int) -> None:
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


@kernel
def put(part: Partition, row: int, c: int) -> None:
    """A row becomes a member of a cluster."""
    part.members[c, part.size[c]] = row
    part.place[row] = part.size[c]
    part.size[c] += 1
    part.cluster[row] = c


@kernel
def transfer(part: Partition, row: int, c: int) -> None:
    """Takes a row from its cluster to another; figures are to be refreshed after."""
    old = part.cluster[row]
    part.size[old] -= 1
    last = part.members[old, part.size[old]]
    part.members[old, part.place[row]] = last
    part.place[last] = part.place[row]
    put(part, row, c)
    if part.figures[NOTED] < len(part.journal):
        part.journal[part.figures[NOTED], 0] = row
        part.journal[part.figures[NOTED], 1] = old
        part.figures[NOTED] += 1


@kernel
def enqueue(part: Partition, row: int) -> None:
    """A row is to be looked at."""
    if not part.queued[row]:
        part.queued[row] = True
        part.queue[(part.figures[HEAD] + part.figures[WAITING]) % len(part.queue)] = row
        part.figures[WAITING] += 1


@kernel
def changed(space: Space, part: Partition, c: int) -> None:
    """Refreshes a cluster and has its members looked at again."""
    refresh(space, part, c)
    for i in range(part.size[c]):
        enqueue(part, part.members[c, i])


@kernel
def divide(space: Space, part: Partition, c: int) -> None:
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
    part.figures[FREE] -= 1
    new = part.free[part.figures[FREE]]
    for i in order_of(gap)[: len(rows) // 2]:
        transfer(part, rows[i], new)
    changed(space, part, c)
    changed(space, part, new)


@kernel
def enqueue_all(part: Partition) -> None:
    """All rows are to be looked at."""
    for row in range(len(part.cluster)):
        enqueue(part, row)


@kernel
def undo(space: Space, part: Partition) -> None:
    """Takes back all transfers of the trial, the last one first."""
    noted = part.figures[NOTED]
    touched = np.empty(2 * noted, dtype=np.int64)
    for i in range(noted - 1, -1, -1):
        row, old = part.journal[i]
        touched[2 * i], touched[2 * i + 1] = part.cluster[row], old
        transfer(part, row, old)
    sort(touched, 2 * noted)
    for i in range(2 * noted):
        if i == 0 or touched[i] != touched[i - 1]:
            refresh(space, part, touched[i])


@kernel
def begin(space: Space, part: Partition) -> None:
    """Fills in the clusters that `part.cluster` says."""
    for row in range(len(part.cluster)):
        put(part, row, part.cluster[row])
    for c in range(len(part.size) - 1, -1, -1):
        if part.size[c] == 0:
            part.free[part.figures[FREE]] = c
            part.figures[FREE] += 1
        refresh(space, part, c)


def new_partition(space: Space, cluster: Ints, k: int) -> Partition:
    """Room for a partition; `begin` fills it in."""
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
