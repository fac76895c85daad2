"""Correlation: how much the association of pairs of columns changes, which is what slicing promises to keep.

The mean over pairs of columns of |a - a'|, where a is the association in the original and a' in the release: Pearson's r for
two columns of numbers or ordinals (these by rank), φ² for two nominal ones (`auditor/measure/association.py`), and for a
mixed pair the correlation ratio η², the share of the numbers' spread that lies between the values. All are 0 without
association (or if a column has one value) and 1 in absolute value if it is perfect.

Paper: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing: a new approach for privacy preserving data publishing", IEEE TKDE 2012
(φ²). Labels that cover several values and separated blocks: see `worlds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from auditor.measure.association import mean_square_contingency
from auditor.measure.utility.case import Case
from auditor.measure.utility.continuous import moments
from auditor.measure.utility.measure import ALL, measure, not_applicable
from auditor.measure.utility.worlds import World, original_codes, original_numbers, over_worlds, said, worlds
from auditor.model.arrays import Codes, Floats
from auditor.model.domain import Domain
from auditor.model.record.record import Utility
from auditor.model.schema import Type

MOST_PAIRS = 300
"""Of more pairs than this, this many are drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """One column to be associated: numbers (NaN if missing), or codes of a nominal one."""

    numbers: Floats | None
    codes: Codes


def correlation(case: Case) -> list[Utility]:
    """The mean absolute change of the association of pairs of columns."""
    reason = case.unmatched
    if not reason and len(case.columns) < 2:
        reason = "it needs two published columns that are in the original"
    if reason:
        return [not_applicable("correlation", reason)]
    pairs = list(combinations(case.columns, 2))
    if len(pairs) > MOST_PAIRS:
        chosen = np.sort(case.rng("correlation").choice(len(pairs), MOST_PAIRS, replace=False))
        pairs = [pairs[i] for i in chosen]
    before = _associations(pairs, {c: _true(case, c) for c in case.columns})
    drawn = worlds(case)
    after = np.array([_associations(pairs, {c: _given(world, c) for c in case.columns}) for world in drawn])
    value, low, high = over_worlds(np.abs(after - before).mean(axis=1).tolist())
    mean = after.mean(axis=0)
    worst = int(np.argmax(np.abs(mean - before)))
    detail = {"most_changed": {"columns": list(pairs[worst]), "before": before[worst], "after": float(mean[worst])}}
    params = {**said(case, drawn, case.columns), "pairs": len(pairs)}
    return [Utility("correlation", value=value, better="lower", low=low, high=high, params=params, detail=detail)]


def association(one: Variable, other: Variable) -> float:
    """How strongly two columns are associated: r, φ² or η²."""
    if one.numbers is not None and other.numbers is not None:
        return float(np.nan_to_num(moments(np.column_stack([one.numbers, other.numbers]))[2][0, 1]))
    if one.numbers is not None:
        return correlation_ratio(one.numbers, other.codes)
    if other.numbers is not None:
        return correlation_ratio(other.numbers, one.codes)
    return mean_square_contingency(one.codes, other.codes)


def correlation_ratio(numbers: Floats, codes: Codes) -> float:
    """η²: the sum of squares between the groups of a nominal column over that of all numbers; 0 if they have no spread."""
    there = ~np.isnan(numbers)
    if not there.any():
        return 0.0
    known, group = numbers[there], np.unique(codes[there], return_inverse=True)[1]
    shifted = known - known.mean()
    total = float((shifted**2).sum())
    if total <= len(known) * (1e-12 * float(np.abs(known).max())) ** 2:
        return 0.0
    means = np.bincount(group, weights=shifted) / np.bincount(group)
    return min(float((np.bincount(group) * means**2).sum()) / total, 1.0)


def _associations(pairs: list[tuple[str, str]], columns: dict[str, Variable]) -> Floats:
    return np.array([association(columns[one], columns[other]) for one, other in pairs])


def _true(case: Case, column: str) -> Variable:
    codes, domain = original_codes(case, column), case.release.labels[column].domain
    return Variable(original_numbers(case, column) if domain.numbers is not None else _ranks(domain, codes), codes)


def _given(world: World, column: str) -> Variable:
    codes, domain = world.codes(column), world.case.release.labels[column].domain
    return Variable(world.numbers(column) if domain.numbers is not None else _ranks(domain, codes), codes)


def _ranks(domain: Domain, codes: Codes) -> Floats | None:
    """The ranks of an ordinal column's values, NaN for missing ones; None for a nominal column."""
    if domain.column.type is not Type.ORDINAL:
        return None
    return np.where(codes < domain.known, codes.astype(np.float64), np.nan)


CORRELATION = measure(
    "correlation",
    "Mean absolute change of the association of pairs of columns (Pearson, φ², correlation ratio).",
    "change of correlations",
    correlation,
    ALL,
    "Li, Li, Zhang & Molloy 2012",
    best=0,
)
