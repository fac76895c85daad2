"""The interactive picture of risk against utility: what it shows, as data for the script in the page.

A point is a release. The reader chooses the axes (the strongest attack or any one attack of an adversary, by the strongest
link of their own; any utility measure), leaves methods out, hovers for method and settings, and goes to a release by clicking
its point. The static picture above the script stands for it where there is no script, in print and in Markdown; both begin
with the same axes and figures, which in a comparison are those of its table. Drawn by Observable Plot (see
`vendor/README.md`), embedded, so that a report makes no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditor.model.record.comparison import Point, which_figure
from auditor.model.record.meaning import Better
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.strongest import SUCCESS, Chosen, choose, strongest
from reports.pictures.points import entries
from reports.reading import (
    IF_KNOWN,
    Meanings,
    adversaries,
    excess_of,
    figures,
    one_person,
    shared_utility,
    utility_of,
    value_of,
)
from reports.tables.frontier import chosen_axis, risk_title
from reports.text import clean, finite, spoken

STRONGEST, COMPARED = "strongest", "compared"
_ADVERSARIES = 4  # whose attacks can be chosen as axes
_HERE = Path(__file__).parents[1]
THEME = ("templates/theme.js",)
SORTING = ("templates/sorting.js",)
EXPLORER = ("vendor/d3.min.js", "vendor/plot.min.js", "templates/explorer.js")
"""The scripts of a page, in their order."""


def explorer(run: RunRecord) -> dict[str, Any] | None:
    """The points and the axes to choose from; None where a picture of several releases cannot be drawn."""
    start = _start(run)
    if start is None or any(one_person(record) for record in run.records):
        return None
    risks: dict[str, str] = {}
    utility: dict[str, dict[str, str]] = {}
    points = []
    compared = {} if run.comparison is None else dict(enumerate(run.comparison.points, 1))
    chosen = choose(run.records)
    if run.comparison is not None:
        risks[start[0]] = risk_title(run.comparison.risk)
    elif chosen is not None:
        risks[STRONGEST] = risk_title(chosen_axis(chosen))
    for entry in entries(run):
        heights = _mean_heights([_risks(record, risks, chosen) for record in entry.records])
        across = _means([_utility(record, utility) for record in entry.records])
        if entry.number in compared:
            placed = compared[entry.number]
            heights[start[0]], across[start[1]] = _placed(placed), placed.utility
        if heights and across:
            points.append(
                {
                    "number": entry.number,
                    "place": entry.place,
                    "name": entry.name,
                    "method": entry.method,
                    "settings": entry.settings,
                    "risks": heights,
                    "utility": across,
                }
            )
    if len(points) < 2 or start[1] not in utility:
        return None
    better = {} if run.comparison is None else {start[0]: run.comparison.risk.better}
    return {
        "points": points,
        "risks": [{"key": key, "name": name, "better": better.get(key, Better.LOWER)} for key, name in risks.items()],
        "utility": [{"key": key, **facts} for key, facts in utility.items()],
        "start": {"risk": start[0] if start[0] in risks else next(iter(risks)), "utility": start[1]},
    }


def _placed(point: Point) -> dict[str, Any]:
    """The height of a point as the comparison has it."""
    note = clean(point.attack, 60) if point.attack else ""
    if point.seeds > 1:
        note = f"{note}; mean of {point.seeds} seeds" if note else f"mean of {point.seeds} seeds"
    return {"value": point.risk, "low": finite(point.risk_low), "high": finite(point.risk_high), "note": note}


def _start(run: RunRecord) -> tuple[str, str] | None:
    """The axes that the picture begins with: those of the comparison, or of the static picture."""
    found = run.comparison
    if found is not None:
        measure, _, which = found.utility.figure.partition(".")
        return STRONGEST if found.risk.figure == STRONGEST else COMPARED, _key(measure, which or None)
    shared = shared_utility(run)
    rows = [] if shared is None else [utility_of(record, *shared) for record in run.records]
    row = next((row for row in rows if row is not None), None)
    return None if row is None else (STRONGEST, _key(row.measure, which_figure(row.params)))


def _means(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean over the seeds of each figure that all of them have."""
    shared = [key for key in figures[0] if all(key in one for one in figures)]
    return {key: math.fsum(one[key] for one in figures) / len(figures) for key in shared}


