"""Writing tables: what is written reads back, nothing in it is live, and nothing is left where writing fails."""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.files import writing
from auditor.files.tables import csv_text, refuse_existing, write_files
from auditor.files.writing import WRITTEN, own_folder
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
    with pytest.raises(UsageError, match=r"old\.txt: cannot be written, since it would hold a character that UTF-8"):
        write_files(contents, force=True)
    assert (os.listdir(tmp_path), old.read_text()) == (["old.txt"], "old")


def failing(monkeypatch: pytest.MonkeyPatch, owner: Any, step: str, at: int) -> None:
    """Makes the `at`-th call of a step fail, as on a full disk."""
    real, calls = getattr(owner, step), itertools.count(1)

    def full(*args: Any, **more: Any) -> Any:
        if next(calls) == at:
            raise OSError(28, "No space left on device")
        return real(*args, **more)

    monkeypatch.setattr(owner, step, full)


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, Path, "write_bytes", 2)
    with pytest.raises(UsageError, match=r"b\.txt: cannot be written \(No space left on device\)"):
        write_files({tmp_path / "a.txt": "a", tmp_path / "b.txt": "b"})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("at", [1, 2, 3])
def test_old_files_are_put_back_where_one_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    names = ["provenance.csv", "release.csv", "key.json"]
    for name in names:
        (tmp_path / name).write_text(f"old {name}")
    failing(monkeypatch, os, "replace", at)
    with pytest.raises(UsageError, match=rf"{names[at - 1]}: cannot be written \(No space left on device\)"):
        write_files({tmp_path / name: f"new {name}" for name in names}, force=True)
    assert {name: (tmp_path / name).read_text() for name in sorted(os.listdir(tmp_path))} == {
        name: f"old {name}" for name in sorted(names)
    }


def test_new_files_go_again_where_a_later_one_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs that write to the same place: the second finds a file that was not there when it began."""
    real = Path.write_bytes

    def somebody_else(path: Path, content: bytes) -> int:
        (tmp_path / "release.csv").write_text("somebody else's")
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", somebody_else)
    with pytest.raises(UsageError, match=r"release\.csv exists already"):
        write_files({tmp_path / "provenance.csv": "ours", tmp_path / "release.csv": "ours"})
    assert os.listdir(tmp_path) == ["release.csv"]
    assert (tmp_path / "release.csv").read_text() == "somebody else's"


def test_files_are_written_where_nothing_can_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    write_files({tmp_path / "a.txt": "a"})
    write_files({tmp_path / "a.txt": "b", tmp_path / "c.txt": "c"}, force=True)
    assert sorted((file.name, file.read_text()) for file in tmp_path.iterdir()) == [("a.txt", "b"), ("c.txt", "c")]


def test_a_folder_is_made_and_goes_again_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "release"
    with pytest.raises(UsageError, match="UTF-8"):
        write_files({folder / "a.csv": "a", folder / "b.csv": "\ud800"}, folder=folder)
    assert os.listdir(tmp_path) == []
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", _no_space)
        with pytest.raises(UsageError, match=r"a\.csv: cannot be written \(No space left on device\)"):
            write_files({folder / "a.csv": "a"}, folder=folder)
    assert os.listdir(tmp_path) == []
    write_files({folder / "a.csv": "a", tmp_path / "b.csv": "b"}, folder=folder)
    assert ((folder / "a.csv").read_text(), (tmp_path / "b.csv").read_text()) == ("a", "b")
    with pytest.raises(UsageError, match=r"a\.csv exists already"):
        write_files({folder / "a.csv": "c"}, folder=folder)
    with pytest.raises(UsageError, match=r"b\.csv is a file\. Give the name of a folder\."):
        refuse_existing([], force=True, folder=tmp_path / "b.csv")


def _no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_new_folder_appears_with_all_that_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing lies in a release folder that is not finished, not even for a moment."""
    folder, seen = tmp_path / "run", []
    real = Path.write_bytes

    def watched(path: Path, content: bytes) -> int:
        seen.append(folder.exists())
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", watched)
    made = {folder / "a.csv": "a", folder / "plots" / "p.svg": "p", tmp_path / "private.csv": "x"}
    write_files(made, folder=[folder, folder / "plots"], private=[tmp_path / "private.csv"])
    assert seen == [False] * 3
    assert {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*")} == {
        *("run", "run/a.csv", "run/plots", "run/plots/p.svg", "private.csv")
    }
    assert (folder.stat().st_mode & 0o777, (tmp_path / "private.csv").stat().st_mode & 0o777) == (0o755, 0o600)


