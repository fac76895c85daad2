"""Cellular clustering: the cheapest ball around a tuple, and moves that lower the total cost of clusters.

A cluster costs `facility + size · radius`. Every change goes through `_shift`, which moves one row and returns by how much
the total changed, exactly, since all numbers are whole. A move of several rows (closing a cluster, opening one) is made row
by row, and taken back where the total did not fall. So the cost never rises, and no cluster is left below r.

`place` finds the cluster whose cost a row raises least without looking at all clusters. In a cluster of n rows with radius p,
a row at distance d adds (n + 1)·max(p, d) - n·p, which is at least d. So centres are looked at nearest first, until the
distance alone is as much as the best rise found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.gathering import Ground, Search, hide, look_from, set_aside, show_again
from anonymizers.kernels.search import HUGE, cost_of, nearest
from anonymizers.kernels.sorting import order_of
from auditor.model.arrays import Ints
from auditor.model.compiling import kernel

_BY_TREE = 64
"""A ball that reaches more tuples than this is finished by looking at all of them: a tree no longer helps."""


class Cells(NamedTuple):
    """The clusters.

    Per row its cluster (`member`, -1: none), its distance to the centre (`way`) and its neighbours in the list of the
    cluster's rows (`before`, `after`, -1 at the ends). Per cluster its centre (a tuple), a row with the centre's values that
    stays as long as the cluster does (`anchor`), the first row of its list, size, radius, and its cost when closing it was
    last found not to pay (`kept`). Per tuple the cluster whose centre it is (`number`, -1: none). `tuple_of`
    is the tuple of each row.
    """

    member: Ints
    way: Ints
    before: Ints
    after: Ints
    centre: Ints
    anchor: Ints
    head: Ints
    size: Ints
    radius: Ints
    kept: Ints
    number: Ints
    tuple_of: Ints


@kernel
def cheapest_ball(ground: Ground, search: Search, u: int, r: int, facility: int) -> tuple[float, int]:
    """Price and radius of the ball of at least r rows around tuple u, among the tuples open to the search, with the lowest
    price a row: facility/rows + radius. Of equal ones it is the largest, so it holds all that lies within its radius."""
    look_from(ground, u)
    best, radius = np.inf, -1
    rows, count = 0, 0
    while count < _BY_TREE:
        v, way = nearest(search.tree, search.left, ground.costs, ground.stack)
        if v < 0 or way > best:
            break
        count = set_aside(search, v, count)
        rows += ground.first[v + 1] - ground.first[v]
        if rows >= r and facility / rows + way <= best:
            best, radius = facility / rows + way, way
    if count == _BY_TREE:
        others = np.flatnonzero(search.left)
        far = np.empty(len(others), dtype=np.int64)
        for i in range(len(others)):
            far[i] = cost_of(ground.costs, ground.tuples[others[i]])
        for at in order_of(far):
            if far[at] > best:
                break
            rows += ground.first[others[at] + 1] - ground.first[others[at]]
            if rows >= r and facility / rows + far[at] <= best:
                best, radius = facility / rows + far[at], far[at]
    show_again(search, count)
    return best, radius


@kernel
def take_ball(ground: Ground, search: Search, cells: Cells, u: int, radius: int, c: int) -> None:
    """Makes cluster c of all rows of tuples open to the search within the radius of tuple u, and hides them."""
    look_from(ground, u)
    cells.centre[c], cells.anchor[c], cells.number[u] = u, ground.first[u], c
    while True:
        v, way = nearest(search.tree, search.left, ground.costs, ground.stack)
        if v < 0 or way > radius:
            return
        hide(search, v)
        for row in range(ground.first[v], ground.first[v + 1]):
            enter(cells, row, c, way)


@kernel
def enter(cells: Cells, row: int, c: int, way: int) -> None:
    """Puts a row that is in no cluster into one."""
    cells.member[row], cells.way[row] = c, way
    cells.before[row], cells.after[row] = -1, cells.head[c]
    if cells.head[c] >= 0:
        cells.before[cells.head[c]] = row
    cells.head[c] = row
    cells.size[c] += 1
    cells.radius[c] = max(cells.radius[c], way)


@kernel
def _leave(cells: Cells, row: int) -> None:
    c, before, after = cells.member[row], cells.before[row], cells.after[row]
    if before >= 0:
        cells.after[before] = after
    else:
        cells.head[c] = after
    if after >= 0:
        cells.before[after] = before
    cells.size[c] -= 1
    cells.member[row] = -1
    if cells.way[row] == cells.radius[c]:
        cells.radius[c] = _farthest_but(cells, c, -1)


@kernel
def _farthest_but(cells: Cells, c: int, row: int) -> int:
    """The distance of the farthest row of a cluster, one row left out."""
    far = np.int64(0)
    other = cells.head[c]
    while other >= 0:
        if other != row:
            far = max(far, cells.way[other])
        other = cells.after[other]
    return int(far)


@kernel
def _shift(cells: Cells, row: int, c: int, way: int) -> int:
    """Moves a row to cluster c; by how much Σ size · radius changed."""
    b = cells.member[row]
    change = -cells.size[c] * cells.radius[c]
    if b >= 0:
        change -= cells.size[b] * cells.radius[b]
        _leave(cells, row)
        change += cells.size[b] * cells.radius[b]
    enter(cells, row, c, way)
    return int(change + cells.size[c] * cells.radius[c])


@kernel
def place(ground: Ground, centres: Search, cells: Cells, row: int, limit: int) -> tuple[int, int, int]:
    """The other cluster whose cost a row raises least, if by less than the limit: cluster (-1: none), rise, distance."""
    look_from(ground, cells.tuple_of[row])
    best, found, at = limit, -1, 0
    count = 0
    while True:
        u, way = nearest(centres.tree, centres.left, ground.costs, ground.stack)
        if u < 0 or way >= best:
            break
        count = set_aside(centres, u, count)
        c = cells.number[u]
        rise = (cells.size[c] + 1) * max(cells.radius[c], way) - cells.size[c] * cells.radius[c]
        if c != cells.member[row] and rise < best:
            best, found, at = rise, c, way
    show_again(centres, count)
    return found, best, at


@kernel
def relocate(ground: Ground, centres: Search, cells: Cells, r: int, start: int, stop: int) -> int:
    """Moves each row from `start` to `stop` to the cluster where it costs least, if its own can spare it. Returns the change
    of the total cost."""
    total = np.int64(0)
    for row in range(start, stop):
        c = cells.member[row]
        if c >= 0 and (cells.size[c] <= r or row == cells.anchor[c]):
            continue
        saved = HUGE
        if c >= 0:
            rest = cells.radius[c] if cells.way[row] < cells.radius[c] else _farthest_but(cells, c, row)
            saved = cells.size[c] * cells.radius[c] - (cells.size[c] - 1) * rest
        found, _, way = place(ground, centres, cells, row, saved)
        if found >= 0:
            total += _shift(cells, row, found, way)
    return int(total)


@kernel
def close(ground: Ground, centres: Search, cells: Cells, facility: int, start: int, stop: int) -> int:
    """Closes each cluster from `start` to `stop` whose rows cost less elsewhere. Returns the change of the total cost.

    A row adds at least its distance to the nearest other centre, so mostly it is clear before any row is moved that closing
    does not pay. A cluster that was tried before and has not changed is not tried again."""
    total = np.int64(0)
    for c in range(start, stop):
        size = cells.size[c]
        cost = facility + size * cells.radius[c]
        if size == 0 or cost == cells.kept[c]:
            continue
        rows, old = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        least = np.empty(size, dtype=np.int64)
        hide(centres, cells.centre[c])
        spent, count = np.int64(0), 0
        row = cells.head[c]
        while row >= 0 and spent < cost:
            look_from(ground, cells.tuple_of[row])
            rows[count], old[count] = row, cells.way[row]
            least[count] = nearest(centres.tree, centres.left, ground.costs, ground.stack)[1]
            spent += least[count]  # HUGE where there is no other cluster
            count += 1
            row = cells.after[row]
        moved = 0
        while moved < count and spent < cost:
            row = rows[moved]
            spent -= least[moved]
            found, rise, way = place(ground, centres, cells, row, cost - spent)
            if found < 0:
                break
            spent += rise
            moved += 1
            _shift(cells, row, found, way)
        if moved == size:
            cells.number[cells.centre[c]] = -1
            total += spent - cost
            continue
        for i in range(moved - 1, -1, -1):
            _shift(cells, rows[i], c, old[i])
        cells.kept[c] = cost
        centres.hidden[0] = cells.centre[c]
        show_again(centres, 1)
    return int(total)


@kernel
def open_new(
    ground: Ground, search: Search, cells: Cells, r: int, facility: int, start: int, stop: int, now: Ints
) -> int:
    """Opens a cluster around each row from `start` to `stop` that lies at the edge of its own, of the r nearest rows that
    clusters can spare, where that lowers the total cost. Returns the change of it. `now[0]` counts the clusters."""
    total = np.int64(0)
    moved, home, old = np.empty(r, dtype=np.int64), np.empty(r, dtype=np.int64), np.empty(r, dtype=np.int64)
    for row in range(start, stop):
        b, u, limit = cells.member[row], cells.tuple_of[row], cells.way[row]
        if limit == 0 or limit < cells.radius[b] or cells.size[b] <= r or cells.number[u] >= 0:
            continue
        c = now[0]
        if c == len(cells.centre):
            break
        look_from(ground, u)
        moved[0], home[0], old[0] = row, b, limit
        change, count, hidden = facility + _shift(cells, row, c, 0), 1, 0
        while count < r:
            v, way = nearest(search.tree, search.left, ground.costs, ground.stack)
            if v < 0 or way > limit:
                break
            hidden = set_aside(search, v, hidden)
            for other in range(ground.first[v], ground.first[v + 1]):
                a = cells.member[other]
                if count < r and a != c and cells.size[a] > r and other != cells.anchor[a]:
                    moved[count], home[count], old[count] = other, a, cells.way[other]
                    count += 1
                    change += _shift(cells, other, c, way)
        show_again(search, hidden)
        if count == r and change < 0:
            cells.centre[c], cells.anchor[c], cells.number[u] = u, row, c
            now[0] += 1
            total += change
            continue
        for i in range(count - 1, -1, -1):
            _shift(cells, moved[i], home[i], old[i])
    return int(total)
