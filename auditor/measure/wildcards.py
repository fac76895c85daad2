"""Wildcards: how many records a record agrees with if a suppressed cell may be any value.

Rows of a class have the same labels. Tools disagree on what a single suppressed cell means. As a value of its own it makes a
class of its own (ARX's classes). As a wildcard it fits every value, so people hide among more than their class (sdcMicro;
ARX's wildcard risk). Two records agree if in each quasi-identifier their labels are the same or one is suppressed: not that
one person fits both. Somebody with a value that nobody else has may fit only the record in which it is suppressed.

Rows with everything suppressed take no part, are a class of their own, or agree with everybody (`Suppression`).

Records are grouped into kinds (the same labels), and kinds by the pattern of their suppressed cells. Kinds of two patterns
agree if they have the same labels in the columns where neither is suppressed, which one sort finds. So the cost grows with
the pairs of patterns, not of kinds. If there are nearly as many patterns as kinds, each is compared with all others instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor.measure.counts import distinct_sets
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.release import Release, Suppression, WithheldCells

MOST_PAIRS = 65_536
MOST_SORTED = 4_000_000
"""Patterns are compared with each other up to this many pairs of patterns, and patterns times kinds."""
MOST_COMPARED = 400_000_000
"""Each kind is compared with all others up to this many cells. Beyond both limits nothing is counted: it takes too long."""
_PAIR = 30_000
"""A pair of patterns costs as much as comparing this many cells."""
TOO_LONG = "counting suppressed cells as any value would take too long here; --withheld-cells own counts them as values"


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Which records agree: `kind` is the kind of each record (-1: it takes no part), `labels` are those of each kind (kinds ×
    columns), and `hidden` says which of them fit any value."""

    kind: Ints
    labels: Codes
    hidden: Bools

    @classmethod
    def of(cls, labels: Codes, hidden: Bools, counted: Bools | None = None) -> Alike:
        """The records with these labels (records × columns); only those `counted` take part."""
        counted = np.ones(len(labels), dtype=np.bool_) if counted is None else counted
        shown = np.where(hidden, -1, labels)[counted].astype(np.int32)
        kind = np.full(len(labels), -1, dtype=np.int64)
        kind[counted] = distinct_rows(shown)
        kinds = int(kind.max(initial=-1)) + 1
        of_kind = np.empty((kinds, labels.shape[1]), dtype=np.int32)
        of_kind[kind[counted]] = shown
        return cls(kind, of_kind, of_kind < 0)

    @property
    def inside(self) -> Bools:
        """The records that take part."""
        taking: Bools = self.kind >= 0
        return taking

    def sums(self, amounts: Floats) -> Floats:
        """The sums of amounts over the records of each kind; `amounts` has a row for each record."""
        kind, kinds = self.kind[self.inside], len(self.labels)
        columns = amounts[self.inside].reshape(len(kind), -1).T
        return np.column_stack([np.bincount(kind, weights=column, minlength=kinds) for column in columns])

    def agreeing(self, sums: Floats) -> Floats | None:
        """For each kind the sums over all kinds that agree with it, its own included; None if that would take too long."""
        if not self.hidden.any():
            return sums
        return agreeing_kinds(self.labels, self.hidden, sums)

    def frequency(self) -> Ints | None:
        """For each record the number of records that agree with it, itself included; 0 if it takes no part. None if that
        would take too long."""
        found = self.agreeing(self.sums(np.ones(len(self.kind))))
        if found is None:
            return None
        return np.append(found[:, 0], 0.0)[self.kind].astype(np.int64)


def fit_any(suppressed: Bools, whole: Bools, suppression: Suppression, cells: WithheldCells) -> Bools:
    """Which cells of records fit any value, given which are suppressed (records × quasi-identifiers) and the rows in which
    all are."""
    rows = np.broadcast_to(whole[:, None], suppressed.shape)
    single = suppressed & ~rows if cells is WithheldCells.WILDCARD else np.zeros_like(suppressed)
    return single | rows if suppression is Suppression.WILDCARD else single


