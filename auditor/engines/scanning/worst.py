"""The worst class, looked for where it may be: bounds for all classes, exact figures for the few that the bounds leave.

Distances need the values of a class in order, and sorting all of them costs more than counting them. But only the greatest
distance is asked for. So the engine first sums, with the other sums of a class, how many of its people lie below each of a
few values in order, which cut the whole table into *cells* of about equal shares. From these and from what else is known of
a class follows the most that its figures can be:

- equal distance, 1 - Σ min(p, q) over the values that occur in the class: min(p, q) is at least q · min(1, least p/q), and
  at least p · min(1, 1 / greatest p/q);
- ordered distance, Σ |P - Q| over the places: inside a cell P lies between what it is at the cell's ends, and so does Q; at
  the last place of a cell P is known. Where every place is a cell the bound is the distance;
- the share near to a value: people near to any value of a cell lie in the cells that its first and last values reach.

The classes with the greatest bounds are fetched and their figures computed in memory. Where no other bound is above the
greatest figure, that is the answer. Otherwise the engine computes the figures of all classes whose bound is above it
(`distances`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.scanning.counting import fetch, small_table
from auditor.engines.scanning.distances import EQUAL, NEAR, ORDERED, greatest_distances, greatest_in_memory
from auditor.engines.scanning.sensitive import Sensitive
from auditor.measure import nearness
from auditor.model.arrays import Ints

CELLS = 8
"""More cells bound better; every one is a sum more over all entries. On benchmarks eight leave a few hundred classes."""
FETCHED = 300
"""So many classes with the greatest bound of each kind are looked at first."""
ENTRIES = 1_000_000
"""Of classes with many values fewer are, so that no more than so many entries of each kind are fetched, or one class."""
_ROUNDING = 1e-12
"""Bounds that exceed a figure by less are the figure, computed otherwise."""


def bound_name(figure: str) -> str:
    """What the bound of a figure is called."""
    return f"{figure}_bound"


def figures(column: Sensitive) -> list[str]:
    """The figures that a column has."""
    found = [EQUAL]
    if column.order is not None and column.placed > 1:
        found.append(ORDERED)
    if column.number is not None:
        found.append(NEAR)
    return found


def cells(column: Sensitive) -> Ints:
    """The places at which cells begin, 0 first, and the number of places at the end."""
    if column.order is None:
        return np.zeros(1, dtype=np.int64)
    inner = np.searchsorted(column.reached, np.arange(1, CELLS) / CELLS) + 1
    if column.placed <= CELLS:
        inner = np.arange(1, column.placed)
    return np.unique(np.concatenate([[0], inner[inner < column.placed], [column.placed]]))


def sums(column: Sensitive, found: Any) -> dict[str, Any]:
    """What is summed over the entries of a class for the bounds, beside its `size`, `gain` and `loss`: entries have the share
    `q` and the place `start` of their value."""
    ibis, wanted = column.ibis, {"seen": found.q.sum()}
    begins = cells(column)
    for number, begin in enumerate(begins[1:].tolist(), start=1):
        if number < len(begins) - 1 or not column.all_placed:
            wanted[f"below{number}"] = ibis.ifelse(found.start < begin, found.n, 0.0).sum()
    return wanted


def with_bounds(column: Sensitive, each: Any) -> Any:
    """Classes with the bounds of their figures, from the sums, which are dropped."""
    ibis, begins = column.ibis, cells(column)
    people = float(column.values.whole.sum())
    last = len(begins) - 1
    summed = [name for name in each.columns if name.startswith("below")]
    placed = each[f"below{last}"].nullif(0) if f"below{last}" in summed else each["size"]
    each = each.mutate(**{f"share{number}": each[f"below{number}"] / placed for number in range(1, last)})
    nobody = placed * 0.0  # a plain 0.0 is a decimal to DuckDB, whose products overflow
    share = [nobody, *(each[f"share{number}"] for number in range(1, last)), nobody + 1.0]
    bound = {EQUAL: _equal_bound(ibis, each, people)}
    if ORDERED in figures(column):
        bound[ORDERED] = _ordered_bound(column, begins, share).fill_null(0.0)
    if NEAR in figures(column):
        bound[NEAR] = _near_bound(column, begins, share).fill_null(0.0)
    each = each.mutate(**{bound_name(figure): most for figure, most in bound.items()})
    return each.drop("seen", *summed, *(f"share{number}" for number in range(1, last)))


def _equal_bound(ibis: Any, each: Any, people: float) -> Any:
    rarest = ibis.least(each.loss * people / each["size"], 1.0)
    commonest = ibis.greatest(each.gain * people / each["size"], 1.0)
    return ibis.least(1.0 - rarest * each.seen, 1.0 - 1.0 / commonest)


def _ordered_bound(column: Sensitive, begins: Ints, share: list[Any]) -> Any:
    ibis, reached = column.ibis, column.reached.tolist()
    most = share[0]
    for cell, (first, beyond) in enumerate(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)):
        before, after = share[cell], share[cell + 1]
        if beyond < column.placed:  # at the last place of all both have reached 1
            most = most + (after - reached[beyond - 1]).abs()
        if beyond - first > 1:
            apart = ibis.greatest(after - reached[first], reached[beyond - 2] - before)
            most = most + apart * float(beyond - first - 1)
    return most / float(column.placed - 1)


def _near_bound(column: Sensitive, begins: Ints, share: list[Any]) -> Any:
    assert column.number is not None
    assert column.reach is not None
    number = column.number
    low = np.searchsorted(number, nearness.lower(number[begins[:-1]], column.reach), side="left")
    high = np.searchsorted(number, nearness.upper(number[begins[1:] - 1], column.reach), side="right")
    start = np.searchsorted(begins, low, side="right") - 1
    end = np.searchsorted(begins, high, side="left")
    reached = sorted(set(zip(start.tolist(), end.tolist(), strict=True)))
    spans = [share[after] - share[before] for before, after in reached]
    return spans[0] if len(spans) == 1 else column.ibis.greatest(*spans)


def greatest(column: Sensitive, entries: Any, each: Any) -> dict[str, float]:
    """The greatest of each figure among the classes; `each` has their bounds."""
    wanted = figures(column)
    chosen, beyond = _most_bounded(column, each, wanted)
    best = greatest_in_memory(column, entries.semi_join(small_table(column.ibis, **chosen), column.keys), wanted)
    open_ = [figure for figure in wanted if beyond[figure] > best[figure] + _ROUNDING]
    if open_:
        above = [each[bound_name(figure)] > best[figure] + _ROUNDING for figure in open_]
        rest = each.filter(column.ibis.or_(*above)).select(*column.keys)
        found = greatest_distances(column, entries.semi_join(rest, column.keys), open_)
        best |= {figure: max(best[figure], found[figure]) for figure in open_}
    return best


def _most_bounded(column: Sensitive, each: Any, wanted: list[str]) -> tuple[dict[str, NDArray[Any]], dict[str, float]]:
    """The keys of the classes with the greatest bounds of each kind; and a bound of each kind that no other class exceeds."""
    names = [bound_name(figure) for figure in wanted]
    each = each.select(*column.keys, *names, "kinds")
    tops = [each.order_by([each[name].desc(), *column.keys]).limit(FETCHED) for name in names]
    found = fetch(tops[0] if len(tops) == 1 else column.ibis.union(*tops, distinct=True))
    chosen = np.zeros(len(found["kinds"]), dtype=np.bool_)
    for name in names:
        order = np.argsort(-found[name], kind="stable")[:FETCHED]
        chosen[order[np.cumsum(found["kinds"][order]) <= ENTRIES]] = True
        chosen[order[:1]] = True
    beyond = {}
    for figure, name in zip(wanted, names, strict=True):
        unseen = np.sort(found[name])[-FETCHED] if len(chosen) >= FETCHED else -np.inf
        beyond[figure] = float(max(unseen, found[name][~chosen].max(initial=-np.inf)))
    return {key: found[key][chosen] for key in column.keys}, beyond
