"""What the rounding of an average leaves open to somebody who knows all others: by hand, and by trying every value."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from auditor.measure.informed import are_averages, rounding_leaves
from auditor.model.arrays import Floats

ONE_CLASS = np.zeros(3, dtype=np.int64)


def leaves(numbers: list[float], published: float, off: float, domain: Floats, share: Floats) -> list[float]:
    return rounding_leaves(np.array(numbers), ONE_CLASS, np.full(3, published), off, domain, share).tolist()


def test_by_hand() -> None:
    # 1 + 2 + 6 = 9: the average is 3. Published as 3 with an error of up to 0.5, the sum is known within 1.5, so that whoever
    # knows 2 and 6 is left with 1 and 2 (no 0 is there); who knows 1 and 6, with 1, 2 and 3; who knows 1 and 2, with 5 and 6.
    domain, share = np.arange(1.0, 7.0), np.array([0.3, 0.3, 0.1, 0.1, 0.1, 0.1])
    assert leaves([1, 2, 6], 3.0, 0.5, domain, share) == pytest.approx([0.5, 0.3 / 0.7, 0.5])
    assert leaves([1, 2, 6], 3.0, 0.05, domain, share) == pytest.approx([1.0, 1.0, 1.0])


def test_averages_are_told_from_other_numbers() -> None:
    group, numbers = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 5.0, 8.0])
    assert are_averages(numbers, group, np.array([1.5, 1.5, 6.5, 6.5]), 0.0)
    assert are_averages(numbers, group, np.array([2.0, 2.0, 6.0, 6.0]), 0.5)
    assert not are_averages(numbers, group, np.array([1.5, 1.5, 6.9, 6.9]), 0.05)


@pytest.mark.parametrize(("fourth", "digits"), [(4.0, 0), (4.0, 1), (4.5, 0)])
def test_no_guess_does_better_by_trying_every_value(fourth: float, digits: int) -> None:
    """The average is taken again with every value in the person's place: the best guess is the likeliest value of those that
    give the same. Where no average is halfway between two that can be written, it is all that the bound allows."""
    domain = np.array([1.0, 2.0, 3.0, fourth, 5.0, 7.0, 8.0])
    share = np.random.default_rng(3).dirichlet(np.ones(len(domain)))
    surest = 1.0
    for others in product(domain, repeat=2):
        averages = np.array([round((value + sum(others)) / 3, digits) for value in domain])
        for value, average in zip(domain, averages, strict=True):
            alike = averages == average
            best = float(share[alike].max() / share[alike].sum())
            told = leaves([float(value), *others], float(average), 0.5 * 10.0**-digits, domain, share)[0]
            assert told >= best - 1e-9
            assert told == pytest.approx(best) or fourth == 4.5
            surest = min(surest, told)
    assert surest == pytest.approx(1.0) if digits else surest < 0.9
