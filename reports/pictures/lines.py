"""Curves with intervals: the picture of a sweep, over the number of known attributes, and any other over places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.pictures import marks, svg
from reports.pictures.charts import INTERVAL, NARROW, Axes
from reports.pictures.svg import Scale
from reports.tables.sweeps import Curve, Sweep
from reports.text import probability

_LEAST_TOP = 0.01  # of an axis on which nothing stands above zero


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a line: where it stands, its interval, and what it tells when pointed at."""

    x: float
    value: float
    low: float | None
    high: float | None
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    name: str
    spots: tuple[Spot, ...]


def lines(sweep: Sweep, axes: Axes, name: str, width: int = 900) -> str:
    """The curves of a sweep."""
    points = [p for curve in sweep.curves for p in curve.points]
    most, least = max(sweep.of, *(p.known for p in points)), min(p.known for p in points)
    every = max(1, -(-(most - least + 1) // (8 if width < NARROW else 20)))
    places = {float(known): str(known) for known in range(least, most + 1, every)}
    drawn = [Line(curve.name, tuple(_spots(curve))) for curve in sweep.curves]
    ends = (least - 0.4, most + 0.4)
    title = f"{sweep.title}: {axes.y} by {axes.x}"
    return draw(drawn, places, ends, axes, name, title, _told(sweep.curves), width, INTERVAL)


def _spots(curve: Curve) -> list[Spot]:
    made = []
    for point in curve.points:
        said = probability(point.value)
        if point.low is not None and point.high is not None:
            said += f" [{probability(point.low)}, {probability(point.high)}]"
        control = "" if point.control is None else f"; control {probability(point.control)}"
        said = f"{curve.name}, {point.known} known: {said}{control}"
        made.append(Spot(point.known, point.value, point.low, point.high, said))
    return made


def draw(
    drawn: Sequence[Line],
    places: dict[float, str],
    ends: tuple[float, float],
    axes: Axes,
    name: str,
    title: str,
    told: str,
    width: int,
    interval: str = "interval",
) -> str:
    """Lines over the places of an axis, which goes from the first to the second of `ends`; shapes tell them apart, not colour
    alone."""
    narrow = width < NARROW
    spots = [spot for one in drawn for spot in one.spots]
    up = svg.ticks(0.0, max(_LEAST_TOP, *(s.high if s.high is not None else s.value for s in spots)), 4)
    room = max(svg.wide(svg.tick_text(t), 12) for t in up) + 24
    left, right, bottom = (48.0, width - 12.0, 50.0) if narrow else (62.0, width - 24.0, 54.0)
    left = max(left, room)
    known = interval if any(spot.low is not None for spot in spots) else ""
    legend, top = marks.legend([one.name for one in drawn], left + 6, right, interval=known)
    top += 16
    height = top + (230 if narrow else 280) + bottom
    x = Scale(*ends, left, right)
    y = Scale(0.0, up[-1], height - bottom, top)
    parts = [svg.line(left, y(t), right, y(t), "grid") for t in up]
    parts += [svg.words(left - 8, y(t) + 4, svg.tick_text(t), anchor="end") for t in up]
    for place, text in places.items():
        parts += [svg.line(x(place), y.start, x(place), y.start + 5, "axis")]
        parts += [svg.words(x(place), y.start + 19, text, anchor="middle")]
    parts.append(svg.line(left, y.start, right, y.start, "axis"))
    parts.append(svg.words((left + right) / 2, height - 10, svg.fitted(axes.x, width - 20, 12.5), "label", "middle"))
    middle = (top + y.start) / 2
    parts.append(svg.words(14, middle, svg.fitted(axes.y, height - top, 12.5), "label", "middle", turned=True))
    for place, one in enumerate(drawn):
        parts.append(svg.path([(x(s.x), y(s.value)) for s in one.spots], f"curve stroke-{marks.colour(place)}"))
    for place, one in enumerate(drawn):
        aside = (place - (len(drawn) - 1) / 2) * min(5.0, 30 / len(drawn))  # so that intervals do not cover each other
        parts += [_spot(s, x(s.x) + aside, y, place, x(s.x)) for s in one.spots]
    return svg.picture(parts + legend, width, height, name, title, told)


def _spot(spot: Spot, aside: float, y: Scale, place: int, at: float) -> str:
    parts = []
    if spot.low is not None and spot.high is not None:
        kind = f"whisker stroke-{marks.colour(place)}"
        parts.append(svg.line(aside, y(max(spot.low, 0.0)), aside, y(spot.high), kind))
    return svg.titled([*parts, marks.mark(place, at, y(spot.value), 5)], spot.said)


def _told(curves: Sequence[Curve]) -> str:
    each = (f"{c.name}: " + ", ".join(f"{p.known} known {probability(p.value)}" for p in c.points) for c in curves)
    return "; ".join(each) + "."
