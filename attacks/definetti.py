"""deFinetti: what the release itself teaches about who has what.

Anatomy and slicing part quasi-identifiers from sensitive values within each class, and promise that nobody's value is
known better than its share in the class. But the classes together show which values go with which people. Naive Bayes
learns P(q|s) from them; within a class it then says which fragment belongs with which sensitive value; that teaches a
better P(q|s), and so on (EM). Once that has settled, further rounds also learn which columns go together
(`attacks/shared/dependence.py`). A class's multiset of sensitive values is kept: its table of chances is scaled until every
fragment has one value and every value as many fragments as it has people (Sinkhorn).

A person t is looked up as the link model has it, with these chances A in place of even ones: the expected number of people
of class B who fit t and have the sensitive fragment j is, over the blocks b, [j fits t] · Π_b Σ_(i fits t) A_b(i, j), and
fragments weigh what the link model has them weigh. In a granted class in which nothing fits, everything does; by distance,
the nearest records fit. Where a label covers several values, a fragment that fits counts by P(t's value | label, s) as
well, so that generalised releases are attacked too: a class that hides the sex of a person says less if the diseases in it
do not. A centre covers nobody, and counts by P(t's value | s) / P(centre | s). Under `likelihood` and `distance`, which
weigh labels themselves, both are taken relative to the same for everybody. Where the people asked about are everybody in the
release, who is in which class is fitted for all of them at once: each is in one, and each fragment is one person's.

Papers: D. Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009; R. Wong, A. Fu, K. Wang, P. Yu, J. Pei, "Can
the utility of anonymized data be used for privacy breaches?", ACM TKDD 2011 (foreground knowledge).
Decided here: chances are soft, not one assignment drawn at random; `rounds` stops early, since EM on correlated columns
becomes surer than it is right; for the same reason evidence within labels counts half. Where every row keeps its own value
beside exact quasi-identifiers nothing is left to learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, ValueClaims
from attacks.shared.dependence import Dependence
from attacks.shared.finding import Found, Hits
from attacks.shared.learning import Attribute, Lesson, Pairs, lesson_of
from attacks.shared.measures import CONFIDENCE, value_measures
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.keeping import kept
from auditor.model.record.meaning import Goal, Measure
from auditor.model.release import Release
from auditor.posterior.beliefs import MOST_COLUMNS, ValueBeliefs, meaning, normalised
from auditor.posterior.matching import expand

_SCALINGS = 10
_TRUST = 0.5
"""How much of log P(value | label, s) counts: columns go together, and naive Bayes counts what they share twice. Scaling a
bucket of two people halves it as well."""
_PART = 4_000_000
"""About how many pairs of a person's candidates and sensitive values are worked on at a time."""


@dataclass(frozen=True)
class DeFinetti(WholeAttack):
    """Claims the likeliest sensitive value of each person by what the release teaches; numbers are learned in `bins` bins,
    in `rounds` rounds, and in `together` more with columns that go together; `tau` is the probability that counts as
    known."""

    name = "definetti"
    title = "learning who has what"
    summary = "Learns from the release which values go with which people, and undoes its permutation."
    paper = "Kifer 2009; Wong, Fu, Wang, Yu & Pei 2011"
    goal = Goal.ATTRIBUTE
    beyond_class = "what other classes teach"
    linked = True
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
    least = (("bins", 2), ("rounds", 1), ("together", 0))

    bins: int = 12
    rounds: int = 10
    together: int = 10
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        if view.blind:
            return ValueClaims(view.beliefs.values(view.column), self.tau, tenth=True)
        known = [c for c in view.knowledge.columns if c in view.release.quasi]
        if not known:
            return NotApplicable("The adversary knows nothing of the people that is published.", Lacks.PEOPLE)
        learned = _learned(view.release, view.column, self.bins, self.rounds, self.together)
        lesson = learned.lesson
        if not any(a.column in known and (a.wide or a.block != lesson.number) for a in lesson.attributes):
            return NotApplicable(
                f"Every row keeps its own {view.column} beside exact values: nothing is left to learn."
            )
        found = Found.of(view.beliefs, view.knowledge)
        if found is None:
            return NotApplicable("People are not looked for in the release, so no class can be refined.")
        return ValueClaims(learned.values(found), self.tau, tenth=True)


