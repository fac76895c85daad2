"""Parquet, Arrow and Excel: typed values as the text that a CSV of the same table has, and Parquet releases without loss."""

from __future__ import annotations

import datetime as dt
import gzip
import importlib
import io
import uuid
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.files import arrow_tables, excel_tables
from auditor.files.arrow_tables import typed, write_parquet
from auditor.files.tables import read_raw, sha256
from auditor.model.cells import cell_texts
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import Marks, Schema, TableFormat
from auditor.model.table import RawTable

pytestmark = pytest.mark.usefixtures(
    "revealed"
)  # messages with their values: tests/commands/test_canary.py has the others

PLAIN = TableFormat()
UTC = dt.UTC

TYPED: dict[str, tuple[Any, list[str]]] = {
    "whole": (pa.array([1, -2, None]), ["1", "-2", ""]),
    "large": (pa.array([2**64 - 1, 0, None], pa.uint64()), ["18446744073709551615", "0", ""]),
    "real": (pa.array([1.0, 0.1, None]), ["1", "0.1", ""]),
    "nan": (pa.array([1.5, float("nan"), float("inf")]), ["1.5", "", "inf"]),
    "narrow": (pa.array([0.1, 3, None], pa.float32()), ["0.1", "3", ""]),
    "truth": (pa.array([True, False, None]), ["True", "False", ""]),
    "day": (pa.array([dt.date(2020, 1, 31), None, dt.date(1, 1, 1)]), ["2020-01-31", "", "0001-01-01"]),
    "midnight": (pa.array([dt.datetime(2020, 1, 31), None, None], pa.timestamp("us")), ["2020-01-31", "", ""]),
    "moment": (
        pa.array([dt.datetime(2020, 1, 31), dt.datetime(2020, 2, 1, 12, 30), None], pa.timestamp("ns")),
        ["2020-01-31T00:00:00", "2020-02-01T12:30:00", ""],
    ),
    "zone": (
        pa.array([dt.datetime(2020, 1, 31, tzinfo=UTC), None, None], pa.timestamp("s", "UTC")),
        ["2020-01-31T00:00:00+00:00", "", ""],
    ),
    "clock": (pa.array([dt.time(12, 30), None, None]), ["12:30:00", "", ""]),
    "lasting": (pa.array([dt.timedelta(days=1), dt.timedelta(seconds=1.5), None]), ["86400", "1.5", ""]),
    "decimal": (pa.array([Decimal("1.50"), Decimal("5.00"), Decimal("-0.00")]), ["1.5", "5", "0"]),
    "text": (pa.array([" x ", "", None]), ["x", "", ""]),
    "long text": (pa.array(["a", "b", None], pa.large_string()), ["a", "b", ""]),
    "bytes": (pa.array([b"a", "Łódź".encode(), None]), ["a", "Łódź", ""]),
    "category": (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
    "number category": (pa.array([7, None, 7]).dictionary_encode(), ["7", "", "7"]),
    "unused category": (pa.DictionaryArray.from_arrays([0, 0, 1], ["a", "b", "n\0l"]), ["a", "a", "b"]),
    "uuid": (pa.array([uuid.UUID(int=5).bytes, None, None], pa.uuid()), [str(uuid.UUID(int=5)), "", ""]),
}
ARROW_ONLY: dict[str, tuple[Any, list[str]]] = {
    "half": (pa.array([np.float16(0.1), np.float16(2), None], pa.float16()), ["0.1", "2", ""]),
    "view": (pa.array(["a", "b", None], pa.string_view()), ["a", "b", ""]),
    "nothing": (pa.nulls(3), ["", "", ""]),
    "runs": (pa.compute.run_end_encode(pa.array(["a", "a", None])), ["a", "a", ""]),
}


def arrow_file(table: Any, stream: bool = False) -> bytes:
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_file(table: Any, **more: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **more)
    return sink.getvalue()


def workbook(fill: Callable[[Any], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def sheet(*rows: list[Any]) -> bytes:
    return workbook(lambda book: [book.active.append(row) for row in rows])


def read(folder: Path, content: bytes, form: TableFormat = PLAIN) -> RawTable:
    (folder / "table").write_bytes(content)
    return read_raw(folder / "table", form)


def cells(raw: RawTable) -> dict[str, list[str]]:
    return {name: list(column) for name, column in raw.columns.items()}


def refused(folder: Path, content: bytes, form: TableFormat = PLAIN) -> str:
    with pytest.raises(TableError) as caught:
        read(folder, content, form)
    assert str(caught.value).startswith(str(folder / "table"))
    return str(caught.value).removeprefix(str(folder / "table"))


# ----- Parquet and Arrow ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "gzip"])
def test_typed_columns_are_read_as_text(tmp_path: Path, kind: str) -> None:
    chosen = TYPED if kind in ("parquet", "gzip") else TYPED | ARROW_ONLY
    table = pa.table({name: array for name, (array, _) in chosen.items()})
    content = parquet_file(table) if kind in ("parquet", "gzip") else arrow_file(table, kind == "stream")
    content = gzip.compress(content) if kind == "gzip" else content
    raw = read(tmp_path, content)
    assert cells(raw) == {name: texts for name, (_, texts) in chosen.items()}
    assert (raw.sha256, raw.lines, raw.notes) == (sha256(content), None, ())
    assert raw.place(1) == f"{tmp_path / 'table'}, row 2"


def test_marks_and_the_decimal_mark_of_the_schema_count(tmp_path: Path) -> None:
    form = TableFormat(decimal=",", missing=("?", ""), own={"own": Marks(missing=("99",))})
    table = pa.table({"real": [1.5, None], "own": [None, "a"], "decimal": [Decimal("1.50"), None]})
    expected = {"real": ["1,5", "?"], "own": ["99", "a"], "decimal": ["1,5", "?"]}
    assert cells(read(tmp_path, parquet_file(table), form)) == expected
    assert cells(RawTable.from_frame(table.to_pandas(), form=form)) == expected
    assert cells(read(tmp_path, sheet(["real", "own", "decimal"], [1.5, None, 1.5], [None, "a"]), form)) == expected


def test_columns_in_pieces_with_their_own_dictionaries(tmp_path: Path) -> None:
    pieces = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", None, "z"]).dictionary_encode()]
    content = arrow_file(pa.table({"a": pa.chunked_array(pieces)}), stream=True)
    assert cells(read(tmp_path, content)) == {"a": ["x", "y", "y", "", "z"]}
    table = pa.table({"a": [f"t{i % 7}" for i in range(1000)], "b": range(1000)})
    raw = read(tmp_path, parquet_file(table, row_group_size=64))
    assert cells(raw) == {"a": table["a"].to_pylist(), "b": [str(i) for i in range(1000)]}


@given(
    st.lists(
        st.none()
        | st.floats(width=64)
        | st.integers(-(2**63), 2**63 - 1).map(float)
        | st.sampled_from([0.1, -0.0, 1e16, 5e-324]),
        min_size=1,
        max_size=8,
    )
)
def test_numbers_read_back_to_the_same_numbers(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float | None]
) -> None:
    raw = read(tmp_path_factory.mktemp("typed"), parquet_file(pa.table({"a": pa.array(numbers, pa.float64())})))
    for text, number in zip(raw.columns["a"], numbers, strict=True):
        assert (text == "") if number is None or np.isnan(number) else float(text) == number


def test_a_frame_and_its_files_say_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [1.0, None, 0.5],
            "f32": np.array([0.1, 2, 3], dtype=np.float32),
            "s": ["a", None, " c "],
            "c": pd.Categorical(["x", "y", "x"]),
            "d": pd.to_datetime(["2020-01-01", None, "2021-05-06"]),
            "b": [True, False, True],
        },
        index=[9, 8, 7],
    )
    expected = cells(RawTable.from_frame(frame))
    assert expected["d"] == ["2020-01-01", "", "2021-05-06"]
    assert expected["f32"] == ["0.1", "2", "3"]
    sink = io.BytesIO()
    frame.to_parquet(sink, index=False)
    assert cells(read(tmp_path, sink.getvalue())) == expected
    sink = io.BytesIO()
    frame.drop(columns=["f32", "c"]).to_excel(sink, index=False)  # Excel knows wide numbers only, and no categories
    assert cells(read(tmp_path, sink.getvalue())) == {name: expected[name] for name in ("i", "f", "s", "d", "b")}
    sink = io.BytesIO()
    frame.reset_index(drop=True).to_feather(sink)
    assert cells(read(tmp_path, sink.getvalue())) == expected


