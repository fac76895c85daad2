"""Diversity and likeness: what the sensitive values of a class reveal. The worst class decides.

- alpha of (α, k)-anonymity (Wong et al. 2006): the largest share of one value in a class.
- l-diversity (Machanavajjhala et al. 2006): distinct; entropy, as exp(least entropy) and not rounded down, so that
  two equal values give 2; recursive (c, l), as the least c that every class reaches: it holds for each greater c.
- β-likeness (Cao and Karras 2012): the greatest relative gain (p - q)/q of a value in a class over the whole table;
  enhanced, where a gain must also stay within -ln q.
- δ-disclosure (Brickell and Shmatikov 2008): the greatest |ln(p/q)| over *all* values; a value absent from a class makes it
  infinite, so there is no δ.

Each statistic exists per class (`alphas`, `entropy_ls`, …), over the entries of counts whose rows are non-empty classes, and
for all classes (`alpha`, `entropy_l`, …), which is the figure of the worst one; the latter also take dense and sparse
matrices. A class is compared with the whole table that all classes make up. If no bound is enough, the figure is infinite for
the class and None for all. Every statistic is None if there is no class.
"""

from __future__ import annotations

import numpy as np

from auditor.measure import words
from auditor.measure.counts import Entries, Matrix, entries
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Better

NOISE = 1e-12
"""Differences below this are rounding."""


DIVERSITY = (
    words.extreme(
        "alpha",
        "The largest share of one sensitive value in a class: (α,k)-anonymity.",
        "one value makes up {rate} of a class",
        label="largest share of one value in a class",
    ),
    words.extreme(
        "l_distinct",
        "The fewest different sensitive values in a class: distinct l-diversity.",
        "the poorest class has {value} different sensitive values",
        label="fewest different values in a class",
        better=Better.HIGHER,
        everybody="the poorest class has 1 sensitive value",
    ),
    words.extreme(
        "l_entropy",
        "Entropy l-diversity, in which rare values count less: exp of the least entropy of a class, not rounded.",
        "the poorest class is as varied as {value} equally frequent values",
        label="fewest values in a class, rare ones counting less",
        better=Better.HIGHER,
    ),
    words.extreme(
        "l_recursive_c",
        "How far the commonest value of a class outweighs the rare: recursive (c,l)-diversity holds for every greater c.",
        "the commonest value of a class outweighs the rare ones by {value}",
        label="how far the commonest value outweighs the rare",
    ),
)
"""How varied the sensitive values of the classes are, in words."""
LIKENESS = (
    words.extreme(
        "beta_basic",
        "β-likeness: the largest relative gain of a value's share in a class over its share in the table.",
        "the share of a value in a class exceeds that in the table by up to {value} times the latter",
        label="largest relative gain of a value in a class",
    ),
    words.extreme(
        "beta_enhanced",
        "Enhanced β-likeness: the least β for which no gain exceeds min(β, −ln of the value's share in the table).",
        "enhanced β-likeness holds from β = {value}",
        label="largest gain of a value, capped for frequent ones",
    ),
    words.extreme(
        "delta_disclosure",
        "The largest change of a value's share in a class against the table, as a logarithm; needs each value in each class.",
        "a value's share in a class differs from that in the table by a logarithm of {value}",
        label="largest change of a value's share (logarithm)",
    ),
    words.rate(
        "homogeneity",
        "The share of all people whose sensitive value is the commonest of their class: what guessing it gets right.",
        "the commonest value of their class is right for {rate} of the people",
        label="share of people guessed right by the commonest value of their class",
    ),
)
"""How like the whole table the classes are, in words."""


def alpha(counts: Matrix) -> float | None:
    """The largest share of one value in a class."""
    found = entries(counts)
    return float(found.share.max()) if len(found.row) else None


def homogeneity(counts: Matrix) -> float | None:
    """The share of people who have the most common value of their class."""
    found = entries(counts)
    return float(_highest(found, found.count).sum() / found.sizes.sum()) if len(found.row) else None


def distinct_l(counts: Matrix) -> int | None:
    """The least number of distinct values in a class."""
    found = entries(counts)
    return int(found.distinct.min()) if len(found.row) else None


