"""KACA in the obvious way: every class below k is compared with all other classes, straight from the paper's definitions.

Losses come from the domains and taxonomies themselves, as fractions, and are made whole by their common denominator; none of
the arithmetic of `anonymizers/shared/distance.py` is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.schema import Type
from auditor.model.table import Table


@dataclass(frozen=True)
class Outcome:
    """The classes, as rows of the table, and how many distances between two classes were evaluated."""

    classes: list[list[int]]
    evaluations: int


@cache
def weighted_hierarchical_distance(p: int, q: int, h: int, beta: int) -> Fraction:
    """WHD(p, q) from level p up to level q in a hierarchy of h levels."""
    weight = {j: Fraction(1, (j - 1) ** beta) for j in range(2, h + 1)}
    return sum((weight[j] for j in range(q + 1, p + 1)), Fraction(0)) / sum(weight.values(), Fraction(0))


@cache
def decimal(number: float) -> Fraction:
    """The number as it is written."""
    return Fraction(str(number))


def is_ordered(domain: Domain) -> bool:
    return domain.numbers is not None or domain.column.type is Type.ORDINAL


def loss(domain: Domain, a: int, b: int, beta: int) -> Fraction:
    """What a value gives up by becoming the narrowest label over the codes from a to b, counted from a leaf at level h."""
    if a == b and b == domain.missing:
        return Fraction(0)
    if b == domain.missing:
        return Fraction(1)
    if domain.numbers is not None and domain.span is not None:
        low, high = map(decimal, domain.span)
        way = decimal(float(domain.numbers[b])) - decimal(float(domain.numbers[a]))
        return way / (high - low) if high > low else Fraction(0)
    if domain.column.type is Type.ORDINAL:
        return Fraction(b - a, max(domain.known - 1, 1))
    taxonomy = domain.taxonomy
    if taxonomy is None or taxonomy.height == 0:
        return Fraction(int(a != b))
    node = int(taxonomy.leaf_node[a])
    while not taxonomy.lo[node] <= b <= taxonomy.hi[node]:
        node = int(taxonomy.parent[node])
    h = taxonomy.height + 1
    return weighted_hierarchical_distance(h, int(taxonomy.depth[node]) + 1, h, beta)


class Losses:
    """The losses of all intervals of codes of all columns as whole numbers."""

    def __init__(self, domains: Sequence[Domain], beta: int) -> None:
        exact = [[[loss(d, min(a, b), max(a, b), beta) for b in range(d.size)] for a in range(d.size)] for d in domains]
        unit = math.lcm(*(value.denominator for column in exact for row in column for value in row))
        assert unit < 2**40
        self.columns = [np.array([[int(value * unit) for value in row] for row in column]) for column in exact]

    def of(self, low: Ints, high: Ints) -> Ints:
        """The loss of a record in each box."""
        total = np.zeros(len(low), dtype=np.int64)
        for j, column in enumerate(self.columns):
            total += column[low[:, j], high[:, j]]
        return total

    def distance(self, low: Ints, high: Ints, c: int, rows: int, moved: Ints) -> Ints:
        """What it distorts to generalise `rows` rows of box c and `moved` rows of each box to their hull."""
        hull = self.of(np.minimum(low, low[c]), np.maximum(high, high[c]))
        own = self.of(low, high)
        distorted: Ints = rows * (hull - own[c]) + moved * (hull - own)
        return distorted


def naive_kaca(table: Table, quasi: Sequence[str], k: int, beta: int, draws: Sequence[float]) -> Outcome:
    """KACA; `draws` are numbers from 0 to 1 that choose among the classes below k, one for each merge."""
    columns = sorted(quasi, key=lambda c: not is_ordered(table.domains[c]))  # ordered columns first
    codes = table.matrix(columns).astype(np.int64)
    losses = Losses([table.domains[c] for c in columns], beta)
    order = sorted(range(table.rows), key=lambda row: (codes[row].tolist(), row))
    place = {row: number for number, row in enumerate(order)}
    classes: list[list[int]] = []
    for row in order:
        if classes and (codes[classes[-1][0]] == codes[row]).all():
            classes[-1].append(row)
        else:
            classes.append([row])
    low = np.array([codes[rows].min(axis=0) for rows in classes])
    high = low.copy()
    evaluations, turn = 0, 0
    while True:
        small = [c for c, rows in enumerate(classes) if 0 < len(rows) < k]
        if not small:
            return Outcome([sorted(rows) for rows in classes if rows], evaluations)
        c = small[int(draws[turn] * len(small))]
        turn += 1
        size = np.array([len(rows) for rows in classes])
        moved = np.where(size[c] + size < 2 * k, size, k - size[c])
        distance = losses.distance(low, high, c, int(size[c]), moved)
        candidates = [o for o, rows in enumerate(classes) if rows and o != c]
        evaluations += len(candidates)
        other = min(candidates, key=lambda o: (distance[o], o))
        if size[c] + size[other] < 2 * k:
            kept, gone = min(c, other), max(c, other)
            classes[kept], classes[gone] = classes[kept] + classes[gone], []
        else:
            rows = sorted(classes[other], key=place.__getitem__)
            points = np.concatenate([codes[rows], low[c : c + 1]]), np.concatenate([codes[rows], high[c : c + 1]])
            nearness = losses.distance(*points, len(rows), int(size[c]), np.ones(len(rows) + 1, dtype=np.int64))
            ranked = sorted(range(len(rows)), key=lambda i: (nearness[i], i))
            classes[c] = classes[c] + [rows[i] for i in ranked[: k - size[c]]]
            classes[other] = [rows[i] for i in ranked[k - size[c] :]]
        for changed in (c, other):
            if classes[changed]:
                low[changed], high[changed] = codes[classes[changed]].min(axis=0), codes[classes[changed]].max(axis=0)
