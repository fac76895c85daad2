"""The search for the strongest adversary: which attributes are enough to break a release, and by which attack.

All sets of known attributes are tried where there are up to twelve; of more, the best first: the best set so far is extended
by each further attribute. Every set is tried under every link model that the adversary has (`auditor/auditing/exposure`);
on the ten best sets also every further attack for the goal, learned ones included, under every link.

**Honest by construction.** Sets, links and attacks are chosen on one half of the people; whatever is reported was measured on
the other half. The intervals of all reported figures hold at once with 95 % (Bonferroni). A set breaks the limit only if the
worse end of its interval does. That no set of a smaller number breaks it is said only if the upper ends of all of them, taken
at once over everything that was tried, are below the limit. Where nothing can be learned (permuted truth) some figure exceeds
chance in at most 5 % of searches: `tests/proofs/test_size_of_search.py`.

The limit is that of the policy's checks about the goal's attacks, judged by this adversary's own figures; without such checks
it is a threshold of the excess, what the attack has beyond control and baseline.

The budget is CPU time. Where it ends the search early, the record says what was not looked at: the figures then depend on
the machine, and the same search with more time finds more. Sets are tried in the order of their size, so that the smallest
ones are known.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb

from auditor.auditing.exposure.exposure import Exposure
from auditor.auditing.exposure.halves import CHOOSING, REPORTING
from auditor.auditing.exposure.tried import AREA, MEASURES, SUCCESS, Tried
from auditor.auditing.people import by_people
from auditor.auditing.subjects import Subject
from auditor.measure.intervals import CONFIDENCE, Estimate
from auditor.model.errors import UsageError
from auditor.model.packing import mark_of
from auditor.model.progress import Progress, silent
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.policy import Check, Policy
from auditor.model.record.record import NOT_APPLICABLE
from auditor.model.record.search import KnownNumber, SearchFacts, SetFigure
from scenarios.adversaries import PROSECUTOR, Adversary, bases
from scenarios.options import GOALS, Options, Search

ALL_SETS = 12
"""Up to so many attributes all sets are tried."""
MOST_SETS = 1 << ALL_SETS
BEST_SETS = 10
"""On so many of the best sets every further attack is tried."""
MOST_MINIMAL, MOST_STRONGEST, MINIMUM = 10, 5, 1e-3
LEAST_PEOPLE = 2
"""The fewest people that a half may have."""
_BEYOND = 1e-9
CHOSEN_AT = (CONFIDENCE, 0.9999)
"""How sure it must be on the choosing half that a set breaks the limit: sure, and very sure."""
Clock = Callable[[], float]


def search_release(
    subject: Subject,
    options: Options,
    asked: Search,
    progress: Progress | None = None,
    clock: Clock = time.process_time,
) -> tuple[SearchFacts, ...]:
    """The searches of one release: one for each adversary, goal and sensitive column."""
    if subject.release.synthetic:
        raise UsageError(
            "A search is about releases whose rows are people's, and those of a synthetic one are nobody's."
        )
    subject = by_people(subject)
    wanted = [
        (adversary, name, column)
        for adversary in bases(options.adversaries or (PROSECUTOR,))
        for name in asked.goals
        for column in (subject.release.sensitive or (None,) if GOALS[name] is Goal.ATTRIBUTE else (None,))
    ]
    found, end = [], clock() + asked.budget
    for place, one in enumerate(wanted):  # what one does not need is left for the others
        share = replace(asked, budget=max((end - clock()) / (len(wanted) - place), MINIMUM))
        found.append(_searched(subject, options, share, *one, progress or silent, clock))
    return tuple(found)


def _searched(
    subject: Subject,
    options: Options,
    asked: Search,
    adversary: Adversary,
    name: str,
    column: str | None,
    progress: Progress,
    clock: Clock,
) -> SearchFacts:
    """One search, or why there is nothing to search."""
    goal, until = GOALS[name], clock() + asked.budget
    nothing = SearchFacts(name, adversary.name, subject.release.quasi, "excess", asked.threshold, column)
    if subject.people is None or subject.provenance is None or not subject.has_original:
        return _lacking(
            nothing, "without the original nothing is known of the people: give it, matched with the release"
        )
    if goal not in adversary.aims:
        return _lacking(nothing, f"the {adversary.name} is not after this goal")
    if goal is Goal.ATTRIBUTE and column is None:
        return _lacking(nothing, "no sensitive column is published")
    exposure = Exposure(subject, options, adversary, goal, column)
    if exposure.people(CHOOSING) < LEAST_PEOPLE:
        return _lacking(nothing, f"each half must have at least {LEAST_PEOPLE} people")
    if not exposure.links and goal is not Goal.MEMBERSHIP:
        return _lacking(nothing, "no link model applies but a granted class")
    limit = _Limit.of(options.policy, exposure.attacks, asked.threshold)
    under_way = _Search(exposure, name, limit, asked.budget, lambda: clock() > until, progress)
    if options.policy is not None and limit.policy is None:
        under_way.unseen.append(f"the policy {options.policy.name}: none of its checks is about figures of this goal")
    found = under_way.facts()
    return found if found.numbers else _lacking(found, "no attack applied to any set of attributes")


def _lacking(facts: SearchFacts, why: str) -> SearchFacts:
    return replace(facts, status=NOT_APPLICABLE, reason=why)


@dataclass(frozen=True, slots=True)
class _Limit:
    """What must not be exceeded: figures of a policy's checks, or the excess."""

    checks: tuple[Check, ...]
    """The checks that count; none where the excess does."""
    threshold: float
    policy: str | None = None

    @classmethod
    def of(cls, policy: Policy | None, attacks: Sequence[str], threshold: float) -> _Limit:
        """The limit of a search with these attacks."""
        checks = () if policy is None else tuple(check for check in policy.checks if _is_about(check, attacks))
        return cls(checks, threshold, policy.name if policy is not None and checks else None)

    @property
    def figure(self) -> str:
        """What the limit is about."""
        return " or ".join(dict.fromkeys(check.figure for check in self.checks)) or "excess"

    @property
    def value(self) -> float:
        """The limit; of several the least."""
        return min((check.limit for check in self.checks), default=self.threshold)

    def beyond(self, one: Tried, confidence: float) -> list[tuple[Estimate, float]]:
        """What a figure has reached of what counts, with its interval, and the limit."""
        if self.checks:
            name = f"{one.attack}.{one.measure}"
            reached = Estimate(one.value, *one.interval(confidence))
            return [(reached, check.limit) for check in self.checks if check.figure == name]
        excess = one.excess(confidence) if one.measure in (SUCCESS, AREA) else None
        return [] if excess is None else [(excess, self.threshold)]

    def farthest(self, figures: Sequence[Tried], confidence: float) -> tuple[Tried, Estimate, float] | None:
        """The figure whose lower end is farthest beyond its limit."""
        found = [(one, *each) for one in figures for each in self.beyond(one, confidence)]
        return max(found, key=lambda each: each[1].low - each[2], default=None)

    def breaker(self, figures: Sequence[Tried], confidence: float) -> Tried | None:
        """The figure that is farthest beyond its limit for sure; None where none is."""
        found = self.farthest(figures, confidence)
        return None if found is None or found[1].low <= found[2] + _BEYOND else found[0]

    def keeps(self, figures: Sequence[Tried], confidence: float) -> bool:
        """Whether all figures are within their limits for sure."""
        reached = [each for one in figures for each in self.beyond(one, confidence)]
        return bool(reached) and all(estimate.high <= limit + _BEYOND for estimate, limit in reached)