@pytest.mark.parametrize("inside", [True, False])
def test_unfinished_files_stand_beside_a_folder_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    folder, seen = tmp_path / "run", []
    folder.mkdir()
    real = Path.write_bytes

    def watched(path: Path, content: bytes) -> int:
        seen.append((os.listdir(folder), len(os.listdir(tmp_path))))
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", watched)
    monkeypatch.chdir(folder if inside else tmp_path)
    named = Path() if inside else Path("run")
    write_files({named / "a.csv": "a"}, folder=named)
    assert (seen, os.listdir(folder), os.listdir(tmp_path)) == ([([], 2)], ["a.csv"], ["run"])


def test_files_of_an_older_result_go_when_the_new_one_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("old")
    gone = [tmp_path / "a", tmp_path / "b", tmp_path / "missing"]
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", _no_space)
        with pytest.raises(UsageError, match="No space left"):
            write_files({tmp_path / "a": "new"}, force=True, gone=gone)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]
    write_files({tmp_path / "a": "new"}, force=True, gone=gone)
    assert sorted((file.name, file.read_text()) for file in tmp_path.iterdir()) == [("a", "new"), ("c", "old")]


# ----- runs that were killed --------------------------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from auditor.files.writing import write_files
real = Path.write_bytes
def halfway(path, content):
    real(path, content)
    if content == b"second":
        print("here", flush=True)
        sys.stdin.readline()
Path.write_bytes = halfway
folder = Path(sys.argv[1])
write_files({folder / "provenance.csv": "first", folder / "release.csv": "second"}, folder=folder)
"""


def halfway(folder: Path) -> subprocess.Popen[str]:
    """A run that has finished its files and not put them in their places yet."""
    command = [sys.executable, "-c", KILLED, str(folder)]
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "here\n"
    return run


@pytest.mark.skipif(sys.platform == "win32", reason="there is no telling whether a run is alive")
def test_what_a_killed_run_left_is_swept_and_that_of_a_live_one_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    dead, alive = halfway(folder), halfway(folder)
    with dead:
        dead.kill()
    left = sorted(os.listdir(tmp_path))
    assert [name.partition("-")[0] for name in left] == [".auditor", ".auditor"]
    write_files({tmp_path / "other.csv": "x"})
    assert [f"-{alive.pid}-" in name or name == "other.csv" for name in sorted(os.listdir(tmp_path))] == [True, True]
    alive.communicate("go on\n")
    assert alive.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "release"]
    assert sorted(os.listdir(folder)) == ["provenance.csv", "release.csv"]


def test_a_folder_of_this_process_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "spill-99999999-dead").mkdir()
    (tmp_path / "spill-99999999-dead" / "people.tmp").write_text("x")
    with own_folder(tmp_path, "spill-", "") as first, own_folder(tmp_path, "spill-", "") as second:
        assert sorted(tmp_path.iterdir()) == sorted([first, second])
        assert first.stat().st_mode & 0o777 == 0o700
    assert os.listdir(tmp_path) == []


def test_signals_wait_until_all_files_are_in_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.link

    def interrupted(*args: Any, **more: Any) -> None:
        real(*args, **more)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "link", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files({tmp_path / "a.txt": "a", tmp_path / "b.txt": "b"})
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]
    assert WRITTEN[-2:] == [tmp_path / "a.txt", tmp_path / "b.txt"]


def test_a_signal_while_unfinished_files_are_removed_leaves_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, times = os.unlink, iter("x")

    def interrupted(*args: Any, **more: Any) -> None:
        real(*args, **more)
        if next(times, None):
            signal.raise_signal(signal.SIGINT)

    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files({tmp_path / "a.txt": "a", tmp_path / "b.txt": "b"}, force=True)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


def test_a_signal_when_a_folder_for_unfinished_files_was_just_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.mkdir

    def interrupted(*args: Any, **more: Any) -> None:
        real(*args, **more)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_files({tmp_path / "a.txt": "a"})
    assert os.listdir(tmp_path) == []


def test_what_an_interruption_left_unfinished_can_be_tidied(tmp_path: Path) -> None:
    unfinished = writing.own_folder(tmp_path)
    unfinished.__enter__()
    assert len(os.listdir(tmp_path)) == 1
    writing.tidy()
    assert os.listdir(tmp_path) == []


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written \\(File name too long\\)"):
        refuse_existing([tmp_path / ("x" * 5000)], force=False)
    with pytest.raises(UsageError, match="File name too long"):
        write_files({tmp_path / ("x" * 5000) / "a": "a"}, folder=tmp_path / ("x" * 5000))
    with pytest.raises(UsageError, match="null"):
        write_files({tmp_path / "a\0b": "a"})


def test_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe is no ordinary file"):
        write_files({tmp_path / "pipe": "a"}, force=True)


def test_folders_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(UsageError, match="here is a folder"):
        write_files({tmp_path / "here": "text"}, force=True)
    with pytest.raises(UsageError, match=r"its folder .*nowhere must exist\."):
        refuse_existing([tmp_path / "nowhere" / "a.txt"], force=True)
    assert os.listdir(tmp_path) == ["here"]
