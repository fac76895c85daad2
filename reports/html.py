"""The run as one HTML file that needs nothing else: no font, no picture, no request.

Text, tables and pictures need no script. Two are embedded all the same, for a reader who has them: one to choose light or
dark, and, where several releases are compared, the picture in which axes and methods can be chosen (`explorer`); the page's
own security policy lets these run and no other.

The words come from `findings`, the tables from `tables`, the pictures from `charts`; the template sets them in order,
and jinja2 escapes every text (see `in_page`). Only the drawings are put in as they are: `svg` escapes the texts in them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from auditor.model.record.record import AuditRecord, RunRecord
from reports.pictures import charts
from reports.pictures.charts import Axes
from reports.pictures.detailed import detailed
from reports.pictures.explorer import EXPLORER, THEME, as_script_data, explorer, permission, scripts
from reports.pictures.lines import lines
from reports.pictures.pictures import ROWS, frontier, panels
from reports.pictures.points import numbers
from reports.pictures.small import small_pictures
from reports.reading import Meanings, lead_adversary, one_person, size
from reports.tables.bounds import HEADING, bound_words
from reports.tables.frontier import frontier_note, frontier_table, left_out_table
from reports.tables.glossary import SWEEP, glossary
from reports.tables.matrix import matrix, matrix_note
from reports.tables.remedies import remedy_words
from reports.tables.search import SEARCH_TABLES, only_search, searches
from reports.tables.statistics import class_table, statistics_table
from reports.tables.sweeps import Sweep, sweep_table, sweeps
from reports.tables.tables import (
    by_figures,
    compact_risks,
    inputs_table,
    merged,
    overview,
    policy_table,
    release_facts,
    sorted_risks,
    tool_text,
    utility_table,
    verdict_word,
)
from reports.tables.worst import worst_classes, worst_rows
from reports.text import clean, in_page, number, settings
from reports.words.findings import WEAK, findings, gaps
from reports.words.lacking import ALONE, alone, basis, title, wanted
from reports.words.summary import adversary_lines, bottom_line, briefs
from reports.words.verdicts import policy_name, verdict

WIDE, NARROW = 976, 360
PRINTED = 4
"""Details of more releases than these are printed only where the reader opened them: each takes a dozen pages."""
_SIGNS = {"pass": "✓", "fail": "✗", "mixed": "✗", "none": ""}


def environment() -> Environment:
    """The templates of pages: every text is escaped."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=in_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["clean"] = clean
    return made


def render_html(run: RunRecord) -> str:
    """The run as the text of an HTML file."""
    return environment().get_template("report.html").render(_page(run)) + "\n"


def _page(run: RunRecord) -> dict[str, Any]:
    found = verdict(run)
    several = len(run.records) > 1
    places, numbered = detailed(run), numbers(run)
    columns = matrix(run, places) if run.comparison is None else None
    shown = briefs(run, places[:6] if len(run.records) > 10 else places) if several else []
    people = list(dict.fromkeys((a.name, a.sentence) for record in run.records for a in record.adversaries))
    attacks = {a.name: a for record in run.records for a in record.attacks}
    interactive = explorer(run) if several else None
    embedded = scripts(THEME + EXPLORER if interactive else THEME)
    return {
        "explorer": None if interactive is None else as_script_data(interactive),
        "scripts": embedded,
        "permission": permission(embedded),
        "title": clean(run.title) or "Audit",
        "seed": run.seed,
        "tools": tool_text([run.tool, *(record.tool for record in run.records)]),
        "verdict": found,
        "sign": _SIGNS[found.kind],
        "several": several,
        "alone": all(one_person(record) for record in run.records),
        "adversaries": adversary_lines(run),
        "briefs": shown,
        "findings": [] if several else [f for record in run.records for f in findings(record)],
        "more": number(len(run.records) - len(shown)) if several and len(shown) < len(run.records) else "",
        "findings_title": ALONE if any(alone(record) for record in run.records) and not several else "Findings",
        "basis": "" if several else " ".join(basis(record) for record in run.records),
        "lacking": [] if several else [one for record in run.records for one in wanted(record)],
        "lacking_title": title(run.records[0]) if run.records else "",
        "bottom_line": bottom_line(run),
        "searches": _searches(run),
        "only_search": only_search(run),
        "sweeps": _sweeps(run),
        "matrix": columns,
        "matrix_note": "" if columns is None else matrix_note(run, columns),
        "weak": WEAK,
        "overview": overview(run) if several and run.comparison is None else None,
        "frontier": _frontier(run) if several else None,
        "compared": _compared(run),
        "attacks_picture": _attacks_picture(run),
        "rows_shown": ROWS if len(run.records) > ROWS else 0,
        "releases": [_release(run.records[place - 1], place, several) for place in places],
        "numbers": numbered,
        "anchors": {numbered[place]: place for place in reversed(places)},
        "count": len(run.records),
        "shown_count": len(places),
        "many": len(places) > PRINTED,
        "left_out": number(len(run.records) - len(places)) if len(places) < len(run.records) else "",
        "people": people,
        "attacks": list(attacks.values()),
        "inputs": inputs_table(run),
        "glossary": glossary(run),
        "sweep_note": SWEEP,
    }


