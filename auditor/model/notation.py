"""The notations of published labels, read into codes of a column's domain.

Exact values come first, so that a value such as `<=50K` is itself; then taxonomy groups, the marks for withheld values,
intervals (`[20, 40[`, `(20, 40]`, `20-39`, `<20`, `>=80`), sets (`{a, b}`, `a|b`; a member that holds a comma may stand
in quotes, as in CSV), prefix masks (`1300*`, `U****`) and nothing but stars: everything, the missing value as well. A text
that `[table] suppressed` lists says the same, and that the value was withheld; generalising to everything is written `**`.

Where the decimal mark is the comma, `;` or a comma with a space after it parts numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.model.domain import Domain
from auditor.model.schema import Column, TableFormat, Type
from auditor.model.values import EXACT_INTEGERS, format_number, parse_number

_DASHED = re.compile(r"([+-]?[\d.,]+(?:[eE][+-]?\d+)?)\s*[-–—]\s*([+-]?[\d.,]+(?:[eE][+-]?\d+)?)", re.ASCII)
_BOUNDS = ("<=", ">=", "<", ">", "≤", "≥")
_MOST_HALVES = 64
_NOTATION = frozenset("[](){}<>≤≥|*")

EVERYTHING = "**"
"""The label that generalises to everything. It is no mark for withheld values: rows that bear it are published, and
count."""


class Found(NamedTuple):
    """What a label denotes: codes from `lo` to `hi`, or just `codes` of them; and its numeric bounds."""

    lo: int
    hi: int
    low: float = np.nan
    high: float = np.nan
    codes: NDArray[np.int32] | None = None


class Reader:
    """Reads label texts of one column."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        known = (*domain.texts, *(domain.taxonomy.labels if domain.taxonomy else ()))
        self.most_signs = {sign: max((text.count(sign) for text in known), default=0) for sign in ",|"}

    def read(self, text: str) -> Found | None:
        """What a label denotes, or None."""
        text = text.strip()
        return self._one(text) or self._set(text)

    def _one(self, text: str) -> Found | None:
        """What a label that is no set denotes."""
        domain = self.domain
        if text in domain.format.missing:
            return None if domain.missing is None else self._span(domain.missing, domain.missing)
        code = domain.code(text)
        if code is not None:
            return self._span(code, code)
        if domain.taxonomy is not None:
            node = domain.taxonomy.node(text)
            if node == 0:
                return self._everything()  # the root covers the missing value as well
            if node is not None:
                return self._span(int(domain.taxonomy.lo[node]), int(domain.taxonomy.hi[node]))
        if text in domain.format.suppressed:
            return self._everything()
        found = None
        if domain.numbers is not None:
            found = self._numeric(text)
        elif domain.column.type is Type.ORDINAL:
            found = self._ordinal(text)
        return found or self._mask(text)

    def _everything(self) -> Found:
        low, high = self.domain.span if self.domain.span and self.domain.known else (np.nan, np.nan)
        return Found(0, self.domain.size - 1, low, high)

    def _span(self, lo: int, hi: int) -> Found:
        numbers = self.domain.numbers
        if numbers is None or lo >= len(numbers) or hi < lo:
            return Found(lo, hi)
        return Found(lo, hi, float(numbers[lo]), float(numbers[min(hi, len(numbers) - 1)]))

    def _within(self, low: float, high: float, open_low: bool = False, open_high: bool = False) -> Found:
        numbers = self.domain.numbers
        assert numbers is not None
        lo = int(np.searchsorted(numbers, low, side="right" if open_low else "left"))
        hi = int(np.searchsorted(numbers, high, side="left" if open_high else "right")) - 1
        return Found(lo, hi, low, high)

    def _numeric(self, text: str) -> Found | None:
        domain = self.domain
        number = domain.number(text)
        if number is not None:  # a number that is no value of the domain: a centroid
            return Found(0, -1, number, number)
        ends = numeric_ends(text, domain.format)
        if ends is not None:
            return self._within(*ends, *_open(text))
        sign, rest = _bound(text)
        number = domain.number(rest) if sign else None
        if number is None or domain.span is None:
            return None
        if sign in ("<", "<=", "≤"):
            return self._within(min(domain.span[0], number), number, open_high=sign == "<")
        return self._within(number, max(domain.span[1], number), open_low=sign == ">")

    def _ordinal(self, text: str) -> Found | None:
        code, last = self.domain.code, self.domain.known - 1
        for left, right in _halves(text):
            low, high = code(left), code(right)
            if low is not None and high is not None and low <= high <= last:
                open_low, open_high = _open(text)
                return self._span(low + open_low, high - open_high)
        sign, rest = _bound(text)
        end = code(rest) if sign else None
        if end is None or end > last:
            return None
        if sign in ("<", "<=", "≤"):
            return self._span(0, end - (sign == "<"))
        return self._span(end + (sign == ">"), last)

    def _set(self, text: str) -> Found | None:
        if text.startswith("{") and text.endswith("}"):
            inner, sign = text[1:-1], ","
            members = _quoted(inner)
        elif "|" in text:
            inner, sign = text, "|"
            members = None
        else:
            return None
        found = [self._one(member) for member in members] if members else []
        if not found or None in found:
            found = self._joined(_parts(inner, sign, self.domain), sign)
        codes: set[int] = set()
        for part in found:
            if part is None:
                return None
            codes.update(range(part.lo, part.hi + 1) if part.codes is None else part.codes.tolist())
        return self._codes(codes) if codes else None

    def _joined(self, parts: list[str], sign: str) -> list[Found | None]:
        """The members of a set from its parts. A value may itself hold the separator: parts are joined until they are
        known, at most as many as any known value has."""
        found: list[Found | None] = []
        pending: list[str] = []
        for part in parts:
            pending.append(part)
            text = sign.join(pending).strip()
            member = self._one(text) if text else None
            if member is not None:
                found.append(member)
                pending = []
            elif len(pending) > max(self.most_signs[sign], 1):
                return [None]
        return [None] if pending else found

    def _mask(self, text: str) -> Found | None:
        if not text.endswith("*"):
            return None
        prefix = text.rstrip("*")
        if not prefix:
            return self._everything()
        same_length = self.domain.numbers is not None
        codes = {
            code
            for code, value in enumerate(self.domain.texts[: self.domain.known])
            if value.startswith(prefix) and (not same_length or len(value) == len(text))
        }
        return self._codes(codes) if codes else None

    def _codes(self, codes: set[int]) -> Found:
        ordered = np.array(sorted(codes), dtype=np.int32)
        span = self._span(int(ordered[0]), int(ordered[-1]))
        return span if len(ordered) == span.hi - span.lo + 1 else span._replace(codes=ordered)


