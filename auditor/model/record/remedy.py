"""Remedies in the record: what drives a failing check of a policy, and changes to the release with what they would do.

Plain values that travel as JSON, like the rest of the record (see `record`). Nothing here shows a value of a person: classes
are told by their figures, people by the row numbers of the steward's own file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DriverColumn:
    """What one quasi-identifier has to do with a failing check: how much detail it keeps in the classes that drive it (1 is
    all), and how many of their people would be clear of the limit if it were one level coarser (`level`: what it would hold
    then; null where it cannot be coarser)."""

    column: str
    granularity: float
    level: str | None = None
    cleared: int | None = None


@dataclass(frozen=True, slots=True)
class Driver:
    """The classes that drive a failing check: those that meet `criterion`, such as `k<5`. `row_numbers` are the rows of the
    worst of their people in the steward's own file, counted from 1."""

    figure: str
    criterion: str
    classes: int
    people: int
    row_numbers: Sequence[int] = ()
    columns: Sequence[DriverColumn] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """A figure of the policy before a remedy and, recomputed on the mended release, after it; null where there is none."""

    figure: str
    before: float | None
    after: float | None
    relation: str
    limit: float
    passes: bool


@dataclass(frozen=True, slots=True)
class Coarsening:
    """A quasi-identifier made coarser by some levels; `level` is what it would hold then."""

    column: str
    levels: int
    level: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change to the release, what it would do to the figures of the policy, and what it would cost.

    `suppress` are criteria for classes whose quasi-identifiers would be withheld: `rows` of them, of which `row_numbers` are
    the first, in the steward's own file. `granularity` is how much detail would be left (before: `granularity_before`).
    `command` carries it out; null where the release is no file.
    """

    coarsen: Sequence[Coarsening] = ()
    suppress: Sequence[str] = ()
    drop: Sequence[str] = ()
    rows: int = 0
    row_numbers: Sequence[int] = ()
    predicted: Sequence[Prediction] = ()
    passes: bool = False
    granularity_before: float | None = None
    granularity: float | None = None
    command: str | None = None
