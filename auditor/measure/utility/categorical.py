"""Dist, CTBIL', ACTBIL' and EBIL: how much categorical values and their tables change.

Over the categorical (nominal and ordinal) columns that are published:

- `Dist`: the mean over people and columns of the distance between the true and the published value, as the paper defines it:
  of nominal values 0 or 1, whatever their taxonomy; of ordinals the number of steps between them over the number of
  categories, so that the ends of four are 3/4 apart.
- `CTBIL'`: Σ |f - f'|/max(f, 1) over the cells of all contingency tables of up to `order` (2) columns, where f is the number
  of people in a cell of the original and f' in the same cell of the release. A cell that is empty in the original counts f'.
- `ACTBIL'`: CTBIL' over the number of cells of all these tables.
- `EBIL`: Σ over people and columns of H(V|V' = v'), in bits: what is not known about a value once its label is. The shares of
  the values under a label are counted. `detail.share` is EBIL over n·ΣH(V), what is not known without the release.

Paper: J. Domingo-Ferrer, V. Torra, "Disclosure control methods and information loss for microdata", 2001, and "Ordinal,
continuous and heterogeneous k-anonymity through microaggregation", DMKD 2005 (their primes: relative change). Labels that
cover several values and separated blocks: see `worlds`. Missing is a value like others, a whole column away from all.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import NOT_SYNTHETIC, ORIGINAL, WHO, Measure, measure, not_applicable
from auditor.measure.utility.worlds import World, original_codes, over_worlds, said, worlds
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.record.record import Utility
from auditor.model.schema import Type

ORDER = 2
MOST_TABLES = 300
"""Of more tables of two columns than this, this many are drawn."""

Tables = list[tuple[str, ...]]


def distance(case: Case) -> list[Utility]:
    """The mean distance between true and published values."""
    reason = case.nobodys or _reason(case)
    if reason:
        return [not_applicable("Dist", reason)]
    drawn = worlds(case)
    true = {c: original_codes(case, c, everybody=False) for c in case.categorical}

    def figure(world: World) -> float:
        far = [categorical_distance(case.release.labels[c].domain, codes, world.codes(c)) for c, codes in true.items()]
        return float(np.mean([one.mean() for one in far]))

    value, low, high = over_worlds([figure(world) for world in drawn])
    params = {**said(case, drawn, case.categorical), "distance": "nominal: 0 or 1; ordinal: steps over categories"}
    return [Utility("Dist", value=value, better="lower", low=low, high=high, params=params)]


def categorical_distance(domain: Domain, one: Codes, other: Codes) -> Floats:
    """The distance of categories, from 0 to 1: of nominal ones whether they differ, of ordinal ones the steps between them
    over the number of categories; 1 from a missing value to any other."""
    differ: Floats = (one != other).astype(np.float64)
    if domain.column.type is not Type.ORDINAL:
        return differ
    steps: Floats = np.abs(one.astype(np.int64) - other) / max(domain.known, 1)
    return np.where((one < domain.known) & (other < domain.known), steps, differ)


def tables(case: Case) -> list[Utility]:
    """The relative change of contingency tables, in total and per cell."""
    names, reason = ("CTBIL'", "ACTBIL'"), _reason(case)
    if reason:
        return [not_applicable(name, reason) for name in names]
    drawn, looked_at = worlds(case), _tables(case)
    size = {c: case.release.labels[c].domain.size for c in case.categorical}
    cells = sum(int(np.prod([size[c] for c in table], dtype=object)) for table in looked_at)
    true = {c: original_codes(case, c) for c in case.categorical}
    found = []
    for world in drawn:
        given = {c: world.codes(c) for c in case.categorical}
        cells_of = [(_cell(true, table, size), _cell(given, table, size)) for table in looked_at]
        found.append(sum(table_change(*pair, case.people_a_row) for pair in cells_of))
    params = {
        **said(case, drawn, case.categorical),
        "order": min(ORDER, len(size)),
        "tables": len(looked_at),
        "cells": cells,
    }
    rows = []
    for name, over in zip(names, (1, cells), strict=True):
        value, low, high = over_worlds([one / over for one in found])
        rows.append(Utility(name, value=value, better="lower", low=low, high=high, params=params))
    return rows


def entropy(case: Case) -> list[Utility]:
    """What is not known about the values once their labels are."""
    reason = case.nobodys or _reason(case)
    if reason:
        return [not_applicable("EBIL", reason)]
    drawn = worlds(case) if len(case.release.blocks) > 1 else worlds(case)[:1]  # labels are not drawn, only joined
    true = {c: original_codes(case, c, everybody=False) for c in case.categorical}
    found = [sum(unknown(world.labels(c), codes) for c, codes in true.items()) for world in drawn]
    value, low, high = over_worlds(found)
    most = sum(unknown(np.zeros_like(codes), codes) for codes in true.values())
    params = said(case, drawn, case.categorical)
    params["values"] = "labels as published"
    detail = {"share": value / most if most else 0.0, "without_release": most}
    return [Utility("EBIL", value=value, better="lower", low=low, high=high, params=params, detail=detail)]


def unknown(label: Codes, code: Codes) -> float:
    """Σ over rows of H(V | label), in bits: with n(l) rows of a label and n(v, l) of them with a value, that is
    Σ over pairs of n(v, l)·log2(n(l)/n(v, l))."""
    pair = label.astype(np.int64) * (int(code.max(initial=0)) + 1) + code
    kinds, times = np.unique(pair, return_counts=True)
    of_label = np.bincount(label)[kinds // (int(code.max(initial=0)) + 1)]
    return float((times * np.log2(of_label / times)).sum())


def table_change(before: Ints, after: Ints, people_a_row: float = 1.0) -> float:
    """Σ |f - f'|/max(f, 1) over cells; both give the cell of each person, the second that of rows that may stand for more or
    less than one."""
    cells = np.unique(np.concatenate([before, after]))
    f = np.bincount(np.searchsorted(cells, before), minlength=len(cells))
    g = np.bincount(np.searchsorted(cells, after), minlength=len(cells))
    return float((np.abs(f - people_a_row * g) / np.maximum(f, 1)).sum())


def _cell(codes: dict[str, Codes], table: tuple[str, ...], size: dict[str, int]) -> Ints:
    """The cell of each person in a table."""
    cell = np.zeros(len(codes[table[0]]), dtype=np.int64)
    for column in table:
        cell = cell * size[column] + codes[column]
    return cell


def _tables(case: Case) -> Tables:
    """The columns of each table: all tables of one column, and all or some of two."""
    columns = case.categorical
    if comb(len(columns), ORDER) <= MOST_TABLES:
        pairs = list(combinations(columns, ORDER))
    else:
        every = list(combinations(range(len(columns)), ORDER))
        chosen = np.sort(case.rng("tables").choice(len(every), MOST_TABLES, replace=False))
        pairs = [(columns[every[i][0]], columns[every[i][1]]) for i in chosen]
    return [*((column,) for column in columns), *pairs]


def _reason(case: Case) -> str | None:
    """Why the measures do not apply, or None."""
    return case.unmatched or (None if case.categorical else "no published column is categorical")


def _measure(name: str, means: str, label: str, compute: Callable[[Case], list[Utility]]) -> Measure:
    columns = "with nominal or ordinal columns"
    applies = (
        f"every kind of release {columns}; {ORIGINAL}" if compute is tables else f"{NOT_SYNTHETIC}, {columns}; {WHO}"
    )
    worst = 1 if compute is distance else None
    return measure(name, means, label, compute, applies, "Domingo-Ferrer & Torra 2001, 2005", 0, worst)


CATEGORICAL = (
    _measure(
        "Dist",
        "Mean distance of true and published categories: of nominal ones 0 or 1, of ordinal ones steps over categories.",
        "change of categories",
        distance,
    ),
    _measure(
        "CTBIL'",
        "Relative change of the frequencies of all contingency tables of one or two categorical columns, summed over cells.",
        "change of contingency tables",
        tables,
    ),
    _measure("ACTBIL'", "CTBIL' per cell of these tables.", "change per table cell", tables),
    _measure(
        "EBIL",
        "What is not known of categorical values once their labels are: conditional entropy in bits, summed over people.",
        "entropy of categories",
        entropy,
    ),
)
