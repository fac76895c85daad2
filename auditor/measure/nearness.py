"""Nearness of numbers: which numbers of a class lie within ε of each other.

(ε,m)-anonymity asks that in every class, for every value in it, at most 1/m of the class lies within ±ε of it.

Paper: J. Li, Y. Tao, X. Xiao, "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data", SIGMOD 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


_NOISE = 8 * float(np.finfo(np.float64).eps)


def upper(value: Floats, reach: float | Floats) -> Floats:
    """The numbers `reach` above values, and float noise of the sum more: what lies at the edge is inside."""
    edge = value + reach
    return np.asarray(edge + _NOISE * np.maximum(np.abs(edge), np.abs(value)))


def lower(value: Floats, reach: float | Floats) -> Floats:
    """The numbers `reach` below values, and float noise of the difference less."""
    return -upper(-value, reach)


def near_share(group: NDArray[np.int64], number: Floats, epsilon: float) -> Floats:
    """For each number the share of its group that lies within ±epsilon of it (itself included), in any order."""
    distinct, rank = np.unique(number, return_inverse=True)
    width = len(distinct) + 1
    key = np.sort(group * width + rank.reshape(-1))
    owner, rank = np.divmod(key, width)
    low = np.searchsorted(distinct, lower(distinct[rank], epsilon), side="left")
    high = np.searchsorted(distinct, upper(distinct[rank], epsilon), side="right")
    near = np.searchsorted(key, owner * width + high) - np.searchsorted(key, owner * width + low)
    share: Floats = near / np.bincount(group)[owner]
    return share


def largest_m(group: NDArray[np.int64], number: Floats, epsilon: float) -> float:
    """The largest m for which the groups are (ε,m)-anonymous."""
    return float(1 / near_share(group, number, epsilon).max())
