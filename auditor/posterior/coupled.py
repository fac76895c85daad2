"""The coupled posterior: facts about other people, and what they say about each target.

If Bob and Alice share a class of flu and HIV, then "Bob does not have HIV" changes what is believed about Alice, for one of
the two records is his. The marginal posterior treats people one by one. Here the people about whom something is known beyond
quasi-identifiers have records of their own. Let u_i(r) be the marginal posterior's probability that fragment r of the
sensitive block is person i's, and g_i(r) the probability of what is known about i's value given the label of r. The weight of
an assignment σ of fragments to the known people is Π_i u_i(σ(i)) g_i(σ(i)) (`assignments.py`). Summed over the others'
fragments this is

    P(t, r)  ∝  u_t(r) · g_t(r) · P(nobody else has r)

so the others enter by one number per fragment, the same for every target. Classes get new weights as well: a class whose
fitting fragments are taken is not the target's.

Facts are the values of acquaintances, and values that targets are known not to have. By default each target is a case of its
own: the adversary knows the facts about this target and about the acquaintances, so a figure does not depend on how many
others are attacked. With `together` the facts about all targets are known at once.

Decided here: people about whom only quasi-identifiers are known are not coupled. In a release of several blocks only the
fragments of the sensitive block belong to one person. Acquaintances are found by the same link model, but by `likelihood`
under `class`, since nobody grants their class. Facts that contradict the release (no fragment is left) are dropped, those
about others first. Probabilities of membership are unchanged. With left-out records the result is exact if the classes of
the acquaintances are certain. Otherwise one effect is ignored: that one record fewer changes where acquaintances in other
classes are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.knowledge import Acquaintances, Knowledge
from auditor.model.packing import distinct_rows
from auditor.model.release import Release, Suppression
from auditor.posterior.assignments import Assigned, assign, components
from auditor.posterior.beliefs import Beliefs, MemberBeliefs, RecordBeliefs, Shares, Some, ValueBeliefs, meaning
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import Nearest, WithoutOwn, no_distance
from auditor.posterior.informed import by_records, no_mechanism
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import BY_RECORDS, Link, Weighting
from auditor.posterior.posterior import Posterior

_NOISE = 1e-12


def link_of_others(link: Link | None) -> Link:
    """How people are found whose class nobody grants."""
    return Link.LIKELIHOOD if link is None or link is Link.CLASS else link


def beliefs_about_others(
    release: Release,
    knowledge: Knowledge,
    link: Link | None,
    suppression: Suppression = Suppression.EXCLUDED,
    weighting: Weighting = Weighting.SIZE,
) -> Posterior | Nearest:
    """The marginal beliefs about other people, or from another release, under a link model that also applies there."""
    link = link_of_others(link)
    if link is Link.MECHANISM and no_mechanism(release, knowledge.columns, knowledge.targets) is not None:
        link = Link.DISTANCE
    if link is Link.DISTANCE and no_distance(release, knowledge.columns, knowledge.targets) is not None:
        link = Link.LIKELIHOOD
    if link in BY_RECORDS:
        return by_records(release, knowledge, link, suppression, weighting)
    return Posterior(Matching(release, knowledge, suppression), link, weighting)


@dataclass(frozen=True, slots=True, eq=False)
class _Behind:
    """The posterior (or nearest records) behind some beliefs, its targets in their order, and the fragments that are left
    out, if any."""

    posterior: Posterior | Nearest
    which: Ints
    left_out: Ints | None

    @classmethod
    def of(cls, beliefs: Beliefs) -> _Behind | None:
        """None if no posterior is behind them."""
        which = np.arange(beliefs.targets)
        while isinstance(beliefs, Some):
            which = np.flatnonzero(beliefs.which)[which]
            beliefs = beliefs.everybody
        if isinstance(beliefs, LeaveOneOut | WithoutOwn):
            return cls(beliefs.full, which, beliefs.fragment[which])
        return cls(beliefs, which, None) if isinstance(beliefs, Posterior | Nearest) else None

    def about_others(self, knowledge: Knowledge) -> Posterior | Nearest:
        """The beliefs about other people, found in the same way."""
        release, weighting = self.posterior.release, self.posterior.weighting
        if isinstance(self.posterior, Nearest):
            suppression = self.posterior.search.suppression
            return beliefs_about_others(release, knowledge, self.posterior.link, suppression, weighting)
        suppression = self.posterior.matching.suppression
        return beliefs_about_others(release, knowledge, self.posterior.link, suppression, weighting)


@dataclass(frozen=True, slots=True, eq=False)
class _Types:
    """The fragments of a sensitive block by type: those of a type have the same class, the same labels in all known columns
    and the same sensitive label."""

    column: str
    number: int
    of_fragment: Ints
    counts: Ints
    label: Ints
    even: sparse.csr_array

    @classmethod
    def of(cls, release: Release, column: str, known: Sequence[str], prior: Floats | None) -> _Types:
        """The types of a release; `known` are the columns about which anybody knows anything."""
        number = release.block_number(column)
        block = release.blocks[number]
        label = block.cell(column)
        parts = [block.cell(c) for c in block.columns if c in known]
        of_fragment = distinct_rows(np.column_stack([block.bucket, label, *parts]).astype(np.int32))
        counts = np.bincount(of_fragment)
        of_type = np.empty(len(counts), dtype=np.int64)
        of_type[of_fragment] = label
        return cls(column, number, of_fragment, counts, of_type, meaning(release, column, prior))

    def weights(self, posterior: Posterior | Nearest, which: Ints) -> sparse.csr_array:
        """u for some targets of a posterior (targets × types), for one fragment of the type."""
        if isinstance(posterior, Nearest):
            near = posterior.fragment_weights(self.column)
            inside = self.number == posterior.search.block
            cells, block = posterior.search.cells, posterior.release.blocks[self.number]
            group = np.empty(len(self.counts), dtype=np.int64)
            group[self.of_fragment] = cells.of_fragment if inside else block.bucket
            ones, shape = np.ones(len(group)), (near.shape[1], len(group))
            apart = sparse.csr_array((ones, (group, np.arange(len(group)))), shape=shape)
            return sparse.csr_array((near @ apart)[posterior.row_of[which]])
        fragments = np.arange(len(self.of_fragment))
        marks = sparse.csr_array(
            (1.0 / self.counts[self.of_fragment], (fragments, self.of_fragment)),
            shape=(len(fragments), len(self.counts)),
        )
        each = sparse.csr_array(sparse.eye_array(len(self.counts)))
        types = partial(posterior.matching.content, self.number, marks, each)
        mass = posterior.fragment_mass(self.number, types, posterior.entries, posterior.p, posterior.rows)
        return sparse.csr_array(mass[posterior.row_of[which]])

    def shares(self, assigned: Assigned) -> Shares:
        """What the assigned people leave of each fragment."""
        free = assigned.free / self.counts
        # in free · (free - 1) pairs each free fragment has free - 1 partners on average, which are left once it is gone
        left = np.divide(assigned.pairs, assigned.free, out=np.zeros(len(free)), where=assigned.free > 0)
        return Shares(free[self.of_fragment], (assigned.free - left)[self.of_fragment])


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """What the others leave; with `together` also each target's own fragments (targets × codes). `detail` says how it was
    computed."""

    shares: Shares | None
    own: sparse.csr_array | None
    detail: Mapping[str, Any]


class Coupled(Beliefs):
    """Beliefs refined by the facts in the knowledge. Only `values` change."""

    def __init__(
        self, beliefs: Beliefs, knowledge: Knowledge, rng: np.random.Generator, together: bool = False
    ) -> None:
        self.targets = beliefs.targets
        self._beliefs, self._knowledge, self._rng, self._together = beliefs, knowledge, rng, together
        self._joints: dict[str, _Joint] = {}

    @property
    def matched(self) -> Bools:
        return self._beliefs.matched

    def records(self) -> RecordBeliefs:
        return self._beliefs.records()

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        return self._beliefs.record_probability(bucket, fragment)

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        return self._beliefs.classes(bucket)

    def membership(self, prior: float) -> MemberBeliefs:
        return self._beliefs.membership(prior)

    def values(self, column: str) -> ValueBeliefs:
        before = self._beliefs.values(column)
        joint = self._joint(column)
        ways = [self._beliefs.thinned(column, joint.shares), before] if joint.shares is not None else [before]
        if joint.own is not None:
            ways.insert(0, ValueBeliefs(joint.own, np.arange(self.targets)))
        prior = self._knowledge.priors.get(column)
        return _without(ways, before, self._knowledge.not_values.get(column), prior)

    def detail(self, column: str) -> Mapping[str, Any]:
        """How the facts were used: `joint` is "exact" or "sampled" ("none" without facts about others), `known_people` the
        number of others with known facts, `contradicting` the number whose facts had to be dropped."""
        return self._joint(column).detail

    def _joint(self, column: str) -> _Joint:
        if column not in self._joints:
            self._joints[column] = self._computed(column)
        return self._joints[column]

    def _computed(self, column: str) -> _Joint:
        behind = _Behind.of(self._beliefs)
        friends = self._knowledge.acquaintances
        if friends is not None and (column not in friends.values or not friends.people):
            friends = None
        facts = self._facts(column)
        if behind is None or (friends is None and not len(facts)):
            return _Joint(None, None, {"joint": "none", "known_people": 0})
        known = set(behind.posterior.knowledge.columns) | set(() if friends is None else friends.columns)
        prior = behind.posterior.knowledge.priors.get(column)
        types = _Types.of(behind.posterior.release, column, sorted(known), prior)
        parts = [] if friends is None else [self._of_friends(friends, behind, types, column)]
        if len(facts):
            parts.append(self._of_targets(behind, types, facts, column))
        weights = sparse.csr_array(sparse.vstack(parts))
        assigned = assign(weights, types.counts, self._rng, whose=len(facts) > 0)
        own = None
        if len(facts):
            own = self._own(behind, types, facts, weights, assigned, column)
        how = "sampled" if assigned.sampled else "exact"
        detail = {"joint": how, "known_people": weights.shape[0], "contradicting": assigned.contradicted}
        return _Joint(types.shares(assigned), own, detail)

    def _facts(self, column: str) -> Ints:
        """The targets whose facts are facts about others too."""
        excluded = self._knowledge.not_values.get(column)
        if not self._together or excluded is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(excluded.any(axis=1))

    def _of_friends(self, friends: Acquaintances, behind: _Behind, types: _Types, column: str) -> sparse.csr_array:
        """u·g of acquaintances: g is the probability of their value given the label."""
        known = self._knowledge
        theirs = Knowledge(
            friends.columns, friends.codes, register=known.register, priors=known.priors, errors=known.errors
        )
        weights = sparse.coo_array(types.weights(behind.about_others(theirs), np.arange(friends.people)))
        value = friends.values[column][weights.row]
        likely = np.where(value >= 0, _at(types.even, types.label[weights.col], np.maximum(value, 0)), 1.0)
        return sparse.csr_array((weights.data * likely, (weights.row, weights.col)), shape=weights.shape)

    def _of_targets(self, behind: _Behind, types: _Types, facts: Ints, column: str) -> sparse.csr_array:
        """u·g of targets: g is the probability, given the label, of a value that is not ruled out."""
        weights = sparse.coo_array(types.weights(behind.posterior, behind.which[facts]))
        likely = self._possible(types, facts[weights.row], types.label[weights.col], column)
        return sparse.csr_array((weights.data * likely, (weights.row, weights.col)), shape=weights.shape)

    def _possible(self, types: _Types, target: Ints, label: Ints, column: str) -> Floats:
        """The probability that a label stands for a value that is not ruled out for a target."""
        kept = sparse.csr_array(~self._knowledge.not_values[column], dtype=np.float64)
        return _at(sparse.csr_array(kept @ types.even.T), target, label)

    def _own(
        self, behind: _Behind, types: _Types, facts: Ints, weights: sparse.csr_array, assigned: Assigned, column: str
    ) -> sparse.csr_array:
        """The probability of each value for the targets with facts (before values are ruled out)."""
        first = weights.shape[0] - len(facts)
        chance = sparse.csr_array(assigned.chance[first:])
        if behind.left_out is not None:
            mine = behind.left_out[facts, types.number]
            chance = self._left_out(weights, types, np.where(mine >= 0, types.of_fragment[mine], -1), chance)
        entries = sparse.coo_array(chance)
        label, target = types.label[entries.col], facts[entries.row]
        likely = self._possible(types, target, label, column)
        each = np.divide(entries.data, likely, out=np.zeros(len(likely)), where=likely > 0)
        shape = (self.targets, types.even.shape[0])
        return sparse.csr_array(sparse.csr_array((each, (target, label)), shape=shape) @ types.even)

    def _left_out(
        self, weights: sparse.csr_array, types: _Types, own: Ints, chance: sparse.csr_array
    ) -> sparse.csr_array:
        """The chances of targets whose own record (of type `own`) is left out: those with a record of the same type share an
        assignment of their component with one record fewer of it."""
        first = weights.shape[0] - len(own)
        row, kind, data = [], [], []
        fresh = np.zeros(len(own), dtype=np.bool_)
        for people, kinds in components(weights):
            here = people[people >= first] - first
            for gone in np.unique(own[here][np.isin(own[here], kinds)]).tolist():
                counts = types.counts[kinds] - (kinds == gone)
                again = sparse.coo_array(assign(sparse.csr_array(weights[people][:, kinds]), counts, self._rng).chance)
                who = people[again.row] - first
                mine = (who >= 0) & (own[who] == gone)
                fresh[here[own[here] == gone]] = True
                row.append(who[mine])
                kind.append(kinds[again.col[mine]])
                data.append(again.data[mine])
        if not row:
            return chance
        entries = (np.concatenate(data), (np.concatenate(row), np.concatenate(kind)))
        kept = sparse.diags_array((~fresh).astype(np.float64)) @ chance
        return sparse.csr_array(kept + sparse.csr_array(entries, shape=chance.shape))


def _at(matrix: sparse.csr_array, row: Ints, column: Ints) -> Floats:
    """Entries of a sparse matrix."""
    if not len(row):
        return np.zeros(0)
    return np.asarray(matrix[row, column], dtype=np.float64).reshape(-1)


def _without(
    ways: Sequence[ValueBeliefs], before: ValueBeliefs, excluded: Bools | None, prior: Floats | None
) -> ValueBeliefs:
    """For each target, the first of several beliefs that leaves anything once values are ruled out; otherwise the prior
    without them; otherwise what was believed before. Scaled to what that summed to."""
    codes = before.rows.shape[1]
    ruled, group = np.zeros((1, codes), dtype=np.bool_), np.zeros(len(before.row_of), dtype=np.int64)
    if excluded is not None and len(excluded):
        _, one, number = np.unique(np.packbits(excluded, axis=1), axis=0, return_index=True, return_inverse=True)
        ruled, group = excluded[one], number.reshape(-1)
    keys = np.column_stack([group, before.row_of, *(way.row_of for way in ways)]).astype(np.int32)
    number = distinct_rows(keys)
    table = np.empty((int(number.max(initial=-1)) + 1, keys.shape[1]), dtype=np.int64)
    table[number] = keys
    banned = sparse.csr_array(ruled, dtype=np.float64)[table[:, 0]]
    aim = np.asarray(before.rows.sum(axis=1)).reshape(-1)[table[:, 1]]
    candidates = [way.rows[table[:, 2 + place]] for place, way in enumerate(ways)]
    if prior is not None:
        nobody = np.zeros(len(table), dtype=np.int64)
        candidates.append(sparse.csr_array(prior.reshape(1, -1))[nobody])
    open_rows = np.ones(len(table), dtype=np.bool_)
    out = sparse.csr_array((len(table), codes))
    for candidate in candidates:
        kept = candidate - candidate.multiply(banned)
        total = np.asarray(kept.sum(axis=1)).reshape(-1)
        chosen = open_rows & (total > _NOISE)
        scale = np.divide(aim, total, out=np.zeros(len(total)), where=chosen)
        out = out + sparse.diags_array(scale) @ kept
        open_rows &= ~chosen
    out = out + sparse.diags_array(open_rows.astype(np.float64)) @ before.rows[table[:, 1]]
    rows = sparse.csr_array(out)
    rows.eliminate_zeros()
    return ValueBeliefs(rows, number)
