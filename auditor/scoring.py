"""Scoring: claims against the truth.

The only place, with the audit, that knows what is true. Each form of claim (`attacks/claims.py`) gives figures: what was
measured, and beside it what the adversary expected of it. Ties count 1/m; thresholds are strict, beyond float noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from attacks.claims import RecordClaims, SeveralClaims, UnrelatedClaims, ValueClaims, WindowClaims
from auditor.measure.intervals import wilson
from auditor.measure.nearness import lower, upper
from auditor.model.domain import Domain
from auditor.model.values import format_number
from auditor.posterior.beliefs import TIE, ValueBeliefs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RATE, COUNT, EXTREME, FACT = "rate", "count", "extreme", "fact"
"""How a figure comes about: a mean or a count over targets, the extreme one, or a fact of the release alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The truth about targets: their row numbers (from 0), bucket and fragments (-1: not in the release), and the code of
    their value in the sensitive column in question (-1: not known). `reveal` allows claimed values into details."""

    rows: Ints
    bucket: Ints
    fragment: Ints
    codes: Ints | None = None
    domain: Domain | None = None
    reveal: bool = False

    def take(self, which: NDArray[np.bool_]) -> Truth:
        """The truth about some of the targets."""
        codes = None if self.codes is None else self.codes[which]
        return replace(
            self, rows=self.rows[which], bucket=self.bucket[which], fragment=self.fragment[which], codes=codes
        )


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """One measured figure. `each` is its part for every target, `hit` how badly each target is hit (to name the worst;
    None where nobody is worse off than another), `rows` whose that is where it is not all targets', `kind` how it comes
    about."""

    measure: str
    kind: str
    value: float | None
    n: int
    expected: float | None = None
    each: Floats | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    hit: Floats | None = None
    rows: Ints | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a rate."""
        if self.kind != RATE or self.value is None or self.n == 0:
            return None
        low, high = wilson(self.value * self.n, self.n)
        return float(low), float(high)


def _rate(measure: str, each: Floats, expected: Floats | None = None, **more: Any) -> Figure:
    mean = float(each.mean()) if len(each) else None
    believed = float(expected.mean()) if expected is not None and len(expected) else None
    hit = each if expected is None else each * expected
    return Figure(measure, RATE, mean, len(each), believed, each, hit=hit, **more)


def _count(
    measure: str, each: Floats, degree: Floats | None = None, expected: float | None = None, **more: Any
) -> Figure:
    """A count; `degree` is the figure that decided who counts."""
    hit = None if degree is None else each * degree
    return Figure(measure, COUNT, float(each.sum()), len(each), expected, each, hit=hit, **more)


def _above(probability: Floats, limit: float) -> Floats:
    """1 where a probability is above a limit, beyond float noise; else 0."""
    return (probability > limit + TIE).astype(np.float64)


def _histogram(probability: Floats, edges: list[float]) -> list[int]:
    """How many probabilities lie from each edge to below the next; one at an edge, but for float noise, is at it."""
    counts: list[int] = np.histogram(np.clip(probability + TIE, edges[0], edges[-1]), bins=edges)[0].tolist()
    return counts


@singledispatch
def score(claims: object, truth: Truth) -> list[Figure]:
    """The figures of some claims. A further form of claim registers its own function here."""
    raise TypeError(f"There is no scoring for {type(claims).__name__} ({len(truth.rows)} targets).")


@score.register
def score_several(claims: SeveralClaims, truth: Truth) -> list[Figure]:
    """Each reading by itself."""
    return [figure for part in claims.parts for figure in score(part, truth)]


@score.register
def score_records(claims: RecordClaims, truth: Truth) -> list[Figure]:
    """Linking: the chance of the right record, and whether the named one was it."""
    beliefs = claims.beliefs
    right = beliefs.record_probability(truth.bucket, truth.fragment)
    records = beliefs.records()
    named = (right > 0) & (right >= records.best * (1 - TIE))
    found, top = beliefs.classes(truth.bucket)
    params = {"threshold": claims.threshold}
    mean = _rate("mean", right)
    if claims.per_class is not None and mean.value:  # of people who are not in the release no record is theirs
        detail = {"over_records": mean.value, "over_people": claims.per_class}
        mean = Figure("mean", RATE, max(mean.value, claims.per_class), mean.n, None, right, detail=detail)
    edges = [0.0, 0.01, 0.02, 0.05, 0.09, 0.2, 0.34, 0.5, 1.0]
    counts = _histogram(right, edges)
    return [
        Figure("max", EXTREME, float(right.max()) if len(right) else None, len(right), None, right, hit=right),
        Figure(
            mean.measure,
            RATE,
            mean.value,
            mean.n,
            None,
            right,
            detail={**mean.detail, "histogram": {"edges": edges, "counts": counts}},
            hit=right,
        ),
        _count("at_risk", _above(right, claims.threshold), right, params=params),
        _rate("success", np.where(named, 1 / records.tied, 0.0), records.best),
        _count("class_found", found, expected=float(top.sum())),
    ]


