"""From measured numbers to verdicts: figures over seeds with their intervals, comparisons, and texts.

A figure is measured with several seeds. Two figures are compared seed by seed: one is less than the other where Student's
95 % interval of the difference lies on one side of zero, and neither can be told where it does not. Figures that do not
depend on a seed, or were measured with one, have no interval and are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from auditor.measure.intervals import mean_interval
from auditor.model.record.reproduction import Check, Curve, Grid, Outcome, Picture, Point, Verdict, verdict_of

_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, one value for each seed."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Figure:
        """The figure of these values."""
        return cls(tuple(float(value) for value in values))

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.values)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the mean; None where all seeds agree, or there is only one."""
        if len(self.values) < 2 or max(self.values) - min(self.values) <= _NEAR * max(1.0, abs(self.mean)):
            return None
        found = mean_interval(self.values)
        return found.low, found.high

    def minus(self, other: Figure) -> Figure:
        """The difference, seed by seed; a figure of one value counts for every seed."""
        count = max(len(self.values), len(other.values))
        mine = self.values if len(self.values) > 1 else self.values * count
        theirs = other.values if len(other.values) > 1 else other.values * count
        return Figure.of(a - b for a, b in zip(mine, theirs, strict=True))

    def over(self, other: Figure) -> Figure:
        """The quotient, seed by seed."""
        return Figure.of(a / b for a, b in zip(self.values, other.values, strict=True))

    def at(self, place: object) -> Point:
        """The figure as a point of a curve."""
        low, high = self.ends or (None, None)
        return Point(str(place), self.mean, low, high)

    def text(self, digits: int = 3) -> str:
        """The mean and its interval, rounded to significant digits."""
        ends = self.ends
        shown = f"{_text(self.mean, digits)}"
        return shown if ends is None else f"{shown} [{_text(ends[0], digits)}, {_text(ends[1], digits)}]"

    def percent(self, digits: int = 1) -> str:
        """A share in percent, with its interval."""
        ends = self.ends
        shown = f"{100 * self.mean:.{digits}f} %"
        return shown if ends is None else f"{shown} [{100 * ends[0]:.{digits}f}, {100 * ends[1]:.{digits}f}]"


def _text(value: float, digits: int) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", "\u202f").replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−") if value else "0"


def sign(figure: Figure) -> int | None:
    """Whether a figure is above (1) or below (-1) zero, or nothing (0); None where its interval leaves it open."""
    ends = figure.ends
    if ends is None:
        return 0 if abs(figure.mean) <= _NEAR else 1 if figure.mean > 0 else -1
    return 1 if ends[0] > 0 else -1 if ends[1] < 0 else None


def is_less(one: Figure, other: Figure) -> bool | None:
    """Whether one figure is less than the other."""
    found = sign(other.minus(one))
    return None if found is None else found > 0


def less(what: str, printed: str, one: Figure, other: Figure, percent: bool = False) -> Check:
    """The part of a claim that says: one figure is less than another."""
    a, b = (one.percent(), other.percent()) if percent else (one.text(), other.text())
    return Check(what, printed, f"{a} against {b}", is_less(one, other))


def within(what: str, printed: str, found: Figure, target: float, tolerance: float, digits: int = 4) -> Check:
    """The part of a claim that says: a figure is this number, give or take."""
    ends = found.ends or (found.mean, found.mean)
    low, high = target - tolerance - _NEAR, target + tolerance + _NEAR
    holds: bool | None = low <= ends[0] and ends[1] <= high
    if not holds and ends[1] >= low and ends[0] <= high:
        holds = None if ends[0] < ends[1] else False
    return Check(what, printed, found.text(digits), holds)


def outcome(
    checks: Sequence[Check],
    why: str = "",
    *,
    pictures: Sequence[Picture] = (),
    tables: Sequence[Grid] = (),
    notes: Sequence[str] = (),
    data: str = "",
) -> Outcome:
    """The outcome of a claim from its parts; `why` adds a sentence to what the parts say."""
    verdict = verdict_of(checks)
    return Outcome(
        verdict,
        f"{counted(checks)}{' ' if why else ''}{why}",
        tuple(checks),
        tuple(pictures),
        tuple(tables),
        tuple(notes),
        data,
    )


def counted(checks: Sequence[Check]) -> str:
    """How many parts of a claim hold, in a sentence."""
    held = [check.holds for check in checks]
    if len(checks) == 1:
        return {True: "It was found so.", False: "It was not found so.", None: "The interval leaves it open."}[held[0]]
    parts = [f"{held.count(True)} of {len(held)} parts hold"]
    parts += [f"{held.count(False)} do not"] if False in held else []
    parts += [f"{held.count(None)} cannot be told"] if None in held else []
    return ", ".join(parts).replace(" 1 do not", " 1 does not") + "."


def no_claim(why: str, *, pictures: Sequence[Picture] = (), tables: Sequence[Grid] = (), data: str = "") -> Outcome:
    """The outcome where a paper makes no claim that could hold or fail."""
    return Outcome(Verdict.UNKNOWN, why, (), tuple(pictures), tuple(tables), (), data)


def curve(name: str, points: Iterable[tuple[object, Figure]]) -> Curve:
    """A curve through figures."""
    return Curve(name, tuple(figure.at(place) for place, figure in points))
