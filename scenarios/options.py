"""What an audit is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from auditor.model.errors import UsageError
from auditor.model.faults import hint, is_number
from auditor.model.record.meaning import Goal
from auditor.model.record.policy import Policy
from auditor.model.release import Suppression, WithheldCells
from auditor.model.seeding import DEFAULT_SEED
from auditor.posterior.links import Link, Weighting
from scenarios.adversaries import Adversary

MOST_FACTS = 20
"""Bounds are told for up to so many facts about people; long before that they are 1."""
GOALS = {"identity": Goal.IDENTITY, "value": Goal.ATTRIBUTE, "membership": Goal.MEMBERSHIP}
"""What a search may be after, by the names that users give."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to run. None in `attacks`, `links`, `adversaries` and `utility` means: all that apply."""

    attacks: tuple[str, ...] | None = None
    links: tuple[Link, ...] | None = None
    adversaries: tuple[Adversary, ...] | None = None
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By attack, its settings."""
    targets: tuple[int, ...] | None = None
    """The rows of the people who are attacked; None: everybody."""
    reveal: bool = False
    """Whether the audit record shows what is claimed about single people."""
    policy: Policy | None = None
    seed: int = DEFAULT_SEED
    suppression: Suppression = Suppression.EXCLUDED
    cells: WithheldCells = WithheldCells.WILDCARD
    """How single suppressed cells count where records are compared with each other."""
    weighting: Weighting = Weighting.SIZE
    utility: tuple[str, ...] | None = None
    """The utility measures; () is none of them."""
    columns: tuple[str, ...] | None = None
    """The columns that utility measures of values look at; None: all that are published."""
    recursive_l: int = 2
    """The l of recursive (c,l)-diversity, whose c is reported."""
    remedies: bool = True
    """Whether to look for what would help where the policy fails."""
    facts: tuple[int, ...] = (0, 1, 2, 3)
    """For which numbers of facts about people bounds are told."""
    sample: int | None = None
    """About how many people are attacked, drawn by the seed; None: all."""
    half: int | None = None
    """Where a choice is made on some people and reported of others: 0 for the half that chooses, 1 for the other one."""

    def about(self, targets: tuple[int, ...]) -> Options:
        """The same about certain people. Their figures say nothing of what the release is good for: that is measured only
        where it was asked for."""
        return replace(self, targets=targets, utility=() if self.utility is None else self.utility)


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for the strongest adversary is asked: see `auditor/runs/searching.py`."""

    goals: tuple[str, ...] = ("identity",)
    """What is sought: identity, value, membership."""
    budget: float = 600.0
    """How many seconds of CPU it may take, shared evenly between releases and goals."""
    threshold: float = 0.1
    """The excess that counts as a breach, where no policy says what does."""

    def __post_init__(self) -> None:
        wrong = [goal for goal in self.goals if goal not in GOALS]
        if wrong or not self.goals:
            got = f" Got {wrong[0]!r}.{hint(wrong[0], GOALS)}" if wrong else ""
            raise UsageError(f"search: goal must be one of {', '.join(GOALS)}, or several of them.{got}")
        if not is_number(self.budget, 0) or self.budget <= 0:
            raise UsageError(f"search: budget must be a number of seconds above 0. Got {self.budget!r}.")
        if not is_number(self.threshold, 0, 1) or self.threshold >= 1:
            raise UsageError(f"search: threshold must be at least 0 and below 1. Got {self.threshold!r}.")
