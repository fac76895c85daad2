"""Differential privacy: the budget, noise of whole numbers, and a private choice.

Two tables are neighbours where one has all rows of the other and one person's more (add or remove). A mechanism is
(ε, δ)-private where P(output in S) ≤ e^ε · P'(output in S) + δ for all sets S of outputs and all neighbours.

The noise is drawn exactly, with whole numbers only: floating-point noise has gaps that give counts away (Mironov 2012).
Discrete Laplace noise has P(x) ∝ exp(-|x|/scale), and a count of sensitivity 1 with it is 1/scale-private. Discrete
Gaussian noise has P(x) ∝ exp(-x²/(2σ²)), and counts that one person changes by L in Euclidean length are L²/(2σ²)-zCDP
with it. A choice has P(option) ∝ exp(ε · score/2) where one person changes each score by at most 1: it is ε-private, and
ε²/8-zCDP. All parts are added up: ε of the parts, or ρ of the parts. ρ-zCDP is (ρ + 2√(ρ ln(1/δ)), δ)-private. Scales are
rounded up, and the ε of a choice is rounded down, to fractions of whole numbers.

What is drawn comes from numpy's PCG64, seeded with the secret of the run: its numbers are not meant to withstand an attack
by cryptanalysis, and nothing here hides how long a run takes.

Papers: C. Dwork, A. Roth, "The Algorithmic Foundations of Differential Privacy", 2014; M. Bun, T. Steinke, "Concentrated
Differential Privacy: Simplifications, Extensions, and Lower Bounds", TCC 2016 (zCDP and its conversion, proposition 1.3);
C. Canonne, G. Kamath, T. Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020 (the samplers,
algorithms 1 to 3, and theorem 14); M. Cesar, R. Rogers, "Bounding, Concentrating, and Truncating", ALT 2021 (ε²/8 of a
choice).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log, sqrt

import numpy as np

from auditor.model.arrays import Bools, Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.values import format_number

PARTS = 1024
"""Scales and rates are multiples of one over this."""
_Some = Callable[[int], tuple[Ints, Bools]]
"""Draws so many, and says which of them count."""
_FAR = 3 * 10**9
"""Beyond this, squares would not fit. With the largest noise it is 30 scales away, and drawn with a probability below
e^-400."""
LARGEST = 10_000
"""The largest standard deviation or scale of noise: beyond it products of whole numbers would not fit, and no count would
mean anything."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent: ε, and δ where a mechanism may use it. Without δ the parts of ε are added up, with it those of ρ."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise UsageError(f"epsilon must be above 0. Got {self.epsilon:g}.")
        if not 0 <= self.delta < 1:
            raise UsageError(f"delta must be at least 0 and below 1. Got {self.delta:g}.")

    @property
    def rho(self) -> float:
        """The ρ whose zCDP is (ε, δ)-private: the solution of ρ + 2√(ρ ln(1/δ)) = ε."""
        return (sqrt(log(1 / self.delta) + self.epsilon) - sqrt(log(1 / self.delta))) ** 2

    def noise(self, share: float, counts: int, most: int = 1) -> Noise:
        """The noise of `counts` histograms that use a share of the budget together. A person has at most `most` rows, and so
        adds at most that much to each of them: `most · counts` in all, and `most · √counts` in length."""
        if self.delta > 0:
            return Noise(variance=most**2 * counts / (2 * share * self.rho))
        return self.laplace(share, counts, most)

    def laplace(self, share: float, counts: int, most: int = 1) -> Noise:
        """The same noise by ε alone, whatever δ is for; its scale is a multiple of 1/1024."""
        return Noise(scale=max(ceil(most * counts / (share * self.epsilon) * PARTS), 1) / PARTS)

    def rate(self, share: float, choices: int, most: int = 1) -> float:
        """The ε of each of some choices that use a share of the budget together, for scores that one row changes by 1."""
        whole = sqrt(8 * share * self.rho / choices) if self.delta > 0 else share * self.epsilon / choices
        return whole / most

    def __str__(self) -> str:
        said = f"epsilon = {format_number(self.epsilon)}"
        return f"{said}, delta = {self.delta:g}".replace("e-0", "e-") if self.delta > 0 else said


