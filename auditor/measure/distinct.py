"""Columns that tell nearly all rows apart: an identifier in disguise.

A column in which nearly every row has a value of its own names people as well as a number on an identity card does, whatever
its role in the schema: whoever knows somebody's value finds the row. So such columns are named beside every verdict. Where
the values are names, codes or whole numbers, and the column is not a quasi-identifier (which the classes account for), a
policy does not pass unless it allows it. Numbers with fractions, such as incomes, are named only. That holds for columns
that are ignored, too: no figure reads them, but whoever has the release does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from auditor.model.arrays import Bools
from auditor.model.labels.labels import Labels
from auditor.model.record.release_facts import DistinctColumn
from auditor.model.release import Release
from auditor.model.schema import Column, Role, TableFormat, Type
from auditor.model.values import parse_number

NEARLY_ALL = 0.95
"""A column is named if at least this share of its cells that hold something are different values."""
LEAST_CELLS = 20
"""In fewer cells that says nothing."""


def distinct_columns(release: Release) -> tuple[DistinctColumn, ...]:
    """The published columns whose values tell nearly all rows apart."""
    found = []
    for column in release.columns:
        labels = release.labels[column]
        times = np.where(said_labels(labels), release.label_counts(column), 0)
        used, about = times > 0, release.schema.columns[column]
        one = distinct_column(about, int(used.sum()), int(times.sum()), whole_numbers(labels, used))
        if one is not None:
            found.append(one)
    return tuple(found)


def distinct_cells(column: Column, cells: Iterable[str], form: TableFormat) -> DistinctColumn | None:
    """What is said of a column that no figure reads, from its cells."""
    said = [cell for cell in map(str.strip, cells) if cell not in form.missing and cell not in form.suppressed]
    values = set(said)
    if not is_distinct(len(values), len(said)):
        return None
    numbers = [parse_number(value, form.decimal) for value in values]
    whole = all(number is None or number.is_integer() for number in numbers)
    kind = Type.NOMINAL if None in numbers else Type.NUMERIC
    return distinct_column(replace(column, type=kind), len(values), len(said), whole)


def said_labels(labels: Labels) -> Bools:
    """Which labels hold something: those that are neither suppressed nor the missing value."""
    missing = labels.domain.missing
    alone = np.zeros(len(labels.texts), dtype=np.bool_) if missing is None else labels.lo == missing
    return ~(labels.suppressed | alone)


def whole_numbers(labels: Labels, used: Bools) -> bool:
    """Whether the numbers in the labels that are used are all whole."""
    ends = np.concatenate([labels.low[used], labels.high[used]])
    return bool((ends == np.round(ends)).all())


def is_distinct(values: int, cells: int) -> bool:
    """Whether so many different values in so many cells tell nearly all rows apart."""
    return cells >= LEAST_CELLS and values >= NEARLY_ALL * cells


def distinct_column(column: Column, values: int, cells: int, whole: bool) -> DistinctColumn | None:
    """What is said of a column with so many different values in so many cells, its numbers (if it is numeric) being `whole`
    or not; None where it tells fewer rows apart."""
    if not is_distinct(values, cells):
        return None
    identifying = column.role is not Role.QUASI and (whole or column.type is not Type.NUMERIC)
    return DistinctColumn(column.name, str(column.role), values / cells, identifying)
