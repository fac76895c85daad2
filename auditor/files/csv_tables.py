"""CSV files, read and written.

Encoding and delimiter are detected where the schema does not give them. A file that is not a table is refused with one
message that names file, line and remedy. A first line `sep=;`, as Excel writes it, gives the delimiter and is not a header.
A first column without a name that tells the rows apart, as R and pandas write it, is called `row_names`.

Cells that a spreadsheet would run as formulas are written with a leading apostrophe, and read without it: see
`auditor.model.formulas`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.files.formats import Format
from auditor.model.errors import TableError
from auditor.model.formulas import guarded, is_live, unguarded
from auditor.model.schema import TableFormat
from auditor.model.table import HEADLESS, MOST_COLUMNS, RawTable, check_names

if TYPE_CHECKING:
    import _csv

DELIMITERS = ",;\t|"
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""The byte order marks that announce the encoding of a file."""
_MARK = "\ufeff"  # the byte order mark as a character
STATED = re.compile(r'sep=([^\s\w"]|\t)[ \t]*(?:\r\n|\n|\r|$)', re.IGNORECASE)
"""A first line in which Excel gives the delimiter."""
ROW_NAMES = "row_names"
"""What a first column is called that has no name, and holds row names."""
_HALF = re.compile("[\ud800-\udfff]")  # what some encodings decode to, and no file can hold
_LINE_END = re.compile(rb"\r\n|\n|\r")
_A_CHUNK = 10_000
"""The number of rows that are looked at together: what holds for all their texts need not be asked of each cell."""
_MOST_POOLED = 100_000
"""The number of distinct texts of a file that are kept once each, so that equal cells share their memory."""

Row = tuple[int, list[str]]


def read_csv(content: bytes, file: Path, form: TableFormat, expected: Sequence[str] = ()) -> RawTable:
    """The bytes of a CSV file as a table of text."""
    notes: list[str] = []
    text = decode(content, form.encoding, file, notes)
    if not text.strip():
        raise TableError(f"{file} is empty. It must have a header line and rows.")
    stated = STATED.match(text)
    delimiter = stated[1] if stated else _delimiter(text, form, expected, file)
    if form.delimiter not in (None, delimiter):
        notes.append(f"{file}: read with the delimiter {delimiter!r}, though the schema gives {form.delimiter!r}.")
    rows = _rows(text[stated.end() :] if stated else text, delimiter, file, 2 if stated else 1)
    if _MARK in text:
        _refuse_pasted(text, rows, file)
    header, first = _header(rows, form, expected, file)
    columns = _columns(rows[first:], header, file, delimiter)
    if not expected or set(header) & set(expected):  # else these may be values, which may repeat
        _refuse_again(rows[first:], header, file)
    lines = [line for line, _ in rows[first:]]
    return RawTable(str(file), columns, None, lines, tuple(notes), delimiter)


