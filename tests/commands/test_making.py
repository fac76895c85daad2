"""Making releases: what replaces an older release leaves nothing of it, and private files stay apart."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ended

Cli = Callable[..., Ended]

SCHEMA = '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.disease]\nrole = "sensitive"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    rows = "".join(f"{20 + i % 7},{'abc'[i % 3]}\n" for i in range(60))
    (tmp_path / "data.csv").write_text(f"age,disease\n{rows}")
    return tmp_path


def anonymize(cli: Cli, home: Path, method: str, *more: object) -> Ended:
    return cli("anonymize", home / "data.csv", "--schema", home / "schema.toml", "--method", method, *more)


def test_blocks_of_an_older_release_go(auditor_cli: Cli, home: Path) -> None:
    folder = home / "release"
    folder.mkdir()
    for name in ("block1.csv", "block7.csv", "note.txt"):
        (folder / name).write_text("old")
    blocks = [{"file": "block1.csv"}, {"file": "block7.csv"}]
    (folder / "manifest.json").write_text(json.dumps({"format": "auditor-release/1", "blocks": blocks}))
    assert anonymize(auditor_cli, home, "anatomy", "-o", folder).code == 2
    ended = anonymize(auditor_cli, home, "anatomy", "-o", folder, "--force", "--provenance", home / "private.csv")
    assert ended.code == 0, ended.err
    assert sorted(os.listdir(folder)) == ["block1.csv", "block2.csv", "manifest.json", "note.txt"]
    assert (folder / "note.txt").read_text() == "old"


def test_the_aliases_of_an_older_release_go(auditor_cli: Cli, home: Path) -> None:
    release = home / "release.csv"
    labels = home / "release.csv.labels.json"
    labels.write_text("{}")
    ended = anonymize(auditor_cli, home, "mondrian", "-o", release, "--force")
    assert ended.code == 0, ended.err
    assert (release.exists(), labels.exists()) == (True, False)


def test_private_files_do_not_lie_in_the_folder_of_a_release(auditor_cli: Cli, home: Path) -> None:
    (home / "release").mkdir()
    for option in ("--provenance", "--key"):
        more = ("-o", home / "release", option, home / "release" / "private.csv", "--force")
        ended = anonymize(auditor_cli, home, "anatomy", *more)
        assert (ended.code, "would lie in the folder of the release" in ended.err) == (2, True), ended.err
    assert os.listdir(home / "release") == []


def test_what_could_not_be_read_again_is_not_written(auditor_cli: Cli, home: Path) -> None:
    intervals = SCHEMA.replace('"numeric"\n', '"numeric"\nnotation = ["interval"]\n')
    (home / "schema.toml").write_text(intervals)
    assert anonymize(auditor_cli, home, "mondrian", "--set", "k=20", "-o", home / "wide.csv").code == 0
    ended = anonymize(auditor_cli, home, "identity", "-o", home / "exact.csv")
    assert (ended.code, 'Add "value" there' in ended.err) == (3, True), ended.err
    assert not (home / "exact.csv").exists()


def test_a_row_that_is_nobodys_is_found_before_anything_is_written(auditor_cli: Cli, home: Path) -> None:
    (home / "schema.toml").write_text(SCHEMA + '[columns.house]\nrole = "household"\n')
    (home / "data.csv").write_text("age,disease,house\n20,a,H1\n21,b,*\n")
    ended = anonymize(auditor_cli, home, "identity", "-o", home / "release.csv")
    assert (ended.code, "row 2 below the header has no value" in ended.err) == (3, True), ended.err
    assert not (home / "release.csv").exists()


def test_a_holdout_is_told_by_the_provenance_alone(auditor_cli: Cli, home: Path) -> None:
    private = home / "private.csv"
    for method, told in (
        ("cart", "45 made-up rows, from 45 rows, 15 rows held out."),
        ("mondrian", "15 rows held out."),
    ):
        more = ("-o", home / "release.csv", "--holdout", "0.25", "--force")
        ended = anonymize(auditor_cli, home, method, *more)
        assert (ended.code, "Give --provenance FILE as well" in ended.err) == (2, True), ended.err
        ended = anonymize(auditor_cli, home, method, *more, "--provenance", private)
        assert ended.code == 0, ended.err
        assert told in ended.out
        header, *lines = (line.split(",") for line in private.read_text().splitlines())
        assert len(lines) == 60
        made_from = header.index("made_from")
        assert sum(line[made_from] == "1" for line in lines) == 45
        assert all(line[made_from] in ("", "1") for line in lines)
        known = [line for line in lines if line[header.index("fragment_1")]]
        assert len(known) == (0 if method == "cart" else 45)
        assert all(line[made_from] == "1" for line in known)
        assert len((home / "release.csv").read_text().splitlines()) == 46


def test_blocks_are_not_weighed_without_some_of_the_people(auditor_cli: Cli, home: Path) -> None:
    more = ("--blocks", "--compare-whole", "--holdout", "0.5", "--provenance", home / "private.csv")
    ended = anonymize(auditor_cli, home, "mondrian", "-o", home / "release.csv", *more)
    assert (ended.code, "leave --holdout out" in ended.err) == (2, True), ended.err


def test_what_a_budget_does_not_cover_is_told(auditor_cli: Cli, home: Path) -> None:
    ended = anonymize(auditor_cli, home, "marginals", "--set", "epsilon=1", "-o", home / "release.csv")
    assert ended.code == 0, ended.err
    assert (
        "taken as public, since the schema does not declare it: the range of age, the values of disease." in ended.err
    )
