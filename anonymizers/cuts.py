"""Mondrian's cuts: how a set of rows is split in two or more along one column.

A *strict* cut keeps equal values together: numbers, ordinals and nominals without a taxonomy are cut at the median of
their codes; a column with a taxonomy is split into the children of the node that covers the rows (the paper's rule for
hierarchies). A *relaxed* cut halves the rows in the order of their codes and may put equal values on both sides.

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.model.domain import Domain
from auditor.model.schema import Type
from auditor.model.table import Table

Rows = NDArray[np.int64]


class Cutter:
    """Cuts rows of a table along some columns."""

    def __init__(self, table: Table, columns: Sequence[str], strict: bool) -> None:
        self.columns, self.strict = tuple(columns), strict
        self.codes = [table.codes[c] for c in columns]
        self.domains = [table.domains[c] for c in columns]

    def cuts(self, rows: Rows, rng: np.random.Generator) -> Iterator[list[Rows]]:
        """Possible splits of the rows, the column with the widest spread first; ties in the columns' order."""
        spreads = [_spread(codes[rows], domain) for codes, domain in zip(self.codes, self.domains, strict=True)]
        for place in sorted(range(len(spreads)), key=lambda i: (-spreads[i], i)):
            if spreads[place] > 0:
                parts = self._cut(place, rows, rng)
                if len(parts) > 1:
                    yield parts

    def _cut(self, place: int, rows: Rows, rng: np.random.Generator) -> list[Rows]:
        values, domain = self.codes[place][rows], self.domains[place]
        if self.strict and _by_tree(domain):
            group = _children(values, domain)
            return [rows[group == g] for g in np.unique(group)]
        if self.strict:
            ordered = np.sort(values)
            middle = ordered[(len(ordered) - 1) // 2]
            below = values <= middle
            if below.all():  # more than half have the greatest value: cut below it
                below = values < middle
            return [rows[below], rows[~below]] if below.any() else [rows]
        order = np.argsort(values + rng.random(len(values)) * 0.5, kind="stable")
        half = len(rows) // 2
        return [rows[np.sort(order[:half])], rows[np.sort(order[half:])]]


def _by_tree(domain: Domain) -> bool:
    return domain.taxonomy is not None and domain.column.type is Type.NOMINAL


def _children(values: NDArray[np.int32], domain: Domain) -> NDArray[np.int64]:
    """For each value the child of the rows' common ancestor that it lies under; missing values are a child apart."""
    taxonomy = domain.taxonomy
    assert taxonomy is not None
    present = values != domain.missing if domain.missing is not None else np.ones(len(values), dtype=np.bool_)
    out = np.full(len(values), -1, dtype=np.int64)
    if not present.all() or not present.any():
        out[present] = 0
        return out
    node = taxonomy.common_ancestor(np.array([values.min()]), np.array([values.max()]))[0]
    return np.asarray(taxonomy.path[min(int(taxonomy.depth[node]) + 1, taxonomy.height)][values])


def _spread(values: NDArray[np.int32], domain: Domain) -> float:
    """The normalised spread of some values, from 0 (all equal) to 1 (the whole domain)."""
    lo, hi = int(values.min()), int(values.max())
    if lo == hi:
        return 0.0
    if domain.numbers is not None and hi < len(domain.numbers):
        return float((domain.numbers[hi] - domain.numbers[lo]) / domain.width) if domain.width > 0 else 1.0
    if _by_tree(domain) and hi != domain.missing:
        assert domain.taxonomy is not None
        node = domain.taxonomy.common_ancestor(np.array([lo]), np.array([hi]))[0]
        leaves = domain.taxonomy.hi[node] - domain.taxonomy.lo[node]
        return float(leaves / max(len(domain.taxonomy.leaf_node) - 1, 1))
    return (hi - lo) / max(domain.size - 1, 1)
