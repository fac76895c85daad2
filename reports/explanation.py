"""How a release's labels are written, as text for a terminal: a table per column, remarks, and the suppressed rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import takewhile

from tabulate import tabulate

from auditor.model.record.explanation import ColumnFacts, LabelExplanation, NotationFacts, SuppressionFacts
from reports.text import NONE, clean

_HEADINGS = ("written as", "labels", "rows", "values each", "for example")
_LIES = {
    "apart": "No label overlaps another.",
    "within": "Some labels lie within others: {1} in {0}.",
    "across": "Some labels overlap and neither holds the other: {0} and {1} (local recoding).",
}
_LONGEST_EXAMPLE = 48
_SHORTEST_EXAMPLE = 12
_OTHER_COLUMNS, _CONVENTION_COLUMNS = 53, 42
"""The width of the other columns: of a column's table, and of that of the conventions."""


def render_labels(explanation: LabelExplanation, width: int = 100) -> str:
    """The explanation as text, at most `width` columns wide where its names allow it."""
    name = clean(explanation.release)
    title = f"Labels of {name}: {explanation.rows} rows"
    parts = [f"{title}\n{'=' * min(width, len(title))}"]
    for number, block in enumerate(explanation.blocks, 1):
        if len(explanation.blocks) > 1:
            parts.append(f"Block {number} of {len(explanation.blocks)}")
        parts.extend(_column(column, width) for column in block)
    parts.append(_suppressed(explanation.columns, explanation.suppression, width))
    return "\n\n".join(parts) + "\n"


def _column(column: ColumnFacts, width: int) -> str:
    count = "its values are not given"
    if column.values is not None:
        count = f"{column.values} value{'' if column.values == 1 else 's'}, from the {column.values_from}"
    lines = [f"{clean(column.column)} ({column.role}, {column.type}; {count})"]
    if column.asked:
        lines.append(f"The schema asks for: {', '.join(column.asked)}.")
    rows = [_row(notation, width) for notation in column.notations]
    table = tabulate(
        rows, _HEADINGS, tablefmt="simple", colalign=("left", "right", "right", "right", "left"), disable_numparse=True
    )
    lines.append(textwrap.indent(table, "  "))
    remarks = [_LIES[column.overlap].format(*(f"`{text}`" for text in _apart(column.overlapping)))]
    if column.mixed_levels:
        levels = f" of the taxonomy: {', '.join(map(str, column.levels))}" if len(column.levels) > 1 else ""
        remarks.append(f"Labels are of mixed levels{levels}.")
    lines.extend(_wrapped([" ".join(remarks), *column.notes], width))
    return "\n".join(lines)


def _row(notation: NotationFacts, width: int) -> tuple[str, ...]:
    level = "" if notation.level is None else f", level {notation.level}"
    span = NONE
    if notation.least is not None and notation.greatest is not None:
        same = notation.least == notation.greatest
        span = str(notation.least) if same else f"{notation.least} to {notation.greatest}"
    room = max((width - _OTHER_COLUMNS) // max(len(notation.examples), 1) - 2, _SHORTEST_EXAMPLE)
    examples = "  ".join(_example(text, room) or "(empty)" for text in notation.examples)
    return f"{notation.kind}{level}", str(notation.labels), str(notation.cells), span, examples


def _example(text: str, room: int = _LONGEST_EXAMPLE) -> str:
    return clean(text, min(room, _LONGEST_EXAMPLE))


def _apart(texts: tuple[str, ...]) -> list[str]:
    """Labels as examples; where their beginnings are the same, from shortly before they part."""
    shown = [_example(text) for text in texts]
    if len(set(shown)) == len(set(texts)):  # two that may not be shown are the same text
        return shown
    alike = sum(1 for _ in takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False)))
    same = max(alike - _LONGEST_EXAMPLE // 4, 0)
    return [f"…{_example(text[same:])}" for text in texts]


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    return [
        textwrap.fill(clean(text, 600), width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
        for text in texts
    ]


def _suppressed(columns: tuple[ColumnFacts, ...], facts: SuppressionFacts, width: int) -> str:
    """Which texts mean suppressed or missing, and how the conventions count rows that are suppressed as a whole."""
    lines = ["Suppressed and missing values"]
    marks: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for column in columns:
        marks.setdefault((column.suppressed, column.missing), []).append(clean(column.column))
    for (suppressed, missing), names in marks.items():
        whose = f" ({', '.join(names)})" if len(marks) > 1 else ""
        lines += _wrapped([f"Suppressed: {_texts(suppressed)}. Missing: {_texts(missing)}.{whose}"], width)
    rows = f"{facts.rows} row{'' if facts.rows == 1 else 's'}"
    counts = f"All quasi-identifiers are suppressed in {rows}, some of them in {facts.partly} more."
    lines += _wrapped([counts, *facts.notes], width)
    cells = [
        (c.name, c.classes, NONE if c.k is None else c.k, f"{c.meaning}{' (default)' if c.name == 'excluded' else ''}")
        for c in facts.conventions
    ]
    table = tabulate(
        cells,
        ("--suppression", "classes", "smallest", "such rows count as"),
        tablefmt="simple",
        maxcolwidths=[None, None, None, width - _CONVENTION_COLUMNS],
    )
    return "\n".join([*lines, textwrap.indent(table, "  ")])


def _texts(texts: tuple[str, ...]) -> str:
    return ", ".join(f"`{clean(text)}`" if text else "the empty cell" for text in texts) or "no text"
