"""Columns with role ignore: no figure reads them, no label of theirs can be wrong, and a number of its own is still named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import auditor
from anonymizers.base import PUBLISHED
from auditor.files.tables import read_table
from auditor.model.record.policy import read_policy
from auditor.model.schema import Role
from scenarios.options import Options
from tests.conftest import Ended

Cli = Callable[..., Ended]
SCHEMA = """
[columns.age]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
IGNORED = SCHEMA + '[columns.extra]\nrole = "ignore"\ntype = "numeric"\n'
ROWS = [(str(20 + n % 4), ("flu", "cold", "hiv")[n % 3]) for n in range(48)]


def written(folder: Path, extra: list[str] | None, schema: str, name: str = "r.csv") -> tuple[Path, Path]:
    table, file = folder / name, folder / f"{name}.toml"
    columns = ["age,disease"] if extra is None else ["age,extra,disease"]
    for place, (age, disease) in enumerate(ROWS):
        columns.append(f"{age},{disease}" if extra is None else f"{age},{extra[place]},{disease}")
    table.write_text("\n".join(columns) + "\n")
    file.write_text(schema)
    return table, file


@pytest.mark.parametrize("schema", [IGNORED, '[table]\nothers = "ignore"\n' + SCHEMA])
def test_no_figure_reads_it(tmp_path: Path, schema: str) -> None:
    # texts in a column that is called numeric: they would be an error anywhere else
    table, file = written(tmp_path, ["no number"] * 48, schema)
    without, plain = written(tmp_path, None, SCHEMA, "w.csv")
    options = Options(attacks=("homogeneity",), utility=("granularity",), facts=(0,))
    one = auditor.audit(table, file, original=table, match="rows", options=options)
    other = auditor.audit(without, plain, original=without, match="rows", options=options)
    assert [json.dumps(r.detail) for r in one.risks] == [json.dumps(r.detail) for r in other.risks]
    assert [(r.attack, r.measure, r.value, r.control) for r in one.risks] == [
        (r.attack, r.measure, r.value, r.control) for r in other.risks
    ]
    assert [(u.measure, u.value) for u in one.utility] == [(u.measure, u.value) for u in other.utility]
    assert one.release.blocks == other.release.blocks
    assert one.release.distinct == ()


@pytest.mark.parametrize(("extra", "identifying"), [("{}", True), ("{}.5", False), ("P{}", True)])
def test_a_value_of_its_own_in_every_row_is_named(tmp_path: Path, extra: str, identifying: bool) -> None:
    table, file = written(tmp_path, [extra.format(n + 700) for n in range(48)], IGNORED)
    options = Options(attacks=("linking",), policy=read_policy("k3"), remedies=False)
    record = auditor.audit(table, file, options=options)
    (found,) = record.release.distinct
    assert (found.column, found.role, found.share, found.identifying) == ("extra", "ignore", 1.0, identifying)
    assert record.policy is not None
    assert record.policy.passed is not identifying


def test_the_remedy_drops_it(tmp_path: Path, auditor_cli: Cli) -> None:
    table, file = written(tmp_path, [f"P{n}" for n in range(48)], IGNORED)
    told = ("audit", table, "--schema", file, "--policy", "k3", "--attacks", "linking")
    assert auditor_cli(*told, "--json", tmp_path / "r.json").code == 1
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["remedies"][0]["drop"] == ["extra"]
    assert record["remedies"][0]["passes"] is True
    mended = tmp_path / "m.csv"
    assert auditor_cli("mend", table, "--schema", file, "--drop", "extra", "-o", mended).code == 0
    assert mended.read_text().splitlines()[0] == "age,disease"


@pytest.mark.slow
def test_an_engine_says_the_same(tmp_path: Path, auditor_cli: Cli) -> None:
    pytest.importorskip("ibis")
    table, file = written(tmp_path, [f"P{n}" for n in range(48)], IGNORED)
    ended = auditor_cli("audit", table, "--schema", file, "--engine", "duckdb", "--json", "-", "--attacks", "linking")
    assert [one["column"] for one in json.loads(ended.out)["release"]["distinct"]] == ["extra"]


def test_a_release_made_here_leaves_it_out(tmp_path: Path) -> None:
    table, file = written(tmp_path, ["x"] * 48, IGNORED)
    assert set(read_table(table, file).codes) == {"age", "disease"}
    assert Role.IGNORE not in PUBLISHED


def test_a_household_that_is_published_is_named_and_can_be_dropped(tmp_path: Path, auditor_cli: Cli) -> None:
    schema = SCHEMA + '[columns.extra]\nrole = "household"\n'
    table, file = written(tmp_path, [str(n // 2) for n in range(48)], schema)
    record = auditor.audit(table, file, options=Options(attacks=("linking",)))
    assert any("who lives together" in note.text and "'extra'" in note.text for note in record.notes)
    mended = tmp_path / "m.csv"
    assert auditor_cli("mend", table, "--schema", file, "--drop", "extra", "-o", mended).code == 0
    assert mended.read_text().splitlines()[0] == "age,disease"
    record = auditor.audit(mended, file, options=Options(attacks=("linking",)))
    assert not any("who lives together" in note.text for note in record.notes)


@pytest.mark.parametrize("other", [True, False])
def test_a_sensitive_number_of_its_own_goes_where_another_column_stays(tmp_path: Path, other: bool) -> None:
    role = "sensitive" if other else "neutral"
    schema = '[columns.age]\nrole = "quasi"\n[columns.extra]\nrole = "sensitive"\ntype = "numeric"\n'
    table, file = written(tmp_path, [str(7 * n) for n in range(48)], f'{schema}[columns.disease]\nrole = "{role}"\n')
    record = auditor.audit(table, file, options=Options(attacks=("linking",), policy=read_policy("k3")))
    assert {tuple(one.drop) for one in record.remedies if one.passes} == ({("extra",)} if other else set())
