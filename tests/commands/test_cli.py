"""The command line, as a user meets it: results, exit codes, files written whole or not at all, one seed one answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attacks import attacks_on
from auditor.files.writing import write_files
from auditor.runs.exporting import export_scenario
from tests.conftest import Ended

Cli = Callable[..., Ended]


def hospital(auditor_cli: Cli, person: str) -> dict[str, list[dict[str, Any]]]:
    """The risk rows of one person on Tables I, III and IV of seed 002, by the release's name."""
    ended = auditor_cli("redteam", "hospital", "--targets", person, "--reveal", "--json", "-")
    assert ended.code == 0, ended.err
    return {record["release"]["name"]: record["risks"] for record in json.loads(ended.out)["records"]}


def rows(risks: list[dict[str, Any]], attack: str, measure: str, **wanted: Any) -> list[dict[str, Any]]:
    found = [r for r in risks if r["attack"] == attack and r["measure"] == measure and r["status"] == "ok"]
    return [r for r in found if all(r.get(k, r["params"].get(k)) == v for k, v in wanted.items())]


def test_barbie_is_linked_uniquely_in_table_one(auditor_cli: Cli) -> None:
    found = rows(hospital(auditor_cli, "Barbie")["Table I"], "linking", "success")
    assert {r["link"] for r in found} >= {"containment", "class"}
    assert all((r["value"], r["n"]) == (1.0, 1) for r in found)


def test_girija_in_table_three_and_four(auditor_cli: Cli) -> None:
    tables = hospital(auditor_cli, "Girija")
    three = rows(tables["Table III"], "homogeneity", "success", sensitive="disease")
    assert len(three) == 4
    for row in three:  # Table III: Bronchitis with 100 %
        assert (row["value"], row["expected"], row["detail"]["claim"]) == (1.0, 1.0, ["Bronchitis"])
    four = tables["Table IV"]
    for row in rows(four, "proximity", "window", width=30.0):  # income in [10000, 10030] with 75 %
        assert row["value"] == pytest.approx(0.75)
        assert row["detail"]["window"] == [10000.0, 10030.0]
    for row in rows(four, "proximity", "mean", epsilon=0.0):  # the exact income with 25 %
        assert row["value"] == pytest.approx(0.25)
    assert rows(four, "proximity", "window")
    assert rows(four, "proximity", "mean")
    for reading, share in (("distinct", 0.5), ("frequency", 0.25)):
        found = rows(four, "divergence", "mean", reading=reading)
        assert len(found) == 4
        assert all(r["value"] == pytest.approx(share) for r in found)


