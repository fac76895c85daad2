"""Blocks of rows where they run: processes, Spark, the command line; and what they cost."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import auditor
from anonymizers.anonymizing import anonymize
from anonymizers.blocks.running import BlockWork, Engine
from anonymizers.blocks.weighing import LARGEST, Cost, check_comparable, cost_of_blocks
from auditor.engines.pool import run_jobs
from auditor.engines.spark import check_java, spark_session
from auditor.engines.worker import Reply
from auditor.files.releases import write_release
from auditor.measure.classes import class_facts
from auditor.measure.counts import class_sizes
from auditor.model.errors import AuditorError, PromiseError, UsageError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from scenarios.adversaries import Adversary, MechanismKnown
from scenarios.simulators import Setting, Simulator
from tests.anonymizers.test_blocks import people
from tests.conftest import Ended
from tests.support.anonymizer_cases import BLOCKS


def files(found: tuple[Any, Any]) -> Any:
    return write_release(*found, Path("r"))


# ----- where blocks run ----------------------------------------------------------------------------------------------

SEVERAL: list[tuple[str, dict[str, Any]]] = [
    ("kmember", {"k": 4}),
    ("mondrian", {"k": 3, "t": 0.3}),
    ("rgather", {"r": 3}),
    ("slicing", {"columns": BLOCKS, "l": 2}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), SEVERAL)
def test_the_number_of_processes_changes_nothing(name: str, settings: dict[str, Any]) -> None:
    table = people(300)
    alone = anonymize(table, name, 5, blocks=100, jobs=1, **settings)
    assert alone[0].params["blocks"] >= 3
    assert files(alone) == files(anonymize(table, name, 5, blocks=100, jobs=2, **settings))
    assert files(alone) != files(anonymize(table, name, 6, blocks=100, jobs=1, **settings))


@pytest.mark.slow
@pytest.mark.parametrize(("worth", "started"), [(-1.0, 1), (float("inf"), 0)])
def test_whether_processes_are_started_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, worth: float, started: int
) -> None:
    table, calls = people(300), []

    def counted(work: Any, jobs: Any, *rest: Any) -> Any:
        calls.append(len(jobs))
        return run_jobs(work, jobs, *rest)

    monkeypatch.setattr("anonymizers.blocks.running.run_jobs", counted)
    monkeypatch.setattr("anonymizers.blocks.running.processors", lambda: 2)
    monkeypatch.setattr("anonymizers.blocks.running.WORTH_PROCESSES", worth)
    name, settings = SEVERAL[2]
    alone = anonymize(table, name, 5, blocks=100, jobs=1, **settings)
    assert calls == []
    assert files(alone) == files(anonymize(table, name, 5, blocks=100, **settings))
    assert calls == [alone[0].params["blocks"] - 1] * started  # the first block is always done here


def test_a_block_gets_only_what_it_looks_at() -> None:
    seen: list[BlockWork] = []
    jobs: list[Any] = []

    def watch(work: BlockWork, todo: Any, *_: Any) -> Any:
        seen.append(work)
        jobs.extend(todo)
        return iter(())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizers.blocks.running._replies", watch)
        with pytest.raises(KeyError):  # no block is answered
            anonymize(people(300), "mondrian", blocks=100, k=2, l=2)
    assert set(seen[0].domains) == {"age", "grade", "city", "team", "disease"}
    assert all(set(job.codes) == set(seen[0].domains) for job in jobs)
    assert sum(len(job.codes["age"]) for job in jobs) == 300


def test_a_block_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def replies(status: str, reason: str) -> None:
        reply = Reply(status, reason, None, 0.0)
        monkeypatch.setattr("anonymizers.blocks.running.run_jobs", lambda *_: iter([(2, reply)]))

    replies("failed", "out of memory: more than there is")
    with pytest.raises(
        AuditorError, match=r"block 3 of 5 \(59 rows\) was not finished: out of memory.* Try smaller blocks"
    ):
        anonymize(people(300), "kmember", blocks=100, jobs=2)
    replies("not_applicable", "kmember: no.")
    with pytest.raises(PromiseError, match=r"block 3 of 5: kmember: no\."):
        anonymize(people(300), "kmember", blocks=100, jobs=2)


def test_faults_of_a_call() -> None:
    table = people(50)
    with pytest.raises(UsageError, match=r"at least 7 rows, since kmember k=7 puts so many together. Got 5"):
        anonymize(table, "kmember", blocks=5, k=7)
    with pytest.raises(UsageError, match=r"jobs must be at least 1. Got 0"):
        anonymize(table, "kmember", blocks=20, jobs=0)
    with pytest.raises(UsageError, match=r"one of processes, spark. Got 'dask'"):
        anonymize(table, "kmember", blocks=20, engine="dask")
    with pytest.raises(UsageError, match="Give blocks as well"):
        anonymize(table, "kmember", jobs=2)
    assert Engine.named(None) is Engine.PROCESSES


@pytest.mark.parametrize("name", ["rgather", "rcellular"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_of_the_schema_is_the_same_wherever_blocks_run(name: str, jobs: int) -> None:
    roles = {"age": {"role": "quasi", "type": "numeric"}, "cluster_size": {"role": "sensitive"}}
    cells = {"age": [str(i) for i in range(60)], "cluster_size": ["x", "y"] * 30}
    (table,) = encode(Schema.from_dict({"columns": roles}), [RawTable("t", cells)])
    with pytest.raises(UsageError, match=rf"^{name}: the column 'cluster_size' must have another name"):
        anonymize(table, name, blocks=20, jobs=jobs, r=3)


def test_the_size_of_blocks_may_be_a_number_of_numpy() -> None:
    release, provenance = anonymize(people(120), "slicing", blocks=np.int64(60), jobs=1)
    manifest = write_release(release, provenance, Path("folder"))[0][Path("folder/manifest.json")]
    assert json.loads(manifest)["params"]["block_rows"] == 60


def test_spark_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"such as 4g. Got '4 GB'"):
        spark_session("4 GB")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(AuditorError, match=r"needs pyspark: pip install 'auditor\[spark\]'") as missing:
        anonymize(people(300), "kmember", blocks=100, engine="spark")
    assert missing.value.exit_code == 3
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AuditorError, match=r"needs Java: there is none on PATH. Install Java 17"):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(AuditorError, match=f"JAVA_HOME is {tmp_path}, and there is no Java in it"):
        check_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(AuditorError, match=r"Java 17 or later; .* is version 8"):
        check_java()


# ----- what blocks cost ----------------------------------------------------------------------------------------------


def smooth(rows: int) -> Table:
    """People of some 2000 places in three columns, dense enough that classes are narrow."""
    rng = np.random.default_rng(4)
    roles = {name: {"role": "quasi", "type": "numeric"} for name in ("age", "weight", "town")}
    schema = Schema.from_dict({"columns": roles | {"s": {"role": "sensitive"}}})
    age = rng.integers(18, 90, rows)
    cells = {
        "age": age,
        "weight": np.clip(40 + age / 2 + rng.normal(0, 12, rows), 35, 140).round(),
        "town": rng.integers(0, 30, rows),
    }
    texts = {name: [f"{value:g}" for value in values] for name, values in cells.items()}
    (table,) = encode(schema, [RawTable("t", texts | {"s": ["x", "y"] * (rows // 2)})])
    return table


@pytest.mark.parametrize("name", ["kmember", "caat", "mdav"])
def test_blocks_cost_little(name: str) -> None:
    table = smooth(12_000)
    whole, parted = anonymize(table, name, k=5), anonymize(table, name, blocks=3000, jobs=1, k=5)
    cost = cost_of_blocks(table, parted, whole, 1)
    assert cost.measure == ("square_error" if name == "mdav" else "information_loss")
    assert cost.share is not None
    assert -0.1 < cost.share < 0.1


def test_the_cost_is_a_share_of_the_loss_without_blocks() -> None:
    assert Cost("information_loss", 102.0, 100.0).share == pytest.approx(0.02)
    assert str(Cost("information_loss", 102.0, 100.0)) == "information loss 102 in blocks, 100 without: +2.00%"
    assert Cost("discernibility", 0.0, 0.0).share is None
    table = people(120)
    sliced = anonymize(table, "anatomy", blocks=60, jobs=1, l=2), anonymize(table, "anatomy", l=2)
    assert cost_of_blocks(table, *sliced, 1).measure == "discernibility"
    large = Table("t", table.schema, table.domains, table.codes, LARGEST + 1)
    with pytest.raises(UsageError, match=f"at most {LARGEST} rows"):
        check_comparable(large)


# ----- the command line ----------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> list[object]:
    rng = np.random.default_rng(3)
    lines = [
        f"{age},{town},s{i % 4}"
        for i, (age, town) in enumerate(zip(rng.integers(0, 90, 400), rng.choice(list("abc"), 400), strict=True))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["age,town,s", *lines]) + "\n")
    roles = {"age": 'role = "quasi"\ntype = "numeric"', "town": 'role = "quasi"', "s": 'role = "sensitive"'}
    (tmp_path / "t.toml").write_text("\n".join(f"[columns.{name}]\n{said}" for name, said in roles.items()))
    return [tmp_path / "t.csv", "--schema", tmp_path / "t.toml"]


def test_blocks_from_the_command_line(tmp_path: Path, data: list[object], auditor_cli: Callable[..., Ended]) -> None:
    small = ["--blocks", "--block-rows", 100, "--jobs", 1]
    made = auditor_cli("anonymize", *data, "--method", "kmember", "-o", tmp_path / "r.csv", *small, "--compare-whole")
    assert made.code == 0, made.err
    assert "Made in 6 blocks of rows." in made.out
    assert "Against the run without blocks: information loss " in made.out
    audited = auditor_cli("audit", tmp_path / "r.csv", "--schema", data[2], "--json", "-")
    assert audited.code == 0, audited.err
    assert json.loads(audited.out)["release"]["k"] >= 5
    made = auditor_cli("anonymize", *data, "--method", "slicing", "-o", tmp_path / "folder", *small)
    assert made.code == 0, made.err
    manifest = json.loads((tmp_path / "folder" / "manifest.json").read_text())
    assert manifest["params"]["block_rows"] == 100
    assert manifest["params"]["blocks"] >= 4
    whole = auditor_cli("anonymize", *data, "--method", "kmember", "-o", tmp_path / "one.csv", "--blocks")
    assert "Made in 1 block of rows." in whole.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "kmember", "--jobs", "2"], "--jobs is about blocks: give --blocks as well"),
        (["--method", "kmember", "--compare-whole"], "--compare-whole is about blocks"),
        (["--method", "kmember", "--blocks", "--engine", "dask"], "one of processes, spark. Got 'dask'"),
        (["--method", "identity", "--blocks"], "identity cannot work in blocks"),
        (["--method", "kmember", "--set", "blocks=3"], "kmember has no setting 'blocks'"),
    ],
)
def test_faults_on_the_command_line(
    tmp_path: Path, data: list[object], auditor_cli: Callable[..., Ended], options: list[str], said: str
) -> None:
    ended = auditor_cli("anonymize", *data, "-o", tmp_path / "r.csv", *options)
    assert ended.code == 2
    assert said in ended.err
    assert not (tmp_path / "r.csv").exists()


def test_spark_that_is_missing_ends_with_three(
    tmp_path: Path, data: list[object], auditor_cli: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    spark = ["--method", "kmember", "--blocks", "--block-rows", 100, "--engine", "spark"]
    ended = auditor_cli("anonymize", *data, "-o", tmp_path / "r.csv", *spark)
    assert ended.code == 3
    assert "pip install 'auditor[spark]'" in ended.err
    assert not (tmp_path / "r.csv").exists()


def test_the_public_function_takes_blocks() -> None:
    release, provenance = auditor.anonymize(people(200), "mdav", blocks=100, jobs=1, k=4)
    assert release.rows == provenance.rows == 200
    assert (class_facts(release).k or 0) >= 4


def test_who_shares_a_block_does_not_tell_the_order_of_the_file() -> None:
    rows = 200
    frame = pd.DataFrame({"q": ["x"] * rows, "place": [str(i) for i in range(rows)], "s": ["a", "b"] * (rows // 2)})
    schema = Schema.from_dict(
        {"columns": {"q": {"role": "quasi"}, "place": {"role": "neutral"}, "s": {"role": "sensitive"}}}
    )
    table = Table.from_frame(frame, schema)
    _, provenance = anonymize(table, "anatomy", 3, blocks=100, jobs=1, l=2)
    halves: dict[int, set[bool]] = {bucket: set() for bucket in provenance.bucket.tolist()}
    for row, bucket in enumerate(provenance.bucket.tolist()):
        halves[bucket].add(row < rows // 2)
    mixed = sum(len(half) == 2 for half in halves.values())
    assert mixed > len(halves) // 4  # half of the buckets, where nothing but lots decides


@pytest.mark.parametrize("blocks", [True, 60])
def test_whoever_knows_how_a_release_in_blocks_was_made_can_make_it_again(blocks: int) -> None:
    table = people(120)
    release, provenance = anonymize(table, "mondrian", 3, blocks=blocks, jobs=1, k=3, l=2)
    assert (release.params["blocks"] == 1) == (blocks is True)
    adversary = Adversary(mechanism=MechanismKnown.PARAMETERS)
    setting = Setting(table, provenance.bucket >= 0, release, {})
    known = Simulator(adversary, setting, 1).mechanism()
    assert known is not None
    assert known.run is not None
    again = known.run(table, np.random.default_rng(0))
    assert again.rows == release.rows
    assert class_sizes(again).min() >= 3
