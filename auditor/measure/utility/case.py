"""What a utility measure is given: the release, the original, who is who, and the k that was asked for.

Measures that compare people with their records need the original and the correspondence of rows: `fragment` gives, for each
original row, the number of its fragment in each block, -1 if the person was left out.

People are put into an order that depends only on what is known and published about them (`People`): by the content of their
class, then by their own. Everything is drawn in that order, so no figure depends on the order of rows or the numbers of
classes. Contents are compared by 64-bit sums and hashes (splitmix64); people who tie have the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.errors import UsageError
from auditor.model.packing import Hashes, mixed
from auditor.model.release import Release
from auditor.model.seeding import stage
from auditor.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The original's rows in an order of their own, those in the release first."""

    row: Ints
    """The original row of each person."""
    content: Hashes
    """A hash of each person's original values."""
    inside: int
    """How many people are in the release. The fields below are for these."""
    anchor: int
    """The block in which people keep their own fragment."""
    bucket: Ints
    """A number for each person's class, ascending."""
    own: Ints
    """Each person's fragment in the block `anchor`."""
    pool: dict[int, Ints]
    """The fragments of each other block, class by class in the same order. Those of a class belong to its people, and
    nothing published tells which to whom."""


class Case:
    """One release to be measured. `k` is the class size that was asked for, if any."""

    def __init__(
        self,
        release: Release,
        original: Table | None = None,
        fragment: Codes | None = None,
        k: int | None = None,
        seed: int = 0,
    ) -> None:
        self.release, self.original, self.fragment, self.k, self.seed = release, original, fragment, k, seed
        if original is not None:
            coded_alike(release, original)

    def rng(self, *names: str | int) -> np.random.Generator:
        """The generator of one measure: measures do not share a stream."""
        return stage(self.seed, "utility", *names)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The published quasi-identifiers and sensitive columns that are in the original."""
        if self.original is None:
            return ()
        wanted = (*self.release.quasi, *self.release.sensitive)
        return tuple(c for c in wanted if c in self.original.codes)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The numeric ones."""
        return tuple(c for c in self.columns if self.release.labels[c].domain.numbers is not None)

    @property
    def categorical(self) -> tuple[str, ...]:
        """The others."""
        return tuple(c for c in self.columns if self.release.labels[c].domain.numbers is None)

    @property
    def unmatched(self) -> str | None:
        """Why people cannot be compared with their records, or None."""
        if self.original is None:
            return "it compares the release with the original, which was not given"
        if self.fragment is None:
            return "it compares people with their records, and nothing says which record is whose"
        if not self.people.inside:
            return "the release has no rows" if not self.release.rows else "nobody in the original is in the release"
        return None if self.columns else "no quasi-identifier or sensitive column is both published and in the original"

    def shuffled(self, rng: np.random.Generator) -> Ints:
        """The people (their numbers in `people`) in random order, which depends only on their original values: one seed gives
        the same people for any release, so that figures of several releases can be compared."""
        by_content = np.argsort(self.people.content, kind="stable")
        return by_content[rng.permutation(len(by_content))]

    @cached_property
    def people(self) -> People:
        """The people in the order in which everything is drawn."""
        assert self.original is not None
        assert self.fragment is not None
        return _ordered(self.release, self.original, self.fragment, self.columns)


def coded_alike(release: Release, original: Table) -> None:
    """Refuses an original whose domains differ from those of the release: its codes would mean something else."""
    for column in (*release.quasi, *release.sensitive):
        if column in original.codes:
            ours, theirs = release.labels[column].domain, original.domains[column]
            if ours is not theirs and ours.texts != theirs.texts:
                raise UsageError(
                    f"utility: the release and the original must have the same codes. {column!r} does not."
                )


def uncovered(case: Case) -> str | None:
    """Why labels do not tell what was lost, or None. If more than a twentieth of a quasi-identifier's labels do not cover
    their person's value (modes, cluster centres, swapped values), it hides more than the width of its labels."""
    if case.unmatched or len(case.release.blocks) > 1:
        return None
    assert case.original is not None
    people = case.people
    rows = people.row[: people.inside]
    for column in (c for c in case.release.quasi if c in case.columns):
        labels = case.release.labels[column]
        label = case.release.block_of(column).cell(column)[people.own]
        untrue = float((~labels.covers(label, case.original.codes[column][rows])).mean())
        if untrue > _FEW:
            share = f"{100 * untrue:.0f} %"
            return f"{column}: {share} of the labels do not cover their person's value, so their width is not the loss"
    return None


_FEW = 0.05


def _ordered(release: Release, original: Table, fragment: Codes, columns: Sequence[str]) -> People:
    """The people of an original in an order that depends on contents only."""
    inside = np.flatnonzero((fragment >= 0).all(axis=1))
    content = mixed([original.codes[c] for c in columns], original.rows)
    anchor = max(range(len(release.blocks)), key=lambda b: sum(c in release.quasi for c in release.blocks[b].columns))
    kinds = [_fragment_content(release, number) for number in range(len(release.blocks))]
    own = fragment[inside, anchor].astype(np.int64)
    whose = mixed([content[inside], kinds[anchor][own]], len(inside))
    bucket = release.blocks[anchor].bucket[own].astype(np.int64)
    sums = np.zeros(len(release.sizes), dtype=np.uint64)
    if len(release.blocks) > 1:  # with one block the classes add nothing to its labels
        np.add.at(sums, bucket, mixed([whose], len(whose)))
        for number, block in enumerate(release.blocks):
            np.add.at(sums, block.bucket, mixed([kinds[number]], len(block.bucket), start=number + 1))
    else:
        bucket = np.zeros_like(bucket)
    order = np.lexsort((whose, bucket, sums[bucket]))
    bucket, own = bucket[order], own[order]
    rank = np.cumsum(np.diff(bucket, prepend=bucket[:1]) != 0)
    pool: dict[int, Ints] = {}
    place = np.full(len(release.sizes), -1, dtype=np.int64)
    place[bucket] = rank
    for number, block in enumerate(release.blocks):
        if number != anchor and len(release.blocks) > 1:
            mine = fragment[inside, number].astype(np.int64)
            pool[number] = mine[np.lexsort((kinds[number][mine], place[block.bucket[mine]]))]
    outside = np.setdiff1d(np.arange(original.rows), inside)
    rows = np.concatenate([inside[order], outside[np.argsort(content[outside], kind="stable")]])
    return People(rows, content[rows], len(inside), anchor, rank, own, pool)


def _fragment_content(release: Release, number: int) -> Hashes:
    """The content of each fragment of a block: its labels, each as the rank of its text."""
    block = release.blocks[number]
    parts = []
    for column in block.columns:
        texts = release.labels[column].texts
        rank = np.empty(len(texts), dtype=np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        parts.append(rank[block.cell(column)])
    return mixed(parts, len(block.bucket))
