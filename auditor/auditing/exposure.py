"""Exposure: what a set of known attributes gives an adversary, on each of two halves of the people.

A search that tries hundreds of sets finds one that looks good by chance. So people are parted in two halves: one chooses, the
other reports. The halves are drawn in the order of people's contents, and all rows of a person are in one of them.

Records and values are sought under every link model that the adversary has, for each set of attributes, with the posterior of
`auditor/posterior/subsets.py` where that applies and the ordinary one elsewhere. Everything else (membership, numbers,
learned attacks, further links) is an ordinary audit of the people of one half by an adversary who knows the set.

A figure is kept as a rate and the number of trials that it is worth, so that its interval can be taken at any confidence.
In a row of an ordinary audit it is not told how figure and control go together: they count as independent there, and the
interval of the excess is a little too wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from attacks import ATTACKS
from attacks.base import Attack
from auditor.auditing.attacking import Attacker
from auditor.auditing.scoring.people import greatest
from auditor.auditing.sides import Sides
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import (
    CONFIDENCE,
    Estimate,
    Interval,
    correlation,
    excess,
    trials_behind,
    trials_of,
    wilson,
)
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.packing import Hashes, contents
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.record import OK, Risk
from auditor.model.schema import Type
from auditor.model.seeding import stage
from auditor.posterior.beliefs import TIE, RecordBeliefs, ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import Nearest, WithoutOwn, no_distance
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from auditor.posterior.subsets import Dense, Fit, Subsets, restricted
from scenarios.adversaries import Adversary
from scenarios.options import Options

CHOOSING, REPORTING = 0, 1
"""The half that chooses sets, and the half that figures are reported of."""
MOST_ASKED = 2_000
"""The most people of each half whose membership is asked."""
_EVERYWHERE = (Link.CONTAINMENT, Link.LIKELIHOOD, Link.DISTANCE)
"""The links under which every set is tried."""
LINKING, HOMOGENEITY, PROXIMITY, MEMBERSHIP = "linking", "homogeneity", "proximity", "membership"
SUCCESS, AREA = "success", "auc"
_TOLD = ("score", "against", "width")  # the settings of a figure that a search tells
_Each = tuple[Floats, Ints]
"""A figure of each of some people, and who they are."""
MEASURES = (SUCCESS, AREA, "mean", "max", "certain")
"""The measures of which a search knows every set's figure."""


@dataclass(frozen=True, slots=True)
class Companion:
    """What a figure is held against; `trials` is None where it is no estimate."""

    name: str
    value: float
    trials: float | None = None
    together: float = 0.0
    """The correlation of the two, where they are of the same people."""

    def interval(self, confidence: float) -> Interval:
        """Where it may lie."""
        if self.trials is None:
            return Interval(self.value, self.value)
        return wilson(self.value * self.trials, self.trials, confidence)


