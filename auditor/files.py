"""Files: tables in, results out.

Reading finds encoding and delimiter where the schema does not say them, and refuses what is not a table with one message
that names file, line and remedy. Writing is whole or not at all: a temporary file beside the target, then a rename;
existing files stay unless `force` is given.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable
from auditor.model.values import shown

if TYPE_CHECKING:
    import _csv

_DELIMITERS = ",;\t|"
_MOST_COLUMNS = 10_000
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""The bytes that a file may begin with to announce its encoding."""
_ZIP = b"PK\x03\x04"
_OTHER_KINDS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Excel file",
    _ZIP: "a zip archive",
}
_HEADLESS = " Has the file no header line? Then give [table] header = […]."

Row = tuple[int, list[str]]


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise TableError(f"{file}: there is no such file.") from error
    except OSError as error:
        raise TableError(f"{file}: the file cannot be read ({error.strerror}).") from error


def _unpacked(content: bytes, file: Path) -> bytes:
    """The content of a file, unpacked where it is gzip."""
    if content[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{file}: the gzip file is damaged or cut short ({error}).") from error
    return content


def read_text(file: str | Path) -> str:
    """The text of any file, unpacked where it is gzip."""
    file = Path(file)
    return _decode(_unpacked(_content(file), file), None, file, [])


def read_raw(file: str | Path, form: TableFormat | None = None, expected: Sequence[str] = ()) -> RawTable:
    """A CSV file as a table of text. `expected` are column names that help to tell the delimiter and a header line."""
    file, form = Path(file), form or TableFormat()
    content = _content(file)
    notes: list[str] = []
    unpacked = _unpacked(content, file)
    _refuse_other_kinds(unpacked, file)
    text = _decode(unpacked, form.encoding, file, notes)
    if not text.strip():
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    delimiter = _delimiter(text, form, expected, file)
    if form.delimiter not in (None, delimiter):
        notes.append(f"{file}: read with delimiter {delimiter!r} (the schema says {form.delimiter!r}).")
    rows = _rows(text, delimiter, file)
    header, first = _header(rows, form, expected, file)
    columns = _columns(rows[first:], header, file, delimiter)
    lines = [line for line, _ in rows[first:]]
    return RawTable(str(file), columns, sha256(content), lines, tuple(notes), delimiter)


def _refuse_other_kinds(content: bytes, file: Path) -> None:
    """An error that names the kind of a file that is known and no CSV."""
    for magic, kind in _OTHER_KINDS.items():
        if content.startswith(magic):
            if magic == _ZIP and file.suffix.lower() in (".xlsx", ".xlsm"):
                kind = "an Excel file"
            raise TableError(f"{file} is {kind}; this version reads CSV (also gzipped). Export it as CSV.")


def _decode(content: bytes, encoding: str | None, file: Path, notes: list[str]) -> str:
    """The text of a file: in the encoding that its first bytes announce, else the given one, else what fits. A note is
    made where that is not UTF-8."""
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    given = marked or encoding
    if given is None and b"\x00" in content:
        line = _line(content, content.index(b"\x00"))
        raise TableError(
            f"{file}, line {line}: a NUL byte. It must be a text (CSV); say its [table] encoding if it is."
        )
    faults = []
    for name in [given] if given else ["utf-8", "cp1252"]:
        try:
            text = content.decode(name)
        except UnicodeDecodeError as error:
            faults.append(f"line {_line(content, error.start)}: the text is not {name} ({error.reason})")
            continue
        if "\x00" in text:
            line = text[: text.index("\x00")].count("\n") + 1
            raise TableError(f"{file}, line {line}: a NUL character. It must be a text (CSV) in {name}.")
        if given is None and name == "cp1252":
            notes.append(f"{file}: read as Windows-1252 (it is not UTF-8, and the schema gives no encoding).")
        return text.removeprefix("\ufeff")
    raise TableError(f"{file}, {'; '.join(faults)}. Say the right [table] encoding.")


def _line(content: bytes, place: int) -> int:
    return content[:place].count(b"\n") + 1


def _reader(lines: Iterable[str], delimiter: str, strict: bool) -> _csv.Reader:
    csv.field_size_limit(2**31 - 1)  # a long cell is no fault; a limit on the whole process is the only way to say so
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _delimiter(text: str, form: TableFormat, expected: Sequence[str], file: Path) -> str:
    """The delimiter that the schema gives, unless another one alone fits the expected columns (one schema serves files of
    several tools). An error where it does not occur, and none fits."""
    head = text.lstrip().split("\n", 1)[0].split("\r", 1)[0]

    def fit(sign: str) -> tuple[int, int]:
        cells = [cell.strip() for cell in next(_reader([head], sign, strict=False))]
        return len(set(cells) & set(expected)), len(cells)

    given, best = form.delimiter, max(_DELIMITERS, key=fit)
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


def _rows(text: str, delimiter: str, file: Path) -> list[Row]:
    """The rows of a file as (number of their first line, cells); blank lines are passed over."""
    reader = _reader(io.StringIO(text, newline=""), delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            if len(cells) > _MOST_COLUMNS:
                raise TableError(
                    f"{file}, line {line}: {len(cells)} columns are more than the {_MOST_COLUMNS} a table may "
                    "have. Is this the right delimiter?"
                )
            kept = [cell.strip() for cell in cells]
            # In a table of one column an empty cell in quotes is a missing value; else a line of spaces is a blank one.
            if cells and (kept != [""] or (rows and len(rows[0][1]) == 1)):
                rows.append((line, kept))
            line = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{file}, line {line}: not a proper CSV line ({error}). Check its quotes.") from error
    return rows


def _header(rows: list[Row], form: TableFormat, expected: Sequence[str], file: Path) -> tuple[list[str], int]:
    """The names of the columns, and the number of the first row below them. Where the schema gives the names, a first
    line that holds nothing but names of columns is a header all the same (our own releases have one)."""
    if form.header is not None and not (rows and set(rows[0][1]) <= {*form.header, *expected}):
        return list(form.header), 0
    if not rows:
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    line, header = rows[0]
    hint = _HEADLESS if expected and not set(header) & set(expected) else ""
    places: dict[str, int] = {}
    for place, name in enumerate(header, 1):
        if not name:
            raise TableError(f"{file}, line {line}: column {place} has no name. Name every column.{hint}")
        if name in places:
            raise TableError(
                f"{file}, line {line}: the column {shown(name)} stands twice "
                f"(columns {places[name]} and {place}). Rename one of them.{hint}"
            )
        places[name] = place
    return header, 1


def _columns(rows: list[Row], header: list[str], file: Path, delimiter: str) -> dict[str, Sequence[str]]:
    width = len(header)
    for line, cells in rows:
        if len(cells) != width:
            raise TableError(
                f"{file}, line {line}: {len(cells)} cells where there are {width} columns (delimiter {delimiter!r}). "
                "Quote cells that hold the delimiter, or say the right [table] delimiter."
            )
    if not rows:
        return {name: [] for name in header}
    return dict(zip(header, zip(*(cells for _, cells in rows), strict=True), strict=True))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """A table as CSV text."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    quoting = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in chain([header], rows):
        # A carriage return ends a line for readers, and csv does not quote it where lines are ended otherwise.
        (quoting if "\r" in "".join(row) else writer).writerow(row)
    return stream.getvalue()


def refuse_existing(files: Iterable[Path], force: bool, folder: Path | None = None) -> None:
    """An error where a file to be written exists already and may not be replaced; before any work is done.

    `folder` is the one folder that may be missing, since it will be made.
    """
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is a file. Give the name of a folder.")
        if not folder.parent.is_dir():
            raise UsageError(f"{folder}: its folder {folder.parent} must exist.")
    for file in files:
        if file.is_dir():
            raise UsageError(f"{file} is a folder. Give the name of a file.")
        if file.exists() and not force:
            raise UsageError(f"{file} exists already. Use --force to replace it.")
        if file.parent != folder and not file.parent.is_dir():
            raise UsageError(f"{file}: its folder {file.parent} must exist.")


def write_files(
    contents: dict[Path, str], force: bool = False, folder: Path | None = None, private: Collection[Path | None] = ()
) -> None:
    """Writes texts whole or not at all: all to temporary files first, then renamed into place one after the other.

    `folder` is made where it is missing, and removed again where writing fails. `private` are files that only their
    owner may read.
    """
    refuse_existing(contents, force, folder)
    waiting: list[tuple[str, Path]] = []
    made = folder is not None and not folder.exists()
    file = None
    try:
        if folder is not None:
            folder.mkdir(exist_ok=True)
        for file, text in contents.items():
            handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
            waiting.append((temporary, file))
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(temporary, 0o600 if file in private else 0o644)
        while waiting:
            temporary, file = waiting[0]
            os.replace(temporary, file)
            waiting.pop(0)
    except OSError as error:
        raise UsageError(f"{error.filename or file}: cannot be written ({error.strerror}).") from error
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)
        if made and folder is not None and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
