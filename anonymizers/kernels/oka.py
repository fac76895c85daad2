"""One-pass k-means: centroids that follow every row at once.

The centroids stand in the k-d tree of `centroids.nearest`. When one moves, the boxes above it are widened to hold it: they
stay boxes around their points, so the search stays exact. Wide boxes cost time, so the tree is built anew now and then.

A cluster keeps, for each tree column, the list of its distinct values with their numbers, so that finding the value
of least total distance again takes a walk over distinct values and not over rows. When a row brings one more copy of
the present centroid's value, the total of that value stays and all others grow: nothing needs to be found again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.centroids import Measure, Search, count, look_for, nearest, position, total_of
from anonymizers.kernels.tree import Tree
from auditor.model.arrays import Floats, Ints
from auditor.model.compiling import kernel


class Running(NamedTuple):
    """Clusters whose centroids follow every row at once. Per cluster its size, and for each line the sum of positions and
    the number of missing values; `head` is its list of values in each tree column, the lists being kept in `slot`,
    `copies` and `next` (-1: the end); `used` holds how many entries there are."""

    size: Ints
    total: Ints
    missing: Ints
    head: Ints
    slot: Ints
    copies: Ints
    next: Ints
    used: Ints


@kernel
def _join(running: Running, measure: Measure, c: int, values: Ints, centre: Floats, under: Ints) -> bool:
    """Adds a tuple to a cluster; whether its centroid changed."""
    changed = False
    running.size[c] += 1
    for j in range(measure.ordered):
        if values[j] == 2 * measure.unit:
            running.missing[c, j] += 1
        else:
            running.total[c, j] += values[j]
        missing = running.missing[c, j]
        now = position(running.total[c, j], running.size[c] - missing, missing, measure.unit)
        changed |= now != centre[j]
        centre[j] = now
    for j in range(measure.ordered, len(values)):
        t = j - measure.ordered
        entry = running.head[c, t]
        while entry >= 0 and running.slot[entry] != values[j]:
            entry = running.next[entry]
        if entry < 0:
            entry = running.used[0]
            running.used[0] += 1
            running.slot[entry], running.next[entry] = values[j], running.head[c, t]
            running.head[c, t] = entry
        running.copies[entry] += 1
        if values[j] == centre[j] and running.size[c] > 1:  # one more of the best value: it stays the best
            continue
        found = _best_of(running, measure, running.head[c, t], under)
        changed |= found != centre[j]
        centre[j] = found
    return changed


@kernel
def _best_of(running: Running, measure: Measure, head: int, under: Ints) -> int:
    """The value of least total distance of a list of values."""
    entry = head
    while entry >= 0:
        count(measure.trees, running.slot[entry], running.copies[entry], under)
        entry = running.next[entry]
    best, found = -1, -1
    entry = head
    while entry >= 0:
        slot = running.slot[entry]
        total = total_of(measure.trees, measure.rise, slot, under)
        if found < 0 or total < best or (total == best and slot < found):
            best, found = total, slot
        entry = running.next[entry]
    entry = head
    while entry >= 0:
        count(measure.trees, running.slot[entry], -running.copies[entry], under)
        entry = running.next[entry]
    return found


@kernel
def _move(tree: Tree, c: int, centre: Floats) -> None:
    """Moves a centroid in the tree, and widens the boxes around it."""
    v = tree.home[c]
    for i in range(tree.start[v], tree.stop[v]):
        if tree.order[i] == c:
            for j in range(len(centre)):
                tree.placed[i, j] = centre[j]
    while v >= 0:
        for j in range(len(centre)):
            tree.low[v, j] = min(tree.low[v, j], centre[j])
            tree.high[v, j] = max(tree.high[v, j], centre[j])
        v = tree.above[v]


@kernel
def start_running(
    running: Running, measure: Measure, tuples: Ints, which: Ints, seeds: Ints, centre: Floats, member: Ints
) -> None:
    """Makes each seed a cluster of its own."""
    under = np.zeros(len(measure.trees.parent), dtype=np.int64)
    for c in range(len(seeds)):
        _join(running, measure, c, tuples[which[seeds[c]]], centre[c], under)
        member[seeds[c]] = c


@kernel
def one_pass(
    tree: Tree,
    running: Running,
    measure: Measure,
    search: Search,
    tuples: Ints,
    values: Floats,
    which: Ints,
    start: int,
    stop: int,
    centre: Floats,
    member: Ints,
) -> None:
    """Puts each row from `start` to `stop` that is in no cluster yet into its nearest one, whose centroid follows at once."""
    under = np.zeros(len(measure.trees.parent), dtype=np.int64)
    for row in range(start, stop):
        if member[row] >= 0:
            continue
        u = which[row]
        look_for(measure, search, values[u])
        c = nearest(tree, measure, search, -1, np.inf)
        member[row] = c
        if _join(running, measure, c, tuples[u], centre[c], under):
            _move(tree, c, centre[c])
