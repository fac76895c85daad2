"""Coarsening: the labels of one column, one level coarser.

A pure function of the column's schema and of the labels in it, so the result is the same with and without the original. The
finest labels are raised one level, where they meet those that are coarser already; a label that is as coarse as the new level
stays as it is. A new label covers everything that the old one covered.

- With a taxonomy: the level above the finest label in the column, counted from the root. An interval of numbers that is not a
  group is widened to whole groups of that level; a set of nominal values first becomes its lowest common ancestor.
- Numbers and ordinals without a taxonomy: bands of twice the finest width, but no narrower than a sixteenth of the range,
  rounded up to 1, 2 or 5 times a power of ten. Bands start at zero or, where all labels lie on another grid, on that grid.
  Labels are widened to whole bands, so the bands of a further step are unions of these.
- Prefix masks, and codes of digits that all have one length: one character less. Dates: days, months, years. Other nominal
  values: everything.

The label for everything is never the mark of a suppressed value (see `labels`), so coarsening suppresses nobody's row.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from auditor.model.discretion import shown
from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError
from auditor.model.labels import interval_texts
from auditor.model.labels.label_values import named_domain
from auditor.model.labels.labels import write_label
from auditor.model.labels.masks import STAR, is_mask
from auditor.model.labels.notation import Found, Reader, everything, is_date, is_everything, is_period
from auditor.model.schema import Column, TableFormat, Type
from auditor.model.taxonomy import Taxonomy
from auditor.model.values import format_number, parse_number

BANDS = 16  # bands are at least one part in so many of the range
_MONTH, _YEAR = len("2020-01"), len("2020")
_LEAST_CODE = 3  # digits that all have one length, at least this one, are taken for codes, such as postcodes


@dataclass(frozen=True, slots=True)
class Coarser:
    """The new text of each label, and the new level in words ("bands of 10")."""

    texts: Mapping[str, str]
    level: str


@dataclass(frozen=True, slots=True)
class _Span:
    """An interval of numbers; an end is None where the interval has no bound on that side."""

    low: Fraction | None
    high: Fraction | None
    open_low: bool = False
    open_high: bool = False

    def width(self, whole: bool) -> Fraction | None:
        """The width; of closed intervals between whole numbers one more, since 20-39 are twenty ages."""
        if self.low is None or self.high is None:
            return None
        return self.high - self.low + (1 if whole and not self.open_high and not self.open_low else 0)


def coarser(column: Column, form: TableFormat, texts: Collection[str]) -> Coarser:
    """The labels of a column, one level coarser; an error where they cannot be coarser."""
    domain = named_domain(column, form, "release", sorted(texts))
    whole = everything(domain)
    absent: list[str] = []
    ranked: list[str] = []
    for text in sorted(texts):
        if _is_general(domain, text):
            continue
        (absent if text in domain.format.missing else ranked).append(text)
    if not ranked and not absent:
        raise ReleaseError(f"The column {column.name!r} is general already: none of its labels can be coarser.")
    made = _one_level(domain, ranked) if ranked else None
    if made is None or all(text == whole for text in made.texts.values()):
        return Coarser(dict.fromkeys(texts, whole), "everything")
    kept = {text: text for text in texts if text not in made.texts}
    return Coarser(kept | dict(made.texts), made.level)


def _is_general(domain: Domain, text: str) -> bool:
    """Whether a label covers everything already: it is stars, the root of the taxonomy, or a mark of suppression."""
    if domain.code(text) is not None and text not in domain.stand_ins:
        return False
    root = domain.taxonomy is not None and domain.taxonomy.node(text) == 0
    return root or text in domain.format.suppressed or is_everything(domain, text)


def _one_level(domain: Domain, texts: list[str]) -> Coarser | None:
    """The labels one level coarser; None where that is everything."""
    if domain.taxonomy is not None:
        return _up_the_tree(domain, domain.taxonomy, texts)
    if _are_masks(domain, texts):
        return _shorter(texts)
    if domain.column.type is Type.NUMERIC:
        return _wider_bands(domain, texts)
    if all(is_date(text) or is_period(text) for text in texts) and any(map(is_date, texts)):
        return _longer_periods(texts)
    if domain.column.type is Type.ORDINAL:
        return _wider_runs(domain, texts)
    return None


def _read(domain: Domain, texts: list[str]) -> dict[str, Found]:
    reader, found = Reader(domain), {}
    for text in texts:
        label = reader.read(text)
        if label is None:
            raise ReleaseError(f"The column {domain.column.name!r}: {shown(text, 'label')} denotes no value of it.")
        found[text] = label
    return found


# ----- with a taxonomy ---------------------------------------------------------------------------------------------------


def _up_the_tree(domain: Domain, tree: Taxonomy, texts: list[str]) -> Coarser | None:
    found, numeric = _read(domain, texts), domain.numbers is not None
    depth: dict[str, int] = {}
    node: dict[str, int] = {}
    for text, label in found.items():
        if label.lo > label.hi:
            raise ReleaseError(
                f"The column {domain.column.name!r}: {shown(text, 'label')} is no value of it, and has no level."
            )
        named = tree.node(text)
        if named is None and numeric:
            depth[text] = next(d for d in range(tree.height + 1) if _is_whole_groups(tree, d, label.lo, label.hi))
            continue
        node[text] = named or int(tree.common_ancestor(np.array([label.lo]), np.array([label.hi]))[0])
        depth[text] = int(tree.depth[node[text]]) + (named is None and label.lo < label.hi)
    level = max(depth.values()) - 1
    if level <= 0:
        return None
    made = {}
    for text, label in found.items():
        if text in node and depth[text] <= level:
            made[text] = text
        elif text in node:
            above = int(tree.path[min(level, int(tree.depth[node[text]])), tree.lo[node[text]]])
            made[text] = everything(domain) if above == 0 else tree.labels[above]
        else:
            made[text] = _groups(domain, tree, min(level, depth[text]), label.lo, label.hi)
    return Coarser(made, f"level {tree.height - level} of {tree.height}")


def _is_whole_groups(tree: Taxonomy, depth: int, lo: int, hi: int) -> bool:
    """Whether the codes from lo to hi are whole groups of one depth."""
    return bool(tree.lo[tree.path[depth, lo]] == lo and tree.hi[tree.path[depth, hi]] == hi)


def _groups(domain: Domain, tree: Taxonomy, depth: int, lo: int, hi: int) -> str:
    """The label of the groups of one depth that cover the codes from lo to hi."""
    first, last = int(tree.path[depth, lo]), int(tree.path[depth, hi])
    if first == last and first != 0:
        return tree.labels[first]
    codes = np.arange(tree.lo[first], tree.hi[last] + 1, dtype=np.int32)
    return everything(domain) if len(codes) == domain.known else write_label(domain, codes)


# ----- bands -------------------------------------------------------------------------------------------------------------


def _wider_bands(domain: Domain, texts: list[str]) -> Coarser | None:
    spans = {text: _span(domain, text) for text in texts}
    known = [end for span in spans.values() for end in (span.low, span.high) if end is not None]
    whole = all(end.denominator == 1 for end in known)
    sized = [(span.width(whole), span.low) for span in spans.values()]
    widths = [(width, low) for width, low in sized if width is not None and low is not None]
    first, last = (min(known), max(known)) if known else (Fraction(0), Fraction(0))
    closed = any(s.low == first and not s.open_low for s in spans.values())
    closed = closed and any(s.high == last and not s.open_high for s in spans.values())
    reach = last - first + (whole and closed)
    if not widths or reach == 0:
        return None
    finest, start = min(widths)
    aligned = finest > 0 and all((low - start) % finest == 0 for _, low in widths)
    band, start = 2 * finest, start if aligned and start % finest else Fraction(0)
    if band * BANDS < reach:
        band, start = _round_width(reach / BANDS), Fraction(0)
    if band >= reach:
        return None
    upper = all(s.open_low and not s.open_high for s in spans.values() if s.low != s.high)
    upper = upper and any(s.low != s.high for s in spans.values())
    made = {text: _banded(domain, span, band, start, upper) for text, span in spans.items()}
    return Coarser(made, f"bands of {format_number(float(band), domain.format.decimal)}")


def _span(domain: Domain, text: str) -> _Span:
    """The interval that a label of a numeric column denotes."""
    form = domain.format
    number = parse_number(text, form.decimal)
    if number is not None:
        return _Span(_exact(number), _exact(number))
    between = interval_texts.numeric_ends(text, form.decimal)
    if between is not None:
        return _Span(_exact(between[0]), _exact(between[1]), *interval_texts.open_ends(text))
    sign, rest = interval_texts.bound(text)
    bound = parse_number(rest, form.decimal) if sign else None
    if bound is not None:
        if sign.startswith("<"):
            return _Span(None, _exact(bound), open_high=sign == "<")
        return _Span(_exact(bound), None, open_low=sign == ">")
    label = _read(domain, [text])[text]
    if math.isnan(label.low) or math.isnan(label.high):
        raise ReleaseError(
            f"The column {domain.column.name!r}: {shown(text, 'label')} has no bounds that could be widened."
        )
    return _Span(_exact(label.low), _exact(label.high))


def _exact(number: float) -> Fraction | None:
    """A number exactly as it is written, without binary rounding; None for an infinite one."""
    return Fraction(repr(number)) if math.isfinite(number) else None


def _round_width(least: Fraction) -> Fraction:
    """The least of 1, 2 or 5 times a power of ten that is not below `least`."""
    power = Fraction(10) ** (math.floor(math.log10(least)) - 1)
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def _banded(domain: Domain, span: _Span, band: Fraction, start: Fraction, upper: bool) -> str:
    """The whole bands that cover an interval. A band includes its lower end or, with `upper`, its upper end instead."""
    low = high = None
    if span.low is not None:
        place = (span.low - start) / band
        below = math.ceil(place) - 1 if upper and not span.open_low else math.floor(place)
        low = start + below * band
    if span.high is not None:
        place = (span.high - start) / band
        above = math.ceil(place) if upper or span.open_high else math.floor(place) + 1
        if low is not None:
            above = max(above, math.floor((low - start) / band) + 1)  # an empty interval such as [20, 20[
        high = start + above * band
    mark = domain.format.decimal
    first, last = ("" if end is None else format_number(float(end), mark) for end in (low, high))
    if low is None:
        return f"{'<=' if upper else '<'}{last}"
    if high is None:
        return f"{'>' if upper else '>='}{first}"
    sign = ";" if mark == "," else ","
    return f"]{first}{sign} {last}]" if upper else f"[{first}{sign} {last}["


def _wider_runs(domain: Domain, texts: list[str]) -> Coarser | None:
    """Ordinals: runs of twice as many neighbouring values."""
    found = {text: (label.lo, label.hi) for text, label in _read(domain, texts).items() if label.lo <= label.hi}
    spans = [(hi - lo + 1, lo) for lo, hi in found.values() if hi < domain.known - 1]  # the last run may be short
    finest, start = min(spans or [(hi - lo + 1, lo) for lo, hi in found.values()])
    size, start = max(2 * finest, math.ceil(domain.known / BANDS)), start if start % finest else 0
    while size < domain.known:
        made = {}
        for text, (lo, hi) in found.items():
            low = max(start + (lo - start) // size * size, 0)
            high = min(start + ((hi - start) // size + 1) * size, domain.known) - 1
            made[text] = (low, high)
        if made != found:
            return Coarser({text: _run(domain, *span) for text, span in made.items()}, f"runs of {size} values")
        size *= 2
    return None


def _run(domain: Domain, lo: int, hi: int) -> str:
    """The label of neighbouring values."""
    if hi - lo + 1 == domain.known:
        return everything(domain)
    return write_label(domain, np.arange(lo, hi + 1, dtype=np.int32))


# ----- prefix masks and dates ------------------------------------------------------------------------------------------


def _are_masks(domain: Domain, texts: list[str]) -> bool:
    """Whether the labels are prefix masks, or codes of digits that can be masked."""
    if any(sign in text for text in texts for sign in "{}[]|<>, ") or any(STAR in text.rstrip(STAR) for text in texts):
        return False
    lengths = {len(text) for text in texts}
    masked = any(is_mask(text) for text in texts)
    if domain.column.type is Type.NUMERIC:  # there a mask stands for numbers of its own length
        return masked and len(lengths) == 1
    codes = (
        all(text.isascii() and text.isdigit() for text in texts) and len(lengths) == 1 and min(lengths) >= _LEAST_CODE
    )
    return domain.column.type is Type.NOMINAL and (masked or codes)


def _shorter(texts: list[str]) -> Coarser | None:
    prefixes = {text: text.rstrip(STAR) for text in texts}
    kept, length = max(map(len, prefixes.values())) - 1, max(map(len, texts))
    if kept <= 0:
        return None
    made = {text: prefix[:kept].ljust(length, STAR) for text, prefix in prefixes.items()}
    return Coarser(made, f"the first {kept} characters" if kept > 1 else "the first character")


def _longer_periods(texts: list[str]) -> Coarser | None:
    """Days become months, and months years."""
    if any(len(text) > _MONTH for text in texts):
        return Coarser({text: text[:_MONTH] for text in texts}, "months")
    return (
        Coarser({text: text[:_YEAR] for text in texts}, "years") if any(len(text) > _YEAR for text in texts) else None
    )
