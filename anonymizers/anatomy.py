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

from anonymizers.base import (
    at_least,
    need_eligible,
    published_columns,
    quasi_columns,
    sensitive_column,
    sensitive_columns,
)
from anonymizers.shared.dealing import deal_out
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Ints
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


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
        need_eligible(table, column, self.l, self.name)
        shuffled = rng.permutation(table.rows)
        group = np.empty(table.rows, dtype=np.int64)
        group[shuffled], _ = deal_out(table.codes[column].astype(np.int64), shuffled, self.l, rng, progress)
        return Groups(group)

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
