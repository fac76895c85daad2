"""Degrade: this person's number is the one that its grade stands for.

A graded number is published as category + membership degree (`1.366`). Order is kept, and within a category everything lies
on one line, so a category is decoded by finding its line, in one of three ways:

- `points`: two people of the category whose numbers are known (acquaintances) give the line;
- `gaps`: numbers are whole (or have so many decimals), so degrees are fractions of the category's width in steps, and only
  some widths fit those that are published; where the category begins follows from one known person, or from the population;
- `quantiles`: as many people of the population lie below a number as below its grade.

By default each category is decoded in the first of these ways that it allows. Without a sample of the population the prior
stands for it.

Degrees may be cut off or rounded after a few digits (the paper prints three). Then several lines fit. Each line that fits,
for all categories together and in order, is weighed by how likely so many people of each grade are (the population's counts
as a Dirichlet prior, smoothed as far as that foretells the sample itself), and a grade stands for each number with the
weight of the lines that say so. Where a category is too wide for its digits, so that no line can be told from its
neighbours, it is decoded by quantiles: a number counts by its share of the population and by how likely, given the error of
both samples, its people stand at the grade's place. Where as many people of the population lie below every grade, to the
person, they are those of the release, and their ranks say all.

Paper: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009,
which claims that graded numbers cannot be guessed.
Decided here: how many decimals the column's numbers have is taken to be known, and decoded numbers are rounded to them. One
that is then no value of the column is a wrong claim, not moved to the nearest value. A category that cannot be decoded
leaves the prior. Where lines remain in doubt, claims are right as often as they say over many releases; in one release the
people of a category are right or wrong together, and nothing is expected of it. A line through known people alone is
claimed as if they could not be wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np
from scipy import sparse, special

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims, SeveralClaims, ValueClaims
from attacks.shared.measures import CONFIDENCE, fact_measure, value_measures
from auditor.model.arrays import Floats, Ints
from auditor.model.domain import Domain
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.record.meaning import Goal
from auditor.model.release import Release
from auditor.posterior.beliefs import TIE, meaning
from auditor.posterior.published import decoded_beliefs, label_beliefs

_HIGHEST_DIGITS = 3
"""The greatest number of a category, which lies on the line at 1, is published as 0.999, or with fewer nines."""
_ALL_DIGITS = 10
"""Degrees with fewer digits are taken to be cut off or rounded."""
_SURE = 0.05
"""A width is believed only where rounding of the published degrees would hit whole numbers by chance this rarely."""
_REACH = 50
"""How many steps a category is tried at least up and down from where the population suggests it."""
_WIDTHS = 40
"""How many widths of a category are tried at most, those nearest to what the population suggests."""
_MOST_TRIED = 5_000_000
"""How many grades are placed at most in the lines of one category; where there are more lines, none is tried."""
_TELLING = 3
"""A category is too wide for its digits where it has more steps than one in so many of the degrees that there can be."""
_MOST_STEPS = 1_000_000
"""In a range of more steps people at large are not smoothed, and no widths are tried."""
_MOST_UNITS = 2**52
"""In a range of more units no line is tried: numbers do not have so many digits."""
_MOST_RANKED = 20_000
"""In a range of more steps people at large are not smoothed before their ranks are compared."""
_NEIGHBOURS = (1, 3, 10, 30, 100)
"""How many steps away numbers may be to be neighbours."""
_MIXED = np.array([0.03, 0.3, 3.0, 30.0, 300.0])
"""How much neighbours may count, as multiples of the sample."""
_DOUBT = 0.01
"""Up to this share of people may be in doubt where it is said what is expected of one release."""
_BY_CHANCE = 1e-6
"""What is rarer than this is no chance."""
_UNLIKELY = 1e-9
"""Lines and numbers that are less likely than this are left out."""
_MOST_DECIMALS = 6


class Method(StrEnum):
    """How a category's line is found."""

    POINTS = "points"
    GAPS = "gaps"
    QUANTILES = "quantiles"


