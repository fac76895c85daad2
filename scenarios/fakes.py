"""Fake people: plausible tuples that nobody in the data has.

Each column is drawn by itself from the values in the data, so the values are real and only their combination is invented;
combinations that somebody has are left out. Membership attacks are scored against them where no real outsiders are known.

Values are drawn by their rank, and columns in the order of their contents. So neither the order of rows or columns nor the
names of columns matter, and rows that all stand twice change nothing.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Codes
from auditor.model.packing import distinct_rows


def fake_tuples(codes: Codes, count: int, rng: np.random.Generator) -> Codes:
    """Up to `count` different fake tuples over the columns of `codes` (people × columns): fewer, or none, where nearly every
    combination is taken."""
    people, columns = codes.shape
    if not people or columns < 2:
        return np.empty((0, columns), dtype=np.int32)
    ordered = np.sort(codes, axis=0)
    drawn = np.empty((2 * count, columns), dtype=np.int32)
    for column in sorted(range(columns), key=lambda place: ordered[:, place].tobytes()):
        drawn[:, column] = ordered[(rng.random(2 * count) * people).astype(np.int64), column]
    number = distinct_rows(np.concatenate([codes, drawn]))
    invented = number[people:]
    _, first = np.unique(invented, return_index=True)
    fresh = np.sort(first[~np.isin(invented[first], number[:people])])
    return drawn[fresh][:count]
