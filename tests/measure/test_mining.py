"""What is mined from a release: shares of values, rules and trees, decoded where there is a key; worked by hand, and against
slow obvious versions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.measure.utility import Case
from auditor.measure.utility.classification import classification
from auditor.measure.utility.marginals import LEAST_NAMED, marginals
from auditor.measure.utility.rules import CONFIDENCE, GAIN, LIFT, SUPPORT, frequent, mined, rules
from auditor.measure.utility.trees import Features, Tree
from auditor.model.arrays import Ints
from auditor.model.record.record import Utility
from tests.support.grading_cases import PATIENTS, patients
from tests.support.utility_cases import Rows, case_of, table_of

# ----- shares --------------------------------------------------------------------------------------------------------


def test_marginals_by_hand() -> None:
    # job: x 3/4, y 1/4; {x, y} for one of the x counts half each: x 5/8, y 3/8: distance 1/8. illness is kept. age 20 20 40
    # 60 in three classes; 30 lies on the border of the first two and counts above: 1/4, 1/2, 1/4 for 1/2, 1/4, 1/4
    table = table_of({"job": list("xxxy"), "illness": list("fffg"), "age": ["20", "20", "40", "60"]})
    case = case_of({"job": ["{x, y}", "x", "x", "y"], "illness": list("fffg"), "age": ["20", "30", "40", "60"]}, table)
    (row,) = marginals(case)
    assert row.detail["columns"] == pytest.approx({"job": 1 / 8, "age": 1 / 4, "illness": 0})
    assert row.value == pytest.approx(3 / 8 / 3)
    assert row.params["values"] == "spread evenly inside labels"
    assert [one["column"] for one in row.detail["shares"]] == ["age", "job", "illness"]  # the most changed first
    assert row.detail["shares"][0]["names"] == ["others"]  # nobody's value is named that few people have
    (row,) = marginals(Case(case.release, table))  # it needs no correspondence
    assert row.value == pytest.approx(1 / 8)
    assert marginals(Case(case.release))[0].status == "not_applicable"


def test_shares_name_what_enough_people_have() -> None:
    jobs = ["x"] * 30 + ["y"] * LEAST_NAMED + ["z"] * (LEAST_NAMED - 1) + ["w"]
    table = table_of({"job": jobs})
    (row,) = marginals(case_of({"job": jobs}, table))
    (shares,) = row.detail["shares"]
    assert shares["names"] == ["x", "y", "others"]
    assert shares["original"] == shares["release"] == pytest.approx([0.6, 0.2, 0.2])


def test_no_number_of_a_person_is_told() -> None:
    rng = np.random.default_rng(1)
    ages = [str(int(a)) for a in rng.integers(1000, 9000, 200)] + ["98765432"]
    (row,) = marginals(case_of({"age": ages}, table_of({"age": ages})))
    (shares,) = row.detail["shares"]
    assert row.value == 0
    assert len(shares["names"]) == 10
    assert not {part for name in shares["names"] for part in name.split() if part.isdigit()} & set(ages)


def test_numbers_far_from_zero_are_told_apart() -> None:
    years = [str(1990 + i % 34) for i in range(340)]
    for column in ([*years], [f"47{600 + i % 99}" for i in range(340)]):
        (row,) = marginals(case_of({"age": [column[-1]] * 340}, table_of({"age": column})))
        assert row.value is not None
        assert row.value > 0.8  # everybody has the same number


def test_coded_columns_are_compared_after_decoding() -> None:
    table = patients(**{column: cells * 5 for column, cells in PATIENTS.items()})
    release, provenance = anonymize(table, "grading", seed=3)
    assert provenance.key is not None
    coded, plain = (Case(release, table, provenance.fragment, key=key) for key in (provenance.key, None))
    (after,), (before,) = marginals(coded), marginals(plain)
    assert after.value == pytest.approx(0, abs=1e-12)
    assert after.params["decoded"]
    assert before.value is not None
    assert before.value > 0.01
    assert [row.value for row in rules(coded)] == [0, 0]
    trees = classification(coded)
    assert trees[0].params["decoded"] == ["income", "disease"]
    assert all(row.value == row.detail["original"] for row in trees)
    assert not all(row.value == row.detail["original"] for row in classification(plain))


# ----- rules ---------------------------------------------------------------------------------------------------------


def values(rows: list[Utility]) -> dict[str, float | None]:
    return {str(row.params["statistic"]): row.value for row in rows}


def test_rules_by_hand() -> None:
    # x has f, y has g, and the other way round: four rules in the original. Exchanged, all are lost and four invented; where
    # everybody has f nothing follows from x or y, and none is given
    original: Rows = {"job": list("xy") * 20, "illness": list("fg") * 20}
    table = table_of(original)
    same = rules(case_of(original, table))
    assert values(same) == {"lost": 0, "invented": 0}
    assert same[0].detail == {"rules_original": 4, "rules_release": 4}
    assert values(rules(case_of({**original, "illness": list("gf") * 20}, table))) == {"lost": 1, "invented": 1}
    assert values(rules(case_of({**original, "illness": ["f"] * 40}, table))) == {"lost": 1, "invented": 0}
    nothing = rules(
        case_of(
            {"job": list("xyxy"), "illness": list("ffgg")}, table_of({"job": list("xyxy"), "illness": list("ffgg")})
        )
    )
    assert {row.status for row in nothing} == {"not_applicable"}


def slow_rules(codes: list[Ints]) -> set[tuple[tuple[tuple[int, int], ...], tuple[int, int]]]:
    """Every rule, by counting rows one by one."""
    rows = list(zip(*(column.tolist() for column in codes), strict=True))
    sets: Counter[tuple[tuple[int, int], ...]] = Counter()
    for row in rows:
        items = [(c, code) for c, code in enumerate(row) if code >= 0]
        for size in (1, 2, 3):
            sets.update(combinations(items, size))
    found = set()
    n = len(rows)
    for items, times in sets.items():
        for then in items if len(items) > 1 else ():
            given = tuple(item for item in items if item != then)
            sure = times / sets[given]
            parts = [sets[tuple(sorted((one, then)))] / sets[(one,)] for one in given] if len(given) > 1 else []
            least = max(CONFIDENCE, LIFT * sets[(then,)] / n, *(part + GAIN for part in parts)) - 1e-9
            if times >= SUPPORT * n - 1e-9 and sure >= least:
                found.add((given, then))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_rules_equal_the_slow_version(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, 60)
    codes = [np.where(rng.random(60) < 0.7, hidden, rng.integers(-1, 3, 60)) for _ in range(4)]
    items = frequent(codes)
    held = np.column_stack([codes[column] == code for column, code in items.tolist()])
    names = [tuple(item) for item in items.tolist()]
    found = {
        (tuple(names[i] for i in (one, other) if i >= 0), names[then]) for one, other, then in mined(held, items[:, 0])
    }
    assert found == slow_rules(codes)
    assert found


# ----- trees ---------------------------------------------------------------------------------------------------------


def features(codes: Ints, ordered: list[bool]) -> Features:
    return Features(codes, codes.max(axis=0) + 1, np.array(ordered))


def test_a_nominal_column_is_cut_into_sets() -> None:
    # the classes of the values alternate, so that no cut by order tells them apart, and one into sets does
    rng = np.random.default_rng(0)
    code = rng.integers(0, 12, (600, 1))
    truth = code[:, 0] % 2
    by_set, by_order = (Tree(features(code, [ordered]), truth) for ordered in (False, True))
    assert (by_set.predicted(features(code, [False])) == truth).all()
    assert len(by_set.column) == 3  # one cut
    assert len(by_order.column) > 3


def gini(counts: Counter[int]) -> float:
    total = sum(counts.values())
    return total - sum(n * n for n in counts.values()) / total if total else 0.0


@pytest.mark.parametrize("seed", range(4))
def test_the_first_cut_is_the_best_of_all_sets(seed: int) -> None:
    """Two classes, six values: the cut that is found is as good as the best of all 31 ways to part the values."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 6, (200, 1))
    truth = (rng.random(200) < rng.random(6)[code[:, 0]]).astype(np.int64)
    tree = Tree(features(code, [False]), truth)
    best = min(
        sum(gini(Counter(truth[side].tolist())) for side in (inside, ~inside))
        for size in (1, 2, 3)
        for some in combinations(range(6), size)
        for inside in [np.isin(code[:, 0], some)]
    )
    assert tree.column[0] == 0
    inside = tree.goes[0][code[:, 0]]
    assert sum(gini(Counter(truth[side].tolist())) for side in (inside, ~inside)) == pytest.approx(best)