@dataclass(frozen=True)
class Degrade(WholeAttack):
    """Finds the numbers that grades stand for; `method` restricts it to one way, `tau` is the probability that counts as
    known."""

    name = "degrade"
    title = "undoing grades"
    summary = "Turns graded numbers back into numbers, from known people or from the population."
    paper = "Poovammal & Ponnaivaikko 2009 (their claim, refuted)"
    goal = Goal.ATTRIBUTE
    beyond_class = "how numbers were graded"
    below_one = ("tau",)
    claim = "This person's number is exactly the one that its grade stands for."
    needs = (
        "A sensitive column of graded numbers, some quasi-identifiers of the person, and either acquaintances in the "
        "release, a sample of the population, or its distribution."
    )
    success = "The likeliest number, grades decoded, is exactly the true one; among m tied ones it counts 1/m."
    lowered_by = "Publishing ranks or classes instead of places on a line; not publishing exact quasi-identifiers."
    measures = (
        *value_measures("decoding the graded numbers, {who} names the exact {column} for {share}"),
        fact_measure(
            "decoded",
            "How many categories of graded numbers are decoded.",
            "{value} of {n} categories of the graded {column} are decoded",
            label="categories decoded",
            none="none of {n} categories of the graded {column} is decoded",
        ),
    )
    support = ("certain", "above", "decoded")
    axis = CONFIDENCE
    calibrated = True
    decodes = True

    method: Method | None = None
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        column, release, knowledge = view.column, view.release, view.knowledge
        labels = release.labels[column]
        if labels.domain.numbers is None:
            return NotApplicable(f"{column} is not numeric, and only numbers are graded.")
        grades = Grades.of(labels, release.label_counts(column))
        if not len(grades.label):
            return NotApplicable(f"no number of {column} is published as category and degree.")
        known = known_points(release, knowledge, column, grades)
        people = people_at_large(knowledge, column, labels.domain, release.rows)
        if self.method is Method.POINTS and not len(known.category):
            return NotApplicable(f"there is no acquaintance whose record and {column} are known.", Lacks.FACTS)
        if self.method is not Method.POINTS and not len(known.category) and people is None:
            why = f"neither acquaintances nor the population's distribution of {column} are known."
            return NotApplicable(why, Lacks.FACTS)
        decimals = _decimals(labels.domain)
        if view.blind:
            return self._claims(ValueClaims(view.beliefs.values(column), self.tau), grades, None)
        found = decode(grades, known, people, decimals, self.method)
        otherwise = meaning(release, column, knowledge.priors.get(column))
        decoded = _decoded(labels, grades, found, otherwise)
        values = decoded_beliefs(release, knowledge, column, decoded)
        claims = ValueClaims(values, self.tau, together=found.doubtful(grades))
        return self._claims(claims, grades, found.ways)

    def _claims(self, values: ValueClaims, grades: Grades, ways: dict[int, Method] | None) -> SeveralClaims:
        detail = {} if ways is None else {"by": dict(sorted(Counter(map(str, ways.values())).items()))}
        params = {"method": "best" if self.method is None else str(self.method)}
        solved = None if ways is None else float(len(ways))
        fact = Fact("decoded", solved, len(np.unique(grades.category)), params, detail)
        return SeveralClaims((values, FactClaims((fact,))))


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """The graded numbers that occur, in ascending order: label number, category, degree (1 for the greatest of a category)
    and count. `digits` is how many digits degrees have, `noise` how far they may be off, being rounded."""

    label: Ints
    category: Ints
    degree: Floats
    count: Floats
    digits: int
    noise: float

    @classmethod
    def of(cls, labels: Labels, counts: Ints) -> Grades:
        label = np.flatnonzero(labels.is_alias & (counts > 0) & ~np.isnan(labels.low))
        label = label[np.argsort(labels.low[label], kind="stable")]
        number = labels.low[label]
        category = np.floor(number + 1e-9).astype(np.int64)
        degree = np.clip(number - category, 0.0, 1.0)
        mark = labels.domain.format.decimal
        digits = max((len(labels.texts[i].partition(mark)[2]) for i in label.tolist()), default=0)
        noise = max(0.5 * 10.0**-digits, 4 * float(np.finfo(np.float64).eps) * float(np.abs(number).max(initial=1.0)))
        top = 1 - 10.0 ** -min(digits, _HIGHEST_DIGITS)
        degree = np.where((degree >= top - 1e-9) & (digits > 0), 1.0, degree)
        return cls(label, category, degree, counts[label].astype(np.float64), digits, noise)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """People whose number and published grade are both known: category, degree, number."""

    category: Ints
    degree: Floats
    number: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The numbers of people at large, ascending, and how many people have each."""

    number: Floats
    people: Floats

    def exactly(self, grades: Grades) -> bool:
        """Whether they are the very people of the release: as many, and as many of them below every grade, which would rarely
        be so by chance."""
        places = np.round(np.cumsum(self.people))
        below = np.cumsum(grades.count)[:-1]
        same = abs(float(self.people.sum()) - float(grades.count.sum())) < 1e-6 and bool(np.isin(below, places).all())
        return same and len(below) * np.log(len(places) / max(places[-1], 1.0)) < np.log(_BY_CHANCE)

    @property
    def seen(self) -> float:
        """The chance that somebody else has a number that is in the sample (Good and Turing)."""
        return 1 - float(self.people[self.people < 1.5].sum() / self.people.sum())

    def step(self, unit: float) -> float:
        """The greatest step, a multiple of `unit`, between numbers of people at large."""
        steps = np.round(np.diff(self.number) / unit)
        whole = len(steps) and steps.min() >= 1 and steps.max() < 2**53
        return float(np.gcd.reduce(steps.astype(np.int64))) * unit if whole else unit

    def smoothed(self, step: float) -> Expected:
        """How many people to expect: those of the sample, and a number of others spread as their neighbours are. How far
        neighbours reach, and how much they count, is what foretells each person of the sample best from the others."""
        size, first = float(self.people.sum()), float(self.number[0])
        if (self.number[-1] - first) / step >= _MOST_STEPS:
            return Expected(self.number, self.people + 0.5, size, step)
        place = np.round((self.number - first) / step).astype(np.int64)
        seen = np.bincount(place + _REACH, weights=self.people, minlength=int(place[-1]) + 1 + 2 * _REACH)
        running = np.concatenate([[0.0], np.cumsum(seen)])
        ends, even, best = np.arange(len(seen)), np.full(len(seen), 1 / len(seen)), (-np.inf, seen + 0.5)
        for reach in (*_NEIGHBOURS, len(seen)):
            low, high = np.maximum(ends - reach, 0), np.minimum(ends + reach + 1, len(seen))
            around = running[high] - running[low]
            others = 0.99 * (around - seen) / np.maximum(high - low - 1, 1) / size + 0.01 * even
            base = around / (high - low)
            base = 0.99 * base / base.sum() + 0.01 * even
            for mixed in size * _MIXED:
                left = np.maximum(seen[place + _REACH] - 1, 0.0) + mixed * others[place + _REACH]
                foretold = float(self.people @ np.log(left / (max(size - 1, 0.0) + mixed)))
                if foretold > best[0] + 1e-9:
                    best = foretold, seen + mixed * base
        grid = np.asarray(first + (ends - _REACH) * step, dtype=np.float64)
        return Expected(grid, np.asarray(best[1], dtype=np.float64), size, step)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """How many people to expect of each number, `weight`, from a sample of `size`: a Dirichlet prior of their shares. The
    size is infinite where they are not a sample, but the people of the release."""

    number: Floats
    weight: Floats
    size: float
    step: float

    def told_by(self, people: float) -> float:
        """What share of the evidence of so many people counts. The weights are those of more people than the sample has, as
        if the neighbours that were mixed in were known and not estimated from it. Two samples of n and N people tell as much
        of each other as n·N/(n + N) do of somebody known."""
        apparent = float(self.weight.sum())
        return min(self.size * (people + apparent) / ((people + self.size) * apparent), 1.0)

    def having(self, number: Floats) -> Floats:
        """The weight of some numbers; that of the least likely for one beyond all that are expected."""
        near = 1e-3 * self.step
        place = np.minimum(np.searchsorted(self.number, number - near), len(self.number) - 1)
        return np.where(np.abs(self.number[place] - number) <= near, self.weight[place], self.weight.min() / 2)


def known_points(release: Release, knowledge: Knowledge, column: str, grades: Grades) -> Points:
    """The acquaintances whose record shows one graded number for sure."""
    others = knowledge.acquaintances
    numbers = release.labels[column].domain.numbers
    assert numbers is not None
    if others is None or column not in others.values or not others.people:
        none = np.empty(0)
        return Points(none.astype(np.int64), none, none)
    beliefs = label_beliefs(release, Knowledge(others.columns, others.codes), column)
    place = np.full(len(release.labels[column].texts), -1)
    place[grades.label] = np.arange(len(grades.label))
    sure = (beliefs.top() > 1 - TIE)[beliefs.row_of]
    likeliest = np.asarray(beliefs.rows.argmax(axis=1)).reshape(-1)[beliefs.row_of]
    value = others.values[column].astype(np.int64)
    good = np.flatnonzero(sure & (place[likeliest] >= 0) & (value >= 0) & (value < len(numbers)))
    which = place[likeliest[good]]
    return Points(grades.category[which], grades.degree[which], numbers[value[good]])


def people_at_large(knowledge: Knowledge, column: str, domain: Domain, released: int) -> Population | None:
    """The auxiliary sample's numbers, else the prior's; None where neither is known."""
    assert domain.numbers is not None
    size = len(domain.numbers)
    sample = None if knowledge.auxiliary is None else knowledge.auxiliary.codes.get(column)
    if sample is not None:
        weight = np.bincount(sample[(sample >= 0) & (sample < size)], minlength=size).astype(np.float64)
    else:
        weight = released * np.asarray(knowledge.priors.get(column, np.zeros(size)))[:size]
    there = weight > 0
    return Population(domain.numbers[there], weight[there]) if there.any() else None


def _decimals(domain: Domain) -> int:
    """How many decimals the numbers of a column have."""
    assert domain.numbers is not None
    for digits in range(_MOST_DECIMALS):
        if np.array_equal(np.round(domain.numbers, digits), domain.numbers):
            return digits
    return _MOST_DECIMALS


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """What grades stand for: `grade` (its place among the grades) has `number` with probability `chance`; `ways` says how
    each category was decoded."""

    grade: Ints
    number: Floats
    chance: Floats
    ways: dict[int, Method]
    exact: bool = False
    """Whether the people at large are those of the release: then only which of several numbers a grade has is left open."""

    def doubtful(self, grades: Grades) -> bool:
        """Whether it is uncertain which lines are right: then all people of a category are right or wrong together."""
        if self.exact or not len(self.grade):
            return False
        pairs, place = np.unique(np.stack([self.grade, self.number]), axis=1, return_inverse=True)
        chance = np.bincount(place.ravel(), weights=self.chance)
        best = np.zeros(len(grades.count))
        np.maximum.at(best, pairs[0].astype(np.int64), chance)
        told = np.isin(np.arange(len(best)), self.grade)
        return float(grades.count[told] @ (1 - best[told])) > _DOUBT * float(grades.count[told].sum())


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines that fit a category: each has a `low`, a `high`, a number for each grade of the category (lines × grades) and the
    log likelihood of as many people of each grade."""

    category: int
    low: Floats
    high: Floats
    number: Floats
    likelihood: Floats


