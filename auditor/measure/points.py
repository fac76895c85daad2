"""People and published rows as points of one space, for whatever asks how near they are.

Columns of numbers and ordinals have an axis each; of other columns only equal and different are known. `Points` hold both
parts as they are. Two spaces are made of them:

- `Encoding` is Euclidean. Numbers are divided by their standard deviation in a *reference* sample, and two different values
  of any other column are as far apart as two numbers one standard deviation apart. A missing number stands at the mean, that
  far from all others. The reference is people whose membership nobody asks about. Scales learned from members would tell
  who they are.
- `gower` is the mean over columns of differences over the range (numbers) or of 0 and 1 (other values, and a number that one
  of the two lacks), as SDMetrics and Anonymeter measure. The ranges come from the table that is given for them.

Paper: J. C. Gower, "A General Coefficient of Similarity and Some of Its Properties", Biometrics 1971.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, takewhile

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.release import DERIVED, Release
from auditor.model.schema import Role, Type

_PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.NEUTRAL)
_PAIRS = 8_000_000
"""How many pairs of points are worked on at a time."""
_MOST_VALUES = 64
"""A column with more values than this is compared value by value: an axis for each would take too much room."""
_CONSTANT = 1e-12
"""A standard deviation below this share of the numbers themselves is rounding."""


def columns_of_values(release: Release) -> tuple[str, ...]:
    """The published columns that are about people."""
    roles = {name: column.role for name, column in release.schema.columns.items()}
    return tuple(c for c in release.columns if c not in DERIVED and roles[c] in _PUBLISHED)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Rows as numbers (rows × columns; NaN: missing) and as other values (rows × columns; -1: not known)."""

    numbers: Floats
    values: Codes

    @property
    def rows(self) -> int:
        """How many they are."""
        return len(self.numbers)

    def take(self, which: Ints | Bools | slice) -> Points:
        """Some of them."""
        return Points(self.numbers[which], self.values[which])


def published_points(release: Release, columns: Sequence[str]) -> Points:
    """The rows of a release of one block. A label that covers several values stands at its middle."""
    block = release.blocks[0]
    parts = [(release.labels[c], block.cell(c)) for c in columns]
    return _points([(labels.domain, *_of_labels(labels), cell) for labels, cell in parts], block.cells.shape[0])


def known_points(release: Release, columns: Sequence[str], codes: Codes) -> Points:
    """People of whom these columns are known (people × columns; -1: not known), coded as the release is."""
    parts = []
    for place, column in enumerate(columns):
        domain = release.labels[column].domain
        parts.append((domain, *_of_codes(domain), codes[:, place]))
    return _points(parts, len(codes))


def _points(parts: Sequence[tuple[Domain, Floats, Ints, Codes]], rows: int) -> Points:
    """Columns by the place on a line and the value that each of their labels or codes has; the last stands for -1."""
    numbers = [place[cell] for domain, place, _, cell in parts if _on_a_line(domain)]
    values = [value[cell] for domain, _, value, cell in parts if not _on_a_line(domain)]
    return Points(
        np.column_stack([np.empty((rows, 0)), *numbers]),
        np.column_stack([np.empty((rows, 0), dtype=np.int32), *values]).astype(np.int32),
    )


def _on_a_line(domain: Domain) -> bool:
    return domain.numbers is not None or domain.column.type is Type.ORDINAL


def _of_codes(domain: Domain) -> tuple[Floats, Ints]:
    """For each code its place on the line (NaN: none), and its value; at the end those of what is not known."""
    place = np.full(domain.size + 1, np.nan)
    place[: domain.known] = np.arange(domain.known) if domain.numbers is None else domain.numbers[: domain.known]
    return place, np.append(np.arange(domain.size), -1)


def _of_labels(labels: Labels) -> tuple[Floats, Ints]:
    """The same for each label: a number by what is published, other labels by the codes that they cover; a label that covers
    several values is one of its own."""
    place, _ = _of_codes(labels.domain)
    covers = labels.counts > 0
    lo, hi = np.where(covers, labels.lo, 0), np.where(covers, labels.hi, 0)
    middle = np.where(covers, (place[lo] + place[hi]) / 2, np.nan)
    exact = (labels.low + labels.high) / 2
    middle = np.where(~np.isnan(exact) & np.isfinite(exact), exact, middle)
    own = labels.domain.size + np.arange(len(labels.texts))
    value = np.where(labels.counts == 1, lo, own)
    return np.append(middle, np.nan), np.append(value, -1)


