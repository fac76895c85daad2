"""Adversaries: who attacks, and what they know. The threat model as an object that describes itself in one sentence.

- the *prosecutor* knows that one person is in the release and wants to know more about them;
- the *journalist* wants to expose any one person and does not know who is in the release; a list of the population says who
  could be;
- the *marketer* wants to identify as many people as possible, also with a list of the population.

The prosecutor runs every attack; the other two are about identity (El Emam's three risks). What else they know can be
combined freely. `simulators.py` draws it; an adversary knows how often it is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from math import comb, inf
from typing import Any

from auditor.model.errors import UsageError
from auditor.model.faults import Faults, is_count, is_number
from auditor.model.knowledge import Error
from auditor.model.record.meaning import Goal
from auditor.model.schema import Schema, Type
from auditor.model.seeding import stage

MOST_SUBSETS = 256


class Stance(StrEnum):
    """The three adversaries of the literature."""

    PROSECUTOR = "prosecutor"
    JOURNALIST = "journalist"
    MARKETER = "marketer"


class MechanismKnown(StrEnum):
    """What is known of how the release was made."""

    NONE = "none"
    NAME = "name"
    PARAMETERS = "parameters"


_AIMS = {
    Stance.PROSECUTOR: (Goal.IDENTITY, Goal.ATTRIBUTE, Goal.MEMBERSHIP),
    Stance.JOURNALIST: (Goal.IDENTITY,),
    Stance.MARKETER: (Goal.IDENTITY,),
}


@dataclass(frozen=True, slots=True)
class Adversary:
    """Somebody who attacks."""

    stance: Stance = Stance.PROSECUTOR
    name: str = "prosecutor"
    knows: tuple[str, ...] | int | None = None
    """The quasi-identifiers known of each target; a number: that many, drawn at random; None: all."""
    subsets: int | None = None
    """In place of `knows`: every set of this many quasi-identifiers, each an adversary of its own."""
    noise: Mapping[str, float] = field(default_factory=dict)
    """By column, how far a known number (or step of an ordinal) may be off."""
    stale: Mapping[str, float] = field(default_factory=dict)
    """By column, how often the known value is out of date."""
    missing: float | Mapping[str, float] = 0.0
    """How often a value is not known, for every column or by column."""
    coverage: float = 1.0
    """The share of the population that is on their list of it."""
    not_values: int = 0
    """How many values of each sensitive column (numbers excepted) each target is known not to have."""
    acquaintances: float = 0
    """How many people of the release they know with their sensitive values: a number, or a share below 1."""
    own_value: bool = False
    """Whether the target's sensitive values are known; then only the record and membership are sought."""
    mechanism: MechanismKnown = MechanismKnown.NONE
    """What they know of how the release was made."""
    seed: int | None = None
    """The seed from which they believe it was drawn; they then know the order of the rows in the file as well."""
    sample: float = 0.0
    """The share of the outsiders whom they have, with all columns, to learn from."""
    earlier: tuple[str, ...] = ()
    """Other releases that they have, by name."""

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in SETTINGS if getattr(self, name) is not None}
        faults = Faults(UsageError, f"adversary {self.name!r}", given)
        check_knowledge(faults)
        faults.check()

    @property
    def aims(self) -> tuple[Goal, ...]:
        """What this adversary is after."""
        return tuple(goal for goal in _AIMS[self.stance] if goal is not Goal.ATTRIBUTE or not self.own_value)

    @property
    def sure_of_membership(self) -> bool:
        """Whether they know that their targets are in the release."""
        return self.stance is Stance.PROSECUTOR

    def columns(self, quasi: Sequence[str]) -> tuple[str, ...]:
        """The known quasi-identifiers of an adversary that `settled` returned."""
        if self.knows is None:
            return tuple(quasi)
        if isinstance(self.knows, int):
            raise TypeError("Which columns are known must be drawn first: call settled().")
        return self.knows

    def unknown_share(self, column: str) -> float:
        """How often the value of a column is not known."""
        return self.missing.get(column, 0.0) if isinstance(self.missing, Mapping) else float(self.missing)

    def errors(self, columns: Sequence[str]) -> dict[str, Error]:
        """How the known values of some columns may be wrong."""
        made = {c: Error(float(self.noise.get(c, 0.0)), float(self.stale.get(c, 0.0))) for c in columns}
        return {c: error for c, error in made.items() if error.spread > 0 or error.stale > 0}

    def settled(self, schema: Schema, seed: int) -> tuple[Adversary, ...]:
        """This adversary with known columns by name, checked against a schema; one for each of the `subsets`."""
        quasi, faults = schema.quasi, Faults(UsageError, f"adversary {self.name!r}")
        self._check(schema, faults)
        faults.check()
        if self.subsets is not None:
            chosen = itertools.combinations(quasi, self.subsets)
            named = ((f"{self.name} ({', '.join(columns)})", columns) for columns in chosen)
            return tuple(replace(self, name=name, knows=columns, subsets=None) for name, columns in named)
        if isinstance(self.knows, int):
            drawn = stage(seed, "knows", self.name).choice(len(quasi), self.knows, replace=False)
            return (replace(self, knows=tuple(quasi[i] for i in sorted(drawn.tolist()))),)
        return (self,)

    def _check(self, schema: Schema, faults: Faults) -> None:
        """Adds what does not fit the schema."""
        quasi, there = schema.quasi, f"there are: {', '.join(schema.quasi)}."
        named = {
            "knows": self.knows if isinstance(self.knows, tuple) else (),
            "noise": tuple(self.noise),
            "stale": tuple(self.stale),
            "missing": tuple(self.missing) if isinstance(self.missing, Mapping) else (),
        }
        for key, columns in named.items():
            for column in (c for c in columns if c not in quasi):
                faults.add(f"{key} must name quasi-identifiers. Got {column!r}; {there}")
        for key, count in (("knows", self.knows), ("subsets", self.subsets)):
            if isinstance(count, int) and count > len(quasi):
                faults.add(f"{key} must be at most the number of quasi-identifiers. Got {count}; {there}")
        if self.subsets is not None and comb(len(quasi), self.subsets) > MOST_SUBSETS:
            faults.add(
                f"subsets = {self.subsets} of {len(quasi)} quasi-identifiers makes {comb(len(quasi), self.subsets)} "
                f"adversaries; at most {MOST_SUBSETS} are allowed. Draw one of them with knows = {self.subsets}."
            )
        for column in (c for c in self.noise if c in quasi):
            kind = schema.columns[column].type
            if kind not in (Type.NUMERIC, Type.ORDINAL):
                faults.add(f"noise: {column} must be numeric or ordinal to be off by a number. Use stale for it.")
            elif kind is Type.ORDINAL and not float(self.noise[column]).is_integer():
                faults.add(f"noise: {column} is ordinal, and must be off by whole steps. Got {self.noise[column]!r}.")

    def sentence(
        self, quasi: Sequence[str], register: int | None, known: str | None = None, synthetic: bool = False
    ) -> str:
        """The adversary in one sentence; `register` is the number of people in the population, where there is a list of it,
        and `known` says what is known of people in place of the columns. Nobody is in a synthetic release."""
        known = known or _listed([self._column(c) for c in self.columns(quasi)])
        if self.own_value:
            known += ", and their sensitive values" if known else "sensitive values"
        whose = {Stance.PROSECUTOR: "that person's", Stance.JOURNALIST: "people's", Stance.MARKETER: "their"}[
            self.stance
        ]
        about = {Stance.PROSECUTOR: "that person", Stance.JOURNALIST: "people", Stance.MARKETER: "them"}[self.stance]
        known = f"{whose} {known}" if known else f"nothing about {about}"
        who = {
            Stance.PROSECUTOR: f"knows that a person is in the release, and {known}",
            Stance.JOURNALIST: f"wants to expose any one person and knows {known}, but not who is in the release",
            Stance.MARKETER: f"wants to identify as many people as possible and knows {known}, but not who is in the release",
        }[self.stance]
        if synthetic:
            members = "" if self.knows is not None else "; to tell who is in the data, all their published values"
            who = f"knows {known.replace('that person', 'a person', 1)}{members}"
        more = self._more(register)
        return f"The {self.name} {who}{''.join(f', {clause}' for clause in more[:-1])}" + (
            f", and {more[-1]}." if more else "."
        )

    def _column(self, column: str) -> str:
        doubts = []
        if self.noise.get(column):
            doubts.append(f"give or take {self.noise[column]:g}")
        if self.stale.get(column):
            doubts.append(f"out of date in {_percent(self.stale[column])} of cases")
        if self.unknown_share(column):
            doubts.append(f"not known in {_percent(self.unknown_share(column))} of cases")
        name = column.replace("_", " ")
        return f"{name} ({', '.join(doubts)})" if doubts else name

    def _more(self, register: int | None) -> list[str]:
        """What else is known, each as a clause."""
        said = []
        if self.not_values:
            values = "value" if self.not_values == 1 else "values"
            said.append(f"knows {self.not_values} {values} of every sensitive column that each person does not have")
        if self.acquaintances:
            share = self.acquaintances < 1
            people = f"{_percent(self.acquaintances)} of the people" if share else f"{int(self.acquaintances)} people"
            said.append(f"knows {people} in the release with their sensitive values")
        if self.mechanism is not MechanismKnown.NONE:
            settings = " and with which settings" if self.mechanism is MechanismKnown.PARAMETERS else ""
            said.append(f"knows by which method{settings} the release was made")
        if self.seed is not None:
            said.append("knows a seed from which it may have been drawn, and the order of the rows in the file")
        if self.earlier:
            other = "another release" if len(self.earlier) == 1 else f"{len(self.earlier)} other releases"
            said.append(f"has {other} about the same people ({', '.join(self.earlier)})")
        if register and self.sample:
            said.append(f"has all values of {_percent(self.sample)} of the people who are not in the release")
        if register:
            size = f"{register:,}".replace(",", " ")
            part = f"{_percent(self.coverage)} of " if self.coverage < 1 else ""
            said.append(f"has a list of {part}the population ({size} people)")
        return said


