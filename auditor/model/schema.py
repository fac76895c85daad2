"""The schema: what each column of a table is, read from TOML.

    [table]                      how the files are written (all optional)
    delimiter = ";"              found from the file where it is not given
    missing = ["?"]              texts that mean "no value" (default: the empty cell)
    suppressed = ["*"]           texts that mean "not published" in a release
    others = "neutral"           the role of columns that are not named here: neutral, ignore (default: they are an error)

    [columns.age]
    role = "quasi"               identifier, quasi, sensitive, neutral, choice, weight, person, household, ignore
    type = "numeric"             numeric, ordinal, nominal
    taxonomy = "hierarchies/age.csv"   a file relative to the schema, or nested: { Group = ["leaf", …] }
    notation = ["interval"]      how labels of this column may be written in a release, the first that fits (default: any)
    missing = ["99"]             as in [table], and in its place, for this column
    suppressed = ["*", "XXX"]    the same

    [tables.visits]              another table of the same release, audited together with it
    file = "visits.csv"          beside the release; that of the original beside the original
    key = "patient"              the column that says whose a row is: role = "person" here, and a column of that file
    [tables.visits.columns.ward] like [columns.NAME]; called `visits.ward` from then on
    role = "quasi"

All faults of a file are reported at once.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from auditor.model.errors import SchemaError, TaxonomyError
from auditor.model.faults import Faults, is_number, read_toml
from auditor.model.notation_kinds import Notation, asked_notations
from auditor.model.taxonomy import Taxonomy
from auditor.model.values import EXACT_INTEGERS, parse_number

_NO_CHARACTER_SETS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
"""Names under which Python keeps other things than encodings of text files."""


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    NEUTRAL = "neutral"
    CHOICE = "choice"
    WEIGHT = "weight"
    PERSON = "person"
    HOUSEHOLD = "household"
    IGNORE = "ignore"
    """No figure reads it. It is still named where nearly every row has a value of its own."""


WHOSE = (Role.PERSON, Role.HOUSEHOLD)
"""Roles of columns that say whose a row is. Like identifiers they are no part of what is published."""
_LINKED = (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.NEUTRAL)  # the roles of columns of a linked table


class Type(StrEnum):
    """How the values of a column compare."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Others(StrEnum):
    """What happens to columns that the schema does not name."""

    ERROR = "error"
    NEUTRAL = "neutral"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column."""

    name: str
    role: Role
    type: Type = Type.NOMINAL
    bounds: tuple[float, float] | None = None
    """The declared range of numbers."""
    values: tuple[str, ...] | None = None
    """The declared values; those of an ordinal column in their order."""
    taxonomy: Taxonomy | None = None
    notation: tuple[Notation, ...] = ()
    """How labels may be written, the first that fits; empty: in any notation."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The texts for missing and suppressed values of one column; None means: those of the table."""

    missing: tuple[str, ...] | None = None
    suppressed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the files of a data set are written; None means: found from the file."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    header: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("",)
    suppressed: tuple[str, ...] = ("*",)
    others: Others = Others.ERROR
    sheet: str | None = None
    own: Mapping[str, Marks] = field(default_factory=dict, hash=False)
    """The marks of single columns, in place of `missing` and `suppressed`."""

    def of(self, column: str) -> TableFormat:
        """The format with one column's own marks in place of the table's."""
        marks = self.own.get(column)
        if marks is None:
            return self
        missing = self.missing if marks.missing is None else marks.missing
        return replace(
            self, missing=missing, suppressed=self.suppressed if marks.suppressed is None else marks.suppressed
        )

    @property
    def every_mark(self) -> tuple[str, ...]:
        """All texts that mean a missing or suppressed value in some column."""
        own = [text for marks in self.own.values() for text in (*(marks.missing or ()), *(marks.suppressed or ()))]
        return tuple(dict.fromkeys([*self.missing, *self.suppressed, *own]))


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """Another table of the same release: its file, the column that says whose a row is, and its other columns by the names
    that they have in the file, each with its name in the schema."""

    name: str
    file: str
    key: str
    columns: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The columns of a data set, in their order, and how its files are written. Columns of linked tables are among them,
    under the names `TABLE.COLUMN`."""

    columns: Mapping[str, Column]
    format: TableFormat = field(default_factory=TableFormat)
    name: str = "schema"
    tables: Mapping[str, LinkedTable] = field(default_factory=dict)
    by_role: Mapping[Role, tuple[str, ...]] = field(init=False, repr=False)
    """The columns of each role; a table may have thousands, and roles are asked for often."""

    def __post_init__(self) -> None:
        found: dict[Role, list[str]] = {role: [] for role in Role}
        for column in self.columns.values():
            found[column.role].append(column.name)
        object.__setattr__(self, "by_role", {role: tuple(names) for role, names in found.items()})

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns with this role."""
        return self.by_role[role]

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return self.names(Role.SENSITIVE)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The identifying columns, which are never published."""
        return self.names(Role.IDENTIFIER)

    @property
    def person(self) -> str | None:
        """The column that says whose a row is, where several rows may be one person's."""
        return next(iter(self.names(Role.PERSON)), None)

    @property
    def household(self) -> str | None:
        """The column that says to which household a row's person belongs."""
        return next(iter(self.names(Role.HOUSEHOLD)), None)

    @property
    def unpublished(self) -> tuple[str, ...]:
        """The columns that are no part of a release, whether or not its file holds them: they say who people are, or are
        ignored."""
        return tuple(c.name for c in self.columns.values() if c.role in (Role.IDENTIFIER, *WHOSE, Role.IGNORE))

    def with_others(self, names: list[str]) -> Schema:
        """The same schema with further columns, neutral or ignored ones as [table] others says."""
        role = Role.IGNORE if self.format.others is Others.IGNORE else Role.NEUTRAL
        extra = {name: Column(name, role) for name in names if name not in self.columns}
        return replace(self, columns={**self.columns, **extra})

    @classmethod
    def read(cls, file: str | Path) -> Schema:
        """The schema in a TOML file; taxonomy files are looked up beside it."""
        file = Path(file)
        return cls.from_dict(read_toml(file, "schema", SchemaError), name=str(file), folder=file.parent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "schema", folder: Path | None = None) -> Schema:
        """The schema in nested mappings, as TOML gives them."""
        faults = Faults(SchemaError, name, data)
        faults.known("table", "columns", "tables")
        form = _format(faults.at("[table]", data.get("table", {})))
        described = data.get("columns")
        if not isinstance(described, Mapping) or not described:
            faults.add("[columns.NAME] must describe at least one column.")
            described = {}
        read = _Columns(faults, folder or Path(), form)
        for key, settings in described.items():
            read.add(f"[columns.{key}]", str(key), settings)
        _check_once(faults, read.columns)
        tables = _linked_tables(faults, data.get("tables", {}), read)
        faults.check()
        return cls(read.columns, read.format, name, tables)


