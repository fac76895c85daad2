"""Noise: a random number is added to each number.

The standard deviation of what is added is a share of that of the column (`sd`): 0.1 adds a hundredth of its variance. The
distribution is normal or Laplace. With `correlated` the noise of several columns has their own covariance, times the
square of `sd`: the correlations of the published numbers are expected to be those of the original, where independent
noise weakens them. Sums are rounded to as many decimals as the column has (`decimals`: to so many), so that ages stay
whole numbers.

Nothing is promised. The mean of a column is expected to stay, its variance to grow by the factor 1 + sd². Whoever knows the
deviation weighs each record by how likely the noise brought it there, and finds rare people: noise of the same size for all
does not hide those who stand apart.

Papers: J. Kim, "A Method for Limiting Disclosure in Microdata Based on Random Noise and Transformation", 1986; R. Brand,
"Microdata Protection through Noise Addition", 2002.
Decided here: deviations and covariances are those of the rows that have the value; a missing one stands at the mean.
Columns without any variance stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.perturbing import Perturbed, Perturbing, drawn_once, numbers_of
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.key import decimals_of
from auditor.model.mechanism import Change, Correlated, Distribution
from auditor.model.mechanism import Noise as Added
from auditor.model.schema import Type
from auditor.model.table import Table

_NEGLIGIBLE = 1e-9
_MOST_DECIMALS = 12


@dataclass(frozen=True)
class Noise(Perturbing):
    """Adds random numbers to numbers."""

    name: ClassVar[str] = "noise"
    summary: ClassVar[str] = "Adds random numbers, of a given share of each column's deviation; correlated on demand."
    paper: ClassVar[str] = "Kim 1986; Brand 2002"
    takes: ClassVar[tuple[Type, ...]] = (Type.NUMERIC,)

    sd: float = 0.1
    distribution: Distribution = Distribution.NORMAL
    correlated: bool = False
    decimals: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.sd <= 100:
            raise UsageError(f"sd must be above 0, and at most 100. Got {self.sd}.")
        if self.correlated and self.distribution is not Distribution.NORMAL:
            raise UsageError("correlated noise is normal. Leave out distribution.")
        at_least("decimals", self.decimals, 0)

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        numbers = {column: numbers_of(table, column) for column in columns}
        spread = {column: _deviation(values) for column, values in numbers.items()}
        columns = tuple(column for column in columns if spread[column] > 0)
        together = self._together([numbers[c] for c in columns]) if self.correlated and columns else None
        noise = self._drawn(table, columns, spread, together, rng)
        changes: dict[str, Change] = {}
        for column in columns:
            decimals = self.decimals
            if decimals is None:
                decimals = min(
                    decimals_of(np.unique(numbers[column][~np.isnan(numbers[column])]).tolist()), _MOST_DECIMALS
                )
            numbers[column] = np.round(numbers[column] + noise[column], decimals) + 0.0  # no -0
            changes[column] = Added(self.sd * spread[column], self.distribution, float(10.0**-decimals))
        joint = None if together is None else Correlated(columns, tuple(map(tuple, together.tolist())))
        return Perturbed(changes, numbers={c: numbers[c] for c in columns}, correlated=joint)

    def _together(self, columns: list[Floats]) -> Floats:
        """The covariance of the noise in all columns."""
        centred = np.column_stack([np.nan_to_num(values - np.nanmean(values)) for values in columns])
        there = np.column_stack([~np.isnan(values) for values in columns]).sum(axis=0)
        scale = np.sqrt(len(centred) / there)  # the variance of a column is that of the rows that have the value
        covariance = centred.T @ centred / len(centred) * np.outer(scale, scale)
        return np.asarray(self.sd**2 * (covariance + covariance.T) / 2)

    def _drawn(
        self,
        table: Table,
        columns: tuple[str, ...],
        spread: dict[str, float],
        together: Floats | None,
        rng: np.random.Generator,
    ) -> dict[str, Floats]:
        """What is added to each row, by column."""
        if together is not None:
            root = _root(together)
            draws = rng.standard_normal((table.rows, len(columns)))
            noise = np.zeros_like(draws)
            for place in range(len(columns)):  # one product after another, the same on every machine
                noise += draws[:, place][:, None] * root[:, place]
            return {
                c: noise[:, place][drawn_once(table, c)[0]][drawn_once(table, c)[1]] for place, c in enumerate(columns)
            }
        found = {}
        for column in columns:
            first, which = drawn_once(table, column)
            size, sd = len(first), self.sd * spread[column]
            normal = self.distribution is Distribution.NORMAL
            draws = rng.normal(0.0, sd, size) if normal else rng.laplace(0.0, sd / np.sqrt(2), size)
            found[column] = draws[which]
        return found


def _deviation(values: Floats) -> float:
    """The standard deviation of the numbers that are there; 0 where they are all the same."""
    there = values[~np.isnan(values)]
    if not len(there):
        return 0.0
    deviation = float(there.std())
    return deviation if deviation > _NEGLIGIBLE * float(np.abs(there).max()) else 0.0


def _root(covariance: Floats) -> Floats:
    """The lower triangular root of a covariance (Cholesky); columns that follow from others add nothing of their own."""
    size = len(covariance)
    root = np.zeros((size, size))
    for j in range(size):
        rest = covariance[j, j] - (root[j, :j] ** 2).sum()
        if rest > _NEGLIGIBLE * covariance[j, j]:
            root[j, j] = np.sqrt(rest)
            for i in range(j + 1, size):
                root[i, j] = (covariance[i, j] - (root[i, :j] * root[j, :j]).sum()) / root[j, j]
    return root
