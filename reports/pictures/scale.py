"""Risks on one scale from 0 to 1: the attack, its control, and the limit.

Shapes tell what a mark is, not colour alone: a filled dot is the attack, a hollow diamond the control, a hollow dot the
figure that a policy judges, an upright bar its limit; a band from limit to figure says that it is beyond.
"""

from __future__ import annotations

from collections.abc import Sequence

from reports.pictures import svg
from reports.pictures.charts import NARROW
from reports.pictures.kinds import Bar, Group
from reports.pictures.svg import Scale
from reports.text import clean, percent

_TITLE = "Risk by kind: attack, control and limit"
_LEGEND = (("attack", 72), ("control", 78), ("policy", 70), ("limit", 60))


def scale(groups: Sequence[Group], name: str, width: int) -> str:
    """The groups below each other, over one axis."""
    narrow = width < NARROW
    left, right, row = (8.0, width - 8.0, 34) if narrow else (200.0, width - 142.0, 25)
    x = Scale(0.0, 1.0, left, right)
    bars = [bar for group in groups for bar in group.bars]
    parts, y = _legend(width, 8.0, bars)
    rows: list[str] = []
    top = y + 10
    y += 4
    for group in groups:
        y += 22
        rows.append(svg.words(2, y, svg.fitted(group.heading, width, 13), "heading"))
        y += 6
        for bar in group.bars:
            middle = y + (23 if narrow else row / 2)
            line, start, anchor = (middle - 10, 2.0, "start") if narrow else (middle + 4, left - 14, "end")
            label = svg.fitted(bar.name, width - 110 if narrow else left - 14, 12.5)
            rows.append(svg.words(start, line, label, "name", anchor))
            rows.append(svg.words(width - 2, line, _figures(bar, narrow), "number", "end"))
            rows.append(_marks(bar, x, middle))
            y += row
    y += 4
    parts += [svg.line(x(t / 4), top, x(t / 4), y, "grid") for t in range(5)]
    parts.append(svg.line(left, y, right, y, "axis"))
    for t in range(5):
        anchor = {0: "start", 4: "end"}.get(t, "middle") if narrow else "middle"
        parts.append(svg.words(x(t / 4), y + 16, percent(t / 4), anchor=anchor))
    told = "; ".join(f"{g.heading} " + ", ".join(f"{clean(b.name, 60)} {_said(b)}" for b in g.bars) for g in groups)
    return svg.picture(parts + rows, width, y + 22, name, _TITLE, f"{told}.")


def _figures(bar: Bar, narrow: bool) -> str:
    beside = [f"limit {percent(bar.limit)}"] if bar.limit is not None else []
    beside += [f"control {percent(bar.control)}"] if bar.control is not None and not narrow else []
    return " · ".join([percent(bar.value), *beside])


def _said(bar: Bar) -> str:
    parts = [percent(bar.value)]
    parts += [f"control {percent(bar.control)}"] if bar.control is not None else []
    parts += [f"limit {percent(bar.limit)}{', beyond it' if bar.fails else ''}"] if bar.limit is not None else []
    return ", ".join(parts)


def _marks(bar: Bar, x: Scale, y: float) -> str:
    def at(value: float) -> float:
        return x(min(1.0, max(0.0, value)))

    parts = []
    if bar.control is not None and bar.value > bar.control:
        parts.append(svg.box(at(bar.control), y - 4, at(bar.value) - at(bar.control), 8, "excess"))
    if bar.limit is not None and bar.fails and bar.value > bar.limit:
        parts.append(svg.box(at(bar.limit), y - 4, at(bar.value) - at(bar.limit), 8, "over"))
    if bar.low is not None and bar.high is not None:
        parts.append(svg.line(at(bar.low), y, at(bar.high), y, "whisker"))
    if bar.control is not None:
        parts.append(svg.diamond(at(bar.control), y, 5.5, "control"))
    if bar.limit is not None:
        parts.append(svg.line(at(bar.limit), y - 9, at(bar.limit), y + 9, "limit"))
    parts.append(svg.dot(at(bar.value), y, 5, "mark bound" if bar.judged else "mark"))
    return svg.titled(parts, f"{bar.name}: {_said(bar)}" + (f". {bar.why}" if bar.why else ""))


def _legend(width: float, left: float, bars: Sequence[Bar]) -> tuple[list[str], float]:
    """What the shapes mean, but for those that are absent."""
    there = {
        "attack": any(not bar.judged for bar in bars),
        "control": any(bar.control is not None for bar in bars),
        "policy": any(bar.judged for bar in bars),
        "limit": any(bar.limit is not None for bar in bars),
    }
    parts: list[str] = []
    x, y = left, 14.0
    for text, room in (item for item in _LEGEND if there[item[0]]):
        if x + room > width and x > left:
            x, y = left, y + 20
        shape = {
            "attack": svg.dot(x, y - 4, 5, "mark"),
            "control": svg.diamond(x, y - 4, 5.5, "control"),
            "policy": svg.dot(x, y - 4, 5, "mark bound"),
            "limit": svg.line(x, y - 12, x, y + 4, "limit"),
        }[text]
        parts += [shape, svg.words(x + 12, y, text)]
        x += room
    return parts, y
