"""Nearness of numbers: which numbers of a class lie within ε of each other.

(ε,m)-anonymity requires that in every class, for every value in it, at most 1/m of the class lies within ±ε of it.

Paper: J. Li, Y. Tao, X. Xiao, "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data", SIGMOD 2008.
"""

from __future__ import annotations

import numpy as np

from auditor.measure import words
from auditor.measure.counts import Entries, counted
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Better

_NOISE = 8 * float(np.finfo(np.float64).eps)


NEARNESS = (
    words.extreme(
        "proximity_m",
        "The largest m for which (ε,m)-anonymity holds: at most one in m of a class lies within ±ε of any number in it.",
        "at most one in {value} numbers of a class lies near any one of them",
        label="at most one in m of a class within ±ε of any number",
        better=Better.HIGHER,
    ),
)
"""How close together the numbers of a class are, in words."""


def upper(value: Floats, reach: float | Floats) -> Floats:
    """The numbers `reach` above values, plus the float noise of the sum: what lies at the edge is inside."""
    edge = value + reach
    return np.asarray(edge + _NOISE * np.maximum(np.abs(edge), np.abs(value)))


def lower(value: Floats, reach: float | Floats) -> Floats:
    """The numbers `reach` below values, minus the float noise of the difference."""
    return -upper(-value, reach)


def largest_m(group: Ints, number: Floats, epsilon: float) -> float:
    """The largest m for which the groups are (ε,m)-anonymous."""
    return least_m(*by_number(group, number), epsilon)


def near(found: Entries, number: Floats, epsilon: float) -> Ints:
    """For each entry the number of people of its class within ±epsilon of its number; `number` gives that of each value, from
    low to high. Entries are sorted, so those within reach are contiguous, and their people a difference of running sums."""
    first = np.searchsorted(number, lower(number, epsilon), side="left")
    beyond = np.searchsorted(number, upper(number, epsilon), side="right")
    width = found.values + 1
    start = found.row * width
    key = start + found.column
    running = np.concatenate([[0], np.cumsum(found.count)])
    low = np.searchsorted(key, start + first[found.column])
    high = np.searchsorted(key, start + beyond[found.column])
    return np.asarray(running[high] - running[low])


def largest_ms(found: Entries, number: Floats, epsilon: float) -> Floats:
    """The largest m for which each class is (ε,m)-anonymous, decided by its most crowded number: see `near`. Infinite for a
    class without numbers."""
    there = found.distinct > 0
    share = near(found, number, epsilon) / found.sizes[found.row]
    largest = np.full(len(there), np.inf)
    largest[there] = 1 / np.maximum.reduceat(share, (np.cumsum(found.distinct) - found.distinct)[there])
    return largest


def least_m(found: Entries, number: Floats, epsilon: float) -> float:
    """The largest m for which all classes are (ε,m)-anonymous, decided by the worst class."""
    return float(largest_ms(found, number, epsilon).min())


def by_number(group: Ints, number: Floats) -> tuple[Entries, Floats]:
    """The numbers of people in groups as entries, and the distinct numbers, from low to high."""
    distinct, rank = np.unique(number, return_inverse=True)
    return counted(group, rank.reshape(-1), int(group.max(initial=-1)) + 1, len(distinct)), distinct