def test_an_index_that_pandas_saved_is_a_column(tmp_path: Path) -> None:
    # A row number in a release is a leak that must show, not be passed over.
    sink = io.BytesIO()
    pd.DataFrame({"a": [1, 2]}, index=[5, 6]).to_parquet(sink)
    assert list(read(tmp_path, sink.getvalue()).columns) == ["a", "__index_level_0__"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pa.table({"l": [[1], [2]], "ok": [1, 2], "s": [{"a": 1}, None]}),
            ": column 1 ('l'), column 3 ('s') must hold single",
        ),
        (
            pa.table([[1], [2]], names=["a", "a"]),
            ": column 1 ('a') and column 2 have the same name. Rename one of them.",
        ),
        (pa.table([[1], [2]], names=["a", " "]), ": column 2 has no name. Name every column."),
        (pa.table({"a": ["x", "y\0"]}), r", column 1 ('a'), row 2: 'y\x00' holds a NUL character. Remove it."),
        (pa.table({"a": [b"x", b"\xff"]}), ", column 1 ('a'): holds bytes that are not UTF-8 text."),
        (
            pa.table({"a": pa.array([10**15]).cast(pa.timestamp("s"))}),
            ", column 1 ('a'): the values (timestamp[s]) cannot be read (",
        ),
        (pa.table({f"c{i}": [1] for i in range(10_001)}), ": a table may have at most 10000 columns. Got 10001."),
    ],
)
def test_arrow_tables_that_are_refused(tmp_path: Path, table: Any, message: str) -> None:
    assert refused(tmp_path, arrow_file(table)).startswith(message)


