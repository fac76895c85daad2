"""Background knowledge: what an adversary knows about some people before looking at the release.

The threat model as an object. `Knowledge` is about a set of targets; it says itself in one sentence. A granted class
(the link model `class`) is part of the knowledge: the audit puts it there, attacks never see where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A population register: the quasi-identifiers of everybody (coded), or of the share `coverage` of them, and how many
    people are in it."""

    codes: Mapping[str, Codes]
    people: int
    coverage: float = 1.0


@dataclass(frozen=True, slots=True)
class Error:
    """How a known value may be wrong: a number (or the step of an ordinal) is off by up to `spread`, evenly; with
    probability `stale` it is outdated and says nothing more than the values of people at large."""

    spread: float = 0.0
    stale: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Acquaintances:
    """People in the release of whom the adversary knows the sensitive value too: `codes` (people × `columns`) and
    `values` by sensitive column. None of them is a target."""

    columns: tuple[str, ...]
    codes: Codes
    values: Mapping[str, Codes]

    @property
    def people(self) -> int:
        """How many they are."""
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """How the release was made, as far as the adversary knows: the algorithm's name, its parameters where they are known,
    and a way to run it, where it is one of ours."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    run: Callable[[Table, np.random.Generator], Release] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is known of each target: `codes` (targets × `columns`; -1 where a value is not known), and beside them

    - `granted`: the bucket each target is known to be in, or None;
    - `register`: the population, or None;
    - `priors`: for each sensitive column the share of each value among people at large;
    - `membership`: the prior probability that a target is in the release; None where it is known to be in;
    - `anybody`: whether any one person will do (the journalist), rather than each of the targets;
    - `errors`: by known column, how its values may be wrong;
    - `not_values`: by sensitive column, which values each target is known not to have (targets × codes);
    - `acquaintances`: people in the release whose sensitive values are known;
    - `auxiliary`: a sample of the population with all columns, none of whom is in the release;
    - `mechanism`: how the release was made;
    - `earlier`: other releases about the same people.
    """

    columns: tuple[str, ...]
    codes: Codes
    granted: Codes | None = None
    register: Register | None = None
    priors: Mapping[str, Floats] = field(default_factory=dict)
    membership: float | None = None
    anybody: bool = False
    errors: Mapping[str, Error] = field(default_factory=dict)
    not_values: Mapping[str, Bools] = field(default_factory=dict)
    acquaintances: Acquaintances | None = None
    auxiliary: Table | None = None
    mechanism: Mechanism | None = None
    earlier: tuple[Release, ...] = ()

    @property
    def targets(self) -> int:
        """The number of people it is about."""
        return len(self.codes)

    def take(self, targets: Ints) -> Knowledge:
        """The knowledge about some of the targets."""
        granted = None if self.granted is None else self.granted[targets]
        excluded = {column: matrix[targets] for column, matrix in self.not_values.items()}
        return replace(self, codes=self.codes[targets], granted=granted, not_values=excluded)
