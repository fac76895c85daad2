"""Numbers and names as text: one way to write each, in every report.

Probabilities have three significant digits and never round to a certainty that is not there (`>0.999`); sentences use
percent; thousands are set apart by a thin space. Names come from files of others: `clean` escapes control and
direction characters in them, `markdown` also makes them harmless in Markdown, and `in_page` is what every text of an
HTML page goes through before jinja2 escapes it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from auditor.model.discretion import printable

THIN = "\u202f"
NONE = "–"
ELLIPSIS = "…"
_NEAR = 1e-9
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")


def clean(value: object, limit: int = 200) -> str:
    """`value` as one line, its control and direction characters escaped, shortened to `limit` characters."""
    text = "".join(" " if char.isspace() and char != THIN else char for char in str(value))
    text = printable(re.sub(r" {2,}", " ", text).strip(" "))
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def in_page(value: object) -> object:
    """A value as it goes into a page: texts with their control and direction characters escaped. What is markup already, a
    drawing or a script, is escaped where it is made."""
    return printable(value, keep="\n\t") if type(value) is str else value


def markdown(value: object, limit: int = 2000) -> str:
    """`value` as Markdown text that stands for itself: no table cell, link, code, emphasis or HTML begins in it."""
    text = clean(value, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", text).replace("://", ":&#47;/")


def finite(value: object) -> float | None:
    """`value` as a float where it is a finite number, else nothing; the details of a record may hold anything."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _significant(value: float, digits: int = 3) -> str:
    """`value` rounded to significant digits, written without an exponent."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 9)}f}".replace("-", "−")


def probability(value: float | None) -> str:
    """A probability, or a difference of two: three significant digits, exact at 0 and 1."""
    if value is None:
        return NONE
    size, sign = abs(value), "−" if value < 0 else ""
    if size < _NEAR:
        return "0"
    if abs(size - 1) < _NEAR:
        return f"{sign}1"
    if 0.9995 <= size < 1:
        return ">0.999" if not sign else "<−0.999"
    if size < 0.0001:
        return "<0.0001" if not sign else "0"
    return sign + _significant(size)


def percent(value: float | None, trim: bool = True) -> str:
    """A share in percent with three significant digits, zeros at its end trimmed; 100 % and 0 % only if exact."""
    if value is None:
        return NONE
    size, sign = abs(value), "−" if value < 0 else ""
    if size < _NEAR:
        body = "0"
    elif 0.9995 <= size < 1 - _NEAR:
        body = ">99.9" if not sign else "99.9"
    elif size < 0.0001:
        sign, body = "", "0" if sign else "<0.01"
    else:
        body = _significant(size * 100)
        body = body.rstrip("0").rstrip(".") if trim and "." in body else body
    return f"{sign}{body}{THIN}%"


def number(value: float | None) -> str:
    """Any number: whole ones in full, others with three significant digits, thousands set apart."""
    if value is None:
        return NONE
    if abs(value) >= 1000 or float(value).is_integer():
        return f"{value:,.0f}".replace(",", THIN).replace("-", "−")
    if abs(value) < 0.0001:
        return "<0.0001" if value > 0 else "0"
    return _significant(value)


def short(value: float | None) -> str:
    """A number that somebody chose (a limit, a setting): as it was written, `0.09` and not `0.0900`."""
    known = finite(value)
    if known is None:
        return NONE
    return number(known) if known.is_integer() else f"{known:.6g}".replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """An interval of probabilities in brackets, or nothing, as where both ends are written alike."""
    if low is None or high is None or probability(low) == probability(high):
        return ""
    return f"[{probability(low)}, {probability(high)}]"


def span(low: float | None, high: float | None) -> str:
    """An interval of shares in percent, for a sentence: `52–71 %`; nothing where both ends are written alike."""
    if low is None or high is None or percent(low) == percent(high):
        return ""
    if low < 0 or high < 0:
        return f"{percent(low)} to {percent(high)}"
    ends = [percent(edge, trim=False).removesuffix(f"{THIN}%") for edge in (low, high)]
    if all(end.endswith(".0") or "." not in end for end in ends):
        ends = [end.removesuffix(".0") for end in ends]
    return f"{ends[0]}–{ends[1]}{THIN}%"


def words(items: Sequence[str], limit: int = 6) -> str:
    """A list as English: `age, sex and postcode`; past `limit` items the rest are counted."""
    names = list(items)
    if len(names) > limit:
        names = [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    return names[0] if len(names) == 1 else " and ".join((", ".join(names[:-1]), names[-1])) if names else ""


def settings(params: Mapping[str, Any], skip: Iterable[str] = ()) -> str:
    """Settings as `k=5, l=3`; a switch that is off is not said."""
    left_out = set(skip)
    return ", ".join(
        f"{clean(key, 40)}={_setting(value)}"
        for key, value in params.items()
        if key not in left_out and value is not None and value is not False
    )


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return short(value)
    if isinstance(value, Mapping):
        return "{" + settings(value) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_setting(item) for item in value) + "]"
    return NONE if value is None else clean(value, 60)


def spoken(name: object) -> str:
    """A column's or a thing's name for a sentence: plain identifiers lose their underscores."""
    text = clean(name, 60)
    return text.replace("_", " ") if re.fullmatch(r"\w+", text) else text


def capital(text: str) -> str:
    """`text` with its first letter made a capital."""
    return text[:1].upper() + text[1:]


def slug(text: str) -> str:
    """A text as part of a file's name on any system: small letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-") or "unnamed"
