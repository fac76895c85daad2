"""The key of a release by `grading`: what its aliases and graded numbers stand for. Private, as the provenance is.

It is what the paper's trusted server keeps: for each value of a categorical column its two aliases, for each numeric column
the bounds of its categories. Whoever has it reads the release as the original. No attack can import this module (an import
contract holds that).

**Graded numbers.** A number x in category i, which reaches from min to max, is published as i + m(x):

    m(x) = 0.0 where x = min;  (x - min)/(max - min) between;  0.999 where x = max

In a category wider than 1000 units a number between can have a degree above 0.999, and would come to stand above the
category's own greatest number. Degrees are therefore cut off at 0.999: order is kept, and numbers that were cut off share the
published number of the greatest one, and are decoded as that (at most 0.1 % of the category's width too high).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from auditor.model.arrays import Floats, Ints
from auditor.model.errors import KeyFileError

FORMAT = "auditor-key/1"
HIGHEST = 0.999
"""The membership degree of a category's greatest number."""


_NOISE = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names that stand for the values of a categorical column: `alias1` shows a value's group, `alias2` nothing."""

    values: tuple[str, ...]
    alias1: tuple[str, ...]
    alias2: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories of a numeric column, as the least and greatest number of each; `decimals` is how many digits its
    numbers have behind the point."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    decimals: int = 0

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
        # 2 + 0.999 is not the float nearest to 2.999, which is what a reader would write
        return np.where(degree == HIGHEST, np.round(category + HIGHEST, 3), category + degree)

    def number(self, graded: float) -> float | None:
        """The number that a graded one stands for; None where it can be none of this column. A number between two that
        were published, such as a tree's threshold, gives one between their originals."""
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
    """The pattern of names that begin so and end with a number; they may stand beside `_`, as in `disease_A07`."""
    longest_first = sorted(stems, key=len, reverse=True)
    return rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})[0-9]+(?![^\W_])"


def decimals_of(numbers: Sequence[float]) -> int:
    """How many digits behind the point the numbers have."""
    return max((max(0, -int(Decimal(repr(number)).normalize().as_tuple().exponent)) for number in numbers), default=0)


@dataclass(frozen=True, slots=True)
class Key:
    """What the published values of each sensitive column stand for. `missing` are the texts of missing values, which are
    published as they are; `decimal` is the decimal mark of the release's numbers."""

    columns: Mapping[str, Aliases | Categories]
    missing: tuple[str, ...] = ("",)
    decimal: str = "."

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
        content = {"format": FORMAT, "decimal": self.decimal, "missing": list(self.missing), "columns": columns}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "key") -> Key:
        """The key in the text of a file; `name` is said in errors."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise KeyFileError(
                f"{name} must be JSON ({error}). A key is what `auditor anonymize --key` wrote."
            ) from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise KeyFileError(
                f"{name} must have the format {FORMAT!r}: a key is what `auditor anonymize --key` wrote."
            )
        columns, missing = content.get("columns"), content.get("missing", [""])
        if not isinstance(columns, dict) or not columns:
            raise KeyFileError(f'{name}: "columns" must name at least one column.')
        if not _texts(missing) or content.get("decimal", ".") not in (".", ","):
            raise KeyFileError(f'{name}: "missing" must be a list of texts and "decimal" a point or a comma.')
        read = {column: _column(part, f"{name}, column {column!r}") for column, part in columns.items()}
        meaning: dict[str, str] = {}
        for column, part in read.items():
            for alias in (*part.alias1, *part.alias2) if isinstance(part, Aliases) else ():
                if alias in meaning:
                    raise KeyFileError(f"{name}: the alias {alias!r} stands twice ({meaning[alias]!r} and {column!r}).")
                meaning[alias] = column
        return cls(read, tuple(missing), content.get("decimal", "."))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _column(part: Any, where: str) -> Aliases | Categories:
    if isinstance(part, dict) and isinstance(part.get("aliases"), list):
        rows = [[row.get(k) for k in ("value", "alias1", "alias2")] for row in part["aliases"] if isinstance(row, dict)]
        if not all(map(_texts, rows)) or len(rows) < len(part["aliases"]) or not all(a and b for _, a, b in rows):
            raise KeyFileError(f'{where}: each of its "aliases" must have "value", "alias1" and "alias2" as texts.')
        values, alias1, alias2 = zip(*rows, strict=True) if rows else ((), (), ())
        return Aliases(tuple(values), tuple(alias1), tuple(alias2))
    if isinstance(part, dict) and isinstance(part.get("categories"), list):
        ends: list[Any] = [row.get(k) for row in part["categories"] if isinstance(row, dict) for k in ("min", "max")]
        if not all(map(_number, ends)) or len(ends) < 2 * len(part["categories"]):
            raise KeyFileError(f'{where}: each of its "categories" must have "min" and "max" as numbers.')
        fault = bounds_fault(ends)
        decimals = part.get("decimals", 0)
        if fault or not isinstance(decimals, int) or isinstance(decimals, bool) or decimals < 0:
            raise KeyFileError(f"{where}: {fault or 'decimals must be a whole number from 0'}.")
        return Categories(tuple(map(float, ends[::2])), tuple(map(float, ends[1::2])), decimals)
    raise KeyFileError(f'{where}: must have "aliases" or "categories".')


def bounds_fault(ends: Sequence[float]) -> str | None:
    """What is wrong with bounds min, max, min, max, …; None where they make categories."""
    if len(ends) % 2 or not ends:
        return f"categories must be pairs of their least and greatest number. Got {len(ends)} numbers"
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        if low > high:
            return f"a category must not end below where it begins. Got {low:g} to {high:g}"
    for high, low in zip(ends[1:-1:2], ends[2::2], strict=True):
        if low <= high:
            return f"categories must follow each other without a common number. Got one up to {high:g} and one from {low:g}"
    return None
