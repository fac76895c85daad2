"""Distances of classes from the whole table, and nearness, by windows over the values of each class.

The closed forms are those of `auditor.measure`, rewritten for an engine:

- equal distance: Σ max(n/size - q, 0);
- ordered distance: between two values that occur in a class its cumulative share is constant, while that of the whole table
  never falls. So the sign of their difference changes at most once in each stretch. If that place is not at an end of the
  stretch, it is found by bisection: each step is a join with the short table of the whole's cumulative shares;
- (ε,m): the people within ±ε of each number, by a window over the numbers of the class;
- hierarchical distance: Σ over edges of weight · |p below - q below|, with values joined to the edges above them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.scanning.counting import fetch, small_table
from auditor.engines.scanning.sensitive import Sensitive
from auditor.measure import classes, divergences, nearness
from auditor.model.arrays import Floats

EQUAL, ORDERED, NEAR = "equal", "ordered", "near"
"""The figures whose greatest is wanted: the equal and the ordered distance, and the share of people near a value."""

_GRID = 1 << 14
"""The number of cells of the grid in which shares are looked up: more than most columns have values, but still small."""


def greatest_distances(column: Sensitive, entries: Any, wanted: Collection[str]) -> dict[str, float]:
    """The greatest of each wanted figure among the classes."""
    reach = even_reach(column) if NEAR in wanted else None
    streamed: dict[str, float] = {}
    if NEAR in wanted and reach is None:  # no single reach tells what is near
        streamed[NEAR] = max(greatest_in_memory(column, entries, [NEAR])[NEAR], 0.0)
        wanted = [figure for figure in wanted if figure != NEAR]
    if not wanted:
        return streamed
    known: dict[str, NDArray[Any]] = {"q": column.share}
    if column.order is not None:
        known["start"] = column.place
        known["before"] = _sums(column)[column.place]
    if reach is not None and column.number is not None and column.order is not None:
        # values without a number come last, out of every reach; nextafter in case the sum is rounded back to the number
        known["at"] = np.full(len(column.values.whole), np.nextafter(column.number[-1] + 3 * reach + 1.0, np.inf))
        known["at"][column.order] = column.number
    found = column.joined(entries, **known)
    found = _windows(column, found, reach, in_order=ORDERED in wanted or NEAR in wanted)
    if ORDERED in wanted:
        found = _stretches(column, found)
    ibis, each = column.ibis, {}
    if EQUAL in wanted:
        each[EQUAL] = ibis.greatest(found.n / found.total - found.q, 0.0).sum()
    if ORDERED in wanted:
        distance = found.stretch.sum() + float(_sums(column)[-1])
        each[ORDERED] = ibis.ifelse(found.placed_total.max() > 0, distance, 0.0) / max(column.placed - 1, 1)
    if NEAR in wanted:
        each[NEAR] = ibis.ifelse(found.start < column.placed, found.near / found.placed_total.nullif(0), 0.0).max()
    by_class = found.group_by(column.keys).agg(**each)
    worst = fetch(by_class.agg(**{figure: by_class[figure].max() for figure in each}))
    return {figure: max(float(worst[figure][0]), 0.0) for figure in each} | streamed


def greatest_in_memory(column: Sensitive, entries: Any, wanted: Collection[str]) -> dict[str, float]:
    """The same by the formulas of `auditor.measure`. Entries are fetched, some classes at a time."""
    best = dict.fromkeys(wanted, 0.0)
    order = np.empty(0, dtype=np.int64) if column.order is None else column.order
    for found in column.counts(entries):
        placed = found.counts.arranged(order)
        if EQUAL in best:
            distances = divergences.equal_distance(found.counts, column.values.whole)
            best[EQUAL] = max(best[EQUAL], float(distances.max()))
        if ORDERED in best:
            distances = divergences.ordered_distance(placed, column.values.whole[order])
            best[ORDERED] = max(best[ORDERED], float(distances.max()))
        if NEAR in best and len(placed.row) and column.number is not None and column.reach is not None:
            best[NEAR] = max(best[NEAR], 1 / nearness.least_m(placed, column.number, column.reach))
    return best


def even_reach(column: Sensitive) -> float | None:
    """A reach that, applied exactly, finds the same numbers near as `nearness` with its tolerance: half way between the
    widest gap that counts as near and the narrowest that does not. None if no such reach exists: the tolerance at large
    numbers, or rounding, is wider than the gap between small ones."""
    number, reach = column.number, column.reach
    if number is None or reach is None:
        return None
    last = np.searchsorted(number, nearness.upper(number, reach), side="right") - 1
    within = float((number[last] - number).max(initial=0.0))
    out = last + 1 < len(number)
    beyond = float((number[last[out] + 1] - number[out]).min(initial=2 * within + 1.0))
    rounding = 4 * float(np.spacing(np.abs(number).max(initial=beyond)))  # of a window's end
    return (within + beyond) / 2 if beyond - within > rounding and beyond < np.inf else None


def _sums(column: Sensitive) -> Floats:
    """The sum of the whole's cumulative shares before each place."""
    return np.concatenate([[0.0], np.cumsum(column.reached)])


