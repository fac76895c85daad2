"""Intervals: reference values, hand-worked curves, and agreement with counting pair by pair."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.measure.intervals import (
    Interval,
    auc,
    best_advantage,
    difference,
    excess,
    quantile_interval,
    roc,
    tpr_at_fpr,
    wilson,
)
from auditor.model.arrays import Floats

few_scores = st.lists(st.integers(0, 6), min_size=1, max_size=30).map(lambda s: np.array(s, dtype=np.float64))


def around(value: float, half: float) -> Interval:
    return Interval(value - half, value + half)


# design/reference-values.md, Wilson interval, 95 %
@pytest.mark.parametrize(("successes", "centre", "half"), [(23, 0.23998824, 0.08155559), (11, 0.12442746, 0.06188550)])
def test_wilson_reference(successes: int, centre: float, half: float) -> None:
    found = wilson(successes, 100)
    assert found.centre == pytest.approx(centre, abs=5e-9)
    assert (found.high - found.low) / 2 == pytest.approx(half, abs=5e-9)


def test_wilson_knows_nothing_without_trials() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_ends_are_exact() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.5, 0.999))
def test_wilson_solves_its_equation(n: int, rate: float, confidence: float) -> None:
    """Wilson's ends are the rates p at which the observed rate is just z standard errors away."""
    low, high = wilson(rate * n, n, confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for end in (low, high):
        if 0 < end < 1:
            assert (rate - end) ** 2 == pytest.approx(z * z * end * (1 - end) / n, abs=1e-9)
    other_low, other_high = wilson((1 - rate) * n, n, confidence)
    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-9)


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 4)])
def test_wilson_refuses_what_cannot_be(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes must be"):
        wilson(successes, n)


def test_confidence_must_be_a_share() -> None:
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, confidence=95)


def test_excess_reference() -> None:
    # (.9 - .85)/.15 = 1/3; sqrt((.02/.15)² + (.1/.15² · .02)²) = sqrt(.017778 + .007901) = .16025
    found = excess(0.9, around(0.9, 0.02), 0.85, around(0.85, 0.02))
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert (found.high - found.low) / 2 == pytest.approx(0.160, abs=5e-4)
    assert found.interval.centre == pytest.approx(1 / 3)


def test_excess_has_no_meaning_where_the_control_is_always_right() -> None:
    assert excess(1.0, Interval(0.9, 1.0), 1.0, Interval(0.9, 1.0)) is None


def test_excess_may_be_negative_and_stays_below_one() -> None:
    worse = excess(0.2, wilson(20, 100), 0.5, wilson(50, 100))
    assert worse is not None
    assert worse.value == pytest.approx(-0.6)
    assert worse.low < -0.6 < worse.high
    sure = excess(1.0, wilson(100, 100), 0.5, wilson(50, 100))
    assert sure is not None
    assert sure.value == sure.high == 1.0


def test_difference_newcombe() -> None:
    # Newcombe 1998, table II, example (a), method 10: 56/70 - 48/80 = .2, interval .0524 to .3339
    found = difference(56 / 70, wilson(56, 70), 48 / 80, wilson(48, 80))
    assert found.value == pytest.approx(0.2)
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_auc_by_hand() -> None:
    # in 3 2 2, out 2 1: pairs 3>2 3>1 2=2 2>1 2=2 2>1 → (1 + 1 + ½ + 1 + ½ + 1)/6 = 5/6
    found = auc(np.array([3.0, 2, 2]), np.array([2.0, 1]))
    assert found is not None
    assert found.value == pytest.approx(5 / 6)
    # DeLong: placements of the members 1, ¾, ¾ (variance 1/48), of the outsiders ⅔, 1 (variance 1/18)
    # → 1/48/3 + 1/18/2 = .034722, half-width 1.959964 · .186339 = .365218
    assert found.low == pytest.approx(5 / 6 - 0.365218, abs=1e-6)
    assert found.high == 1.0


def test_auc_of_separated_scores_is_not_a_point() -> None:
    found = auc(np.arange(10.0, 20), np.arange(5.0))
    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(wilson(5, 5).low)
    tied = auc(np.ones(4), np.ones(9))
    assert tied is not None
    assert tied.value == 0.5
    assert tied.low < 0.5 < tied.high


