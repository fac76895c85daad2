"""The pictures of a report: risk against utility, risk per attack, histograms and curves.

Each function takes plain figures and a width and returns the text of one SVG element. A page shows a wide and a narrow
drawing of the same picture and hides one, so that letters stay legible on a telephone. Shapes tell what a mark is, not
colour alone: a filled dot is the attack, a hollow one what would be if the class were known, a hollow diamond the control, an
upright stroke the baseline.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditor.model.record.frontier import LOWER, frontier
from reports.pictures import labels, marks, svg
from reports.pictures.svg import Scale
from reports.text import clean, number, probability

_LARGE = 800  # drawings wider than this are higher too
NARROW = 480  # drawings below this width set their labels above the marks
Ways = tuple[str, str]
LOW: Ways = (LOWER, LOWER)  # which way of the axes, across and up, is better
INTERVAL = "95 % interval"
CROWD = 14  # with more points only those that no other beats on both axes have their names; the rest have numbers


@dataclass(frozen=True, slots=True)
class Point:
    """A release in the picture of risk against utility."""

    place: int
    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A figure beside its interval, baseline and control; `over` is where the band of its excess begins. A `bound` is what
    would be if the class were known."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    control: float | None = None
    over: float | None = None
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Marks that belong together, under one heading."""

    heading: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """What the two axes of a picture measure."""

    x: str
    y: str


def scatter(
    points: Sequence[Point], axes: Axes, name: str, width: int = 900, better: Ways = LOW, whole: bool = False
) -> str:
    """Risk against utility, one labelled point a release; `better` says which way of each axis is better. A picture that
    stands alone is drawn `whole`: every interval, and below it the names of the points that have a number only."""
    narrow = width < NARROW
    height, left, right, top, bottom = (
        (380, 46, 12, 14.0, 50) if narrow else (460 if width > _LARGE else 400, 76, 24, 18.0, 58)
    )
    across = svg.ticks(min(0.0, *(p.x for p in points)), max(p.x for p in points) or 1.0, 4 if narrow else 7)
    up = svg.ticks(min(0.0, *(p.y for p in points)), max(0.05, *(p.high or p.y for p in points)), 5)
    x = Scale(across[0], across[-1], left, width - right)
    shapes = _shapes(points)
    known = INTERVAL if whole and any(p.low is not None for p in points) else ""
    legend, last = marks.legend(
        [clean(method, 40) or "other" for method in shapes], left + 8.0, width - right, 5.5, known
    )
    top += last + 8 if legend else 0.0
    y = Scale(up[0], up[-1], height - bottom, top)
    parts = [svg.line(left, y(t), width - right, y(t), "grid") for t in up]
    parts += [svg.words(left - 8, y(t) + 4, svg.tick_text(t), anchor="end") for t in up]
    parts += [svg.line(x(t), y.start, x(t), y.start + 5, "axis") for t in across]
    parts += [svg.words(x(t), y.start + 19, svg.tick_text(t), anchor="middle") for t in across]
    parts.append(svg.line(left, y.start, width - right, y.start, "axis"))
    parts.append(
        svg.words((left + width - right) / 2, height - 10, svg.fitted(axes.x, width - 20, 12.5), "label", "middle")
    )
    parts += _upright(axes.y, (top + y.start) / 2, y.start - top + 40)
    crowd = len(points) > CROWD
    best = unbeaten(points, better)
    parts.append(svg.path([(x(p.x), y(p.y)) for p in sorted(best, key=lambda p: (p.x, p.y))], "front"))
    drawn = []
    for p in points:
        kind = shapes.get(p.method, 0)
        parts_of = [marks.mark(kind, x(p.x), y(p.y), 5.5)]
        if (whole or not crowd) and p.low is not None and p.high is not None:
            interval = svg.line(x(p.x), y(max(p.low, up[0])), x(p.x), y(p.high), f"whisker stroke-{marks.colour(kind)}")
            parts_of.insert(0, interval)
        drawn.append(svg.titled(parts_of, f"{p.place} {p.name}: {probability(p.y)} at {number(p.x)}. {p.note}"))
    size = 12.0 if narrow else 13.0
    # Those that no other beats get their names first; a crowd of others makes do with the numbers that there is room for.
    order = sorted(range(len(points)), key=lambda i: (crowd and points[i] not in best, -points[i].y, points[i].x))
    tries = []
    for p in (points[i] for i in order):
        full = _label(p, 16 if narrow else 60 if whole else 28) if p in best or not crowd else str(p.place)
        tries.append((x(p.x), y(p.y), full, str(p.place)))
    frame = (left + 2, top - 12, width - 2.0, y.start - 2)
    placed = labels.place(tries, size, frame, 6.5, reach=len(best) if crowd else None)
    for (px, py, _, _), found in zip(tries, placed, strict=True):
        if found is not None:
            if found.far:
                parts.append(svg.line(px, py, *_edge(found.box, px, py), "leader"))
            drawn.append(svg.words(found.x, found.y, found.text, "name"))
    lost = sum(found is None for found in placed)
    end = float(height)
    if whole and any(found is None or found.text == one[3] for one, found in zip(tries, placed, strict=True)):
        key, end = _key(points, shapes, width, height + 6.0)
        drawn += key
    words = [f"{p.place} {clean(p.name, 60)}: {axes.y} {probability(p.y)}, {axes.x} {number(p.x)}" for p in points[:12]]
    described = "; ".join(words) + (f"; and {len(points) - 12} more" if len(points) > 12 else "")
    described += f". {lost} points have no room for a label." if lost else "."
    return svg.picture(parts + legend + drawn, width, end, name, f"{axes.y} against {axes.x}", described)


