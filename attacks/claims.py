"""Claims: what attacks say about each target, in a few forms that scoring knows how to judge.

An attack picks the form that fits what it claims; adding an attack needs no scoring of its own unless it claims something
of a new form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.posterior.beliefs import Beliefs, ValueBeliefs

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordClaims:
    """This person is this record. `per_class` is the mean chance over the register's people in the release's classes, where
    there is a register and one record is sought for anybody (the journalist)."""

    beliefs: Beliefs
    threshold: float
    per_class: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ValueClaims:
    """This person has exactly this value: the likeliest of `values`."""

    values: ValueBeliefs
    tau: float


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
    row: NDArray[np.int64]
    mass: Floats
    m: float | None


@dataclass(frozen=True, slots=True, eq=False)
class UnrelatedClaims:
    """This person is believed to have something unrelated: values fall into `groups` (by code), and those of another
    group than the truth's are unrelated to it."""

    values: ValueBeliefs
    groups: NDArray[np.int64]
    tau: float
    level: int
    reading: str


@dataclass(frozen=True, slots=True, eq=False)
class MemberClaims:
    """This person is in the data: scores by name, higher for likelier members. `posterior` is a probability; `doubt` says
    why its estimate did not converge, where it did not."""

    scores: Mapping[str, Floats]
    population: str
    prior: float
    doubt: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SeveralClaims:
    """Claims that can be read in several ways, each scored by itself."""

    parts: tuple[UnrelatedClaims, ...]


Claims = RecordClaims | ValueClaims | WindowClaims | SeveralClaims | MemberClaims