@dataclass(frozen=True, slots=True)
class Tried:
    """One figure of one attack by somebody who knows a set of attributes."""

    columns: tuple[str, ...]
    attack: str
    link: str | None
    measure: str
    kind: Kind
    value: float
    n: int
    trials: float
    """As many rights and wrongs as vary as much."""
    beside: tuple[Companion, ...] = ()
    """Baseline and control."""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def same(self) -> tuple[object, ...]:
        """What tells it from others that were tried."""
        return self.columns, self.attack, self.link, self.measure, tuple(sorted(map(str, self.params.items())))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Where the rate may lie; an extreme or a count is what it is."""
        if self.kind is not Kind.RATE:
            return Interval(self.value, self.value)
        return wilson(self.value * self.trials, self.trials, confidence)

    def excess(self, confidence: float = CONFIDENCE) -> Estimate | None:
        """What it has over the higher of its companions; the interval begins where it would over either."""
        found: list[tuple[float, Estimate]] = []
        for other in self.beside:
            limits = self.interval(confidence), other.interval(confidence)
            beyond = excess(self.value, limits[0], other.value, limits[1], other.together)
            if beyond is None:
                return None
            found.append((other.value, beyond))
        if not found:
            return None
        over = max(found, key=lambda pair: pair[0])[1]
        return Estimate(over.value, min(one.low for _, one in found), over.high)

    def companion(self, name: str) -> Companion | None:
        """One of its companions."""
        return next((one for one in self.beside if one.name == name), None)


class Exposure:
    """One adversary, who may know any set of attributes, after one goal; `column` is the sensitive one that is sought."""

    def __init__(
        self, subject: Subject, options: Options, adversary: Adversary, goal: Goal, column: str | None = None
    ) -> None:
        """`subject` is about people (see `by_people`); the adversary knows all attributes."""
        self.subject, self.options, self.goal, self.column = subject, options, goal, column
        self.adversary, self.release = adversary, subject.release
        self.sides = Sides(subject, options).facing(adversary)
        self._sides: dict[tuple[int, tuple[Link, ...]], Sides] = {}
        self._kept: dict[tuple[str, ...], dict[int, list[Tried]]] = {}

    # ----- who is in which half --------------------------------------------------------------------------------------

    @cached_property
    def _person(self) -> Ints:
        """Whose each target is."""
        rows, person = self.sides.targets, self.subject.person
        return np.arange(len(rows)) if person is None else np.unique(person[rows], return_inverse=True)[1].reshape(-1)

    @cached_property
    def _place(self) -> Ints:
        """The place of each person in a random order, drawn in the order of their contents: the first half chooses."""
        people = self.subject.people
        assert people is not None
        content = contents(people.codes.values(), people.rows)[self.sides.targets]
        return self._drawn(content, self._person, "people")

    def _drawn(self, content: Hashes, person: Ints, what: str) -> Ints:
        order = np.argsort(content, kind="stable")
        _, first = np.unique(person[order], return_index=True)
        order = person[order][np.sort(first)]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = stage(self.options.seed, "search", what).permutation(len(order))
        return place

    @cached_property
    def _side(self) -> Ints:
        """The half of each person."""
        return _halves(self._place)

    def people(self, half: int) -> int:
        """How many people are in a half."""
        return int((self._side == half).sum())

    # ----- every set of attributes -----------------------------------------------------------------------------------

    @property
    def numeric(self) -> bool:
        """Whether a number is sought: a claim is then an interval."""
        return self.column is not None and self.release.labels[self.column].domain.column.type is Type.NUMERIC

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links under which every set is tried: those that this adversary really has."""
        found, _ = Attacker(self.adversary, self.sides, ()).links
        return tuple(link for link in found if link in _EVERYWHERE)

    def tried(self, columns: tuple[str, ...], half: int) -> list[Tried]:
        """The figures of a set of attributes on one half, by every link."""
        if not self.plain:
            attack = MEMBERSHIP if self.goal is Goal.MEMBERSHIP else PROXIMITY
            return self.audited(columns, half, (attack,), self.links)
        if columns not in self._kept:
            self._kept = {columns: self._both(columns)}  # the last one only: they are asked for one after the other
        return self._kept[columns][half]

    def _both(self, columns: tuple[str, ...]) -> dict[int, list[Tried]]:
        found: dict[int, list[Tried]] = {CHOOSING: [], REPORTING: []}
        fits = _fits(self._subsets, columns, self.links)
        outside = {} if self._outside is None else _fits(self._outside, columns, self.links)
        for link, fit in fits.items():
            made = self._records(columns, link, fit)
            if self.goal is Goal.ATTRIBUTE:
                made = self._values(columns, link, fit, outside.get(link))
            for half, one in made:
                found[half].append(one)
        return found

    @cached_property
    def _subsets(self) -> Subsets:
        sensitive = () if self.column is None else (self.column,)
        own = self.sides.records(self.sides.targets)
        return Subsets(self.release, self.sides.knowledge(), self.options.suppression, sensitive, own)

    @cached_property
    def _outside(self) -> Subsets | None:
        """People who are not in the release, where values are sought."""
        known = self.sides.outsiders() if self.column is not None else None
        if known is None or self.column is None or self.sides.outside_truth(self.column) is None:
            return None
        return Subsets(self.release, known, self.options.suppression, (self.column,))

    @cached_property
    def _codes(self) -> Ints | None:
        truth = self.sides.truth(self.column)
        return None if truth is None else truth.codes

    @cached_property
    def _outside_halves(self) -> tuple[Ints, Ints]:
        """The true values of the people who are not in the release, and their halves."""
        truth = self.sides.outside_truth(self.column)
        assert truth is not None
        assert truth.codes is not None
        assert truth.table is not None
        content, people = contents(truth.table.codes.values(), truth.table.rows), np.arange(len(truth.codes))
        return truth.codes, _halves(self._drawn(content, people, "outsiders"))

    def _records(self, columns: tuple[str, ...], link: Link, fit: Fit | _Whole) -> Iterator[tuple[int, Tried]]:
        """How often the record named is the person's own."""
        right = fit.record_probability()
        named, _ = self._per_person(fit.records().named(right))
        right, person = self._per_person(right)
        there = int(np.where(self._subsets.counted, self.release.sizes, 0).sum())
        random = Companion("baseline", 1 / max(there, 1))
        for side in (CHOOSING, REPORTING):
            mine = self._side[person] == side
            for measure, each in ((SUCCESS, named[mine]), ("mean", right[mine])):
                if len(each):
                    yield side, _rate(columns, LINKING, link, measure, each, (random,))
            if mine.any():
                most = float(right[mine].max())
                yield side, Tried(columns, LINKING, link, "max", Kind.EXTREME, most, int(mine.sum()), 0.0)

    def _values(
        self, columns: tuple[str, ...], link: Link, fit: Fit | _Whole, outside: Fit | _Whole | None
    ) -> Iterator[tuple[int, Tried]]:
        """How often the likeliest value is the true one, of people whom something fits."""
        codes = self._codes
        if self.column is None or codes is None:
            return
        values, matched = fit.values(self.column), fit.matched
        each, person = self._per_person(values.named(codes), matched)
        sure, _ = self._per_person((values.top()[values.row_of] > 1 - TIE).astype(np.float64), matched)
        prior = self.sides.priors[self.column]
        base, _ = self._per_person(Dense(prior[None, :], np.zeros(len(codes), dtype=np.int64)).named(codes), matched)
        control = self._control(self.column, codes, fit, outside)
        for side in (CHOOSING, REPORTING):
            mine = self._side[person] == side
            if not mine.any():
                continue
            me = each[mine], person[mine]
            beside = [_beside("baseline", me, (base[mine], person[mine])), *control(side, me)]
            yield side, _rate(columns, HOMOGENEITY, link, SUCCESS, each[mine], tuple(beside))
            certain = float(sure[mine].sum())
            yield side, Tried(columns, HOMOGENEITY, link, "certain", Kind.COUNT, certain, int(mine.sum()), 0.0)

    def _control(
        self, column: str, codes: Ints, fit: Fit | _Whole, outside: Fit | _Whole | None
    ) -> Callable[[int, _Each], list[Companion]]:
        """The same attack on people who are not in the release, by half: outsiders, or the own record left out."""
        if outside is not None and outside.matched.any():
            truth, half = self._outside_halves
            found, half = outside.values(column).named(truth)[outside.matched], half[outside.matched]

            def others(side: int, _: _Each) -> list[Companion]:
                some = found[half == side]
                return [Companion("outsiders", float(some.mean()), trials_of(some))] if len(some) else []

            return others
        values, matched = fit.without(column)
        left, person = self._per_person(values.named(codes), matched)

        def the_same(side: int, me: _Each) -> list[Companion]:
            here = self._side[person] == side
            return [_beside("leave_one_out", me, (left[here], person[here]))] if here.any() else []

        return the_same

    def _per_person(self, each: Floats, which: Bools | None = None) -> tuple[Floats, Ints]:
        """A figure of each target as one of each person, who is hit as hard as the worst of their rows; and who they are."""
        person = self._person
        if which is not None:
            each, person = each[which], person[which]
        if self.subject.person is None:
            return each, person
        people, number = np.unique(person, return_inverse=True)
        return greatest(each, number, len(people)), people

    # ----- by an ordinary audit --------------------------------------------------------------------------------------

    def audited(
        self, columns: tuple[str, ...], half: int, attacks: Sequence[str], links: tuple[Link, ...]
    ) -> list[Tried]:
        """The figures of an ordinary audit of one half by somebody who knows the set."""
        adversary = replace(self.adversary, knows=columns, subsets=None)
        chosen = [ATTACKS.get(name).configure(self.options.settings.get(name, {})) for name in attacks]
        attacker = Attacker(adversary, self._half_sides(half, links), chosen)
        return [_of_risk(columns, risk) for risk in self._wanted(attacker.risks(lambda _: None))]

    def _half_sides(self, half: int, links: tuple[Link, ...]) -> Sides:
        """The sides of trials on the people of one half; of membership, on some of them."""
        if (half, links) not in self._sides:
            place, middle = self._place[self._person], len(self._place) // 2
            first, last = (0, middle) if half == CHOOSING else (middle, len(self._place))
            if self.goal is Goal.MEMBERSHIP:
                last = min(last, first + MOST_ASKED)
            rows = tuple(self.sides.targets[(place >= first) & (place < last)].tolist())
            self._sides[half, links] = Sides(
                self.subject, replace(self.options, targets=rows, links=links, policy=None)
            )
        return self._sides[half, links]

    def again(self, chosen: Tried, half: int) -> list[Tried]:
        """The figures of the attack, link and set of one that was tried, on one half."""
        if chosen.attack in self._everywhere and (chosen.link is None or chosen.link in self.links):
            found = self.tried(chosen.columns, half)
        else:
            links = tuple(link for link in self.further()[chosen.attack] if chosen.link in (None, link))
            found = self.audited(chosen.columns, half, (chosen.attack,), links)
        return [one for one in found if (one.attack, one.link) == (chosen.attack, chosen.link)]

    @property
    def plain(self) -> bool:
        """Whether records or plain values are sought, for which every set's posterior is known."""
        return self.goal is not Goal.MEMBERSHIP and not self.numeric

    def _wanted(self, risks: Iterator[Risk]) -> list[Risk]:
        """The rates that say how often the goal is reached."""
        measure = AREA if self.goal is Goal.MEMBERSHIP else SUCCESS
        found = [
            risk
            for risk in risks
            if risk.status == OK and risk.value is not None and risk.low is not None and risk.high is not None
            and risk.measure == measure and risk.sensitive == self.column and risk.link != Link.CLASS
        ]  # fmt: skip
        real = [risk for risk in found if risk.params.get("against") == "outsiders"]
        return real or found

    def further(self) -> dict[str, tuple[Link, ...]]:
        """The attacks that claim the same as those that every set is tried with, and the links under which these have not
        been tried: all but a granted class."""
        asked, everywhere = self.options.attacks, self._everywhere
        names = [
            name for name, attack in ATTACKS.all().items() if attack.goal is self.goal and self._comparable(attack)
        ]
        found, _ = Attacker(self.adversary, self.sides, ()).links
        free = tuple(link for link in found if link is not Link.CLASS)
        beyond = tuple(link for link in free if link not in self.links)
        left = {name: beyond if name in everywhere else free for name in names if asked is None or name in asked}
        tried = everywhere if self.goal is Goal.MEMBERSHIP or not beyond else ()
        return {name: links for name, links in left.items() if name not in tried}

    @property
    def attacks(self) -> tuple[str, ...]:
        """All attacks of the search."""
        return (*self._everywhere, *self.further())

    @property
    def _everywhere(self) -> tuple[str, ...]:
        """The attacks that every set is tried with."""
        return (LINKING, HOMOGENEITY) if self.plain else (PROXIMITY, MEMBERSHIP)

    def _comparable(self, attack: type[Attack]) -> bool:
        """Whether a success means the same: a record named, a value named, an interval that holds the number."""
        names = {measure.name for measure in attack.measures}
        if self.goal is Goal.IDENTITY:
            return "class_found" in names
        if self.goal is Goal.MEMBERSHIP:
            return AREA in names
        return "window" in names if self.numeric else "certain" in names and "lift_max" not in names