def test_values_of_persons_need_reveal(auditor_cli: Cli) -> None:
    ended = auditor_cli("redteam", "hospital", "--targets", "Girija", "--json", "-")
    assert "Bronchitis" not in ended.out
    assert "10030" not in ended.out


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in town, cut to 600 people for speed, 300 of whom are released."""
    folder = tmp_path_factory.mktemp("home") / "town"
    write_files(export_scenario("town", folder, None), folder=folder)
    people = (folder / "population.csv").read_text().splitlines()
    data = (folder / "data.csv").read_text().splitlines()[:301]
    kept = set(data[1:])
    others = [line for line in people[1:] if line not in kept][:300]
    (folder / "data.csv").write_text("\n".join(data) + "\n")
    (folder / "population.csv").write_text("\n".join([people[0], *data[1:], *others]) + "\n")
    return folder


METHODS = {
    "mondrian": ["--set", "k=5", "--set", "l=2", "--set", "sensitive=disease"],
    "slicing": [
        "--set",
        'columns=[["birth_year","sex","education"],["postcode","ethnicity","marital_status"],["occupation","disease","income"]]',
        "--set",
        "bucket_size=6",
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_from_table_to_report(auditor_cli: Cli, town: Path, tmp_path: Path, method: str) -> None:
    release, private, record = tmp_path / "release", tmp_path / "private.csv", tmp_path / "record.json"
    made = auditor_cli(
        "anonymize", town / "data.csv", "--schema", town / "schema.toml", "--method", method, *METHODS[method],
        "-o", release, "--provenance", private,
    )  # fmt: skip
    assert made.code == 0, made.err
    assert "300 rows" in made.out
    assert release.is_dir() == (method == "slicing")
    ended = auditor_cli(
        "audit", release, "--schema", town / "schema.toml", "--original", town / "data.csv", "--provenance", private,
        "--population", town / "population.csv", "--json", record, "--html", tmp_path / "r.html",
        "--markdown", tmp_path / "r.md", "--set", "singling-out.predicates=50",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    found = json.loads(record.read_text())
    assert found["release"]["rows"] == 300
    assert {r["attack"] for r in found["risks"]} == set(attacks_on(synthetic=False))
    assert {r["attack"] for r in found["risks"] if r["status"] == "ok"} >= {
        "linking", "homogeneity", "proximity", "divergence", "membership", "skewness", "similarity", "inference",
    }  # fmt: skip
    assert {r["adversary"] for r in found["risks"]} == {"prosecutor", "journalist", "marketer"}
    again = auditor_cli("render", record, "--html", tmp_path / "again.html", "--markdown", tmp_path / "again.md")
    assert again.code == 0
    assert (tmp_path / "again.html").read_text() == (tmp_path / "r.html").read_text()
    assert (tmp_path / "again.md").read_text() == (tmp_path / "r.md").read_text()


def test_release_alone(auditor_cli: Cli, town: Path, tmp_path: Path) -> None:
    release = tmp_path / "r.csv"
    auditor_cli(
        "anonymize",
        town / "data.csv",
        "--schema",
        town / "schema.toml",
        "--method",
        "mondrian",
        "-o",
        release,
        "--quiet",
    )
    ended = auditor_cli("audit", release, "--schema", town / "schema.toml", "--json", "-")
    found = json.loads(ended.out)
    done = {(r["attack"], r["link"]) for r in found["risks"] if r["status"] == "ok"}
    assert done >= {(a, "class") for a in ("linking", "homogeneity", "proximity", "divergence")}
    assert {link for _, link in done} == {"class", None}  # nobody can be looked up
    assert found["release"]["k"] >= 5
    assert any("no original" in note["text"] for note in found["notes"])
    assert all(r["reason"] for r in found["risks"] if r["status"] == "not_applicable")


def test_policy_fails_with_code_one(auditor_cli: Cli, town: Path, tmp_path: Path) -> None:
    release = tmp_path / "r.csv"
    common = ("--schema", town / "schema.toml")
    auditor_cli("anonymize", town / "data.csv", *common, "--method", "mondrian", "-o", release)
    assert auditor_cli("audit", release, *common, "--policy", "k5").code == 0
    failed = auditor_cli("audit", release, *common, "--policy", "ema")
    assert failed.code == 1
    assert "0.09" in failed.out


def test_nothing_is_overwritten_without_force(auditor_cli: Cli, town: Path, tmp_path: Path) -> None:
    release = tmp_path / "r.csv"
    release.write_text("mine")
    arguments = (
        "anonymize",
        town / "data.csv",
        "--schema",
        town / "schema.toml",
        "--method",
        "identity",
        "-o",
        release,
    )
    refused = auditor_cli(*arguments)
    assert (refused.code, release.read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert auditor_cli(*arguments, "--force").code == 0
    assert release.read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "mondrain", "-o", "{out}"], 2, "mondrian"),
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "mondrian", "--set", "kk=5", "-o", "{out}"], 2, "kk"),
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "mondrian", "--set", "k=2x", "-o", "{out}"], 2, "2x"),
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "mondrian", "--set", "k=0", "-o", "{out}"], 2, "least"),
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "mondrian", "--set", "k=301", "-o", "{out}"], 3, "301"),
        (["anonymize", "{data}", "--schema", "{schema}", "--method", "anatomy", "--set", "l=18", "-o", "{out}"], 3, "n/l"),
        (["anonymize", "nowhere.csv", "--schema", "{schema}", "--method", "identity", "-o", "{out}"], 3, "no such file"),
        (["anonymize", "{data}", "--schema", "nowhere.toml", "--method", "identity", "-o", "{out}"], 3, "nowhere.toml"),
        (["audit", "{data}", "--schema", "{schema}", "--link", "psychic", "--json", "{out}"], 2, "psychic"),
        (["audit", "{data}", "--schema", "{schema}", "--attacks", "linkin", "--json", "{out}"], 2, "linking"),
        (["audit", "{data}", "--schema", "{schema}", "--set", "epsilon=5", "--json", "{out}"], 2, "proximity.epsilon"),
        (["audit", "{data}", "--schema", "{schema}", "--policy", "emma", "--json", "{out}"], 2, "ema"),
        (["audit", "{data}", "--schema", "{schema}", "--match", "rows", "--json", "{out}"], 2, "original"),
        (["redteam", "nowhere.toml", "-o", "{out}"], 3, "no such file"),
        (["redteam", "hospitl", "-o", "{out}"], 3, "hospital"),
        (["render", "{schema}", "--html", "{out}"], 3, "JSON"),
        (["explain", "homogenity"], 2, "homogeneity"),
        (["list", "everything"], 2, "anonymizers"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)  # fmt: skip
def test_faults_are_said_with_their_code_and_write_nothing(
    auditor_cli: Cli, town: Path, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    out = tmp_path / "out"
    places = {"data": town / "data.csv", "schema": town / "schema.toml", "out": out}
    ended = auditor_cli(*(a.format(**places) if a.startswith("{") else a for a in arguments))
    assert ended.code == code
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not out.exists()
    assert not list(tmp_path.glob(".*"))


def test_scenario_faults_come_all_at_once(auditor_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        '[data]\nsource = "village"\n[[release]]\nmethod = "mondrian"\nkk = 3\n[[adversary]]\nname = "spy"\n'
    )
    ended = auditor_cli("redteam", file)
    assert ended.code == 3
    for part in ("village", "kk", "spy", "3 faults"):
        assert part in ended.err


def run(arguments: list[str], expect: int = 0, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "auditor", *arguments]
    ended = subprocess.run(command, capture_output=True, env={**os.environ, **environment}, check=False)
    assert ended.returncode == expect, ended.stderr
    return ended


SMALL = """
[data]
file = "population.csv"
schema = "schema.toml"
sample = 0.3

