"""Intervals: how sure a measured figure is, and what it says beyond its control.

All are about the people, given the release: what chance made of the people who happened to be attacked. What chance made of
the release itself shows only over several releases (`mean_interval`).

Rates have a Wilson score interval (Wilson 1927). A mean of chances (a guess among m ties counts 1/m) varies less than a rate
of rights and wrongs: it has the Wilson interval of as many trials as give its variance. Differences of rates have Newcombe's
hybrid of two such intervals (Newcombe 1998, method 10), for the same people with the correlation of their pairs. The excess
of an attack over its control, (attack - control)/(1 - control), has the same square-and-add of what it changes by when either
goes to an end of its interval. (Giomi et al. 2023, anonymeter, take slopes in place of these changes; with few people in the
control they are far from them.) The area under a ROC curve is the Mann-Whitney statistic with DeLong's interval (DeLong,
DeLong and Clarke-Pearson 1988, in the rank form of Sun and Xu 2014), on the scale of log odds, where it holds for large areas
too (Pepe 2003). Quantiles have the interval between two order statistics, means over runs Student's t interval.

A cut-off that is chosen and judged on the same people looks better than it is. So `advantage` chooses it on one half of the
people and judges it on the other, both ways, for several divisions into halves. `tpr_at_fpr` takes its cut-off from the
outsiders alone and its rate from the members alone: its interval adds, in squares, what the cut-off may be off by (an order
statistic) and what the rate may. Both intervals are conservative: they hold the true figure more often than they say.

A departure: DeLong's variance is zero if members and outsiders are perfectly separated (or all scores are tied, or a group
has one score), and so is Hanley and McNeil's at an area of 1. The area is then treated as a rate among as many trials as the
smaller group has scores, and gets that rate's Wilson interval, so that it is never a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import hypot, sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy import special

from auditor.model.arrays import Floats

CONFIDENCE = 0.95
"""The default confidence of intervals."""

_DIVISIONS = 5
"""How often people are divided into halves, of which one chooses a cut-off for the other."""

_NOISE = 1e-12
"""Differences below this are rounding, not evidence."""


class Interval(NamedTuple):
    """A confidence interval, both ends inclusive."""

    low: float
    high: float

    @property
    def centre(self) -> float:
        """The middle of the interval."""
        return (self.low + self.high) / 2


class Estimate(NamedTuple):
    """A figure and its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> Interval:
        """The interval alone."""
        return Interval(self.low, self.high)


@cache
def _quantile(confidence: float) -> float:
    """The standard normal quantile of a two-sided interval."""
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence must be between 0 and 1. Got {confidence}.")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """The Wilson interval of a rate. Successes may be fractional, since a guess among m ties counts 1/m. Without any trial
    nothing is known, and the interval is (0, 1)."""
    z = _quantile(confidence)
    if not -_NOISE <= successes <= n * (1 + _NOISE):
        raise ValueError(f"The successes must be from 0 to the {n} trials. Got {successes}.")
    if n == 0:
        return Interval(0.0, 1.0)
    rate = min(max(successes / n, 0.0), 1.0)
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # at the ends the formula gives exactly 0 or 1, which rounding would miss
    return Interval(0.0 if rate == 0 else max(centre - half, 0.0), 1.0 if rate == 1 else min(centre + half, 1.0))


def mean_of(each: Floats, confidence: float = CONFIDENCE) -> Interval:
    """The interval of a mean of figures from 0 to 1, one for each person. Of rights and wrongs it is Wilson's. Figures that
    vary less are as good as more trials. Their variance is drawn a little towards that of rights and wrongs (by one person),
    so that equal figures do not give a point."""
    if not len(each):
        return Interval(0.0, 1.0)
    mean = min(max(float(np.mean(each)), 0.0), 1.0)
    trials = _trials(each, mean)
    return wilson((round(mean) if mean * (1 - mean) < _NOISE else mean) * trials, trials, confidence)


def trials_of(each: Floats) -> float:
    """As many rights and wrongs as have a mean that varies as much as that of figures from 0 to 1."""
    return _trials(each, min(max(float(np.mean(each)), 0.0), 1.0) if len(each) else 0.0)


def _trials(each: Floats, mean: float) -> float:
    n, most = len(each), mean * (1 - mean)
    if most < _NOISE:
        return float(n)
    variance = (n * min(float(np.var(each)), most) + most) / (n + 1)
    return n * most / variance


def trials_behind(value: float, limits: Interval, n: int, confidence: float = CONFIDENCE) -> float:
    """How many rights and wrongs an interval around a rate comes from: the fewer of what its two ends say. An end π of
    Wilson's interval lies z·sqrt(π(1 - π)/trials) from the rate."""
    z = _quantile(confidence)
    ends = [end for end in limits if 0 < end < 1 and abs(end - value) > _NOISE]
    return min([z * z * end * (1 - end) / (end - value) ** 2 for end in ends], default=float(n))