def published_labels(release: Release, columns: Sequence[str]) -> tuple[Codes, Bools]:
    """The labels of some columns of one block, numbered so that labels with the same values are equal (fragments × columns),
    and which of them are suppressed: these are equal to each other only."""
    values, hidden = [], []
    for column in columns:
        labels, cell = release.labels[column], release.block_of(column).cell(column)
        used = np.flatnonzero(np.bincount(cell, minlength=len(labels.texts)))
        number = np.zeros(len(labels.texts), dtype=np.int32)
        number[used] = distinct_sets(labels, used)
        number[labels.suppressed] = len(used)
        values.append(number[cell])
        hidden.append(labels.suppressed[cell])
    return np.column_stack(values), np.column_stack(hidden)


def alike_records(
    release: Release, columns: Sequence[str], suppression: Suppression, cells: WithheldCells
) -> tuple[Alike, Codes, Bools]:
    """Which fragments of one block agree in some of its columns, with their labels and which of these fit any value. Rows
    with everything suppressed take part unless `suppression` excludes them."""
    values, suppressed = published_labels(release, columns)
    whole = release.suppressed[release.block_of(columns[0]).bucket]
    hidden = fit_any(suppressed, whole, suppression, cells)
    return Alike.of(values, hidden, ~whole if suppression is Suppression.EXCLUDED else None), values, hidden


def alike_classes(release: Release, suppression: Suppression, cells: WithheldCells) -> Alike:
    """The same for the classes of a one-block release: a kind is a class."""
    block, counted = release.blocks[0], np.ones(len(release.sizes), dtype=np.bool_)
    if suppression is Suppression.EXCLUDED:
        counted = ~release.suppressed
    first = np.empty(len(release.sizes), dtype=np.int64)
    first[block.bucket[::-1]] = np.arange(len(block.bucket))[::-1]
    labels = np.empty((int(counted.sum()), len(release.quasi)), dtype=np.int32)
    suppressed = np.zeros(labels.shape, dtype=np.bool_)
    for place, column in enumerate(release.quasi):
        labels[:, place] = block.cell(column)[first[counted]]
        suppressed[:, place] = release.labels[column].suppressed[labels[:, place]]
    number = np.where(counted, np.cumsum(counted) - 1, -1)
    return Alike(number[block.bucket], labels, fit_any(suppressed, release.suppressed[counted], suppression, cells))


def agreeing_kinds(labels: Codes, hidden: Bools, sums: Floats) -> Floats | None:
    """For each kind, given by its labels (kinds × quasi-identifiers) and which of them fit any value, the sums (kinds ×
    amounts) over all kinds that agree with it, its own included; None if that would take too long."""
    pattern = distinct_rows(hidden.astype(np.int32))
    patterns = int(pattern.max()) + 1
    compared = len(labels) * labels.size
    if compared <= min(MOST_COMPARED, patterns**2 * _PAIR):
        return by_kind(labels, hidden, sums)
    if patterns**2 <= MOST_PAIRS and patterns * len(labels) <= MOST_SORTED:
        return by_pattern(labels, hidden, pattern, sums)
    return None


def by_pattern(labels: Codes, hidden: Bools, pattern: Ints, sums: Floats) -> Floats:
    """For each kind the sums over those that agree with it, pattern by pattern."""
    members = [np.flatnonzero(pattern == number) for number in range(int(pattern.max()) + 1)]
    found = np.zeros(sums.shape)
    for mine in members:
        for others in members:
            shown = ~(hidden[mine[0]] | hidden[others[0]])
            key = distinct_rows(labels[np.concatenate([mine, others])][:, shown])
            for column in range(sums.shape[1]):
                added = np.bincount(key[len(mine) :], weights=sums[others, column], minlength=int(key.max()) + 1)
                found[mine, column] += added[key[: len(mine)]]
    return found


def by_kind(labels: Codes, hidden: Bools, sums: Floats) -> Floats:
    """The same, kind by kind."""
    found = np.empty(sums.shape)
    # one column at a time: those who disagree in one need not be compared in the next
    columns, masks = np.ascontiguousarray(labels.T), np.ascontiguousarray(hidden.T)
    for here in range(len(labels)):
        others: Ints | slice = slice(None)
        for column, mask in zip(columns, masks, strict=True):
            if not mask[here]:
                agree = (column[others] == column[here]) | mask[others]
                others = np.flatnonzero(agree) if isinstance(others, slice) else others[agree]
        found[here] = sums[others].sum(axis=0)
    return found
