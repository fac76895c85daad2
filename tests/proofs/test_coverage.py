"""Every interval that the record prints holds the true figure as often as it says, without signal and with it.

People are drawn at random from a population of which the true figure is known, and measured as the audit measures them. 95 %
intervals must hold it in at least 93 % of draws; those that are named conservative may in more than 97 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, norm

from attacks.base import Attack
from attacks.claims import MemberClaims
from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from auditor.auditing.scoring.figures import RATE, Figure, Truth, rate
from auditor.auditing.scoring.members import LEVELS, score_members
from auditor.auditing.scoring.rows import Attempt, Beside, completed
from auditor.measure.intervals import mean_interval, quantile_interval, wilson
from auditor.measure.utility.worlds import WORLDS, over_worlds
from auditor.model.arrays import Floats
from scenarios.adversaries import PROSECUTOR
from tests.support.telling import Tell

Rng = np.random.Generator
PEOPLE, OTHERS = 300, 200
JOURNALIST = "mean of chances over people (journalist)"
ACCURACY = "accuracy of classification over worlds"


class Found(NamedTuple):
    """An interval, and the true figure that it should hold."""

    low: float | None
    high: float | None
    true: float


@dataclass(frozen=True)
class Case:
    """How intervals are drawn, for every strength of the signal (0: none): one, or several by name."""

    draw: Callable[[Rng, float], Found | dict[str, Found]]
    signal: float
    conservative: tuple[str, ...] = ()


def of(figure: Figure, true: float) -> Found:
    assert figure.interval is not None
    return Found(*figure.interval, true)


def excess_of(figure: Figure, true: float, over: str) -> Found:
    noted = figure.detail["excess"]
    assert noted["over"] == over
    return Found(noted["low"], noted["high"], true)


def beyond(attack: Attack, mine: Floats, baseline: Figure, control: Figure | None, left_out: bool = False) -> Figure:
    """A rate with its companions, as the audit sets them beside it."""
    rows = np.arange(len(mine))
    truth = Truth(rows, np.zeros(len(mine), np.int64), np.zeros((len(mine), 1), np.int64))
    kind = None if control is None else "leave_one_out" if left_out else "outsiders"
    beside = Beside(baseline, control, kind, rows if left_out else None)
    return completed(Attempt(attack, PROSECUTOR), rate("success", mine), beside, truth)


def share(value: float, other: float) -> float:
    return (value - other) / (1 - other)


# ----- rates and means -----------------------------------------------------------------------------------------------


def right_or_wrong(rng: Rng, signal: float) -> Found:
    return of(rate("success", (rng.random(PEOPLE) < 0.1 + signal).astype(float)), 0.1 + signal)


def guesses_among_ties(rng: Rng, signal: float) -> Found:
    tied = rng.integers(1, 4, PEOPLE)
    hit = rng.random(PEOPLE) < 0.2 + signal
    return of(rate("success", hit / tied), (0.2 + signal) * (1 + 1 / 2 + 1 / 3) / 3)


def chances(rng: Rng, signal: float) -> Found:
    size = rng.choice([2, 5, 10], PEOPLE, p=[signal, 0.5, 0.5 - signal])
    return of(rate("mean", 1 / size), signal / 2 + 0.5 / 5 + (0.5 - signal) / 10)


def chances_over_people(rng: Rng, signal: float) -> Found:
    """The journalist's mean is the greater of two, and not that of its parts: it has the interval of a rate."""
    size = rng.choice([2, 5, 10], PEOPLE, p=[signal, 0.5, 0.5 - signal])
    true = signal / 2 + 0.5 / 5 + (0.5 - signal) / 10 + 0.01
    return of(Figure("mean", RATE, float(np.mean(1 / size)) + 0.01, PEOPLE, None, 1 / size), true)


def rate_of_predicates(rng: Rng, signal: float) -> Found:
    figure = rate("success", (rng.random(PEOPLE) < 0.2 + signal).astype(float))
    return of(Figure("success", RATE, figure.value, PEOPLE), 0.2 + signal)


# ----- excess --------------------------------------------------------------------------------------------------------