SETTINGS = tuple(f.name for f in fields(Adversary) if f.name not in ("stance", "name"))
"""What an adversary may know, by the names that scenario files use."""


def check_knowledge(faults: Faults) -> None:
    """Adds what is wrong with the settings of an adversary, whatever the schema."""
    if "knows" in faults.data and "subsets" in faults.data:
        faults.add("give either knows or subsets.")
    faults.choice("mechanism", MechanismKnown)
    if "seed" in faults.data and faults.data.get("mechanism") != MechanismKnown.PARAMETERS:
        faults.add(
            f'seed needs mechanism = "{MechanismKnown.PARAMETERS}": without the settings nothing can be drawn again.'
        )
    for key, (good, wanted) in _CHECKS.items():
        faults.value(key, good, wanted)


def bases(adversaries: Sequence[Adversary]) -> list[Adversary]:
    """The adversaries that differ in more than their name and the columns they know."""
    kept: list[tuple[Adversary, Adversary]] = []
    for adversary in adversaries:
        bare = replace(adversary, name="", knows=None, subsets=None)
        if all(bare != other for _, other in kept):
            kept.append((replace(adversary, knows=None, subsets=None), bare))
    return [base for base, _ in kept]


def _is_share(value: Any) -> bool:
    return is_number(value, 0, 1)