class _Columns:
    """The columns that are read from a schema, and the format with their own marks."""

    def __init__(self, faults: Faults, folder: Path, form: TableFormat) -> None:
        self.faults, self.folder, self.format = faults, folder, form
        self.columns: dict[str, Column] = {}

    def add(self, where: str, name: str, settings: Any, linked: bool = False) -> None:
        """A column, described under the heading `where`. A quasi-identifier of a `linked` table holds all that a person has
        there, as one value."""
        place = self.faults.at(where, settings, "a table with a role")
        if place.found:
            return
        if name in self.columns:
            place.add(f"[columns] has a column {name!r} too. Rename one of them.")
        column = _column(name, place, self.folder, self.format.decimal)
        marks = _marks(place, self.format)
        if marks is not None:
            self.format = replace(self.format, own={**self.format.own, name: marks})
        if column is not None:
            if linked and column.role not in _LINKED:
                place.add(f"role must be one of {', '.join(_LINKED)} in a linked table. Got {column.role.value!r}.")
            if linked and column.role is Role.QUASI:
                column = Column(name, Role.QUASI, notation=(Notation.VALUE,))
            self.columns[name] = column
            _check_values(place, column, self.format)


def _check_once(faults: Faults, columns: Mapping[str, Column]) -> None:
    """A row is one person's, and of one household."""
    for role in WHOSE:
        named = [column.name for column in columns.values() if column.role is role]
        if len(named) > 1:
            faults.add(f'at most one column may have role = "{role}". Got {", ".join(named)}.')


