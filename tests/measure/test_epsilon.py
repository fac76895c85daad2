"""Lower bounds on epsilon: worked by hand, against published figures, and by simulation."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import binom, norm

from auditor.measure.epsilon import (
    Rule,
    canary_p_value,
    choose_rule,
    gaussian_bound,
    gaussian_delta,
    guessed_at_most,
    lower_limit,
    one_run,
    run_bound,
    two_worlds,
    upper_limit,
)
from auditor.measure.epsilon_score import learned_bound, parts
from tests.support.telling import Tell

ABOVE = Rule(1.0, above=True, swapped=False)


def scores(hits: int, n: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [hits, n - hits])


def test_limits_hold_the_rate_with_the_error_that_is_allowed() -> None:
    # ten hits of ten: low solves low^10 = 0.025; none of ten: high solves (1 - high)^10 = 0.025
    assert float(lower_limit(10, 10, 0.025)) == pytest.approx(0.025 ** (1 / 10))
    assert float(upper_limit(0, 10, 0.025)) == pytest.approx(1 - 0.025 ** (1 / 10))
    assert float(lower_limit(0, 10, 0.025)) == 0
    assert float(upper_limit(10, 10, 0.025)) == 1
    low = lower_limit(np.array([3, 40]), 100, 0.025)
    assert binom.sf([2, 39], 100, low) == pytest.approx(0.025)


def test_two_worlds_worked_by_hand() -> None:
    # with the person 10 of 10 runs reach the threshold, without none of 10
    found = two_worlds(scores(10, 10), scores(0, 10), ABOVE)
    low, high = 0.025**0.1, 1 - 0.025**0.1  # 0.691503, 0.308497
    assert found.epsilon == pytest.approx(log(low / high), abs=1e-9) == pytest.approx(0.80720, abs=1e-4)
    assert found.estimate == inf
    # delta is taken off the world where the set is likelier
    assert two_worlds(scores(10, 10), scores(0, 10), ABOVE, delta=0.1).epsilon == pytest.approx(
        log((low - 0.1) / high), abs=1e-9
    )
    # 60 of 100 against 30 of 100: the plain estimate is ln 2, the bound is lower
    plain = two_worlds(scores(60, 100), scores(30, 100), ABOVE)
    assert plain.estimate == pytest.approx(log(2))
    assert 0 < plain.epsilon < log(2)
    assert two_worlds(scores(30, 100), scores(30, 100), ABOVE).epsilon == 0


def test_both_sides_and_both_directions_are_found() -> None:
    rng = np.random.default_rng(1)
    high, low = rng.normal(2, 1, 2_000), rng.normal(0, 1, 2_000)
    for inside, outside in ((high, low), (low, high), (-high, -low), (-low, -high)):
        found = two_worlds(inside, outside, choose_rule(inside, outside))
        assert found.epsilon > 2
    # a set that only the world without has: nothing but the swapped direction shows it
    inside, outside = np.zeros(1_000), np.repeat([0.0, 1.0], [800, 200])
    assert two_worlds(inside, outside, choose_rule(inside, outside)).epsilon > 3


def test_one_run_agrees_with_published_figures() -> None:
    # Steinke, Nasr and Jagielski 2023 as others computed it, 500 canaries, delta 1e-5
    assert run_bound(100, 100, 500, 1e-5).epsilon == pytest.approx(3.47919539, abs=1e-7)
    assert run_bound(100, 100, 500, 1e-5, 0.99).epsilon == pytest.approx(3.02319755, abs=1e-7)
    assert run_bound(60, 100, 500, 1e-5).epsilon == pytest.approx(0.05073561, abs=1e-7)


def test_one_run_worked_by_hand() -> None:
    # all 20 guesses right: q^20 = 0.05, so that epsilon is the log odds of 0.05^(1/20)
    q = 0.05 ** (1 / 20)
    assert run_bound(20, 20, 20).epsilon == pytest.approx(log(q / (1 - q)), abs=1e-9)
    assert canary_p_value(20, 20, 20, log(q / (1 - q))) == pytest.approx(0.05)
    # delta: 2 of 2 right at even odds: P = 1/4; P(2 > X >= 1)/1 = 1/2, P(2 > X >= 0)/2 = 3/8; 2 m delta = 0.4
    assert canary_p_value(2, 2, 2, 0.0, 0.1) == pytest.approx(1 / 4 + 2 * 2 * 0.1 * 1 / 2)
    assert canary_p_value(0, 2, 2, 0.0, 0.1) == 1
    assert run_bound(10, 20, 20).epsilon == 0
    # four canaries, two guesses: the highest is in, the lowest is out
    found = one_run(np.array([0.1, 0.9, 0.5, 0.2]), np.array([False, True, True, False]), 2)
    assert (found.right, found.guesses, found.canaries) == (2, 2, 4)
    with pytest.raises(ValueError, match="1 to 4 guesses"):
        one_run(np.zeros(4), np.zeros(4, dtype=bool), 5)


def test_gaussian_bound_is_larger_and_needs_a_delta() -> None:
    # mu = 1: delta(1) = Phi(-1/2) - e Phi(-3/2)
    assert gaussian_delta(1, 1) == pytest.approx(norm.cdf(-0.5) - exp(1) * norm.cdf(-1.5))
    rng = np.random.default_rng(2)
    inside, outside = rng.normal(1, 1, 40_000), rng.normal(0, 1, 40_000)
    plain = two_worlds(inside, outside, choose_rule(inside[:100], outside[:100], 1e-3), 1e-3)
    true = 3.4  # delta(3.4) at mu = 1 is below 1e-3
    assert gaussian_delta(1, true) < 1e-3
    assert plain.epsilon < gaussian_bound(plain, 1e-3) < true
    with pytest.raises(ValueError, match="delta between 0 and 1"):
        gaussian_bound(plain, 0)


def test_epsilon_in_words() -> None:
    assert guessed_at_most(0) == 0.5
    assert guessed_at_most(1) == pytest.approx(0.7311, abs=1e-4)
    assert guessed_at_most(2_000) == 1


def test_scores_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="must be numbers"):
        choose_rule(np.array([np.nan]), np.zeros(3))
    with pytest.raises(ValueError, match="at least 8 runs"):
        learned_bound(np.zeros((4, 1)), np.zeros((9, 1)))


def test_judges_see_no_run_that_others_saw() -> None:
    for runs in (8, 9, 1_001):
        used = np.concatenate([np.arange(runs)[part] for part in parts(runs)])
        assert sorted(used) == list(range(runs))


@pytest.mark.proof
def test_bounds_lie_above_the_truth_no_more_often_than_they_say(full: bool, tell: Tell) -> None:
    """Randomised response at epsilon 1 is told apart as well as epsilon 1 allows: the hardest case for a bound. One run: as
    many canaries as guesses, each answered by a coin of its own."""
    times, runs, true = (2_000 if full else 30), 400, 1.0
    rng = np.random.default_rng(3)
    right = rng.random((times, 2 * runs)) < guessed_at_most(true)
    coins = rng.random((times, 2 * runs)) < 0.5
    answers = np.where(np.arange(2 * runs) < runs, right, ~right).astype(float)
    above = {"two worlds": 0, "two worlds, learned": 0, "one run": 0}
    for number, answer in enumerate(answers):
        inside, outside = answer[:runs], answer[runs:]
        above["two worlds"] += two_worlds(inside, outside, ABOVE).epsilon > true
        above["two worlds, learned"] += (
            learned_bound(inside[:, None], outside[:, None]).epsilon > true if number < 200 else 0
        )
        answered = np.where(coins[number], right[number], ~right[number]).astype(float)
        above["one run"] += one_run(answered, coins[number], runs).epsilon > true
    for name, count in above.items():
        tried = min(times, 200) if "learned" in name else times
        tell("bounds above the true epsilon", bound=name, above=f"{count} of {tried}", allowed="5 %")
        assert count <= binom.isf(0.001, tried, 0.05), name