def test_damaged_parquet_and_arrow_files(tmp_path: Path) -> None:
    table = pa.table({"a": [f"text {i}" for i in range(500)], "b": range(500)})
    for content, kind in (
        (parquet_file(table), "a Parquet file"),
        (arrow_file(table), "an Arrow file"),
        (arrow_file(table, stream=True), "an Arrow stream"),
    ):
        for damaged in (content[:8], content[:200], content[: len(content) // 2], content[:-1]):
            if damaged[-8:] == content[-9:-1] and kind == "an Arrow stream":
                continue  # a stream may end without its end mark
            message = refused(tmp_path, damaged)
            assert message.startswith(f" is {kind} that is damaged or cut short ("), message
            assert len(message) < 400


def test_bytes_turned_round_are_no_traceback(tmp_path: Path) -> None:
    content = bytearray(arrow_file(pa.table({"a": [f"text {i}" for i in range(50)]})))
    rng = np.random.default_rng(3)
    for _ in range(200):
        damaged = bytearray(content)
        for place in rng.integers(8, len(content), 3):
            damaged[place] ^= 1 << int(rng.integers(8))
        try:
            raw = read(tmp_path, bytes(damaged))
        except TableError:
            continue
        assert raw.rows <= 50


def test_a_file_cannot_claim_endless_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_tables, "MOST_CELLS", 1999)
    table = pa.table({"a": pa.nulls(1000, pa.int8()), "b": range(1000)})
    for content in (parquet_file(table), arrow_file(table), arrow_file(table, stream=True)):
        message = refused(tmp_path, content)
        assert message.startswith(": a table may have at most 1999 cells. Got 1000 rows of 2 columns. Leave out")
    assert read(tmp_path, parquet_file(table.slice(0, 999))).rows == 999


def test_a_long_text_that_stands_often_is_held_once(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    often = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int8()), [long])  # 20 GB if each had its own
    content = parquet_file(pa.table({"a": often}))
    raw = read(tmp_path, content)
    assert len({id(cell) for cell in raw.columns["a"]}) == 1
    assert raw.columns["a"][0] == long


# ----- Excel ----------------------------------------------------------------------------------------------------------


def test_a_sheet_is_read_as_text(tmp_path: Path) -> None:
    raw = read(
        tmp_path,
        sheet(
            [],
            [None, "age", "town", "ok", "day", "moment", "share", 2020],
            [None, 20, " X ", True, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4), 1.5, "a\nb"],
            [],
            [None, 30.0, None, False, None, dt.datetime(2020, 1, 3), 1e300, "#N/A"],
        ),
    )
    assert cells(raw) == {
        "age": ["20", "30"],
        "town": ["X", ""],
        "ok": ["True", "False"],
        "day": ["2020-01-02", ""],
        "moment": ["2020-01-02T03:04:00", "2020-01-03T00:00:00"],
        "share": ["1.5", "1e+300"],
        "2020": ["a\nb", "#N/A"],
    }
    assert (raw.lines, raw.notes) == ([3, 5], ())


def _two(book: Any) -> None:
    book.active.title = "Read me"
    book.active.append(["note"])
    book.active.append(["hello"])
    data = book.create_sheet("Data")
    data.append(["a", "b"])
    data.append([1, 2])


