"""Scans by Spark: the record is that of memory and of DuckDB, on small awkward tables, on Adult, and on a million rows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizers.anonymizing import anonymize
from auditor.engines.spark import check_java, spark_session
from auditor.model.errors import AuditorError, TableError
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from tests.anonymizers.test_blocks_running import SEVERAL, people
from tests.anonymizers.test_blocks_running import files as written
from tests.conftest import Ended
from tests.support.adult import unpack_release, write_adult
from tests.support.scanning_cases import ROWS, SCHEMA, Case, assert_same, differences, in_memory, random_case, scanned

pytest.importorskip("ibis")
Cli = Callable[..., Ended]


@pytest.fixture(scope="module")
def spark() -> str:
    """The name of the engine, where it can be started. Spark keeps running: one session serves all tests here."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    try:
        check_java()
    except AuditorError as error:
        pytest.skip(str(error))
    return "spark"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("csv", marks=pytest.mark.proof(only=True)), "parquet"])
def test_an_awkward_table(kind: str, spark: str, tmp_path: Path) -> None:
    case = random_case(16, rows=150, wide=True, withheld=0.1)
    kept = ("age", "zip", "disease") if kind == "csv" else tuple(case.cells)
    case = Case({c: case.columns[c] for c in kept}, {c: case.cells[c] for c in kept}, case.form)
    file = getattr(case, kind)(tmp_path / f"r.{kind}")
    suppression = Suppression.OWN if kind == "csv" else Suppression.EXCLUDED
    assert_same(file, case.schema, spark, suppression=suppression, recursive_l=3, sample=60)


@pytest.mark.slow
def test_typed_columns_and_a_register(spark: str, tmp_path: Path) -> None:
    """Dates, decimals, narrow numbers, nulls; names that Spark would read otherwise; a folder with inner folders."""
    rng = np.random.default_rng(2)
    columns: dict[str, Any] = {"a.b": {"role": "quasi"}, "the `day`": {"role": "quasi"}, "yes": {"role": "quasi"}}
    columns |= {"narrow": {"role": "sensitive", "type": "numeric"}, "c0": {"role": "weight", "type": "numeric"}}
    frame = pd.DataFrame(
        {
            "a.b": rng.choice(["x ", "x", "y"], 90),
            "the `day`": pd.to_datetime(rng.choice(["2020-01-01", "2021-01-01"], 90)).date,
            "yes": rng.random(90) < 0.5,
            "narrow": rng.choice([0.1, 0.7, np.nan], 90).astype(np.float32),
            "c0": rng.integers(1, 30, 90),
        }
    )
    schema = Schema.from_dict({"columns": columns})
    frame.to_parquet(tmp_path / "whole.parquet", index=False)
    (tmp_path / "data" / "inner").mkdir(parents=True)
    frame[:40].to_parquet(tmp_path / "data" / "a.parquet", index=False)
    frame[40:].to_parquet(tmp_path / "data" / "inner" / "b.parquet", index=False)
    population = str(tmp_path / "whole.parquet")
    ours = scanned(tmp_path / "data", schema, spark, population=population)
    theirs = in_memory(tmp_path / "whole.parquet", schema, population=population)
    assert ours["release"]["register"]["people"] == 90
    for record in (ours, theirs):
        del record["inputs"]
        del record["release"]["name"]
    assert differences(theirs, ours) == []


@pytest.mark.slow
@pytest.mark.data
def test_adult(spark: str, data_folder: Path, tmp_path: Path) -> None:
    """ARX's release of Adult, of eight quasi-identifiers and 30162 rows."""
    _, schema = write_adult(data_folder, tmp_path)
    release = pd.read_csv(unpack_release(data_folder, "k5_s5_8qi", tmp_path), sep=";", dtype=str)
    file = tmp_path / "adult.parquet"
    release.to_parquet(file, index=False)
    theirs = in_memory(file, schema, sample=2000)
    assert theirs["release"]["rows"] == 30162
    assert theirs["release"]["k"] >= 5
    for engine in ("duckdb", spark):
        assert differences(theirs, scanned(file, schema, engine, sample=2000)) == []


