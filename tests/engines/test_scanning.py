"""Scans by DuckDB: the record of a release is that of an audit in memory, whatever the table looks like."""

from __future__ import annotations

import math
import random
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizers.anonymizing import anonymize
from auditor.engines.engine import open_engine
from auditor.engines.scanning.coding import Keys
from auditor.engines.scanning.counting import small_table
from auditor.files.releases import write_release
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.release import Suppression, WithheldCells
from auditor.model.schema import Schema
from tests.support.grading_cases import COLUMNS, patients
from tests.support.lengths import at_length
from tests.support.scanning_cases import MEMORY, Case, assert_same, in_memory, random_case, scanned

pytest.importorskip("ibis")
QUASI, SENSITIVE = {"role": "quasi"}, {"role": "sensitive"}
NUMBER = {"type": "numeric"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", at_length(range(6), range(6, 18)))
def test_the_record_is_that_of_memory(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    file = case.csv(tmp_path / "r.csv") if seed % 2 else case.parquet(tmp_path / "r.parquet")
    suppression = list(Suppression)[seed % 3]
    assert_same(
        file,
        case.schema,
        suppression=suppression,
        recursive_l=1 + seed % 4,
        sample=[5, 60, 10**6][seed // 3 % 3],
        seed=seed,
    )


SMALL = Case(
    {
        "town": QUASI,
        "disease": {**SENSITIVE, "taxonomy": {"Viral": ["flu", "cold"], "Blood": ["hiv"]}},
        "income": {**SENSITIVE, **NUMBER},
    },
    {
        "town": ["A", "A", "A", "B", "B"],
        "disease": ["flu", "flu", "hiv", "flu", "cold"],
        "income": [10, 20, 30, 10, 50],
    },
)


def test_statistics_worked_by_hand(tmp_path: Path) -> None:
    """The whole is flu 3/5, hiv 1/5, cold 1/5; A has flu 2/3, hiv 1/3; B has flu 1/2, cold 1/2."""
    facts = scanned(SMALL.parquet(tmp_path / "r.parquet"), SMALL.schema)["release"]
    assert (facts["rows"], facts["classes"], facts["k"], facts["class_sizes"]) == (5, 2, 2, {"2": 1, "3": 1})
    disease, income = facts["sensitive"]
    assert (disease["values"], disease["l_distinct"]) == (3, 2)
    assert disease["alpha"] == pytest.approx(2 / 3)
    assert disease["l_entropy"] == pytest.approx(3 / 2 ** (2 / 3))  # exp of 2/3 ln 3/2 + 1/3 ln 3
    assert disease["l_recursive_c"] == pytest.approx(2)  # in A: 2 people with flu, 1 with another value
    assert disease["t_equal"] == pytest.approx(3 / 10)  # B: cold 1/2 against 1/5
    # B: between flu and cold 1/10 moves half the height, 1/5 comes from hiv over the root
    assert disease["t_hierarchical"] == pytest.approx(1 / 20 + 1 / 5)
    assert disease["beta_basic"] == disease["beta_enhanced"] == pytest.approx(3 / 2)  # cold; below -ln 1/5
    assert disease["delta_disclosure"] is None  # no hiv in B
    assert disease["homogeneity"] == pytest.approx(3 / 5)
    # cumulative shares of 10, 20, 30, 50: 2/5, 3/5, 4/5, 1; those of B: 1/2, 1/2, 1/2, 1
    assert income["t_ordered"] == pytest.approx((1 / 10 + 1 / 10 + 3 / 10) / 3)
    assert income["proximity_m"] == pytest.approx(2)  # in B each of two incomes is alone in its window
    assert facts["risk"]["prosecutor_mean"] == pytest.approx(2 / 5)


def test_labels_of_one_set_are_one_value(tmp_path: Path) -> None:
    cells = {"q": ["a"] * 4 + ["b"] * 2, "s": ["[10, 20]", "10-20", "[10, 20]", "30", "10-20", "30"]}
    case = Case({"q": QUASI, "s": {**SENSITIVE, **NUMBER}}, cells)
    record = assert_same(case.csv(tmp_path / "r.csv"), case.schema)
    assert record["release"]["sensitive"][0]["values"] == 2
    assert record["release"]["sensitive"][0]["alpha"] == pytest.approx(3 / 4)


def test_overlapping_sensitive_labels_are_at_worst(tmp_path: Path) -> None:
    diseases = ["Flu", "Respiratory", "Flu", "Gastritis", "Bronchitis", "Respiratory"]
    case = Case({"q": QUASI, "disease": COLUMNS["disease"]}, {"q": ["a"] * 4 + ["b"] * 2, "disease": diseases})
    facts = assert_same(case.csv(tmp_path / "r.csv"), case.schema)["release"]["sensitive"][0]
    assert (facts["labels_overlap"], facts["alpha"], facts["l_distinct"]) == (True, 1.0, 1)


@pytest.mark.slow
def test_declared_aliases_are_read(tmp_path: Path) -> None:
    table = patients()
    release, provenance = anonymize(table, "grading", 3)[:2]
    for name in ("r.csv", "r.parquet"):
        files, _ = write_release(release, None, tmp_path / name)
        assert any(file.name.endswith(".labels.json") for file in files)
        for file, content in files.items():
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert_same(tmp_path / name, table.schema)
    assert provenance.rows == 7


def typed(rows: int = 120) -> pd.DataFrame:
    """Columns as other tools write them: each row has one of a few values of each type."""
    rng = random.Random(5)
    kinds: dict[str, list[Any]] = {
        "decimal": [Decimal("1.10"), Decimal("2.00"), Decimal("3.25")],
        "day": [date(2020, 1, 1), date(2020, 2, 1)],
        "moment": [datetime(2020, 1, 1), datetime(2020, 1, 2)],
        "hour": [time(1), time(2, 30)],
        "yes": [True, False],
        "far": [-(2**61), 0, 2**61],
        "holes": [None, 1.0, 2.0],
        "zero": [0.0, -0.0, math.nan],
        "never": [None],
        "padded": ["a ", "a", " b"],
        "bytes": [b"x", b"y"],
        "disease": ["flu", "HIV", None],
    }
    frame = pd.DataFrame({name: [rng.choice(values) for _ in range(rows)] for name, values in kinds.items()})
    frame["narrow"] = np.array([rng.choice([0.1, 0.2, 1.5]) for _ in range(rows)], dtype=np.float32)
    frame["small"] = np.array([rng.choice([-3, 0, 2]) for _ in range(rows)], dtype=np.int8)
    frame["large"] = np.array([rng.choice([2**63, 2**63 + 5]) for _ in range(rows)], dtype=np.uint64)
    frame["kind"] = pd.Categorical([rng.choice(["u", "v"]) for _ in range(rows)])
    return frame


@pytest.mark.parametrize(
    "quasi",
    [
        ("decimal", "day", "never"),
        ("moment", "hour", "bytes"),
        ("yes", "far", "zero"),
        ("holes", "padded", "kind"),
        ("small", "large", "narrow"),
    ],
)
def test_typed_columns_of_parquet(quasi: tuple[str, ...], tmp_path: Path) -> None:
    frame = typed()[[*quasi, "disease", "narrow", "decimal"]].copy()
    frame = frame.loc[:, ~frame.columns.duplicated()]
    frame.to_parquet(tmp_path / "r.parquet")
    columns = {c: SENSITIVE if c == "disease" else {**SENSITIVE, **NUMBER} for c in frame} | dict.fromkeys(quasi, QUASI)
    assert_same(tmp_path / "r.parquet", Schema.from_dict({"columns": columns}), sample=40)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("limit", "count", "value", "code", "n", "key0", "sp ace", 'qu"ote', "ünï", "rows", "size", "c0"),
        ("select", "native_c0", "label0", "it's", "a;b", "weight", "a.b", "x`y", "{z}", "number", "people", "times"),
    ],
)
def test_columns_may_be_called_anything(names: tuple[str, ...], tmp_path: Path) -> None:
    rng = random.Random(len(names[0]))
    cells = {name: [rng.choice("123") for _ in range(90)] for name in names}
    columns: dict[str, Any] = dict.fromkeys(names[:6], QUASI) | dict.fromkeys(names[6:11], SENSITIVE)
    columns[names[11]] = {"role": "weight", **NUMBER}
    case = Case(columns, cells)
    assert_same(case.csv(tmp_path / "r.csv"), case.schema, sample=30)
    assert_same(case.parquet(tmp_path / "r.parquet"), case.schema, sample=30)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (["1.5", "2.25", "40"], False),
        (["1", "", "3"], True),
        (["1", "[2, 5]", "3"], True),
        (["1", "0", "2"], True),
        (["*", "2"], True),
        (["1", "-9"], True),
        ([1, 2.5, None], True),
        ([1, 99], True),
    ],
)
def test_sampling_weights(weights: list[Any], reason: bool, tmp_path: Path) -> None:
    rng = random.Random(2)
    cells = {"q": [rng.choice("abc") for _ in range(60)], "s": [rng.choice("xy") for _ in range(60)]}
    columns = {"q": QUASI, "s": SENSITIVE, "w": {"role": "weight", **NUMBER}}
    case = Case(columns, {**cells, "w": [weights[i % len(weights)] for i in range(60)]}, {"missing": ["", "99"]})
    file = case.csv(tmp_path / "r.csv") if isinstance(weights[0], str) else case.parquet(tmp_path / "r.parquet")
    found = assert_same(file, case.schema)["release"]["weighted"]
    assert (found["reason"] is not None) is reason
    assert (found["max"] is None) is reason


