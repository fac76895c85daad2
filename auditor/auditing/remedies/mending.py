"""Mending: a release of one block made coarser, or with some of its classes suppressed.

A `Mending` says what to do: columns to drop, quasi-identifiers to coarsen by one or more levels, and classes to suppress by a
criterion on their own figure (`k<5`, `l_distinct<3`, `t_equal>0.4`), in that order. To suppress a row is to replace all its
quasi-identifiers by the mark of a suppressed value; the rest of the row stays. Since that changes what the other classes are
compared with (in t-closeness, for example), it is repeated until no class meets a criterion.

Rows keep their places, so whatever tells which row is whose (the order, an id, the provenance) holds for the mended release
too. The result depends on the published texts and the schema alone, not on whether the original is known. Releases of several
blocks cannot be mended, since their labels do not make their classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from auditor.auditing.remedies.coarsening import Coarser, coarser
from auditor.auditing.subjects import Subject
from auditor.files.releases import ReadRelease, read_labels, release_file
from auditor.measure.class_figures import CLASS_FIGURES, LEAST_COUNTS, class_figures
from auditor.model.arrays import Bools, Codes, Floats
from auditor.model.discretion import shown
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.keeping import kept
from auditor.model.labels.label_values import named_domain
from auditor.model.labels.labels import Labels
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import CLUSTER_RADIUS, Release, Suppression
from auditor.model.schema import Role
from auditor.model.seeding import stage
from auditor.model.table import RawTable
from auditor.model.values import format_number

_MOST_LABELS = 512
"""Of so many different sets of labels it is kept what they denote, and which are one level coarser."""
_SLACK = 1e-9  # a figure this near a limit meets it, as in policies
_CRITERION = re.compile(r"\s*([a-z_]+)\s*([<>])\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True, slots=True)
class Criterion:
    """Classes whose figure is below (`<`) or above (`>`) a limit."""

    figure: str
    relation: str
    limit: float

    def __str__(self) -> str:
        return f"{self.figure}{self.relation}{format_number(self.limit)}"

    @classmethod
    def parse(cls, text: str) -> Criterion:
        """A criterion such as `k<5`."""
        found = _CRITERION.fullmatch(text)
        try:
            limit = float(found[3]) if found else np.nan
        except ValueError:
            limit = np.nan
        if found is None or not np.isfinite(limit) or found[1] not in CLASS_FIGURES:
            raise UsageError(
                f"A criterion must be FIGURE<LIMIT or FIGURE>LIMIT, with one of {', '.join(CLASS_FIGURES)}. Got {text!r}."
            )
        least = found[1] in LEAST_COUNTS
        if (found[2] == "<") is not least:
            raise UsageError(
                f"{text!r} would suppress the safe classes: a {'low' if least else 'high'} {found[1]} is the bad one. Use "
                f"{found[1]}{'<' if least else '>'}{format_number(limit)}."
            )
        return cls(found[1], found[2], limit)

    def meets(self, figures: Floats) -> Bools:
        """Which classes meet the criterion; one whose figure is not a number never does."""
        if self.relation == "<":
            return figures < self.limit - _SLACK
        return figures > self.limit + _SLACK


@dataclass(frozen=True, slots=True)
class Mending:
    """What is done to a release: the columns to drop, how many levels coarser others become, and which classes are
    suppressed; with the conventions by which figures of classes are computed."""

    drop: tuple[str, ...] = ()
    coarsen: Mapping[str, int] = field(default_factory=dict)
    suppress: tuple[Criterion, ...] = ()
    suppression: Suppression = Suppression.EXCLUDED
    recursive_l: int = 2


@dataclass(frozen=True, slots=True, eq=False)
class Mended:
    """A mended release. `moved` says where each row of the old release is now, `suppressed` which of the old rows were
    suppressed in mending, and `levels` what the coarser columns hold now."""

    release: Release
    moved: Provenance
    suppressed: Bools
    levels: Mapping[str, str]


def not_mendable(release: Release) -> str | None:
    """Why a release cannot be mended; None where it can."""
    if len(release.blocks) > 1:
        return "the labels of a release of several blocks do not make its classes; make the release again with other settings"
    if CLUSTER_RADIUS in release.columns:
        return "its quasi-identifiers are those of cluster centres; make the release again with other settings"
    if not release.quasi:
        return "it publishes no quasi-identifier"
    return None


def mend(release: Release, mending: Mending, rows: Bools | None = None, anew: bool = False) -> Mended:
    """A release of one block, mended; `rows` are suppressed as well. With `anew` the domains of the quasi-identifiers are
    what the new labels name, as for a release whose original is not known."""
    sheet = _Sheet(release)
    for column in mending.drop:
        sheet.drop(column)
    for column, levels in mending.coarsen.items():
        for done in range(levels):
            sheet.coarsen(column, done)
    if rows is not None:
        sheet.suppress_rows(rows)
    if mending.suppress:
        sheet.suppress(_bare(release), mending)
    made, moved = sheet.built(release, anew)
    return Mended(made, moved, sheet.suppressed & ~sheet.before, sheet.levels)


def mended_subject(subject: Subject, mending: Mending) -> tuple[Subject, Mended]:
    """The subject with its release mended."""
    beside = {*subject.identifiers, *(one.column for one in subject.ignored)}
    published = replace(mending, drop=tuple(c for c in mending.drop if c not in beside))
    # A population is coded in domains of its own, with or without an original; only a release alone names its own values.
    mended = mend(subject.release, published, anew=not subject.has_original and subject.population is None)
    provenance = subject.provenance
    if provenance is not None:
        row, inside = provenance.fragment[:, 0], provenance.bucket >= 0
        bucket = np.where(inside, mended.moved.bucket[row], -1).astype(np.int32)
        fragment = np.where(inside[:, None], mended.moved.fragment[row], -1).astype(np.int32)
        provenance = replace(provenance, bucket=bucket, fragment=fragment)
    kept = tuple(c for c in subject.identifiers if c not in mending.drop)
    ignored = tuple(one for one in subject.ignored if one.column not in mending.drop)
    made = replace(subject, release=mended.release, provenance=provenance, identifiers=kept, ignored=ignored)
    return made, mended


def mended_table(read: ReadRelease, mending: Mending, rows: Sequence[int] = ()) -> tuple[RawTable, Mended]:
    """A release that was read in the order of its file, mended: its cells, row by row as they were, and the mended release.
    `rows` are rows of the file, from 0, to suppress."""
    raw, place = read.tables[0], read.provenance
    reason = not_mendable(read.release)
    person = read.release.schema.person
    if person is not None and mending.suppress and len(set(raw.columns.get(person, ("", "")))) < raw.rows:
        reason = f"classes count people, and the file does not say that each row is another person's ({person!r})"
    if read.release.schema.tables:
        reason = "it has linked tables; make it again"
    if reason is not None:
        raise ReleaseError(f"{raw.name} cannot be mended: {reason}.")
    assert place is not None
    outside = [row + 1 for row in rows if not 0 <= row < raw.rows]
    if outside:
        raise UsageError(f"{raw.name} has the rows 1 to {raw.rows}. Row {outside[0]} cannot be suppressed.")
    chosen = np.zeros(raw.rows, dtype=np.bool_)
    chosen[place.fragment[list(rows), 0]] = True
    beside = set(read.release.schema.unpublished) & set(raw.columns)
    published = replace(mending, drop=tuple(c for c in mending.drop if c not in beside))
    mended = mend(read.release, published, chosen)
    block = mended.release.blocks[0]
    at = mended.moved.fragment[place.fragment[:, 0], 0]
    columns: dict[str, Sequence[str]] = {}
    for name, cells in raw.columns.items():
        if name in mending.drop:
            continue
        if name in mended.release.quasi:
            texts = mended.release.labels[name].texts
            cells = [texts[i] for i in block.cell(name)[at].tolist()]
        columns[name] = cells
    return replace(raw, columns=columns), mended


def mended_files(read: ReadRelease, table: RawTable, target: Path) -> dict[Path, str | bytes]:
    """The contents of a mended release's file, in the format that its name asks for, and of the declaration of its aliases,
    where it has any. Nothing is written here."""
    declared = {column: said for column, said in read.declared.items() if column in table.columns}
    return release_file(table, read.release.schema, declared, target)


class _Sheet:
    """The quasi-identifiers of a release while they are changed: `numbers[c]` says which of `texts[c]` each row holds."""

    def __init__(self, release: Release) -> None:
        reason = not_mendable(release)
        if reason is not None:
            raise ReleaseError(f"{release.name} cannot be mended: {reason}.")
        block = release.blocks[0]
        self.release, self.schema, self.name = release, release.schema, release.name
        self.form = release.schema.format
        self.columns = list(block.columns)
        self.quasi = list(release.quasi)
        self.texts = {c: release.labels[c].texts for c in self.quasi}
        self.numbers = {c: block.cell(c).copy() for c in self.quasi}
        self.before = release.suppressed[block.bucket]
        self.suppressed = self.before.copy()
        self.levels: dict[str, str] = {}

    def drop(self, column: str) -> None:
        if column not in self.columns:
            known = ", ".join(c for c in self.columns if self.schema.columns[c].role is not Role.NEUTRAL)
            raise UsageError(f"{self.name}: there is no column {column!r} to drop. It has: {known}.")
        self.columns.remove(column)
        if column in self.quasi:
            self.quasi.remove(column)

    def coarsen(self, column: str, done: int = 0) -> None:
        """Makes a column one level coarser, except in suppressed rows; it is `done` levels coarser already."""
        if column not in self.quasi:
            known = ", ".join(self.quasi) or "none"
            raise UsageError(f"{self.name}: only a quasi-identifier can be coarser. Got {column!r}; it has: {known}.")
        old, number = self.texts[column], self.numbers[column]
        used = np.unique(number[~self.suppressed])
        if not len(used):
            raise ReleaseError(f"{self.name}: every row is suppressed, so no label of {column!r} can be coarser.")
        if done and self.levels[column] == "everything":
            many = f"{done} level{'' if done == 1 else 's'}"
            raise ReleaseError(
                f"{self.name}: {column!r} covers everything after {many} and cannot be coarser. Ask for {many}."
            )
        made = _coarser(self.release, column, tuple(old[i] for i in used))
        new = {i: made.texts[old[i]] for i in used.tolist()}
        still = {i: old[i] for i in np.unique(number[self.suppressed]).tolist()}
        distinct = sorted({*new.values(), *still.values()})
        place = {text: i for i, text in enumerate(distinct)}
        to_new, to_old = np.zeros(len(old), dtype=np.int32), np.zeros(len(old), dtype=np.int32)
        to_new[list(new)] = [place[text] for text in new.values()]
        to_old[list(still)] = [place[text] for text in still.values()]
        self.texts[column] = tuple(distinct)
        self.numbers[column] = np.where(self.suppressed, to_old[number], to_new[number]).astype(np.int32)
        self.levels[column] = made.level

    def suppress_rows(self, rows: Bools) -> None:
        """Replaces all quasi-identifiers of some rows by the mark of a suppressed value."""
        for column in self.quasi:
            marks, texts = self.form.of(column).suppressed, self.texts[column]
            if not marks:
                raise ReleaseError(
                    f'{self.name}: no text means "suppressed" in {column!r}. List one under its suppressed, such as "*".'
                )
            mark = marks[0]
            if mark not in texts:
                texts = self.texts[column] = (*texts, mark)
            self.numbers[column][rows & ~self.suppressed] = texts.index(mark)
        self.suppressed |= rows
        if self.suppressed.all():
            raise ReleaseError(f"{self.name}: nothing would be left, since every row would be suppressed.")

    def suppress(self, base: Release, mending: Mending) -> None:
        """Suppresses the classes that meet a criterion, until none does."""
        while True:
            release, moved = self.built(base)
            bad = meeting(release, mending)[moved.bucket]
            if not bad.any():
                return
            self.suppress_rows(bad)

    def built(self, base: Release, anew: bool = False) -> tuple[Release, Provenance]:
        """The release with these quasi-identifiers; everything else is as in `base`."""
        block = base.blocks[0]
        labels = {c: base.labels[c] for c in self.columns}
        cells = {c: block.cell(c) for c in self.columns}
        for column in self.quasi:
            if self.texts[column] == base.labels[column].texts:
                cells[column] = self.numbers[column]
                continue
            new = _relabelled(base, column, self.texts[column], False)
            _check_covered(base.labels[column], block.cell(column), new, self.numbers[column], column)
            if anew:
                new = _relabelled(base, column, self.texts[column], True)
            labels[column], cells[column] = new, self.numbers[column]
        made_by = base.name, base.method, base.params, base.promises
        release, moved = publish(base.schema, labels, cells, [self.columns], None, stage(0, "mend"), *made_by)
        return replace(release, left_out=base.left_out), moved


def meeting(release: Release, mending: Mending) -> Bools:
    """The classes that meet a criterion of a mending; suppressed ones never do."""
    bad = np.zeros(len(release.sizes), dtype=np.bool_)
    for criterion in mending.suppress:
        figures = class_figures(release, criterion.figure, mending.suppression, mending.recursive_l)
        if figures is None:
            raise ReleaseError(
                f"{release.name}: {criterion} cannot be judged, since {criterion.figure} does not apply to it."
            )
        bad |= criterion.meets(figures)
    return bad


@kept(_MOST_LABELS)
def _coarser(release: Release, column: str, texts: tuple[str, ...]) -> Coarser:
    """Labels of a column one level coarser: the same ones come again in many mendings."""
    return coarser(release.schema.columns[column], release.schema.format, texts)


@kept(_MOST_LABELS)
def _relabelled(base: Release, column: str, texts: tuple[str, ...], anew: bool) -> Labels:
    """The labels of a quasi-identifier in the notations that the schema names; with `anew` over the values that they name."""
    domain = base.labels[column].domain
    if anew:
        domain = named_domain(domain.column, base.schema.format, base.name, texts)
    return Labels.read(domain, texts, lambda _: f"{base.name}, column {column!r}", None, domain.column.notation)


def _check_covered(old: Labels, old_cell: Codes, new: Labels, new_cell: Codes, column: str) -> None:
    """An error where a new label does not cover a value that the old one covered."""
    pairs = np.unique(old_cell.astype(np.int64) * len(new.texts) + new_cell)
    before, after = np.divmod(pairs, len(new.texts))
    covered = (new.lo[after] <= old.lo[before]) & (old.hi[before] <= new.hi[after])
    for place in np.flatnonzero(np.isin(after, list(new.gaps))).tolist():
        covered[place] &= bool(np.isin(old.codes(int(before[place])), new.gaps[int(after[place])]).all())
    wrong = np.flatnonzero(~covered & (old.lo[before] <= old.hi[before]))
    if len(wrong):
        here, there = new.texts[after[wrong[0]]], old.texts[before[wrong[0]]]
        said = f"{shown(here, 'label')} would not cover all that {shown(there, 'label')} covers"
        raise ReleaseError(f"The column {column!r}: {said}.")


@kept(1)
def _bare(release: Release) -> Release:
    """The release with only those sensitive values that its labels name, so that figures of classes are the same whether or
    not the original is known."""
    chosen = [c for c in release.sensitive if c in release.columns]
    block = release.blocks[0]
    texts, numbers = {}, {}
    for column in chosen:
        used, numbers[column] = np.unique(block.cell(column), return_inverse=True)
        texts[column] = [release.labels[column].texts[i] for i in used]
    labels, cells = dict(release.labels), block.cells.copy()
    for column in chosen:
        said = release.labels[column].declared()
        labels[column] = read_labels(release.schema, column, texts[column], release.name, declared=said)
        cells[:, block.columns.index(column)] = numbers[column]
    return replace(release, labels=labels, blocks=(replace(block, cells=cells),))
