"""Scoring: claims against the truth.

The only place, with the audit, that knows what is true. Each form of claim (`attacks/claims.py`) gives figures: what was
measured, and beside it what the adversary expected of it. Ties count 1/m; thresholds are strict, beyond float noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from attacks.claims import (
    ChanceClaims,
    FactClaims,
    IntervalClaims,
    KeyClaims,
    NameClaims,
    RangeClaims,
    RecordClaims,
    SeveralClaims,
    UnrelatedClaims,
    ValueClaims,
    WindowClaims,
)
from auditor.auditing.scoring.crowds import score_predicates, score_sample
from auditor.auditing.scoring.figures import EXTREME, FACT, RATE, Figure, Truth, count, rate
from auditor.auditing.scoring.people import household_figures
from auditor.measure.attribution import attributed, others_with
from auditor.measure.nearness import lower, upper
from auditor.model.arrays import Floats, Ints
from auditor.model.keeping import kept
from auditor.model.record.policy import OF_SAMPLE
from auditor.model.values import format_number
from auditor.posterior.beliefs import TIE, ValueBeliefs

_ATTRIBUTED = ("cap", "disco", "replicated")


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
    found, top = beliefs.classes(truth.bucket)
    params = {"threshold": claims.threshold}
    mean = rate("mean", right)
    if claims.per_class is not None and mean.value:  # of people who are not in the release no record is theirs
        detail = {"over_records": mean.value, "over_people": claims.per_class}
        mean = Figure("mean", RATE, max(mean.value, claims.per_class), mean.n, None, right, detail=detail)
    edges = [0.0, 0.01, 0.02, 0.05, 0.09, 0.2, 0.34, 0.5, 1.0]
    counts = _histogram(right, edges)
    return [
        Figure("max", EXTREME, float(right.max()) if len(right) else None, len(right), None, right, hit=right),
        replace(mean, detail={**mean.detail, "histogram": {"edges": edges, "counts": counts}}, hit=right),
        count("at_risk", _above(right, claims.threshold), right, params=params),
        rate("success", records.named(right), records.best),
        count("class_found", found, expected=float(top.sum())),
        *household_figures(right, truth, claims.threshold),
    ]


@score.register
def score_intervals(claims: IntervalClaims, truth: Truth) -> list[Figure]:
    """Record linkage: the share of true numbers in the intervals around the published ones."""
    if claims.ends is None:
        return [Figure(claims.measure, RATE, claims.chance, len(truth.rows), params=claims.params)]
    place = truth.fragment[:, claims.block]
    held, asked = np.zeros((2, len(place), len(claims.columns)))
    for i, column in enumerate(claims.columns if truth.table is not None else ()):
        assert truth.table is not None
        numbers, codes = truth.table.domains[column].numbers, truth.table.codes[column]
        assert numbers is not None
        for ends in claims.ends:
            low, high = (side[place, i] for side in ends)
            known = (place >= 0) & (codes >= 0) & (codes < len(numbers)) & ~np.isnan(low)
            true = numbers[np.where(known, codes, 0)]
            asked[:, i] += known
            held[:, i] += known & (lower(low, 0.0) <= true) & (true <= upper(high, 0.0))
    there = asked.sum(axis=1) > 0
    each = held[there].sum(axis=1) / asked[there].sum(axis=1)
    of_column = {
        c: float(h / a) for c, h, a in zip(claims.columns, held.sum(axis=0), asked.sum(axis=0), strict=True) if a
    }
    figure = rate(claims.measure, each, params=claims.params, detail={"columns": of_column})
    return [replace(figure, rows=truth.rows[there])]


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


TRUE_CLAIMS = ("certain_right", "above_right")
"""The measures that need the truth about the people, not only what is published."""


def _sure(
    sure: Floats, right: Floats, truth: Truth, tau: float, params: Mapping[str, Any], shown: Mapping[str, Any]
) -> Iterator[Figure]:
    """The claims made with certainty, and those with a confidence above τ: how many, and how many of them are true. A claim
    that is right although the release shows noise or an average is luck, neither true nor counted as wrong."""
    certain, above = _above(sure, 1 - 2 * TIE), _above(sure, tau)
    true = right if truth.shown is None else right * truth.shown
    wrong = {"wrong": float((certain * (1 - right)).sum())}
    yield count("certain", certain, sure, params=params, detail={**shown, **wrong})
    yield count("certain_right", certain * true, sure, params=params, detail=shown)
    yield count("above", above, sure, params={**params, "tau": tau}, detail=shown)
    yield count("above_right", above * true, sure, params={**params, "tau": tau}, detail=shown)


def as_often(control: list[Figure], figures: list[Figure]) -> list[Figure]:
    """A control with everybody's own record left out, where its claims are made as often as those about the targets.

    Whoever is left out of a class of one value sees that value with certainty, and has it: counted as they are, true claims
    would be as many as before. But somebody who is in no class would find themselves in such a class only as often as the
    targets do, while those who differ from all others of their class see a certain value as well, and a wrong one. So the
    true claims are the share of the control's claims that are true, times the claims about the targets.
    """
    made = list(control)
    for place, (claims, right) in enumerate(pairwise(control)):
        target = figures[place]
        if right.measure in TRUE_CLAIMS and claims.value and right.value is not None and target.value is not None:
            share = min(1.0, right.value / claims.value * target.value / max(target.n, 1))
            made[place + 1] = replace(right, value=share * right.n, each=None)
    return made


@score.register
def score_values(claims: ValueClaims, truth: Truth) -> list[Figure]:
    """Homogeneity: how sure the likeliest value is, and whether it was the true one."""
    assert truth.codes is not None
    values = claims.values
    top = values.top()[values.row_of]
    edges = [round(0.1 * i, 1) for i in range(11)]
    counts = _histogram(top, edges)
    shown = _shown(values, truth)
    right = values.named(truth.codes)
    how = dict(claims.detail)
    if claims.beside and len(right):
        codes = truth.codes
        how["success_of"] = {name: float(other.named(codes).mean()) for name, other in claims.beside.items()}
    figures = [
        *_sure(top, right, truth, claims.tau, claims.params, shown),
        rate(
            "success",
            right,
            top,
            params=claims.params,
            detail={**shown, **how, "histogram": {"edges": edges, "counts": counts}},
        ),
    ]
    if claims.tenth and len(top):
        edge = np.sort(top)[-max(len(top) // 10, 1)]
        sure = top >= edge * (1 - TIE)  # ties at the edge included, whatever the order of rows
        first = rate("success_top_tenth", right[sure], top[sure])
        figures.append(replace(first, rows=truth.rows[sure]))
    return [figure.unexpected for figure in figures] if claims.together else figures


def _near(claims: WindowClaims, values: ValueBeliefs, number: Floats, row: Ints) -> Floats:
    """The mass of the given rows of beliefs within ε of a number each."""
    return values.between(row, *_reach(claims.numbers, number, claims.epsilon, claims.relative))


def _reach(numbers: Floats, number: Floats, epsilon: float, relative: bool) -> tuple[Ints, Ints]:
    """The first of the numbers that lies within ε of each of some, and the first after those that do."""
    reach = epsilon * np.abs(number) if relative else np.full(len(number), epsilon)
    first = np.searchsorted(numbers, lower(number, reach), side="left")
    return first, np.searchsorted(numbers, upper(number, reach), side="right")


@score.register
def score_windows(claims: WindowClaims, truth: Truth) -> list[Figure]:
    """Proximity: the mass near the true number, the claimed window, and whether it held the truth."""
    assert truth.codes is not None
    numbers, values = claims.numbers, claims.values
    known = (truth.codes >= 0) & (truth.codes < len(numbers))
    if not known.all():  # somebody without a number cannot be near one
        some = replace(claims, values=values.of(values.row_of[known]))
        rows = truth.rows[known]
        return [replace(figure, rows=rows) for figure in score_windows(some, truth.take(known))]
    true = numbers[truth.codes]
    near = _near(claims, values, true, values.row_of)
    exact = values.at(truth.codes)
    expected = _expected_near(values, numbers, claims.epsilon, claims.relative)[values.row_of]
    tied = np.bincount(claims.row, minlength=len(claims.mass))
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
    mean, believed = (float(each.mean()) if len(near) else None for each in (near, expected))
    most, widest = (float(each.max()) if len(each) else None for each in (near, window))
    figures = [
        Figure("max", EXTREME, most, len(near), None, near, params, detail, near),
        Figure("mean", RATE, mean, len(near), believed, near, params, detail, near),
        count("above", _above(near, claims.tau), near, params={**params, "tau": claims.tau}),
        Figure("window", EXTREME, widest, len(window), None, window, width, {**detail, **shown}, window),
        rate("success", held, window, params=width, detail=shown),
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


@kept(2)
def _expected_near(values: ValueBeliefs, numbers: Floats, epsilon: float, relative: bool) -> Floats:
    """For each row the mass within ε of the true number that the adversary expects: Σ_s p(s) · mass(s ± ε)."""
    expected, reach = np.zeros(values.shape[0]), _reach(numbers, numbers, epsilon, relative)
    for where, part in values.parts():
        near = part.around(*reach)
        expected[where] = np.bincount(part.row_number, weights=part.rows.data * near, minlength=part.shape[0])
    return expected


def _held(claims: WindowClaims, true: Floats, tied: Ints) -> Floats:
    """For each target the share of its tied windows that hold the true number."""
    row_of = claims.values.row_of
    starts, rank = np.unique(claims.start, return_inverse=True)
    begun = np.searchsorted(starts, upper(true, 0.0), side="right")
    ended = np.searchsorted(upper(starts, claims.width), true, side="left")
    before = _counter(claims.row, rank.reshape(-1), len(starts))
    return (before(row_of, begun) - before(row_of, ended)) / np.maximum(tied[row_of], 1)


def _counter(row: Ints, place: Ints, places: int) -> Callable[[Ints, Ints], Ints]:
    """How many of some entries, each with a row and a place, are in a row and before a place. People share the rows that are
    claimed of them, and there may be thousands of tied claims: to count them is to look up two places, not to list pairs."""
    key = np.sort(row.astype(np.int64) * (places + 1) + place)

    def before(wanted: Ints, beyond: Ints) -> Ints:
        start = wanted.astype(np.int64) * (places + 1)
        return np.searchsorted(key, start + beyond) - np.searchsorted(key, start)

    return before


@score.register
def score_ranges(claims: RangeClaims, truth: Truth) -> list[Figure]:
    """Skewness and similarity: how sure the claimed range is, beside its share at large, and whether it held the truth."""
    assert truth.codes is not None
    values, row, first, last = claims.values, claims.row, claims.first, claims.last
    tied = np.bincount(row, minlength=values.rows.shape[0])
    mass = values.between(row, first, last)
    reached = np.concatenate([[0.0], np.cumsum(claims.prior)])
    lift = np.zeros(values.rows.shape[0])
    np.maximum.at(lift, row, mass / np.maximum(reached[last] - reached[first], claims.least))
    believed = np.bincount(row, weights=mass, minlength=len(tied)) / np.maximum(tied, 1)
    # of each target's ranges, those that have begun at the true code, less those that have ended
    places, next_code = values.rows.shape[1] + 1, truth.codes.astype(np.int64) + 1
    begun = _counter(row, first, places)(values.row_of, next_code)
    ended = _counter(row, last, places)(values.row_of, next_code)
    right = (begun - ended) / np.maximum(tied[values.row_of], 1)
    shares = np.bincount(row, weights=reached[last] - reached[first], minlength=len(tied)) / np.maximum(tied, 1)
    sure, lifts = believed[values.row_of], lift[values.row_of]
    highest = float(lifts.max()) if len(lifts) else None
    return [
        *_sure(sure, right, truth, claims.tau, claims.params, {}),
        Figure("lift_max", EXTREME, highest, len(lifts), None, lifts, claims.params, hit=lifts),
        rate("success", right, sure, params=claims.params, at_large=shares[values.row_of] if claims.at_large else None),
    ]


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
    sharing = np.maximum(tied.sum(axis=1), 1.0)
    total = mass.sum(axis=1)
    row, mine = values.row_of, of_code[truth.codes]
    unrelated = np.clip(total[row] - np.asarray(mass[row, mine]).reshape(-1), 0.0, 1.0)
    believed = np.where(total[row] > 0, 1 - np.asarray(tied[row, mine]).reshape(-1) / sharing[row], 0.0)
    believes = total - mass.multiply(mass).sum(axis=1)
    doubts = total - mass.multiply(tied).sum(axis=1) / sharing
    frequency = claims.reading == "frequency"
    params = {"reading": claims.reading, "level": claims.level}
    return [
        rate("mean", unrelated, believes[row] if frequency else None, params=params),
        count("above", _above(unrelated, claims.tau), unrelated, params={**params, "tau": claims.tau}),
        rate("top", believed, doubts[row] if frequency else None, params=params, detail=_shown(values, truth)),
    ]


@score.register
def score_names(claims: NameClaims, truth: Truth) -> list[Figure]:
    """Aliases: how many are taken for the value that they stand for, of those that a target has; among m tied values a guess
    counts 1/m."""
    assert truth.codes is not None
    place = truth.fragment[:, claims.block]
    name = np.where(place >= 0, claims.name[place], -1)
    seen, first = np.unique(name[name >= 0], return_index=True)
    if not len(seen):
        return [Figure("decoded", FACT, None, 0, params=claims.params)]
    belief, true = claims.beliefs[seen], truth.codes[name >= 0][first]
    top = belief >= belief.max(axis=1, keepdims=True) * (1 - TIE)
    right = np.where(top[np.arange(len(seen)), true], 1 / top.sum(axis=1), 0.0)
    return [Figure("decoded", FACT, float(right.sum()), len(seen), params=claims.params)]


@score.register
def score_chances(claims: ChanceClaims, truth: Truth) -> list[Figure]:
    """What comes true by itself: the mean over those who were tried."""
    rows = truth.rows if claims.asked is None else truth.rows[claims.asked]
    detail = {OF_SAMPLE: True} if len(rows) < len(truth.rows) else {}
    return [replace(rate(claims.measure, claims.each, params=claims.params, detail=detail), rows=rows)]


@score.register
def score_keys(claims: KeyClaims, truth: Truth) -> list[Figure]:
    """Attribution: whether records with a person's key have the person's value."""
    assert truth.codes is not None
    true = claims.class_of[truth.codes]
    if claims.key is None or claims.records is None:
        assert claims.shares is not None
        nothing = np.zeros(len(true))
        guessed = (claims.shares[true], nothing, nothing)
        return [rate(m, each, params=claims.params) for m, each in zip(_ATTRIBUTED, guessed, strict=True)]
    found = attributed(claims.key, true, claims.records, claims.value, _others(claims, truth))
    cap = replace(rate("cap", found.right[found.matched], params=claims.params), rows=truth.rows[found.matched])
    if not found.matched.any():
        cap = replace(cap, doubt="nobody's known values occur in the release")
    others = ((found.disclosed, "disco"), (found.replicated, "replicated"))
    return [cap, *(rate(name, each.astype(np.float64), params=claims.params) for each, name in others)]


def _others(claims: KeyClaims, truth: Truth) -> Ints | None:
    """How many people in the data have the key of each target, besides the target."""
    data = truth.data
    if data is None or claims.among is None:
        return None
    keys, wanted = claims.among(data.table)
    whose = data.rows if data.person is None else data.person
    own = truth.rows if truth.person is None else truth.person
    if truth.crowd is not data:  # they are not in the data
        own = np.full(len(own), int(whose.max(initial=-1)) + 1)
    return others_with(wanted, own, keys, whose)


@score.register
def score_facts(claims: FactClaims, truth: Truth) -> list[Figure]:
    """Facts are what they are; the truth only says whose rows are hit."""
    figures = []
    for fact in claims.facts:
        each = fact.each
        if each is not None and fact.block is not None:
            place = truth.fragment[:, fact.block]
            each = np.where(place >= 0, each[place], 0.0)
        told = fact.measure, FACT, fact.value, fact.n, None, each, fact.params, fact.detail, each
        figures.append(Figure(*told, limits=fact.interval, doubt=fact.doubt))
    return figures


score.register(score_predicates)
score.register(score_sample)
