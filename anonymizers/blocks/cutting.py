"""Blocks of rows: a table is cut in two, and the parts again, until none has more rows than asked for.

Only rows of one block can share a class, so near rows should stay together. A part is therefore cut as Mondrian cuts: along
the column in which it spreads widest, near the median, with equal values on one side. In a taxonomy the cut goes between the
children of the node that covers the part, if one of these cuts is even enough: the smaller side has a quarter of the rows.
If the widest column has no such cut, the next one is tried. Where no column has one, rows are halved in the order of their
values, if the method lets equal values be divided; if not, the most even cut is taken that cuts off no crumb. Every side of
a cut must have the least number of rows and allow the promise. A part that cannot be cut stays as it is. So a block may be
larger than asked for, but none is smaller than the method allows.

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Workload-Aware Anonymization Techniques for Large-Scale Datasets", ACM TODS
2008, cuts tables that do not fit into memory in this way. Where equal values are divided, random draws that the seed alone
does not give away decide who goes where; all other cuts follow from the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizers.shared.cuts import by_tree
from anonymizers.shared.grouping import Blocking
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.progress import Progress, silent
from auditor.model.table import Table

_EVEN = 0.25
"""The least share of the rows on the smaller side of an even cut."""
_CRUMB = 16
"""An uneven cut takes off at least one part in so many of a block's rows: crumbs would be cut off one by one."""


def cut(
    table: Table, blocking: Blocking, size: int, rng: np.random.Generator, progress: Progress = silent
) -> list[Ints]:
    """The rows of each block, in ascending order; one block of all rows where the table as a whole does not allow the
    promise, or has no more than `size` rows."""
    everybody = np.arange(table.rows)
    if table.rows <= size or not blocking.allows(everybody):
        return [everybody]
    waiting: list[Ints] = [everybody]
    done: list[Ints] = []
    while waiting:
        progress(sum(len(rows) for rows in done), table.rows, "cutting blocks")
        rows = waiting.pop()
        sides = _sides(table, blocking, rows, size, rng) if len(rows) > size else None
        if sides is None:
            done.append(rows)
        else:
            waiting += reversed(sides)
    return done


def _sides(
    table: Table, blocking: Blocking, rows: Ints, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints] | None:
    """The two sides of the best cut that is allowed; None where there is none."""
    found = [_Cut.of(table, column, rows) for column in blocking.cut]
    cuts = sorted((c for c in found if c is not None), key=lambda c: -c.spread)  # of equal spreads the first column
    for sides in _candidates(table, cuts, blocking.divide, rows, size, rng):
        if all(len(side) >= blocking.least and blocking.allows(side) for side in sides):
            return sides
    return None


def _candidates(
    table: Table, cuts: Sequence[_Cut], divide: bool, rows: Ints, size: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """The sides of the cuts to be tried, the best first."""
    even = [cut for cut in cuts if cut.smaller >= _EVEN * len(rows)]
    for cut in even:
        yield cut.sides(table, rows)
    if divide:
        mixed = rng.permutation(rows)  # equal rows are divided at random: blocks must not tell the order of the file
        keys = [table.codes[cut.column][mixed] for cut in reversed(cuts)]  # the widest column is the first to sort by
        ordered = mixed[np.lexsort(keys)] if keys else mixed
        half = len(rows) // 2
        yield np.sort(ordered[:half]), np.sort(ordered[half:])
    uneven = [cut for cut in cuts if cut not in even and cut.smaller * _CRUMB >= size]
    for cut in sorted(uneven, key=lambda cut: -cut.smaller):
        yield cut.sides(table, rows)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut along a column: codes below `code` go to one side. `smaller` is the number of rows of the smaller side."""

    column: str
    spread: float
    code: int
    smaller: int

    def sides(self, table: Table, rows: Ints) -> tuple[Ints, Ints]:
        """The rows of both sides."""
        left = table.codes[self.column][rows] < self.code
        return rows[left], rows[~left]

    @classmethod
    def of(cls, table: Table, column: str, rows: Ints) -> _Cut | None:
        """The cut of a column nearest to the middle of the rows; None where all of them have the same value."""
        domain = table.domains[column]
        counts = np.bincount(table.codes[column][rows], minlength=domain.size)
        there = np.flatnonzero(counts)
        if len(there) < 2:
            return None
        low, high = int(there[0]), int(there[-1])
        before = np.cumsum(counts) - counts
        codes = there[1:]
        smaller = np.minimum(before[codes], len(rows) - before[codes])
        if by_tree(domain):
            children = np.isin(codes, _starts(domain, low, high))
            if (children & (smaller >= _EVEN * len(rows))).any():
                codes, smaller = codes[children], smaller[children]
        best = int(smaller.argmax())
        return cls(column, _spread(domain, low, high), int(codes[best]), int(smaller[best]))


def _spread(domain: Domain, low: int, high: int) -> float:
    """How much of a column's range the codes from one to another span; all of it where a missing value is among them."""
    if high == domain.missing:
        return 1.0
    if domain.numbers is not None:
        return float(domain.numbers[high] - domain.numbers[low]) / (domain.width or 1.0)
    return (high - low) / max(domain.known - 1, 1)


def _starts(domain: Domain, low: int, high: int) -> Ints:
    """The first leaves of the children of the lowest node that covers the codes from `low` to `high`; the missing value is
    a child of the root."""
    taxonomy = domain.taxonomy
    assert taxonomy is not None
    covering = np.flatnonzero((taxonomy.lo <= low) & (taxonomy.hi >= high))
    node = 0 if high == domain.missing else int(covering[np.argmax(taxonomy.depth[covering])])
    starts = taxonomy.lo[taxonomy.parent == node].astype(np.int64)
    return np.append(starts, domain.missing) if domain.missing is not None else starts
