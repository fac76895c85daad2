"""Tuple partition of l-diverse slicing: rows are put into classes by Mondrian's cuts, each checked on the whole table.

The paper calls these classes *buckets*, and so does the code. A queue holds buckets, at first one of all rows. The first
one is taken out and cut in two. If the cut table gives nobody a sensitive value with probability above 1/l, the two parts
join the end of the queue; otherwise the next cut is tried. Mondrian's cuts come first, at the median of each column, the
widest column first; then the most even allowed cut between two values of any column. Where no place of any column allows
a cut, the bucket is final. The probability p(t,s) that a person with the quasi-identifiers t
has the value s follows from all buckets B together (see `auditor.posterior`):

    p(t,s) = Σ_B w(t,B) p(s|t,B) / Σ_B w(t,B),     w(t,B) = |B| Π_b m_b(t,B)/|B|     (the paper: f = w/|B|)

A fragment counts for t where its labels cover t's values, so generalised columns are checked as they are published. A
probability counts as above 1/l if it is so by more than one part in 2³⁰. So rounding never decides a tie; decisions too
close for floats are made in rational numbers.

`tuple_partition` works on plain arrays, which `anonymizers.shared.fragments` and `cuts_of` make from a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError
from auditor.model.progress import Progress, silent
from auditor.model.table import Table

if TYPE_CHECKING:
    from anonymizers.kernels.diversity import Counts, Fragments, Rule, Sums
    from anonymizers.kernels.slicing import Buckets, Cut, Cuts


NOISE = Fraction(1, 2**30)
"""The relative amount by which a probability must pass 1/l to count as above it."""
ROUNDING = 2.0**-53
"""The unit roundoff of floats."""
_STEPS = 20_000_000
"""Steps of the kernel between two reports of progress."""


class Weighting(StrEnum):
    """How classes weigh in a probability: by the expected number of matching people, or as the slicing paper has it."""

    SIZE = "size"
    PAPER = "paper"


@dataclass(frozen=True)
class Diverse:
    """The promise: p(t,s) is at most 1/l for every person and value (below it where `strict`), with `least` rows a bucket."""

    l: int
    strict: bool = False
    weighting: Weighting = Weighting.SIZE
    least: int = 1

    @property
    def limit(self) -> Fraction:
        """What l N(t,s)/F(t) must not be above."""
        return 1 - NOISE if self.strict else 1 + NOISE


def cuts_of(table: Table, columns: Sequence[str], together: bool) -> Cuts:
    """Mondrian's cuts of a table along some columns. Values lie between 0 and 1 in their domain, and a missing one at 2: rows
    with it count as spread over the whole column, as in labels. `together`: equal values stay on one side of a cut; otherwise
    they are divided in the order in which the rows stand."""
    from anonymizers.kernels.slicing import Cuts

    places = [places_of(table.domains[c]) for c in columns]
    start = np.cumsum([0, *map(len, places)])
    return Cuts(np.ascontiguousarray(table.matrix(columns).T), np.concatenate(places), start, together)


def places_of(domain: Domain) -> Floats:
    """Where each value lies in its domain: from 0 to 1, and a missing one at 2."""
    if domain.numbers is not None and domain.span is not None:
        place = (domain.numbers - domain.span[0]) / domain.width if domain.width > 0 else np.zeros(domain.known)
    else:
        place = np.arange(domain.known) / max(domain.known - 1, 1)
    return np.append(place, 2.0) if domain.missing is not None else place


def tuple_partition(
    fragments: Fragments, cuts: Cuts, promise: Diverse, progress: Progress = silent, rounding: float = ROUNDING
) -> Ints:
    """The bucket of each row, numbered in the order of the queue.

    A larger `rounding` than that of floats gives the same buckets, with more decisions made in rational numbers. Raises
    `PromiseError` where not even one bucket of all rows keeps the promise.
    """
    partition = _Partition(fragments, cuts, promise, rounding)
    partition.begin()
    rows = len(fragments.pair)
    while partition.head < partition.tail:
        partition.go_on()
        progress(partition.settled, rows, "forming classes")
    return partition.bucket()


class _Partition:
    """The buckets so far, and the probabilities of every tuple: what the kernel keeps between its runs."""

    def __init__(self, fragments: Fragments, cuts: Cuts, promise: Diverse, rounding: float) -> None:
        from anonymizers.kernels.diversity import Counts, Rule, Sums
        from anonymizers.kernels.slicing import Buckets

        self.fragments, self.cuts, self.promise = fragments, cuts, promise
        rows, tuples, most = len(fragments.pair), len(fragments.known), int(fragments.slots.max())
        self.sums: Sums = Sums(
            np.zeros(tuples), np.zeros(int(fragments.first[-1])), np.zeros(tuples), np.zeros(tuples, dtype=np.int64)
        )
        self.counts: Counts = Counts(
            np.zeros((2, int(fragments.shown.max(initial=-1)) + 1), dtype=np.int64),
            np.zeros((2, int(fragments.pair.max()) + 1), dtype=np.int64),
            np.zeros(most),
            np.zeros(most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
        )
        paper = promise.weighting is Weighting.PAPER
        self.rule: Rule = Rule(float(promise.l), float(promise.limit), paper, promise.least, rounding)
        most_buckets = 2 * rows + 1
        self.buckets: Buckets = Buckets(
            order=np.arange(rows, dtype=np.int32),
            spare=np.empty(rows, dtype=np.int32),
            first=np.zeros(most_buckets, dtype=np.int64),
            end=np.zeros(most_buckets, dtype=np.int64),
            match_first=np.zeros(most_buckets, dtype=np.int64),
            match_end=np.zeros(most_buckets, dtype=np.int64),
            parted=np.zeros(most_buckets, dtype=np.bool_),
        )
        self.matching = np.arange(4 * tuples, dtype=np.int32)
        self.head, self.tail = 0, 1

    def begin(self) -> None:
        """All rows are one bucket, which all tuples match; an error where that breaks the promise."""
        from anonymizers.kernels import diversity as kernel

        everybody = self.buckets.order
        self.buckets.end[0], self.buckets.match_end[0] = len(everybody), len(self.fragments.known)
        kernel.count(self.fragments, self.counts, everybody, 0, 1)
        kernel.begin(self.fragments, self.sums, self.counts, self.rule, len(everybody))
        kernel.count(self.fragments, self.counts, everybody, 0, -1)
        most = np.maximum.reduceat(self.sums.value, self.fragments.first[:-1])
        gap = self.rule.l * most - self.rule.limit * self.sums.total
        slack = 2 * (self.rule.l + 1) * self.sums.error
        doubts = np.flatnonzero(np.abs(gap) <= slack).astype(np.int32)
        if (gap > slack).any() or self._resolve(doubts, self.bucket()) is None:
            p = float((most / self.sums.total).max())
            must = "below" if self.promise.strict else "at most"
            raise PromiseError(
                f"slicing: even with all rows in one class, a sensitive value of some person has probability {p:.4g}. It "
                f"must be {must} 1/l = {1 / self.promise.l:.4g} for l = {self.promise.l}. Lower l, generalise, or put fewer "
                "quasi-identifiers into the block of the sensitive column."
            )

    @property
    def settled(self) -> int:
        """The number of rows in final buckets."""
        waiting = slice(self.head, self.tail)
        return len(self.fragments.pair) - int((self.buckets.end[waiting] - self.buckets.first[waiting]).sum())

    def bucket(self) -> Ints:
        """The present bucket of each row."""
        whole = np.flatnonzero(~self.buckets.parted[: self.tail])
        out = np.empty(len(self.fragments.pair), dtype=np.int64)
        sizes = self.buckets.end[whole] - self.buckets.first[whole]
        by_place = np.argsort(self.buckets.first[whole])
        out[self.buckets.order] = np.repeat(by_place, sizes[by_place])
        return out

    def go_on(self) -> None:
        """Cuts waiting buckets for a while."""
        from anonymizers.kernels import slicing as kernel

        why, cut, doubts = self._run([])
        if why == kernel.ROOM:
            self._make_room()
        resolved: list[dict[int, list[Fraction]] | None] = []  # about the cuts of the first bucket that are in doubt
        while why == kernel.DOUBT:
            resolved.append(self._resolve(doubts, self._after(cut)))
            why, cut, doubts = self._run([exact is not None for exact in resolved])
        for t, values in ((resolved[cut.doubt] if resolved and cut.doubt >= 0 else None) or {}).items():
            self._renew(t, values)

    def _after(self, cut: Cut) -> Ints:
        """The bucket of each row after a cut of the first one; the right part gets a number of its own."""
        rows = self.buckets.order[self.buckets.first[self.head] : self.buckets.end[self.head]]
        values = self.cuts.codes[cut.column][rows]
        middle = values == cut.middle
        left = (values < cut.middle) | (middle & (np.cumsum(middle) <= cut.quota))
        after = self.bucket()
        after[rows[~left]] = len(after)
        return after

    def _run(self, verdicts: list[bool]) -> tuple[int, Cut, Codes]:
        from anonymizers.kernels import slicing as kernel

        self.head, self.tail, why, cut, doubts = kernel.run(
            self.fragments,
            self.cuts,
            self.rule,
            self.sums,
            self.counts,
            self.buckets,
            self.matching,
            self.head,
            self.tail,
            np.array(verdicts, dtype=np.bool_),
            _STEPS,
        )
        return why, cut, doubts

    def _make_room(self) -> None:
        """Drops the matches of buckets that no longer wait, and makes the list longer where that is not enough."""
        first, last = int(self.buckets.match_first[self.head]), int(self.buckets.match_end[self.tail - 1])
        used = last - first
        here = int(self.buckets.match_end[self.head]) - first
        live = self.matching[first:last]
        if len(self.matching) < 2 * (used + 2 * here):  # at least half is free afterwards, so moves are rare
            self.matching = np.empty(3 * (used + 2 * here), dtype=np.int32)
        self.matching[:used] = live.copy()
        waiting = slice(self.head, self.tail)
        self.buckets.match_first[waiting] -= first
        self.buckets.match_end[waiting] -= first

    def _renew(self, t: int, values: list[Fraction]) -> None:
        """Replaces the sums of a tuple by exact ones."""
        first = self.fragments.first[t]
        self.sums.value[first : first + len(values)] = [float(value) for value in values]
        self.sums.total[t] = float(sum(values))
        self.sums.error[t] = self.rule.rounding * self.sums.total[t]

    def _resolve(self, doubts: Codes, bucket: Ints) -> dict[int, list[Fraction]] | None:
        """The exact N(t, ·) of the tuples in doubt, with the rows in these buckets; None where one breaks the promise."""
        found = {}
        for t in doubts.tolist():
            values = self._exact(t, bucket)
            if self.promise.l * max(values) > self.promise.limit * sum(values):
                return None
            found[t] = values
        return found

    def _exact(self, t: int, bucket: Ints) -> list[Fraction]:
        """N(t, ·), summed over the buckets in rational numbers."""
        f = self.fragments
        bucket = np.unique(bucket, return_inverse=True)[1]
        sizes = np.bincount(bucket)
        matches = []
        for b, v in enumerate(f.known[t].tolist()):
            fits = np.isin(f.shown[:, b], f.cover[f.cover_start[v] : f.cover_start[v + 1]])
            matches.append(np.bincount(bucket[fits], minlength=len(sizes)))
        v = int(f.sensitive_known[t])
        entries = slice(f.entry_start[v], f.entry_start[v + 1])
        slot_of = np.full(int(f.entry_pair.max()) + 1, -1)
        slot_of[f.entry_pair[entries]] = f.entry_slot[entries]
        slot = slot_of[f.pair]
        slots = int(f.slots[v])
        held = np.bincount(bucket[slot >= 0] * slots + slot[slot >= 0], minlength=len(sizes) * slots).reshape(-1, slots)
        values = [Fraction(0)] * slots
        fits_all = np.logical_and.reduce([held.any(axis=1), *(m > 0 for m in matches)])
        for number in np.flatnonzero(fits_all):
            a = Fraction(1, int(sizes[number]) if self.promise.weighting is Weighting.PAPER else 1)
            for m in matches:
                a *= Fraction(int(m[number]), int(sizes[number]))
            for j in np.flatnonzero(held[number]):
                values[j] += a * int(held[number, j])
        return values
