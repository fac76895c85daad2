"""Risk rows: a measured figure and its companions as one row of the record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from attacks.base import Attack, Lacks, NotApplicable, Rows
from auditor.auditing.scoring.figures import Control, Figure, Truth, rate
from auditor.measure.intervals import Estimate, Interval, correlation, excess
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Better, Goal, Kind, Measure
from auditor.model.record.record import NOT_APPLICABLE, NOT_CONVERGED, OK, ORIGINAL, Risk
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary

_DIGITS = 12  # figures that agree to so many digits are equal: sums in another order differ in the last ones
WORST, WORST_CLASSES = 10, 5
_NO_RECORD = "people who are not in the release have no record that it could be about"
_COUNTED = "it is counted in the release, and nothing is claimed of anybody"
F = TypeVar("F", Figure, Figure | None)
_OF_CLASSES = ("mean", "success")  # the figures of which the worst classes are named


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who attacks, how, and what is sought."""

    attack: Attack
    adversary: Adversary
    link: Link | None = None
    column: str | None = None


def not_applicable(
    attempt: Attempt, why: NotApplicable, params: Mapping[str, Any] | None = None, measure: str | None = None
) -> Risk:
    """The row of an attack that does not apply, with the reason and what it lacks. What it lacks of the people is in the
    original."""
    attack = attempt.attack
    measure = measure or ("auc" if attack.goal is Goal.MEMBERSHIP else "success")
    known = _declared(attack, measure)
    lacks = None if why.lacks is None else ORIGINAL if why.lacks is Lacks.PEOPLE else str(why.lacks)
    return Risk(
        attack.name, attempt.adversary.name, attempt.link, measure, attempt.column, params or {}, NOT_APPLICABLE,
        why.reason, lacks=lacks, better=Better.LOWER if known is None else known.better,
    )  # fmt: skip


def _declared(attack: Attack, measure: str) -> Measure | None:
    return next((known for known in attack.measures if known.name == measure), None)


def worst_rows(each: Floats | None, rows: Ints) -> tuple[int, ...]:
    """The row numbers (from 1) of the people with the highest figures above zero; ties, beyond float noise, by row number."""
    if each is None:
        return ()
    order = np.lexsort((rows, -np.round(each, _DIGITS)))[:WORST]
    return tuple(int(rows[i]) + 1 for i in order if each[i] > 0)


def worst_classes(each: Floats, truth: Truth) -> list[dict[str, Any]]:
    """The classes whose people are hit hardest on average: how many of the targets are in each, the mean, and the row numbers
    (from 1) of some; ties by the first of them."""
    if truth.person is not None:  # of several rows of a person in a class the one that is hit hardest
        order = np.lexsort((truth.rows, -each, truth.person, truth.bucket))
        again = (np.diff(truth.bucket[order], prepend=-2) == 0) & (np.diff(truth.person[order], prepend=-1) == 0)
        once = np.zeros(len(each), dtype=np.bool_)
        once[order[~again]] = True
        each, truth = each[once], truth.take(once)
    inside = np.flatnonzero(truth.bucket >= 0)
    classes, of, size = np.unique(truth.bucket[inside], return_inverse=True, return_counts=True)
    mean = np.bincount(of, weights=each[inside], minlength=len(classes)) / size
    first = np.full(len(classes), np.iinfo(np.int64).max)
    np.minimum.at(first, of, truth.rows[inside])
    order = np.lexsort((first, -np.round(mean, _DIGITS)))[:WORST_CLASSES]
    hit = [i for i in order.tolist() if mean[i] > 0]
    rows = {i: (np.sort(truth.rows[inside[of == i]])[:WORST_CLASSES] + 1).tolist() for i in hit}
    return [{"people": int(size[i]), "mean": float(mean[i]), "rows": rows[i]} for i in hit]


