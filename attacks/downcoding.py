"""Downcoding: finer records than the release, from its labels being no coarser than they must.

A method that publishes the narrowest label for each class gives away more than the label says: somebody in the class
"[20, 30]" is exactly 20 and somebody exactly 30; every value of "{a, b}" is somebody's; below a group of a taxonomy with two
children people lie under both. So some records can be published finer than they were, for certain, and what is left of the
class is small: "20 years, female, in North" is likely to be one person only. The claims are such predicates, made of the
labels of a class with one of them narrowed to a part in which somebody must be, and `finer` is the share of records that get
finer for certain: in each class as many as the column with the most such parts has.

Paper: A. Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022 (minimal, hierarchical k-anonymity allows
downcoding; downcoded records single people out).
Decided here: minimality is that of labels, as the method is known to publish them; that classes could have been smaller is
not used. How likely a predicate is to isolate somebody follows from people spread over a label by their shares at large,
given that somebody is in every part (in two children at least, where a group has more), and from nobody of another class
meeting it. A predicate is claimed where that is at least half of the best one's, up to `predicates` of them. The baseline
are predicates guessed without a release, as in `singling-out`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims, PredicateClaims, SeveralClaims
from attacks.shared.measures import fact_measure
from attacks.shared.narrowest import METHODS, Parts, parts
from attacks.singling_out import CANDIDATES, Predicate, Shares, SinglingOut
from auditor.measure.isolation import nobody
from auditor.model.arrays import Floats, Ints
from auditor.model.record.meaning import Criterion, Goal, Measure
from auditor.posterior.population import IndependentPopulation
from auditor.posterior.predicates import ReleasedPeople

_CLAIMED = 0.5
_LARGEST = 120
"""In larger classes the number of people in a part says nothing sharp; they are not narrowed."""


@dataclass(frozen=True)
class Downcoding(WholeAttack):
    """Claims up to `predicates` records finer than the published ones, each of which one person is to have."""

    name = "downcoding"
    title = "refining labels"
    summary = "Publishes finer records than the release does, since its labels are the narrowest."
    paper = "Cohen 2022"
    goal = Goal.IDENTITY
    claim = "Exactly one person in the data has these values, finer than they were published."
    needs = (
        "The method, which is known to publish the narrowest labels, and a release of one block with labels of several "
        "values; to be scored, the original data."
    )
    success = "Exactly one person of the original data has the finer values."
    lowered_by = (
        "Labels from fixed bands or levels, the same for all classes, instead of the narrowest ones; larger classes."
    )
    criterion = Criterion.LINKABILITY
    measures = (
        Measure(
            "success",
            "Share of the finer descriptions that fit exactly one person in the data.",
            "knowing that labels are the narrowest possible, {who} describes people more finely than the release does, and "
            "{rate} of {n} descriptions{interval} fit exactly one person in the data",
            label="people described exactly",
        ),
        fact_measure(
            "finer",
            "Share of records that can be made finer than they were published, for certain.",
            "{rate} of {n} records can be made finer than they were published, for certain",
            label="records made finer",
        ),
        fact_measure(
            "exact",
            "Share of records that can be given an exact value in some column, for certain.",
            "{rate} of {n} records can be given an exact value in some column, for certain",
            label="records made exact",
        ),
    )
    support = ("finer", "exact")
    caption = "Downcoding: a finer description fits one person"
    least = (("predicates", 1),)

    predicates: int = 500

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        why = _unfit(view)
        if why is not None:
            return NotApplicable(why, None if view.knowledge.mechanism else Lacks.MECHANISM)
        if view.blind:
            return self._guessed(view, rng)
        classes = _Classes(view)
        order = np.lexsort((rng.permutation(len(classes.own)), -classes.own.round(9)))
        some = [int(i) for i in order[: self.predicates * CANDIDATES]]
        made = [classes.predicate(i) for i in some]
        belief = np.array([classes.belief(i, p) for i, p in zip(some, made, strict=True)])
        good = likeliest(belief, self.predicates, rng)
        chosen = tuple(made[i] for i in good)
        weight = np.array([classes.people.weight(p) for p in chosen])
        claims = PredicateClaims(chosen, weight, belief[good], {"population": classes.population})
        return SeveralClaims((claims, FactClaims(classes.facts())))

    def _guessed(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        guesses = SinglingOut(self.predicates, weight=1.0).run(view, rng)
        if isinstance(guesses, NotApplicable):
            return guesses
        assert isinstance(guesses, SeveralClaims)
        none = (Fact("finer", None, view.release.rows), Fact("exact", None, view.release.rows))
        return SeveralClaims((guesses.parts[0], FactClaims(none)))


def likeliest(belief: Floats, most: int, rng: np.random.Generator) -> Ints:
    """The places of the predicates to claim: all that are at least half as likely as the best, up to the number allowed,
    among equally likely ones at random."""
    good = np.flatnonzero(belief >= _CLAIMED * belief.max(initial=0.0))
    if len(good) > most:
        good = np.sort(good[np.lexsort((rng.permutation(len(good)), -belief[good].round(9)))[:most]])
    return good


def shares_at_large(view: View) -> tuple[Shares, str]:
    """The share of each value among people at large, and where it is from: the population, and for the rest the release
    itself. The shares of sensitive values that the audit grants are the data's own, and would say which values one person
    has."""
    release, register = view.release, view.knowledge.register
    rest = IndependentPopulation.from_release(release)
    shares = {}
    for column in release.quasi:
        size = release.labels[column].domain.size
        if register is not None and column in register.codes:
            shares[column] = np.bincount(register.codes[column], minlength=size) / register.people
        else:
            shares[column] = rest.shares[column]
    return shares, rest.name if register is None else "register"


def _unfit(view: View) -> str | None:
    """Why the attack does not apply."""
    release, mechanism = view.release, view.knowledge.mechanism
    if mechanism is None:
        return "how the release was made is not known, so its labels need not be the narrowest ones."
    if mechanism.name not in METHODS:
        return f"{mechanism.name} is not known to publish the narrowest labels."
    if len(release.blocks) > 1:
        return "the release has several blocks: its classes have no labels of their own."
    if not release.quasi or release.exact:
        return "every label is one value: nothing could be finer."
    if not view.knowledge.columns:
        return "without the original nobody can be singled out in it."
    return None


class _Classes:
    """The classes of a release with what their labels give away. Listed are the parts that may be somebody's: `where` are
    the class, column and part of each, `own` the probability that one person of the class is in it."""

    def __init__(self, view: View) -> None:
        self.release = release = view.release
        block, self.quasi = release.blocks[0], release.quasi
        first = np.zeros(len(release.sizes), dtype=np.int64)
        first[block.bucket] = np.arange(len(block.bucket))
        self.labels = np.column_stack([block.cell(c)[first] for c in self.quasi])
        order = np.lexsort(self.labels.T[::-1])
        self.order = order[~release.suppressed[order]]
        self.shares, self.population = shares_at_large(view)
        self.people = ReleasedPeople(release, self.quasi, self.shares)
        self._parts = self._of_labels()
        where, own = [], []
        for bucket in self.order.tolist():
            size = int(release.sizes[bucket])
            for place, column in enumerate(self.quasi):
                found = self._parts.get((column, int(self.labels[bucket, place])))
                if found is not None and 1 < size <= _LARGEST:
                    chance = exactly_one_in(found, self._within(column, bucket, place, found), size)
                    where += [(bucket, place, part) for part in range(found.count)]
                    own += chance.tolist()
        self.where, self.own = where, np.array(own)

    def _of_labels(self) -> Mapping[tuple[str, int], Parts]:
        """The parts of the labels that have any."""
        found = {}
        for place, column in enumerate(self.quasi):
            for label in np.unique(self.labels[self.order, place]).tolist():
                made = parts(self.release.labels[column], label)
                if made is not None:
                    found[column, label] = made
        return found

    def _within(self, column: str, bucket: int, place: int, found: Parts) -> Floats:
        """The share of each part among people of a label, and last that of the rest."""
        codes = self.people.sets[column].codes(int(self.labels[bucket, place]))
        share = self.people.sets[column].shares[codes]
        part = np.where(found.of_code[codes] < 0, found.count, found.of_code[codes])
        mass = np.bincount(part, weights=share, minlength=found.count + 1)
        return np.asarray(mass / mass.sum(), dtype=np.float64)

    def predicate(self, number: int) -> Predicate:
        """The labels of a class, one of them narrowed to a part."""
        bucket, narrowed, part = self.where[number]
        made = {}
        for place, column in enumerate(self.quasi):
            labels, label = self.release.labels[column], int(self.labels[bucket, place])
            allowed = np.zeros(labels.domain.size, dtype=np.bool_)
            allowed[labels.codes(label)] = True
            if place == narrowed:
                allowed = self._parts[column, label].of_code == part
            made[column] = allowed
        return made

    def belief(self, number: int, predicate: Predicate) -> float:
        """The probability that a predicate isolates somebody: one of its class, and nobody of another."""
        found = None
        for column in sorted(predicate, key=lambda c: (float(predicate[c].mean()), c)):
            found = self.people.meeting(column, predicate[column], found)
        assert found is not None
        return float(self.own[number]) * nobody(*self.people.chances(found, but=self.where[number][0]))

    def facts(self) -> tuple[Fact, ...]:
        """The share of records that get finer for certain, and of those that get exact in a column for certain."""
        release = self.release
        finer, exact = np.zeros(len(release.sizes)), np.zeros(len(release.sizes))
        by_column = dict.fromkeys(self.quasi, 0)
        for bucket in self.order.tolist():
            for place, column in enumerate(self.quasi):
                found = self._parts.get((column, int(self.labels[bucket, place])))
                if found is not None and found.certain:
                    values = np.bincount(found.of_code[found.of_code >= 0])
                    finer[bucket] = max(finer[bucket], found.count)
                    exact[bucket] = max(exact[bucket], float((values == 1).sum()))
                    by_column[column] += found.count
        people = int(release.sizes[self.order].sum())
        of = release.blocks[0].bucket
        made = []
        for measure, number in (("finer", finer), ("exact", exact)):
            detail: dict[str, Any] = {"records": int(number.sum()), "classes": int((number > 0).sum())}
            share = number / np.maximum(release.sizes, 1)
            detail |= {"by_column": by_column} if measure == "finer" else {}
            value = float(number.sum() / people) if people else None
            made.append(Fact(measure, value, people, detail=detail, each=share[of], block=0))
        return tuple(made)


def exactly_one_in(found: Parts, share: Floats, people: int) -> Floats:
    """For each part of a label the probability that exactly one of so many people is in it, given that enough parts have
    somebody; `share` is the share of each part among people of the label, and last that of the rest.

    Where every part must have somebody: with e(z) = Σ q^i z^i/i! for what may be empty and e(z) - 1 for what may not, n!
    times the coefficient of z^n in the product is the probability of all parts being occupied; with q z in place of one
    part's factor that of this part having one person as well. Where two of the parts must: one person in part j of n > 1
    leaves somebody for another, so n q_j (1-q_j)^(n-1) is divided by the probability that not all are in one.
    """
    q = share[: found.count]
    if not found.certain:
        return np.asarray(people * q * (1 - q) ** (people - 1) / max(1 - (q**people).sum(), 1e-12))
    if people < found.count:
        return np.zeros(found.count)  # classes of equal labels aside, there would be too few people
    steps = np.arange(1, people + 1)
    terms = np.concatenate([[1.0], np.cumprod(np.ones(people) / steps)])

    def series(mass: float, least: int) -> Floats:
        made: Floats = terms * mass ** np.arange(people + 1)
        made[:least] = 0.0
        return made

    every = [series(float(mass), 1) for mass in q]
    before, after = [series(float(share[-1]), 0)], [series(0.0, 0)]
    for one in every:
        before.append(np.convolve(before[-1], one)[: people + 1])
    for one in every[::-1]:
        after.append(np.convolve(after[-1], one)[: people + 1])
    total = before[-1][people]
    single = [
        mass * np.convolve(before[j], after[found.count - 1 - j])[people - 1] for j, mass in enumerate(q.tolist())
    ]
    return np.asarray(single) / total if total > 0 else np.zeros(found.count)
