"""Degrade: this person's number is the one that its grade stands for.

A graded number is published as category + membership degree (`1.3667`). Order is kept, and within a category everything lies
on one line, so a category is decoded by finding its line, in one of three ways:

- `points`: two people of the category whose numbers are known (acquaintances) give the line;
- `gaps`: numbers are whole (or have so many decimals), so degrees are fractions of the category's width, and the gaps between
  them give it away; where the category begins follows from one known person, or from the population;
- `quantiles`: as many people of the population lie below a number as below its grade.

By default each category is decoded in the first of these ways that it allows. Without a sample of the population the prior
stands for it.

Paper: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009,
which claims that graded numbers cannot be guessed.
Decided here: how many decimals the column's numbers have is taken to be known, and decoded numbers are rounded to them. One
that is then no value of the column is a wrong claim, not moved to the nearest value. A category that cannot be decoded
leaves the prior. A decoded number is claimed as it is, as if the decoding could not be wrong: nothing is expected of it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from scipy import sparse

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

_HIGHEST = 0.999
"""The degree that the paper publishes for the greatest number of a category, which lies on the line at 1."""
_SURE = 0.05
"""A width is believed only where rounding of the published degrees would hit whole numbers by chance this rarely."""
_REACH = 50
"""How many units a category is tried up and down from where the population suggests it."""
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
        number, ways = decode(grades, known, people, decimals, self.method)
        otherwise = meaning(release, column, knowledge.priors.get(column))
        decoded = _decoded(labels, grades, np.round(number, decimals), otherwise)
        return self._claims(ValueClaims(decoded_beliefs(release, knowledge, column, decoded), self.tau), grades, ways)

    def _claims(self, values: ValueClaims, grades: Grades, ways: dict[int, Method] | None) -> SeveralClaims:
        detail = {} if ways is None else {"by": dict(sorted(Counter(map(str, ways.values())).items()))}
        params = {"method": "best" if self.method is None else str(self.method)}
        solved = None if ways is None else float(len(ways))
        fact = Fact("decoded", solved, len(np.unique(grades.category)), params, detail)
        return SeveralClaims((values, FactClaims((fact,))))


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """The graded numbers that occur, in ascending order: label number, category, degree (1 for the greatest of a category)
    and count. `noise` is how far a published degree may be off, being rounded."""

    label: Ints
    category: Ints
    degree: Floats
    count: Floats
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
        degree = np.where(degree >= _HIGHEST - noise - 1e-9, 1.0, degree)
        return cls(label, category, degree, counts[label].astype(np.float64), noise)


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

    def log_share(self, number: Floats) -> Floats:
        """log P(number), half a person being mixed in for numbers that nobody has."""
        place = np.minimum(np.searchsorted(self.number, number - 1e-9), len(self.number) - 1)
        there = np.abs(self.number[place] - number) <= 1e-9 * np.maximum(np.abs(number), 1.0)
        return np.asarray(np.log(np.where(there, self.people[place], 0.0) + 0.5))


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


@dataclass(frozen=True, slots=True)
class Line:
    """The numbers of a category: `low` + degree · `width`."""

    low: float
    width: float


def decode(
    grades: Grades, known: Points, people: Population | None, decimals: int, method: Method | None
) -> tuple[Floats, dict[int, Method]]:
    """The number of each grade, not a number where it cannot be told, and the way in which each category was decoded."""
    number = np.full(len(grades.label), np.nan)
    ways: dict[int, Method] = {}
    matched = None if people is None else _matched(grades, people)
    lines: dict[int, Line] = {}
    if method in (None, Method.POINTS):
        lines = _through_points(known)
        ways.update(dict.fromkeys(lines, Method.POINTS))
    if method in (None, Method.GAPS):
        lines = _by_gaps(grades, known, people, matched, 10.0**-decimals, lines)
        ways.update({category: Method.GAPS for category in lines if category not in ways})
    for place, category in enumerate(grades.category.tolist()):
        if category in lines:
            number[place] = lines[category].low + float(grades.degree[place]) * lines[category].width
        elif matched is not None and method in (None, Method.QUANTILES):
            number[place] = matched[place]
            ways[category] = Method.QUANTILES
    return number, ways


def _matched(grades: Grades, people: Population) -> Floats:
    """For each grade the number that as many people of the population lie below: half of its own people counted."""
    middle = (np.cumsum(grades.count) - grades.count / 2) / grades.count.sum()
    reached = np.cumsum(people.people) / people.people.sum()
    return np.asarray(people.number[np.minimum(np.searchsorted(reached, middle), len(people.number) - 1)])


def _fit(degree: Floats, number: Floats, count: Floats) -> Line:
    """The line nearest to some numbers, by least squares; of width 0 where all have one degree."""
    weight = count / count.sum()
    at, middle = float(weight @ degree), float(weight @ number)
    apart = float(weight @ (degree - at) ** 2)
    width = 0.0 if apart <= 0 else float(weight @ ((degree - at) * (number - middle))) / apart
    return Line(middle - at * width, width)


def _through_points(known: Points) -> dict[int, Line]:
    """The lines of the categories of which two people are known."""
    lines = {}
    for category in np.unique(known.category).tolist():
        here = known.category == category
        if len(np.unique(known.degree[here])) > 1:
            lines[category] = _fit(known.degree[here], known.number[here], np.ones(int(here.sum())))
    return lines


def _by_gaps(
    grades: Grades,
    known: Points,
    people: Population | None,
    matched: Floats | None,
    unit: float,
    solved: dict[int, Line],
) -> dict[int, Line]:
    """The lines of the categories whose width the gaps give away, those that are `solved` already included.

    One known person says where a category begins. Otherwise all categories are placed together: in order, without a number
    in two of them, and so that people at large have the decoded numbers as often as possible (log likelihood). Since the
    categories nearly fill the range of the numbers there is little choice.
    """
    places: list[tuple[int, float, Floats, Floats]] = []
    for category in np.unique(grades.category).tolist():
        here, mine = grades.category == category, known.category == category
        degree, count = grades.degree[here], grades.count[here]
        if category in solved:
            line = solved[category]
            places.append((category, line.width, np.array([line.low]), np.zeros(1)))
            continue
        steps = whole_steps(degree, grades.noise)
        if steps is None or (matched is None and not mine.any()):
            continue
        rough = None if matched is None else _fit(degree, matched[here], count)
        # numbers may all be multiples of some units: as many as make the width that the population suggests
        times = 1 if rough is None else max(round(rough.width / (steps * unit)), 1)
        width = steps * times * unit
        if mine.any():
            low = float(np.median(known.number[mine] - known.degree[mine] * width))
            places.append((category, width, np.array([round(low / unit) * unit]), np.zeros(1)))
            continue
        assert rough is not None
        assert people is not None
        middle = round((rough.low + (rough.width - width) / 2) / unit)
        lows = np.round((middle + np.arange(-_REACH, _REACH + 1)) * unit, _MOST_DECIMALS)
        at = np.round(lows[:, None] + degree[None, :] * width, _MOST_DECIMALS)
        places.append((category, width, lows, people.log_share(at) @ count))
    return _in_order(places)


def _in_order(places: list[tuple[int, float, Floats, Floats]]) -> dict[int, Line]:
    """The best place for each category (number, width, possible lows and their likelihoods), every one above the one before:
    by dynamic programming. Where no places are in order each category has its own best."""
    total, back = np.zeros(0), list[Ints]()
    for number, (_, _, lows, likelihood) in enumerate(places):
        if not number:
            total = likelihood
            continue
        high = places[number - 1][2] + places[number - 1][1]
        before = np.where(high[None, :] < lows[:, None], total[None, :], -np.inf)
        back.append(before.argmax(axis=1))
        total = likelihood + before.max(axis=1)
    if not len(total) or not np.isfinite(total.max()):
        chosen = [int(likelihood.argmax()) for *_, likelihood in places]
    else:
        chosen = [int(total.argmax())]
        for step in reversed(back):
            chosen.append(int(step[chosen[-1]]))
        chosen.reverse()
    pairs = zip(places, chosen, strict=True)
    return {category: Line(float(lows[place]), width) for (category, width, lows, _), place in pairs}


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


def _decoded(labels: Labels, grades: Grades, number: Floats, otherwise: sparse.csr_array) -> sparse.csr_array:
    """What each label stands for (labels × codes): decoded numbers, the others what is published of them (`otherwise`)."""
    numbers = labels.domain.numbers
    assert numbers is not None
    told = ~np.isnan(number)
    code = np.minimum(np.searchsorted(numbers, np.where(told, number, 0.0)), len(numbers) - 1)
    real = told & (numbers[code] == number)
    published = np.ones(len(labels.texts))
    published[grades.label[told]] = 0.0
    shape = (len(labels.texts), labels.domain.size)
    decoded = sparse.csr_array((np.ones(int(real.sum())), (grades.label[real], code[real])), shape=shape)
    return sparse.csr_array(sparse.diags_array(published) @ otherwise + decoded)