def test_which_sheet_is_read(tmp_path: Path) -> None:
    file = tmp_path / "table"
    raw = read(tmp_path, workbook(_two))
    assert cells(raw) == {"note": ["hello"]}
    assert raw.notes == (f"{file}: read the sheet 'Read me' of 'Read me', 'Data'. To read another, set [table] sheet.",)
    raw = read(tmp_path, workbook(_two), TableFormat(sheet="Data"))
    assert (cells(raw), raw.notes) == ({"a": ["1"], "b": ["2"]}, ())
    message = refused(tmp_path, workbook(_two), TableFormat(sheet="Dta"))
    assert message == ": the workbook has no sheet 'Dta' ([table] sheet). Its sheets are: 'Read me', 'Data'."
    raw = read(tmp_path, sheet(["a"], [1]), TableFormat(sheet="Data"))
    assert raw.notes == (f"{file}: read its only sheet, 'Sheet', though the schema names 'Data'.",)

    def hidden(book: Any) -> None:
        _two(book)
        book.worksheets[0].sheet_state = "hidden"

    assert cells(read(tmp_path, workbook(hidden))) == {"a": ["1"], "b": ["2"]}


def test_the_schema_names_the_sheet() -> None:
    columns = {"a": {"role": "quasi"}}
    assert Schema.from_dict({"table": {"sheet": "Data"}, "columns": columns}).format.sheet == "Data"
    with pytest.raises(Exception, match=r"\[table\]: sheet must be the name of a sheet\. Got 3\."):
        Schema.from_dict({"table": {"sheet": 3}, "columns": columns})


def test_a_given_header_and_a_sheet(tmp_path: Path) -> None:
    form = TableFormat(header=("age", "town"))
    assert cells(read(tmp_path, sheet([20, "X"], [30, "Y"]), form)) == {"age": ["20", "30"], "town": ["X", "Y"]}
    assert cells(read(tmp_path, sheet(["age", "town"], [30, "Y"]), form)) == {"age": ["30"], "town": ["Y"]}
    wider = TableFormat(header=("name", "age", "town"))
    assert cells(read(tmp_path, sheet(["age", "town"], [30, "Y"]), wider)) == {"age": ["30"], "town": ["Y"]}


def _merged(book: Any) -> None:
    for row in (["a", "b"], [1, 2], [None, 3]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")


def _far(book: Any) -> None:
    book.active["A1"], book.active["XFD2"] = "a", 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (workbook(_merged), ", sheet 'Sheet': some cells are merged."),
        (workbook(_far), ", sheet 'Sheet': a table may have at most 10000 columns. Got 16384."),
        (workbook(lambda _: None), ", sheet 'Sheet' is empty. It must have a header row and rows below it."),
        (sheet(["a", "b"], [1, "=A2+1"]), ", sheet 'Sheet', cell B2: a formula without a stored value."),
        (sheet(["a", "b"], ["=B2+1", 1]), ", sheet 'Sheet', cell A2: a formula without a stored value."),
        (sheet(["a", None, "b"], [1, 2, 3]), ", sheet 'Sheet', cell B1: the column has no name. Name every column."),
        (sheet(["a", "b", "a"], [1, 2, 3]), ", sheet 'Sheet', row 1: column 1 ('a') and column 3 have the same name."),
        (sheet(["a", "b"], [1, 2], ["a", "b"]), ", sheet 'Sheet', row 3: the header row is repeated."),
    ],
)
def test_sheets_that_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert refused(tmp_path, content).startswith(message)


def repacked(content: bytes, **parts: bytes | None) -> bytes:
    """A workbook with some of its parts replaced or, where None is given, left out. `__` stands for `/`, `_` for `.`."""
    changed = {name.replace("__", "/").replace("_", "."): part for name, part in parts.items()}
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
        for name in [*old.namelist(), *(name for name in changed if name not in old.namelist())]:
            part = changed.get(name, old.read(name) if name in old.namelist() else None)
            if part is not None:
                new.writestr(name, part)
    return sink.getvalue()


LAUGHS = b'<!DOCTYPE x [<!ENTITY l0 "lol">%s]><worksheet>&l9;</worksheet>' % b"".join(
    b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 10)
)


