"""The run as one HTML file that needs nothing else: no font, no picture, no request.

Text, tables and pictures need no script. Two are embedded all the same, for a reader who has them: one to choose light or
dark, and, where several releases are compared, the picture in which axes and methods can be chosen (`explorer`); the page's
own security policy lets these run and no other.

The words come from `findings`, the tables from `tables`, the pictures from `charts`; the template sets them in order,
and jinja2 escapes every text (see `in_page`). Only the drawings are put in as they are: `svg` escapes the texts in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from auditor.model.record.record import AuditRecord, RunRecord
from reports.opening import opening
from reports.pictures import charts
from reports.pictures.charts import Axes
from reports.pictures.detailed import detailed
from reports.pictures.explorer import EXPLORER, SORTING, THEME, as_script_data, explorer, permission, scripts
from reports.pictures.heat import heat
from reports.pictures.kinds import risk_kinds
from reports.pictures.lines import lines
from reports.pictures.pictures import ROWS, Frontier, frontier, panels
from reports.pictures.points import numbers
from reports.pictures.scale import scale
from reports.pictures.small import small_pictures
from reports.reading import Meanings, classes, lead_adversary, made_by, one_person, size
from reports.tables.bounds import HEADING, bound_words
from reports.tables.choices import CHOICE_HEADING, CHOICE_LEAD, choice_table
from reports.tables.frontier import frontier_note, frontier_table, left_out_table
from reports.tables.glossary import SWEEP, glossary
from reports.tables.matrix import matrix, matrix_note
from reports.tables.remedies import remedy_words
from reports.tables.search import SEARCH_TABLES, only_search, searches
from reports.tables.selection import choice
from reports.tables.statistics import class_table, statistics_table
from reports.tables.sweeps import Sweep, is_sweep, steepest, sweep_table, sweeps
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
from reports.templating import fill
from reports.text import clean, number, settings, words
from reports.words.findings import WEAK, findings, gaps, key_findings
from reports.words.lacking import ALONE, alone, basis, title, wanted
from reports.words.sentences import links_line
from reports.words.summary import adversary_lines, bottom_line, briefs
from reports.words.verdicts import policy_name

WIDE, NARROW, FIRST = 976, 360, 740
"""The widths of drawings: of wide pages, of narrow ones, and of the first screen of wide ones."""
_SIGNS = {"pass": "✓", "fail": "✗", "mixed": "◐", "none": ""}
_SOUGHT = (
    "The excess of the best, the typical (median) and the worst set of each number of known attributes, chosen on other "
    "people. All strokes hold at once with 95 %."
)
_WARNED = 2
"""The warnings and lines of the verdict on the first screen; the others follow below it."""


def render_html(run: RunRecord) -> str:
    """The run as the text of an HTML file."""
    return fill("report.html", **_page(run))


def _page(run: RunRecord) -> dict[str, Any]:
    opened = opening(run)
    several = len(run.records) > 1
    places, numbered = detailed(run), numbers(run)
    attacks = {a.name: a for record in run.records for a in record.attacks}
    interactive = explorer(run) if several and not is_sweep(run) else None
    searched, swept = _searches(run), _sweeps(run)
    heated = heat(run) if several else None
    embedded = scripts((*THEME, *(SORTING if heated else ()), *(EXPLORER if interactive else ())))
    page = {
        "explorer": None if interactive is None else as_script_data(interactive),
        "scripts": embedded,
        "permission": permission(embedded),
        "title": clean(run.title) or "Audit",
        "seed": run.seed,
        "tools": tool_text([run.tool, *(record.tool for record in run.records)]),
        "verdict": opened.verdict,
        "facts": opened.facts,
        "advice": opened.advice,
        "warned": _WARNED,
        "sign": _SIGNS[opened.verdict.kind],
        "several": several,
        "first": _first_picture(run, searched, swept),
        "searches": searched,
        "only_search": only_search(run),
        "choice": choice(run),
        "sweeps": swept,
        "weak": WEAK,
        "heat": heated,
        "releases": [_release(run.records[place - 1], place) for place in places],
        "numbers": numbered,
        "anchors": {numbered[place]: place for place in reversed(places)},
        "shown_count": len(places),
        "left_out": number(len(run.records) - len(places)) if len(places) < len(run.records) else "",
        "people": list(dict.fromkeys((a.name, a.sentence) for record in run.records for a in record.adversaries)),
        "attacks": list(attacks.values()),
        "links_line": links_line(*run.records),
        "inputs": inputs_table(run),
        "glossary": glossary(run),
        "attacks_picture": _attacks_picture(run),
        "rows_shown": ROWS if len(run.records) > ROWS else 0,
        "alone": all(one_person(record) for record in run.records),
        **_findings(run, places),
        **_side_by_side(run, places),
    }
    return {**page, "contents": _contents(page)}


def _findings(run: RunRecord, places: Sequence[int]) -> dict[str, Any]:
    """The findings to remember: of one release its own, of several those of each."""
    several = len(run.records) > 1
    shown = briefs(run, places[:6] if len(run.records) > 10 else places) if several else []
    everything = [] if several else [f for record in run.records for f in findings(record)]
    one_by_one = all(one_person(record) for record in run.records)
    chosen = [f for f in everything if not f.weak] if one_by_one else key_findings(everything)
    return {
        "briefs": shown,
        "findings": chosen,
        "other_findings": len(everything) - len(chosen),
        "more": number(len(run.records) - len(shown)) if several and len(shown) < len(run.records) else "",
        "findings_title": ALONE if any(alone(record) for record in run.records) and not several else "Findings",
        "basis": "" if several else " ".join(basis(record) for record in run.records),
        "adversaries": adversary_lines(run),
        "bottom_line": bottom_line(run),
    }


def _side_by_side(run: RunRecord, places: Sequence[int]) -> dict[str, Any]:
    """The tables that set adversaries and releases beside each other."""
    columns = matrix(run, places) if run.comparison is None and not is_sweep(run) else None
    return {
        "matrix": columns,
        "matrix_note": "" if columns is None else matrix_note(run, columns),
        "overview": overview(run) if len(run.records) > 1 and run.comparison is None else None,
        "compared": _compared(run),
    }


def _contents(page: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The sections of the page: their anchors and titles."""
    one = page["releases"][0] if page["releases"] and not page["several"] else None
    found = [
        ("choice", "Why this one", page["choice"]),
        ("search", "The strongest adversary", page["searches"]),
        ("sweep", "Success against what is known", page["sweeps"]),
        ("heat", "Releases and attacks", page["heat"]),
        ("findings", page["findings_title"], page["releases"] and not page["only_search"]),
        ("tradeoff", "Releases side by side", page["overview"] or page["compared"]),
        ("judged", "How it was judged", one and one["policy"]),
        ("remedies", "What would lower the risk", one and one["remedies"]),
        ("lacking", one["lacking_title"] if one else "", one and one["alone"] and one["lacking"]),
        ("what", "The release", one),
        ("details", "The releases in detail", page["several"] and page["releases"]),
        ("method", "Method", True),
        ("appendix", "Appendix", page["releases"]),
    ]
    return [(anchor, title) for anchor, title, there in found if there]