def _shown(values: ValueBeliefs, truth: Truth) -> dict[str, Any]:
    """The claimed values of a few targets, where the user asked to see them."""
    if not truth.reveal or truth.domain is None or len(truth.rows) > 20:
        return {}
    top = values.top_entries()
    claims = []
    for row in values.row_of.tolist():
        begin, end = values.rows.indptr[row], values.rows.indptr[row + 1]
        codes = values.rows.indices[begin:end][top[begin:end]]
        claims.append([truth.domain.texts[code] for code in codes.tolist()])
    return {"claim": claims[0] if len(claims) == 1 else claims}


def _right_top(values: ValueBeliefs, codes: Ints) -> Floats:
    """For each target the share that its true value has in the tied top of its row."""
    tied = np.bincount(values.row_number, weights=values.top_entries(), minlength=values.rows.shape[0])
    top = values.top()[values.row_of]
    right = (top > 0) & (values.at(codes) >= top * (1 - TIE))
    return np.where(right, 1 / np.maximum(tied, 1)[values.row_of], 0.0)


@score.register
def score_values(claims: ValueClaims, truth: Truth) -> list[Figure]:
    """Homogeneity: how sure the likeliest value is, and whether it was the true one."""
    assert truth.codes is not None
    values = claims.values
    top = values.top()[values.row_of]
    edges = [round(0.1 * i, 1) for i in range(11)]
    counts = _histogram(top, edges)
    shown = _shown(values, truth)
    return [
        _count("certain", _above(top, 1 - 2 * TIE), top, detail=shown),
        _count("above", _above(top, claims.tau), top, params={"tau": claims.tau}, detail=shown),
        _rate(
            "success",
            _right_top(values, truth.codes),
            top,
            detail={**shown, "histogram": {"edges": edges, "counts": counts}},
        ),
    ]


def _near(claims: WindowClaims, number: Floats, row: Ints) -> Floats:
    """The mass of the given rows within ε of a number each."""
    reach = claims.epsilon * np.abs(number) if claims.relative else np.full(len(number), claims.epsilon)
    first = np.searchsorted(claims.numbers, lower(number, reach), side="left")
    last = np.searchsorted(claims.numbers, upper(number, reach), side="right")
    return claims.values.between(row, first, last)


@score.register
def score_windows(claims: WindowClaims, truth: Truth) -> list[Figure]:
    """Proximity: the mass near the true number, the claimed window, and whether it held the truth."""
    assert truth.codes is not None
    numbers, values = claims.numbers, claims.values
    known = (truth.codes >= 0) & (truth.codes < len(numbers))
    if not known.all():  # somebody without a number cannot be near one
        some = replace(claims, values=ValueBeliefs(values.rows, values.row_of[known]))
        rows = truth.rows[known]
        return [replace(figure, rows=rows) for figure in score_windows(some, truth.take(known))]
    true = numbers[truth.codes]
    near = _near(claims, true, values.row_of)
    exact = values.at(truth.codes)
    expected = _expected_near(claims)[values.row_of]
    tied = np.bincount(claims.row, minlength=values.rows.shape[0])
    held = _held(claims, true, tied)
    window = claims.mass[values.row_of]
    params: dict[str, Any] = {"epsilon": claims.epsilon, "relative": claims.relative}
    detail: dict[str, Any] = {"exact": float(exact.mean()) if len(exact) else None}
    shown: dict[str, Any] = {}
    if truth.reveal and len(truth.rows) <= 20:
        starts = [claims.start[claims.row == row].tolist() for row in values.row_of.tolist()]
        spans = [
            [_span(claims, row, s) for s in some] for row, some in zip(values.row_of.tolist(), starts, strict=True)
        ]
        flat = [s[0] if len(s) == 1 else s for s in spans]
        shown = {"window": flat[0] if len(flat) == 1 else flat}
    width = {"width": claims.width}
    figures = [
        Figure("max", EXTREME, float(near.max()) if len(near) else None, len(near), None, near, params, detail, near),
        Figure(
            "mean",
            RATE,
            float(near.mean()) if len(near) else None,
            len(near),
            float(expected.mean()) if len(near) else None,
            near,
            params,
            detail,
            near,
        ),
        _count("above", _above(near, claims.tau), near, params={**params, "tau": claims.tau}),
        Figure(
            "window",
            EXTREME,
            float(window.max()) if len(window) else None,
            len(window),
            None,
            window,
            width,
            {**detail, **shown},
            window,
        ),
        _rate("success", held, window, params=width, detail=shown),
    ]
    if claims.m is not None:
        figures.append(Figure("m", FACT, claims.m, len(true), None, None, {"epsilon": claims.epsilon}))
    return figures


