"""The algorithm of Loukides and Shao: classes grown from random seeds as long as their values stay alike.

A class starts from a random row. It takes the nearest row, the one that makes its values least diverse, as long as its
diversity stays within `threshold`. Then the next class starts from another random row. Classes that end with fewer than k
rows are deleted: their rows are not published, only counted. Values of the others are then generalised.

The diversity of a class is a mean over the quasi-identifiers: for numbers and ordinals the width of its interval over the
range, for other columns the height of the common ancestor over that of the taxonomy. It is 0 where all rows are equal and 1
where the class covers everything.

Paper: G. Loukides, J. Shao, "Capturing data usefulness and privacy protection in k-anonymisation", SAC 2007 (as
in M. El-Rashidy et al., "An Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: diversity is that of the quasi-identifiers only, on the scale above. A class takes rows beyond k as long as they
fit, which only lowers the risk. Where every class would be deleted, an error names the threshold; there is no empty release.
A missing value is a whole column away from all others. Ties go to the row whose values come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import generalise, need_quasi, published_columns
from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Groups
from anonymizers.shared.growing import Growing
from anonymizers.shared.people import People
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class LoukidesShao(Clustering):
    """Classes grown from random seeds up to a threshold of diversity; small ones are deleted."""

    name: ClassVar[str] = "loukides-shao"
    summary: ClassVar[str] = "Random seeds, grown while values stay alike; classes below k are deleted."
    paper: ClassVar[str] = "Loukides & Shao 2007"

    threshold: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"{self.name}: threshold must be from 0 to 1. Got {self.threshold:g}.")

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        return grow_alike(Space.of(table, columns), self.threshold, rng.permutation(table.rows), progress)

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        sizes = People(table).sizes(groups.member)
        if sizes.max() < self.k:
            raise PromiseError(
                f"{self.name}: no class reaches k = {self.k} rows within a diversity of {self.threshold:g}; the largest "
                f"has {sizes.max()}. Give a larger threshold or a smaller k."
            )
        kept = np.where(sizes[groups.member] < self.k, -1, groups.member)
        labels, cells = generalise(table, need_quasi(table, self.name), kept)
        return self.publish(table, labels, cells, [published_columns(table)], kept, rng)


def grow_alike(space: Space, threshold: float, seeds: Ints, progress: Progress = silent) -> Ints:
    """The class of each row. `seeds` are all rows, as places in the order of tuples, in the order they may start a class."""
    from anonymizers.kernels.growing import grow

    rows, rise, work = len(space.rows), space.rise(), Growing(space, len(space.rows), seeds=seeds)
    growth, costs, stack = work.growth, work.costs, work.stack
    ceiling = int(threshold * space.unit * len(space.columns) * (1 + 1e-12))  # 0.3 of 10 is 3, whatever floats say
    for tree, most, least in work.slices(1, progress, "growing classes"):
        grow(space.tuples, tree, space.trees, rise, growth, costs, stack, 1, rows, ceiling, most, least)
    return space.groups(growth.member)
