"""Draws: who is in a sample of the people of a release.

Everybody is in the sample with the same probability p, independently of all others, so figures of the sample estimate those
of the whole, and intervals of proportions hold. The sample is drawn class by class. So a scan needs only the labels and the
size of a class to decide whether it must be fetched:

1. A class of f people is *touched* with probability 1 - (1-p)^f, decided by a hash of its label numbers and the seed.
2. At least one person of a touched class is in the sample. How many is drawn from the binomial distribution given that.
3. Which people these are is drawn without replacement.

So the number of people drawn from a class is binomial (f, p), and all of its people are equally likely, as if everybody were
drawn separately. Draws go through the touched classes in the order of their label numbers, and within a class through its
people in the order of their sensitive label numbers. Label numbers are ranks of texts, so neither the order of rows nor the
engine matters.

The hash uses only + · mod on whole numbers below 2^62: the same function takes arrays and the columns of a query. With the
prime P = 2^31 - 1, the label numbers are the coefficients of a polynomial at a point given by the seed, so two classes
collide with probability at most columns/P. Then x → a·x^5 + c mod P separates neighbours. It is one-to-one, since 5 does not
divide P - 1; of the lower powers only the first is. Fifth powers of consecutive numbers are spread as if at random, alone and
in pairs, up to a share of some 4/√P (A. Weil's bound for sums over polynomials of degree 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.seeding import stage

PRIME = 2**31 - 1


def share(sample: int, people: int) -> float:
    """The probability with which each person is in a sample of about this size."""
    return min(1.0, sample / max(people, 1))


def touched(codes: Sequence[Any], size: Any, p: float, seed: int) -> Any:
    """Whether each class has anybody in the sample. `codes` are the label numbers of its quasi-identifiers (in the order of
    the schema), `size` the number of its people: arrays of 64-bit integers, or such columns of an Ibis table. The answer is
    of the same kind. In a query the expression contains each of them five times."""
    mixed, point, factor, added = stage(seed, "sample", "classes").integers(2**20, PRIME, size=4).tolist()
    for code in codes:
        mixed = (mixed * point + code + 1) % PRIME
    square = (mixed * mixed) % PRIME
    fifth = ((square * square) % PRIME * mixed) % PRIME
    lot = (fifth * factor + added) % PRIME
    return (lot + 0.5) / PRIME < 1 - (1 - p) ** size


def drawn(starts: Ints, rows: int, p: float, seed: int) -> Ints:
    """The rows in the sample, ascending. The rows are those of the touched classes, one class after the other; `starts` is
    the first row of each."""
    sizes = np.diff(np.append(starts, rows))
    count = _at_least_one(sizes, p, stage(seed, "sample", "counts"))
    lot = stage(seed, "sample", "people").random(rows)
    class_of = np.repeat(np.arange(len(starts)), sizes)
    order = np.lexsort((lot, class_of))
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows) - np.repeat(starts, sizes)
    return np.flatnonzero(place < count[class_of])


def _at_least_one(sizes: Ints, p: float, rng: np.random.Generator) -> Ints:
    """Binomial numbers (size, p), each given that it is not zero. By inversion: draw u evenly from (0, P(N > 0)] and return
    the least n with P(N > n) <= u."""
    if p >= 1:
        return sizes
    from scipy.stats import binom

    some = -np.expm1(sizes * np.log1p(-p))
    count = binom.isf((1 - rng.random(len(sizes))) * some, sizes, p)
    return np.clip(count, 1, sizes).astype(np.int64)
