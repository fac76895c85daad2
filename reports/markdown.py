"""The run as Markdown: for a repository, a ticket or a wiki.

Tables are of the GitHub kind. Every text of the record goes through `text.markdown`, so that a pipe, a backtick or a
tag in a label stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from auditor.model.record.record import AuditRecord, RunRecord
from reports.opening import Opening, opening
from reports.pictures.detailed import detailed
from reports.reading import Meanings, lead_adversary
from reports.tables.bounds import HEADING, bound_words
from reports.tables.choices import CHOICE_HEADING, CHOICE_LEAD, choice_table
from reports.tables.frontier import frontier_note, frontier_table, left_out_table
from reports.tables.glossary import SWEEP, glossary
from reports.tables.matrix import matrix, matrix_note
from reports.tables.remedies import remedy_words
from reports.tables.search import SEARCH_TABLES, only_search, searches
from reports.tables.selection import choice
from reports.tables.statistics import class_table, statistics_table
from reports.tables.sweeps import sweep_table, sweeps
from reports.tables.tables import (
    Table,
    inputs_table,
    merged,
    overview,
    policy_table,
    release_facts,
    risk_table,
    sorted_risks,
    tool_text,
    utility_table,
)
from reports.tables.worst import worst_classes, worst_rows
from reports.text import markdown, number
from reports.words.findings import WEAK, Finding, findings, gaps
from reports.words.lacking import ALONE, alone, basis, title, wanted
from reports.words.sentences import links_line
from reports.words.summary import adversary_lines, bottom_line, briefs
from reports.words.verdicts import policy_name

_SIGNS = {"pass": "✓ ", "fail": "✗ ", "mixed": "◐ ", "none": ""}


def render_markdown(run: RunRecord, picture: str | None = None) -> str:
    """The run as a Markdown document; `picture` is where the picture of risk against utility stands, beside the document."""
    opened = opening(run)
    found = opened.verdict
    parts = [
        f"# {markdown(run.title) or 'Audit'}",
        f"**{_SIGNS[found.kind]}{markdown(found.title)}**",
        markdown(" · ".join(opened.facts)),
        _list(f"**Warning: {markdown(line)}**" for line in found.warnings),
        _list(markdown(line) for line in (*found.lines, *found.reasons)),
        *_advice(opened),
    ]
    parts += [markdown(line) for line in adversary_lines(run)]
    for one in sweeps(run):
        title = f"## {markdown(one.title)}: {one.measure} by known attributes (of {one.of})"
        parts += [title, markdown(SWEEP), _table(sweep_table(one))]
    for sought in searches(run):
        parts += [f"## {markdown(sought.title)}", f"**{markdown(sought.answer)}**", *map(markdown, sought.lines)]
        for name, table in zip(SEARCH_TABLES, sought.tables, strict=True):
            parts += [f"### {name}", _table(table)] if table is not None else []
    chosen = choice(run)
    if chosen is not None:
        parts += ["## Why this one", *map(markdown, chosen.lines)]
        parts += [markdown(chosen.others_note), _table(chosen.others)] if chosen.others is not None else []
        parts += ["### What was tried", _table(chosen.tried)]
    drawn = f"![Risk against utility]({picture})" if picture else ""
    if run.comparison is not None:
        found_points = run.comparison
        parts += [
            "## Risk against utility",
            drawn,
            markdown(frontier_note(run, found_points)),
            _table(frontier_table(run, found_points)),
        ]
        if found_points.left_out:
            parts += ["### Left out of the picture", _table(left_out_table(found_points))]
    if len(run.records) == 1 and not only_search(run):
        record = run.records[0]
        parts += [markdown(basis(record)), f"## {ALONE if alone(record) else 'Findings'}", _findings(findings(record))]
        parts += _matrix(run, "##")
        parts += _lacking(record, "##")
    elif run.records and not only_search(run):
        parts += _several(run) + ([drawn] if run.comparison is None else [])
    places = detailed(run)
    for place in places:
        parts += _release(run.records[place - 1], single=len(run.records) == 1)
    if len(places) < len(run.records):
        parts.append(f"Details of {number(len(run.records) - len(places))} more releases are not in this report.")
    parts += _method(run)
    return "\n\n".join(part for part in parts if part) + "\n"


def _advice(opened: Opening) -> list[str]:
    """What to do, what it costs, and the command."""
    advice = opened.advice
    if advice is None:
        return []
    lines = [markdown(line) for line in advice.lines if line]
    return [
        "## What to do",
        f"**{markdown(advice.title)}**",
        *lines,
        *([_code(advice.command)] if advice.command else []),
    ]


def _several(run: RunRecord) -> list[str]:
    shown = briefs(run, detailed(run)[:10])
    parts = ["## Findings", markdown(bottom_line(run) or "")]
    for brief in shown:
        lines = (f"{f.kind}: {markdown(f.headline)} *({markdown(f.told)})*" for f in brief.findings)
        parts += [f"**{markdown(brief.release)}**", _list(lines) or "No attack gave a figure."]
    if len(shown) < len(run.records):
        parts.append(f"The other {number(len(run.records) - len(shown))} releases follow below.")
    return parts if run.comparison is not None else [*parts, "## Releases", _table(overview(run)), *_matrix(run, "##")]


def _matrix(run: RunRecord, level: str) -> list[str]:
    """What each adversary gets, where there are several."""
    table = matrix(run, detailed(run))
    return [] if table is None else [f"{level} Who gets what", _table(table), matrix_note(run, table)]


def _release(record: AuditRecord, single: bool) -> list[str]:
    parts = [f"## Release {markdown(record.release.name, 120)}"]
    parts.append(_list(f"{name}: {markdown(text)}" for name, text in release_facts(record)))
    if record.policy is not None:
        outcome = "PASS" if record.policy.passed else "FAIL"
        parts += [f"### {outcome} – {markdown(policy_name(record.policy))}", _table(policy_table(record))]
    parts += _remedies(record)
    if not single:
        parts += ["### Findings on this release", _findings(findings(record)), *_lacking(record, "###")]
    tables = [table for table in (class_table(record), statistics_table(record)) if table is not None]
    if tables:
        parts += ["### Class statistics", *(_table(table) for table in tables)]
    rows = sorted_risks(record)
    if rows:
        parts += ["### Risk", _table(merged(risk_table(rows), Meanings(record)).without_empty())]
    for attack in dict.fromkeys(risk.attack for risk in rows):
        classes = worst_classes([risk for risk in rows if risk.attack == attack], lead_adversary(record))
        if classes is not None:
            parts += [f"### Worst classes: {markdown(attack)}", "Row numbers of your file.", _table(classes)]
    hit = worst_rows(Meanings(record), rows)
    if hit:
        parts += ["### Worst rows", _list(f"{markdown(name)}: {text}" for name, text in hit)]
    beyond = bound_words(record)
    if beyond is not None:
        remarks = _list(markdown(line) for line in beyond.remarks)
        parts += [f"### {HEADING}", markdown(beyond.lead), _table(beyond.table), remarks]
    chosen = choice_table(record)
    if chosen is not None:
        parts += [f"### {CHOICE_HEADING}", markdown(CHOICE_LEAD), _table(chosen)]
    missing = gaps(record)
    if missing:
        parts.append("### Not computed")
        parts.append(_list(f"{markdown(g.what)}: {markdown(g.status)}, {markdown(g.reason)}" for g in missing))
    if record.utility:
        parts += ["### Utility", _table(utility_table(record.utility))]
    if record.notes:
        parts += ["### Notes", _list(markdown(note.text) for note in record.notes)]
    return parts


def _lacking(record: AuditRecord, level: str) -> list[str]:
    """What was not given and would show more."""
    parts = []
    for one in wanted(record):
        figures = "\n".join(f"  - {markdown(figure)}" for figure in one.figures)
        parts.append(f"- {one.name} – give {markdown(one.give)}:\n{figures}")
    return [f"{level} {title(record)}", "\n".join(parts)] if parts else []


def _remedies(record: AuditRecord) -> list[str]:
    said = remedy_words(record)
    if said is None:
        return []
    lines = (f"{number}: {_code(command)}" for number, command in said.commands)
    return [
        "### What would lower the risk",
        markdown(said.lead),
        _list(markdown(line) for line in said.drivers),
        _table(said.table),
        _list(lines),
    ]


def _code(text: str) -> str:
    """A text as code; its fence is longer than any run of backticks in it."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _findings(found: Sequence[Finding]) -> str:
    if not found:
        return "No attack gave a figure."
    lines = []
    for i, finding in enumerate((f for f in found if not f.weak), 1):
        support = " ".join(markdown(line) for line in (finding.wrong, *finding.support, finding.comparison) if line)
        advice = f" *What lowers it:* {markdown(finding.advice)}" if finding.advice else ""
        lines.append(f"{i}. **{markdown(finding.headline)}** *({markdown(finding.told)})* {support}{advice}")
    weak = [markdown(" ".join(filter(None, (f"{f.brief}.", f.wrong)))) for f in found if f.weak]
    return "\n".join(lines) + (f"\n\n{WEAK}:\n\n{_list(weak)}" if weak else "")


