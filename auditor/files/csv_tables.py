"""CSV: text in, text out.

Reading finds encoding and delimiter where the schema does not say them, and refuses what is not a table with one message
that names file, line and remedy. A first line `sep=;`, as Excel writes it, states the delimiter and is no header.

Cells that a spreadsheet would run are written with an apostrophe before them, and read without it: see
`auditor.model.formulas`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.model.errors import TableError
from auditor.model.formulas import guarded, unguarded
from auditor.model.schema import TableFormat
from auditor.model.table import MOST_COLUMNS, RawTable, check_names

if TYPE_CHECKING:
    import _csv

DELIMITERS = ",;\t|"
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""The bytes that a file may begin with to announce its encoding."""
_MARK = "\ufeff"
"""The same announcement as a character; it means nothing inside a text."""
STATED = re.compile(r'sep=([^\s\w"]|\t)[ \t]*(?:\r\n|\n|\r|$)', re.IGNORECASE)
"""A first line in which Excel states the delimiter."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_HEADLESS = " Has the file no header line? Then give [table] header = […]."
_MOST_POOLED = 100_000
"""So many different texts of a file are kept once each; equal cells of columns with few values then share their memory."""

Row = tuple[int, list[str]]


def read_csv(content: bytes, file: Path, form: TableFormat, expected: Sequence[str] = ()) -> RawTable:
    """The bytes of a CSV file as a table of text."""
    notes: list[str] = []
    text = decode(content, form.encoding, file, notes)
    if not text.strip():
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    stated = STATED.match(text)
    delimiter = stated[1] if stated else _delimiter(text, form, expected, file)
    if form.delimiter not in (None, delimiter):
        notes.append(f"{file}: read with delimiter {delimiter!r} (the schema says {form.delimiter!r}).")
    rows = _rows(text[stated.end() :] if stated else text, delimiter, file, 2 if stated else 1)
    if _MARK in text:
        _refuse_pasted(text, rows, file)
    header, first = _header(rows, form, expected, file)
    columns = _columns(rows[first:], header, file, delimiter)
    if not expected or set(header) & set(expected):  # else these may be no names, and a value may stand twice
        _refuse_again(rows[first:], header, file)
    lines = [line for line, _ in rows[first:]]
    return RawTable(str(file), columns, None, lines, tuple(notes), delimiter)


def decode(content: bytes, encoding: str | None, file: Path, notes: list[str]) -> str:
    """The text of a file: in the encoding that its first bytes announce, else the given one, else what fits. A note is
    made where that is not UTF-8."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    given = marked or encoding
    if given is None and b"\x00" in content:
        line = _line(content, content.index(b"\x00"))
        raise TableError(
            f"{file}, line {line}: a NUL byte. It must be a text (CSV); say its [table] encoding if it is.{_wide(content)}"
        )
    faults = []
    for name in [given] if given else ["utf-8", "cp1252"]:
        try:
            text = content.decode(name)
        except UnicodeDecodeError as error:
            faults.append(f"line {_line(content, error.start)}: the text is not {name} ({error.reason})")
            continue
        if "\x00" in text:
            line = _line(text[: text.index("\x00")].encode(), None)
            raise TableError(f"{file}, line {line}: a NUL character. It must be a text (CSV) in {name}.")
        if given is None and name == "cp1252":
            notes.append(f"{file}: read as Windows-1252 (it is not UTF-8, and the schema gives no encoding).")
        return text.lstrip(_MARK)
    raise TableError(f"{file}, {'; '.join(faults)}. Say the right [table] encoding.")


def _wide(content: bytes) -> str:
    """A hint where nearly every second byte of a beginning is NUL, as in UTF-16 without a mark."""
    start = content[:1000]
    for name, first in (("utf-16-be", 0), ("utf-16-le", 1)):
        half = start[first::2]
        if len(half) > 3 and half.count(b"\x00") > 0.8 * len(half):
            return f' It looks like UTF-16: try encoding = "{name}".'
    return ""


def _line(content: bytes, place: int | None) -> int:
    return len(_LINE_END.findall(content[:place])) + 1


def _reader(lines: Iterable[str], delimiter: str, strict: bool) -> _csv.Reader:
    csv.field_size_limit(2**31 - 1)  # a long cell is no fault; a limit on the whole process is the only way to say so
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _delimiter(text: str, form: TableFormat, expected: Sequence[str], file: Path) -> str:
    """The delimiter that the schema gives, unless another one alone fits the expected columns (one schema serves files of
    several tools). An error where it does not occur, and none fits."""
    head = text.lstrip().split("\n", 1)[0].split("\r", 1)[0]

    def fit(sign: str) -> tuple[int, int]:
        cells = [unguarded(cell.strip()) for cell in next(_reader([head], sign, strict=False))]
        return len(set(cells) & set(expected)), len(cells)

    given, best = form.delimiter, max(DELIMITERS, key=fit)
    if given is None:
        return best
    found, width = fit(given)
    if found > 0:
        return given
    if fit(best)[0] > 0 or (form.header is not None and width == 1 and fit(best)[1] == len(form.header)):
        return best
    if width == 1 and fit(best)[1] > 1 and form.header in (None, ()):
        line = text[: len(text) - len(text.lstrip())].count("\n") + 1
        raise TableError(
            f"{file}, line {line}: the [table] delimiter {given!r} does not occur; the file looks {best!r}-separated. "
            "Say the right delimiter, or leave it out to have it found."
        )
    return given


