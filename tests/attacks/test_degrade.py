"""The degrade attack: graded numbers turned back into numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attacks.claims import SeveralClaims, ValueClaims
from attacks.degrade import Degrade, Grades, Method, decode, known_points, people_at_large, simplest, whole_steps
from auditor.model.errors import UsageError
from auditor.model.key import Categories
from tests.support.hidden_cases import Hidden, adult_halves, hidden, reason, scored, shuffled
from tests.support.tables import by_hand

# Two categories, 20 to 30 and 31 to 39. Degrees: (22 - 20)/10 = 0.2, (25 - 20)/10 = 0.5, the greatest 0.999;
# (33 - 31)/8 = 0.25.
COLUMNS = {"zip": {"role": "quasi"}, "age": {"role": "sensitive", "type": "numeric"}}
ROWS = {"zip": list("abcdefg"), "age": ["20", "22", "25", "30", "31", "33", "39"]}
CELLS = {"age": ["1", "1.2", "1.5", "1.999", "2", "2.25", "2.999"]}
OTHERS = {"zip": list("hijklmn") * 4, "age": ["20", "22", "25", "30", "31", "33", "39"] * 4}
ANYTHING = {"age": "**"}


def small(others: dict[str, list[str]] | None = None) -> Hidden:
    return hidden(COLUMNS, ROWS, CELLS, ANYTHING, others or OTHERS)


def solved(world: Hidden, attack: Degrade, **known: object) -> tuple[list[float], dict[str, int]]:
    """Whether each person's number is found, and how many categories were decoded in which way."""
    figures = scored(attack, world.view("age", **known), world.table)
    each = figures["success"].each
    assert each is not None
    return each.tolist(), figures["decoded"].detail["by"]


def test_two_known_people_of_a_category_give_its_line() -> None:
    # b is 22 at 0.2, c is 25 at 0.5: (25 - 22)/(0.5 - 0.2) = 10 wide, from 22 - 0.2 · 10 = 20. Of the second category f
    # alone is known: with `points` it stays what is published, any number, and the commonest of the prior is a tie of seven.
    world = small()
    found, by = solved(world, Degrade(Method.POINTS), acquaintances=world.acquaintances([1, 2, 5]))
    assert found[:4] == [1, 1, 1, 1]
    assert found[4:] == pytest.approx([1 / 7] * 3)
    assert by == {"points": 1}


def test_one_known_person_and_the_gaps_give_the_line_as_well() -> None:
    # The degrees of the second category are 0, 1/4 and the greatest: four equal steps. f is 33 at 1/4. The steps are units
    # or several; four units from 32 would be 32, 33, 36. The prior's middle ages say that the category is about 8 wide.
    world = small()
    found, by = solved(world, Degrade(), acquaintances=world.acquaintances([1, 2, 5]))
    assert found == [1] * 7
    assert by == {"gaps": 1, "points": 1}


def test_the_gaps_alone() -> None:
    # tenths in the first category (0.2 = 1/5, 0.5 = 1/2: ten steps), quarters in the second; where they begin follows from
    # the population, here a sample with the same ages
    world = small()
    assert solved(world, Degrade(Method.GAPS), auxiliary=world.others) == ([1] * 7, {"gaps": 2})


def test_quantiles() -> None:
    # as many people below: each grade is the age at its own rank
    world = small()
    assert solved(world, Degrade(Method.QUANTILES), auxiliary=world.others) == ([1] * 7, {"quantiles": 2})
    # in a sample of people who are two years older the same rank is another age
    older = small({"zip": list("hijklmn") * 4, "age": ["22", "24", "27", "32", "33", "35", "41"] * 4})
    assert sum(solved(older, Degrade(Method.QUANTILES), auxiliary=older.others)[0]) == 0


def test_a_number_that_is_no_value_is_not_moved_to_one() -> None:
    # 3 units above every age of the column there is none: nobody's age is claimed
    world = small()
    shifted = world.acquaintances([1, 2])
    numbers = np.array(ROWS["age"], dtype=float)
    codes = np.searchsorted(numbers, [25, 30])  # a wrong rumour: b is 25 and c is 30, so the line is 16.67 wide
    wrong = type(shifted)(shifted.columns, shifted.codes, {"age": codes.astype(np.int32)})
    found, _ = solved(world, Degrade(Method.POINTS), acquaintances=wrong)
    assert found[:4] == [0, 0, 0, 0]


