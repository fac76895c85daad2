"""Rows of integer codes as single numbers: equal rows, equal numbers.

`distinct_rows` numbers them from 0. `mixed` and `contents` are 64-bit hashes (splitmix64), by which rows are put into an
order of their own: whatever is drawn in that order does not depend on where a row stands.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Codes, Ints

Hashes = NDArray[np.uint64]


def distinct_rows(matrix: Codes | Ints) -> Ints:
    """The number of each row's distinct value, rows with the same content having the same number.

    Rows are packed into one integer by mixed radix where that fits, which is many times faster than sorting rows.
    """
    if matrix.shape[1] == 0:
        return np.zeros(len(matrix), dtype=np.int64)
    radix = matrix.max(axis=0, initial=0).astype(np.int64) + 2
    if np.log2(radix.astype(np.float64)).sum() < 62:
        key = np.zeros(len(matrix), dtype=np.int64)
        for column, base in enumerate(radix):
            key = key * base + matrix[:, column] + 1
        return np.unique(key, return_inverse=True)[1].astype(np.int64)
    return np.unique(matrix, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def mixed(parts: Sequence[NDArray[np.integer]], rows: int, start: int = 0) -> Hashes:
    """Rows of whole numbers as 64-bit hashes: equal rows have equal hashes."""
    out = np.full(rows, start, dtype=np.uint64)
    for part in parts:
        out = out * np.uint64(0x9E3779B97F4A7C15) + part.astype(np.uint64) + np.uint64(1)
        out ^= out >> np.uint64(30)
        out *= np.uint64(0xBF58476D1CE4E5B9)
        out ^= out >> np.uint64(27)
        out *= np.uint64(0x94D049BB133111EB)
        out ^= out >> np.uint64(31)
    return out


def mark_of(codes: Codes) -> int:
    """A number for a column that depends on how often it has each value, and neither on the order of rows nor on its name."""
    return zlib.crc32(np.sort(codes).tobytes())


def contents(columns: Iterable[Codes], rows: int) -> Hashes:
    """A hash of each row of some columns, which depends neither on the order of rows or columns nor on names."""
    total = np.zeros(rows, dtype=np.uint64)
    for codes in columns:
        total += mixed([codes], rows, start=mark_of(codes))
    return total
