"""The data that claims are tested on: Adult and Census where a folder has them, the built-in town where there is none.

The folder has the files of the UCI repository and of the CASC project as they come: `adult/adult.data`, `adult/adult.test`,
`casc/CASCrefmicrodata.csv`. Rows of Adult with a `?` are left out, as the papers do. Taxonomies are those of ARX
(`adult/hierarchies/adult_hierarchy_COLUMN.csv`), since the papers do not print theirs; a column without a file has none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from auditor.files.tables import read_text, sha256
from auditor.model.errors import TableError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from scenarios import town

ADULT, ADULT_TEST, CENSUS = "adult/adult.data", "adult/adult.test", "casc/CASCrefmicrodata.csv"
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
_NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_TOWN_SEED = 7
THIN = "\u202f"
_MISSING = "?"


@dataclass(frozen=True, slots=True)
class Roles:
    """A paper's table: the role of each of its columns in Adult, and in the town that stands for it."""

    adult: tuple[tuple[str, str], ...]
    town: tuple[tuple[str, str], ...]
    both: bool = False
    """Whether both parts of Adult are used."""


def roles(adult: Mapping[str, str], built_in: Mapping[str, str], both: bool = False) -> Roles:
    """A paper's table, from the roles of columns: each is a list of columns, separated by blanks, by role."""

    def pairs(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple((column, role) for role, names in given.items() for column in names.split())

    return Roles(pairs(adult), pairs(built_in), both)


@dataclass(frozen=True, slots=True)
class Source:
    """Where data come from: a folder, or None for the built-in town; with `rows` only the first so many people."""

    folder: Path | None = None
    rows: int | None = None

    @classmethod
    def at(cls, folder: Path | None, rows: int | None = None) -> Source:
        """The data in a folder, or in the folder `data` in it."""
        if folder is not None and (folder / "data").is_dir():
            folder = folder / "data"
        return cls(folder, rows)

    def lacking(self, files: tuple[str, ...]) -> list[str]:
        """Which of the files are not there. The town stands for Adult, and for nothing else."""
        if self.folder is None:
            return [file for file in files if file not in (ADULT, ADULT_TEST)]
        return [file for file in files if not (self.folder / file).is_file()]

    def mark(self) -> str:
        """A text that changes with the data."""
        parts = [str(self.rows)]
        files = [] if self.folder is None else [*sorted(self.folder.glob("adult/**/*.*")), self.folder / CENSUS]
        parts += [sha256(file.read_bytes()) for file in files if file.is_file()]
        return sha256("\n".join(parts).encode())

    def about(self, table: Table) -> str:
        """Which data a table is, in words."""
        name = "the built-in town" if table.name == "town" else table.name.capitalize()
        first = "the first " if self.rows is not None and self.rows == table.rows else ""
        return f"{name}, {first}{f'{table.rows:,}'.replace(',', THIN)} rows"

    def people(self, wanted: Roles) -> Table:
        """A paper's table of people."""
        table = _adult(self.folder, wanted) if self.folder is not None else _town(wanted)
        return self._first(table)

    def census(self) -> tuple[tuple[str, ...], Any]:
        """The columns and the numbers of Census."""
        assert self.folder is not None
        lines = read_text(self.folder / CENSUS).splitlines()
        numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:] if line.strip()])
        return tuple(name.strip() for name in lines[0].split(",")), numbers[: self.rows]

    def _first(self, table: Table) -> Table:
        if self.rows is None or self.rows >= table.rows:
            return table
        return table.take(np.arange(self.rows))


@lru_cache(maxsize=8)
def _adult(folder: Path, wanted: Roles) -> Table:
    rows = []
    for part in (ADULT, ADULT_TEST) if wanted.both else (ADULT,):
        for line in read_text(folder / part).splitlines():
            cells = [cell.strip().rstrip(".") for cell in line.split(",")]
            if len(cells) == len(COLUMNS) and _MISSING not in cells:
                rows.append(cells)
    if not rows:
        raise TableError(f"{folder / ADULT}: no line has {len(COLUMNS)} cells, as Adult's lines have.")
    columns: dict[str, dict[str, Any]] = {}
    for column, role in wanted.adult:
        columns[column] = {"role": role, "type": "numeric" if column in _NUMERIC else "nominal"}
        hierarchy = folder / "adult" / "hierarchies" / f"adult_hierarchy_{column}.csv"
        if column not in _NUMERIC and hierarchy.is_file():
            columns[column]["taxonomy"] = str(hierarchy)
    texts = {column: [row[COLUMNS.index(column)] for row in rows] for column, _ in wanted.adult}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("adult", texts)])
    return table


@lru_cache(maxsize=8)
def _town(wanted: Roles) -> Table:
    known = tomllib.loads(town.schema_path().read_text(encoding="utf-8"))["columns"]
    frame = town.population(seed=_TOWN_SEED)
    columns = {column: {**known[column], "role": role} for column, role in wanted.town}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable.from_frame(frame[list(columns)], "town")])
    return table