def test_auc_needs_both_groups() -> None:
    assert auc(np.array([]), np.array([1.0])) is None
    assert auc(np.array([1.0]), np.array([])) is None


def test_scores_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="Scores must be numbers"):
        auc(np.array([np.nan]), np.array([1.0]))


@given(few_scores, few_scores)
def test_auc_equals_counting_pairs(inside: Floats, outside: Floats) -> None:
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in inside for b in outside]
    found = auc(inside, outside)
    assert found is not None
    assert found.value == pytest.approx(np.mean(pairs))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_auc_interval_covers() -> None:
    """Members N(1, 1), outsiders N(0, 1): the true area is Φ(1/√2) = .7602; 95 % of intervals hold it."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        found = auc(rng.normal(1, 1, 60), rng.normal(0, 1, 40))
        assert found is not None
        held += found.low <= 0.7602 <= found.high
    assert 0.91 <= held / 400 <= 0.98


def test_roc_by_hand() -> None:
    # thresholds 3, 2, 1: in 3 2 2 → 1/3, 1, 1; out 2 1 → 0, 1/2, 1
    fpr, tpr = roc(np.array([3.0, 2, 2]), np.array([2.0, 1]))
    assert fpr.tolist() == [0, 0, 0.5, 1]
    assert tpr.tolist() == pytest.approx([0, 1 / 3, 1, 1])
    assert best_advantage(fpr, tpr) == pytest.approx(0.5)
    assert tpr_at_fpr(fpr, tpr, 0.49) == pytest.approx(1 / 3)  # not interpolated towards (.5, 1)
    assert tpr_at_fpr(fpr, tpr, 0.5) == 1.0
    assert tpr_at_fpr(fpr, tpr, 0.0) == pytest.approx(1 / 3)


def test_a_constant_score_has_no_advantage() -> None:
    fpr, tpr = roc(np.ones(5), np.ones(3))
    assert (fpr.tolist(), tpr.tolist()) == ([0, 1], [0, 1])
    assert best_advantage(fpr, tpr) == 0.0
    assert tpr_at_fpr(fpr, tpr, 0.01) == 0.0


def test_a_level_is_met_in_spite_of_rounding() -> None:
    fpr, tpr = roc(np.array([5.0, 5]), np.array([5.0, *range(-9, 0)]))
    assert tpr_at_fpr(fpr, tpr, 1 - 0.9) == 1.0  # 1 - .9 is a little below .1


def test_roc_needs_both_groups() -> None:
    with pytest.raises(ValueError, match="members and of outsiders"):
        roc(np.array([]), np.array([1.0]))


@given(few_scores, few_scores)
def test_roc_equals_thresholding(inside: Floats, outside: Floats) -> None:
    fpr, tpr = roc(inside, outside)
    expected = [(0.0, 0.0)]
    for threshold in sorted({*inside.tolist(), *outside.tolist()}, reverse=True):
        expected.append((float((outside >= threshold).mean()), float((inside >= threshold).mean())))
    assert np.column_stack([fpr, tpr]) == pytest.approx(np.array(expected))
    assert (fpr[-1], tpr[-1]) == (1, 1)
    found = auc(inside, outside)
    assert found is not None
    assert np.trapezoid(tpr, fpr) == pytest.approx(found.value)


def test_quantile_interval_by_hand() -> None:
    # n = 10, median: P(binomial(10, ½) <= 1) = 11/1024 <= 2.5 % < P(<= 2), so the ends are the 2nd and the 9th value
    found = quantile_interval(np.arange(1.0, 11), 0.5)
    assert found == (5.5, 2.0, 9.0)


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=60), st.sampled_from([0.5, 0.9]))
def test_quantile_interval_holds_the_quantile(values: list[float], level: float) -> None:
    value, low, high = quantile_interval(np.array(values), level)
    assert min(values) <= low <= value <= high <= max(values)


def test_quantile_interval_needs_values() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        quantile_interval(np.array([]), 0.5)