def excess(
    value: float, value_interval: Interval, control: float, control_interval: Interval, correlation: float = 0.0
) -> Estimate | None:
    """What an attack achieves beyond its control, as a share of what the control leaves: (a - c)/(1 - c). `correlation` is
    that of the two estimates, where they are of the same people.

    None if the control is always right: nothing is left to exceed. The value is negative if the attack does worse than its
    control. Only the upper end is clipped (at 1), since the excess has no lower bound.
    """
    if control >= 1:
        return None

    def beyond(other: float) -> float:
        return (value - other) / (1 - other)

    result, left = beyond(control), 1 - control
    lower, upper = beyond(min(control_interval.high, 1 - _NOISE)), beyond(control_interval.low)
    below = _apart((value - value_interval.low) / left, result - lower, correlation)
    above = _apart((value_interval.high - value) / left, upper - result, correlation)
    return Estimate(result, result - below, min(result + above, 1.0))


def difference(value: float, value_interval: Interval, control: float, control_interval: Interval) -> Estimate:
    """The difference of two independent rates with Newcombe's interval, clipped to [-1, 1]."""
    parts = (1.0, Estimate(value, *value_interval)), (-1.0, Estimate(control, *control_interval))
    result = combined(value - control, parts)
    return Estimate(result.value, max(result.low, -1.0), min(result.high, 1.0))


def combined(value: float, parts: Sequence[tuple[float, Estimate]]) -> Estimate:
    """A figure that depends on independent estimates, each by its slope: their half-widths, times the slopes, are added in
    squares."""
    below = [slope * (part.value - (part.low if slope > 0 else part.high)) for slope, part in parts]
    above = [slope * ((part.high if slope > 0 else part.low) - part.value) for slope, part in parts]
    return Estimate(value, value - hypot(*below), value + hypot(*above))


def _apart(one: float, other: float, correlation: float = 0.0) -> float:
    """How far a difference of two figures may be off, given how far each may."""
    return sqrt(max(one**2 - 2 * correlation * one * other + other**2, 0.0))


def correlation(first: Floats, second: Floats, confidence: float = CONFIDENCE) -> float:
    """The correlation of two figures of the same people, drawn a little towards 0: pairs that never differed may."""
    n, z = len(first), _quantile(confidence)
    spread = float(np.std(first) * np.std(second)) if n else 0.0
    if spread < _NOISE:
        return 0.0
    together = float(np.mean((first - first.mean()) * (second - second.mean())))
    return min(max(together / spread, -1.0), 1.0) * n / (n + z * z)


