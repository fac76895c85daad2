"""Greedy k-member clustering: classes of k rows, each grown by the row that adds the least information loss.

The first class starts from a random row, every further one from the row farthest from the last seed. A class takes the row
that raises its information loss least, until it has k rows. When fewer than k rows are left, each joins the class whose
loss it raises least. The loss of a record is a sum over columns: for numbers and ordinals the width of the interval over the
range, for other columns the height of the common ancestor over that of the taxonomy. Values are then generalised.

Paper: J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007 (as
in M. El-Rashidy et al., "An Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: a column without a taxonomy counts as a taxonomy of one level. A missing value is a whole column away from all
others. Ties go to the row whose values come first. Distances are whole numbers (see `anonymizers/shared/distance.py`), and
the search is exact: it finds the same classes as comparing every row with every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.clustering import Clustering
from anonymizers.shared.distance import Space
from anonymizers.shared.growing import Growing
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent
from auditor.model.table import Table


@dataclass(frozen=True)
class KMember(Clustering):
    """Classes of k rows, each grown by the row that adds the least information loss."""

    name: ClassVar[str] = "kmember"
    summary: ClassVar[str] = "Greedy clustering by least information loss, generalised."
    paper: ClassVar[str] = "Byun, Kamra, Bertino & Li 2007"

    def find_clusters(self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress) -> Ints:
        return k_member(Space.of(table, columns), self.k, int(rng.integers(table.rows)), progress)


def k_member(space: Space, k: int, start: int, progress: Progress = silent) -> Ints:
    """The class of each row. `start` is the first seed, as a place among the rows in the order of tuples."""
    from anonymizers.kernels.growing import grow, join
    from anonymizers.kernels.search import HUGE

    rise, work = space.rise(), Growing(space, len(space.rows) // k, start=start)
    growth, costs, stack = work.growth, work.costs, work.stack
    for tree, most, least in work.slices(k, progress, "k-member"):
        grow(space.tuples, tree, space.trees, rise, growth, costs, stack, k, k, HUGE, most, least)
    join(space.tuples, space.trees, rise, growth, space.unit)
    return space.groups(growth.member)
