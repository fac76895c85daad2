"""The picture of a sweep: a curve through the figures for each number of known attributes, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reports.pictures import svg
from reports.pictures.charts import NARROW, Axes
from reports.pictures.svg import Scale
from reports.tables.sweeps import Curve, Known, Sweep
from reports.text import probability

_SHAPES: tuple[Callable[[float, float, float, str], str], ...] = (
    svg.dot,
    svg.diamond,
    svg.triangle,
    lambda x, y, size, kind: svg.box(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7, kind),
)


def lines(sweep: Sweep, axes: Axes, name: str, width: int = 900) -> str:
    """The curves of a sweep; shapes tell them apart, not colour alone."""
    narrow = width < NARROW
    left, right, bottom = (48.0, width - 12.0, 50.0) if narrow else (62.0, width - 24.0, 54.0)
    legend, top = _legend(sweep.curves, left, right)
    height = top + (230 if narrow else 280) + bottom
    points = [p for curve in sweep.curves for p in curve.points]
    up = svg.ticks(0.0, max(0.01, *(p.high if p.high is not None else p.value for p in points)), 4)
    most = max(sweep.of, *(p.known for p in points))
    least = min(p.known for p in points)
    x = Scale(least - 0.4, most + 0.4, left, right)
    y = Scale(0.0, up[-1], height - bottom, top)
    parts = [svg.line(left, y(t), right, y(t), "grid") for t in up]
    parts += [svg.words(left - 8, y(t) + 4, svg.tick_text(t), anchor="end") for t in up]
    every = max(1, -(-(most - least + 1) // (8 if narrow else 20)))
    for known in range(least, most + 1, every):
        parts += [svg.line(x(known), y.start, x(known), y.start + 5, "axis")]
        parts += [svg.words(x(known), y.start + 19, str(known), anchor="middle")]
    parts.append(svg.line(left, y.start, right, y.start, "axis"))
    parts.append(svg.words((left + right) / 2, height - 10, svg.fitted(axes.x, width - 20, 12.5), "label", "middle"))
    middle = (top + y.start) / 2
    parts.append(svg.words(14, middle, svg.fitted(axes.y, height - top, 12.5), "label", "middle", turned=True))
    for place, curve in enumerate(sweep.curves):
        parts.append(svg.path([(x(p.known), y(p.value)) for p in curve.points], f"curve stroke-{place}"))
    for place, curve in enumerate(sweep.curves):
        aside = (place - (len(sweep.curves) - 1) / 2) * 5  # so that intervals do not cover each other
        parts += [_point(curve, p, x(p.known) + aside, y, place, x(p.known)) for p in curve.points]
    return svg.picture(parts + legend, width, height, name, f"{sweep.title}: {axes.y} by {axes.x}", _told(sweep.curves))


def _point(curve: Curve, point: Known, aside: float, y: Scale, place: int, at: float) -> str:
    marks = []
    said = probability(point.value)
    if point.low is not None and point.high is not None:
        said += f" [{probability(point.low)}, {probability(point.high)}]"
        marks.append(svg.line(aside, y(max(point.low, 0.0)), aside, y(point.high), f"whisker stroke-{place}"))
    marks.append(_SHAPES[place % len(_SHAPES)](at, y(point.value), 5, f"mark series-{place}"))
    control = "" if point.control is None else f"; control {probability(point.control)}"
    return svg.titled(marks, f"{curve.name}, {point.known} known: {said}{control}")


def _legend(curves: Sequence[Curve], left: float, right: float) -> tuple[list[str], float]:
    """What the shapes stand for, and where the picture begins below it."""
    parts: list[str] = []
    x, y = left + 6, 14.0
    for place, curve in enumerate(curves):
        room = svg.wide(curve.name, 12) + 34
        if x + room > right and x > left + 6:
            x, y = left + 6, y + 20
        mark = _SHAPES[place % len(_SHAPES)](x, y - 4, 5, f"mark series-{place}")
        parts += [mark, svg.words(x + 12, y, svg.fitted(curve.name, right - x - 12, 12))]
        x += room
    return parts, y + 16


def _told(curves: Sequence[Curve]) -> str:
    each = (f"{c.name}: " + ", ".join(f"{p.known} known {probability(p.value)}" for p in c.points) for c in curves)
    return "; ".join(each) + "."