@pytest.mark.slow
@pytest.mark.proof(only=True)
def test_a_million_rows(spark: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    rows = 1_000_000
    cells = {
        "age": rng.choice([f"[{a}, {a + 5}[" for a in range(20, 80, 5)], rows),
        "town": rng.integers(100, 160, rows),
        "sex": rng.choice(["f", "m", "*"], rows, p=[0.5, 0.48, 0.02]),
        "disease": rng.choice(["flu", "cold", "HIV", "ulcer"], rows, p=[0.6, 0.3, 0.04, 0.06]),
        "income": rng.integers(0, 60, rows) * 100,
    }
    columns: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}, "town": {"role": "quasi"}}
    columns |= {"sex": {"role": "quasi"}, "disease": {"role": "sensitive"}}
    columns["income"] = {"role": "sensitive", "type": "numeric"}
    case = Case(columns, cells)
    file = case.parquet(tmp_path / "r.parquet")
    asked = {"sample": 2000, "attacks": ("linking", "homogeneity"), "utility": ()}
    theirs = in_memory(file, case.schema, **asked)
    assert theirs["release"]["classes"] > 1000
    for engine in ("duckdb", spark):
        assert differences(theirs, scanned(file, case.schema, engine, **asked)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("revealed")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age,town,disease\n" + "20,a,flu\n" * 200_000 + "30,b\n", "does not have as many cells as there are columns"),
        ("sep=;\nage;town;disease\n20;a;flu\n", "Spark reads CSV whose header is its first line"),
        ("age,town,disease\nthirty,a,flu\n", "column 'age': the label 'thirty' denotes no value"),
    ],
)
def test_faults_of_csv(text: str, said: str, spark: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(text)
    (tmp_path / "s.toml").write_text(SCHEMA)
    with pytest.raises(AuditorError) as caught:
        scanned(tmp_path / "r.csv", tmp_path / "s.toml", spark)
    assert said in str(caught.value)
    assert str(tmp_path / "r.csv") in str(caught.value)


@pytest.mark.slow
def test_damaged_parquet(spark: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "r.parquet")
    content = (tmp_path / "r.parquet").read_bytes()
    (tmp_path / "s.toml").write_text(SCHEMA)
    for damaged in (content[: len(content) // 2], content[:40] + b"x" * 20 + content[60:]):
        (tmp_path / "r.parquet").write_bytes(damaged)
        with pytest.raises(TableError, match=r"r\.parquet: the Parquet is damaged"):
            scanned(tmp_path / "r.parquet", tmp_path / "s.toml", spark)


# ----- where it cannot run ---------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "r.parquet")
    (tmp_path / "s.toml").write_text(SCHEMA)
    return tmp_path / "r.parquet", tmp_path / "s.toml"


def test_without_pyspark(files: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    ended = auditor_cli("audit", files[0], "--schema", files[1], "--engine", "spark")
    assert ended.code in (2, 3)
    assert "The engine spark needs pyspark: pip install 'auditor[spark]'" in ended.err


def test_without_java(files: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", staticmethod(lambda: None))
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(files[0].parent))
    ended = auditor_cli("audit", files[0], "--schema", files[1], "--engine", "spark")
    assert ended.code in (2, 3)
    assert "The engine spark needs Java" in ended.err
    assert "Install Java 17 or later" in ended.err


@pytest.mark.slow
def test_blocks_by_spark_give_the_same_release(spark: str) -> None:
    table = people(300)
    session = spark_session("1g")
    try:
        assert session.conf.get("spark.sql.session.timeZone") == "UTC"
        assert spark_session().sparkContext is session.sparkContext
        for name, settings in SEVERAL[:2]:
            here = anonymize(table, name, 5, blocks=100, jobs=1, **settings)
            assert written(here) == written(anonymize(table, name, 5, blocks=100, engine=spark, **settings))
        session.stop()
        again = spark_session("1g")  # in the Java process that the stopped one left
        assert again.sparkContext is not session.sparkContext
        assert again.range(3).count() == 3
    finally:
        spark_session().stop()
