"""Intervals: how sure a measured figure is, and what it says beyond its control.

Rates have a Wilson score interval (Wilson 1927). Differences of rates have Newcombe's hybrid of two such intervals (Newcombe
1998, method 10). The excess of an attack over its control, (attack - control)/(1 - control), has the same square-and-add of
the two half-widths, each multiplied by the slope of the excess (Giomi et al. 2023, anonymeter). If an interval is not
symmetric, the half that faces the direction in question is used; for symmetric intervals that is the usual formula. The area
under a ROC curve is the Mann-Whitney statistic with DeLong's interval (DeLong, DeLong and Clarke-Pearson 1988, in the rank
form of Sun and Xu 2014). Quantiles have the interval between two order statistics, means over runs Student's t interval.

A departure: DeLong's variance is zero if members and outsiders are perfectly separated (or all scores are tied, or a group
has one score), and so is Hanley and McNeil's at an area of 1. The area is then treated as a rate among as many trials as the
smaller group has scores, and gets that rate's Wilson interval, so that it is never a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy import special

from auditor.model.arrays import Floats

CONFIDENCE = 0.95
"""The default confidence of intervals."""

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


def _quantile(confidence: float) -> float:
    """The standard normal quantile of a two-sided interval."""
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence must be between 0 and 1. Got {confidence}.")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(successes: float, n: int, confidence: float = CONFIDENCE) -> Interval:
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


def excess(value: float, value_interval: Interval, control: float, control_interval: Interval) -> Estimate | None:
    """What an attack achieves beyond its control, as a share of what the control leaves: (a - c)/(1 - c).

    None if the control is always right: nothing is left to exceed. The value is negative if the attack does worse than its
    control. Only the upper end is clipped (at 1), since the excess has no lower bound.
    """
    if control >= 1:
        return None
    left = 1 - control
    own, others = 1 / left, (1 - value) / left**2  # slopes of the excess in the value and, downwards, in the control
    below = sqrt((own * (value - value_interval.low)) ** 2 + (others * (control_interval.high - control)) ** 2)
    above = sqrt((own * (value_interval.high - value)) ** 2 + (others * (control - control_interval.low)) ** 2)
    result = (value - control) / left
    return Estimate(result, result - below, min(result + above, 1.0))


def difference(value: float, value_interval: Interval, control: float, control_interval: Interval) -> Estimate:
    """The difference of two independent rates with Newcombe's interval, clipped to [-1, 1]."""
    result = value - control
    below = sqrt((value - value_interval.low) ** 2 + (control_interval.high - control) ** 2)
    above = sqrt((value_interval.high - value) ** 2 + (control - control_interval.low) ** 2)
    return Estimate(result, max(result - below, -1.0), min(result + above, 1.0))


def _placements(scores: Floats, others: Floats) -> Floats:
    """For each score the share of the others below it, ties counting half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, side="left")
    return np.asarray((below + np.searchsorted(ordered, scores, side="right")) / (2 * len(others)))


def auc(scores_in: Floats, scores_out: Floats, confidence: float = CONFIDENCE) -> Estimate | None:
    """The probability that a member scores above an outsider, ties counting half, with DeLong's interval clipped to [0, 1].

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
    if variance < _NOISE**2:
        return Estimate(area, *wilson(area * smaller, smaller, confidence))
    half = z * sqrt(variance)
    return Estimate(area, max(area - half, 0.0), min(area + half, 1.0))


def roc(scores_in: Floats, scores_out: Floats) -> tuple[Floats, Floats]:
    """The ROC curve: false and true positive rates of "in if the score is at least the threshold", from the threshold
    above all scores, (0, 0), through every distinct score down to the lowest, (1, 1)."""
    inside, outside = _scores(scores_in), _scores(scores_out)
    if not len(inside) or not len(outside):
        raise ValueError("A ROC curve needs scores of members and of outsiders.")
    thresholds = np.unique(np.concatenate([inside, outside]))[::-1]

    def rate(scores: Floats) -> Floats:
        reached = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")
        return np.concatenate([[0.0], reached / len(scores)])

    return rate(outside), rate(inside)


def best_advantage(fpr: Floats, tpr: Floats) -> float:
    """The greatest difference of true and false positive rate over all thresholds (Youden's J)."""
    return float(np.max(tpr - fpr, initial=0.0))


def tpr_at_fpr(fpr: Floats, tpr: Floats, level: float) -> float:
    """The true positive rate of the lowest threshold whose false positive rate does not exceed the level.

    Only thresholds that occur, without interpolation: what the adversary can really do with this score.
    """
    return float(np.max(tpr[fpr <= level + _NOISE], initial=0.0))


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
