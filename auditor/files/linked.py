"""Linked tables: several tables of one release, told by a key whose each row is, become one table that is audited.

Whoever has all tables joins them by the key. So a person's row says what all tables say about the person:

- A quasi-identifier of a linked table holds everything that the person has there, each value once and in order, as one value:
  `B | D` for somebody who was in the wards D, B and D. Somebody without a row there has `(none)`. How often a value occurs
  is no column; where it may be known, publish it as one.
- A sensitive (or neutral, or identifying) column holds one value a row. Somebody with several values gets several rows, all
  of them theirs: the audit counts people, not rows (`auditor/auditing/people.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.files.tables import read_raw
from auditor.model.discretion import header
from auditor.model.errors import TableError
from auditor.model.schema import LinkedTable, Role, Schema
from auditor.model.table import RawTable

NOTHING = "(none)"
_BETWEEN = " | "


def with_linked(main: RawTable, schema: Schema, file: Path) -> RawTable:
    """A table, read from a file, joined with its linked tables, which stand beside that file; without any, the table."""
    if not schema.tables:
        return main
    parts = [_Part.read(linked, main, schema, file.parent) for linked in schema.tables.values()]
    # A person has as many rows as the longest of the tables that have one value a row; those of shorter ones come again.
    wanted = [max([1, *(len(part.rows[row]) for part in parts if part.single)]) for row in range(main.rows)]
    from_main = [row for row, times in enumerate(wanted) for _ in range(times)]
    turn = [number for times in wanted for number in range(times)]
    columns: dict[str, Sequence[str]] = {c: [cells[row] for row in from_main] for c, cells in main.columns.items()}
    for part in parts:
        for column, name in part.together:
            columns[name] = [part.all_values(column, row) for row in from_main]
        for column, name in part.single:
            missing = next(iter(schema.format.of(name).missing), "")
            columns[name] = [part.one_value(column, row, i, missing) for row, i in zip(from_main, turn, strict=True)]
    lines = None if main.lines is None else [main.lines[row] for row in from_main]
    sizes = [f"{Path(table.name).name} ({table.rows} rows)" for table in (main, *(part.table for part in parts))]
    said = f"Joined into one table of {len(from_main)} rows: {', '.join(sizes)}."
    notes = (*main.notes, *(note for part in parts for note in part.table.notes), said)
    return replace(main, columns=columns, lines=lines, notes=notes)


def absent_files(schema: Schema, file: Path) -> list[Path]:
    """The files of linked tables that are not beside a file."""
    return [file.parent / linked.file for linked in schema.tables.values() if not (file.parent / linked.file).is_file()]


@dataclass(frozen=True, slots=True)
class _Part:
    """A linked table: its rows for each row of the main table, and its columns with their names in the schema, those that
    hold all that a person has and those that hold one value a row."""

    table: RawTable
    rows: Sequence[Sequence[int]]
    together: tuple[tuple[str, str], ...]
    single: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, linked: LinkedTable, main: RawTable, schema: Schema, folder: Path) -> _Part:
        if linked.key not in main.columns:
            raise TableError(
                f"{main.name}: the column {linked.key!r} must be there, the key of [tables.{linked.name}]."
            )
        own = {column: schema.format.own[name] for column, name in linked.columns.items() if name in schema.format.own}
        known = (linked.key, *linked.columns)
        table = read_raw(folder / linked.file, replace(schema.format, header=None, own=own), known)
        absent = [column for column in known if column not in table.columns]
        if absent:
            raise TableError(f"{table.name}: the column {absent[0]!r} of [tables.{linked.name}] must be in the table.")
        places = [header(place, name) for place, name in enumerate(table.columns, 1) if name not in known]
        if places:
            raise TableError(
                f"{table.name}: [tables.{linked.name}.columns] does not name {places[0]} of the table. Add it."
            )
        together = tuple(pair for pair in linked.columns.items() if schema.columns[pair[1]].role is Role.QUASI)
        single = tuple(pair for pair in linked.columns.items() if pair not in together)
        return cls(table, _rows(table, main, linked.key), together, single)

    def all_values(self, column: str, row: int) -> str:
        """All that the person of a row of the main table has in a column."""
        cells = self.table.columns[column]
        return _BETWEEN.join(sorted({cells[place].strip() for place in self.rows[row]})) or NOTHING

    def one_value(self, column: str, row: int, number: int, missing: str) -> str:
        """One of the values that the person of a row of the main table has in a column."""
        mine = self.rows[row]
        return self.table.columns[column][mine[number % len(mine)]] if mine else missing


def _rows(table: RawTable, main: RawTable, key: str) -> list[list[int]]:
    """For each row of the main table the rows of a linked one that are the same person's."""
    keys = [cell.strip() for cell in main.columns[key]]
    found: dict[str, list[int]] = {cell: [] for cell in keys}
    for row, cell in enumerate(table.columns[key]):
        if cell.strip() not in found:
            raise TableError(
                f"{table.place(row)}, column {key!r}: nobody in {main.name} has this key. Give everybody a row there."
            )
        found[cell.strip()].append(row)
    return [found[cell] for cell in keys]
