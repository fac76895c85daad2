"""What a utility measure is given: the release, the original, who is who, and the k that was asked for.

Measures of values look at every column that is published and in the original: quasi-identifiers, sensitive and neutral ones
(`columns`), unless some are chosen. Neutral columns of names, in which nearly every row has a text of its own, say nothing
that could be counted and are left out, and so are sampling weights and choices, which are not about people. Measures that
are defined over quasi-identifiers (granularity, information loss, class sizes) look at these whatever is chosen.

Measures that compare people with their records need the original and the correspondence of rows: `fragment` gives, for each
original row, the number of its fragment in each block, -1 if the person was left out.

The rows of a synthetic release are nobody's. Measures that compare distributions take them as they are; those that compare
people with their records, or look at classes, do not apply (`nobodys`). How many rows there are is no claim about how many
people there are: where counts are compared, a row stands for as many people as the original has for each row of the release
(`people_a_row`).

People are put into an order that depends only on what is known and published about them (`People`): by the content of their
class, then by their own. Everything is drawn in that order, so no figure depends on the order of rows or the numbers of
classes. Contents are compared by 64-bit sums and hashes (splitmix64); people who tie have the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auditor.measure.distinct import is_distinct
from auditor.measure.utility.decoding import decoded
from auditor.model.arrays import Codes, Ints
from auditor.model.errors import UsageError
from auditor.model.key import Key
from auditor.model.packing import Hashes, mixed
from auditor.model.record.record import Risk
from auditor.model.release import Release
from auditor.model.schema import Role, Type
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
    """How many people are in the release; of a synthetic one, how many rows it has. The fields below are for these."""
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
    """One release to be measured. `k` is the class size that was asked for, if any; `columns` are those to look at; `key` is
    what coded values stand for; `risks` are what attacks on the release found; `holdout` are people of the same population of
    whom the release was not made."""

    def __init__(
        self,
        release: Release,
        original: Table | None = None,
        fragment: Codes | None = None,
        k: int | None = None,
        seed: int = 0,
        columns: Sequence[str] | None = None,
        key: Key | None = None,
        risks: Sequence[Risk] = (),
        holdout: Table | None = None,
    ) -> None:
        self.release, self.original, self.fragment, self.k, self.seed = release, original, fragment, k, seed
        self.chosen = None if columns is None else frozenset(columns)
        self.key, self.risks, self.holdout = key, risks, holdout
        if original is not None:
            coded_alike(release, original)
        check_columns(release, original, columns)

    def rng(self, *names: str | int) -> np.random.Generator:
        """The generator of one measure: measures do not share a stream."""
        return stage(self.seed, "utility", *names)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The published columns of values that are in the original: quasi-identifiers, sensitive ones, neutral ones."""
        if self.original is None:
            return ()
        return tuple(c for c in _of_values(self.release) if c in self.original.codes)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those of them that measures of values look at: the chosen ones, or all but neutral ones that hold names."""
        if self.chosen is not None:
            return tuple(c for c in self.known if c in self.chosen)
        return tuple(c for c in self.known if not self._holds_names(c))

    def _holds_names(self, column: str) -> bool:
        """Whether nearly every row of the original has a text of its own in a neutral column."""
        assert self.original is not None
        domain, codes = self.original.domains[column], self.original.codes[column]
        if domain.column.role is not Role.NEUTRAL or domain.column.type is not Type.NOMINAL:
            return False
        there = codes[codes < domain.known]
        return is_distinct(len(np.unique(there)), len(there))

    @cached_property
    def coded(self) -> tuple[str, ...]:
        """The columns that the key decodes."""
        return () if self.key is None else tuple(c for c in self.columns if c in self.key.columns)

    @cached_property
    def decoded(self) -> Case:
        """The same with the release read by its key, where there is one."""
        if self.key is None or not self.coded:
            return self
        columns = None if self.chosen is None else tuple(self.chosen)
        return Case(decoded(self.release, self.key), self.original, self.fragment, self.k, self.seed, columns)

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
        """Why release and original cannot be compared, or None."""
        if self.original is None:
            return "it compares the release with the original, which was not given"
        if self.fragment is None and not self.release.synthetic:
            return "it compares people with their records, and nothing says which record is whose"
        if not self.people.inside:
            return "the release has no rows" if not self.release.rows else "nobody in the original is in the release"
        return None if self.columns else "no column of values is both published and in the original"

    @property
    def nobodys(self) -> str | None:
        """Why people cannot be compared with their records, or None."""
        return self.unmatched or (NOBODYS if self.release.synthetic else None)

    @property
    def people_a_row(self) -> float:
        """How many people of the original a row of the release stands for, where counts are compared."""
        if self.original is None or not self.release.synthetic:
            return 1.0
        return self.original.rows / max(self.release.rows, 1)

    def shuffled(self, rng: np.random.Generator) -> Ints:
        """The people (their numbers in `people`) in random order, which depends only on their original values: one seed gives
        the same people for any release, so that figures of several releases can be compared."""
        by_content = np.argsort(self.people.content, kind="stable")
        return by_content[rng.permutation(len(by_content))]

    @cached_property
    def people(self) -> People:
        """The people in the order in which everything is drawn."""
        assert self.original is not None
        if self.release.synthetic:
            return _apart(self.release, self.original, self.known)
        assert self.fragment is not None
        return _ordered(self.release, self.original, self.fragment, self.known)


def check_columns(release: Release, original: Table | None, columns: Sequence[str] | None) -> None:
    """Refuses to measure columns that are not published, or not in the original."""
    known = [c for c in _of_values(release) if original is None or c in original.codes]
    absent = [c for c in columns or () if c not in known]
    if absent or (columns is not None and not columns):
        got = f" Got {absent[0]!r}." if absent else ""
        raise UsageError(
            f"The columns of utility must be quasi-identifiers, sensitive or neutral columns that are published and in the "
            f"original: some of {', '.join(known)}.{got}"
        )


def _of_values(release: Release) -> tuple[str, ...]:
    """The published columns of values: quasi-identifiers, sensitive ones, neutral ones."""
    return (*release.quasi, *release.sensitive, *release.published(release.schema.names(Role.NEUTRAL)))


def coded_alike(release: Release, original: Table) -> None:
    """Refuses an original whose domains differ from those of the release: its codes would mean something else."""
    for column in release.columns:
        if column in original.codes:
            ours, theirs = release.labels[column].domain, original.domains[column]
            if ours is not theirs and ours.texts != theirs.texts:
                raise UsageError(
                    f"utility: the release and the original must have the same codes. {column!r} does not."
                )


def uncovered(case: Case) -> str | None:
    """Why labels do not tell what was lost, or None. If more than a twentieth of a quasi-identifier's labels do not cover
    their person's value (modes, cluster centres, swapped values), it hides more than the width of its labels."""
    if case.nobodys or len(case.release.blocks) > 1:
        return None
    assert case.original is not None
    people = case.people
    rows = people.row[: people.inside]
    for column in (c for c in case.release.quasi if c in case.known):
        labels = case.release.labels[column]
        label = case.release.block_of(column).cell(column)[people.own]
        untrue = float((~labels.covers(label, case.original.codes[column][rows])).mean())
        if untrue > _FEW:
            share = f"{100 * untrue:.0f} %"
            return f"{column}: {share} of the labels do not cover their person's value, so their width is not the loss"
    return None


_FEW = 0.05
NOBODYS = "the rows of a synthetic release are nobody's: no person has a record, and its classes hold nobody"


def _apart(release: Release, original: Table, columns: Sequence[str]) -> People:
    """The people of an original, and the rows of a synthetic release, each in the order of their contents."""
    content = mixed([original.codes[c] for c in columns], original.rows)
    rows = np.argsort(content, kind="stable")
    own = np.argsort(_fragment_content(release, 0), kind="stable")
    return People(rows, content[rows], len(own), 0, np.zeros(len(own), dtype=np.int64), own, {})


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
