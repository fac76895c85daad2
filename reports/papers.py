"""The page of `auditor reproduce`: every claim of the papers, its number beside ours, and the verdict; as HTML and Markdown.

Both are made from the record alone (`auditor/model/record/reproduction.py`). The papers' figures are drawn again in HTML; in
Markdown they are tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from auditor.model.record.reproduction import Check, Grid, Outcome, Picture, Reproduced, Reproduction, Verdict
from reports.pictures.charts import Axes, bars
from reports.pictures.explorer import THEME, permission, scripts
from reports.pictures.lines import Line, Spot, draw
from reports.pictures.plots import Plot, standing
from reports.tables.tables import Table, tool_text
from reports.templating import fill
from reports.text import clean, markdown, number, slug

SIGNS = {Verdict.HOLDS: "✓", Verdict.IN_PART: "◐", Verdict.REFUTED: "✗", Verdict.UNKNOWN: "?"}
_KINDS = {Verdict.HOLDS: "good", Verdict.IN_PART: "unclear", Verdict.REFUTED: "above", Verdict.UNKNOWN: "none"}
_FOUND = {True: "holds", False: "does not hold", None: "cannot be told"}
WIDTH = 460
"""Of a picture: two stand side by side."""
_LETTERS = 52
"""How many letters find room below a picture."""
_MORE_CHECKS = 8
"""Parts of a claim beyond these are shown on request."""


def render_papers_html(page: Reproduction) -> str:
    """The page as the text of an HTML file that needs nothing else."""
    embedded = scripts(THEME)
    papers = [
        {
            "facts": paper,
            "items": [_item(item) for item in page.items if item.paper == paper.name],
        }
        for paper in page.papers
    ]
    given: dict[str, Any] = {
        "page": page,
        "papers": papers,
        "summary": _summary(page),
        "overview": _overview(page),
        "kinds": {item.name: _KINDS[item.outcome.verdict] for item in page.items},
        "signs": {item.name: SIGNS[item.outcome.verdict] for item in page.items},
        "tools": tool_text([page.tool]),
        "scripts": embedded,
        "permission": permission(embedded),
        "rule": page.items[0].rule if page.items else "",
    }
    return fill("papers.html", **given)


def _item(item: Reproduced) -> dict[str, Any]:
    found = item.outcome
    slug = item.name.replace(".", "-").replace(",", "-")
    return {
        "facts": item,
        "id": slug,
        "kind": _KINDS[found.verdict],
        "sign": SIGNS[found.verdict],
        "checks": _checks_table(found.checks) if found.checks else None,
        "many": len(found.checks) > _MORE_CHECKS,
        "pictures": [(one.title, _drawn(one, f"{slug}-{place}")) for place, one in enumerate(found.pictures)],
        "tables": [(clean(one.title), _table(one)) for one in found.tables],
        "cost": _cost(found),
    }


def papers_plots(page: Reproduction) -> dict[str, Plot]:
    """The papers' figures, drawn again, as pictures that stand alone."""
    made = {}
    for item in page.items:
        for place, one in enumerate(item.outcome.pictures, 1):
            name = f"{slug(item.name)}-{place}"
            made[name] = standing(name, one.title, f"{item.name}: {clean(item.claim, 120)}", _drawn(one, name))
    return made


def papers_tables(page: Reproduction) -> dict[str, Table]:
    """All claims with their verdicts, and of each claim its parts and its tables."""
    rows = tuple((i.name, i.claim, i.printed, str(i.outcome.verdict)) for i in page.items)
    made = {"claims": Table(("item", "claim", "the paper", "verdict"), rows)} if rows else {}
    for item in page.items:
        if item.outcome.checks:
            made[f"{slug(item.name)}-parts"] = _checks_table(item.outcome.checks)
        made |= {f"{slug(item.name)}-{place}": _table(one) for place, one in enumerate(item.outcome.tables, 1)}
    return made


def _drawn(picture: Picture, name: str) -> str:
    return _bars(picture, name) if picture.bars else _curves(picture, name)


def _bars(picture: Picture, name: str) -> str:
    first, second = picture.curves
    places = [point.at for point in first.points]
    heights = [[point.value for point in curve.points] for curve in (first, second)]
    axes, names = Axes(picture.x, picture.y), (first.name, second.name)
    return bars(places, heights[0], axes, name, heights[1], WIDTH, names)


