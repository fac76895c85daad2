"""A register beside the classes: the same by an engine and in memory, and what is worked by hand.

The figures are those of K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.auditing.subjects import WITHOUT_PEOPLE
from auditor.model.errors import AuditorError
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from tests.support.lengths import at_length
from tests.support.scanning_cases import Case, assert_same, in_memory, scanned

pytest.importorskip("ibis")
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "city": {"role": "quasi", "taxonomy": {"North": ["a", "b", "c"], "South": ["d", "e"]}},
    "sex": {"role": "quasi"},
    "disease": {"role": "sensitive"},
}
SCHEMA = Schema.from_dict({"columns": COLUMNS})
ASKED = ("journalist_max", "journalist_mean", "marketer", "at_risk", "at_risk_share", "short", "people")


def release(folder: Path, rows: list[tuple[int, str, str, str]]) -> Path:
    """A file of so many equal rows of each kind."""
    cells = [row[1:] for row in rows for _ in range(row[0])]
    disease = ["flu", "HIV", "ulcer"]
    columns = dict(zip(("age", "city", "sex"), map(list, zip(*cells, strict=True)), strict=True))
    made = Case({}, {**columns, "disease": [disease[i % 3] for i in range(len(cells))]})
    return made.csv(folder / "release.csv")


def register(folder: Path, people: list[tuple[int, int, str, str]], name: str = "register.parquet") -> Path:
    cells = [row[1:] for row in people for _ in range(row[0])]
    made = Case({}, dict(zip(("age", "city", "sex"), map(list, zip(*cells, strict=True)), strict=True)))
    return made.csv(folder / name) if name.endswith("csv") else made.parquet(folder / name)


def figures(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record["release"]["register"][name] for name in ASKED)


def test_worked_by_hand(tmp_path: Path) -> None:
    """Young women of the North: 3 records, 4 people; old men of the South: 1 record, 10 people. Somebody else fits none.
    Σ f/F is 3/4 + 1/10 over 4 records; classes over ΣF is 2/14; the three records have more than 0.2."""
    made = release(tmp_path, [(3, "[20, 39]", "North", "f"), (1, "[40, 60]", "South", "m")])
    people = register(tmp_path, [(3, 25, "a", "f"), (1, 39, "c", "f"), (10, 50, "e", "m"), (5, 50, "e", "f")])
    mean = (3 / 4 + 1 / 10) / 4
    record = assert_same(made, SCHEMA, population=str(people))
    assert figures(record) == pytest.approx((1 / 4, mean, mean, 3, 3 / 4, 0, 19))
    assert WITHOUT_PEOPLE in [note["text"] for note in record["notes"]]
    assert [(i["role"], i["rows"]) for i in record["inputs"]] == [("release", 4), ("population", 19)]


def test_the_journalist_takes_the_greater_mean(tmp_path: Path) -> None:
    """1 record of 10 people and 99 of 100: (1/10 + 99/100)/100 over records, 2/110 over people."""
    made = release(tmp_path, [(1, "[20, 39]", "North", "f"), (99, "[40, 60]", "South", "m")])
    people = register(tmp_path, [(10, 25, "a", "f"), (100, 50, "e", "m")])
    record = assert_same(made, SCHEMA, population=str(people))
    assert figures(record)[1:3] == pytest.approx((2 / 110, (1 / 10 + 99 / 100) / 100))


def test_a_register_that_is_not_complete(tmp_path: Path) -> None:
    """Two of three classes have fewer people than records: F counts as f there."""
    rows = [(3, "[20, 39]", "North", "f"), (2, "[40, 60]", "South", "m"), (2, "[40, 60]", "North", "m")]
    people = register(tmp_path, [(1, 25, "a", "f"), (4, 45, "b", "m")])
    record = assert_same(release(tmp_path, rows), SCHEMA, population=str(people))
    mean = (3 / 3 + 2 / 2 + 2 / 4) / 7  # over people it is 3 classes of 3 + 2 + 4
    assert figures(record) == pytest.approx((1 / 2, mean, mean, 7, 1.0, 2, 5))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(2, "[20, 39]", "North", "f"), (2, "[30, 60]", "South", "m")], "labels of age overlap"),
        ([(2, "20", "North", "f"), (2, "30", "a", "m")], "labels of city overlap"),
        ([(2, "20", "a", "*"), (2, "30", "a", "m")], "labels of sex overlap"),
    ],
)
def test_labels_that_overlap_give_a_reason(rows: list[Any], reason: str, tmp_path: Path) -> None:
    """Somebody of 35 fits both ages."""
    people = register(tmp_path, [(9, 25, "a", "f"), (1, 35, "b", "f"), (9, 50, "e", "m")])
    record = assert_same(release(tmp_path, rows), SCHEMA, population=str(people))
    assert reason in record["release"]["register"]["reason"]
    assert record["release"]["register"]["journalist_max"] is None


def test_a_register_without_a_quasi_identifier_gives_a_reason(tmp_path: Path) -> None:
    made = release(tmp_path, [(3, "[20, 39]", "North", "f")])
    people = Case({}, {"age": [25, 30], "city": ["a", "b"]}).parquet(tmp_path / "register.parquet")
    record = assert_same(made, SCHEMA, population=str(people))
    assert record["release"]["register"]["reason"] == "the population has no column sex"


@pytest.mark.slow
def test_withheld_rows_can_be_looked_up_by_nobody(tmp_path: Path) -> None:
    rows = [(2, "*", "*", "*"), (3, "[20, 39]", "North", "f"), (2, "[40, 60]", "South", "f")]
    people = register(tmp_path, [(6, 25, "a", "f"), (4, 50, "e", "f"), (3, 50, "e", "m")])
    for suppression in Suppression:
        record = assert_same(release(tmp_path, rows), SCHEMA, population=str(people), suppression=suppression)
        assert figures(record)[:3] == pytest.approx((1 / 4, (3 / 6 + 2 / 4) / 5, (3 / 6 + 2 / 4) / 5))


@pytest.mark.slow
@pytest.mark.parametrize("seed", at_length(range(2), range(2, 5)))
def test_random_registers(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    bands, groups = ["[20, 29]", "[30, 44]", "[45, 60]"], [["North", "South"], ["a", "b", "c", "South"]][seed % 2]
    rows = [(rng.randint(1, 4), rng.choice(bands), rng.choice(groups), rng.choice("fm")) for _ in range(12)]
    people = [(rng.randint(1, 3), rng.randint(20, 60), rng.choice("abcde"), rng.choice("fmx")) for _ in range(80)]
    name = f"register.{['csv', 'parquet'][seed % 2]}"
    record = assert_same(release(tmp_path, rows), SCHEMA, population=str(register(tmp_path, people, name)), seed=seed)
    assert record["release"]["register"]["reason"] is None


@pytest.mark.slow
def test_many_columns_beside_a_register(tmp_path: Path) -> None:
    """Ten columns of 150 values: keys need two numbers on both sides."""
    rng = np.random.default_rng(3)
    cells = {f"q{i}": [str(v) for v in rng.integers(0, 150, 400)] for i in range(10)}
    some = {c: values[:100] for c, values in cells.items()}
    columns = {c: {"role": "quasi"} for c in cells} | {"s": {"role": "sensitive"}}
    made = Case(columns, {**some, "s": ["x", "y"] * 50})
    people = Case({}, {c: values + values[:50] for c, values in cells.items()}).csv(tmp_path / "people.csv")
    record = assert_same(made.csv(tmp_path / "r.csv"), made.schema, population=str(people))
    assert figures(record) == pytest.approx((1.0, 75 / 100, 75 / 100, 100, 1.0, 0, 450))


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ({"age": ["old", "25"]}, "column 'age': a value of 3 characters must be a number"),
        ({"age": []}, "at least one row"),
        ({"disease": ["flu"], "town": ["x"]}, "does not name column 2 of the table"),
    ],
)
def test_registers_that_cannot_be_read(people: dict[str, list[str]], said: str, tmp_path: Path) -> None:
    made = release(tmp_path, [(3, "[20, 39]", "North", "f")])
    file = Case({}, people).csv(tmp_path / "people.csv")
    for ask in (scanned, in_memory):
        with pytest.raises(AuditorError) as caught:
            ask(made, SCHEMA, population=str(file))
        assert said in str(caught.value)
        assert "people.csv" in str(caught.value)
