"""Scoring claims about a crowd: everybody in the data, not only the people under attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.claims import PredicateClaims, SampleClaims
from auditor.auditing.scoring.figures import FACT, Crowd, Figure, Truth, rate
from auditor.auditing.scoring.people import greatest
from auditor.measure.class_risk import UNSOUND
from auditor.measure.individual_risk import can_be_weight, individual_risk
from auditor.measure.isolation import by_chance, isolated, meeting
from auditor.model.arrays import Floats
from auditor.model.schema import Role
from auditor.model.table import Table

_TOO_COMMON = "no description by what is published is so rare that hardly anybody would fit it"


def score_predicates(claims: PredicateClaims, truth: Truth) -> list[Figure]:
    """Singling out: a predicate that exactly one person of the data meets is right. Where other people stand in for those
    of the data it is the chance that exactly one of as many of them would. What is not known of them is not judged. Beside
    it stands the chance with which predicates of such weights isolate one of as many fresh people; where the weight is a
    guess, that of the weight which isolates most often."""
    crowd = _crowd(truth)
    judged = [i for i, p in enumerate(claims.predicates) if all(column in crowd.table.codes for column in p)]
    matches, hit = np.zeros(len(judged), dtype=np.int64), np.zeros(crowd.table.rows)
    for number, i in enumerate(judged):
        place = meeting(claims.predicates[i], crowd.table.codes, crowd.table.rows)
        matches[number] = len(place) if crowd.person is None else len(np.unique(crowd.person[place]))
        if matches[number] == 1:
            hit[place[0]] += 1.0
    there = crowd.table.rows if crowd.person is None else len(np.unique(crowd.person))
    right = isolated(matches, there, crowd.size)
    detail = {"people_isolated": int((hit > 0).sum())}
    if claims.tried is not None:
        detail["records_tried"] = claims.tried
    weight = claims.weight if claims.narrowed is None else np.where(claims.narrowed, 1 / crowd.size, claims.weight)
    chance = by_chance(weight[judged], crowd.size)
    figure = rate(claims.measure, right, claims.belief[judged], params=claims.params, detail=detail, chance=chance)
    if not len(judged):
        figure = replace(figure, doubt=_TOO_COMMON)
    return [replace(figure, each=None, hit=np.where(np.isin(crowd.rows, truth.rows), hit, 0.0), rows=crowd.rows)]


def score_sample(claims: SampleClaims, truth: Truth) -> list[Figure]:
    """Individual risk: the records that agree with one stand for as many people as their sampling weights add up to. Records
    of people who are not known take no part."""
    crowd = _crowd(truth)
    place = crowd.fragment[:, claims.block]
    kind = np.where(place >= 0, claims.alike.kind[place], -1)
    alike = replace(claims.alike, kind=kind)
    weight = sampling_weights(crowd.table)
    if weight is None and claims.weight is not None:
        weight = np.where(place >= 0, claims.weight[place], np.nan)
    inside = np.flatnonzero(alike.inside & np.isin(crowd.rows, truth.rows))
    doubt, risk = None, np.zeros(crowd.table.rows)
    if weight is None:
        doubt, inside = "the sampling weights are neither published nor known without the original", inside[:0]
    elif not len(inside):
        doubt = "none of the people asked about has a record with quasi-identifiers"
    elif not can_be_weight(weight[alike.inside]).all():
        doubt, inside = UNSOUND, inside[:0]
    else:
        found = alike.agreeing(alike.sums(np.column_stack([np.ones(len(weight)), weight])))
        assert found is not None  # the attack counted the same records
        of_each = found[kind[alike.inside]]
        risk[alike.inside] = individual_risk(of_each[:, 0], of_each[:, 1])
    each, rows = risk[inside], crowd.rows[inside]
    if crowd.person is not None:
        _, first, number = np.unique(crowd.person[inside], return_index=True, return_inverse=True)
        each, rows = greatest(each, number, len(first)), rows[first]
    figures = {
        "weighted_max": float(each.max()) if len(each) else None,
        "weighted_mean": float(each.mean()) if len(each) else None,
        "reidentified": float(each.sum()) if len(each) else None,
    }
    return [
        Figure(measure, FACT, value, len(each), None, each, hit=each, rows=rows, doubt=doubt)
        for measure, value in figures.items()
    ]


def _crowd(truth: Truth) -> Crowd:
    if truth.crowd is not None:
        return truth.crowd
    assert truth.table is not None
    return Crowd(truth.table, truth.rows, truth.fragment, truth.table.rows)


def sampling_weights(table: Table) -> Floats | None:
    """The sampling weight of each person, not a number where it is missing; None for a table without weights."""
    for column in table.schema.names(Role.WEIGHT):
        if column in table.codes:
            numbers = table.domains[column].numbers
            assert numbers is not None
            return np.append(numbers, np.nan)[np.minimum(table.codes[column], len(numbers))]
    return None
