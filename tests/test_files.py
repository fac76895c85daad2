"""Files: whatever a table may look like on disk, and writing whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.files import csv_text, read_raw, refuse_existing, write_files
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable


def read(folder: Path, content: str | bytes, form: TableFormat | None = None, *expected: str) -> RawTable:
    file = folder / "data.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return read_raw(file, form, expected)


def cells(raw: RawTable) -> dict[str, list[str]]:
    return {name: list(column) for name, column in raw.columns.items()}


def refused(folder: Path, content: str | bytes, form: TableFormat | None = None) -> str:
    with pytest.raises(TableError) as caught:
        read(folder, content, form)
    assert str(caught.value).startswith(str(folder / "data.csv"))
    return str(caught.value).removeprefix(str(folder / "data.csv"))


# ----- encodings ------------------------------------------------------------------------------------------------------

TOWNS = {"town": ["Zürich", "Łódź"], "n": ["1", "2"]}
TEXT = "town,n\nZürich,1\nŁódź,2\n"


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xff\xfe" + TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        gzip.compress(TEXT.encode(), mtime=0),
    ],
    ids=["utf-8", "utf-8 marked", "utf-16", "utf-16-le marked", "utf-16-be marked", "gzip"],
)
def test_encodings_are_found(tmp_path: Path, content: bytes) -> None:
    raw = read(tmp_path, content)
    assert cells(raw) == TOWNS
    assert raw.sha256 == hashlib.sha256(content).hexdigest()  # of the file as it is


def test_what_is_not_utf_8_is_read_as_windows_1252(tmp_path: Path) -> None:
    raw = read(tmp_path, "town,price\nZürich,5€\n".encode("cp1252"))
    assert cells(raw) == {"town": ["Zürich"], "price": ["5€"]}
    file = tmp_path / "data.csv"
    assert raw.notes == (f"{file}: read as Windows-1252 (it is not UTF-8, and the schema gives no encoding).",)
    assert read(tmp_path, "town\nZürich\n".encode("cp1252"), TableFormat(encoding="cp1252")).notes == ()


def test_the_given_encoding_counts(tmp_path: Path) -> None:
    content = "town\nŁódź\n".encode("iso8859-2")
    assert cells(read(tmp_path, content, TableFormat(encoding="iso8859-2"))) == {"town": ["Łódź"]}
    assert cells(read(tmp_path, TEXT.encode("utf-16-le"), TableFormat(encoding="utf-16-le"))) == TOWNS
    # The mark at the beginning of a file says more than the schema of its data set.
    assert cells(read(tmp_path, TEXT.encode("utf-8-sig"), TableFormat(encoding="cp1252"))) == TOWNS


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, b"a,b\n1,2\n\xff,3\n", TableFormat(encoding="utf-8"))
    assert message == ", line 3: the text is not utf-8 (invalid start byte). Say the right [table] encoding."
    message = refused(tmp_path, b"a\n\xe9\n\x81\n")
    assert message.startswith(", line 2: the text is not utf-8 (")
    assert "; line 3: the text is not cp1252 (" in message
    assert "line 1: the text is not utf-16 (truncated data)" in refused(tmp_path, b"\xff\xfea")


def test_nul_bytes_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, b"a,b\n1,2\n3,\x00\n").startswith(", line 3: a NUL byte. It must be a text (CSV)")
    assert refused(tmp_path, b"a,b\n1,\x00\n", TableFormat(encoding="utf-8")).startswith(", line 2: a NUL character.")
    assert refused(tmp_path, TEXT.encode("utf-16-le")).startswith(", line 1: a NUL byte.")


# ----- delimiters and lines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, sign: str) -> None:
    text = f"\n \nage{sign} town\n20{sign} X\n30{sign}Y\n"
    assert cells(read(tmp_path, text)) == {"age": ["20", "30"], "town": ["X", "Y"]}
    assert cells(read(tmp_path, text, None, "age", "town")) == {"age": ["20", "30"], "town": ["X", "Y"]}


def test_the_expected_columns_tell_the_delimiter(tmp_path: Path) -> None:
    text = "a,b,c;town\n1,2,3;X\n"  # a name with commas in it
    assert list(read(tmp_path, text).columns) == ["a", "b", "c;town"]
    assert cells(read(tmp_path, text, None, "town")) == {"a,b,c": ["1,2,3"], "town": ["X"]}


def test_the_given_delimiter_may_be_wrong_for_this_file(tmp_path: Path) -> None:
    form = TableFormat(delimiter=";")
    raw = read(tmp_path, "age,town\n20,X\n", form, "age", "town")
    assert cells(raw) == {"age": ["20"], "town": ["X"]}
    assert raw.notes == (f"{tmp_path / 'data.csv'}: read with delimiter ',' (the schema says ';').",)
    raw = read(tmp_path, "age;x,y\n20;1,2\n", form, "age", "x,y")
    assert (cells(raw), raw.notes) == ({"age": ["20"], "x,y": ["1,2"]}, ())
    assert cells(read(tmp_path, "x,y\n1\n", form, "x,y")) == {"x,y": ["1"]}  # one column, and that is a known one
    assert cells(read(tmp_path, "a\n1\n", form)) == {"a": ["1"]}
    assert cells(read(tmp_path, "a:b\n1:2\n", TableFormat(delimiter=":"))) == {"a": ["1"], "b": ["2"]}
    headless = TableFormat(delimiter=";", header=("age", "town"))
    raw = read(tmp_path, "20,X\n", headless, "age", "town")
    assert (cells(raw), len(raw.notes)) == ({"age": ["20"], "town": ["X"]}, 1)


def test_a_given_delimiter_that_does_not_occur(tmp_path: Path) -> None:
    message = refused(tmp_path, "\na,b\n1,2\n", TableFormat(delimiter=";"))
    assert message.startswith(", line 2: the [table] delimiter ';' does not occur; the file looks ','-separated. Say")
    with pytest.raises(TableError, match=r"the file looks '.t'-separated"):
        read(tmp_path, "a\tb\n1\t2\n", TableFormat(delimiter=";"), "age", "town")


def test_rows_know_their_lines(tmp_path: Path) -> None:
    raw = read(tmp_path, 'a,b\n"1\n2",x\n\n3,y\n')
    assert raw.lines == [2, 5]
    assert [raw.place(row) for row in (0, 1)] == [f"{tmp_path / 'data.csv'}, line {line}" for line in (2, 5)]
    assert RawTable("frame", {"a": ["1"]}).place(0) == "frame, row 1"


@pytest.mark.parametrize(
    ("name", "magic", "kind"),
    [
        ("a.parquet", b"PAR1\x15\x00", "a Parquet file"),
        ("a.arrow", b"ARROW1\x00\x00", "an Arrow file"),
        ("a.feather", b"FEA1\x00", "a Feather file"),
        ("a.xlsx", b"PK\x03\x04\x14\x00", "an Excel file"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "an Excel file"),
        ("a.zip", b"PK\x03\x04\x14\x00", "a zip archive"),
    ],
)
def test_files_of_another_kind_are_named(tmp_path: Path, name: str, magic: bytes, kind: str) -> None:
    (tmp_path / name).write_bytes(magic)
    with pytest.raises(TableError) as caught:
        read_raw(tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name} is {kind}; this version reads CSV (also gzipped). Export it as CSV."
    )


@pytest.mark.parametrize(
    "text", ["a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\r\n3,4", "a,b\r1,2\r3,4\r", "a,b\n\n1,2\n\r\n  \n3,4\n\n"]
)
def test_line_ends_and_blank_lines(tmp_path: Path, text: str) -> None:
    assert cells(read(tmp_path, text)) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_quotes_spaces_and_line_breaks_in_cells(tmp_path: Path) -> None:
    raw = read(tmp_path, 'a , b\n "x, ""y""",  z \n"two\nlines",""\n')
    assert cells(raw) == {"a": ['x, "y"', "two\nlines"], "b": ["z", ""]}


