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
from collections.abc import Iterable, Sequence
from pathlib import Path

from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable

_DELIMITERS = ",;\t|"
_MOST_COLUMNS = 10_000
_ENCODINGS = ("utf-8-sig", "cp1252")


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_bytes(file: Path) -> bytes:
    """The content of a file, unpacked where it is gzip."""
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise TableError(f"{file}: there is no such file.") from error
    except OSError as error:
        raise TableError(f"{file}: the file cannot be read ({error.strerror}).") from error
    if content[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{file}: the gzip file is damaged or cut short ({error}).") from error
    return content


def read_raw(file: str | Path, form: TableFormat | None = None, expected: Sequence[str] = ()) -> RawTable:
    """A CSV file as a table of text. `expected` are column names that help to tell the delimiter."""
    file, form = Path(file), form or TableFormat()
    content = read_bytes(file)
    text = _decode(content, form.encoding, file)
    if not text.strip():
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    delimiter = _delimiter(text, form, expected)
    rows = _rows(text, delimiter, file)
    header, first = _header(rows, form, file)
    columns = _columns(rows[first:], header, file, delimiter)
    return RawTable(str(file), columns, sha256(content))


def _decode(content: bytes, encoding: str | None, file: Path) -> str:
    if encoding is not None:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise TableError(f"{file}, line {line}: the text is not {encoding} ({error.reason}).") from error
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise TableError(
                f"{file}: the text is not the UTF-16 its first bytes announce ({error.reason})."
            ) from error
    if b"\x00" in content:
        line = content[: content.index(b"\x00")].count(b"\n") + 1
        raise TableError(f"{file}, line {line}: a NUL byte. The file must be text; say its [table] encoding if it is.")
    for candidate in _ENCODINGS:
        try:
            return content.decode(candidate)
        except UnicodeDecodeError as error:
            last = error
    line = content[: last.start].count(b"\n") + 1
    raise TableError(f"{file}, line {line}: the text is neither UTF-8 nor Windows-1252. Say its [table] encoding.")


def _delimiter(text: str, form: TableFormat, expected: Sequence[str]) -> str:
    """The delimiter that the schema gives, unless another one alone fits the expected columns."""
    head = text.lstrip("\ufeff").splitlines()[0]

    def fit(sign: str) -> tuple[int, int]:
        cells = [cell.strip() for cell in next(csv.reader([head], delimiter=sign))]
        return len(set(cells) & set(expected)), len(cells)

    given = form.delimiter
    if given is not None and (form.header is not None or not expected or fit(given)[0] > 0):
        return given
    best = max(_DELIMITERS, key=fit)
    return best if given is None or fit(best)[0] > 0 else given


def _rows(text: str, delimiter: str, file: Path) -> list[tuple[int, list[str]]]:
    """The lines of a file as (line number, cells); blank lines are passed over."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows = []
    try:
        for cells in reader:
            if len(cells) > _MOST_COLUMNS:
                raise TableError(
                    f"{file}, line {reader.line_num}: {len(cells)} columns are more than the {_MOST_COLUMNS} a table may "
                    "have. Is this the right delimiter?"
                )
            if cells and (len(cells) > 1 or cells[0].strip()):
                rows.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise TableError(
            f"{file}, line {reader.line_num}: not a proper CSV line ({error}). Check its quotes."
        ) from error
    return rows


def _header(rows: list[tuple[int, list[str]]], form: TableFormat, file: Path) -> tuple[list[str], int]:
    if form.header is not None:
        return list(form.header), 0
    if not rows:
        raise TableError(f"{file}: the file is empty. It must hold a header line and rows.")
    header = rows[0][1]
    for place, name in enumerate(header, 1):
        if not name:
            raise TableError(f"{file}, line {rows[0][0]}: column {place} has no name. Name every column.")
        if header.index(name) != place - 1:
            raise TableError(
                f"{file}, line {rows[0][0]}: the column {name!r} stands twice "
                f"(columns {header.index(name) + 1} and {place}). Rename one of them."
            )
    return header, 1


def _columns(
    rows: list[tuple[int, list[str]]], header: list[str], file: Path, delimiter: str
) -> dict[str, Sequence[str]]:
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
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def refuse_existing(files: Iterable[Path], force: bool) -> None:
    """An error where a file to be written exists already and may not be replaced; before any work is done."""
    for file in files:
        if file.exists() and not force:
            raise UsageError(f"{file} exists already. Use --force to replace it.")
        if not file.parent.is_dir():
            raise UsageError(f"{file}: its folder {file.parent} must exist.")


def write_files(contents: dict[Path, str], force: bool = False) -> None:
    """Writes texts whole or not at all: all to temporary files first, then renamed into place one after the other."""
    refuse_existing(contents, force)
    waiting: list[tuple[str, Path]] = []
    try:
        for file, text in contents.items():
            handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
            waiting.append((temporary, file))
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(temporary, 0o644)
        while waiting:
            temporary, file = waiting[0]
            os.replace(temporary, file)
            waiting.pop(0)
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)
