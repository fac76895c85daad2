"""The twenty mechanisms that DP-Sniper was tried on, written from the papers that they come from.

B. Bichsel, S. Steffen, I. Bogunovic, M. Vechev, "DP-Sniper: Black-Box Discovery of Differential Privacy Violations using
Classifiers", IEEE S&P 2021, lists them. Ten keep what they claim and ten do not. The sparse vector techniques are Algorithms
1 to 6 of M. Lyu, D. Su, N. Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017; noisy maximum
and histograms are Algorithms 5 to 10 of Z. Ding et al., "Detecting Violations of Differential Privacy", CCS 2018; the
numerical sparse vector and the prefix sums are from Y. Wang et al., "Proving Differential Privacy with Shadow Execution",
PLDI 2019; RAPPOR from U. Erlingsson, V. Pihur, A. Korolova, CCS 2014; the truncated geometric from V. Balcer, S. Vadhan,
"Differential Privacy on Finite Computers", 2018.

`claimed` is what the mechanism says of itself, `true` the least epsilon that it keeps for all neighbours, by the argument
that stands beside it. Neighbouring inputs: a number that differs by one; a histogram with one count that differs by one; or
queries whose answers may all differ by one, as one person can change them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log

import numpy as np
from numpy.typing import NDArray

Draws = NDArray[np.float64]
Answers = tuple[float, ...]
Draw = Callable[[Draws, int, np.random.Generator], Draws]

_FALSE, _STOPPED = -1_000.0, -2_000.0
"""What stands for "below the threshold" and "no answer any more" where answers are numbers."""
E = 0.1


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism, what it claims and keeps, and two neighbouring inputs that show it."""

    name: str
    draw: Draw
    claimed: float
    true: float
    one: Answers
    other: Answers

    @property
    def keeps(self) -> bool:
        """Whether it keeps its claim."""
        return self.true <= self.claimed

    def runs(self, n: int, rng: np.random.Generator) -> tuple[Draws, Draws]:
        """n outputs for each of the two inputs."""
        one, other = (self.draw(np.array(answers, dtype=float), n, rng) for answers in (self.one, self.other))
        return one, other


def _laplace(scale: float) -> Draw:
    return lambda answers, n, rng: answers + rng.laplace(scale=scale, size=(n, len(answers)))


def _parallel(*parts: Draw) -> Draw:
    return lambda answers, n, rng: np.column_stack([draw(answers, n, rng) for draw in parts])