def test_damaged_and_hostile_workbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_tables, "MOST_ROWS", 1000)
    good = sheet(["a", "b"], [1, "x"])
    name = "xl__worksheets__sheet1_xml"
    rows = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
    for damaged, message in (
        (good[: len(good) // 2], " is an Excel file or zip archive that is damaged or cut short ("),
        (good[:4], " is an Excel file or zip archive that is damaged or cut short ("),
        (repacked(good, **{name: b"<worksheet"}), " is an Excel file that is damaged ("),
        (repacked(good, **{name: None}), ": the workbook must have a sheet with a table."),
        (repacked(good, xl__workbook_xml=b"nonsense"), " is an Excel file that is damaged ("),
        (repacked(good, xl__workbook_xml=None, xl__workbook_bin=b""), " is a binary Excel file (.xlsb). Save it as"),
        (repacked(good, xl__workbook_xml=None), " is a zip archive, not an Excel workbook, which"),
        # A row that claims to be far below: rows up to it would be made up, for hours.
        (repacked(good, **{name: rows % b'<row r="2000000000"><c r="A2"><v>1</v></c></row>'}), ", sheet 'Sheet': a sheet"),
        (repacked(good, **{name: rows % b'<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>'}), " is an Excel file that is"),
        # A text that unfolds to a thousand million: the parser gives up early.
        (repacked(good, **{name: LAUGHS}), " is an Excel file that is damaged ("),
    ):  # fmt: skip
        assert refused(tmp_path, damaged).startswith(message)
    assert "bytes unpack to more than 100 MB" in refused(tmp_path, repacked(good, xl__more_xml=b"0" * 110_000_000))


# ----- without the extras ---------------------------------------------------------------------------------------------


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str) -> Any:
        if name.split(".")[0] in ("pyarrow", "openpyxl"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", without)
    message = refused(tmp_path, b"PAR1....PAR1")
    assert (
        message == " is a Parquet file. Reading it needs pyarrow: pip install 'auditor[parquet]'. Or export it as CSV."
    )
    message = refused(tmp_path, sheet(["a"], [1]))
    assert message == " is an Excel file. Reading it needs openpyxl: pip install 'auditor[excel]'. Or export it as CSV."
    with pytest.raises(UsageError, match=r"Writing Parquet needs pyarrow: pip install 'auditor\[parquet\]'\. Or give"):
        arrow_tables.require_parquet()


# ----- writing Parquet ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "decimal", "empty", "expected"),
    [
        (["1", "-20"], ".", "", [1, -20]),
        (["1", ""], ".", "", [1, None]),
        (["1", ""], ".", "?", ["1", ""]),
        (["1", "2.5"], ".", "", [1.0, 2.5]),
        (["1", "2,5"], ",", "", [1.0, 2.5]),
        (["1", "2.5"], ",", "", ["1", "2.5"]),
        (["07", "8"], ".", "", ["07", "8"]),
        (["1.0", "2.5"], ".", "", ["1.0", "2.5"]),
        (["[1, 2]", "3"], ".", "", ["[1, 2]", "3"]),
        (["*", "3"], ".", "", ["*", "3"]),
        (["9007199254740993", "1"], ".", "", ["9007199254740993", "1"]),
        (["1e+16", "1"], ".", "", [1e16, 1.0]),
        (["-0", "1"], ".", "", ["-0", "1"]),
        (["", ""], ".", "", [None, None]),
        ([], ".", "", []),
    ],
)
def test_numbers_are_written_as_numbers_where_nothing_is_lost(
    texts: list[str], decimal: str, empty: str, expected: list[Any]
) -> None:
    found = typed(texts, decimal, empty)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5) | st.sampled_from(
    ["1", "2.5", "-3", "?", ""]
)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(ANY_TEXT.map(str.strip), min_size=4, max_size=4),
    st.sampled_from(".,"),
    st.sampled_from([("",), ("?", ""), ()]),
)
def test_written_parquet_reads_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], texts: list[str], mark: str, missing: tuple[str, ...]
) -> None:
    form = TableFormat(decimal=mark, missing=missing)
    columns = {"a": [texts[i] for i in numbers]}
    content = write_parquet(RawTable("t", columns), form)
    assert cells(read(tmp_path_factory.mktemp("typed"), content, form)) == columns


def test_cell_texts_of_odd_values() -> None:
    values = [None, float("nan"), pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan"), np.True_, 10**30, Decimal("1E+3")]
    assert cell_texts(values, PLAIN) == ["", "", "", "", "", "", "True", "1" + "0" * 30, "1000"]
    assert cell_texts([pd.NaT, dt.datetime(2020, 1, 1)], PLAIN) == ["", "2020-01-01"]
