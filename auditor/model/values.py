"""Single values as text: numbers in, numbers out. The one place that says what a number looks like."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)

EXACT_INTEGERS = 2**53  # from here on, neighbouring whole numbers cannot be told apart as floating-point numbers
LEAST, MOST = 1e-100, 1e100  # below and above these, squares and products of numbers are 0 or infinite


def is_number(text: str) -> bool:
    """Whether a text, with a point as decimal mark and no space around it, looks like a number."""
    return _NUMBER.fullmatch(text) is not None


def parse_number(text: str, decimal: str = ".") -> float | None:
    """The number that a text denotes, or None. `nan`, `inf` and `1_000` are not numbers here; nor is `1.500` where the
    decimal mark is the comma, since it may mean fifteen hundred."""
    text = text.strip()
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if abs(number) != float("inf") else None


def can_be_counted_with(number: float) -> bool:
    """Whether a number of the data is 0, or neither too small nor too large for figures that square and divide."""
    return number == 0 or LEAST <= abs(number) <= MOST


def format_number(number: float, decimal: str = ".") -> str:
    """A number as text that reads back to the same number: whole numbers without a point."""
    if number == int(number) and abs(number) <= EXACT_INTEGERS:
        return str(int(number))
    return repr(float(number)).replace(".", decimal)
