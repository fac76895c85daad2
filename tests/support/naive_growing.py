"""Greedy k-member, CAAT and the algorithm of Loukides and Shao as the papers tell them: rows compared one by one.

Nothing here is shared with the fast versions: costs come from the taxonomies and domains as exact fractions. A class is a
list of row numbers. Rows are visited in the order of their values (numbers and ordinals first), which decides ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.schema import Type
from auditor.model.table import Table

Class = list[int]


def on_line(domain: Domain) -> bool:
    return domain.numbers is not None or domain.column.type is Type.ORDINAL


def in_order(table: Table, columns: Sequence[str]) -> list[int]:
    """The rows in the order of their values, columns with an order first."""
    lines = [c for c in columns if on_line(table.domains[c])]
    columns = [*lines, *(c for c in columns if c not in lines)]
    return sorted(range(table.rows), key=lambda row: ([int(table.codes[c][row]) for c in columns], row))


def path(domain: Domain, code: int) -> list[int]:
    """The nodes from the root down to a value; -1 stands for the missing value and codes without a taxonomy get one."""
    taxonomy = domain.taxonomy
    if taxonomy is None or (taxonomy.height == 0 and domain.missing is not None):
        return [0] if domain.size == 1 else [0, code + 1]
    if code == domain.missing:
        return [0, -1]
    node = int(taxonomy.leaf_node[code])
    up = [node]
    while taxonomy.parent[node] >= 0:
        node = int(taxonomy.parent[node])
        up.append(node)
    return up[::-1]


def shared(paths: Sequence[list[int]]) -> list[int]:
    """The common beginning of some paths: it ends with the lowest common ancestor."""
    out = []
    for nodes in zip(*paths, strict=False):
        if len(set(nodes)) > 1:
            break
        out.append(nodes[0])
    return out


def place(domain: Domain, code: int) -> Fraction:
    """Where a value lies on its line, from 0 to 1."""
    if domain.numbers is None or domain.span is None:
        return Fraction(code, max(domain.known - 1, 1))
    low, high = (Fraction(str(end)) for end in domain.span)
    return (Fraction(str(float(domain.numbers[code]))) - low) / ((high - low) or 1)


def loss(domain: Domain, codes: frozenset[int]) -> Fraction:
    """The information loss of a record in a class with these values."""
    if on_line(domain):
        if domain.missing in codes:
            return Fraction(len(codes) > 1)
        places = [place(domain, code) for code in codes]
        return max(places) - min(places)
    paths = [path(domain, code) for code in codes]
    whole = max(len(path(domain, code)) for code in range(domain.size)) - 1
    top = shared(paths)
    below = [path(domain, code) for code in range(domain.size)]
    height = max(len(p) for p in below if p[: len(top)] == top) - len(top)
    return Fraction(height, max(whole, 1))


def caat_distance(domain: Domain, codes: frozenset[int], code: int) -> Fraction:
    """The distance of a value to a class with these values."""
    if on_line(domain):
        if domain.missing in codes:
            return Fraction(len(codes) == 1 and code != domain.missing)
        if code == domain.missing:
            return Fraction(1)
        places = [place(domain, c) for c in codes]
        return max(min(places) - place(domain, code), place(domain, code) - max(places), Fraction(0))
    own, value = shared([path(domain, c) for c in codes]), path(domain, code)
    top = len(shared([own, value])) - 1
    depths = [len(p) - 1 for p in (own, value)]
    return sum((Fraction(depth - top, 2 * depth) for depth in depths if depth), Fraction(0))


class Measure:
    """Sums a column-wise measure over the columns of a table. Fractions are made whole by a common multiple of their
    denominators, since adding fractions is slow."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self.domains = [table.domains[c] for c in columns]
        self.codes = table.matrix(columns).tolist()
        self.held = [sorted(set(table.codes[c].tolist())) for c in columns]
        lines = [d for d in self.domains if on_line(d)]
        self.whole = math.lcm(*range(1, 13), *(place(d, c).denominator for d in lines for c in range(d.known)))
        self.loss = cache(lambda j, codes: self.scaled(loss(self.domains[j], codes)))
        self.way = cache(lambda j, codes, code: self.scaled(caat_distance(self.domains[j], codes, code)))

    def scaled(self, value: Fraction) -> int:
        assert (value * self.whole).denominator == 1
        return int(value * self.whole)

    def values(self, rows: Sequence[int], j: int) -> frozenset[int]:
        return frozenset(self.codes[row][j] for row in rows)

    def of_class(self, rows: Sequence[int]) -> int:
        """The loss of one record of a class."""
        return sum(self.loss(j, self.values(rows, j)) for j in range(len(self.domains)))

    def joined(self, rows: Sequence[int]) -> Callable[[int], int]:
        """The loss of one record of the class with one more row."""
        held = [self.values(rows, j) for j in range(len(self.domains))]
        tables = [{code: self.loss(j, held[j] | {code}) for code in codes} for j, codes in enumerate(self.held)]
        return lambda row: sum(table[code] for table, code in zip(tables, self.codes[row], strict=True))

    def to_class(self, rows: Sequence[int]) -> Callable[[int], int]:
        """The CAAT distance of a row to a class."""
        held = [self.values(rows, j) for j in range(len(self.domains))]
        tables = [{code: self.way(j, held[j], code) for code in codes} for j, codes in enumerate(self.held)]
        return lambda row: sum(table[code] for table, code in zip(tables, self.codes[row], strict=True))


