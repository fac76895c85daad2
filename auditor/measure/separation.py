"""How well a set of columns tells rows apart: distinction, separation, uniqueness.

For n rows, with classes of sizes c of rows that are alike on the columns:

    distinction   classes / n                        the share of rows that could be kept with no two alike
    separation    1 - Σ c(c - 1) / (n(n - 1))        the share of pairs of rows that differ
    uniqueness    rows alone in their class / n

A quasi-identifier is a small set of columns for which these are high. All three only grow as columns are added, which makes a
greedy search for such sets sensible: `greedy_order` adds, step by step, the column that makes most rows unique (then: tells
most pairs apart).

Paper: R. Motwani, Y. Xu, "Efficient algorithms for masking and finding quasi-identifiers", VLDB workshop on Secure Data
Management 2007. Distinction, separation and the greedy cover are theirs. Uniqueness comes first here, because it makes a
row linkable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Codes, Ints


@dataclass(frozen=True, slots=True)
class Separation:
    """How well some columns tell rows apart. `separation` is None with fewer than two rows, since there is no pair."""

    distinction: float
    separation: float | None
    uniqueness: float


def separation(groups: Ints) -> Separation:
    """The figures of a table, given equal numbers (0 or above) for rows that are alike; all 0 for an empty table."""
    rows = len(groups)
    if rows == 0:
        return Separation(0.0, None, 0.0)
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    alike = float((sizes.astype(np.float64) * (sizes - 1)).sum())
    apart = 1 - alike / (float(rows) * (rows - 1)) if rows > 1 else None
    return Separation(len(sizes) / rows, apart, int((sizes == 1).sum()) / rows)


def refined(groups: Ints, codes: Codes) -> Ints:
    """Rows that are alike in `groups` and in one more column, numbered from 0 without gaps."""
    radix = int(codes.max(initial=0)) + 1
    key = groups * radix + codes
    most = int(key.max(initial=0)) + 1
    if most > 8 * len(key) + 1024:
        finer: Ints = np.unique(key, return_inverse=True)[1]
    else:
        finer = (np.cumsum(np.bincount(key, minlength=most) > 0) - 1)[key]
    return finer.astype(np.int64)


def joined(columns: Sequence[Codes], rows: int) -> Ints:
    """Rows that are alike in all of some columns, numbered from 0 without gaps."""
    groups = np.zeros(rows, dtype=np.int64)
    for codes in columns:
        groups = refined(groups, codes)
    return groups


def greedy_order(columns: Sequence[Codes], rows: int) -> Iterator[tuple[int, Separation]]:
    """The columns by what each adds, most first: (number of the column, figures of all columns so far). Of columns that add
    the same, the earlier comes first."""
    groups = np.zeros(rows, dtype=np.int64)
    left = list(range(len(columns)))
    while left:
        best: tuple[tuple[float, float], int, Separation, Ints] | None = None
        for column in left:
            finer = refined(groups, columns[column])
            figures = separation(finer)
            gain = (figures.uniqueness, figures.separation or 0.0)
            if best is None or gain > best[0]:
                best = gain, column, figures, finer
        assert best is not None
        groups = best[3]
        left.remove(best[1])
        yield best[1], best[2]
