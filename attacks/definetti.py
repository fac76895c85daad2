"""deFinetti: what the release itself teaches about who has what.

Anatomy and slicing part quasi-identifiers from sensitive values within each class, and promise that nobody's value is
known better than its share in the class. But the classes together show which values go with which people. Naive Bayes
learns P(q|s) from them; within a class it then says which fragment belongs with which sensitive value; that teaches a
better P(q|s), and so on (EM). A class's multiset of sensitive values is kept: its table of chances is scaled until every
fragment has one value and every value as many fragments as it has people (Sinkhorn).

A person t is looked up as in `containment` (or in the class that the knowledge grants), with these chances A in place of
even ones: the expected number of people of class B who fit t and have the sensitive fragment j is, over the blocks b,
[j fits t] · Π_b Σ_(i fits t) A_b(i, j). Where a label covers several values, a fragment that fits counts by
P(t's value | label, s) as well, so that generalised releases are attacked too: a class that hides the sex of a person says
less if the diseases in it do not.

Papers: D. Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009; R. Wong, A. Fu, K. Wang, P. Yu, J. Pei, "Can
the utility of anonymized data be used for privacy breaches?", ACM TKDD 2011 (foreground knowledge).
Decided here: chances are soft, not one assignment drawn at random; `rounds` stops early, since EM on correlated columns
becomes surer than it is right; for the same reason evidence within labels counts half. Where every row keeps its own value
beside exact quasi-identifiers nothing is left to learn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, ValueClaims
from attacks.shared.learning import Attribute, Lesson, Pairs
from attacks.shared.measures import CONFIDENCE, value_measures
from auditor.model.arrays import Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.record.meaning import Goal, Measure
from auditor.model.release import Suppression
from auditor.posterior.beliefs import ValueBeliefs, meaning, or_prior
from auditor.posterior.candidates import Entries, Matching
from auditor.posterior.links import Link
from auditor.posterior.matching import BlockMatch, distinct_people, expand
from auditor.posterior.noise import Reading

_SCALINGS = 10
_TRUST = 0.5
"""How much of log P(value | label, s) counts: columns go together, and naive Bayes counts what they share twice. Scaling a
bucket of two people halves it as well."""
_PART = 4_000_000
"""About how many pairs of a person's candidates and sensitive values are worked on at a time."""


@dataclass(frozen=True)
class DeFinetti(WholeAttack):
    """Claims the likeliest sensitive value of each person by what the release teaches; numbers are learned in `bins` bins,
    in `rounds` rounds; `tau` is the probability that counts as known."""

    name = "definetti"
    summary = "Learns from the release which values go with which people, and undoes its permutation."
    paper = "Kifer 2009; Wong, Fu, Wang, Yu & Pei 2011"
    goal = Goal.ATTRIBUTE
    beyond_class = "what other classes teach"
    below_one = ("tau",)
    claim = "This person has exactly this value."
    needs = "Some quasi-identifiers of the person, and a sensitive column parted from them or coarse labels."
    success = "The likeliest value is the true one; among m tied values it counts 1/m."
    lowered_by = "Larger classes, or classes of people who are alike; fewer quasi-identifiers beside them."
    measures = (
        *value_measures(
            "learning from the release which values go with whom, {who} names the right {column} for {share}"
        ),
        Measure(
            "success_top_tenth",
            "Share of right guesses among the most confident tenth of them.",
            "of the tenth of guesses that {who} is surest of, {rate}{interval} are right",
            label="right among the surest guesses",
        ),
    )
    support = ("certain", "above", "success_top_tenth")
    axis = CONFIDENCE
    least = (("bins", 2), ("rounds", 1))

    bins: int = 12
    rounds: int = 10
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        if view.blind:
            return ValueClaims(view.beliefs.values(view.column), self.tau, tenth=True)
        known = [c for c in view.knowledge.columns if c in view.release.quasi]
        if not known:
            return NotApplicable("The adversary knows nothing of the people that is published.", Lacks.PEOPLE)
        lesson = Lesson(view.release, view.column, self.bins)
        taught = [a for a in lesson.attributes if a.column in known and (a.wide or a.block != lesson.number)]
        if not taught:
            return NotApplicable(
                f"Every row keeps its own {view.column} beside exact values: nothing is left to learn."
            )
        knowledge = view.knowledge
        if view.link not in (None, Link.CLASS):
            knowledge = replace(knowledge, granted=None)
        return ValueClaims(_Learned(lesson, self.rounds).values(knowledge), self.tau, tenth=True)


