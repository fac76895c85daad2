"""What messages may say of people: the one rule for errors, warnings, notes and progress.

A message never quotes a cell of a data file. It names the file, the line, the column and the kind of fault; the value itself
is shown only where the user asks for it: `--reveal` on the command line, or in Python

    with auditor.revealing():
        table = auditor.read_table("data.csv", schema)

So `shown` is what a message says of a cell, a label, an alias or an identifier, and `header` of a column that no schema names
(a file without a header line has a person's values there). Libraries quote what they stumbled over, so of their errors only
the kind is told (`told`), and ours are not raised from them (`cause`). What a schema, a scenario, a policy or the command
line says is nobody's cell; `quote` shows it.

Names come from files of others. `printable` escapes what could command a terminal or turn the direction of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LONGEST_SHOWN = 60
_LONGEST_TOLD = 200
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_JOINERS = "\u200c\u200d"  # some scripts cannot be written without them
_revealing: ContextVar[bool] = ContextVar("revealing", default=False)


@contextmanager
def revealing(wanted: bool = True) -> Iterator[None]:
    """Inside this block, and only there, messages show the values that they are about."""
    before = _revealing.set(wanted)
    try:
        yield
    finally:
        _revealing.reset(before)


def is_revealing() -> bool:
    """Whether messages show values now."""
    return _revealing.get()


def shown(text: str, what: str = "value") -> str:
    """A cell or part of one as a message shows it: quoted where values are asked for, else only how long it is."""
    if is_revealing():
        return quote(text) if what == "value" else f"the {what} {quote(text)}"
    article = "an" if what[0] in "aeiou" else "a"
    if not text:
        return f"an empty {what}"
    return f"{article} {what} of {len(text)} character{'s' if len(text) > 1 else ''}"


def header(place: int, name: str, known: Collection[str] = ()) -> str:
    """A column of a file: by its name where that is known from elsewhere, else by its place from 1, and by both where values
    are asked for."""
    if name in known:
        return f"column {quote(name)}"
    return f"column {place} ({quote(name)})" if is_revealing() else f"column {place}"


def told(error: BaseException) -> str:
    """An error of a library as a message tells it: its kind, or the first line of its text where values are asked for."""
    lines = str(error).strip().splitlines() if is_revealing() else []
    return printable(lines[0][:_LONGEST_TOLD].rstrip(".")) if lines else type(error).__name__


def cause(error: BaseException) -> BaseException | None:
    """What an error of ours is raised from: a library's error, or nothing, so that Python does not print what it quotes."""
    return error if is_revealing() else None


def quote(text: str) -> str:
    """A text in quotes, its unprintable characters escaped, cut where it is long."""
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}… ({len(text)} characters)"


def printable(text: str, keep: str = "") -> str:
    """A text whose control and direction-changing characters, and other unprintable ones, are escaped, except `keep`."""
    if text.isprintable():
        return text
    return "".join(
        sign if _is_harmless(sign) or sign in keep else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def printable_json(text: str) -> str:
    """JSON text in which direction-changing and control characters are written as JSON escapes. It means the same."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _is_harmless(sign: str) -> bool:
    """Whether a character may be printed: it is visible, a space of some width, or joins its neighbours."""
    return sign.isprintable() or sign in _JOINERS or unicodedata.category(sign) == "Zs"