# ----- the Euclidean space ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Points of the Euclidean space: coordinates, and the values of columns that have too many for axes of their own."""

    at: Floats
    values: Codes

    @property
    def rows(self) -> int:
        """How many they are."""
        return len(self.at)

    def take(self, which: Ints | Bools | slice) -> Axes:
        """Some of them."""
        return Axes(self.at[which], self.values[which])


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """The Euclidean space of a reference sample."""

    mean: Floats
    scale: Floats
    absent: Ints  # the columns of numbers in which some are missing
    listed: tuple[Codes, ...]  # the values of the columns that have an axis for each
    narrow: Bools  # which columns these are
    columns: int

    @classmethod
    def of(cls, reference: Points, release: Points, raw: bool = False) -> Encoding:
        """The space by a reference sample; `release` says which other values there are, and the scale of a column in
        which the reference has one number only. `raw` leaves numbers as they are."""
        numbers = reference.numbers
        there = ~np.isnan(numbers)
        (mean, spread), (_, published) = _moments(numbers), _moments(release.numbers)
        scale = np.where(spread > 0, spread, np.where(published > 0, published, 1.0))
        if raw:
            mean, scale = np.zeros_like(mean), np.ones_like(scale)
        absent = np.flatnonzero((~there).any(axis=0) | np.isnan(release.numbers).any(axis=0))
        found = [np.union1d(a, b) for a, b in zip(reference.values.T, release.values.T, strict=True)]
        narrow = np.array([len(values) <= _MOST_VALUES for values in found], dtype=np.bool_)
        listed = tuple(v for v, few in zip(found, narrow, strict=True) if few)
        return cls(mean, scale, absent, listed, narrow, numbers.shape[1] + len(found))

    def axes(self, points: Points) -> Axes:
        """Points of the space."""
        missing = np.isnan(points.numbers)
        at = [np.where(missing, 0.0, (points.numbers - self.mean) / self.scale)]
        at += [missing[:, [column]].astype(np.float64) for column in self.absent]
        for values, own in zip(self.listed, points.values[:, self.narrow].T, strict=True):
            at.append((own[:, None] == values) * np.sqrt(0.5))  # two different values are one apart
        return Axes(np.concatenate(at, axis=1), points.values[:, ~self.narrow])


def _moments(numbers: Floats) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of each column; 0 for one that is constant but for rounding."""
    there = ~np.isnan(numbers)
    held = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, numbers, 0.0).sum(axis=0) / held
    spread = np.sqrt((np.where(there, numbers - mean, 0.0) ** 2).sum(axis=0) / held)
    return mean, np.where(spread > _CONSTANT * np.maximum(np.abs(mean), _CONSTANT), spread, 0.0)


def blocks(rows: int, others: int) -> Iterator[slice]:
    """Slices of so many rows that their pairs with the others can be worked on at a time."""
    step = max(_PAIRS // max(others, 1), 1)
    return (slice(begin, begin + step) for begin in takewhile(lambda begin: begin < rows, count(0, step)))


def squares(some: Axes, others: Axes) -> Floats:
    """The squared distances of some points from others, by a product of matrices: near 0 they are inexact."""
    out = some.at @ others.at.T
    out *= -2.0
    out += (some.at**2).sum(axis=1)[:, None]
    out += (others.at**2).sum(axis=1)
    for mine, theirs in zip(some.values.T, others.values.T, strict=True):
        out += mine[:, None] != theirs
    return np.maximum(out, 0.0, out=out)


def exact_squares(some: Axes, others: Axes, nearest: Ints) -> Floats:
    """The squared distances of points from some of the others (points × places), exactly."""
    out = np.zeros(nearest.shape)
    for place in range(nearest.shape[1]):
        beside = others.take(nearest[:, place])
        out[:, place] = ((some.at - beside.at) ** 2).sum(axis=1) + (some.values != beside.values).sum(axis=1)
    return out


# ----- Gower's distances --------------------------------------------------------------------------------------------------


def ranges(points: Points) -> Floats:
    """The range of each column of numbers; 1 where there is none."""
    if not points.rows:
        return np.ones(points.numbers.shape[1])
    low, high = (np.nan_to_num(edge(points.numbers, axis=0, initial=start, where=~np.isnan(points.numbers)))
                 for edge, start in ((np.min, np.inf), (np.max, -np.inf)))  # fmt: skip
    return np.where(high > low, high - low, 1.0)


def gower(some: Points, others: Points, scale: Floats) -> Floats:
    """Gower's distances of some points from others, summed over the columns (a mean where divided by their number)."""
    out = np.zeros((some.rows, others.rows))
    for column, width in enumerate(scale):
        mine, theirs = some.numbers[:, column][:, None], others.numbers[:, column]
        apart = np.abs(mine - theirs) / width
        out += np.where(np.isnan(apart), np.isnan(mine) != np.isnan(theirs), apart)
    for mine, theirs in zip(some.values.T, others.values.T, strict=True):
        out += mine[:, None] != theirs
    return out