# ----- helpers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """The ordinary posterior, or the nearest records, with the questions of a `Fit`."""

    beliefs: Posterior | Nearest
    bucket: Ints
    fragment: Ints

    @property
    def matched(self) -> Bools:
        return self.beliefs.matched

    def records(self) -> RecordBeliefs:
        return self.beliefs.records()

    def record_probability(self) -> Floats:
        return self.beliefs.record_probability(self.bucket, self.fragment)

    def values(self, column: str) -> ValueBeliefs:
        return self.beliefs.values(column)

    def without(self, column: str) -> tuple[ValueBeliefs, Bools]:
        rest: LeaveOneOut | WithoutOwn
        if isinstance(self.beliefs, Nearest):
            rest = self.beliefs.without(self.bucket, self.fragment)
        else:
            rest = LeaveOneOut(self.beliefs, self.bucket, self.fragment)
        return rest.values(column), rest.matched


def _fits(subsets: Subsets, columns: tuple[str, ...], links: Sequence[Link]) -> dict[Link, Fit | _Whole]:
    """The beliefs of who knows these columns, by link."""
    found: dict[Link, Fit | _Whole] = {}
    fast = [link for link in links if link is not Link.DISTANCE]
    if fast and subsets.can(columns):
        found.update(subsets.fit(columns, fast))
    elif fast:
        matching = Matching(subsets.release, restricted(subsets.knowledge, columns), subsets.suppression)
        found.update({link: _Whole(Posterior(matching, link), subsets.bucket, subsets.fragment) for link in fast})
    if Link.DISTANCE in links and no_distance(subsets.release, columns, subsets.targets) is None:
        known = restricted(subsets.knowledge, columns)
        nearest = Nearest(subsets.release, known, subsets.suppression)
        found[Link.DISTANCE] = _Whole(nearest, subsets.bucket, subsets.fragment)
    return {link: found[link] for link in links if link in found}


