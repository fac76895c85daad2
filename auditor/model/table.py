"""Tables: as text from a file or frame (`RawTable`), and coded (`Table`).

A coded table holds one integer array per column, over domains that all tables of an audit share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.cells import cell_texts
from auditor.model.discretion import header, quote
from auditor.model.domain import Domain, row_place
from auditor.model.errors import TableError
from auditor.model.keeping import Memory, kept
from auditor.model.packing import Hashes, contents
from auditor.model.schema import Others, Role, Schema, TableFormat

if TYPE_CHECKING:
    import pandas as pd


MOST_COLUMNS = 10_000
"""More than any real table has; a file with more was read with the wrong delimiter, or is malicious."""
HEADLESS = " If the file has no header line, set [table] header = […]."
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A table as text: one list of cells per column."""

    name: str
    columns: Mapping[str, Sequence[str]]
    sha256: str | None = None
    lines: Sequence[int] | None = None
    """The lines of the file on which the rows begin; None where it is no file."""
    notes: tuple[str, ...] = ()
    """Where reading the file departed from the schema, for people to see."""
    delimiter: str = ","
    """The character between the cells of the file."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def place(self, row: int) -> str:
        """Where a row (counted from 0) is, for messages: file and line, or the frame's name and row."""
        return f"{self.name}, {row_place(row, self.lines)}"

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str = "table", form: TableFormat | None = None) -> RawTable:
        """A pandas frame as text, whatever its index. Cells that pandas counts as missing become the text for a missing
        value. Whole numbers have no point, although pandas stores them as floats in a column with missing values."""
        form = form or TableFormat()
        names = [str(column) for column in frame.columns]
        check_names(names, name)
        cells = {}
        for place, column in enumerate(names):
            series = frame.iloc[:, place]
            narrow = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f" and series.dtype.itemsize < 8
            values = list(series.to_numpy()) if narrow else series.tolist()  # tolist would widen narrow numbers
            absent = series.isna().tolist()
            cells[column] = cell_texts(
                [None if no else v for v, no in zip(values, absent, strict=True)], form.of(column)
            )
        return cls(name, cells)

    def check(self, schema: Schema, needed: Sequence[str] = ()) -> Schema:
        """The schema with this table's other columns, or an error that names the fault."""
        others = [name for name in self.columns if name not in schema.columns]
        places = [header(place, name) for place, name in enumerate(self.columns, 1) if name not in schema.columns]
        headless = self.lines is not None and len(others) == len(self.columns)
        hint = HEADLESS if headless else ""
        if others and schema.format.others is Others.ERROR:
            raise TableError(
                f"{self.name}: the schema ({schema.name}) does not name {', '.join(places[:8])}"
                f"{f' and {len(places) - 8} more' if len(places) > 8 else ''} of the table. "
                f'Add {"them" if len(others) > 1 else "it"}, or set [table] others to "neutral" or "ignore".{hint}'
            )
        absent = [name for name in needed if name not in self.columns]
        if absent:
            found = [header(place, name, schema.columns) for place, name in enumerate(self.columns, 1)]
            if any(absent[0] in linked.columns.values() for linked in schema.tables.values()):
                hint = (
                    " Only `auditor audit` joins linked tables: leave [tables] out of the schema for one of them alone."
                )
            raise TableError(
                f"{self.name}: the column{'s' if len(absent) > 1 else ''} {', '.join(map(quote, absent))} of the schema "
                f"({schema.name}) must be in the table. It has {', '.join(found[:20])}.{hint}"
            )
        return schema.with_others(others)


