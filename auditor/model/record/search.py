"""What a search for the strongest adversary adds to an audit record: which attributes are enough, and for what.

The search tries sets of known attributes on one half of the people, and reports on the other half. Its intervals are
simultaneous: with probability `confidence` all of them hold at once (Bonferroni over `intervals`). Plain values that travel
as JSON, like the rest of the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SetFigure:
    """What one set of known attributes gives its best attack, measured on the half that did not choose it."""

    columns: Sequence[str]
    """The known attributes."""
    attack: str
    link: str | None
    measure: str
    value: float
    low: float
    high: float
    """The ends of the simultaneous interval."""
    n: int
    """How many people it is about."""
    params: Mapping[str, Any] = field(default_factory=dict)
    baseline: float | None = None
    control: float | None = None
    control_kind: str | None = None
    excess: float | None = None
    """What it has beyond the higher of baseline and control, as a share of what that leaves."""
    excess_low: float | None = None
    excess_high: float | None = None
    reached: float | None = None
    """The figure that the limit is about."""
    breaks: bool = False
    """Whether it is beyond the limit for sure: the worse end of the interval is."""


@dataclass(frozen=True, slots=True)
class KnownNumber:
    """The sets of so many attributes: the best, the typical (median) and the worst of them on the choosing half, as they do
    on the other one. `none_breaks` says that none of them is beyond the limit for sure: the upper ends of all of them are
    below it, all at once; null where not all were tried."""

    known: int
    tried: int
    of: int
    best: SetFigure
    typical: SetFigure
    worst: SetFigure
    none_breaks: bool | None = None


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """A search for one goal by one adversary."""

    goal: str
    """identity, value or membership."""
    adversary: str
    attributes: Sequence[str]
    """The attributes that may be known."""
    figure: str
    """What the limit is about: `excess`, or the figures of a policy's checks."""
    limit: float
    sensitive: str | None = None
    """The sensitive column that is sought."""
    policy: str | None = None
    """The policy whose checks are the limit; null where a threshold is."""
    status: str = "ok"
    reason: str | None = None
    """Why there was nothing to search."""
    tried: int = 0
    """How many sets were tried, `of` all."""
    of: int = 0
    choosing: int = 0
    """How many people the sets were chosen on."""
    reporting: int = 0
    """How many others the figures are about."""
    intervals: int = 0
    """How many intervals hold at once."""
    confidence: float = 0.95
    numbers: Sequence[KnownNumber] = ()
    minimal: Sequence[SetFigure] = ()
    """The smallest sets beyond the limit on the choosing half, and the smallest that were far beyond it."""
    strongest: Sequence[SetFigure] = ()
    """The strongest attacks of all on the best sets, learned ones included."""
    unseen: Sequence[str] = ()
    """What was not looked at, and why."""

    @property
    def breaks_policy(self) -> bool:
        """Whether some set is beyond a limit of the policy for sure."""
        steps = [one for number in self.numbers for one in (number.best, number.typical, number.worst)]
        return self.policy is not None and any(one.breaks for one in (*self.minimal, *self.strongest, *steps))
