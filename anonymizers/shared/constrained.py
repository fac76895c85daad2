"""Constrained: the settings of methods that can keep any of the constraints on classes (`constraints.py`).

Every class holds all that are asked for: k; `l` with `diversity` distinct, entropy or recursive (with `c`); `t` with
`closeness` equal, ordered or hierarchical; `alpha`; `epsilon` with `m`. All but k are about the sensitive column that
`sensitive` names (default: the first of the schema).
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizers.base import Anonymizer, at_least, sensitive_column
from anonymizers.shared.constraints import (
    Close,
    Closeness,
    DistinctValues,
    Diversity,
    EntropyDiversity,
    LargestShare,
    Limited,
    RecursiveDiversity,
    Scattered,
    Size,
    Values,
)
from auditor.model.errors import UsageError
from auditor.model.table import Table


@dataclass(frozen=True)
class Constrained(Anonymizer):
    """A technique whose classes hold any of the constraints."""

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

    def __post_init__(self) -> None:
        at_least(f"{self.name}: k", self.k, 1)
        at_least(f"{self.name}: l", self.l, 1)
        if (self.c is not None) != (self.diversity is Diversity.RECURSIVE):
            raise UsageError(f'{self.name}: c goes with diversity = "recursive", and that needs c.')
        if self.l is None and self.diversity is not Diversity.DISTINCT:
            raise UsageError(f'{self.name}: diversity = "{self.diversity}" needs l.')
        if (self.epsilon is None) != (self.m is None):
            raise UsageError(f"{self.name}: epsilon and m go together.")
        for name, value, low, high in (
            ("t", self.t, 0, 1),
            ("alpha", self.alpha, 0, 1),
            ("epsilon", self.epsilon, 0, None),
        ):
            if value is not None and (value < low or (high is not None and value > high)):
                limits = f"from {low} to {high}" if high is not None else f"at least {low}"
                raise UsageError(f"{self.name}: {name} must be {limits}. Got {value:g}.")
        for name, value in (("c", self.c), ("m", self.m)):
            if value is not None and value <= 0:
                raise UsageError(f"{self.name}: {name} must be above 0. Got {value:g}.")

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

    def about(self, table: Table) -> str | None:
        """The sensitive column that the constraints are about; None where only k is asked for."""
        if all(value is None for value in (self.l, self.t, self.alpha, self.epsilon)):
            return None
        return sensitive_column(table, self.sensitive, self.name)

    def constraints(self, rows: int, values: Values | None) -> list[Limited]:
        """The constraints that each class of a table with so many rows must hold."""
        found: list[Limited] = [Size(self.k, rows)]
        if values is None:
            return found
        if self.l is not None and self.diversity is Diversity.DISTINCT:
            found.append(DistinctValues(self.l, values))
        elif self.l is not None and self.diversity is Diversity.ENTROPY:
            found.append(EntropyDiversity(self.l, values))
        elif self.l is not None and self.c is not None:
            found.append(RecursiveDiversity(self.c, self.l, values))
        if self.t is not None:
            found.append(Close(self.t, self.closeness, values))
        if self.alpha is not None:
            found.append(LargestShare(self.alpha, values))
        if self.epsilon is not None and self.m is not None:
            found.append(Scattered(self.epsilon, self.m, values))
        return found

    def asked(self, table: Table) -> tuple[Values | None, list[Limited]]:
        """The values that the constraints are about, and the constraints."""
        about = self.about(table)
        values = None if about is None else Values(table, about)
        return values, self.constraints(table.rows, values)
