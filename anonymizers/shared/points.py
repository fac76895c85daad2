"""Records as points, whose distances and averages microaggregation takes.

The squared distance of two records is a sum over columns: for a number (x - y)² over the variance of the column (or as it
is, where columns are not standardised); for an ordinal ((number of categories from one to the other) / (number of
categories))²; for a nominal column 0 where the values are equal and 1 otherwise. The average record holds the mean of a
numeric column, the median of an ordinal one, the mode of a nominal one.

For the points of a block, the means, medians and variances of columns are those of the whole table.

A missing number or ordinal stands at the column's mean or median and is one unit farther from every present value: a
further column, 0/1 like a nominal one, says whether the value is missing. A missing nominal value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from anonymizers.shapes import Average, Points
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.schema import Type
from auditor.model.table import Table


class Middle(StrEnum):
    """How ordinals are averaged (`kernels.averages` defines both)."""

    MEDIAN = "median"
    CONVEX = "convex"


def points_of(
    table: Table, columns: Sequence[str], ordinal: Middle = Middle.MEDIAN, standardise: bool = True
) -> Points:
    """The points of a table, over some of its columns."""
    measured: list[tuple[Floats, float, Average, int]] = []
    nominal: list[tuple[Floats, float, Average, int]] = []
    for column in columns:
        domain, codes = table.domains[column], table.codes[column]
        if domain.column.type is Type.NOMINAL:
            nominal.append((codes.astype(np.float64), 1.0, Average.MODE, domain.size))
            continue
        present = codes != domain.missing if domain.missing is not None else np.ones(table.rows, dtype=np.bool_)
        if not present.all():
            nominal.append(((~present).astype(np.float64), 1.0, Average.MODE, 2))
        if not present.any():
            continue
        counts = table.counts(column)[: domain.known]
        if domain.numbers is not None:
            measured.append(_numbers(domain.numbers, codes, counts, present, standardise))
        else:
            measured.append(_ranks(domain, codes, counts, present, ordinal))
    chosen = measured + nominal
    return Points(
        np.column_stack([values for values, *_ in chosen]),
        np.array([weight for _, weight, _, _ in chosen]),
        len(measured),
        np.array([average for _, _, average, _ in chosen], dtype=np.int8),
        np.array([size for *_, size in chosen], dtype=np.int64),
    )


def _numbers(
    numbers: Floats,
    codes: Codes,
    counts: Ints,
    present: Bools,
    standardise: bool,
) -> tuple[Floats, float, Average, int]:
    """A numeric column, as differences from a number in its middle: differences of whole numbers stay exact, so equal
    distances are equal, and sums stay small. The standard deviation goes into the weight, not into the numbers."""
    middle = np.searchsorted(np.cumsum(counts), counts.sum() // 2, side="right")
    shifted = numbers - numbers[middle]
    mean = np.average(shifted, weights=counts)
    values = np.full(len(codes), mean)
    values[present] = shifted[codes[present]]
    variance = float(np.average((shifted - mean) ** 2, weights=counts)) if np.count_nonzero(counts) > 1 else 0.0
    weight = 1.0 if not standardise else 1 / variance if variance > 0 else 0.0
    return values, weight, Average.MEAN, 0


def _ranks(
    domain: Domain, codes: Codes, counts: Ints, present: Bools, ordinal: Middle
) -> tuple[Floats, float, Average, int]:
    """An ordinal column: the place of each value in the order."""
    from anonymizers.kernels.averages import median

    values = codes.astype(np.float64)
    values[~present] = median(counts, ordinal is Middle.CONVEX)
    average = Average.CONVEX if ordinal is Middle.CONVEX else Average.MEDIAN
    return values, 1 / domain.known**2, average, domain.known
