"""What must not go wrong at the command line: things lost, verdicts that mislead, errors in disguise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor import cli
from tests.conftest import Ended

Cli = Callable[..., Ended]

SCHEMA = """
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
type = "numeric"
[columns.town]
role = "quasi"
[columns.disease]
role = "sensitive"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    rows = [f"P{i},{20 + i % 10},{'abcd'[i * 7 % 4]},{'flu' if i % 3 else 'cold'}" for i in range(60)]
    (tmp_path / "data.csv").write_text("id,age,town,disease\n" + "\n".join(rows) + "\n")
    return tmp_path


def made(auditor_cli: Cli, files: Path, **settings: object) -> Path:
    release = files / "release.csv"
    chosen = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    arguments = ("--schema", files / "schema.toml", "--method", "mondrian", *chosen, "-o", release, "--force")
    ended = auditor_cli("anonymize", files / "data.csv", *arguments, "--provenance", files / "private.csv")
    assert ended.code == 0, ended.err
    return release


def test_the_input_is_never_written_over(auditor_cli: Cli, files: Path) -> None:
    before = (files / "data.csv").read_text()
    common = ("--schema", files / "schema.toml")
    for target in ("data.csv", "schema.toml"):
        ended = auditor_cli(
            "anonymize", files / "data.csv", *common, "--method", "identity", "-o", files / target, "--force"
        )
        assert ended.code == 2
        assert "must not be written over" in ended.err
    release = made(auditor_cli, files)
    ended = auditor_cli("audit", release, *common, "--html", release, "--force")
    assert ended.code == 2
    assert (files / "data.csv").read_text() == before


def test_published_identifiers_fail_every_policy(auditor_cli: Cli, files: Path) -> None:
    release = made(auditor_cli, files)
    lines = release.read_text().splitlines()
    named = [f"id,{lines[0]}", *(f"P{i},{line}" for i, line in enumerate(lines[1:]))]
    release.write_text("\n".join(named) + "\n")
    ended = auditor_cli("audit", release, "--schema", files / "schema.toml", "--policy", "k5", "--json", "-")
    found = json.loads(ended.out)
    assert ended.code == 1
    assert found["release"]["identifiers"] == ["id"]
    assert found["policy"]["checks"][0]["measure"] == "release.identifiers"
    shown = auditor_cli("audit", release, "--schema", files / "schema.toml", "--policy", "k5")
    assert "publishes the identifier column" in shown.out


def test_a_policy_is_not_judged_on_some_people(auditor_cli: Cli, files: Path, tmp_path: Path) -> None:
    release = made(auditor_cli, files)
    common = (
        "--schema",
        files / "schema.toml",
        "--original",
        files / "data.csv",
        "--provenance",
        files / "private.csv",
    )
    ended = auditor_cli("audit", release, *common, "--targets", "P1", "--policy", "k5")
    assert ended.code == 2
    assert "leave out --policy or --targets" in ended.err
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        '[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "mondrian"\n[policy]\nuse = "k5"\n'
    )
    ended = auditor_cli("redteam", scenario, "--targets", "P1", "--json", "-")
    record = json.loads(ended.out)["records"][0]
    assert record["policy"] is None
    assert any("policy was not judged" in note["text"] for note in record["notes"])


def test_a_policy_finds_its_adversary_by_stance(auditor_cli: Cli, files: Path) -> None:
    scenario = files / "s.toml"
    scenario.write_text(
        '[data]\nfile = "data.csv"\nschema = "schema.toml"\n[[release]]\nmethod = "mondrian"\nk = 5\n'
        '[[adversary]]\nname = "neighbour"\nkind = "prosecutor"\n[policy]\nuse = "k5"\n'
    )
    ended = auditor_cli("redteam", scenario, "--json", "-")
    verdict = json.loads(ended.out)["records"][0]["policy"]
    assert (ended.code, verdict["passed"]) == (0, True)
    assert {c["measure"]: c["value"] for c in verdict["checks"]}["linking.max"] <= 0.2


def test_rows_matched_wrongly_are_doubted(auditor_cli: Cli, files: Path) -> None:
    release = made(auditor_cli, files, k=2)
    ended = auditor_cli(
        "audit", release, "--schema", files / "schema.toml", "--original", files / "data.csv", "--match", "rows"
    )
    assert ended.code == 0
    assert "WARNING" in ended.out
    assert "--provenance" in ended.out
    alone = auditor_cli("audit", release, "--schema", files / "schema.toml", "--original", files / "data.csv")
    assert alone.code == 2
    assert "Give the original and one of these, or neither" in alone.err


def test_a_generalised_sensitive_column_alone(auditor_cli: Cli, files: Path) -> None:
    (files / "g.toml").write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.income]\nrole = "sensitive"\ntype = "numeric"\n'
    )
    (files / "g.csv").write_text('age,income\n"[1, 2]","[1, 9]"\n"[1, 2]","[1, 9]"\n"[3, 4]",5\n')
    ended = auditor_cli("audit", files / "g.csv", "--schema", files / "g.toml", "--json", "-")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["risks"]
    assert {r["reason"] for r in rows if r["attack"] == "homogeneity" and r["link"] == "class"} == {
        "the true values of income are not known"
    }


def test_our_own_errors_are_not_a_failed_policy(auditor_cli: Cli, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("auditor.auditing.subjects.read_subject", broken)
    ended = auditor_cli("audit", files / "data.csv", "--schema", files / "schema.toml")
    assert ended.code == cli.INTERNAL
    assert "Internal error" in ended.err
    assert "Traceback" not in ended.err


def test_an_interrupt_in_disguise(auditor_cli: Cli, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:  # as compiled code does when a signal reaches it
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr("auditor.auditing.subjects.read_subject", interrupted)
    ended = auditor_cli("audit", files / "data.csv", "--schema", files / "schema.toml")
    assert ended.code == cli.INTERRUPTED
    assert "Interrupted; nothing was written." in ended.err


def test_empty_lists_are_faults(auditor_cli: Cli, files: Path) -> None:
    for option in ("--attacks", "--link", "--knows"):
        ended = auditor_cli("audit", files / "data.csv", "--schema", files / "schema.toml", option, "")
        assert (ended.code, "must not be empty" in ended.err) == (2, True)


def test_the_provenance_is_for_its_owner(auditor_cli: Cli, files: Path) -> None:
    made(auditor_cli, files)
    if sys.platform != "win32":
        assert (files / "private.csv").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_exported_scenarios_run(auditor_cli: Cli, tmp_path: Path) -> None:
    assert auditor_cli("export", "hospital", "-o", tmp_path / "h").code == 0
    ended = auditor_cli("redteam", tmp_path / "h" / "scenario.toml", "--json", "-")
    assert ended.code == 0, ended.err
    assert len(json.loads(ended.out)["records"]) == 3
    assert auditor_cli("export", "town", "-o", tmp_path / "t").code == 0
    text = (tmp_path / "t" / "scenario.toml").read_text()
    assert 'file = "data.csv"' in text
    assert "source" not in text
