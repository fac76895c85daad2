"""The notations of published labels, read into codes of a column's domain.

They are tried in this order:

- exact values, so that a value such as `<=50K` is itself;
- the marks for suppressed values, which denote everything, as `**` does, and also say that the value is not published;
- taxonomy groups;
- intervals and bounds (`[20, 40[`, `20-39`, `<20`: see `interval_texts.py`);
- periods of dates (`2020-01` where values are dates);
- masks (`1300*`, `U****`, `13*05`: see `masks.py`);
- stars alone: everything, the missing value included;
- sets (`{a, b}`, `a|b`, and `a,b` of known values; a member that holds a comma may be quoted, as in CSV).

A column of the schema may name the notations that its labels are written in (`notation_kinds.py`). Then only those are read.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from auditor.model.arrays import Codes
from auditor.model.domain import Domain
from auditor.model.labels import interval_texts
from auditor.model.labels.masks import Masks, is_mask
from auditor.model.notation_kinds import ASKABLE, Notation
from auditor.model.schema import Type

_NOTATION = frozenset("[](){}<>≤≥|*")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)
_PERIOD = re.compile(r"\d{4}(-\d\d)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ].*)?)?", re.ASCII)

_MOST_JOINED = 64
"""A member of a set that holds the separator more often must be quoted: looking for it would take too long."""

EVERYTHING = "**"
"""The label that generalises to everything. It is no mark for suppressed values: rows that have it are published, and
count."""


class Found(NamedTuple):
    """What a label denotes: codes from `lo` to `hi`, or just `codes` of them; its numeric bounds; how it is written."""

    lo: int
    hi: int
    low: float = np.nan
    high: float = np.nan
    codes: Codes | None = None
    kind: Notation = Notation.VALUE


class Reader:
    """Reads label texts of one column, in the notations that are asked for (by default all)."""

    def __init__(self, domain: Domain, asked: Sequence[Notation] = ()) -> None:
        self.domain = domain
        self._is_numeric = domain.numbers is not None
        self._order = _order(asked)
        self._members = tuple(kind for kind in _order(()) if kind is not Notation.SET)
        self._how: dict[Notation, Callable[[str], Found | None]] = {
            Notation.VALUE: self._value,
            Notation.SUPPRESSED: self._suppressed,
            Notation.GROUP: self._group,
            Notation.CENTROID: self._centroid,
            Notation.INTERVAL: self._interval,
            Notation.BOUND: self._bound,
            Notation.PERIOD: self._period,
            Notation.MASK: self._mask,
            Notation.EVERYTHING: self._stars,
            Notation.SET: self._set,
        }

    def read(self, text: str) -> Found | None:
        """What a label denotes, or None."""
        return self._first(text.strip(), self._order)

    def readings(self, text: str) -> Iterator[Found]:
        """What a label denotes in each notation that fits it; the first is how it is read."""
        text = text.strip()
        if text in self.domain.format.missing:
            found = self._missing()
            if found is not None:
                yield found
            return
        for kind in self._order:
            found = self._how[kind](text)
            if found is not None:
                yield found._replace(kind=kind)

    def unknown_part(self, text: str) -> str | None:
        """The member of a set or the end of an interval because of which a label denotes nothing, or None."""
        text = text.strip()
        if text.startswith("{") and text.endswith("}"):
            parts = _quoted(text[1:-1]) or _parts(text[1:-1], ",", self.domain)
        elif "|" in text:
            parts = text.split("|")
        elif interval_texts.in_brackets(text) and self.domain.column.type is not Type.NOMINAL:
            numeric = self.domain.numbers is not None
            place = self.domain.number if numeric else self.domain.code
            pairs = interval_texts.number_halves(text) if numeric else interval_texts.halves(text)
            known = ((left, right) for left, right in pairs if (place(left) is None) != (place(right) is None))
            parts = [part for pair in known for part in pair if place(part) is None][:1]
            return parts[0].strip() or None if parts else None
        else:
            return None
        return next((part.strip() for part in parts if part.strip() and self._one(part.strip()) is None), None)

    # ----- the notations ---------------------------------------------------------------------------------------------

    def _first(self, text: str, order: Sequence[Notation]) -> Found | None:
        if text in self.domain.format.missing:
            return self._missing()
        for kind in order:
            found = self._how[kind](text)
            if found is not None:
                return found._replace(kind=kind)
        return None

    def _one(self, text: str) -> Found | None:
        """What a member of a set denotes."""
        return self._first(text, self._members)

    def _missing(self) -> Found | None:
        code = self.domain.missing
        return None if code is None else self._span(code, code)._replace(kind=Notation.MISSING)

    def _value(self, text: str) -> Found | None:
        code = None if text in self.domain.stand_ins else self.domain.code(text)
        return None if code is None else self._span(code, code)

    def _suppressed(self, text: str) -> Found | None:
        return self._everything() if text in self.domain.format.suppressed else None

    def _group(self, text: str) -> Found | None:
        taxonomy = self.domain.taxonomy
        node = None if taxonomy is None else taxonomy.node(text)
        if taxonomy is None or node is None:
            return None
        if node == 0 and taxonomy.height:
            return self._everything()  # the root covers the missing value as well
        return self._span(int(taxonomy.lo[node]), int(taxonomy.hi[node]))

    def _centroid(self, text: str) -> Found | None:
        number = None if self.domain.numbers is None else self.domain.number(text)
        return None if number is None else Found(0, -1, number, number)

    def _interval(self, text: str) -> Found | None:
        if self.domain.numbers is not None:
            found = interval_texts.numeric_ends(text, self.domain.format.decimal)
            return None if found is None else self._within(*found, *interval_texts.open_ends(text))
        if self.domain.column.type is Type.ORDINAL:
            code, last = self.domain.code, self.domain.known - 1
            for left, right in interval_texts.halves(text):
                low, high = code(left), code(right)
                if low is not None and high is not None and low <= high <= last:
                    open_low, open_high = interval_texts.open_ends(text)
                    return self._span(low + open_low, high - open_high)
        return None

    def _bound(self, text: str) -> Found | None:
        if self.domain.column.type is Type.NOMINAL:
            return None
        sign, rest = interval_texts.bound(text)
        if not sign:
            return None
        below, left_out = sign.startswith("<"), len(sign) == 1
        if self.domain.numbers is not None:
            number = self.domain.number(rest)
            if number is None:
                return None
            if below:
                return self._within(-np.inf, number, open_high=left_out)
            return self._within(number, np.inf, open_low=left_out)
        end, last = self.domain.code(rest), self.domain.known - 1
        if end is None or end > last:
            return None
        return self._span(0, end - left_out) if below else self._span(end + left_out, last)

    def _period(self, text: str) -> Found | None:
        if not is_period(text) or not self._dated:
            return None
        codes = self._masks.beginning(f"{text}-")
        own = self.domain.codes.get(text) if text in self.domain.stand_ins else None
        return self._codes({*codes, own} if own is not None else set(codes)) if codes or own is not None else None

    def _mask(self, text: str) -> Found | None:
        codes = self._masks.matching(text) if is_mask(text) else []
        return self._codes(set(codes)) if codes else None

    def _stars(self, text: str) -> Found | None:
        return self._everything() if text and not text.strip("*") else None

    def _set(self, text: str) -> Found | None:
        """A set. Without braces its members must be values or groups, since a comma is common in other texts."""
        plain = False
        if text.startswith("{") and text.endswith("}"):
            inner, sign = text[1:-1], ","
            members = _quoted(inner)
        elif "|" in text:
            inner, sign, members = text, "|", None
        elif (
            "," in text
            and not interval_texts.in_brackets(text)
            and not (self._is_numeric and _THOUSANDS.fullmatch(text))
        ):
            inner, sign, members, plain = text, ",", None, True
        else:
            return None
        found = [self._one(member) for member in members] if members else []
        if not found or None in found:
            found = self._joined(_parts(inner, sign, self.domain), sign)
        codes: set[int] = set()
        for part in found:
            if part is None or (plain and (len(found) < 2 or part.kind not in (Notation.VALUE, Notation.GROUP))):
                return None
            codes.update(range(part.lo, part.hi + 1) if part.codes is None else part.codes.tolist())
        return self._codes(codes) if codes else None

    def _joined(self, parts: list[str], sign: str) -> list[Found | None]:
        """The members of a set from its parts. A value may itself hold the separator: parts are joined until they make a
        known value, at most as many as any known value has."""
        most = min(max(self._most_signs[sign], 1), _MOST_JOINED)
        found: list[Found | None] = []
        pending: list[str] = []
        for part in parts:
            pending.append(part)
            text = sign.join(pending).strip()
            member = self._one(text) if text else None
            if member is not None:
                found.append(member)
                pending = []
            elif len(pending) > most:
                return [None]
        return [None] if pending else found

    # ----- codes -----------------------------------------------------------------------------------------------------

    @cached_property
    def _most_signs(self) -> dict[str, int]:
        """How often, at most, a separator of sets occurs in one value or group."""
        known = (*self.domain.texts, *(self.domain.taxonomy.labels if self.domain.taxonomy else ()))
        return {sign: max((text.count(sign) for text in known), default=0) for sign in ",|"}

    @cached_property
    def _masks(self) -> Masks:
        return Masks(self.domain.texts[: self.domain.known], self.domain.numbers is not None)

    @cached_property
    def _dated(self) -> bool:
        """Whether the values are dates, so that a year or month names some of them."""
        if self.domain.numbers is not None:
            return False
        values = [text for text in self.domain.texts[: self.domain.known] if text not in self.domain.stand_ins]
        return bool(values) and all(is_date(text) for text in values)

    def _everything(self) -> Found:
        low, high = self.domain.span if self.domain.span and self.domain.known else (np.nan, np.nan)
        return Found(0, self.domain.size - 1, low, high)

    def _span(self, lo: int, hi: int) -> Found:
        numbers = self.domain.numbers
        if numbers is None or lo >= len(numbers) or hi < lo:
            return Found(lo, hi)
        return Found(lo, hi, float(numbers[lo]), float(numbers[min(hi, len(numbers) - 1)]))

    def _within(self, low: float, high: float, open_low: bool = False, open_high: bool = False) -> Found | None:
        """The numbers between two ends. An infinite end is the end of the column's range. Among whole numbers the ends are
        whole and included: `[35, 40[` is [35, 39]."""
        numbers, span = self.domain.numbers, self.domain.span
        assert numbers is not None
        if span is None:
            return None
        if low == -np.inf:
            low, open_low = min(span[0], high), False
        if high == np.inf:
            high, open_high = max(span[1], low), False
        lo = int(numbers.searchsorted(low, side="right" if open_low else "left"))
        hi = int(numbers.searchsorted(high, side="left" if open_high else "right")) - 1
        if self._is_whole:
            first, last = (
                np.floor(low) + 1 if open_low else np.ceil(low),
                np.ceil(high) - 1 if open_high else np.floor(high),
            )
            low, high = (float(first), float(last)) if first <= last else (low, high)
        return Found(lo, hi, low, high)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the column's numbers are whole."""
        known = (*(self.domain.numbers if self.domain.numbers is not None else ()), *(self.domain.span or ()))
        return bool((np.round(known) == known).all()) if known else False

    def _codes(self, codes: set[int]) -> Found:
        ordered = np.array(sorted(codes), dtype=np.int32)
        span = self._span(int(ordered[0]), int(ordered[-1]))
        return span if len(ordered) == span.hi - span.lo + 1 else span._replace(codes=ordered)


