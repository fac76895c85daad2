"""The points of a picture of several releases, and which releases a page shows in detail.

In a run a point is a release, numbered in its order. In a comparison it is a method with its settings, over the seeds,
numbered as in the table of the frontier. A page with every figure of a hundred releases would be read by nobody, so only
some are shown in detail: those that no other beats first. The others keep their place in picture and tables.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditor.model.record import AuditRecord, RunRecord
from reports.charts import unbeaten
from reports.pictures import frontier
from reports.text import clean, settings

DETAILED = 12
"""The most releases that a page shows in detail."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A point: its number, its words, its records (several seeds give several), and the place of the first of them."""

    number: int
    name: str
    method: str
    settings: str
    records: tuple[AuditRecord, ...]
    place: int


def entries(run: RunRecord) -> list[Entry]:
    """The points of a run, in the order of their numbers."""
    if run.comparison is None:
        return [_entry(place, [(place, record)]) for place, record in enumerate(run.records, 1)]
    placed = {record.release.name: (place, record) for place, record in enumerate(run.records, 1)}
    groups: dict[str, list[tuple[int, AuditRecord]]] = {
        _key(point.method, point.params): [] for point in run.comparison.points
    }
    for cell in run.cells:
        if cell.name in placed:
            groups.setdefault(_key(cell.method, cell.params), []).append(placed[cell.name])
    names = {_key(point.method, point.params): point.name for point in run.comparison.points}
    found = [(names.get(key), group) for key, group in groups.items()]
    return [_entry(number, group, name) for number, (name, group) in enumerate(found, 1) if group]


def _key(method: str, params: Any) -> str:
    return json.dumps([method, dict(params)], sort_keys=True, default=str)


def _entry(number: int, group: Sequence[tuple[int, AuditRecord]], name: str | None = None) -> Entry:
    place, record = group[0]
    release = record.release
    return Entry(
        number,
        clean(name or release.name, 60),
        clean(release.method or release.kind, 40),
        settings(release.params),
        tuple(record for _, record in group),
        place,
    )


def detailed(run: RunRecord, limit: int = DETAILED) -> list[int]:
    """The places of the releases that a page shows in detail: all of a few; of many those that no other beats, by their
    number, and then the others."""
    if len(run.records) <= limit:
        return list(range(1, len(run.records) + 1))
    found = entries(run)
    if run.comparison is not None:
        best = {clean(point.name, 60) for point in run.comparison.points if point.beaten_by is None}
        first = [entry.place for entry in found if entry.name in best]
    else:
        drawn = frontier(run)
        first = [] if drawn is None else sorted(point.place for point in unbeaten(drawn.points, drawn.better))
    order = dict.fromkeys([*first, *(entry.place for entry in found)])
    return sorted(list(order)[:limit])
