"""The run as text for a terminal of 80 to 120 columns.

One release: the risk figures, grouped by attack, column and adversary so that the rows stay narrow (of membership the areas
and successes only; of claims those that are true). Several: the overview and the best findings of each; the rest is for the
other renderers. Of a sweep only its curves, as tables.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from tabulate import tabulate

from auditor.model.record.comparison import Comparison
from auditor.model.record.meaning import Goal
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.strongest import SUCCESS
from reports.opening import Opening, opening
from reports.pictures.detailed import detailed
from reports.reading import Meanings, classes, made_by, size
from reports.tables.bounds import HEADING, bound_words
from reports.tables.choices import CHOICE_HEADING, CHOICE_LEAD, choice_table
from reports.tables.frontier import frontier_note, frontier_table, left_out_table
from reports.tables.glossary import SWEEP
from reports.tables.matrix import matrix, matrix_note
from reports.tables.remedies import remedy_words
from reports.tables.search import SEARCH_TABLES, only_search, searches
from reports.tables.selection import choice
from reports.tables.statistics import class_table, statistics_table
from reports.tables.sweeps import is_sweep, sweep_table, sweeps
from reports.tables.tables import (
    Table,
    by_figures,
    compact_risks,
    merged,
    overview,
    policy_table,
    sorted_risks,
    tool_text,
    utility_table,
)
from reports.tables.worst import worst_rows
from reports.text import THIN, capital, clean, number, settings
from reports.words.findings import WEAK, Finding, findings, gaps
from reports.words.lacking import ALONE, alone, basis, title, wanted
from reports.words.summary import Brief, adversary_lines, bottom_line, briefs
from reports.words.verdicts import policy_name

_FIRST = 12
"""So many candidates of a search are shown."""
_SPARE = ("known", "excess", "guessed")  # endings of the headings that go first where the terminal is narrow


def render_terminal(run: RunRecord, width: int = 100) -> str:
    """The run as text, at most `width` columns wide where its names allow it."""
    opened = opening(run)
    parts = [_title(clean(run.title) or "Audit", "=", width), _verdict(opened, width)]
    parts.extend(_searches(run, width))
    chosen = choice(run)
    if chosen is not None:
        said = [_wrap(line, width) for line in chosen.lines]
        said += [_wrap(chosen.others_note, width), _fitted(chosen.others, width)] if chosen.others is not None else []
        parts.append(_section("Why this one", "\n\n".join(said), width))
        first = replace(chosen.tried, rows=chosen.tried.rows[:_FIRST])
        more = len(chosen.tried.rows) - len(first.rows)
        rest = f"\n  {number(more)} more are in the report." if more else ""
        parts.append(_section("What was tried, those that keep most first", _fitted(first, width, []) + rest, width))
    if is_sweep(run):
        parts.extend(_sweeps(run, width))
    elif only_search(run):
        parts.append(_adversaries(run, width))
    elif run.comparison is not None and chosen is None:
        parts.extend(_comparison(run, run.comparison, width))
    elif len(run.records) == 1:
        parts.extend(_release(run.records[0], width))
    elif run.records and chosen is None:
        parts.append(_several(run, width))
    tools = tool_text([run.tool])
    parts.append(_wrap(f"Seed {run.seed}" + (f"; {tools}" if tools else ""), width))
    return "\n\n".join(part for part in parts if part).replace(THIN, " ") + "\n"


def _sweeps(run: RunRecord, width: int) -> list[str]:
    """The curves of a sweep as tables; all other figures are in the record."""
    parts = [_wrap(f"{SWEEP} Brackets are 95 % intervals.", width)]
    for found in sweeps(run):
        title = f"{found.title}: {found.measure} by known attributes (of {found.of})"
        parts.append(_section(title, _fitted(sweep_table(found), width), width))
    return parts


def _searches(run: RunRecord, width: int) -> list[str]:
    """What a search for the strongest adversary found."""
    parts = []
    for found in searches(run):
        said = [_wrap(line, width) for line in (found.answer, *found.lines)]
        spare = [["sets"], ["baseline"], ["link"]]
        tables = [
            f"{name}:\n\n{_fitted(table, width, spare)}"
            for name, table in zip(SEARCH_TABLES, found.tables, strict=True)
            if table is not None
        ]
        parts.append(_section(found.title, "\n\n".join([*said, *tables]), width))
    return parts


def _comparison(run: RunRecord, found: Comparison, width: int) -> list[str]:
    """The frontier and what was left out; the report has all other figures."""
    parts = []
    spare = [["interval of utility"], ["k"], ["from"], ["interval"]]
    if found.points:
        table = _fitted(frontier_table(run, found), width, spare)
        parts.append(_section("Risk against utility", f"{_wrap(frontier_note(run, found), width)}\n\n{table}", width))
    if found.left_out:
        lines = [_wrap(": ".join(row[:2]) + f", {row[2]}", width, "- ") for row in left_out_table(found).rows]
        parts.append(_section("Left out of the picture", "\n".join(lines), width))
    return parts


def _title(text: str, rule: str, width: int) -> str:
    shown = clean(text, max(width, 20))
    return f"{shown}\n{rule * len(shown)}"


def _wrap(text: str, width: int, first: str = "", then: str | None = None) -> str:
    rest = " " * len(first) if then is None else then
    return textwrap.fill(text, max(width, 40), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _verdict(opened: Opening, width: int) -> str:
    """The first screen: the verdict, the facts, and what to do."""
    found, advice = opened.verdict, opened.advice
    lines = [_wrap(found.title, width)]
    lines += [_wrap(f"WARNING: {line}", width) for line in found.warnings]
    lines += [_wrap(line, width, "  - ") for line in found.lines]
    lines += ["", _wrap(" · ".join(opened.facts), width)] if opened.facts else []
    if advice is not None:
        lines += ["", _wrap(f"What to do: {advice.title}", width)]
        lines += [_wrap(line, width, "  ") for line in advice.lines if line]
        lines += [f"  {advice.command}"] if advice.command else []
    lines += ["", *(_wrap(line, width, "- ") for line in found.reasons)] if found.reasons else []
    return "\n".join(lines)


def _adversaries(run: RunRecord, width: int) -> str:
    return "\n".join(_wrap(line, width) for line in adversary_lines(run))


def _several(run: RunRecord, width: int) -> str:
    table = overview(run)
    meanings = Meanings(*run.records)
    useful = [[meanings.utility_name(m.name, m.statistic)] for m in meanings.headlines()[1:]]
    endings = [[h for h in table.headings if h.endswith(ending)] for ending in _SPARE]
    spare = [*useful, ["#"], *endings]
    parts = [_adversaries(run, width), _title("Releases", "-", width), _fitted(table, width, spare)]
    parts += _matrix(run, width)
    line = bottom_line(run)
    if line:
        parts.append(_wrap(line, width))
    shown = briefs(run, detailed(run)[:10])
    parts.append(_title("Findings", "-", width))
    parts += [_brief(brief, width) for brief in shown]
    if len(shown) < len(run.records):
        parts.append(_wrap(f"{number(len(run.records) - len(shown))} more releases are in the full report.", width))
    return "\n\n".join(part for part in parts if part)


def _matrix(run: RunRecord, width: int) -> list[str]:
    """What each adversary gets, where there are several."""
    table = matrix(run, detailed(run))
    if table is None:
        return []
    note = matrix_note(run, table)
    return [_title("Who gets what", "-", width), _fitted(table, width), *([_wrap(note, width)] if note else [])]


def _brief(brief: Brief, width: int) -> str:
    lines = [_wrap(_told(f), width, f"  {f.kind + ':':<12} ") for f in brief.findings]
    return "\n".join([clean(brief.release, width), *(lines or ["  No attack gave a figure."])])


def _release(record: AuditRecord, width: int) -> list[str]:
    release = record.release
    facts = [
        size(release),
        f"{number(release.suppressed_rows)} suppressed",
        *([f"{number(release.left_out_rows)} deleted"] if release.left_out_rows else []),
        *classes(release),
    ]
    method = made_by(release) + (f" ({settings(release.params)})" if release.params else "")
    parts = [_wrap(f"{clean(release.name, 60)}: {method}; {', '.join(facts)}", width)]
    parts.append(_wrap(basis(record), width))
    parts.append(_adversaries(RunRecord("", 0, (record,)), width))
    parts.append(_findings(findings(record), width, ALONE if alone(record) else "Findings"))
    parts += _matrix(RunRecord("", 0, (record,)), width)
    lacking = _lacking(record, width)
    if alone(record):
        parts.append(lacking)
    tables = [table for table in (class_table(record), statistics_table(record)) if table is not None]
    if tables:
        parts.append(_section("Class statistics", "\n\n".join(_fitted(table, width) for table in tables), width))
    rows = sorted_risks(record)
    if rows:
        parts.append(_section("Risk", "\n\n".join(_risk_groups(Meanings(record), rows, width)), width))
    beyond = bound_words(record)
    if beyond is not None:
        remarks = "\n".join(_wrap(line, width, "- ") for line in beyond.remarks)
        body = [_wrap(beyond.lead, width), _fitted(beyond.table, width), remarks]
        parts.append(_section(HEADING, "\n\n".join(part for part in body if part), width))
    chosen = choice_table(record)
    if chosen is not None:
        parts.append(_section(CHOICE_HEADING, f"{_wrap(CHOICE_LEAD, width)}\n\n{_fitted(chosen, width)}", width))
    missing = gaps(record)
    if missing:
        lines = [_wrap(f"{gap.what}: {gap.status}, {gap.reason}", width, "- ") for gap in missing]
        parts.append(_section("Not computed", "\n".join(lines), width))
    if not alone(record):
        parts.append(lacking)
    if record.utility:
        parts.append(_section("Utility", _fitted(utility_table(record.utility), width), width))
    if record.policy is not None and record.policy.checks:
        parts.append(
            _section(capital(policy_name(record.policy)), _fitted(policy_table(record), width, [["source"]]), width)
        )
    said = remedy_words(record)
    if said is not None:
        lines = [_wrap(said.lead, width), *(_wrap(line, width, "- ") for line in said.drivers)]
        body = [_fitted(said.table, width, [["detail kept"]])] if said.table.rows else []
        parts.append(_section("What would lower the risk", "\n\n".join(["\n".join(lines), *body]), width))
    if record.notes:
        parts.append(
            _section("Notes", "\n".join(_wrap(clean(note.text, 600), width, "- ") for note in record.notes), width)
        )
    return parts


def _section(name: str, body: str, width: int) -> str:
    return f"{_title(name, '-', width)}\n\n{body}"


def _lacking(record: AuditRecord, width: int) -> str:
    """What was not given and would show more; empty where everything was given."""
    parts = []
    for one in wanted(record):
        lines = [_wrap(figure, width, "  - ") for figure in one.figures]
        parts.append("\n".join([_wrap(f"{one.name}:", width), *lines, _wrap(f"Give {one.give}.", width, "  ")]))
    return _section(title(record), "\n".join(parts), width) if parts else ""


def _findings(found: Sequence[Finding], width: int, heading: str) -> str:
    if not found:
        return _section(heading, "No attack gave a figure.", width)
    lines = [_wrap(_told(f), width, f"{i}. ") for i, f in enumerate((f for f in found if not f.weak), 1)]
    weak = [f for f in found if f.weak]
    lines += [_wrap(f"{WEAK}:", width)] if weak else []
    lines += [_wrap(" ".join(filter(None, (f"{f.brief}.", f.wrong))), width, "- ") for f in weak]
    return _section(heading, "\n".join(lines), width)


def _told(finding: Finding) -> str:
    """A finding with how it stands, and how many claims are confident and wrong."""
    return " ".join(part for part in (f"{finding.headline} [{finding.told}]", finding.wrong) if part)


def _risk_groups(meanings: Meanings, rows: Sequence[Risk], width: int) -> list[str]:
    made = []
    for mine in by_figures(rows):
        attack = mine[0].attack
        facts = meanings.attack(attack)
        some = (*facts.compared[:1], SUCCESS) if facts.goal == Goal.MEMBERSHIP else ()
        kept = [r for r in mine if r.measure in some] if some else mine
        there = {r.measure for r in mine}
        claims = {
            name for name in there if meanings.measure(attack, name).right in there
        }  # those that are true are shown
        table, shared = compact_risks([r for r in kept if r.measure not in claims] or mine)
        title = clean(attack, 60).upper() + (f": {shared}" if shared else "")
        body = _fitted(_joined(table), width, (["expected"], ["excess"], ["baseline"], ["n"]), meanings)
        hit = [_wrap(f"worst rows of {name}: {text}", width, "  ") for name, text in worst_rows(meanings, mine)[:2]]
        more = [_wrap("The other measures are in the HTML report and the JSON.", width, "  ")] if kept != mine else []
        made.append("\n".join([_wrap(title, width), body, *more, *hit]))
    return made


def _joined(table: Table) -> Table:
    """The interval set beside its value, and the excess without one: a terminal is narrow."""
    at, beside, over = (
        table.headings.index(n) if n in table.headings else None for n in ("value", "interval", "excess")
    )
    rows = []
    for row in table.rows:
        cells = list(row)
        if at is not None and beside is not None and row[beside].startswith("["):
            cells[at] = f"{row[at]} {row[beside]}"
        if over is not None:
            cells[over] = re.split(r" \[| over", row[over])[0]
        rows.append(tuple(cells))
    return Table(table.headings, tuple(rows), table.numeric - {at}).without("interval")


_LEAST_ROOM, _LONGEST = 16, 2_000
"""No column is made narrower than this, and no cell longer."""


def _fitted(table: Table, width: int, spare: Sequence[Sequence[str]] = (), meanings: Meanings | None = None) -> str:
    """The table as text; the columns of `spare` go group by group until it fits, then the widest columns are wrapped. With
    `meanings`, links that share their figures share a row."""
    whole, left_out = table, []
    table = merged(whole, meanings) if meanings is not None else whole
    text = _drawn(table)
    for names in spare:
        if _width(text) <= width:
            break
        left_out += [name for name in names if name in table.headings and name != "#"]
        whole = whole.without(*names)
        table = merged(whole, meanings) if meanings is not None else whole
        text = _drawn(table)
    note = "\n" + _wrap(f"Columns left out to fit the width: {', '.join(left_out)}.", width, "  ") if left_out else ""
    if _width(text) <= width or not table.rows:
        return text + note
    rooms = [max(len(row[i]) for row in table.rows) for i in range(len(table.headings))]
    over = _width(text) - width
    while over > 0 and max(rooms) > _LEAST_ROOM:  # the widest becomes as wide as the next, and so on
        widest = max(range(len(rooms)), key=rooms.__getitem__)
        least = max([room for room in rooms if room < rooms[widest]] + [_LEAST_ROOM])
        taken = max(min(over, rooms[widest] - least), 1)
        rooms[widest] -= taken
        over -= taken
    return _drawn(table, list[int | None](rooms)) + note


def _drawn(table: Table, limits: list[int | None] | None = None) -> str:
    sides = ["right" if i in table.numeric else "left" for i in range(len(table.headings))]
    if not table.rows:
        return "(none)"
    return tabulate(
        [[clean(cell, _LONGEST) for cell in row] for row in table.rows],
        headers=[_stacked(table, i) for i in range(len(table.headings))],
        tablefmt="simple",
        colalign=sides,
        disable_numparse=True,
        maxcolwidths=limits,
    )


def _stacked(table: Table, place: int) -> str:
    """A heading broken at its spaces into lines that are not wider than the cells below."""
    heading = clean(table.headings[place])
    below = max((len(row[place]) for row in table.rows), default=0)
    room = max(below, *(len(word) for word in heading.split()), 1)
    return "\n".join(textwrap.wrap(heading, room, break_on_hyphens=False))


def _width(text: str) -> int:
    return max((len(line) for line in text.splitlines()), default=0)