def _mean_heights(heights: Sequence[Mapping[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """One release's heights, or the mean over the seeds of each that all of them have; an interval is of one figure."""
    if len(heights) == 1:
        return dict(heights[0])
    means = _means([{key: one["value"] for key, one in release.items()} for release in heights])
    note = f"mean of {len(heights)} seeds"
    return {key: {"value": value, "low": None, "high": None, "note": note} for key, value in means.items()}


def _risks(record: AuditRecord, names: dict[str, str], chosen: Chosen | None) -> dict[str, dict[str, Any]]:
    """The heights that a release has, by axis; `names` collects the axes."""
    made: dict[str, dict[str, Any]] = {}
    best = None if chosen is None or STRONGEST not in names else strongest(record, chosen)
    if best is not None:
        made[STRONGEST] = {
            "value": best.value,
            "low": best.low,
            "high": best.high,
            "note": _note(Meanings(record), best.row),
        }
    people, meanings, rows = adversaries(record), Meanings(record), figures(record)
    for who in people[:_ADVERSARIES]:
        by = f" by the {clean(who, 40)}" if len(people) > 1 else ""
        for attack, sensitive in meanings.groups([r for r in rows if r.adversary == who]):
            mine = [r for r in rows if (r.attack, r.sensitive, r.adversary) == (attack, sensitive, who)]
            own = meanings.own(mine)
            name = f"{meanings.title(attack)}{f' ({spoken(sensitive)})' if sensitive else ''}{by}"
            name += f" {IF_KNOWN}" if meanings.supposed(own[0]) else ""
            key, success = f"{attack}|{sensitive or ''}|{who}", meanings.pick(own, SUCCESS)
            over = None if success is None else excess_of(success)
            if success is not None and over is not None:
                names.setdefault(f"{key}|excess", f"{name}, excess")
                note = f"{_note(meanings, success)}, over the {over.over}"
                made[f"{key}|excess"] = {"value": over.value, "low": over.low, "high": over.high, "note": note}
            row = meanings.compared(own)
            if row is not None:
                names.setdefault(f"{key}|{row.measure}", f"{name}, {spoken(row.measure)}")
                span = {"low": finite(row.low), "high": finite(row.high)}
                made[f"{key}|{row.measure}"] = {"value": value_of(row), **span, "note": _note(meanings, row)}
    return made


def _note(meanings: Meanings, risk: Risk) -> str:
    column = f" ({spoken(risk.sensitive)})" if risk.sensitive else ""
    return f"{meanings.title(risk.attack)}{column}, {clean(risk.adversary, 40)}"


def _utility(record: AuditRecord, axes: dict[str, dict[str, str]]) -> dict[str, float]:
    """The utility figures of a release, by axis; `axes` collects them."""
    made: dict[str, float] = {}
    meanings = Meanings(record)
    for row in record.utility:
        value = finite(row.value)
        if value is None:
            continue
        which = which_figure(row.params)
        key = _key(row.measure, which)
        better = Better.HIGHER if row.better == Better.HIGHER else Better.LOWER
        axes.setdefault(key, {"name": meanings.utility_name(row.measure, which), "better": better})
        made.setdefault(key, value)
    return made


def _key(measure: str, which: str | None) -> str:
    return f"{measure}|{which or ''}"


def as_script_data(data: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def scripts(names: tuple[str, ...]) -> list[str]:
    """The texts of scripts."""
    return [(_HERE / name).read_text(encoding="utf-8") for name in names]


def permission(texts: list[str]) -> str:
    """The script sources that a page's security policy allows: these texts and no other."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{one}'" for one in hashes) or "'none'"
