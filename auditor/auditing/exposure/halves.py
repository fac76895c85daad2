"""Halves: a search that tries hundreds of sets finds one that looks good by chance, so people are parted in two halves: one
chooses, the other reports. The halves are drawn in the order of people's contents, and all rows of a person are in one."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from auditor.auditing.scoring.people import greatest
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.packing import Hashes
from auditor.model.seeding import stage

CHOOSING, REPORTING = 0, 1
"""The half that chooses sets, and the half that figures are reported of."""


class Halves:
    """The targets of an adversary, and the people who are not in the release, in two halves each."""

    def __init__(self, subject: Subject, sides: Sides, seed: int) -> None:
        self.subject, self.sides, self.seed = subject, sides, seed

    @cached_property
    def person(self) -> Ints:
        """Whose each target is."""
        rows, person = self.sides.targets, self.subject.person
        return np.arange(len(rows)) if person is None else np.unique(person[rows], return_inverse=True)[1].reshape(-1)

    @cached_property
    def _place(self) -> Ints:
        """The place of each person in a random order, drawn in the order of their contents: the first half chooses."""
        people = self.subject.people
        assert people is not None
        content = people.contents()[self.sides.targets]
        return self._drawn(content, self.person, "people")

    def _drawn(self, content: Hashes, person: Ints, what: str) -> Ints:
        order = np.argsort(content, kind="stable")
        _, first = np.unique(person[order], return_index=True)
        order = person[order][np.sort(first)]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = stage(self.seed, "search", what).permutation(len(order))
        return place

    @cached_property
    def of_person(self) -> Ints:
        """The half of each person."""
        return _parted(self._place)

    def people(self, half: int) -> int:
        """How many people are in a half."""
        return int((self.of_person == half).sum())

    def rows(self, half: int, most: int | None = None) -> tuple[int, ...]:
        """The rows of the people of a half, or of some of them."""
        place, middle = self._place[self.person], len(self._place) // 2
        first, last = (0, middle) if half == CHOOSING else (middle, len(self._place))
        if most is not None:
            last = min(last, first + most)
        return tuple(self.sides.targets[(place >= first) & (place < last)].tolist())

    def outsiders(self, column: str) -> tuple[Ints, Ints]:
        """The true values of the people who are not in the release, and their halves."""
        truth = self.sides.outside_truth(column)
        assert truth is not None
        assert truth.codes is not None
        assert truth.table is not None
        content, people = truth.table.contents(), np.arange(len(truth.codes))
        return truth.codes, _parted(self._drawn(content, people, "outsiders"))

    def per_person(self, each: Floats, which: Bools | None = None) -> tuple[Floats, Ints]:
        """A figure of each target as one of each person, who is hit as hard as the worst of their rows; and who they are."""
        person = self.person
        if which is not None:
            each, person = each[which], person[which]
        if self.subject.person is None:
            return each, person
        people, number = np.unique(person, return_inverse=True)
        return greatest(each, number, len(people)), people


def _parted(place: Ints) -> Ints:
    return np.where(place < len(place) // 2, CHOOSING, REPORTING)
