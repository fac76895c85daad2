"""Canaries: people who are added to a table to see whether a release tells that they are there.

A canary for two worlds is one row: a given row of the table again, the rarest value of every column (`outlier`), or the row
whose values are the rarest together (`rare`). Canaries for one run are made up: each value is drawn from those of its
column, rare ones as likely as others, so that few of them fit anybody. They have only values that occur in the table, since
the values of a column are taken as public; identifiers are new.

What is noted of a release, for each canary: how many rows have its value, by column and by pair of columns; how many have all
its values; how many of its values the closest row has. Counts only: a share would tell the number of rows, which many
mechanisms publish as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np

from auditor.files.releases import number_texts
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.release import Release
from auditor.model.schema import Role, Schema, Type
from auditor.model.table import RawTable, Table, encode
from auditor.model.values import format_number, parse_number

Row = Mapping[str, str]
"""A canary: its values by column."""


class Cells(NamedTuple):
    """A published column: its different texts, and the number of each row's among them."""

    texts: Sequence[str]
    codes: Codes


Published = Sequence[Mapping[str, Cells]]
"""A release: the columns of each block."""
_NEAR = 0.05
"""Numbers are near within this share of the column's range."""
_MOST_COLUMNS = 12
_TRIES = 20
"""So many people are drawn for each that is wanted."""
_ENOUGH = 40
"""So many canaries are better than more that share values."""
_APART = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)


class Choice(StrEnum):
    """The canaries that can be asked for by name."""

    WORST = "worst"
    OUTLIER = "outlier"
    RARE = "rare"


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """A table with canaries behind its rows, coded together, so that all share their domains."""

    table: Table
    rows: int
    canaries: tuple[Row, ...]

    def without(self) -> Table:
        """The table alone."""
        return self.table.take(np.arange(self.rows))

    def replaced(self, row: int, canary: int) -> Table:
        """The table with a canary in place of a row."""
        rows = np.arange(self.rows)
        rows[row] = self.rows + canary
        return self.table.take(rows)

    def joined(self, included: Bools) -> Table:
        """The table with some of the canaries."""
        return self.table.take(np.concatenate([np.arange(self.rows), self.rows + np.flatnonzero(included)]))


def cast(table: Table, canaries: Sequence[Row]) -> Cast:
    """A table with canaries."""
    columns = {name: [*table.texts(name), *(one[name] for one in canaries)] for name in table.codes}
    (coded,) = encode(table.schema, [RawTable(table.name, columns)])
    return Cast(coded, table.rows, tuple(canaries))


def named_canary(table: Table, choice: str) -> tuple[Row, str]:
    """The canary that a name or a row number asks for, and who it is in words."""
    if choice == Choice.OUTLIER:
        rarest = {c: table.domains[c].texts[_rarest(table, c)] for c in _telling(table)}
        return _whole(table, rarest, 0), "a made-up person with the rarest value of every column"
    if choice == Choice.RARE:
        return _again(table, int(by_rarity(table)[0])), "the row with the rarest values, once more"
    if not (choice.isascii() and choice.isdigit() and 1 <= int(choice) <= table.rows):
        names = ", ".join(Choice)
        raise UsageError(f"The canary must be one of {names}, or a row from 1 to {table.rows}. Got {choice!r}.")
    return _again(table, int(choice) - 1), f"row {choice} of the table, once more"


def made_up(table: Table, count: int, rng: np.random.Generator) -> list[Row]:
    """So many made-up people, no two alike: each value is one of its column, all equally likely. Fewer where there are not so
    many combinations, or they are hard to come by. Where that leaves enough, no two share two values either, so that what
    one adds to the counts of pairs is not mistaken for another."""
    columns = _telling(table)
    there = [np.flatnonzero(np.bincount(table.codes[c], minlength=table.domains[c].size)) for c in columns]
    drawn = np.column_stack([rng.choice(values, _TRIES * count) for values in there])
    _, first = np.unique(drawn, axis=0, return_index=True)
    distinct = drawn[np.sort(first)]
    apart = _apart(distinct, count)
    kept = distinct[:count] if len(apart) < min(_ENOUGH, len(distinct[:count])) else distinct[apart]
    texts = [{c: table.domains[c].texts[code] for c, code in zip(columns, row, strict=True)} for row in kept]
    return [_whole(table, values, number) for number, values in enumerate(texts)]


def _apart(rows: Ints, count: int) -> list[int]:
    """Some of the rows, no two of which share the values of two columns; of the earlier ones rather than the later."""
    seen: set[tuple[int, int, int, int]] = set()
    kept: list[int] = []
    for number, row in enumerate(rows.tolist()):
        pairs = {(a, b, row[a], row[b]) for a, b in combinations(range(len(row)), 2)}
        if not pairs & seen:
            seen |= pairs
            kept.append(number)
            if len(kept) == count:
                break
    return kept


def _telling(table: Table) -> list[str]:
    """The columns that a canary has values of its own in."""
    return [c for c in table.codes if table.schema.columns[c].role not in _APART]


def _again(table: Table, row: int) -> Row:
    return _whole(table, {c: table.domains[c].texts[table.codes[c][row]] for c in _telling(table)}, 0)


def _whole(table: Table, values: Row, number: int) -> Row:
    """A canary with identifiers that nobody else has."""
    return {c: values[c] if c in values else _fresh(table, c, number) for c in table.codes}


def _fresh(table: Table, column: str, number: int) -> str:
    domain = table.domains[column]
    if domain.column.type is Type.NUMERIC and domain.numbers is not None:
        return format_number(float(np.max(domain.numbers)) + 1 + number)
    return f"canary-{number + 1}"