def over_outsiders(rng: Rng, signal: float) -> Found:
    mine, theirs = rng.random(PEOPLE) < 0.4 + signal, rng.random(OTHERS) < 0.4
    guessed = rate("success", (rng.random(PEOPLE) < 0.1).astype(float))
    figure = beyond(Homogeneity(), mine.astype(float), guessed, rate("success", theirs.astype(float)))
    return excess_of(figure, share(0.4 + signal, 0.4), "control")


def paired(rng: Rng, signal: float) -> tuple[Floats, Floats]:
    """Whether people are found, and whether they are without their record, or without the release."""
    kinds = rng.choice(4, PEOPLE, p=[0.25, 0.1 + signal, 0.1, 0.55 - signal])
    return (kinds < 2).astype(float), ((kinds == 0) | (kinds == 2)).astype(float)


def over_left_out(rng: Rng, signal: float) -> Found:
    mine, without = paired(rng, signal)
    guessed = rate("success", (rng.random(PEOPLE) < 0.1).astype(float))
    figure = beyond(Homogeneity(), mine, guessed, rate("success", without), left_out=True)
    return excess_of(figure, share(0.35 + signal, 0.35), "control")


def over_baseline(rng: Rng, signal: float) -> Found:
    mine, without = paired(rng, signal)
    figure = beyond(Homogeneity(), mine, rate("success", without), None)
    return excess_of(figure, share(0.35 + signal, 0.35), "baseline")


def over_people_at_large(rng: Rng, signal: float) -> Found:
    """As for skewness: what is claimed differs from person to person, and so does how often it is true of anybody."""
    at_large = rng.choice([0.02, 0.1, 0.3], PEOPLE)
    mine = rng.random(PEOPLE) < at_large + signal
    figure = beyond(Homogeneity(), mine.astype(float), rate("success", at_large), None)
    return excess_of(figure, share(0.14 + signal, 0.14), "baseline")


def over_a_record_at_random(rng: Rng, signal: float) -> Found:
    mine = (rng.random(PEOPLE) < 0.05 + signal).astype(float)
    figure = beyond(Linking(), mine, rate("success", np.full(PEOPLE, 0.05)), rate("success", np.zeros(PEOPLE)))
    return excess_of(figure, share(0.05 + signal, 0.05), "baseline")


# ----- membership ----------------------------------------------------------------------------------------------------


def members_and_others(prior: float, whole: bool = False) -> Callable[[Rng, float], dict[str, Found]]:
    """Members score higher by `signal` standard deviations; scores may be whole numbers, so that many are tied."""

    def draw(rng: Rng, signal: float) -> dict[str, Found]:
        scores = rng.normal(signal, 1, PEOPLE), rng.normal(0, 1, OTHERS)
        if whole:
            scores = np.round(2 * scores[0]) / 2, np.round(2 * scores[1]) / 2
        ours, theirs = (
            MemberClaims({"chance": norm.cdf(one - signal / 2)}, "register", prior, probability="chance")
            for one in scores
        )
        figures = {f.measure: f for f in score_members(ours, theirs, "outsiders", rng)}
        if whole:
            return {"auc, many ties": of(figures["auc"], area_of_ties(signal))}
        if prior != 0.5:
            return guesses(figures["success"], prior, signal)
        return {
            "auc": of(figures["auc"], norm.cdf(signal / np.sqrt(2))),
            "advantage": of(figures["advantage"], 2 * norm.cdf(signal / 2) - 1),
            **{measure: of(figures[measure], norm.sf(norm.isf(level) - signal)) for measure, level in LEVELS.items()},
            **guesses(figures["success"], prior, signal),
        }

    return draw


def guesses(figure: Figure, prior: float, signal: float) -> dict[str, Found]:
    """A member scores above the middle, and an outsider below it, equally often."""
    right, words = float(norm.cdf(signal / 2)), f"right guesses of membership, prior {prior:g}"
    other = max(prior * (1 - right) + (1 - prior) * right, prior, 1 - prior)
    return {
        words: of(figure, right),
        f"{words}: excess": excess_of(figure, share(right, other), figure.detail["excess"]["over"]),
    }


