"""The points of a picture of several releases, and their numbers, which are the same all over a report.

In a run a point is a release, numbered in its order. In a comparison it is a method with its settings, over the seeds,
numbered as in the table of the frontier.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditor.model.record.record import AuditRecord, RunRecord
from reports.reading import made_by
from reports.text import clean, settings


@dataclass(frozen=True, slots=True)
class Entry:
    """A point: its number, its words, its records (several seeds give several), and their places in the run."""

    number: int
    name: str
    method: str
    settings: str
    records: tuple[AuditRecord, ...]
    places: tuple[int, ...]

    @property
    def place(self) -> int:
        """The place of the first record, which stands for the point."""
        return self.places[0]


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
    told = {place for group in groups.values() for place, _ in group}
    for place, record in enumerate(run.records, 1):
        if place not in told:  # a record that no cell names, from another program
            groups[f"release {place}"] = [(place, record)]
    names = {_key(point.method, point.params): point.name for point in run.comparison.points}
    found = [(names.get(key), group) for key, group in groups.items()]
    return [_entry(number, group, name) for number, (name, group) in enumerate(found, 1) if group]


def _key(method: str, params: Any) -> str:
    return json.dumps([method, dict(params)], sort_keys=True, default=str)


def _entry(number: int, group: Sequence[tuple[int, AuditRecord]], name: str | None = None) -> Entry:
    release = group[0][1].release
    return Entry(
        number,
        clean(name or release.name, 60),
        made_by(release, 40),
        settings(release.params),
        tuple(record for _, record in group),
        tuple(place for place, _ in group),
    )


def numbers(run: RunRecord) -> dict[int, int]:
    """The number of each release, by its place in the run."""
    return {place: entry.number for entry in entries(run) for place in entry.places}
