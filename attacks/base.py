"""What an attack is: parameters in the constructor; the adversary's whole world in the call.

`attack.run(view, rng)` sees a `View`: the release, the schema and taxonomies with it, the knowledge that the scenario
grants, and the beliefs that follow from them under one link model. It returns claims (`attacks/claims.py`), or says why it
does not apply. It never sees the truth: scoring is the audit's business, and an import contract keeps it so.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from attacks.claims import Claims
from auditor.model.domain import Domain
from auditor.model.knowledge import Knowledge
from auditor.model.plugin import Plugin
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import Beliefs
from auditor.posterior.links import Link


class Goal(StrEnum):
    """What an attack is after."""

    IDENTITY = "identity"
    ATTRIBUTE = "attribute"
    MEMBERSHIP = "membership"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The adversary's whole world. `sensitive` is the column in question for attribute attacks.

    `blind` marks the baseline: the beliefs are the prior's, and an attack that reads more from the release than domains and
    taxonomies must not do so. `suppression` says whether rows with withheld quasi-identifiers count as a class.
    """

    release: Release
    knowledge: Knowledge
    beliefs: Beliefs
    link: Link | None = None
    sensitive: str | None = None
    blind: bool = False
    suppression: Suppression = Suppression.EXCLUDED

    @property
    def domain(self) -> Domain:
        """The domain of the sensitive column in question."""
        assert self.sensitive is not None
        return self.release.labels[self.sensitive].domain


class Lacks(StrEnum):
    """What an attack would need to apply: something known of the people, a register of the population (or its size), how the
    release was made, or further facts (what people do not have, acquaintances, samples, other releases)."""

    PEOPLE = "people"
    POPULATION = "population"
    MECHANISM = "mechanism"
    FACTS = "facts"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """An attack that does not apply, with the reason in words; `lacks` is what would make it apply, where that is known."""

    reason: str
    lacks: Lacks | None = None


ONLY_A_PART = NotApplicable(
    "it looks at the whole table, of which only the classes of a sample of people are held: run without --sample"
)
"""Why an attack that needs the whole release is not run on a part of it."""


@dataclass(frozen=True)
class Attack(Plugin):
    """A technique that claims something about people. `claim`, `success` and `lowered_by` are in plain words; `harm` marks
    one whose figures are high where people are believed to have what they have not; `linked` says whether it runs under
    each link model, or has its own way to people and runs once; `about_matched` whether a value is claimed only of people
    whom something in the release fits. `needs_whole` marks one that looks at records of other classes than the person's own
    (or at all of them), so that it cannot be run on a release that is held in part."""

    goal: ClassVar[Goal]
    claim: ClassVar[str]
    needs: ClassVar[str]
    success: ClassVar[str]
    lowered_by: ClassVar[str]
    harm: ClassVar[bool] = False
    linked: ClassVar[bool] = True
    about_matched: ClassVar[bool] = True
    needs_whole: ClassVar[bool] = False

    @abstractmethod
    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        """The claims about each target, or why there can be none."""