def area_of_ties(signal: float) -> float:
    """How often a member scores above an outsider, ties counting half, where scores are rounded to halves."""
    edges = np.append(np.arange(-40, 41), 41) / 2 - 0.25
    ours, theirs = np.diff(norm.cdf(edges - signal)), np.diff(norm.cdf(edges))
    return float(ours @ (np.cumsum(theirs) - theirs / 2))


# ----- utility and several releases ----------------------------------------------------------------------------------


def median_error(rng: Rng, signal: float) -> Found:
    found = quantile_interval(rng.exponential(1 + signal, PEOPLE), 0.5)
    return Found(found.low, found.high, (1 + signal) * np.log(2))


def mean_over_releases(rng: Rng, signal: float) -> Found:
    found = mean_interval(rng.normal(signal, 0.05, 5).tolist())
    return Found(found.low, found.high, signal)


def mean_over_worlds(rng: Rng, signal: float) -> Found:
    _, low, high = over_worlds(rng.normal(0.5 + signal, 0.02, 5).tolist())
    return Found(low, high, 0.5 + signal)


def accuracy_over_worlds(rng: Rng, signal: float) -> Found:
    """The same people are tested in every world, some of them easier: the mean has the interval of a rate."""
    easy = rng.choice([0.2, 0.5 + signal], PEOPLE)
    right = rng.random((WORLDS, PEOPLE)) < easy
    return Found(*wilson(float(right.mean()) * PEOPLE, PEOPLE), (0.7 + signal) / 2)


CASES = {
    "rate of rights and wrongs": Case(right_or_wrong, 0.3),
    "rate, guesses among ties": Case(guesses_among_ties, 0.3),
    "mean of chances": Case(chances, 0.3),
    JOURNALIST: Case(chances_over_people, 0.3, (JOURNALIST,)),
    "rate of predicates": Case(rate_of_predicates, 0.4),
    "excess over outsiders": Case(over_outsiders, 0.2),
    "excess over the own record left out": Case(over_left_out, 0.2),
    "excess over the baseline": Case(over_baseline, 0.2),
    "excess over people at large": Case(over_people_at_large, 0.2),
    "excess over a record at random": Case(over_a_record_at_random, 0.2),
    "members": Case(members_and_others(0.5), 1.0, ("advantage", *LEVELS)),
    "members, prior": Case(members_and_others(0.2), 1.0),
    "members, ties": Case(members_and_others(0.5, whole=True), 1.0),
    "median error of queries": Case(median_error, 1.0),
    "mean over releases": Case(mean_over_releases, 0.3),
    "mean over worlds": Case(mean_over_worlds, 0.2),
    ACCURACY: Case(accuracy_over_worlds, 0.3, (ACCURACY,)),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", CASES)
def test_intervals_cover(name: str, full: bool, tell: Tell) -> None:
    case, draws = CASES[name], 2000 if full else 60
    held = {words: covered(case, name, signal, draws) for words, signal in (("null", 0.0), ("signal", case.signal))}
    for interval, without in held["null"].items():
        conservative, found = interval in case.conservative, (without, held["signal"][interval])
        tell(
            f"Coverage of 95 % intervals over {draws} draws of {PEOPLE} people",
            interval=interval,
            without_signal=f"{found[0] / draws:.3f}",
            with_signal=f"{found[1] / draws:.3f}",
            named="conservative" if conservative else "",
        )
        # in few draws chance alone may make fewer of them hold; it would once in a hundred thousand
        assert min(found) >= (0.93 * draws if full else binom.ppf(1e-5, draws, 0.95)), (interval, found)
        assert conservative or not full or max(found) <= 0.97 * draws, (interval, found)


def covered(case: Case, name: str, signal: float, draws: int) -> Counter[str]:
    """In how many draws each interval holds the true figure."""
    rng, held = np.random.default_rng(2026), Counter[str]()
    for _ in range(draws):
        drawn = case.draw(rng, signal)
        for interval, found in (drawn if isinstance(drawn, dict) else {name: drawn}).items():
            assert found.low is not None
            assert found.high is not None
            held[interval] += found.low - 1e-9 <= found.true <= found.high + 1e-9
    return held
