"""Gathering rows around centres: the check of one threshold of r-gather.

Tuples stand for rows: a tuple with several copies is reached once and counts as often as it has copies. All work is done by
asking the search tree for the nearest tuple and hiding what was found, so no pair of rows is ever stored.

Whether every centre can have r rows within the limit is a question of flow. It starts with every row at its nearest centre.
A centre below r takes a row within the limit from another centre. If that one would fall below r, it takes a row itself, and
so on, until a centre above r gives one. `repair` searches for the shortest such chain, breadth first.

It finds a way wherever there is one. Let B be an assignment in which all centres have r rows, and A the present one, in
which centre c has fewer. Draw an arrow from A(x) to B(x) for each row x that they place differently. More arrows enter c than
leave it. Walking backwards along unused arrows from c one can only get stuck at a centre that more arrows leave than enter:
it has more rows in A than in B, so more than r. The arrows walked are a chain, and every row on it is within the limit of
the centre that it moves to, since B holds. So no chain means no B, and the limit fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.growing import begin
from anonymizers.kernels.search import Costs, Stack, cost_of, nearest
from anonymizers.kernels.tree import Tree, remove
from anonymizers.shapes import Trees
from auditor.model.arrays import Ints
from auditor.model.compiling import kernel


class Ground(NamedTuple):
    """What every search needs: the tuples, the rows of each (`first[u]` to before `first[u + 1]`), the trees, the cost of
    each node, and room for the costs of one tuple, its nodes and the search."""

    tuples: Ints
    first: Ints
    trees: Trees
    rise: Ints
    costs: Costs
    nodes: Ints
    stack: Stack


class Search(NamedTuple):
    """A search tree over some tuples, whether each tuple is open to the search (`left`), and a list of those hidden from
    it for a while."""

    tree: Tree
    left: Ints
    hidden: Ints


class Assignment(NamedTuple):
    """The tuple that is the centre of each cluster, the number of its rows, and the cluster of each row in the order of
    tuples; room for the chains of `repair`: cluster c would give `row[c]` to cluster `taker[c]` (-1: not reached)."""

    centre: Ints
    size: Ints
    member: Ints
    row: Ints
    taker: Ints


@kernel
def look_from(ground: Ground, u: int) -> None:
    """Makes tuple u the one that distances are from."""
    begin(ground.costs, ground.trees, ground.rise, ground.tuples[u], ground.nodes)


@kernel
def hide(search: Search, u: int) -> None:
    """Takes a tuple out of the search."""
    search.left[u] = 0
    remove(search.tree, u)


@kernel
def set_aside(search: Search, u: int, count: int) -> int:
    """Hides a tuple and notes it in the list of hidden ones, which then has one more than `count`."""
    hide(search, u)
    search.hidden[count] = u
    return count + 1


@kernel
def show_again(search: Search, count: int) -> None:
    """Opens the first tuples of the list of hidden ones to the search again."""
    for i in range(count):
        u = search.hidden[i]
        search.left[u] = 1
        v = search.tree.home[u]
        while v >= 0:
            search.tree.alive[v] += 1
            v = search.tree.above[v]


@kernel
def reach(ground: Ground, search: Search, r: int, start: int, stop: int, out: Ints) -> None:
    """For the tuples from `start` to `stop`: the least distance within which there are r rows, their own among them."""
    for u in range(start, stop):
        look_from(ground, u)
        count, rows = 0, 0
        while rows < r:
            v, out[u] = nearest(search.tree, search.left, ground.costs, ground.stack)
            count = set_aside(search, v, count)
            rows += ground.first[v + 1] - ground.first[v]
        show_again(search, count)


@kernel
def choose_centres(
    ground: Ground, search: Search, order: Ints, limit: int, most: int, centre: Ints, now: Ints, tuples: int
) -> None:
    """Makes the next tuple in `order` that is not marked a centre, and marks all tuples within the limit of it; repeatedly.

    `now` holds the place in `order` and the number of centres. Stops after marking some `tuples`, or with more than `most`
    centres, for which there are not enough rows.
    """
    marked = 0
    while now[0] < len(order) and marked < tuples and now[1] <= most:
        u = order[now[0]]
        now[0] += 1
        if search.left[u] == 0:
            continue
        centre[now[1]] = u
        now[1] += 1
        look_from(ground, u)
        v, way = nearest(search.tree, search.left, ground.costs, ground.stack)
        while v >= 0 and way <= limit:
            hide(search, v)
            marked += 1
            v, way = nearest(search.tree, search.left, ground.costs, ground.stack)


@kernel
def join_nearest(ground: Ground, centres: Search, number: Ints, given: Assignment, start: int, stop: int) -> None:
    """Assigns the rows of the tuples from `start` to `stop` to their nearest centre; `number` is the cluster of a centre."""
    for u in range(start, stop):
        look_from(ground, u)
        found, _ = nearest(centres.tree, centres.left, ground.costs, ground.stack)
        given.member[ground.first[u] : ground.first[u + 1]] = number[found]
        given.size[number[found]] += ground.first[u + 1] - ground.first[u]


@kernel
def repair(ground: Ground, search: Search, given: Assignment, limit: int, r: int, moves: int) -> int:
    """Moves rows to centres that have fewer than r, up to `moves` chains. 1: all have r; 0: not yet; -1: they cannot."""
    waiting = np.empty(len(given.centre), dtype=np.int64)
    for c in range(len(given.centre)):
        while given.size[c] < r:
            if moves == 0:
                return 0
            moves -= 1
            if not _chain(ground, search, given, limit, r, c, waiting):
                return -1
    return 1


@kernel
def _chain(ground: Ground, search: Search, given: Assignment, limit: int, r: int, needy: int, waiting: Ints) -> bool:
    """Gives centre `needy` one row by the shortest chain; whether there is one. Nearest rows are asked first."""
    waiting[0] = needy
    given.taker[needy] = needy
    done, reached, hidden = 0, 1, 0
    giver = -1
    while done < reached and giver < 0:
        taker = waiting[done]
        done += 1
        look_from(ground, given.centre[taker])
        while giver < 0:
            u, way = nearest(search.tree, search.left, ground.costs, ground.stack)
            if u < 0 or way > limit:
                break
            hidden = set_aside(search, u, hidden)  # every cluster with a copy of it is reached now
            for row in range(ground.first[u], ground.first[u + 1]):
                c = given.member[row]
                if given.taker[c] >= 0:
                    continue
                given.taker[c], given.row[c] = taker, row
                waiting[reached] = c
                reached += 1
                if given.size[c] > r:
                    giver = c
                    break
    show_again(search, hidden)
    if giver >= 0:
        given.size[giver] -= 1
        given.size[needy] += 1
        c = giver
        while c != needy:
            given.member[given.row[c]] = given.taker[c]
            c = given.taker[c]
    for i in range(reached):
        given.taker[waiting[i]] = -1
    return giver >= 0


@kernel
def ways(ground: Ground, given: Assignment, start: int, stop: int, out: Ints) -> None:
    """The distance of each row of the tuples from `start` to `stop` to the centre of its cluster."""
    for u in range(start, stop):
        look_from(ground, u)
        for row in range(ground.first[u], ground.first[u + 1]):
            out[row] = cost_of(ground.costs, ground.tuples[given.centre[given.member[row]]])


@kernel
def recentre(ground: Ground, given: Assignment, order: Ints, begins: Ints, start: int, stop: int, radius: Ints) -> None:
    """Moves the centres of the clusters from `start` to `stop` to the tuple of theirs with the least radius, where that is
    less than the present one; a tuple that is the centre of another cluster stays that. `order` lists the tuples of each
    cluster in turn, from `begins[c]` to before `begins[c + 1]`; `radius` is what each cluster has.

    A tuple is given up as soon as one row is too far from it. The tuple of that row is then asked first: it is often too far
    from the next one as well."""
    taken = np.zeros(len(ground.first), dtype=np.int64)
    for c in range(len(given.centre)):
        taken[given.centre[c]] = 1
    for c in range(start, stop):
        inside = order[begins[c] : begins[c + 1]].copy()
        for i in range(begins[c], begins[c + 1]):
            u = order[i]
            if taken[u] == 1:
                continue
            look_from(ground, u)
            farthest, place = 0, 0
            while place < len(inside) and farthest < radius[c]:
                farthest = max(farthest, cost_of(ground.costs, ground.tuples[inside[place]]))
                place += 1
            if farthest < radius[c]:
                taken[given.centre[c]], taken[u] = 0, 1
                given.centre[c], radius[c] = u, farthest
            else:
                inside[0], inside[place - 1] = inside[place - 1], inside[0]