def is_everything(domain: Domain, text: str) -> bool:
    """Whether a text says "everything" by stars alone, and is neither a value nor a group nor the mark for missing."""
    node = domain.taxonomy.node(text) if domain.taxonomy else None
    return set(text) == {"*"} and text not in domain.format.missing and domain.code(text) is None and not node


def everything(domain: Domain) -> str:
    """The label for everything by generalisation: `**`, with more stars where that means something else in the column."""
    text = EVERYTHING
    while text in domain.format.suppressed or not is_everything(domain, text):
        text += "*"
    return text


def is_plain(text: str) -> bool:
    """Whether a text holds no sign of a notation, so that it can only be meant as a value or a group."""
    return not _NOTATION & set(text)


def is_reversed(domain: Domain, text: str) -> bool:
    """Whether a text is an interval with its lower end above its upper one."""
    dashed = _DASHED.fullmatch(text) if domain.numbers is not None else None
    place = domain.number if domain.numbers is not None else domain.code
    for left, right in [dashed.groups()] if dashed else _halves(text):
        low, high = place(left), place(right)
        if low is not None and high is not None and low > high:
            return domain.numbers is not None or domain.column.type is Type.ORDINAL
    return False


def numeric_ends(text: str, form: TableFormat) -> tuple[float, float] | None:
    """The ends of a numeric interval in brackets or with a dash, or None."""
    dashed = _DASHED.fullmatch(text)
    for left, right in [dashed.groups()] if dashed else _halves(text):
        low, high = parse_number(left, form.decimal), parse_number(right, form.decimal)
        if low is not None and high is not None and low <= high:
            return low, high
    return None


