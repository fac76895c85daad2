"""Decoding: what was found in a release by `grading`, in original values. The trusted server's step; it needs the key.

Aliases are names like no other, so they are replaced wherever they stand, in rules and the printout of a tree as well as in
tables. A bare 2.35 may be anything, so numbers are replaced only where it is said that they are of a graded column: in the
column of that name of a CSV, or in any text by `--column NAME`. Where the text names the column beside numbers (`age <=
1.366`, `age in [1.2, 1.4]`) only those are meant, else all numbers. A threshold between two published numbers becomes one
between their originals.

What looks like an alias or a graded number and is none of the key's stays as it is, and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.files.tables import csv_text, read_raw, read_text
from auditor.model.errors import KeyFileError, TableError, UsageError
from auditor.model.key import Aliases, Categories, Key, name_pattern
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable
from auditor.model.values import format_number, parse_number

_TABLE = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".arrow", ".feather", ".xlsx", ".xlsm")
_SIGNS = r"(?:<=|>=|==|!=|<>|=|<|>|≤|≥|≠|:)"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text, how many values were replaced in it, and how many look published but are not in the key."""

    text: str
    replaced: int
    unknown: int


def read_key(file: str | Path) -> Key:
    """The key in a file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise KeyFileError(f"{file}: there is no such file.") from error
    except OSError as error:
        raise KeyFileError(f"{file}: the key cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise KeyFileError(f"{file}: the key must be UTF-8 text ({error.reason}).") from error
    return Key.from_json(text, str(file))


def decode_file(file: str | Path, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """A file with its published values replaced by original ones: as a table where it is one, else as text. `columns` are
    the graded columns whose numbers are meant in texts."""
    table = _table(Path(file), key)
    return decode_text(read_text(file), key, columns) if table is None else decode_table(table, key, columns)


def _table(file: Path, key: Key) -> RawTable | None:
    """The table in a file; None where it is a text. Without the ending of a table it must have a column of the key."""
    form = TableFormat(decimal=key.decimal)
    if file.name.lower().endswith(_TABLE):
        return read_raw(file, form, tuple(key.columns))
    try:
        table = read_raw(file, form, tuple(key.columns))
    except TableError:  # no table; what else is wrong with the file shows when it is read as a text
        return None
    return table if set(table.columns) & set(key.columns) else None


def decode_text(text: str, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """Any text with its published values replaced."""
    decoder = _Decoder(key, columns, text)
    return Decoded(decoder.free(text), decoder.replaced, decoder.unknown)


def decode_table(table: RawTable, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """A table with its published values replaced: cells of the key's columns are values, other cells texts."""
    decoder = _Decoder(
        key, columns, "\n".join([*table.columns, *(c for cells in table.columns.values() for c in cells)])
    )
    decoded = []
    for name, cells in table.columns.items():
        known = key.columns.get(name)
        if isinstance(known, Aliases):
            values = {*known.values, *key.missing}
            decoded.append([decoder.value(cell, values) for cell in cells])
        elif isinstance(known, Categories):
            decoded.append([decoder.graded(cell, known) for cell in cells])
        else:
            decoded.append([decoder.free(cell) for cell in cells])
    text = csv_text([decoder.free(name) for name in table.columns], zip(*decoded, strict=True), table.delimiter)
    return Decoded(text, decoder.replaced, decoder.unknown)


class _Decoder:
    """Replaces published values, and counts."""

    def __init__(self, key: Key, columns: Sequence[str], whole: str) -> None:
        self._key = key
        self.replaced = self.unknown = 0
        named = [c for c in key.columns.values() if isinstance(c, Aliases)]
        self._meaning = {
            alias: value
            for column in named
            for aliases in (column.alias1, column.alias2)
            for alias, value in zip(aliases, column.values, strict=True)
        }
        mark = re.escape(key.decimal)
        number = rf"(?<![\w.,])[+-]?[0-9]+(?:{mark}[0-9]+)?(?!\w|[.,][0-9])"
        self._number = re.compile(number)
        stems = {alias.rstrip("0123456789") for alias in self._meaning}
        parts = [f"(?P<alias>{name_pattern(sorted(stems))})"] if stems else []
        self._graded: list[Categories] = []
        for column in columns:
            graded = key.columns.get(column)
            if not isinstance(graded, Categories):
                there = ", ".join(name for name, c in key.columns.items() if isinstance(c, Categories)) or "none"
                raise UsageError(f"--column must name a graded column of the key. Got {column!r}; there are: {there}.")
            parts.append(f"(?P<graded{len(self._graded)}>{_beside(column, number, whole, len(columns) > 1)})")
            self._graded.append(graded)
        self._pattern = re.compile("|".join(parts)) if parts else None

    def free(self, text: str) -> str:
        """A text with all that can be told to be a published value replaced."""
        return self._pattern.sub(self._replace, text) if self._pattern is not None else text

    def value(self, cell: str, values: set[str]) -> str:
        """A cell of a column with aliases."""
        if cell in values:
            return cell
        before = self.replaced + self.unknown
        decoded = self._meaning.get(cell)
        if decoded is not None:
            self.replaced += 1
            return decoded
        decoded = self.free(cell)  # several aliases in one cell, say
        self.unknown += self.replaced + self.unknown == before
        return decoded

    def graded(self, cell: str, categories: Categories) -> str:
        """A cell of a graded column: a number, or a label made of numbers."""
        if cell in self._key.missing:
            return cell
        decoded, found = self._number.subn(lambda match: self._original(match[0], categories), cell)
        self.unknown += found == 0
        return decoded

    def _replace(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind != "alias":
            categories = self._graded[int(kind.removeprefix("graded"))]
            return self._number.sub(lambda number: self._original(number[0], categories), match[0])
        return self._counted(self._meaning.get(match[0]), match[0])

    def _original(self, text: str, categories: Categories) -> str:
        number = parse_number(text, self._key.decimal)
        original = None if number is None else categories.number(number)
        return self._counted(None if original is None else format_number(original, self._key.decimal), text)

    def _counted(self, decoded: str | None, text: str) -> str:
        self.replaced += decoded is not None
        self.unknown += decoded is None
        return text if decoded is None else decoded


def _beside(column: str, number: str, whole: str, several: bool) -> str:
    """The pattern of the numbers of a column in a text: those beside its name, or all where it is not named."""
    name = rf"(?<![^\W_]){re.escape(column)}(?![^\W_])"
    if not several and not re.search(name, whole):
        return number
    pair = rf"\s*{number}\s*(?:,|;|-|–|\.\.|and)\s*{number}"
    after = rf"{name}\s*(?:(?:=|:|in|∈|between)\s*[\[\](]?{pair}|{_SIGNS}\s*{number})"
    return rf"{after}|{number}\s*(?:<=|>=|<|>|≤|≥)\s*{name}(?:\s*(?:<=|>=|<|>|≤|≥)\s*{number})?"