def test_the_width_in_the_papers_rounded_numbers() -> None:
    # the paper's example: one category from 10 to 40 and the age 21, published as 1.3667: 11/30
    assert simplest(Fraction("0.36665"), Fraction("0.36675")) == Fraction(11, 30)
    assert whole_steps(np.array([0.0, 0.3667, 1.0]), 0.5e-4) == 30
    # two ends alone say nothing, nor do degrees that are published to one digit
    assert whole_steps(np.array([0.0, 1.0]), 1e-15) is None
    assert whole_steps(np.array([0.0, 0.4, 0.7, 1.0]), 0.05) is None


def test_the_greatest_number_of_a_category() -> None:
    labels = small().release.labels["age"]
    grades = Grades.of(labels, np.ones(len(labels.texts), dtype=np.int64))
    assert grades.category.tolist() == [1, 1, 1, 1, 2, 2, 2]
    assert grades.degree == pytest.approx([0, 0.2, 0.5, 1, 0, 0.25, 1])


def graded(numbers: np.ndarray, categories: Categories) -> list[str]:
    return [f"{number:.15g}" for number in categories.grade(numbers.astype(float)).tolist()]


@pytest.mark.parametrize("sample", [50, 400, 5000])
def test_three_digits_are_decoded_and_claims_are_as_sure_as_they_are_right(sample: int) -> None:
    # towns of 200 people, one in a postcode, and a sample of others: some lines cannot be told apart, and it says so
    found, believed = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ages = np.clip(rng.normal(45, 15, 200 + sample).round(), 18, 90)
        here = ages[:200]
        cut = int(np.median(here))
        cells = graded(here, Categories((float(here.min()), cut + 1.0), (float(cut), float(here.max())), digits=3))
        names = [f"z{i:04}" for i in range(len(ages))]
        texts = [str(int(age)) for age in ages]
        world = hidden(
            COLUMNS,
            {"zip": names[:200], "age": texts[:200]},
            {"age": cells},
            ANYTHING,
            {"zip": names[200:], "age": texts[200:]},
        )
        claims = Degrade().run(world.view("age", auxiliary=world.others), rng)
        assert isinstance(claims, SeveralClaims)
        values = claims.parts[0]
        assert isinstance(values, ValueClaims)
        found.append(float(values.values.named(world.table.codes["age"].astype(np.int64)).mean()))
        believed.append(float(values.values.top()[values.values.row_of].mean()))
        assert values.together or abs(found[-1] - believed[-1]) < 0.02  # what is told of one release is found there
    # people of a town are right or wrong together: the standard error is that of so many towns
    error = np.std(np.subtract(found, believed)) / np.sqrt(len(found))
    assert abs(np.mean(found) - np.mean(believed)) < 0.02 + 2.5 * error, (np.mean(found), np.mean(believed), error)
    assert np.mean(found) > {50: 0.2, 400: 0.4, 5000: 0.6}[sample]


# ----- null, order, needs, settings --------------------------------------------------------------------------------------


def test_where_nothing_is_known_of_people_there_is_no_excess() -> None:
    world = small()
    with_release = scored(Degrade(), world.view("age", columns=(), auxiliary=world.others), world.table)
    without = scored(Degrade(), world.view("age", columns=(), blind=True, auxiliary=world.others), world.table)
    assert with_release["success"].value == pytest.approx(1 / 7)
    assert without["success"].value == pytest.approx(1 / 7)
    assert without["decoded"].value is None


def test_people_who_are_not_in_the_release_and_permuted_truths() -> None:
    # zip says nothing of the age: only people in the release are hit
    members, outsiders, permuted = [], [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        ages, zips = rng.integers(20, 31, 400), [f"z{z:02}" for z in rng.integers(0, 60, 400)]
        rows = {"zip": zips[:200], "age": [str(a) for a in ages[:200]]}
        rest = {"zip": zips[200:], "age": [str(a) for a in ages[200:]]}
        graded = [f"{1 + min((a - 20) / 10, 0.999)!r}" for a in ages[:200].tolist()]
        world = hidden(COLUMNS, rows, {"age": graded}, ANYTHING, rest)
        view = world.view("age", auxiliary=world.others)
        members.append(scored(Degrade(), view, world.table)["success"].value)
        permuted.append(
            scored(Degrade(), view, world.table, rng.permutation(world.table.codes["age"]))["success"].value
        )
        away = world.others.take(np.flatnonzero(world.view("age", world.others).beliefs.matched))
        outsiders.append(scored(Degrade(), world.view("age", away, auxiliary=world.others), away)["success"].value)
    assert np.mean(members) > 0.3
    # chance is about 1/11; the standard error of a mean over 10 · 200 claims is below 0.007
    assert np.mean(permuted) == pytest.approx(1 / 11, abs=0.025)
    assert np.mean(outsiders) == pytest.approx(1 / 11, abs=0.025)


def test_the_order_of_rows_does_not_matter() -> None:
    world = small()
    for method in (None, Method.GAPS, Method.QUANTILES):
        expected = solved(world, Degrade(method), auxiliary=world.others)
        assert solved(shuffled(world), Degrade(method), auxiliary=world.others) == expected


def test_what_it_needs() -> None:
    world = small()
    assert "there is no acquaintance" in reason(Degrade(Method.POINTS), world.view("age"))
    plain = by_hand(COLUMNS, ROWS)
    open_world = Hidden(plain.table, plain.release, plain.provenance, plain.table)
    assert reason(Degrade(), open_world.view("age")) == "no number of age is published as category and degree."
    ill = by_hand({"zip": {"role": "quasi"}, "ill": {"role": "sensitive"}}, {"zip": ["a"], "ill": ["flu"]})
    named = Hidden(ill.table, ill.release, ill.provenance, ill.table)
    assert reason(Degrade(), named.view("ill")) == "ill is not numeric, and only numbers are graded."


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError):
        Degrade(tau=-0.1)
    assert Degrade.configure({"method": "gaps"}).method is Method.GAPS


