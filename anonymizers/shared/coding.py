"""Codes for the ends of a distribution: numbers beyond a threshold become one number (`top_coding`, `bottom_coding`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.shared.aggregation import in_digits
from anonymizers.shared.perturbing import Perturbed, Perturbing, numbers_of
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.mechanism import Change, Coding
from auditor.model.schema import Type
from auditor.model.table import Table

_SMALLEST = float(np.finfo(np.float64).tiny)


class Replaced(StrEnum):
    """What numbers beyond the threshold become."""

    THRESHOLD = "threshold"
    MEAN = "mean"


@dataclass(frozen=True)
class EndCoding(Perturbing):
    """Publishes numbers beyond a threshold as one number; `above` says at which end."""

    takes: ClassVar[tuple[Type, ...]] = (Type.NUMERIC,)
    above: ClassVar[bool]

    share: float = 0.05
    threshold: float | None = None
    by: Replaced = Replaced.THRESHOLD

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise UsageError(f"share must be a share of the rows, above 0 and below 1. Got {self.share}.")
        if self.threshold is not None and len(self.columns) != 1:
            raise UsageError("threshold is a number of one column. Name it in columns.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        if self.by is Replaced.MEAN:
            return ()
        beyond = "above" if self.above else "below"
        limit = f"leaves {self.share:g} of the rows {beyond}" if self.threshold is None else f"is {self.threshold:g}"
        return (f"no number {beyond} the threshold, which {limit}",)

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        changes: dict[str, Change] = {}
        numbers: dict[str, Floats] = {}
        for column in columns:
            values = numbers_of(table, column)
            there = values[~np.isnan(values)]
            if not len(there):
                continue
            cut, sign = self.threshold, 1 if self.above else -1
            if cut is None:  # at most the share lies beyond
                cut = sign * float(np.quantile(sign * there, 1 - self.share, method="inverted_cdf")) + 0.0
            beyond = there[there > cut if self.above else there < cut]
            if not len(beyond):
                continue
            published = (
                cut
                if self.by is Replaced.THRESHOLD
                else in_digits(float(beyond.mean()), max(float(np.abs(beyond).max()), _SMALLEST))
            )
            numbers[column] = np.where(values > cut if self.above else values < cut, published, values)
            changes[column] = Coding(cut, published, self.above)
        return Perturbed(changes, numbers=numbers)
