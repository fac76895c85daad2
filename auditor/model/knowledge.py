"""Background knowledge: what an adversary knows about some people before looking at the release.

The threat model as an object. `Knowledge` is about a set of targets. A granted class (the link model `class`) is part of the
knowledge: the audit puts it there, and attacks never see where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.packing import Hashes, contents
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A list of the population: the quasi-identifiers (coded) of everybody, or of a share of them."""

    codes: Mapping[str, Codes]
    people: int
    """How many people are on it."""
    coverage: float = 1.0
    """The share of the population that is on it."""


@dataclass(frozen=True, slots=True)
class Error:
    """How a known value may be wrong."""

    spread: float = 0.0
    """A number (or the step of an ordinal) is off by up to this, each distance with the same probability."""
    stale: float = 0.0
    """The probability that the value is out of date, and says no more than the values of the population."""


@dataclass(frozen=True, slots=True, eq=False)
class Acquaintances:
    """People in the release whose sensitive values the adversary knows too. None of them is a target."""

    columns: tuple[str, ...]
    codes: Codes
    """Their known quasi-identifiers (people × `columns`)."""
    values: Mapping[str, Codes]
    """Their values, by sensitive column."""

    @property
    def people(self) -> int:
        """How many they are."""
        return len(self.codes)

    def take(self, which: Ints) -> Acquaintances:
        """Some of them."""
        return replace(self, codes=self.codes[which], values={c: values[which] for c, values in self.values.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """How the release was made, as far as the adversary knows."""

    name: str
    """The name of the method."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Its settings, where they are known."""
    run: Callable[[Table, np.random.Generator], Release] | None = None
    """Runs the method, where it is a registered one."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """From what the release was drawn, as far as the adversary knows."""

    rng: Callable[[], np.random.Generator]
    """The method's generator, as it was when the method began."""
    rows: int
    """How many rows the file has."""
    place: Ints
    """The row of each target in the file, from 0; -1 for those who are not in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is known of each target."""

    columns: tuple[str, ...]
    """The known columns."""
    codes: Codes
    """Their values (targets × `columns`); -1 where a value is not known."""
    granted: Codes | None = None
    """The class that each target is known to be in, or None."""
    register: Register | None = None
    """A list of the population, or None."""
    priors: Mapping[str, Floats] = field(default_factory=dict)
    """By sensitive column, the share of each value in the population."""
    membership: float | None = None
    """The prior probability that a target is in the release; None where it is known to be in."""
    anybody: bool = False
    """Whether exposing any one person is enough (the journalist), rather than each of the targets."""
    errors: Mapping[str, Error] = field(default_factory=dict)
    """By known column, how its values may be wrong."""
    not_values: Mapping[str, Bools] = field(default_factory=dict)
    """By sensitive column, which values each target is known not to have (targets × codes)."""
    acquaintances: Acquaintances | None = None
    """People in the release whose sensitive values are known."""
    auxiliary: Table | None = None
    """A sample of the population with all columns; nobody in it is in the release."""
    mechanism: Mechanism | None = None
    """How the release was made."""
    earlier: tuple[Release, ...] = ()
    """Other releases about the same people."""
    draw: Draw | None = None
    """From what the release was drawn, and the order of the file."""
    everybody: Codes | None = None
    """The known columns of all people in the release (people × `columns`), where the adversary knows who they are."""
    person: Ints | None = None
    """Whose each target is, by number, where several may be one person's."""

    @property
    def targets(self) -> int:
        """The number of targets."""
        return len(self.codes)

    @property
    def people(self) -> int:
        """How many people the targets are."""
        return self.targets if self.person is None else len(np.unique(self.person))

    def some_people(self, most: int, rng: np.random.Generator) -> Ints:
        """The places of the targets of at most so many people, drawn at random: with all that is known of each of them, and
        whatever the order of rows."""
        return drawn_people(contents(self.codes.T, self.targets), self.person, most, rng)

    def take(self, targets: Ints) -> Knowledge:
        """The knowledge about some of the targets."""
        granted = None if self.granted is None else self.granted[targets]
        excluded = {column: matrix[targets] for column, matrix in self.not_values.items()}
        draw = None if self.draw is None else replace(self.draw, place=self.draw.place[targets])
        person = None if self.person is None else self.person[targets]
        return replace(self, codes=self.codes[targets], granted=granted, not_values=excluded, draw=draw, person=person)


def drawn_people(content: Hashes, person: Ints | None, most: int, rng: np.random.Generator) -> Ints:
    """The rows of at most so many people, drawn at random: all rows of each. `content` is that of each row, so that the order
    of rows does not matter; `person` says whose each is, where several may be one person's."""
    number = np.arange(len(content))
    if person is not None:
        people, number = np.unique(person, return_inverse=True)
        whole = np.zeros(len(people), dtype=np.uint64)
        np.add.at(whole, number, content)
        content = whole
    if len(content) <= most:
        return np.arange(len(number))
    chosen = rng.choice(np.argsort(content, kind="stable"), most, replace=False)
    return np.flatnonzero(np.isin(number, chosen))
