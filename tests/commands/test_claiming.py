"""`auditor epsilon` and `compare --mechanism` from the command line: exit codes, files, and reasons."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.model.record.claim import ClaimTest
from auditor.model.record.record import RunRecord
from tests.conftest import Ended
from tests.runs.test_claims import SCHEMA, people
from tests.support.noisy_histograms import SCRIPT

Cli = Callable[..., Ended]
ONE = ("--claim-epsilon", "1", "--worlds", "one")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people(60).to_frame().drop(columns="id").to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "histogram.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def epsilon(home: Path, auditor_cli: Cli) -> Cli:
    return lambda *more: auditor_cli("epsilon", home / "data.csv", "--schema", home / "schema.toml", *more)


def histogram(epsilon: float) -> tuple[str, str]:
    return "--mechanism", f"counts={sys.executable} -I -S histogram.py {{in}} {{out}} {{seed}} {epsilon}"


def test_the_verdict_is_the_exit_code(home: Path, epsilon: Cli, auditor_cli: Cli) -> None:
    kept = epsilon(*histogram(1), *ONE)
    assert kept.code == 0
    assert "counts claims ε = 1; not refuted: at 95 % at least" in " ".join(kept.out.split())
    files = ("--json", "claim.json", "--markdown", "claim.md", "--html", "claim.html", "--date", "2026-01-02")
    broken = epsilon(*histogram(10), *ONE, *files)
    assert broken.code == 1
    assert "refuted." in broken.out
    found = ClaimTest.from_json((home / "claim.json").read_text())
    assert found.refuted
    assert (found.date, found.inputs[0].name) == ("2026-01-02", "data.csv")
    assert "refuted" in (home / "claim.md").read_text()
    assert "refuted" in (home / "claim.html").read_text()
    again = auditor_cli("render", "claim.json", "--markdown", "again.md")
    assert again.code == 0
    assert (home / "again.md").read_text() == (home / "claim.md").read_text()
    assert again.out.split("\n\n")[1] == broken.out.split("\n\n")[1]  # the same verdict
    assert auditor_cli("render", "claim.json", "--junit", "claim.xml").code == 2
    nothing = epsilon("--mechanism", "false {in} {out}", *ONE)
    assert nothing.code == 3
    assert "nothing was tested" in nothing.err


def test_json_goes_to_stdout_and_nothing_else_does(epsilon: Cli) -> None:
    ended = epsilon(*histogram(1), *ONE, "--json", "-")
    assert ended.code == 0
    assert json.loads(ended.out)["verdict"] == "not refuted"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "Say what to test"),
        (["--mechanism", "true {in} {out}", "--method", "mondrian"], "Say what to test"),
        (["--mechanism", "true {in} {out}", "--set", "k=2", "--claim-epsilon", "1"], "--set is about --method"),
        (["--mechanism", "true {in} {out}"], "--claim-epsilon"),
        (["--mechanism", "true {in}", "--claim-epsilon", "1"], "must name the file to write"),
        (["--method", "mondrian"], "has no setting epsilon"),
        (["--method", "mondrian", "--claim-epsilon", "1", "--worlds", "three"], "--worlds must be one of"),
        (["--method", "mondrian", "--claim-epsilon", "1", "--canary", "everybody"], "The canary must be one of"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(arguments: list[str], fault: str, epsilon: Cli) -> None:
    ended = epsilon(*arguments)
    assert ended.code == 2
    assert fault in " ".join(ended.err.split())


def test_a_method_with_two_worlds(epsilon: Cli) -> None:
    """Nobody promises an epsilon for a table without its identifiers; whoever claims one is wrong."""
    asked = "--claim-epsilon", "0.5", "--runs", "40", "--canary", "rare", "--jobs", "1"
    ended = epsilon("--method", "identity", *asked)
    assert ended.code == 1
    assert "refuted." in ended.out


@pytest.mark.slow
def test_programs_are_rows_of_a_comparison(home: Path, auditor_cli: Cli) -> None:
    base = [
        "compare",
        "data.csv",
        "--schema",
        "schema.toml",
        "-o",
        "out",
        "--utility",
        "queries",
        "--attacks",
        "linking",
    ]
    base += ["--jobs", "1"]
    programs = ["copy=cp {in} {out}", "crash=false {in} {out}", "silent=true {in} {out}"]
    named = [word for program in programs for word in ("--mechanism", program)]
    assert auditor_cli(*base, "--methods", "none", *histogram(1), *named, "--quiet").code == 0
    cells = {cell.name: cell for cell in RunRecord.from_json((home / "out" / "run.json").read_text()).cells}
    assert set(cells) == {"counts", "copy", "crash", "silent"}
    assert cells["copy"].status == "ok"
    assert "exit code 1" in (cells["crash"].reason or "")
    assert "wrote no file" in (cells["silent"].reason or "")
    assert cells["counts"].status == "ok"
