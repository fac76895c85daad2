"""Nearness of numbers: which numbers of a class lie within ε of each other.

(ε,m)-anonymity asks that in every class, for every value in it, at most 1/m of the class lies within ±ε of it.

Paper: J. Li, Y. Tao, X. Xiao, "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data", SIGMOD 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def slack(numbers: Floats) -> float:
    """What two numbers may differ by and still count as equal: float noise in sums of such numbers."""
    return 1e-12 * float(np.abs(numbers).max(initial=0.0))


def near_share(group: NDArray[np.int64], number: Floats, epsilon: float) -> Floats:
    """For each number the share of its group that lies within ±epsilon of it (itself included), in any order."""
    distinct, rank = np.unique(number, return_inverse=True)
    width = len(distinct) + 1
    key = np.sort(group * width + rank.reshape(-1))
    owner, rank = np.divmod(key, width)
    low = np.searchsorted(distinct, distinct[rank] - epsilon - slack(distinct), side="left")
    high = np.searchsorted(distinct, distinct[rank] + epsilon + slack(distinct), side="right")
    near = np.searchsorted(key, owner * width + high) - np.searchsorted(key, owner * width + low)
    share: Floats = near / np.bincount(group)[owner]
    return share


def largest_m(group: NDArray[np.int64], number: Floats, epsilon: float) -> float:
    """The largest m for which the groups are (ε,m)-anonymous."""
    return float(1 / near_share(group, number, epsilon).max())
