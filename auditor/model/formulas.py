"""Cells that a spreadsheet would take for formulas, and the apostrophe that keeps them texts.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and some formulas run programs or send data
elsewhere. A person who chose a value in the data could thus attack the people who open the release. Every CSV that is written
here therefore has an apostrophe before such a cell unless it is a number, as OWASP's page on CSV injection recommends, and
before one that has apostrophes and then such a sign; reading removes one apostrophe. So every text reads back as it was, and
a file guarded by another tool is read as it was meant. Numbers (`-5`), `<20`, `>=80` and a lone `-` stay as they are.
"""

from __future__ import annotations

import re

from auditor.model.values import parse_number

_LIVE = re.compile(r"'*\s*[=+\-@＝＋－＠]")
_LIVE_FIRST = frozenset("'=+-@＝＋－＠ \t\r\n\v\f")
"""The first characters of cells that `_LIVE` may match: quick to look up."""


def is_live(cell: str) -> bool:
    """Whether a spreadsheet could take a cell, without the apostrophes before it, for a formula: it begins with a sign that
    begins formulas, and is neither a number nor signs alone."""
    if cell[:1] not in _LIVE_FIRST or not _LIVE.match(cell):
        return False
    bare = cell.lstrip("'").strip()
    return bool(bare.strip("+- ")) and parse_number(bare) is None and parse_number(bare, ",") is None


def guarded(cell: str) -> str:
    """A cell as it is written: with an apostrophe before what a spreadsheet could run."""
    return f"'{cell}" if is_live(cell) else cell


def unguarded(cell: str) -> str:
    """A cell without the apostrophe that `guarded` put before it."""
    return cell[1:] if cell.startswith("'") and is_live(cell) else cell