def test_trees_depend_neither_on_order_nor_on_names() -> None:
    rng = np.random.default_rng(5)
    code = rng.integers(0, 7, (400, 3))
    truth = (code[:, 0] + code[:, 1] * (rng.random(400) < 0.8)) % 4
    asked = features(code, [False, True, False])
    told = Tree(asked, truth).predicted(asked)
    order = rng.permutation(400)
    shuffled = features(code[order], [False, True, False])
    assert (Tree(shuffled, truth[order]).predicted(shuffled) == told[order]).all()
    renamed = code.copy()
    for column in (0, 2):
        renamed[:, column] = rng.permutation(7)[code[:, column]]
    again = features(renamed, [False, True, False])
    assert (Tree(again, truth).predicted(again) == told).all()


def test_noise_is_pruned() -> None:
    rng = np.random.default_rng(2)
    code, truth = rng.integers(0, 5, (500, 4)), rng.integers(0, 2, 500)
    assert (Tree(features(code, [True] * 4), truth).column < 0)[0]


def test_a_value_that_nobody_had_goes_with_the_most() -> None:
    code = np.array([[0]] * 30 + [[1]] * 10)
    known = Features(code, np.array([3]), np.array([False]))
    tree = Tree(known, np.array([0] * 30 + [1] * 10))
    assert tree.predicted(Features(np.array([[2]]), np.array([3]), np.array([False]))).tolist() == [0]
