"""Adversaries: who attacks, and what they know. The threat model as an object that says itself in one sentence.

- the *prosecutor* knows that one person is in the release and wants to know more about them;
- the *journalist* wants to expose any one person, and does not know who is in the release; a register tells who could be;
- the *marketer* wants to identify as many people as possible, likewise with a register.

The prosecutor runs every attack; the other two are about identity (El Emam's three risks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from attacks.base import Goal
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge, Register
from auditor.model.table import Table


class Stance(StrEnum):
    """The three adversaries of the literature."""

    PROSECUTOR = "prosecutor"
    JOURNALIST = "journalist"
    MARKETER = "marketer"


_AIMS = {
    Stance.PROSECUTOR: (Goal.IDENTITY, Goal.ATTRIBUTE, Goal.MEMBERSHIP),
    Stance.JOURNALIST: (Goal.IDENTITY,),
    Stance.MARKETER: (Goal.IDENTITY,),
}


@dataclass(frozen=True, slots=True)
class Adversary:
    """Somebody who attacks. `knows` are the quasi-identifiers known of each target; None means all."""

    stance: Stance = Stance.PROSECUTOR
    name: str = "prosecutor"
    knows: tuple[str, ...] | None = None

    @property
    def aims(self) -> tuple[Goal, ...]:
        """What this adversary is after."""
        return _AIMS[self.stance]

    @property
    def sure_of_membership(self) -> bool:
        """Whether they know that their targets are in the release."""
        return self.stance is Stance.PROSECUTOR

    def columns(self, quasi: Sequence[str]) -> tuple[str, ...]:
        """The known columns, checked against the quasi-identifiers."""
        if self.knows is None:
            return tuple(quasi)
        unknown = [c for c in self.knows if c not in quasi]
        if unknown:
            raise UsageError(
                f"adversary {self.name!r}: knows must name quasi-identifiers. Got {unknown[0]!r}; "
                f"there are: {', '.join(quasi)}."
            )
        return self.knows

    def sentence(self, quasi: Sequence[str], register: int | None) -> str:
        """The adversary in one sentence."""
        names = [c.replace("_", " ") for c in self.columns(quasi)]
        known = " and ".join(([", ".join(names[:-1])] if names[:-1] else []) + names[-1:]) or "nothing"
        who = {
            Stance.PROSECUTOR: f"knows that a person is in the release, and that person's {known}",
            Stance.JOURNALIST: f"wants to expose any one person and knows people's {known}, but not who is in the release",
            Stance.MARKETER: f"wants to identify as many as possible and knows their {known}, but not who is in the release",
        }[self.stance]
        size = f"{register:,}".replace(",", " ") if register else ""
        source = f", and has a population register of {size} people" if register else ""
        return f"The {self.name} {who}{source}."

    def knowledge(
        self,
        people: Table,
        rows: NDArray[np.int64],
        register: Register | None,
        priors: Mapping[str, NDArray[np.float64]],
        released: int,
    ) -> Knowledge:
        """What this adversary knows of some people of a table. Without a register the share of people at large who are in
        the release is not known, and taken as one half."""
        columns = tuple(c for c in self.columns(people.schema.quasi) if c in people.codes)
        membership = None
        if not self.sure_of_membership:
            membership = 0.5 if register is None else min(released / register.people, 1.0)
        return Knowledge(
            columns, people.matrix(columns)[rows], None, register, priors, membership, self.stance is Stance.JOURNALIST
        )


def register_of(population: Table) -> Register:
    """The register that a population table is: its quasi-identifiers."""
    quasi = [c for c in population.schema.quasi if c in population.codes]
    return Register({c: population.codes[c] for c in quasi}, population.rows)


PROSECUTOR = Adversary()
JOURNALIST = Adversary(Stance.JOURNALIST, "journalist")
MARKETER = Adversary(Stance.MARKETER, "marketer")
