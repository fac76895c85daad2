"""Columns as engines see them: names that differ in case only, files that differ, folders that give columns; and the order in
which rows come back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.engines.engine import batches, open_engine
from auditor.engines.sources.sources import shown_address
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import Schema
from tests.conftest import Ended
from tests.support.scanning_cases import MEMORY, ROWS, SCHEMA, Case, assert_same, scanned

pytest.importorskip("ibis")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
Cli = Callable[..., Ended]


def schema_of(others: str = "error", **roles: str) -> Schema:
    columns = {c: {"role": role, "type": "numeric"} if c == "age" else {"role": role} for c, role in roles.items()}
    return Schema.from_dict({"table": {"others": others}, "columns": columns})


@pytest.mark.parametrize("others", ["error", "neutral"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_that_differ_in_case_only_are_refused(kind: str, others: str, tmp_path: Path) -> None:
    """DuckDB would call the second one `age_1`, so that nobody would count it."""
    frame = pd.DataFrame({"Age": [1, 1, 1], **ROWS})
    file = tmp_path / f"r.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    with pytest.raises(TableError, match="column 1 and column 'age' have the same name to the engine duckdb"):
        scanned(file, schema_of(others, age="quasi", town="quasi", disease="sensitive"))


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array([1, 2])] * 2, names=["age", "age"]), tmp_path / "r.parquet")
    with pytest.raises(TableError, match="have the same name"):
        scanned(tmp_path / "r.parquet", schema_of("neutral", age="quasi"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"age": [20.4, 30.4, 40.4]}, "'age' is int64 in a.parquet and double in b.parquet"),
        ({"town": [b"a", b"b", b"c"]}, "'town' is string in a.parquet and binary in b.parquet"),
        ({"age": ["20", "secret", "40"]}, "'age' is int64 in a.parquet and string in b.parquet"),
        ({"ssn": ["1", "2", "3"]}, "column 4 is absent in a.parquet and string in b.parquet"),
    ],
)
def test_files_that_differ_are_refused(change: dict[str, Any], said: str, tmp_path: Path, auditor_cli: Cli) -> None:
    """An engine would make the second file's columns those of the first: 20.4 would be 20, and a further column unseen."""
    (tmp_path / "s.toml").write_text(SCHEMA)
    folder = tmp_path / "data"
    folder.mkdir()
    pq.write_table(pa.table(ROWS), folder / "a.parquet")
    pq.write_table(pa.table(ROWS | change), folder / "b.parquet")
    ended = auditor_cli("audit", folder, "--schema", tmp_path / "s.toml", "--json", tmp_path / "out.json")
    assert ended.code == 3
    assert said in ended.err
    assert "secret" not in ended.err + ended.out
    assert not (tmp_path / "out.json").exists()


def test_files_may_hold_texts_in_other_ways(tmp_path: Path) -> None:
    table = pa.table(ROWS)
    pq.write_table(table, tmp_path / "a.parquet")
    coded = table.set_column(1, "town", table["town"].dictionary_encode())
    pq.write_table(coded.set_column(2, "disease", table["disease"].cast(pa.large_string())), tmp_path / "b.parquet")
    record = scanned(tmp_path, schema_of(age="quasi", town="quasi", disease="sensitive"))
    assert record["release"]["class_sizes"] == {"2": 3}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_folders_inside_of_a_release_give_columns_and_those_above_do_not(kind: str, tmp_path: Path) -> None:
    home, frame = tmp_path / "run=3", pd.DataFrame(ROWS)
    files = [home / f"r.{kind}", *(home / "data" / f"year={year}" / f"part.{kind}" for year in ("007", "7"))]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    roles = {"age": "quasi", "town": "quasi", "disease": "sensitive"}
    assert_same(files[0], schema_of(**roles))
    record = scanned(home / "data", schema_of(**roles, year="quasi"))
    assert record["release"]["quasi"] == ["age", "town", "year"]
    assert record["release"]["class_sizes"] == {"1": 6}


def test_a_folder_must_not_give_a_column_that_files_hold(tmp_path: Path) -> None:
    (tmp_path / "town=a").mkdir()
    pd.DataFrame(ROWS).to_parquet(tmp_path / "town=a" / "r.parquet")
    with pytest.raises(TableError, match="have the same name"):
        scanned(tmp_path, schema_of(age="quasi", town="quasi", disease="sensitive"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_name_is_no_pattern(kind: str, tmp_path: Path) -> None:
    """Taken for a pattern these names would fit the other file, and not their own."""
    frame = pd.DataFrame(ROWS)
    for name, held in ((f"v[1]{{x}}?.{kind}", frame), (f"v1{{x}}y.{kind}", frame.iloc[:1])):
        held.to_csv(tmp_path / name, index=False) if kind == "csv" else held.to_parquet(tmp_path / name)
    schema = schema_of(age="quasi", town="quasi", disease="sensitive")
    assert assert_same(tmp_path / f"v[1]{{x}}?.{kind}", schema)["release"]["rows"] == 3


def test_batches_come_in_order() -> None:
    """Threads read a table in any order, and a class whose rows do not come together would count as several."""
    rows = 1_000_000
    key = np.random.default_rng(0).integers(0, rows // 10, rows)
    with open_engine("duckdb", MEMORY) as engine:
        table = engine.ibis.memtable(pa.table({"key0": key, "value": np.arange(rows)}))
        found = [np.column_stack(batch.columns) for batch in batches(engine, table, 50_000, ["key0", "value"])]
    expected = np.column_stack([key, np.arange(rows)])[np.argsort(key, kind="stable")]
    assert len(found) > 2
    assert np.array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize("sample", [0, -5])
def test_a_sample_must_have_somebody(sample: int, tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "r.parquet")
    with pytest.raises(UsageError, match="--sample must be at least 1"):
        scanned(tmp_path / "r.parquet", schema_of(age="quasi", town="quasi", disease="sensitive"), sample=sample)


@pytest.mark.parametrize(
    "where",
    [
        "postgres://me:gehe#im@host/db#t",
        "postgres://me:gehe/im@host/db#t",
        "postgres://me:gehe?im@host/db#t",
        "postgres://me:gehe[im@host/db#t",
        "postgres://me:gehe\u2100im@host/db#t",
        "postgres://me:gehe",
        "postgresql://host/db?user=me&password=geheim#t",
    ],
)
def test_an_address_that_cannot_be_parted_is_not_shown(where: str) -> None:
    with pytest.raises(UsageError) as caught:
        shown_address(where)
    assert "gehe" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_tell_nearly_all_rows_apart(kind: str, tmp_path: Path) -> None:
    rows = range(60)
    cells = {
        "q": [str(i // 20) for i in rows],
        "s": ["x", "y"] * 30,
        "id": [str(1000 + i) for i in rows],
        "few": ["" if i % 2 else f"a{i}" for i in rows],
        "number": [i + 0.5 for i in rows],
        "town": [f"t{i % 7}" for i in rows],
    }
    neutral = {"role": "neutral"}
    columns = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, "number": {**neutral, "type": "numeric"}}
    case = Case({**columns, "id": neutral, "few": neutral, "town": neutral}, cells)
    file = case.csv(tmp_path / "r.csv") if kind == "csv" else case.parquet(tmp_path / "r.parquet")
    found = assert_same(file, case.schema)["release"]["distinct"]
    assert {one["column"]: one["identifying"] for one in found} == {"id": True, "few": True, "number": False}