def _open(text: str) -> tuple[bool, bool]:
    """Whether the ends of an interval are left out."""
    return text[0] in "](", text[-1] in "[)"


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """The two ends of an interval, at each place where it may part: at `;`, then at a comma before a space, then at
    another comma; ordinals without brackets at a dash."""
    if len(text) > 2 and text[0] in "[](" and text[-1] in "[])":
        text = text[1:-1]
        signs = [";", r",(?=\s)", r",(?!\s)"]
    else:
        signs = ["[-–—]"]
    places = [match.start() for sign in signs for match in re.finditer(sign, text)]
    for place in places[:_MOST_HALVES]:
        yield text[:place], text[place + 1 :]


def _bound(text: str) -> tuple[str, str]:
    """The sign and the end of a one-sided interval; two empty texts where it is none."""
    sign = next((sign for sign in _BOUNDS if text.startswith(sign)), "")
    return (sign, text[len(sign) :].strip()) if sign else ("", "")


def _quoted(inner: str) -> list[str] | None:
    """The members of a set in which some stand in quotes, or None."""
    if '"' not in inner:
        return None
    try:
        return [part.strip() for part in next(csv.reader([inner], skipinitialspace=True, strict=True))]
    except (csv.Error, StopIteration):
        return None


def _parts(inner: str, sign: str, domain: Domain) -> list[str]:
    if sign == "," and domain.numbers is not None and domain.format.decimal == ",":
        return re.split(r";|,\s+", inner)
    return inner.split(sign)


def quoted(value: str) -> str:
    """A value as a member of a written set: in quotes where it holds a comma, quotes or a line break."""
    return '"' + value.replace('"', '""') + '"' if set(value) & set(',"\r\n') else value


def named_values(column: Column, form: TableFormat, texts: Sequence[str]) -> list[str]:
    """The values that label texts name, for a domain where only the release is there: exact values, members of sets, the
    ends of intervals. Other labels of a nominal column (a prefix mask, say) count as values of their own, but stars alone
    are everything; where the schema gives the values (a taxonomy, an order, a domain) the labels add none."""
    distinct = {text.strip() for text in texts}
    names = distinct & set(form.missing)
    if column.taxonomy is not None or column.values is not None:
        return sorted(names)
    for text in distinct - set(form.missing) - set(form.suppressed):
        if set(text) == {"*"}:
            continue
        if column.type is Type.NUMERIC:
            names.update(_named_numbers(text, column, form))
        elif text.startswith("{") and text.endswith("}"):
            names.update(_quoted(text[1:-1]) or (part.strip() for part in text[1:-1].split(",")))
        else:
            names.update(part.strip() for part in text.split("|"))
    return sorted(names - set(form.suppressed))


def _named_numbers(text: str, column: Column, form: TableFormat) -> list[str]:
    """The numbers that a label of a numeric column names, as far as they can be values of it."""
    number, ends = parse_number(text, form.decimal), numeric_ends(text, form)
    numbers: list[float | None]
    if number is not None:
        numbers = [number]
    elif ends is not None:
        numbers = list(ends)
    else:
        parts = re.split(r"[;|]|,\s+" if form.decimal == "," else r"[,;|]", text.strip("{}"))
        numbers = [parse_number(part, form.decimal) for part in [_bound(text)[1], *parts]]
    low, high = column.bounds or (-EXACT_INTEGERS + 1, EXACT_INTEGERS - 1)
    return [format_number(n, form.decimal) for n in numbers if n is not None and low <= n <= high]
