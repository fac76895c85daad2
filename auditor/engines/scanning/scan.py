"""The facts of a release that an engine reads: exact statistics of all its classes, without fetching its rows.

The figures are those of `auditor.measure.classes` in memory: by the same formulas where the data is small, otherwise by the
expressions of `statistics`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.engine import batches
from auditor.engines.scanning.counting import Counting, fetch
from auditor.engines.scanning.opening import Opened
from auditor.engines.scanning.sensitive import Values
from auditor.engines.scanning.statistics import Sizes, class_sizes, sensitive_facts
from auditor.engines.sources.faults import asking
from auditor.measure.class_risk import THRESHOLD, UNSOUND, WeightTally, class_risk, with_wildcards
from auditor.measure.distinct import distinct_column, said_labels, whole_numbers
from auditor.measure.wildcards import MOST_SORTED, TOO_LONG, agreeing_kinds, fit_any
from auditor.model.arrays import Bools, Codes
from auditor.model.errors import TableError
from auditor.model.progress import Progress, silent
from auditor.model.record.release_facts import ClassRisk, DistinctColumn, ReleaseFacts, WeightedRisk
from auditor.model.release import Kind, Suppression, WithheldCells

_BATCH = 500_000


def scan_facts(
    opened: Opened,
    recursive_l: int = 2,
    epsilon: float | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
    cells: WithheldCells = WithheldCells.WILDCARD,
) -> ReleaseFacts:
    """The facts of a release in an engine, with the statistics of its classes and of each published sensitive column. The
    arguments are those of `auditor.measure.classes.class_facts`."""
    counting = opened.counting
    sizes: Sizes | None = None
    statistics = []
    steps = len(counting.sensitive) + 1
    for done, column in enumerate(counting.sensitive):
        progress(done, steps, f"statistics of {column}")
        values = Values.of(counting.labels[column], counting.codings[column].rows)
        facts, sizes = sensitive_facts(counting, column, values, recursive_l, epsilon)
        statistics.append(facts)
    progress(len(counting.sensitive), steps, "classes")
    sizes = sizes or class_sizes(counting)
    if int(sizes.size @ sizes.times) != counting.counted_rows:
        raise TableError(
            f"{counting.source.name}: the table changed while it was read. Try again when nobody is writing to it."
        )
    return ReleaseFacts(
        name=Path(counting.source.name).name,
        kind=str(Kind.GENERALISED),
        rows=counting.rows,
        suppressed_rows=counting.suppressed_rows,
        suppression=str(counting.suppression),
        classes=int(sizes.times.sum()),
        k=int(sizes.size.min()) if len(sizes.size) else None,
        class_sizes=sizes.histogram,
        params={},
        quasi=counting.quasi,
        blocks=(opened.columns,),
        sensitive=tuple(statistics),
        identifiers=opened.identifiers,
        risk=_risk(counting, sizes, threshold),
        weighted=_weighted(counting, threshold, cells, int(sizes.times.sum())),
        withheld_cells=str(cells),
        distinct=_distinct(opened),
    )


def _distinct(opened: Opened) -> tuple[DistinctColumn, ...]:
    """The published columns whose values tell nearly all rows apart. Columns that no figure needs are counted here."""
    counting, found = opened.counting, []
    for name in (*opened.columns, *opened.ignored):
        column, coding = counting.schema.columns[name], counting.codings.get(name)
        if coding is None:
            values, cells, whole = counting.different_values(name)
        else:
            labels = counting.labels[name]
            said = said_labels(labels)
            used = said & (coding.rows > 0)
            values, cells, whole = int(used.sum()), int(coding.rows[said].sum()), whole_numbers(labels, used)
        one = distinct_column(column, values, cells, whole)
        if one is not None:
            found.append(one)
    return tuple(found)


def _risk(counting: Counting, sizes: Sizes, threshold: float) -> ClassRisk | None:
    """What class sizes say about finding records, both plainly and with suppressed cells as wildcards."""
    risk = class_risk(sizes.size, threshold, sizes.times)
    if risk is None:
        return None
    if not _suppressed_columns(counting) and (
        counting.suppression is not Suppression.OWN or not counting.suppressed_rows
    ):
        return with_wildcards(risk, sizes.size, sizes.size.astype(np.float64), sizes.times)
    if int(sizes.times.sum()) > MOST_SORTED:
        return risk
    people = counting.people(everybody=True)
    if counting.suppressed_rows:
        people = people.filter(~counting.is_suppressed(people))
    with asking(counting.engine, counting.source.name):
        rows = fetch(people.group_by(counting.keys.names).agg(size=people.count()))
    labels, hidden = _class_labels(counting, rows)
    size = rows["size"].astype(np.int64)
    agreeing = size[:, None].astype(np.float64)
    if hidden.any():
        found = agreeing_kinds(labels, hidden, agreeing)
        if found is None:
            return risk
        agreeing = found
    return with_wildcards(risk, size, agreeing[:, 0]) if len(size) else risk


def _suppressed_columns(counting: Counting) -> list[str]:
    """The quasi-identifiers in which cells are suppressed."""
    return [c for c in counting.quasi if counting.codings[c].codes_of(counting.labels[c].suppressed)]


def _class_labels(counting: Counting, rows: dict[str, NDArray[Any]]) -> tuple[Codes, Bools]:
    """The labels of classes given by their keys, and which of them are suppressed. Rows that are one class because everything
    is suppressed have a label of their own, -1."""
    apart = rows[counting.keys.names[0]].astype(np.int64) < 0
    keys = {name: np.where(apart, 0, rows[name].astype(np.int64)) for name in counting.keys.names}
    codes = counting.keys.unpacked(keys)
    label = {c: counting.codings[c].label[codes[c]] for c in counting.quasi}
    hidden = [counting.labels[c].suppressed[label[c]] & ~apart for c in counting.quasi]
    labels = np.column_stack([np.where(apart, -1, label[c]) for c in counting.quasi]).astype(np.int32)
    return labels, np.column_stack(hidden)


def _weighted(counting: Counting, threshold: float, cells: WithheldCells, classes: int) -> WeightedRisk | None:
    """The individual risk by the published sampling weights. Classes pass through memory in batches, unless suppressed cells
    fit any value: then all are compared at once."""
    if counting.weight is None:
        return None
    rows_fit = counting.suppression is Suppression.WILDCARD and counting.suppressed_rows > 0
    cells_fit = cells is WithheldCells.WILDCARD and bool(_suppressed_columns(counting))
    if rows_fit or cells_fit:
        return _weighted_by_wildcards(counting, counting.weight, threshold, cells, classes)
    tally = WeightTally(counting.weight, threshold)
    found = counting.weighed_classes(counting.weight)
    with asking(counting.engine, counting.source.name):
        for batch in batches(counting.engine, found.select("size", "people", "sound"), _BATCH):
            size, people, sound = (np.asarray(column) for column in batch.columns)
            if not sound.all():
                return WeightedRisk(counting.weight, threshold, reason=UNSOUND)
            tally.add(size.astype(np.int64), people.astype(np.float64))
    if not tally.records:
        return WeightedRisk(counting.weight, threshold, reason="no class is left")
    return tally.risk()


def _weighted_by_wildcards(
    counting: Counting, weight: str, threshold: float, cells: WithheldCells, classes: int
) -> WeightedRisk:
    """The same if suppressed cells, or rows, fit any value."""
    if classes > MOST_SORTED:
        return WeightedRisk(weight, threshold, reason=TOO_LONG)
    everybody = counting.suppression is Suppression.WILDCARD
    with asking(counting.engine, counting.source.name):
        rows = fetch(counting.weighed_classes(weight, everybody))
    if not len(rows["size"]):
        return WeightedRisk(weight, threshold, reason="no class is left")
    if not rows["sound"].all():
        return WeightedRisk(weight, threshold, reason=UNSOUND)
    size, people = rows["size"].astype(np.int64), rows["people"].astype(np.float64)
    labels, suppressed = _class_labels(counting, rows)
    whole: Bools = np.all(suppressed, axis=1) if counting.suppressed_rows else np.zeros(len(size), dtype=np.bool_)
    hidden = fit_any(suppressed, whole, counting.suppression, cells)
    sums = np.column_stack([size, people])
    agreeing = agreeing_kinds(labels, hidden, sums) if hidden.any() else sums
    if agreeing is None:
        return WeightedRisk(weight, threshold, reason=TOO_LONG)
    tally = WeightTally(weight, threshold)
    tally.add(size, people, agreeing)
    return tally.risk()