def decode(grades: Grades, known: Points, people: Population | None, decimals: int, method: Method | None) -> Decoded:
    """What each grade stands for; one that cannot be told is left out."""
    unit = 10.0**-decimals
    ways: dict[int, Method] = {}
    parts: list[tuple[Ints, Floats, Floats]] = []
    exact = people is not None and people.exactly(grades)
    by_lines = method is Method.GAPS or (method is None and not exact)
    lines = _fitting(grades, known, people, unit) if by_lines else []
    for found, weight in zip(lines, _in_order(lines), strict=True):
        two = len(np.unique(known.degree[known.category == found.category])) > 1
        ways[found.category] = Method.POINTS if two and method is None else Method.GAPS
        here = np.flatnonzero(grades.category == found.category)
        likely = weight > _UNLIKELY
        chance = np.repeat(weight[likely] / weight[likely].sum(), len(here))
        parts.append((np.tile(here, int(likely.sum())), found.number[likely].ravel(), chance))
    if method is Method.POINTS or (method is None and not exact):
        for category, (low, width) in _through_points(known).items():
            if category not in ways:
                ways[category] = Method.POINTS
                here = np.flatnonzero(grades.category == category)
                parts.append((here, low + grades.degree[here] * width, np.ones(len(here))))
    if people is not None and method in (None, Method.QUANTILES):
        step = people.step(unit)
        at_large = Expected(people.number, people.people, np.inf if exact else float(people.people.sum()), step)
        if not exact and np.ptp(people.number) <= _MOST_RANKED * step:
            at_large = people.smoothed(step)
        place, number, chance = _by_quantiles(grades, at_large)
        if not exact and at_large.number is people.number:
            chance = chance * people.seen
        left = ~np.isin(grades.category[place], list(ways))
        ways.update(dict.fromkeys(grades.category[place[left]].tolist(), Method.QUANTILES))
        parts.append((place[left], number[left], chance[left]))
    if not parts:
        return Decoded(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0), ways)
    place, number, chance = (np.concatenate(some) for some in zip(*parts, strict=True))
    return Decoded(place, np.round(number, decimals), chance, ways, exact and method is not Method.GAPS)


