"""The mechanism beside a release: read, refused where it cannot be right, and used by an audit of another tool's release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Sources, read_subject
from auditor.files.mechanisms import mechanism_file
from auditor.files.releases import read_release, save_release
from auditor.files.tables import read_table
from auditor.model.errors import ReleaseError
from auditor.model.mechanism import Change, Coding, Noise, RankSwap, RecordSwap, Rounding, Transition
from auditor.model.schema import Schema
from auditor.posterior.links import Link
from scenarios.options import Options

SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.city]
role = "quasi"
[columns.grade]
role = "quasi"
order = ["low", "high"]
[columns.ill]
role = "sensitive"
"""
TABLE = "age,city,grade,ill\n31,a,low,x\n45,b,high,y\n58,a,high,x\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release of three people, without a mechanism."""
    (tmp_path / "schema.toml").write_text(SCHEMA)
    file = tmp_path / "release.csv"
    file.write_text(TABLE)
    return file


def read(file: Path, text: str) -> dict[str, Change]:
    """The changes that the mechanism of a release, written by hand, says."""
    mechanism_file(file).write_text(text)
    schema = Schema.read(file.parent / "schema.toml")
    mechanism = read_release(file, schema, np.random.default_rng(0)).release.mechanism
    assert mechanism is not None
    return dict(mechanism.columns)


def test_every_kind_can_be_written_by_hand(release: Path) -> None:
    found = read(
        release,
        """
        [columns.age]
        kind = "noise"
        sd = 2
        [columns.city]
        kind = "pram"
        values = ["a", "b"]
        matrix = [[0.9, 0.1], [0.2, 0.8]]
        [columns.grade]
        kind = "rank-swapping"
        window = 10
        [columns.ill]
        kind = "record-swapping"
        rate = 0.1
        strata = ["city"]
        """,
    )
    assert found == {
        "age": Noise(2.0),
        "city": Transition(("a", "b"), ((0.9, 0.1), (0.2, 0.8))),
        "grade": RankSwap(10.0),
        "ill": RecordSwap(0.1, (), ("city",)),
    }
    coded = read(release, '[columns.age]\nkind = "coding"\nthreshold = 50\nabove = false')
    assert coded == {"age": Coding(50.0, 50.0, False)}
    assert read(release, '[columns.age]\nkind = "rounding"\nbase = 5') == {"age": Rounding(5.0)}
    mechanism_file(release).unlink()
    schema = Schema.read(release.parent / "schema.toml")
    assert read_release(release, schema, np.random.default_rng(0)).release.mechanism is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "columns must be given"),
        ("kind = 1", "unknown key"),
        ('format = "other/1"\n[columns.age]\nkind = "noise"\nsd = 1', "format must be"),
        ("[columns.age]\nsd = 1", "kind must be given"),
        ('[columns.age]\nkind = "noises"', "kind must be one of"),
        ('[columns.age]\nkind = "noise"\nsd = 0', "sd must be a number above 0"),
        ('[columns.age]\nkind = "noise"\nsd = 1\nunit = -1', "unit must be a number of at least 0"),
        ('[columns.age]\nkind = "rank-swapping"\nwindow = 101', "window must be a percentage"),
        ('[columns.city]\nkind = "record-swapping"\nrate = 2', "rate must be a share"),
        ('[columns.city]\nkind = "pram"\nvalues = ["a", "b"]\nmatrix = [[1, 0]]', "matrix must be a row"),
        ('[columns.city]\nkind = "pram"\nvalues = ["a"]\nmatrix = [[0.5]]', "sum 1"),
        ('[columns.city]\nkind = "noise"\nsd = 1', "is for numbers. The column 'city' is nominal"),
        ('[columns.age]\nkind = "pram"\nvalues = ["1"]\nmatrix = [[1]]', "is not for numbers"),
        ('[columns.shoe]\nkind = "noise"\nsd = 1', "must be published"),
        ('sha256 = "00"\n[columns.age]\nkind = "noise"\nsd = 1', "of another file"),
        (
            '[columns.age]\nkind = "noise"\nsd = 1\n[correlated]\ncolumns = ["city"]\ncovariance = [[1]]',
            'kind = "noise"',
        ),
        (
            '[columns.age]\nkind = "noise"\nsd = 1\n[correlated]\ncolumns = ["age"]\ncovariance = [[-1]]',
            "symmetric matrix",
        ),
        ("[columns", "must be TOML"),
    ],
)
def test_faults_are_named(release: Path, text: str, said: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        read(release, text)
    assert said in str(caught.value)
    assert mechanism_file(release).name in str(caught.value)


def test_a_new_release_takes_the_old_mechanism_away(release: Path) -> None:
    table = read_table(release, release.parent / "schema.toml")
    target = release.parent / "made.csv"
    save_release(anonymize(table, "rounding", 1)[0], target, force=False)
    assert mechanism_file(target).exists()
    save_release(anonymize(table, "identity", 1)[0], target, force=True)
    assert not mechanism_file(target).exists()


@pytest.mark.slow
def test_a_release_of_another_tool_is_audited_by_its_mechanism(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    age, pay = rng.normal(45, 15, 300).round(1), rng.normal(0, 1, 300).round(3)
    ill = rng.choice(["x", "y", "z"], 300)
    (tmp_path / "schema.toml").write_text(
        "".join(f'[columns.{c}]\nrole = "quasi"\ntype = "numeric"\n' for c in ("age", "pay"))
        + '[columns.ill]\nrole = "sensitive"\n'
    )
    noisy = zip(age + rng.normal(0, 1, 300), pay + rng.normal(0, 1, 300), ill, strict=True)
    for name, rows in (("original", zip(age, pay, ill, strict=True)), ("release", noisy)):
        lines = ["age,pay,ill", *(f"{a},{p},{i}" for a, p, i in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    sources = Sources(tmp_path / "release.csv", tmp_path / "schema.toml", tmp_path / "original.csv", "rows")
    options = Options(attacks=("linking",), utility=(), facts=())

    def success(link: Link) -> float | None:
        return run_audit(read_subject(sources, 1), options).find("linking", "success", link=link).value

    near = success(Link.DISTANCE)
    mechanism_file(tmp_path / "release.csv").write_text(
        '[columns.age]\nkind = "noise"\nsd = 1\n[columns.pay]\nkind = "noise"\nsd = 1'
    )
    informed = success(Link.MECHANISM)
    assert near is not None
    assert informed is not None
    assert success(Link.DISTANCE) == near
    assert informed > 1.5 * near  # age hardly moved, pay is nearly all noise: the nearest record weighs both alike