def _is_distance(value: Any) -> bool:
    return is_number(value, 0, inf)


def _by_column(value: Any, good: Callable[[Any], bool]) -> bool:
    return isinstance(value, Mapping) and all(isinstance(k, str) and good(v) for k, v in value.items())


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(v, str) and v for v in value)


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "knows": (lambda v: _are_names(v) or is_count(v), "a list of column names, or how many to draw at random"),
    "subsets": (is_count, "a whole number of columns"),
    "noise": (lambda v: _by_column(v, _is_distance), "how far each column may be off, such as { age = 1 }"),
    "stale": (lambda v: _by_column(v, _is_share), "a probability for each column, such as { postcode = 0.1 }"),
    "missing": (
        lambda v: _is_share(v) or _by_column(v, _is_share),
        "a probability, or one for each column, such as { postcode = 0.2 }",
    ),
    "coverage": (lambda v: _is_share(v) and v > 0, "above 0 and at most 1"),
    "not_values": (is_count, "a whole number of values"),
    "acquaintances": (
        lambda v: is_number(v, 0) and (v < 1 or float(v).is_integer()),
        "a number of people, or a share of them below 1",
    ),
    "own_value": (lambda v: isinstance(v, bool), "true or false"),
    "seed": (is_count, "a whole number of at least 0"),
    "sample": (_is_share, "a share from 0 to 1"),
    "earlier": (_are_names, "a list of releases of the run, or files"),
}


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(([", ".join(names[:-1])] if names[:-1] else []) + list(names[-1:]))


PROSECUTOR = Adversary()
JOURNALIST = Adversary(Stance.JOURNALIST, "journalist")
MARKETER = Adversary(Stance.MARKETER, "marketer")