class _Learned:
    """What was learned: tables of P(q|s), and for every parted block the chance that a fragment belongs with a slot."""

    def __init__(self, lesson: Lesson, rounds: int, together: int) -> None:
        self.lesson = lesson
        self.pairs = lesson.parted()
        self.chance = {block: lesson.even(block, pairs) for block, pairs in self.pairs.items()}
        self.tables = lesson.tables(self.pairs, self.chance)
        columns = {block: Dependence(lesson, block, pairs) for block, pairs in self.pairs.items()}
        for number in range(rounds + together if self.pairs else 0):
            dependent = columns if number >= rounds else {}
            self.chance = {block: self._chances(block, pairs, dependent) for block, pairs in self.pairs.items()}
            self.tables = lesson.tables(self.pairs, self.chance)
        self.of_labels = {a.column: a.of_labels(self.tables[a.column]) for a in lesson.attributes}
        people = np.bincount(lesson.of_fragment, minlength=lesson.classes).astype(np.float64)
        self.people = people / max(people.sum(), 1.0)

    def _chances(self, number: int, pairs: Pairs, together: Mapping[int, Dependence]) -> Floats:
        """The chances of a block's pairs by Bayes' rule, scaled to the multisets of the buckets."""
        lesson = self.lesson
        block = lesson.release.blocks[number]
        log = np.zeros(len(pairs.row))
        klass = lesson.slot_class[pairs.slot]
        for attribute in lesson.attributes:
            if attribute.block == number:
                label = block.cell(attribute.column)
                log += attribute.of_labels(self.tables[attribute.column])[label[pairs.row], klass]
        if number in together:
            log += together[number].log_lift(self.chance[number], self.tables)
        return scaled_to_people(log, pairs, lesson.slot_count)

    def values(self, found: Found) -> ValueBeliefs:
        """P(t, s) for the people who were looked for."""
        lesson = self.lesson
        labels = lesson.release.labels[lesson.column]
        if found.complete:
            totals = [np.bincount(*self._weights(part)[:2], len(part.row)) for part in found.parts(lesson.slots, _PART)]
            found = found.jointly(np.concatenate(totals)) if totals else found
        shape = len(found.people), len(labels.texts)
        mass: sparse.csr_array | None = None
        for part in found.parts(lesson.slots, _PART):
            entry, weight, label = self._weights(part)
            more = sparse.csr_array((weight, (part.row[entry], label)), shape=shape)
            mass = more if mass is None else mass + more
        prior = found.linked.knowledge.priors.get(lesson.column)
        whole = sparse.csr_array(shape) if mass is None else mass
        rows, there = normalised(whole @ meaning(lesson.release, lesson.column, prior))
        return found.linked.believed(lesson.column, rows, found.row_of, there[found.row_of])

    def _weights(self, found: Found) -> tuple[Ints, Floats, Ints]:
        """For each entry and sensitive label the expected number of people who fit and have it: the entry, the number, the
        label. Hits count by their weight."""
        lesson = self.lesson
        count = lesson.slots[found.bucket]
        first = np.cumsum(count) - count
        fit = np.ones(int(count.sum()))
        for hits in found.hits:
            if hits.block in self.pairs:
                owner, hit = hits.all()
                cell = hits.cell[hit]
                shares, start = self._shares(hits)
                each = count[owner]
                slot = expand(lesson.slot_first[found.bucket[owner]], each)
                value = shares[expand(start[cell], each)] * np.repeat(hits.weight[hit], each)
                who, cell = np.repeat(found.row[owner], each), np.repeat(cell, each)
                value *= self._within_labels(found, hits, who, cell, lesson.slot_class[slot])
                fit *= np.bincount(expand(first[owner], each), weights=value, minlength=len(fit))
        return self._by_label(found, fit, first)

    def _shares(self, hits: Hits) -> tuple[Floats, Ints]:
        """For each cell of a block and each slot of its bucket the chance that one person of the slot has the cell; and
        where each cell's begin."""
        lesson, pairs = self.lesson, self.pairs[hits.block]
        each = lesson.slots[hits.cells.bucket]
        start = np.cumsum(each) - each
        bucket = lesson.release.blocks[hits.block].bucket
        place = start[hits.cells.of_fragment[pairs.row]] + pairs.slot - lesson.slot_first[bucket[pairs.row]]
        weight = self.chance[hits.block] / lesson.slot_count[pairs.slot]
        return np.bincount(place, weights=weight, minlength=int(each.sum())).astype(np.float64), start

    def _by_label(self, found: Found, fit: Floats, first: Ints) -> tuple[Ints, Floats, Ints]:
        """The same by sensitive label: of the sensitive block the fragments that fit, or all where nothing of it is
        known."""
        lesson = self.lesson
        labels = len(lesson.release.labels[lesson.column].texts)
        inside = next((hits for hits in found.hits if hits.block == lesson.number), None)
        if inside is not None:
            owner, hit = inside.all()
            cell, likely = inside.cell[hit], inside.weight[hit]
            kinds, times, edges = _kinds(lesson, inside.cells.of_fragment, len(inside.cells.bucket))
        else:
            owner, cell, likely = np.arange(len(found.row)), found.bucket, np.ones(len(found.row))
            kinds, times, edges = _kinds(lesson, lesson.release.blocks[lesson.number].bucket, len(lesson.release.sizes))
        each = (edges[1:] - edges[:-1])[cell]
        kind = expand(edges[cell], each)
        owner, cell = np.repeat(owner, each), np.repeat(cell, each)
        label = kinds[kind] % labels
        klass = lesson.of_label[label]
        slot = self._slot(found.bucket[owner], klass)
        place = first[owner] + slot - lesson.slot_first[found.bucket[owner]]
        weight = times[kind] * np.repeat(likely, each) * fit[place] * found.factor[owner]
        if inside is not None:
            weight = weight * self._within_labels(found, inside, found.row[owner], cell, klass)
        return owner, weight, label

    def _slot(self, bucket: Ints, klass: Ints) -> Ints:
        """The slot of a class in a bucket that has it."""
        lesson = self.lesson
        key = np.repeat(np.arange(len(lesson.slots)), lesson.slots) * lesson.classes + lesson.slot_class
        return np.searchsorted(key, bucket * lesson.classes + klass)

    def _within_labels(self, found: Found, hits: Hits, who: Ints, cell: Ints, klass: Ints) -> Floats:
        """P(a person's values | labels, class), for the columns whose labels cover several values or none."""
        log = np.zeros(len(who))
        attributes = {a.column: a for a in self.lesson.attributes}
        for place, column in enumerate(hits.cells.columns):
            attribute: Attribute | None = attributes.get(column)
            if attribute is None or not attribute.wide or column in found.linked.knowledge.errors:
                continue  # what may be wrong counts by its likelihood already
            codes = found.people[:, found.columns.index(column)]
            label = hits.cells.labels[hits.cells.pattern[cell], place]
            mine = attribute.of_codes(self.tables[column], codes)[who, klass] - self.of_labels[column][label, klass]
            if found.weighed:
                at_large = self.tables[column] @ self.people[:, None]
                everybody = attribute.of_codes(at_large, codes)[who, 0] - attribute.of_labels(at_large)[label, 0]
                mine = mine - everybody
            log += np.where(codes[who] >= 0, mine, 0.0)
        return np.asarray(np.exp(_TRUST * log))


