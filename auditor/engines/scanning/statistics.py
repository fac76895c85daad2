"""Class statistics in an engine: the worst figures among the classes of each size, and the worst class by distances.

All of them follow from the positive counts of a class (value, n), as in `auditor.measure`. These are counted once and kept
(DuckDB: in a table of its own, on disk if memory runs out; Spark: in its cache). The closed forms are the same, rewritten so
that a class needs only sums, maxima and minima:

- alpha, distinct and entropy l, recursive c: from Σ n, max n, the number of values, Σ n ln n, and (l > 2) the ranks of n;
- gains over the whole table (β, δ): p/q = (n/w)(N/size), so the greatest and least n/w of a class decide; a gain exceeds
  the limit of enhanced β if n/limit(value) exceeds the size;
- distances and (ε,m): bounds for all classes (`worst`), exact figures for those that may be the worst (`distances`).

Classes of one size come back as one row: how many there are, and their worst figures. There are at most √(2 · rows) sizes.
If labels of a sensitive column overlap, the worst case has no such form: the counts then pass through memory in batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.engine import kept
from auditor.engines.scanning import worst
from auditor.engines.scanning.counting import Counting, fetch
from auditor.engines.scanning.distances import EQUAL, NEAR, ORDERED, greatest_hierarchical
from auditor.engines.scanning.sensitive import Sensitive, Values
from auditor.engines.sources.faults import asking
from auditor.measure import ambiguity
from auditor.measure.diversity import NOISE
from auditor.model.arrays import Floats, Ints
from auditor.model.record.release_facts import SensitiveFacts


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The classes by their size: `times[i]` classes have `size[i]` people."""

    size: Ints
    times: Ints

    @property
    def histogram(self) -> dict[str, int]:
        """The same, as in an audit record."""
        return {str(s): t for s, t in zip(self.size.tolist(), self.times.tolist(), strict=True)}


def class_sizes(counting: Counting) -> Sizes:
    """How many classes there are of each size."""
    found = counting.classes()
    found = found.group_by("size").agg(times=found.count()).order_by("size")
    with asking(counting.engine, counting.source.name):
        found = fetch(found)
    return Sizes(found["size"].astype(np.int64), found["times"].astype(np.int64))


def sensitive_facts(
    counting: Counting, name: str, values: Values, recursive_l: int = 2, epsilon: float | None = None
) -> tuple[SensitiveFacts, Sizes]:
    """The statistics of one sensitive column, and the sizes of the classes."""
    column = Sensitive.of(counting, name, values, epsilon)
    facts = SensitiveFacts(name, len(values.label), l_recursive_l=recursive_l, proximity_epsilon=column.reach)
    engine = counting.engine
    with asking(engine, counting.source.name), kept(engine, column.entries()) as entries:
        with kept(engine, _by_class(column, entries, recursive_l)) as each:
            found = fetch(_by_size(column, each, recursive_l))
            order = np.argsort(found["size"])
            by_size = {name: figure[order].astype(np.float64) for name, figure in found.items()}
            sizes = Sizes(by_size["size"].astype(np.int64), by_size["times"].astype(np.int64))
            if not len(sizes.size):
                return facts, sizes
            facts = replace(_of_sizes(facts, column, by_size), **_distances(column, entries, each))
        if ambiguity.ambiguous(values.labels, values.label):
            facts = replace(facts, **_overlapping(column, entries))
    return facts, sizes


