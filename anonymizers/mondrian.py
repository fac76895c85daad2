"""Mondrian: multidimensional generalisation by recursive median cuts.

Starting with all rows as one class, a class is cut along the column in which it spreads widest, as long as every part
holds the constraints; when no column allows a cut, the class is final and its values are generalised to the narrowest
labels that cover them. `strict` keeps equal values together, so classes do not overlap; relaxed cuts (`strict = false`)
may divide equal values and give smaller classes.

Constraints add up: k; `l` with `diversity` distinct, entropy or recursive (with `c`); `t` with `closeness` equal, ordered
or hierarchical; `alpha`; `epsilon` with `m`. All but k are about the sensitive column that `sensitive` names (default: the
first of the schema).

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
Decided here: columns with a taxonomy are cut into the children of their common node; ties between columns go to the
first in the schema; a missing value is a value apart, cut off before others. (ε,m) goes with strict cuts only: classes
of relaxed ones that end with the same labels are one class to a reader, and (ε,m) need not hold for their union.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, at_least, generalise, need_quasi, published_columns, sensitive_column
from anonymizers.constraints import (
    Close,
    Closeness,
    Constraint,
    DistinctValues,
    Diversity,
    EntropyDiversity,
    LargestShare,
    RecursiveDiversity,
    Scattered,
    Size,
    check_whole,
)
from anonymizers.cuts import Cutter
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Mondrian(Anonymizer):
    """Recursive median cuts down to classes that still hold the constraints."""

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "Multidimensional generalisation by recursive median cuts; k, l, t, α, (ε,m)."
    paper: ClassVar[str] = "LeFevre, DeWitt & Ramakrishnan 2006"

    k: int = 5
    l: int | None = None
    diversity: Diversity = Diversity.DISTINCT
    c: float | None = None
    t: float | None = None
    closeness: Closeness = Closeness.EQUAL
    alpha: float | None = None
    epsilon: float | None = None
    m: float | None = None
    sensitive: str | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        at_least("mondrian: k", self.k, 1)
        at_least("mondrian: l", self.l, 1)
        if (self.c is not None) != (self.diversity is Diversity.RECURSIVE):
            raise UsageError('mondrian: c goes with diversity = "recursive", and that needs c.')
        if self.l is None and self.diversity is not Diversity.DISTINCT:
            raise UsageError(f'mondrian: diversity = "{self.diversity}" needs l.')
        if (self.epsilon is None) != (self.m is None):
            raise UsageError("mondrian: epsilon and m go together.")
        if self.epsilon is not None and not self.strict:
            raise UsageError("mondrian: epsilon and m need strict = true (see `auditor explain mondrian`).")
        for name, value, low, high in (
            ("t", self.t, 0, 1),
            ("alpha", self.alpha, 0, 1),
            ("epsilon", self.epsilon, 0, None),
        ):
            if value is not None and (value < low or (high is not None and value > high)):
                limits = f"from {low} to {high}" if high is not None else f"at least {low}"
                raise UsageError(f"mondrian: {name} must be {limits}. Got {value:g}.")
        for name, value in (("c", self.c), ("m", self.m)):
            if value is not None and value <= 0:
                raise UsageError(f"mondrian: {name} must be above 0. Got {value:g}.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        about = f" ({sensitive or self.sensitive})" if sensitive or self.sensitive else ""
        said = [f"k = {self.k}"]
        if self.l is not None:
            kind = f"recursive, c = {self.c:g}" if self.c is not None else str(self.diversity)
            said.append(f"l = {self.l} {kind}{about}")
        if self.t is not None:
            said.append(f"t = {self.t:g} {self.closeness}{about}")
        if self.alpha is not None:
            said.append(f"alpha = {self.alpha:g}{about}")
        if self.epsilon is not None:
            said.append(f"({self.epsilon:g}, {self.m:g})-anonymity{about}")
        return tuple(said)

    def _about(self, table: Table) -> str | None:
        """The sensitive column that the constraints are about; None where only k is asked for."""
        if all(value is None for value in (self.l, self.t, self.alpha, self.epsilon)):
            return None
        return sensitive_column(table, self.sensitive, self.name)

    def _constraints(self, table: Table) -> list[Constraint]:
        found: list[Constraint] = [Size(self.k, table.rows)]
        column = self._about(table)
        if column is None:
            return found
        if self.l is not None and self.diversity is Diversity.DISTINCT:
            found.append(DistinctValues(self.l, table, column))
        elif self.l is not None and self.diversity is Diversity.ENTROPY:
            found.append(EntropyDiversity(self.l, table, column))
        elif self.l is not None and self.c is not None:
            found.append(RecursiveDiversity(self.c, self.l, table, column))
        if self.t is not None:
            found.append(Close(self.t, self.closeness, table, column))
        if self.alpha is not None:
            found.append(LargestShare(self.alpha, table, column))
        if self.epsilon is not None and self.m is not None:
            found.append(Scattered(self.epsilon, self.m, table, column))
        return found

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        quasi = need_quasi(table, self.name)
        constraints = self._constraints(table)
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
        return self.publish(table, labels, cells, [published_columns(table)], None, rng, self._about(table))
