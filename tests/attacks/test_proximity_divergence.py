"""Attacks on tables worked by hand: proximity and divergence, which know near from far.

Six people in two buckets, told apart by zip, so that every kind of release says the same of them:

    zip     a   a   a   a   b   b
    income  10  20  20  50  30  90
"""

from __future__ import annotations

import numpy as np
import pytest

from attacks.base import NotApplicable, View
from attacks.divergence import Divergence, Reading
from attacks.proximity import Proximity, best_windows
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Figure, Truth
from auditor.model.errors import UsageError
from auditor.posterior.beliefs import ValueBeliefs
from auditor.posterior.links import Link
from tests.support.tables import COVERING, World, beliefs_of, by_hand, figures

INCOME = ["10", "20", "20", "50", "30", "90"]
ZIP = ["a"] * 4 + ["b"] * 2
PAY = {"zip": {"role": "quasi"}, "income": {"role": "sensitive", "type": "numeric"}}
BLOCKS = {"generalised": None, "bucketized": [["zip"], ["income"]], "sliced": [["income", "zip"], ["sex"]]}


def pay(kind: str = "generalised", income: list[str] = INCOME) -> World:
    columns, rows = dict(PAY), {"zip": ZIP, "income": income}
    if kind == "sliced":
        columns, rows = {**PAY, "sex": {"role": "quasi"}}, {**rows, "sex": ["f"] * 6}
    return by_hand(columns, rows, None, BLOCKS[kind], [0] * 4 + [1] * 2)


def each(figure: Figure) -> list[float]:
    assert figure.each is not None
    return [round(value, 12) for value in figure.each.tolist()]


# ----- proximity -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(BLOCKS))
@pytest.mark.parametrize("link", COVERING)
def test_proximity(kind: str, link: Link) -> None:
    # within ±10 of 10: 10, 20, 20 of four; of 20: the same; of 50: itself; of 30 and 90: themselves, of two.
    # Windows of width 10: [10, 20] holds 3/4 of the first class; in the second 30 and 90 tie with 1/2, each right half
    # the time. (ε,m): at most 3/4 of a class lies within ±10 of a member, so m = 4/3. Exact: 1/4, 1/2, 1/2, 1/4, 1/2, 1/2.
    found = figures(Proximity(epsilon=10), pay(kind), link, "income")
    assert each(found["mean"]) == [0.75, 0.75, 0.75, 0.25, 0.5, 0.5]
    assert found["max"].value == pytest.approx(0.75)
    assert found["mean"].value == pytest.approx(3.5 / 6)
    assert found["mean"].detail["exact"] == pytest.approx(2.5 / 6)
    assert found["above"].value == 3
    assert each(found["window"]) == [0.75] * 4 + [0.5] * 2
    assert each(found["success"]) == [1, 1, 1, 0, 0.5, 0.5]
    assert found["success"].expected == pytest.approx(4 / 6)
    assert found["m"].value == pytest.approx(4 / 3)
    # expected: Σ_s p(s) · mass(s ± 10) = 3/4 · 3/4 + 1/4 · 1/4 = 10/16 in the first class, 1/2 in the second: as found
    assert found["mean"].expected == pytest.approx((4 * 10 / 16 + 2 / 2) / 6)


def test_proximity_of_the_exact_value() -> None:
    # the window of width 0 with the most mass is 20 in the first class; 30 and 90 tie in the second. m = 1/(2/4)
    found = figures(Proximity(epsilon=0), pay(), Link.CONTAINMENT, "income")
    assert each(found["mean"]) == [0.25, 0.5, 0.5, 0.25, 0.5, 0.5]
    assert each(found["success"]) == [0, 1, 1, 0, 0.5, 0.5]
    assert found["m"].value == pytest.approx(2)


def test_proximity_relative_to_the_true_value() -> None:
    # ±50 %: of 10 [5, 15]; of 20 [10, 30]; of 50 [25, 75]; of 30 [15, 45]; of 90 [45, 135]
    found = figures(Proximity(epsilon=0.5, relative=True), pay(), Link.CONTAINMENT, "income")
    assert each(found["mean"]) == [0.25, 0.75, 0.75, 0.25, 0.5, 0.5]
    assert "m" not in found


def test_proximity_of_tenths_does_not_hang_on_float_noise() -> None:
    # 0.1 + 0.2 > 0.3 in floats, and 0.8 - 0.1 < 0.7: both ends of ±0.2 and ±0.1 count all the same
    found = figures(
        Proximity(epsilon=0.2), pay(income=["0.1", "0.3", "0.5", "9", "0.7", "0.8"]), Link.CONTAINMENT, "income"
    )
    assert each(found["mean"]) == [0.5, 0.75, 0.5, 0.25, 1, 1]


def test_a_missing_number_lies_in_no_window() -> None:
    # one of the four has no income: 1/4 of the mass is nowhere, and that person is not attacked
    world = pay(income=["10", "20", "20", "", "30", "90"])
    found = figures(Proximity(epsilon=10), world, Link.CONTAINMENT, "income")
    assert found["mean"].n == 5
    assert each(found["mean"]) == [0.75, 0.75, 0.75, 0.5, 0.5]
    assert found["m"].value == 1  # all three numbers of the first class lie within 10 of 20


