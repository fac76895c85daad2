"""Tables as files: read by what they hold, written by what their name asks for.

`FORMATS` lists the file formats. The first bytes of a file tell its format, not its name; each may be packed with gzip. Known
kinds of files that are not read are refused by name. Files are written whole or not at all (`writing`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.files.arrow_tables import ARROW, PARQUET
from auditor.files.csv_tables import CSV, csv_text, decode
from auditor.files.excel_tables import EXCEL
from auditor.files.formats import Format
from auditor.files.unpacking import unpacked
from auditor.files.writing import refuse_existing, write_files
from auditor.model.errors import TableError, UsageError
from auditor.model.faults import named
from auditor.model.schema import Schema, TableFormat
from auditor.model.table import RawTable, Table, encode

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_text", "read_raw", "read_text", "refuse_existing", "sha256", "write_files"]

FORMATS: tuple[Format, ...] = (CSV, PARQUET, ARROW, EXCEL)  # every file format of tables, each in a file of its own
_NOT_WRITTEN = (".xls", ".gz", ".zip")  # endings of no format above under which a CSV file would mislead
_REFUSED = {
    b"PK\x03\x04": "a zip archive, not an Excel workbook. Unpack it, and give the table inside",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Excel file (.xls), or one with a password. Save it as .xlsx without a "
    "password, or export it as CSV",
    b"FEA1": "a Feather file of version 1. Write it as version 2, or export it as CSV",
    b"PARE": "an encrypted Parquet file. Decrypt it, or export it as CSV",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"BZh": "a bzip2 file. Unpack it, or export it as CSV",
    b"\xfd7zXZ\x00": "an xz file. Unpack it, or export it as CSV",
    b"(\xb5/\xfd": "a Zstandard file. Unpack it, or export it as CSV",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive. Unpack it, or export it as CSV",
}
"""Known kinds of files that are not read, and what to do, where that is not simply to export the table as CSV."""


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise TableError(f"{file}: there is no such file.") from error
    except OSError as error:
        raise TableError(f"{named(file)}: the file cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise TableError(f"{named(file)}: no file can have this name.") from error


def _detected(content: bytes, file: Path) -> Format | None:
    """The format that a file shows by its bytes; None for CSV, which shows none."""
    return next((one for one in FORMATS if one.detect is not None and one.detect(content, file)), None)


def read_text(file: str | Path) -> str:
    """The text of a file, unpacked where it is gzip."""
    file = Path(file)
    content = unpacked(_content(file), file)
    found = _detected(content, file)
    if found is not None:
        raise TableError(f"{file} is a table ({found.name}), not a text.")
    return decode(content, None, file, [])


def read_raw(file: str | Path, form: TableFormat | None = None, expected: Sequence[str] = ()) -> RawTable:
    """A file as a table of text. `expected` are column names that help to find the delimiter and the header of a CSV file."""
    file, form = Path(file), form or TableFormat()
    packed = _content(file)
    content = unpacked(packed, file)
    found = _detected(content, file)
    if found is None:
        _refuse_others(content, file)
    return replace((found or CSV).read(content, file, form, expected), sha256=sha256(packed))


def _refuse_others(content: bytes, file: Path) -> None:
    """An error that names the kind of a file that is known and not read."""
    kind = next((kind for magic, kind in _REFUSED.items() if content.startswith(magic)), None)
    if kind is not None:
        what, _, remedy = kind.partition(". ")
        raise TableError(f"{file} is {what}, which cannot be read. {remedy or 'Export it as CSV'}.")


def target_format(target: Path) -> Format:
    """The format that the name of a file asks for by its ending; CSV where no format has that ending. An error, before any
    work is done, where a table cannot be written under this name."""
    ending = target.suffix.lower()
    asked = next((one for one in FORMATS if ending in one.endings), None)
    if ending in _NOT_WRITTEN or (asked is not None and asked.write is None):
        written = ", ".join(f"{one.endings[0]} ({one.name})" for one in FORMATS if one.write is not None)
        raise UsageError(f"{target}: a table cannot be written with the ending {target.suffix}. Use one of {written}.")
    asked = asked or CSV
    asked.require()
    return asked


def table_file(table: RawTable, form: TableFormat, target: Path) -> str | bytes:
    """The content of a file with a table, in the format that its name asks for. Nothing is written here."""
    write = target_format(target).write
    assert write is not None
    return write(table, form)


def is_named_table(file: Path) -> bool:
    """Whether the name of a file has the ending of a table, packed or not."""
    endings = tuple(ending for one in FORMATS for ending in one.endings)
    return file.name.lower().removesuffix(".gz").endswith(endings)


def read_table(file: str | Path, schema: Schema | str | Path) -> Table:
    """A table in a file, coded by its schema."""
    schema = as_schema(schema)
    (table,) = encode(schema, [read_raw(file, schema.format, tuple(schema.columns))])
    return table


def as_schema(schema: Schema | str | Path) -> Schema:
    """A schema, read where it is a file."""
    return schema if isinstance(schema, Schema) else Schema.read(schema)


def raw_table(source: str | Path | pd.DataFrame, schema: Schema, name: str) -> RawTable:
    """A table of text from a file or a frame; `name` is what messages call the frame."""
    if isinstance(source, str | Path):
        return read_raw(source, schema.format, tuple(schema.columns))
    return RawTable.from_frame(source, name, schema.format)
