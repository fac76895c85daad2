"""Differential privacy: noise by its distribution, budgets worked by hand, and the private choice."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import stats

from anonymizers.noisy_histogram import NoisyHistogram, threshold
from anonymizers.shared.differential import Budget, Noise, chosen, discrete_gaussian, discrete_laplace
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError, UsageError

DRAWS = 40_000


def unlikely(drawn: Ints, weight: Callable[[int], float]) -> float:
    """The p-value of Pearson's test that whole numbers have probabilities in proportion to a weight."""
    support = np.arange(-4000, 4001)
    chance = np.array([weight(int(x)) for x in support])
    chance /= chance.sum()
    expected = chance * len(drawn)
    usual = expected >= 10
    seen = np.bincount(drawn + 4000, minlength=8001)
    counts = [*seen[usual], seen[~usual].sum()]
    wanted = [*expected[usual], expected[~usual].sum()]
    kept = [(c, w) for c, w in zip(counts, wanted, strict=True) if w > 0]
    return float(stats.chisquare([c for c, _ in kept], [w for _, w in kept]).pvalue)


@pytest.mark.parametrize("scale", [0.5, 3.0, 42.0])
def test_laplace_noise_has_its_scale(scale: float) -> None:
    drawn = discrete_laplace(scale, DRAWS, np.random.default_rng(1))
    assert unlikely(drawn, lambda x: exp(-abs(x) / scale)) > 0.001
    assert unlikely(drawn, lambda x: exp(-abs(x) / (scale / 2))) < 1e-9  # a test that can fail: noise of half the scale


@pytest.mark.parametrize("variance", [0.25, 9.0, 1500.0])
def test_gaussian_noise_has_its_variance(variance: float) -> None:
    drawn = discrete_gaussian(variance, DRAWS, np.random.default_rng(1))
    assert unlikely(drawn, lambda x: exp(-(x**2) / (2 * variance))) > 0.001
    assert unlikely(drawn, lambda x: exp(-(x**2) / variance)) < 1e-9


def test_scales_are_rounded_to_more_noise() -> None:
    # 1/3 is no multiple of 1/1024: the next is 342/1024 = 0.33398.
    assert Budget(3.0).noise(1.0, 1) == Noise(scale=342 / 1024)


def test_a_choice_goes_by_its_scores() -> None:
    rng = np.random.default_rng(1)
    scores = [0, 3, 5, 0]
    seen = np.bincount([chosen(scores, 1.0, rng) for _ in range(600)], minlength=4)
    weight = np.exp(np.array(scores) / 2)
    assert stats.chisquare(seen, weight / weight.sum() * 600).pvalue > 0.001
    assert {chosen([0, 10**9], 1.0, rng) for _ in range(20)} == {1}  # nor does a far worse option take forever


def test_budget_worked_by_hand() -> None:
    # delta = e^-16 makes ln(1/delta) = 16. For epsilon = 9: rho = (√25 - √16)² = 1, and 1 + 2·√(1·16) = 9.
    budget = Budget(9.0, exp(-16))
    assert budget.rho == pytest.approx(1.0)
    assert budget.rho + 2 * sqrt(budget.rho * 16) == pytest.approx(9.0)
    # A third of rho for four histograms: each row changes four counts by 1, so L² = 4 and 4/(2σ²) = 1/3: σ² = 6.
    assert budget.noise(1 / 3, 4).variance == pytest.approx(6.0)
    # Three choices of ε each cost 3·ε²/8 = 1/3: ε = √(8/9).
    assert budget.rate(1 / 3, 3) == pytest.approx(sqrt(8 / 9))
    # Without delta: four histograms, together a third of ε = 3: each has 1/4, a scale of 4. Three choices have 1/3 each.
    pure = Budget(3.0)
    assert pure.noise(1 / 3, 4) == Noise(scale=4.0)
    assert pure.rate(1 / 3, 3) == pytest.approx(1 / 3)
    # Whoever may have two rows changes twice as much: L² is four times as large, the scale twice.
    assert budget.noise(1 / 3, 4, 2).variance == pytest.approx(24.0)
    assert pure.noise(1 / 3, 4, 2) == Noise(scale=8.0)
    assert pure.rate(1 / 3, 3, 2) == pytest.approx(1 / 6)


def test_threshold_worked_by_hand() -> None:
    # ε = ln 2: P(noise ≥ m) = (1/2)^m/(1 + 1/2). For δ = 1/100: m = 6 gives 1/96, m = 7 gives 1/192. So T = 1 + 7 = 8.
    assert threshold(1 / log(2), 0.01) == 8
    # With two rows a person: noise of twice the scale, P(noise ≥ m) = 2^(-m/2)/(1 + 2^(-1/2)) ≤ 0.005: m ≥ 13.7; T = 2 + 14.
    assert threshold(2 / log(2), 0.01, 2) == 16
    method = NoisyHistogram(epsilon=3.0, delta=1e-3)
    assert method.noise.scale is not None
    rate, beyond = 1 / method.noise.scale, method.threshold - 1
    assert exp(-rate * beyond) / (1 + exp(-rate)) <= 1e-3 < exp(-rate * (beyond - 1)) / (1 + exp(-rate))


def test_budgets_in_words_and_refused() -> None:
    assert str(Budget(1.0)) == "epsilon = 1"
    assert str(Budget(0.5, 1e-6)) == "epsilon = 0.5, delta = 1e-6"
    for epsilon, delta in ((0.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (1.0, -0.1)):
        with pytest.raises(UsageError, match="must be"):
            Budget(epsilon, delta)
    with pytest.raises(PromiseError, match="Raise epsilon"):
        Budget(1e-6).noise(1.0, 1).draw(1, np.random.default_rng(0))
