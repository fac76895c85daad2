"""The domain of a column: its values, numbered.

Codes run from 0 in the order that makes labels intervals: numbers by size, ordinals by their order, taxonomy leaves
depth-first, other nominals by text. A missing value is a value of its own, with the last code; a label that covers both
missing and other values covers everything.

All tables of an audit (original, population, release) share one domain per column, so that codes can be compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Codes, Floats
from auditor.model.discretion import is_revealing, quote, shown
from auditor.model.errors import TableError
from auditor.model.schema import Column, Role, TableFormat, Type
from auditor.model.taxonomy import Taxonomy
from auditor.model.values import EXACT_INTEGERS, can_be_counted_with, format_number, parse_number

_LONGEST_COMPARED = 200  # longer texts get no hint at a similar value: comparing them would take too long
_MOST_COMPARED = 5000  # at most this many values are compared for a hint, for the same reason
_CLOSE = 0.8  # how alike a text and a value must be for a hint at it

Seen = tuple[str, Sequence[str]] | tuple[str, Sequence[str], Sequence[int] | None]
"""A table's name, the cells of one column and, where the table is a file, the line of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The coded values of one column."""

    column: Column
    format: TableFormat
    """With the column's own marks for missing and suppressed values."""
    texts: tuple[str, ...]
    """The values by code."""
    codes: Mapping[str, int]
    numbers: Floats | None = None
    """The values of a numeric column as numbers, without the missing value."""
    span: tuple[float, float] | None = None
    """The numeric range that losses are measured against."""
    missing: int | None = None
    """The code of the missing value, if there is one."""
    stand_ins: frozenset[str] = frozenset()
    """Texts that stand for values which no label names, where there is only a release (`labels/label_values.py`)."""

    @property
    def size(self) -> int:
        """How many codes there are, the missing value included."""
        return len(self.texts)

    @property
    def known(self) -> int:
        """How many values there are without the missing one."""
        return len(self.texts) - (self.missing is not None)

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The taxonomy over the values, if there is one."""
        return self.column.taxonomy

    @property
    def width(self) -> float:
        """The width of the numeric range; 0 for other columns."""
        return 0.0 if self.span is None else self.span[1] - self.span[0]

    def number(self, text: str) -> float | None:
        """The number that a text denotes in this column's files, or None."""
        number = parse_number(text, self.format.decimal)
        return number if number is not None and can_be_counted_with(number) else None

    def nearest(self, text: str, groups: bool = False) -> str:
        """A hint naming the known value (or group of the taxonomy) that `text` is close to, or an empty string. It says what
        the text is like, so it is given only where values may be shown."""
        if len(text) > _LONGEST_COMPARED or not is_revealing():
            return ""
        known = list(self.texts)
        if groups and self.taxonomy:  # groups first: they are few, and leaves may be more than are compared
            leaves = set(self.texts)
            known = [*(label for label in self.taxonomy.labels if label not in leaves), *known]
        folded = text.casefold()
        near = [label for label in known if label.casefold() == folded][:1]
        near = near or difflib.get_close_matches(text, known[:_MOST_COMPARED], n=1, cutoff=_CLOSE)
        return f" The nearest known value is {quote(near[0])}." if near else ""

    def code(self, text: str) -> int | None:
        """The code of one value, or None where it is not in the domain."""
        text = text.strip()
        if text in self.format.missing:
            return self.missing
        found = self.codes.get(text)
        if found is None and self.numbers is not None:
            number = self.number(text)
            if number is not None:
                place = int(np.searchsorted(self.numbers, number))
                if place < len(self.numbers) and self.numbers[place] == number:
                    return place
        return found

    def encode(self, texts: Sequence[str], where: str, lines: Sequence[int] | None = None) -> Codes:
        """The codes of the values in a column of text; an error names the first row whose value is not in the domain, by
        its line in the file where `lines` are known."""
        known: dict[str, int] = {}
        for text in dict.fromkeys(texts):
            code = self.code(text)
            if code is None:
                place = f"{where}, {row_place(texts.index(text), lines)}, column {self.column.name!r}"
                raise TableError(f"{place}: {self._outside(text)}")
            known[text] = code
        return np.fromiter(map(known.__getitem__, texts), dtype=np.int32, count=len(texts))

    def _outside(self, text: str) -> str:
        column, taxonomy = f"[columns.{self.column.name}]", self.taxonomy
        if taxonomy is not None:
            home = f"the taxonomy of {column}" + ("" if column in taxonomy.name else f" ({taxonomy.name})")
            if taxonomy.node(text.strip()) is not None:
                return f"{shown(text)} is a group of {home}; only a release may hold groups. Give the value itself."
        elif self.column.type is Type.ORDINAL:
            home = f"the order of {column}"
        else:
            home = f"the domain of {column}"
        return (
            f"{shown(text)} is outside {home}.{self.nearest(text)} "
            "Add it there, or list it under [table] missing if it means no value."
        )

    @classmethod
    def of(cls, column: Column, form: TableFormat, seen: Iterable[Seen]) -> Domain:
        """The domain of a column that occurs in tables: `seen` are pairs of a table's name and its cells; where the table
        is a file, with the line of each cell, or with () if these are not all cells and their lines are not known.

        Declared values (order, taxonomy, domain) fix the domain; otherwise it holds what the tables hold.
        """
        tables = list(seen)
        form = form.of(column.name)
        distinct = {text.strip() for table in tables for text in set(table[1])}
        has_missing = bool(distinct & set(form.missing))
        distinct -= set(form.missing)
        marks = distinct & set(form.suppressed)
        if marks and column.role in (Role.QUASI, Role.SENSITIVE):
            reason = (
                "means a suppressed value, which only a release may hold. If it is a value here, choose another mark: "
                '[table] suppressed = ["(suppressed)"].'
            )
            raise _first_fault(tables, column, {text: f"{text!r} {reason}" for text in marks})
        if column.type is Type.NUMERIC:
            return cls._numeric(column, form, distinct, has_missing, tables)
        if column.taxonomy is not None:
            values: tuple[str, ...] = column.taxonomy.leaves
        elif column.values is not None:
            values = column.values
        else:
            values = tuple(sorted(distinct))
        return cls._build(column, form, values, has_missing)

    @classmethod
    def _build(
        cls,
        column: Column,
        form: TableFormat,
        values: tuple[str, ...],
        has_missing: bool,
        numbers: Floats | None = None,
        span: tuple[float, float] | None = None,
    ) -> Domain:
        codes = {text: code for code, text in enumerate(values)}
        missing = len(values) if has_missing else None
        texts = (*values, form.missing[0]) if has_missing else values
        return cls(column, form, texts, codes, numbers, span, missing)

    @classmethod
    def _numeric(
        cls, column: Column, form: TableFormat, distinct: set[str], has_missing: bool, tables: list[Seen]
    ) -> Domain:
        numbers: set[float] = set()
        faults: dict[str, str] = {}
        for text in distinct:
            number = parse_number(text, form.decimal)
            if number is None:
                faults[text] = _no_number(text, form)
            elif abs(number) >= EXACT_INTEGERS or not can_be_counted_with(number):
                extreme = "large to be exact as a number (2^53 or more)" if abs(number) > 1 else "small (below 1e-100)"
                faults[text] = f'{shown(text)} is too {extreme}. Declare the column as type = "nominal", or scale it.'
            elif column.bounds and not column.bounds[0] <= number <= column.bounds[1]:
                faults[text] = (
                    f"{shown(text)} is outside the declared domain [{format_number(column.bounds[0])}, "
                    f"{format_number(column.bounds[1])}]. Correct the value or the domain."
                )
            else:
                numbers.add(number)
        if faults:
            raise _first_fault(tables, column, faults)
        if column.taxonomy is not None:
            leaves = [parse_number(leaf, form.decimal) or 0.0 for leaf in column.taxonomy.leaves]
            built = cls._build(
                column, form, column.taxonomy.leaves, has_missing, np.array(leaves), (leaves[0], leaves[-1])
            )
            outside = {text: built._outside(text) for text in distinct if built.code(text) is None}
            if outside:
                raise _first_fault(tables, column, outside)
            return built
        ordered = np.array(sorted(numbers), dtype=np.float64)
        span = column.bounds or ((float(ordered[0]), float(ordered[-1])) if len(ordered) else (0.0, 0.0))
        values = tuple(format_number(number, form.decimal) for number in ordered)
        return cls._build(column, form, values, has_missing, ordered, span)


def row_place(row: int, lines: Sequence[int] | None) -> str:
    """Where a row (counted from 0) is: its line in a file, its number in a frame."""
    return f"row {row + 1}" if lines is None else f"line {lines[row]}"


def _no_number(text: str, form: TableFormat) -> str:
    mark = "" if form.decimal == "." else f" with the decimal mark {form.decimal!r}"
    comma = form.decimal == "." and "," in text and parse_number(text, ",") is not None
    hint = ' If "," is the decimal mark, set [table] decimal = ",".' if comma else ""
    return (
        f"{shown(text)} must be a number{mark}.{hint} "
        "List it under [table] missing if it means no value, or give the column another type."
    )


def _first_fault(tables: list[Seen], column: Column, faults: Mapping[str, str]) -> TableError:
    """The error about the first cell, in the order of the tables and their rows, whose text is at fault."""
    for name, texts, *lines in tables:
        for row, cell in enumerate(texts):
            if cell.strip() in faults:
                unknown = lines and lines[0] is not None and not len(lines[0])
                place = "" if unknown else f", {row_place(row, lines[0] if lines else None)}"
                return TableError(f"{name}{place}, column {column.name!r}: {faults[cell.strip()]}")
    raise LookupError(column.name)