def _halves(place: Ints) -> Ints:
    return np.where(place < len(place) // 2, CHOOSING, REPORTING)


def _rate(
    columns: tuple[str, ...], attack: str, link: Link, measure: str, each: Floats, beside: tuple[Companion, ...]
) -> Tried:
    return Tried(columns, attack, link, measure, Kind.RATE, float(each.mean()), len(each), trials_of(each), beside)


def _beside(name: str, me: _Each, other: _Each) -> Companion:
    """A figure of the same people, or of some of them, as a companion."""
    (mine, my), (theirs, their) = me, other
    _, first, second = np.intersect1d(my, their, return_indices=True)
    share = len(first) / math.sqrt(len(mine) * len(theirs))
    together = correlation(mine[first], theirs[second]) * share if len(first) else 0.0
    return Companion(name, float(theirs.mean()), trials_of(theirs), together)


def _of_risk(columns: tuple[str, ...], risk: Risk) -> Tried:
    """A row of an audit as one that was tried."""
    assert risk.value is not None
    assert risk.low is not None
    assert risk.high is not None
    n = risk.n or 0
    trials = trials_behind(float(risk.value), Interval(risk.low, risk.high), n)
    fixed = risk.sensitive is None
    beside = []
    if risk.baseline is not None:
        beside.append(Companion("baseline", risk.baseline, None if fixed else float(n)))
    if risk.control is not None and not fixed:
        beside.append(Companion(risk.control_kind or "control", risk.control, float(risk.detail.get("control_n", n))))
    params = {key: value for key, value in risk.params.items() if key in _TOLD}
    return Tried(
        columns, risk.attack, risk.link, risk.measure, Kind.RATE, float(risk.value), n, trials, tuple(beside), params
    )
