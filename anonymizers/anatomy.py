"""Anatomy: quasi-identifiers and sensitive values are published in two tables, joined by l-diverse classes.

To form a class, one random tuple is taken from each of the l sensitive values that have most tuples left, as long as l
values have any. What is left over (fewer than l tuples, of different values) joins classes that lack its value. Only the
number of the class (the `bucket` column of the files) joins the two tables. So no value of a person can be told with a
probability above 1/l, while every quasi-identifier stays exact.

Paper: X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
Decided here: a table in which one value has more than n/l tuples cannot be grouped so and is refused. Several sensitive
columns stay together in the second table; the promise is about the one that `sensitive` names (default: the first of the
schema). Neutral columns go with the quasi-identifiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least, published_columns, quasi_columns, sensitive_column, sensitive_columns
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Ints
from auditor.model.discretion import shown
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_SLICE = 1 << 20
"""Classes that the kernel forms between two reports of progress: some tenths of a second."""


@dataclass(frozen=True)
class Anatomy(Grouping):
    """Two tables, joined only by classes in which each sensitive value has at most the share 1/l."""

    name: ClassVar[str] = "anatomy"
    summary: ClassVar[str] = (
        "Exact quasi-identifiers and sensitive values in two tables, joined only by l-diverse classes."
    )
    paper: ClassVar[str] = "Xiao & Tao 2006"

    l: int = 2
    sensitive: str | None = None

    def __post_init__(self) -> None:
        at_least("anatomy: l", self.l, 2)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"l = {self.l} distinct {sensitive or self.sensitive or 'sensitive values'}",)

    @property
    def least_rows(self) -> int:
        return self.l

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        column = sensitive_column(table, self.sensitive, self.name)
        return Groups(self._groups(table, column, rng, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        apart = sensitive_columns(table)
        first = [c for c in published_columns(table) if c not in apart]
        if not first:
            raise PromiseError("anatomy: the schema must name at least one column that is not sensitive.")
        column = sensitive_column(table, self.sensitive, self.name)
        return self.publish(table, {}, {}, [first, apart], groups.member, rng, column)

    def in_blocks(self, table: Table) -> Blocking:
        column = sensitive_column(table, self.sensitive, self.name)
        codes = table.codes[column]

        def allows(rows: Ints) -> bool:
            return int(np.bincount(codes[rows]).max()) * self.l <= len(rows)

        cut = quasi_columns(table)
        return Blocking(self, (*cut, column), cut, self.l, allows=allows)

    def _groups(self, table: Table, column: str, rng: np.random.Generator, progress: Progress) -> Ints:
        """The class of each row."""
        from anonymizers.kernels.anatomy import deal

        codes = table.codes[column]
        values, counts = np.unique(codes, return_counts=True)
        if int(counts.max()) * self.l > table.rows:
            often = table.domains[column].texts[int(values[counts.argmax()])]
            raise PromiseError(
                f"anatomy: no value of {column!r} may have more than n/l = {table.rows / self.l:.1f} rows for l = {self.l}. "
                f"The most common, {shown(often)}, has {counts.max()}. Lower l, or suppress rows."
            )
        shuffled = rng.permutation(table.rows)
        piles = shuffled[np.argsort(codes[shuffled], kind="stable")]
        first, left = np.cumsum(counts) - counts, counts.copy()
        group = np.full(table.rows, -1, dtype=np.int64)
        made, before = 0, -1
        while made > before:
            progress(made * self.l, table.rows, "forming groups")
            before, made = made, deal(piles, first, left, group, self.l, made, _SLICE)
        for place in sorted(np.flatnonzero(left), key=lambda v: -left[v]):  # the rest: some values, one tuple each
            for row in piles[first[place] : first[place] + left[place]]:
                lacking = np.ones(made, dtype=np.bool_)
                inside = group[codes == values[place]]
                lacking[inside[inside >= 0]] = False
                group[row] = rng.choice(np.flatnonzero(lacking))
        return group
