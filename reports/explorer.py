"""The interactive picture of risk against utility: what it shows, as data for the script in the page.

A point is a release. The reader chooses the axes (the strongest attack or any one attack; any utility measure), leaves
methods out, hovers for method and parameters, and goes to a release by clicking its point. The static picture above the
script stands for it where there is no script, in print and in Markdown; both begin with the same axes. Drawn by Observable
Plot (see `vendor/README.md`), embedded, so that a report makes no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from auditor.model.record import AuditRecord, Risk, RunRecord
from reports.figures import (
    Excess,
    excess_of,
    figures,
    groups,
    is_rate,
    lead_adversary,
    one_person,
    pick,
    shared_utility,
    strongest_success,
    value_of,
)
from reports.pictures import pictured
from reports.summary import utility_name
from reports.text import clean, finite, settings, spoken

STRONGEST = "strongest"
_HERE = Path(__file__).parent
THEME = ("templates/theme.js",)
EXPLORER = ("vendor/d3.min.js", "vendor/plot.min.js", "templates/explorer.js")
"""The scripts of a page, in their order."""


def explorer(run: RunRecord) -> dict[str, Any] | None:
    """The points and the axes to choose from; None where a picture of several releases cannot be drawn."""
    start = shared_utility(run)
    if start is None or any(one_person(record) for record in run.records):
        return None
    risks: dict[str, str] = {}
    utility: dict[str, dict[str, str]] = {}
    points = []
    for place, record in enumerate(run.records, 1):
        heights, across = _risks(record, risks), _utility(record, utility)
        if not heights or not across:
            continue
        release = record.release
        points.append(
            {
                "place": place,
                "name": clean(release.name, 60),
                "method": clean(release.method or release.kind, 40),
                "settings": settings(release.params),
                "risks": heights,
                "utility": across,
            }
        )
    if len(points) < 2:
        return None
    first = [STRONGEST] if STRONGEST in risks else []
    return {
        "points": points,
        "risks": [{"key": key, "name": risks[key]} for key in [*first, *(k for k in risks if k != STRONGEST)]],
        "utility": [{"key": key, **facts} for key, facts in utility.items()],
        "start": _key(*start),
    }


def _risks(record: AuditRecord, names: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The heights that a release has, by axis; `names` collects the axes."""
    made: dict[str, dict[str, Any]] = {}
    strongest = strongest_success(record)
    if strongest is not None:
        names.setdefault(STRONGEST, "strongest attack, excess")
        made[STRONGEST] = _height(*strongest)
    adversary = lead_adversary(record)
    rows = figures(record)
    for attack, sensitive in groups(rows):
        mine = [r for r in rows if (r.attack, r.sensitive, r.adversary) == (attack, sensitive, adversary)]
        column = f" of {spoken(sensitive)}" if sensitive else ""
        success = pick(mine, "success")
        over = None if success is None else excess_of(success)
        if success is not None and over is not None:
            key = f"{attack}|{sensitive or ''}|excess"
            names.setdefault(key, f"{clean(attack, 40)}{column}, excess")
            made[key] = _height(success, over)
        row = pictured(attack, mine)
        if row is not None and is_rate(row):
            key = f"{attack}|{sensitive or ''}|{row.measure}"
            names.setdefault(key, f"{clean(attack, 40)}{column}, {spoken(row.measure)}")
            made[key] = {"value": value_of(row), "low": finite(row.low), "high": finite(row.high), "note": _note(row)}
    return made


def _height(risk: Risk, over: Excess) -> dict[str, Any]:
    return {"value": over.value, "low": over.low, "high": over.high, "note": f"{_note(risk)}, over the {over.over}"}


def _note(risk: Risk) -> str:
    column = f" of {spoken(risk.sensitive)}" if risk.sensitive else ""
    link = f", link {clean(risk.link, 40)}" if risk.link else ""
    return f"{clean(risk.attack, 40)}{column}, {clean(risk.adversary, 40)}{link}"


def _utility(record: AuditRecord, axes: dict[str, dict[str, str]]) -> dict[str, float]:
    """The utility figures of a release, by axis; `axes` collects them."""
    made: dict[str, float] = {}
    for row in record.utility:
        value = finite(row.value)
        if value is None:
            continue
        statistic = row.params.get("statistic")
        statistic = statistic if isinstance(statistic, str) else None
        key = _key(row.measure, statistic)
        better = "higher" if row.better == "higher" else "lower"
        axes.setdefault(key, {"name": utility_name(row.measure, statistic), "better": better})
        made.setdefault(key, value)
    return made


def _key(measure: str, statistic: str | None) -> str:
    return f"{measure}|{statistic or ''}"


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
