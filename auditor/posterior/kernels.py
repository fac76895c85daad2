"""The compiled kernels: which people fit which labels, by bitsets; and running sums within rows.

For every attribute and value there is a mask with one bit per label pattern that allows the value; a person's patterns
are the AND of the masks of their values. People are sorted, so the AND over a common prefix of attributes is reused,
and words that became zero are dropped, since zero stays zero. Exact: it only intersects the sets that labels denote.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_ONE = np.uint64(1)


@njit(cache=True)
def allow_intervals(
    masks: NDArray[np.uint64], lo: NDArray[np.int32], hi: NDArray[np.int32], slot: NDArray[np.int32]
) -> None:
    """Sets, for pattern p, the bit of p in the mask of every value from lo[p] to hi[p]; slot maps values to masks."""
    for p in range(len(lo)):
        word = p >> 6
        bit = _ONE << np.uint64(p & 63)
        for value in range(lo[p], hi[p] + 1):
            if slot[value] >= 0:
                masks[slot[value], word] |= bit


@njit(cache=True)
def match(
    people: NDArray[np.int32], masks: NDArray[np.uint64], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The patterns that fit each person, as row starts and pattern numbers.

    `people` (sorted lexicographically) holds mask slots within each attribute, `first[a]` is where the masks of
    attribute a begin.
    """
    count, width = people.shape
    words = masks.shape[1]
    left = np.empty((width, words), dtype=np.uint64)
    place = np.empty((width, words), dtype=np.int32)
    alive = np.zeros(width, dtype=np.int64)
    starts = np.zeros(count + 1, dtype=np.int64)
    found = np.empty(max(count, 1024), dtype=np.int32)
    total = 0
    for i in range(count):
        shared = 0
        if i > 0:
            while shared < width and people[i, shared] == people[i - 1, shared]:
                shared += 1
        for a in range(shared, width):
            mask = masks[first[a] + people[i, a]]
            kept = 0
            if a == 0:
                for w in range(words):
                    if mask[w] != 0:
                        left[0, kept] = mask[w]
                        place[0, kept] = w
                        kept += 1
            else:
                for j in range(alive[a - 1]):
                    w = place[a - 1, j]
                    both = left[a - 1, j] & mask[w]
                    if both != 0:
                        left[a, kept] = both
                        place[a, kept] = w
                        kept += 1
            alive[a] = kept
        for j in range(alive[width - 1]):
            bits = left[width - 1, j]
            base = np.int64(place[width - 1, j]) << 6
            bit = 0
            while bits != 0:
                if bits & _ONE:
                    if total == len(found):
                        grown = np.empty(2 * total, dtype=np.int32)
                        grown[:total] = found
                        found = grown
                    found[total] = base + bit
                    total += 1
                bits >>= _ONE
                bit += 1
        starts[i + 1] = total
    return starts, found[:total].copy()


@njit(cache=True)
def running_sums(data: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each entry the sum of the entries of its row up to it. Each row has a sum of its own: one running over all rows
    would leave the noise of a million rows in every difference."""
    out = np.empty(len(data), dtype=np.float64)
    for row in range(len(starts) - 1):
        total = 0.0
        for i in range(starts[row], starts[row + 1]):
            total += data[i]
            out[i] = total
    return out
