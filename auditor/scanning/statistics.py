"""Class statistics in an engine: the worst figures among the classes of each size, in one query per sensitive column.

The counts above zero of a class (value, n) make all of them, as in `auditor.measure`; the closed forms are the same, put so
that a class needs only sums, greatest and least ones:

- alpha, distinct and entropy l, recursive c: from Σ n, max n, the number of values, Σ n ln n, and (l > 2) the ranks of n;
- gains over the whole table (β, δ): p/q = (n/w)(N/size), so the greatest and least n/w of a class decide; a gain is over the
  limit of enhanced β where n/limit(value) exceeds the size;
- equal distance: Σ max(n/size - q, 0);
- ordered distance: the class's cumulative share is constant between two values that occur in it, and that of the whole never
  falls, so each stretch splits at one place. Where the place is not at an end of the stretch it is found by bisection:
  each step is a join with the short table of the whole's cumulative shares;
- hierarchical distance: Σ over edges of weight · |p below - q below|, values joined with the edges above them;
- (ε,m): the people within ±ε of each number, by a window over the numbers of the class.

Classes of one size come back as one row: how many there are, and their worst figures. There are at most √(2 · rows) sizes.
Where labels of a sensitive column overlap, what may be at worst has no such form: the counts then pass through memory,
some classes at a time (`overlapping`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.measure import ambiguity, classes, divergences, nearness
from auditor.measure.counts import ClassCounts, Entries, values_of
from auditor.measure.diversity import NOISE
from auditor.model.labels import Labels
from auditor.model.record import SensitiveFacts
from auditor.scanning.counting import Counting, fetch, small_table
from auditor.scanning.engines import batches
from auditor.scanning.faults import asking

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_BATCH = 500_000
_GRID = 1 << 14
"""Into so many cells shares are put to look them up: more than most columns have values, and a small table still."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a sensitive column: `value[l]` is that of label l, `label[v]` the first label of value v, `whole[v]` how
    many people that count have it."""

    labels: Labels
    value: Ints
    label: Ints
    whole: Ints

    @classmethod
    def of(cls, labels: Labels, times: Ints) -> Values:
        """The values of labels that occur so often among the people that count."""
        value, label = values_of(labels, times)
        whole = np.bincount(value[value >= 0], weights=times[value >= 0], minlength=len(label)).astype(np.int64)
        return cls(labels, value, label, whole)


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The classes by their size: `times[i]` classes have `size[i]` people."""

    size: Ints
    times: Ints

    @property
    def histogram(self) -> dict[str, int]:
        """The same as in a record."""
        return {str(s): t for s, t in zip(self.size.tolist(), self.times.tolist(), strict=True)}


def class_sizes(counting: Counting) -> Sizes:
    """How many classes there are of each size."""
    found = counting.classes()
    found = found.group_by("size").agg(times=found.count()).order_by("size")
    with asking(counting.engine, counting.source):
        found = fetch(found)
    return Sizes(found["size"].astype(np.int64), found["times"].astype(np.int64))


def sensitive_facts(
    counting: Counting, column: str, values: Values, recursive_l: int = 2, epsilon: float | None = None
) -> tuple[SensitiveFacts, Sizes]:
    """The statistics of one sensitive column, and the sizes of the classes."""
    plan = _Plan(counting, column, values, recursive_l, epsilon)
    with asking(counting.engine, counting.source):
        by_size = fetch(plan.query())
        distance = plan.hierarchical()
        open_ = plan.overlapping()
        m = plan.uneven_m()
    order = np.argsort(by_size["size"])
    by_size = {name: column[order].astype(np.float64) for name, column in by_size.items()}
    sizes = Sizes(by_size["size"].astype(np.int64), by_size["times"].astype(np.int64))
    facts = plan.facts(by_size)
    facts = replace(facts, t_hierarchical=distance, proximity_m=facts.proximity_m if m is None else m)
    if open_ is not None:
        alpha, distinct = open_
        facts = replace(
            facts, alpha=alpha, l_distinct=distinct, l_entropy=None, l_recursive_c=None, labels_overlap=True
        )
    return facts, sizes


