"""Fake people: plausible tuples that nobody in the data has.

Each column is drawn by itself from the values in the data, so the values are real and only their combination is invented;
combinations that somebody has are left out. Membership attacks are scored against them where no real outsiders are known.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Codes
from auditor.model.packing import distinct_rows


def fake_tuples(codes: Codes, count: int, rng: np.random.Generator) -> Codes:
    """Up to `count` different fake tuples over the columns of `codes` (people × columns): fewer, or none, where nearly every
    combination is taken."""
    if not len(codes) or codes.shape[1] < 2:
        return np.empty((0, codes.shape[1]), dtype=np.int32)
    drawn = np.column_stack([rng.choice(codes[:, i], size=2 * count) for i in range(codes.shape[1])])
    number = distinct_rows(np.concatenate([codes, drawn]))
    invented = number[len(codes) :]
    _, first = np.unique(invented, return_index=True)
    fresh = np.sort(first[~np.isin(invented[first], number[: len(codes)])])
    return drawn[fresh][:count]
