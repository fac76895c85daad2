"""Minimality: what follows from a method generalising no more than it has to.

A class could have been cut in two, as far as its size goes, and was not: so a part of it would have broken the promise about
sensitive values. Whoever knows the method, and the quasi-identifiers of the people in the class (a population, a list of all
patients), goes through the ways in which its values may belong to its people, drops those in which a cut would have been
allowed, and is left with far fewer. Five people, two of 20 and three of 30, published as [20, 30] with values a, a, b, c, d
at l = 2: they were not cut into ages since one part has one value only; three of 30 cannot, so both aged 20 have a.

- `simulation`: of a small release (up to `most_rows` people) each world is anonymized again, by whatever method it was, and
  kept if the same release comes out. Exact for a method without chance, by all that the method did.
- `rule`: for Mondrian with strict cuts, class by class: a world is kept if no cut of the class would have been allowed. Cuts
  that were tried and dropped higher up are left out of account, so that less is claimed than could be.

Where more people of the population fit a class than it has records, who is in it is part of the world.

Papers: R. Wong, A. Fu, K. Wang, J. Pei, "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007; L. Zhang,
S. Jajodia, A. Brodsky, "Information Disclosure under Realistic Assumptions: Privacy versus Optimality", CCS 2007.

Decided here: all ways are alike before. At most `most_worlds` are looked at in a class (`detail` counts the classes that were
listed and those that were sampled); a sample counts with one imagined world more in which nothing is learned, so that chance
alone makes nothing certain. Classes that more than `largest` people fit are left as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims, SeveralClaims, ValueClaims
from attacks.shared.measures import CONFIDENCE, fact_measure, value_measures
from attacks.shared.narrowest import parts
from attacks.shared.worlds import Constraint, Cuts, Worlds, held, joined, narrow, worlds
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import AuditorError
from auditor.model.knowledge import Knowledge, Mechanism
from auditor.model.packing import distinct_rows
from auditor.model.record.meaning import Goal
from auditor.model.release import Release, Suppression
from auditor.model.table import Table
from auditor.posterior.beliefs import TIE, ValueBeliefs
from auditor.posterior.candidates import Matching

ABOUT_VALUES = ("l", "alpha", "t", "beta", "epsilon")
"""The settings by which methods promise something about sensitive values."""
ENOUGH = 50
"""Where fewer worlds of a sample could have been, they do not say how likely each value is."""


@dataclass(frozen=True)
class Minimality(WholeAttack):
    """Claims the likeliest sensitive value of each person, given what the method did not do; `tau` is the probability that
    counts as known."""

    name = "minimality"
    title = "knowing how it was made"
    summary = "Rules out what would not have needed the generalisation that was made."
    paper = "Wong, Fu, Wang & Pei 2007; Zhang, Jajodia & Brodsky 2007"
    goal = Goal.ATTRIBUTE
    beyond_class = "how the release was made"
    below_one = ("tau",)
    claim = "This person has exactly this value, or the class would have been cut."
    needs = (
        "The method with its settings, one of them about sensitive values, and the quasi-identifiers of everybody who may "
        "be in the release."
    )
    success = "The likeliest value is the true one; among m tied values it counts 1/m."
    lowered_by = (
        "Cuts that do not depend on sensitive values, or that are left out at random; promises that hold in every part "
        "with room to spare."
    )
    calibrated = True
    measures = (
        *value_measures("knowing that no more was generalised than needed, {who} names the right {column} for {share}"),
        fact_measure(
            "breached",
            "How many people are believed to have one value more strongly than the method promised.",
            "the bound that the method promised on beliefs about the {column} is broken for {of}",
            label="promised bound broken",
        ),
    )
    support = ("certain", "above", "breached")
    axis = CONFIDENCE
    least = (("most_worlds", 1), ("most_rows", 0), ("largest", 2))

    most_worlds: int = 1_000
    most_rows: int = 24
    largest: int = 60
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        mechanism, why = view.knowledge.mechanism, _unfit(view)
        if why is not None or mechanism is None:
            lacks = Lacks.MECHANISM if mechanism is None else None
            return NotApplicable(why or "how the release was made is not known.", lacks)
        before = view.beliefs.values(view.column)
        if view.blind:
            return self._claims(mechanism, before, before, {})
        roll = _roll(view.release, view.knowledge)
        if isinstance(roll, str):
            return NotApplicable(roll)
        crowd = _Crowd.of(view.release, roll, view.column)
        small = crowd.people == view.release.rows <= self.most_rows
        if mechanism.run is not None and small:
            found = self._simulated(crowd, mechanism, rng)
        elif _by_strict_cuts(mechanism):
            found = self._by_rule(crowd, mechanism.params, rng)
        elif mechanism.run is None:
            return NotApplicable(f"what {mechanism.name} would have done with other values is not known.")
        else:
            return NotApplicable(
                f"what {mechanism.name} would have done with other values can be tried only for up to "
                f"{self.most_rows} people whose quasi-identifiers are all known."
            )
        return self._claims(mechanism, before, found.beliefs(view.knowledge, before, crowd), found.detail)

    def _claims(
        self, mechanism: Mechanism, before: ValueBeliefs, after: ValueBeliefs, detail: Mapping[str, Any]
    ) -> SeveralClaims:
        """The claims; where a bound on beliefs was promised, also how many people are believed beyond it."""
        values = ValueClaims(after, self.tau, beside={"before": before}, detail=detail)
        alpha, least = mechanism.params.get("alpha"), mechanism.params.get("l")
        bound = alpha if alpha is not None else None if least is None else 1 / least
        if bound is None:
            return SeveralClaims((values,))
        beyond = (_top(after) > bound + TIE) & (_top(before) <= bound + TIE)
        each = beyond.astype(np.float64)
        return SeveralClaims(
            (values, FactClaims((Fact("breached", float(each.sum()), len(each), {"bound": bound}, each=each),)))
        )

    def _by_rule(self, crowd: _Crowd, params: Mapping[str, Any], rng: np.random.Generator) -> _Found:
        """Class by class, where the people who fit it fit no other."""
        release = crowd.release
        domain = release.labels[crowd.column].domain
        constraint = Constraint(params, domain, crowd.present, crowd.counts.sum(axis=0))
        found = _Found({"how": "rule", "exact": 0, "sampled": 0, "no_cut": 0, "skipped": 0, "ruled_out": 0})
        k = int(params.get("k", 1))
        for bucket, generator in zip(crowd.order, rng.spawn(len(crowd.order)), strict=True):
            size = int(release.sizes[bucket])
            if size < 2 * k:
                found.detail["no_cut"] += 1
                continue
            groups = crowd.groups(int(bucket))
            people = int(crowd.times[groups].sum())
            if people < size or people > self.largest or (crowd.fits[groups] > 1).any():
                found.detail["skipped"] += 1
                continue
            codes = np.repeat(crowd.codes[groups], crowd.times[groups], axis=0)
            cuts = Cuts(codes, crowd.domains, k)
            if people == size and not cuts.any_by_size():
                found.detail["no_cut"] += 1
                continue
            counts = crowd.counts[bucket]
            some = worlds(crowd.times[groups].tolist(), counts.tolist(), self.most_worlds, generator)
            kept = np.ones(len(some.values), dtype=np.bool_)
            if people > size:
                labels = [parts(release.labels[c], crowd.label(int(bucket), c)) for c in release.quasi]
                kept = narrow(codes, labels, some.values)
            kept[kept] = ~cuts.allowed(some.values[kept], constraint, len(counts))
            found.add(groups, np.repeat(groups, crowd.times[groups]), some, kept, counts)
        return found

    def _simulated(self, crowd: _Crowd, mechanism: Mechanism, rng: np.random.Generator) -> _Found:
        """The whole release at once, each world anonymized again."""
        assert mechanism.run is not None
        found = _Found({"how": "simulation", "exact": 0, "sampled": 0, "skipped": 0, "ruled_out": 0})
        pieces = crowd.pieces()
        people = [np.repeat(groups, crowd.times[groups]) for groups, _ in pieces]
        counts = [crowd.counts[buckets].sum(axis=0) for _, buckets in pieces]
        if any(len(p) != c.sum() for p, c in zip(people, counts, strict=True)):
            found.detail["skipped"] = len(crowd.order)  # somebody fits no class: this is not who is in the release
            return found
        each = [
            worlds(crowd.times[groups].tolist(), c.tolist(), self.most_worlds, generator)
            for (groups, _), c, generator in zip(pieces, counts, rng.spawn(len(pieces)), strict=True)
        ]
        joint = joined(each, self.most_worlds, rng.spawn(1)[0])
        person = np.concatenate(people)
        published = _content(crowd.release, crowd.column)
        kept = np.zeros(len(joint.values), dtype=np.bool_)
        for place, (values, generator) in enumerate(zip(joint.values, rng.spawn(len(kept)), strict=True)):
            table = crowd.table(person, values)
            try:
                kept[place] = _content(mechanism.run(table, generator), crowd.column) == published
            except AuditorError:  # the method would not have released such a table
                continue
        starts = np.cumsum([0, *map(len, people[:-1])]).tolist()
        for (groups, _), c, begin in zip(pieces, counts, starts, strict=True):
            whose = slice(begin, begin + int(c.sum()))
            part = Worlds(joint.values[:, whose], joint.weight, joint.exact)
            found.add(groups, person[whose], part, kept, c)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Crowd:
    """Everybody who may be in the release. People alike are a group: its codes, its size (`times`), and how many classes
    it fits (`fits`); `pair` lists the groups (first row) that fit classes (second row). `counts` are the sensitive values of
    each class, `present` their codes; `order` are the classes in an order that depends on their labels only."""

    release: Release
    column: str
    codes: Codes
    times: Ints
    fits: Ints
    pair: Ints
    counts: Ints
    present: Ints
    order: Ints

    @classmethod
    def of(cls, release: Release, roll: Codes, column: str) -> _Crowd:
        """The people of a roll (people × quasi-identifiers)."""
        codes, times = np.unique(roll, axis=0, return_counts=True)
        matching = Matching(release, Knowledge(release.quasi, codes.astype(np.int32)), Suppression.EXCLUDED)
        entries = matching.entries([m.way_of for m in matching.matches], len(codes), None)
        pair = np.stack([entries.row, entries.bucket])
        block, labels = release.blocks[0], release.labels[column]
        present, value = np.unique(labels.lo[block.cell(column)], return_inverse=True)
        key = block.bucket.astype(np.int64) * len(present) + value
        counts = np.bincount(key, minlength=len(release.sizes) * len(present)).reshape(-1, len(present))
        first = np.zeros(len(release.sizes), dtype=np.int64)
        first[block.bucket] = np.arange(len(block.bucket))
        written = [block.cell(c)[first] for c in release.quasi]
        order = np.lexsort(written[::-1])
        fits = np.bincount(pair[0], minlength=len(codes))
        order = order[~release.suppressed[order]]
        known = codes.astype(np.int32)
        return cls(release, column, known, times, fits, pair, counts, present.astype(np.int64), order)

    @property
    def people(self) -> int:
        return int(self.times.sum())

    @property
    def domains(self) -> list[Any]:
        return [self.release.labels[c].domain for c in self.release.quasi]

    def groups(self, bucket: int) -> Ints:
        """The groups that fit a class."""
        return np.sort(self.pair[0, self.pair[1] == bucket])

    def label(self, bucket: int, column: str) -> int:
        """The label of a class in a column."""
        block = self.release.blocks[0]
        return int(block.cell(column)[np.argmax(block.bucket == bucket)])

    def pieces(self) -> list[tuple[Ints, Ints]]:
        """Groups and classes that hang together, since somebody fits several: groups and classes of each."""
        groups, size = len(self.codes), len(self.codes) + len(self.release.sizes)
        edge = (np.ones(self.pair.shape[1]), (self.pair[0], self.pair[1] + groups))
        member = connected_components(sparse.csr_array(edge, shape=(size, size)), directed=False)[1]
        whole = [np.flatnonzero(member == m) for m in dict.fromkeys(member[:groups].tolist())]
        lone = [np.flatnonzero(member == m) for m in np.setdiff1d(member[groups:], member[:groups]).tolist()]
        return [(part[part < groups], part[part >= groups] - groups) for part in whole + lone]

    def table(self, groups: Ints, values: Ints) -> Table:
        """A table of people of some groups with these values."""
        release = self.release
        codes = {c: self.codes[groups, i] for i, c in enumerate(release.quasi)}
        codes[self.column] = self.present[values].astype(np.int32)
        domains = {c: release.labels[c].domain for c in codes}
        return Table("world", release.schema, domains, codes, len(groups))


@dataclass(slots=True, eq=False)
class _Found:
    """What was found: for groups of people the probability of each value, and how it was found."""

    detail: dict[str, Any]
    groups: list[int] = field(default_factory=list)
    rows: list[Floats] = field(default_factory=list)

    def add(self, groups: Ints, person: Ints, some: Worlds, kept: Bools, counts: Ints) -> None:
        """Adds what the kept worlds say of the groups; `person` is the group of each person in the worlds."""
        if kept.all():
            self.detail["exact" if some.exact else "sampled"] += 1
            return
        if kept.sum() < (1 if some.exact else ENOUGH):
            self.detail["skipped"] += 1
            return
        self.detail["exact" if some.exact else "sampled"] += 1
        self.detail["ruled_out"] += 1
        even = counts / counts.sum()
        imagined = 0.0 if some.exact else 1 / (int(kept.sum()) + 1)
        for group in groups.tolist():
            own = person == group
            share = held(some, own, kept, len(counts))
            if share is None:
                continue
            if not some.exact:  # what the sample is off before anything is ruled out, it is off afterwards as well
                drawn = held(some, own, np.ones(len(kept), dtype=np.bool_), len(counts))
                assert drawn is not None
                share = np.where(share > 0, np.maximum(share + even - drawn, 0.0), 0.0)
                share = (1 - imagined) * share / share.sum() + imagined * even
            self.groups.append(group)
            self.rows.append(share)

    def beliefs(self, knowledge: Knowledge, before: ValueBeliefs, crowd: _Crowd) -> ValueBeliefs:
        """The beliefs about targets: what was found, or else what was believed before."""
        if not self.groups:
            return before
        place = [knowledge.columns.index(c) for c in crowd.release.quasi]
        every = np.vstack([crowd.codes[self.groups], knowledge.codes[:, place]]).astype(np.int32)
        number = distinct_rows(every)
        found = np.full(int(number.max()) + 1, -1)
        found[number[: len(self.groups)]] = np.arange(len(self.groups))
        row = found[number[len(self.groups) :]]
        sharp = np.zeros((len(self.rows), before.rows.shape[1]))
        sharp[:, crowd.present] = np.array(self.rows)
        rows = sparse.csr_array(sparse.vstack([before.rows, sparse.csr_array(sharp)]))
        self.detail["people_sharpened"] = int((row >= 0).sum())
        return ValueBeliefs(rows, np.where(row >= 0, row + before.rows.shape[0], before.row_of))


def _by_strict_cuts(mechanism: Mechanism) -> bool:
    """Whether no class of the release could have been cut further. Two blocks of rows may have classes with the same labels,
    which are then one class that nobody tried to cut."""
    params = mechanism.params
    return mechanism.name == "mondrian" and bool(params.get("strict", True)) and params.get("blocks", 1) == 1


def _unfit(view: View) -> str | None:
    """Why the attack does not apply, whoever is attacked."""
    release, mechanism, column = view.release, view.knowledge.mechanism, view.column
    if mechanism is None:
        return "how the release was made is not known."
    if not mechanism.params:
        return f"the settings of {mechanism.name} are not known."
    if all(mechanism.params.get(name) is None for name in ABOUT_VALUES):
        return f"{mechanism.name} promises nothing about sensitive values, so nothing follows about them."
    if len(release.blocks) > 1:
        return "the release has several blocks: its quasi-identifiers were not generalised to protect the values."
    about = mechanism.params.get("sensitive") or next(iter(release.sensitive), None)
    if about != column:
        return f"what {mechanism.name} promises is about {about}."
    if not release.quasi or release.exact:
        return "every label is one value: nothing was generalised."
    labels = release.labels[column]
    if (labels.counts[np.unique(release.blocks[0].cell(column))] != 1).any():
        return f"the published values of {column} are no exact ones."
    if view.knowledge.errors or not set(release.quasi) <= set(view.knowledge.columns):
        return "the quasi-identifiers of people must all be known exactly, since they say which cuts there were."
    return None


def _roll(release: Release, knowledge: Knowledge) -> Codes | str:
    """Everybody who may be in the release (people × quasi-identifiers): the population; without one the targets and
    acquaintances, where they are all of the release. Else why it is not known."""
    quasi, register = release.quasi, knowledge.register
    if register is not None:
        if register.coverage < 1 or not set(quasi) <= set(register.codes):
            return "the population does not hold everybody with all quasi-identifiers."
        return np.column_stack([register.codes[c] for c in quasi])
    known = [knowledge.codes[:, [knowledge.columns.index(c) for c in quasi]]]
    friends = knowledge.acquaintances
    if friends is not None and set(quasi) <= set(friends.columns):
        known.append(friends.codes[:, [friends.columns.index(c) for c in quasi]])
    roll = np.vstack(known)
    if len(roll) != int(release.sizes[~release.suppressed].sum()) or (roll < 0).any():
        return "the quasi-identifiers of everybody in the release must be known: give a population."
    return roll


def _content(release: Release, column: str) -> Counter[tuple[str, ...]]:
    """How often each record is published: its labels, and its value of one sensitive column."""
    texts = []
    for name in (*release.quasi, column):
        written = np.array(release.labels[name].texts, dtype=object)
        texts.append(written[release.block_of(name).cell(name)].tolist())
    return Counter(zip(*texts, strict=True))


def _top(values: ValueBeliefs) -> Floats:
    return values.top()[values.row_of]