def _by_quantiles(grades: Grades, people: Expected) -> tuple[Ints, Floats, Floats]:
    """Grades and the numbers that they may stand for, each with its chance: the share of the number among people at large,
    times the chance that the middle of its people lies at the place of the grade's."""
    released, share = float(grades.count.sum()), people.weight / people.weight.sum()
    last = np.cumsum(grades.count) / released
    first = last - grades.count / released
    middle = np.cumsum(share) - share / 2
    error = 1 / released + 1 / people.size if np.isfinite(people.size) else 0.0
    off = np.sqrt(middle * (1 - middle) * error) + 1e-9
    reach = 4 * float(off.max())
    parts = []
    for place in range(len(last)):
        near = np.arange(*np.searchsorted(middle, [first[place] - reach, last[place] + reach]))
        if not len(near):
            near = np.array([min(int(np.searchsorted(middle, last[place])), len(middle) - 1)])
        at = middle[near]
        inside = special.ndtr((last[place] - at) / off[near]) - special.ndtr((first[place] - at) / off[near])
        weight = people.weight[near] * np.maximum(inside, 1e-300)
        chance = weight / weight.sum()
        kept = chance > 1e-3 * chance.max()
        parts.append((np.full(int(kept.sum()), place), people.number[near[kept]], chance[kept] / chance[kept].sum()))
    place_of, number, chance = (np.concatenate(some) for some in zip(*parts, strict=True))
    return place_of, number, chance


