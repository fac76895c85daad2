"""The card of a record or a run in a notebook: the verdict, the findings that matter, the size of the release, one picture.

A card stands among the outputs of other cells, so it brings its own colours (black on white, in light and dark notebooks
alike), and its picture is an image, whose style cannot leak into the page. Every text is escaped. What a card says comes from
where the report has it.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator

from auditor.model.record.record import AuditRecord, RunRecord
from reports.opening import opening
from reports.pictures import charts
from reports.pictures.charts import Axes
from reports.pictures.kinds import risk_kinds
from reports.pictures.lines import lines
from reports.pictures.pictures import frontier
from reports.pictures.plots import standing
from reports.pictures.scale import scale
from reports.tables.sweeps import steepest, sweeps
from reports.text import clean, words
from reports.words.findings import findings, key_findings
from reports.words.summary import bottom_line, briefs

SHOWN = 3
"""How many findings a card has room for."""
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
    opened = opening(run)
    found = opened.verdict
    ink, ground = _COLOURS[found.kind]
    warned = "".join(f"<div><b>Warning:</b> {escape(line)}</div>" for line in found.warnings)
    todo = (
        "" if opened.advice is None else f'<div style="padding:8px 16px 0"><b>{escape(opened.advice.title)}</b></div>'
    )
    told = "".join(f'<li style="margin:0 0 4px">{text}</li>' for text in _findings(run))
    about = " · ".join((clean(run.title, 80), *opened.facts))
    return (
        f'<div style="{_BOX}"><div style="background:{ground};border-left:6px solid {ink};padding:10px 16px">'
        f'<div style="color:{ink};font-weight:700;font-size:16px">{escape(found.title)}</div>{warned}'
        f'<div style="{_SOFT}">{escape(about)}</div></div>{todo}'
        f'<ol style="margin:10px 16px 6px;padding-left:20px">{told}</ol>{_picture(run)}'
        f'<div style="{_SOFT};padding:0 16px 10px">{escape(_more(result))}</div></div>'
    )


def _findings(run: RunRecord) -> Iterator[str]:
    """The findings to remember, as HTML."""
    if len(run.records) == 1:
        for one in key_findings(findings(run.records[0]))[:SHOWN]:
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
    """The picture of the card: of a sweep the curves that rise most, of several releases risk against utility, else
    the strongest attack of each kind."""
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
        shown, _ = steepest(swept)
        return shown.title, lines(shown, Axes(f"known attributes, of {shown.of}", shown.measure), "card", WIDTH)
    tradeoff = frontier(run) if len(run.records) > 1 else None
    if tradeoff is not None:
        axes = Axes(tradeoff.x, tradeoff.y)
        return "Risk against utility", charts.scatter(tradeoff.points, axes, "card", WIDTH, tradeoff.better)
    groups = risk_kinds(run.records[0]) if run.records else []
    return ("The strongest attack of each kind", scale(groups, "card", WIDTH)) if groups else None


def _more(result: AuditRecord | RunRecord) -> str:
    """How to go on from the card."""
    ways = [".to_frame() has every figure", "auditor.plots(…) every picture"]
    return words(
        [*ways, ".to_json() is the audit record" if isinstance(result, AuditRecord) else ".records the audits"]
    )