def check_names(names: Sequence[str], where: str, hint: str = "") -> None:
    """An error where a column has no name or another one's, or its name holds characters that control a terminal."""
    if len(names) > MOST_COLUMNS:
        raise TableError(f"{where}: a table may have at most {MOST_COLUMNS} columns. Got {len(names)}.")
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            numbers = (
                "" if place > 1 else " If these are row numbers, write without them (row.names=FALSE, index=False)."
            )
            raise TableError(f"{where}: column {place} has no name. Name every column.{hint or numbers}")
        if _CONTROL.search(name):
            raise TableError(f"{where}: the name of {header(place, name)} must not hold control characters. Rename it.")
        if name in places:
            raise TableError(
                f"{where}: {header(places[name], name)} and column {place} have the same name. Rename one of them.{hint}"
            )
        places[name] = place


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A coded table."""

    name: str
    schema: Schema
    domains: Mapping[str, Domain]
    codes: Mapping[str, Codes]
    """By column, the code of each row's value in its domain."""
    rows: int
    whole: Mapping[str, Ints] | None = None
    """How often each value occurs in the whole table, where this is a block of it."""
    memory: Memory = field(default_factory=Memory, init=False, repr=False)

    @kept(1)
    def contents(self) -> Hashes:
        """A hash of each row, which depends neither on the order of rows or columns nor on names."""
        return contents(self.codes.values(), self.rows)

    @kept(1)
    def in_order(self) -> Ints:
        """The rows in the order of their contents."""
        return np.argsort(self.contents(), kind="stable")

    def matrix(self, columns: Sequence[str]) -> Codes:
        """The codes of some columns, rows × columns."""
        if not columns:
            return np.empty((self.rows, 0), dtype=np.int32)
        return np.column_stack([self.codes[column] for column in columns])

    def take(self, rows: Ints, name: str | None = None) -> Table:
        """Some of the rows, in the given order."""
        codes = {column: codes[rows] for column, codes in self.codes.items()}
        return Table(name or self.name, self.schema, self.domains, codes, len(rows), self.whole)

    def over(self, domains: Mapping[str, Domain]) -> Table:
        """The same table, coded over wider domains of some of its columns."""
        wider = {c: d for c, d in domains.items() if c in self.codes and d is not self.domains[c]}
        codes = dict(self.codes)
        for column, domain in wider.items():
            place = np.array([domain.code(text) for text in self.domains[column].texts], dtype=np.int32)
            codes[column] = place[codes[column]]
        return replace(self, domains={**self.domains, **wider}, codes=codes) if wider else self

    def counts(self, column: str) -> Ints:
        """How often each value of a column occurs, in the whole table where this is a block of one."""
        if self.whole is not None:
            return self.whole[column]
        return np.bincount(self.codes[column], minlength=self.domains[column].size)

    def texts(self, column: str) -> list[str]:
        """A column as text."""
        domain = self.domains[column]
        return [domain.texts[code] for code in self.codes[column]]

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, schema: Schema, name: str = "table") -> Table:
        """A pandas frame, coded."""
        (table,) = encode(schema, [RawTable.from_frame(frame, name, schema.format)])
        return table

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas frame of text."""
        import pandas as pd

        return pd.DataFrame({column: self.texts(column) for column in self.codes})

    def __repr__(self) -> str:
        return f"<Table {self.name}: {self.rows} rows, {len(self.codes)} columns>"


def shared_domains(schema: Schema, tables: Sequence[RawTable]) -> dict[str, Domain]:
    """One domain for each column that occurs in the tables."""
    domains = {}
    for name, column in schema.columns.items():
        if column.role is Role.IGNORE:
            continue
        seen = [(table.name, table.columns[name], table.lines) for table in tables if name in table.columns]
        if seen:
            domains[name] = Domain.of(column, schema.format, seen)
    return domains


def encode(schema: Schema, tables: Sequence[RawTable], needed: Sequence[str] | None = None) -> list[Table]:
    """Tables coded over shared domains. The first must hold all `needed` columns (all quasi and sensitive ones)."""
    if needed is None:
        needed = [c.name for c in schema.columns.values() if c.role in (Role.QUASI, Role.SENSITIVE, Role.CHOICE)]
    for i, table in enumerate(tables):
        if table.rows == 0:
            raise TableError(f"{table.name}: the table must have at least one row below its header.")
        schema = table.check(schema, needed if i == 0 else ())
    domains = shared_domains(schema, tables)
    coded = []
    for table in tables:
        read = {name: cells for name, cells in table.columns.items() if name in domains}
        codes = {name: domains[name].encode(cells, table.name, table.lines) for name, cells in read.items()}
        coded.append(Table(table.name, schema, domains, codes, table.rows))
    return coded
