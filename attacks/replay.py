"""Replay: whoever knows the seed draws the classes again.

Anatomy shuffles the rows of the file, piles them up by sensitive value in that order, and deals classes from the tops of the
piles. How many rows each pile has is published, and so the time at which each place of a pile was dealt is known: the first,
the second, … class. Whoever knows the seed and the order of the file knows where every row stood in the shuffle, but not in
which pile. Had a row value s, its place in that pile would be the number of rows of s behind it, and so it would have been
dealt at a certain time. All rows of a class were dealt at the same time. In each class the row that best fits a value is
found (chances by the squared difference of times, scaled until each row has one value and each value as many rows as it
has); that tells better who is in which pile, and so on. The spread of times within classes is made smaller step by step.

Where the seed was another one, or a secret, times within classes stay as far apart as under any shuffle. The adversary sees
that, since they can try one that was certainly not used; then nothing is claimed beyond the shares of the class.

Paper: X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006 (the method that is replayed).
Decided here: only how classes were dealt is replayed, not the order in which they were published, so a secret for the latter
does not help. Two values that are dealt together throughout, in equal numbers, cannot be told apart by it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, ValueClaims
from attacks.definetti import scaled_to_people
from attacks.shared.finding import Found
from attacks.shared.learning import Pairs
from attacks.shared.measures import CONFIDENCE, value_measures
from auditor.model.arrays import Floats, Ints
from auditor.model.knowledge import Draw
from auditor.model.record.meaning import Goal
from auditor.model.release import Release
from auditor.posterior.beliefs import ValueBeliefs, meaning
from auditor.posterior.matching import expand

METHODS = ("anatomy",)
_ROUNDS = 200
_COOLING = 0.9
"""By how much the variance of times within classes may shrink in a round."""
_SETTLED = 0.999
_LEAST = 0.25
"""The least variance of times: values with equally many rows left may be dealt in either order."""
_HOLDS = 0.5
"""A seed is believed where times within classes are this much closer than under another shuffle."""
_MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class Replay(WholeAttack):
    """Claims the value that the dealing of classes, drawn again, gives each person; `tau` is the probability that counts as
    known."""

    name = "replay"
    title = "replaying the seed"
    summary = "Draws the classes again from a known seed, and sees who has which of their values."
    paper = "Xiao & Tao 2006 (the method that is replayed)"
    goal = Goal.ATTRIBUTE
    beyond_class = "the seed that the release was drawn from"
    linked = True
    below_one = ("tau",)
    claim = "This person has exactly this value."
    needs = (
        "The seed that the release was drawn from, the order of the rows in the file, the method with its settings, and "
        "quasi-identifiers of everybody in the release."
    )
    success = "The likeliest value is the true one; among m tied values it counts 1/m."
    lowered_by = "Drawing the release from a secret instead of a seed that others may guess."
    measures = value_measures("drawing the classes again from the seed, {who} names the right {column} for {share}")
    support = ("certain", "above")
    axis = CONFIDENCE

    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        draw, mechanism = view.knowledge.draw, view.knowledge.mechanism
        if draw is None or mechanism is None:
            why = "The seed that the release was drawn from and the order of the rows in the file are not known."
            return NotApplicable(why, Lacks.MECHANISM)
        if view.blind:
            return ValueClaims(view.beliefs.values(view.column), self.tau)
        unfit, found = _unfit(view, draw), Found.of(view.beliefs, view.knowledge)
        if unfit is not None or found is None:
            return NotApplicable(unfit or "People are not looked for in the release, so no class can be replayed.")
        table = _Dealt.of(view.release, view.column, found)
        if isinstance(table, str):
            return NotApplicable(table)
        chance, spread = table.replayed(draw.rng().permutation(draw.rows), draw.place)
        other, without = table.replayed(rng.permutation(draw.rows), draw.place)
        holds = spread < _HOLDS * without
        values = [table.values(found, some) for some in (chance if holds else table.even, other)]
        detail = {"seed_holds": holds, "times_apart": spread, "times_apart_by_another_seed": without}
        return ValueClaims(values[0], self.tau, beside={"another_seed": values[1]}, detail=detail)


def _unfit(view: View, draw: Draw) -> str | None:
    """Why this release cannot be replayed, or None."""
    release, mechanism = view.release, view.knowledge.mechanism
    assert mechanism is not None
    if mechanism.name not in METHODS:
        return f"{mechanism.name} is not known to deal its classes from shuffled piles."
    dealt = mechanism.params.get("sensitive") or release.schema.sensitive[0]
    if dealt != view.column:
        return f"Classes were dealt by {dealt}, which says nothing of {view.column}."
    if len(release.blocks) < 2 or not release.exact:
        return "Quasi-identifiers are not published as they are, apart from the sensitive values."
    if not len(draw.place) == draw.rows == release.rows or (np.sort(draw.place) != np.arange(draw.rows)).any():
        return "Not everybody in the release is among the people asked about, so the piles cannot be rebuilt."
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Dealt:
    """People × the values of the classes that fit them: `pairs` of a person and a slot (a value in a class, which `people` of
    it have); `even` are the chances by the shares of the classes alone."""

    release: Release
    column: str
    pairs: Pairs
    bucket: Ints
    label: Ints
    people: Floats
    even: Floats

    @classmethod
    def of(cls, release: Release, column: str, found: Found) -> _Dealt | str:
        """The table for everybody who was looked for, or why there is none."""
        block, labels = release.block_of(column), len(release.labels[column].texts)
        kinds, count = np.unique(block.bucket.astype(np.int64) * labels + block.cell(column), return_counts=True)
        bucket, label = np.divmod(kinds, labels)
        edge = np.searchsorted(bucket, np.arange(len(release.sizes) + 1))
        begin = np.searchsorted(found.row, found.row_of)
        classes = np.searchsorted(found.row, found.row_of, side="right") - begin
        if not classes.all():
            return "Somebody fits no class, so the piles cannot be rebuilt."
        slots = np.zeros(0, dtype=np.int64)
        if classes.sum() <= _MOST_PAIRS:
            entry = expand(begin, classes)
            slots = np.diff(edge)[found.bucket[entry]]
        if not 0 < slots.sum() <= _MOST_PAIRS:
            return "Too many classes fit the people, so the piles cannot be rebuilt in reasonable time."
        person = np.repeat(np.repeat(np.arange(len(classes)), classes), slots)
        slot = expand(edge[found.bucket[entry]], slots)
        each = np.bincount(person, minlength=len(classes))
        pairs, people = Pairs(person, slot, np.cumsum(each) - each, each), count.astype(np.float64)
        return cls(release, column, pairs, bucket, label, people, scaled_to_people(np.log(people[slot]), pairs, people))

    def replayed(self, shuffled: Ints, place: Ints) -> tuple[Floats, float]:
        """The chances by a shuffle of the rows of the file, and how far times within classes are apart. `place` is the row of
        each person."""
        stood = np.empty(len(shuffled), dtype=np.int64)
        stood[shuffled] = np.arange(len(shuffled))
        label, klass = self.label[self.pairs.slot], self.bucket[self.pairs.slot]
        order = np.lexsort((-stood[place[self.pairs.row]], label))  # by pile, the tops first
        begin = np.searchsorted(label[order], np.arange(int(label.max()) + 1))[label]
        rows = np.bincount(self.label, weights=self.people).astype(np.int64)
        l, size = int(self.release.sizes.min()), len(self.release.sizes)
        times, first = dealing(rows, l), (np.cumsum(rows) - rows)[label]
        plain = self.release.sizes[klass] == l  # nobody was left over who joined them
        chance, variance = self.even, np.inf
        for _ in range(_ROUNDS):
            behind = np.empty(len(order))
            summed = np.concatenate([[0.0], np.cumsum(chance[order])])
            behind[order] = summed[:-1]
            place_of = np.clip(behind - summed[begin], 0, rows[label] - 1)
            low = place_of.astype(np.int64)
            high = np.minimum(low + 1, rows[label] - 1)
            time = times[first + low] + (place_of - low) * (times[first + high] - times[first + low])
            mean = np.bincount(klass, chance * time, size) / np.bincount(klass, chance, size)
            off = (time - mean[klass]) ** 2
            apart = float((chance * off)[plain].sum() / chance[plain].sum())
            now = max(apart, _LEAST, _COOLING * variance if variance < np.inf else 0.0)
            if now > _SETTLED * variance:
                break
            variance = now
            chance = scaled_to_people(-off / (2 * variance), self.pairs, self.people)
        return chance, float(np.sqrt(variance))

    def values(self, found: Found, chance: Floats) -> ValueBeliefs:
        """What is believed of everybody by some chances."""
        release, people = self.release, len(found.row_of)
        shape = people, len(release.labels[self.column].texts)
        mass = sparse.csr_array((chance, (self.pairs.row, self.label[self.pairs.slot])), shape=shape)
        prior = found.linked.knowledge.priors.get(self.column)
        rows = sparse.csr_array(mass @ meaning(release, self.column, prior))
        return found.linked.believed(self.column, rows, np.arange(people), np.ones(people, dtype=np.bool_))


def dealing(rows: Ints, l: int) -> Floats:
    """The time at which each place of each pile was dealt, pile after pile, the tops first: each class takes one row of the l
    values that have most left, and of equally many the first. What is left over comes last."""
    times = np.full(int(rows.sum()), np.nan)
    first, dealt, now = np.cumsum(rows) - rows, np.zeros(len(rows), dtype=np.int64), 0
    heap = [(-int(left), value) for value, left in enumerate(rows) if left]
    heapq.heapify(heap)
    while len(heap) >= l:
        for left, value in [heapq.heappop(heap) for _ in range(l)]:
            times[first[value] + dealt[value]] = now
            dealt[value] += 1
            if left < -1:
                heapq.heappush(heap, (left + 1, value))
        now += 1
    return np.where(np.isnan(times), now, times)