class _Learned:
    """What was learned: tables of P(q|s), and for every parted block the chance that a fragment belongs with a slot."""

    def __init__(self, lesson: Lesson, rounds: int) -> None:
        self.lesson = lesson
        self.pairs = lesson.parted()
        self.chance = {block: lesson.even(block, pairs) for block, pairs in self.pairs.items()}
        self.tables = lesson.tables(self.pairs, self.chance)
        for _ in range(rounds if self.pairs else 0):
            self.chance = {block: self._chances(block, pairs) for block, pairs in self.pairs.items()}
            self.tables = lesson.tables(self.pairs, self.chance)
        self.of_labels = {a.column: a.of_labels(self.tables[a.column]) for a in lesson.attributes}

    def _chances(self, number: int, pairs: Pairs) -> Floats:
        """The chances of a block's pairs by Bayes' rule, scaled to the multisets of the buckets."""
        lesson = self.lesson
        block = lesson.release.blocks[number]
        log = np.zeros(len(pairs.row))
        klass = lesson.slot_class[pairs.slot]
        for attribute in lesson.attributes:
            if attribute.block == number:
                label = block.cell(attribute.column)
                log += attribute.of_labels(self.tables[attribute.column])[label[pairs.row], klass]
        return scaled_to_people(log, pairs, lesson.slot_count)

    def values(self, knowledge: Knowledge) -> ValueBeliefs:
        """P(t, s) for the people of whom something is known."""
        lesson = self.lesson
        granted = None if knowledge.granted is None else knowledge.granted.astype(np.int32)
        told = knowledge.codes if granted is None else np.column_stack([knowledge.codes, granted])
        distinct, row_of = distinct_people(told)
        people, bucket = distinct[:, : len(knowledge.columns)], None
        if granted is not None:
            bucket = distinct[:, -1].astype(np.int64)
        some = Knowledge(knowledge.columns, people, errors=knowledge.errors, priors=knowledge.priors)
        matching = Matching(lesson.release, some, Suppression.EXCLUDED)
        entries = matching.entries([m.way_of for m in matching.matches], len(people), bucket)
        entries = entries.take(np.logical_and.reduce([group >= 0 for group in entries.group]))
        labels = lesson.release.labels[lesson.column]
        mass = sparse.csr_array((len(people), len(labels.texts)))
        alike = [np.ones(len(m.cells.labels)) for m in matching.matches]
        masses = matching.masses(alike, matching.population, Reading.PLAIN)
        likelihood = [
            np.ones(len(m.hit_cell)) if w.likelihood is None else w.likelihood
            for m, w in zip(matching.matches, masses, strict=True)
        ]
        for part in self._parts(matching, entries):
            mass = mass + self._masses(matching, part, likelihood)
        rows = sparse.csr_array(mass @ meaning(lesson.release, lesson.column, knowledge.priors.get(lesson.column)))
        total = np.asarray(rows.sum(axis=1)).reshape(-1)
        found = total > 0
        scale = np.divide(1.0, total, out=np.zeros(len(total)), where=found)
        rows = sparse.csr_array(sparse.diags_array(scale) @ rows)
        return or_prior(rows, row_of, found[row_of], knowledge.priors[lesson.column])

    def _parts(self, matching: Matching, entries: Entries) -> Iterator[Entries]:
        """The entries in parts that fit into memory."""
        hits = np.ones(len(entries.row), dtype=np.int64)
        for match, group in zip(matching.matches, entries.group, strict=True):
            hits += match.hits(group)[1]
        part = np.cumsum(hits * self.lesson.slots[entries.bucket]) // _PART
        edges = np.flatnonzero(np.diff(part, prepend=-1, append=-1))
        for begin, end in pairwise(edges):
            yield entries.take(np.arange(begin, end))

    def _masses(self, matching: Matching, entries: Entries, likelihood: list[Floats]) -> sparse.csr_array:
        """For each person and sensitive label the expected number of people who fit and have it (people × labels); hits
        count by their `likelihood` where what is known may be wrong."""
        lesson = self.lesson
        count = lesson.slots[entries.bucket]
        first = np.cumsum(count) - count
        fit = np.ones(int(count.sum()))
        for place, (match, number) in enumerate(zip(matching.matches, matching.blocks, strict=True)):
            if number in self.pairs:
                owner, hit = _hits(match, entries.group[place])
                cell = match.hit_cell[hit]
                shares, start = self._shares(match, number)
                each = count[owner]
                slot = expand(lesson.slot_first[entries.bucket[owner]], each)
                value = shares[expand(start[cell], each)] * np.repeat(likelihood[place][hit], each)
                who, cell = np.repeat(entries.row[owner], each), np.repeat(cell, each)
                value *= self._within_labels(matching, match, who, cell, lesson.slot_class[slot])
                fit *= np.bincount(expand(first[owner], each), weights=value, minlength=len(fit))
        return self._by_label(matching, entries, likelihood, fit, first)

    def _shares(self, match: BlockMatch, number: int) -> tuple[Floats, Ints]:
        """For each cell of a match and each slot of its bucket the chance that one person of the slot has the cell; and
        where each cell's begin."""
        lesson, pairs = self.lesson, self.pairs[number]
        each = lesson.slots[match.cells.bucket]
        start = np.cumsum(each) - each
        bucket = lesson.release.blocks[number].bucket
        place = start[match.cells.of_fragment[pairs.row]] + pairs.slot - lesson.slot_first[bucket[pairs.row]]
        weight = self.chance[number] / lesson.slot_count[pairs.slot]
        return np.bincount(place, weights=weight, minlength=int(each.sum())).astype(np.float64), start

    def _by_label(
        self, matching: Matching, entries: Entries, likelihood: list[Floats], fit: Floats, first: Ints
    ) -> sparse.csr_array:
        """The masses by sensitive label: of the sensitive block the fragments that fit, or all where nothing of it is
        known."""
        lesson = self.lesson
        labels = len(lesson.release.labels[lesson.column].texts)
        match = None
        if lesson.number in matching.blocks:
            place = matching.blocks.index(lesson.number)
            match = matching.matches[place]
            owner, hit = _hits(match, entries.group[place])
            cell, likely = match.hit_cell[hit], likelihood[place][hit]
            of_fragment, cells = match.cells.of_fragment, len(match.cells.bucket)
        else:
            owner, cell, likely = np.arange(len(entries.row)), entries.bucket, np.ones(len(entries.row))
            of_fragment = lesson.release.blocks[lesson.number].bucket.astype(np.int64)
            cells = len(lesson.release.sizes)
        kinds, times = np.unique(of_fragment * labels + lesson.label, return_counts=True)
        edges = np.searchsorted(kinds // labels, np.arange(cells + 1))
        each = (edges[1:] - edges[:-1])[cell]
        kind = expand(edges[cell], each)
        owner, cell = np.repeat(owner, each), np.repeat(cell, each)
        label = kinds[kind] % labels
        klass = lesson.of_label[label]
        slot = self._slot(entries.bucket[owner], klass)
        weight = (
            times[kind] * np.repeat(likely, each) * fit[first[owner] + slot - lesson.slot_first[entries.bucket[owner]]]
        )
        if match is not None:
            weight = weight * self._within_labels(matching, match, entries.row[owner], cell, klass)
        shape = (matching.targets, labels)
        return sparse.csr_array((weight, (entries.row[owner], label)), shape=shape)

    def _slot(self, bucket: Ints, klass: Ints) -> Ints:
        """The slot of a class in a bucket that has it."""
        lesson = self.lesson
        key = np.repeat(np.arange(len(lesson.slots)), lesson.slots) * lesson.classes + lesson.slot_class
        return np.searchsorted(key, bucket * lesson.classes + klass)

    def _within_labels(self, matching: Matching, match: BlockMatch, who: Ints, cell: Ints, klass: Ints) -> Floats:
        """P(a person's values | labels, class), for the columns whose labels cover several values."""
        knowledge, log = matching.knowledge, np.zeros(len(who))
        attributes = {a.column: a for a in self.lesson.attributes}
        for place, column in enumerate(match.cells.columns):
            attribute: Attribute | None = attributes.get(column)
            if attribute is None or not attribute.wide or column in knowledge.errors:
                continue  # what may be wrong counts by its likelihood already
            codes = knowledge.codes[:, knowledge.columns.index(column)]
            mine = attribute.of_codes(self.tables[column], codes)[who, klass]
            label = match.cells.labels[match.cells.pattern[cell], place]
            log += np.where(codes[who] >= 0, mine - self.of_labels[column][label, klass], 0.0)
        return np.asarray(np.exp(_TRUST * np.minimum(log, 0.0)))


def _hits(match: BlockMatch, group: Ints) -> tuple[Ints, Ints]:
    """The hits of groups: the number of the group, and the hit."""
    begin, count = match.hits(group)
    return np.repeat(np.arange(len(group)), count), expand(begin, count)


def scaled_to_people(log: Floats, pairs: Pairs, people: Floats) -> Floats:
    """Chances in proportion to exp(log), scaled until each fragment's sum to one and each slot's to its `people`."""
    top = np.maximum.reduceat(log, pairs.start)
    chance: Floats = np.exp(log - np.repeat(top, pairs.count)) + 1e-12
    for _ in range(_SCALINGS):
        chance *= (people / np.bincount(pairs.slot, weights=chance, minlength=len(people)))[pairs.slot]
        chance /= np.repeat(np.add.reduceat(chance, pairs.start), pairs.count)
    return chance
