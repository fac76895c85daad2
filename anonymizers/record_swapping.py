"""Record swapping: some rows exchange a part of their values with another row, within strata.

A share `rate` of the rows is drawn, among rows that agree in the columns `strata`. They are paired at random, and each pair
exchanges its values of the columns that are swapped, all together: those named in `columns`, or else every quasi-identifier
that is no stratum. Tables over the strata and the sensitive columns stay exact, and so do tables over the swapped ones.

Nothing is promised: a row that was not drawn is published as it was, and whoever finds the only record with somebody's
values is wrong about it with at most the probability `rate`.

Papers: T. Dalenius, S. Reiss, "Data-Swapping: A Technique for Disclosure Control", 1982; as in the US census of 1990 and
2000, S. Fienberg, J. McIntyre, "Data Swapping: Variations on a Theme by Dalenius and Reiss", 2004.
Decided here: rows are drawn alike, rare ones no more often than others. In a stratum of m rows, rate · m rows are drawn,
the rest of the division by two at random. Partners may have the same values, and a row alone in its stratum has no
partner. A missing value is exchanged as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import need_quasi
from anonymizers.shared.perturbing import Perturbed, Perturbing
from auditor.model.errors import UsageError
from auditor.model.mechanism import RecordSwap
from auditor.model.packing import distinct_rows
from auditor.model.schema import Type
from auditor.model.table import Table


@dataclass(frozen=True)
class RecordSwapping(Perturbing):
    """Exchanges parts of rows within strata."""

    name: ClassVar[str] = "record-swapping"
    summary: ClassVar[str] = "Exchanges some columns between a share of the rows, within strata."
    paper: ClassVar[str] = "Dalenius & Reiss 1982; Fienberg & McIntyre 2004"
    takes: ClassVar[tuple[Type, ...]] = tuple(Type)

    rate: float = 0.1
    strata: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise UsageError(f"rate must be a share of the rows, above 0 and at most 1. Got {self.rate}.")
        if set(self.strata) & set(self.columns):
            raise UsageError("strata must not name a column that is swapped.")

    def chosen(self, table: Table) -> tuple[str, ...]:
        self.need_published(table, "strata", self.strata)
        if self.columns:
            return super().chosen(table)
        swapped = tuple(c for c in need_quasi(table, self.name) if c not in self.strata)
        if not swapped:
            raise UsageError(f"{self.name}: strata must leave a quasi-identifier to swap. Name columns.")
        return swapped

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        stratum = distinct_rows(table.matrix(self.strata)) if self.strata else np.zeros(table.rows, dtype=np.int64)
        order = rng.permutation(table.rows)
        order = order[np.argsort(stratum[order], kind="stable")]
        starts = np.append(np.flatnonzero(np.diff(stratum[order], prepend=-1)), table.rows)
        source = np.arange(table.rows)
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            pairs = min(int(self.rate * (end - begin) / 2 + rng.random()), (end - begin) // 2)
            one, other = order[begin : begin + pairs], order[begin + pairs : begin + 2 * pairs]
            source[one], source[other] = other, one
        change = RecordSwap(self.rate, columns, self.strata)
        return Perturbed(dict.fromkeys(columns, change), {c: table.codes[c][source] for c in columns})
