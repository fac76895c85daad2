"""Constraints on classes, composable: a partition is allowed where every constraint holds for its rows.

Each asks `auditor.measure` for a figure of the class, the same that an audit computes from the published release, and
compares it with a limit. Sources: k-anonymity (Samarati and Sweeney 1998); distinct, entropy and recursive l-diversity
(Machanavajjhala et al. 2006); t-closeness (Li, Li and Venkatasubramanian 2007); (α,k)-anonymity (Wong et al. 2006);
(ε,m)-anonymity (Li, Tao and Xiao 2008).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from auditor.measure import divergences, diversity
from auditor.measure.nearness import largest_m
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Type
from auditor.model.table import Table

Rows = NDArray[np.int64]
_NOISE = 1e-9


class Diversity(StrEnum):
    """The readings of l-diversity."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class Closeness(StrEnum):
    """The distances of t-closeness."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class Constraint(ABC):
    """Something that each class must hold."""

    @abstractmethod
    def holds(self, rows: Rows) -> bool:
        """Whether a class of these rows would be allowed."""

    @abstractmethod
    def fault(self) -> str:
        """Why the whole table breaks it, where it does."""


class Size(Constraint):
    """k-anonymity: at least k rows."""

    def __init__(self, k: int, rows: int) -> None:
        self.k, self.rows = k, rows

    def holds(self, rows: Rows) -> bool:
        return len(rows) >= self.k

    def fault(self) -> str:
        return f"k must be at most the number of rows. Got k = {self.k} and {self.rows} rows"


class _Values(Constraint):
    """A constraint on the values of one sensitive column; `codes` are its values, numbered without gaps."""

    def __init__(self, table: Table, column: str) -> None:
        self.column, self.domain = column, table.domains[column]
        self.present, self.codes = np.unique(table.codes[column], return_inverse=True)

    def counts(self, rows: Rows) -> NDArray[np.int64]:
        """How often each value occurs, as a matrix of one row."""
        return np.bincount(self.codes[rows], minlength=len(self.present)).reshape(1, -1)

    @property
    def everybody(self) -> Rows:
        """All rows of the table."""
        return np.arange(len(self.codes))


class DistinctValues(_Values):
    """Distinct l-diversity: at least l different values."""

    def __init__(self, least: int, table: Table, column: str) -> None:
        super().__init__(table, column)
        self.least = least

    def holds(self, rows: Rows) -> bool:
        return int((self.counts(rows) > 0).sum()) >= self.least

    def fault(self) -> str:
        return f"l must be at most the {len(self.present)} distinct values of {self.column!r}. Got l = {self.least}"


class EntropyDiversity(_Values):
    """Entropy l-diversity: the values are as diverse as l equally frequent ones."""

    def __init__(self, least: float, table: Table, column: str) -> None:
        super().__init__(table, column)
        self.least = least

    def holds(self, rows: Rows) -> bool:
        return (diversity.entropy_l(self.counts(rows)) or 0.0) >= self.least - _NOISE

    def fault(self) -> str:
        whole = diversity.entropy_l(self.counts(self.everybody))
        return f"the whole table has entropy diversity {whole:.4g} in {self.column!r}. Got l = {self.least}"


class RecursiveDiversity(_Values):
    """Recursive (c, l)-diversity: the most frequent value occurs less than c times as often as all from the l-th on."""

    def __init__(self, c: float, least: int, table: Table, column: str) -> None:
        super().__init__(table, column)
        self.c, self.least = c, least

    def holds(self, rows: Rows) -> bool:
        needed = diversity.recursive_c(self.counts(rows), self.least)
        return needed is not None and needed < self.c

    def fault(self) -> str:
        needed = diversity.recursive_c(self.counts(self.everybody), self.least)
        found = f"needs c above {needed:.4g}" if needed is not None else f"has fewer than {self.least} values"
        return f"the whole table {found} in {self.column!r}. Got c = {self.c:g} and l = {self.least}"


class LargestShare(_Values):
    """(α,k)-anonymity: no value has more than the share α of a class."""

    def __init__(self, alpha: float, table: Table, column: str) -> None:
        super().__init__(table, column)
        self.alpha = alpha

    def holds(self, rows: Rows) -> bool:
        return (diversity.alpha(self.counts(rows)) or 0.0) <= self.alpha + _NOISE

    def fault(self) -> str:
        most = diversity.alpha(self.counts(self.everybody))
        return f"one value of {self.column!r} has the share {most:.4g} of the whole table. Got alpha = {self.alpha:g}"


class Close(_Values):
    """t-closeness: the values of a class are distributed nearly as those of the whole table."""

    def __init__(self, t: float, kind: Closeness, table: Table, column: str) -> None:
        super().__init__(table, column)
        self.t, self.kind = t, kind
        self.whole = self.counts(self.everybody)[0]
        self.chosen = self._chosen(self.domain)
        self.nodes = self._nodes(self.domain) if kind is Closeness.HIERARCHICAL else None

    def _chosen(self, domain: Domain) -> NDArray[np.bool_]:
        """The values that count: the missing one has no place in an order."""
        if self.kind is not Closeness.ORDERED:
            return np.ones(len(self.present), dtype=np.bool_)
        if domain.column.type is Type.NOMINAL:
            raise UsageError(f'closeness = "ordered" is for numeric and ordinal columns. {self.column!r} is nominal.')
        return np.asarray(self.present != (-1 if domain.missing is None else domain.missing))

    def _nodes(self, domain: Domain) -> NDArray[np.int64]:
        if domain.taxonomy is None or domain.column.type is not Type.NOMINAL:
            raise UsageError(f'closeness = "hierarchical" needs a nominal column with a taxonomy. Got {self.column!r}.')
        leaves = len(
            domain.taxonomy.leaf_node
        )  # the code after the leaves is the missing value, which stands at the root
        return np.where(self.present < leaves, domain.taxonomy.leaf_node[np.minimum(self.present, leaves - 1)], 0)

    def holds(self, rows: Rows) -> bool:
        counts, whole = self.counts(rows)[:, self.chosen], self.whole[self.chosen]
        if self.kind is Closeness.EQUAL:
            distance = divergences.equal_distance(counts, whole)
        elif self.kind is Closeness.ORDERED:
            distance = divergences.ordered_distance(counts, whole)
        else:
            assert self.domain.taxonomy is not None
            distance = divergences.hierarchical_distance(counts, whole, self.domain.taxonomy, self.nodes)
        return float(distance[0]) <= self.t + _NOISE

    def fault(self) -> str:
        return f"t must be at least 0. Got t = {self.t:g}"  # the whole table is at distance 0 from itself


class Scattered(_Values):
    """(ε,m)-anonymity: at most 1/m of a class lies within ±ε of any of its numbers."""

    def __init__(self, epsilon: float, m: float, table: Table, column: str) -> None:
        super().__init__(table, column)
        if self.domain.numbers is None:
            raise UsageError(f"epsilon and m are for numeric columns. {self.column!r} is {self.domain.column.type}.")
        if self.domain.missing is not None and self.domain.missing in self.present:
            raise PromiseError(f"(ε,m)-anonymity needs a number in every row of {self.column!r}: some are missing.")
        self.epsilon, self.m = epsilon, m
        self.numbers = self.domain.numbers[self.present]

    def _largest(self, rows: Rows) -> float:
        return largest_m(np.zeros(len(rows), dtype=np.int64), self.numbers[self.codes[rows]], self.epsilon)

    def holds(self, rows: Rows) -> bool:
        return self._largest(rows) >= self.m - _NOISE

    def fault(self) -> str:
        most = self._largest(self.everybody)
        return (
            f"the whole table has m = {most:.4g} for epsilon = {self.epsilon:g} in {self.column!r}. Got m = {self.m:g}"
        )


def check_whole(constraints: Sequence[Constraint], table: Table, name: str) -> None:
    """An error where even one class of all rows would break a constraint: then no release can hold them."""
    everybody = np.arange(table.rows)
    for constraint in constraints:
        if not constraint.holds(everybody):
            raise PromiseError(f"{name}: {constraint.fault()}.")
