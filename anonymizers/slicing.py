"""Slicing: columns are grouped into blocks, rows into buckets, and within a bucket the blocks are permuted apart.

It keeps the association within a block and breaks it between blocks. The blocks are given (`columns`); the buckets are
formed by size: `partition = "mondrian"` cuts rows at medians over the quasi-identifiers, without generalising them, until
a part has fewer than twice `bucket_size` rows; `"random"` fills buckets at random. Every bucket has at least
`bucket_size` rows.

Paper: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing: A New Approach for Privacy Preserving Data Publishing", IEEE TKDE
2012, the membership experiments of which form buckets by size.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizers.base import Anonymizer, at_least, need_rows, published_columns
from anonymizers.cuts import Cutter
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


class Partition(StrEnum):
    """How rows are put into buckets."""

    MONDRIAN = "mondrian"
    RANDOM = "random"


@dataclass(frozen=True)
class Slicing(Anonymizer):
    """Blocks of columns, permuted apart within buckets of rows."""

    name: ClassVar[str] = "slicing"
    summary: ClassVar[str] = "Blocks of columns, permuted apart within buckets of rows; nothing is generalised."
    paper: ClassVar[str] = "Li, Li, Zhang & Molloy 2012"

    columns: tuple[tuple[str, ...], ...] = ()
    bucket_size: int = 10
    partition: Partition = Partition.MONDRIAN

    def __post_init__(self) -> None:
        at_least("slicing: bucket_size", self.bucket_size, 1)
        if len(self.columns) < 2:
            raise UsageError(
                'slicing: columns must list at least two blocks, such as [["age", "sex"], ["disease"]]. '
                f"Got {[list(block) for block in self.columns]}."
            )

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"buckets of at least {self.bucket_size}",)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        need_rows(table, self.bucket_size, self.name)
        self._check(table)
        bucket = self._mondrian(table, rng) if self.partition is Partition.MONDRIAN else self._random(table, rng)
        return self.publish(table, {}, {}, self.columns, bucket, rng)

    def _check(self, table: Table) -> None:
        given = [c for block in self.columns for c in block]
        public = published_columns(table)
        unknown = [c for c in given if c not in public]
        absent = [c for c in public if c not in given]
        twice = sorted({c for c in given if given.count(c) > 1})
        for fault, names in (("unknown or unpublished", unknown), ("in no block", absent), ("in two blocks", twice)):
            if names:
                raise UsageError(
                    f"slicing: columns must hold every published column once. {', '.join(names)}: {fault}. "
                    f"Published are: {', '.join(public)}."
                )

    def _mondrian(self, table: Table, rng: np.random.Generator) -> NDArray[np.int64]:
        quasi = [c for c in table.schema.quasi if c in table.codes] or published_columns(table)
        cutter = Cutter(table, quasi, strict=False)
        bucket = np.empty(table.rows, dtype=np.int64)
        waiting, done = [np.arange(table.rows)], 0
        while waiting:
            rows = waiting.pop()
            for parts in cutter.cuts(rows, rng) if len(rows) >= 2 * self.bucket_size else ():
                if all(len(part) >= self.bucket_size for part in parts):
                    waiting.extend(parts)
                    break
            else:
                bucket[rows] = done
                done += 1
        return bucket

    def _random(self, table: Table, rng: np.random.Generator) -> NDArray[np.int64]:
        full = table.rows // self.bucket_size
        bucket = np.arange(table.rows) // self.bucket_size
        bucket[bucket >= full] = rng.choice(full, size=int((bucket >= full).sum()), replace=True)
        return bucket[np.argsort(rng.permutation(table.rows))]
