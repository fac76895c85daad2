"""Labels for points that do not lie on one another.

Each point tries its full label at places around it, nearest first, then (the first `reach` of them) further out with a thin
line back; where there is no room it tries its number alone. A place is free if it meets no point, no earlier label and
no edge. Greedy, in the order given: good enough for some forty points, and the same points always get the same labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.pictures.svg import wide

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Placed:
    """A label at its place: `x`, `y` of its left baseline; `far` where it needs a line back to its point."""

    text: str
    x: float
    y: float
    far: bool
    box: Box


def place(
    points: Sequence[tuple[float, float, str, str]], size: float, frame: Box, radius: float, reach: int | None = None
) -> list[Placed | None]:
    """A label for each point (x, y, full text, short text), or none where there is no room at all; `reach` of None stands for
    all."""
    dots = [(x - radius, y - radius, x + radius, y + radius) for x, y, _, _ in points]
    taken: list[Box] = []
    placed: list[Placed | None] = []
    for at, (x, y, full, short) in enumerate(points):
        others = [box for i, box in enumerate(dots) if i != at]
        found = None
        for text in dict.fromkeys((full, short)):
            found = _free(x, y, text, size, frame, radius, [*others, *taken], reach is None or at < reach)
            if found is not None:
                taken.append(found.box)
                break
        placed.append(found)
    return placed


def _free(
    x: float, y: float, text: str, size: float, frame: Box, radius: float, taken: Sequence[Box], reach: bool
) -> Placed | None:
    width = wide(text, size)
    for step, far in ((3.0, False), (16.0, True), (30.0, True))[: 3 if reach else 1]:
        gap = radius + step
        for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            left = x + gap * across if across > 0 else x + gap * across - width if across < 0 else x - width / 2
            middle = y + down * (gap + size * 0.4)
            box = (left - 1, middle - size * 0.55, left + width + 1, middle + size * 0.55)
            if _inside(box, frame) and not any(_meet(box, other) for other in taken):
                return Placed(text, left, middle + size * 0.35, far, box)
    return None


def _inside(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meet(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
