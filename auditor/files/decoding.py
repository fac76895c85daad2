"""Decoding: puts original values back into what was found in a release by `grading`. It needs the key, so the trusted server
does it.

Aliases are unlike any other name, so they are replaced wherever they occur: in tables, rules, or the printout of a tree. A
bare 2.35 may mean anything, so numbers are replaced only where they are known to be of a graded column: in the column of that
name of a table, or in any text by `--column NAME`. Where the text names the column beside numbers (`age <= 1.366`, `age in
[1.2, 1.4]`) only those are replaced, else all numbers. A threshold between two published numbers becomes one between their
originals.

A published number that stands for several numbers becomes the interval that they span, `[10020, 10030]`, and is counted; in
a comparison, and as the end of an interval, it becomes the end that is meant.
What looks like an alias or a graded number but is not in the key stays as it is, and is counted too.

Another run's key would decode without a fault, to wrong values. So a key bears a fingerprint of its release: a table with the
key's columns and as many rows must have it. Of a part of a release, a text, or a key without a fingerprint it is only said
where the key does not know most of the values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.files.csv_tables import CSV
from auditor.files.provenances import unordered_fingerprint
from auditor.files.tables import csv_text, is_named_table, read_raw, read_text, table_file, target_format
from auditor.model.errors import KeyFileError, TableError, UsageError
from auditor.model.key import Aliases, Categories, Key, name_pattern
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable
from auditor.model.values import format_number, parse_number

_ORDER = "<=|>=|<|>|≤|≥"
_SIGNS = r"(?:<=|>=|==|!=|<>|=|<|>|≤|≥|≠|:)"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text; where it is a table with distinct column names, also as a `table`. `replaced` counts the values that
    were replaced, `unknown` those that look published but are not in the key, `ranges` those that became an interval."""

    text: str
    replaced: int
    unknown: int
    table: RawTable | None = None
    ranges: int = 0

    @property
    def doubt(self) -> str | None:
        """Why the key may be of another release, or None."""
        seen = self.replaced + self.unknown
        if not self.unknown > self.replaced:
            return None
        return f"the key knows only {self.replaced} of {seen} values that look published. Is it of another release?"

    def content(self, target: Path) -> str | bytes:
        """The content of a file, in the format that its name asks for."""
        asked = target_format(target)
        if asked is CSV:
            return self.text
        if self.table is None:
            raise UsageError(f"{target}: {asked.name} needs a table with distinct column names. Use another ending.")
        return table_file(self.table, TableFormat(), target)


