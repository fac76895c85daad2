"""Files: tables in, results out. The one door to them for the rest of the house.

What kind of file it is shows in its first bytes, not in its name: CSV (`csv_tables`), Parquet and Arrow, which Feather is
(`arrow_tables`), and Excel workbooks (`excel_tables`) are read, each also packed with gzip; other kinds that are known are
refused by name. Writing is whole or not at all (`writing`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.files.arrow_tables import read_arrow
from auditor.files.csv_tables import csv_text, decode, read_csv
from auditor.files.excel_tables import is_workbook, read_excel
from auditor.files.unpacking import unpacked
from auditor.files.writing import refuse_existing, write_files
from auditor.model.errors import TableError
from auditor.model.schema import Schema, TableFormat
from auditor.model.table import RawTable, Table, encode

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_text", "read_raw", "read_text", "refuse_existing", "sha256", "write_files"]

_ARROW = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\xff\xff\xff\xff": "an Arrow stream",
}
_ZIP = b"PK\x03\x04"
_REFUSED = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Excel file of the old kind (.xls), or one with a password. Save it as .xlsx "
    "without a password",
    b"FEA1": "a Feather file of version 1. Write it as version 2",
    b"PARE": "an encrypted Parquet file. Decrypt it",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF file",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"BZh": "a bzip2 file. Unpack it",
    b"\xfd7zXZ\x00": "an xz file. Unpack it",
    b"(\xb5/\xfd": "a Zstandard file. Unpack it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive. Unpack it",
}
"""Kinds that are known and not read, and what to do about it where that is not to export the table as CSV."""


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


def read_text(file: str | Path) -> str:
    """The text of any file, unpacked where it is gzip."""
    file = Path(file)
    return decode(unpacked(_content(file), file), None, file, [])


def read_raw(file: str | Path, form: TableFormat | None = None, expected: Sequence[str] = ()) -> RawTable:
    """A file as a table of text. `expected` are column names that help to tell the delimiter and a header line of a CSV."""
    file, form = Path(file), form or TableFormat()
    content = _content(file)
    digest = sha256(content)
    content = unpacked(content, file)
    arrow = next((kind for magic, kind in _ARROW.items() if content.startswith(magic)), None)
    if arrow is not None:
        raw = read_arrow(content, file, form, arrow)
    elif content.startswith(_ZIP) and is_workbook(content, file):
        raw = read_excel(content, file, form)
    else:
        _refuse_others(content, file)
        raw = read_csv(content, file, form, expected)
    return replace(raw, sha256=digest)


def _refuse_others(content: bytes, file: Path) -> None:
    """An error that names the kind of a file that is known and not read."""
    if content.startswith(_ZIP):
        raise TableError(f"{file} is a zip archive and no Excel workbook. Unpack it, and give the table in it.")
    for magic, kind in _REFUSED.items():
        if content.startswith(magic):
            what, _, remedy = kind.partition(". ")
            raise TableError(
                f"{file} is {what}, which is not read. {remedy or 'Export it'}{', or export it' if remedy else ''} as CSV."
            )


def read_table(file: str | Path, schema: Schema | str | Path) -> Table:
    """A table in a file, coded by its schema."""
    schema = as_schema(schema)
    (table,) = encode(schema, [read_raw(file, schema.format, tuple(schema.columns))])
    return table


def as_schema(schema: Schema | str | Path) -> Schema:
    """A schema, read where it is a file."""
    return schema if isinstance(schema, Schema) else Schema.read(schema)


def _raw(source: str | Path | pd.DataFrame, schema: Schema, name: str) -> RawTable:
    if isinstance(source, str | Path):
        return read_raw(source, schema.format, tuple(schema.columns))
    return RawTable.from_frame(source, name, schema.format)