def _is_about(check: Check, attacks: Sequence[str]) -> bool:
    attack, _, measure = check.figure.partition(".")
    return attack in attacks and check.relation == "<=" and measure in MEASURES


@dataclass(frozen=True, slots=True)
class _Known:
    """A set that was tried on the choosing half."""

    columns: tuple[str, ...]
    best: Tried
    """Its best figure."""
    score: float
    """How good that is for sure."""
    breakers: tuple[Tried | None, ...]
    """The figure by which it breaks the limit at each of the confidences `CHOSEN_AT`."""
    within: bool | None
    """Whether it is within the limit for sure, on the other half; None where that would take another audit."""


class _Search:
    """One search under way."""

    def __init__(
        self, exposure: Exposure, goal: str, limit: _Limit, budget: float, late: Callable[[], bool], progress: Progress
    ) -> None:
        self.exposure, self.goal, self.limit, self.budget = exposure, goal, limit, budget
        self.late, self.progress = late, progress
        people, release = exposure.subject.people, exposure.release
        assert people is not None
        marks = {c: mark_of(people.codes[c]) for c in release.quasi if c in people.codes}
        self.attributes = tuple(sorted(marks, key=lambda c: marks[c]))  # by content, so that names do not matter
        self.least = int(exposure.goal is Goal.MEMBERSHIP)  # of somebody unknown membership cannot be asked
        self.of = (1 << len(self.attributes)) - self.least
        self.known: dict[frozenset[str], _Known] = {}
        self.tried = 0
        self.unseen: list[str] = []

    def facts(self) -> SearchFacts:
        """What was found."""
        for columns in self._sets():
            self._try(columns)
        return self._reported(self._strongest())

    # ----- choosing --------------------------------------------------------------------------------------------------

    def _sets(self) -> Iterator[tuple[str, ...]]:
        """The sets to try, as long as there is time."""
        names = self.attributes
        every = itertools.chain.from_iterable(
            itertools.combinations(names, size) for size in range(self.least, len(names) + 1)
        )
        for columns in every if len(names) <= ALL_SETS else itertools.islice(self._best_first(), MOST_SETS):
            if self.late():
                self._unseen(f"{self.of - self.tried} of {self.of} sets of known attributes", self._ended)
                return
            self.progress(self.tried, min(self.of, MOST_SETS), f"search for {self.goal}")
            self.tried += 1
            yield columns
        if self.tried < self.of:
            self._unseen(
                f"{self.of - self.tried} of {self.of} sets of known attributes",
                f"of more than {ALL_SETS} attributes only the best sets are extended",
            )

    @property
    def _ended(self) -> str:
        return (
            f"its share of the budget, {self.budget:.3g} seconds of CPU time, ended; another machine may get farther, and "
            "with more time (--budget) more is found"
        )

    def _unseen(self, what: str, why: str) -> None:
        self.unseen.append(f"{what}: {why}")

    def _best_first(self) -> Iterator[tuple[str, ...]]:
        """All attributes, none, each alone; then the best set so far with each further one."""
        names, seen, turn = self.attributes, set[frozenset[str]](), itertools.count()
        waiting: list[tuple[float, int, tuple[str, ...]]] = []

        def grown(sets: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
            for columns in sets:
                mine = frozenset(columns)
                if mine not in seen and len(columns) >= self.least:
                    seen.add(mine)
                    yield columns
                    if mine in self.known:
                        heapq.heappush(waiting, (-self.known[mine].score, next(turn), columns))

        yield from grown([names, (), *((name,) for name in names)])
        while waiting:
            _, _, best = heapq.heappop(waiting)
            further = (name for name in names if name not in best)
            yield from grown([tuple(n for n in names if n in best or n == name) for name in further])

    def _try(self, columns: tuple[str, ...]) -> None:
        figures = self.exposure.tried(columns, CHOOSING)
        scored = [(_score(one), one) for one in figures if one.measure in (SUCCESS, AREA)]
        if scored:
            score, best = max(scored, key=lambda pair: (pair[0], pair[1].value))
            breakers = tuple(_plain(self.limit.breaker(figures, level), figures) for level in CHOSEN_AT)
            within = self._within(columns) if self.exposure.plain else None
            self.known[frozenset(columns)] = _Known(columns, best, score, breakers, within)

    def _strongest(self) -> list[Tried]:
        """The strongest attacks of all on the best sets: of each the best of its figures."""
        best = sorted(self.known.values(), key=lambda each: -each.score)[:BEST_SETS]
        found, work = [one.best for one in best], list(itertools.product(best, self.exposure.further.items()))
        for place, (one, (attack, links)) in enumerate(work):
            if self.late():
                self._unseen(f"{len(work) - place} of {len(work)} attacks on the {len(best)} best sets", self._ended)
                break
            self.progress(place, len(work), f"{attack} on the best sets")
            found += self.exposure.audited(one.columns, CHOOSING, attack, links)
        found.sort(key=lambda each: (self._uncontrolled(each), -_score(each), -each.value))
        first: dict[str, Tried] = {}
        for each in found:
            first.setdefault(each.attack, each)
        return list(first.values())[:MOST_STRONGEST]

    def _uncontrolled(self, one: Tried) -> bool:
        """Whether a value was sought and nothing says how well that goes for people who are not in the release: what has a
        control comes first."""
        return self.exposure.column is not None and all(each.name == "baseline" for each in one.beside)

    # ----- reporting -------------------------------------------------------------------------------------------------

    def _reported(self, strongest: Sequence[Tried]) -> SearchFacts:
        """The figures of what was chosen, on the other half."""
        by_number: dict[int, list[_Known]] = {}
        for one in sorted(self.known.values(), key=lambda each: (len(each.columns), -each.score)):
            by_number.setdefault(len(one.columns), []).append(one)
        steps = {n: (some[0], some[(len(some) - 1) // 2], some[-1]) for n, some in by_number.items()}
        smallest = self._minimal()
        told = {one.same for one in (*smallest, *strongest, *(one.best for three in steps.values() for one in three))}
        intervals = len(told) * (
            2 + len(self.limit.checks)
        )  # of the figure, its excess, and what the policy asks about
        confidence = 1 - (1 - CONFIDENCE) / max(intervals, 1)
        numbers = []
        for number, three in steps.items():
            best, typical, worst = (self._again(one.best, confidence) for one in three)
            if best is not None and typical is not None and worst is not None:
                tried, of = len(by_number[number]), comb(len(self.attributes), number)
                wanted = not smallest or number == len(smallest[0].columns) - 1
                none = self._none_breaks(by_number[number], wanted) if tried == of else None
                numbers.append(KnownNumber(number, tried, of, best, typical, worst, none))
        exposure, schema = self.exposure, self.exposure.release.schema
        return SearchFacts(
            self.goal, exposure.adversary.name, tuple(c for c in schema.quasi if c in self.attributes), self.limit.figure,
            self.limit.value, exposure.column, self.limit.policy, tried=self.tried, of=self.of,
            choosing=exposure.people(CHOOSING), reporting=exposure.people(REPORTING), intervals=intervals,
            confidence=CONFIDENCE, numbers=tuple(numbers), minimal=self._all_again(smallest, confidence),
            strongest=self._all_again(strongest, confidence), unseen=tuple(self.unseen),
        )  # fmt: skip

    def _minimal(self) -> list[Tried]:
        """What breaks the limit on the choosing half and no part of which does, the smallest and best first. Just beyond the
        limit a set may fail to be so on the other half: so those that are far beyond it are taken, too."""
        found: dict[frozenset[str], Tried] = {}
        for level in range(len(CHOSEN_AT)):
            mine: list[_Known] = []
            for one in sorted(self.known.values(), key=lambda each: (len(each.columns), -each.score)):
                if one.breakers[level] and not any(set(other.columns) < set(one.columns) for other in mine):
                    mine.append(one)
            if len(mine) > MOST_MINIMAL:
                self._unseen(
                    f"{len(mine) - MOST_MINIMAL} of {len(mine)} smallest sets, on the half that did not choose them",
                    f"{MOST_MINIMAL} are reported",
                )
            for one in mine[:MOST_MINIMAL]:
                breaker = one.breakers[level]
                assert breaker is not None
                found.setdefault(frozenset(one.columns), breaker)
        return sorted(found.values(), key=lambda each: (len(each.columns), -_score(each)))

    def _within(self, columns: tuple[str, ...]) -> bool:
        """Whether all figures of a set, taken at once with all that can be tried, are within the limit."""
        several = self.of * max(len(self.exposure.links), 1) * max(len(self.limit.checks), 1)
        chosen, reported = (self.exposure.tried(columns, half) for half in (CHOOSING, REPORTING))
        facts = [each for each in chosen if each.kind is not Kind.RATE]  # an extreme counts in whichever half it is
        return self.limit.keeps([*facts, *reported], 1 - (1 - CONFIDENCE) / several)

    def _none_breaks(self, sets: Sequence[_Known], wanted: bool) -> bool | None:
        """Whether all of these sets are within the limit; None where it is not known, nor `wanted` enough to find out."""
        if any(one.breakers[0] is not None for one in sets):
            return False
        for one in sets:
            if one.within is None and (not wanted or self.late()):
                return None
            if not (self._within(one.columns) if one.within is None else one.within):
                return False
        return True

    def _all_again(self, chosen: Sequence[Tried], confidence: float) -> tuple[SetFigure, ...]:
        found = (self._again(one, confidence) for one in chosen)
        return tuple(one for one in found if one is not None)

    def _again(self, chosen: Tried, confidence: float) -> SetFigure | None:
        """A chosen figure as it is on the other half."""
        figures = self.exposure.again(chosen, REPORTING)
        one = next((each for each in figures if each.same == chosen.same), None)
        if one is None:
            return None
        low, high = one.interval(confidence)
        beyond, reached = one.excess(confidence), self.limit.farthest(figures, confidence)
        baseline = one.companion("baseline")
        control = next((each for each in one.beside if each.name != "baseline"), None)
        return SetFigure(
            tuple(c for c in self.exposure.release.schema.quasi if c in one.columns),
            one.attack, one.link, one.measure, one.value, low, high, one.n, one.params,
            None if baseline is None else baseline.value,
            None if control is None else control.value,
            None if control is None else control.name,
            None if beyond is None else beyond.value,
            None if beyond is None else beyond.low,
            None if beyond is None else beyond.high,
            None if reached is None else reached[1].value,
            self.limit.breaker(figures, confidence) is not None,
        )  # fmt: skip


def _plain(breaker: Tried | None, figures: Sequence[Tried]) -> Tried | None:
    """The success of the attack and link by which a limit is broken."""
    if breaker is None:
        return None
    alike = [one for one in figures if (one.attack, one.link) == (breaker.attack, breaker.link)]
    return next((one for one in alike if one.measure in (SUCCESS, AREA) and one.params == breaker.params), breaker)


def _score(one: Tried) -> float:
    """How good a figure is for sure."""
    beyond = one.excess()
    return one.interval().low if beyond is None else beyond.low
