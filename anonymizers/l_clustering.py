"""L-clustering: classes of l rows with l different sensitive values, each grown by the row that adds the least loss.

The first class starts from a random row, every further one from the row farthest from the last seed. A class takes the row
that raises its information loss least among those whose sensitive value it does not have yet, until it has l rows. When the
rows that are left have fewer than l different values, each joins the class whose loss it raises least. Values are then
generalised. So every class has at least l different sensitive values, whatever their shares: a value that most people
have is still the likeliest one in most classes.

Paper: Z. Wang, J. Xu, W. Wang, B. Shi, "Clustering-Based Approach for Data Anonymization", Journal of Software 21(4), 2010
(in Chinese), named by Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation".
Decided here: the paper was not available. Its abstract says that anonymization is clustering under a constraint, that
L-clustering is for l-diversity, and that it lowers the information loss of generalising ordered and unordered attributes.
The rest is ours: the order in which classes are made, how they grow, what becomes of the rest (all as in `kmember`); the
loss, which is that of `kmember` and not one of uncertainty; l-diversity as l distinct values; labels by the taxonomy where
there is one. The promise is about the column that `sensitive` names (default: the first sensitive one of the schema).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least, generalise, need_quasi, published_columns, sensitive_column
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from anonymizers.shared.widening import Cover, Rows, join_rest
from auditor.model.arrays import Codes, Ints
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class LClustering(Grouping):
    """Classes with at least l different sensitive values, each grown by the row that adds the least information loss."""

    name: ClassVar[str] = "l-clustering"
    summary: ClassVar[str] = "Greedy clustering into classes with l different sensitive values, generalised."
    paper: ClassVar[str] = "Wang, Xu, Wang & Shi 2010 (not available: built from its abstract)"

    l: int = 2
    sensitive: str | None = None

    def __post_init__(self) -> None:
        at_least(f"{self.name}: l", self.l, 2)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.l}", f"l = {self.l} distinct {sensitive or self.sensitive or 'sensitive values'}")

    @property
    def least_rows(self) -> int:
        return self.l

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        column = sensitive_column(table, self.sensitive, self.name)
        quasi = need_quasi(table, self.name)
        there = len(np.unique(table.codes[column]))
        if there < self.l:
            raise PromiseError(
                f"{self.name}: l must be at most the {there} distinct values of {column!r}. Got l = {self.l}."
            )
        space = Space.of(table, quasi)
        start = int(rng.integers(table.rows))
        return Groups(diverse_clusters(space, table.codes[column], self.l, start, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        column = sensitive_column(table, self.sensitive, self.name)
        labels, cells = generalise(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng, column)

    def in_blocks(self, table: Table) -> Blocking:
        column = sensitive_column(table, self.sensitive, self.name)
        codes, quasi = table.codes[column], need_quasi(table, self.name)

        def allows(rows: Ints) -> bool:
            return len(np.unique(codes[rows])) >= self.l

        return Blocking(self, (*quasi, column), quasi, self.l, allows=allows)


def diverse_clusters(space: Space, codes: Codes, l: int, start: int, progress: Progress = silent) -> Ints:
    """The class of each row of the table, given its sensitive value. `start` is the first seed, as a place in the order of
    values."""
    rows = Rows(space)
    value = np.unique(codes[space.rows], return_inverse=True)[1].reshape(-1)
    order = np.lexsort((value, np.repeat(np.arange(len(space.tuples)), space.copies)))  # equal rows by sensitive value
    value = value[order]
    left, counts = np.ones(len(rows), dtype=np.bool_), np.bincount(value)
    member, covers = np.full(len(rows), -1, dtype=np.int64), list[Cover]()
    seed = start
    while np.count_nonzero(counts) >= l:
        progress(len(rows) - int(counts.sum()), len(rows), "l-clustering")
        if covers:
            places = np.flatnonzero(left)
            seed = int(places[rows.losses(rows.cover(seed), places).argmax()])
        cover, lacking = rows.cover(seed), left.copy()
        inside = [seed]
        while len(inside) < l:
            lacking &= value != value[inside[-1]]
            places = np.flatnonzero(lacking)
            inside.append(int(places[rows.losses(cover, places).argmin()]))
            rows.add(cover, inside[-1])
        member[inside], left[inside] = len(covers), False
        counts -= np.bincount(value[inside], minlength=len(counts))
        covers.append(cover)
    join_rest(rows, covers, member)
    out = np.empty_like(member)
    out[order] = member
    return space.groups(out)