def test_line_numbers_count_line_breaks_in_cells(tmp_path: Path) -> None:
    # Lines: 1 header, 2-4 a row, 5 blank, 6-7 the row that is too short.
    message = refused(tmp_path, 'a,b\n"1\r\n\n2",x\n\n"3\n4"\n')
    assert message.startswith(", line 6: 1 cells where there are 2 columns (delimiter ',').")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", ", line 3: 1 cells where there are 2 columns (delimiter ','). Quote cells that hold"),
        ("a,b\n1,2,3\n", ", line 2: 3 cells where there are 2 columns"),
        ("a,b\n1,2\n,\n,,\n", ", line 4: 3 cells"),
        ('a,b\n1,2\n3,"4\n5,6\n', ", line 3: not a proper CSV line (unexpected end of data). Check its quotes."),
        ('a,b\n1,"2"x\n', ", line 2: not a proper CSV line ("),
        ("a,b,a\n1,2,3\n", ", line 1: the column 'a' stands twice (columns 1 and 3). Rename one of them."),
        ("\na,,c\n1,2,3\n", ", line 2: column 2 has no name. Name every column."),
        ("a,b,\n1,2,\n", ", line 1: column 3 has no name."),
        ("", ": the file is empty. It must hold a header line and rows."),
        ("\ufeff \n\r\n", ": the file is empty."),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text).startswith(message)