[[release]]
method = "mondrian"
k = 5

[[release]]
method = "slicing"
columns = [
  ["birth_year", "sex", "education"], ["postcode", "ethnicity", "marital_status"], ["occupation", "income", "disease"]
]
bucket_size = 5

[attacks]
singling-out = { predicates = 50 }

[policy]
use = "k5"
"""


@pytest.mark.slow
def test_one_seed_one_answer_across_hash_seeds(town: Path, tmp_path: Path) -> None:
    scenario = town / "small.toml"
    scenario.write_text(SMALL)
    outputs = []
    for seed in ("0", "12345"):
        target = tmp_path / seed
        ended = run(
            ["redteam", str(scenario), "-o", str(target), "--quiet", "--require", "all"], expect=1, PYTHONHASHSEED=seed
        )
        assert ended.stdout == b""
        outputs.append([(target / name).read_bytes() for name in ("run.json", "report.html", "report.md")])
    assert outputs[0] == outputs[1]


@pytest.mark.slow
def test_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "auditor", "demo", "-o", str(tmp_path / "demo")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert not list(tmp_path.rglob("*"))


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['auditor', '--help']\nfrom auditor.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'pandas', 'scipy', 'numba', 'networkx', 'jinja2') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip().endswith("[]")


def test_version_list_and_explain(auditor_cli: Cli) -> None:
    assert auditor_cli("--version").out.startswith("auditor 0.")
    for what in ("anonymizers", "attacks", "metrics", "policies", "scenarios"):
        assert auditor_cli("list", what).code == 0
    for name in ("mondrian", "linking", "granularity", "class", "ema", "hospital"):
        ended = auditor_cli("explain", name)
        assert ended.code == 0
        assert ended.out.startswith(f"{name}: ")


def test_products_of_matrices_use_one_thread_unless_more_are_asked_for() -> None:
    code = (
        "import os, sys; sys.argv[1:] = ['--version']; from auditor.cli import main; early = 'numpy' not in sys.modules\n"
        "try: main()\n"
        "except SystemExit: sys.stderr.write(f\"{early} {os.environ['OPENBLAS_NUM_THREADS']}\")"
    )
    for given, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(
            [sys.executable, "-c", code], env={**env, **given}, capture_output=True, text=True, check=True
        )
        assert done.stderr == f"True {expected}"