def _noisy_max(noise: str, value: bool) -> Draw:
    """The place of the greatest noisy answer or, where `value`, the noisy answer itself."""

    def draw(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
        sampled = rng.laplace if noise == "laplace" else rng.exponential
        noisy = answers + sampled(scale=2 / E, size=(n, len(answers)))
        found = noisy.max(axis=1) if value else noisy.argmax(axis=1)
        return found.astype(float)[:, None]

    return draw


def _truncated_geometric(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
    """GeoSample of Balcer and Vadhan for a count of up to five people, drawn exactly in whole numbers. Each step away from
    the count is less likely by 2^k/(2^k + 1); k is the natural logarithm of 2/epsilon, rounded up, where the proof needs the
    binary one."""
    people, base = 5, 2 ** ceil(log(2 / E))
    count, whole = int(answers[0]), (2 * base + 1) * (base + 1) ** (people - 1)
    up_to = []
    for z in range(people):
        steps = count - z if z < count else z - count + 1
        tail = base**steps * (base + 1) ** (people - steps)
        up_to.append(tail if z < count else whole - tail)
    drawn = rng.integers(1, whole + 1, size=n)
    return np.searchsorted(np.array(up_to), drawn).astype(float)[:, None]


def _sparse_vector(
    share: float,
    queries: float | None,
    renewed: bool = False,
    numeric: bool = False,
    most: int | None = 1,
    least: float = 1.0,
    epsilon: float = E,
) -> Draw:
    """Which answers reach a noisy threshold. `share` of epsilon goes to the threshold; `queries` is the noise of a query in
    units of one over the rest, None for none. At most `most` answers are "above" (None: any number)."""

    def draw(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
        units = (most or 1) if renewed else 1
        shift = rng.laplace(scale=units / (share * epsilon), size=n)
        noise = 0.0 if queries is None else queries / ((1 - share) * epsilon)
        out = np.full((n, len(answers)), _STOPPED)
        above = np.zeros(n, dtype=np.int64)
        for place, answer in enumerate(answers):
            noisy = answer + (rng.laplace(scale=noise, size=n) if noise else np.zeros(n))
            going = np.ones(n, dtype=bool) if most is None else above < most
            reached = noisy >= least + shift
            out[going, place] = np.where(reached, noisy if numeric else 1.0, _FALSE)[going]
            above += reached & going
            if renewed:
                shift = np.where(reached, rng.laplace(scale=units / (share * epsilon), size=n), shift)
        return out

    return draw


def _numerical_sparse_vector(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
    """Above the noisy threshold the answer is published with fresh noise, twice at most: a third of epsilon each for the
    threshold, the comparisons and the answers."""
    most, shape = 2, (n, len(answers))
    reached = answers + rng.laplace(scale=6 * most / E, size=shape) >= 1 + rng.laplace(scale=3 / E, size=(n, 1))
    value = answers + rng.laplace(scale=3 * most / E, size=shape)
    before = np.cumsum(reached, axis=1) - reached
    return np.where(before >= most, _STOPPED, np.where(reached, value, _FALSE))


def _rappor(f: float, flip: tuple[float, float] | None) -> Draw:
    """A Bloom filter of 20 bits, of which a value sets four; two values whose bits are all different. Each bit is replaced by
    a coin with probability f; then, unless `flip` is None, published as 1 with its second probability if set, else its
    first."""

    def draw(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
        bits = np.zeros(20)
        bits[int(answers[0]) * 4 : int(answers[0]) * 4 + 4] = 1
        kept = np.where(rng.random((n, 20)) < f, rng.random((n, 20)) < 0.5, bits)
        if flip is None:
            return kept.astype(float)
        return (rng.random((n, 20)) < np.where(kept == 1, flip[1], flip[0])).astype(float)

    return draw


def _prefix_sums(answers: Draws, n: int, rng: np.random.Generator) -> Draws:
    return np.cumsum(answers + rng.laplace(scale=1 / E, size=(n, len(answers))), axis=1)


_FLIPS = (0.45, 0.55)
_SET, _UNSET = (0.375 + 0.25 * p for p in reversed(_FLIPS))  # a bit's chance to be published as 1, f = 0.75
_TEN, _TEN_UP = (0.0,) * 10, (1.0,) * 10
_MIXED = (2.0,) * 5 + (0.0,) * 5


def _third(epsilon: float, words: str = "") -> Mechanism:
    """Publishes the noise that it compared with."""
    draw = _sparse_vector(1 / 2, 1, numeric=True, epsilon=epsilon)
    return Mechanism(f"sparse vector 3{words}", draw, epsilon, inf, (1.0,) * 10, _MIXED)


def _fourth(epsilon: float, words: str = "") -> Mechanism:
    """(1 + 6c)/4 times epsilon (Lyu et al.), here with c = 1."""
    draw = _sparse_vector(1 / 4, 1, epsilon=epsilon)
    return Mechanism(f"sparse vector 4{words}", draw, epsilon, 7 / 4 * epsilon, (1.0,) * 10, _MIXED)


RARELY_SEEN = _third(E, ", epsilon 0.1"), _fourth(E, ", epsilon 0.1")
"""What these two do shows in few runs where epsilon is small: with 10⁵ only at the epsilon of 1 that they have below."""

MECHANISMS = (
    Mechanism("laplace", _laplace(1 / E), E, E, (0.0,), (1.0,)),
    # every step away from the count has the odds 8/9
    Mechanism("truncated geometric", _truncated_geometric, E, log(9 / 8), (1.0,), (2.0,)),
    Mechanism("noisy histogram 1", _laplace(1 / E), E, E, (1.0,) * 5, (2.0,) + (1.0,) * 4),
    # noise of scale epsilon in place of 1/epsilon
    Mechanism("noisy histogram 2", _laplace(E), E, 1 / E, (1.0,) * 5, (2.0,) + (1.0,) * 4),
    Mechanism("noisy max 1", _noisy_max("laplace", False), E, E, (1.0,) * 5, (0.0,) + (2.0,) * 4),
    Mechanism("noisy max 2", _noisy_max("exponential", False), E, E, (1.0,) * 5, (0.0,) + (2.0,) * 4),
    # the maximum is low only if all five are: five times epsilon/2
    Mechanism("noisy max 3", _noisy_max("laplace", True), E, 5 * E / 2, (0.0,) * 5, (1.0,) * 5),
    # exponential noise is never negative: what lies below the greatest answer is impossible
    Mechanism("noisy max 4", _noisy_max("exponential", True), E, inf, (1.0,) * 5, (2.0,) * 5),
    Mechanism("sparse vector 1", _sparse_vector(1 / 2, 2, least=0.5), E, E, (1.0,) * 10, _MIXED),
    Mechanism("sparse vector 2", _sparse_vector(1 / 2, 2, renewed=True), E, E, (1.0,) * 10, _MIXED),
    _third(1.0),
    _fourth(1.0),
    # no noise on queries
    Mechanism("sparse vector 5", _sparse_vector(1 / 2, None, most=None), E, inf, (1.0,) * 10, _MIXED),
    # answers without end
    Mechanism("sparse vector 6", _sparse_vector(1 / 2, 1, most=None), E, inf, (1.0,) * 10, _MIXED),
    # two values differ in eight bits
    Mechanism("rappor", _rappor(0.75, _FLIPS), 8 * log(_SET / _UNSET), 8 * log(_SET / _UNSET), (0.0,), (1.0,)),
    Mechanism("one-time rappor", _rappor(0.95, None), 8 * log(0.525 / 0.475), 8 * log(0.525 / 0.475), (0.0,), (1.0,)),
    # twenty times 0.005
    Mechanism("laplace, 20 times", _parallel(*[_laplace(20 / E)] * 20), E, E, (0.0,), (1.0,)),
    Mechanism("sparse vector 3 and 4", _parallel(_third(1.0).draw, _fourth(1.0).draw), 2.0, inf, (1.0,) * 10, _MIXED),
    # noise for one answer that differs, and ten do
    Mechanism("prefix sums", _prefix_sums, E, 10 * E, _TEN, _TEN_UP),
    Mechanism("numerical sparse vector", _numerical_sparse_vector, E, E, (1.0,) * 10, _MIXED),
)
