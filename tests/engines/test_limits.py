"""Limits of a scan: memory and disk, what is said before it starts, interruption, and which engine does what."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.scanned import Need, scan_audit
from auditor.commands import scanning
from auditor.engines.engine import LEAST_MEMORY, Engine, duckdb_limit, machine_memory, open_engine, read_memory
from auditor.engines.scanning import drawing, opening
from auditor.model.errors import ReleaseError, TableError, UsageError
from auditor.model.schema import Schema
from tests.conftest import Ended
from tests.support.scanning_cases import ROWS, SCHEMA, Case, differences, in_memory, plain, scanned

pytest.importorskip("ibis")
Cli = Callable[..., Ended]


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    """A release and its schema, as files."""
    pd.DataFrame(ROWS).to_parquet(tmp_path / "r.parquet")
    (tmp_path / "s.toml").write_text(SCHEMA)
    return tmp_path / "r.parquet", tmp_path / "s.toml"


def large(file: Path, rows: int = 3_000_000) -> Path:
    """A table with nearly as many classes as rows."""
    rng = np.random.default_rng(1)
    cells = {"age": rng.integers(0, 200, rows), "town": rng.integers(0, 40_000, rows)}
    return Case({}, {**cells, "disease": rng.choice(["flu", "HIV", "ulcer"], rows)}).parquet(file)


# ----- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [("1GB", 10**9), (" 800 mb", 800_000_000), ("2GiB", 2**31), ("1.5GB", 1_500_000_000), ("600000000", 600_000_000)],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert read_memory(text) == size


@pytest.mark.parametrize("text", ["", "viel", "1XB", "-1GB", "1 GB 2", "1e9", "GB", "1,5GB"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"must be a size such as 1GB or 800MB\. Got"):
        read_memory(text)


@pytest.mark.parametrize("text", ["0", "499MB", "400MiB"])
def test_too_little_memory(text: str) -> None:
    with pytest.raises(UsageError, match=r"must be at least 500MB: the libraries take most of that\. Got"):
        read_memory(text)


def test_an_engine_gets_what_the_libraries_leave() -> None:
    assert duckdb_limit(LEAST_MEMORY) < LEAST_MEMORY // 2
    assert 0.8 * 10**10 < duckdb_limit(10**10) < 10**10
    assert machine_memory() > 10**8


def test_what_a_scan_needs_is_said(tmp_path: Path) -> None:
    need = Need(1_000_000, 2_000, "duckdb", 10**9, tmp_path / "spill")
    (tmp_path / "spill").mkdir()
    assert need.sentence() == (
        "1,000,000 rows in at most 2,000 groups, counted by duckdb: up to 1.0 GB of memory, nothing on disk."
    )
    many = replace(need, groups=200_000_000)
    assert f"up to 1.0 GB of memory, and up to 24.0 GB on disk in {tmp_path}" in many.sentence()
    assert "it may not suffice" in replace(need, groups=10**15).sentence()
    assert replace(need, engine="spark", spill=None).sentence().endswith("2,000 groups, counted by spark.")


def test_the_need_is_said_before_it_starts(small: tuple[Path, Path]) -> None:
    said: list[str] = []
    scanned(*small, say=said.append)
    assert len(said) == 1
    assert said[0].startswith(f"{small[0]}: 3 rows in at most 3 groups, counted by duckdb: up to 1.0 GB of memory")


@pytest.mark.slow
def test_what_does_not_fit_goes_to_disk_and_is_removed(tmp_path: Path) -> None:
    """Three million classes in less than 150 MB: what lies in the folder is looked at while the scan runs."""
    file, spill = large(tmp_path / "r.parquet"), tmp_path / "spill"
    spill.mkdir()
    (tmp_path / "s.toml").write_text(SCHEMA)
    most, over, told = [0], Event(), []

    def watch() -> None:
        while not over.wait(0.02):
            size = 0
            for held in spill.rglob("*"):
                with suppress(FileNotFoundError):  # the engine removed it while we looked
                    size += held.stat().st_size
            most[0] = max(most[0], size)

    thread = Thread(target=watch)
    thread.start()
    try:
        asked: dict[str, Any] = {"attacks": ("linking",), "utility": (), "sample": 500}
        record = scanned(
            file, tmp_path / "s.toml", memory=LEAST_MEMORY, spill=spill, progress=lambda *at: told.append(at), **asked
        )
    finally:
        over.set()
        thread.join()
    assert record["release"]["rows"] == 3_000_000
    assert record["release"]["classes"] > 2_000_000
    assert most[0] > 10_000_000
    assert list(spill.iterdir()) == []
    assert_progress(told)


def assert_progress(told: list[tuple[int, int, str]]) -> None:
    """It never goes back, says what goes on, and comes to an end."""
    done = [at for at, _, _ in told]
    assert done == sorted(done)
    assert len(set(done)) > 4
    assert all(0 <= at <= total and what for at, total, what in told)
    assert told[-1][:2] == (told[0][1], told[0][1])


def test_progress_of_several_queries_in_one_step(small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine tells of each query from nothing to all; a step has several of them."""
    told: list[tuple[int, int, str]] = []

    @contextmanager
    def restless(_: Engine, tell: Callable[[float], None]) -> Iterator[None]:
        yield
        for share in (0.0, 0.9, 0.1, 1.0, 0.0):
            tell(share)

    monkeypatch.setattr("auditor.auditing.scanned.watched", restless)
    scanned(*small, progress=lambda *at: told.append(at))
    assert_progress(told)


