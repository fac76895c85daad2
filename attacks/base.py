"""What an attack is: settings in the constructor, the adversary's whole world in the call.

`attack.run(view, rng)` sees a `View`: the release, the schema and taxonomies with it, the knowledge that the scenario
grants, and the beliefs that follow from them under one link model. It returns claims (`attacks/claims.py`), or says why it
does not apply. It never sees the truth: scoring is the audit's business, and an import contract keeps it so.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from attacks.claims import Claims
from auditor.model.domain import Domain
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.plugin import Plugin
from auditor.model.record.meaning import AttackFacts, Criterion, Goal, Measure
from auditor.model.release import Release, Suppression, WithheldCells
from auditor.posterior.beliefs import Beliefs
from auditor.posterior.links import Link


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The adversary's whole world. `sensitive` is the column in question for attribute attacks.

    `blind` marks the baseline: the beliefs are the prior's, and an attack that reads more from the release than domains and
    taxonomies must not do so. `suppression` says whether rows with suppressed quasi-identifiers count as a class, `cells` how
    single suppressed cells count where records are compared.
    """

    release: Release
    knowledge: Knowledge
    beliefs: Beliefs
    link: Link | None = None
    sensitive: str | None = None
    blind: bool = False
    suppression: Suppression = Suppression.EXCLUDED
    cells: WithheldCells = WithheldCells.WILDCARD

    @property
    def column(self) -> str:
        """The sensitive column in question, for an attack that needs one."""
        assert self.sensitive is not None
        return self.sensitive

    @property
    def domain(self) -> Domain:
        """The domain of the sensitive column in question."""
        return self.release.labels[self.column].domain


class Lacks(StrEnum):
    """What an attack would need to apply: something known of the people, a list of the population (or its size), how the
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


class Rows(StrEnum):
    """Whose the rows of a release must be for an attack to apply: people's, nobody's (a synthetic release), or either."""

    PEOPLE = "people"
    NOBODY = "nobody"
    EITHER = "either"


NO_ROW = NotApplicable("no row of a synthetic release belongs to a person")
"""Why an attack that looks for a person's row does not apply to a synthetic release."""
OF_PEOPLE = NotApplicable("it is about synthetic releases, and the rows of this one belong to people")
"""Why an attack on synthetic releases does not apply to another one."""
ONLY_A_PART = NotApplicable(
    "it needs the whole table, and only the classes of a sample of people were read: run without --sample"
)
"""Why an attack that needs the whole release is not run on a part of it."""


@dataclass(frozen=True)
class Attack(Plugin):
    """A technique that claims something about people. All of its words stand on its class: reports, `auditor list` and
    `auditor explain` have no others."""

    title: ClassVar[str] = ""
    """A few plain words for it, where a report has not yet explained its name; where it is empty, the name."""
    goal: ClassVar[Goal]
    claim: ClassVar[str]
    needs: ClassVar[str]
    success: ClassVar[str]
    lowered_by: ClassVar[str]
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    measures: ClassVar[tuple[Measure, ...]] = ()
    """What each figure means and how it is said."""
    lead: ClassVar[tuple[str, ...]] = ("success",)
    """The measures that may make the headline; the first that says something is taken."""
    compared: ClassVar[tuple[str, ...]] = ("success",)
    """The measures that are held against control and baseline; the first there is is taken."""
    support: ClassVar[tuple[str, ...]] = ()
    """Measures to mention beside the headline."""
    axis: ClassVar[str] = ""
    """What the spread of a figure over people shows, in words."""
    caption: ClassVar[str] = ""
    """The caption of the figures in pictures, with {column} and {others}; where it is empty, made from the name."""
    harm: ClassVar[bool] = False
    """Whether figures are high where people are believed to have what they have not."""
    linked: ClassVar[bool] = True
    """Whether the attack runs under each link model; otherwise it has its own way to people and runs once."""
    about_matched: ClassVar[bool] = True
    """Whether a value is claimed only of people whom something in the release fits."""
    needs_whole: ClassVar[bool] = False
    """Whether the attack looks at other classes than the person's own, so that it needs the whole release."""
    rows: ClassVar[Rows] = Rows.PEOPLE
    """Whose the rows of a release must be for it to apply."""
    anybody: ClassVar[bool] = False
    """Whether it does not matter who attacks, since nothing but the release is read: it runs once for all adversaries."""
    effort: ClassVar[int] = 25
    """About how long it takes on a release of many classes, as a multiple of linking."""
    calibrated: ClassVar[bool] = False
    """Whether its claims are right as often as their confidence says, wherever the beliefs are that it reads
    (`tests/proofs` shows it): only then does the record say what the adversary expects."""
    decodes: ClassVar[bool] = False
    """Whether it finds out by itself what aliases stand for: then its claims are calibrated wherever people are found so."""
    beyond_class: ClassVar[str | None] = None
    """What an attack that names a person's exact value goes by besides the classes of the release: "" where nothing, so that
    the bounds for those who know the classes hold for it (`auditor/auditing/bounds.py`); None where it names no value."""
    least: ClassVar[tuple[tuple[str, int], ...]] = ()
    """Settings with the least value that each may have, if it is set."""
    inside: ClassVar[tuple[str, ...]] = ()
    """Settings that lie between 0 and 1."""
    below_one: ClassVar[tuple[str, ...]] = ()
    """Settings that are at least 0 and below 1."""

    def __post_init__(self) -> None:
        below = math.nextafter(1.0, 0.0)
        asked = [(name, f"at least {least}", float(least), math.inf) for name, least in self.least]
        asked += [(name, "between 0 and 1", math.ulp(0.0), below) for name in self.inside]
        asked += [(name, "at least 0 and below 1", 0.0, below) for name in self.below_one]
        for name, words, least, most in asked:
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise UsageError(f"{self.name}: {name} must be {words}. Got {value}.")

    @classmethod
    def barred(cls, synthetic: bool) -> NotApplicable | None:
        """Why it does not apply to a release because of whose its rows are, or None."""
        if cls.rows is (Rows.PEOPLE if synthetic else Rows.NOBODY):
            return NO_ROW if synthetic else OF_PEOPLE
        return None

    @classmethod
    def facts(cls) -> AttackFacts:
        """What the record says of the attack."""
        return AttackFacts(
            cls.name, cls.goal, cls.claim, cls.lowered_by, cls.paper, cls.summary, cls.criterion, cls.harm, cls.lead,
            cls.compared, cls.support, cls.axis, cls.caption, cls.title,
        )  # fmt: skip

    @classmethod
    def meanings(cls) -> tuple[Measure, ...]:
        """Its measures as the record has them."""
        return tuple(replace(measure, of=cls.name) for measure in cls.measures)

    @abstractmethod
    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        """The claims about each target, or why there can be none."""


@dataclass(frozen=True)
class WholeAttack(Attack):
    """An attack that has its own way to people and needs the whole release for it."""

    linked = False
    needs_whole = True
