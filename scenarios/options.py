"""What an audit is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auditor.model.record.policy import Policy
from auditor.model.release import Suppression, WithheldCells
from auditor.model.seeding import DEFAULT_SEED
from auditor.posterior.links import Link, Weighting
from scenarios.adversaries import Adversary

MOST_FACTS = 20
"""Bounds are told for up to so many facts about people; long before that they are 1."""


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
    recursive_l: int = 2
    """The l of recursive (c,l)-diversity, whose c is reported."""
    remedies: bool = True
    """Whether to look for what would help where the policy fails."""
    facts: tuple[int, ...] = (0, 1, 2, 3)
    """For which numbers of facts about people bounds are told."""
    sample: int | None = None
    """About how many people are attacked, drawn by the seed; None: all."""
