"""The non-dominated frontier: which of several choices nobody would give up for another, on two scales.

One choice *beats* another if it is at least as good on both scales and better on one. Those that none beats are the frontier
(the Pareto front). Equal choices do not beat each other: they are on it together or not at all. Sorted by the first scale and
within it by the second, a choice is beaten if and only if an earlier one that differs is at least as good on the second,
so one pass with the best so far is enough.

Figures are compared to twelve significant digits: what is less apart is noise of floating-point arithmetic, and must not put
one of two equal choices behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence

LOWER, HIGHER = "lower", "higher"


def frontier(points: Sequence[tuple[float, float]], better: tuple[str, str] = (LOWER, LOWER)) -> list[int | None]:
    """For each point None where it is on the frontier, else the number of the point of the frontier that beats it; of several
    the one that is best on the second scale, and of equal ones the first."""
    signs = [1.0 if way == LOWER else -1.0 for way in better]
    costs = [(_same(signs[0] * x), _same(signs[1] * y)) for x, y in points]
    beaten: list[int | None] = [None] * len(costs)
    best: int | None = None  # the last point of the frontier so far, which is its best on the second scale
    for place in sorted(range(len(costs)), key=lambda i: (costs[i], i)):
        if best is not None and costs[best][1] <= costs[place][1] and costs[best] != costs[place]:
            beaten[place] = best
        elif best is None or costs[best] != costs[place]:
            best = place
    return beaten


def _same(value: float) -> float:
    return float(f"{value:.12g}")
