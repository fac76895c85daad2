"""The files of an input before they are bytes: a table as text (`Grid`), nested values (`Tree`), or bytes (`Blob`).

Changes are made to these; `damage` is done to the bytes at the end."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.campaign.odd import DEEP

Damage = Callable[[bytes], bytes]
_LEVELS = 20_000


@dataclass
class Part:
    """One file. `kind` is what the table of results calls it."""

    kind: str
    damage: list[Damage] = field(default_factory=list, kw_only=True)

    def plain(self) -> bytes:
        """The content before it is damaged."""
        raise NotImplementedError

    def content(self) -> bytes:
        """The bytes of the file."""
        made = self.plain()
        for one in self.damage:
            made = one(made)
        return made

    def copy(self) -> Any:
        """The same once more, to be changed by itself."""
        return deepcopy(self)


@dataclass
class Blob(Part):
    """Bytes as they are."""

    data: bytes

    def plain(self) -> bytes:
        return self.data


@dataclass
class Grid(Part):
    """A table as text, and how it is written: `form` is csv, parquet, arrow or excel; `types` says how columns are typed in
    the last three."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    newline: str = "\n"
    encoding: str = "utf-8"
    mark: bytes = b""
    quoted: bool = False
    headless: bool = False
    packed: bool = False
    form: str = "csv"
    types: dict[str, str] = field(default_factory=dict)

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        place = self.header.index(name)
        return [row[place] for row in self.rows if len(row) > place]

    def plain(self) -> bytes:
        made = {"csv": self._csv, "parquet": self._parquet, "arrow": self._arrow, "excel": self._excel}[self.form]()
        return gzip.compress(made, mtime=0) if self.packed else made

    def _csv(self) -> bytes:
        text = io.StringIO()
        quoting = csv.QUOTE_ALL if self.quoted else csv.QUOTE_MINIMAL
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator=self.newline, quoting=quoting)
        if not self.headless:
            writer.writerow(self.header)
        writer.writerows(self.rows)
        return self.mark + text.getvalue().encode(
            self.encoding, "surrogatepass" if "utf" in self.encoding else "replace"
        )

    def _arrow_table(self) -> Any:
        import pyarrow as pa

        cells = ([row[place] if place < len(row) else "" for row in self.rows] for place in range(len(self.header)))
        arrays = [_array(found, self.types.get(name, "text")) for name, found in zip(self.header, cells, strict=True)]
        return pa.table(arrays, names=[name.encode("utf-8", "replace").decode() for name in self.header])

    def _parquet(self) -> bytes:
        import pyarrow.parquet as pq

        stream = io.BytesIO()
        pq.write_table(self._arrow_table(), stream)
        return stream.getvalue()

    def _arrow(self) -> bytes:
        import pyarrow as pa

        stream, table = io.BytesIO(), self._arrow_table()
        with pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
        return stream.getvalue()

    def _excel(self) -> bytes:
        import openpyxl

        book = openpyxl.Workbook()
        book.properties.created = book.properties.modified = datetime.datetime(2020, 1, 1)
        sheet = book.active
        assert sheet is not None
        sheet.append([_printable(name) for name in self.header])
        for row in self.rows:
            cells = [_typed(cell, self.types.get(name, "text")) for name, cell in zip(self.header, row, strict=False)]
            sheet.append([_printable(c) if isinstance(c, str) else _for_excel(c) for c in cells])
        stream = io.BytesIO()
        book.save(stream)
        return stream.getvalue()


def _printable(text: str) -> str:
    """A text that a workbook can hold."""
    return "".join(sign for sign in text if sign >= " " and not "\ud800" <= sign <= "\udfff")[:32_000]


def _for_excel(value: Any) -> Any:
    return value if isinstance(value, int | float | bool | datetime.date | datetime.timedelta | None) else str(value)


TYPES = (
    "int",
    "float",
    "float32",
    "bool",
    "date",
    "time",
    "duration",
    "decimal",
    "bytes",
    "list",
    "categories",
    "null",
)
"""How a column of a typed file may be typed, beside text."""


def _array(cells: list[str], kind: str) -> Any:
    import pyarrow as pa

    values = [_typed(cell, kind) for cell in cells]
    if kind == "categories":
        return pa.array([_encodable(cell) for cell in cells]).dictionary_encode()
    if kind in ("text", "bytes"):
        return pa.array([v if v is None or isinstance(v, bytes) else _encodable(v) for v in values])
    if kind == "float32":
        return pa.array(values, type=pa.float32())
    if kind == "decimal":
        return pa.array(values, type=pa.decimal128(38, 4))
    return pa.array(values)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _typed(cell: str, kind: str) -> Any:
    """A cell as a value of a kind; none where it cannot be one."""
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    whole = math.isfinite(found) and abs(found) < 2**62
    if kind in ("float", "float32"):
        return found
    if kind == "bytes":
        return cell.encode("utf-8", "replace")
    if kind == "list":
        return [cell.encode("utf-8", "replace").decode()]
    if kind == "null":
        return None
    if kind in ("text", "categories"):
        return cell
    if not whole:
        return None
    number = int(found)
    return {
        "int": number,
        "bool": bool(number % 2),
        "date": datetime.date(2020, 1, 1) + datetime.timedelta(days=number % 9_999),
        "time": datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=number % 99_999),
        "duration": datetime.timedelta(seconds=number % 99_999, microseconds=5),
        "decimal": Decimal(number % 10**9) + Decimal("0.25"),
    }[kind]


@dataclass
class Tree(Part):
    """Nested values, as a TOML or JSON file."""

    data: Any
    form: str = "toml"

    def plain(self) -> bytes:
        text = toml(self.data) if self.form == "toml" else json.dumps(self.data, default=str, indent=1)
        return text.replace(f'"{DEEP}"', "[" * _LEVELS + "]" * _LEVELS).encode("utf-8", "surrogatepass")


def toml(data: Any) -> str:
    """Nested mappings as TOML."""
    return "\n".join(_section(data, "")) + "\n" if isinstance(data, dict) else f"value = {_toml_value(data)}\n"


def _section(data: dict[Any, Any], path: str, levels: int = 3) -> list[str]:
    """The lines of a table: first its plain values, then its tables. Those far down are written in line."""
    tables = {key: value for key, value in data.items() if levels and _is_section(value)}
    lines = [f"{_key(key)} = {_toml_value(value)}" for key, value in data.items() if key not in tables]
    for key, value in tables.items():
        inner = f"{path}{_key(key)}"
        for entry in value if isinstance(value, list) else [value]:
            lines.append(f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]")
            lines += _section(entry, f"{inner}.", 0 if isinstance(value, list) else levels - 1)
    return lines


def _is_section(value: Any) -> bool:
    tables = value if isinstance(value, list) else [value]
    return bool(tables) and all(isinstance(one, dict) for one in tables)


def _key(key: Any) -> str:
    return _toml_text(str(key))


def _toml_text(text: str) -> str:
    made = json.dumps(text, ensure_ascii=False)
    return "".join(f"\\u{ord(sign):04x}" if ord(sign) == 0x7F else sign for sign in made)


def _toml_value(value: Any) -> str:
    """A value in TOML's own notation."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or value is None:
        return _toml_text(value or "")
    if isinstance(value, float):
        return "nan" if math.isnan(value) else str(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return str(value)