def _curves(picture: Picture, name: str) -> str:
    places = list(dict.fromkeys(point.at for curve in picture.curves for point in curve.points))
    rank = {text: place for place, text in enumerate(places)}
    longest = max(len(text) for text in places)
    every = max(1, -(-len(places) * (longest + 2) // _LETTERS))
    shown = {float(place): clean(text, 14) for text, place in rank.items() if place % every == 0}
    drawn = [
        Line(
            curve.name,
            tuple(
                Spot(rank[p.at], p.value, p.low, p.high, f"{curve.name}, {p.at}: {number(p.value)}")
                for p in curve.points
            ),
        )
        for curve in picture.curves
    ]
    told = "; ".join(f"{c.name}: " + ", ".join(f"{p.at} {number(p.value)}" for p in c.points) for c in picture.curves)
    ends = (-0.4, len(places) - 0.6)
    return draw(drawn, shown, ends, Axes(picture.x, picture.y), name, picture.title, told, WIDTH)


def _checks_table(checks: Iterable[Check]) -> Table:
    rows = tuple((c.what, c.printed, c.found, _FOUND[c.holds]) for c in checks)
    return Table(("part", "the paper", "found", "verdict"), rows)


def _table(grid: Grid) -> Table:
    return Table(grid.headings, grid.rows, frozenset(range(1, len(grid.headings))) if grid.numeric else frozenset())


def _cost(found: Outcome) -> str:
    parts = [found.data] if found.data else []
    if found.cpu_seconds:
        parts.append(f"{number(round(found.cpu_seconds))} processor seconds")
    return "; ".join(parts)


def papers_summary(page: Reproduction) -> str:
    """The verdicts for a terminal: a line an item, and how many there are of each."""
    lines = [f"{item.name:<16} {SIGNS[item.outcome.verdict]} {item.outcome.verdict}" for item in page.items]
    return "\n".join([*lines, _summary(page)])


def _summary(page: Reproduction) -> str:
    counts = page.counts()
    told = {
        Verdict.HOLDS: ("hold", "holds"),
        Verdict.IN_PART: ("hold in part", "holds in part"),
        Verdict.REFUTED: ("are refuted", "is refuted"),
        Verdict.UNKNOWN: ("cannot be told", "cannot be told"),
    }
    return (
        f"Of {len(page.items)} claims "
        + ", ".join(f"{counts[verdict]} {words[counts[verdict] == 1]}" for verdict, words in told.items())
        + "."
    )


def _overview(page: Reproduction) -> list[tuple[str, str, str, str]]:
    return [(i.name, i.claim, str(i.outcome.verdict), i.name.replace(".", "-").replace(",", "-")) for i in page.items]


# ----- Markdown -------------------------------------------------------------------------------------------------------


def render_papers_markdown(page: Reproduction) -> str:
    """The page as a Markdown document."""
    parts = [f"# {markdown(page.title)}", markdown(_summary(page))]
    parts += [markdown(line) for line in page.settings]
    parts += [markdown(page.items[0].rule)] if page.items else []
    rows = [
        (f"[{name}](#{_anchor(name)})", markdown(claim), f"**{SIGNS[Verdict(verdict)]} {verdict}**")
        for name, claim, verdict, _ in _overview(page)
    ]
    parts.append(_lines(("item", "claim", "verdict"), rows))
    for paper in page.papers:
        parts += [f"## {paper.name}: {markdown(paper.about)}", markdown(paper.source)]
        for item in page.items:
            if item.paper == paper.name:
                parts += _item_lines(item)
    if page.tool:
        parts.append(f"*{markdown(tool_text([page.tool]))}*")
    return "\n\n".join(part for part in parts if part) + "\n"


def _anchor(name: str) -> str:
    """The anchor that GitHub gives to the heading of an item."""
    return "".join(char for char in name.lower() if char.isalnum() or char in "-_")


def _item_lines(item: Reproduced) -> list[str]:
    found = item.outcome
    parts = [
        f"### {item.name}",
        f"**{SIGNS[found.verdict]} {found.verdict}.** {markdown(found.why)}",
        "\n".join(
            (
                f"- Claim ({markdown(item.place)}): {markdown(item.claim)}",
                f"- The paper's number: {markdown(item.printed)}",
                f"- What counts as the same: {markdown(item.tolerance)}",
                *([f"- Measured on: {markdown(found.data)}"] if found.data else []),
            )
        ),
    ]
    if found.checks:
        table = _checks_table(found.checks)
        parts.append(_lines(table.headings, [tuple(map(markdown, row)) for row in table.rows]))
    for picture in found.pictures:
        parts += [
            f"{markdown(picture.title)} ({markdown(picture.y)} by {markdown(picture.x)}):",
            _picture_lines(picture),
        ]
    for grid in found.tables:
        rows = [tuple(map(markdown, row)) for row in grid.rows]
        parts += [f"{markdown(grid.title)}:", _lines(tuple(map(markdown, grid.headings)), rows)]
    return parts + [markdown(note) for note in found.notes]


def _picture_lines(picture: Picture) -> str:
    places = list(dict.fromkeys(point.at for curve in picture.curves for point in curve.points))
    rows = []
    for curve in picture.curves:
        by_place = {point.at: point.value for point in curve.points}
        rows.append((markdown(curve.name), *(number(by_place[p]) if p in by_place else "" for p in places)))
    return _lines(("", *map(markdown, places)), rows)


def _lines(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
