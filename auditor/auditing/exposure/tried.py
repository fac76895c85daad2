"""A figure that was tried: one attack by somebody who knows a set of attributes, and what it is held against.

It is kept as a rate and the number of trials that it is worth, so that its interval can be taken at any confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auditor.measure.intervals import CONFIDENCE, Estimate, Interval, correlation, excess, trials_of, wilson
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Kind
from auditor.posterior.links import Link

LINKING, HOMOGENEITY, PROXIMITY, MEMBERSHIP = "linking", "homogeneity", "proximity", "membership"
SUCCESS, AREA = "success", "auc"
MEASURES = (SUCCESS, AREA, "mean", "max", "certain")
"""The measures of which a search knows every set's figure."""
Each = tuple[Floats, Ints]
"""A figure of each of some people, and who they are."""


@dataclass(frozen=True, slots=True)
class Companion:
    """What a figure is held against; `trials` is None where it is no estimate."""

    name: str
    value: float
    trials: float | None = None
    together: float = 0.0
    """The correlation of the two, where they are of the same people."""

    def interval(self, confidence: float) -> Interval:
        """Where it may lie."""
        if self.trials is None:
            return Interval(self.value, self.value)
        return wilson(self.value * self.trials, self.trials, confidence)


@dataclass(frozen=True, slots=True)
class Tried:
    """One figure of one attack by somebody who knows a set of attributes."""

    columns: tuple[str, ...]
    attack: str
    link: str | None
    measure: str
    kind: Kind
    value: float
    n: int
    trials: float
    """As many rights and wrongs as vary as much."""
    beside: tuple[Companion, ...] = ()
    """Baseline and control."""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def same(self) -> tuple[object, ...]:
        """What tells it from others that were tried."""
        return self.columns, self.attack, self.link, self.measure, tuple(sorted(map(str, self.params.items())))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Where the rate may lie; an extreme or a count is what it is."""
        if self.kind is not Kind.RATE:
            return Interval(self.value, self.value)
        return wilson(self.value * self.trials, self.trials, confidence)

    def excess(self, confidence: float = CONFIDENCE) -> Estimate | None:
        """What it has over the higher of its companions; the interval begins where it would over either."""
        found: list[tuple[float, Estimate]] = []
        for other in self.beside:
            limits = self.interval(confidence), other.interval(confidence)
            beyond = excess(self.value, limits[0], other.value, limits[1], other.together)
            if beyond is None:
                return None
            found.append((other.value, beyond))
        if not found:
            return None
        over = max(found, key=lambda pair: pair[0])[1]
        return Estimate(over.value, min(one.low for _, one in found), over.high)

    def companion(self, name: str) -> Companion | None:
        """One of its companions."""
        return next((one for one in self.beside if one.name == name), None)


def rate(
    columns: tuple[str, ...], attack: str, link: Link, measure: str, each: Floats, companions: tuple[Companion, ...]
) -> Tried:
    """A figure of each of some people as their rate."""
    return Tried(columns, attack, link, measure, Kind.RATE, float(each.mean()), len(each), trials_of(each), companions)


def beside(name: str, me: Each, other: Each) -> Companion:
    """A figure of the same people, or of some of them, as a companion."""
    (mine, my), (theirs, their) = me, other
    _, first, second = np.intersect1d(my, their, return_indices=True)
    share = len(first) / math.sqrt(len(mine) * len(theirs))
    together = correlation(mine[first], theirs[second]) * share if len(first) else 0.0
    return Companion(name, float(theirs.mean()), trials_of(theirs), together)
