"""Anatomy's classes, compiled: one tuple from each of the l values that have most tuples left, again and again.

The values wait in a heap, ordered by a whole number: the tuples left, more first, and of equally many the first value.
That is a total order, so the heap's inner arrangement does not matter, and it can be built anew for each slice of work.
"""

from __future__ import annotations

import heapq

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.compiling import kernel


@kernel
def deal(
    piles: Ints,
    first: Ints,
    left: Ints,
    group: Ints,
    l: int,
    made: int,
    budget: int,
) -> int:
    """Makes up to `budget` more classes, beyond the `made` that there are, and returns how many there are then.

    `piles[first[v] : first[v] + left[v]]` are the rows with value v that are in no class yet; the last is taken first.
    """
    values = len(left)
    heap = [value - left[value] * values for value in range(values) if left[value] > 0]
    heapq.heapify(heap)
    chosen = np.empty(l, dtype=np.int64)
    while len(heap) >= l and budget > 0:
        for i in range(l):
            chosen[i] = heapq.heappop(heap)
        for key in chosen:
            value = key % values
            left[value] -= 1
            group[piles[first[value] + left[value]]] = made
            if left[value] > 0:
                heapq.heappush(heap, key + values)
        made += 1
        budget -= 1
    return made
