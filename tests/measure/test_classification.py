"""Classification: what a tree learns from planted data, with and without the release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditor.measure.utility.classification import LEAST, classification, classification_within
from auditor.measure.utility.trees import label_places
from auditor.model.labels.labels import Labels
from auditor.model.record.record import Utility
from tests.support.utility_cases import Rows, case_of, table_of

ROWS: Rows = {
    "job": ["x", "y", "z", "y"] * 50,
    "town": ["A", "B", "C", "D", "E"] * 40,
    "illness": ["f", "g", "f", "g"] * 50,  # f for x and z, g for y
}


def by_class(rows: list[Utility]) -> dict[str, Utility]:
    return {row.params["class"]: row for row in rows}


def test_a_tree_learns_what_the_release_keeps() -> None:
    original = table_of(ROWS)
    exact = by_class(classification(case_of(ROWS, original)))
    assert list(exact) == ["illness", "job", "town"]  # sensitive ones first
    assert (exact["illness"].value, exact["illness"].detail["original"]) == (1.0, 1.0)
    assert exact["illness"].params["tested"] == 200  # everybody, once
    assert exact["illness"].low == pytest.approx(1 / (1 + 1.959964**2 / 200))  # Wilson, 200 of 200
    # illness exchanged: whatever is learned from the release is wrong, and right inside it
    wrong = {**ROWS, "illness": ["g" if i == "f" else "f" for i in ROWS["illness"]]}
    assert by_class(classification(case_of(wrong, original)))["illness"].value == 0
    within = by_class(classification_within(case_of(wrong, original)))
    assert (within["illness"].value, within["illness"].detail["majority"]) == (1.0, 0.5)
    assert within["illness"].params["values"] == "labels as published"


def test_a_release_that_says_nothing_teaches_the_commonest_class() -> None:
    rows = {**ROWS, "illness": ["g" if i % 4 else "f" for i in range(200)]}  # f for x alone, g for the rest
    original = table_of(rows)
    case = case_of({**rows, "job": ["*"] * 200, "town": ["*"] * 200}, original)
    row = by_class(classification(case))["illness"]
    assert row.value is not None
    assert row.value < row.detail["majority"] + 0.05 < row.detail["original"] == 1
    assert (row.params["worlds"], row.params["values"]) == (5, "drawn evenly inside labels")
    # town and job are published as `*` only: no class attributes inside the release
    assert list(by_class(classification_within(case))) == ["illness"]


def test_parted_blocks_are_put_together_at_random() -> None:
    original = table_of(ROWS)
    # buckets of four hold x, y, z, y: half of all pairings of job and illness are right
    case = case_of(ROWS, original, [["job", "town"], ["illness"]], [i // 4 for i in range(200)])
    row = by_class(classification(case))["illness"]
    assert row.params["blocks"] == "put together at random inside buckets"
    assert row.value is not None
    assert row.value < 0.9
    assert row.detail["original"] == 1
    # buckets of one illness and its jobs: nothing is lost
    bucket = [i // 20 * 2 + (illness == "f") for i, illness in enumerate(ROWS["illness"])]
    kept = by_class(classification(case_of(ROWS, original, [["job", "town"], ["illness"]], bucket)))
    assert kept["illness"].value == 1


def test_numbers_are_predicted_by_quartile() -> None:
    # income 1 … 200 in four classes, each job in one quarter of them
    income = [str(i + 1) for i in range(200)]
    job = ["x" if i < 50 else "y" if i < 100 else "z" for i in range(200)]
    original = table_of({"job": job, "income": income})
    row = by_class(classification(case_of({"job": job, "income": income}, original)))["income"]
    # x and y tell their quarters; z those above the median, of which about half are in each
    assert row.value is not None
    assert 0.55 < row.value < 0.95
    assert row.detail["majority"] < 0.4
    within = by_class(classification_within(case_of({"job": job, "income": income}, original)))["income"]
    assert within.value == within.detail["original"]


def test_the_same_people_are_held_out_whatever_the_release() -> None:
    rng = np.random.default_rng(2)
    rows = {column: [cells[i] for i in rng.permutation(200)] for column, cells in ROWS.items()}
    original = table_of(rows)
    blurred = {**rows, "town": ["North" if t in "AB" else "South" for t in rows["town"]]}
    figures = [by_class(classification(case_of(some, original))) for some in (rows, blurred)]
    for column in figures[0]:
        assert figures[0][column].detail == figures[1][column].detail


@pytest.mark.parametrize(
    ("rows", "published", "more", "reason"),
    [
        ({"job": ["x", "y"] * 5, "illness": ["f", "g"] * 5}, None, {}, f"fewer than {LEAST} people"),
        ({"job": ["x", "y"] * 20}, None, {}, "needs two"),
        ({"job": ["x"] * 40, "illness": ["f"] * 40}, None, {}, "two values"),
    ],
)
def test_where_nothing_can_be_learned(rows: Rows, published: Rows | None, more: dict[str, Any], reason: str) -> None:
    (row,) = classification(case_of(published or rows, table_of(rows), **more))
    assert row.status == "not_applicable"
    assert reason in str(row.reason)


def test_labels_stand_at_their_middle_and_side_by_side() -> None:
    domain = table_of({"job": list("vwxyz")}).domains["job"]
    texts = ["v", "{w, y}", "x", "z", "{v, z}", "*"]
    places = dict(zip(texts, label_places(Labels.read(domain, texts, str)), strict=True))
    # {w, y}, x, {v, z} and * have their middle at x = 2: by size, then by text
    assert places == pytest.approx({"v": 0, "x": 2, "{v, z}": 2.0625, "{w, y}": 2.125, "*": 2.1875, "z": 4})


def test_cluster_mates_do_not_give_each_other_away() -> None:
    # towns and jobs that have nothing to do with each other; clusters of four publish one age, which no other has, and
    # one job. A tree that has seen three of them would know the job of the fourth.
    rng = np.random.default_rng(6)
    age = rng.permutation(240)
    rows: Rows = {
        "age": [str(a) for a in age],
        "job": ["xyz"[i] for i in rng.integers(0, 3, 240)],
        "town": ["ABCDE"[i] for i in rng.integers(0, 5, 240)],
    }
    order, published = np.argsort(age), {column: list(cells) for column, cells in rows.items()}
    for cluster in np.split(order, 60):
        for i in cluster:
            published["age"][i] = str(float(age[cluster].mean()))
            published["job"][i] = rows["job"][cluster[0]]
            published["town"][i] = rows["town"][cluster[0]]
    found = by_class(classification_within(case_of(published, table_of(rows))))
    for column in ("job", "town"):
        row = found[column]
        assert row.value is not None
        assert row.params["folds"] == 5
        assert row.value < row.detail["majority"] + 0.12  # it was 0.99


def test_the_people_of_few_classes_are_divided_one_by_one() -> None:
    rows: Rows = {"job": ["x", "y"] * 60, "illness": ["f", "g"] * 60}
    row = by_class(classification_within(case_of(rows, table_of(rows))))["illness"]
    assert row.value == 1  # the other class would have taught the opposite


def test_people_who_are_alike_by_themselves_are_divided_one_by_one() -> None:
    # seven in ten have job x whatever the town. Kept together, all x of a town would be held out at once, and a tree would
    # answer y from those that are left
    rng = np.random.default_rng(3)
    rows: Rows = {
        "job": [str(job) for job in np.where(rng.random(600) < 0.7, "x", "y")],
        "age": [str(age) for age in rng.integers(20, 80, 600)],
        "illness": [str(ill) for ill in rng.choice(["f", "g"], 600)],
    }
    row = by_class(classification_within(case_of(rows, table_of(rows))))["job"]
    assert row.value is not None
    assert row.value > row.detail["majority"] - 0.03
    # made alike in pairs by their ages, with the jobs published as they are
    blurred = {**rows, "age": [f"[{int(a) // 2 * 2}, {int(a) // 2 * 2 + 1}]" for a in rows["age"]]}
    row = by_class(classification_within(case_of(blurred, table_of(rows))))["job"]
    assert row.value is not None
    assert row.value > row.detail["majority"] - 0.05
