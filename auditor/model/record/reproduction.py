"""What became of the claims of papers: each claim, the paper's number, ours with its interval, and the verdict.

The page of `auditor reproduce` is made from this alone. A claim is looked at in parts (`Check`), and each part holds, does
not hold, or cannot be told where the interval over seeds leaves both open. The verdict follows from the parts by one rule,
which `verdict_of` computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from auditor.model.record.record_json import json_text

FORMAT = "auditor-reproduction/1"


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    REFUTED = "refuted"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True, slots=True)
class Check:
    """One part of a claim: what is looked at, what the paper says, what was found, and whether that holds (None: it cannot be
    told)."""

    what: str
    printed: str
    found: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve: its place on the axis, as text, and its value with an interval where there is one."""

    at: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of a picture."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a paper, drawn again: curves over the same places of an axis, or bars (`bars`) side by side."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    bars: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of finished texts; all columns but the first are numbers where `numeric` is set."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found about a claim: the verdict and why, the parts, pictures and tables, and on what it was measured."""

    verdict: Verdict
    why: str
    checks: tuple[Check, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    data: str = ""
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A claim, where the paper makes it, in our words, its number, when we call two numbers the same, and the outcome."""

    name: str
    paper: str
    place: str
    claim: str
    printed: str
    tolerance: str
    rule: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PaperFacts:
    """A paper: its number, what it is about, and its full name."""

    name: str
    about: str
    source: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The claims of some papers and what became of them."""

    title: str
    seed: int
    settings: tuple[str, ...]
    papers: tuple[PaperFacts, ...]
    items: tuple[Reproduced, ...]
    tool: Mapping[str, str] = field(default_factory=dict)
    format: str = FORMAT

    def to_json(self) -> str:
        """The page as JSON text; the same findings give the same bytes."""
        return json_text(self)

    def counts(self) -> dict[Verdict, int]:
        """How many claims have each verdict."""
        found = [item.outcome.verdict for item in self.items]
        return {verdict: found.count(verdict) for verdict in Verdict}


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """The rule of every verdict: a claim holds where all its parts hold, in part where some do, and is refuted where none
    does and at least one is known not to; where no part can be told either way, neither can the claim."""
    known = [check.holds for check in checks if check.holds is not None]
    if not known:
        return Verdict.UNKNOWN
    if not any(known):
        return Verdict.REFUTED
    return Verdict.HOLDS if len(known) == len(checks) and all(known) else Verdict.IN_PART
