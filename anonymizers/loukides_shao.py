"""The algorithm of Loukides and Shao: classes grown from random seeds as long as their values stay alike.

A class starts from a random row and takes the nearest row, the one that makes its values least diverse, as long as its
diversity stays within `threshold`; then the next class starts from another random row. Classes that end with fewer than k
rows are deleted: their rows are not published, and counted. Values are then generalised.

The diversity of a class is the mean over the quasi-identifiers of the width of its interval over the range (numbers,
ordinals) or the height of the common ancestor over that of the taxonomy: 0 where all rows are equal, 1 where the class covers
everything.

Paper: G. Loukides, J. Shao, "Capturing data usefulness and privacy protection in k-anonymisation", SAC 2007 (as
in M. El-Rashidy et al., "An Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: diversity is that of the quasi-identifiers only, on the scale above; a class takes rows beyond k as long as
they fit, which only lowers the risk; where every class would be deleted there is an error that names the threshold, not an
empty release. A missing value is a whole column away from all others; ties go to the row whose values come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import at_least, generalise, need_quasi, need_rows, published_columns
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Grouping, Groups
from anonymizers.shared.growing import grow_classes
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.growing import Growth
    from anonymizers.kernels.search import Costs, Stack
    from anonymizers.kernels.tree import Tree


@dataclass(frozen=True)
class LoukidesShao(Grouping):
    """Classes grown from random seeds up to a threshold of diversity; small ones are deleted."""

    name: ClassVar[str] = "loukides-shao"
    summary: ClassVar[str] = "Random seeds, grown while values stay alike; classes below k are deleted."
    paper: ClassVar[str] = "Loukides & Shao 2007"

    k: int = 5
    threshold: float = 0.2

    def __post_init__(self) -> None:
        at_least("loukides-shao: k", self.k, 1)
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"loukides-shao: threshold must be from 0 to 1. Got {self.threshold:g}.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        need_rows(table, self.k, self.name)
        space = Space.of(table, quasi)
        return Groups(grow_alike(space, self.threshold, rng.permutation(table.rows), progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        sizes = np.bincount(groups.member)
        if sizes.max() < self.k:
            raise PromiseError(
                f"loukides-shao: no class reaches k = {self.k} rows within a diversity of {self.threshold:g}; the largest "
                f"has {sizes.max()}. Give a larger threshold or a smaller k."
            )
        kept = np.where(sizes[groups.member] < self.k, -1, groups.member)
        labels, cells = generalise(table, need_quasi(table, self.name), kept)
        return self.publish(table, labels, cells, [published_columns(table)], kept, rng)


def grow_alike(space: Space, threshold: float, seeds: Ints, progress: Progress = silent) -> Ints:
    """The class of each row. `seeds` are all rows, as places in the order of tuples, in the order they may start a class."""
    from anonymizers.kernels.growing import grow

    rise, rows = space.rise(), len(space.rows)
    ceiling = int(threshold * space.unit * len(space.columns) * (1 + 1e-12))  # 0.3 of 10 is 3, whatever floats say

    def make(tree: Tree, growth: Growth, costs: Costs, stack: Stack, most: int, least: int) -> None:
        grow(space.tuples, tree, space.trees, rise, growth, costs, stack, 1, rows, ceiling, most, least)

    growth = grow_classes(space, rows, 1, make, progress, "growing classes", seeds=seeds)
    return space.groups(growth.member)