@kept(4)  # for all link models, in and out of the release
def _kinds(lesson: Lesson, of_fragment: Ints | Codes, cells: int) -> tuple[Ints, Ints, Ints]:
    """The sensitive labels that occur in each cell, as cell · labels + label; how often; and where those of a cell begin."""
    labels = len(lesson.release.labels[lesson.column].texts)
    kinds, times = np.unique(of_fragment.astype(np.int64) * labels + lesson.label, return_counts=True)
    return kinds, times, np.searchsorted(kinds // labels, np.arange(cells + 1))


@kept(MOST_COLUMNS)
def _learned(release: Release, column: str, bins: int, rounds: int, together: int) -> _Learned:
    return _Learned(lesson_of(release, column, bins), rounds, together)


def scaled_to_people(log: Floats, pairs: Pairs, people: Floats) -> Floats:
    """Chances in proportion to exp(log), scaled until each fragment's sum to one and each slot's to its `people`."""
    top = np.maximum.reduceat(log, pairs.start)
    chance: Floats = np.exp(log - np.repeat(top, pairs.count)) + 1e-12
    for _ in range(_SCALINGS):
        chance *= (people / np.bincount(pairs.slot, weights=chance, minlength=len(people)))[pairs.slot]
        chance /= np.repeat(np.add.reduceat(chance, pairs.start), pairs.count)
    return chance