def decode_file(file: str | Path, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """A file with its published values replaced by original ones: as a table where it is one, else as text. In texts, the
    numbers of the graded `columns` are replaced."""
    table = _table(Path(file), key)
    return decode_text(read_text(file), key, columns) if table is None else decode_table(table, key, columns)


def _table(file: Path, key: Key) -> RawTable | None:
    """The table in a file; None where it is a text. A table whose name does not show it must have a column of the key."""
    form = TableFormat(decimal=key.decimal)
    if is_named_table(file):
        return read_raw(file, form, tuple(key.columns))
    try:
        table = read_raw(file, form, tuple(key.columns))
    except TableError:  # not a table; other faults show when it is read as a text
        return None
    return table if set(table.columns) & set(key.columns) else None


def decode_text(text: str, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """Any text with its published values replaced."""
    decoder = _Decoder(key, columns, text)
    decoded = decoder.free(text)
    return Decoded(decoded, decoder.replaced, decoder.unknown, ranges=decoder.ranges)


def decode_value(key: Key, column: str, sign: str, value: str) -> str | None:
    """The value of a condition such as `age <= 1.366` with what it stands for; None where the key does not know it."""
    known = key.columns.get(column)
    decoder = _Decoder(key, (), "")
    if isinstance(known, Aliases):
        decoded = decoder.value(value, {*known.values, *key.missing})
    elif isinstance(known, Categories):
        compared = sign not in ("=", "!=")
        decoded = decoder.compared(f"{sign} ", value, known) if compared else decoder.graded(value, known)
    else:
        return value
    return None if decoder.unknown else decoded


def decode_table(table: RawTable, key: Key, columns: Sequence[str] = ()) -> Decoded:
    """A table with its published values replaced: cells of the key's columns are values, other cells are texts."""
    check_key(table, key)
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
    names = [decoder.free(name) for name in table.columns]
    text = csv_text(names, zip(*decoded, strict=True), table.delimiter)
    named = dict(zip(names, decoded, strict=True))
    whole = replace(table, columns=named) if len(named) == len(names) else None
    return Decoded(text, decoder.replaced, decoder.unknown, whole, decoder.ranges)


def check_key(table: RawTable, key: Key) -> None:
    """An error for a table that is a whole release, and another one than the key's."""
    columns = {name: cells for name, cells in table.columns.items() if name in key.columns}
    if key.release is None or table.rows != key.rows or len(columns) < len(key.columns):
        return
    if unordered_fingerprint(columns) != key.release:
        raise KeyFileError(
            f"{table.name}: the key is of another release, and would give wrong values. Give the key that "
            "`auditor anonymize --key` wrote with this one."
        )


class _Decoder:
    """Replaces published values, and counts them."""

    def __init__(self, key: Key, columns: Sequence[str], whole: str) -> None:
        self._key = key
        self.replaced = self.unknown = self.ranges = 0
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
                raise UsageError(f"--column must name a graded column of the key ({there}). Got {column!r}.")
            parts.append(f"(?P<graded{len(self._graded)}>{_beside(column, number, whole, len(columns) > 1)})")
            self._graded.append(graded)
        self._pattern = re.compile("|".join(parts)) if parts else None

    def free(self, text: str) -> str:
        """A text in which everything that must be a published value is replaced."""
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
        decoded = self.free(cell)  # such as several aliases in one cell
        self.unknown += self.replaced + self.unknown == before
        return decoded

    def graded(self, cell: str, categories: Categories) -> str:
        """A cell of a graded column: a number, or a label made of numbers."""
        if cell in self._key.missing:
            return cell
        decoded, found = self._numbers(cell, categories)
        self.unknown += found == 0
        return decoded

    def compared(self, start: str, value: str, categories: Categories) -> str:
        """A value of a graded column after a text that ends with a sign of order."""
        return self._numbers(start + value, categories)[0].removeprefix(start)

    def _replace(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind != "alias":
            return self._numbers(match[0], self._graded[int(kind.removeprefix("graded"))])[0]
        return self._counted(self._meaning.get(match[0]), match[0])

    def _numbers(self, text: str, categories: Categories) -> tuple[str, int]:
        """A text in which all numbers are of one column, decoded, and how many they are."""
        found = list(self._number.finditer(text))
        pair = len(found) == 2 and not re.search(_ORDER, text)

        def original(match: re.Match[str]) -> str:
            number = parse_number(match[0], self._key.decimal)
            ends = None if number is None else categories.numbers(number)
            if ends is None:
                return self._counted(None, match[0])
            last = match.start() == found[-1].start()
            return self._counted(self._written(ends, int(last) if pair else _end_meant(text, match)), match[0])

        return self._number.sub(original, text), len(found)

    def _written(self, ends: tuple[float, float], meant: int | None) -> str:
        """The number that is left of an interval where an end of it is meant, else the interval."""
        least, greatest = (format_number(end, self._key.decimal) for end in ends)
        if meant is not None or least == greatest:
            return (least, greatest)[meant or 0]
        self.ranges += 1
        return f"[{least}{',' if self._key.decimal == '.' else ';'} {greatest}]"

    def _counted(self, decoded: str | None, text: str) -> str:
        self.replaced += decoded is not None
        self.unknown += decoded is None
        return text if decoded is None else decoded


def _beside(column: str, number: str, whole: str, several: bool) -> str:
    """The pattern of the numbers of a column in a text: those beside its name, or all where the text does not name it."""
    name = rf"(?<![^\W_]){re.escape(column)}(?![^\W_])"
    if not several and not re.search(name, whole):
        return number
    pair = rf"\s*{number}\s*(?:,|;|-|–|\.\.|and)\s*{number}"
    after = rf"{name}\s*(?:(?:=|:|in|∈|between)\s*[\[\](]?{pair}|{_SIGNS}\s*{number})"
    return rf"{after}|{number}\s*(?:{_ORDER})\s*{name}(?:\s*(?:{_ORDER})\s*{number})?"


def _end_meant(text: str, number: re.Match[str]) -> int | None:
    """Which end of what a number stands for is meant beside a sign of order: 0 the least, 1 the greatest. Whatever is at most
    a published number was at most the greatest of its numbers, and whatever is below it was below the least."""
    before = re.search(rf"({_ORDER})\s*$", text[: number.start()])
    after = re.match(rf"\s*({_ORDER})", text[number.end() :])
    if before:
        return int(before[1] in ("<=", "≤", ">"))
    return int(after[1] in (">=", "≥", "<")) if after else None
