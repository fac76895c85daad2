"""Figures of people: where several targets are one person's rows, the person is hit as hard as the worst of them.

A person counts as found where any of their records is. So each one's part of a figure is the greatest over their targets: in
the attack, in the baseline and in the control alike; and rates, counts and intervals are over people. What an adversary
expects of several tries at one person is not known: such figures have no expectation.

A household is found where anybody of it is: 1 − Π(1 − r) over its people, r being each one's chance of being found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.claims import MemberClaims
from auditor.auditing.scoring.figures import COUNT, EXTREME, FACT, Figure, Truth, rate
from auditor.model.arrays import Floats, Ints
from auditor.posterior.beliefs import TIE

_OF_TARGETS = ("calibration", "success_of", "exact", "wrong")  # details that are about single targets


def greatest(each: Floats, number: Ints, count: int) -> Floats:
    """The greatest figure of each person, given the number of each target's person."""
    out = np.full(count, -np.inf)
    np.maximum.at(out, number, each)
    return out


def per_person(figure: Figure, truth: Truth) -> Figure:
    """A figure over people, where some have several targets."""
    if truth.person is None or figure.kind is FACT:
        return figure
    if figure.each is None:  # the same for everybody, or no figure of single targets
        return figure if figure.rows is not None else replace(figure, n=len(np.unique(truth.person)))
    rows = truth.rows if figure.rows is None else figure.rows
    order = np.argsort(truth.rows, kind="stable")
    person = truth.person[order[np.searchsorted(truth.rows[order], rows)]]
    people, number = np.unique(person, return_inverse=True)
    if len(people) == len(person) or not len(people):
        return figure
    each, hit, at_large, believed = (
        None if one is None else greatest(one, number, len(people))
        for one in (figure.each, figure.hit, figure.at_large, figure.believed)
    )
    assert each is not None
    first = np.full(len(people), np.iinfo(np.int64).max)
    np.minimum.at(first, number, rows)
    detail = {key: value for key, value in figure.detail.items() if key not in _OF_TARGETS}
    if "histogram" in detail:
        edges = detail["histogram"]["edges"]
        spread = each if believed is None else believed
        counts = np.histogram(np.clip(spread + TIE, edges[0], edges[-1]), bins=edges)[0].tolist()
        detail["histogram"] = {"edges": edges, "counts": counts}
    value = float(each.sum() if figure.kind is COUNT else each.max() if figure.kind is EXTREME else each.mean())
    if "over_people" in detail:
        detail["over_records"], value = value, max(value, detail["over_people"])
    targets = figure.hit if figure.rows is None else None
    return replace(
        figure, value=value, n=len(people), expected=None, each=each, hit=hit, rows=first, detail=detail,
        at_large=at_large, believed=believed, targets=targets,
    )  # fmt: skip


def members_of(claims: MemberClaims, person: Ints | None) -> MemberClaims:
    """Claims of membership about people: each has the highest score of their rows. `person` says whose all targets are."""
    if person is None:
        return claims
    person = person if claims.asked is None else person[claims.asked]
    people, number = np.unique(person, return_inverse=True)
    scores = {name: greatest(each, number, len(people)) for name, each in claims.scores.items()}
    return replace(claims, scores=scores)


def household_figures(right: Floats, truth: Truth, threshold: float) -> list[Figure]:
    """The risk that anybody of a household is linked to their own record; none where households are not known."""
    if truth.household is None or not len(right):
        return []
    person = np.arange(len(right)) if truth.person is None else truth.person
    _, first, number = np.unique(person, return_index=True, return_inverse=True)
    risk = greatest(right, number, len(first))
    _, home = np.unique(truth.household[first], return_inverse=True)
    safe = np.zeros(int(home.max()) + 1)
    np.add.at(safe, home, np.log1p(-np.minimum(risk, 1.0), where=risk < 1.0, out=np.full(len(risk), -np.inf)))
    each = 0.0 - np.expm1(safe)
    rows = np.full(len(each), np.iinfo(np.int64).max)
    np.minimum.at(rows, home, truth.rows[first])
    above = (each > threshold + TIE).astype(np.float64)
    params = {"threshold": threshold}
    return [
        Figure("household_max", EXTREME, float(each.max()), len(each), None, each, hit=each, rows=rows),
        replace(rate("household_mean", each), rows=rows),
        replace(rate("household_at_risk", above, params=params), rows=rows, hit=above * each),
    ]