def entropy_l(counts: Matrix) -> float | None:
    """exp of the least entropy of a class: the number of equally frequent values that would be as diverse."""
    found = entries(counts)
    return float(entropy_ls(found).min()) if len(found.row) else None


def recursive_c(counts: Matrix, recursive_l: int = 2) -> float | None:
    """The least c such that every class has r1 <= c·(r_l + … + r_m), where r1 >= r2 >= … are its counts.

    Recursive (c, l)-diversity requires strictly less, so it holds for every greater c. None if a class has fewer than l
    values: no c is enough.
    """
    return _greatest(recursive_cs(entries(counts), recursive_l))


def basic_beta(counts: Matrix) -> float | None:
    """The greatest relative gain (p - q)/q of a value in a class; 0 if every class is like the whole table."""
    return _greatest(basic_betas(entries(counts)))


def enhanced_beta(counts: Matrix) -> float | None:
    """The least β such that every gain is at most min(β, -ln q). None if a gain exceeds -ln q, which depends only on the
    table: no β is enough. Otherwise it is the basic β."""
    return _greatest(enhanced_betas(entries(counts)))


def disclosure_delta(counts: Matrix) -> float | None:
    """The greatest |ln(p/q)| of a value in a class; None (infinity) if a class lacks a value that the table has."""
    return _greatest(disclosure_deltas(entries(counts)))


def _greatest(figures: Floats) -> float | None:
    greatest = float(figures.max(initial=-np.inf))
    return greatest if np.isfinite(greatest) else None


def alphas(found: Entries) -> Floats:
    """The largest share of one value in each class."""
    return _highest(found, found.share)


def entropy_ls(found: Entries) -> Floats:
    """exp of the entropy of each class."""
    diverse = np.exp(found.per_class(-found.share * np.log(found.share)))
    even = _highest(found, found.count) * found.distinct == found.sizes
    # if all counts are equal: the number of values, without rounding
    return np.where(even, found.distinct, np.minimum(diverse, found.distinct))


def recursive_cs(found: Entries, recursive_l: int = 2) -> Floats:
    """The least c of each class; infinite if it has fewer than l values."""
    if recursive_l < 1:
        raise UsageError(f"The l of recursive (c, l)-diversity must be at least 1. Got {recursive_l}.")
    if not len(found.row):
        return np.empty(0)
    # by class, and within a class from the greatest count down: one sort of whole numbers
    most = int(found.count.max())
    count = most - np.sort(found.row * (most + 1) + most - found.count) % (most + 1)
    starts = _starts(found)
    rank = np.arange(len(count)) - starts[found.row]
    tail = found.per_class(np.where(rank >= recursive_l - 1, count, 0))
    return np.asarray(np.divide(count[starts], tail, out=np.full(len(tail), np.inf), where=tail > 0))


def basic_betas(found: Entries) -> Floats:
    """The greatest relative gain of a value in each class."""
    return np.maximum(_highest(found, _gains(found)), 0.0)


def enhanced_betas(found: Entries) -> Floats:
    """The least β of each class; infinite if a gain exceeds -ln q."""
    gains = _gains(found)
    limit = -np.log(found.whole[found.column] / found.whole.sum())
    return np.maximum(_highest(found, np.where(gains > limit + NOISE, np.inf, gains)), 0.0)


def disclosure_deltas(found: Entries) -> Floats:
    """The greatest |ln(p/q)| of a value in each class; infinite if it lacks a value that the table has."""
    return np.where(found.distinct < found.values, np.inf, _highest(found, np.abs(np.log1p(_gains(found)))))


def _starts(found: Entries) -> Ints:
    """Where the entries of each class begin."""
    return np.cumsum(found.distinct) - found.distinct


def _highest(found: Entries, amounts: Floats | Ints) -> Floats:
    """The highest amount among each class's entries, which are contiguous."""
    if not len(found.row):
        return np.empty(0)
    return np.maximum.reduceat(amounts, _starts(found)).astype(np.float64)


def _gains(found: Entries) -> Floats:
    """(p - q)/q of each entry, from whole numbers: exactly 0 if the shares are equal."""
    whole = found.whole
    expected = found.sizes[found.row] * whole[found.column]
    return np.asarray((found.count * whole.sum() - expected) / expected)
