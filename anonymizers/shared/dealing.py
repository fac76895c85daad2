"""Dealing: rows are put into classes with one row of each of l values, those that have most rows left (Anatomy's classes).

Paper: X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.progress import Progress

_SLICE = 1 << 20
"""Classes that the kernel forms between two reports of progress: some tenths of a second."""


def deal_out(codes: Ints, rows: Ints, l: int, rng: np.random.Generator, progress: Progress) -> tuple[Ints, int]:
    """The class of each of some rows, in a random order, and how many classes there are.

    As long as l values have rows left, a class takes one of each of the l that have most. What is left over joins random
    classes that lack its value; it is in none (-1) where there is no such class. Where no value has more than 1/l of the
    rows, fewer than l rows are left over, all of different values, and each finds a class.
    """
    from anonymizers.kernels.anatomy import deal

    values, counts = np.unique(codes[rows], return_counts=True)
    piles = np.argsort(codes[rows], kind="stable")
    first, left = np.cumsum(counts) - counts, counts.copy()
    group = np.full(len(rows), -1, dtype=np.int64)
    made, before = 0, -1
    while made > before:
        progress(made * l, len(rows), "forming groups")
        before, made = made, deal(piles, first, left, group, l, made, _SLICE)
    for place in sorted(np.flatnonzero(left), key=lambda v: -left[v]):
        lacking = np.ones(made, dtype=np.bool_)
        inside = group[codes[rows] == values[place]]
        lacking[inside[inside >= 0]] = False
        for row in piles[first[place] : first[place] + left[place]]:
            free = np.flatnonzero(lacking)
            if len(free):
                group[row] = rng.choice(free)
                lacking[group[row]] = False
    return group, made