def test_the_folder_is_gone_after_an_error(small: tuple[Path, Path], tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    pd.DataFrame({**ROWS, "age": ["20", "thirty", "40"]}).to_parquet(small[0])
    with pytest.raises(ReleaseError, match="a label of 6 characters"):
        scanned(*small, spill=spill)
    assert list(spill.iterdir()) == []
    with open_engine("duckdb", 10**9, spill) as engine:
        assert [engine.spill] == list(spill.iterdir())
    assert list(spill.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_ends_a_scan_and_leaves_nothing(tmp_path: Path) -> None:
    file, spill, out = large(tmp_path / "r.parquet"), tmp_path / "spill", tmp_path / "out.json"
    spill.mkdir()
    (tmp_path / "s.toml").write_text(SCHEMA)
    command = [
        sys.executable,
        "-m",
        "auditor",
        "audit",
        str(file),
        "--schema",
        str(tmp_path / "s.toml"),
        "--json",
        str(out),
    ]
    command += ["--engine", "duckdb", "--memory", "500MB", "--spill", str(spill)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while child.poll() is None and not any(found.is_file() for found in spill.rglob("*")):
            time.sleep(0.02)  # until a query is under way that has spilled
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
    finally:
        child.kill()
    assert child.returncode == 130, said
    assert "Internal error" not in said
    assert list(spill.iterdir()) == []
    assert not out.exists()


def test_a_spill_folder_that_cannot_be_used(small: tuple[Path, Path], tmp_path: Path, auditor_cli: Cli) -> None:
    given = ("audit", small[0], "--schema", small[1], "--engine", "duckdb", "--spill")
    ended = auditor_cli(*given, tmp_path / "absent")
    assert ended.code == 2
    assert f"--spill: no folder can be made in {tmp_path / 'absent'} (No such file or directory)." in ended.err


def test_a_spill_folder_without_room(small: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.engines.engine.LEAST_SPACE", 2**80)
    with pytest.raises(UsageError, match="Name a folder with more room"):
        scanned(*small, spill=tmp_path)
    assert not list(tmp_path.glob("auditor-spill-*"))


def test_a_table_that_changes_while_it_is_read(small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody adds a row between the first look at the labels and the counting of classes."""
    found = opening._suppressed_rows

    def slow(counting: Any) -> int:
        pd.DataFrame({column: [*cells, cells[0]] for column, cells in ROWS.items()}).to_parquet(small[0])
        return found(counting)

    monkeypatch.setattr(opening, "_suppressed_rows", slow)
    with pytest.raises(TableError, match=r"r\.parquet: (the table changed while it was read|Parquet that is damaged)"):
        scanned(*small)


# ----- the sample -----------------------------------------------------------------------------------------------------


def classes_of(sizes: list[int], file: Path) -> Path:
    age = [number for number, size in enumerate(sizes) for _ in range(size)]
    cells = {"age": age, "town": ["a"] * len(age), "disease": ["flu", "HIV"] * (len(age) // 2)}
    return Case({}, cells).parquet(file)


@pytest.mark.slow
def test_the_sample_is_made_smaller_where_classes_are_large(
    small: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand classes of ten people: 3000 people are in nearly all of them, and only 4000 rows may be held."""
    file = classes_of([10] * 1000, tmp_path / "many.parquet")
    monkeypatch.setattr(drawing, "_room", lambda _: 4000)
    record = scanned(file, small[1], sample=3000, seed=2)
    note = next(
        note["text"] for note in record["notes"] if note["text"].startswith("The sample was reduced from 3000 to ")
    )
    fitting = int(note.removeprefix("The sample was reduced from 3000 to ").split()[0])
    assert 100 <= fitting < 3000
    again = scanned(file, small[1], sample=fitting, seed=2)
    assert differences(again["risks"], record["risks"]) == []
    assert differences(again["release"], record["release"]) == []
    monkeypatch.undo()
    assert differences(in_memory(file, small[1], sample=fitting, seed=2)["risks"], record["risks"]) == []


def test_nobody_is_attacked_where_one_class_does_not_fit(
    small: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = classes_of([4000, 2000], tmp_path / "few.parquet")
    monkeypatch.setattr(drawing, "_room", lambda _: 1000)
    record = plain(scan_audit(file, small[1], memory="1GB"))
    assert any(note["text"].startswith("Nobody was attacked: the classes of") for note in record["notes"])
    assert {risk["status"] for risk in record["risks"]} <= {"not_applicable"}
    assert (record["release"]["rows"], record["release"]["k"]) == (6000, 2000)


# ----- which engine ---------------------------------------------------------------------------------------------------


def chosen(release: Path | str, engine: str | None = None, **given: Any) -> str | None:
    asked = scanning.EngineOptions(engine=engine, memory=given.get("memory"), spill=given.get("spill"))
    found = scanning.chosen_engine(str(release), given.get("population"), asked, given.get("only", {}))
    return None if found is None else found.engine


def test_the_size_chooses_the_engine(small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    file = small[0]
    assert chosen(file) is None
    assert chosen(file, "duckdb") == "duckdb"
    assert chosen(file, "spark") == "spark"
    assert chosen(file.parent) == "duckdb"
    assert chosen("postgres://host/db#t") == "duckdb"
    assert chosen(file, population="duckdb:///x.duckdb") == "duckdb"
    monkeypatch.setattr(scanning, "LARGE", 100)
    assert chosen(file) == "duckdb"
    assert chosen(file, "memory") is None
    (file.parent / "manifest.json").write_text("{}")
    assert chosen(file.parent) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "flink"], "--engine must be one of memory, duckdb, spark. Got 'flink'."),
        (["--engine", "memory", "--memory", "1GB"], "--memory is for engines: give --engine duckdb or spark"),
        (["--spill", "."], "--spill is for engines: give --engine duckdb or spark"),
        (["--engine", "duckdb", "--memory", "5MB"], "--memory must be at least 500MB"),
        (["--engine", "duckdb", "--original", "r.parquet"], "--original needs the release in memory: leave it out"),
        (["--engine", "duckdb", "--targets", "1"], "--targets needs the release in memory"),
        (["--engine", "duckdb", "--provenance", "p.csv"], "--provenance needs the release in memory"),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], said: str, small: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small[0].parent)
    ended = auditor_cli("audit", "r.parquet", "--schema", "s.toml", "--json", "out.json", *options)
    assert ended.code == 2
    assert said in ended.err
    assert not Path("out.json").exists()


def test_what_needs_memory_is_refused_for_what_is_large(
    small: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "LARGE", 100)
    ended = auditor_cli("audit", small[0], "--schema", small[1], "--original", small[0], "--match", "rows")
    assert ended.code == 2
    assert "--original needs the release in memory, and it is large" in ended.err
    again = auditor_cli(
        "audit", small[0], "--schema", small[1], "--engine", "memory", "--original", small[0], "--match", "rows"
    )
    assert again.code == 0, again.err


@pytest.mark.parametrize("missing", ["ibis", "duckdb"])
def test_without_the_libraries(
    missing: str, small: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ended = auditor_cli("audit", small[0], "--schema", small[1], "--engine", "duckdb")
    assert ended.code in (2, 3)
    assert "needs Ibis and DuckDB: pip install 'auditor[scan]'" in ended.err
    assert "--engine memory" in ended.err


def test_without_the_driver_of_postgresql(
    small: tuple[Path, Path], auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    ended = auditor_cli("audit", "postgres://me:pw@host/db#t", "--schema", small[1])
    assert ended.code in (2, 3)
    assert "pip install 'auditor[postgres]'" in ended.err


def test_a_column_of_more_values_than_memory_holds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.engines.scanning.coding._VALUE", 10_000_000)  # 1 GB then has room for fifty texts
    frame = pd.DataFrame({"q": ["a", "b"] * 40, "s": [str(i) for i in range(80)]})
    frame.to_parquet(tmp_path / "r.parquet")
    schema = Schema.from_dict({"columns": {"q": {"role": "quasi"}, "s": {"role": "sensitive"}}})
    with pytest.raises(TableError, match=r"column 's': more than 50 different values.*--memory"):
        scan_audit(tmp_path / "r.parquet", schema, memory="1GB")


def test_spark_has_a_folder_of_its_own(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"--spill is for DuckDB: .*spark.local.dir"),
        open_engine("spark", None, tmp_path),
    ):
        pytest.fail("it must not be opened")