def test_only_a_header_is_a_table_without_rows(tmp_path: Path) -> None:
    raw = read(tmp_path, "a,b\n")
    assert (cells(raw), raw.rows) == ({"a": [], "b": []}, 0)


def test_one_column_with_missing_values_keeps_its_rows(tmp_path: Path) -> None:
    assert cells(read(tmp_path, csv_text(["a"], [["1"], [""], ["2"]]))) == {"a": ["1", "", "2"]}
    assert cells(read(tmp_path, 'a\n1\n\n2\n""\n')) == {"a": ["1", "2", ""]}


def test_a_given_header(tmp_path: Path) -> None:
    form = TableFormat(header=("age", "town", "name"))
    assert cells(read(tmp_path, "20,X,Ann\n30,Y,Bob\n", form)) == {
        "age": ["20", "30"],
        "town": ["X", "Y"],
        "name": ["Ann", "Bob"],
    }
    # A file of the same data set with a header of its own, such as a release without the names.
    assert cells(read(tmp_path, "town,age\nX,20\n", form)) == {"town": ["X"], "age": ["20"]}
    assert refused(tmp_path, "20,X\n", form).startswith(", line 1: 2 cells where there are 3 columns")


# ----- size -----------------------------------------------------------------------------------------------------------


def test_a_million_columns_are_refused_in_a_moment(tmp_path: Path) -> None:
    started = time.monotonic()
    wide = ",".join(f"c{i}" for i in range(1_000_000))
    message = refused(tmp_path, f"{wide}\n{wide}\n")
    assert message == (
        ", line 1: 1000000 columns are more than the 10000 a table may have. Is this the right delimiter?"
    )
    assert time.monotonic() - started < 20


def test_ten_thousand_columns_are_read_in_a_moment(tmp_path: Path) -> None:
    started = time.monotonic()
    names = [f"c{i}" for i in range(10_000)]
    raw = read(tmp_path, csv_text(names, [names]))
    assert list(raw.columns) == names
    assert raw.columns["c9999"][0] == "c9999"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("place", ["header", "cell"])
def test_ten_megabytes_in_one_cell(tmp_path: Path, place: str) -> None:
    long = "x" * 10_000_000
    raw = read(tmp_path, f"{long},b\n1,2\n" if place == "header" else f'a,b\n1,"{long}"\n')
    assert cells(raw) == ({long: ["1"], "b": ["2"]} if place == "header" else {"a": ["1"], "b": [long]})
    assert len(refused(tmp_path, f"{long},{long}\n1,2\n")) < 300


# ----- files that cannot be read --------------------------------------------------------------------------------------


def test_damaged_gzip_files(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT.encode() * 1000)
    for damaged in (packed[:-20], packed[:30], packed[:50] + b"\x00" * 20 + packed[70:], b"\x1f\x8bnonsense"):
        assert refused(tmp_path, damaged).startswith(": the gzip file is damaged or cut short (")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"none\.csv: there is no such file\."):
        read_raw(tmp_path / "none.csv")
    with pytest.raises(TableError, match=r"the file cannot be read \(Is a directory\)\."):
        read_raw(tmp_path)


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