def _span(claims: WindowClaims, row: int, start: float) -> list[float]:
    """A claimed window, drawn in to the numbers that have mass in it."""
    begin, end = claims.values.rows.indptr[row], claims.values.rows.indptr[row + 1]
    codes = claims.values.rows.indices[begin:end]
    numbers = np.sort(claims.numbers[codes[codes < len(claims.numbers)]])
    inside = numbers[(numbers >= start) & (numbers <= start + claims.width * (1 + 1e-12))]
    return [float(format_number(inside[0])), float(format_number(inside[-1]))]


def _expected_near(claims: WindowClaims) -> Floats:
    """For each row the mass within ε of the true number that the adversary expects: Σ_s p(s) · mass(s ± ε)."""
    rows = claims.values.rows.sorted_indices()
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    keep = rows.indices < len(claims.numbers)
    number = claims.numbers[np.where(keep, rows.indices, 0)]
    near = np.where(keep, _near(claims, number, owner), 0.0)
    return np.bincount(owner, weights=rows.data * near, minlength=rows.shape[0]).astype(np.float64)


def _held(claims: WindowClaims, true: Floats, tied: Ints) -> Floats:
    """For each target the share of its tied windows that hold the true number."""
    row_of = claims.values.row_of
    order = np.argsort(claims.row, kind="stable")
    start, row = claims.start[order], claims.row[order]
    first = np.searchsorted(row, row_of)
    targets = np.repeat(np.arange(len(row_of)), tied[row_of])
    place = np.arange(len(targets)) - np.repeat(np.cumsum(tied[row_of]) - tied[row_of], tied[row_of])
    window = start[first[targets] + place]
    inside = (window <= upper(true[targets], 0.0)) & (true[targets] <= upper(window, claims.width))
    return np.bincount(targets, weights=inside, minlength=len(row_of)) / np.maximum(tied[row_of], 1)


@score.register
def score_unrelated(claims: UnrelatedClaims, truth: Truth) -> list[Figure]:
    """Divergence: belief in values of another group than the truth's."""
    assert truth.codes is not None
    values, groups = claims.values, claims.groups
    group, of_code = np.unique(groups, return_inverse=True)
    of_code = of_code.reshape(-1)
    ones = np.ones(len(of_code))
    grouping = sparse.csr_array((ones, (np.arange(len(of_code)), of_code)), shape=(len(of_code), len(group)))
    tops = sparse.csr_array(
        (values.top_entries().astype(np.float64), values.rows.indices, values.rows.indptr), shape=values.rows.shape
    )
    mass, tied = values.rows @ grouping, tops @ grouping
    count = np.maximum(tied.sum(axis=1), 1.0)
    total = mass.sum(axis=1)
    row, mine = values.row_of, of_code[truth.codes]
    unrelated = np.clip(total[row] - np.asarray(mass[row, mine]).reshape(-1), 0.0, 1.0)
    believed = np.where(total[row] > 0, 1 - np.asarray(tied[row, mine]).reshape(-1) / count[row], 0.0)
    believes = total - mass.multiply(mass).sum(axis=1)
    doubts = total - mass.multiply(tied).sum(axis=1) / count
    frequency = claims.reading == "frequency"
    params = {"reading": claims.reading, "level": claims.level}
    return [
        _rate("mean", unrelated, believes[row] if frequency else None, params=params),
        _count("above", _above(unrelated, claims.tau), unrelated, params={**params, "tau": claims.tau}),
        _rate("top", believed, doubts[row] if frequency else None, params=params, detail=_shown(values, truth)),
    ]
