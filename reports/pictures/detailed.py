"""Which releases a page shows in detail.

A page with every figure of a hundred releases would be read by nobody, so only some are shown in detail: those that no other
beats first. The others keep their place in picture and tables.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditor.model.record.record import RunRecord
from reports.pictures.charts import unbeaten
from reports.pictures.pictures import frontier
from reports.pictures.points import entries, numbers
from reports.text import clean

DETAILED = 12
"""The most releases that a page shows in detail."""


def detailed(run: RunRecord, limit: int = DETAILED) -> list[int]:
    """The places of the releases that a page shows in detail: all of a few; of many those that no other beats, and then
    the others. In the order of their numbers."""
    if len(run.records) <= limit:
        return _by_number(run, range(1, len(run.records) + 1))
    found = entries(run)
    if run.comparison is not None:
        best = {clean(point.name, 60) for point in run.comparison.points if point.beaten_by is None}
        first = [entry.place for entry in found if entry.name in best]
    else:
        drawn = frontier(run)
        first = [] if drawn is None else sorted(point.place for point in unbeaten(drawn.points, drawn.better))
    order = dict.fromkeys([*first, *(entry.place for entry in found)])
    return _by_number(run, list(order)[:limit])


def _by_number(run: RunRecord, places: Iterable[int]) -> list[int]:
    number = numbers(run)
    return sorted(places, key=lambda place: (number[place], place))
