"""Probabilistic record linkage, pair by pair and word by word: levels, EM and links over plain lists.

`people` and `records` are rows of numbers and texts. A column of numbers is compared by the absolute difference, any other by
equality.
"""

from __future__ import annotations

import math

Row = tuple[float | str, ...]


def apart(a: float | str, b: float | str) -> float:
    """The distance of two values of a column."""
    return float(a != b) if isinstance(a, str) or isinstance(b, str) else round(abs(a - b), 9)


def cuts_of(people: list[Row], records: list[Row], column: int) -> list[float]:
    """The distances at which levels end: within each lie an eighth, a quarter, and half of all comparisons."""
    ways = sorted(apart(a[column], b[column]) for a in people for b in records)
    return sorted({ways[math.ceil(len(ways) * share) - 1] for share in (1 / 8, 1 / 4, 1 / 2)})


def learn(people: list[Row], records: list[Row], rounds: int = 100) -> tuple[list[list[float]], list[list[float]]]:
    """The weights of the levels of each column, and the weight of each record (columns of the result) for each person."""
    columns = range(len(people[0]))
    cuts = [cuts_of(people, records, c) for c in columns]

    def level(a: Row, b: Row, c: int) -> int:
        return sum(apart(a[c], b[c]) > cut for cut in cuts[c])

    def shares(counts: list[float]) -> list[float]:
        return [max(count / sum(counts), 1e-6) for count in counts]

    u, m = [], []
    for c in columns:
        counts = [0.0] * (len(cuts[c]) + 1)
        for a in people:
            for b in records:
                counts[level(a, b, c)] += 1
        u.append(shares(counts))
        m.append(shares([1 / (i + 1) for i in range(len(counts))]))
    for _ in range(rounds):
        counted = [[0.0] * len(one) for one in m]
        for a in people:
            odds = [math.prod(m[c][level(a, b, c)] / u[c][level(a, b, c)] for c in columns) for b in records]
            for b, odd in zip(records, odds, strict=True):
                for c in columns:
                    counted[c][level(a, b, c)] += odd / sum(odds)
        last, m = m, [shares(counts) for counts in counted]
        if max(abs(x - y) for one, two in zip(last, m, strict=True) for x, y in zip(one, two, strict=True)) < 1e-5:
            break
    weights = [[math.log2(x / y) for x, y in zip(m[c], u[c], strict=True)] for c in columns]
    return weights, [[sum(weights[c][level(a, b, c)] for c in columns) for b in records] for a in people]
