"""Points: distances of mixed columns beside plain loops, scales of the reference alone, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from auditor.measure.densities import near
from auditor.measure.points import Encoding, Points, exact_squares, squares


def points(rows: int, rng: np.random.Generator, scale: float = 1.0) -> Points:
    """Two columns of numbers, one of them with gaps, a column of a few values and one of many."""
    numbers = rng.normal(size=(rows, 2)) * np.array([scale, 10 * scale])
    numbers[rng.random(rows) < 0.2, 1] = np.nan
    values = np.column_stack([rng.integers(0, 4, rows), rng.integers(0, 200, rows)])
    return Points(numbers, values.astype(np.int32))


def plain(one: Points, other: Points, reference: Points) -> np.ndarray:
    """The squared distances, by loops."""
    mean, spread = np.nanmean(reference.numbers, axis=0), np.nanstd(reference.numbers, axis=0)
    out = np.zeros((one.rows, other.rows))
    for i in range(one.rows):
        for j in range(other.rows):
            for column in range(2):
                ends = [p.numbers[k, column] for p, k in ((one, i), (other, j))]
                at = [0.0 if np.isnan(end) else (end - mean[column]) / spread[column] for end in ends]
                out[i, j] += (at[0] - at[1]) ** 2 + (np.isnan(ends[0]) != np.isnan(ends[1]))
            out[i, j] += (one.values[i] != other.values[j]).sum()
    return out


def test_distances_of_mixed_columns() -> None:
    rng = np.random.default_rng(7)
    reference, made, people = (points(rows, rng) for rows in (150, 120, 9))
    encoding = Encoding.of(reference, made)
    assert encoding.columns == 4
    assert encoding.narrow.tolist() == [True, False]
    some, others = encoding.axes(people), encoding.axes(made)
    expected = plain(people, made, reference)
    assert squares(some, others) == pytest.approx(expected)
    nearest = np.argsort(expected, axis=1)[:, :3]
    assert exact_squares(some, others, nearest) == pytest.approx(np.sort(expected, axis=1)[:, :3])
    assert near(some, others, 3).square == pytest.approx(np.sort(expected, axis=1)[:, :3])
    sums = near(some, others, 1, (0.7,)).kernels[:, 0]
    assert sums == pytest.approx(np.log(np.exp(-expected / (2 * 0.7**2)).sum(axis=1)))


def test_scales_are_those_of_the_reference() -> None:
    rng = np.random.default_rng(8)
    reference, made = points(100, rng), points(80, rng, scale=50.0)
    encoding = Encoding.of(reference, made)
    assert encoding.scale == pytest.approx(np.nanstd(reference.numbers, axis=0))
    constant = Points(np.zeros((100, 2)), reference.values)
    assert Encoding.of(constant, made).scale == pytest.approx(np.nanstd(made.numbers, axis=0))
    assert Encoding.of(reference, made, raw=True).scale.tolist() == [1.0, 1.0]


def test_a_copy_is_at_no_distance() -> None:
    rng = np.random.default_rng(9)
    made = points(60, rng)
    made = Points(made.numbers * 1e6 + 1e9, made.values)  # where a product of matrices is far from exact
    axes = Encoding.of(made, made, raw=True).axes(made)
    assert near(axes, axes, 1).square[:, 0].tolist() == [0.0] * 60
