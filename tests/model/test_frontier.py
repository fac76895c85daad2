"""The frontier: a hand-made set of choices, and a slow obvious version on random ones."""

from __future__ import annotations

import random

import pytest

from auditor.measure.intervals import mean_interval
from auditor.model.record.frontier import HIGHER, LOWER, frontier

Pairs = list[tuple[float, float]]


def beats(one: tuple[float, float], two: tuple[float, float]) -> bool:
    return one[0] <= two[0] and one[1] <= two[1] and one != two


def slow(points: Pairs) -> list[int | None]:
    """By definition: of those on the frontier that beat a point, the best on the second scale, the first of equal ones."""
    best = [i for i, p in enumerate(points) if not any(beats(q, p) for q in points)]
    found: list[int | None] = []
    for p in points:
        by = [i for i in best if beats(points[i], p)]
        found.append(min(by, key=lambda i: (points[i][1], i)) if by else None)
    return found


def test_a_hand_made_set() -> None:
    # risk, error       beaten by
    # a  0.1  0.9       nobody: the least risk
    # b  0.3  0.4       nobody
    # c  0.3  0.5       b: as much risk, more error
    # d  0.5  0.4       b: more risk, as much error
    # e  0.6  0.1       nobody: the least error
    # f  0.9  0.2       e, whose error is the least of those with at most its risk; b (error 0.4) does not beat it
    # g  0.3  0.4       nobody: the same as b
    points = [(0.1, 0.9), (0.3, 0.4), (0.3, 0.5), (0.5, 0.4), (0.6, 0.1), (0.9, 0.2), (0.3, 0.4)]
    assert frontier(points) == [None, None, 1, 1, None, 4, None]


def test_directions() -> None:
    # accuracy is better when higher: (0.2, 0.9) beats (0.2, 0.8) and (0.3, 0.9), not (0.1, 0.5)
    points = [(0.2, 0.9), (0.2, 0.8), (0.3, 0.9), (0.1, 0.5)]
    assert frontier(points, (LOWER, HIGHER)) == [None, 0, 0, None]
    flipped = [(-x, y) for x, y in points]
    assert frontier(flipped, (HIGHER, HIGHER)) == [None, 0, 0, None]


def test_noise_of_arithmetic_beats_nobody() -> None:
    assert frontier([(0.1 + 0.2, 0.5), (0.3, 0.5)]) == [None, None]


def test_nothing_and_one() -> None:
    assert frontier([]) == []
    assert frontier([(1.0, 1.0)]) == [None]


@pytest.mark.parametrize("seed", range(60))
def test_as_by_definition(seed: int) -> None:
    draw = random.Random(seed)
    levels = draw.choice([3, 10, 1000])  # few levels make many ties
    points = [(float(draw.randrange(levels)), float(draw.randrange(levels))) for _ in range(draw.randrange(1, 60))]
    assert frontier(points) == slow(points)


def test_interval_over_runs() -> None:
    # 1, 2, 3: mean 2, deviation 1, t(0.975, 2 degrees) = 4.302653 (tables), 4.302653/√3 = 2.484138
    found = mean_interval([1.0, 2.0, 3.0])
    assert found.value == pytest.approx(2)
    assert (found.low, found.high) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-5)
    assert mean_interval([0.25, 0.25])[:3] == (0.25, 0.25, 0.25)
    with pytest.raises(ValueError, match="two"):
        mean_interval([1.0])
