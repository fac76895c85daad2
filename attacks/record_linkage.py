"""Record linkage: this person is the nearest published record.

The standard test of statistical offices for averaged (microaggregated) and noisy data, which cover nobody's own values. The
adversary has the original quasi-identifiers of people and links each to the nearest published record; among m equally near
ones a link counts 1/m. The distance is `euclid` (differences over the standard deviation), `mahalanobis` (numbers taken
together, so that correlated columns count once) or `gower` (differences over the range, not squared); columns that are no
numbers count by steps, equality or taxonomy (`auditor/posterior/metric.py` defines all). `agreement` is probabilistic record
linkage (Fellegi and Sunter): what agreement in a column is worth is learned by EM (`auditor/posterior/agreement.py`).

Intervals ask how near a published number is to the true one, whether or not the record is found. `rank_interval` is the
share of true values within `percent` % of the ranks of the value published for them; an interval laid anywhere would hold
twice that percentage. `sd_interval` is the share of those within `percent` % of the standard deviation of the published
values; an interval of that width, laid around the mean of a normal distribution, is the baseline. `rank_interval_mean` and
`sd_interval_mean` are their means over 1, 2, ..., 10 %, as the literature reports them.

Papers: J. Domingo-Ferrer, V. Torra, "A Quantitative Comparison of Disclosure Control Methods for Microdata", 2001 (distance-
based record linkage, rank intervals); V. Torra, J. Abowd, J. Domingo-Ferrer, "Using Mahalanobis Distance-Based Record Linkage
for Disclosure Risk Assessment", 2006; J. M. Mateo-Sanz, F. Sebé, J. Domingo-Ferrer, "Outlier Protection in Continuous
Microdata Masking", 2004 (standard-deviation intervals).
Decided here: the scales are those of the release, and not of each file by itself, so that it does not matter who else
is attacked; equal published values stand at the middle of their ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, IntervalClaims, RecordClaims, SeveralClaims
from attacks.shared.measures import RIGHT_LINK, record_measures
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import Criterion, Goal, Measure
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import Beliefs
from auditor.posterior.distance import Nearest, no_agreement, no_distance
from auditor.posterior.metric import Metric

MEAN_OVER = tuple(range(1, 11))
"""The percentages that the mean measures of intervals are over."""
EndsOf = Callable[[Floats, float], tuple[Floats, Floats]]


@dataclass(frozen=True)
class RecordLinkage(WholeAttack):
    """Claims the nearest record for each person by a `metric`; `threshold` is the chance above which a person counts as at
    risk, `percent` how far an
    interval reaches."""

    name = "record-linkage"
    title = "the nearest record"
    summary = "Links people to the nearest published record, for averaged and noisy numbers."
    paper = "Domingo-Ferrer & Torra 2001; Torra, Abowd & Domingo-Ferrer 2006"
    goal = Goal.IDENTITY
    claim = "This person is the nearest published record."
    needs = "Some quasi-identifiers of the person, published in one block."
    success = "The nearest record is the person's own; among m equally near ones it counts 1/m."
    lowered_by = "Larger groups to average over (k), more noise, or fewer quasi-identifiers."
    criterion = Criterion.LINKABILITY
    measures = (
        *record_measures("{who} takes the nearest record, and it is the right one for {share}"),
        Measure(
            "rank_interval",
            "Share of true numbers that lie within the given percentage of ranks of the number published for them.",
            "{rate} of the true numbers{bounds} lie within {set_percent}\u202f% of the ranks of the published ones",
            label="true numbers near the published ones",
        ),
        Measure(
            "rank_interval_mean",
            "The same share, as the mean over 1, 2, … 10 % of the ranks.",
            "{rate} of the true numbers{bounds}, in the mean over 1 to 10\u202f%, lie within that share of the ranks of the "
            "published ones",
            label="true numbers near the published ones, by ranks, mean over 1 to 10 %",
        ),
        Measure(
            "sd_interval",
            "Share of true numbers that lie within the given percentage of a standard deviation of the number published for "
            "them.",
            "{rate} of the true numbers{bounds} lie within {set_percent}\u202f% of a standard deviation of the "
            "published ones",
            label="true numbers near the published ones, by standard deviations",
        ),
        Measure(
            "sd_interval_mean",
            "The same share, as the mean over 1, 2, … 10 % of a standard deviation.",
            "{rate} of the true numbers{bounds}, in the mean over 1 to 10\u202f%, lie within that share of a standard "
            "deviation of the published ones",
            label="true numbers near the published ones, by standard deviations, mean over 1 to 10 %",
        ),
    )
    support = ("at_risk", "mean", "max", "rank_interval")
    axis = RIGHT_LINK
    caption = "Record linkage: the nearest record is the right one"
    inside = ("threshold",)

    metric: Metric = Metric.EUCLID
    threshold: float = 0.2
    percent: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.percent <= 50:
            raise UsageError(f"record-linkage: percent must be above 0 and at most 50. Got {self.percent}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, knowledge = view.release, view.knowledge
        why = no_distance(release, knowledge.columns, knowledge.targets)
        if why is None and self.metric is Metric.AGREEMENT:
            why = no_agreement(release, knowledge)
        if why is not None:
            return NotApplicable(f"{why}.", None if knowledge.columns else Lacks.PEOPLE)
        beliefs: Beliefs = view.beliefs
        if not view.blind:
            beliefs = Nearest(release, knowledge, Suppression.EXCLUDED, metric=self.metric)
        records = RecordClaims(beliefs, self.threshold)
        columns = tuple(c for c in release.quasi if c in knowledge.columns and _are_points(release, c))
        return SeveralClaims((records, *self._intervals(view, columns))) if columns else records

    def _intervals(self, view: View, columns: tuple[str, ...]) -> Iterator[IntervalClaims]:
        """The intervals around the numbers published for each record."""
        number = view.release.block_number(columns[0])
        for measure, ends_of, chance_of in (
            ("rank_interval", _rank_interval, _rank_chance),
            ("sd_interval", _sd_interval, _sd_chance),
        ):
            for name, widths in ((measure, (self.percent,)), (f"{measure}_mean", MEAN_OVER)):
                chance = float(np.mean([chance_of(width / 100) for width in widths]))
                ends = None if view.blind else tuple(_ends(view.release, columns, ends_of, w / 100) for w in widths)
                yield IntervalClaims(
                    name, columns, number, ends, chance, {"percent": widths[0]} if len(widths) == 1 else {}
                )


def _ends(release: Release, columns: tuple[str, ...], ends_of: EndsOf, share: float) -> tuple[Floats, Floats]:
    """The lower and upper ends of the intervals of one width, by fragment and column."""
    ends = [ends_of(_points(release.labels[c])[release.block_of(c).cell(c)], share) for c in columns]
    low, high = (np.column_stack(sides) for sides in zip(*ends, strict=True))
    return low, high


def _are_points(release: Release, column: str) -> bool:
    """Whether a column publishes numbers, each by itself and not as one of several."""
    labels = release.labels[column]
    if labels.domain.numbers is None:
        return False
    used = np.unique(release.block_of(column).cell(column))
    points = _points(labels)[used]
    missing = labels.suppressed[used] | (labels.lo[used] == labels.domain.missing)
    return bool((~np.isnan(points) | missing).all() and (~np.isnan(points)).any())


def _points(labels: Labels) -> Floats:
    """The number that each label is; not a number where it is none, or several."""
    return np.where(labels.low == labels.high, labels.low, np.nan)


def _rank_interval(value: Floats, share: float) -> tuple[Floats, Floats]:
    """For each fragment the published numbers that stand this share of all ranks below and above its own."""
    there = np.flatnonzero(~np.isnan(value))
    ordered = np.sort(value[there])
    middle = (np.searchsorted(ordered, value[there]) + np.searchsorted(ordered, value[there], side="right") - 1) / 2
    reach, last = share * len(there), len(there) - 1
    low, high = np.full(len(value), np.nan), np.full(len(value), np.nan)
    low[there] = ordered[np.ceil(np.maximum(middle - reach, 0)).astype(np.int64)]
    high[there] = ordered[np.floor(np.minimum(middle + reach, last)).astype(np.int64)]
    return low, high


def _rank_chance(share: float) -> float:
    return min(2 * share, 1.0)


def _sd_interval(value: Floats, share: float) -> tuple[Floats, Floats]:
    """For each fragment its own number, less and more this share of the standard deviation of all published ones."""
    reach = share * float(np.nanstd(np.sort(value)))  # sorted: the sum does not depend on the order of rows
    return value - reach, value + reach


def _sd_chance(share: float) -> float:
    """How much of a normal distribution lies within this share of a standard deviation of its mean."""
    return math.erf(share / math.sqrt(2))
