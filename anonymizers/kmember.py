"""Greedy k-member clustering: classes of k rows, each grown by the row that adds the least information loss.

The first class starts from a random row, every further one from the row farthest from the last seed. A class takes the row
that raises its information loss least until it has k; when fewer than k rows are left, each joins the class whose loss
it raises least. The loss of a record is the width of its interval over the range for numbers and ordinals, and the height
of the common ancestor over that of the taxonomy for other columns. Values are then generalised.

Paper: J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007 (as
in M. El-Rashidy et al., "An Effective K-Anonymity Clustering Method", IJARCS 2011).
Decided here: a column without a taxonomy counts as a taxonomy of one level; a missing value is a whole column away from all
others; ties go to the row whose values come first. Distances are whole numbers (see `anonymizers/shared/distance.py`), and
the search is exact: it gives the classes that comparing every row with every other would give.
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
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.growing import Growth
    from anonymizers.kernels.search import Costs, Stack
    from anonymizers.kernels.tree import Tree


@dataclass(frozen=True)
class KMember(Grouping):
    """Classes of k rows, each grown by the row that adds the least information loss."""

    name: ClassVar[str] = "kmember"
    summary: ClassVar[str] = "Greedy clustering by least information loss, generalised."
    paper: ClassVar[str] = "Byun, Kamra, Bertino & Li 2007"

    k: int = 5

    def __post_init__(self) -> None:
        at_least("kmember: k", self.k, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.k}",)

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        need_rows(table, self.k, self.name)
        return Groups(k_member(Space.of(table, quasi), self.k, int(rng.integers(table.rows)), progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        labels, cells = generalise(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)


def k_member(space: Space, k: int, start: int, progress: Progress = silent) -> Ints:
    """The class of each row. `start` is the first seed, as a place among the rows in the order of tuples."""
    from anonymizers.kernels.growing import grow, join
    from anonymizers.kernels.search import HUGE

    rise = space.rise()

    def make(tree: Tree, growth: Growth, costs: Costs, stack: Stack, most: int, least: int) -> None:
        grow(space.tuples, tree, space.trees, rise, growth, costs, stack, k, k, HUGE, most, least)

    first = int(np.searchsorted(space.first, start, side="right")) - 1
    growth = grow_classes(space, len(space.rows) // k, k, make, progress, "k-member", start=first)
    join(space.tuples, space.trees, rise, growth, space.unit)
    return space.groups(growth.member)
