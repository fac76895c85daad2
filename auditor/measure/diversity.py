"""Diversity and likeness: what the sensitive values of a class give away, the worst class deciding.

- alpha of (α, k)-anonymity (Wong et al. 2006): the largest share of one value in a class.
- l-diversity (Machanavajjhala et al. 2006): distinct; entropy, as exp(least entropy) and not rounded down, so that
  two equal values give 2; recursive (c, l), as the least c that every class reaches: it holds for each greater c.
- β-likeness (Cao and Karras 2012): the greatest relative gain (p - q)/q of a value in a class over the whole table;
  enhanced, where a gain must also stay within -ln q.
- δ-disclosure (Brickell and Shmatikov 2008): the greatest |ln(p/q)| over *all* values; one that is absent from a class
  makes it infinite, and so there is no δ.

All take counts (classes × values: dense, sparse, or their entries, which are then not found again) and compare with the
whole table they make up. Statistics without an answer are None: no class, or a bound that nothing reaches. Rows of the
counts must be classes with people in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditor.measure.counts import Entries, Matrix, entries
from auditor.model.errors import UsageError

_NOISE = 1e-12
"""Differences below this are rounding."""


def alpha(counts: Matrix) -> float | None:
    """The largest share of one value in a class."""
    found = entries(counts)
    return float(found.share.max()) if len(found.row) else None


def distinct_l(counts: Matrix) -> int | None:
    """The least number of distinct values in a class."""
    found = entries(counts)
    return int(found.distinct.min()) if len(found.row) else None


def entropy_l(counts: Matrix) -> float | None:
    """exp of the least entropy of a class: the number of equally frequent values that would be as diverse."""
    found = entries(counts)
    if not len(found.row):
        return None
    diverse = np.exp(found.per_class(-found.share * np.log(found.share)))
    values = found.distinct
    greatest = np.zeros(len(found.sizes), dtype=np.int64)
    np.maximum.at(greatest, found.row, found.count)
    even = greatest * values == found.sizes  # all counts equal: the number of values, free of rounding
    diverse = np.where(even, values, np.minimum(diverse, values))
    return float(diverse.min())


def recursive_c(counts: Matrix, recursive_l: int = 2) -> float | None:
    """The least c such that every class has r1 <= c·(r_l + … + r_m), where r1 >= r2 >= … are its counts.

    Recursive (c, l)-diversity asks for strictly less, so it holds for every greater c. None where a class has fewer
    than l values: no c would do.
    """
    if recursive_l < 1:
        raise UsageError(f"The l of recursive (c, l)-diversity must be at least 1. Got {recursive_l}.")
    found = entries(counts)
    if not len(found.row) or (found.distinct < recursive_l).any():
        return None
    # by class, and in a class from the greatest count down: one sort of whole numbers
    most = int(found.count.max())
    count = most - np.sort(found.row * (most + 1) + most - found.count) % (most + 1)
    starts = np.concatenate([[0], np.cumsum(found.distinct[:-1])])
    rank = np.arange(len(count)) - starts[found.row]
    tail = np.bincount(found.row, weights=np.where(rank >= recursive_l - 1, count, 0))
    return float((count[starts] / tail).max())


def basic_beta(counts: Matrix) -> float | None:
    """The greatest relative gain (p - q)/q of a value in a class; 0 where every class is like the whole table."""
    found = entries(counts)
    return max(float(_gains(found).max()), 0.0) if len(found.row) else None


def enhanced_beta(counts: Matrix) -> float | None:
    """The least β such that every gain is at most min(β, -ln q). Where a gain exceeds -ln q, which depends on the table
    alone, no β would do: None. Otherwise it is the basic β."""
    found = entries(counts)
    if not len(found.row):
        return None
    limit = -np.log(_whole_share(found))
    if (_gains(found) > limit + _NOISE).any():
        return None
    return basic_beta(counts)


def disclosure_delta(counts: Matrix) -> float | None:
    """The greatest |ln(p/q)| of a value in a class; None where a class lacks a value that the table has (infinity)."""
    found = entries(counts)
    if not len(found.row) or len(found.row) < len(found.sizes) * found.values:
        return None
    return float(np.abs(np.log1p(_gains(found))).max())


def _whole_share(found: Entries) -> NDArray[np.float64]:
    """The share in the whole table of each entry's value."""
    share: NDArray[np.float64] = found.whole[found.column] / found.whole.sum()
    return share


def _gains(found: Entries) -> NDArray[np.float64]:
    """(p - q)/q of each entry, from whole numbers: exactly 0 where the shares are equal."""
    whole = found.whole
    expected = found.sizes[found.row] * whole[found.column]
    gains: NDArray[np.float64] = (found.count * whole.sum() - expected) / expected
    return gains
