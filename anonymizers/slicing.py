"""Slicing: columns are divided into blocks and rows into classes; within a class the blocks are permuted apart.

It keeps the association of values within a block and breaks it between blocks. A class of rows is what the paper calls a
*bucket*, and what `bucket_size` is about. There are three steps.

1. Attribute partition. The blocks are given (`columns`), or made of correlated columns: `c` clusters (3 unless set) of
   k-medoids with distance 1 - φ² (mean-square contingency; numeric columns in `bins` ranges of equal width, 10 unless set).
   `sensitive_size` fixes how many columns the block of the sensitive one has: it and those most correlated with it.
2. Column generalisation, where `generalise = k` asks for it: in each block strict Mondrian on its quasi-identifiers, so
   that every combination of their labels occurs at least k times. Other columns stay as they are. With `l`, those in the
   block of the sensitive column are generalised until no value has a share above 1/l beside any combination of them.
3. Tuple partition. With `l` (2 unless `bucket_size` is set), Mondrian's cuts, each accepted if the whole sliced table remains
   l-diverse: an adversary who knows all quasi-identifiers of a person gives no value of the sensitive column a probability
   above 1/l. `strict = true` asks for less than 1/l, as the paper prints it. With `bucket_size` every class has at least so
   many rows. With `bucket_size` alone rows are cut by size, or put together at random (`partition = "random"`, 10 rows
   unless set), as in the paper's membership experiments.

A block in which somebody's quasi-identifiers give their sensitive value away can never be l-diverse, whatever the classes;
the paper's algorithm would return such a table unchecked. So where blocks are made by correlation, the quasi-identifiers
clustered with the sensitive column are taken in the order of their correlation with it. Each stays with which the whole table
is l-diverse; the others move to the block of the column that they are most correlated with. With `generalise` all stay, and
are generalised as said above.

`ties = "together"` keeps equal values on one side of a cut. Then people match their own class only (unless columns are
generalised), and every class is diverse by itself. `ties = "divided"` halves the rows: people match several classes, the
check relies on that, and classes become much smaller, down to single people. Unless set, cuts with `l` keep ties together
and cuts by size alone divide them.

Paper: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing: A New Approach for Privacy Preserving Data Publishing", IEEE TKDE
2012; after it B. V. Phanikrishna, K. Surya Ram Prasad, "A Novel Framework for Privacy Conserving Data Publishing and
Handling High Dimensional Data", IJARCS 2014.
Decided here: probabilities weigh classes by the number of people expected to match, as the audit does; `weighting = "paper"`
gives the paper's rule, which ignores the size of classes. An l-diverse cut is at the median of the quasi-identifier that
spreads widest (the first of the schema where several do); if it fails, at that of the next; if all fail, it is the most even
one between two values of any quasi-identifier that is allowed. A class is final where no place allows a cut ("as in
Mondrian"; read literally, the paper's pseudocode gives up after one). Taxonomy leaves are cut in their order. A missing value
is a value of its own, the last in its column's order, and a class that mixes it with others counts as spread over the whole
column. The promise is about the column that `sensitive` names (default: the first of the schema); other sensitive columns
are clustered and permuted like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.base import (
    at_least,
    generalise,
    need_eligible,
    need_rows,
    published_columns,
    quasi_columns,
    sensitive_column,
    sensitive_columns,
)
from anonymizers.shapes import Limits
from anonymizers.shared.constraints import LargestShare, Size, Values, all_limits
from anonymizers.shared.correlation import blocks_by_correlation
from anonymizers.shared.cuts import partition
from anonymizers.shared.diverse_buckets import Diverse, Weighting, cuts_of, tuple_partition
from anonymizers.shared.fragments import fragments_of, most_shares
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from auditor.model.arrays import Codes, Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_C, _BINS, _L, _BUCKET_SIZE = 3, 10, 2, 10
"""The settings `c`, `bins`, `l` and `bucket_size` where they are needed and not set."""

_BELOW = 2e-9
"""How far below 1/l a share must be that must not reach it: more than the noise that a constraint allows for."""


class Ties(StrEnum):
    """What a cut does with equal values."""

    DIVIDED = "divided"
    TOGETHER = "together"


class Partition(StrEnum):
    """How rows are put into classes."""

    MONDRIAN = "mondrian"
    RANDOM = "random"


@dataclass(frozen=True)
class Slicing(Grouping):
    """Blocks of columns, permuted apart within classes of rows."""

    name: ClassVar[str] = "slicing"
    summary: ClassVar[str] = (
        "Blocks of correlated columns, permuted apart within classes of rows; l-diverse, or by size."
    )
    paper: ClassVar[str] = "Li, Li, Zhang & Molloy 2012"

    columns: tuple[tuple[str, ...], ...] = ()
    c: int | None = None
    sensitive_size: int | None = None
    bins: int | None = None
    generalise: int | None = None
    l: int | None = None
    strict: bool = False
    weighting: Weighting = Weighting.SIZE
    bucket_size: int | None = None
    partition: Partition = Partition.MONDRIAN
    ties: Ties | None = None
    sensitive: str | None = None

    def __post_init__(self) -> None:
        if self.l is None and self.bucket_size is None:  # as a setting, so that the audit record shows it
            by_size = self.partition is Partition.RANDOM
            object.__setattr__(self, *(("bucket_size", _BUCKET_SIZE) if by_size else ("l", _L)))
        if not self.columns and self.c is None:
            object.__setattr__(self, "c", _C)
        for name, value, least in (
            ("c", self.c, 2),
            ("sensitive_size", self.sensitive_size, 1),
            ("bins", self.bins, 2),
            ("generalise", self.generalise, 1),
            ("l", self.l, 2),
            ("bucket_size", self.bucket_size, 1),
        ):
            at_least(f"slicing: {name}", value, least)
        self._check_combination()

    def _check_combination(self) -> None:
        if len(self.columns) == 1:
            raise UsageError(
                'slicing: columns must list at least two blocks, such as [["age", "sex"], ["disease"]]. '
                f"Got {[list(block) for block in self.columns]}."
            )
        if not all(self.columns):
            raise UsageError("slicing: every block of columns must name at least one column.")
        for name in ("c", "sensitive_size", "bins"):
            if self.columns and getattr(self, name) is not None:
                raise UsageError(
                    f"slicing: {name} is for blocks by correlation, but columns gives the blocks. Leave out one of the two."
                )
        if self.partition is Partition.RANDOM and self.l is not None:
            raise UsageError('slicing: partition = "random" forms classes by size. It does not go with l.')
        if self.partition is Partition.RANDOM and self.ties is not None:
            raise UsageError('slicing: ties is about cuts. It does not go with partition = "random".')
        if self.l is None and (self.strict or self.weighting is not Weighting.SIZE):
            raise UsageError("slicing: strict and weighting are about l-diversity. They need l.")

    @property
    def _together(self) -> bool:
        """Whether cuts keep equal values together."""
        return self.l is not None if self.ties is None else self.ties is Ties.TOGETHER

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        said = []
        if self.l is not None:
            about = sensitive or self.sensitive or "sensitive value"
            than = "less than" if self.strict else "at most"
            rule = ", by the paper's weighting" if self.weighting is Weighting.PAPER else ""
            said.append(f"l = {self.l}: every {about} has probability {than} 1/{self.l}{rule}")
        if self.bucket_size is not None:
            said.append(f"buckets of at least {self.bucket_size}")
        if self.generalise is not None:
            said.append(f"quasi-identifiers of a block occur together at least {self.generalise} times")
        return tuple(said)

    @property
    def least_rows(self) -> int:
        return max(self.bucket_size or 1, self.generalise or 1)

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        need = self.least_rows
        need_rows(table, need, self.name, "bucket_size" if need == self.bucket_size else "generalise")
        about = self._about(table)
        blocks = self._blocks(table, progress)
        classes = self._classes(table, blocks, rng, progress)
        if self.l is not None and about is not None:
            promise = Diverse(self.l, self.strict, self.weighting, self.bucket_size or 1)
            order = rng.permutation(table.rows)  # ties are divided in the order of the rows: it must be random
            mixed = table.take(order)
            labels, cells = _labels(table, blocks, classes)
            fragments = fragments_of(mixed, blocks, about, labels, {c: codes[order] for c, codes in cells.items()})
            cuts = cuts_of(mixed, _cut_columns(table), self._together)
            bucket = np.empty(table.rows, dtype=np.int64)
            bucket[order] = tuple_partition(fragments, cuts, promise, progress)
        elif self.partition is Partition.MONDRIAN:
            least = self.bucket_size or 1
            bucket = _by_size(table, _cut_columns(table), self._together, least, rng, "forming classes", progress)
        else:
            bucket = _at_random(table.rows, self.bucket_size or 1, rng)
        return Groups(bucket, blocks, classes)

    def _about(self, table: Table) -> str | None:
        """The sensitive column that the promise is about, None without `l`; an error where no release can keep it."""
        if self.l is None:
            return None
        if self.sensitive is None and not sensitive_columns(table):
            raise PromiseError(
                f'slicing: l = {self.l} is about a column with role = "sensitive", and the schema names none. Name one, or '
                "set bucket_size for classes by size."
            )
        about = sensitive_column(table, self.sensitive, self.name)
        remedy = "Lower l, coarsen the column, suppress rows, or set bucket_size alone for classes by size."
        need_eligible(table, about, self.l, self.name, self.strict, remedy)
        return about

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        about = sensitive_column(table, self.sensitive, self.name) if self.l is not None else None
        labels, cells = _labels(table, groups.columns, groups.classes)
        return self.publish(table, labels, cells, groups.columns, groups.member, rng, about)

    def in_blocks(self, table: Table) -> Blocking:
        """Blocks of columns are those of the whole table. For l-diversity no two blocks of rows share a combination of
        quasi-identifiers: then nobody matches a class of another block, and what holds in each block holds for the whole
        table. Generalised labels could match elsewhere."""
        if self.l is not None and self.generalise is not None:
            raise UsageError(
                "slicing cannot work in blocks with both l and generalise: generalised labels match people of other blocks, "
                "and l-diversity is about all that match. Leave out one of the two, or the blocks."
            )
        about = self._about(table)
        blocks = self._blocks(table, silent)
        settled = replace(self, columns=blocks, c=None, bins=None, sensitive_size=None)
        columns, cut = tuple(published_columns(table)), tuple(_cut_columns(table))
        if about is None:
            return Blocking(settled, columns, cut, self.least_rows, not self._together)
        own = [c for c in next(block for block in blocks if about in block) if c in table.schema.quasi]

        def allows(rows: Ints) -> bool:
            return self._diverse(table, own, about, rows)

        return Blocking(settled, columns, cut, self.least_rows, False, allows)

    def _blocks(self, table: Table, progress: Progress) -> tuple[tuple[str, ...], ...]:
        if self.columns:
            _check_columns(self.columns, published_columns(table))
            return self.columns
        columns = published_columns(table)
        c = self.c or _C
        least = c - 1 + (self.sensitive_size or 1)
        if len(columns) < least:
            size = f" and sensitive_size = {self.sensitive_size}" if self.sensitive_size is not None else ""
            raise UsageError(
                f"slicing: c = {c}{size} need at least {least} published columns. Got {len(columns)}: {', '.join(columns)}."
            )
        wanted = self.sensitive is not None or self.sensitive_size is not None or bool(table.schema.sensitive)
        sensitive = sensitive_column(table, self.sensitive, self.name) if wanted else None

        def allows(own: Sequence[str]) -> bool:
            quasi = [column for column in own if column in table.schema.quasi]
            return sensitive is None or self._diverse(table, quasi, sensitive, np.arange(table.rows))

        chosen = self.l is not None and self.generalise is None and self.sensitive_size is None
        blocks = blocks_by_correlation(
            table, columns, c, self.bins or _BINS, sensitive, self.sensitive_size, progress, allows if chosen else None
        )
        return tuple(map(tuple, blocks))

    def _diverse(self, table: Table, quasi: Sequence[str], about: str, rows: Ints) -> bool:
        """Whether some rows, as one class, are l-diverse where these quasi-identifiers stand beside the sensitive column."""
        most, of = most_shares(table, quasi, about, rows)
        l = self.l or _L
        return bool((l * most < of).all() if self.strict else (l * most <= of).all())

    def _classes(
        self, table: Table, blocks: Sequence[Sequence[str]], rng: np.random.Generator, progress: Progress
    ) -> tuple[Ints, ...]:
        """For each block of columns that has quasi-identifiers, the groups of rows that get the same labels in it; empty
        where nothing is generalised."""
        if self.generalise is None:
            return ()
        about = None if self.l is None else sensitive_column(table, self.sensitive, self.name)
        made = []
        for block in blocks:
            quasi = [column for column in block if column in table.schema.quasi]
            if quasi and about is not None and about in block:
                made.append(self._eligible(table, quasi, about, rng, progress))
            elif quasi:
                made.append(_by_size(table, quasi, True, self.generalise, rng, "generalising columns", progress))
        return tuple(made)

    def _eligible(
        self, table: Table, quasi: Sequence[str], about: str, rng: np.random.Generator, progress: Progress
    ) -> Ints:
        """Groups of rows with the same labels in the block of the sensitive column: no value has a share above 1/l in one."""
        values = Values(table, about)
        share = 1 / (self.l or _L) - (_BELOW if self.strict else 0)
        limits = all_limits([Size(self.generalise or 1, table.rows), LargestShare(share, values)], values)
        return partition(table, quasi, limits, values, True, rng, _saying("generalising columns", progress))


def _quasi_of(table: Table, blocks: Sequence[Sequence[str]]) -> list[list[str]]:
    """The quasi-identifiers of each block that has any."""
    parts = ([column for column in block if column in table.schema.quasi] for block in blocks)
    return [quasi for quasi in parts if quasi]


def _labels(
    table: Table, blocks: Sequence[Sequence[str]], classes: Sequence[Ints]
) -> tuple[dict[str, Labels], dict[str, Codes]]:
    """Labels and cells of the quasi-identifiers, generalised block by block; empty where there are no classes."""
    labels: dict[str, Labels] = {}
    cells: dict[str, Codes] = {}
    for quasi, groups in zip(_quasi_of(table, blocks) if classes else (), classes, strict=True):
        more, places = generalise(table, quasi, groups)
        labels.update(more)
        cells.update(places)
    return labels, cells


def _check_columns(blocks: Sequence[Sequence[str]], public: Sequence[str]) -> None:
    given = [c for block in blocks for c in block]
    unknown = [c for c in given if c not in public]
    absent = [c for c in public if c not in given]
    twice = sorted({c for c in given if given.count(c) > 1})
    for fault, names in (("unknown or unpublished", unknown), ("in no block", absent), ("in two blocks", twice)):
        if names:
            raise UsageError(
                f"slicing: columns must hold every published column once. {', '.join(names)}: {fault}. "
                f"The published columns are: {', '.join(public)}."
            )


def _cut_columns(table: Table) -> list[str]:
    """The columns along which rows are cut: the quasi-identifiers, or all where there are none."""
    return list(quasi_columns(table)) or published_columns(table)


def _by_size(
    table: Table,
    columns: Sequence[str],
    together: bool,
    least: int,
    rng: np.random.Generator,
    what: str,
    progress: Progress,
) -> Ints:
    """Mondrian's cuts along some columns, down to parts of at least so many rows."""
    return partition(table, columns, Limits(size=least), None, together, rng, _saying(what, progress))


def _saying(what: str, progress: Progress) -> Progress:
    """Progress told in other words."""

    def said(done: int, total: int, _: str) -> None:
        progress(done, total, what)

    return said


def _at_random(rows: int, size: int, rng: np.random.Generator) -> Ints:
    """Classes of `size` rows put together at random; rows left over are added to random classes."""
    full = rows // size
    bucket = np.arange(rows) // size
    bucket[bucket >= full] = rng.choice(full, size=int((bucket >= full).sum()), replace=True)
    return bucket[np.argsort(rng.permutation(rows))]
