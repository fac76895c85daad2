"""Claims: what attacks say about each target, in a few forms that scoring knows how to judge.

An attack picks the form that fits what it claims, and needs scoring of its own only where it claims something of a new form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auditor.measure.points import Axes
from auditor.measure.wildcards import Alike
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.table import Table
from auditor.posterior.beliefs import Beliefs, ValueBeliefs


@dataclass(frozen=True, slots=True, eq=False)
class RecordClaims:
    """This person is this record. `per_class` is the mean chance over the people of the population in the release's
    classes, where there is a population and one record is sought for anybody (the journalist)."""

    beliefs: Beliefs
    threshold: float
    per_class: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ValueClaims:
    """This person has exactly this value: the likeliest of `values`. `tenth` asks for the success of the most confident
    tenth of the claims as well; `beside` are other beliefs, by name, whose success is told beside; `detail` says how it was
    computed, `params` by which settings. `together`: the claims about one release are right or wrong together, so that what
    is expected of them holds over many releases only, and is not told of one."""

    values: ValueBeliefs
    tau: float
    tenth: bool = False
    beside: Mapping[str, ValueBeliefs] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    together: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class WindowClaims:
    """This person's number lies in a window [start, start + width].

    `start`, `row` list the windows with the most mass, ties included, ordered by the row of `values`; `mass` is that mass
    for each row. `numbers` are the numbers by code, `epsilon` the tolerance around the truth (`relative`: a share of it).
    """

    values: ValueBeliefs
    numbers: Floats
    epsilon: float
    relative: bool
    width: float
    tau: float
    start: Floats
    row: Ints
    mass: Floats
    m: float | None


@dataclass(frozen=True, slots=True, eq=False)
class RangeClaims:
    """This person's value is one of a range: the codes from `first` to before `last`. Listed are the claimed ranges, ties
    included, each with the `row` of `values` that it is about. `prior` is the share of each code among people at large, and
    `least` what a range counts at least. `at_large`: what is claimed need not be likely, but likelier than of others, so that
    the baseline is how often the same claims are true of people at large."""

    values: ValueBeliefs
    row: Ints
    first: Ints
    last: Ints
    prior: Floats
    least: float
    tau: float
    params: Mapping[str, Any] = field(default_factory=dict)
    at_large: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class UnrelatedClaims:
    """This person is believed to have something unrelated: values fall into `groups` (by code), and those of another
    group than the truth's are unrelated to it."""

    values: ValueBeliefs
    groups: Ints
    tau: float
    level: int
    reading: str


@dataclass(frozen=True, slots=True, eq=False)
class MemberClaims:
    """This person is in the data: scores by name, higher for likelier members. The one named `probability` is one; `doubt`
    says why its estimate did not converge, where it did not; `detail` is what else is to be said. `asked` are the places of
    the people who were asked about, where these are not all; `best` asks for the best of the scores, chosen on other
    people."""

    scores: Mapping[str, Floats]
    population: str
    prior: float
    doubt: str | None = None
    probability: str = "posterior"
    detail: Mapping[str, Any] = field(default_factory=dict)
    asked: Ints | None = None
    best: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class IntervalClaims:
    """A person's own numbers lie in the intervals around the ones published for them: `ends` has, for each width, the lower
    and upper ends by fragment of a block and by column (not a number where none is published). The figure is the mean over
    the widths. None for somebody without the release, who lays an interval anywhere: it holds a number by `chance`."""

    measure: str
    columns: tuple[str, ...]
    block: int
    ends: tuple[tuple[Floats, Floats], ...] | None
    chance: float
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class NameClaims:
    """These names stand for these values: `name` is the number of the name that each fragment of a block has (-1: none), and
    `beliefs` how likely each of the names stands for each code (names × codes)."""

    block: int
    name: Ints
    beliefs: Floats
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SeveralClaims:
    """Claims that can be read in several ways, each scored by itself."""

    parts: tuple[OneClaim, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A figure that needs no truth: computed from the release and what the adversary knows. `each` is its part for every
    target where it has one (to name the worst), or for every fragment of block `block` where that is given; `interval` is
    its own, where it is an estimate; `doubt` says why an estimate did not converge, where it did not."""

    measure: str
    value: float | None
    n: int
    params: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    each: Floats | None = None
    interval: tuple[float, float] | None = None
    doubt: str | None = None
    block: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FactClaims:
    """Figures about the release itself."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChanceClaims:
    """For each target the chance that what is claimed of them comes true, where that shows without the truth. `asked` are the
    places of the targets that it is about, where these are not all."""

    measure: str
    each: Floats
    params: Mapping[str, Any] = field(default_factory=dict)
    asked: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class KeyClaims:
    """This person has the value that records with their key have: `key` numbers the key of each target, `records` that
    of each record. `value` is the class of each record's value, `class_of` that of each code. Without the release
    (None) a value is guessed by its share. `among` gives the keys of the people of a table, and with them again those of the
    targets: two people have the same number where their keys are the same."""

    key: Ints | None
    records: Ints | None
    value: Ints
    class_of: Ints
    shares: Floats | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    among: Callable[[Table], tuple[Ints, Ints]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CloseClaims:
    """The rows of a release lie near to these people: all of both as points of one space, and some of them, drawn at random,
    for what takes time. `person` numbers the people from 0, where several rows may be one person's; `drawn` are the numbers
    of some, in random order."""

    records: Axes
    people: Axes
    some_records: Axes
    drawn: Ints
    person: Ints | None = None

    def some_people(self, most: int) -> tuple[Axes, Ints | None]:
        """The first so many of the people drawn, and whose each of their rows is."""
        if self.person is None:
            return self.people.take(self.drawn[:most]), None
        place = np.flatnonzero(np.isin(self.person, self.drawn[:most]))
        return self.people.take(place), np.unique(self.person[place], return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class PredicateClaims:
    """Exactly one person in the data has these values: each predicate allows, by column, some codes (a boolean for each
    code of the domain), and all columns must hold. `belief` is the probability with which the adversary expects it to
    isolate somebody, `weight` the share of the population that they think it covers. `tried` is of how many records one was
    to be made, where that is known; `measure` what their success is called. `narrowed` are those that allow a part of a label
    only, so that their weight is a guess."""

    predicates: tuple[Mapping[str, Bools], ...]
    weight: Floats
    belief: Floats
    params: Mapping[str, Any] = field(default_factory=dict)
    tried: int | None = None
    measure: str = "success"
    narrowed: Bools | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SampleClaims:
    """These records of a block are alike in their quasi-identifiers. With sampling weights they say how many people are:
    those of the people themselves, or the published `weight` of each record, where it is published beside them."""

    block: int
    alike: Alike
    weight: Floats | None = None


PersonalClaims = RecordClaims | IntervalClaims | NameClaims | ValueClaims | RangeClaims | UnrelatedClaims
OneClaim = PersonalClaims | FactClaims | PredicateClaims | SampleClaims | ChanceClaims | KeyClaims
Claims = OneClaim | WindowClaims | SeveralClaims | MemberClaims | CloseClaims