def _order(asked: Sequence[Notation]) -> tuple[Notation, ...]:
    """The kinds in the order in which they are tried. Only values come before the marks for suppressed ones."""
    kinds = list(asked or ASKABLE)
    kinds.insert(1 if kinds[0] is Notation.VALUE else 0, Notation.SUPPRESSED)
    kinds.insert(kinds.index(Notation.SET) if Notation.SET in kinds else len(kinds), Notation.EVERYTHING)
    return tuple(kinds)


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


def is_period(text: str) -> bool:
    """Whether a text is a year or a month of one: 2020, 2020-01."""
    return bool(_PERIOD.fullmatch(text))


def is_date(text: str) -> bool:
    """Whether a text is a day (with or without the time) or a month, year first: 2020-01-31, 2020-01."""
    return bool(_DATE.fullmatch(text))


def is_plain(text: str) -> bool:
    """Whether a text holds no sign of a notation, so that it can only be meant as a value or a group."""
    return not _NOTATION & set(text)


def is_reversed(domain: Domain, text: str) -> bool:
    """Whether a text is an interval with its lower end above its upper one."""
    numeric = domain.numbers is not None
    if not numeric and domain.column.type is not Type.ORDINAL:
        return False
    place = domain.number if numeric else domain.code
    for left, right in interval_texts.number_halves(text) if numeric else interval_texts.halves(text):
        low, high = place(left), place(right)
        if low is not None and high is not None and low > high:
            return True
    return False


def _quoted(inner: str) -> list[str] | None:
    """The members of a set in which some are quoted, or None."""
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


def braced(text: str) -> list[str]:
    """The members of a set in braces, as well as they can be told apart without knowing the values."""
    return _quoted(text[1:-1]) or [part.strip() for part in text[1:-1].split(",")]


def quoted(value: str) -> str:
    """A value as a member of a written set: in quotes where it holds a comma, quotes or a line break."""
    return '"' + value.replace('"', '""') + '"' if set(value) & set(',"\r\n') else value
