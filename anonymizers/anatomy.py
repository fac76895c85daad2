"""Anatomy: l-diverse bucketization. Quasi-identifiers and sensitive values are published apart.

Groups are formed by taking one random tuple from each of the l sensitive values that have most tuples left, as long as l
values have any; what is left over (fewer than l tuples, of different values) joins groups that lack their value. Two
tables are published, quasi-identifiers and sensitive values, joined only by the group's number: nobody's value is known
better than 1/l, while every quasi-identifier stays exact.

Paper: X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
Decided here: data in which one value has more than n/l tuples cannot be grouped so and are refused. With several
sensitive columns they stay together in the second table; the promise is for the one that `sensitive` names (default: the
first of the schema). Neutral columns go with the quasi-identifiers.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, at_least, published_columns, sensitive_column
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Anatomy(Anonymizer):
    """Two tables, joined only by groups in which a sensitive value occurs at most once in l."""

    name: ClassVar[str] = "anatomy"
    summary: ClassVar[str] = (
        "Bucketization: exact quasi-identifiers and sensitive values in two tables, l-diverse groups."
    )
    paper: ClassVar[str] = "Xiao & Tao 2006"

    l: int = 2
    sensitive: str | None = None

    def __post_init__(self) -> None:
        at_least("anatomy: l", self.l, 2)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"l = {self.l} distinct {sensitive or self.sensitive or 'sensitive values'}",)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        column = sensitive_column(table, self.sensitive, self.name)
        group = self._groups(table, column, rng)
        apart = [c for c in table.schema.sensitive if c in table.codes]
        first = [c for c in published_columns(table) if c not in apart]
        if not first:
            raise PromiseError("anatomy: the schema must name at least one column that is not sensitive.")
        return self.publish(table, {}, {}, [first, apart], group, rng, column)

    def _groups(
        self, table: Table, column: str, rng: np.random.Generator
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        codes = table.codes[column]
        values, counts = np.unique(codes, return_counts=True)
        if counts.max() * self.l > table.rows:
            often = table.domains[column].texts[int(values[counts.argmax()])]
            raise PromiseError(
                f"anatomy: no value of {column!r} may have more than n/l = {table.rows / self.l:.1f} rows for l = {self.l}. "
                f"{often!r} has {counts.max()}. Lower l, or suppress rows."
            )
        piles = {int(v): rng.permutation(np.flatnonzero(codes == v)).tolist() for v in values}
        heap = [(-len(pile), value) for value, pile in piles.items()]
        heapq.heapify(heap)
        group = np.full(table.rows, -1, dtype=np.int64)
        held: list[set[int]] = []
        while len(heap) >= self.l:
            chosen = [heapq.heappop(heap) for _ in range(self.l)]
            for left, value in chosen:
                group[piles[value].pop()] = len(held)
                if left + 1 < 0:
                    heapq.heappush(heap, (left + 1, value))
            held.append({value for _, value in chosen})
        for _, value in sorted(heap):  # the residue: at most one tuple for each value that is left
            for row in piles[value]:
                lacking = np.array([number for number, values in enumerate(held) if value not in values])
                home = int(rng.choice(lacking))
                group[row] = home
                held[home].add(value)
        return group
