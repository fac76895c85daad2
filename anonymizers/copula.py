"""Gaussian copula: every column keeps its own distribution, and pairs of columns their correlation.

Each value becomes a place between 0 and 1: the middle of the stretch that its share of the rows takes up among the values
in order. Places become normal scores, whose correlations are the model. A made-up row is drawn from the normal
distribution with these correlations, and each of its scores is read back as the value on whose stretch it falls. So
margins are those of the table (up to what drawing changes), and what two columns have in common beyond a correlation is
lost, as is everything that takes three columns to see.

Numbers and ordinals are in their own order. Nominal values have none: the commonest comes first (ordered uniform coding),
of values as common as each other the one that is first by text. A missing nominal value is a value; whether a number or
ordinal is missing is a column of its own in the model, and one that is missing has the middle score.

Papers: R. Nelsen, "An Introduction to Copulas", 2006; N. Patki, R. Wedge, K. Veeramachaneni, "The Synthetic Data Vault",
DSAA 2016 (synthesis by it). They draw a place inside the stretch at random where we take its middle, which needs no
chance in learning and gives the correlations of mid-ranks; and fit a family of distributions to numbers where we keep the
values that occur. Every published value is therefore one that somebody has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.synthesis import Drawn, Synthesizer
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.progress import Progress
from auditor.model.schema import Type
from auditor.model.table import Table

_RIDGE = 1e-9  # keeps the correlations of columns that say the same positive definite


@dataclass(frozen=True)
class Copula(Synthesizer):
    """Draws rows from a Gaussian copula with the margins of the table."""

    name: ClassVar[str] = "copula"
    summary: ClassVar[str] = "Synthetic: rows drawn from a Gaussian copula with the margins of the table."
    paper: ClassVar[str] = "Nelsen 2006; Patki, Wedge & Veeramachaneni 2016"

    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        from scipy import special

        margins = {c: _Margin(table.domains[c], table.codes[c]) for c in columns}
        rows = table.in_order()  # sums of floating-point numbers depend on their order
        scores = [margins[c].scores(special.ndtri(margins[c].middle), table.codes[c][rows]) for c in columns]
        starts = np.cumsum([0, *(one.shape[1] for one in scores)])
        progress(1, 3, "drawing")
        normal = rng.standard_normal((self.rows or table.rows, starts[-1])) @ _root(np.hstack(scores)).T
        progress(2, 3, "drawing")
        return {c: margins[c].read(special.ndtr(normal[:, at:])) for c, at in zip(columns, starts, strict=False)}, ()


class _Margin:
    """The values of a column on the line from 0 to 1; `middle` is the middle of each code's stretch. Where `apart`, what is
    missing is not on the line, and the share `known` of the rows is."""

    def __init__(self, domain: Domain, codes: Codes) -> None:
        counts = np.bincount(codes, minlength=domain.size)
        self.missing = domain.missing
        nominal = domain.column.type is Type.NOMINAL
        self.apart = not nominal and domain.missing is not None and 0 < counts[domain.missing] < len(codes)
        self.known = 1.0
        if self.apart and domain.missing is not None:
            self.known = 1 - counts[domain.missing] / len(codes)
            counts[domain.missing] = 0
        self.order: Ints = np.argsort(-counts, kind="stable") if nominal else np.arange(domain.size)
        self.reached = np.cumsum(counts[self.order])
        self.middle = np.empty(domain.size)
        rows = self.reached[-1]
        self.middle[self.order] = np.clip((self.reached - counts[self.order] / 2) / rows, 1e-12, 1 - 1e-12)

    def scores(self, of_code: Floats, codes: Codes) -> Floats:
        """The scores of some rows, in one column or two: where `apart`, the second is whether the value is missing."""
        if not self.apart:
            return of_code[codes][:, None]
        gone = codes == self.missing
        return np.column_stack([np.where(gone, 0.0, of_code[codes]), gone])

    def read(self, place: Floats) -> Codes:
        """The codes on whose stretches some places fall: those in the first column, or in the first two."""
        rows = self.reached[-1]
        at = np.minimum((place[:, 0] * rows).astype(np.int64), rows - 1)
        codes: Codes = self.order[np.searchsorted(self.reached, at, side="right")].astype(np.int32)
        if self.apart and self.missing is not None:
            codes[place[:, 1] > self.known] = self.missing
        return codes


def _root(scores: Floats) -> Floats:
    """The Cholesky root of the correlations of some columns of scores; one without spread is correlated with nothing."""
    shifted = scores - scores.mean(axis=0)
    spread = np.sqrt((shifted**2).mean(axis=0))
    shifted = np.where(spread > 1e-9, shifted / np.where(spread > 1e-9, spread, 1.0), 0.0)
    correlation = shifted.T @ shifted / len(scores)
    np.fill_diagonal(correlation, 1.0 + _RIDGE)
    return np.asarray(np.linalg.cholesky(correlation), dtype=np.float64)