def _method(run: RunRecord) -> list[str]:
    parts = ["## Method", f"Seed {run.seed}.", markdown(links_line(*run.records))]
    tools = tool_text([run.tool, *(record.tool for record in run.records)])
    if tools:
        parts.append(f"Made with {markdown(tools)}.")
    read = inputs_table(run)
    if read.rows:
        parts.append(_table(read))
    people = dict.fromkeys((a.name, a.sentence) for record in run.records for a in record.adversaries)
    if people:
        parts += ["### Adversaries", _list(f"**{markdown(name)}**: {markdown(text)}" for name, text in people)]
    attacks = {a.name: a for record in run.records for a in record.attacks}
    if attacks:
        lines = (
            f"**{markdown(a.name)}** ({markdown(a.goal)}): {markdown(a.claim)} *{markdown(a.paper)}*"
            for a in attacks.values()
        )
        parts += ["### Attacks", _list(lines)]
    for terms in glossary(run):
        lines = (f"**{markdown(name)}**: {markdown(text)}" for name, text in terms.pairs)
        parts += [f"### {terms.heading}", _list(lines)]
    return parts


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    rule = ["---:" if i in table.numeric else "---" for i in range(len(table.headings))]
    rows = [[markdown(h) for h in table.headings], rule, *([markdown(cell) for cell in row] for row in table.rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
