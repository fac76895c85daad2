"""KACA: a class below k is merged with its nearest class, until no class is below k.

It starts with one class for each distinct combination of quasi-identifiers. While a class has fewer than k rows, one such
class is chosen at random and merged with the class at the least distance. The distance is the distortion that the merge
causes: what the values of each row give up. Steps near the top of a taxonomy weigh more than steps near its leaves: with the
root at level 1 and the deepest leaf at level h, the step from level j to j - 1 weighs 1/(j-1)^beta, and all steps of a column
together weigh 1. Numbers and ordinals give up the growth of their interval over the range. Values are then generalised.

Paper: J. Li, R. Wong, A. Fu, J. Pei, "Achieving k-Anonymity by Clustering in Attribute Hierarchical Structures", DaWaK 2006
(which Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation", compares CAAT with).
Decided here: where the class C at hand and its nearest class C' have 2k rows or more together, only the k - |C| rows that C
lacks move, and only they count in the distance. They are the rows of C' nearest to C; afterwards both classes are as narrow
as their rows allow. So a class has fewer than 2k rows, unless all of them are alike. Ties go to the first class, and within
it to the first row, in the order of values. A column without a taxonomy counts as a taxonomy of one level; a leaf less deep
than others has less to give up; a missing value is a whole column away from all others. Distances are whole numbers (see
`anonymizers/shared/distance.py`). Where the weights have no common multiple that fits (many levels, or a beta that is not
whole), they are rounded to 2^-36. The search is exact: it finds the same classes as comparing with every class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anonymizers.shapes import Trees
from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import LARGEST_UNIT, Space
from anonymizers.shared.growing import new_costs, new_stack
from auditor.model.arrays import Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.table import Table

_LARGEST_BETA = 100
_COMPARED_A_SLICE = 1_000_000
_CHANGED = 0.25
"""The search tree is built anew when this share of the classes has changed."""


@dataclass(frozen=True)
class Kaca(Clustering):
    """Classes below k are merged with the class at the least distance; a large class gives only the rows that lack."""

    name: ClassVar[str] = "kaca"
    summary: ClassVar[str] = (
        "Merges classes below k with the nearest class by weighted steps in taxonomies; generalised."
    )
    paper: ClassVar[str] = "Li, Wong, Fu & Pei 2006"

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.beta <= _LARGEST_BETA:
            raise UsageError(f"kaca: beta must be from 0 to {_LARGEST_BETA}. Got {self.beta}.")

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        return kaca(table, columns, self.k, self.beta, rng, progress)


def kaca(
    table: Table,
    quasi: Sequence[str],
    k: int,
    beta: float,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Ints:
    """The class of each row."""
    return kaca_counted(table, quasi, k, beta, rng, progress)[0]


def kaca_counted(
    table: Table,
    quasi: Sequence[str],
    k: int,
    beta: float,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[Ints, int]:
    """The class of each row, and how many distances the printed algorithm evaluates, which compares with every other
    class. The search here finds the same classes with fewer."""
    from anonymizers.kernels.kaca import CHANGED, DISTANCES, LIVE, SMALL, Classes, begin, bounds_of, members, merge
    from anonymizers.kernels.tree import build

    space = Space.of(table, quasi, lambda trees: _divisors(trees, beta))
    missing = [table.domains[column].missing is not None for column in space.columns[space.ordered :]]
    rise = _given_up(space, beta, missing)
    count, width = len(space.tuples), len(space.columns)
    classes = Classes(
        low=_zeros(count, width),
        high=_zeros(count, width),
        loss=_zeros(count),
        size=_zeros(count),
        alone=_zeros(count),
        head=_zeros(count),
        tail=_zeros(count),
        start=_zeros(2 * count),  # a move adds at most one piece, and there are fewer moves than classes
        held=_zeros(2 * count),
        of=_zeros(2 * count),
        after=_zeros(2 * count),
        small=_zeros(count + 1),
        now=_zeros(7),
    )
    begin(classes, space.tuples, space.first, space.trees, rise, space.unit, k)
    draws = rng.random(count)  # every draw leaves at least one class fewer below k
    costs, stack = new_costs(space), new_stack()
    small = int(classes.now[SMALL])
    tree, bounds, changes = None, None, 0
    while classes.now[SMALL] > 0:
        if tree is None or bounds is None or classes.now[CHANGED] >= changes:
            tree = build((classes.low + classes.high) // 2, np.flatnonzero(classes.size > 0), space.weight)
            bounds = bounds_of(tree, classes)
            changes = max(int(_CHANGED * classes.now[LIVE]), 1)
            classes.now[CHANGED] = 0
        progress(small - int(classes.now[SMALL]), small, "KACA")
        merge(
            classes, space.tuples, tree, bounds, space.trees, rise, costs, stack, draws, k, changes, _COMPARED_A_SLICE
        )
    return space.groups(members(classes, len(space.rows))), int(classes.now[DISTANCES])


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int64)


def kept_shares(height: int, beta: float) -> list[Fraction]:
    """What a value at each depth of a taxonomy keeps: 0 at the root, 1 at the deepest leaf. The weighted hierarchical
    distance of the paper is the difference of two of them."""
    weights = [Fraction(1, j ** int(beta)) if beta == int(beta) else Fraction(j**-beta) for j in range(1, height + 1)]
    sums = [sum(weights[:depth], Fraction(0)) for depth in range(height + 1)]
    return [part / (sums[-1] or 1) for part in sums]


def _divisors(trees: Trees, beta: float) -> Iterable[int]:
    heights = {int(height) for height in trees.height[trees.root]}
    needed = math.lcm(*(share.denominator for height in heights for share in kept_shares(height, beta)))
    return (needed if needed <= LARGEST_UNIT else LARGEST_UNIT,)


def _given_up(space: Space, beta: float, missing: Sequence[bool]) -> Ints:
    """What each node of the trees gives up. `missing` says which trees have a missing value, their last leaf: it is as
    deep as any leaf."""
    trees = space.trees
    out = np.zeros(len(trees.depth), dtype=np.int64)
    for number, (root, has_missing) in enumerate(zip(trees.root, missing, strict=True)):
        kept = np.array([round(share * space.unit) for share in kept_shares(int(trees.height[root]), beta)])
        nodes = trees.tree == number
        out[nodes] = space.unit - kept[trees.depth[nodes]]
        if has_missing:
            out[trees.leaf[trees.high[root]]] = 0
    return out
