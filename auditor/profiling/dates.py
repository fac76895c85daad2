"""Dates in text: which of the usual formats a column uses.

One format must fit all cells. If day and month could be either (`03/04/1985`), the day comes first unless a cell rules that
out, and the caller is told. With points the day comes first, as in the countries that write dates that way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

_ISO = re.compile(
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_SLASHES = re.compile(r"(?P<y>\d{4})/(?P<m>\d{1,2})/(?P<d>\d{1,2})", re.ASCII)
_COMPACT = re.compile(r"(?P<y>(?:18|19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})", re.ASCII)
_MONTH = re.compile(r"(?P<y>(?:18|19|20)\d{2})[-/](?P<m>\d{1,2})", re.ASCII)
_DAY_FIRST = re.compile(
    r"(?P<d>\d{1,2})(?P<sign>[./-])(?P<m>\d{1,2})(?P=sign)(?P<y>\d{4})(?: \d{1,2}:\d{2}(?::\d{2})?)?", re.ASCII
)
_MONTH_FIRST = re.compile(
    r"(?P<m>\d{1,2})(?P<sign>[/-])(?P<d>\d{1,2})(?P=sign)(?P<y>\d{4})(?: \d{1,2}:\d{2}(?::\d{2})?)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class DateFormat:
    """One date format. `months`: it has no days. `unsure`: day and month could be the other way round."""

    words: str
    pattern: re.Pattern[str]
    months: bool = False
    unsure: bool = False

    def read(self, text: str) -> date | None:
        """The day that a text denotes (the first of the month if it has no day), or None."""
        found = self.pattern.fullmatch(text)
        if found is None:
            return None
        try:
            return date(int(found["y"]), int(found["m"]), 1 if self.months else int(found["d"]))
        except ValueError:
            return None


_FORMATS = (
    DateFormat("year-month-day", _ISO),
    DateFormat("year/month/day", _SLASHES),
    DateFormat("year, month and day without separators", _COMPACT),
    DateFormat("year-month", _MONTH, months=True),
    DateFormat("day, month, year", _DAY_FIRST),
    DateFormat("month, day, year", _MONTH_FIRST),
)


def date_format(texts: Iterable[str]) -> DateFormat | None:
    """The format in which all these texts are dates, or None."""
    texts = list(texts)
    if not texts:
        return None
    fits = [form for form in _FORMATS if all(form.read(text) is not None for text in texts)]
    if not fits:
        return None
    unsure = len(fits) > 1 and fits[0].pattern is _DAY_FIRST
    return DateFormat(fits[0].words, fits[0].pattern, fits[0].months, unsure)
