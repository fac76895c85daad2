"""Scoring: ties, thresholds, counts and companions, on claims made by hand."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from attacks.base import Attack
from attacks.claims import MemberClaims, RangeClaims, RecordClaims, UnrelatedClaims, ValueClaims, WindowClaims
from attacks.divergence import Divergence
from attacks.homogeneity import Homogeneity
from attacks.skewness import Skewness
from auditor.auditing.scoring.claims import _held, as_often, score
from auditor.auditing.scoring.figures import Figure, Truth, count, rate
from auditor.auditing.scoring.members import score_members
from auditor.auditing.scoring.rows import Attempt, Beside, completed
from auditor.measure.intervals import mean_of
from auditor.model.arrays import Bools, Floats, Ints
from auditor.posterior.beliefs import Beliefs, MemberBeliefs, RecordBeliefs, ValueBeliefs
from scenarios.adversaries import PROSECUTOR


def beliefs(rows: list[list[float]], row_of: list[int] | None = None) -> ValueBeliefs:
    places = range(len(rows)) if row_of is None else row_of
    return ValueBeliefs(sparse.csr_array(np.array(rows)), np.array(places, dtype=np.int64))


def truth(codes: list[int]) -> Truth:
    count = len(codes)
    return Truth(np.arange(count), np.zeros(count, np.int64), np.zeros((count, 1), np.int64), np.array(codes))


def by_measure(claims: object, true: Truth) -> dict[str, Figure]:
    return {figure.measure: figure for figure in score(claims, true)}


# ----- values --------------------------------------------------------------------------------------------------------


def test_a_guess_among_tied_values_counts_its_share() -> None:
    # truths: one of two tied; not among the tied; one of three tied, but for float noise; the top alone
    third = 1 / 3
    rows = [[0.5, 0.5, 0], [0.5, 0.5, 0], [third, third + 1e-16, 1 - 2 * third], [0.1, 0.2, 0.7]]
    found = by_measure(ValueClaims(beliefs(rows), 0.5), truth([0, 2, 0, 2]))
    np.testing.assert_allclose(found["success"].each, [1 / 2, 0, 1 / 3, 1])
    assert found["success"].value == pytest.approx(11 / 6 / 4)
    assert found["success"].n == 4
    assert found["success"].expected == pytest.approx((0.5 + 0.5 + 1 / 3 + 0.7) / 4)
    assert found["success"].interval == pytest.approx(mean_of(np.array([1 / 2, 0, 1 / 3, 1])))


@pytest.mark.parametrize("half", [0.5, 1 / 3 + 1 / 6, sum([0.1] * 5), 0.5 + 1e-12])
def test_thresholds_are_strict_beyond_float_noise(half: float) -> None:
    found = by_measure(ValueClaims(beliefs([[half, 1 - half], [0.51, 0.49]]), 0.5), truth([0, 0]))
    assert found["above"].each.tolist() == [0, 1]
    assert found["above"].value == 1
    assert found["above"].kind == "count"


def test_certain_is_certain_but_for_float_noise() -> None:
    rows = [[1.0, 0], [sum([0.1] * 10), 0], [0.999999, 0.000001], [0.5, 0.5]]
    assert by_measure(ValueClaims(beliefs(rows), 0.5), truth([0] * 4))["certain"].each.tolist() == [1, 1, 0, 0]


def test_of_claims_those_that_are_true_are_counted_apart() -> None:
    # certain: right, wrong, right; likely: right; tied between two, of which one is true
    rows = [[1, 0], [1, 0], [0, 1], [0.8, 0.2], [0.5, 0.5]]
    claims = ValueClaims(beliefs(rows), 0.4)
    found = by_measure(claims, truth([0, 1, 1, 0, 0]))
    assert (found["certain"].value, found["certain_right"].value) == (3, 2)
    assert (found["above"].value, found["above_right"].value) == (5, 3.5)
    assert found["certain"].detail["wrong"] == 1
    # noise is published of the first: that the nearest value is theirs is luck, which is neither true nor wrong
    lucky = by_measure(claims, replace(truth([0, 1, 1, 0, 0]), shown=np.array([False, True, True, True, True])))
    assert (lucky["certain"].value, lucky["certain_right"].value, lucky["certain"].detail["wrong"]) == (3, 1, 1)
    assert lucky["above_right"].value == 2.5


def test_who_is_left_out_of_a_class_of_one_value_is_no_control_for_it() -> None:
    # Ten people in classes of one value. Left out, all of them see it and have it; and so do ten others, who differ from all
    # the rest of their class, and have another. Of those who are in no class as many would be certain as of the people in
    # one, ten, of whom half are right.
    people = score(ValueClaims(beliefs([[1, 0]] * 10 + [[0.8, 0.2]] * 10), 0.9), truth([0] * 10 + [1] * 10))
    left_out = score(ValueClaims(beliefs([[1, 0]] * 20), 0.9), truth([0] * 10 + [1] * 10))
    found = {figure.measure: figure.value for figure in as_often(left_out, people)}
    assert (found["certain"], found["certain_right"], found["above_right"]) == (20, 5, 5)
    assert found["success"] == 0.5
    nobody = score(ValueClaims(beliefs([[0.5, 0.5]] * 20), 0.9), truth([0] * 20))
    assert [f.value for f in as_often(nobody, people)] == [f.value for f in nobody]


def test_a_count_has_an_excess_too() -> None:
    # 30 of 100 against 10 of 100: (0.3 - 0.1)/0.9
    figure, control = count("certain_right", rights(30, 100)), count("certain_right", rights(10, 100))
    made = completed(Attempt(Homogeneity(), PROSECUTOR), figure, Beside(None, control, "outsiders"), truth([0] * 100))
    assert (made.value, made.control) == (30, 10)
    assert made.detail["excess"]["value"] == pytest.approx(2 / 9)
    assert 0 < made.detail["excess"]["low"] < 2 / 9


def test_targets_share_rows() -> None:
    found = by_measure(ValueClaims(beliefs([[0.2, 0.8], [1, 0]], [0, 1, 0]), 0.5), truth([1, 1, 0]))
    assert found["success"].each.tolist() == [1, 0, 0]
    assert found["certain"].value == 1


def test_nobody_believed_to_be_in_is_no_right_guess() -> None:
    found = by_measure(ValueClaims(beliefs([[0, 0], [0.2, 0.1]]), 0.5), truth([0, 0]))
    assert found["success"].each.tolist() == [0, 1]


def test_the_histogram_puts_an_edge_into_its_own_bin() -> None:
    # 1/5 as 0.6/3 and as 1 - 0.8 differ by float noise: both belong to the bin from 0.2
    rows = [[0.6 / 3, 0], [1 - 0.8, 0], [0.19, 0], [1, 0]]
    found = by_measure(ValueClaims(beliefs(rows), 0.5), truth([0] * 4))
    assert found["success"].detail["histogram"]["counts"] == [0, 1, 2, 0, 0, 0, 0, 0, 0, 1]


def test_nothing_is_shown_unless_asked_for() -> None:
    found = by_measure(ValueClaims(beliefs([[0.2, 0.8]]), 0.5), truth([1]))
    assert "claim" not in found["certain"].detail


# ----- records -------------------------------------------------------------------------------------------------------


class Fixed(Beliefs):
    """Beliefs about records, as given."""

    def __init__(self, right: list[float], best: list[float], tied: list[float]) -> None:
        self.targets, self.right = len(right), np.array(right)
        self.said = RecordBeliefs(np.array(best), np.array(tied))

    @property
    def matched(self) -> Bools:
        return self.said.best > 0

    def values(self, column: str) -> ValueBeliefs:
        raise NotImplementedError

    def records(self) -> RecordBeliefs:
        return self.said

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return np.where(bucket >= 0, self.right, 0.0)

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        return np.where(bucket >= 0, 1.0, 0.0), np.ones(self.targets)

    def membership(self, prior: float) -> MemberBeliefs:
        raise NotImplementedError


def test_records() -> None:
    # the first is one of five alike; the second was not the likeliest; the third is the only one; nothing fits the fourth
    claims = RecordClaims(Fixed([0.2, 0.1, 1, 0], [0.2, 0.9, 1, 0], [5, 1, 1, 1]), 0.2)
    found = by_measure(claims, truth([0, 0, 0, 0]))
    assert found["max"].value == 1
    assert found["mean"].value == pytest.approx(1.3 / 4)
    assert found["at_risk"].each.tolist() == [0, 0, 1, 0]
    np.testing.assert_allclose(found["success"].each, [1 / 5, 0, 1, 0])
    assert found["mean"].detail["histogram"]["counts"] == [1, 0, 0, 0, 1, 1, 0, 1]


def test_outsiders_are_never_linked() -> None:
    nowhere = Truth(np.arange(2), np.full(2, -1), np.full((2, 1), -1))
    found = by_measure(RecordClaims(Fixed([0.5, 1], [0.5, 1], [2, 1]), 0.2), nowhere)
    for measure in ("max", "mean", "at_risk", "success", "class_found"):
        assert found[measure].value == 0


def test_no_targets_no_figures() -> None:
    nobody = Truth(np.arange(0), np.empty(0, np.int64), np.empty((0, 1), np.int64))
    found = by_measure(RecordClaims(Fixed([], [], []), 0.2), nobody)
    assert found["max"].value is None
    assert found["mean"].value is None
    assert found["success"].interval is None


# ----- windows and groups --------------------------------------------------------------------------------------------


def test_windows() -> None:
    # numbers 0, 10, 20 with 1/2, 1/4, 1/4, two windows of width 10 tied: [0, 10] and [10, 20] would not, but are given as
    # such: the truth 0 lies in one of two, 10 in both, 20 in one; a missing value is not scored
    values = beliefs([[0.5, 0.25, 0.25, 0]], [0, 0, 0, 0])
    numbers, start = np.array([0.0, 10.0, 20.0]), np.array([0.0, 10.0])
    claims = WindowClaims(values, numbers, 10.0, False, 10.0, 0.5, start, np.zeros(2, np.int64), np.array([0.75]), None)
    found = by_measure(claims, truth([0, 1, 2, 3]))
    assert found["mean"].each.tolist() == [0.75, 1, 0.5]
    assert found["mean"].n == 3
    assert found["above"].each.tolist() == [1, 1, 0]
    assert found["success"].each.tolist() == [0.5, 1, 0.5]
    # Σ_s p(s) · mass(s ± 10) = 1/2 · 3/4 + 1/4 · 1 + 1/4 · 1/2
    assert found["mean"].expected == pytest.approx(0.75)


def test_unrelated() -> None:
    # groups {0, 1} and {2}; beliefs 0.4, 0.4, 0.2: the top is tied within the first group
    claims = UnrelatedClaims(beliefs([[0.4, 0.4, 0.2]], [0, 0]), np.array([7, 7, 9]), 0.5, 0, "frequency")
    found = by_measure(claims, truth([0, 2]))
    np.testing.assert_allclose(found["mean"].each, [0.2, 0.8])
    assert found["above"].each.tolist() == [0, 1]
    assert found["top"].each.tolist() == [0, 1]
    assert found["mean"].expected == pytest.approx(1 - 0.64 - 0.04)


def test_a_claim_of_an_unknown_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="no scoring for str"):
        score("a claim", truth([0]))


# ----- excess --------------------------------------------------------------------------------------------------------


def excess_of(mine: Floats, baseline: Floats, control: Floats | None, attack: Attack | None = None) -> dict[str, Any]:
    """The excess of right guesses; the control is of outsiders."""
    control_of = None if control is None else rate("success", control)
    beside = Beside(rate("success", baseline), control_of, None if control is None else "outsiders")
    attempt = Attempt(attack or Homogeneity(), PROSECUTOR)
    return dict(completed(attempt, rate("success", mine), beside, truth([0] * len(mine))).detail["excess"])


def rights(right: int, of: int) -> Floats:
    return np.repeat([1.0, 0.0], [right, of - right])


def test_the_excess_is_over_the_higher_of_control_and_baseline() -> None:
    # 0.5 right; guessing the commonest value is right for 0.4 of them, the attack for 0.3 of the outsiders: 0.1/0.6
    found = excess_of(rights(500, 1000), rights(400, 1000), rights(300, 1000))
    assert (found["value"], found["over"]) == (pytest.approx(1 / 6), "baseline")
    found = excess_of(rights(500, 1000), rights(200, 1000), rights(300, 1000))
    assert (found["value"], found["over"]) == (pytest.approx(2 / 7), "control")
    found = excess_of(rights(500, 1000), rights(200, 1000), rights(300, 1000), Divergence())
    assert found["over"] == "control"


def test_without_a_control_the_excess_is_over_the_baseline() -> None:
    found = excess_of(rights(500, 1000), rights(400, 1000), None)
    assert (found["value"], found["over"]) == (pytest.approx(1 / 6), "baseline")


def test_a_control_of_a_few_people_is_no_evidence() -> None:
    # Two outsiders, both guessed wrongly: they may as well be guessed rightly.
    found = excess_of(rights(500, 1000), rights(200, 1000), rights(0, 2))
    assert (found["value"], found["over"]) == (pytest.approx(0.375), "baseline")
    assert found["low"] < 0


def test_what_is_likelier_here_is_held_against_how_often_it_is_true_of_anybody() -> None:
    # Claimed are the values 1, 1 and 0, which 0.1, 0.1 and 0.9 of people at large have.
    rows, prior = beliefs([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]), np.array([0.9, 0.1])
    ranges = RangeClaims(rows, np.arange(3), np.array([1, 1, 0]), np.array([2, 2, 1]), prior, 0.01, 0.5, at_large=True)
    figure = by_measure(ranges, truth([1, 0, 0]))["success"]
    assert figure.at_large is not None
    assert figure.at_large.tolist() == pytest.approx([0.1, 0.1, 0.9])
    beside = Beside(rate("success", np.full(3, 0.5)), None, None)
    assert completed(Attempt(Skewness(), PROSECUTOR), figure, beside, truth([1, 0, 0])).baseline == pytest.approx(
        1.1 / 3
    )


# ----- membership ----------------------------------------------------------------------------------------------------


def claims(posterior: list[float], buckets: list[float]) -> MemberClaims:
    scores = {"buckets": np.array(buckets), "degree": np.array(buckets) / 10, "posterior": np.array(posterior)}
    return MemberClaims(scores, "register", 0.5)


def members(ours: MemberClaims, theirs: MemberClaims, against: str = "outsiders") -> dict[tuple[str, str], Figure]:
    found = score_members(ours, theirs, against, np.random.default_rng(0))
    return {(f.measure, str(f.params.get("score", ""))): f for f in found}


def test_membership_figures() -> None:
    # posterior: members 0.9, 0.6, 0.5; outsiders 0.6, 0.2, 0.1, 0.1. Of 12 pairs the member is above in 4 + 3 + 3 and
    # ties in one: AUC 10.5/12. At FPR 0: 1/3 (0.9 only).
    found = members(claims([0.9, 0.6, 0.5], [3, 2, 1]), claims([0.6, 0.2, 0.1, 0.1], [12, 0, 1, 21]))
    assert found["auc", "posterior"].value == pytest.approx(10.5 / 12)
    assert found["auc", "posterior"].n == 7
    assert found["auc", "posterior"].baseline == 0.5
    assert found["tpr_at_fpr_0.01", "posterior"].value == pytest.approx(1 / 3)
    assert found["tpr_at_fpr_0.001", "posterior"].value == pytest.approx(1 / 3)
    # one of four outsiders matches no bucket
    assert found["no_match", ""].value == pytest.approx(1 / 4)
    # guesses, ties at 0.5 counting half: members (1 + 1 + 0.5)/3, outsiders 3/4; half of the crowd each
    assert found["success", "posterior"].value == pytest.approx((2.5 / 3 + 3 / 4) / 2)
    assert found["success", "posterior"].baseline == 0.5
    sure = ((0.9 + 0.6 + 0.5) / 3 + (0.6 + 0.8 + 0.9 + 0.9) / 4) / 2
    assert found["success", "posterior"].expected == pytest.approx(sure)
    detail = found["auc", "buckets"].detail
    assert detail is not None
    assert detail["histogram"]["members"] == [0, 3, 0, 0]
    assert detail["histogram"]["others"] == [1, 1, 1, 1]


def test_scores_that_differ_by_float_noise_are_tied() -> None:
    third = 1 / 3
    found = members(claims([third, third], [1, 1]), claims([third - 1e-16, third + 1e-16], [1, 1]))
    assert found["auc", "posterior"].value == 0.5
    assert found["advantage", "posterior"].value == 0
    tiny = members(claims([2e-20, 2e-20], [1, 1]), claims([1e-20, 1e-20], [1, 1]))
    assert tiny["auc", "posterior"].value == 1  # small is not noise


def test_the_control_is_one_half_of_the_others_against_the_other() -> None:
    found = members(claims([0.9] * 4, [1] * 4), claims([0.1] * 4, [0] * 4))
    assert found["auc", "posterior"].value == 1
    assert found["auc", "posterior"].control == 0.5
    assert found["advantage", "posterior"].control == 0
    alone = members(claims([0.9] * 4, [1] * 4), claims([0.1], [0]))
    assert alone["auc", "posterior"].control is None


def test_fakes_that_match_are_counted() -> None:
    found = members(claims([0.9], [3]), claims([0.5, 0.5, 0.5], [0, 2, 1]), "fakes")
    assert found["fakes", ""].value == 2
    assert found["fakes", ""].n == 3
    assert ("no_match", "") not in found


# ----- many people, many ties -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_tied_windows_and_ranges_are_counted_as_if_each_were_looked_at(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.normal(0, 5, 12))
    values = ValueBeliefs(sparse.csr_array(rng.dirichlet(np.ones(12), 4)), rng.integers(0, 4, 50))
    row, start = rng.integers(0, 4, 30), rng.choice(numbers, 30)
    tied = np.bincount(row, minlength=4)
    claims = WindowClaims(values, numbers, 1.0, False, 2.5, 0.5, start, row, np.ones(4), None)
    true = rng.choice(numbers, 50)
    naive = []
    for one, number in zip(values.row_of, true, strict=True):
        here = start[row == one]
        naive.append(np.sum((here <= number) & (number <= here + 2.5)) / max(tied[one], 1))
    assert _held(claims, true, tied).tolist() == naive
    first = rng.integers(0, 12, 30)
    last = np.minimum(first + rng.integers(0, 4, 30), 12)
    codes = rng.integers(0, 12, 50)
    held = RangeClaims(values, row, first, last, np.full(12, 1 / 12), 1e-3, 0.5, {})
    (success,) = [f for f in score(held, truth(codes.tolist())) if f.measure == "success"]
    assert success.each is not None
    naive = [
        np.sum((first[row == one] <= code) & (code < last[row == one])) / max(tied[one], 1)
        for one, code in zip(values.row_of, codes, strict=True)
    ]
    assert success.each.tolist() == naive


def test_many_people_with_many_ties_take_little_memory() -> None:
    """Nothing is known of anybody, and all values are as likely: each of 4000 people has 4000 tied windows."""
    size = 4000
    values = ValueBeliefs(sparse.csr_array(np.full((1, size), 1 / size)), np.zeros(size, dtype=np.int64))
    ranges = np.arange(size)
    claims = RangeClaims(
        values, np.zeros(size, dtype=np.int64), ranges, ranges + 1, np.full(size, 1 / size), 1e-9, 0.5, {}
    )
    known = truth(ranges.tolist())
    tracemalloc.start()
    try:
        score(claims, known)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