def _rows(text: str, delimiter: str, file: Path, line: int) -> list[Row]:
    """The rows of a file as (number of their first line, cells); blank lines are passed over. The text begins on `line`."""
    reader = _reader(io.StringIO(text, newline=""), delimiter, strict=True)
    rows: list[Row] = []
    before, quotes = line - 1, "'" in text
    pool: dict[str, str] = {}
    try:
        for cells in reader:
            if len(cells) > MOST_COLUMNS:
                raise TableError(
                    f"{file}, line {line}: {len(cells)} columns are more than the {MOST_COLUMNS} a table may "
                    "have. Is this the right delimiter?"
                )
            kept = [pool.get(cell, cell) for cell in map(str.strip, cells)]
            if quotes:
                kept = [unguarded(cell) for cell in kept]
            if len(pool) < _MOST_POOLED:
                pool.update(zip(kept, kept, strict=True))
            # In a table of one column an empty cell in quotes is a missing value; else a line of spaces is a blank one.
            if cells and (kept != [""] or (rows and len(rows[0][1]) == 1)):
                rows.append((line, kept))
            line = before + reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{file}, line {line}: not a proper CSV line ({error}). Check its quotes.") from error
    return rows


def _refuse_pasted(text: str, rows: list[Row], file: Path) -> None:
    """An error where a row begins with the mark that begins files: it is the first one of a file that was put behind another.
    (In quotes, or elsewhere in a row, it is part of a value.)"""
    marked = {line for line, raw in enumerate(io.StringIO(text, newline=""), 1) if raw.startswith(_MARK)}
    for line, _ in rows:
        if line in marked:
            raise TableError(
                f"{file}, line {line}: begins with a byte order mark (U+FEFF), as files do. Were two files put together? "
                "Remove the mark, and the header line after it."
            )


def _header(rows: list[Row], form: TableFormat, expected: Sequence[str], file: Path) -> tuple[list[str], int]:
    """The names of the columns, and the number of the first row below them. Where the schema gives the names, a first
    line that holds nothing but names of columns is a header all the same (our own releases have one)."""
    if form.header is not None and not (rows and set(rows[0][1]) <= {*form.header, *expected}):
        return list(form.header), 0
    if not rows:
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    line, header = rows[0]
    hint = _HEADLESS if expected and not set(header) & set(expected) else ""
    check_names(header, f"{file}, line {line}", hint)
    return header, 1


def _columns(rows: list[Row], header: list[str], file: Path, delimiter: str) -> dict[str, Sequence[str]]:
    width = len(header)
    ragged = [(line, len(cells)) for line, cells in rows if len(cells) != width]
    if ragged:
        line, count = ragged[0]
        more = "" if len(ragged) == 1 else f" It is not alone: there are {len(ragged)} such lines."
        raise TableError(
            f"{file}, line {line}: {count} cells where there are {width} columns (delimiter {delimiter!r}). "
            f"Quote cells that hold the delimiter, or say the right [table] delimiter.{more}"
        )
    if not rows:
        return {name: [] for name in header}
    return dict(zip(header, zip(*(cells for _, cells in rows), strict=True), strict=True))


def _refuse_again(rows: list[Row], header: list[str], file: Path) -> None:
    """An error where the header stands again among the rows: it would count as a person."""
    again = [line for line, cells in rows if cells == header] if len(header) > 1 else []
    if again:
        raise TableError(
            f"{file}, line {again[0]}: the header line stands here again. Were files put together? Remove it"
            f"{'.' if len(again) == 1 else f', and the {len(again) - 1} others like it.'}"
        )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """A table as CSV text, in which no cell is a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    quoting = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for number, row in enumerate(chain([header], rows)):
        cells = [guarded(cell) for cell in row]
        joined = "".join(cells)
        # A carriage return ends a line for readers, and csv does not quote it where lines are ended otherwise; a mark at the
        # beginning of a line means something unless it is quoted, and so does a first line like `sep=;`.
        special = "\r" in joined or _MARK in joined or (number == 0 and joined[:4].lower() == "sep=")
        (quoting if special else writer).writerow(cells)
    return stream.getvalue()