def _windows(column: Sensitive, found: Any, reach: float | None, in_order: bool) -> Any:
    """Entries with the sums over their class: `total` and the placed ones; in order, those up to the entry and those near."""
    ibis, keys = column.ibis, column.keys
    every = ibis.window(group_by=keys)
    more = {"total": found.n.sum().over(every)}
    if in_order:
        by = "start" if reach is None else "at"  # one sort for all windows
        placed = found.n if column.all_placed else ibis.ifelse(found.start < column.placed, found.n, 0.0)
        more |= {
            "placed_total": more["total"] if column.all_placed else placed.sum().over(every),
            "running": placed.sum().over(ibis.cumulative_window(group_by=keys, order_by=by)),
            "end": found.start.lead().over(ibis.window(group_by=keys, order_by=by)),
        }
        if reach is not None:
            # the difference of two running sums: Spark would sum a window with two moving ends anew for every entry
            up_to = ibis.range_window(group_by=keys, order_by=by, preceding=None, following=reach)
            below = ibis.range_window(group_by=keys, order_by=by, preceding=(None, reach))
            more["near"] = found.n.sum().over(up_to) - found.n.sum().over(below).fill_null(0.0)
    return found.mutate(**more)


def _stretches(column: Sensitive, found: Any) -> Any:
    """What each stretch between two values of a class adds to its ordered distance, as `stretch`. The sums of the whole's
    shares up to its ends cancel with those of the next stretch, except for one constant."""
    ibis, reached, last = column.ibis, column.reached, column.placed
    found = found.mutate(
        end=found.end.fill_null(last),
        inside=ibis.ifelse(found.placed_total > 0, found.running / found.placed_total, 0.0),
    )
    # the number of places whose share is below that of the class: roughly from a grid, then by bisection
    edges = np.searchsorted(reached, np.arange(_GRID + 1) / _GRID)
    grid = small_table(ibis, cell=np.arange(_GRID), split=edges[:-1])
    cell = ibis.least((found.inside * _GRID).floor().cast("int64"), _GRID - 1)
    found = found.left_join(grid, cell == grid.cell).drop("cell")
    short = small_table(ibis, place=np.arange(last), share=reached)
    step = 1 << int(np.diff(edges).max()).bit_length() >> 1
    while step:
        found = found.left_join(short, found.split + (step - 1) == short.place).drop("place")
        further = ibis.ifelse((found.share < found.inside).fill_null(False), step, 0)
        found = found.mutate(split=found.split + further).drop("share")
        step //= 2
    found = found.mutate(split=ibis.greatest(ibis.least(found.split, found.end), found.start))
    sums = small_table(ibis, place=np.arange(last + 1), so_far=_sums(column))
    found = found.left_join(sums, found.split == sums.place)
    ends = 2 * found.split - found.start - found.end
    return found.mutate(stretch=found.inside * ends + 2 * (found.before - found.so_far))


def greatest_hierarchical(column: Sensitive, entries: Any) -> float | None:
    """The greatest hierarchical distance of a class; None for columns without one."""
    labels, whole = column.values.labels, column.values.whole
    nodes = classes.taxonomy_nodes(labels, column.values.label)
    taxonomy = labels.domain.taxonomy
    if nodes is None or taxonomy is None or not len(whole):
        return None
    if taxonomy.height == 0:
        return 0.0
    ibis, keys = column.ibis, column.keys
    value, edge, weight = divergences.taxonomy_edges(taxonomy, nodes)
    share = np.bincount(edge, weights=column.share[value], minlength=len(weight))
    above = small_table(ibis, value=value, edge=edge, weight=weight[edge], expected=share[edge])
    found = entries.mutate(total=entries.n.sum().over(ibis.window(group_by=keys))).join(above, "value")
    found = found.group_by([*keys, "edge", "total", "weight", "expected"]).agg(n=found.n.sum())
    moved = found.weight * ((found.n / found.total - found.expected).abs() - found.expected)
    found = found.group_by(keys).agg(moved=moved.sum())
    greatest = float(fetch(found.agg(moved=found.moved.max()))["moved"][0])
    return max(greatest + float(weight @ share), 0.0)
