"""The domain of a column: its values, numbered.

Codes run from 0 in the order that makes labels intervals: numbers by size, ordinals by their order, taxonomy leaves
depth-first, other nominals by text. A missing value is a value of its own, with the last code; a label that covers both
missing and other values covers everything (the explicit rule for missing values).

All tables of an audit (original, population, release) share one domain per column, so that codes can be compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.model.errors import TableError
from auditor.model.schema import Column, Role, TableFormat, Type
from auditor.model.taxonomy import Taxonomy
from auditor.model.values import EXACT_INTEGERS, format_number, parse_number, shown

_LONGEST_COMPARED = 200
"""Longer texts get no hint at a similar value: comparing them takes too long."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The coded values of one column.

    `texts` are the values by code; `numbers` the same as numbers for a numeric column (without the missing value);
    `span` is the numeric range that losses are measured against; `missing` the code of the missing value, if any.
    """

    column: Column
    format: TableFormat
    texts: tuple[str, ...]
    codes: Mapping[str, int]
    numbers: NDArray[np.float64] | None = None
    span: tuple[float, float] | None = None
    missing: int | None = None

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
        return parse_number(text, self.format.decimal)

    def nearest(self, text: str) -> str:
        """A hint naming the known value most like `text`, or an empty string."""
        if len(text) > _LONGEST_COMPARED:
            return ""
        known = [*self.texts, *(self.taxonomy.labels if self.taxonomy else ())]
        near = difflib.get_close_matches(text, known[:5000], n=1)
        return f" The nearest known value is {shown(near[0])}." if near else ""

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

    def encode(self, texts: Sequence[str], where: str) -> NDArray[np.int32]:
        """The codes of the values in a column of text; an error names the first value that is not in the domain."""
        known: dict[str, int] = {}
        out = np.empty(len(texts), dtype=np.int32)
        for row, text in enumerate(texts):
            code = known.get(text)
            if code is None:
                code = self.code(text)
                if code is None:
                    raise TableError(self._outside(text, f"{where}, row {row + 1}, column {self.column.name!r}"))
                known[text] = code
            out[row] = code
        return out

    def _outside(self, text: str, place: str) -> str:
        home = f"its taxonomy ({self.taxonomy.name})" if self.taxonomy else "its domain"
        return (
            f"{place}: {shown(text)} is outside {home}.{self.nearest(text)} "
            "Add it there, or list it under [table] missing if it means no value."
        )

    @classmethod
    def of(cls, column: Column, form: TableFormat, seen: Iterable[tuple[str, Sequence[str]]]) -> Domain:
        """The domain of a column that occurs in tables: `seen` are (table name, its cells) pairs.

        Declared values (order, taxonomy, domain) fix the domain; otherwise it holds what the tables hold.
        """
        tables = list(seen)
        distinct = {text.strip() for _, texts in tables for text in set(texts)}
        has_missing = bool(distinct & set(form.missing))
        distinct -= set(form.missing)
        withheld = sorted(distinct & set(form.suppressed))
        if withheld and column.role in (Role.QUASI, Role.SENSITIVE):
            raise TableError(
                f"{_first(tables, withheld[0])}, column {column.name!r}: {withheld[0]!r} means a withheld value, "
                'which only a release may hold. Say another text for it, such as [table] suppressed = ["(withheld)"].'
            )
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
        numbers: NDArray[np.float64] | None = None,
        span: tuple[float, float] | None = None,
    ) -> Domain:
        codes = {text: code for code, text in enumerate(values)}
        missing = len(values) if has_missing else None
        texts = (*values, form.missing[0]) if has_missing else values
        return cls(column, form, texts, codes, numbers, span, missing)

    @classmethod
    def _numeric(
        cls,
        column: Column,
        form: TableFormat,
        distinct: set[str],
        has_missing: bool,
        tables: list[tuple[str, Sequence[str]]],
    ) -> Domain:
        numbers: set[float] = set()
        mark = "" if form.decimal == "." else f" with the decimal mark {form.decimal!r}"
        for text in sorted(distinct):
            number = parse_number(text, form.decimal)
            if number is None or abs(number) >= EXACT_INTEGERS:
                where = _first(tables, text)
                if number is None:
                    raise TableError(
                        f"{where}, column {column.name!r}: {shown(text)} must be a number{mark}. "
                        "List it under [table] missing if it means no value, or give the column another type."
                    )
                raise TableError(
                    f"{where}, column {column.name!r}: {shown(text)} is too large to be told apart from its neighbours "
                    'as a number (2^53 or more). Declare the column type = "nominal", or scale it.'
                )
            if column.bounds and not column.bounds[0] <= number <= column.bounds[1]:
                raise TableError(
                    f"{_first(tables, text)}, column {column.name!r}: {text!r} is outside the declared domain "
                    f"[{format_number(column.bounds[0])}, {format_number(column.bounds[1])}]. Mend the value or the domain."
                )
            numbers.add(number)
        if column.taxonomy is not None:
            leaves = [parse_number(leaf, form.decimal) or 0.0 for leaf in column.taxonomy.leaves]
            built = cls._build(
                column, form, column.taxonomy.leaves, has_missing, np.array(leaves), (leaves[0], leaves[-1])
            )
            for text in sorted(distinct):
                if built.code(text) is None:
                    raise TableError(built._outside(text, f"{_first(tables, text)}, column {column.name!r}"))
            return built
        ordered = np.array(sorted(numbers), dtype=np.float64)
        span = column.bounds or ((float(ordered[0]), float(ordered[-1])) if len(ordered) else (0.0, 0.0))
        values = tuple(format_number(number, form.decimal) for number in ordered)
        return cls._build(column, form, values, has_missing, ordered, span)


def _first(tables: list[tuple[str, Sequence[str]]], text: str) -> str:
    """Where a value stands first: its table and row."""
    for name, texts in tables:
        for row, cell in enumerate(texts):
            if cell.strip() == text:
                return f"{name}, row {row + 1}"
    raise LookupError(text)
