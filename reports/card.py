"""The card of a record or a run in a notebook: the verdict, the findings that matter, the size of the release, one picture.

A card stands among the outputs of other cells, so it brings its own colours (black on white, in light and dark notebooks
alike), and its picture is an image, whose style cannot leak into the page. Every text is escaped. What a card says comes from
where the report has it.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator
from dataclasses import replace

from auditor.model.record.record import AuditRecord, RunRecord
from reports.pictures import charts
from reports.pictures.charts import Axes, Mark, Panel
from reports.pictures.lines import lines
from reports.pictures.pictures import frontier, panels
from reports.pictures.plots import standing
from reports.reading import size
from reports.tables.sweeps import sweeps
from reports.text import capital, clean, number, words
from reports.words.findings import findings
from reports.words.summary import bottom_line, briefs
from reports.words.verdicts import verdict

SHOWN = 3
"""How many findings a card has room for."""
ATTACKS = 6
"""How many attacks its picture has room for."""
WIDTH = 720
_COLOURS = {
    "pass": ("#16632f", "#ebf6ee"),
    "fail": ("#a3161a", "#fdeeee"),
    "mixed": ("#7a4a00", "#fdf4e3"),
    "none": ("#545d6b", "#f5f6f8"),
}
_BOX = (
    "background:#ffffff;color:#1b2029;border:1px solid #d5d9e0;border-radius:6px;max-width:44rem;padding:0;overflow:hidden;"
    "font:14px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
)
_SOFT = "color:#545d6b;font-size:12.5px"


def escape(text: str) -> str:
    """A text of the record, made harmless."""
    return html.escape(clean(text, 600), quote=True)


def card(result: AuditRecord | RunRecord) -> str:
    """The card as an HTML fragment."""
    run = result
    if isinstance(run, AuditRecord):
        run = RunRecord(run.release.name, run.seed, (run,), run.tool)
    found = verdict(run)
    ink, ground = _COLOURS[found.kind]
    reasons = "".join(f"<div>{escape(line)}</div>" for line in found.lines[: SHOWN if len(run.records) == 1 else 0])
    told = "".join(f'<li style="margin:0 0 4px">{text}</li>' for text in _findings(run))
    drawn = _picture(run)
    return (
        f'<div style="{_BOX}"><div style="background:{ground};border-left:6px solid {ink};padding:10px 16px">'
        f'<div style="color:{ink};font-weight:700;font-size:16px">{escape(found.title)}</div>{reasons}'
        f'<div style="{_SOFT}">{escape(_about(run))}</div></div>'
        f'<ol style="margin:10px 16px 6px;padding-left:20px">{told}</ol>{drawn}'
        f'<div style="{_SOFT};padding:0 16px 10px">{escape(_more(result))}</div></div>'
    )


def _about(run: RunRecord) -> str:
    """What was audited: one release with its size, or how many."""
    if len(run.records) != 1:
        attacks = {attack.name for record in run.records for attack in record.attacks}
        return f"{clean(run.title, 80)}: {number(len(run.records))} releases, {number(len(attacks))} attacks, seed {run.seed}"
    release = run.records[0].release
    k = "" if release.k is None else f", k = {number(release.k)}"
    return f"{clean(release.name, 80)}: {size(release)} in {number(release.classes)} classes{k}"


def _findings(run: RunRecord) -> Iterator[str]:
    """The findings to remember, as HTML."""
    if len(run.records) == 1:
        for one in findings(run.records[0])[:SHOWN]:
            yield f'{escape(one.headline)} <span style="{_SOFT}">({escape(one.told)})</span>'
        return
    least = bottom_line(run)
    if least is not None:
        yield escape(least)
    places = range(1, len(run.records) + 1)
    for brief in briefs(run, places)[: SHOWN - (least is not None)]:
        if brief.findings:
            yield f"<b>{escape(brief.release)}</b>: {escape(brief.findings[0].headline)}"


def _picture(run: RunRecord) -> str:
    """The picture of the card: of a sweep its first curves, of several releases risk against utility, else the attacks."""
    drawn = _drawing(run)
    if drawn is None:
        return ""
    title, drawing = drawn
    text = base64.b64encode(standing("card", title, "", drawing).svg.encode()).decode()
    place = "display:block;width:100%;max-width:100%;height:auto;margin:0 0 6px"
    return f'<img style="{place}" alt="{escape(title)}" src="data:image/svg+xml;base64,{text}"/>'


def _drawing(run: RunRecord) -> tuple[str, str] | None:
    swept = sweeps(run)
    if swept:
        axes = Axes(f"known attributes, of {swept[0].of}", swept[0].measure)
        return swept[0].title, lines(swept[0], axes, "card", WIDTH)
    tradeoff = frontier(run) if len(run.records) > 1 else None
    if tradeoff is not None:
        axes = Axes(tradeoff.x, tradeoff.y)
        return "Risk against utility", charts.scatter(tradeoff.points, axes, "card", WIDTH, tradeoff.better)
    best = [replace(_strongest(panel), name=_brief(panel.heading)) for panel in panels(run) if panel.marks]
    shown = sorted(best, key=lambda mark: -(mark.value - (mark.over or 0.0)))[:ATTACKS]
    title = "How often the strongest attacks are right"
    return (title, charts.dots([Panel("", tuple(shown))], "card", title, WIDTH)) if shown else None


def _brief(heading: str) -> str:
    """What an attack reaches, without its name: `The disease is guessed right`."""
    name, _, reached = heading.partition(": ")
    return capital(reached) or name


def _strongest(panel: Panel) -> Mark:
    """The mark of what an adversary gets; only where there is none, of what they would if the class were known."""
    return max(panel.marks, key=lambda mark: (not mark.bound, mark.value))


def _more(result: AuditRecord | RunRecord) -> str:
    """How to go on from the card."""
    ways = [".to_frame() has every figure", "auditor.plots(…) every picture"]
    return words(
        [*ways, ".to_json() is the audit record" if isinstance(result, AuditRecord) else ".records the audits"]
    )
