"""What a choice of levels costs (`lattice.py`): how much is lost by generalising and by suppressing.

- `loss`: by column the mean over people of the share of the domain that their label covers, scaled to 0 for exact
  values and 1 for everything (Iyengar 2002, as ARX counts it). A suppressed person has lost everything. `factor` says
  which of the two weighs more: at 0 suppressing is free, at 1 generalising is. Columns are weighed and joined by an
  `aggregate`: the geometric mean of 1 + loss, less 1; the mean, the sum, the greatest; or by rank, where the greatest
  decides, then the second, ….
- `granularity`: the mean loss over columns and people, both weighing the same.
- `entropy`: the bits that are lost by not knowing the value below a label, over all cells (Gionis and Tassa 2009). With
  suppression, the bits of not knowing the label are added for those suppressed.
- `discernibility`: the sum over people of the size of their class; for suppressed people the size of the table (Bayardo
  and Agrawal 2005).
- `precision`: the mean over cells of the level over the highest level, 1 for suppressed cells (Sweeney 2002).
- `class-size`: the people for each class, those suppressed being one more class.

With `monotone`, entropy does not count suppression, and discernibility counts those suppressed with the size of their
class: what ARX calls the monotonic variants. Costs are rounded to 12 digits, so that sums in another order are the same
cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anonymizers.shared.lattice import Classes, Cost, Costing, Node
from anonymizers.shared.levels import Levels
from auditor.model.arrays import Bools, Codes, Floats


class Measure(StrEnum):
    """What is to be least."""

    LOSS = "loss"
    GRANULARITY = "granularity"
    ENTROPY = "entropy"
    DISCERNIBILITY = "discernibility"
    PRECISION = "precision"
    CLASS_SIZE = "class-size"


class Aggregate(StrEnum):
    """How the losses of columns are joined."""

    GEOMETRIC = "geometric"
    MEAN = "mean"
    SUM = "sum"
    GREATEST = "greatest"
    RANK = "rank"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen to be least, and how it is counted. `weights` has one for each column."""

    measure: Measure
    aggregate: Aggregate
    factor: float
    monotone: bool
    weights: tuple[float, ...]


def costing(chosen: Chosen, levels: Sequence[Levels], codes: Sequence[Codes]) -> Costing:
    """The costs of nodes over columns with these levels and values."""
    match chosen.measure:
        case Measure.LOSS:
            return Loss(levels, codes, chosen.aggregate, chosen.factor, chosen.weights)
        case Measure.GRANULARITY:
            return Loss(levels, codes, Aggregate.MEAN, 0.5, chosen.weights)
        case Measure.ENTROPY:
            return Entropy(levels, codes, chosen.monotone, chosen.weights)
        case Measure.DISCERNIBILITY:
            return Discernibility(chosen.monotone)
        case Measure.PRECISION:
            return Precision(levels, chosen.weights)
        case Measure.CLASS_SIZE:
            return ClassSize()


def rounded(cost: Sequence[float]) -> Cost:
    """A cost without the last digits of its sums."""
    return tuple(float(f"{one:.12e}") for one in cost)


