"""Labels: a published cell denotes a set of values.

An exact value, an interval (closed or half-open), a taxonomy node, an explicit set, a prefix mask, everything (`*`):
each is read into codes of the column's domain. Nearly all are intervals of codes (`lo` to `hi`, both inclusive);
explicit sets with gaps list their codes beside. A number that is no value of the domain (a centroid) denotes none: `lo > hi`.

Writing goes the other way: the narrowest label that covers some codes. A written label reads back to the same set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError
from auditor.model.schema import Column, TableFormat, Type
from auditor.model.values import parse_number

_INTERVAL = re.compile(r"\s*([\[\](])\s*(.+?)\s*([,;])\s*(.+?)\s*([\[\])])\s*")
_DASHED = re.compile(r"\s*([+-]?[\d.,]+)\s*[-–—]\s*([+-]?[\d.,]+)\s*")
_BOUND = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*(.+?)\s*")
_MASK = re.compile(r"(.*?[^*])\*+")

Span = tuple[int, int]
"""First and last code, both inclusive."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The distinct labels of one published column, numbered; cells hold these numbers.

    `gaps[i]` lists the codes of label i where they are not all of `lo[i]..hi[i]`. `low` and `high` are the published
    numeric bounds (not a number for other labels).
    """

    domain: Domain
    texts: tuple[str, ...]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    gaps: dict[int, NDArray[np.int32]]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    suppressed: NDArray[np.bool_]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many values of the domain each label covers."""
        counts: NDArray[np.int64] = np.maximum(self.hi.astype(np.int64) - self.lo + 1, 0)
        for label, codes in self.gaps.items():
            counts[label] = len(codes)
        return counts

    @property
    def losses(self) -> NDArray[np.float64]:
        """What each label hides, from 0 (exact) to 1 (everything): (values - 1)/(domain - 1), or width over range for
        numbers without a taxonomy."""
        domain = self.domain
        if domain.numbers is not None and domain.taxonomy is None:
            width = np.clip(np.nan_to_num(self.high - self.low), 0.0, None)
            share = width / domain.width if domain.width > 0 else (self.counts > 1).astype(np.float64)
            share = np.where(self.suppressed | ((self.counts > 1) & (self.counts == domain.size)), 1.0, share)
            return np.minimum(share, 1.0)
        size = domain.size - (domain.missing is not None)
        if size < 2:
            return self.suppressed.astype(np.float64)
        return np.clip((self.counts - 1) / (size - 1), 0.0, 1.0)

    def mass(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The total weight of the values that each label covers; `weights` has one entry a code."""
        running = np.concatenate([[0.0], np.cumsum(weights)])
        total: NDArray[np.float64] = running[self.hi + 1] - running[np.minimum(self.lo, self.hi + 1)]
        for label, codes in self.gaps.items():
            total[label] = weights[codes].sum()
        return total

    def codes(self, label: int) -> NDArray[np.int32]:
        """The codes that one label covers."""
        if label in self.gaps:
            return self.gaps[label]
        return np.arange(self.lo[label], self.hi[label] + 1, dtype=np.int32)

    def covers(self, label: NDArray[np.int32], code: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each label covers the code beside it."""
        inside: NDArray[np.bool_] = (self.lo[label] <= code) & (code <= self.hi[label])
        for gapped, codes in self.gaps.items():
            here = label == gapped
            inside[here] &= np.isin(code[here], codes)
        return inside

    @classmethod
    def exact(cls, domain: Domain) -> Labels:
        """One label for each value of the domain: label number = code."""
        size = domain.size
        codes = np.arange(size, dtype=np.int32)
        numbers = np.full(size, np.nan)
        if domain.numbers is not None:
            numbers[: len(domain.numbers)] = domain.numbers
        return cls(domain, domain.texts, codes, codes, {}, numbers, numbers, np.zeros(size, dtype=np.bool_))

    @classmethod
    def read(cls, domain: Domain, texts: Sequence[str], place: Callable[[int], str]) -> Labels:
        """The sets that label texts denote. `place(i)` says where text i stands, for errors."""
        size = len(texts)
        lo, hi = np.zeros(size, dtype=np.int32), np.full(size, -1, dtype=np.int32)
        low, high = np.full(size, np.nan), np.full(size, np.nan)
        gaps: dict[int, NDArray[np.int32]] = {}
        suppressed = np.array([text.strip() in domain.format.suppressed for text in texts], dtype=np.bool_)
        reader = _Reader(domain)
        for i, text in enumerate(texts):
            found = reader.read(text)
            if found is None:
                raise ReleaseError(
                    f"{place(i)}: the label {text!r} denotes no value of the column.{domain.nearest(text.strip())} "
                    "A label may be a value, a taxonomy group, [a, b], [a, b[, a-b, <a, >=a, {a, b}, a prefix* or "
                    f"{' or '.join(domain.format.suppressed)}."
                )
            lo[i], hi[i], low[i], high[i], codes = found
            if codes is not None:
                gaps[i] = codes
        return cls(domain, tuple(texts), lo, hi, gaps, low, high, suppressed)


_Found = tuple[int, int, float, float, NDArray[np.int32] | None]


class _Reader:
    """Reads label texts of one column. Exact values come first, so that a value such as `<=50K` is itself."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.top = domain.size - 1

    def read(self, text: str) -> _Found | None:
        text = text.strip()
        domain = self.domain
        if text in domain.format.missing:
            return None if domain.missing is None else self._span(domain.missing, domain.missing)
        code = domain.code(text)
        if code is not None:
            return self._span(code, code)
        if domain.taxonomy is not None:
            node = domain.taxonomy.node(text)
            if node == 0:
                return self._span(0, self.top)  # the root covers the missing value as well
            if node is not None:
                return self._span(int(domain.taxonomy.lo[node]), int(domain.taxonomy.hi[node]))
        if text in domain.format.suppressed:
            return self._span(0, self.top)
        if domain.numbers is not None:
            found = self._numeric(text)
            if found is not None:
                return found
        elif domain.column.type is Type.ORDINAL:
            found = self._ordinal(text)
            if found is not None:
                return found
        return self._set(text) or self._mask(text)

    def _span(self, lo: int, hi: int) -> _Found:
        numbers = self.domain.numbers
        if numbers is None or not len(numbers):
            return lo, hi, np.nan, np.nan, None
        last = len(numbers) - 1
        if lo > last:
            return lo, hi, np.nan, np.nan, None
        return lo, hi, float(numbers[lo]), float(numbers[min(hi, last)]), None

    def _within(self, low: float, high: float, open_low: bool, open_high: bool) -> _Found:
        numbers = self.domain.numbers
        assert numbers is not None
        lo = int(np.searchsorted(numbers, low, side="right" if open_low else "left"))
        hi = int(np.searchsorted(numbers, high, side="left" if open_high else "right")) - 1
        return lo, hi, low, high, None

    def _numeric(self, text: str) -> _Found | None:
        domain = self.domain
        number = domain.number(text)
        if number is not None:  # a number that is no value of the domain: a centroid
            return 0, -1, number, number, None
        match = _INTERVAL.fullmatch(text)
        if match:
            low, high = domain.number(match[2]), domain.number(match[4])
            if low is not None and high is not None and low <= high:
                return self._within(low, high, match[1] in "](", match[5] in "[)")
        match = _DASHED.fullmatch(text)
        if match:
            low, high = domain.number(match[1]), domain.number(match[2])
            if low is not None and high is not None and low <= high:
                return self._within(low, high, False, False)
        match = _BOUND.fullmatch(text)
        if match:
            number = domain.number(match[2])
            if number is not None and domain.span is not None:
                if match[1] in ("<", "<=", "≤"):
                    return self._within(min(domain.span[0], number), number, False, match[1] == "<")
                return self._within(number, max(domain.span[1], number), match[1] == ">", False)
        return None

    def _ordinal(self, text: str) -> _Found | None:
        if len(text) > 2 and text[0] in "[](" and text[-1] in "[])":
            inner = text[1:-1]
            for place, sign in enumerate(inner):
                if sign != ",":
                    continue
                low, high = self.domain.code(inner[:place]), self.domain.code(inner[place + 1 :])
                if low is not None and high is not None and low <= high:
                    return self._span(low + (text[0] in "]("), high - (text[-1] in "[)"))
        return None

    def _set(self, text: str) -> _Found | None:
        if text.startswith("{") and text.endswith("}"):
            parts, sign = text[1:-1].split(","), ","
        elif "|" in text:
            parts, sign = text.split("|"), "|"
        else:
            return None
        codes: set[int] = set()
        pending = ""
        for part in parts:  # a value may itself hold the separator: join parts until one is known
            pending = f"{pending}{sign}{part}" if pending else part
            found = self.read(pending) if pending.strip() not in ("", text) else None
            if found is not None:
                codes.update(range(found[0], found[1] + 1) if found[4] is None else found[4].tolist())
                pending = ""
        return None if pending or not codes else self._codes(codes)

    def _mask(self, text: str) -> _Found | None:
        match = _MASK.fullmatch(text)
        if not match:
            return None
        prefix = match[1]
        same_length = self.domain.numbers is not None
        codes = {
            code
            for code, value in enumerate(self.domain.texts)
            if value.startswith(prefix) and (not same_length or len(value) == len(text))
        }
        return self._codes(codes) if codes else None

    def _codes(self, codes: set[int]) -> _Found:
        ordered = np.array(sorted(codes), dtype=np.int32)
        lo, hi, low, high, _ = self._span(int(ordered[0]), int(ordered[-1]))
        return lo, hi, low, high, (ordered if len(ordered) < hi - lo + 1 else None)


def write_label(domain: Domain, codes: NDArray[np.int32]) -> str:
    """The narrowest label that covers some codes: the value itself; `[min, max]` for numbers and ordinals; the lowest
    common ancestor in a taxonomy; otherwise the set. Missing mixed with other values gives the label for everything."""
    lo, hi = int(codes.min()), int(codes.max())
    everything = domain.format.suppressed[0] if domain.format.suppressed else "*"
    if lo == hi:
        return domain.texts[lo]
    if domain.numbers is not None or domain.column.type is Type.ORDINAL:
        return everything if hi == domain.missing else f"[{domain.texts[lo]}, {domain.texts[hi]}]"
    if domain.taxonomy is not None:
        if hi == domain.missing:
            return domain.taxonomy.labels[0]
        node = int(domain.taxonomy.common_ancestor(np.array([lo]), np.array([hi]))[0])
        return domain.taxonomy.labels[node]
    distinct = np.unique(codes)
    if distinct[-1] == domain.missing or len(distinct) == domain.size:
        return everything
    return "{" + ", ".join(domain.texts[code] for code in distinct) + "}"


def named_values(column: Column, form: TableFormat, texts: Sequence[str]) -> list[str]:
    """The values that label texts name, for a domain where only the release is there: exact values, members of sets, the
    ends of intervals. Other labels (a prefix mask, say) count as values of their own."""
    names: set[str] = set()
    for text in {text.strip() for text in texts}:
        if text in form.suppressed:
            continue
        if column.taxonomy is not None and column.taxonomy.node(text) is not None:
            names.update([text] if text in column.taxonomy.leaves else [])
            continue
        if column.type is Type.NUMERIC:
            ends = _INTERVAL.fullmatch(text), _DASHED.fullmatch(text), _BOUND.fullmatch(text)
            parts = [g for m in ends if m for g in m.groups()] or text.strip("{}").replace("|", ",").split(",")
            numbers = [p.strip() for p in [text, *parts] if parse_number(p, form.decimal) is not None]
            names.update(numbers if numbers or text in form.missing else [text])
        elif text.startswith("{") and text.endswith("}"):
            names.update(part.strip() for part in text[1:-1].split(","))
        else:
            names.update(text.split("|"))
    return sorted(names)
