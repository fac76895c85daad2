"""Writing tables: what is written reads back, nothing in it is live, and nothing is left where writing fails."""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.files.tables import csv_text, refuse_existing, write_files
from auditor.model.errors import UsageError
from auditor.model.schema import TableFormat
from auditor.model.taxonomy import Taxonomy
from tests.files.test_tables import cells, read

# ----- formulas -------------------------------------------------------------------------------------------------------

LIVE = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "@SUM(A1)",
    "-2+3",
    "-5-10",
    "+49 170 1",
    "-x",
    "＝1+1",
    "'=x",
    "''=x",
    "=1",
    "--1",
]
DEAD = [
    "-5",
    "+3",
    "-1.5e3",
    "-1,5",
    "<20",
    ">=80",
    "[-5, -3]",
    "-",
    "--",
    "+",
    "*",
    "'",
    "'s",
    "a=b",
    "{-1, 1}",
    "1-2",
    "",
]


def test_cells_that_a_spreadsheet_could_run_are_written_with_an_apostrophe(tmp_path: Path) -> None:
    lines = csv_text(["=a"], [[cell] for cell in [*LIVE, *DEAD]], ";").splitlines()
    assert lines[: len(LIVE) + 1] == ["'=a", *(f"'{cell}" for cell in LIVE)]
    assert [line.replace('"', "") for line in lines[len(LIVE) + 1 :]] == DEAD
    assert cells(read(tmp_path, "\n".join(lines), TableFormat(delimiter=";"), "=a")) == {"=a": [*LIVE, *DEAD]}


def test_a_taxonomy_that_was_written_reads_back(tmp_path: Path) -> None:
    rows = [[cell, "some"] for cell in dict.fromkeys([*LIVE, *DEAD]) if cell]
    (tmp_path / "tree.csv").write_text(csv_text(rows[0], rows[1:], ";"), encoding="utf-8")
    assert set(Taxonomy.from_file(tmp_path / "tree.csv").leaves) == {row[0] for row in rows}


@given(st.lists(st.text(st.sampled_from("'=+-@ ＝1.,ex\t\n"), max_size=6).map(str.strip), min_size=1, max_size=8))
def test_nothing_that_is_written_is_live_and_all_of_it_reads_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    text = csv_text(["a", "b"], [[cell, "x"] for cell in texts])
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            bare = cell.strip("+- ") and not re.fullmatch(r"[+-]?[0-9]*[.,]?[0-9]*(e[+-]?[0-9]{1,3})?", cell)
            assert not (cell[:1] in "=+-@＝" and bare), cell
    assert cells(read(tmp_path_factory.mktemp("files"), text))["a"] == texts


# ----- writing --------------------------------------------------------------------------------------------------------

CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(',;"\n\r |'), max_size=6).map(
    str.strip
)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5), st.sampled_from(",;|\t"))
def test_written_tables_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], sign: str) -> None:
    text = csv_text(["a", "b"], rows, sign)
    raw = read(tmp_path_factory.mktemp("files"), text, TableFormat(delimiter=sign))
    assert [list(row) for row in zip(raw.columns["a"], raw.columns["b"], strict=True)] == rows


def test_a_carriage_return_in_a_cell_reads_back(tmp_path: Path) -> None:
    assert cells(read(tmp_path, csv_text(["a", "b"], [["x\ry", "1"], ["z", "2"]]))) == {
        "a": ["x\ry", "z"],
        "b": ["1", "2"],
    }


def test_files_are_written_as_utf_8(tmp_path: Path) -> None:
    write_files({tmp_path / "a.txt": "Zürich\n", tmp_path / "b.txt": ""})
    assert (tmp_path / "a.txt").read_bytes() == "Zürich\n".encode()
    assert (tmp_path / "b.txt").read_bytes() == b""
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_files({tmp_path / "a.bin": b"\x00\xff\r\n", tmp_path / "b.txt": "\r\n"})
    assert (tmp_path / "a.bin").read_bytes() == b"\x00\xff\r\n"
    assert (tmp_path / "b.txt").read_bytes() == b"\r\n"


def test_existing_files_stay_without_force(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("old")
    contents = {tmp_path / "new.txt": "new", old: "changed"}
    with pytest.raises(UsageError, match=r"old\.txt exists already\. Use --force to replace it\."):
        write_files(contents)
    assert (os.listdir(tmp_path), old.read_text()) == (["old.txt"], "old")
    write_files(contents, force=True)
    assert (old.read_text(), (tmp_path / "new.txt").read_text()) == ("changed", "new")


def test_nothing_is_left_behind_where_writing_fails_midway(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("old")
    contents = {tmp_path / "first.txt": "fine", old: "lone surrogate \ud800"}
    with pytest.raises(UnicodeEncodeError):
        write_files(contents, force=True)
    assert (os.listdir(tmp_path), old.read_text()) == (["old.txt"], "old")


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def full(handle: int, *args: Any, **more: Any) -> Any:
        calls.append("open")
        if len(calls) == 2:
            os.close(handle)
            raise OSError(28, "No space left on device")
        return real(handle, *args, **more)

    real: Any = os.fdopen
    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(UsageError, match=r"b\.txt: cannot be written \(No space left on device\)"):
        write_files({tmp_path / "a.txt": "a", tmp_path / "b.txt": "b"})
    assert os.listdir(tmp_path) == []


def test_a_folder_is_made_and_goes_again_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "release"
    with pytest.raises(UnicodeEncodeError):
        write_files({folder / "a.csv": "a", folder / "b.csv": "\ud800"}, folder=folder)
    assert os.listdir(tmp_path) == []
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", _no_space)
        with pytest.raises(UsageError, match=r"a\.csv: cannot be written \(No space left on device\)"):
            write_files({folder / "a.csv": "a"}, folder=folder)
    assert os.listdir(tmp_path) == []
    write_files({folder / "a.csv": "a", tmp_path / "b.csv": "b"}, folder=folder)
    assert ((folder / "a.csv").read_text(), (tmp_path / "b.csv").read_text()) == ("a", "b")
    with pytest.raises(UsageError, match=r"a\.csv exists already"):
        write_files({folder / "a.csv": "c"}, folder=folder)
    with pytest.raises(UsageError, match=r"b\.csv is a file\. Give the name of a folder\."):
        refuse_existing([], force=True, folder=tmp_path / "b.csv")


def _no_space(**_: object) -> None:
    raise OSError(28, "No space left on device")


def test_folders_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(UsageError, match="here is a folder"):
        write_files({tmp_path / "here": "text"}, force=True)
    with pytest.raises(UsageError, match=r"its folder .*nowhere must exist\."):
        refuse_existing([tmp_path / "nowhere" / "a.txt"], force=True)
    assert os.listdir(tmp_path) == ["here"]
