"""A profile as text for a terminal: the columns, the ranking, the safe harbour.

It contains no value of a person: only figures, patterns, and the ranges of columns that identify nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.model.discretion import printable
from auditor.model.schema import Role
from auditor.profiling.sentences import ranking_lines, safe_harbour_lines, short

if TYPE_CHECKING:
    from auditor.profiling.proposal import Profile

_NARROWEST = 24


def profile_text(found: Profile, width: int) -> str:
    """The whole profile for a terminal."""
    from tabulate import tabulate

    counted = ", ".join(f"{len(found.names(role))} {role}" for role in Role if found.names(role))
    lines = [f"{printable(found.source)}: {found.rows} rows, {len(found.columns)} columns: {counted}."]
    lines += [f"Found: {printable(note)}." for note in found.found]
    rows = []
    for column in found.columns:
        doubt = f" Or {column.candidate}: {column.doubt}." if column.candidate is not None else ""
        rows.append([short(column.name), column.type, column.role, column.seen, f"{printable(column.reason)}.{doubt}"])
    names = max((len(row[0]) for row in rows), default=0)
    seen = max((len(row[3]) for row in rows), default=0)
    reasons = max(_NARROWEST, width - names - seen - 30)
    headers, widths = ["column", "type", "role", "holds", "why"], [None, None, None, None, reasons]
    table = tabulate(rows, headers, tablefmt="simple", maxcolwidths=widths, disable_numparse=True)
    lines += ["", table, "", *ranking_lines(found), "", *safe_harbour_lines(found)]
    return "\n".join(lines)
