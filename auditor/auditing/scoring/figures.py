"""Figures and the truth that they are measured against: what scoring works with.

The truth is in this module's hands, scoring's and the audit's only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from auditor.measure.calibration import calibration
from auditor.measure.intervals import mean_of, wilson
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.record.meaning import Kind
from auditor.model.table import Table

RATE, COUNT, EXTREME, FACT = Kind.RATE, Kind.COUNT, Kind.EXTREME, Kind.FACT


class Control(StrEnum):
    """Who, or what, a control is made of."""

    OUTSIDERS = "outsiders"
    """People who are not in the release."""
    LEAVE_ONE_OUT = "leave_one_out"
    """The targets, each with their own record taken out."""
    OTHER_CLASSES = "other_classes"
    """The targets, each with their whole class taken out."""
    RANDOM_RECORD = "random_record"
    """A record drawn at random from all that might be the person's."""
    CHANCE = "chance"
    """What predicates of the same weight isolate among as many fresh people: n·w·(1-w)^(n-1)."""
    FAKES = "fakes"
    """Made-up people."""


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Everybody in the data, or people who stand in for them: their values, row numbers and fragments (-1: not in the
    release), and how many people the data have. `person` says whose each row is, where several may be one person's."""

    table: Table
    rows: Ints
    fragment: Ints
    size: int
    person: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The truth about targets: their row numbers (from 0), bucket and fragments (-1: not in the release), and the code of
    their value in the sensitive column in question (-1: not known). `reveal` allows claimed values into details; `table` are
    the people themselves, in the order of `rows`, `crowd` those among whom they are, `data` those from whom a synthetic
    release was made. `person` and `household` are numbers,
    where several targets may be one person's, and where households are known. `shown` says of whom the release shows a value
    that people can have: noise and averages are none, and whoever hits the truth by the nearest value was lucky."""

    rows: Ints
    bucket: Ints
    fragment: Ints
    codes: Ints | None = None
    domain: Domain | None = None
    reveal: bool = False
    table: Table | None = None
    crowd: Crowd | None = None
    person: Ints | None = None
    household: Ints | None = None
    shown: Bools | None = None
    data: Crowd | None = None

    def take(self, which: Bools) -> Truth:
        """The truth about some of the targets."""
        codes = None if self.codes is None else self.codes[which]
        table = None if self.table is None else self.table.take(np.flatnonzero(which))
        rows, bucket, fragment = self.rows[which], self.bucket[which], self.fragment[which]
        person, household = (None if one is None else one[which] for one in (self.person, self.household))
        shown = None if self.shown is None else self.shown[which]
        return replace(
            self,
            rows=rows,
            bucket=bucket,
            fragment=fragment,
            codes=codes,
            table=table,
            person=person,
            household=household,
            shown=shown,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """One measured figure, and once it has been set beside them its companions."""

    measure: str
    kind: Kind
    value: float | None
    n: int
    expected: float | None = None
    each: Floats | None = None  # its part for every target
    params: Mapping[str, Any] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    hit: Floats | None = None  # how badly each target is hit, to name the worst; None where all are hit alike
    rows: Ints | None = None  # whose `hit` is, where it is not that of all targets
    limits: tuple[float, float] | None = None  # its own interval, where it brings one along
    doubt: str | None = None  # why it did not converge
    baseline: float | None = None
    control: float | None = None
    control_kind: str | None = None
    at_large: Floats | None = None  # by target, how likely the same claim is of anybody: a baseline of its own
    chance: Floats | None = None  # by claim, how likely it is right of fresh people: a control of its own
    believed: Floats | None = None  # what was expected of every target
    targets: Floats | None = None  # `hit` of single targets, where the figure is over people with several of them

    @property
    def unexpected(self) -> Figure:
        """The same without what the adversary expected of it."""
        detail = {key: value for key, value in self.detail.items() if key != "calibration"}
        return replace(self, expected=None, believed=None, detail=detail)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a rate, or the one an estimate brings along."""
        if self.limits is not None:
            return self.limits
        if self.kind != RATE or self.value is None or self.n == 0:
            return None
        each = self.each
        own = each is not None and len(each) == self.n and abs(float(each.mean()) - self.value) < _SAME
        low, high = mean_of(each) if own and each is not None else wilson(self.value * self.n, self.n)
        return float(low), float(high)


_SAME = 1e-9  # a figure this close to the mean of its parts is that mean
FEW_CLAIMS = 30  # of fewer claims nobody can say whether they are calibrated


def rate(measure: str, each: Floats, expected: Floats | None = None, **more: Any) -> Figure:
    """A mean over targets, beside what was expected of it."""
    mean = float(each.mean()) if len(each) else None
    believed = float(expected.mean()) if expected is not None and len(expected) else None
    hit = each if expected is None else each * expected
    if expected is not None and len(each) >= FEW_CLAIMS:
        more["detail"] = {**more.get("detail", {}), "calibration": calibration(expected, each)}
    return Figure(measure, RATE, mean, len(each), believed, each, hit=hit, believed=expected, **more)


def count(
    measure: str, each: Floats, degree: Floats | None = None, expected: float | None = None, **more: Any
) -> Figure:
    """A count; `degree` is the figure that decided who counts."""
    hit = None if degree is None else each * degree
    return Figure(measure, COUNT, float(each.sum()), len(each), expected, each, hit=hit, **more)


def joined(parts: Sequence[Figure]) -> Figure:
    """One figure of several groups of people."""
    first = parts[0]
    if first.kind is FACT or len(parts) == 1:
        return first
    n = sum(part.n for part in parts)
    each, rows, believed = (
        None if any(one is None for one in some) else np.concatenate([one for one in some if one is not None])
        for some in zip(*((part.each, part.rows, part.believed) for part in parts), strict=True)
    )
    values = [(part.value, part.n) for part in parts if part.value is not None]
    value: float | None = None
    if values and first.kind is RATE:
        value = sum(one * people for one, people in values) / max(sum(people for _, people in values), 1)
    elif values:
        value = max(one for one, _ in values) if first.kind is EXTREME else sum(one for one, _ in values)
    return Figure(first.measure, first.kind, value, n, each=each, params=first.params, rows=rows, believed=believed)
