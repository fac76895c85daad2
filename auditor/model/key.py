"""The key of a release by `grading`: what its aliases and graded numbers stand for. Private, as the provenance is.

It is what the paper's trusted server keeps: for each value of a categorical column its two aliases, for each numeric column
the bounds of its categories. Anyone who has it can read the release as the original. No attack can import this module (an
import contract checks that).

**Graded numbers.** A number x in category i, which reaches from min to max, is published as i + m(x):

    m(x) = 0.0 where x = min;  (x - min)/(max - min) between;  0.999 where x = max

The paper prints three digits of a degree and cuts off the others (11/30 is .366), so that its greatest number, .999, is what
is left of 1. So it is here for any number of digits; from `ALL_DIGITS` on degrees are published as they are. Numbers that
lie close together in a wide category then share a published number. So the key lists, for every published number, the least
and the greatest number that it stands for: where these are equal it decodes exactly, elsewhere to the interval of both.

With all digits the key needs no such list: a number is decoded from the bounds. A number just below the greatest of a
category wider than 1000 units would have a degree above 0.999. Degrees are cut off at 0.999: order is kept, and numbers that
were cut off are decoded as the greatest one (at most 0.1 % of the category's width too high). So are keys of older versions.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditor.model.arrays import Floats, Ints
from auditor.model.discretion import shown
from auditor.model.errors import KeyFileError
from auditor.model.faults import Faults, are_texts, is_count, is_number, parse_json, read_text

FORMAT = "auditor-key/1"
HIGHEST = 0.999  # the membership degree of a category's greatest number
ALL_DIGITS = 10  # from so many digits on none is cut off

_NOISE = 8 * float(np.finfo(np.float64).eps)
_NEAR = 1e-9  # published numbers of fewer than ten digits are the same this close together


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names that stand for the values of a categorical column."""

    values: tuple[str, ...]
    alias1: tuple[str, ...]  # by value, the name that shows its group
    alias2: tuple[str, ...]  # by value, the name that shows nothing


