"""Noisy histogram: how often each combination of values occurs, with noise, and nothing of combinations that are too rare.

The rows are counted by all published columns together, numbers in `bins` bins. Only combinations that occur are counted:
each count gets discrete Laplace noise of scale 1/ε, and those whose noisy count is below a threshold T are left out. What
remains is published, each combination as often as its noisy count says; a number is drawn from its bin. T is the least
whole number for which a combination that one person alone has is published with a probability of at most δ:

    P(1 + noise ≥ T) = e^(-ε(T-1))/(1 + e^(-ε)) ≤ δ.

The release is (ε, δ)-differentially private for one person more or less. Let a person be added to a table. If somebody
has the same combination already, one count changes by 1, which the noise makes up for at ε. If nobody has, the two tables
lead to the same releases unless the new combination is published, which happens with a probability of at most δ. So
values need not be declared, since rare ones are never published; only the range of numbers that the schema does not
declare is taken as public (`anonymizers/shared/public_bins.py`). Where people have several rows, `most_rows` = m of each
count at most: the noise has the scale m/ε, and with T from δ/m any of up to m new combinations, each with up to m rows,
is published with a probability of at most δ in all.

It keeps whole rows, so it serves tables of few columns with few values. In others no combination is common enough, and the
method says so; since that depends on noisy counts only, saying so is covered by ε and δ as well.

Papers: A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas, "Releasing search queries and clicks privately", WWW 2009; M.
Bun, K. Nissim, U. Stemmer, "Simultaneous private learning of multiple concepts", ITCS 2016 (stability-based histograms).
Noise is of whole numbers here, and T follows from its distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log1p
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.differential import Budget, Noise
from anonymizers.shared.public_bins import NEIGHBOURS, PublicBins, bounded, taken_as_public
from anonymizers.shared.synthesis import Drawn, Synthesizer, drawn_from
from auditor.model.errors import PromiseError, UsageError
from auditor.model.packing import distinct_rows
from auditor.model.progress import Progress
from auditor.model.table import Table


@dataclass(frozen=True)
class NoisyHistogram(Synthesizer):
    """Publishes combinations of values as often as their noisy counts say, if these are large enough."""

    name: ClassVar[str] = "noisy-histogram"
    summary: ClassVar[str] = "Synthetic: whole rows by noisy counts above a threshold; differentially private."
    paper: ClassVar[str] = "Korolova, Kenthapadi, Mishra & Ntoulas 2009; Bun, Nissim & Stemmer 2016"

    epsilon: float = 1.0
    delta: float = 1e-6
    bins: int = 8
    most_rows: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("bins", self.bins, 1)
        at_least("most_rows", self.most_rows, 1)
        if not Budget(self.epsilon, self.delta).delta > 0:
            raise UsageError(f"{self.name}: delta must be above 0 and below 1. Got {self.delta:g}.")

    @property
    def budget(self) -> Budget:
        """What is spent."""
        return Budget(self.epsilon, self.delta)

    @property
    def noise(self) -> Noise:
        """The noise of each count."""
        return self.budget.laplace(1.0, 1, self.most_rows or 1)

    @property
    def threshold(self) -> int:
        """The least noisy count that is published."""
        assert self.noise.scale is not None
        return threshold(self.noise.scale, self.delta, self.most_rows or 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return str(self.budget), NEIGHBOURS

    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        bins = {c: PublicBins(table.domains[c], self.bins) for c in columns}
        some = bounded(table, self.most_rows, self.name, rng)
        cells = np.column_stack([bins[c].of_code[some.codes[c]] for c in columns])
        _, first, counts = np.unique(distinct_rows(cells), return_index=True, return_counts=True)
        order = np.lexsort(cells[first].T)
        cells = cells[first][order]
        noisy = counts[order] + self.noise.draw(len(order), rng)
        kept = noisy >= self.threshold
        if not kept.any():
            raise PromiseError(
                f"{self.name}: no combination of values is common enough to be published (a noisy count of at least "
                f"{self.threshold}). Publish fewer columns, set fewer bins, or raise epsilon or delta."
            )
        progress(1, 2, "drawing")
        if self.rows is None:
            rows = np.repeat(cells[kept], noisy[kept], axis=0)
        else:
            rows = cells[kept][drawn_from(noisy[kept], self.rows, rng)]
        taken = taken_as_public(one for one in bins.values() if one.is_grid)
        return {c: bins[c].draw(rows[:, place], rng) for place, c in enumerate(columns)}, (*self.promises(), *taken)


def threshold(scale: float, delta: float, most: int = 1) -> int:
    """The least T that `most` plus discrete Laplace noise of a scale reaches with a probability of at most δ/most."""
    return most + max(ceil(-scale * (log(delta / most) + log1p(exp(-1 / scale)))), 1)
