"""The worst class: bounds for all classes, exact figures only for the few that the bounds leave in question.

Distances need the values of a class in order, and sorting all of them costs more than counting them. But only the greatest
distance is wanted. So along with the other sums of a class, the engine counts how many of its people lie below each of a few
values, which cut the ordered values of the whole table into *cells* of about equal shares. These counts and the other sums
bound the figures of a class:

- equal distance, 1 - Σ min(p, q) over the values that occur in the class: min(p, q) is at least q · min(1, least p/q), and
  at least p · min(1, 1 / greatest p/q);
- ordered distance, Σ |P - Q| over the places: inside a cell P lies between its values at the cell's ends, and so does Q; at
  the last place of a cell P is known. If every place is a cell, the bound is the distance itself;
- the share near a value: people near any value of a cell lie in the cells that its first and last values reach.

The classes with the greatest bounds are fetched and their figures computed in memory. If no other bound exceeds the greatest
figure, that is the answer. Otherwise the engine computes the figures of all classes whose bound exceeds it (`distances`).
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
"""More cells bound better, but each is one more sum over all entries. In benchmarks, 8 leave a few hundred classes."""
FETCHED = 300  # how many classes with the greatest bounds are computed first, for each figure
ENTRIES = 1_000_000
"""At most this many entries are fetched for each figure, so fewer classes if they have many values, but at least one."""
_ROUNDING = 1e-12  # a bound that exceeds a figure by less than this is the same figure, computed in another way


def bound_name(figure: str) -> str:
    """The name of a figure's bound."""
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
    """The places where cells begin, starting with 0, then the number of places."""
    if column.order is None:
        return np.zeros(1, dtype=np.int64)
    inner = np.searchsorted(column.reached, np.arange(1, CELLS) / CELLS) + 1
    if column.placed <= CELLS:
        inner = np.arange(1, column.placed)
    return np.unique(np.concatenate([[0], inner[inner < column.placed], [column.placed]]))


def sums(column: Sensitive, found: Any) -> dict[str, Any]:
    """What is summed over the entries of a class for the bounds, in addition to `size`, `gain` and `loss`. Entries have the
    share `q` and the place `start` of their value."""
    ibis, wanted = column.ibis, {"seen": found.q.sum()}
    begins = cells(column)
    for number, begin in enumerate(begins[1:].tolist(), start=1):
        if number < len(begins) - 1 or not column.all_placed:
            wanted[f"below{number}"] = ibis.ifelse(found.start < begin, found.n, 0.0).sum()
    return wanted


def with_bounds(column: Sensitive, each: Any) -> Any:
    """Classes with the bounds of their figures, computed from the sums, which are dropped."""
    ibis, begins = column.ibis, cells(column)
    people = float(column.values.whole.sum())
    last = len(begins) - 1
    summed = [name for name in each.columns if name.startswith("below")]
    placed = each[f"below{last}"].nullif(0) if f"below{last}" in summed else each["size"]
    each = each.mutate(**{f"share{number}": each[f"below{number}"] / placed for number in range(1, last)})
    nobody = placed * 0.0  # to DuckDB a plain 0.0 is a decimal, whose products overflow
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
        if beyond < column.placed:  # at the very last place both have reached 1
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
    """The keys of the classes with the greatest bounds, and for each figure a bound that no other class exceeds."""
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
