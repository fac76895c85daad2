"""What a search for a release adds to its run: what was tried, which release was chosen, and why.

A candidate is *made*, *judged* on one half of the people, and *passes* or *fails* the policy there. The chosen one passed on
everybody too. Figures of the other half, which had no say in the choice, show what the choice itself did not arrange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NO_RELEASE, NO_FIGURE, EARLY, FAILS, NOT_JUDGED, PASSES, CHOSEN = (
    "no_release", "no_figure", "fails_early", "fails", "not_judged", "passes", "chosen",
)  # fmt: skip
"""What may become of a candidate."""


@dataclass(frozen=True, slots=True)
class TriedRelease:
    """A candidate: what it keeps (None where there is no release, or no such figure), what became of it, and why."""

    name: str
    kept: float | None
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OtherHalf:
    """A figure of the chosen release, of people who had no say in the choice."""

    attack: str
    measure: str
    adversary: str
    link: str | None
    sensitive: str | None
    n: int | None
    value: float
    low: float | None
    high: float | None
    excess: float | None = None
    excess_low: float | None = None
    excess_high: float | None = None
    over: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    """What tells it from other figures of the attack: the score, and whom members are told from."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A search. `keep` is the measure that was to be kept, and `better` says which way; `chosen` is a name among `tried`, the
    best first. `stands` tells what stands in the way of the nearest one where none passes. `left` counts the candidates that
    the budget left unmade or unjudged, and `could` is the best that those of them that were made would keep."""

    policy: str
    keep: str
    better: str
    tried: Sequence[TriedRelease]
    chosen: str | None = None
    kept: float | None = None
    left: int = 0
    could: float | None = None
    nearest: str | None = None
    stands: Sequence[str] = ()
    others: Sequence[OtherHalf] = ()
    weights: Sequence[str] = ()
    ended: bool = False
    """Whether the budget ended it."""