def risk_row(attempt: Attempt, figure: Figure) -> Risk:
    """The row of a figure that has its companions."""
    low, high = figure.interval or (None, None)
    known = _declared(attempt.attack, figure.measure)
    value = figure.value
    if value is not None and figure.kind is Kind.COUNT and abs(value - round(value)) < 1e-9:
        value = round(value)
    return Risk(
        attempt.attack.name,
        attempt.adversary.name,
        attempt.link,
        figure.measure,
        attempt.column,
        figure.params,
        status=OK if figure.doubt is None else NOT_CONVERGED,
        reason=figure.doubt,
        value=value,
        expected=figure.expected,
        baseline=figure.baseline,
        control=figure.control,
        control_kind=figure.control_kind,
        low=low,
        high=high,
        n=figure.n,
        worst_rows=() if figure.rows is None else worst_rows(figure.hit, figure.rows),
        detail=figure.detail,
        kind=figure.kind if known is None else known.kind,
        better=Better.LOWER if known is None else known.better,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """What a figure is set beside: the same without the release, and on people who are not in it (`kind` says who); `rows`
    are their row numbers where they are targets as well; `why` there is no control, where there is none."""

    baseline: Figure | None
    control: Figure | None
    kind: Control | None
    rows: Ints | None = None
    why: str | None = None


def completed(attempt: Attempt, figure: Figure, beside: Beside, truth: Truth) -> Figure:
    """A figure with its companions, its excess over them, and whom it hits."""
    if figure.at_large is not None:
        beside = replace(beside, baseline=replace(rate(figure.measure, figure.at_large), rows=figure.rows))
    known = _declared(attempt.attack, figure.measure)
    if figure.chance is not None and beside.kind is not Control.OUTSIDERS:
        beside = replace(beside, control=rate(figure.measure, figure.chance), kind=Control.CHANCE)
    control = None if figure.kind is Kind.FACT else beside.control
    if control is not None and control.value is None:
        beside = replace(beside, control=None, why=beside.why or _NO_RECORD)
        control = None
    detail = dict(figure.detail)
    if control is not None:
        detail["control_n"] = control.n
    elif figure.kind is not Kind.FACT:
        detail["no_control"] = beside.why
    elif known is not None and known.kind is not Kind.FACT:
        detail["no_control"] = _COUNTED
    shares = replace(beside, baseline=_share(beside.baseline), control=_share(control))
    beyond = _excess(attempt.attack, _share(figure), shares, truth.rows)
    if beyond is not None:
        detail["excess"] = beyond
    granted = attempt.link is Link.CLASS
    hit = figure.hit if figure.rows is None else figure.targets
    if granted and figure.measure in _OF_CLASSES and hit is not None:
        detail["worst_classes"] = worst_classes(hit, truth)
    against = _companion(figure, control)
    return replace(
        figure,
        baseline=_companion(figure, beside.baseline),
        control=against,
        control_kind=None if against is None else beside.kind,
        rows=truth.rows if figure.rows is None else figure.rows,
        detail=detail,
    )


def _companion(figure: Figure, other: Figure | None) -> float | None:
    """A companion's value; beside a count, scaled to as many people."""
    if other is None or other.value is None or figure.kind is Kind.FACT:
        return None
    return other.value / max(other.n, 1) * figure.n if figure.kind is Kind.COUNT else other.value


def _share(figure: F) -> F:
    """A count as the share of the people that it is, which may have an excess; any other figure as it is."""
    if figure is None or figure.kind is not Kind.COUNT or figure.value is None or not figure.n:
        return figure
    return replace(figure, kind=Kind.RATE, value=figure.value / figure.n)


def _excess(attack: Attack, figure: Figure, beside: Beside, rows: Ints) -> dict[str, Any] | None:
    """What a rate has over its control or its baseline, whichever is higher; the interval begins where it would over either,
    so that a few people in the control, who happen to do worse than the baseline, are no evidence.

    What could be guessed without the release is no gain, and what is found of people outside of it is no loss. A
    control with the own record left out is lower than it should be in small classes: without the person's own value a
    class speaks against it. Somebody without a record is never linked rightly, so of links the companion is a record
    named at random; it is no estimate, so it has no interval. In a synthetic release nobody has a record, and outsiders
    are linked like anybody. Predicates (a figure without a part for each target) isolate outsiders as well, more or
    less often: their companions are estimates.
    """
    there = {"baseline": (beside.baseline, rows), "control": (beside.control, beside.rows)}
    fixed = attack.goal is Goal.IDENTITY and figure.each is not None and attack.rows is Rows.PEOPLE
    found: dict[str, tuple[float, Estimate]] = {}
    own = figure.interval
    for name, (other, others) in there.items():
        if own is None or figure.value is None or other is None or other.value is None:
            continue
        limits = (None if fixed else other.interval) or (other.value, other.value)
        together = 0.0 if fixed else _together(figure, rows, other, others)
        beyond = excess(figure.value, Interval(*own), other.value, Interval(*limits), together)
        if beyond is None:
            return None
        found[name] = other.value, beyond
    if not found:
        return None
    over = max(found, key=lambda name: found[name][0])
    least = min(beyond.low for _, beyond in found.values())
    return {"value": found[over][1].value, "low": least, "high": found[over][1].high, "over": over}


def _together(figure: Figure, rows: Ints, other: Figure, others: Ints | None) -> float:
    """The correlation of two figures that are, in part, of the same people; 0 where they are of others."""
    if figure.each is None or other.each is None or others is None:
        return 0.0
    first, second = (default if one.rows is None else one.rows for one, default in ((figure, rows), (other, others)))
    if np.array_equal(first, second):
        return correlation(figure.each, other.each)
    _, mine, theirs = np.intersect1d(first, second, return_indices=True)
    if not len(mine):
        return 0.0
    return correlation(figure.each[mine], other.each[theirs]) * len(mine) / math.sqrt(len(first) * len(second))