def _by_class(column: Sensitive, entries: Any, recursive_l: int) -> Any:
    """The sums, maxima and minima of each class, and the bounds of its distances."""
    ibis, share = column.ibis, column.share
    if recursive_l > 2:
        rank = ibis.row_number().over(ibis.window(group_by=column.keys, order_by=entries.n.desc()))
        entries = entries.mutate(rank=rank)
    known: dict[str, NDArray[Any]] = {
        "w": column.values.whole.astype(np.float64),
        "q": share,
        "ceiling": share * (1 - np.log(share) + NOISE),
    }
    if column.order is not None:
        known["start"] = column.place
    found = column.joined(entries, **known)
    n = found.n
    wanted = {
        "size": n.sum(),
        "top": n.max(),
        "kinds": found.count(),
        "spread": (n * n.ln()).sum(),
        "gain": (n / found.w).max(),
        "loss": (n / found.w).min(),
        "over": (n / found.ceiling).max(),
    }
    if recursive_l > 2:
        wanted["tail"] = ibis.ifelse(found["rank"] >= recursive_l - 1, n, 0.0).sum()
    return worst.with_bounds(column, found.group_by(column.keys).agg(**wanted, **worst.sums(column, found)))


def _by_size(column: Sensitive, each: Any, recursive_l: int) -> Any:
    """The worst figures of the classes of each size."""
    ibis = column.ibis
    size = each["size"].cast("int64")
    diverse = (size.cast("float64").ln() - each.spread / size).exp()
    even = each.top * each.kinds == size
    tail = {1: size, 2: size - each.top}.get(recursive_l)
    tail = each.tail if tail is None else tail
    each = each.mutate(
        size=size,
        entropy=ibis.ifelse(even, each.kinds.cast("float64"), ibis.least(diverse, each.kinds.cast("float64"))),
        recursive=each.top / tail.nullif(0),
        endless=ibis.ifelse(tail == 0, 1, 0),
    )
    return each.group_by("size").agg(
        times=each.count(),
        top=each.top.max(),
        tops=each.top.sum(),
        kinds=each.kinds.min(),
        entropy=each.entropy.min(),
        recursive=each.recursive.max(),
        endless=each.endless.max(),
        gain=each.gain.max(),
        loss=each.loss.min(),
        over=each.over.max(),
    )


def _of_sizes(facts: SensitiveFacts, column: Sensitive, by_size: dict[str, Floats]) -> SensitiveFacts:
    """The statistics that follow from the worst figures of each class size."""
    size = by_size["size"]
    people = float(column.values.whole.sum())
    most, least = by_size["gain"] * people / size, by_size["loss"] * people / size
    basic = max(float(most.max()) - 1, 0.0)
    complete = by_size["kinds"].min() >= len(column.values.label)
    return replace(
        facts,
        alpha=float((by_size["top"] / size).max()),
        l_distinct=int(by_size["kinds"].min()),
        l_entropy=float(by_size["entropy"].min()),
        l_recursive_c=None if by_size["endless"].any() else float(by_size["recursive"].max()),
        beta_basic=basic,
        beta_enhanced=None if (by_size["over"] > size).any() else basic,
        delta_disclosure=float(np.abs(np.log([most, least])).max()) if complete else None,
        homogeneity=float(by_size["tops"].sum() / (size @ by_size["times"])),
    )


def _distances(column: Sensitive, entries: Any, each: Any) -> dict[str, Any]:
    """The statistics decided by the classes farthest from the whole table."""
    greatest = worst.greatest(column, entries, each)
    near = greatest.get(NEAR, 0.0)
    return {
        "t_equal": greatest[EQUAL],
        "t_ordered": None if column.order is None else greatest.get(ORDERED, 0.0),
        "t_hierarchical": greatest_hierarchical(column, entries),
        "proximity_m": 1 / near if near > 0 else None,
    }


def _overlapping(column: Sensitive, entries: Any) -> dict[str, Any]:
    """The worst case if labels overlap. Entropy and recursive l have no answer then."""
    labels = column.values.labels
    alpha, distinct = 0.0, len(column.values.label)
    for found in column.counts(entries):
        alpha = max(alpha, float(ambiguity.worst_alphas(labels, found).max()))
        distinct = min(distinct, int(ambiguity.least_distinct(labels, found).min()))
    return {"alpha": alpha, "l_distinct": distinct, "l_entropy": None, "l_recursive_c": None, "labels_overlap": True}
