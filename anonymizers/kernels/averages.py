"""The average of values that can be ordered but not added (ordinals), or only told apart (nominals), from their counts.

Median: the lowest value such that at least half of the values are not above it (so the lower one of two middle values).

Convex median (J. Domingo-Ferrer, V. Torra, "Median-based aggregation operators for prototype construction in ordinal
scales", 2003): the median after the frequencies are made convex, that is, free of valleys. Each frequency f(c) becomes
min(max f(a) over a ≤ c, max f(b) over b ≥ c): a category between two frequent ones counts as often as the rarer of them,
so the average of a divided class lies between its parts and not in the larger of them.

Mode: the most frequent value, the lowest one of several.
"""

from __future__ import annotations

import numpy as np

from anonymizers.kernels.centroids import by_cluster
from auditor.model.arrays import Codes, Ints
from auditor.model.compiling import kernel


@kernel
def median(counts: Ints, convex: bool) -> int:
    """The median, or the convex median, of values by how often each occurs; at least one must."""
    size = len(counts)
    share = counts.copy()
    if convex:
        for c in range(1, size):
            share[c] = max(share[c], share[c - 1])  # the highest at or below
        above = 0
        for c in range(size - 1, -1, -1):
            above = max(above, counts[c])
            share[c] = min(share[c], above)
    total = share.sum()
    below = share[0]
    middle = 0
    while 2 * below < total:
        middle += 1
        below += share[middle]
    return middle


@kernel
def mode(counts: Ints) -> int:
    """The most frequent value; the lowest one of several."""
    return int(np.argmax(counts))


@kernel
def class_averages(codes: Codes, group: Ints, groups: int, size: int, ordered: bool, convex: bool) -> Codes:
    """The median (`ordered`) or mode of the codes in each group; codes from `size` on (missing values) are left out.
    -1 for a group without any code."""
    members, start = by_cluster(group, groups)
    out = np.full(groups, -1, dtype=np.int32)
    counts = np.zeros(size, dtype=np.int64)
    for g in range(groups):
        low, high = size, -1  # only codes that occur, and those between them, are looked at: domains may be large
        for i in range(start[g], start[g + 1]):
            code = codes[members[i]]
            if code < size:
                counts[code] += 1
                low, high = min(low, code), max(high, code)
        if high >= 0:
            seen = counts[low : high + 1]
            out[g] = low + (median(seen, convex) if ordered else mode(seen))
            seen[:] = 0
    return out
