"""What an audit is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auditor.model.record.policy import Policy
from auditor.model.release import Suppression
from auditor.model.seeding import DEFAULT_SEED
from auditor.posterior.links import Link, Weighting
from scenarios.adversaries import Adversary


@dataclass(frozen=True, slots=True)
class Options:
    """What to run. None means: all that apply. `utility` names measures; () is none of them. `remedies` asks, where the
    policy fails, for what would help. `sample` is about how many people are attacked, drawn by the seed, in place of all."""

    attacks: tuple[str, ...] | None = None
    links: tuple[Link, ...] | None = None
    adversaries: tuple[Adversary, ...] | None = None
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    targets: tuple[int, ...] | None = None
    reveal: bool = False
    policy: Policy | None = None
    seed: int = DEFAULT_SEED
    suppression: Suppression = Suppression.EXCLUDED
    weighting: Weighting = Weighting.SIZE
    utility: tuple[str, ...] | None = None
    recursive_l: int = 2
    remedies: bool = True
    sample: int | None = None
