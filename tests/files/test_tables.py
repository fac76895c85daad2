"""Reading tables: whatever one may look like on disk."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from auditor.files.tables import csv_text, read_raw
from auditor.model.errors import TableError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others


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
    assert raw.notes == (f"{file}: read as Windows-1252, since it is not UTF-8 and the schema gives no encoding.",)
    assert read(tmp_path, "town\nZürich\n".encode("cp1252"), TableFormat(encoding="cp1252")).notes == ()


def test_the_given_encoding_counts(tmp_path: Path) -> None:
    content = "town\nŁódź\n".encode("iso8859-2")
    assert cells(read(tmp_path, content, TableFormat(encoding="iso8859-2"))) == {"town": ["Łódź"]}
    assert cells(read(tmp_path, TEXT.encode("utf-16-le"), TableFormat(encoding="utf-16-le"))) == TOWNS
    # The mark at the beginning of a file says more than the schema of its data set.
    assert cells(read(tmp_path, TEXT.encode("utf-8-sig"), TableFormat(encoding="cp1252"))) == TOWNS


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, b"a,b\n1,2\n\xff,3\n", TableFormat(encoding="utf-8"))
    assert message == ", line 3: not valid utf-8 (invalid start byte). Set the right [table] encoding."
    message = refused(tmp_path, b"a\n\xe9\n\x81\n")
    assert message.startswith(", line 2: not valid utf-8 (")
    assert "; line 3: not valid cp1252 (" in message
    assert "line 1: not valid utf-16 (truncated data)" in refused(tmp_path, b"\xff\xfea")


def test_nul_bytes_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, b"a,b\n1,2\n3,\x00\n").startswith(", line 3: a NUL byte. The file must be text (CSV)")
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
    assert raw.notes == (f"{tmp_path / 'data.csv'}: read with the delimiter ',', though the schema gives ';'.",)
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
    assert message.startswith(", line 2: the [table] delimiter ';' does not occur; the file seems to use ','. Set")
    with pytest.raises(TableError, match=r"the file seems to use '.t'"):
        read(tmp_path, "a\tb\n1\t2\n", TableFormat(delimiter=";"), "age", "town")


def test_rows_know_their_lines(tmp_path: Path) -> None:
    raw = read(tmp_path, 'a,b\n"1\n2",x\n\n3,y\n')
    assert raw.lines == [2, 5]
    assert [raw.place(row) for row in (0, 1)] == [f"{tmp_path / 'data.csv'}, line {line}" for line in (2, 5)]
    assert RawTable("frame", {"a": ["1"]}).place(0) == "frame, row 1"


@pytest.mark.parametrize(
    ("magic", "message"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00",
            "an old Excel file (.xls), or one with a password, which cannot",
        ),
        (
            b"FEA1\x00",
            "a Feather file of version 1, which cannot be read. Write it as version 2, or export it as CSV.",
        ),
        (b"%PDF-1.7", "a PDF file, which cannot be read. Export it as CSV."),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture, which cannot be read. Export it as CSV."),
        (b"BZh91AY", "a bzip2 file, which cannot be read. Unpack it, or export it as CSV."),
    ],
)
def test_files_of_another_kind_are_named(tmp_path: Path, magic: bytes, message: str) -> None:
    assert refused(tmp_path, magic).startswith(f" is {message}")


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
    assert message.startswith(", line 6: 1 cells, but there are 2 columns (delimiter ',').")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", ", line 3: 1 cells, but there are 2 columns (delimiter ','). Quote cells that contain"),
        ("a,b\n1,2,3\n", ", line 2: 3 cells, but there are 2 columns"),
        ("a,b\n1,2\n,\n,,\n", ", line 4: 3 cells"),
        ('a,b\n1,2\n3,"4\n5,6\n', ", line 3: not a valid CSV line (unexpected end of data). Check its quotes."),
        ('a,b\n1,"2"x\n', ", line 2: not a valid CSV line ("),
        ("a,b,a\n1,2,3\n", ", line 1: column 1 ('a') and column 3 have the same name. Rename one of them."),
        ("\na,,c\n1,2,3\n", ", line 2: column 2 has no name. Name every column."),
        ("a,b,\n1,2,\n", ", line 1: column 3 has no name."),
        ("", " is empty. It must have a header line and rows."),
        ("\ufeff \n\r\n", " is empty."),
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
    assert refused(tmp_path, "20,X\n", form).startswith(", line 1: 2 cells, but there are 3 columns")


# ----- size -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_million_columns_are_refused(tmp_path: Path) -> None:
    wide = ",".join(f"c{i}" for i in range(1_000_000))
    message = refused(tmp_path, f"{wide}\n{wide}\n")
    assert message == (", line 1: a table may have at most 10000 columns. Got 1000000. Check the delimiter.")


def test_ten_thousand_columns_are_read(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    raw = read(tmp_path, csv_text(names, [[f"{name}!" for name in names]]))
    assert list(raw.columns) == names
    assert raw.columns["c9999"][0] == "c9999!"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["header", "cell"])
def test_ten_megabytes_in_one_cell(tmp_path: Path, place: str) -> None:
    long = "x" * 10_000_000
    raw = read(tmp_path, f"{long},b\n1,2\n" if place == "header" else f'a,b\n1,"{long}"\n')
    assert cells(raw) == ({long: ["1"], "b": ["2"]} if place == "header" else {"a": ["1"], "b": [long]})
    assert len(refused(tmp_path, f"{long},{long}\n1,2\n")) < 300


@pytest.mark.parametrize("pieces", [1, 2])
def test_a_gzip_file_that_unpacks_to_far_too_much(tmp_path: Path, pieces: int) -> None:
    # 120 MB of one repeated row, in one gzip member or two (a reader goes on with the next one).
    packed = gzip.compress(b"1,2\n" * (30_000_000 // pieces), 1) * pieces
    message = refused(tmp_path, packed)
    assert message.startswith(
        f": {len(packed)} bytes unpack to more than 100 MB and 200 times their size, which no ordinary"
    )
    assert "unpack it yourself" in message


def test_a_table_that_shrinks_well_is_read(tmp_path: Path) -> None:
    raw = read(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))  # 300 times smaller, and only 400 kB
    assert raw.rows == 100_000


def test_equal_cells_share_their_memory(tmp_path: Path) -> None:
    raw = read(tmp_path, "town,n\n" + "".join(f"Zürich,{i}\n" for i in range(5)))
    assert len({id(cell) for cell in raw.columns["town"]}) == 1


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


# ----- what other programs add ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sign", ";,\t|")
def test_a_first_line_may_state_the_delimiter(tmp_path: Path, sign: str, end: str) -> None:
    other = "|" if sign != "|" else ","  # which alone would be taken for the delimiter
    text = end.join([f"SEP={sign}", f"a{other}b{other}c{sign}d", f"1{other}2{sign}x", ""])
    raw = read(tmp_path, text)
    assert cells(raw) == {f"a{other}b{other}c": [f"1{other}2"], "d": ["x"]}
    assert (raw.lines, raw.delimiter) == ([3], sign)


def test_the_stated_delimiter_counts_before_the_given_one(tmp_path: Path) -> None:
    raw = read(tmp_path, "sep=;\nage;town\n20;X\n", TableFormat(delimiter=","), "age", "town")
    assert cells(raw) == {"age": ["20"], "town": ["X"]}
    assert raw.notes == (f"{tmp_path / 'data.csv'}: read with the delimiter ';', though the schema gives ','.",)
    assert refused(tmp_path, "sep=;\n").startswith(" is empty.")
    assert refused(tmp_path, "sep=;\na;b\n1\n").startswith(", line 3: 1 cells, but there are 2 columns")


def test_a_column_called_like_a_statement_reads_back(tmp_path: Path) -> None:
    assert cells(read(tmp_path, csv_text(["sep=;"], [["1"]]))) == {"sep=;": ["1"]}


def test_files_that_were_put_together(tmp_path: Path) -> None:
    message = refused(tmp_path, "a,b\n1,2\na,b\n3,4\na,b\n")
    assert message == (
        ", line 3: the header line is repeated, as if files had been joined. Remove it, and 1 more like it."
    )
    message = refused(tmp_path, "a,b\n1,2\n\ufeffa,b\n3,4\n")
    assert message.startswith(", line 3: begins with a byte order mark (U+FEFF), as if")
    assert cells(read(tmp_path, "a\n1\na\n")) == {"a": ["1", "a"]}  # one column: this may be a value
    assert cells(read(tmp_path, "\ufeff\ufeffa,b\n1,2\n")) == {"a": ["1"], "b": ["2"]}
    marked = {"a": ["\ufeffx", "y\n\ufeffz"], "b": ["1", "\ufeff"]}
    assert cells(read(tmp_path, csv_text(["a", "b"], zip(*marked.values(), strict=True)))) == marked


def test_all_ragged_lines_are_counted(tmp_path: Path) -> None:
    assert refused(tmp_path, "a,b\n1\n2,3\n4\n").endswith("There are 2 such lines.")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_named(tmp_path: Path, encoding: str) -> None:
    assert refused(tmp_path, TEXT.encode(encoding)).endswith(f'It looks like UTF-16: try encoding = "{encoding}".')


def test_lines_are_counted_whatever_ends_them(tmp_path: Path) -> None:
    assert refused(tmp_path, b"a,b\r1,2\r3,\x00\r").startswith(", line 3: a NUL byte.")
    assert refused(tmp_path, b"a,b\r\n1,2\r\xff,3\n", TableFormat(encoding="utf-8")).startswith(", line 3: not valid")


def test_names_that_would_act_on_a_terminal_are_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, "a,\x1b[31mb\n1,2\n")
    assert message == (r", line 1: the name of column 2 ('\x1b[31mb') must not hold control characters. Rename it.")
    assert list(read(tmp_path, 'a,"b\n(years)"\n1,2\n').columns) == ["a", "b\n(years)"]