def _first_picture(
    run: RunRecord, searched: list[dict[str, Any]], swept: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """The picture of the first screen: of a search or a sweep its first curves; of several releases risk against utility; of
    one the risk by kind. Those of a search or sweep are taken from their section."""
    for one in (*searched, *swept):
        if one["picture"]:
            drawing, one["picture"] = one["picture"], ""
            title = one["words"].title if "words" in one else one["title"]
            return {"drawing": drawing, "caption": f"{title}: {one['caption']}", "of": "curves"}
    if len(run.records) > 1:
        found = frontier(run)
        if found is None:
            return None
        drawn = partial(_scatter, found)
        corner = (
            f"{'bottom' if found.better[1] == 'lower' else 'top'} {'left' if found.better[0] == 'lower' else 'right'}"
        )
        missing = f" Left out, because a figure is missing: {words(list(found.missing))}." if found.missing else ""
        what = "a method with its settings" if run.comparison is not None else "a release"
        caption = (
            f"Each point is {what}. The dashed line joins those that no other beats; the {corner} is best.{missing}"
        )
        return {"drawing": _both(drawn, "frontier", FIRST), "caption": caption, "of": "frontier"}
    groups = risk_kinds(run.records[0]) if run.records else []
    if not groups:
        return None
    caption = (
        "The strongest attack of each kind. Its control is the same attack on people who are not in the release, or a guess "
        "without it: what lies beyond is owed to the release."
    )
    return {
        "drawing": _both(lambda width, name: scale(groups, name, width), "kinds", FIRST),
        "caption": caption,
        "of": "kinds",
    }


def _scatter(found: Frontier, width: int, name: str) -> str:
    return charts.scatter(found.points, Axes(found.x, found.y), name, width, found.better)


def _both(draw: Callable[[int, str], str], name: str, width: int = WIDE) -> str:
    """The picture drawn twice, for wide and for narrow pages; the style sheet hides one."""
    return f'<div class="wide">{draw(width, f"{name}-w")}</div><div class="narrow">{draw(NARROW, f"{name}-n")}</div>'


def _sweeps(run: RunRecord) -> list[dict[str, Any]]:
    """The curves of a sweep, each as a picture and a table; those come first that the verdict is about."""
    made, every = [], sweeps(run)
    for place, found in enumerate(sorted(every, key=lambda one: one is not steepest(every)[0])):
        axes = Axes(f"known attributes, of {found.of}", found.measure)
        picture = _both(partial(_lines, found, axes), f"sweep-{place}", WIDE if place else FIRST)
        made.append(
            {
                "title": found.title,
                "picture": picture,
                "table": sweep_table(found),
                "measure": found.measure,
                "caption": f"{SWEEP} Strokes are 95 % intervals.",
            }
        )
    return made


def _searches(run: RunRecord) -> list[dict[str, Any]]:
    """What a search for the strongest adversary found: the answer, the picture, and the tables."""
    made = []
    for place, found in enumerate(searches(run)):
        picture = ""
        if found.sweep is not None:
            axes = Axes(f"known attributes, of {found.sweep.of}", found.sweep.measure)
            picture = _both(partial(_lines, found.sweep, axes), f"search-{place}", WIDE if place else FIRST)
        tables = [(name, table) for name, table in zip(SEARCH_TABLES, found.tables, strict=True) if table is not None]
        made.append({"words": found, "picture": picture, "tables": tables, "caption": _SOUGHT})
    return made


def _lines(found: Sweep, axes: Axes, width: int, name: str) -> str:
    return lines(found, axes, name, width)


def _compared(run: RunRecord) -> dict[str, Any] | None:
    """The tables of a comparison: the frontier, and what has no place."""
    found = run.comparison
    if found is None:
        return None
    return {"note": frontier_note(run, found), "table": frontier_table(run, found), "left_out": left_out_table(found)}


def _attacks_picture(run: RunRecord) -> str | None:
    found = panels(run)
    if not found:
        return None
    title = "How often each attack is right, beside the control and the baseline"
    return _both(lambda width, name: charts.dots(found, name, title, width), "attacks")


def _release(record: AuditRecord, place: int) -> dict[str, Any]:
    rows, everything = sorted_risks(record), findings(record)
    attacks = list(dict.fromkeys(r.attack for r in rows))
    return {
        "id": f"release-{place}",
        "place": place,
        "name": clean(record.release.name),
        "brief": _brief(record),
        "word": verdict_word(record),
        "facts": release_facts(record),
        "policy": policy_name(record.policy) if record.policy is not None else "",
        "source": clean(record.policy.source) if record.policy is not None else "",
        "checks": policy_table(record, keys=False) if record.policy is not None else None,
        "findings": everything,
        "remedies": remedy_words(record),
        "classes": class_table(record),
        "statistics": statistics_table(record),
        "lacking": wanted(record),
        "alone": alone(record),
        "lacking_title": title(record),
        "pictures": [(one.title, one.drawing) for one in small_pictures(record, f"-{place}")],
        "attacks": [_attack(record, attack) for attack in attacks],
        "bounds": bound_words(record),
        "bounds_title": HEADING,
        "choices": choice_table(record),
        "choices_title": CHOICE_HEADING,
        "choices_lead": CHOICE_LEAD,
        "gaps": gaps(record),
        "utility": utility_table(record.utility) if record.utility else None,
        "notes": [clean(note.text, 600) for note in record.notes],
    }


def _brief(record: AuditRecord) -> str:
    release = record.release
    given = settings(release.params)
    method = made_by(release) + (f" ({given})" if given else "")
    return f"{method}; {', '.join((size(release), *classes(release)))}"


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
