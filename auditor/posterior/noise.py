"""Noise: what is known may be wrong, old or missing, so compatibility becomes a likelihood.

If a value x is known as v, then v is one of the values of the domain within `spread` of x, all equally likely (for an ordinal
the spread is in steps). Or, with probability p, v is stale: the value of somebody at large. Columns are wrong independently
of each other. The weight of a fragment is then the probability h that the true values lie in its labels. If nothing can be
wrong this is 1 or 0, as without noise. What is not known (code -1) fits everything.

- Under `likelihood` h is Bayes' rule with the population's shares q: over all x in the label, q(x) · P(known v | x), divided
  by the same over all x. A list of the population gives the joint shares over columns (`population.py`). Fragments weigh
  h/q(labels).
- The other link models know nothing of shares: h is the product over columns of (1-p) · (share of the values within reach
  that the label covers) + p · q(label), where a value that is not known counts 1. `tightest` treats nothing as stale, since
  a class that may be anybody's is not one to look for: it wants the class that covers what is known, give or take the spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.knowledge import Error
from auditor.model.labels.labels import Labels
from auditor.model.schema import Type

_NOTHING = 1e-13
"""A share below this is rounding noise."""


class Reading(Enum):
    """How a link model reads values that may be wrong."""

    BAYES = auto()
    PLAIN = auto()
    CURRENT = auto()


def reach(domain: Domain, spread: float) -> tuple[Ints, Ints]:
    """For each code the first and the last code of the values at most `spread` away: in numbers, or in steps of an ordinal.
    A missing value, and a value without an order, reaches only itself."""
    codes = np.arange(domain.size, dtype=np.int64)
    first, last = codes.copy(), codes.copy()
    if domain.numbers is not None:
        numbers = domain.numbers
        slack = spread + 1e-9 * max(abs(spread), 1.0)  # 0.3 - 0.1 is not 0.2
        first[: len(numbers)] = np.searchsorted(numbers, numbers - slack, side="left")
        last[: len(numbers)] = np.searchsorted(numbers, numbers + slack, side="right") - 1
    elif domain.column.type is Type.ORDINAL:
        steps, known = int(spread), domain.known
        first[:known] = np.maximum(codes[:known] - steps, 0)
        last[:known] = np.minimum(codes[:known] + steps, known - 1)
    return first, last


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """How the known values of one column may be wrong: a known v is truly one of the codes `first[v]` to `last[v]`, or, with
    probability `stale`, anything."""

    first: Ints
    last: Ints
    stale: float = 0.0

    @classmethod
    def of(cls, domain: Domain, error: Error) -> Doubt:
        """The doubt that an error creates."""
        return cls(*reach(domain, error.spread), error.stale)

    def overlap(self, labels: Labels, label: NDArray[np.integer], code: NDArray[np.integer]) -> Floats:
        """For pairs of a label and a code: the share of the values within reach of the code that the label covers."""
        low, high = self.first[code], self.last[code]
        inside = np.maximum(np.minimum(labels.hi[label], high) - np.maximum(labels.lo[label], low) + 1, 0)
        for gapped, codes in labels.gaps.items():
            here = np.flatnonzero(label == gapped)
            inside[here] = np.searchsorted(codes, high[here], side="right") - np.searchsorted(codes, low[here])
        return np.asarray(inside / (high - low + 1))

    def known_as(self, true: NDArray[np.integer], code: NDArray[np.integer], shares: Floats) -> Floats:
        """P(known as `code` | truly `true`), for pairs of them; `shares` are those of the values among people at large."""
        low, high = self.first[true], self.last[true]
        near = (low <= code) & (code <= high)
        return np.asarray((1 - self.stale) * near / (high - low + 1) + self.stale * shares[code])

    def believed(
        self, labels: Labels, shares: Floats, label: NDArray[np.integer], code: NDArray[np.integer]
    ) -> tuple[Floats, Floats]:
        """For pairs of a label and a known code: the probability that the true value is in the label, and the probability
        that the code is known about somebody at large, given the shares of the values. If that is 0, the values within reach
        count as equally likely."""
        each = shares / (self.last - self.first + 1)
        low, high = self.first[code], self.last[code]
        running = np.concatenate([[0.0], np.cumsum(each)])
        lo, hi = np.maximum(labels.lo[label], low), np.minimum(labels.hi[label], high)
        inside = np.where(lo <= hi, running[np.maximum(hi, 0) + 1] - running[lo], 0.0)
        for gapped, codes in labels.gaps.items():
            here = np.flatnonzero(label == gapped)
            steps = np.concatenate([[0.0], np.cumsum(each[codes])])
            begin, end = np.searchsorted(codes, low[here]), np.searchsorted(codes, high[here], side="right")
            inside[here] = steps[end] - steps[begin]
        covered = labels.mass(shares)[label]
        joint = (1 - self.stale) * np.maximum(inside, 0.0) + self.stale * shares[code] * covered
        whole = (1 - self.stale) * (running[high + 1] - running[low]) + self.stale * shares[code]
        seen = whole > _NOTHING
        alike = (1 - self.stale) * self.overlap(labels, label, code) + self.stale * covered
        return np.divide(joint, whole, out=alike, where=seen), np.where(seen, whole, 0.0)

    def possible(self, labels: Labels, code: int) -> Bools:
        """The labels that may hold a person about whom this code is known."""
        if self.stale > 0:
            return labels.counts > 0
        every = np.arange(len(labels.texts))
        return self.overlap(labels, every, np.full(len(every), code)) > 0


def doubts(domains: Mapping[str, Domain], errors: Mapping[str, Error]) -> dict[str, Doubt]:
    """The doubts about the columns whose known values may be wrong."""
    return {c: Doubt.of(domains[c], e) for c, e in errors.items() if c in domains and (e.spread > 0 or e.stale > 0)}


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """What may be wrong with what is known in one block: the doubt about each column, None if its values are right; and
    `known`, the codes of each way to match (ways × columns)."""

    columns: tuple[str, ...]
    labels: tuple[Labels, ...]
    doubts: tuple[Doubt | None, ...]
    known: Codes

    def take(self, places: Sequence[int]) -> Noise:
        """The same about some of the columns."""
        columns, labels = tuple(self.columns[i] for i in places), tuple(self.labels[i] for i in places)
        return Noise(columns, labels, tuple(self.doubts[i] for i in places), self.known[:, list(places)])

    def likelihood(
        self, way: Ints, patterns: Codes, pattern: Ints, reading: Reading, shares: Sequence[Floats]
    ) -> Floats:
        """The likelihood of each compatible (way, pattern) pair, without a population: `patterns` holds the label numbers of
        each pattern, `shares[i]` the share of people whom each label of column i covers."""
        out = np.ones(len(way))
        for place, (labels, doubt) in enumerate(zip(self.labels, self.doubts, strict=True)):
            if doubt is not None:
                label, code = patterns[:, place][pattern], self.known[:, place][way]
                each = doubt.overlap(labels, label, np.maximum(code, 0))
                if doubt.stale > 0 and reading is not Reading.CURRENT:
                    each = (1 - doubt.stale) * each + doubt.stale * shares[place][label]
                out *= np.where(code < 0, 1.0, each)
        return out

    def believed(
        self, way: Ints, patterns: Codes, pattern: Ints, shares: Mapping[str, Floats]
    ) -> tuple[Floats, Floats]:
        """For each (way, pattern) pair the probability that the true values lie in the labels, and the probability of what
        is known, if columns are independent with the given shares of their values."""
        inside, seen = np.ones(len(way)), np.ones(len(way))
        for place, (column, labels) in enumerate(zip(self.columns, self.labels, strict=True)):
            doubt = self.doubts[place] or Doubt.of(labels.domain, Error())
            label, code = patterns[:, place][pattern], self.known[:, place][way]
            here, known = doubt.believed(labels, shares[column], label, np.maximum(code, 0))
            unknown = code < 0
            inside *= np.where(unknown, labels.mass(shares[column])[label], here)
            seen *= np.where(unknown, 1.0, known)
        return inside, seen