def _linked_tables(faults: Faults, data: Any, read: _Columns) -> dict[str, LinkedTable]:
    """The linked tables of a release; their columns are added to those of the schema."""
    tables: dict[str, LinkedTable] = {}
    persons = [column.name for column in read.columns.values() if column.role is Role.PERSON]
    for name, settings in faults.at("[tables]", data).data.items():
        place = faults.at(f"[tables.{name}]", settings, "a table with file, key and columns")
        place.known("file", "key", "columns")
        file, key = place.text("file", "the name of a file", True), place.text("key", "a column of both tables", True)
        if key is not None and key not in persons:
            place.add(f'key must name the column with role = "person" in [columns]. Got {key!r}.')
        described = place.data.get("columns")
        if not isinstance(described, Mapping) or not described:
            place.add(f"[tables.{name}.columns.NAME] must describe at least one column.")
            continue
        columns = {str(column): f"{name}.{column}" for column in described if column != key}
        for column, full in columns.items():
            read.add(f"[tables.{name}.columns.{column}]", full, described[column], linked=True)
        if file is not None and key is not None:
            tables[str(name)] = LinkedTable(str(name), file, key, columns)
    return tables


def _cells(place: Faults, key: str) -> tuple[str, ...] | None:
    """A list of texts or numbers, as the cells of a table have them: without the spaces around them."""
    cells = place.value(key, lambda value: isinstance(value, list) and all(map(_is_cell, value)), "a list of values")
    return None if cells is None else tuple(str(cell).strip() for cell in cells)


