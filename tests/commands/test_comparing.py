"""Comparing from the command line: the same bytes however it is run, interruptions, and files that are reused."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.commands.app import app
from auditor.model.errors import UsageError
from auditor.model.record.record import RunRecord
from tests.runs.test_comparing import CANARY, _valid, frame

SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.town]
role = "quasi"
taxonomy = { North = ["A", "B"], South = ["C", "D"] }
[columns.disease]
role = "sensitive"
"""
pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    frame().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def command(home: Path, out: str, *more: str) -> list[str]:
    base = ["compare", str(home / "data.csv"), "--schema", str(home / "schema.toml"), "-o", str(home / out)]
    return [sys.executable, "-m", "auditor", *base, "--attacks", "linking,homogeneity", "--utility", "queries", *more]


def run(home: Path, out: str, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(home, out, *more), env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def children(parent: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.add(int(stat.parent.name))
    return found


def wait_for(what: Callable[[], bool], limit: float = 120) -> None:
    start = time.monotonic()
    while not what():
        assert time.monotonic() - start < limit, "waited too long"
        time.sleep(0.02)


def test_the_same_bytes_however_it_is_run(home: Path) -> None:
    grid = ("--methods", "mondrian,anatomy,mdav", "--k", "3,100", "--seeds", "2", "--sample", "0.5", "--policy", "k5")
    tables = ("--tables", str(home / "one" / "tables"))
    one = run(home, "one", *grid, "--jobs", "1", *tables, PYTHONHASHSEED="1")
    two = run(home, "two", *grid, "--jobs", "2", "--timeout", "300", PYTHONHASHSEED="2")
    assert one.returncode == two.returncode == 1, one.stderr  # k = 3 passes no policy that asks for 5
    for name in ("run.json", "report.md", "report.html"):
        assert (home / "one" / name).read_bytes() == (home / "two" / name).read_bytes()
    found = RunRecord.from_json((home / "one" / "run.json").read_text())
    _valid(found)
    assert [c.status for c in found.cells] == [
        "ok",
        "ok",
        "not_applicable",
        "not_applicable",
        "ok",
        "ok",
        "ok",
        "ok",
    ] + ["not_applicable"] * 2
    assert "10 cells: 6 ok, 4 not applicable." in one.stderr
    assert "mondrian k=3" in one.stdout
    assert {"frontier.csv", "frontier.tex", "left-out.tex", "attacks.csv", "figures.csv"} <= {
        file.name for file in (home / "one" / "tables").iterdir()
    }
    assert (home / "one" / "plots" / "risk-against-utility.pdf").is_file()
    outputs = [p.read_bytes() for p in (home / "one").rglob("*") if p.is_file()]  # pictures and tables are among them
    assert not any(CANARY.encode() in text for text in [*outputs, one.stdout.encode(), one.stderr.encode()])
    for cell in found.cells:
        if cell.record is not None:
            alone = RunRecord.from_json((home / "one" / cell.record).read_text())
            assert [r.release.name for r in alone.records] == [cell.name.removesuffix(f" seed={cell.seed}")]
            facts = replace(alone.records[0].release, name=cell.name)
            assert replace(alone.records[0], release=facts) in found.records
    # what was finished is reused, whatever the axes are and what else is compared
    again = run(home, "one", *grid)
    assert "10 of them were there already" in again.stderr
    assert (home / "one" / "run.json").read_bytes() == (home / "two" / "run.json").read_bytes()
    fewer = run(home, "one", *grid[:4], *grid[6:], "--risk", "homogeneity.success")
    assert "5 cells: 3 ok, 2 not applicable; 5 of them were there already." in fewer.stderr
    assert json.loads((home / "one" / "run.json").read_text())["cells"][0]["name"] == "mondrian k=3"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_interrupted_and_run_again(home: Path) -> None:
    grid = ("--methods", "mondrian,anatomy", "--k", "2,3", "--seeds", "2", "--jobs", "2")  # 6 cells
    cells = home / "out" / "cells"

    def begin() -> tuple[subprocess.Popen[str], set[int]]:
        before = len(list(cells.glob("*.json"))) if cells.exists() else 0
        process = subprocess.Popen(
            command(home, "out", *grid), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        wait_for(lambda: process.poll() is not None or (cells.exists() and len(list(cells.glob("*.json"))) > before))
        assert process.poll() is None, process.communicate()
        workers = children(process.pid)
        assert workers
        return process, workers

    process, workers = begin()
    process.send_signal(signal.SIGINT)  # other signals: tests/commands/test_signals.py
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.fullmatch(
        r"Interrupted; \d+ finished cells? (is|are) kept in .*cells\. Run the same command again to go on\.\n", said
    )
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert not (home / "out" / "run.json").exists()

    process, left = begin()
    process.kill()
    process.communicate(timeout=120)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
    kept = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in cells.glob("*.json")}
    assert 2 <= len(kept) < 6

    done = run(home, "out", *grid)
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} of them were there already" in done.stderr
    assert {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in kept} == kept
    found = json.loads((home / "out" / "run.json").read_text())
    assert len(found["records"]) == len(found["cells"]) == 6


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--k", "3,x"), "--k must be whole numbers"),
        (("--methods", "mondrain"), "Did you mean 'mondrian'"),
        (("--set", "k=3"), "must name the method or attack"),
        (("--risk", "membership.auc"), "not among the attacks"),
        (("--timeout", "0"), "timeout must be above 0"),
        (("--sample", "2"), "sample must be above 0"),
        (("--utility", "queriess"), "Did you mean 'queries'"),
        (("--utility", "none"), "A comparison needs at least one utility measure"),
        (("--set", "linking.treshold=1"), "no setting 'treshold'"),
    ],
)
def test_wrong_usage(home: Path, more: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        app(command(home, "wrong", *more)[3:], standalone_mode=False)
    assert not (home / "wrong").exists()


def test_nothing_but_reasons(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = (
        "--methods",
        "mondrian",
        "--k",
        "3",
        "--l",
        "2",
        "--set",
        "mondrian.diversity=recursive",
        "--set",
        "mondrian.c=-1",
    )
    with pytest.raises(UsageError, match="c must"):
        app(command(home, "out", *given)[3:], standalone_mode=False)  # it was asked for by name
    assert app(command(home, "out", "--methods", "slicing", "--k", "3", "--l", "1")[3:], standalone_mode=False) == 3
    shown = capsys.readouterr()
    assert "no cell gave a release" in shown.err
    assert "slicing: l must be at least 2" in shown.out
    assert (home / "out" / "report.html").exists()


def test_other_files_are_not_replaced(home: Path) -> None:
    (home / "out").mkdir()
    (home / "out" / "run.json").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        app(command(home, "out")[3:], standalone_mode=False)
