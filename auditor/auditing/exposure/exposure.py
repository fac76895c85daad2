"""Exposure: what a set of known attributes gives one adversary after one goal, on each of two halves of the people.

Records and values are sought by every set of attributes (`linked.py`). Everything else is an ordinary audit (`audited.py`):
membership and numbers of every set, further attacks and links of the best ones.
"""

from __future__ import annotations

from functools import cached_property

from attacks import ATTACKS, attacks_on
from attacks.base import Attack
from auditor.auditing.attacking import Attacker
from auditor.auditing.exposure.audited import AuditedSets
from auditor.auditing.exposure.halves import Halves
from auditor.auditing.exposure.linked import LinkedSets
from auditor.auditing.exposure.tried import AREA, HOMOGENEITY, LINKING, MEMBERSHIP, PROXIMITY, Tried
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.model.record.meaning import Goal
from auditor.model.schema import Type
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary
from scenarios.options import Options

_EVERYWHERE = (Link.CONTAINMENT, Link.LIKELIHOOD, Link.DISTANCE)
"""The links under which every set is tried."""


class Exposure:
    """One adversary, who may know any set of attributes, after one goal; `column` is the sensitive one that is sought."""

    def __init__(
        self, subject: Subject, options: Options, adversary: Adversary, goal: Goal, column: str | None = None
    ) -> None:
        """`subject` is about people (see `by_people`); the adversary knows all attributes."""
        self.subject, self.options, self.goal, self.column = subject, options, goal, column
        self.adversary, self.release = adversary, subject.release
        self.sides = Sides(subject, options).facing(adversary)
        self.halves = Halves(subject, self.sides, options.seed)
        self._audited = AuditedSets(self.halves, options, adversary, goal, column)
        self._kept: dict[tuple[str, ...], dict[int, list[Tried]]] = {}

    def people(self, half: int) -> int:
        """How many people are in a half."""
        return self.halves.people(half)

    @property
    def numeric(self) -> bool:
        """Whether a number is sought: a claim is then an interval."""
        return self.column is not None and self.release.labels[self.column].domain.column.type is Type.NUMERIC

    @property
    def plain(self) -> bool:
        """Whether records or plain values are sought, for which every set's posterior is known."""
        return self.goal is not Goal.MEMBERSHIP and not self.numeric

    @cached_property
    def _free(self) -> tuple[Link, ...]:
        """The links that this adversary really has: all that apply but a granted class."""
        found, _ = Attacker(self.adversary, self.sides, ()).links
        return tuple(link for link in found if link is not Link.CLASS)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Those under which every set is tried."""
        return tuple(link for link in self._free if link in _EVERYWHERE)

    @cached_property
    def _linked(self) -> LinkedSets:
        return LinkedSets(self.halves, self.goal, self.column, self.links, self.options.suppression)

    def tried(self, columns: tuple[str, ...], half: int) -> list[Tried]:
        """The figures of a set of attributes on one half, by every link."""
        if not self.plain:
            return self.audited(columns, half, self._everywhere, self.links)
        if columns not in self._kept:
            self._kept = {columns: self._linked.both(columns)}  # the last only: they are asked for one after the other
        return self._kept[columns][half]

    def audited(self, columns: tuple[str, ...], half: int, attack: str, links: tuple[Link, ...]) -> list[Tried]:
        """The figures of an ordinary audit of one half by somebody who knows the set."""
        return self._audited.figures(columns, half, attack, links)

    def again(self, chosen: Tried, half: int) -> list[Tried]:
        """The figures of the attack, link and set of one that was tried, on one half."""
        if chosen.attack == self._everywhere and (chosen.link is None or chosen.link in self.links):
            found = self.tried(chosen.columns, half)
        else:
            links = tuple(link for link in self.further[chosen.attack] if chosen.link in (None, link))
            found = self.audited(chosen.columns, half, chosen.attack, links)
        return [one for one in found if (one.attack, one.link) == (chosen.attack, chosen.link)]

    @cached_property
    def further(self) -> dict[str, tuple[Link, ...]]:
        """The attacks that claim the same as the one that every set is tried with, and the links under which these have
        not been tried."""
        asked, everywhere = self.options.attacks, self._everywhere
        every = {name: ATTACKS.get(name) for name in attacks_on(synthetic=False)}
        names = [name for name, attack in every.items() if attack.goal is self.goal and self._comparable(attack)]
        beyond = tuple(link for link in self._free if link not in self.links)
        left = {name: beyond if name == everywhere else self._free for name in names if asked is None or name in asked}
        if self.goal is Goal.MEMBERSHIP or not beyond:
            left.pop(everywhere, None)
        return left

    @property
    def attacks(self) -> tuple[str, ...]:
        """All attacks of the search."""
        return (self._everywhere, *self.further)

    @property
    def _everywhere(self) -> str:
        """The attack that every set is tried with."""
        if self.goal is Goal.ATTRIBUTE:
            return PROXIMITY if self.numeric else HOMOGENEITY
        return LINKING if self.goal is Goal.IDENTITY else MEMBERSHIP

    def _comparable(self, attack: type[Attack]) -> bool:
        """Whether a success means the same: a record named, a value named, an interval that holds the number."""
        names = {measure.name for measure in attack.measures}
        if self.goal is Goal.IDENTITY:
            return "class_found" in names
        if self.goal is Goal.MEMBERSHIP:
            return AREA in names
        return "window" in names if self.numeric else "certain" in names and "lift_max" not in names
