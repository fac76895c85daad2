"""Cells that are numbers, dates or truth values, as the text that a CSV file would have for them.

Frames, Parquet, Arrow and Excel files hold typed values; all other modules read text. One rule serves all of them, so that a
table reads the same from any format:

- whole numbers have no point; other numbers are the shortest text that reads back to the same number (in the width they were
  stored in: a 32-bit 0.1 is `0.1`), with the schema's decimal mark;
- dates and times are ISO 8601, and a column of times that are all midnight is one of dates; durations are seconds;
- truth values are `True` and `False`;
- a missing value is the first text that the schema lists under `missing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite

import numpy as np

from auditor.model.schema import TableFormat
from auditor.model.values import format_number


def missing_text(form: TableFormat) -> str:
    """The text of a cell without a value."""
    return form.missing[0] if form.missing else ""


def cell_texts(values: Sequence[object], form: TableFormat) -> list[str]:
    """The values of one column as text, in their order. None and not-a-number are missing values."""
    days = _all_midnight(values)
    return [_text(value, form, days) for value in values]


def _all_midnight(values: Iterable[object]) -> bool:
    """Whether every time in a column is midnight without a time zone, so that the dates say everything."""
    moments = (value for value in values if isinstance(value, datetime) and not _is_nothing(value))
    return all(moment.tzinfo is None and moment.isoformat().endswith("T00:00:00") for moment in moments)


def _is_nothing(value: object) -> bool:
    """Whether a value is missing: None, pandas' NA and NaT, or NaN of any type."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # without importing pandas for it
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _text(value: object, form: TableFormat, days: bool) -> str:
    if isinstance(value, str):
        return value.strip()
    if type(value) is int:
        return str(value)
    if type(value) is float and isfinite(value):
        return format_number(value, form.decimal)
    if _is_nothing(value):
        return missing_text(form)
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            return str(float(value))
        # A number of fewer than 64 bits is written in its own digits, without those that widening would add.
        return format_number(float(value) if isinstance(value, float) else float(str(value)), form.decimal)
    if isinstance(value, Decimal):
        return _decimal_text(value, form.decimal)
    if isinstance(value, datetime):
        return value.date().isoformat() if days else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return format_number(value.total_seconds(), form.decimal)
    return str(value).strip()


def _decimal_text(value: Decimal, mark: str) -> str:
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace(".", mark)
