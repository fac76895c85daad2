"""No raw value of a person reaches an output: canaries are planted in the data, and every output is searched for them.

Two people have values that nobody else has, in every kind of column. A release publishes values, that is its job; what the
tool says *about* it must not, unless somebody asks with --reveal.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Ended

Cli = Callable[..., Ended]

CANARIES = ("Kanarienvogel", "canary-street-7", "CANARYitis", "98765432", "canary@example.org")
SCHEMA = """
[columns.mail]
role = "identifier"
[columns.name]
role = "quasi"
[columns.street]
role = "quasi"
[columns.age]
role = "quasi"
type = "numeric"
[columns.disease]
role = "sensitive"
[columns.income]
role = "sensitive"
type = "numeric"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("canary")
    rng = np.random.default_rng(3)
    lines = ["mail,name,street,age,disease,income"]
    for i in range(60):
        name, street = rng.choice(["Ann", "Bob", "Eve"]), rng.choice(["north", "south"])
        disease, income = rng.choice(["flu", "cold", "gout"]), rng.integers(10, 40) * 100
        lines.append(f"p{i}@example.org,{name},{street},{rng.integers(20, 60)},{disease},{income}")
    lines[7] = "canary@example.org,Kanarienvogel,canary-street-7,41,CANARYitis,98765432"
    lines[31] = "p31@example.org,Kanarienvogel,canary-street-7,42,CANARYitis,98765432"
    (place / "data.csv").write_text("\n".join(lines) + "\n")
    (place / "schema.toml").write_text(SCHEMA)
    return place


def searched(folder: Path, said: Ended) -> None:
    """Every file of a folder, and what was said, without a canary."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    for text, where in [
        (said.out, "stdout"),
        (said.err, "stderr"),
        *((f.read_bytes().decode("latin-1"), f) for f in files),
    ]:
        for canary in CANARIES:
            assert canary.lower() not in text.lower(), (canary, str(where))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings"),
    [("identity", []), ("mondrian", ["k=3"]), ("anatomy", ["l=2"]), ("slicing", ["bucket_size=4"]), ("mdav", ["k=3"])],
)
def test_no_value_of_a_person_is_in_an_audit(
    auditor_cli: Cli, folder: Path, tmp_path: Path, method: str, settings: list[str]
) -> None:
    release, private, out = tmp_path / "release.csv", tmp_path / "private.csv", tmp_path / "out"
    common = ("--schema", folder / "schema.toml")
    chosen = [part for setting in settings for part in ("--set", setting)]
    made = auditor_cli(
        "anonymize", folder / "data.csv", *common, "--method", method, *chosen, "-o", release, "--provenance", private
    )
    assert made.code == 0, made.err
    out.mkdir()
    files = [part for kind in ("html", "json", "markdown", "junit") for part in (f"--{kind}", out / f"report.{kind}")]
    ended = auditor_cli(
        "audit", release, *common, "--original", folder / "data.csv", "--provenance", private, "--policy", "strict",
        *files, "--plots", out / "plots",
    )  # fmt: skip
    assert ended.code == 1, ended.err  # strict
    searched(out, ended)
    alone = auditor_cli("audit", release, *common, "--policy", "strict", "--json", out / "alone.json")
    assert alone.code == 1, alone.err
    searched(out, alone)


def test_a_planted_value_would_be_found(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    """The search itself works: with --reveal the claimed values are there."""
    release, private, record = tmp_path / "release.csv", tmp_path / "private.csv", tmp_path / "record.json"
    common = ("--schema", folder / "schema.toml")
    chosen = ("--method", "identity", "-o", release, "--provenance", private)
    assert auditor_cli("anonymize", folder / "data.csv", *common, *chosen).code == 0
    asked = ("--original", folder / "data.csv", "--provenance", private, "--targets", "7", "--reveal", "--json", record)
    assert auditor_cli("audit", release, *common, *asked).code == 0
    assert "CANARYitis" in record.read_text()


@pytest.mark.slow
def test_no_value_of_a_person_is_in_a_comparison(auditor_cli: Cli, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = auditor_cli(
        "compare", folder / "data.csv", "--schema", folder / "schema.toml", "--methods", "mondrian,anatomy", "--k", "3",
        "--l", "2,5", "--jobs", "1", "-o", out,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    searched(out, ended)


def test_no_value_of_an_identifier_or_sensitive_column_is_in_a_profile(
    auditor_cli: Cli, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    ended = auditor_cli("profile", folder / "data.csv", "-o", out / "schema.toml", "--json", out / "profile.json")
    assert ended.code == 0, ended.err
    for text in [ended.out, ended.err, *(file.read_text() for file in out.rglob("*") if file.is_file())]:
        for canary in ("canary@example.org", "CANARYitis", "98765432"):
            assert canary not in text
