"""Tables of what proofs found.

A proof says what it found with the fixture `tell`. At full length pytest prints all of it at the end, as tables: also what
processes of pytest-xdist found, since what a test records travels with its report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

TOLD = "told"
"""The property of a report that holds a row of a table."""

Tell = Callable[..., None]


def as_tables(rows: Iterable[dict[str, str]]) -> list[str]:
    """The lines of the tables that proofs told, by the title of each."""
    tables: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        tables.setdefault(row["table"], []).append({name: text for name, text in row.items() if name != "table"})
    lines: list[str] = []
    for title, told in tables.items():
        names = list(dict.fromkeys(name for row in told for name in row))
        cells = [names, *([row.get(name, "") for name in names] for row in told)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        lines += ["", title, ""]
        lines += ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    return lines