def _through_points(known: Points) -> dict[int, tuple[float, float]]:
    """Where the lines of the categories of which two people are known begin, and how wide these are."""
    lines = {}
    for category in np.unique(known.category).tolist():
        here = known.category == category
        if len(np.unique(known.degree[here])) > 1:
            lines[category] = _nearest(known.degree[here], known.number[here], np.ones(int(here.sum())))
    return lines


def _nearest(degree: Floats, number: Floats, count: Floats) -> tuple[float, float]:
    """Begin and width of the line nearest to some numbers, by least squares; of width 0 where all have one degree."""
    weight = count / count.sum()
    at, middle = float(weight @ degree), float(weight @ number)
    apart = float(weight @ (degree - at) ** 2)
    width = 0.0 if apart <= 0 else float(weight @ ((degree - at) * (number - middle))) / apart
    return middle - at * width, width


def _fitting(grades: Grades, known: Points, people: Population | None, unit: float) -> list[Lines]:
    """The lines that fit each category; categories that none fits are left out. Numbers go in the steps that people at large
    show or, if none fits, in units; degrees are cut off or rounded, in all categories alike: whichever is likelier."""
    if people is None and not len(known.category):
        return []
    rough = None if people is None else _matched(grades, people)
    found: list[tuple[int, float, list[Lines]]] = []
    for step in dict.fromkeys([unit if people is None else people.step(unit), unit]):
        expected = None if people is None else people.smoothed(step)
        for cut in (True, False) if grades.digits < _ALL_DIGITS else (False,):
            categories = np.unique(grades.category).tolist()
            tried = [_lines_of(category, grades, known, expected, rough, step, cut) for category in categories]
            lines = [one for one in tried if one is not None]
            if expected is not None and rough is not None:
                share = expected.told_by(float(grades.count.sum()))
                lines = [_beside_others(one, lines, grades, expected, rough) for one in lines]
                lines = [replace(one, likelihood=share * one.likelihood) for one in lines]
            found.append((len(lines), _evidence(lines), lines))
        if max(solved for solved, _, _ in found):
            break
    return max(found, key=lambda one: one[:2])[2]


