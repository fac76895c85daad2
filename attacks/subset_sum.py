"""Subset sums: a centre is the mean of its members, and few people of the population lie near it.

Microaggregation publishes for each class the mean of its members' numbers, exactly or rounded. Whoever has a list of the
population looks among the people nearest to a centre for those sets, as large as the class, whose mean it is in every
numeric column at once. Where there is one such set, its people are in the class, and everybody else is not.

Sets are found by meeting in the middle: the sums of all small sets are sorted, and each is completed by those that add up to
the published mean times the size of the class, as exactly as it was published. How many sets have the right sum by chance
is seen from sums nearby, which nobody published (`_DECOYS`). With N sets found and c by chance, one of them is the class with
probability r·N / (r·N + (1 - r)·c), where r, the share of classes whose people are all among the nearest, is fitted to all
classes (EM). Tight sets are likelier than wide ones, since a class was formed of people who are near each other; a set
must also have the class's most frequent value in every nominal column. People who are placed for certain are taken out of
the search for the other classes. Where no set is found, or the effort would be too great, there is the share of the people
nearest to a class who are in it, as in `membership`.

Papers: E. Horowitz, S. Sahni, "Computing Partitions with Applications to the Knapsack Problem", JACM 1974 (meeting in the
middle); J. Domingo-Ferrer, V. Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through Microaggregation", 2005 (the
releases that it is about).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from attacks.base import Lacks, NotApplicable, View
from attacks.claims import Claims, MemberClaims
from attacks.shared.measures import RANKED
from attacks.shared.members import MemberAttack
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.knowledge import Knowledge, Register
from auditor.model.packing import contents
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.posterior.distance import no_distance
from auditor.posterior.matching import expand

_DECOYS = 4
"""How many sums nearby are looked for to see how many sets have a sum by chance."""
_PASSES = 2
"""How often classes are searched, with those taken out who are placed for certain."""
_CERTAIN = 0.99
_TIGHT = 0.3
"""How much less likely a set is by the squared distance of its people from the centre, in units of what the nearest have."""
_MOST_PAIRS = 400_000
"""How many pairs of halves are completed for one sum; above it fewer people are looked at."""
_MOST_SETS = 20_000
"""How many small sets are listed for one class."""
_NOISE = 1e-9
"""Relative noise of a sum."""


@dataclass(frozen=True)
class SubsetSum(MemberAttack):
    """Scores each person by how likely they are one of those whose mean a centre is. Classes of more than `largest` people
    are not searched; `most_sets` bounds the small sets that are listed, over all classes; `prior` is the share of people at
    large who are taken to be in."""

    name = "subset-sum"
    title = "telling who is in, by sums"
    summary = "Finds the people of the population whose mean a published centre is."
    paper = "Horowitz & Sahni 1974 (meeting in the middle); Domingo-Ferrer & Torra 2005"
    claim = "This person is in the data: they are one of those whose mean is published."
    needs = "Published means of classes, and a list of the population with its numbers."
    lowered_by = "Rounding the means, larger classes, or a little noise on every mean."
    caption = f"Subset sums: {RANKED}"
    least = (("largest", 2), ("most_sets", 1))

    largest: int = 12
    most_sets: int = 4_000_000
    prior: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, knowledge = view.release, view.knowledge
        register = knowledge.register
        if register is None:
            return NotApplicable("There is no list of the population among whom to look.", Lacks.POPULATION)
        columns = [c for c in release.quasi if c in register.codes]
        means = [c for c in columns if _is_mean(release, c)]
        if not means or len(release.blocks) > 1:
            return NotApplicable("No published number is the mean of several people's.")
        known = [c for c in knowledge.columns if c in columns]
        if not known:
            return NotApplicable("The adversary knows nothing of the people that is published.", Lacks.PEOPLE)
        if knowledge.errors or (knowledge.codes < 0).any():
            return NotApplicable(
                "What is known of people is missing or may be wrong, so that the list does not tell who they are."
            )
        if no_distance(release, tuple(columns), register.people) is not None:
            return NotApplicable("Comparing everybody of the population with every centre would take too long.")
        found = _searched(release, register, tuple(columns), self.largest, self.most_sets)
        among = found.of(knowledge, known)
        sampled = min(release.rows * register.coverage / register.people, 1 - 1 / max(register.people, 2))
        odds = self.prior / (1 - self.prior) * (1 - sampled) / sampled * among / np.maximum(1 - among, _NOISE)
        detail = {"classes": len(release.sizes), "searched": found.searched, "named": found.named}
        return MemberClaims({"posterior": odds / (1 + odds)}, "register", self.prior, detail=detail)


def _is_mean(release: Release, column: str) -> bool:
    """Whether a column has numbers that nobody need have."""
    labels, used = release.labels[column], release.label_counts(column) > 0
    return labels.domain.numbers is not None and bool((used & (labels.counts == 0) & ~np.isnan(labels.low)).any())


@dataclass(slots=True, eq=False)
class _Searched:
    """For each person of the register the probability of being in the release."""

    register: Register
    chance: Floats
    searched: int
    named: int

    def of(self, knowledge: Knowledge, known: list[str]) -> Floats:
        """The same for people of whom some columns are known: the mean over those of the register who have the same."""
        mine = knowledge.codes[:, [knowledge.columns.index(c) for c in known]]
        theirs = np.column_stack([self.register.codes[c] for c in known])
        _, number = np.unique(np.concatenate([theirs, mine]), axis=0, return_inverse=True)
        number = number.reshape(-1)
        people = np.bincount(number[: len(theirs)], minlength=int(number.max(initial=0)) + 1)
        total = np.bincount(number[: len(theirs)], weights=self.chance, minlength=len(people))
        # whoever is on no list is no more likely in than anybody
        share = np.divide(total, people, out=np.full(len(people), float(self.chance.mean())), where=people > 0)
        return np.asarray(share[number[len(theirs) :]])


@dataclass(slots=True, eq=False)
class _Class:
    """A class: its people among the candidates of the register (by number), and what was found."""

    bucket: int
    size: int
    near: Ints
    sets: Ints = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    weight: Floats = field(default_factory=lambda: np.empty(0))
    by_chance: float = 0.0
    chance: float = 0.0


@lru_cache(maxsize=2)  # members and outsiders are asked about apart: releases and registers are compared by identity
def _searched(
    release: Release, register: Register, columns: tuple[str, ...], largest: int, most_sets: int
) -> _Searched:
    search = _Search(release, register, columns)
    classes = search.classes(largest, most_sets)
    gone = np.zeros(register.people, dtype=np.bool_)
    taken = np.full(register.people, -1)
    inside = 0.5
    for _ in range(_PASSES):
        for one in classes:
            search.find(one, gone & (taken != one.bucket))
        inside = _fitted(classes, inside)
        before = int(gone.sum())
        for one in classes:
            belongs = search.shares(one)
            certain = one.near[belongs >= _CERTAIN]
            gone[certain], taken[certain] = True, one.bucket
        if gone.sum() == before:
            break
    chance = np.zeros(register.people)
    left = np.ones(len(release.sizes))
    for one in classes:
        np.add.at(chance, one.near, search.shares(one))
        left[one.bucket] = 1 - one.chance
    chance = np.minimum(chance, 1.0)
    chance += (1 - chance) * search.nearest(left)
    named = sum(len(one.sets) > 0 and bool((search.shares(one) >= _CERTAIN).sum() == one.size) for one in classes)
    return _Searched(register, chance, len(classes), named)


def _fitted(classes: list[_Class], inside: float) -> float:
    """Sets each class's chance that the right set was found, and fits the share of classes for which it can be."""
    for _ in range(50):
        for one in classes:
            found = inside * float(one.weight.sum())
            one.chance = 0.0 if not len(one.weight) else found / max(found + (1 - inside) * one.by_chance, 1e-300)
        tried = [one.chance for one in classes]
        inside = min(max(float(np.mean(tried)) if tried else 0.0, 1e-6), 0.999)
    return inside


