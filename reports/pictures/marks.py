"""The marks that tell series apart: a shape and a colour each, so that a picture can be read without the one or the other.

The eight colours (`--series-0` to `--series-7` of the style sheet) were chosen so that people with any of the three kinds of
colour blindness tell each pair apart (Machado, Oliveira & Fernandes 2009, "A physiologically-based model for simulation of
color vision deficiency"; a test simulates all three). Beyond eight series the shapes begin anew with other colours, so that
64 have a mark of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from reports.pictures import svg

Shape = Callable[[float, float, float, str], str]


def _square(x: float, y: float, size: float, kind: str) -> str:
    return svg.box(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7, kind)


def _round(count: int, turn: float, reach: float) -> Shape:
    """A regular shape of so many corners, the first of them turned by a share of a whole turn from the top."""

    def drawn(x: float, y: float, size: float, kind: str) -> str:
        angles = [2 * math.pi * (corner / count + turn) for corner in range(count)]
        corners = [(x + size * reach * math.sin(a), y - size * reach * math.cos(a)) for a in angles]
        return svg.polygon(corners, kind)

    return drawn


def _cross(turned: bool) -> Shape:
    """A plus, or turned by an eighth a multiplication sign."""
    arm, half = 1.25, 0.42
    corners = [(-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half)]
    corners += [(-a, -b) for a, b in corners]
    root = math.sqrt(0.5)

    def drawn(x: float, y: float, size: float, kind: str) -> str:
        placed = [((a - b) * root, (a + b) * root) if turned else (a, b) for a, b in corners]
        return svg.polygon([(x + size * a, y + size * b) for a, b in placed], kind)

    return drawn


SHAPES: tuple[Shape, ...] = (
    svg.dot, svg.diamond, svg.triangle, _square, _cross(False), _round(3, 0.5, 1.15), _round(6, 0.0, 1.1), _cross(True),
)  # fmt: skip
COLOURS = 8


def colour(series: int) -> int:
    """The number of a series' colour: the second round of shapes begins with the second colour, and so on."""
    return (series + series // len(SHAPES)) % COLOURS


def mark(series: int, x: float, y: float, size: float) -> str:
    """The mark of a series."""
    return SHAPES[series % len(SHAPES)](x, y, size, f"mark series-{colour(series)}")


def legend(
    names: Sequence[str], left: float, right: float, size: float = 5.0, interval: str = ""
) -> tuple[list[str], float]:
    """What the marks stand for, in as many lines as it takes, and where the last of them stands. `interval` is what the
    upright lines are, where there are any."""
    parts: list[str] = []
    x, y = left, 14.0
    for series, name in enumerate([*names, interval] if interval else names):
        room = svg.wide(name, 12) + 34
        if x + room > right and x > left:
            x, y = left, y + 20
        of_lines = series == len(names)
        parts.append(svg.line(x, y - 11, x, y + 3, "whisker") if of_lines else mark(series, x, y - 4, size))
        parts.append(svg.words(x + 12, y, svg.fitted(name, right - x - 12, 12)))
        x += room
    return parts, y
