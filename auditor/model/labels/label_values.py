"""The domain of a column where there is only a release: the values that its labels name.

These are exact values, members of sets and the ends of intervals. An interval of numbers also names values inside it, so
that it denotes more than one: whole numbers where its ends are whole. For `[30, 40[` these are 30 and 39 (40, its end, is
named but does not lie in it); for `<20` 18 and 19; for the mask `13**` 1300 and 1399. Without braces a comma separates
members only where each of them is in another label too, or the schema says `notation = ["set"]`: commas are common within
values.

Other labels of a nominal column that cover values which no label names (a mask, `U****`; a month beside days) *stand in*
for them: the text is in the domain as one value, and the label covers it and the named values that it fits. Where the
schema gives the values (a taxonomy, an order, a domain), labels add none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from auditor.model.domain import Domain
from auditor.model.labels import interval_texts
from auditor.model.labels.masks import STAR, is_mask
from auditor.model.labels.notation import Reader, braced, is_date, is_period
from auditor.model.notation_kinds import Notation
from auditor.model.schema import Column, TableFormat, Type
from auditor.model.values import EXACT_INTEGERS, format_number, parse_number


def named_domain(column: Column, form: TableFormat, name: str, texts: Sequence[str]) -> Domain:
    """The domain of a published column from its labels; errors call the table `name`."""
    values = named_values(column, form, texts)
    domain = Domain.of(column, form, [(name, values)])
    return replace(domain, stand_ins=_stand_ins(column, set(values) - set(domain.format.missing)))


def wider_domain(domain: Domain, name: str, texts: Sequence[str]) -> Domain:
    """The domain with the values that further labels name, those of the table `name`. It stays where it has them all, or
    where the schema declares its values."""
    column, form = domain.column, domain.format
    reader = Reader(domain, column.notation)
    unread = [text for text in texts if reader.read(text) is None]
    if not unread or column.taxonomy is not None or column.values is not None:
        return domain
    added = named_values(column, form, unread)
    wide = Domain.of(column, form, [(name, domain.texts), (name, added)])
    return replace(wide, stand_ins=domain.stand_ins | _stand_ins(column, set(added) - set(form.missing)))


def named_values(column: Column, form: TableFormat, texts: Sequence[str]) -> list[str]:
    """The values that label texts name; stars alone name none."""
    form = form.of(column.name)
    distinct = {text.strip() for text in set(texts)}
    names = distinct & set(form.missing)
    if column.taxonomy is not None or column.values is not None:
        return sorted(names)
    marks = {*form.missing, *form.suppressed}
    labels = [text for text in distinct - marks if text.strip(STAR) or not text]
    if column.type is Type.NUMERIC:
        for text in labels:
            names.update(_numbers(text, column, form))
    else:
        names.update(_texts(labels, column))
    return sorted(names - set(form.suppressed))


def _asked(column: Column, kind: Notation) -> bool:
    return not column.notation or kind in column.notation


def _texts(labels: list[str], column: Column) -> set[str]:
    """The values that labels of a nominal column name."""
    if not _asked(column, Notation.SET):
        return set(labels)
    names: set[str] = set()
    joined: dict[str, list[str]] = {}
    for text in labels:
        if text.startswith("{") and text.endswith("}"):
            names.update(braced(text))
        elif "|" in text:
            names.update(part.strip() for part in text.split("|"))
        elif "," in text and not interval_texts.in_brackets(text):
            joined[text] = [part.strip() for part in text.split(",")]
        else:
            names.add(text)
    times = Counter(part for parts in joined.values() for part in set(parts))
    never_a_value = bool(column.notation) and Notation.VALUE not in column.notation
    apart = {
        text
        for text, parts in joined.items()
        if never_a_value or all(part and (part in names or times[part] > 1) for part in parts)
    }
    for text, parts in joined.items():
        names.update(parts if text in apart else [text])
    return names


def _stand_ins(column: Column, values: Collection[str]) -> frozenset[str]:
    """The texts among named values that stand for values which no label names: masks; months and years beside days, years
    beside months."""
    if column.type is Type.NUMERIC or column.taxonomy is not None or column.values is not None:
        return frozenset()
    found = {text for text in values if _asked(column, Notation.MASK) and is_mask(text)}
    others = [text for text in values if text not in found]
    finest = max((len(text) for text in others if is_date(text)), default=0)
    periods = {text for text in others if is_period(text) and len(text) < finest}
    if _asked(column, Notation.PERIOD) and all(is_date(text) or text in periods for text in others):
        found |= periods
    return frozenset(found)


def _numbers(text: str, column: Column, form: TableFormat) -> list[str]:
    """The numbers that a label of a numeric column names, those outside the column's bounds excepted."""
    low, high = column.bounds or (-EXACT_INTEGERS + 1.0, EXACT_INTEGERS - 1.0)
    numbers = [n for n in _named(text, column, form.decimal) if n is not None and low <= n <= high]
    return [format_number(number, form.decimal) for number in numbers]


def _named(text: str, column: Column, decimal: str) -> list[float | None]:
    number, found = parse_number(text, decimal), interval_texts.numeric_ends(text, decimal)
    if number is not None:
        return [number]
    if found is not None:
        return _between(*found, *interval_texts.open_ends(text), column)
    sign, rest = interval_texts.bound(text)
    number = parse_number(rest, decimal) if sign else None
    if number is not None:
        left_out = len(sign) == 1
        if sign.startswith("<"):
            return _between(float("-inf"), number, False, left_out, column)
        return _between(number, float("inf"), left_out, False, column)
    if is_mask(text):
        return [parse_number(text.replace(STAR, digit), decimal) for digit in "09"]
    parts = re.split(r"[;|]|,\s+" if decimal == "," else r"[,;|]", text.strip("{}"))
    return [n for part in set(parts) if part != text for n in _named(part.strip(), column, decimal)]


def _between(low: float, high: float, open_low: bool, open_high: bool, column: Column) -> list[float | None]:
    """The finite ends of an interval, and two values inside it."""
    infinite = float("inf")
    finite: list[float | None] = [end for end in (low, high) if abs(end) != infinite]
    if low == high or not finite:
        return finite
    if column.bounds is not None:
        low, high = max(low, column.bounds[0]), min(high, column.bounds[1])
    if low == -infinite:
        last = high - 1 if open_high else high
        return [*finite, last - 1, last]
    if high == infinite:
        first = low + 1 if open_low else low
        return [*finite, first, first + 1]
    first, last = low + open_low, high - open_high
    if not (low.is_integer() and high.is_integer() and first < last):
        first, last = (3 * low + high) / 4, (low + 3 * high) / 4
    return [*finite, first, last]
