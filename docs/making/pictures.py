"""Draws the first picture of the README from built-in data: six releases of the same people, and what an adversary gets.

    python docs/making/pictures.py                  # runs the demo's scenario, then draws
    python docs/making/pictures.py demo/run.json    # draws from a run that is there already

Writes docs/pictures/six-releases.svg and six-releases-dark.svg.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import auditor
from auditor.model.record.record import AuditRecord, RunRecord, read_run
from reports.pictures import svg
from reports.pictures.svg import Scale
from reports.reading import Meanings, figures, shared_utility, utility_of, value_of
from reports.text import number, percent

HOME = Path(__file__).parents[1] / "pictures"
ATTACK, COLUMN, ADVERSARY = "homogeneity", "disease", "prosecutor"
WIDTH, LEFT, RIGHT, TOP, STEP = 880, 262.0, 690.0, 128.0, 44.0
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
NAMES = {
    "identity": "names removed, nothing else",
    "mondrian": "{k}-anonymous (Mondrian)",
    "mondrian l": "{k}-anonymous, {l}-diverse",
    "anatomy": "{l}-diverse (Anatomy)",
    "slicing": "sliced",
}


@dataclass(frozen=True)
class Scheme:
    """The colours of a scheme."""

    paper: str
    ink: str
    soft: str
    grid: str
    attack: str
    excess: str
    control: str


LIGHT = Scheme("#ffffff", "#1b2029", "#545d6b", "#e6e9ee", "#b3261e", "#f6cfcb", "#1f4e9c")
DARK = Scheme("#14171c", "#e8eaee", "#a9b1be", "#2a303a", "#ff8f85", "#5a2320", "#8db8ff")


@dataclass(frozen=True)
class Row:
    """A release: how often the attack is right on it, on people who are not in it, and what it costs."""

    name: str
    attack: float
    control: float
    cost: str


def rows(run: RunRecord) -> list[Row]:
    """The releases of a run, in its order."""
    axis = shared_utility(run)
    assert axis is not None, "every release of the demo has utility"
    made = []
    for record in run.records:
        meanings = Meanings(record)
        mine = [r for r in figures(record) if (r.attack, r.sensitive, r.adversary) == (ATTACK, COLUMN, ADVERSARY)]
        found, useful = meanings.compared(meanings.own(mine)), utility_of(record, *axis)
        assert found is not None, "every release of the demo is attacked"
        assert found.control is not None, "the demo has outsiders"
        assert useful is not None
        made.append(Row(_name(record), value_of(found), found.control, percent(round(float(useful.value or 0), 2))))
    return made


def _name(record: AuditRecord) -> str:
    params, method = record.release.params, str(record.release.method)
    wanted = NAMES.get(f"{method} l" if params.get("l") else method, NAMES.get(method, record.release.name))
    return wanted.format(**{"k": "", "l": "", **params})


def draw(run: RunRecord, scheme: Scheme) -> str:
    """The picture as the text of an SVG file."""
    found, people = rows(run), run.records[0].release.rows
    x, bottom = Scale(0.0, 1.0, LEFT, RIGHT), TOP + STEP * len(found)
    parts = [
        svg.words(28, 40, f"{_count(len(found))} ways to publish the same {number(people)} people", "title"),
        svg.words(
            28, 66, "How often an adversary who knows their birth year, postcode, sex and more names the right", "sub"
        ),
        svg.words(28, 86, f"{COLUMN}, beside the same attack on people who are not in the data.", "sub"),
    ]
    for t in range(5):
        parts += [svg.line(x(t / 4), TOP - 8, x(t / 4), bottom, "grid")]
        parts += [svg.words(x(t / 4), bottom + 20, percent(t / 4), "soft", "middle")]
    parts += [svg.words(WIDTH - 28, TOP - 14, "error of a count", "soft", "end")]
    for place, row in enumerate(found):
        y = TOP + STEP * (place + 0.5)
        parts += [
            svg.words(28, y + 5, row.name, "name"),
            svg.box(x(row.control), y - 9, x(row.attack) - x(row.control), 18, "excess"),
            svg.diamond(x(row.control), y, 7, "control"),
            svg.dot(x(row.attack), y, 8, "attack"),
            svg.words(x(row.attack) + 15, y + 5, percent(round(row.attack, 2)), "figure"),
            svg.words(WIDTH - 28, y + 5, row.cost, "name", "end"),
        ]
    y = bottom + 48
    parts += [
        svg.dot(36, y - 5, 8, "attack"), svg.words(52, y, "in the data", "soft"),
        svg.diamond(158, y - 5, 7, "control"), svg.words(173, y, "not in the data", "soft"),
        svg.box(298, y - 14, 28, 18, "excess"), svg.words(336, y, "what the release gives away about its people", "soft"),
    ]  # fmt: skip
    drawn = svg.picture(parts, WIDTH, y + 20, "six", "Six releases of the same people", _told(found))
    ground = f'<rect width="100%" height="100%" rx="10" class="paper"/><style>{_style(scheme)}</style>'
    head, _, rest = drawn.partition("</desc>")
    return (
        head.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" ', 1)
        + f"</desc>{ground}{rest}\n"
    )


def _count(count: int) -> str:
    return {4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}.get(count, str(count))


def _told(found: list[Row]) -> str:
    return "; ".join(f"{row.name}: {percent(row.attack)}, control {percent(row.control)}" for row in found) + "."


def _style(scheme: Scheme) -> str:
    return (
        f"text{{font-family:{FONT};fill:{scheme.ink};font-size:15px}}.title{{font-size:23px;font-weight:700}}"
        f".sub,.soft{{fill:{scheme.soft};font-size:14px}}.figure{{font-weight:700}}.paper{{fill:{scheme.paper}}}"
        f".grid{{stroke:{scheme.grid}}}.excess{{fill:{scheme.excess}}}.attack{{fill:{scheme.attack}}}"
        f".control{{fill:{scheme.paper};stroke:{scheme.control};stroke-width:2.5}}"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        demo = read_run(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1])
    else:
        demo = auditor.redteam(auditor.read_scenario("town"))
    HOME.mkdir(exist_ok=True)
    for ending, scheme in (("", LIGHT), ("-dark", DARK)):
        (HOME / f"six-releases{ending}.svg").write_text(draw(demo, scheme), encoding="utf-8")
