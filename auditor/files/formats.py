"""What a file format of tables is. `FORMATS` in `tables.py` lists those there are.

To add one, write a file that defines its `Format`, and add it to that tuple: every command then reads it, and every command
that writes tables writes it where the name of the file asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.model.schema import TableFormat
from auditor.model.table import RawTable


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one format are told apart, read and written."""

    name: str
    """The name in messages, such as "Parquet"."""
    endings: tuple[str, ...]
    """The endings of its file names, in lower case. The first one is used where we choose the name of a file."""
    read: Callable[[bytes, Path, TableFormat, Sequence[str]], RawTable]
    """The unpacked bytes of a file as a table of text. The last argument holds column names that the reader may expect."""
    detect: Callable[[bytes, Path], bool] | None = None
    """Whether the unpacked bytes are of this format; None for the format of everything that no other one detects."""
    write: Callable[[RawTable, TableFormat], str | bytes] | None = None
    """A table of text as the content of a file; None where the format is only read."""
    require: Callable[[], None] = lambda: None
    """Raises an error where a package that writing needs is not installed."""


def begins_with(*magic: bytes) -> Callable[[bytes, Path], bool]:
    """Detects a format by the first bytes of its files."""
    return lambda content, _: content.startswith(magic)
