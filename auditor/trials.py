"""Trials: one attack on one group of people, scored.

A `Side` is a group under attack: the targets from the release, the same without it (the baseline), or people who are not in
it (the control), each with what is known of them, what is believed, and the truth. The same attack runs on all sides.

Where a value is sought of somebody whom nothing in the release fits there is no attempt, and only attempts count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attacks.base import Attack, Goal, Lacks, NotApplicable, View
from auditor.model.knowledge import Knowledge
from auditor.model.release import Release, Suppression
from auditor.model.seeding import stage
from auditor.posterior.beliefs import Beliefs, Some
from auditor.posterior.links import Link
from auditor.scoring import Figure, Truth, score


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A group of people under attack. `truth(column)` is None where it is not known; `blind` says that the adversary has
    no release."""

    name: str
    knowledge: Knowledge
    beliefs: Beliefs
    truth: Callable[[str | None], Truth | None]
    blind: bool = False

    def attempted(self, attack: Attack) -> NDArray[np.bool_]:
        """The people on whom an attack can be tried at all."""
        if attack.goal is Goal.ATTRIBUTE and attack.about_matched:
            return self.beliefs.matched
        return np.ones(self.beliefs.targets, dtype=np.bool_)

    def take(self, which: NDArray[np.bool_]) -> Side:
        """Some of the people."""
        if which.all():
            return self

        def truth(column: str | None) -> Truth | None:
            known = self.truth(column)
            return None if known is None else known.take(which)

        return Side(self.name, self.knowledge.take(np.flatnonzero(which)), Some(self.beliefs, which), truth, self.blind)


def trial(
    attack: Attack,
    side: Side,
    release: Release,
    link: Link | None,
    column: str | None,
    seed: int,
    suppression: Suppression = Suppression.EXCLUDED,
) -> list[Figure] | NotApplicable:
    """Runs an attack on a side and scores it."""
    truth = side.truth(column)
    if truth is None:
        return NotApplicable(f"the true values of {column} are not known", Lacks.PEOPLE)
    if not side.beliefs.targets:
        return NotApplicable("no record fits what is known of anybody")
    view = View(release, side.knowledge, side.beliefs, link, column, side.blind, suppression)
    claims = attack.run(view, stage(seed, attack.name))
    return claims if isinstance(claims, NotApplicable) else score(claims, truth)
