"""What is in a column: its distinct values with their counts, as numbers if they all are, and codes.

Patterns and word lists are tried on at most `MOST_TRIED` distinct values, drawn by the seed from the sorted ones (so the
order of rows does not matter). Each counts as often as it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.schema import TableFormat
from auditor.model.seeding import stage
from auditor.model.values import EXACT_INTEGERS, can_be_counted_with, parse_number

MOST_TRIED = 4_000
LONGEST_TRIED = 200  # longer texts are not tried: they are no value of a known kind
_PADDED = re.compile(r"0\d+", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """One column."""

    name: str
    rows: int
    values: tuple[str, ...]  # the distinct values, sorted as text, without the missing one
    counts: Ints
    codes: Codes  # the number of each cell's value; the missing value is the last code
    missing: int
    numbers: Floats | None  # the values as numbers, if all are numbers and none is `padded`
    padded: bool  # whether a value has a leading zero, which a number does not
    tried: Ints  # the values that patterns are tried on

    @property
    def present(self) -> int:
        """The number of cells with a value."""
        return self.rows - self.missing

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return len(self.values)

    @property
    def diversity(self) -> float:
        """Distinct values per cell with a value; 0 if there are none."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and bool((self.numbers == np.floor(self.numbers)).all())

    @property
    def least(self) -> float:
        """The least number."""
        return float(self.numbers.min()) if self.numbers is not None and self.distinct else 0.0

    @property
    def greatest(self) -> float:
        """The greatest number."""
        return float(self.numbers.max()) if self.numbers is not None and self.distinct else 0.0

    @property
    def commonest(self) -> float:
        """The share of the most frequent value among the cells with a value."""
        return int(self.counts.max()) / self.present if self.present else 0.0

    def share(self, check: Callable[[str], bool]) -> float:
        """The share of cells with a value that pass a check."""
        passed = total = 0
        for place in self.tried:
            count = int(self.counts[place])
            total += count
            passed += count if len(self.values[place]) <= LONGEST_TRIED and check(self.values[place]) else 0
        return passed / total if total else 0.0

    def cells(self, chosen: Bools) -> int:
        """The number of cells with one of the chosen values."""
        return int(self.counts[chosen].sum())


def column_facts(name: str, cells: Sequence[str], form: TableFormat, seed: int) -> Facts:
    """The facts of one column."""
    missing = set(form.missing)
    values = tuple(sorted(set(map(str.strip, cells)) - missing))
    number = {value: code for code, value in enumerate(values)} | dict.fromkeys(missing, len(values))
    codes = np.fromiter(map(number.__getitem__, map(str.strip, cells)), dtype=np.int32, count=len(cells))
    counts = np.bincount(codes, minlength=len(values) + 1)
    padded = any(_PADDED.fullmatch(value) for value in values)
    numbers = None
    if values and not padded:
        read = [parse_number(value, form.decimal) for value in values]
        if all(one is not None and abs(one) < EXACT_INTEGERS and can_be_counted_with(one) for one in read):
            numbers = np.array(read, dtype=np.float64)
    tried = np.arange(len(values))
    if len(values) > MOST_TRIED:
        tried = np.sort(stage(seed, "profile", name).choice(len(values), MOST_TRIED, replace=False))
    return Facts(name, len(cells), values, counts[:-1], codes, int(counts[-1]), numbers, padded, tried)