def _placements(scores: Floats, others: Floats) -> Floats:
    """For each score the share of the others below it, ties counting half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, side="left")
    return np.asarray((below + np.searchsorted(ordered, scores, side="right")) / (2 * len(others)))


def auc(scores_in: Floats, scores_out: Floats, confidence: float = CONFIDENCE) -> Estimate | None:
    """The probability that a member scores above an outsider, ties counting half, with DeLong's interval.

    None if either group is empty. If the variance degenerates the interval is Wilson's: see the module docstring.
    """
    inside, outside = _scores(scores_in), _scores(scores_out)
    z = _quantile(confidence)
    if not len(inside) or not len(outside):
        return None
    of_inside = _placements(inside, outside)
    area = float(of_inside.mean())
    smaller = min(len(inside), len(outside))
    variance = 0.0
    if smaller > 1:
        of_outside = 1 - _placements(outside, inside)
        variance = float(of_inside.var(ddof=1) / len(inside) + of_outside.var(ddof=1) / len(outside))
    if variance < _NOISE**2 or not 0 < area < 1:
        return Estimate(area, *wilson(area * smaller, smaller, confidence))
    odds, half = special.logit(area), z * sqrt(variance) / (area * (1 - area))
    return Estimate(area, float(special.expit(odds - half)), float(special.expit(odds + half)))


def roc(scores_in: Floats, scores_out: Floats) -> tuple[Floats, Floats, Floats]:
    """The ROC curve: false and true positive rates of "in if the score is at least the threshold", and the thresholds, from
    one above all scores, (0, 0), through every distinct score down to the lowest, (1, 1)."""
    inside, outside = _scores(scores_in), _scores(scores_out)
    if not len(inside) or not len(outside):
        raise ValueError("A ROC curve needs scores of members and of outsiders.")
    thresholds = np.unique(np.concatenate([inside, outside]))[::-1]

    def rate(scores: Floats) -> Floats:
        reached = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")
        return np.concatenate([[0.0], reached / len(scores)])

    return rate(outside), rate(inside), np.concatenate([[np.inf], thresholds])


def advantage(
    scores_in: Floats, scores_out: Floats, rng: np.random.Generator, confidence: float = CONFIDENCE
) -> Estimate | None:
    """True less false positive rate (Youden's J) at the cut-off that is best for one half of the people, judged on the other
    half, both ways: what an adversary reaches who learned the cut-off from others. None if there are not two of either group.

    With more people to learn from the cut-off would be a little better, so the upper end of the interval allows for the best
    one of all, which is chosen and judged on the same people.
    """
    inside, outside = np.sort(_scores(scores_in)), np.sort(_scores(scores_out))  # so that their order does not matter
    if min(len(inside), len(outside)) < 2:
        return None
    hits = alarms = 0.0
    for _ in range(_DIVISIONS):
        of_inside, of_outside = (_halves(scores, rng) for scores in (inside, outside))
        for here, there in ((0, 1), (1, 0)):
            cut, _ = _best_cut(of_inside[here], of_outside[here])
            hits += float(np.count_nonzero(of_inside[there] >= cut)) / (_DIVISIONS * len(inside))
            alarms += float(np.count_nonzero(of_outside[there] >= cut)) / (_DIVISIONS * len(outside))
    of_hits = wilson(hits * len(inside), len(inside), confidence)
    of_alarms = wilson(alarms * len(outside), len(outside), confidence)
    found = difference(hits, of_hits, alarms, of_alarms)
    beyond = hypot(found.high - found.value, max(_best_cut(inside, outside)[1] - found.value, 0.0))
    return Estimate(found.value, found.low, min(found.value + beyond, 1.0))


def _halves(scores: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    mixed = rng.permutation(scores)
    return mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]


def _best_cut(inside: Floats, outside: Floats) -> tuple[float, float]:
    """The cut-off with the greatest difference of true and false positive rate, half way down to the next score, and that
    difference."""
    false, true, threshold = roc(inside, outside)
    best = int(np.argmax(true - false))
    return float(np.mean(threshold[best : best + 2])), float(true[best] - false[best])


def tpr_at_fpr(scores_in: Floats, scores_out: Floats, level: float, confidence: float = CONFIDENCE) -> Estimate | None:
    """The true positive rate of the lowest cut-off that at most a share `level` of the outsiders reaches. Only cut-offs that
    occur, without interpolation: what the adversary can really do with this score. None if either group is empty.

    How many outsiders reach the cut-off of the whole population is binomial (n, level); its two tails say which of the
    highest outsiders the cut-off may lie at.
    """
    inside, outside = _scores(scores_in), np.sort(_scores(scores_out))[::-1]
    if not len(inside) or not len(outside):
        return None
    n, tail = len(outside), (1 - confidence) / 2

    def above(place: int) -> float:
        """The share of members above the outsider at this place, the highest being at 0."""
        return float(np.mean(inside > outside[place])) if place < n else 1.0

    value = above(int(level * n + _NOISE * n))
    chance = special.bdtr(np.arange(n + 1), n, level)
    fewest, most = (int(np.searchsorted(chance, share)) for share in (tail, 1 - tail))
    tight = float(np.mean(inside >= outside[fewest - 1])) if fewest else 0.0
    rate = wilson(value * len(inside), len(inside), confidence)
    found = combined(value, [(1.0, Estimate(value, *rate)), (1.0, Estimate(value, tight, above(most)))])
    return Estimate(value, max(found.low, 0.0), min(found.high, 1.0))


def quantile_interval(values: Floats, level: float, confidence: float = CONFIDENCE) -> Estimate:
    """A quantile of independent values with the interval between two order statistics.

    The number of values below the true quantile is binomial(n, level), so the ends are the values at its lower and upper
    tail. In a short sample they may be the least and the greatest value, and the confidence is lower.
    """
    ordered = np.sort(_scores(values))
    n = len(ordered)
    if not n:
        raise ValueError("A quantile needs at least one value.")
    tail = (1 - confidence) / 2
    below = special.bdtr(np.arange(n + 1), n, level)
    first = int(np.searchsorted(below, tail))  # one-based rank of the lower end: P(X < first) <= tail
    last = int(np.searchsorted(below, 1 - tail)) + 1
    value = float(np.quantile(ordered, level))
    low, high = ordered[max(first, 1) - 1], ordered[min(last, n) - 1]
    return Estimate(value, min(float(low), value), max(float(high), value))


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The mean of at least two independent runs with Student's t interval."""
    n = len(values)
    if n < 2:
        raise ValueError("An interval over runs needs at least two.")
    mean = fmean(values)
    reach = float(special.stdtrit(n - 1, (1 + confidence) / 2)) * stdev(values, mean) / sqrt(n)
    return Estimate(mean, mean - reach, mean + reach)


def _scores(values: Floats) -> Floats:
    scores = np.asarray(values, dtype=np.float64)
    if np.isnan(scores).any():
        raise ValueError("Scores must be numbers. Got not-a-number.")
    return scores
