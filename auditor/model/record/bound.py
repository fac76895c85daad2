"""Bounds in the record: how often somebody of a stated kind could be right at most, beside the best attack that was found.

Plain values that travel as JSON, like the rest of the record (see `record`). A bound holds for its own kind of adversary, and
for no other: attacks that go by more than that are listed as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contender:
    """An attack's success beside a bound; `beyond` says what it goes by that the bound does not allow for, where there is
    such."""

    attack: str
    adversary: str
    link: str | None
    value: float
    beyond: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that one kind of adversary can expect about one column. `mean` is the bound on the share of people whose value
    is named rightly, `worst` the bound for the most exposed person; null where `reason` says why. `own_mean` and `own_worst`
    are the same where the facts are about people of the person's own class; null where there are no facts."""

    column: str
    who: str
    """What the adversary knows, to complete "somebody who knows ..."."""
    facts: int | None = None
    """How many facts of the kind "if A has this value, B has that one"; null for the one who knows all records but one."""
    status: str = "ok"
    reason: str | None = None
    """Why there is no bound, or why it is as it is."""
    mean: float | None = None
    worst: float | None = None
    own_mean: float | None = None
    own_worst: float | None = None
    people: int | None = None
    """How many people the mean is over."""
    best: Contender | None = None
    """The best attack by somebody of this kind; null where none gave a figure."""
    outside: Sequence[Contender] = ()
    """Attacks on the same column by somebody who goes by more, the best first."""
