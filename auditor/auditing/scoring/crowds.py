"""Scoring claims about a crowd: everybody in the data, not only the people under attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.claims import PredicateClaims, SampleClaims
from auditor.auditing.scoring.figures import FACT, Crowd, Figure, Truth, rate
from auditor.measure.individual_risk import class_totals, individual_risk
from auditor.measure.isolation import by_chance, isolated, meeting
from auditor.model.arrays import Floats
from auditor.model.schema import Role
from auditor.model.table import Table


def score_predicates(claims: PredicateClaims, truth: Truth) -> list[Figure]:
    """Singling out: a predicate that exactly one person of the data meets is right. Where other people stand in for those
    of the data it is the chance that exactly one of as many of them would. What is not known of them is not judged."""
    crowd = _crowd(truth)
    judged = [i for i, p in enumerate(claims.predicates) if all(column in crowd.table.codes for column in p)]
    matches, hit = np.zeros(len(judged), dtype=np.int64), np.zeros(crowd.table.rows)
    for number, i in enumerate(judged):
        place = meeting(claims.predicates[i], crowd.table.codes, crowd.table.rows)
        matches[number] = len(place)
        if len(place) == 1:
            hit[place] += 1.0
    right = isolated(matches, crowd.table.rows, crowd.size)
    detail = {
        "people_isolated": int((hit > 0).sum()),
        "by_chance": float(by_chance(claims.weight, crowd.size).mean()) if len(claims.weight) else None,
    }
    figure = rate("success", right, claims.belief[judged], params=claims.params, detail=detail)
    return [replace(figure, each=None, hit=np.where(np.isin(crowd.rows, truth.rows), hit, 0.0), rows=crowd.rows)]


def score_sample(claims: SampleClaims, truth: Truth) -> list[Figure]:
    """Individual risk: a class of records stands for as many people as their sampling weights add up to."""
    crowd = _crowd(truth)
    place = crowd.fragment[:, claims.block]
    key = np.where(place >= 0, claims.key[place], -1)
    weight = sampling_weights(crowd.table)
    inside = np.flatnonzero((key >= 0) & np.isin(crowd.rows, truth.rows))
    doubt, risk = None, np.zeros(crowd.table.rows)
    if weight is None:
        doubt, inside = "the sampling weights of the people are not known without the original", inside[:0]
    elif not len(inside):
        doubt = "none of the people asked about has a record with quasi-identifiers"
    elif not (weight[key >= 0] > 0).all():
        doubt, inside = "some sampling weights are missing or not above 0", inside[:0]
    else:
        sample, population = class_totals(key[key >= 0], weight[key >= 0])
        risk[key >= 0] = individual_risk(sample, population)
    each, rows = risk[inside], crowd.rows[inside]
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
