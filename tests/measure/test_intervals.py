"""Intervals: reference values, hand-worked curves, and agreement with counting pair by pair."""

from __future__ import annotations

from math import exp, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.measure.intervals import (
    Interval,
    advantage,
    auc,
    correlation,
    difference,
    excess,
    mean_of,
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
    # (.9 - .85)/.15 = 1/3. The value may be off by .02/.15 = .13333 of the excess. With a control of .87 this would be
    # .03/.13 = .23077, lower by .10256; with .83 it would be .07/.17 = .41176, higher by .07843.
    # sqrt(.017778 + .010519) = .16822, sqrt(.017778 + .006151) = .15469. (Anonymeter, by slopes, has .160 to either side.)
    found = excess(0.9, around(0.9, 0.02), 0.85, around(0.85, 0.02))
    assert found is not None
    assert found.value == pytest.approx(1 / 3)
    assert found.low == pytest.approx(1 / 3 - 0.16822, abs=1e-5)
    assert found.high == pytest.approx(1 / 3 + 0.15469, abs=1e-5)


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
    # → 1/48/3 + 1/18/2 = .034722, half-width 1.959964 · .186339 = .365218; in log odds over 5/6 · 1/6, 2.629570 about ln 5
    assert found.low == pytest.approx(1 / (1 + exp(2.629570) / 5), abs=1e-6)
    assert found.high == pytest.approx(1 / (1 + exp(-2.629570) / 5), abs=1e-6)


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
    fpr, tpr, thresholds = roc(np.array([3.0, 2, 2]), np.array([2.0, 1]))
    assert fpr.tolist() == [0, 0, 0.5, 1]
    assert tpr.tolist() == pytest.approx([0, 1 / 3, 1, 1])
    assert thresholds.tolist() == [np.inf, 3, 2, 1]


def recognised(inside: list[float], outside: list[float], level: float) -> float:
    found = tpr_at_fpr(np.array(inside), np.array(outside), level)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    return found.value


def test_members_recognised_at_a_level_by_hand() -> None:
    inside, outside = [3.0, 2, 2], [2.0, 1]
    assert recognised(inside, outside, 0.49) == pytest.approx(1 / 3)  # not interpolated towards (.5, 1)
    assert recognised(inside, outside, 0.5) == 1.0
    assert recognised(inside, outside, 0.0) == pytest.approx(1 / 3)
    assert recognised([5.0, 5], [5.0, *range(-9, 0)], 1 - 0.9) == 1.0  # 1 - .9 is a little below .1


def test_the_interval_of_members_recognised_knows_that_the_cut_off_is_an_estimate() -> None:
    # Of 200 outsiders one in a hundred are two. Of 200 draws 0 to 5 lie beyond the true cut-off with 95 %: it may be above
    # all of them, so that nothing is sure from below; and at the least above the sixth, at which 100 of 200 members are.
    outside, inside = np.arange(200.0), np.repeat([197.5, 194.5, 0.0], [40, 60, 100])
    found = tpr_at_fpr(inside, outside, 0.01)
    assert found is not None
    assert found.value == 40 / 200
    assert found.low == 0.0
    beyond = wilson(40, 200).high - 0.2
    assert found.high == pytest.approx(0.2 + np.hypot(beyond, 100 / 200 - 0.2))


def test_a_constant_score_has_no_advantage() -> None:
    found = advantage(np.ones(5), np.ones(3), np.random.default_rng(0))
    assert found is not None
    assert found.value == 0.0
    assert recognised([1.0] * 5, [1.0] * 3, 0.01) == 0.0


def test_groups_that_are_apart_have_all_the_advantage_in_any_order() -> None:
    inside, outside = np.arange(100.0, 110), np.arange(8.0)
    found = advantage(inside, outside, np.random.default_rng(0))
    assert found is not None
    assert found.value == pytest.approx(1.0)
    mixed = np.random.default_rng(3)
    scores = mixed.normal(0.5, 1, 40), mixed.normal(0, 1, 30)
    again = advantage(scores[0][::-1], np.sort(scores[1]), np.random.default_rng(0))
    assert again == advantage(*scores, np.random.default_rng(0))
    assert advantage(np.ones(1), np.ones(5), np.random.default_rng(0)) is None


def test_an_advantage_is_not_made_by_looking_for_it() -> None:
    # Without signal the best of all cut-offs has an advantage of 0.09 on average; one that was chosen on others has none.
    rng = np.random.default_rng(7)
    found = [advantage(rng.normal(size=150), rng.normal(size=150), rng) for _ in range(60)]
    assert abs(np.mean([one.value for one in found if one is not None])) < 0.02
    assert sum(one.low > 0 for one in found if one is not None) <= 5


def test_a_mean_of_rights_and_wrongs_has_wilsons_interval() -> None:
    assert mean_of(np.repeat([1.0, 0.0], [30, 70])) == pytest.approx(wilson(30, 100))
    assert mean_of(np.zeros(9)) == wilson(0, 9)
    assert mean_of(np.empty(0)) == (0.0, 1.0)


def test_a_mean_of_chances_is_surer_than_a_rate_and_never_a_point() -> None:
    wide, narrow = wilson(20, 100), mean_of(np.full(100, 0.2))
    assert wide.low < narrow.low < 0.2 < narrow.high < wide.high
    # the variance is p(1-p)/(n + 1): about the share 1/n of a rate's
    assert (narrow.high - narrow.low) / (wide.high - wide.low) == pytest.approx(sqrt(1 / 101), rel=0.05)


def test_the_excess_of_pairs_that_agree_is_sure() -> None:
    right = np.repeat([1.0, 0.0], [60, 40])
    before = np.repeat([1.0, 0.0], [50, 50])  # ten people more are found, and nobody is lost
    apart = excess(0.6, mean_of(right), 0.5, mean_of(before))
    paired = excess(0.6, mean_of(right), 0.5, mean_of(before), correlation(right, before))
    assert apart is not None
    assert paired is not None
    assert apart.value == paired.value == pytest.approx(0.2)
    assert apart.low < 0 < paired.low
    assert correlation(right, np.ones(100)) == 0.0
    assert correlation(right, right) < 1.0  # pairs that never differed may


def test_roc_needs_both_groups() -> None:
    with pytest.raises(ValueError, match="members and of outsiders"):
        roc(np.array([]), np.array([1.0]))


@given(few_scores, few_scores)
def test_roc_equals_thresholding(inside: Floats, outside: Floats) -> None:
    fpr, tpr, _ = roc(inside, outside)
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