@pytest.mark.parametrize(("suppression", "cells"), [("excluded", "wildcard"), ("own", "wildcard"), ("wildcard", "own")])
def test_weights_where_cells_are_suppressed(suppression: str, cells: str, tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = [["*" if rng.random() < 0.3 else rng.choice("abc") for _ in range(2)] for _ in range(60)]
    cells_of = {"q": [q for q, _ in rows], "r": [r for _, r in rows], "s": ["x", "y"] * 30, "w": [1, 2, 3] * 20}
    columns = {"q": QUASI, "r": QUASI, "s": SENSITIVE, "w": {"role": "weight", **NUMBER}}
    file = Case(columns, cells_of).csv(tmp_path / "r.csv")
    asked = {"suppression": Suppression(suppression), "cells": WithheldCells(cells)}
    found = assert_same(file, Case(columns, cells_of).schema, **asked)["release"]
    assert found["withheld_cells"] == cells
    assert found["weighted"]["max"] is not None


# ----- shapes ----------------------------------------------------------------------------------------------------------


def letters(rows: int = 50) -> dict[str, list[str]]:
    rng = random.Random(9)
    return {name: [rng.choice(name) for _ in range(rows)] for name in ("ab", "xy", "km")}


@pytest.mark.parametrize(
    ("columns", "changed"),
    [
        ({"ab": QUASI, "xy": SENSITIVE, "km": SENSITIVE}, {"ab": ["a"] * 50}),  # one class
        ({"ab": SENSITIVE, "xy": SENSITIVE, "km": {"role": "neutral"}}, {}),  # nothing is known of anybody
        ({"ab": QUASI, "xy": QUASI, "km": {"role": "neutral"}}, {}),  # nothing is sensitive
        ({"ab": {"role": "identifier"}, "xy": QUASI, "km": SENSITIVE}, {}),
        ({"ab": QUASI, "xy": SENSITIVE, "km": SENSITIVE}, {"ab": ["*"] * 50}),  # one class that covers all
        ({"ab": QUASI, "xy": SENSITIVE, "km": SENSITIVE}, {"xy": ["*"] * 50}),
        ({"ab": QUASI, "xy": {**SENSITIVE, **NUMBER}, "km": SENSITIVE}, {"xy": [""] * 50}),
    ],
)
def test_tables_of_any_shape(columns: dict[str, Any], changed: dict[str, list[str]], tmp_path: Path) -> None:
    case = Case(columns, {**letters(), **changed})
    assert_same(case.csv(tmp_path / "r.csv"), case.schema, sample=20)


@pytest.mark.slow
def test_classes_whose_keys_need_two_numbers(tmp_path: Path) -> None:
    """Twelve columns of 200 values, or nine of large numbers: more combinations than 62 bits have."""
    rng = np.random.default_rng(1)
    texts = {f"q{i}": [str(v) for v in rng.integers(0, 200, 300)] for i in range(12)}
    numbers = {f"q{i}": rng.integers(0, 10**9, 300) * 7 for i in range(9)}
    for cells, file in ((texts, tmp_path / "r.csv"), (numbers, tmp_path / "r.parquet")):
        sizes = [(c, len(set(map(str, values)))) for c, values in cells.items()]
        assert len(Keys.of(sizes).names) == 2
        cells = {**cells, "s": [rng.choice(["x", "y"]) for _ in range(300)]}
        columns = {c: QUASI | (NUMBER if file.suffix == ".parquet" else {}) for c in cells} | {"s": SENSITIVE}
        case = Case(columns, {c: [*values, values[0]] for c, values in cells.items()})
        made = case.csv(file) if file.suffix == ".csv" else case.parquet(file)
        record = assert_same(made, case.schema, sample=50)
        assert record["release"]["rows"] == 301


def test_keys_come_apart_again_whatever_their_size() -> None:
    rng = random.Random(4)
    for _ in range(6):
        sizes = [(f"q{i}", rng.choice([2, 3, 1000, 20_000_000, 2**26 - 1])) for i in range(7)]
        keys = Keys.of(sizes)
        code = {c: np.array([0, size - 1, *(rng.randrange(size) for _ in range(200))]) for c, size in sizes}
        packed = {
            name: sum((code[c] * times for c, times, _ in part), start=np.zeros(202, np.int64))
            for name, part in zip(keys.names, keys.parts, strict=True)
        }
        assert all((key >= 0).all() and (key < 2**62).all() for key in packed.values())
        with open_engine("duckdb", MEMORY) as engine:
            table = small_table(engine.ibis, **packed, row=np.arange(202))
            again = engine.con.execute(table.select("row", **keys.unpacked(table)).order_by("row"))
        for column, found in keys.unpacked(packed).items():
            assert found.tolist() == code[column].tolist() == again[column].tolist()


def test_a_sample_of_nobody_and_of_everybody(tmp_path: Path) -> None:
    case = Case({"ab": QUASI, "xy": SENSITIVE, "km": SENSITIVE}, letters(2000))
    file = case.csv(tmp_path / "r.csv")
    assert_same(file, case.schema, sample=2000)
    nobody = [ask(file, case.schema, sample=1, seed=5) for ask in (message(scanned), message(in_memory))]
    assert nobody[0] == nobody[1]
    assert "nobody was drawn of the 2000 people" in nobody[0]


def message(ask: Any) -> Any:
    def said(*given: Any, **asked: Any) -> str:
        with pytest.raises(UsageError) as caught:
            ask(*given, **asked)
        return str(caught.value)

    return said


def test_a_table_without_roles_is_refused(tmp_path: Path) -> None:
    case = Case({name: {"role": "neutral"} for name in letters()}, letters())
    with pytest.raises(ReleaseError, match="none of its columns quasi or sensitive"):
        scanned(case.csv(tmp_path / "r.csv"), case.schema)
