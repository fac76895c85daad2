"""Mondrian: multidimensional generalisation by recursive median cuts.

It starts with all rows as one class. A class is cut along the column in which it spreads widest, if every part holds the
constraints; otherwise along the next widest. When no column allows a cut, the class is final, and its values are generalised
to the narrowest labels that cover them. Strict cuts (the default) keep equal values together, so classes do not overlap.
Relaxed cuts (`strict = false`) may divide equal values and give smaller classes.

Every class holds all constraints asked for: k; `l` with `diversity` distinct, entropy or recursive (with `c`); `t` with
`closeness` equal, ordered or hierarchical; `alpha`; `epsilon` with `m`. All but k are about the sensitive column that
`sensitive` names (default: the first of the schema).

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
Decided here: columns with a taxonomy are cut into the children of their common node. Ties between columns go to the first in
the schema. A missing value comes after all others in order; in a column with a taxonomy, missing values are cut off first.
(ε,m) goes with strict cuts only: two classes of relaxed cuts may end with the same labels, a reader takes them for one class,
and (ε,m) need not hold for their union.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import generalise, need_quasi, published_columns
from anonymizers.shared.constrained import Constrained
from anonymizers.shared.constraints import all_limits, check_whole
from anonymizers.shared.cuts import by_tree, partition
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Mondrian(Constrained, Grouping):
    """Recursive median cuts down to classes that still hold the constraints."""

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "Multidimensional generalisation by recursive median cuts; k, l, t, α, (ε,m)."
    paper: ClassVar[str] = "LeFevre, DeWitt & Ramakrishnan 2006"

    strict: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None and not self.strict:
            raise UsageError("mondrian: epsilon and m need strict = true (see `auditor explain mondrian`).")

    @property
    def least_rows(self) -> int:
        return self.k

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        quasi = need_quasi(table, self.name)
        values, constraints = self.asked(table)
        check_whole(constraints, np.array([table.rows]) if values is None else values.whole, self.name)
        limits = all_limits(constraints, values)
        return Groups(partition(table, quasi, limits, values, self.strict, rng, progress))

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        labels, cells = generalise(table, need_quasi(table, self.name), groups.member)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng, self.about(table))

    def in_blocks(self, table: Table) -> Blocking:
        quasi = need_quasi(table, self.name)
        values, constraints = self.asked(table)
        if values is None:
            return Blocking(self, quasi, quasi, self.k, not self.strict)

        def allows(rows: Ints) -> bool:
            counts = np.bincount(values.codes[rows], minlength=len(values.whole))
            return all(constraint.holds(counts) for constraint in constraints)

        cut = quasi if self.epsilon is None else _told_apart(table, quasi)
        return Blocking(self, (*quasi, values.column), cut, self.k, not self.strict, allows)


def _told_apart(table: Table, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns in which the two sides of a cut never get the same label: (ε,m) need not hold for the union of two classes.
    A node of a taxonomy can cover values on both sides, and so can a label for missing and other values together."""
    domains = {column: table.domains[column] for column in columns}
    return tuple(c for c, domain in domains.items() if not by_tree(domain) and domain.missing is None)