def _beside_others(own: Lines, lines: list[Lines], grades: Grades, people: Expected, rough: Floats) -> Lines:
    """The lines of a category, weighed by the people of categories without lines beside it as well: those up to the next
    category with lines lie above it and, where it is the first one, those before lie below it."""
    solved = [one.category for one in lines]
    number = solved.index(own.category)
    until = solved[number + 1] if number + 1 < len(solved) else np.inf
    above = (grades.category > own.category) & (grades.category < until)
    below = (grades.category < own.category) & (number == 0)
    running = np.concatenate([[0.0], np.cumsum(people.weight)])
    to_low = running[np.searchsorted(people.number, own.low - 1e-3 * people.step)]
    to_high = running[np.searchsorted(people.number, own.high + 1e-3 * people.step)]
    likelihood = own.likelihood.copy()
    if above.any():
        end = running[-1] if np.isinf(until) else running[np.searchsorted(people.number, rough[above].max(), "right")]
        likelihood += _log_chance(np.maximum(end - to_high, _UNLIKELY), float(grades.count[above].sum()))
    if below.any():
        likelihood += _log_chance(np.maximum(to_low, _UNLIKELY), float(grades.count[below].sum()))
    return replace(own, likelihood=likelihood)


def _log_chance(weight: Floats, count: Floats | float) -> Floats:
    """The log likelihood of so many people where so many were expected (Dirichlet and multinomial)."""
    return np.asarray(special.gammaln(weight + count) - special.gammaln(weight))


def _matched(grades: Grades, people: Population) -> Floats:
    """For each grade the number that as many people of the population lie below: half of its own people counted."""
    middle = (np.cumsum(grades.count) - grades.count / 2) / grades.count.sum()
    reached = np.cumsum(people.people) / people.people.sum()
    return np.asarray(people.number[np.minimum(np.searchsorted(reached, middle), len(people.number) - 1)])


