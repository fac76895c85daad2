"""Records and plain values by every set of known attributes, under every link model, with the posterior of
`auditor/posterior/subsets.py` where that applies and the ordinary one elsewhere: one posterior gives both halves' figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auditor.auditing.exposure.halves import CHOOSING, REPORTING, Halves
from auditor.auditing.exposure.tried import HOMOGENEITY, LINKING, SUCCESS, Companion, Each, Tried, beside, rate
from auditor.measure.intervals import trials_of
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.record.meaning import Goal, Kind
from auditor.model.release import Suppression
from auditor.posterior.beliefs import TIE, RecordBeliefs, ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.distance import Nearest, WithoutOwn, no_distance
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from auditor.posterior.subsets import Dense, Fit, Subsets, restricted


class LinkedSets:
    """What the sets of known attributes give who looks for records, or for the values of `column`."""

    def __init__(
        self, halves: Halves, goal: Goal, column: str | None, links: tuple[Link, ...], suppression: Suppression
    ) -> None:
        self.halves, self.sides, self.release = halves, halves.sides, halves.subject.release
        self.goal, self.column, self.links, self.suppression = goal, column, links, suppression

    def both(self, columns: tuple[str, ...]) -> dict[int, list[Tried]]:
        """The figures of a set of attributes on both halves, by every link."""
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
        return Subsets(self.release, self.sides.knowledge(), self.suppression, sensitive, own)

    @cached_property
    def _outside(self) -> Subsets | None:
        """People who are not in the release, where values are sought."""
        known = self.sides.outsiders() if self.column is not None else None
        if known is None or self.column is None or self.sides.outside_truth(self.column) is None:
            return None
        return Subsets(self.release, known, self.suppression, (self.column,))

    @cached_property
    def _codes(self) -> Ints | None:
        truth = self.sides.truth(self.column)
        return None if truth is None else truth.codes

    @cached_property
    def _outside_halves(self) -> tuple[Ints, Ints]:
        assert self.column is not None
        return self.halves.outsiders(self.column)

    def _records(self, columns: tuple[str, ...], link: Link, fit: Fit | Whole) -> Iterator[tuple[int, Tried]]:
        """How often the record named is the person's own."""
        right = fit.record_probability()
        named, _ = self.halves.per_person(fit.records().named(right))
        right, person = self.halves.per_person(right)
        there = int(np.where(self._subsets.counted, self.release.sizes, 0).sum())
        random = Companion("baseline", 1 / max(there, 1))
        for side in (CHOOSING, REPORTING):
            mine = self.halves.of_person[person] == side
            for measure, each in ((SUCCESS, named[mine]), ("mean", right[mine])):
                if len(each):
                    yield side, rate(columns, LINKING, link, measure, each, (random,))
            if mine.any():
                most = float(right[mine].max())
                yield side, Tried(columns, LINKING, link, "max", Kind.EXTREME, most, int(mine.sum()), 0.0)

    def _values(
        self, columns: tuple[str, ...], link: Link, fit: Fit | Whole, outside: Fit | Whole | None
    ) -> Iterator[tuple[int, Tried]]:
        """How often the likeliest value is the true one, of people whom something fits."""
        codes = self._codes
        if self.column is None or codes is None:
            return
        values, matched = fit.values(self.column), fit.matched
        each, person = self.halves.per_person(values.named(codes), matched)
        sure, _ = self.halves.per_person((values.top()[values.row_of] > 1 - TIE).astype(np.float64), matched)
        prior = self.sides.priors[self.column]
        base, _ = self.halves.per_person(
            Dense(prior[None, :], np.zeros(len(codes), dtype=np.int64)).named(codes), matched
        )
        control = self._control(self.column, codes, fit, outside)
        for side in (CHOOSING, REPORTING):
            mine = self.halves.of_person[person] == side
            if not mine.any():
                continue
            me = each[mine], person[mine]
            companions = [beside("baseline", me, (base[mine], person[mine])), *control(side, me)]
            yield side, rate(columns, HOMOGENEITY, link, SUCCESS, each[mine], tuple(companions))
            certain = float(sure[mine].sum())
            yield side, Tried(columns, HOMOGENEITY, link, "certain", Kind.COUNT, certain, int(mine.sum()), 0.0)

    def _control(
        self, column: str, codes: Ints, fit: Fit | Whole, outside: Fit | Whole | None
    ) -> Callable[[int, Each], list[Companion]]:
        """The same attack on people who are not in the release, by half: outsiders, or the own record left out."""
        if outside is not None and outside.matched.any():
            truth, half = self._outside_halves
            found, half = outside.values(column).named(truth)[outside.matched], half[outside.matched]

            def others(side: int, _: Each) -> list[Companion]:
                some = found[half == side]
                return [Companion("outsiders", float(some.mean()), trials_of(some))] if len(some) else []

            return others
        values, matched = fit.without(column)
        left, person = self.halves.per_person(values.named(codes), matched)

        def the_same(side: int, me: Each) -> list[Companion]:
            here = self.halves.of_person[person] == side
            return [beside("leave_one_out", me, (left[here], person[here]))] if here.any() else []

        return the_same


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
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


def _fits(subsets: Subsets, columns: tuple[str, ...], links: Sequence[Link]) -> dict[Link, Fit | Whole]:
    """The beliefs of who knows these columns, by link."""
    found: dict[Link, Fit | Whole] = {}
    fast = [link for link in links if link is not Link.DISTANCE]
    if fast and subsets.can(columns):
        found.update(subsets.fit(columns, fast))
    elif fast:
        matching = Matching(subsets.release, restricted(subsets.knowledge, columns), subsets.suppression)
        found.update({link: Whole(Posterior(matching, link), subsets.bucket, subsets.fragment) for link in fast})
    if Link.DISTANCE in links and no_distance(subsets.release, columns, subsets.targets) is None:
        known = restricted(subsets.knowledge, columns)
        nearest = Nearest(subsets.release, known, subsets.suppression)
        found[Link.DISTANCE] = Whole(nearest, subsets.bucket, subsets.fragment)
    return {link: found[link] for link in links if link in found}