def _rarest(table: Table, column: str) -> int:
    """The rarest value that occurs; of several, the one farthest from the middle of numbers, or the first."""
    counts = np.bincount(table.codes[column], minlength=table.domains[column].size)
    few = np.flatnonzero(counts == counts[counts > 0].min())
    numbers = table.domains[column].numbers
    if numbers is None or few.max() >= len(numbers):
        return int(few[0])
    return int(few[np.argmax(np.abs(numbers[few] - np.median(numbers)))])


def by_rarity(table: Table) -> Ints:
    """The rows, those with the rarest values first: by the sum of the logarithms of their counts."""
    columns = _telling(table)
    counts = [np.bincount(table.codes[c], minlength=table.domains[c].size)[table.codes[c]] for c in columns]
    order = table.in_order()
    return order[np.argsort(np.sum(np.log(counts), axis=0)[order], kind="stable")]


def published(release: Release) -> Published:
    """The blocks of a release."""
    return [{c: Cells(release.labels[c].texts, block.cell(c)) for c in block.columns} for block in release.blocks]


def published_text(columns: Mapping[str, Sequence[str]]) -> Published:
    """A release of one block as text."""
    numbered = {name: number_texts(texts) for name, texts in columns.items()}
    return [{name: Cells(distinct, codes) for name, (codes, distinct, _) in numbered.items()}]


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What is noted of releases: for which canaries, in which columns."""

    canaries: tuple[Row, ...]
    columns: tuple[str, ...]
    spans: Mapping[str, float]
    """By numeric column, how far numbers may be apart to be near."""

    @classmethod
    def of(cls, schema: Schema, table: Table, canaries: Sequence[Row]) -> Watch:
        """What is noted of releases of a table."""
        columns = [c for c in _telling(table) if schema.columns[c].role in (Role.QUASI, Role.SENSITIVE, Role.NEUTRAL)]
        spans = {}
        for column in columns[:_MOST_COLUMNS]:
            numbers = table.domains[column].numbers
            if schema.columns[column].type is Type.NUMERIC and numbers is not None and len(numbers):
                spans[column] = _NEAR * float(np.ptp(numbers))
        return cls(tuple(canaries), tuple(columns[:_MOST_COLUMNS]), spans)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of columns."""
        return list(combinations(range(len(self.columns)), 2))

    @property
    def names(self) -> list[str]:
        """What each figure is, in words."""
        singles = [f"rows with its {c}" for c in self.columns]
        near = [f"rows near its {c}" for c in self.spans]
        pairs = [f"rows with its {self.columns[a]} and {self.columns[b]}" for a, b in self.pairs]
        return [*singles, *near, *pairs, "rows with all its values", "values of the closest row"]

    def figures(self, release: Published) -> Floats:
        """What a release shows of each canary (canaries × figures)."""
        return np.array([self._of(release, one) for one in self.canaries])

    def _of(self, release: Published, canary: Row) -> list[float]:
        """The figures of one canary. Where columns are in different blocks, no row has both."""
        singles, near = dict.fromkeys(self.columns, 0.0), dict.fromkeys(self.spans, 0.0)
        pairs = dict.fromkeys(self.pairs, 0.0)
        every, closest = 0.0, 0.0
        for block in release:
            there = [c for c in self.columns if c in block]
            if not there:
                continue
            fits = [self._fits(block[c], c, canary[c]) for c in there]
            same = np.column_stack([fit[block[c].codes] for fit, c in zip(fits, there, strict=True)]).astype(np.float64)
            together = same.T @ same
            for place, column in enumerate(there):
                singles[column] = float(together[place, place])
                if column in self.spans:
                    near[column] = float(
                        self._fits(block[column], column, canary[column], True)[block[column].codes].sum()
                    )
            for a, b in combinations(range(len(there)), 2):
                pairs[self.columns.index(there[a]), self.columns.index(there[b])] = float(together[a, b])
            matched = same.sum(axis=1)
            every += float(np.count_nonzero(matched == len(self.columns)))
            closest = max(closest, float(matched.max(initial=0.0)))
        return [*singles.values(), *near.values(), *pairs.values(), every, closest]

    def _fits(self, cells: Cells, column: str, value: str, near: bool = False) -> Bools:
        """Which texts of a column are a value or, where that is asked, near it: 30 and 30.0 are the same number."""
        number = parse_number(value) if column in self.spans else None
        if number is None:
            return np.array([text == value and not near for text in cells.texts], dtype=np.bool_)
        numbers = np.array([np.nan if (one := parse_number(text)) is None else one for text in cells.texts])
        return np.asarray(np.abs(numbers - number) <= (self.spans[column] if near else 0.0))


def rows_in(release: Published) -> int:
    """The rows of a release."""
    return max((len(next(iter(block.values())).codes) for block in release), default=0)


def shortened(release: Published, rows: int, rng: np.random.Generator) -> Published:
    """A release whose blocks have at most so many rows; which of them is drawn, from the rows in the order of their texts,
    whatever their order in the release."""
    made = []
    for block in release:
        ranks = [np.unique(list(block[c].texts), return_inverse=True)[1][block[c].codes] for c in sorted(block)]
        order = np.lexsort(ranks)
        kept = order[rng.choice(len(order), min(rows, len(order)), replace=False)]
        made.append({name: Cells(cells.texts, cells.codes[kept]) for name, cells in block.items()})
    return made


def surprise(figures: Floats, expected: Floats, scale: float) -> Floats:
    """How far counts are above what is expected, in people, `scale` rows of the release being one; those that drawing rows
    spreads more count for less."""
    return np.asarray((figures / scale - expected) / np.sqrt(expected / scale + 1))