def numbered(classes: Sequence[Class], rows: int) -> Ints:
    out = np.full(rows, -1, dtype=np.int64)
    for number, members in enumerate(classes):
        out[members] = number
    return out


def k_member(table: Table, columns: Sequence[str], k: int, start: int) -> Ints:
    measure, left = Measure(table, columns), in_order(table, columns)
    classes: list[Class] = []
    seed = left[start]
    while len(left) >= k:
        if classes:
            away = measure.joined([seed])
            seed = max(left, key=away)  # the first of the farthest
        seed = first_copy(measure, left, seed)
        left.remove(seed)
        members = [seed]
        while len(members) < k:
            row = min(left, key=measure.joined(members))
            left.remove(row)
            members.append(row)
        classes.append(members)
    for row in left:

        def rise(members: Class, row: int = row) -> int:
            return (len(members) + 1) * measure.joined(members)(row) - len(members) * measure.of_class(members)

        min(classes, key=rise).append(row)
    return numbered(classes, table.rows)


def first_copy(measure: Measure, left: Sequence[int], row: int) -> int:
    """The first row left with the same values: copies are taken in their order."""
    return next(other for other in left if measure.codes[other] == measure.codes[row])


def loukides_shao(table: Table, columns: Sequence[str], threshold: Fraction, seeds: Sequence[int]) -> Ints:
    measure, order = Measure(table, columns), in_order(table, columns)
    left = list(order)
    classes: list[Class] = []
    for number in seeds:
        if order[number] not in left:
            continue
        seed = first_copy(measure, left, order[number])
        left.remove(seed)
        members = [seed]
        while left:
            joined = measure.joined(members)
            row = min(left, key=joined)
            if joined(row) > threshold * measure.whole * len(columns):
                break
            left.remove(row)
            members.append(row)
        classes.append(members)
    return numbered(classes, table.rows)


def caat(table: Table, columns: Sequence[str], k: int, start: int, all_ties: bool = False) -> tuple[Ints, int]:
    """The classes, and how many distances of a row to a class were evaluated."""
    evaluations = 0
    measure, left = Measure(table, columns), in_order(table, columns)
    room = table.rows if all_ties else 2 * k - 1
    classes: list[Class] = []
    while len(left) >= k:
        evaluations += len(left) if classes else 0
        seed = max(left, key=measure.to_class(classes[-1])) if classes else left[start]
        seed = first_copy(measure, left, seed)
        left.remove(seed)
        members = [seed]
        while len(members) < k and left:
            away = measure.to_class(members)
            evaluations += len(left)
            least = min(map(away, left))
            nearest = [row for row in left if away(row) == least][: room - len(members)]
            left = [row for row in left if row not in nearest]
            members += nearest
        classes.append(members)
    while left:
        row = left[0]
        open_ones = [members for members in classes if len(members) < room]
        evaluations += len(open_ones)
        if not open_ones:
            order = in_order(table, columns)
            given = sorted(classes[-1], key=order.index)[-(k - len(left)) :]
            classes[-1] = [other for other in classes[-1] if other not in given]
            classes.append(left + given)
            break
        min(open_ones, key=lambda members: measure.to_class(members)(row)).append(row)
        left.remove(row)
    return numbered(classes, table.rows), evaluations


def l_clustering(table: Table, columns: Sequence[str], sensitive: str, l: int, start: int) -> Ints:
    measure, value = Measure(table, columns), table.codes[sensitive].tolist()
    left = sorted(in_order(table, columns), key=lambda row: (_place(table, columns, row), value[row], row))
    classes: list[Class] = []
    seed = left[start]
    while len({value[row] for row in left}) >= l:
        if classes:
            seed = max(left, key=measure.joined([seed]))
        left.remove(seed)
        members = [seed]
        while len(members) < l:
            fit = [row for row in left if value[row] not in {value[other] for other in members}]
            members.append(min(fit, key=measure.joined(members)))
            left.remove(members[-1])
        classes.append(members)
    for row in left:
        min(
            classes, key=lambda members: _rise(measure.joined(members), measure.of_class(members), members, row)
        ).append(row)
    return numbered(classes, table.rows)


def ebkc(
    table: Table, columns: Sequence[str], weight: dict[str, int], k: int, most: int, diameter: Fraction, start: int
) -> Ints:
    measures = [(weight[c], Measure(table, [c])) for c in columns]
    whole = math.lcm(*(measure.whole for _, measure in measures))

    def joined(members: Class, row: int) -> int:
        return sum(w * (whole // m.whole) * m.of_class([*members, row]) for w, m in measures)

    left = in_order(table, columns)
    classes: list[Class] = []
    seed = left[start]
    while len(left) >= k:
        if classes:
            seed = max(left, key=lambda row: joined([seed], row))
        left.remove(seed)
        members = [seed]
        while left and len(members) < most:
            row = min(left, key=lambda row: joined(members, row))
            if len(members) >= k and joined(members, row) > diameter * whole * sum(weight.values()):
                break
            left.remove(row)
            members.append(row)
        classes.append(members)
    for row in left:
        found = min(
            classes,
            key=lambda members: _rise(lambda row: joined(members, row), joined(members, members[0]), members, row),
        )
        found.append(row)
    return numbered(classes, table.rows)


def _rise(joined: Callable[[int], int], now: int, members: Class, row: int) -> int:
    return (len(members) + 1) * joined(row) - len(members) * now


def _place(table: Table, columns: Sequence[str], row: int) -> list[int]:
    lines = [c for c in columns if on_line(table.domains[c])]
    return [int(table.codes[c][row]) for c in [*lines, *(c for c in columns if c not in lines)]]