class _Plan:
    """The queries of one column."""

    def __init__(
        self, counting: Counting, column: str, values: Values, recursive_l: int, epsilon: float | None
    ) -> None:
        self.counting, self.column, self.values, self.recursive_l = counting, column, values, recursive_l
        self.ibis, self.names = counting.engine.ibis, counting.keys.names
        self.order = classes.in_order(values.labels, values.label)
        self.reach = classes.proximity_reach(values.labels, epsilon)
        self.numbered = None if self.reach is None else classes.single_numbers(values.labels, values.label)
        self.even_reach = None if self.numbered is None else self._even_reach()

    # ----- what is known of each value ---------------------------------------------------------------------------------

    def _places(self) -> dict[str, NDArray[Any]]:
        """Where each value stands, for the windows: what has no place comes last."""
        known: dict[str, NDArray[Any]] = {}
        if self.order is not None:
            known["start"] = np.full(len(self.values.whole), len(self.order), dtype=np.int64)
            known["start"][self.order] = np.arange(len(self.order))
        if self.numbered is not None and self.even_reach is not None:
            order, number = self.numbered
            beyond = np.nextafter(
                number[-1] + 3 * self.even_reach + 1.0, np.inf
            )  # the sum may be rounded to the number
            known["at"] = np.full(len(self.values.whole), beyond)
            known["at"][order] = number
        return known

    def _whole(self) -> dict[str, NDArray[Any]]:
        """What the whole table has of each value; q (1 - ln q) is what a share may not exceed under enhanced β. In order also
        the sum of its cumulative shares ahead of the value."""
        whole = self.values.whole
        share = whole / whole.sum()
        known: dict[str, NDArray[Any]] = {
            "of": np.arange(len(whole)),
            "w": whole.astype(np.float64),
            "q": share,
            "ceiling": share * (1 - np.log(share) + NOISE),
        }
        if self.order is not None:
            known["before"] = self._reached()[1][self._places()["start"]]
        return known

    def _reached(self) -> tuple[Floats, Floats]:
        """The whole's cumulative shares over the values in order, and their sums up to each place."""
        assert self.order is not None
        whole = self.values.whole[self.order]
        reached = np.cumsum(whole / whole.sum())
        return reached, np.concatenate([[0.0], np.cumsum(reached)])

    def _even_reach(self) -> float | None:
        """A reach that, taken exactly, finds near the numbers that `nearness` finds near with its room for noise: half way
        between the widest gap that counts as near and the narrowest that does not. None where the noise of large numbers
        is wider than what parts small ones."""
        assert self.numbered is not None
        assert self.reach is not None
        number = self.numbered[1]
        last = np.searchsorted(number, nearness.upper(number, self.reach), side="right") - 1
        within = float((number[last] - number).max(initial=0.0))
        out = last + 1 < len(number)
        beyond = float((number[last[out] + 1] - number[out]).min(initial=2 * within + 1.0))
        return (within + beyond) / 2 if within < beyond else None

    # ----- the query ---------------------------------------------------------------------------------------------------

    def query(self) -> Any:
        """One row for each size of class."""
        ibis, names = self.ibis, self.names
        found = self.counting.entries(self.column, self.values.value, **self._places())
        # floats hold whole numbers to 2^53 exactly, and engines sum them faster than whole numbers that may not overflow
        found = found.mutate(n=found.n.cast("float64"))
        by = "value" if self.order is None else "start" if self.even_reach is None else "at"  # one sort for all windows
        every = ibis.window(group_by=names)
        more = {"total": found.n.sum().over(every)}
        if self.order is not None:
            placed = self._placed(found)
            more |= {
                "running": placed.sum().over(ibis.cumulative_window(group_by=names, order_by=by)),
                "end": found.start.lead().over(ibis.window(group_by=names, order_by=by)),
            }
            if self._last() < len(self.values.whole):
                more["placed_total"] = placed.sum().over(every)
        if self.even_reach is not None:
            reach = self.even_reach
            near = ibis.range_window(group_by=names, order_by=by, preceding=reach, following=reach)
            more["near"] = found.n.sum().over(near)
        if self.recursive_l > 2:
            more["rank"] = ibis.row_number().over(ibis.window(group_by=names, order_by=found.n.desc()))
        found = found.mutate(**more)  # slim up to here: windows carry every column along
        # left joins, so that the short tables are those that engines keep at hand
        whole = small_table(ibis, **self._whole())
        found = found.left_join(whole, found.value == whole.of)
        return self._by_size(self._by_class(found if self.order is None else self._stretches(found)))

    def _last(self) -> int:
        """How many values have a place in the order."""
        return 0 if self.order is None else len(self.order)

    def _placed(self, found: Any) -> Any:
        """The people of an entry whose value has a place in the order."""
        if self._last() == len(self.values.whole):
            return found.n
        return self.ibis.ifelse(found.start < self._last(), found.n, 0.0)

    def _stretches(self, found: Any) -> Any:
        """What each stretch between two values of a class adds to its ordered distance, as `stretch`. Sums of the whole's
        shares up to its ends cancel with those of the next stretch, all but one constant (see `_by_class`)."""
        ibis, (reached, before) = self.ibis, self._reached()
        last = len(reached)
        total = found.placed_total if "placed_total" in found.columns else found.total
        found = found.mutate(
            end=found.end.fill_null(last),
            placed_total=total,
            inside=ibis.ifelse(total > 0, found.running / total, 0.0),
        )
        # the number of places whose share is less than that of the class: first from a grid, then by bisection
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
        sums = small_table(ibis, place=np.arange(last + 1), so_far=before)
        found = found.left_join(sums, found.split == sums.place)
        ends = 2 * found.split - found.start - found.end
        return found.mutate(stretch=found.inside * ends + 2 * (found.before - found.so_far))

    def _by_class(self, found: Any) -> Any:
        """The sums, greatest and least figures of each class."""
        ibis, n = self.ibis, found.n
        wanted = {
            "size": found.n.sum(),
            "top": found.n.max(),
            "kinds": found.count(),
            "spread": (n * n.ln()).sum(),
            "gain": (n / found.w).max(),
            "loss": (n / found.w).min(),
            "over": (n / found.ceiling).max(),
            "equal": ibis.greatest(n / found.total - found.q, 0.0).sum(),
        }
        if self.order is not None:
            some = found.placed_total.max() > 0
            wanted["ordered"] = ibis.ifelse(some, found.stretch.sum() + float(self._reached()[1][-1]), 0.0)
        if self.even_reach is not None:
            near = found.near / found.placed_total.nullif(0)
            wanted["near"] = ibis.ifelse(found.start < self._last(), near, 0.0).max()
        if self.recursive_l > 2:
            wanted["tail"] = ibis.ifelse(found["rank"] >= self.recursive_l - 1, found.n, 0.0).sum()
        return found.group_by(self.names).agg(**wanted)

    def _by_size(self, each: Any) -> Any:
        """The worst figures of the classes of each size."""
        ibis = self.ibis
        size = each["size"].cast("int64")
        diverse = (size.cast("float64").ln() - each.spread / size).exp()
        even = each.top * each.kinds == size
        tail = {1: size, 2: size - each.top}.get(self.recursive_l)
        tail = each.tail if tail is None else tail
        each = each.mutate(
            size=size,
            entropy=ibis.ifelse(even, each.kinds.cast("float64"), ibis.least(diverse, each.kinds.cast("float64"))),
            recursive=each.top / tail.nullif(0),
            endless=ibis.ifelse(tail == 0, 1, 0),
        )
        wanted = {
            "times": each.count(),
            "top": each.top.max(),
            "tops": each.top.sum(),
            "kinds": each.kinds.min(),
            "entropy": each.entropy.min(),
            "recursive": each.recursive.max(),
            "endless": each.endless.max(),
            "gain": each.gain.max(),
            "loss": each.loss.min(),
            "over": each.over.max(),
            "equal": each.equal.max(),
        }
        if self.order is not None:
            wanted["ordered"] = each.ordered.max()
        if self.even_reach is not None:
            wanted["near"] = each.near.max()
        return each.group_by("size").agg(**wanted)

    # ----- what comes of it --------------------------------------------------------------------------------------------

    def facts(self, by_size: dict[str, Floats]) -> SensitiveFacts:
        """The statistics of the column, from the worst figures of each size of class."""
        facts = SensitiveFacts(
            self.column,
            len(self.values.label),
            l_recursive_l=self.recursive_l,
            proximity_epsilon=self.reach,
        )
        size = by_size["size"]
        if not len(size):
            return facts
        people = float(self.values.whole.sum())
        most, least = by_size["gain"] * people / size, by_size["loss"] * people / size
        basic = max(float(most.max()) - 1, 0.0)
        complete = by_size["kinds"].min() >= len(self.values.label)
        near = by_size["near"].max() if self.even_reach is not None else 0.0
        return replace(
            facts,
            alpha=float((by_size["top"] / size).max()),
            l_distinct=int(by_size["kinds"].min()),
            l_entropy=float(by_size["entropy"].min()),
            l_recursive_c=None if by_size["endless"].any() else float(by_size["recursive"].max()),
            t_equal=float(by_size["equal"].max()),
            t_ordered=self._ordered(by_size),
            beta_basic=basic,
            beta_enhanced=None if (by_size["over"] > size).any() else basic,
            delta_disclosure=float(np.abs(np.log([most, least])).max()) if complete else None,
            proximity_m=1 / float(near) if near > 0 else None,
            homogeneity=float(by_size["tops"].sum() / (size @ by_size["times"])),
        )

    def _ordered(self, by_size: dict[str, Floats]) -> float | None:
        if self.order is None:
            return None
        steps = len(self.order) - 1
        return max(float(by_size["ordered"].max()), 0.0) / steps if steps else 0.0

    def hierarchical(self) -> float | None:
        """The greatest hierarchical distance of a class; None for columns without one."""
        labels, whole = self.values.labels, self.values.whole
        nodes = classes.taxonomy_nodes(labels, self.values.label)
        taxonomy = labels.domain.taxonomy
        if nodes is None or taxonomy is None or not len(whole):
            return None
        if taxonomy.height == 0:
            return 0.0
        ibis, names = self.ibis, self.names
        value, edge, weight = divergences.taxonomy_edges(taxonomy, nodes)
        share = np.bincount(edge, weights=(whole / whole.sum())[value], minlength=len(weight))
        above = small_table(ibis, value=value, edge=edge, weight=weight[edge], expected=share[edge])
        found = self.counting.entries(self.column, self.values.value)
        found = found.mutate(total=found.n.sum().over(ibis.window(group_by=names))).join(above, "value")
        found = found.group_by([*names, "edge", "total", "weight", "expected"]).agg(n=found.n.sum())
        moved = found.weight * ((found.n / found.total - found.expected).abs() - found.expected)
        found = found.group_by(names).agg(moved=moved.sum())
        greatest = found.moved.max().execute()
        return None if greatest is None else max(float(greatest) + float(weight @ share), 0.0)

    def overlapping(self) -> tuple[float, int] | None:
        """The alpha and distinct l that may be at worst, where labels overlap; None where they do not."""
        labels = self.values.labels
        if not len(self.values.label) or not ambiguity.ambiguous(labels, self.values.label):
            return None
        alpha, distinct = 0.0, len(self.values.label)
        for found in self._streamed():
            alpha = max(alpha, float(ambiguity.worst_alphas(labels, found).max()))
            distinct = min(distinct, int(ambiguity.least_distinct(labels, found).min()))
        return alpha, distinct

    def uneven_m(self) -> float | None:
        """The m of (ε,m)-anonymity where no one reach says what is near; None where one does, or there is no m."""
        if self.numbered is None or self.reach is None or self.even_reach is not None:
            return None
        order, number = self.numbered
        found = (counts.counts.arranged(order) for counts in self._streamed())
        return min(nearness.least_m(some, number, self.reach) for some in found if len(some.row))

    def _streamed(self) -> Iterator[ClassCounts]:
        """The counts of all classes, some classes at a time."""
        found = self.counting.entries(self.column, self.values.value).select(*self.names, "value", "n")
        rest = np.empty((0, len(self.names) + 2), dtype=np.int64)
        for batch in batches(self.counting.engine, found, _BATCH, [*self.names, "value"]):
            block = np.column_stack([np.asarray(column, dtype=np.int64) for column in batch.columns])
            block = np.concatenate([rest, block])
            differs = (block[1:, :-2] != block[:-1, :-2]).any(axis=1)
            last = int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0  # the last class may go on
            rest = block[last:]
            if last:
                yield self._counts(block[:last])
        if len(rest):
            yield self._counts(rest)

    def _counts(self, block: Ints) -> ClassCounts:
        row = np.concatenate([[0], np.cumsum((block[1:, :-2] != block[:-1, :-2]).any(axis=1))])
        entries = Entries.of(row, block[:, -2], block[:, -1], int(row[-1]) + 1, len(self.values.label))
        return ClassCounts(entries, self.values.label)