class Loss(Costing):
    """The share of the domain that labels cover."""

    def __init__(
        self,
        levels: Sequence[Levels],
        codes: Sequence[Codes],
        aggregate: Aggregate,
        factor: float,
        weights: Sequence[float],
    ) -> None:
        self.levels, self.aggregate, self.weights = levels, aggregate, weights
        self.generalised = 1.0 if factor <= 0.5 else 2 - 2 * factor
        self.suppressed = 1.0 if factor >= 0.5 else 2 * factor
        self.rows = len(codes[0])
        self.least = [self.generalised / one.domain.size for one in levels]
        self.means = []
        for one, code in zip(levels, codes, strict=True):
            times = np.bincount(code, minlength=one.domain.size)
            self.means.append(
                [
                    self.generalised * float(times @ share[group]) / self.rows
                    for share, group in zip(one.shares, one.groups, strict=True)
                ]
            )

    def floor(self, node: Node, classes: Classes | None) -> Cost:
        return self._joined([means[at] for means, at in zip(self.means, node, strict=True)])

    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        lost = []
        gone = np.flatnonzero(~kept)
        people = classes.sizes[gone].astype(np.float64)
        for place, (one, at, means) in enumerate(zip(self.levels, node, self.means, strict=True)):
            share = one.shares[at][classes.group(place, gone)]
            instead = np.ones(len(share)) if self.suppressed == 1 else share + self.suppressed * (1 - share)
            lost.append(means[at] + float(people @ (instead - self.generalised * share)) / self.rows)
        return self._joined(lost)

    def _joined(self, lost: Sequence[float]) -> Cost:
        scaled = [
            weight * max((one - least) / (1 - least), 0.0) if least < 1 else 0.0
            for one, least, weight in zip(lost, self.least, self.weights, strict=True)
        ]
        match self.aggregate:
            case Aggregate.GEOMETRIC:
                return rounded([float(np.expm1(np.log1p(scaled).mean()))])
            case Aggregate.MEAN:
                return rounded([float(np.mean(scaled))])
            case Aggregate.SUM:
                return rounded([float(np.sum(scaled))])
            case Aggregate.GREATEST:
                return rounded([max(scaled)])
            case Aggregate.RANK:
                return tuple(sorted(rounded(scaled), reverse=True))


class Entropy(Costing):
    """The bits that are lost."""

    def __init__(
        self, levels: Sequence[Levels], codes: Sequence[Codes], monotone: bool, weights: Sequence[float]
    ) -> None:
        self.monotone, self.weights = monotone, weights
        self.bits: list[list[float]] = []
        for one, code in zip(levels, codes, strict=True):
            times = np.bincount(code, minlength=one.domain.size).astype(np.float64)
            exact = _bits(times)
            self.bits.append(
                [_bits(np.bincount(group, weights=times).astype(np.float64)) - exact for group in one.groups]
            )

    def floor(self, node: Node, classes: Classes | None) -> Cost:
        return rounded([self._below(node)])

    def _below(self, node: Node) -> float:
        parts = [weight * bits[at] for weight, bits, at in zip(self.weights, self.bits, node, strict=True)]
        return float(np.sum(parts))

    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        total = self._below(node)
        if not self.monotone:
            gone = np.flatnonzero(~kept)
            people = classes.sizes[gone].astype(np.float64)
            every = _bits(np.array([people.sum()]))
            for place, weight in enumerate(self.weights):
                total += weight * (
                    every - _bits(np.bincount(classes.group(place, gone), weights=people).astype(np.float64))
                )
        return rounded([total])


def _bits(times: Floats) -> float:
    """Σ n log2 n: the bits of choosing one of n, for each."""
    there = times[times > 0]
    return float(there @ np.log2(there))


class Discernibility(Costing):
    """How many people somebody is alike, over all."""

    def __init__(self, monotone: bool) -> None:
        self.monotone = monotone

    def floor(self, node: Node, classes: Classes | None) -> Cost:
        return (0.0,) if classes is None else (float((classes.sizes.astype(np.float64) ** 2).sum()),)

    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        sizes = classes.sizes.astype(np.float64)
        alike = sizes if self.monotone else np.where(kept, sizes, sizes.sum())
        return (float(sizes @ alike),)


class Precision(Costing):
    """The level over the highest level."""

    def __init__(self, levels: Sequence[Levels], weights: Sequence[float]) -> None:
        self.tops, self.weights = [max(one.top, 1) for one in levels], weights

    def _share(self, node: Node) -> float:
        parts = [weight * at / top for at, top, weight in zip(node, self.tops, self.weights, strict=True)]
        return float(np.mean(parts))

    def floor(self, node: Node, classes: Classes | None) -> Cost:
        return rounded([self._share(node)])

    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        gone = float(classes.sizes[~kept].sum() / max(int(classes.sizes.sum()), 1))
        return rounded([(1 - gone) * self._share(node) + gone * float(np.mean(self.weights))])


class ClassSize(Costing):
    """People for each class."""

    def floor(self, node: Node, classes: Classes | None) -> Cost:
        return (0.0,) if classes is None else self.of(node, classes, np.ones(len(classes.sizes), dtype=np.bool_))

    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        there = classes.sizes > 0
        number = int((there & kept).sum()) + int((there & ~kept).any())
        return rounded([int(classes.sizes.sum()) / max(number, 1)])