@dataclass(frozen=True, slots=True)
class Noise:
    """Discrete noise: Laplace of a scale, or Gaussian of a variance."""

    scale: float | None = None
    variance: float | None = None

    @property
    def deviation(self) -> float:
        """Its standard deviation, nearly."""
        if self.variance is not None:
            return sqrt(self.variance)
        assert self.scale is not None
        return sqrt(2) * self.scale

    def draw(self, size: int, rng: np.random.Generator) -> Ints:
        """Independent draws."""
        if self.deviation > LARGEST:
            raise PromiseError(
                f"The noise would have a standard deviation of {self.deviation:.0f} rows. Raise epsilon, or publish fewer "
                "columns."
            )
        if self.variance is not None:
            return discrete_gaussian(self.variance, size, rng)
        assert self.scale is not None
        return discrete_laplace(self.scale, size, rng)


def discrete_laplace(scale: float, size: int, rng: np.random.Generator) -> Ints:
    """Whole numbers with P(x) ∝ exp(-|x|/scale), for a scale in 1/1024, rounded up."""
    whole = max(ceil(scale * PARTS), 1)
    return _filled(size, lambda count: _laplace(whole, PARTS, count, rng))


def discrete_gaussian(variance: float, size: int, rng: np.random.Generator) -> Ints:
    """Whole numbers with P(x) ∝ exp(-x²/(2·variance)), for a variance in 1/1024, rounded up; a large one in whole numbers."""
    parts = PARTS if variance < PARTS else 1
    top = max(ceil(variance * parts), 1)
    wide = floor(sqrt(top / parts)) + 1

    def some(count: int) -> tuple[Ints, Bools]:
        drawn, fine = _laplace(wide, 1, count, rng)
        far = np.abs(np.abs(drawn) * (wide * parts) - top)  # (|x| - σ²/t)²/(2σ²), over one denominator
        far = np.minimum(far, _FAR)
        return drawn, fine & _falls(far**2, np.full(count, 2 * top * parts * wide**2), rng)

    return _filled(size, some)


def chosen(scores: Sequence[int], rate: float, rng: np.random.Generator) -> int:
    """The number of an option, with P(option) ∝ exp(rate · score/2); scores are whole numbers. Options are proposed evenly
    and taken with the probability exp(-rate · (best - score)/2)."""
    lack = max(scores) - np.array(scores, dtype=np.int64)
    step = floor(rate * PARTS)
    while True:
        option = rng.integers(len(scores), size=64)
        taken = _falls(np.minimum(lack[option] * step, 2 * PARTS * 1000), np.full(64, 2 * PARTS), rng)
        if taken.any():
            return int(option[np.argmax(taken)])


def _laplace(top: int, bottom: int, count: int, rng: np.random.Generator) -> tuple[Ints, Bools]:
    """Discrete Laplace draws of scale top/bottom, and which of them count; a draw that does not was rejected."""
    rest = rng.integers(top, size=count)
    fine = _falls(rest, np.full(count, top), rng)
    times = np.zeros(count, dtype=np.int64)
    going = np.ones(count, dtype=np.bool_)
    while going.any():  # how often in a row an event of probability 1/e happens
        going[going] = _falls_once(np.ones(int(going.sum()), dtype=np.int64), 1, rng)
        times[going] += 1
    size = (rest + top * times) // bottom
    negative = rng.integers(2, size=count) == 1
    return np.where(negative, -size, size), fine & ~(negative & (size == 0))


def _falls(top: Ints, bottom: Ints, rng: np.random.Generator) -> Bools:
    """Events of the probabilities exp(-top/bottom)."""
    whole, rest = np.divmod(top, bottom)
    out = _falls_once(rest, bottom, rng)
    left = np.flatnonzero(out & (whole > 0))
    done = np.zeros(len(top), dtype=np.int64)
    while len(left):
        kept = left[_falls_once(np.ones(len(left), dtype=np.int64), 1, rng)]
        out[left] = False
        out[kept] = True
        done[kept] += 1
        left = kept[done[kept] < whole[kept]]
    return out


def _falls_once(top: Ints, bottom: Ints | int, rng: np.random.Generator) -> Bools:
    """Events of the probabilities exp(-top/bottom) where top ≤ bottom: whether the first failure among events of the
    probabilities top/bottom, top/(2 · bottom), … has an odd number."""
    bottom = np.broadcast_to(np.asarray(bottom, dtype=np.int64), top.shape)
    number = np.ones(len(top), dtype=np.int64)
    on = np.arange(len(top))
    while len(on):
        below = bottom[on] * number[on]
        on = on[rng.integers(below) < top[on]]
        number[on] += 1
    odd: Bools = number % 2 == 1
    return odd


def _filled(size: int, some: _Some) -> Ints:
    """Draws until there are enough that count."""
    found: list[Ints] = []
    lacks = size
    while lacks > 0:
        drawn, fine = some(2 * lacks + 16)
        found.append(drawn[fine][:lacks])
        lacks -= len(found[-1])
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
