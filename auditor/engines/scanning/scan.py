"""The facts of a release that an engine reads: exact statistics of all its classes, without fetching its rows.

The figures are those of `auditor.measure.classes` in memory: by the same formulas where the data is small, otherwise by the
expressions of `statistics`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from auditor.engines.engine import batches
from auditor.engines.scanning.counting import Counting, fetch
from auditor.engines.scanning.opening import Opened
from auditor.engines.scanning.sensitive import Values
from auditor.engines.scanning.statistics import Sizes, class_sizes, sensitive_facts
from auditor.engines.sources.faults import asking
from auditor.measure.class_risk import THRESHOLD, WeightTally, class_risk, with_wildcards
from auditor.measure.wildcards import MOST_SORTED, agreeing_classes
from auditor.model.errors import TableError
from auditor.model.progress import Progress, silent
from auditor.model.record.release_facts import ClassRisk, ReleaseFacts, WeightedRisk
from auditor.model.release import Kind, Suppression

_BATCH = 500_000


def scan_facts(
    opened: Opened,
    recursive_l: int = 2,
    epsilon: float | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
) -> ReleaseFacts:
    """The facts of a release in an engine, with the statistics of its classes and of each published sensitive column."""
    counting = opened.counting
    sizes: Sizes | None = None
    statistics = []
    steps = len(counting.sensitive) + 1
    for done, column in enumerate(counting.sensitive):
        progress(done, steps, f"statistics of {column}")
        facts, sizes = sensitive_facts(counting, column, counted_values(counting, column), recursive_l, epsilon)
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
        weighted=_weighted(counting, threshold),
    )


def counted_values(counting: Counting, column: str) -> Values:
    """The values of a column, with how often they occur among the rows that count."""
    coding = counting.codings[column]
    times = coding.rows
    if counting.suppressed_rows and counting.suppression is not Suppression.OWN:
        table = counting.coded(column)
        code = counting.code(column)
        apart = table.filter(counting.is_suppressed(table))
        with asking(counting.engine, counting.source.name):
            found = fetch(apart.group_by(apart[code].name("code")).agg(rows=apart.count()))
        label = coding.label[found["code"].astype(np.int64)]
        times = times - np.bincount(label, weights=found["rows"], minlength=len(times)).astype(np.int64)
    return Values.of(counting.labels[column], times)


def _risk(counting: Counting, sizes: Sizes, threshold: float) -> ClassRisk | None:
    """What class sizes say about finding records, both plainly and with suppressed cells as wildcards."""
    risk = class_risk(sizes.size, threshold, sizes.times)
    if risk is None:
        return None
    partly = [c for c in counting.quasi if counting.codings[c].codes_of(counting.labels[c].suppressed)]
    published = counting.suppression is not Suppression.OWN or not counting.suppressed_rows
    if not partly and published:
        return with_wildcards_of(risk, sizes)
    if int(sizes.times.sum()) > MOST_SORTED:
        return risk
    labels, hidden, size = _class_table(counting)
    people = agreeing_classes(labels, hidden, size) if len(size) and hidden.any() else size
    return risk if people is None or not len(people) else with_wildcards(risk, size, people)


def with_wildcards_of(risk: ClassRisk, sizes: Sizes) -> ClassRisk:
    """The risk if no cell is suppressed: only the class itself agrees."""
    mean = float(sizes.times.sum() / (sizes.size @ sizes.times))
    return replace(
        risk, wildcard_max=float(1 / sizes.size.min()), wildcard_mean=mean, wildcard_min=float(1 / sizes.size.max())
    )


def _class_table(counting: Counting) -> tuple[Any, Any, Any]:
    """The labels of each class with published quasi-identifiers, which of them are suppressed, and the sizes."""
    people = counting.people(everybody=True)
    if counting.suppressed_rows:
        people = people.filter(~counting.is_suppressed(people))
    found = people.group_by(counting.keys.names).agg(size=people.count())
    with asking(counting.engine, counting.source.name):
        rows = fetch(found)
    codes = counting.keys.unpacked({name: rows[name].astype(np.int64) for name in counting.keys.names})
    label = {c: counting.codings[c].label[codes[c]] for c in counting.quasi}
    labels = np.column_stack(list(label.values())).astype(np.int32)
    hidden = np.column_stack([counting.labels[c].suppressed[label[c]] for c in counting.quasi])
    return labels, hidden, rows["size"].astype(np.int64)


def _weighted(counting: Counting, threshold: float) -> WeightedRisk | None:
    """The individual risk by the published sampling weights. Classes pass through memory in batches."""
    if counting.weight is None:
        return None
    tally = WeightTally(counting.weight, threshold)
    found = counting.weighed_classes(counting.weight)
    with asking(counting.engine, counting.source.name):
        for batch in batches(counting.engine, found, _BATCH):
            size, people, sound = (np.asarray(column) for column in batch.columns)
            if not sound.all():
                reason = "some weights are missing, suppressed, coarsened or not above 0"
                return WeightedRisk(counting.weight, threshold, reason=reason)
            tally.add(size.astype(np.int64), people.astype(np.float64))
    if not tally.records:
        return WeightedRisk(counting.weight, threshold, reason="no class is left")
    return tally.risk()