class _Search:
    """The population beside the centres: numbers as they are (`numbers`), and places in which distances are plain."""

    def __init__(self, release: Release, register: Register, columns: tuple[str, ...]) -> None:
        self.release, self.register = release, register
        block = release.blocks[0]
        first = np.unique(block.bucket, return_index=True)[1]
        numbered = {c: release.labels[c].domain.numbers for c in columns}
        self.numeric = [c for c, found in numbered.items() if found is not None and len(found)]
        self.nominal = [c for c in columns if release.labels[c].domain.column.type is Type.NOMINAL]
        numbers, centres, tolerance, step = [], [], [], []
        for column in self.numeric:
            labels = release.labels[column]
            known = labels.domain.numbers
            assert known is not None
            code = register.codes[column]
            numbers.append(np.where(code < len(known), known[np.minimum(code, len(known) - 1)], np.nan))
            label = block.cell(column)[first]
            centres.append(np.where(labels.low == labels.high, labels.low, np.nan)[label])
            tolerance.append(0.5 * 10.0 ** -_decimals(labels.texts, labels.domain.format.decimal))
            step.append(float(np.diff(known).min()) if len(known) > 1 else 1.0)
        self.numbers, self.centres = np.column_stack(numbers), np.column_stack(centres)
        self.tolerance, self.step = np.array(tolerance), np.array(step)
        spread = np.nanstd(self.numbers, axis=0)
        self.scale = np.where(spread > 0, spread, 1.0)
        # one key for all columns: no two sums agree in it that differ in one of them, but for noise
        self.mix = np.sqrt(np.arange(2, 2 + len(self.numeric))) / self.scale
        self.codes = np.column_stack([register.codes[c] for c in self.nominal]) if self.nominal else None
        self.modes = None
        if self.codes is not None:
            self.modes = np.column_stack([release.labels[c].lo[block.cell(c)[first]] for c in self.nominal])
        self.rank = contents([register.codes[c] for c in columns], register.people)

    def distances(self, bucket: int) -> Floats:
        """The squared distance of everybody to a centre."""
        away = (((self.numbers - self.centres[bucket]) / self.scale) ** 2).sum(axis=1)
        if self.codes is not None and self.modes is not None:
            away = away + (self.codes != self.modes[bucket]).sum(axis=1)
        return np.where(np.isnan(away), np.inf, away)

    def classes(self, largest: int, most_sets: int) -> list[_Class]:
        """The classes that can be searched, each with the people nearest to it; and for everybody the nearest classes."""
        sizes = self.release.sizes
        fit = (sizes >= 2) & (sizes <= largest) & ~np.isnan(self.centres).any(axis=1) & ~self.release.suppressed
        out = []
        best = np.full(len(self.numbers), np.inf)
        each = min(max(most_sets // max(int(fit.sum()), 1), 500), _MOST_SETS)
        for bucket in range(len(sizes)):
            away = self.distances(bucket)
            best = np.minimum(best, away)
            there = int(np.isfinite(away).sum())
            if fit[bucket] and there >= sizes[bucket]:
                near = min(_most(int(sizes[bucket]), each), there)
                limit = np.partition(away, near - 1)[near - 1]
                inside = np.flatnonzero(away <= limit * (1 + _NOISE))  # ties included, so that no order of rows decides
                order = np.lexsort((self.rank[inside], away[inside].round(9)))
                out.append(_Class(bucket, int(sizes[bucket]), inside[order]))
        near_to = best * (1 + _NOISE) + _NOISE
        self.home = [np.flatnonzero(self.distances(b) <= near_to) for b in range(len(sizes))]
        self.ties = np.maximum(np.bincount(np.concatenate(self.home), minlength=len(best)), 1)
        return out

    def nearest(self, left: Floats) -> Floats:
        """For everybody the share of the people nearest to the same class who are in it, of classes as far as they are
        `left` open; the mean over classes that are equally near."""
        out = np.zeros(len(self.ties))
        for bucket, home in enumerate(self.home):
            crowd = float((1 / self.ties[home]).sum())
            share = min(self.release.sizes[bucket] * self.register.coverage / max(crowd, 1.0), 1.0)
            out[home] += share * left[bucket] / self.ties[home]
        return out

    def find(self, one: _Class, gone: Bools) -> None:
        """The sets of a class's people whose mean its centre is, with their weights, and how many there are by chance."""
        near = one.near[~gone[one.near]]
        away = self.distances(one.bucket)[near]
        while len(near) >= one.size:
            sums = _Sums(self.numbers[near] - self.centres[one.bucket], one.size, self.mix)
            slack = one.size * self.tolerance + _NOISE * self.scale
            if sums.pairs(slack, np.zeros(len(self.step))) <= _MOST_PAIRS:
                break
            near, away = near[: int(0.8 * len(near))], away[: int(0.8 * len(near))]
        else:
            one.sets, one.weight, one.by_chance = np.empty((0, one.size), dtype=np.int64), np.empty(0), 0.0
            return
        typical = max(float(np.mean(away[: one.size])), _NOISE)
        self._kept(one, near, sums.found(slack, np.zeros(len(self.step))), away, typical)
        weights = []
        for decoy in range(_DECOYS):
            shift = np.zeros(len(self.step))
            shift[decoy // 2 % len(self.step)] = self.step[decoy // 2 % len(self.step)] * (1 - 2 * (decoy % 2))
            sets = sums.found(slack, shift)
            weights.append(float(self._weights(one, near, sets, away, typical)[1].sum()))
        one.by_chance = float(np.mean(weights)) + _NOISE

    def _kept(self, one: _Class, near: Ints, sets: Ints, away: Floats, typical: float) -> None:
        fits, weight = self._weights(one, near, sets, away, typical)
        one.sets, one.weight = near[sets[fits]], weight

    def _weights(self, one: _Class, near: Ints, sets: Ints, away: Floats, typical: float) -> tuple[Bools, Floats]:
        """Which sets could be the class by their nominal values, and the weights of these: tight ones weigh more."""
        fits = np.ones(len(sets), dtype=np.bool_)
        if self.codes is not None and self.modes is not None:
            for place in range(self.codes.shape[1]):
                codes = self.codes[near[sets], place]
                own = (codes == self.modes[one.bucket, place]).sum(axis=1)
                most = np.max([(codes == codes[:, [i]]).sum(axis=1) for i in range(one.size)], axis=0)
                fits &= own == most
        return fits, np.exp(-_TIGHT * away[sets[fits]].sum(axis=1) / typical)

    def shares(self, one: _Class) -> Floats:
        """The probability of each of the near people to be in the class, by the sets that were found."""
        total = float(one.weight.sum())
        if total <= 0:
            return np.zeros(len(one.near))
        mass = np.bincount(
            np.searchsorted(np.sort(one.near), one.sets.reshape(-1)),
            weights=np.repeat(one.weight, one.size),
            minlength=len(one.near),
        )
        by_number = mass / total * one.chance
        return np.asarray(by_number[np.argsort(np.argsort(one.near))])


class _Sums:
    """The sums of all sets of some people, in two halves: every set of `size` people is one of the first half with one of
    the second, all of whose people come after those of the first."""

    def __init__(self, apart: Floats, size: int, mix: Floats) -> None:
        self.first, self.second = _sets(len(apart), size // 2), _sets(len(apart), size - size // 2)
        self.one, self.other = apart[self.first].sum(axis=1), apart[self.second].sum(axis=1)
        self.mix = mix
        key = self.other @ mix
        self.order = np.argsort(key, kind="stable")
        self.key = key[self.order]

    def _range(self, slack: Floats, shift: Floats) -> tuple[Ints, Ints]:
        wanted, about = (shift - self.one) @ self.mix, float(slack @ np.abs(self.mix))
        begin = np.searchsorted(self.key, wanted - about)
        return begin, np.searchsorted(self.key, wanted + about, side="right") - begin

    def pairs(self, slack: Floats, shift: Floats) -> int:
        """How many pairs of halves must be looked at."""
        return int(self._range(slack, shift)[1].sum())

    def found(self, slack: Floats, shift: Floats) -> Ints:
        """The sets whose sum is `shift`, as exactly as `slack` says (sets × people)."""
        begin, count = self._range(slack, shift)
        if count.sum() > 4 * _MOST_PAIRS:
            count = np.minimum(count, 4 * _MOST_PAIRS // max(len(count), 1))
        one, other = np.repeat(np.arange(len(self.first)), count), self.order[expand(begin, count)]
        good = self.first[one, -1] < self.second[other, 0]
        one, other = one[good], other[good]
        good = (np.abs(self.one[one] + self.other[other] - shift) <= slack).all(axis=1)
        return np.concatenate([self.first[one[good]], self.second[other[good]]], axis=1)


@lru_cache(maxsize=8)
def _sets(people: int, size: int) -> Ints:
    """All sets of people, in order."""
    flat = np.fromiter((i for chosen in combinations(range(people), size) for i in chosen), dtype=np.int64)
    return flat.reshape(-1, size)


def _most(size: int, sets: int) -> int:
    """Of how many people all sets of half a class can be listed."""
    half, people = size - size // 2, size
    while people < 400 and comb(people + 1, half) <= sets:
        people += 1
    return people


def _decimals(texts: tuple[str, ...], mark: str) -> int:
    """How many decimals the numbers of a column are published with: those of the longest."""
    return max((len(text.strip().rpartition(mark)[2]) for text in texts if mark in text), default=0)
