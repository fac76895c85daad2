"""r-gather and the first step of r-cellular clustering as they are told: all pairs of tuples compared, in plain Python.

Distances come from the taxonomies and domains as exact fractions (`naive_growing.loss`); nothing is shared with the fast
versions. A tuple stands for rows of equal values; rows are numbered tuple by tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from auditor.model.table import Table
from tests.support.naive_growing import in_order, loss

Matrix = list[list[int]]


def points(table: Table, unit: int) -> tuple[Matrix, list[int]]:
    """The distances of all pairs of tuples, in whole numbers with `unit` for a column, and how many rows each tuple has."""
    columns = table.schema.quasi
    codes = table.matrix(columns)
    copies: dict[tuple[int, ...], int] = {}
    for row in in_order(table, columns):
        key = tuple(codes[row].tolist())
        copies[key] = copies.get(key, 0) + 1
    domains = [table.domains[c] for c in columns]
    part = cache(lambda j, a, b: loss(domains[j], frozenset((a, b))))
    distance = []
    for one in copies:
        exact = [
            sum(part(j, *sorted(pair)) for j, pair in enumerate(zip(one, two, strict=True))) * unit for two in copies
        ]
        assert all(way == int(way) for way in exact)
        distance.append([int(way) for way in exact])
    return distance, list(copies.values())


def gather(
    distance: Matrix, copies: list[int], r: int, order: Sequence[int], widest: int
) -> tuple[list[int], list[int]]:
    """Centres, and the cluster of each row, at the threshold where bisection ends; the least one tried is the first at which
    every row has r rows around it."""
    low = max(rows_within(distance[u], copies, r) for u in range(len(copies))) - 1
    high, tried, best = widest, low + 1, None
    while best is None or high - low > 1:
        found = within(distance, copies, r, order, tried)
        if found is None:
            low = tried
        else:
            high, best = tried, found
        tried = (low + high) // 2 if high - low > 1 else high
    return best


def rows_within(ways: list[int], copies: list[int], r: int) -> int:
    """The least distance within which there are r rows."""
    return sorted(way for way, count in zip(ways, copies, strict=True) for _ in range(count))[r - 1]


def within(
    distance: Matrix, copies: list[int], r: int, order: Sequence[int], limit: int
) -> tuple[list[int], list[int]] | None:
    """Centres and clusters at one threshold, None where it fails."""
    centres: list[int] = []
    for u in order:
        if all(distance[c][u] > limit for c in centres):
            centres.append(u)
    possible = flow(distance, copies, r, centres, limit)
    tuple_of = [u for u, count in enumerate(copies) for _ in range(count)]
    member = [min(range(len(centres)), key=lambda c: (distance[centres[c]][u], centres[c])) for u in tuple_of]
    for c in range(len(centres)):
        while member.count(c) < r:
            chain = chain_to(distance, tuple_of, member, r, centres, limit, c)
            assert (chain is None) <= (not possible)
            if chain is None:
                return None
            for row, taker in chain:
                member[row] = taker
    assert possible
    return centres, member


def flow(distance: Matrix, copies: list[int], r: int, centres: list[int], limit: int) -> bool:
    """Whether every centre can have r rows within the limit: source → centres (r) → tuples → sink (copies)."""
    source, sink = len(centres) + len(copies), len(centres) + len(copies) + 1
    capacity = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    for c, centre in enumerate(centres):
        capacity[source, c] = r
        for u in range(len(copies)):
            capacity[c, len(centres) + u] = r if distance[centre][u] <= limit else 0
    for u, count in enumerate(copies):
        capacity[len(centres) + u, sink] = count
    return bool(maximum_flow(csr_array(capacity), source, sink).flow_value == r * len(centres))


def chain_to(
    distance: Matrix, tuple_of: list[int], member: list[int], r: int, centres: list[int], limit: int, needy: int
) -> list[tuple[int, int]] | None:
    """The first chain found breadth first, nearest rows first: moves (row, to which cluster) that give `needy` a row."""
    came: dict[int, tuple[int, int]] = {needy: (-1, -1)}
    waiting = [needy]
    for taker in waiting:
        ways = distance[centres[taker]]
        for row in sorted(range(len(member)), key=lambda row: (ways[tuple_of[row]], row)):
            giver = member[row]
            if ways[tuple_of[row]] > limit or giver in came:
                continue
            came[giver] = (row, taker)
            waiting.append(giver)
            if member.count(giver) > r:
                chain = []
                while giver != needy:
                    chain.append(came[giver])
                    giver = came[giver][1]
                return chain
    return None


def cheapest_balls(distance: Matrix, copies: list[int], r: int, facility: int) -> list[tuple[int, set[int]]]:
    """Centre and tuples of each ball, taken by the lowest price a row, until fewer than r rows are free."""
    free = set(range(len(copies)))
    made = []
    while sum(copies[u] for u in free) >= r:
        balls = []
        for u in sorted(free):
            for radius in sorted({distance[u][v] for v in free}):
                inside = {v for v in free if distance[u][v] <= radius}
                rows = sum(copies[v] for v in inside)
                if rows >= r:
                    balls.append((facility / rows + radius, u, -len(inside), inside))
        _, centre, _, inside = min(balls, key=lambda ball: ball[:3])
        made.append((centre, inside))
        free -= inside
    return made


def partitions(rows: list[int], r: int) -> Iterator[list[list[int]]]:
    """All ways to divide rows into sets of at least r."""
    for blocks in _blocks(rows):
        if all(len(block) >= r for block in blocks):
            yield blocks


def _blocks(rows: list[int]) -> Iterator[list[list[int]]]:
    if not rows:
        yield []
        return
    head, *rest = rows
    for blocks in _blocks(rest):
        yield [[head], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [head, *block], *blocks[i + 1 :]]


def radius_of(distance: Matrix, block: list[int]) -> int:
    """The radius of a set around its best centre, which may be any row of the table; rows are tuples here."""
    return min(max(distance[c][row] for row in block) for c in range(len(distance)))