class Grade(NamedTuple):
    """A published number, and the least and greatest number that it stands for."""

    published: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of a numeric column."""

    low: tuple[float, ...]  # the least number of each
    high: tuple[float, ...]  # the greatest number of each
    decimals: int = 0  # how many digits the column's numbers have after the point
    digits: int = ALL_DIGITS  # how many digits of a degree are published
    grades: tuple[Grade, ...] = ()  # what is published, ascending; nothing where all digits are

    def find(self, numbers: Floats) -> Ints:
        """The category of each number, from 0; -1 where it lies in none."""
        found = np.searchsorted(self.low, numbers, side="right").astype(np.int64) - 1
        inside = (found >= 0) & (numbers <= np.array(self.high)[found])
        return np.where(inside, found, -1)

    def grade(self, numbers: Floats) -> Floats:
        """The graded numbers: category, counted from 1, plus membership degree. Every number must lie in a category."""
        found = self.find(numbers)
        low, high = np.array(self.low)[found], np.array(self.high)[found]
        width = np.where(high > low, high - low, 1.0)
        degree = np.minimum((numbers - low) / width, HIGHEST)
        degree = np.where(numbers == low, 0.0, np.where(numbers == high, HIGHEST, degree))
        category = found + 1.0
        if self.digits < ALL_DIGITS:
            parts = 10.0**self.digits  # 0.3 · 10 is 3 and not 2.9999…
            return np.asarray((category * parts + np.floor(degree * parts * (1 + 1e-12) + 1e-9)) / parts)
        # 2 + 0.999 is not the float nearest to 2.999, which is what a reader would write
        return np.where(degree == HIGHEST, np.round(category + HIGHEST, 3), category + degree)

    def listing(self, numbers: Floats) -> Categories:
        """The same with what is published of these numbers. The ends of categories are listed as well, where no number is
        published as they would be: so every threshold lies between two that are listed."""
        if self.digits >= ALL_DIGITS:
            return self
        stands: dict[float, tuple[float, float]] = {}
        for some in (np.sort(numbers), np.unique([*self.low, *self.high])):
            pairs = list(zip(self.grade(some).tolist(), some.tolist(), strict=True)) if len(some) else []
            taken = set(stands)
            for published, number in pairs:
                if published not in taken:
                    stands[published] = (stands.get(published, (number, number))[0], number)
        return replace(self, grades=tuple(Grade(grade, *stands[grade]) for grade in sorted(stands)))

    def numbers(self, graded: float) -> tuple[float, float] | None:
        """The least and the greatest number that a graded one stands for; None where this column cannot have it. A number
        between two published ones, such as a threshold of a decision tree, gives one between their originals."""
        if not self.grades:
            exact = self._number(graded)
            return None if exact is None else (exact, exact)
        place = bisect_left(self.grades, graded - _NEAR, key=lambda grade: grade.published)
        if place == len(self.grades):
            return None
        above = self.grades[place]
        if above.published <= graded + _NEAR:
            return above.least, above.greatest
        if not place:
            return None
        below = self.grades[place - 1]
        share = (graded - below.published) / (above.published - below.published)
        between = round(below.greatest + share * (above.least - below.greatest), self.decimals + 3)
        return between, between

    def _number(self, graded: float) -> float | None:
        """The number that a graded one stands for where all digits are published."""
        category = int(graded)
        if not 1 <= category <= len(self.low):
            return None
        low, high, degree = self.low[category - 1], self.high[category - 1], graded - category
        noise = _NOISE * (category * (high - low) + abs(low) + abs(high))
        if degree <= HIGHEST - _NOISE * category:
            exact = low + degree * (high - low)
        elif degree <= HIGHEST + _NOISE * category:
            return high
        elif category < len(self.low):  # between this category and the next
            exact = high + (degree - HIGHEST) / (1 - HIGHEST) * (self.low[category] - high)
        else:
            return None
        whole = round(exact, self.decimals)
        return whole if abs(whole - exact) <= noise else round(exact, self.decimals + 3)


def name_pattern(stems: Sequence[str]) -> str:
    """The pattern of names that begin with one of these and end with a number; `_` may precede them, as in `disease_A07`."""
    longest_first = sorted(stems, key=len, reverse=True)
    return rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})[0-9]+(?![^\W_])"


def decimals_of(numbers: Sequence[float]) -> int:
    """How many digits the numbers have after the point."""
    return max((max(0, -int(Decimal(repr(number)).normalize().as_tuple().exponent)) for number in numbers), default=0)


@dataclass(frozen=True, slots=True)
class Key:
    """What the published values of each sensitive column stand for."""

    columns: Mapping[str, Aliases | Categories]
    missing: tuple[str, ...] = ("",)  # the texts of missing values, which are published as they are
    decimal: str = "."  # the decimal mark of the release's numbers
    release: str | None = None  # the fingerprint of these columns in the release, whatever the order of its rows
    rows: int | None = None  # how many rows the release has

    def to_json(self) -> str:
        """The key as the text of a file."""
        columns: dict[str, Any] = {}
        for name, column in self.columns.items():
            if isinstance(column, Aliases):
                rows = zip(column.values, column.alias1, column.alias2, strict=True)
                columns[name] = {"aliases": [{"value": v, "alias1": a, "alias2": b} for v, a, b in rows]}
            else:
                bounds = zip(column.low, column.high, strict=True)
                columns[name] = {
                    "categories": [{"min": low, "max": high} for low, high in bounds],
                    "decimals": column.decimals,
                }
                if column.grades:
                    columns[name] |= {"digits": column.digits, "grades": [list(grade) for grade in column.grades]}
        content: dict[str, Any] = {"format": FORMAT, "decimal": self.decimal, "missing": list(self.missing)}
        content["columns"] = columns
        if self.release is not None:
            content |= {"release": self.release, "rows": self.rows}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, file: Path) -> Key:
        """The key in a file."""
        return cls.from_json(read_text(file, "key", KeyFileError), str(file))

    @classmethod
    def from_json(cls, text: str, name: str = "key") -> Key:
        """The key in the text of a file; errors call it `name`."""
        advice = " A key is a file that `auditor anonymize --key` wrote."
        content = parse_json(text, name, FORMAT, KeyFileError, advice)
        faults = Faults(KeyFileError, name, content)
        missing = faults.texts("missing")
        decimal = faults.value("decimal", lambda value: value in (".", ","), '"." or ","')
        columns = content.get("columns")
        if not isinstance(columns, dict) or not columns:
            faults.add("columns must name at least one column.")
            columns = {}
        read: dict[str, Aliases | Categories] = {}
        meaning: dict[str, str] = {}
        for column, part in columns.items():
            found = _column(faults.at(f"column {column!r}", part if isinstance(part, dict) else {}))
            for alias in (*found.alias1, *found.alias2) if isinstance(found, Aliases) else ():
                if alias in meaning:
                    faults.add(f"{shown(alias, 'alias')} stands twice ({meaning[alias]!r} and {column!r}).")
                meaning[alias] = column
            if found is not None:
                read[column] = found
        release, rows = faults.text("release"), faults.value("rows", is_count, "a whole number of at least 0")
        faults.check()
        return cls(read, ("",) if missing is None else missing, decimal or ".", release, rows)


def _column(place: Faults) -> Aliases | Categories | None:
    """What a key says of one column."""
    if isinstance(place.data.get("aliases"), list):
        rows = [[row.get(k) for k in ("value", "alias1", "alias2")] for row in _objects(place.data["aliases"])]
        if not all(are_texts(row) and row[1] and row[2] for row in rows):
            place.add('each of its "aliases" must have "value", "alias1" and "alias2" as texts.')
            return None
        values, alias1, alias2 = zip(*rows, strict=True) if rows else ((), (), ())
        return Aliases(values, alias1, alias2)
    if isinstance(place.data.get("categories"), list):
        ends: list[Any] = [row.get(k) for row in _objects(place.data["categories"]) for k in ("min", "max")]
        if not all(map(is_number, ends)):
            place.add('each of its "categories" must have "min" and "max" as numbers.')
            return None
        fault = bounds_fault(ends)
        if fault:
            place.add(f"{fault}.")
        decimals = place.value("decimals", is_count, "a whole number of at least 0")
        digits = place.value("digits", is_count, "a whole number of at least 0")
        bounds = tuple(map(float, ends[::2])), tuple(map(float, ends[1::2]))
        return Categories(*bounds, decimals or 0, ALL_DIGITS if digits is None else digits, _grades(place))
    place.add('must have "aliases" or "categories".')
    return None


def _grades(place: Faults) -> tuple[Grade, ...]:
    """The published numbers that a key lists of a column; none in keys of older versions."""
    rows = place.data.get("grades", [])
    if not isinstance(rows, list) or not all(
        isinstance(r, list) and len(r) == 3 and all(map(is_number, r)) for r in rows
    ):
        place.add('each of its "grades" must be a list of three numbers.')
        return ()
    grades = tuple(Grade(*map(float, row)) for row in rows)
    ends = [end for grade in grades for end in grade[1:]]
    if sorted({grade.published for grade in grades}) != [g.published for g in grades] or sorted(ends) != ends:
        place.add('its "grades" must ascend: published numbers, and what they stand for.')
    return grades


def _objects(rows: list[Any]) -> list[dict[str, Any]]:
    """The rows of a list; those that are no objects as empty ones."""
    return [row if isinstance(row, dict) else {} for row in rows]


def bounds_fault(ends: Sequence[float]) -> str | None:
    """What is wrong with the bounds min, max, min, max, …; None where they form categories."""
    if len(ends) % 2 or not ends:
        return f"categories must be pairs of their least and greatest number. Got {len(ends)} numbers"
    for place, (low, high) in enumerate(zip(ends[::2], ends[1::2], strict=True), 1):
        if low > high:
            return f"a category must not end below where it begins. Category {place} does"
    for place, (high, low) in enumerate(zip(ends[1:-1:2], ends[2::2], strict=True), 1):
        if low <= high:
            return (
                f"categories must follow each other without a common number. Those from {place} to {place + 1} do not"
            )
    return None
