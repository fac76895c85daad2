"""Distances between rows as exact integers: the one place where values become numbers for the clustering methods.

Ordered columns (numbers, ordinals) become positions on a line. Other columns become leaves of a tree: their taxonomy, or a
root with all values below it. Everything is scaled by one `unit`, the cost of giving up a whole column: a common multiple of
the numeric ranges, the heights of the trees, and whatever else a method divides by. So sums are exact, a tie is a tie, and
a fast search finds the same answer as a slow one. Where no common multiple fits, costs are rounded to 2^-36 of a column, in
very large tables a little more coarsely (`exact` is then false); sums are still integers.

A missing value lies a whole column away from every other value. On a line it stands two units from the low end, beyond the
high end, and no distance counts more than one unit; in a tree it is a child of the root.

Rows with the same values are one *tuple* with several copies. Tuples are in the lexicographic order of their codes,
ordered columns first. Ties between tuples go to the first, whatever the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizers.shapes import Trees
from auditor.model.arrays import Floats, Ints
from auditor.model.domain import Domain
from auditor.model.packing import distinct_rows
from auditor.model.schema import Type
from auditor.model.table import Table

LARGEST_UNIT = 2**36
_LARGEST_SUM = 2**59
"""No sum over all columns, times the number of rows, is above this: kernels add in 64 bits, and 2^60 stands for infinity."""
_MOST_DECIMALS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The rows of a table as tuples of integers.

    `tuples[u, j]` is the position (for the first `ordered` columns) or the slot of tuple u in column j; its rows are
    `rows[first[u] : first[u + 1]]`.
    """

    columns: tuple[str, ...]
    ordered: int
    unit: int
    exact: bool
    tuples: Ints
    first: Ints
    rows: Ints
    trees: Trees

    @property
    def copies(self) -> Ints:
        """How many rows each tuple has."""
        return np.diff(self.first)

    @property
    def weight(self) -> Floats:
        """What a step along each column is worth, as far as boxes of a search tree are concerned."""
        slots = self.trees.high[self.trees.root] - self.trees.low[self.trees.root]
        return np.concatenate([np.ones(self.ordered), self.unit / np.maximum(slots, 1)])

    def groups(self, member: Ints) -> Ints:
        """The class of each row of the table, from the class of each row in the order of tuples."""
        out = np.empty_like(member)
        out[self.rows] = member
        return out

    def rise(self) -> Ints:
        """What it costs to generalise to each node: its height over that of its tree."""
        whole = np.maximum(self.trees.height[self.trees.root[self.trees.tree]], 1)
        return self.unit // whole * self.trees.height

    @classmethod
    def of(
        cls, table: Table, columns: Sequence[str], divisors: Callable[[Trees], Iterable[int]] | None = None
    ) -> Space:
        """The space of some columns of a table. The unit is a multiple of all `divisors`; by default of the heights of the
        trees."""
        lines = [c for c in columns if is_ordered(table.domains[c])]
        others = [c for c in columns if c not in lines]
        trees = _trees([table.domains[c] for c in others])
        steps = [_steps(table.domains[c]) for c in lines]
        needed = math.lcm(*(divisors(trees) if divisors else (max(int(h), 1) for h in trees.height[trees.root])), 1)
        unit = math.lcm(needed, *(length for _, length, _ in steps))
        most = largest_unit(table.rows, len(columns))
        exact = unit <= most and all(whole for _, _, whole in steps)
        if unit > most:
            unit = needed * (most // needed) if needed <= most else most
        codes = table.matrix([*lines, *others])
        number = distinct_rows(codes)
        rows = np.argsort(number, kind="stable")
        first = np.append(np.flatnonzero(np.diff(number[rows], prepend=-1)), table.rows)
        distinct = codes[rows[first[:-1]]].astype(np.int64)
        for j, (column, (places, length, _)) in enumerate(zip(lines, steps, strict=True)):
            scaled = (
                places * (unit // length) if unit % length == 0 else np.rint(places * (unit / length)).astype(np.int64)
            )
            if table.domains[column].missing is not None:
                scaled = np.append(scaled, 2 * unit)
            distinct[:, j] = scaled[distinct[:, j]]
        distinct[:, len(lines) :] += trees.low[trees.root]
        return cls((*lines, *others), len(lines), unit, exact, np.ascontiguousarray(distinct), first, rows, trees)


def largest_unit(rows: int, columns: int) -> int:
    """The largest unit with which no sum in a kernel passes 64 bits: below `LARGEST_UNIT` only above 8 million cells."""
    return min(LARGEST_UNIT, _LARGEST_SUM // (rows * columns))


def is_ordered(domain: Domain) -> bool:
    """Whether the values of a column lie on a line: numbers and ordinals."""
    return domain.numbers is not None or domain.column.type is Type.ORDINAL


def _steps(domain: Domain) -> tuple[Ints, int, bool]:
    """The position of each value that is not missing, in whole steps, the length of the line, and whether that is exact."""
    if domain.numbers is None or domain.span is None:
        return np.arange(domain.known, dtype=np.int64), max(domain.known - 1, 1), True
    ends = np.concatenate([domain.numbers, np.asarray(domain.span)])
    for decimals in range(_MOST_DECIMALS + 1):
        whole = np.rint(ends * 10.0**decimals)
        if np.abs(whole).max(initial=0) >= 2**53:
            break
        if (whole / 10.0**decimals == ends).all():
            places = whole.astype(np.int64)
            places -= places.min(initial=places[-2])
            step = max(int(np.gcd.reduce(places)), 1)
            return places[:-2] // step, max(int(places.max()) // step, 1), True
    width = domain.width or 1.0
    return np.rint((domain.numbers - domain.span[0]) / width * LARGEST_UNIT).astype(np.int64), LARGEST_UNIT, False


def _trees(domains: Sequence[Domain]) -> Trees:
    parts: list[tuple[Ints, ...]] = []
    nodes = slots = 0
    roots = []
    for number, domain in enumerate(domains):
        parent, depth, low, high, leaf = _tree(domain)
        deepest = np.maximum.reduceat(np.append(depth[leaf], 0), np.column_stack([low, high + 1]).ravel())[::2]
        tree = np.full(len(parent), number, dtype=np.int64)
        above = np.where(parent < 0, -1, parent + nodes)
        parts.append((above, depth, deepest - depth, low + slots, high + slots, tree, leaf + nodes))
        roots.append(nodes)
        nodes, slots = nodes + len(parent), slots + len(leaf)
    columns = [np.concatenate(c).astype(np.int64) for c in zip(*parts, strict=True)] or [np.empty(0, np.int64)] * 7
    return Trees._make([*columns, np.array(roots, dtype=np.int64)])


def _tree(domain: Domain) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Parent, depth, first and last leaf of each node, and the node of each leaf, the missing value included."""
    taxonomy, missing = domain.taxonomy, domain.missing is not None
    if taxonomy is None or (taxonomy.height == 0 and missing):
        size = domain.size
        if size == 1:
            return (np.array([-1]), np.array([0]), np.array([0]), np.array([0]), np.array([0]))
        codes = np.arange(size)
        return (
            np.append(-1, np.zeros(size, dtype=np.int64)),
            np.append(0, np.ones(size, dtype=np.int64)),
            np.append(0, codes),
            np.append(size - 1, codes),
            codes + 1,
        )
    parent, depth, low, high = taxonomy.parent, taxonomy.depth, taxonomy.lo, taxonomy.hi
    leaf = taxonomy.leaf_node
    if missing:
        last = len(leaf)
        parent, depth = np.append(parent, 0), np.append(depth, 1)
        low, high = np.append(low, last), np.append(high, last)
        high[0] = last
        leaf = np.append(leaf, len(parent) - 1)
    return parent, depth, low, high, leaf
