"""Beliefs: what an adversary believes about each target, in the form that attacks and scoring use.

Several kinds answer the same questions: the posterior from a release (`posterior.py`; by the nearest records `distance.py`),
the same without each target's own record (`leave_one_out.py`), or given facts about people (`coupled.py`); and the prior
alone (`Prior`, here), which is the baseline of every figure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.keeping import Memory, kept
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.release import Release
from auditor.posterior.blurring import Entries, blurred, nearest
from auditor.posterior.kernels import masses_around, masses_between, running_sums
from auditor.posterior.matching import expand

A_PART = 2_000_000
"""The entries of beliefs that are worked on at a time."""
MOST_COLUMNS = 64
"""Of so many columns (and sets of shares at large) it is kept what their labels stand for."""
TIE = 1e-9
"""Probabilities whose relative difference is smaller are tied: more than float noise, less than any real difference."""


class ValueBeliefs:
    """P(t, s) over the codes of a sensitive column: target t has row `row_of[t]` of `rows` (rows × codes, sparse).

    A row sums to one, or to the probability of membership if that is in doubt; its entries are in the order of codes. What
    attacks and scoring ask of the rows is computed once, whoever's they are.
    """

    def __init__(self, rows: sparse.csr_array, row_of: Ints, memory: Memory | None = None) -> None:
        if memory is None:
            rows.sum_duplicates()  # in the order of codes, so that no sum depends on how they were made
            memory = Memory()
        self._rows, self.row_of, self.memory = rows, row_of, memory

    @property
    def rows(self) -> sparse.csr_array:
        """All rows."""
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and codes there are."""
        return self._rows.shape

    @property
    def row_number(self) -> Ints:
        """The row of each stored entry."""
        return _row_number(self)

    def top(self) -> Floats:
        """The largest probability of a value, for each row."""
        return _top(self)

    def tied(self) -> Floats:
        """How many values tie for the top, for each row."""
        return _tied(self)

    def top_entries(self) -> Bools:
        """The stored entries that tie for the top of their row."""
        return np.asarray(self.rows.data >= (self.top() * (1 - TIE))[self.row_number])

    def at(self, codes: Ints) -> Floats:
        """The probability of one given value for each target."""
        return self.between(self.row_of, codes, codes + 1)

    def named(self, codes: Ints) -> Floats:
        """The chance that one given value is named for each target: 1 over the number of values that tie for the top."""
        top = self.top()[self.row_of]
        right = (top > 0) & (self.at(codes) >= top * (1 - TIE))
        return np.where(right, 1 / np.maximum(self.tied(), 1)[self.row_of], 0.0)

    def of(self, row_of: Ints) -> ValueBeliefs:
        """The same rows for other targets."""
        return ValueBeliefs(self._rows, row_of, self.memory)

    def parts(self) -> Iterator[tuple[slice, ValueBeliefs]]:
        """The rows in order, some at a time: no more than work on each of their entries takes little memory for."""
        ends = self._rows.indptr.astype(np.int64)
        if ends[-1] <= A_PART:
            if len(ends) > 1:
                yield slice(0, len(ends) - 1), self
            return
        begin = 0
        while begin < self._rows.shape[0]:
            end = max(int(np.searchsorted(ends, ends[begin] + A_PART, side="right")) - 1, begin + 1)
            yield slice(begin, end), ValueBeliefs(self._rows[begin:end], np.arange(end - begin))
            begin = end

    def between(self, row: Ints, first: Ints, last: Ints) -> Floats:
        """The probability of the codes from `first` up to but not including `last`, for each given row."""
        mass = np.zeros(len(row))
        for rows, part in self.parts():
            if rows.stop - rows.start == self.shape[0]:
                return part._between(row, first, last)
            here = np.flatnonzero((row >= rows.start) & (row < rows.stop))
            mass[here] = part._between(row[here] - rows.start, first[here], last[here])
        return mass

    def _between(self, row: Ints, first: Ints, last: Ints) -> Floats:
        row, first, last = (one.astype(np.int64, copy=False) for one in (row, first, last))
        return masses_between(row, first, last, *_running(self))

    def around(self, first: Ints, last: Ints) -> Floats:
        """For each stored entry the probability of the codes from `first` up to but not including `last`, given for each
        code of the entries; codes that have none stand for no others."""
        ends = np.zeros((2, self.shape[1]), dtype=np.int64)
        ends[0, : len(first)], ends[1, : len(last)] = first, last
        return masses_around(ends[0], ends[1], *_running(self))


