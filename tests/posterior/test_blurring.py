"""Numbers that nobody has: by hand, as sure as they are right, and the same whatever the original holds besides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditor.model.arrays import Floats
from auditor.posterior.beliefs import meaning
from tests.support.tables import World, by_hand

COLUMNS: dict[str, dict[str, Any]] = {
    "town": {"role": "quasi"},
    "income": {"role": "sensitive", "type": "numeric"},
}


def world_of(true: list[float], published: list[float]) -> World:
    texts = [f"{number:g}" for number in true]
    rows = {"town": ["a"] * len(true), "income": texts}
    return by_hand(COLUMNS, rows, {"income": [f"{number:.6f}" for number in published]})


def beliefs(world: World, prior: Floats) -> tuple[Floats, Floats]:
    """What the published numbers are, in order, and what is believed of each."""
    labels = world.release.labels["income"]
    used = np.flatnonzero(world.release.label_counts("income"))
    used = used[np.argsort(labels.low[used])]
    return labels.low[used], meaning(world.release, "income", prior).toarray()[used]


def test_noise_by_hand() -> None:
    # True: 10, 10, 20, 30, of variance 68.75 (mean 17.5). Published: 4.5, 14.5, 21, 41.5 of mean 20.375 and variance
    # 183.421875. So the errors have variance 114.671875, a deviation of 10.7085; the numbers are 37/3 = 12.33 apart, which is
    # more. At 14.5 the value 10 counts 2 exp(-(4.5/12.33)²/2), 20 counts exp(-(5.5/12.33)²/2), 30 exp(-(15.5/12.33)²/2).
    world = world_of([10, 10, 20, 30], [4.5, 14.5, 21, 41.5])
    numbers, found = beliefs(world, np.array([0.5, 0.25, 0.25]))
    width = 37 / 3
    parts = np.array([2, 1, 1]) * np.exp(-(((np.array([10, 20, 30]) - 14.5) / width) ** 2) / 2)
    np.testing.assert_allclose(found[list(numbers).index(14.5)], parts / parts.sum())


def test_averages_by_hand() -> None:
    # Means 15 and 25 of (10, 20) and (20, 30): the variance falls from 50 to 25. So a mean has a deviation of 5, and its
    # numbers are 10 apart.
    world = world_of([10, 20, 20, 30], [15, 15, 25, 25])
    numbers, found = beliefs(world, np.array([0.25, 0.5, 0.25]))
    parts = np.array([1, 2, 1]) * np.exp(-(((np.array([10, 20, 30]) - 15) / 10) ** 2) / 2)
    np.testing.assert_allclose(found[0], parts / parts.sum())
    assert list(numbers) == [15, 25]


@pytest.mark.parametrize("noise", [100.0, 1000.0, 5000.0])
def test_noised_incomes_are_believed_as_often_as_they_are_true(noise: float) -> None:
    """Twelve hundred incomes, hundreds apart. Whoever took the nearest true income to be the person's was certain of all."""
    rng = np.random.default_rng(5)
    true = rng.choice(np.arange(10_000, 90_000, 200), 1200).astype(float)
    published = true + rng.normal(0, noise, len(true)) + 0.123
    world = world_of(true.tolist(), published.tolist())
    domain = world.release.labels["income"].domain.numbers
    assert domain is not None
    code = np.searchsorted(domain, true)
    prior = np.bincount(code, minlength=len(domain)) / len(code)
    numbers, found = beliefs(world, prior)
    order = np.argsort(np.round(published, 6))
    assert len(numbers) == len(order)
    right, expected = float((found.argmax(axis=1) == code[order]).mean()), float(found.max(axis=1).mean())
    assert expected == pytest.approx(right, abs=0.1)


def test_values_that_nobody_at_large_has_do_not_matter() -> None:
    """The original holds 14 and 22, too; shares at large do not: they are not believed, however near they are."""
    rows = {"town": ["a"] * 6, "income": ["10", "10", "20", "30", "14", "22"]}
    world = by_hand(COLUMNS, rows, {"income": ["4.5", "14.1", "21", "41.5", "14.1", "22.1"]})
    _, found = beliefs(world, np.array([0.5, 0, 0.25, 0, 0.25]))
    assert (found[:, [1, 3]] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