def _both(draw: Callable[[int, str], str], name: str) -> str:
    """The picture drawn twice, for wide and for narrow pages; the style sheet hides one."""
    return f'<div class="wide">{draw(WIDE, f"{name}-w")}</div><div class="narrow">{draw(NARROW, f"{name}-n")}</div>'


def _sweeps(run: RunRecord) -> list[dict[str, Any]]:
    """The curves of a sweep, each as a picture and a table."""
    made = []
    for place, found in enumerate(sweeps(run)):
        axes = Axes(f"known attributes, of {found.of}", found.measure)
        picture = _both(partial(_lines, found, axes), f"sweep-{place}")
        made.append({"title": found.title, "picture": picture, "table": sweep_table(found), "measure": found.measure})
    return made


def _searches(run: RunRecord) -> list[dict[str, Any]]:
    """What a search for the strongest adversary found: the answer, the picture, and the tables."""
    made = []
    for place, found in enumerate(searches(run)):
        picture = ""
        if found.sweep is not None:
            axes = Axes(f"known attributes, of {found.sweep.of}", found.sweep.measure)
            picture = _both(partial(_lines, found.sweep, axes), f"search-{place}")
        tables = [(name, table) for name, table in zip(SEARCH_TABLES, found.tables, strict=True) if table is not None]
        made.append({"words": found, "picture": picture, "tables": tables})
    return made


def _lines(found: Sweep, axes: Axes, width: int, name: str) -> str:
    return lines(found, axes, name, width)


def _frontier(run: RunRecord) -> dict[str, Any] | None:
    found = frontier(run)
    if found is None:
        return None
    axes = Axes(found.x, found.y)
    return {
        "picture": _both(lambda width, name: charts.scatter(found.points, axes, name, width, found.better), "frontier"),
        "missing": found.missing,
        "corner": f"{'bottom' if found.better[1] == 'lower' else 'top'} {'left' if found.better[0] == 'lower' else 'right'}",
        "crowd": len(found.points) > charts.CROWD,
    }


def _compared(run: RunRecord) -> dict[str, Any] | None:
    """The tables of a comparison: the frontier, and what has no place."""
    found = run.comparison
    if found is None:
        return None
    return {"note": frontier_note(run, found), "table": frontier_table(found), "left_out": left_out_table(found)}


def _attacks_picture(run: RunRecord) -> str | None:
    found = panels(run)
    if not found:
        return None
    title = "How often each attack is right, beside the control and the baseline"
    return _both(lambda width, name: charts.dots(found, name, title, width), "attacks")


def _release(record: AuditRecord, place: int, several: bool) -> dict[str, Any]:
    rows = sorted_risks(record)
    attacks = list(dict.fromkeys(r.attack for r in rows))
    return {
        "id": f"release-{place}",
        "place": place,
        "name": clean(record.release.name),
        "brief": _brief(record),
        "word": verdict_word(record.policy),
        "facts": release_facts(record),
        "policy": policy_name(record.policy) if record.policy is not None else "",
        "source": clean(record.policy.source) if record.policy is not None else "",
        "checks": policy_table(record) if record.policy is not None else None,
        "findings": findings(record) if several else [],
        "remedies": remedy_words(record),
        "classes": class_table(record),
        "statistics": statistics_table(record),
        "lacking": wanted(record) if several else [],
        "lacking_title": title(record),
        "pictures": [(one.title, one.drawing) for one in small_pictures(record, f"-{place}")],
        "attacks": [_attack(record, attack) for attack in attacks],
        "bounds": bound_words(record),
        "bounds_title": HEADING,
        "gaps": gaps(record),
        "utility": utility_table(record.utility) if record.utility else None,
        "notes": [clean(note.text, 600) for note in record.notes],
    }


def _brief(record: AuditRecord) -> str:
    release = record.release
    given = settings(release.params)
    method = clean(release.method or release.kind, 60) + (f" ({given})" if given else "")
    return f"{method}; {size(release)}, {number(release.classes)} classes, k = {number(release.k)}"


def _attack(record: AuditRecord, attack: str) -> dict[str, Any]:
    rows, meanings = sorted_risks(record, attack), Meanings(record)
    tables = []
    for group in by_figures(rows):
        table, shared = compact_risks(group)
        tables.append((f"Figures of {clean(attack, 60)}" + (f": {shared}" if shared else ""), merged(table, meanings)))
    return {
        "name": clean(attack, 60),
        "claim": clean(meanings.attack(attack).claim),
        "tables": tables,
        "worst": worst_rows(meanings, rows),
        "classes": worst_classes(rows, lead_adversary(record)),
    }