def _lines_of(
    category: int,
    grades: Grades,
    known: Points,
    people: Expected | None,
    rough: Floats | None,
    unit: float,
    cut: bool,
) -> Lines | None:
    """The lines that fit one category, None where there is none."""
    here, mine = grades.category == category, known.category == category
    degree, count = grades.degree[here], grades.count[here]
    if rough is None and not mine.any():
        return None
    begin, width = (0.0, np.inf) if rough is None else _nearest(degree, rough[here], count)
    reach = np.inf if people is None else 1.1 * float(np.ptp(people.number)) / unit + 2
    if np.isfinite(reach) and reach > _MOST_UNITS:
        return None
    if grades.digits < _ALL_DIGITS and not mine.any() and width / unit > 10**grades.digits / _TELLING:
        return None
    widths = _widths(degree, grades, reach, cut)
    if people is None:  # nothing else tells how many steps lie between two numbers that are there
        widths = widths[:1]
    widths = widths[np.argsort(np.abs(np.log(widths * unit / max(width, unit))), kind="stable")][:_WIDTHS]
    if not mine.any() and float((2 * _REACH + widths // 2).sum()) * len(degree) > _MOST_TRIED:
        return None
    lows, numbers, highs, likelihoods = [], [], [], []
    for steps in widths.tolist():
        at = _steps(degree, steps, grades, cut) * unit
        if mine.any():
            first = int(np.searchsorted(degree, known.degree[mine][0] - 1e-9))
            low = known.number[mine][:1] - at[first]
        else:
            assert people is not None
            middle = round((begin + (width - steps * unit) / 2 - people.number[0]) / unit)
            span = _REACH + steps // 4
            low = people.number[0] + (middle + np.arange(-span, span + 1)) * unit
        number = np.round(low[:, None] + at[None, :], _MOST_DECIMALS)
        if mine.any():
            theirs = number[0][np.searchsorted(degree, known.degree[mine] - 1e-9)]
            if np.abs(theirs - known.number[mine]).max() > unit / 4:
                continue
        chance = np.zeros(len(low))
        if people is not None:
            chance = _log_chance(people.having(number), count).sum(axis=1)
        lows.append(low)
        highs.append(low + steps * unit)
        numbers.append(number)
        likelihoods.append(chance)
    if not lows:
        return None
    return Lines(category, *map(np.concatenate, (lows, highs, numbers, likelihoods)))


def _widths(degree: Floats, grades: Grades, reach: float, cut: bool) -> Ints:
    """The widths of a category, in steps, that fit its degrees, ascending; none where they can tell nothing of it."""
    if grades.digits >= _ALL_DIGITS:
        inner = (degree > grades.noise) & (degree < 1)
        least = whole_steps(degree, grades.noise) if inner.any() else 1
        most = 0 if least is None else max(int(min(reach / least, 1000)), 1)
        return np.arange(1, most + 1) * (least or 1)
    parts = 10**grades.digits
    steps = np.arange(1, int(min(reach, parts - 1 if cut else parts // 2, _MOST_STEPS)) + 1)
    for each in degree[degree < 1].tolist():
        at = _steps(np.array(each), steps, grades, cut)
        shown = np.floor(at / steps * parts + (1e-6 if cut else 0.5))
        steps = steps[(np.abs(shown - each * parts) < 0.5) & (at < steps)]
    return steps


def _steps(degree: Floats, steps: Ints | int, grades: Grades, cut: bool) -> Floats:
    """How many steps above the least number each degree lies in a category of so many steps."""
    exact = degree * np.asarray(steps)
    return np.asarray(np.ceil(exact - 1e-6) if cut and grades.digits < _ALL_DIGITS else np.round(exact))


def _in_order(lines: list[Lines]) -> list[Floats]:
    """The probability of each line of each category, every category lying above the one before: sums over all lines of the
    others, from below and from above. Where no lines are in order each category goes by its own."""
    below, above = _sums(lines), _sums([_mirrored(one) for one in reversed(lines)])[::-1]
    joint = [low + high - one.likelihood for one, low, high in zip(lines, below, above, strict=True)]
    if not all(np.isfinite(one).any() for one in joint):
        joint = [one.likelihood for one in lines]
    return [special.softmax(one) for one in joint]


def _evidence(lines: list[Lines]) -> float:
    """The log likelihood of the grades, whichever lines they lie on."""
    return float(special.logsumexp(_sums(lines)[-1])) if lines else -np.inf


def _mirrored(lines: Lines) -> Lines:
    return Lines(lines.category, -lines.high, -lines.low, lines.number, lines.likelihood)


def _sums(lines: list[Lines]) -> list[Floats]:
    """For each line of each category the log likelihood of it and, summed over all of their lines that lie below it in order,
    of the categories before."""
    sums: list[Floats] = []
    for number, one in enumerate(lines):
        if not number:
            sums.append(one.likelihood)
            continue
        order = np.argsort(lines[number - 1].high, kind="stable")
        running = np.concatenate([[-np.inf], np.logaddexp.accumulate(sums[-1][order])])
        sums.append(one.likelihood + running[np.searchsorted(lines[number - 1].high[order], one.low - 1e-9)])
    return sums


def whole_steps(degree: Floats, noise: float) -> int | None:
    """The least number of equal steps from 0 to 1 on which all degrees lie; None where there are too few degrees to tell, or
    published so coarsely that any would do."""
    inner = degree[(degree > noise) & (degree < 1)]
    if not len(inner):
        return None
    steps = 1
    for each in inner.tolist():
        steps = math.lcm(
            steps, simplest(Fraction(each) - Fraction(noise), Fraction(each) + Fraction(noise)).denominator
        )
        if 2 * steps * noise > _SURE:
            return None
    return steps


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator between two positive ones, by continued fractions."""
    whole = math.floor(low)
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def _decoded(labels: Labels, grades: Grades, found: Decoded, otherwise: sparse.csr_array) -> sparse.csr_array:
    """What each label stands for (labels × codes): decoded numbers, the others what is published of them (`otherwise`)."""
    numbers = labels.domain.numbers
    assert numbers is not None
    code = np.minimum(np.searchsorted(numbers, found.number), len(numbers) - 1)
    real = numbers[code] == found.number
    published = np.ones(len(labels.texts))
    published[grades.label[found.grade]] = 0.0
    shape = (len(labels.texts), labels.domain.size)
    entries = found.chance[real], (grades.label[found.grade[real]], code[real])
    return sparse.csr_array(sparse.diags_array(published) @ otherwise + sparse.csr_array(entries, shape=shape))
