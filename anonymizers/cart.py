"""CART synthesis: column by column, each drawn from the leaf of a decision tree over the columns before it.

The first column is drawn from its own values. For each further one a tree is grown that predicts it from the columns
already drawn; a made-up row goes down the tree by the values that it has, and takes the value of one of the people in its
leaf, each equally likely. Small leaves keep what the columns have to do with each other, and let more of single people
through: with `leaf = 1` a tree may learn everybody by heart. Nothing is promised; an audit says what got through.

Columns are drawn in the order of the table, those named in `order` before the others. Numbers are predicted, and used, as
`bins` classes at the quantiles of the table, and of a nominal column with more values the commonest are told apart; what is
drawn are the people's own values. The tree is that of the utility measures (Gini, nominal values cut into sets:
`auditor/measure/utility/splitting.py`), without pruning, with at least `leaf` people in a leaf.

Papers: J. Reiter, "Using CART to generate partially synthetic public use microdata", Journal of Official Statistics 2005;
B. Nowok, G. Raab, C. Dibben, "synthpop: Bespoke creation of synthetic data in R", Journal of Statistical Software 2016
(all columns in turn, leaves of at least five). Reiter draws from a leaf by a Bayesian bootstrap, synthpop and we draw
from the leaf as it is; both cut numbers by variance where we cut classes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.synthesis import Drawn, Synthesizer, drawn_alike, quantile_bins
from auditor.model.arrays import Codes, Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress
from auditor.model.schema import Type
from auditor.model.table import Table


@dataclass(frozen=True)
class Cart(Synthesizer):
    """Draws column after column from the leaves of decision trees."""

    name: ClassVar[str] = "cart"
    summary: ClassVar[str] = "Synthetic: each column drawn from the leaf of a tree over the columns before it."
    paper: ClassVar[str] = "Reiter 2005; Nowok, Raab & Dibben 2016"

    leaf: int = 5
    order: tuple[str, ...] = ()
    bins: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("leaf", self.leaf, 1)
        at_least("bins", self.bins, 2)

    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        from auditor.measure.utility.trees import Features, Tree

        count = self.rows or table.rows
        coded = {c: self._classes(table, c) for c in columns}
        ordered = {c: table.domains[c].column.type is not Type.NOMINAL for c in columns}
        drawn: dict[str, Codes] = {}
        before: list[str] = []
        for number, column in enumerate(self._order(columns)):
            progress(number, len(columns), column)
            leaf, wanted = np.zeros(table.rows, dtype=np.int64), np.zeros(count, dtype=np.int64)
            if before and len(np.unique(table.codes[column])) > 1:
                sizes = np.array([int(coded[c].max()) + 1 for c in before], dtype=np.int64)
                by_order = np.array([ordered[c] for c in before], dtype=np.bool_)
                known = np.column_stack([coded[c][table.codes[c]] for c in before])
                asked = np.column_stack([coded[c][drawn[c]] for c in before])
                target = coded[column][table.codes[column]]
                tree = Tree(Features(known, sizes, by_order), target, self.leaf, 0.0, int(target.max()) + 1)
                leaf = tree.leaves(Features(known, sizes, by_order))
                wanted = tree.leaves(Features(asked, sizes, by_order))
            drawn[column] = drawn_alike(leaf, table.codes[column], wanted, rng)
            before.append(column)
        return drawn, ()

    def _order(self, columns: Sequence[str]) -> list[str]:
        unknown = [c for c in self.order if c not in columns]
        if unknown or len(set(self.order)) < len(self.order):
            got = f" Got {unknown[0]!r}." if unknown else ""
            raise UsageError(f"{self.name}: order must name published columns, none twice.{got}")
        return [*self.order, *(c for c in columns if c not in self.order)]

    def _classes(self, table: Table, column: str) -> Ints:
        """The class of each code of a column: its bin, or its place among the commonest values."""
        domain, codes = table.domains[column], table.codes[column]
        if domain.column.type is not Type.NOMINAL or domain.size <= 2 * self.bins:
            return quantile_bins(domain, codes, self.bins)
        counts = np.bincount(codes, minlength=domain.size)
        rank = np.empty(domain.size, dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(domain.size)
        return np.minimum(rank, 2 * self.bins)
