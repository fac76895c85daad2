"""Coding: the labels of a large table, numbered in the engine, without fetching its rows.

The engine lists the distinct values of each column with their counts. They are turned into texts and read as labels by the
code for files in memory, so that both read a label alike. In the engine every value then becomes a whole number, its *code*.
In a column of whole numbers that lie close together, the code is the value minus the least one. For all others it comes from
a join with the list of distinct values. Grouping by numbers costs a third of grouping by texts, joins included.

The codes of the quasi-identifiers are packed into one number (mixed radix), or into several of 62 bits if one is too small:
the *key* of a class. Division turns a key back into label numbers, which are the same in every engine.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auditor.engines.engine import Engine
from auditor.engines.sources.faults import asking
from auditor.engines.sources.sources import Source
from auditor.files.arrow_tables import column_texts
from auditor.model.arrays import Bools, Ints
from auditor.model.discretion import shown
from auditor.model.errors import TableError
from auditor.model.formulas import unguarded
from auditor.model.schema import TableFormat

KEY_ROOM = 2**62  # all keys are below this
MOST_VALUES = 20_000_000  # a column with more distinct values is refused, since their texts are read here
_VALUE = 400  # so is one whose distinct values would not fit into memory at this many bytes each
_MARK = "\ufeff"
_SPARSE = 4
_SMALL = 1000
"""Whole numbers serve as codes if their range is at most `_SPARSE` times their number, or less than `_SMALL`."""


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """The codes of one column."""

    column: str
    size: int  # the number of codes
    label: Ints  # the label number of each code; -1 if it does not occur
    texts: tuple[str, ...]  # the labels, sorted
    rows: Ints  # the number of rows with each label
    low: int | None = None  # the least value, if a code is the value minus this
    values: Any = None  # otherwise, the values to join with (an Arrow array)
    value_codes: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # the codes of `values`
    null_code: int | None = None  # the code of null

    def codes_of(self, labels: Bools) -> list[int]:
        """The codes of the chosen labels (a mask over label numbers)."""
        found: list[int] = np.flatnonzero((self.label >= 0) & labels[self.label]).tolist()
        return found


def code_column(engine: Engine, source: Source, column: str, form: TableFormat) -> Coding:
    """The coding of one column, from its distinct values in the engine."""
    table = source.table
    where = f"{source.name}, column {column!r}"
    most = min(MOST_VALUES, (engine.memory or 2**40) // (2 * _VALUE))
    counted = table.group_by(table[column].name("value")).agg(rows=table.count())
    with asking(engine, source.name, column):
        found = counted.limit(most + 1).to_pyarrow()
    if found.num_rows > most:
        more = " give more memory (--memory)," if most < MOST_VALUES else ""
        raise TableError(
            f"{where}: more than {most} different values, too many to read. Coarsen it,{more} or declare it neutral."
        )
    values = found.column("value").combine_chunks()
    times = np.asarray(found.column("rows").to_numpy(), dtype=np.int64)
    texts = _texts(values, form, source.cells_are_text, where)
    if source.cells_are_text and column == source.columns[0] and any(text.startswith(_MARK) for text in texts):
        raise TableError(
            f"{source.name}: a row begins with a byte order mark (U+FEFF), as if two files had been joined. Remove "
            "the mark and the header line after it."
        )
    distinct = sorted(set(texts))
    rank = {text: number for number, text in enumerate(distinct)}
    label = np.fromiter((rank[text] for text in texts), dtype=np.int64, count=len(texts))
    rows = np.bincount(label, weights=times, minlength=len(distinct)).astype(np.int64)
    low = _low(values)
    if low is not None:
        place = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64) - low
        of_code = np.full(int(place.max()) + 1, -1, dtype=np.int64)
        of_code[place] = label
        return Coding(column, len(of_code), of_code, tuple(distinct), rows, low=low)
    null = np.flatnonzero(np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_))
    held = np.setdiff1d(np.arange(len(texts)), null)
    null_code = int(label[null[0]]) if len(null) else None
    joined = (values.take(importlib.import_module("pyarrow").array(held)), label[held], null_code)
    return Coding(column, len(distinct), np.arange(len(distinct)), tuple(distinct), rows, None, *joined)


def refuse_header_rows(engine: Engine, source: Source, codings: Mapping[str, Coding]) -> None:
    """An error if the header of a CSV file occurs again among its rows: it would count as a person."""
    if not source.cells_are_text or len(source.columns) == 1 or any(c not in one.texts for c, one in codings.items()):
        return
    table = source.table
    again = table.filter([table[column].strip() == column for column in source.columns])
    with asking(engine, source.name):
        found = int(again.count().execute())
    if found:
        raise TableError(
            f"{source.name}: the header line occurs again among the rows ({found} times). Were files joined? Remove it."
        )


def _texts(values: Any, form: TableFormat, from_csv: bool, where: str) -> list[str]:
    if not from_csv:
        return column_texts(values, form, where)
    found = [unguarded((value or "").strip()) for value in values.to_pylist()]
    nul = next((text for text in found if "\x00" in text), None)
    if nul is not None:
        raise TableError(f"{where}: a NUL character in {shown(nul)}. Remove it.")
    return found


def _low(values: Any) -> int | None:
    """The least value of a column of whole numbers that lie close together; None for other columns and if some are null."""
    types = importlib.import_module("pyarrow").types
    if not types.is_integer(values.type) or values.null_count or not len(values):
        return None
    numbers = values.to_pylist()
    low, high = min(numbers), max(numbers)
    close = high - low < max(_SPARSE * len(numbers), _SMALL)
    return int(low) if close and abs(low) < KEY_ROOM and abs(high) < KEY_ROOM else None


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """How the codes of columns are packed into keys: `parts[i]` are the columns of key i, each with the factor of its code
    and its number of codes."""

    parts: tuple[tuple[tuple[str, int, int], ...], ...]

    @classmethod
    def of(cls, sizes: Sequence[tuple[str, int]]) -> Keys:
        """The packing of columns, given their numbers of codes. Without columns there is one class, with key 0."""
        parts: list[list[tuple[str, int, int]]] = [[]]
        room = 1
        for column, size in sizes:
            if room * size >= KEY_ROOM:
                parts.append([])
                room = 1
            parts[-1].append((column, room, size))
            room *= size
        return cls(tuple(tuple(part) for part in parts))

    @property
    def names(self) -> list[str]:
        """The names of the key columns."""
        return [f"key{i}" for i in range(len(self.parts))]

    def packed(self, ibis: Any, code: Any) -> dict[str, Any]:
        """The key columns; `code(column)` is the expression for a column's code."""
        keys = {}
        for name, part in zip(self.names, self.parts, strict=True):
            key = ibis.literal(0, type="int64")
            for column, times, _ in part:
                key = key + code(column) * ibis.literal(times, type="int64")
            keys[name] = key
        return keys

    def unpacked(self, table: Any) -> dict[str, Any]:
        """The code of each column, recovered from the key columns: 64-bit whole numbers, in Ibis or numpy."""
        codes = {}
        for name, part in zip(self.names, self.parts, strict=True):
            for column, times, size in part:
                # engines divide with 53 bits: so reduce to a multiple below `size` times the factor first, then round
                multiple = table[name] % (times * size) - table[name] % times
                codes[column] = (multiple + times // 2) // times
        return codes


def coded_table(engine: Engine, source: Source, codings: Mapping[str, Coding]) -> Any:
    """The codes of some columns, under the given names, since a user's column may be called anything."""
    ibis, pa = engine.ibis, importlib.import_module("pyarrow")
    table = source.table.select(**{f"native_{name}": source.table[coding.column] for name, coding in codings.items()})
    for name, coding in codings.items():
        if coding.low is None:
            listed = pa.table({f"value_{name}": coding.values, f"code_{name}": pa.array(coding.value_codes)})
            joined = ibis.memtable(listed)
            how = "inner" if coding.null_code is None else "left"  # null is not in the list; an inner join costs less
            match = table[f"native_{name}"] == joined[f"value_{name}"]
            table = table.join(joined, match, how=how).drop(f"value_{name}")

    def code(name: str, coding: Coding) -> Any:
        if coding.low is not None:
            return table[f"native_{name}"].cast("int64") - ibis.literal(coding.low, type="int64")
        found = table[f"code_{name}"]
        return found if coding.null_code is None else found.fill_null(coding.null_code)

    return table.select(**{name: code(name, coding) for name, coding in codings.items()})
