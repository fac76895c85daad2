"""A release: classes of row fragments, as published.

A *block* is a set of columns whose values stay together. A *class* is a set of people whom the release does not tell
apart; in code it is a `bucket`, the word of Anatomy and slicing. Inside a class the fragments of one block are unordered
with respect to those of another. Generalisation has one block; Anatomy has two, slicing several.

A release holds no original row ids and its fragments are in random order, so that positions reveal nothing. In a release
of one block the labels make the classes: rows that share all quasi-identifier labels are one class, since nothing
published tells them apart.

The values of a *perturbed* release are not those of its people: how they were changed is published with it (`mechanism.py`).
The rows of a *synthetic* release are nobody (`synthetic`): it has one block, and no row of it belongs to a person.

A release of one block may be held in part: the classes of some people, and sums over all others (`beyond.py`).
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.beyond import Beyond
from auditor.model.errors import ReleaseError
from auditor.model.keeping import Memory
from auditor.model.labels.labels import Labels
from auditor.model.mechanism import PublishedMechanism
from auditor.model.schema import Column, Role, Schema, Type
from auditor.model.upstairs import ask

if TYPE_CHECKING:
    import pandas as pd

BUCKET = "bucket"
"""The column that says the class of each row, where a release has several blocks."""
CLUSTER_SIZE, CLUSTER_RADIUS, COUNTERFEITS = "cluster_size", "cluster_radius", "counterfeits"
DERIVED = {name: Column(name, Role.NEUTRAL, Type.NUMERIC) for name in (CLUSTER_SIZE, CLUSTER_RADIUS, COUNTERFEITS)}
"""Columns that a release may hold without the schema naming them: a method computes them from the rows that it groups.
`counterfeits` is the number of made-up records in the class. Where the other two are present, the quasi-identifiers of a
row are those of the centre of its cluster: `cluster_size` rows, none farther from it than `cluster_radius` (the sum over the
quasi-identifiers of the share of each one's range: 1 is a whole column)."""


def with_derived(schema: Schema, columns: Collection[str]) -> Schema:
    """The schema of a release with these columns, the derived ones among them included."""
    extra = {name: column for name, column in DERIVED.items() if name in columns and name not in schema.columns}
    return replace(schema, columns={**schema.columns, **extra}) if extra else schema


class Kind(StrEnum):
    """The kinds of release, told apart by their blocks; a synthetic or perturbed one by what is said of it."""

    GENERALISED = "generalised"
    BUCKETIZED = "bucketized"
    SLICED = "sliced"
    SYNTHETIC = "synthetic"
    PERTURBED = "perturbed"


class Suppression(StrEnum):
    """How rows are treated whose quasi-identifiers are all suppressed."""

    EXCLUDED = "excluded"
    """They are neither targets nor candidates."""
    WILDCARD = "wildcard"
    """They are candidates for everybody."""
    OWN = "own"
    """They are a class of their own, found only where the class is granted."""


class WithheldCells(StrEnum):
    """How single suppressed cells count where records are compared with each other. In a class they are a value of their own
    whatever is chosen."""

    WILDCARD = "wildcard"
    """They fit any value, as sdcMicro counts."""
    OWN = "own"
    """They are a value of their own, as in ARX's classes."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Columns that stay together: for each fragment its class and its label numbers (fragments × columns)."""

    columns: tuple[str, ...]
    bucket: Codes
    cells: Codes
    memory: Memory = field(default_factory=Memory, init=False, repr=False)

    def cell(self, column: str) -> Codes:
        """The label numbers of one column."""
        return self.cells[:, self.columns.index(column)]


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What is published."""

    schema: Schema
    labels: Mapping[str, Labels]
    blocks: tuple[Block, ...]
    sizes: Ints
    """The number of people in each class."""
    suppressed: Bools
    """By class, whether it holds the rows whose quasi-identifiers are all suppressed."""
    name: str = "release"
    method: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    promises: tuple[str, ...] = ()
    left_out: int = 0
    """The number of people who were deleted, as far as it is known."""
    beyond: Beyond | None = None
    """What there is besides the classes held, where a release is held in part."""
    synthetic: bool = False
    """Whether its rows are nobody: drawn from a model of people. No row belongs to a person, so that classes are facts about
    the file and no promise."""
    mechanism: PublishedMechanism | None = None
    """How its values were changed, where they were perturbed and that is published."""
    memory: Memory = field(default_factory=Memory, init=False, repr=False)

    @property
    def rows(self) -> int:
        """The number of people in the release, suppressed ones included."""
        return int(self.sizes.sum()) + (0 if self.beyond is None else self.beyond.rows)

    @property
    def suppressed_rows(self) -> int:
        """The number of rows whose quasi-identifiers are all suppressed."""
        held = int(self.sizes[self.suppressed].sum())
        return held + (0 if self.beyond is None else self.beyond.suppressed_rows)

    @property
    def kind(self) -> Kind:
        """The kind of release, by its blocks."""
        if self.synthetic:
            return Kind.SYNTHETIC
        if self.mechanism is not None:
            return Kind.PERTURBED
        if len(self.blocks) == 1:
            return Kind.GENERALISED
        mixed = [b for b in self.blocks if set(b.columns) & set(self.schema.sensitive)]
        apart = all(not set(b.columns) & set(self.schema.quasi) for b in mixed)
        return Kind.BUCKETIZED if len(self.blocks) == 2 and apart and mixed else Kind.SLICED

    @property
    def columns(self) -> tuple[str, ...]:
        """All published columns."""
        return tuple(c for block in self.blocks for c in block.columns)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The published quasi-identifiers."""
        return self.published(self.schema.quasi)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The published sensitive columns."""
        return self.published(self.schema.sensitive)

    def published(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some columns that are published."""
        columns = set(self.columns)
        return tuple(name for name in names if name in columns)

    @property
    def exact(self) -> bool:
        """Whether every quasi-identifier label that occurs denotes one value."""
        return all((self.labels[c].counts[self.label_counts(c) > 0] == 1).all() for c in self.quasi)

    def label_counts(self, column: str) -> Ints:
        """In how many rows each label of a column is published."""
        held = np.bincount(self.block_of(column).cell(column), minlength=len(self.labels[column].texts))
        return held if self.beyond is None else held + self.beyond.labels[column]

    def size_counts(self) -> tuple[Ints, Ints]:
        """The sizes that occur among the classes that are not suppressed, ascending, and how many classes have each."""
        size, times = np.unique(self.sizes[~self.suppressed], return_counts=True)
        if self.beyond is None:
            return size, times
        both = Counter(dict(zip(size.tolist(), times.tolist(), strict=True))) + Counter(self.beyond.sizes)
        found = np.array(sorted(both.items()), dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def block_of(self, column: str) -> Block:
        """The block that holds a column."""
        return self.blocks[self.block_number(column)]

    def block_number(self, column: str) -> int:
        """The number of the block that holds a column."""
        for number, block in enumerate(self.blocks):
            if column in block.columns:
                return number
        raise ReleaseError(
            f"{self.name}: the column {column!r} must be in the release. It has {', '.join(self.quasi + self.sensitive)}."
        )

    def shuffled(self, rng: np.random.Generator) -> tuple[Release, Ints]:
        """The same release with its classes renumbered and its fragments in another order, and the new number of each
        class. For testing that attacks do not read positions."""
        renumber = rng.permutation(len(self.sizes))
        blocks = []
        for block in self.blocks:
            order = rng.permutation(len(block.bucket))
            blocks.append(Block(block.columns, renumber[block.bucket[order]].astype(np.int32), block.cells[order]))
        sizes, suppressed = np.empty_like(self.sizes), np.empty_like(self.suppressed)
        sizes[renumber], suppressed[renumber] = self.sizes, self.suppressed
        return replace(self, blocks=tuple(blocks), sizes=sizes, suppressed=suppressed), renumber

    def line_order(self, number: int) -> Ints:
        """The order of a block's rows where it is written. A release of one block mixes its classes, so that their rows do
        not stand together; several blocks are ordered by class, which their bucket column shows anyway."""
        rows = len(self.blocks[number].bucket)
        if len(self.blocks) > 1:
            return np.argsort(self.blocks[number].bucket, kind="stable")
        return np.random.default_rng(rows).permutation(rows)

    def texts(self, number: int, order: Ints) -> dict[str, list[str]]:
        """A block as it is published, its rows in some order; of several blocks each begins with its classes."""
        block, columns = self.blocks[number], {}
        if len(self.blocks) > 1:
            columns[BUCKET] = [str(bucket + 1) for bucket in block.bucket[order].tolist()]
        for place, name in enumerate(block.columns):
            texts = self.labels[name].texts
            columns[name] = [texts[i] for i in block.cells[order, place].tolist()]
        return columns

    def to_frame(self) -> pd.DataFrame:
        """The release as a pandas frame of text, as it is published. Of several blocks the rows of a class stand side by
        side, with their class in the column `bucket`: which of them belong together is what such a release hides."""
        import pandas as pd

        if self.beyond is not None:
            raise ReleaseError(f"{self.name}: only a part of the release is held, and a frame needs all of it.")
        columns: dict[str, list[str]] = {}
        for number in range(len(self.blocks)):
            columns |= self.texts(number, self.line_order(number))
        return pd.DataFrame(columns)

    def write(self, file: str | Path, *, force: bool = False) -> list[Path]:
        """Writes the release where `file` says: a file (CSV, or Parquet or Arrow by its ending), or for several blocks a
        folder of that name. Returns the files that were written; existing ones are replaced only by `force`."""
        written: list[Path] = ask("save release")(self, Path(file), force)
        return written

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.to_frame().to_html(max_rows=10, index=False)}"

    def __repr__(self) -> str:
        return f"<Release {self.name}: {self.kind}, {self.rows} rows in {len(self.sizes)} classes>"
