"""Mondrian: multidimensional generalisation by recursive median cuts.

Starting with all rows as one class, a class is cut along the column in which it spreads widest, as long as every part
holds the constraints (k, and l distinct sensitive values where asked); when no column allows a cut, the class is final and
its values are generalised to the narrowest labels that cover them. `strict` keeps equal values together, so classes do not
overlap; relaxed cuts (`strict = false`) may divide equal values and give smaller classes.

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006 (seed 003 [6]).
Decided here: columns with a taxonomy are cut into the children of their common node; ties between columns go to the
first in the schema; a missing value is a value apart, cut off before others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import (
    Anonymizer,
    at_least,
    generalise,
    need_quasi,
    published_columns,
    sensitive_column,
)
from anonymizers.constraints import Constraint, DistinctValues, Size, check_whole
from anonymizers.cuts import Cutter
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Mondrian(Anonymizer):
    """Recursive median cuts down to classes of at least k rows (and l distinct sensitive values)."""

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "Multidimensional generalisation by recursive median cuts; k, distinct l."
    paper: ClassVar[str] = "LeFevre, DeWitt & Ramakrishnan 2006"

    k: int = 5
    l: int | None = None  # the paper's name
    sensitive: str | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        at_least("mondrian: k", self.k, 1)
        at_least("mondrian: l", self.l, 1)

    def promises(self) -> tuple[str, ...]:
        diverse = (
            () if self.l is None else (f"l = {self.l} distinct" + (f" {self.sensitive}" if self.sensitive else ""),)
        )
        return (f"k = {self.k}", *diverse)

    def anonymize(self, table: Table, rng: np.random.Generator) -> tuple[Release, Provenance]:
        quasi = need_quasi(table, self.name)
        constraints: list[Constraint] = [Size(self.k, table.rows)]
        if self.l is not None:
            column = sensitive_column(table, self.sensitive, self.name)
            constraints.append(DistinctValues(self.l, column, table.codes[column]))
        check_whole(constraints, table, self.name)
        cutter = Cutter(table, quasi, self.strict)
        groups = np.empty(table.rows, dtype=np.int64)
        waiting, done = [np.arange(table.rows)], 0
        while waiting:
            rows = waiting.pop()
            for parts in cutter.cuts(rows, rng):
                if all(constraint.holds(part) for part in parts for constraint in constraints):
                    waiting.extend(parts)
                    break
            else:
                groups[rows] = done
                done += 1
        labels, cells = generalise(table, quasi, groups)
        return self.publish(table, labels, cells, [published_columns(table)], None, rng)
