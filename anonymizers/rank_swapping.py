"""Rank swapping: each value is exchanged with one of nearly the same rank.

The rows are sorted by a column. From the least on, each row that has no partner yet gets one at random among the rows
without a partner at most `window` percent of all rows above, and the two exchange their values. Each column is swapped by
itself. The counts of every value stay as they are, so means and variances do; how columns go together is weakened.

Promised is the window: a published value is at most so many ranks away from the true one. Nothing else is. Whoever knows
the window looks for the records whose values all lie within it, which in several columns are few.

Paper: R. Moore, "Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets", 1996.
Decided here: equal values have ranks in random order, so that a value that many rows share stays with many of them. The
window is at least one row. Missing values are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.perturbing import Perturbed, Perturbing, present
from auditor.model.arrays import Codes
from auditor.model.errors import UsageError
from auditor.model.mechanism import RankSwap, swapped_ranks, window_of
from auditor.model.schema import Type
from auditor.model.table import Table


@dataclass(frozen=True)
class RankSwapping(Perturbing):
    """Exchanges values between rows of similar rank, column by column."""

    name: ClassVar[str] = "rank-swapping"
    summary: ClassVar[str] = "Exchanges values between rows whose ranks differ by at most a share of all rows."
    paper: ClassVar[str] = "Moore 1996"
    takes: ClassVar[tuple[Type, ...]] = (Type.NUMERIC, Type.ORDINAL)

    window: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.window <= 100:
            raise UsageError(f"window must be a percentage above 0. Got {self.window}.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"swapped values differ in rank by at most {self.window:g} % of the rows, and at least 1",)

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        codes: dict[str, Codes] = {}
        for column in columns:
            codes[column] = table.codes[column].copy()
            rows = rng.permutation(np.flatnonzero(present(table.domains[column], codes[column])))
            rows = rows[np.argsort(codes[column][rows], kind="stable")]
            partner = swapped_ranks(len(rows), window_of(len(rows), self.window), rng)
            codes[column][rows] = table.codes[column][rows[partner]]
        return Perturbed({column: RankSwap(self.window) for column in columns}, codes)