@kept(1)
def _row_number(values: ValueBeliefs) -> Ints:
    return np.repeat(np.arange(values.rows.shape[0]), np.diff(values.rows.indptr))


@kept(1)
def _top(values: ValueBeliefs) -> Floats:
    top = np.zeros(values.shape[0])
    for where, part in values.parts():
        starts = part.rows.indptr
        filled = np.flatnonzero(np.diff(starts))
        if len(filled):
            top[where.start + filled] = np.maximum(np.maximum.reduceat(part.rows.data, starts[filled]), 0.0)
    return top


@kept(1)
def _tied(values: ValueBeliefs) -> Floats:
    tied = np.zeros(values.shape[0])
    for where, part in values.parts():
        tied[where] = np.bincount(part.row_number, weights=part.top_entries(), minlength=part.shape[0])
    return tied


@kept(1)
def _running(values: ValueBeliefs) -> tuple[Ints, Codes, Floats, Floats]:
    """Where each row begins, the codes and the probabilities of its entries in order, and their running sums."""
    rows = values.rows
    starts = rows.indptr.astype(np.int64)
    return starts, rows.indices.astype(np.int32, copy=False), rows.data, running_sums(rows.data, starts)


class Mixture(ValueBeliefs):
    """The same for rows that mix a few distributions: `chance` (rows × distributions) of `each` (distributions × codes).
    Where there are many people and many values, all rows together would fill the memory; they are made some at a time."""

    def __init__(self, chance: Floats, each: sparse.csr_array, row_of: Ints, memory: Memory | None = None) -> None:
        self.chance, self.each, self.row_of = chance, each, row_of
        self.memory = Memory() if memory is None else memory

    @property
    def rows(self) -> sparse.csr_array:
        return self._some(slice(0, len(self.chance)))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.chance), self.each.shape[1]

    def of(self, row_of: Ints) -> ValueBeliefs:
        return Mixture(self.chance, self.each, row_of, self.memory)

    def _some(self, rows: slice) -> sparse.csr_array:
        return sparse.csr_array(sparse.csr_array(self.chance[rows]) @ self.each)

    def parts(self) -> Iterator[tuple[slice, ValueBeliefs]]:
        step = max(A_PART // max(self.each.shape[1], 1), 1)
        if len(self.chance) <= step:
            if len(self.chance):
                yield slice(0, len(self.chance)), _made(self)
            return
        for begin in range(0, len(self.chance), step):
            rows = slice(begin, min(begin + step, len(self.chance)))
            yield rows, ValueBeliefs(self._some(rows), np.arange(rows.stop - begin))


@kept(1)
def _made(values: Mixture) -> ValueBeliefs:
    """All rows of a few people."""
    return ValueBeliefs(values.rows, np.arange(len(values.chance)))


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """How far each fragment of a sensitive block may still be a target's, since others may have it. `free` is the
    probability that it is nobody else's, `gone` by how much the free ones of its class decrease once it is left out."""

    free: Floats
    gone: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RecordBeliefs:
    """For each target the probability of the likeliest record, and how many records tie for it."""

    best: Floats
    tied: Floats

    def named(self, probability: Floats) -> Floats:
        """The chance that a record of this probability is named for each target: 1 over the number of those that tie."""
        return np.where((probability > 0) & (probability >= self.best * (1 - TIE)), 1 / self.tied, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class MemberBeliefs:
    """Membership of each target."""

    buckets: Floats
    """The number of matching classes."""
    degree: Floats
    """The matching degree f(t)."""
    posterior: Floats
    """P(in)."""
    gap: float = 0.0
    """How far the fit behind P(in) is from what the release says; 0 if none was needed (see `presence.py`)."""
    judged: bool = True
    """Whether P(in) was computed at all, and is not just the prior."""


class Beliefs(ABC):
    """What is believed about each of `targets` people. What was asked of them is kept in their `memory`."""

    targets: int

    @cached_property
    def memory(self) -> Memory:
        """What was computed already."""
        return Memory()

    @property
    @abstractmethod
    def matched(self) -> Bools:
        """Whether anything fits each target. If nothing does there is only the prior, and no attack to speak of."""

    def calibrated(self, column: str | None) -> bool:
        """Whether the probabilities of records (None) or of the values of a column are known to be right: claims made with
        probability p are true in a share p of cases, within two percentage points."""
        return False

    @abstractmethod
    def values(self, column: str) -> ValueBeliefs:
        """P(t, s) for a sensitive column: being in the release, and having the value."""

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        """`values` with fragments counting by their shares, not summing to one. Beliefs that do not come from the fragments
        of a release are unchanged."""
        return self.values(column)

    @abstractmethod
    def records(self) -> RecordBeliefs:
        """Which records are likeliest to be each target's."""

    @abstractmethod
    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        """The probability that each target's record is this one: the given fragment (targets × blocks) of each block about
        which something is known. Zero for bucket -1."""

    @abstractmethod
    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        """For each target the chance of naming this class (1 over the number of classes that tie for the most mass, 0 if it
        is not among them), and the probability of the class it names."""

    @abstractmethod
    def membership(self, prior: float) -> MemberBeliefs:
        """Scores of being in the release, given a prior probability of it."""


class Linked(Beliefs):
    """Beliefs from the records of a release. Targets alike share a row (`row_of`), with the `total` weight of what fits."""

    knowledge: Knowledge
    row_of: Ints
    total: Floats

    @property
    def matched(self) -> Bools:
        return np.asarray(self.total[self.row_of] > 0)

    @property
    def certain(self) -> bool:
        """Whether the targets are known to be in the release."""
        prior = self.knowledge.membership
        return prior is None or prior >= 1

    def take(self, which: Ints) -> Self:
        """The same beliefs about some of the targets, in the given order."""
        some = copy(self)
        some.memory = Memory()
        some.targets, some.row_of = len(which), self.row_of[which]
        some.present = self.present[which]
        return some

    @cached_property
    def present(self) -> Floats:
        """P(in) for each target: 1 if membership is known."""
        return self._present(self.knowledge.membership)

    @abstractmethod
    def _present(self, prior: float | None) -> Floats:
        """The same for any prior."""

    def values(self, column: str) -> ValueBeliefs:
        return _values(self, column)

    def believed(self, column: str, rows: sparse.csr_array, row_of: Ints, matched: Bools) -> ValueBeliefs:
        """Rows as beliefs: of the prior for targets whom nothing fits or, if membership is in doubt, multiplied by P(in)."""
        if self.certain:
            return or_prior(rows, row_of, matched, self.knowledge.priors[column])
        return scaled(rows, row_of, self.present)

    def likeliest(self, row: Ints, best: Floats, count: Floats | Ints) -> RecordBeliefs:
        """The likeliest records, given for entries of rows the probability of the best ones and how many have it."""
        top = np.zeros(len(self.total))
        np.maximum.at(top, row, best)
        at_top = best >= top[row] * (1 - TIE)
        tied = np.bincount(row, weights=np.where(at_top, count, 0.0), minlength=len(top))
        return RecordBeliefs(top[self.row_of] * self.present, np.maximum(tied, 1.0)[self.row_of])


Whole = TypeVar("Whole", bound=Beliefs)


def _values(beliefs: Beliefs, column: str) -> ValueBeliefs:
    """What is believed of a column, kept for the next attack unless that takes much memory."""
    found: ValueBeliefs | None = beliefs.memory.get(column)
    if found is None:
        found = beliefs.thinned(column, None)
        if found.rows.nnz <= A_PART:
            beliefs.memory[column] = found
    return found


class Prior(Beliefs):
    """No release at all: sensitive values by their shares among people at large, records and classes at random. If the
    adversary is not sure that a target is in, a record is right only if they are (`membership`). `beyond` is how many
    classes of each size there are in addition to those of `sizes`."""

    def __init__(
        self,
        targets: int,
        priors: Mapping[str, Floats],
        sizes: Ints,
        membership: float | None = None,
        beyond: Mapping[int, int] | None = None,
    ) -> None:
        others = dict(beyond or {})
        self.targets = targets
        self._priors = priors
        self._people = float(max(int(sizes.sum()) + sum(size * times for size, times in others.items()), 1))
        self._largest = max([int(sizes.max(initial=0)), *others])
        self._is_largest = sizes == self._largest
        self._sharing = max(int(self._is_largest.sum()) + others.get(self._largest, 0), 1)
        self._present = 1.0 if membership is None else membership

    @property
    def matched(self) -> Bools:
        return np.ones(self.targets, dtype=np.bool_)

    def values(self, column: str) -> ValueBeliefs:
        row = sparse.csr_array(self._priors[column].reshape(1, -1))
        return ValueBeliefs(row, np.zeros(self.targets, dtype=np.int64))

    def records(self) -> RecordBeliefs:
        best = np.full(self.targets, self._present / self._people)
        return RecordBeliefs(best, np.full(self.targets, self._people))

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return np.where(bucket >= 0, self._present / self._people, 0.0)

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        share = np.where((bucket >= 0) & self._is_largest[bucket], 1 / self._sharing, 0.0)
        return share, np.full(self.targets, self._largest / self._people)

    def membership(self, prior: float) -> MemberBeliefs:
        same = np.zeros(self.targets)
        return MemberBeliefs(same, same, np.full(self.targets, prior))


class Some(Beliefs):
    """The beliefs about some of the targets: `which` of `everybody`."""

    def __init__(self, everybody: Beliefs, which: Bools) -> None:
        self.everybody, self.which = everybody, which
        self.targets = int(which.sum())

    @property
    def matched(self) -> Bools:
        return self.everybody.matched[self.which]

    def calibrated(self, column: str | None) -> bool:
        return self.everybody.calibrated(column)

    def values(self, column: str) -> ValueBeliefs:
        return self.thinned(column, None)

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        values = self.everybody.values(column) if shares is None else self.everybody.thinned(column, shares)
        return values.of(values.row_of[self.which])

    def records(self) -> RecordBeliefs:
        records = self.everybody.records()
        return RecordBeliefs(records.best[self.which], records.tied[self.which])

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return self.everybody.record_probability(self._all(bucket), self._all(fragment))[self.which]

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        share, top = self.everybody.classes(self._all(bucket))
        return share[self.which], top[self.which]

    def membership(self, prior: float) -> MemberBeliefs:
        scores = self.everybody.membership(prior)
        which = self.which
        return MemberBeliefs(
            scores.buckets[which], scores.degree[which], scores.posterior[which], scores.gap, scores.judged
        )

    def _all(self, values: Ints) -> Ints:
        """Values of the chosen targets as values of everybody, with -1 for the others."""
        out = np.full((len(self.which), *values.shape[1:]), -1, dtype=np.int64)
        out[self.which] = values
        return out


class Without(Beliefs, Generic[Whole]):
    """Beliefs without each target's own record (bucket, and fragment per block): the control by leaving one out."""

    def __init__(self, full: Whole, bucket: Ints, fragment: Ints) -> None:
        """`full` are the beliefs with the records in place. Somebody without a record has the fragments -1."""
        self.full, self.bucket, self.fragment = full, bucket, fragment
        self.targets = full.targets

    def values(self, column: str) -> ValueBeliefs:
        return _values(self, column)

    def records(self) -> RecordBeliefs:
        return self.full.records()

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return np.zeros(self.targets)  # the record is not there

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        share, top = self.full.classes(bucket)
        return np.zeros_like(share), top  # likewise: no class is theirs

    def membership(self, prior: float) -> MemberBeliefs:
        raise TypeError("Membership is scored against outsiders or fakes, not by leaving one out.")


def or_prior(rows: sparse.csr_array, row_of: Ints, matched: Bools, prior: Floats) -> ValueBeliefs:
    """Beliefs in which targets whom nothing fits have the prior, as one further row that they share."""
    if matched.all():
        return ValueBeliefs(rows, row_of)
    some = np.flatnonzero(prior)
    data, codes = np.append(rows.data, prior[some]), np.append(rows.indices, some)
    starts = np.append(rows.indptr, len(codes))
    extended = sparse.csr_array((data, codes, starts), shape=(rows.shape[0] + 1, rows.shape[1]))
    return ValueBeliefs(extended, np.where(matched, row_of, rows.shape[0]))


def scaled(rows: sparse.csr_array, row_of: Ints, present: Floats) -> ValueBeliefs:
    """Beliefs multiplied by each target's probability of being in the release; targets alike in both share a row."""
    pairs = np.column_stack([row_of.astype(np.float64), present])
    distinct, number = np.unique(pairs, axis=0, return_inverse=True)
    chosen = rows[distinct[:, 0].astype(np.int64)]
    return ValueBeliefs(times(chosen, distinct[:, 1]), number.reshape(-1))


def times(rows: sparse.csr_array, scale: Floats) -> sparse.csr_array:
    """The rows of a matrix, each multiplied by a number; a row times 0 is empty."""
    made = rows.copy()
    made.data *= np.repeat(scale, np.diff(made.indptr))
    if not scale.all():
        made.eliminate_zeros()
    return made


def normalised(rows: sparse.csr_array) -> tuple[sparse.csr_array, Bools]:
    """The rows of a matrix, each divided by its sum, and which have any."""
    total = np.asarray(rows.sum(axis=1)).reshape(-1)
    return times(rows, np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)), total > 0


@kept(MOST_COLUMNS)
def shown(release: Release, column: str) -> Floats:
    """How many records show each value of a column openly, neither under an alias nor as one of several."""
    labels = release.labels[column]
    plain = ~labels.is_alias & (labels.counts == 1)
    counts = release.label_counts(column)[plain]
    return np.bincount(labels.lo[plain], weights=counts, minlength=labels.domain.size).astype(np.float64)


@kept(MOST_COLUMNS)
def meaning(release: Release, column: str, prior: Floats | None) -> sparse.csr_array:
    """What each label of a column stands for, labels × codes; an alias, which does not say it, by the prior. Who has an alias
    is one of the people whose value is not shown: so those who show theirs are taken off. Half a person of each value is left
    at least, since shares at large are not those of a release. Aliases that leave fewer values open come first, and their
    people are taken off what is left for the others. A number that is no value of the domain (noise, an average) stands for
    the values around it (`blurring.py`)."""
    labels, counts = release.labels[column], release.label_counts(column)
    if prior is None:
        return spread(labels)
    whole = _joined(labels, _even(labels), blurred(labels, counts, prior))
    if not labels.aliases:
        return whole
    left = np.where(prior > 0, np.maximum(release.rows * prior - shown(release, column), 0.5), 0.0)
    kinds: dict[bytes, list[int]] = {}
    for label in np.flatnonzero(labels.is_alias).tolist():
        kinds.setdefault(labels.codes(label).tobytes(), []).append(label)
    for kind in sorted(kinds.values(), key=lambda some: len(labels.codes(some[0]))):
        codes = labels.codes(kind[0])
        total = float(left[codes].sum())
        if total > 0:
            for label in kind:
                whole.data[whole.indptr[label] : whole.indptr[label + 1]] = left[codes] / total
            taken = left[codes] * min(float(counts[kind].sum()) / total, 1.0)
            left[codes] = np.maximum(left[codes] - taken, np.minimum(left[codes], 0.5))
    return whole


@kept(1)
def spread(labels: Labels) -> sparse.csr_array:
    """Labels × codes: the people of a label spread evenly over the values it covers. A number that is not a value of the
    domain goes to the nearest one: this says where a label stands, not what is believed of anybody (see `meaning`)."""
    return _joined(labels, _even(labels), nearest(labels))


@kept(1)
def covered(labels: Labels) -> sparse.csr_array:
    """Labels × codes: 1 where a label covers a value, or is a number that stands nearest to it."""
    whole = spread(labels).copy()
    whole.data[:] = 1.0
    return whole


def _joined(labels: Labels, *parts: Entries) -> sparse.csr_array:
    rows, codes, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((weights, (rows, codes)), shape=(len(labels.counts), labels.domain.size))


def _even(labels: Labels) -> Entries:
    counts = labels.counts
    codes = expand(labels.lo.astype(np.int64), counts)
    ends = np.cumsum(counts)
    for label, listed in labels.gaps.items():
        codes[ends[label] - counts[label] : ends[label]] = listed
    return np.repeat(np.arange(len(counts)), counts), codes, np.repeat(1.0 / np.maximum(counts, 1), counts)
