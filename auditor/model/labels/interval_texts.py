"""Intervals and bounds as text: where their ends are, and which are excluded.

Two ends in brackets (`[20, 40[`, `(20,40]`, `[20-40)`, `[-Inf, 20)`, `[20,)`) or without (`20-39`, `20–39`, `20 to 39`,
`20..39`); one end with a sign or in words (`<20`, `≥80`, `20+`, `80 and over`, `under 20`). A bracket that opens away from
its end, or is round, excludes the end, as R's `cut`, pandas, ARX and PostgreSQL write it. Words that do not say whether the
end is included (`over 80`, `up to 20`) are not read.

Where the decimal mark is a comma, numbers are separated by `;`, or by a comma with a space after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from auditor.model.values import MOST, can_be_counted_with, parse_number

_NUMBER = r"([+-]?[\d.,]+(?:[eE][+-]?\d+)?)"
_RANGE = r"[-–—−…]|\.\.\.?|\sto\s"
_DASHED = re.compile(rf"{_NUMBER}\s*(?:{_RANGE})\s*{_NUMBER}", re.ASCII | re.IGNORECASE)
_COMMAS = (";", r",(?=\s)", r",(?!\s)")
_LONGEST = 200  # no number, and no words about one, are longer; matching longer texts would take too long
_MOST_HALVES = 64
_SIGNS = ("<=", ">=", "<", ">", "≤", "≥")
_PLAIN_SIGN = {"≤": "<=", "≥": ">="}
_WORDS = (
    (re.compile(r"(?:under|below|less than|fewer than|younger than)\s+(.+)", re.IGNORECASE), "<"),
    (re.compile(r"(?:above|more than|greater than|older than)\s+(.+)", re.IGNORECASE), ">"),
    (re.compile(r"at least\s+(.+)", re.IGNORECASE), ">="),
    (re.compile(r"at most\s+(.+)", re.IGNORECASE), "<="),
    (re.compile(r"(.+?)\s+(?:and|or) (?:over|above|more|older|greater|higher)", re.IGNORECASE), ">="),
    (re.compile(r"(.+?)\s+(?:and|or) (?:under|below|less|younger|fewer|lower)", re.IGNORECASE), "<="),
    (re.compile(r"(.*[^\s+])\s*\+"), ">="),
)
_INFINITE = frozenset({"inf", "infinity", "∞"})


def in_brackets(text: str) -> bool:
    """Whether a text is in the brackets of an interval."""
    return len(text) > 2 and text[0] in "[](" and text[-1] in "[])"


def open_ends(text: str) -> tuple[bool, bool]:
    """Whether the lower and the upper end of an interval are excluded."""
    return text[0] in "](", text[-1] in "[)"


def halves(text: str) -> Iterator[tuple[str, str]]:
    """The two ends of an interval, at each place where it may be split: in brackets at `;`, then at a comma before a space,
    then at another comma; then, and without brackets, at a dash, dots or `to`."""
    if in_brackets(text):
        yield from _parted(text[1:-1], _COMMAS)
        text = text[1:-1]
    yield from _parted(text, (_RANGE,))


def number_halves(text: str) -> Iterator[tuple[str, str]]:
    """The two ends of an interval of numbers, at each place where it may be split. A dash may also be a minus sign."""
    inner = text
    if in_brackets(text):
        inner = text[1:-1].strip()
        yield from _parted(inner, _COMMAS)
    dashed = _DASHED.fullmatch(inner) if len(inner) <= _LONGEST else None
    if dashed:
        yield dashed.group(1), dashed.group(2)


def _parted(text: str, signs: Sequence[str]) -> Iterator[tuple[str, str]]:
    places = (match.span() for sign in signs for match in re.finditer(sign, text, re.IGNORECASE))
    for start, stop in islice(places, _MOST_HALVES):
        yield text[:start], text[stop:]


def numeric_ends(text: str, decimal: str) -> tuple[float, float] | None:
    """The ends of a numeric interval, or None. In brackets an end may be infinite: `Inf`, or nothing at all."""
    for left, right in number_halves(text):
        if not (left.strip() or right.strip()):
            continue
        low, high = _end(left, decimal, -1), _end(right, decimal, 1)
        if low is not None and high is not None and low <= high:
            return low, high
    return None


def _end(text: str, decimal: str, side: int) -> float | None:
    """One end: a number, or infinite on its own side, as one is that is far beyond all numbers of data."""
    number = parse_number(text, decimal)
    if number is not None:
        far = abs(number) > MOST
        if far and number * side < 0:
            return None
        return side * float("inf") if far else number if can_be_counted_with(number) else 0.0
    text = text.strip().lower().replace("−", "-")
    sign = "-" if side < 0 else "+"
    infinite = text.removeprefix(sign) in _INFINITE and (side > 0 or text.startswith(sign))
    return side * float("inf") if infinite or not text else None


def bound(text: str) -> tuple[str, str]:
    """The sign (`<`, `<=`, `>`, `>=`) and the end of a one-sided interval; two empty texts where it is none."""
    sign = next((sign for sign in _SIGNS if text.startswith(sign)), "")
    if sign:
        return _PLAIN_SIGN.get(sign, sign), text[len(sign) :].strip()
    if len(text) <= _LONGEST and (text.endswith("+") or " " in text):
        for words, sign in _WORDS:
            match = words.fullmatch(text)
            if match:
                return sign, match.group(1).strip()
    return "", ""


def is_range(text: str, decimal: str) -> bool:
    """Whether a text is an interval or a bound of numbers."""
    sign, rest = bound(text)
    bounded = bool(sign) and parse_number(rest, decimal) is not None
    return bounded or numeric_ends(text, decimal) is not None
