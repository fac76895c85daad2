"""Elements of a drawing as text: shapes, words, scales and ticks.

Colours and fonts belong to the page's style sheet; elements carry classes only, so that a picture follows the light
or the dark scheme of the page it stands in. Every text is escaped here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from reports.text import clean

CHARACTER = 0.62  # mean width of a character, in units of its height


def escape(text: object) -> str:
    """A text of the record, made harmless for an element or an attribute."""
    return html.escape(clean(text), quote=True)


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def words(x: float, y: float, text: object, kind: str = "tick", anchor: str = "start", turned: bool = False) -> str:
    """A line of text; `kind` is its class, `turned` sets it upright along an axis."""
    turn = f' transform="rotate(-90 {_at(x)} {_at(y)})"' if turned else ""
    return f'<text x="{_at(x)}" y="{_at(y)}" class="{kind}" text-anchor="{anchor}"{turn}>{escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line x1="{_at(x1)}" y1="{_at(y1)}" x2="{_at(x2)}" y2="{_at(y2)}" class="{kind}"/>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle."""
    size = f'width="{_at(max(width, 0))}" height="{_at(max(height, 0))}"'
    return f'<rect x="{_at(x)}" y="{_at(y)}" {size} class="{kind}"/>'


def dot(x: float, y: float, radius: float, kind: str) -> str:
    """A circle."""
    return f'<circle cx="{_at(x)}" cy="{_at(y)}" r="{_at(radius)}" class="{kind}"/>'


def diamond(x: float, y: float, size: float, kind: str) -> str:
    """A square on its corner."""
    return polygon(((x, y - size), (x + size, y), (x, y + size), (x - size, y)), kind)


def triangle(x: float, y: float, size: float, kind: str) -> str:
    """A triangle standing on its base."""
    return polygon(((x, y - size), (x + size, y + size * 0.8), (x - size, y + size * 0.8)), kind)


def polygon(corners: Sequence[tuple[float, float]], kind: str) -> str:
    """A closed shape."""
    return f'<polygon points="{_points(corners)}" class="{kind}"/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """An open line through points."""
    return f'<polyline points="{_points(points)}" class="{kind}"/>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_at(x)},{_at(y)}" for x, y in points)


def titled(parts: list[str], title: str) -> str:
    """Elements as a group that tells its title when pointed at."""
    return f"<g><title>{escape(title)}</title>{''.join(parts)}</g>"


def picture(parts: list[str], width: float, height: float, name: str, title: str, description: str) -> str:
    """The whole drawing, with its title and description for those who do not see it; `name` is unique on the page."""
    return (
        f'<svg class="chart" role="img" aria-labelledby="{name}-t {name}-d" viewBox="0 0 {_at(width)} {_at(height)}" '
        f'style="max-width:{_at(width)}px"><title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{html.escape(clean(description, 1000))}</desc>{"".join(parts)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places: `low` is drawn at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers that cover low to high, some `wanted` of them."""
    reach = high - low if high > low else max(abs(high), 1.0)
    rough = reach / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def tick_text(value: float) -> str:
    """A number at an axis."""
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 1000 else f"{value:.6g}".replace("-", "−")


def fitted(text: str, room: float, height: float) -> str:
    """A text cut to the room it has."""
    return clean(text, max(4, int(room / (height * CHARACTER))))


def wide(text: str, height: float) -> float:
    """About how wide a text is."""
    return len(text) * height * CHARACTER