def test_where_everybody_has_no_number_there_is_no_window() -> None:
    world = pay(income=["", "", "", "", "30", "90"])
    found = figures(Proximity(epsilon=10), world, Link.CONTAINMENT, "income")
    assert each(found["window"]) == [0.5, 0.5]  # nobody without a number is asked about
    assert found["success"].n == 2


def test_windows_tie() -> None:
    # masses 1/4 at 0, 1/4 at 3, 1/2 at 9: of width 3 [0, 3] and [9, 12] hold 1/2 each; of width 1 only [9, 10]
    beliefs = beliefs_of(pay(income=["0", "3", "9", "9", "0", "3"]), Link.CONTAINMENT).values("income")
    start, row, mass = best_windows(beliefs, np.array([0.0, 3.0, 9.0]), 3.0)
    first = row == beliefs.row_of[0]
    assert start[first].tolist() == [0, 9]
    assert mass[beliefs.row_of[0]] == 0.5
    start, row, _ = best_windows(beliefs, np.array([0.0, 3.0, 9.0]), 1.0)
    assert start[row == beliefs.row_of[0]].tolist() == [9]


def test_the_mass_between_codes() -> None:
    beliefs = beliefs_of(pay(), Link.CONTAINMENT).values("income")  # codes: 10, 20, 30, 50, 90
    row = beliefs.row_of[[0, 0, 0, 4, 4, 4]]
    first, last = np.array([0, 1, 4, 0, 2, 3]), np.array([2, 5, 5, 2, 5, 3])
    assert beliefs.between(row, first, last).tolist() == [0.75, 0.75, 0, 0, 1, 0]
    assert isinstance(beliefs, ValueBeliefs)


def test_settings_are_checked() -> None:
    for settings in ({"epsilon": -1.0}, {"width": -1.0}):
        with pytest.raises(UsageError):
            Proximity(**settings)
    with pytest.raises(UsageError):
        Divergence(level=-1)


# ----- divergence ----------------------------------------------------------------------------------------------------

ILLNESS = {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]}
ILL = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive", "taxonomy": ILLNESS}}


def ill(kind: str = "generalised") -> World:
    blocks = None if kind == "generalised" else [["zip"], ["ill"]]
    return by_hand(ILL, {"zip": ["a"] * 4, "ill": ["flu", "flu", "asthma", "ulcer"]}, None, blocks, [0] * 4)


@pytest.mark.parametrize("kind", ["generalised", "bucketized"])
@pytest.mark.parametrize("link", COVERING)
def test_divergence_by_frequency(kind: str, link: Link) -> None:
    # beliefs flu 1/2, asthma 1/4, ulcer 1/4. To the first three 1/4 is unrelated (ulcer), to the fourth 3/4 (lung).
    # The top belief, flu, is unrelated to the fourth only.
    found = figures(Divergence(reading=Reading.FREQUENCY), ill(kind), link, "ill")
    assert each(found["mean"]) == [0.25, 0.25, 0.25, 0.75]
    assert found["mean"].value == found["mean"].expected == pytest.approx(1.5 / 4)
    assert found["above"].value == 1
    assert each(found["top"]) == [0, 0, 0, 1]
    assert found["top"].expected == pytest.approx(1 / 4)


def test_divergence_by_distinct_values() -> None:
    # three values alike: 1/3 of them is unrelated to the first three, 2/3 to the fourth; all three tie for the top
    found = figures(Divergence(reading=Reading.DISTINCT), ill(), Link.CONTAINMENT, "ill")
    np.testing.assert_allclose(found["mean"].each, [1 / 3, 1 / 3, 1 / 3, 2 / 3])
    np.testing.assert_allclose(found["top"].each, [1 / 3, 1 / 3, 1 / 3, 2 / 3])
    assert found["mean"].expected is None


def test_divergence_at_a_lower_level() -> None:
    # level 1: values under different groups of depth 2 are unrelated, here all different ones: flu 1/2, 1/2, asthma 3/4,
    # ulcer 3/4. Level 2 would be below the leaves.
    world = ill()
    found = figures(Divergence(level=1, reading=Reading.FREQUENCY), world, Link.CONTAINMENT, "ill")
    assert each(found["mean"]) == [0.5, 0.5, 0.75, 0.75]
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "ill")
    assert isinstance(Divergence(level=2).run(view, np.random.default_rng(0)), NotApplicable)


def test_both_readings_unless_one_is_asked_for() -> None:
    world = ill()
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "ill")
    claims = Divergence().run(view, np.random.default_rng(0))
    codes = world.table.codes["ill"].astype(np.int64)
    found = score(claims, Truth(np.arange(4), world.bucket, world.fragment, codes))
    assert [figure.params["reading"] for figure in found] == ["frequency"] * 3 + ["distinct"] * 3


def test_a_missing_value_is_unrelated_to_all() -> None:
    # beliefs flu 1/2, missing 1/2: to flu the missing half is unrelated, to missing the flu half
    world = by_hand(ILL, {"zip": ["a"] * 2, "ill": ["flu", ""]})
    found = figures(Divergence(reading=Reading.FREQUENCY), world, Link.CONTAINMENT, "ill")
    assert each(found["mean"]) == [0.5, 0.5]