def decode(content: bytes, encoding: str | None, file: Path, notes: list[str]) -> str:
    """The text of a file: in the encoding that its byte order mark announces, else the given one, else UTF-8 or
    Windows-1252, whichever fits first. A note tells of Windows-1252."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    given = marked or encoding
    if given is None and b"\x00" in content:
        line = _line(content, content.index(b"\x00"))
        raise TableError(
            f"{file}, line {line}: a NUL byte. The file must be text (CSV). If it is, set [table] encoding.{_wide(content)}"
        )
    faults = []
    for name in [given] if given else ["utf-8", "cp1252"]:
        try:
            text = content.decode(name)
        except UnicodeDecodeError as error:
            faults.append(f"line {_line(content, error.start)}: not valid {name} ({error.reason})")
            continue
        except UnicodeError:  # some encodings do not say where
            faults.append(f"not valid {name}")
            continue
        if half := _HALF.search(text):
            faults.append(f"line {_line(text[: half.start()].encode(), None)}: not valid {name} (half of a character)")
            continue
        if "\x00" in text:
            line = _line(text[: text.index("\x00")].encode(), None)
            raise TableError(f"{file}, line {line}: a NUL character. The file must be text (CSV) in {name}.")
        if given is None and name == "cp1252":
            notes.append(f"{file}: read as Windows-1252, since it is not UTF-8 and the schema gives no encoding.")
        return text.lstrip(_MARK)
    raise TableError(f"{file}, {'; '.join(faults)}. Set the right [table] encoding.")


def _wide(content: bytes) -> str:
    """A hint where nearly every second of the first bytes is NUL, as in UTF-16 without a byte order mark."""
    start = content[:1000]
    for name, first in (("utf-16-be", 0), ("utf-16-le", 1)):
        half = start[first::2]
        if len(half) > 3 and half.count(b"\x00") > 0.8 * len(half):
            return f' It looks like UTF-16: try encoding = "{name}".'
    return ""


def _line(content: bytes, place: int | None) -> int:
    return len(_LINE_END.findall(content[:place])) + 1


def _reader(lines: Iterable[str], delimiter: str, strict: bool) -> _csv.Reader:
    csv.field_size_limit(2**31 - 1)  # long cells are allowed, and csv has only this global limit
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _delimiter(text: str, form: TableFormat, expected: Sequence[str], file: Path) -> str:
    """The delimiter that the schema gives, unless only another one fits the expected columns (one schema may serve the files
    of several tools). An error where the given one does not occur and the file has another."""
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
            f"{file}, line {line}: the [table] delimiter {given!r} does not occur; the file seems to use {best!r}. "
            "Set the right delimiter, or leave it out to have it detected."
        )
    return given


def _rows(text: str, delimiter: str, file: Path, line: int) -> list[Row]:
    """The rows of a file as (number of the first line, cells), without blank lines. The text begins on `line`."""
    reader = _reader(io.StringIO(text, newline=""), delimiter, strict=True)
    rows: list[Row] = []
    before, pool = line - 1, _Pool("'" in text)
    try:
        for cells in reader:
            if len(cells) > MOST_COLUMNS:
                raise TableError(
                    f"{file}, line {line}: a table may have at most {MOST_COLUMNS} columns. Got {len(cells)}. Check the "
                    "delimiter."
                )
            # In a table of one column an empty cell in quotes is a missing value; elsewhere it is a blank line.
            if len(cells) > 1 or (cells and (cells[0].strip() or (rows and len(rows[0][1]) == 1))):
                rows.append((line, cells))
                if len(rows) % _A_CHUNK == 0:
                    pool.clean(rows[-_A_CHUNK:])
            line = before + reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{file}, line {line}: not a valid CSV line ({error}). Check its quotes.") from error
    pool.clean(rows[len(rows) - len(rows) % _A_CHUNK :])
    return rows


class _Pool:
    """Cleans cells of white space and, where the file has any `quotes`, of guards. Equal cells become one text."""

    def __init__(self, quotes: bool) -> None:
        self.quotes, self.texts = quotes, dict[str, str]()

    def clean(self, rows: list[Row]) -> None:
        """Replaces the cells of some rows."""
        distinct = set(chain.from_iterable(cells for _, cells in rows))
        plain = {cell: cell.strip() for cell in distinct}
        if self.quotes:
            plain = {cell: unguarded(text) for cell, text in plain.items()}
        if len(self.texts) < _MOST_POOLED:
            self.texts.update((text, text) for text in plain.values() if text not in self.texts)
        kept = {cell: self.texts.get(text, text) for cell, text in plain.items()}
        for _, cells in rows:
            cells[:] = map(kept.__getitem__, cells)


def _refuse_pasted(text: str, rows: list[Row], file: Path) -> None:
    """An error where a row begins with a byte order mark: a second file begins there. (In quotes, or later in a row, it is
    part of a value.)"""
    marked = {line for line, raw in enumerate(io.StringIO(text, newline=""), 1) if raw.startswith(_MARK)}
    for line, _ in rows:
        if line in marked:
            raise TableError(
                f"{file}, line {line}: begins with a byte order mark (U+FEFF), as if two files had been joined. Remove the "
                "mark and the header line after it."
            )


def _header(rows: list[Row], form: TableFormat, expected: Sequence[str], file: Path) -> tuple[list[str], int]:
    """The names of the columns, and the number of the first row below them. Even where the schema gives the names, a first
    line that holds nothing but column names is a header (our own releases have one)."""
    if form.header is not None and not (rows and set(rows[0][1]) <= {*form.header, *expected}):
        return list(form.header), 0
    if not rows:
        raise TableError(f"{file} is empty. It must have a header line and rows.")
    line, header = rows[0]
    if _has_row_names(rows):
        header = [ROW_NAMES, *(header if header[0] else header[1:])]
    hint = HEADLESS if expected and not set(header) & set(expected) else ""
    check_names(header, f"{file}, line {line}", hint)
    return header, 1


def _has_row_names(rows: list[Row]) -> bool:
    """Whether the first column has no name and holds rising row numbers: R writes row names so, under an empty name
    (`write.csv`) or under none at all (`write.table`), and pandas its index."""
    header, body = rows[0][1], [cells for _, cells in rows[1:]]
    unnamed = not header[0] and len(header) > 1
    lacking = all(header) and all(len(cells) == len(header) + 1 for cells in body)
    if len(body) < 2 or ROW_NAMES in header or not (unnamed or lacking):
        return False
    first = [cells[0] for cells in body]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < 16 for cell in first):
        return False
    numbers = [int(cell) for cell in first]
    return all(before < after for before, after in pairwise(numbers)) and any(cells[-1] for cells in body)


def _columns(rows: list[Row], header: list[str], file: Path, delimiter: str) -> dict[str, Sequence[str]]:
    width = len(header)
    ragged = [(line, len(cells)) for line, cells in rows if len(cells) != width]
    if ragged:
        line, count = ragged[0]
        more = "" if len(ragged) == 1 else f" There are {len(ragged)} such lines."
        raise TableError(
            f"{file}, line {line}: {count} cells, but there are {width} columns (delimiter {delimiter!r}). "
            f"Quote cells that contain the delimiter, or set the right [table] delimiter.{more}"
        )
    if not rows:
        return {name: [] for name in header}
    return dict(zip(header, zip(*(cells for _, cells in rows), strict=True), strict=True))


def _refuse_again(rows: list[Row], header: list[str], file: Path) -> None:
    """An error where the header is repeated among the rows: it would count as a person."""
    again = [line for line, cells in rows if cells == header] if len(header) > 1 else []
    if again:
        raise TableError(
            f"{file}, line {again[0]}: the header line is repeated, as if files had been joined. Remove it"
            f"{'.' if len(again) == 1 else f', and {len(again) - 1} more like it.'}"
        )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """A table as CSV text in which no cell is a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    quoting = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    every = chain([header], rows)
    while some := list(islice(every, _A_CHUNK)):
        distinct = set(chain.from_iterable(some))
        live = {cell: guarded(cell) for cell in distinct if is_live(cell)}
        if live:
            some = [[live.get(cell, cell) for cell in row] for row in some]
        first = not stream.tell() and "".join(some[0])[:4].lower() == "sep="
        # Readers take a carriage return for the end of a line, but csv quotes it only where lines end in one. A byte order
        # mark at the beginning of a line, and a first line like `sep=;`, have a meaning unless they are quoted.
        if first or any("\r" in cell or _MARK in cell for cell in distinct):
            for row in some:
                joined = "".join(row)
                (quoting if first or "\r" in joined or _MARK in joined else writer).writerow(row)
                first = False
        else:
            writer.writerows(some)
    return stream.getvalue()


def write_csv(table: RawTable, form: TableFormat) -> str:
    """A table as a CSV file in UTF-8. A byte order mark says so where the schema gives another encoding for these files."""
    mark = _MARK if form.encoding is not None else ""
    return mark + csv_text(list(table.columns), zip(*table.columns.values(), strict=True), table.delimiter)


CSV = Format("CSV", (".csv", ".tsv"), read_csv, write=write_csv)
