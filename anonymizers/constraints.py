"""Constraints on classes, composable: a partition is allowed where every constraint holds for its rows.

Further ones (entropy and recursive l, t-closeness, (α,k), (ε,m)) join by another class here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.model.errors import PromiseError
from auditor.model.table import Table

Rows = NDArray[np.int64]


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


class DistinctValues(Constraint):
    """Distinct l-diversity: at least l different values of a sensitive column."""

    def __init__(self, least: int, column: str, codes: NDArray[np.int32]) -> None:
        self.least, self.column, self.codes = least, column, codes

    def holds(self, rows: Rows) -> bool:
        return len(np.unique(self.codes[rows])) >= self.least

    def fault(self) -> str:
        distinct = len(np.unique(self.codes))
        return f"l must be at most the {distinct} distinct values of {self.column!r}. Got l = {self.least}"


def check_whole(constraints: Sequence[Constraint], table: Table, name: str) -> None:
    """An error where even one class of all rows would break a constraint: then no release can hold them."""
    everybody = np.arange(table.rows)
    for constraint in constraints:
        if not constraint.holds(everybody):
            raise PromiseError(f"{name}: {constraint.fault()}.")