def _is_cell(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _values(place: Faults, key: str) -> tuple[str, ...] | None:
    """The values of an order or domain, each once."""
    values = _cells(place, key)
    if values is not None and (not values or len(set(values)) < len(values)):
        place.add(f"{key} must name each of its values once. Got {place.data[key]!r}.")
    return values


def _format(table: Faults) -> TableFormat:
    table.known("delimiter", "decimal", "encoding", "header", "missing", "suppressed", "others", "sheet")
    settings: dict[str, Any] = {
        "delimiter": table.value("delimiter", _is_delimiter, 'one character, such as ";"'),
        "decimal": table.value("decimal", lambda value: value in (".", ","), '"." or ","'),
        "encoding": table.value("encoding", _is_encoding, 'a known one, such as "utf-8"'),
        **{key: _cells(table, key) for key in ("missing", "suppressed", "header")},
        "sheet": table.text("sheet", "the name of a sheet"),
        "others": table.choice("others", Others),
    }
    header = settings["header"] or ()
    if len(set(header)) < len(header) or not all(header):
        table.add(f"header must name every column, none twice. Got {table.data['header']!r}.")
    if table.found:
        return TableFormat()
    form = TableFormat(**{key: value for key, value in settings.items() if value is not None})
    if not form.suppressed or set(form.missing) & set(form.suppressed):
        table.add(_same_marks(form))
    return form


def _is_delimiter(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and value not in '"\r\n'


def _is_encoding(value: Any) -> bool:
    try:
        "".encode(value)
        return codecs.lookup(value).name not in _NO_CHARACTER_SETS
    except (LookupError, TypeError, ValueError):
        return False


def _same_marks(form: TableFormat) -> str:
    return (
        "suppressed must name the texts that mean a suppressed value, other than those for missing values. "
        f"Got suppressed = {list(form.suppressed)} and missing = {list(form.missing)}."
    )


def _marks(place: Faults, form: TableFormat) -> Marks | None:
    """A column's own texts for missing and suppressed values; None where it has none. Unlike the table's they may be none
    at all: then nothing in the column means suppressed."""
    if not {"missing", "suppressed"} & set(place.data):
        return None
    cells = {key: _cells(place, key) for key in ("missing", "suppressed") if key in place.data}
    if None in cells.values():
        return None
    marks = Marks(**cells)
    own = replace(form, own={"": marks}).of("")
    if set(own.missing) & set(own.suppressed):
        place.add(_same_marks(own))
    return marks


def _check_values(place: Faults, column: Column, form: TableFormat) -> None:
    """No value or group of a column may be a text that means a suppressed value there."""
    tree, marks = column.taxonomy, form.own.get(column.name)
    source = "its own" if marks and marks.suppressed else "[table]"
    for text in (tree.labels[1:] or tree.labels) if tree else column.values or ():
        if text in form.of(column.name).suppressed:
            kind = "group" if tree and text not in tree.leaves else "value"
            place.add(f"{text!r} cannot be a {kind}: {source} suppressed says that it means a suppressed value.")


def _column(name: str, place: Faults, folder: Path, decimal: str) -> Column | None:
    data = place.data
    place.known("role", "type", "domain", "order", "taxonomy", "notation", "missing", "suppressed")
    role = place.choice("role", Role, required=True)
    if "type" in data:
        kind = place.choice("type", Type)
    else:
        kind = Type.ORDINAL if "order" in data else Type.NUMERIC if role is Role.WEIGHT else Type.NOMINAL
    values, bounds = _values(place, "order"), None
    if "order" in data and kind not in (Type.ORDINAL, None):
        place.add(f'order is for type = "ordinal". Got type = "{kind}".')
    elif "order" not in data and kind is Type.ORDINAL:
        place.add('type = "ordinal" needs order = [lowest, …, highest].')
    if "domain" in data:
        if kind is Type.NUMERIC:
            bounds = _bounds(place)
        elif kind is Type.NOMINAL:
            values = _values(place, "domain")
        elif kind is Type.ORDINAL:
            place.add("an ordinal column has its order; leave the domain out.")
    taxonomy = _taxonomy(place, folder, kind, values, decimal) if "taxonomy" in data else None
    notation = asked_notations(place, kind, "taxonomy" in data) if "notation" in data else ()
    if place.found or role is None or kind is None:
        return None
    return Column(name, role, kind, bounds, values, taxonomy, notation)


def _bounds(place: Faults) -> tuple[float, float] | None:
    """The declared range of a numeric column."""
    domain = place.data["domain"]
    ends = domain if isinstance(domain, list) else []
    if len(ends) != 2 or not all(is_number(end, -EXACT_INTEGERS, EXACT_INTEGERS) for end in ends) or ends[0] > ends[1]:
        place.add(f"the domain of a numeric column must be [lowest, highest]. Got {domain!r}.")
        return None
    return float(ends[0]), float(ends[1])


def _taxonomy(
    place: Faults, folder: Path, kind: Type | None, values: tuple[str, ...] | None, decimal: str
) -> Taxonomy | None:
    if kind is Type.ORDINAL:
        place.add("an ordinal column has its order; leave the taxonomy out or make it nominal.")
    value = place.data["taxonomy"]
    try:
        if isinstance(value, str):
            taxonomy = Taxonomy.from_file(folder / value)
        else:
            taxonomy = Taxonomy.from_nested(f"{place.place}: taxonomy", value)
        if kind is Type.NUMERIC:
            numbers = ((leaf, parse_number(leaf, decimal)) for leaf in taxonomy.leaves)
            bad = [leaf for leaf, number in numbers if number is None or abs(number) >= EXACT_INTEGERS]
            if bad:
                place.add(
                    f"the leaves of a numeric column's taxonomy must be numbers with the decimal mark {decimal!r}, below "
                    f"2^53. Got {bad[0]!r} in {taxonomy.name}."
                )
                return None
            return taxonomy.sorted_by(lambda leaf: parse_number(leaf, decimal) or 0.0)
    except TaxonomyError as error:
        place.take(error)
        return None
    stray = sorted(set(values or ()) - set(taxonomy.leaves)) if kind is Type.NOMINAL else []
    if stray:
        place.add(f"the domain names {stray[0]!r}, which is no leaf of the taxonomy.")
    return taxonomy
