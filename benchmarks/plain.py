"""The plain versions that benchmarks compare with: one numpy pass over all rows for every record that is added.

This is what a careful person writes without search trees: vectorised, with lookup tables per column, no compiled code. They
give the same classes as the fast versions, which the benchmark checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from anonymizers.shared.distance import Space
from auditor.model.arrays import Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.table import Table
from tests.support.naive_slicing import cuts


class _Class:
    """The class that is being grown: an interval on each line, a node in each tree."""

    def __init__(self, space: Space, values: Ints) -> None:
        self.space, self.trees = space, space.trees
        self.low, self.high = values[: space.ordered].copy(), values[: space.ordered].copy()
        self.nodes = [int(self.trees.leaf[slot]) for slot in values[space.ordered :]]

    def add(self, values: Ints) -> None:
        ordered = self.space.ordered
        self.low = np.minimum(self.low, values[:ordered])
        self.high = np.maximum(self.high, values[:ordered])
        for j, slot in enumerate(values[ordered:]):
            while not self.trees.low[self.nodes[j]] <= slot <= self.trees.high[self.nodes[j]]:
                self.nodes[j] = int(self.trees.parent[self.nodes[j]])

    def ancestors(self, node: int) -> list[int]:
        """The nodes from this one to the root."""
        found = [node]
        while self.trees.parent[found[-1]] >= 0:
            found.append(int(self.trees.parent[found[-1]]))
        return found

    def loss(self, rows: Ints, rise: Ints) -> Ints:
        """The loss of a record of this class with each row added."""
        unit = self.space.unit
        total = np.zeros(len(rows), dtype=np.int64)
        for j, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            total += np.minimum(np.maximum(rows[:, j], high) - np.minimum(rows[:, j], low), unit)
        table = np.zeros(len(self.trees.leaf), dtype=np.int64)
        for j, node in enumerate(self.nodes, self.space.ordered):
            for up in reversed(self.ancestors(node)):
                table[self.trees.low[up] : self.trees.high[up] + 1] = rise[up]
            total += table[rows[:, j]]
        return total

    def way(self, rows: Ints, leaf_depth: Ints) -> Ints:
        """The CAAT distance of each row to this class."""
        unit = self.space.unit
        total = np.zeros(len(rows), dtype=np.int64)
        for j, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            total += np.minimum(np.maximum(np.maximum(low - rows[:, j], rows[:, j] - high), 0), unit)
        table = np.zeros(len(self.trees.leaf), dtype=np.int64)
        for j, node in enumerate(self.nodes, self.space.ordered):
            own = int(self.trees.depth[node])
            for up in reversed(self.ancestors(node)):
                top = int(self.trees.depth[up])
                part = slice(int(self.trees.low[up]), int(self.trees.high[up]) + 1)
                deep = np.maximum(leaf_depth[part], 1)
                table[part] = unit // 2 * (leaf_depth[part] - top) // deep
                table[part] += unit // 2 * (own - top) // own if own else 0
            total += table[rows[:, j]]
        return total


def k_member(space: Space, k: int, start: int) -> Ints:
    """Greedy k-member, without the rows left over at the end (they stay -1)."""
    rows, rise = np.repeat(space.tuples, space.copies, axis=0), space.rise()
    place, member = np.arange(len(rows)), np.full(len(rows), -1)
    made, last = 0, rows[start]
    while len(rows) >= k:
        away = _Class(space, last).loss(rows, rise)
        seed = int(away.argmax() if made else away.argmin())
        last, grown = rows[seed], _Class(space, rows[seed])
        taken = np.zeros(len(rows), dtype=np.bool_)
        taken[seed] = True
        for _ in range(k - 1):
            cost = grown.loss(rows, rise)
            cost[taken] = 2**62
            row = int(cost.argmin())
            taken[row] = True
            grown.add(rows[row])
        member[place[taken]] = made
        rows, place, made = rows[~taken], place[~taken], made + 1
    return member


def caat(space: Space, k: int, start: int) -> Ints:
    """CAAT, without the rows left over at the end (they stay -1)."""
    rows, depth = np.repeat(space.tuples, space.copies, axis=0), space.trees.depth[space.trees.leaf]
    place, member = np.arange(len(rows)), np.full(len(rows), -1)
    made, grown = 0, _Class(space, rows[start])
    while len(rows) >= k:
        away = grown.way(rows, depth)
        seed = int(away.argmax() if made else away.argmin())
        grown, taken = _Class(space, rows[seed]), np.zeros(len(rows), dtype=np.bool_)
        taken[seed] = True
        while taken.sum() < min(k, len(rows)):
            way = grown.way(rows, depth)
            way[taken] = 2**62
            near = np.flatnonzero(way == way.min())[: 2 * k - 1 - int(taken.sum())]
            taken[near] = True
            for row in near:
                grown.add(rows[row])
        member[place[taken]] = made
        rows, place, made = rows[~taken], place[~taken], made + 1
    return member


def mdav(points: Floats, k: int) -> Ints:
    """MDAV on numbers: three passes over all remaining rows for every two classes."""
    member = np.full(len(points), -1)
    left, made = np.arange(len(points)), 0

    def around(center: Floats) -> None:
        nonlocal left, made
        near = np.argsort(((points[left] - center) ** 2).sum(axis=1), kind="stable")[:k]
        member[left[near]] = made
        left, made = np.delete(left, near), made + 1

    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        center = points[left].mean(axis=0)
        one = points[left[((points[left] - center) ** 2).sum(axis=1).argmax()]]
        other = points[left[((points[left] - one) ** 2).sum(axis=1).argmax()]]
        around(one)
        if two:
            around(other)
    member[left] = made
    return member


def slicing(table: Table, blocks: Sequence[Sequence[str]], sensitive: str, l: int) -> Ints:
    """The tuple partition of slicing with the diversity check from scratch for every cut that is tried: the matching
    degrees of all distinct tuples with all buckets, as matrix products."""
    quasi = table.schema.quasi
    parts = [[c for c in block if c in quasi] for block in sorted(blocks, key=lambda block: sensitive in block)]
    fragment = np.column_stack([distinct_rows(table.matrix(part)) for part in parts])
    tuples = np.unique(fragment, axis=0)
    value = np.unique(table.codes[sensitive], return_inverse=True)[1]
    codes, domains = table.matrix(quasi), [table.domains[c] for c in quasi]

    def holds(buckets: Sequence[Ints]) -> bool:
        number = np.repeat(np.arange(len(buckets)), [len(rows) for rows in buckets])
        rows = np.concatenate(buckets)
        sizes = np.bincount(number)
        weight = sizes[:, None].astype(np.float64)
        for part in range(len(parts) - 1):
            width = int(fragment[:, part].max()) + 1
            counts = np.bincount(number * width + fragment[rows, part], minlength=len(buckets) * width)
            weight = weight * (counts.reshape(-1, width) / sizes[:, None])[:, tuples[:, part]]
        width = int(fragment[:, -1].max()) + 1
        total = np.zeros(len(tuples))
        most = np.zeros(len(tuples))
        for code in range(int(value.max()) + 1):
            held = value[rows] == code
            key = number[held] * width + fragment[rows[held], -1]
            counts = np.bincount(key, minlength=len(buckets) * width).reshape(-1, width) / sizes[:, None]
            mass = (weight * counts[:, tuples[:, -1]]).sum(axis=0)
            total += mass
            most = np.maximum(most, mass)
        return not (l * most > total * (1 + 2.0**-30)).any()

    queue, done = [np.arange(table.rows)], []
    while queue:
        bucket = queue.pop(0)
        for left, right in cuts(bucket, codes, domains, together=True):
            if holds([*queue, left, right, *done]):
                queue += [left, right]
                break
        else:
            done.append(bucket)
    member = np.empty(table.rows, dtype=np.int64)
    for number, rows in enumerate(done):
        member[rows] = number
    return member


def exponent(sizes: list[int], seconds: list[float]) -> list[float]:
    """How the time grows between neighbouring sizes: 1 is linear, 2 quadratic."""
    pairs = zip(pairwise(sizes), pairwise(seconds), strict=True)
    return [float(np.log(max(b, 1e-4) / max(a, 1e-4)) / np.log(n / m)) for (m, n), (a, b) in pairs]
