"""The posterior for many sets of known columns: the same beliefs as `posterior.py`, many times faster.

If everything that is known of people stands in one block, classes drop out. With w(f) the weight of fragment f (1, or 1/q of
its labels under `likelihood`) and v(f) the distribution of the sensitive value beside it,

    sum over B of p(t,B) p(s|t,B)  =  sum over f that fit t of w(f) v(f)[s]  /  sum over f that fit t of w(f),

since w(t,B) is the weight of the fragments of B that fit t. Where the value stands in the same block, v(f) is the meaning of
its own label; where it stands in another one, v(f) is the mean over the fragments of its class. A record is as likely as it
weighs. So for each set of columns it is enough to sum weights over *patterns* (distinct labels over these columns), and no
pair of a person and a class is ever listed. Values of a column that no label tells apart count as one value.

Left out of the release, a person takes w(f) v(f) of their own fragment with them (same block); in another block, the class
has one person fewer and the mean over its fragments changes (see `Fit.without`).

`Subsets.can` says when this holds. Elsewhere (known columns in several blocks, knowledge that may be wrong or missing,
membership in doubt) the ordinary posterior answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import TIE, RecordBeliefs, ValueBeliefs, meaning
from auditor.posterior.candidates import Matching
from auditor.posterior.kernels import weigh
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from auditor.posterior.matching import MASK_WORDS, Slots, distinct_people, expand
from auditor.posterior.population import IndependentPopulation, Population, RegisterPopulation
from auditor.posterior.posterior import Posterior

LINKS = (Link.CONTAINMENT, Link.LIKELIHOOD)
"""The link models by which sets of columns are weighed."""
MOST_ENTRIES = 25_000_000
"""The most entries (people × values, or people × the people of their class) that are held at a time."""
_CANCELLED, _NOISE = 1e-4, 1e-12
"""If less than this share of the total is left after subtracting, the rest is computed afresh; what is noise counts as 0."""


class Dense(ValueBeliefs):
    """Beliefs over a few values, as a plain matrix (rows × codes)."""

    __slots__ = ("matrix",)

    matrix: Floats

    def __init__(self, matrix: Floats, row_of: Ints) -> None:
        for name, value in (("matrix", matrix), ("row_of", row_of)):
            object.__setattr__(self, name, value)

    @property
    def rows(self) -> sparse.csr_array:
        """All rows."""
        return sparse.csr_array(self.matrix)

    def top(self) -> Floats:
        return np.asarray(self.matrix.max(axis=1, initial=0.0))

    def named(self, codes: Ints) -> Floats:
        edge = self.top() * (1 - TIE)
        tied = (self.matrix >= edge[:, None]).sum(axis=1)
        mine = self.matrix[self.row_of, codes]
        return np.where((mine > 0) & (mine >= edge[self.row_of]), 1 / tied[self.row_of], 0.0)


def restricted(knowledge: Knowledge, columns: Sequence[str]) -> Knowledge:
    """What is known if only some of the columns are."""
    places = [place for place, column in enumerate(knowledge.columns) if column in columns]
    errors = {column: error for column, error in knowledge.errors.items() if column in columns}
    names = tuple(knowledge.columns[place] for place in places)
    return replace(knowledge, columns=names, codes=knowledge.codes[:, places], errors=errors, granted=None)


class Subsets:
    """People and a release, for any set of known columns. `bucket` and `fragment` say which record is whose, where they are
    in the release: only the audit can."""

    def __init__(
        self,
        release: Release,
        knowledge: Knowledge,
        suppression: Suppression,
        sensitive: Sequence[str] = (),
        own: tuple[Ints, Ints] | None = None,
    ) -> None:
        self.release, self.knowledge, self.suppression = release, knowledge, suppression
        self.sensitive, self.targets = tuple(sensitive), knowledge.targets
        wildcard = suppression is Suppression.WILDCARD
        self.counted = np.ones(len(release.sizes), np.bool_) if wildcard else ~release.suppressed
        nowhere: tuple[Ints, Ints] = np.full(self.targets, -1), np.full((self.targets, len(release.blocks)), -1)
        self.bucket, self.fragment = nowhere if own is None else own
        self.inside = (self.bucket >= 0) & self.counted[self.bucket]
        ends = np.cumsum([release.labels[c].domain.size for c in self.sensitive], dtype=np.int64)
        self.places = {
            c: slice(int(e) - release.labels[c].domain.size, int(e)) for c, e in zip(self.sensitive, ends, strict=True)
        }
        self.values = int(ends[-1]) if len(ends) else 0
        self._marks: dict[tuple[int, str], sparse.csr_array] = {}
        self._covered: dict[str, Bools] = {}
        self._mates: dict[int, _Mates] = {}

    @cached_property
    def alike(self) -> Codes:
        """What is known of people, with one value in place of those that no label of the column tells apart."""
        codes = self.knowledge.codes.copy()
        for place, column in enumerate(self.knowledge.columns):
            if column in self.release.columns:
                codes[:, place] = _stand_ins(self.release.labels[column])[codes[:, place]]
        return codes

    @cached_property
    def population(self) -> Population:
        """Who could be meant, for `likelihood`: as in `Matching.population`."""
        volume, register = IndependentPopulation.volume(self.release), self.knowledge.register
        return volume if register is None else RegisterPopulation(register, volume)

    def can(self, columns: Sequence[str]) -> bool:
        """Whether the beliefs of who knows these columns can be computed here."""
        known = restricted(self.knowledge, columns)
        blocks = {self.release.block_number(c) for c in known.columns if c in self.release.columns}
        exact = not known.errors and known.membership is None and not (known.codes < 0).any()
        plain = known.acquaintances is None and not known.not_values and self.release.beyond is None
        if not exact or not plain or len(blocks) > 1 or self.targets * self.values > MOST_ENTRIES:
            return False
        masks = sum(self.release.labels[c].domain.size for c in known.columns if c in self.release.columns)
        apart = any(self.release.block_number(c) not in blocks for c in self.sensitive)
        pairs = int(self.release.sizes[self.bucket[self.inside]].sum()) if apart else 0
        return masks * (self.release.rows // 64 + 1) <= 4 * MASK_WORDS and pairs <= MOST_ENTRIES

    def fit(self, columns: Sequence[str], links: Sequence[Link] = LINKS) -> dict[Link, Fit]:
        """The beliefs of who knows these columns, by link model."""
        release = self.release
        known = [c for c in self.knowledge.columns if c in columns and c in release.columns]
        number = release.block_number(known[0]) if known else 0
        block = release.blocks[number]
        cells = np.column_stack([block.cell(c) for c in known]) if known else np.empty((len(block.bucket), 0), np.int32)
        there = np.flatnonzero(self.counted[block.bucket])
        pattern = np.full(len(block.bucket), -1, dtype=np.int64)
        pattern[there] = distinct_rows(cells[there])
        labels: Codes = np.empty((int(pattern.max(initial=-1)) + 1, len(known)), dtype=np.int32)
        labels[pattern[there]] = cells[there]
        counts = np.bincount(pattern[there], minlength=len(labels)).astype(np.float64)
        weights = np.ones((2, len(labels)))
        if Link.LIKELIHOOD in links and known:
            weights[1] = 1 / self.population.of_labels(release, known, labels)
        shape = (len(labels), len(block.bucket))
        held = sparse.csr_array((np.ones(len(there)), (pattern[there], there)), shape=shape)
        parts = [sparse.csr_array(held @ self.fragment_values(number, c)) for c in self.sensitive]
        amounts = sparse.csr_array(sparse.hstack(parts)) if parts else sparse.csr_array((len(labels), 0))
        places = [self.knowledge.columns.index(c) for c in known]
        tuples, row_of = distinct_people(self.alike[:, places])
        summed = self._summed(known, labels, tuples, weights, counts, amounts)
        return {
            link: Fit(
                self, link, number, tuple(known), row_of, pattern, weights[i], summed[0][0], *(p[i] for p in summed)
            )
            for i, link in enumerate(LINKS)
            if link in links
        }

    def _summed(
        self,
        known: Sequence[str],
        labels: Codes,
        tuples: Codes,
        weights: Floats,
        counts: Floats,
        amounts: sparse.csr_array,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        if not known or not len(labels):  # everything fits, or nothing is there
            rows = np.ones((2, len(tuples)))
            mass = np.repeat(np.asarray(amounts.sum(axis=0)).reshape(1, 1, -1), 2, axis=0)
            return rows * counts.sum(), rows, rows * counts.sum(), np.repeat(mass, len(tuples), axis=1)
        columns = [self.release.labels[c] for c in known]
        slots = Slots.of(columns, tuples)
        masks = slots.allowed(columns, labels, [None] * len(known))
        starts, codes = amounts.indptr.astype(np.int64), amounts.indices.astype(np.int32)
        found = weigh(slots.keys, masks, slots.first, weights, counts, starts, codes, amounts.data, self.values, TIE)
        back = np.empty(len(slots.rows), dtype=np.int64)
        back[slots.rows] = np.arange(len(back))
        return found[0][:, back], found[1][:, back], found[2][:, back], found[3][:, back]

    def fragment_values(self, number: int, column: str) -> sparse.csr_array:
        """v(f) of every fragment of a block, fragments × codes."""
        if (number, column) not in self._marks:
            release, home = self.release, self.release.block_number(column)
            block = release.blocks[home]
            even = meaning(release, column, self.knowledge.priors.get(column))
            own = sparse.csr_array(even[block.cell(column)])
            if home != number:
                whose = release.blocks[number].bucket
                own = sparse.csr_array(self._class_values(home, own)[whose])
            self._marks[number, column] = own
        return self._marks[number, column]

    def _class_values(self, home: int, own: sparse.csr_array) -> sparse.csr_array:
        """The mean over the fragments of each class."""
        bucket, sizes = self.release.blocks[home].bucket, np.maximum(self.release.sizes, 1)
        shape = (len(sizes), len(bucket))
        mean = sparse.csr_array((1 / sizes[bucket], (bucket, np.arange(len(bucket)))), shape=shape)
        return sparse.csr_array(mean @ own)

    def covered(self, column: str) -> Bools:
        """Whether the own label of each person covers them."""
        if column not in self._covered:
            number = self.release.block_number(column)
            label = self.release.blocks[number].cell(column)[self.fragment[:, number]]
            codes = self.knowledge.codes[:, self.knowledge.columns.index(column)]
            self._covered[column] = self.inside & self.release.labels[column].covers(label, codes)
        return self._covered[column]

    def mates(self, number: int) -> _Mates:
        """The people of the own class, by their fragments of a block."""
        if number not in self._mates:
            block = self.release.blocks[number]
            order = np.argsort(block.bucket, kind="stable")
            first = np.searchsorted(block.bucket[order], np.arange(len(self.release.sizes) + 1))
            who = np.flatnonzero(self.inside)
            size = first[self.bucket[who] + 1] - first[self.bucket[who]]
            self._mates[number] = _Mates(
                self, number, np.repeat(who, size), order[expand(first[self.bucket[who]], size)], {}
            )
        return self._mates[number]


@dataclass(frozen=True, slots=True, eq=False)
class _Mates:
    """Pairs of a person and a fragment of their class."""

    subsets: Subsets
    number: int
    person: Ints
    fragment: Ints
    fits: dict[str, Bools]

    def fitting(self, columns: Sequence[str]) -> Bools:
        """Whether each pair fits."""
        out = np.ones(len(self.person), dtype=np.bool_)
        release, knowledge = self.subsets.release, self.subsets.knowledge
        for column in columns:
            if column not in self.fits:
                label = release.blocks[self.number].cell(column)[self.fragment]
                codes = knowledge.codes[self.person, knowledge.columns.index(column)]
                self.fits[column] = release.labels[column].covers(label, codes)
            out &= self.fits[column]
        return out


@dataclass(frozen=True, eq=False)
class Fit:
    """The beliefs of somebody who knows some columns, under one link model."""

    subsets: Subsets
    link: Link
    block: int
    columns: tuple[str, ...]
    row_of: Ints
    """The row of each person; those who cannot be told apart share one."""
    pattern: Ints
    """The pattern of each fragment of the block, -1 where it does not count."""
    weight: Floats
    """What a record of each pattern weighs."""
    count: Floats
    """By row, how many records fit."""
    total: Floats
    best: Floats
    tied: Floats
    mass: Floats
    """By row and value (of all sensitive columns), the weight of what fits."""

    @property
    def matched(self) -> Bools:
        """Whether anything fits each person."""
        return np.asarray(self.total[self.row_of] > 0)

    def records(self) -> RecordBeliefs:
        """Which records are likeliest to be each person's."""
        best = np.divide(self.best, self.total, out=np.zeros(len(self.total)), where=self.total > 0)
        return RecordBeliefs(best[self.row_of], np.maximum(self.tied, 1.0)[self.row_of])

    @cached_property
    def own(self) -> Floats:
        """The weight of each person's own record; 0 where it does not fit them."""
        fits = self.subsets.inside.copy()
        for column in self.columns:
            fits &= self.subsets.covered(column)
        mine = self.pattern[self.subsets.fragment[:, self.block]] if len(self.pattern) else np.full(len(fits), -1)
        return np.where(fits & (mine >= 0), self.weight[mine] if len(self.weight) else 0.0, 0.0)

    def record_probability(self) -> Floats:
        """The probability that each person's own record is theirs."""
        total = self.total[self.row_of]
        return np.divide(self.own, total, out=np.zeros(len(total)), where=total > 0)

    def values(self, column: str) -> Dense:
        """P(t, s); of people whom nothing fits the prior."""
        mass = self.mass[:, self.subsets.places[column]]
        return self._shared(column, mass, self.total, self.row_of)

    def without(self, column: str) -> tuple[Dense, Bools]:
        """The same with each person's own record left out, and whether anything still fits them.

        Where the value stands beside what is known, the own fragment goes, with its weight. Where it stands in another
        block, the class weighs m - w in place of m, and its values are those of the others: h/|B| becomes (h - e)/(|B| - 1).
        """
        subsets, release = self.subsets, self.subsets.release
        mass, total = self.mass[:, subsets.places[column]][self.row_of], self.total[self.row_of]
        left = total - self.own
        home = release.block_number(column)
        who = np.flatnonzero(subsets.inside)
        if home == self.block or not self.columns:
            values = subsets.fragment_values(home, column)[subsets.fragment[who, home]].toarray()
            mass[who] -= self.own[who, None] * values
        else:
            mates = subsets.mates(self.block)
            fits = mates.fitting(self.columns)
            each = self.weight[self.pattern[mates.fragment[fits]]]
            weight = np.bincount(mates.person[fits], weights=each, minlength=subsets.targets)[who]
            size = release.sizes[subsets.bucket[who]].astype(np.float64)
            mean = subsets.fragment_values(self.block, column)[subsets.fragment[who, self.block]].toarray()
            value = subsets.fragment_values(home, column)[subsets.fragment[who, home]].toarray()
            others = np.divide(
                mean * size[:, None] - value, size[:, None] - 1, out=np.zeros_like(mean), where=size[:, None] > 1
            )
            mass[who] += (weight - self.own[who])[:, None] * others - weight[:, None] * mean
        alone = self.count[self.row_of] <= (self.own > 0)
        lost = np.flatnonzero((left < _CANCELLED * total) & ~alone)
        mass[mass < _NOISE * left[:, None]] = 0.0
        left[alone] = 0.0
        if len(lost):
            known = restricted(subsets.knowledge, self.columns).take(lost)
            posterior = Posterior(Matching(release, known, subsets.suppression), self.link)
            rest = LeaveOneOut(posterior, subsets.bucket[lost], subsets.fragment[lost])
            found = rest.values(column)
            mass[lost], left[lost] = found.rows.toarray()[found.row_of], rest.matched
        return self._shared(column, mass, left, np.arange(len(left))), left > 0

    def _shared(self, column: str, mass: Floats, total: Floats, row_of: Ints) -> Dense:
        prior = self.subsets.knowledge.priors[column]
        share = np.divide(mass, total[:, None], out=np.zeros_like(mass), where=total[:, None] > 0)
        share[total <= 0] = prior
        return Dense(share, row_of)


def _stand_ins(labels: Labels) -> Codes:
    """For each code the first of those that the same labels cover. Which labels cover a code is compared by two sums of fixed
    random 64-bit numbers, one per label, as in `matching`."""
    marks = np.random.default_rng(0).integers(0, 2**64, size=(2, len(labels.texts)), dtype=np.uint64)
    size = labels.domain.size
    sums = np.zeros((size + 1, 2), dtype=np.uint64)
    whole = labels.hi >= labels.lo
    whole[list(labels.gaps)] = False
    for i in range(2):
        np.add.at(sums[:, i], labels.lo[whole], marks[i][whole])
        np.subtract.at(sums[:, i], labels.hi[whole] + 1, marks[i][whole])
    covered = np.cumsum(sums, axis=0, dtype=np.uint64)[:size]
    for label, codes in labels.gaps.items():
        covered[codes] += marks[:, label]
    _, first, number = np.unique(covered, axis=0, return_index=True, return_inverse=True)
    return first[number.reshape(-1)].astype(np.int32)
