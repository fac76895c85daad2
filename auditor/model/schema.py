"""The schema: what each column of a table is, read from TOML.

    [table]                      how the files are written (all optional)
    delimiter = ";"              found from the file where not given
    missing = ["?"]              texts that mean "no value" (default: the empty cell)
    suppressed = ["*"]           texts that mean "withheld" in a release
    others = "neutral"           what columns that are not named here are (default: an error)

    [columns.age]
    role = "quasi"               identifier, quasi, sensitive, neutral, choice, weight
    type = "numeric"             numeric, ordinal, nominal
    taxonomy = "hierarchies/age.csv"   a file relative to the schema, or nested: { Group = ["leaf", …] }
    notation = ["interval"]      how labels of a release may be written in this column, the first that fits (default: any)
    missing = ["99"]             as in [table], and in its place, for this column
    suppressed = ["*", "XXX"]    the same

All faults of a file are reported at once.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from auditor.model.errors import SchemaError, TaxonomyError
from auditor.model.notation_kinds import Notation, asked_notations
from auditor.model.taxonomy import Taxonomy
from auditor.model.values import EXACT_INTEGERS, parse_number

E = TypeVar("E", bound=StrEnum)


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    NEUTRAL = "neutral"
    CHOICE = "choice"
    WEIGHT = "weight"


class Type(StrEnum):
    """How the values of a column compare."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Others(StrEnum):
    """What becomes of columns that the schema does not name."""

    ERROR = "error"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column. `bounds` is the declared range of numbers, `values` the declared values (an ordinal's in order),
    `notation` how labels may be written, the first that fits (empty: any)."""

    name: str
    role: Role
    type: Type = Type.NOMINAL
    bounds: tuple[float, float] | None = None
    values: tuple[str, ...] | None = None
    taxonomy: Taxonomy | None = None
    notation: tuple[Notation, ...] = ()


@dataclass(frozen=True, slots=True)
class Marks:
    """The texts for missing and withheld values of one column; None means: those of the table."""

    missing: tuple[str, ...] | None = None
    suppressed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the files of a data set are written; None means: found from the file. `own` are the marks of single columns, in
    place of `missing` and `suppressed`."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    header: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("",)
    suppressed: tuple[str, ...] = ("*",)
    others: Others = Others.ERROR
    sheet: str | None = None
    own: Mapping[str, Marks] = field(default_factory=dict, hash=False)

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
        """All texts that mean a missing or withheld value in some column."""
        own = [text for marks in self.own.values() for text in (*(marks.missing or ()), *(marks.suppressed or ()))]
        return tuple(dict.fromkeys([*self.missing, *self.suppressed, *own]))


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The columns of a data set, in their order, and how its files are written."""

    columns: Mapping[str, Column]
    format: TableFormat = field(default_factory=TableFormat)
    name: str = "schema"

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns with this role."""
        return tuple(c.name for c in self.columns.values() if c.role is role)

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

    def with_neutral(self, names: list[str]) -> Schema:
        """The same schema with further columns as neutral ones."""
        extra = {name: Column(name, Role.NEUTRAL) for name in names if name not in self.columns}
        return replace(self, columns={**self.columns, **extra})

    @classmethod
    def read(cls, file: str | Path) -> Schema:
        """The schema in a TOML file; taxonomy files are looked up beside it."""
        file = Path(file)
        try:
            data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        except FileNotFoundError as error:
            raise SchemaError(f"{file}: there is no such file.") from error
        except OSError as error:
            raise SchemaError(f"{file}: the schema cannot be read ({error.strerror}).") from error
        except UnicodeDecodeError as error:
            raise SchemaError(f"{file}: the schema must be UTF-8 text ({error.reason}).") from error
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{file}: the schema must be TOML. {error}.") from error
        return cls.from_dict(data, name=str(file), folder=file.parent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "schema", folder: Path | None = None) -> Schema:
        """The schema in nested mappings, as TOML gives them."""
        faults: list[str] = []
        _known(data, ("table", "columns"), name, faults)
        form = _format(data.get("table", {}), f"{name}, [table]", faults)
        tables = data.get("columns")
        columns: dict[str, Column] = {}
        if not isinstance(tables, Mapping) or not tables:
            faults.append(f"{name}: [columns.NAME] must describe at least one column.")
        else:
            for key, settings in tables.items():
                column = _column(str(key), settings, f"{name}, [columns.{key}]", folder or Path(), form.decimal, faults)
                marks = _marks(settings, form, f"{name}, [columns.{key}]", faults)
                if marks is not None:
                    form = replace(form, own={**form.own, str(key): marks})
                if column is not None:
                    columns[column.name] = column
                    tree = column.taxonomy
                    named = (tree.labels[1:] or tree.labels) if tree else column.values or ()
                    faults += [
                        f"{name}, [columns.{key}]: {text!r} cannot be a "
                        f"{'group' if tree and text not in tree.leaves else 'value'}: "
                        f"{'its own' if marks and marks.suppressed else '[table]'} suppressed says it means withheld."
                        for text in named
                        if text in form.of(str(key)).suppressed
                    ]
        if faults:
            raise SchemaError.of(faults)
        return cls(columns, form, name)


def _known(data: Mapping[str, Any], allowed: tuple[str, ...], where: str, faults: list[str]) -> None:
    for key in data:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" Known are: {', '.join(allowed)}."
            faults.append(f"{where}: unknown key {key!r}.{hint}")


def _texts(value: Any, where: str, faults: list[str]) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(v, str | int | float) and not isinstance(v, bool) for v in value):
        return tuple(str(v).strip() for v in value)  # cells are read without the spaces around them
    faults.append(f"{where} must be a list of values. Got {value!r}.")
    return ()


def _values(value: Any, where: str, faults: list[str]) -> tuple[str, ...]:
    """The values of an order or domain, each once."""
    before = len(faults)
    values = _texts(value, where, faults)
    if len(faults) == before and (not values or len(set(values)) < len(values)):
        faults.append(f"{where} must name each of its values once. Got {value!r}.")
    return values


def _format(data: Any, where: str, faults: list[str]) -> TableFormat:
    if not isinstance(data, Mapping):
        faults.append(f"{where} must be a table of settings. Got {data!r}.")
        return TableFormat()
    _known(
        data, ("delimiter", "decimal", "encoding", "header", "missing", "suppressed", "others", "sheet"), where, faults
    )
    before = len(faults)
    settings: dict[str, Any] = {key: data[key] for key in ("delimiter", "decimal") if key in data}
    sign = data.get("delimiter", ",")
    if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n':
        faults.append(f'{where}: delimiter must be one character, such as ";". Got {sign!r}.')
    if data.get("decimal", ".") not in (".", ","):
        faults.append(f'{where}: decimal must be "." or ",". Got {data["decimal"]!r}.')
    if "encoding" in data:
        settings["encoding"] = data["encoding"]
        try:
            "".encode(data["encoding"])
        except (LookupError, TypeError, ValueError):
            faults.append(f'{where}: encoding must be a known one, such as "utf-8". Got {data["encoding"]!r}.')
    for key in ("missing", "suppressed", "header"):
        if key in data:
            settings[key] = _texts(data[key], f"{where}: {key}", faults)
    header = settings.get("header", ())
    if "header" in data and (len(set(header)) < len(header) or not all(header)):
        faults.append(f"{where}: header must name every column, none twice. Got {data['header']!r}.")
    if "sheet" in data:
        settings["sheet"] = data["sheet"]
        if not isinstance(data["sheet"], str) or not data["sheet"]:
            faults.append(f"{where}: sheet must be the name of a sheet. Got {data['sheet']!r}.")
    if "others" in data:
        settings["others"] = _choice(Others, data, "others", where, faults)
    if len(faults) > before:
        return TableFormat()
    form = TableFormat(**settings)
    if not form.suppressed or set(form.missing) & set(form.suppressed):
        faults.append(_same_marks(form, where))
    return form


def _same_marks(form: TableFormat, where: str) -> str:
    return (
        f"{where}: suppressed must name the texts that mean a withheld value, other than those for missing values. "
        f"Got suppressed = {list(form.suppressed)} and missing = {list(form.missing)}."
    )


def _marks(data: Any, form: TableFormat, where: str, faults: list[str]) -> Marks | None:
    """A column's own texts for missing and withheld values; None where it has none. Unlike the table's they may be none
    at all: then nothing in the column means withheld."""
    if not isinstance(data, Mapping) or not {"missing", "suppressed"} & set(data):
        return None
    before = len(faults)
    found = {key: _texts(data[key], f"{where}: {key}", faults) for key in ("missing", "suppressed") if key in data}
    marks = Marks(**found)
    own = replace(form, own={"": marks}).of("")
    if len(faults) == before and set(own.missing) & set(own.suppressed):
        faults.append(_same_marks(own, where))
    return marks


def _choice(kind: type[E], data: Mapping[str, Any], key: str, where: str, faults: list[str]) -> E | None:
    try:
        return kind(data[key])
    except ValueError:
        near = difflib.get_close_matches(str(data[key]), list(kind), n=1)
        hint = f" Did you mean {str(near[0])!r}?" if near else ""
        faults.append(f"{where}: {key} must be one of {', '.join(kind)}. Got {data[key]!r}.{hint}")
        return None


def _column(name: str, data: Any, where: str, folder: Path, decimal: str, faults: list[str]) -> Column | None:
    if not isinstance(data, Mapping):
        faults.append(f"{where} must be a table with a role. Got {data!r}.")
        return None
    before = len(faults)
    _known(data, ("role", "type", "domain", "order", "taxonomy", "notation", "missing", "suppressed"), where, faults)
    if "role" not in data:
        faults.append(f"{where}: role must be given, one of {', '.join(Role)}.")
    role = _choice(Role, data, "role", where, faults) if "role" in data else None
    if "type" in data:
        kind: Type | None = _choice(Type, data, "type", where, faults)
    else:
        kind = Type.ORDINAL if "order" in data else Type.NUMERIC if role is Role.WEIGHT else Type.NOMINAL
    bounds, values = None, None
    if "order" in data:
        values = _values(data["order"], f"{where}: order", faults)
        if kind not in (Type.ORDINAL, None):
            faults.append(f'{where}: order is for type = "ordinal". Got type = "{kind}".')
    elif kind is Type.ORDINAL:
        faults.append(f'{where}: type = "ordinal" needs order = [lowest, …, highest].')
    if "domain" in data:
        domain = data["domain"]
        if kind is Type.NUMERIC:
            numbers = domain if isinstance(domain, list) else []
            if len(numbers) != 2 or not all(map(_is_number, numbers)) or numbers[0] > numbers[1]:
                faults.append(f"{where}: the domain of a numeric column must be [lowest, highest]. Got {domain!r}.")
            else:
                bounds = (float(numbers[0]), float(numbers[1]))
        elif kind is Type.NOMINAL:
            values = _values(domain, f"{where}: domain", faults)
        elif kind is Type.ORDINAL:
            faults.append(f"{where}: an ordinal column has its order; leave the domain out.")
    taxonomy = None
    if "taxonomy" in data:
        taxonomy = _taxonomy(data["taxonomy"], where, folder, faults)
        if taxonomy is not None and kind is Type.NUMERIC:
            taxonomy = _numeric_taxonomy(taxonomy, where, decimal, faults)
        if taxonomy is not None and values is not None and kind is Type.NOMINAL:
            stray = sorted(set(values) - set(taxonomy.leaves))
            if stray:
                faults.append(f"{where}: the domain names {stray[0]!r}, which is no leaf of the taxonomy.")
        if kind is Type.ORDINAL:
            faults.append(f"{where}: an ordinal column has its order; leave the taxonomy out or make it nominal.")
    notation = asked_notations(data["notation"], where, kind, "taxonomy" in data, faults) if "notation" in data else ()
    if len(faults) > before or role is None or kind is None:
        return None
    return Column(name, role, kind, bounds, values, taxonomy, notation)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= EXACT_INTEGERS


def _taxonomy(value: Any, where: str, folder: Path, faults: list[str]) -> Taxonomy | None:
    try:
        if isinstance(value, str):
            return Taxonomy.from_file(folder / value)
        return Taxonomy.from_nested(f"{where}: taxonomy", value)
    except TaxonomyError as error:
        faults += [fault if fault.startswith(where) else f"{where}: {fault}" for fault in error.faults]
        return None


def _numeric_taxonomy(taxonomy: Taxonomy, where: str, decimal: str, faults: list[str]) -> Taxonomy | None:
    bad = [leaf for leaf in taxonomy.leaves if parse_number(leaf, decimal) is None]
    if bad:
        faults.append(
            f"{where}: the leaves of a numeric column's taxonomy must be numbers with the decimal mark {decimal!r}. "
            f"Got {bad[0]!r} in {taxonomy.name}."
        )
        return None
    try:
        return taxonomy.sorted_by(lambda leaf: parse_number(leaf, decimal) or 0.0)
    except TaxonomyError as error:
        faults.append(str(error) if taxonomy.name.startswith(where) else f"{where}: {error}")
        return None
