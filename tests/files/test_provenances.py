"""Provenance files: which release they belong to, what they were drawn from, and what is said of broken ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from auditor.auditing.subjects import Sources, read_subject
from auditor.files.provenances import fingerprint, read_provenance, read_secret
from auditor.files.releases import write_release
from auditor.files.tables import read_table, write_files
from auditor.model.errors import ReleaseError
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.table import RawTable

BLOCKS = [RawTable("a.csv", {"age": ["1", "2"]}), RawTable("b.csv", {"disease": ["flu", "cold"]})]
SCHEMA = """
[columns.age]
role = "quasi"
type = "numeric"
[columns.weight]
role = "quasi"
type = "numeric"
[columns.disease]
role = "sensitive"
"""


@pytest.fixture
def people(tmp_path: Path) -> Callable[[int], Path]:
    """Writes a table of so many people, and its schema."""

    def write(rows: int, seed: int = 0) -> Path:
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"age": rng.integers(20, 70, rows), "weight": np.round(rng.normal(70, 12, rows), 1)})
        frame["disease"] = rng.choice(["flu", "cold", "asthma", "gout"], rows)
        (tmp_path / "schema.toml").write_text(SCHEMA)
        file = tmp_path / f"people{seed}.csv"
        frame.to_csv(file, index=False)
        return file

    return write


def made(file: Path, method: str, name: str, secret: int | None = None, **settings: Any) -> tuple[Path, Path]:
    """The files of a release and its provenance."""
    table = read_table(file, file.parent / "schema.toml")
    release, provenance = anonymize(table, method, secret, **settings)
    target, private = file.parent / name, file.parent / f"{name}.provenance"
    files, text = write_release(release, provenance, target)
    assert text is not None
    write_files({private: text, **files}, folder=target if len(release.blocks) > 1 else None)
    return target, private


def doubts(file: Path, release: Path, provenance: Path) -> list[str]:
    sources = Sources(release, file.parent / "schema.toml", original=file, provenance=provenance)
    notes = read_subject(sources, seed=1).notes
    return [note.text for note in notes if isinstance(note, Note) and note.kind == NoteKind.DOUBT]


@pytest.mark.parametrize(
    ("method", "settings"), [("rgather", {"r": 4}), ("mdav", {"k": 4}), ("anatomy", {"l": 2}), ("mondrian", {"k": 4})]
)
def test_the_provenance_of_another_run_is_refused(
    people: Callable[..., Path], method: str, settings: dict[str, Any]
) -> None:
    ending = "" if method == "anatomy" else ".csv"
    file = people(60)
    mine, private = made(file, method, f"one{ending}", 1, **settings)
    _, another = made(file, method, f"two{ending}", 2, **settings)
    assert doubts(file, mine, private) == []
    with pytest.raises(ReleaseError, match=r"provenance of another release .* the fingerprints differ"):
        doubts(file, mine, another)


def test_the_right_provenance_is_never_refused(people: Callable[..., Path]) -> None:
    # Averages over so few rows may lie as near to other rows as to their own: 24 of 64 were refused by a test of distances.
    for seed in range(32):
        file = people(10 + seed % 11, seed)
        assert doubts(file, *made(file, "mdav", f"{seed}.csv", k=4)) == []


def test_a_release_in_another_format_is_the_same_release(people: Callable[..., Path]) -> None:
    file = people(40)
    release, private = made(file, "mdav", "release.csv", k=4)
    other = release.with_suffix(".parquet")
    pd.read_csv(release)[["disease", "weight", "age"]].to_parquet(other)
    assert doubts(file, other, private) == []
    frame = pd.read_csv(release)
    frame.iloc[::-1].to_parquet(other)
    with pytest.raises(ReleaseError, match="fingerprints differ"):
        doubts(file, other, private)


def test_without_a_fingerprint_rows_that_fit_as_at_random_are_doubted(people: Callable[..., Path]) -> None:
    file = people(60)
    release, _ = made(file, "mondrian", "one.csv", 1, k=4)
    _, another = made(file, "mondrian", "two.csv", 2, k=4)
    plain = file.parent / "plain.csv"
    pd.read_csv(another).drop(columns=["release", "secret"]).to_csv(plain, index=False)
    assert "would not if rows were matched at random" in doubts(file, release, plain)[0]


def test_fingerprints_tell_cells_apart() -> None:
    table = {"age": ["1", "2.50"], "disease": ["flu", "a b"]}
    same = {"disease": ["flu", "a b"], "age": ["1.0", "2,5"], "bucket": ["1", "2"]}
    assert fingerprint([table]) == fingerprint([same])
    for other in ({"age": ["2.5", "1"]}, {"disease": ["flu", "ab"]}, {"disease": ["flua", " b"]}, {"size": ["1", "2"]}):
        assert fingerprint([table]) != fingerprint([{**table, **other}])
    assert fingerprint([{"a": ["1"]}, {"b": ["2"]}]) != fingerprint([{"a": ["1"], "b": ["2"]}])


def test_a_secret_repeats_a_run(
    people: Callable[..., Path], auditor_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, drawn = people(50), iter(range(100))
    folder = file.parent
    monkeypatch.setattr("auditor.model.seeding.token_bytes", lambda count: bytes([next(drawn)] * count))

    def run(name: str, *more: object) -> bytes:
        options = ("--schema", folder / "schema.toml", "--method", "anatomy", "--set", "l=2", "-o", folder / name)
        ended = auditor_cli("anonymize", file, *options, "--provenance", folder / f"{name}.whose", *more)
        assert (ended.code, ended.err) == (0, "")
        assert "seed" not in ended.out
        return b"".join((folder / name / part).read_bytes() for part in ("block1.csv", "block2.csv"))

    first, second = run("first"), run("second")
    assert first != second
    (folder / "hex").write_text("00" * 32 + "\n")
    assert first == run("third", "--secret", folder / "first.whose") == run("fourth", "--secret", folder / "hex")
    assert (folder / "first.whose").read_bytes() == (folder / "third.whose").read_bytes()
    for part in folder.glob("first/*"):
        assert "01" * 32 not in part.read_text()


def test_a_file_that_holds_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    for text in ("row,secret\n1,\n", "0123", "x" * 64):
        file.write_text(text)
        with pytest.raises(ReleaseError, match="64 hexadecimal digits"):
            read_secret(file)


def test_mending_renews_the_provenance(people: Callable[..., Path], auditor_cli: Callable[..., Any]) -> None:
    file = people(60)
    folder = file.parent
    release, private = made(file, "mondrian", "release.csv", 1, k=4)
    _, another = made(file, "mondrian", "two.csv", 2, k=4)
    options = ("--schema", folder / "schema.toml", "--coarsen", "age", "-o", folder / "mended.csv")
    ended = auditor_cli("mend", release, *options, "--provenance", private)
    assert ended.code == 2
    assert "go together" in ended.err
    ended = auditor_cli("mend", release, *options, "--provenance", another, "--new-provenance", folder / "new")
    assert ended.code == 3
    assert not (folder / "mended.csv").exists()
    ended = auditor_cli("mend", release, *options, "--provenance", private, "--new-provenance", folder / "new")
    assert ended.code == 0
    assert doubts(file, folder / "mended.csv", folder / "new") == []
    with pytest.raises(ReleaseError, match="fingerprints differ"):
        doubts(file, folder / "mended.csv", private)


@pytest.mark.parametrize(
    "name", sorted(name for name, method in ANONYMIZERS.all().items() if name != "grading" and not method.synthetic)
)
def test_whoever_replays_the_public_seed_finds_nobody(name: str, people: Callable[..., Path]) -> None:
    # All is known but the secret: the whole table in its order, the method, its settings, the seed of every record.
    file = people(400)
    table = read_table(file, file.parent / "schema.toml")
    settings = {
        "anatomy": {"l": 2},
        "l-clustering": {"l": 2},
        "slicing": {"c": 2, "bucket_size": 4},
        "pram": {"columns": ["disease"]},
    }
    plugin = ANONYMIZERS.get(name)
    strength = next((one for one in ("k", "r") if one in plugin.__dataclass_fields__), None)
    ours = settings.get(name, {} if strength is None else {strength: 4})
    _, real = anonymize(table, name, **ours)
    _, replay = anonymize(table, name, 2026, **ours)
    assert (real.fragment == replay.fragment).all(axis=1).mean() < 0.05
    if name == "anatomy":
        _, again = anonymize(table.take(np.argsort(table.codes["age"], kind="stable")), name, **ours)
        _, guess = anonymize(table.take(np.argsort(table.codes["age"], kind="stable")), name, 2026, **ours)
        pairs = [{tuple(np.flatnonzero(one.bucket == b)) for b in range(200)} for one in (again, guess)]
        assert len(pairs[0] & pairs[1]) < 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,bucket\n1,1\n", "must have the columns row, fragment_1, fragment_2."),
        (
            "row,fragment_1,fragment_2\n4,1,1\n",
            "line 2: points outside the original (3 rows) or the release (2 rows).",
        ),
        ("row,fragment_1,fragment_2\n0,1,1\n", "points outside the original"),
        ("row,fragment_1,fragment_2\n1,1,1\n2,3,2\n", "line 3: points outside"),
        ("row,fragment_1,fragment_2\n1,-1,1\n", "line 2: must hold whole numbers"),
        ("row,fragment_1,fragment_2\n1,a,1\n", "line 2: must hold whole numbers"),
        ("row,fragment_1,fragment_2\n1,1,1\n1,2,2\n", "line 3: the original row 1 occurs twice."),
        ("row,fragment_1,fragment_2\n1,1,1\n2,2,1\n", "two original rows have the same fragment in block 2."),
    ],
)
def test_broken_provenance(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "provenance.csv"
    file.write_text(text)
    with pytest.raises(ReleaseError) as caught:
        read_provenance(file, BLOCKS, 3)
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


def test_provenance_counts_from_one_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "provenance.csv"
    file.write_text("row,bucket,fragment_1,fragment_2\n3,1,1,2\n1,2,2,1\n2,,,\n")
    assert read_provenance(file, BLOCKS, 3).rows.tolist() == [[1, 0], [-1, -1], [0, 1]]