def _upright(text: str, middle: float, room: float) -> list[str]:
    """The name of an axis along its side, in two lines where one is too short."""
    rows = textwrap.wrap(clean(text), max(12, int(room / (12.5 * svg.CHARACTER))))[:2]
    return [svg.words(14 + 15 * at, middle, row, "label", "middle", turned=True) for at, row in enumerate(rows)]


def _shapes(points: Sequence[Point]) -> dict[str, int]:
    """The mark of each method, where some methods stand more than once."""
    methods = list(dict.fromkeys(p.method for p in points))
    fits = 1 < len(methods) < len(points)
    return {method: i for i, method in enumerate(methods)} if fits else {}


def unbeaten(points: Sequence[Point], better: Ways) -> set[Point]:
    """The points that no other beats on both axes: the frontier."""
    beaten = frontier([(p.x, p.y) for p in points], better)
    return {p for p, by in zip(points, beaten, strict=True) if by is None}


def _label(point: Point, room: int) -> str:
    return f"{point.place} {clean(point.name, room)}"


def _key(points: Sequence[Point], shapes: Mapping[str, int], width: float, top: float) -> tuple[list[str], float]:
    """The names of numbered points, in columns, and where they end."""
    texts = [_label(p, 60) for p in points]
    step = max(svg.wide(text, 12) for text in texts) + 40
    columns = max(1, min(int((width - 20) // step), -(-len(texts) // 4)))
    rows = -(-len(texts) // columns)
    parts = []
    for i, (point, text) in enumerate(zip(points, texts, strict=True)):
        x, y = 16 + (i // rows) * (width - 20) / columns, top + 18 * (i % rows) + 14
        parts += [marks.mark(shapes.get(point.method, 0), x, y - 4, 5), svg.words(x + 12, y, text)]
    return parts, top + 18 * rows + 8


def _edge(box: labels.Box, x: float, y: float) -> tuple[float, float]:
    """The point of a label's box that is nearest to (x, y)."""
    return min(max(x, box[0]), box[2]), min(max(y, box[1] + 2), box[3] - 2)


def dots(panels: Sequence[Panel], name: str, title: str, width: int = 900) -> str:
    """Success of attacks on a scale from 0 to 1, with interval, control and baseline."""
    narrow = width < NARROW
    left, right, row = (10.0, width - 10.0, 42) if narrow else (220.0, width - 190.0, 27)
    every = [mark for panel in panels for mark in panel.marks]
    if not narrow:  # room for whole names, as far as the scale keeps its own
        left = min(max(left, 24 + max(svg.wide(mark.name, 13) for mark in every)), right - 260)
    x = Scale(0.0, 1.0, left, right)
    absent = {
        "95 % interval": all(m.low is None for m in every),
        "if the class were known": not any(m.bound for m in every),
    }
    parts, y = _legend(width, left if not narrow else 2, [text for text, lacks in absent.items() if lacks])
    for panel in panels:
        y += 30
        for text in textwrap.wrap(clean(panel.heading, 120), 44 if narrow else 110):
            parts.append(svg.words(2, y, text, "heading"))
            y += 17
        y -= 17
        y += 8
        top = y
        bottom = y + row * len(panel.marks) + 4
        parts += [svg.line(x(t / 4), top, x(t / 4), bottom, "grid") for t in range(5)]
        for mark in panel.marks:
            middle = y + (28 if narrow else row / 2 + 1)
            said = _said(mark)
            if narrow:
                parts.append(svg.words(left - 8, y + 15, clean(mark.name, 22), "name"))
                parts.append(svg.words(width - 2, y + 15, said, "number", "end"))
            else:
                parts.append(svg.words(left - 14, middle + 4, svg.fitted(mark.name, left - 14, 13), "name", "end"))
                parts.append(svg.words(width - 2, middle + 4, said, "number", "end"))
            parts.append(_mark(mark, x, middle))
            y += row
        y = bottom
        parts += [svg.line(left, y, right, y, "axis")]
        ends = {0: "start", 4: "end"} if narrow else {}
        for t in range(5):
            parts.append(svg.words(x(t / 4), y + 15, svg.tick_text(t / 4), anchor=ends.get(t, "middle")))
        y += 16
    told = [f"{clean(p.heading, 80)}: " + ", ".join(f"{clean(m.name, 40)} {_said(m)}" for m in p.marks) for p in panels]
    return svg.picture(parts, width, y + 8, name, title, "; ".join(told) + ".")


def _said(mark: Mark) -> str:
    if mark.low is None or mark.high is None:
        return probability(mark.value)
    return f"{probability(mark.value)} [{probability(mark.low)}, {probability(mark.high)}]"


def _mark(mark: Mark, x: Scale, y: float) -> str:
    def at(value: float) -> float:
        return x(min(1.0, max(0.0, value)))

    parts = []
    if mark.over is not None and mark.value > mark.over:
        parts.append(svg.box(at(mark.over), y - 4, at(mark.value) - at(mark.over), 8, "excess"))
    if mark.low is not None and mark.high is not None:
        parts.append(svg.line(at(mark.low), y, at(mark.high), y, "whisker"))
        parts += [svg.line(at(v), y - 4, at(v), y + 4, "whisker") for v in (mark.low, mark.high)]
    if mark.baseline is not None:
        parts.append(svg.line(at(mark.baseline), y - 8, at(mark.baseline), y + 8, "baseline"))
    if mark.control is not None:
        parts.append(svg.diamond(at(mark.control), y, 5.5, "control"))
    parts.append(svg.dot(at(mark.value), y, 5, "mark bound" if mark.bound else "mark"))
    held = [
        f"{kind} {probability(v)}"
        for kind, v in (("control", mark.control), ("baseline", mark.baseline))
        if v is not None
    ]
    return svg.titled(parts, f"{mark.name}: {_said(mark)}" + (f"; {', '.join(held)}" if held else ""))


def _legend(width: float, left: float, absent: Sequence[str]) -> tuple[list[str], float]:
    """What the shapes mean, in one line or in two, but for those that are absent."""
    items = (
        ("attack", 74), ("if the class were known", 180), ("95 % interval", 116), ("control", 80), ("baseline", 88),
        ("excess", 80),
    )  # fmt: skip
    parts: list[str] = []
    x, y = left + 6, 14.0
    for text, room in items:
        if text in absent:
            continue
        if x + room > width:
            x, y = left + 6, y + 20
        shape = {
            "attack": svg.dot(x, y - 4, 5, "mark"),
            "if the class were known": svg.dot(x, y - 4, 5, "mark bound"),
            "95 % interval": svg.line(x - 6, y - 4, x + 8, y - 4, "whisker"),
            "control": svg.diamond(x, y - 4, 5.5, "control"),
            "baseline": svg.line(x, y - 11, x, y + 3, "baseline"),
            "excess": svg.box(x - 6, y - 8, 14, 8, "excess"),
        }[text]
        parts += [shape, svg.words(x + 13, y, text)]
        x += room
    return parts, y


def bars(
    names: Sequence[str],
    counts: Sequence[float],
    axes: Axes,
    name: str,
    others: Sequence[float] = (),
    width: int = 420,
    who: tuple[str, str] = ("members", "others"),
) -> str:
    """A histogram, of members beside `others` where there are any, called as `who` says; names stand under the bars as there
    is room."""
    up = svg.ticks(0.0, max([*counts, *others, 1.0]), 3)
    left = max(
        44, round(max(svg.wide(svg.tick_text(t), 12) for t in up)) + 26
    )  # the axis' name stands left of its numbers
    height, right, top, bottom = 190 + (18 if others else 0), 8, 12 + (18 if others else 0), 46
    y = Scale(0.0, up[-1], height - bottom, top)
    step = (width - left - right) / max(len(names), 1)
    parts = [svg.line(left, y(t), width - right, y(t), "grid") for t in up]
    parts += [svg.words(left - 6, y(t) + 4, svg.tick_text(t), anchor="end") for t in up if float(t).is_integer()]
    widest = max((svg.wide(clean(n, 14), 12) for n in names), default=0.0)
    every = max(1, -int(-(widest + 8) // step))
    series = [(counts, "bar", who[0])] + ([(others, "bar hollow", who[1])] if others else [])
    thick = min(step * 0.78, 44.0) / len(series)
    for i, text in enumerate(names):
        middle = left + step * (i + 0.5)
        for at, (heights, kind, whose) in enumerate(series):
            start = middle - thick * len(series) / 2 + thick * at
            bar = svg.box(start, y(heights[i]), thick, y.start - y(heights[i]), kind)
            parts.append(svg.titled([bar], f"{text}: {number(heights[i])}" + (f" {whose}" if others else "")))
        if i % every == 0:
            parts.append(svg.words(middle, y.start + 16, clean(text, 14), anchor="middle"))
    for at, (_, kind, whose) in enumerate(series if others else []):
        parts += [svg.box(left + at * 90, 5, 10, 10, kind), svg.words(left + at * 90 + 15, 14, whose)]
    parts.append(svg.line(left, y.start, width - right, y.start, "axis"))
    parts.append(
        svg.words((left + width - right) / 2, height - 8, svg.fitted(axes.x, width - 20, 12.5), "label", "middle")
    )
    y_name = svg.fitted(axes.y, height - 10, 12.5)
    parts.append(svg.words(11, (top + y.start) / 2, y_name, "label", "middle", turned=True))
    told = "; ".join(f"{clean(n, 40)}: {number(c)}" for n, c in zip(names, counts, strict=True))
    return svg.picture(parts, width, height, name, f"{axes.y} by {axes.x}", told)


def curve(
    across: Sequence[float],
    up: Sequence[float],
    axes: Axes,
    name: str,
    told: str,
    width: int = 300,
    dots: bool = False,
    diagonal: str = "chance",
) -> str:
    """Shares against shares, beside the diagonal; `told` says what the diagonal is, `diagonal` in a word; `dots` marks each
    point."""
    height, left, right, top, bottom = width, 48, 10, 10, 46
    x, y = Scale(0.0, 1.0, left, width - right), Scale(0.0, 1.0, height - bottom, top)
    parts = []
    for t in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [svg.line(left, y(t), width - right, y(t), "grid"), svg.line(x(t), y.start, x(t), top, "grid")]
        if t != 0.25 and t != 0.75:
            parts.append(svg.words(left - 6, y(t) + 4, svg.tick_text(t), anchor="end"))
            parts.append(svg.words(x(t), y.start + 16, svg.tick_text(t), anchor="middle"))
    parts.append(svg.line(x(0), y(0), x(1), y(1), "baseline"))
    legend = x(1) - svg.wide(diagonal, 12) - 6
    parts += [svg.line(legend - 24, y(0.06), legend - 6, y(0.06), "baseline"), svg.words(legend, y(0.06) + 4, diagonal)]
    parts.append(svg.path([(x(a), y(b)) for a, b in zip(across, up, strict=True)], "curve"))
    parts.append(
        svg.words((left + width - right) / 2, height - 8, svg.fitted(axes.x, width - 20, 12.5), "label", "middle")
    )
    parts.append(
        svg.words(12, (top + y.start) / 2, svg.fitted(axes.y, height - 10, 12.5), "label", "middle", turned=True)
    )
    if dots:
        parts += [svg.dot(x(a), y(b), 4, "mark") for a, b in zip(across, up, strict=True)]
    return svg.picture(parts, width, height, name, f"{axes.y} against {axes.x}", told)
