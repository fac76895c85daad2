"""Choosing utility measures: on the command line, in scenarios, in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.measure.utility import MEASURES
from auditor.model.errors import ScenarioError
from auditor.model.record.record import NOT_APPLICABLE, Utility
from reports.tables.tables import utility_table
from scenarios.scenario import read_scenario
from tests.conftest import Ended

SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.job]
role = "quasi"
[columns.ill]
role = "sensitive"
"""
SCENARIO = """
[data]
file = "data.csv"
schema = "schema.toml"
[[release]]
method = "mondrian"
k = 3
[attacks]
run = ["linking"]
link = ["class"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{20 + i % 7},{'xyz'[i % 3]},{'fg'[i % 2]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["age,job,ill", *rows]) + "\n")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path


def measures(text: str) -> list[str]:
    record = json.loads(text)
    rows = record["utility"] if "utility" in record else record["records"][0]["utility"]
    return list(dict.fromkeys(row["measure"] for row in rows))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("--utility", "EBIL,queries"), ["queries", "EBIL"]),
        (("--utility", "none"), []),
        ((), [measure.name for measure in MEASURES]),
    ],
)
def test_audit_measures_what_is_asked_for(
    folder: Path, auditor_cli: Callable[..., Ended], given: tuple[str, ...], found: list[str]
) -> None:
    data, schema = folder / "data.csv", folder / "schema.toml"
    asked = ("--attacks", "linking", "--link", "class", "--json", "-", "--quiet")
    done = auditor_cli("audit", data, "--schema", schema, "--original", data, "--match", "rows", *asked, *given)
    assert done.code == 0, done.err
    assert measures(done.out) == found


def test_a_scenario_names_measures_and_the_command_line_others(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    file = folder / "scenario.toml"
    file.write_text(SCENARIO + '[utility]\nrun = ["pmse", "ctbil"]\n')
    assert read_scenario(str(file)).options.utility == ("pmse", "CTBIL'")
    done = auditor_cli("redteam", file, "--json", "-", "--quiet")
    assert measures(done.out) == ["pmse", "CTBIL'"]
    assert measures(auditor_cli("redteam", file, "--utility", "none", "--json", "-", "--quiet").out) == []
    file.write_text(SCENARIO + "[utility]\nrun = []\n")
    assert read_scenario(str(file)).options.utility == ()
    file.write_text(SCENARIO)
    assert read_scenario(str(file)).options.utility is None


def test_columns_are_chosen_and_said(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    data, schema = folder / "data.csv", folder / "schema.toml"
    asked = ("--attacks", "linking", "--link", "class", "--utility", "queries,Dist,marginals", "--json", "-", "--quiet")
    audit = ("audit", data, "--schema", schema, "--original", data, "--match", "rows", *asked)

    def columns(*given: str) -> list[list[str]]:
        done = auditor_cli(*audit, *given)
        assert done.code == 0, done.err
        return [row["params"]["columns"] for row in json.loads(done.out)["utility"]]

    assert columns() == [["age", "job", "ill"]] * 3 + [["job", "ill"]]
    assert columns("--columns", "ill, job") == [["job", "ill"]] * 4
    wrong = auditor_cli(*audit, "--columns", "age,pay")
    assert (wrong.code, wrong.out) == (2, "")
    assert "some of age, job, ill. Got 'pay'." in wrong.err
    file = folder / "scenario.toml"
    file.write_text(SCENARIO + '[utility]\nrun = ["queries"]\ncolumns = ["job"]\n')
    assert read_scenario(str(file)).options.columns == ("job",)
    done = auditor_cli("redteam", file, "--columns", "age", "--json", "-", "--quiet")
    assert json.loads(done.out)["records"][0]["utility"][0]["params"]["columns"] == ["age"]


def test_coded_values_are_compared_by_the_key(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    data, schema, release = folder / "data.csv", folder / "schema.toml", folder / "release.csv"
    private = {name: folder / f"{name}.json" for name in ("key", "other", "provenance")}
    (folder / "others.csv").write_text(data.read_text().replace("x,f", "x,g"))
    make = ("--schema", schema, "--method", "grading", "--quiet")
    done = auditor_cli(
        "anonymize", data, *make, "-o", release, "--provenance", private["provenance"], "--key", private["key"]
    )
    assert done.code == 0, done.err
    done = auditor_cli("anonymize", folder / "others.csv", *make, "-o", folder / "x.csv", "--key", private["other"])
    assert done.code == 0, done.err
    asked = ("--attacks", "linking", "--link", "class", "--utility", "marginals", "--json", "-", "--quiet")
    audit = ("audit", release, "--schema", schema, *asked)
    matched = ("--original", data, "--provenance", private["provenance"])

    def shares(*given: object) -> tuple[float, object]:
        done = auditor_cli(*audit, *matched, *given)
        assert done.code == 0, done.err
        (row,) = json.loads(done.out)["utility"]
        return row["detail"]["columns"]["ill"], row["params"].get("decoded")

    assert shares("--key", private["key"]) == (0, ["ill"])
    assert shares()[1] is None
    assert "another release" in auditor_cli(*audit, *matched, "--key", private["other"]).err
    assert "give the original" in auditor_cli(*audit, "--key", private["key"]).err


def test_an_audit_scores_loss_and_risk(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    data, schema = folder / "data.csv", folder / "schema.toml"
    audit = ("audit", data, "--schema", schema, "--original", data, "--match", "rows", "--json", "-", "--quiet")
    done = auditor_cli(*audit, "--attacks", "record-linkage", "--utility", "loss_risk_score")
    record = json.loads(done.out)
    risks = {r["measure"]: r["value"] for r in record["risks"] if r["adversary"] == record["risks"][0]["adversary"]}
    (row,) = record["utility"]
    assert row["detail"]["IL"] == 0
    assert row["value"] == pytest.approx(25 * (risks["success"] + risks["rank_interval"]))


def test_unknown_measures_are_refused_before_any_work(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    data, schema = folder / "data.csv", folder / "schema.toml"
    done = auditor_cli("audit", data, "--schema", schema, "--utility", "granularty")
    assert (done.code, done.out) == (2, "")
    assert "There is no utility measure 'granularty'. Did you mean 'granularity'?" in done.err
    file = folder / "scenario.toml"
    file.write_text(SCENARIO + '[utility]\nruns = 3\nrun = ["nothing"]\n')
    with pytest.raises(ScenarioError) as error:
        read_scenario(str(file))
    assert "unknown key 'runs'. Did you mean 'run'?" in str(error.value)
    assert "no utility measure 'nothing'" in str(error.value)
    file.write_text(SCENARIO + "[utility]\nrun = 3\n")
    with pytest.raises(ScenarioError, match="must be a list of measures"):
        read_scenario(str(file))


@pytest.mark.slow
def test_every_measure_is_listed_and_explained(auditor_cli: Callable[..., Ended]) -> None:
    listed = auditor_cli("list", "metrics").out
    for measure in MEASURES:
        assert measure.name in listed
        said = auditor_cli("explain", measure.name).out
        assert "Applies to: " in said
        assert measure.paper in said


def test_reports_say_what_a_figure_is_read_beside_and_each_reason_once() -> None:
    rows = [
        Utility(
            "classification",
            value=0.31,
            low=0.3,
            high=0.32,
            params={"class": "job"},
            detail={"original": 0.4, "majority": 0.2},
        ),
        Utility("IL1", NOT_APPLICABLE, better="lower", reason="no published column is numeric"),
        Utility("IL2", NOT_APPLICABLE, better="lower", reason="no published column is numeric"),
        Utility("Dist", value=0.5, better="lower"),
    ]
    assert utility_table(rows).rows == (
        (
            "classification (job)",
            "0.310 [0.300, 0.320]",
            "higher is better; on the original 0.400, the commonest class 0.200",
        ),
        ("IL1, IL2", "not applicable", "no published column is numeric"),
        ("Dist", "0.500", "lower is better"),
    )