# ----- Adult -------------------------------------------------------------------------------------------------------------


def exact(world: Hidden, method: Method | None, **known: object) -> float:
    """The share of people whose published age is decoded rightly, as the attack decodes it for one who has found them."""
    key = world.provenance.key
    assert key is not None
    categories, labels = key.columns["age"], world.release.labels["age"]
    assert isinstance(categories, Categories)
    grades = Grades.of(labels, world.release.label_counts("age"))
    knowledge = world.view("age", **known).knowledge
    points = known_points(world.release, knowledge, "age", grades)
    people = people_at_large(knowledge, "age", labels.domain, world.release.rows)
    found = decode(grades, points, people, 0, method)
    shares: dict[int, Counter[float]] = defaultdict(Counter)
    for place, number, chance in zip(found.grade.tolist(), found.number.tolist(), found.chance.tolist(), strict=True):
        shares[place][number] += chance
    right = [
        categories.numbers(labels.low[label]) == (shares[place].most_common(1)[0][0],) * 2
        for place, label in enumerate(grades.label)
    ]
    return float(grades.count[right].sum() / grades.count.sum())


@pytest.mark.data
@pytest.mark.slow
def test_adult_ages(data_folder: Path) -> None:
    # reference: 93.5 % by quantiles on average (78.7–98.7), all by the gaps and from two known points a category
    quantiles = []
    for seed in range(5):
        world = adult_halves(data_folder, seed)
        quantiles.append(exact(world, Method.QUANTILES, auxiliary=world.others))
        assert exact(world, Method.GAPS, auxiliary=world.others) == 1
        friends = world.acquaintances(list(range(1500)))  # some of whom nobody else is like, two in every category
        assert exact(world, Method.POINTS, acquaintances=friends) == 1
        assert exact(world, None, auxiliary=world.others.take(np.arange(15_000)), acquaintances=friends) == 1
    assert np.mean(quantiles) == pytest.approx(0.935, abs=0.03), quantiles
    assert min(quantiles) > 0.75


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("digits", [2, 3])
def test_adult_ages_at_the_papers_digits(data_folder: Path, digits: int) -> None:
    # 10 000 people; 14.7 % were decoded, and success was .059 against an expected .168, when each category had one line
    world = adult_halves(data_folder, 0, digits=digits)
    sample, members = world.others.take(np.arange(10_000)), world.table.take(np.arange(10_000))
    assert exact(world, None, auxiliary=sample) >= 0.85
    assert exact(world, None) >= 0.85
    success = scored(Degrade(), world.view("age", members, auxiliary=sample), members)["success"]
    assert success.interval is not None
    assert success.expected is not None
    assert success.interval[0] <= success.expected <= success.interval[1]


@pytest.mark.data
@pytest.mark.slow
def test_adult_members_against_outsiders(data_folder: Path) -> None:
    world = adult_halves(data_folder, 0)
    sample, outsiders = world.others.take(np.arange(10_000)), world.others.take(np.arange(10_000, 12_000))
    members = world.table.take(np.arange(2_000))
    found = scored(Degrade(), world.view("age", members, auxiliary=sample), members)["success"].value
    control = scored(Degrade(), world.view("age", outsiders, auxiliary=sample), outsiders)["success"].value
    assert found is not None
    assert control is not None
    assert found > control + 0.15
