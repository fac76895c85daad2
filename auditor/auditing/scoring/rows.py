"""Risk rows: a measured figure and its companions as one row of the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attacks.base import Attack, Goal, Lacks, NotApplicable
from auditor.auditing.scoring.claims import COUNT, FACT, Figure, Truth
from auditor.auditing.scoring.members import MemberFigure
from auditor.measure.intervals import Interval, excess
from auditor.model.arrays import Floats, Ints
from auditor.model.record.record import NOT_APPLICABLE, NOT_CONVERGED, OK, ORIGINAL, Risk
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary

_DIGITS = 12
"""Figures that agree to so many digits are equal: sums in another order differ in the last ones."""
WORST, WORST_CLASSES = 10, 5
_OF_CLASSES = ("mean", "success")
"""The figures of which the worst classes are named."""


def not_applicable(
    attack: Attack,
    adversary: Adversary,
    link: Link | None,
    why: NotApplicable,
    sensitive: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Risk:
    """The row of an attack that does not apply, with the reason and what it lacks: of the people the original says
    who they are."""
    measure = "auc" if attack.goal is Goal.MEMBERSHIP else "success"
    lacks = None if why.lacks is None else ORIGINAL if why.lacks is Lacks.PEOPLE else str(why.lacks)
    return Risk(
        attack.name, adversary.name, link, measure, sensitive, params or {}, NOT_APPLICABLE, why.reason, lacks=lacks
    )


def worst_rows(each: Floats | None, rows: Ints) -> tuple[int, ...]:
    """The row numbers (from 1) of the people with the highest figures above zero; ties, beyond float noise, by row number."""
    if each is None:
        return ()
    order = np.lexsort((rows, -np.round(each, _DIGITS)))[:WORST]
    return tuple(int(rows[i]) + 1 for i in order if each[i] > 0)


def worst_classes(each: Floats, truth: Truth) -> list[dict[str, Any]]:
    """The classes whose people are hit hardest on average: how many of the targets are in each, the mean, and the row numbers
    (from 1) of some; ties by the first of them."""
    inside = np.flatnonzero(truth.bucket >= 0)
    classes, of, size = np.unique(truth.bucket[inside], return_inverse=True, return_counts=True)
    mean = np.bincount(of, weights=each[inside], minlength=len(classes)) / size
    first = np.full(len(classes), np.iinfo(np.int64).max)
    np.minimum.at(first, of, truth.rows[inside])
    order = np.lexsort((first, -np.round(mean, _DIGITS)))[:WORST_CLASSES]
    return [
        {
            "people": int(size[i]),
            "mean": float(mean[i]),
            "rows": (np.sort(truth.rows[inside[of == i]])[:WORST_CLASSES] + 1).tolist(),
        }
        for i in order.tolist()
        if mean[i] > 0
    ]


def risk_row(
    attack: Attack,
    adversary: Adversary,
    link: Link | None,
    column: str | None,
    figure: Figure,
    baseline: Figure | None,
    control: Figure | None,
    kind: str | None,
    truth: Truth,
) -> Risk:
    """The row of a figure beside its baseline and control."""
    scale = figure.n if figure.kind == COUNT else 1.0
    detail = dict(figure.detail)
    limits = figure.interval

    def companion(other: Figure | None) -> float | None:
        if other is None or other.value is None or figure.kind == FACT:
            return None
        return other.value / max(other.n, 1) * scale if figure.kind == COUNT else other.value

    if control is None and figure.kind != FACT:
        detail["no_control"] = (
            "no record fits anybody who is not in the release, and none is left without the own one"
            if attack.linked
            else "nobody is known who is not in the release: give a population"
        )
    elif control is not None:
        detail["control_n"] = control.n
    beyond = _excess(attack, figure, baseline, control, kind)
    if beyond is not None:
        detail["excess"] = beyond
    if not adversary.sure_of_membership:
        detail.pop("calibration", None)  # as with what is expected of the whole
    if link is Link.CLASS and figure.measure in _OF_CLASSES and figure.hit is not None and figure.rows is None:
        detail["worst_classes"] = worst_classes(figure.hit, truth)
    value = figure.value
    if value is not None and figure.kind == COUNT and abs(value - round(value)) < 1e-9:
        value = round(value)
    return Risk(
        attack.name,
        adversary.name,
        link,
        figure.measure,
        column,
        figure.params,
        status=OK if figure.doubt is None else NOT_CONVERGED,
        reason=figure.doubt,
        value=value,
        # somebody unsure of membership expects less than is found among people who are in: not the same question
        expected=figure.expected if adversary.sure_of_membership else None,
        baseline=companion(baseline),
        control=companion(control),
        control_kind=None if companion(control) is None else kind,
        low=limits[0] if limits else None,
        high=limits[1] if limits else None,
        n=figure.n,
        worst_rows=worst_rows(figure.hit, truth.rows if figure.rows is None else figure.rows),
        detail=detail,
    )


def _excess(
    attack: Attack, figure: Figure, baseline: Figure | None, control: Figure | None, kind: str | None
) -> dict[str, Any] | None:
    """What a rate has over its control, and over which companion.

    Leaving a person's own value out of a small class makes the class speak against it, so a leave-one-out control lies too
    low (and for a harm, belief in what is unrelated to the truth, too high); where it lies on that side of the baseline the
    excess is over the baseline. Somebody without a record is never linked rightly,
    so there the companion is a record named at random, whether or not there is a control; neither is an estimate, so
    neither has an interval. Predicates (a figure without a part for each target) isolate outsiders as well, more or less
    often: their companions are estimates.
    """
    linking = attack.goal is Goal.IDENTITY
    if control is None and linking:
        control = baseline
    if figure.interval is None or figure.value is None or control is None or control.value is None:
        return None
    beside, over = control, "baseline" if control is baseline else "control"
    if (kind == "leave_one_out" or linking) and baseline is not None and baseline.value is not None:
        better = baseline.value < control.value if attack.harm else baseline.value > control.value
        beside, over = (baseline, "baseline") if better else (control, over)
    if beside.value is None:
        return None
    fixed = linking and figure.each is not None
    limits = beside.interval if beside.interval and not fixed else (beside.value, beside.value)
    beyond = excess(figure.value, Interval(*figure.interval), beside.value, Interval(*limits))
    return None if beyond is None else {"value": beyond.value, "low": beyond.low, "high": beyond.high, "over": over}


def member_row(attack: Attack, adversary: Adversary, figure: MemberFigure, against: str, targets: Ints) -> Risk:
    """The row of a membership figure: members against one other group."""
    low, high = figure.interval or (None, None)
    return Risk(
        attack.name,
        adversary.name,
        None,
        figure.measure,
        params=figure.params,
        status=OK if figure.doubt is None else NOT_CONVERGED,
        reason=figure.doubt,
        value=figure.value,
        expected=figure.expected,
        baseline=figure.baseline,
        control=figure.control,
        control_kind=None if figure.control is None else against,
        low=low,
        high=high,
        n=figure.n,
        worst_rows=worst_rows(figure.each, targets) if figure.params.get("score") == "posterior" else (),
        detail=figure.detail or {},
    )
