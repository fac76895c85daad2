"""A proposed schema as TOML, with its reasons as comments, for a person to edit.

Small taxonomies are written inside it. Those with more than `MOST_INLINE` leaves go to files in the ARX convention
(`leaf;group;…;root`) in a folder beside the schema, if there is one. Column names and values come from strangers. They are
written as quoted strings, in comments too, with every character escaped that TOML or a terminal could take for something
else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from auditor.files.tables import csv_text
from auditor.model.discretion import printable
from auditor.model.schema import Marks, Others, Role
from auditor.profiling.sentences import ranking_lines, safe_harbour_lines
from auditor.profiling.taxonomies import Shape, nested

if TYPE_CHECKING:
    from auditor.profiling.proposals import Proposal, Proposed

MOST_INLINE = 40
_WIDTH = 110
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str) -> str:
    """A text as a TOML string."""

    def escaped(sign: str) -> str:
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if sign.isprintable():
            return sign
        return f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08X}"

    return f'"{"".join(map(escaped, text))}"'


def key(text: str) -> str:
    """A text as a TOML key, bare if possible."""
    return text if _BARE.fullmatch(text) else quoted(text)


def files(found: Proposed, schema: Path) -> dict[Path, str]:
    """The schema and the hierarchy files beside it."""
    folder = hierarchy_folder(schema)
    places: dict[str, str] = {}
    contents: dict[Path, str] = {}
    for number, column in enumerate(found.columns, 1):
        if column.taxonomy is None or len(column.taxonomy.paths) <= MOST_INLINE:
            continue
        stem = re.sub(r"[^a-z0-9]+", "-", column.name.lower()).strip("-")[:40]
        name = f"{number:02d}-{stem or 'column'}.csv"
        first, *others = column.taxonomy.paths
        contents[folder / name] = csv_text(first, others, ";")
        places[column.name] = f"{folder.name}/{name}"
    return {schema: schema_text(found, places), **contents}


def hierarchy_folder(schema: Path) -> Path:
    """Where the hierarchy files of a schema go."""
    return schema.parent / f"{schema.stem}-hierarchies"


def schema_text(found: Proposed, places: Mapping[str, str] | None = None) -> str:
    """The schema of a profile as TOML. `places` are the hierarchy files of columns; other taxonomies are written inside."""
    lines = [
        *_comment(
            f"Proposed by `auditor profile` for {found.source} ({found.rows} rows). Nothing here is certain: edit it."
        ),
        *_comment(f"Roles: {', '.join(Role)}."),
        *_comment("Types: numeric, ordinal, nominal."),
        "",
        *_table(found),
    ]
    for column in found.columns:
        lines += ["", *_column(column, (places or {}).get(column.name), found.format.own.get(column.name, Marks()))]
    lines += ["", *(line for text in ranking_lines(found) for line in _comment(text))]
    lines += ["", *(line for text in safe_harbour_lines(found) for line in _comment(text, then="#     "))]
    return "\n".join(lines) + "\n"


def _comment(text: str, first: str = "# ", then: str = "# ") -> list[str]:
    lines = wrap(printable(text), _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    return [f"{first if place == 0 else then}{line}".rstrip() for place, line in enumerate(lines)]


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def _table(found: Proposed) -> list[str]:
    form = found.format
    lines = [line for note in found.found for line in _comment(f"Found: {note}.")]
    settings = []
    if form.delimiter is not None:
        settings.append(f"delimiter = {quoted(form.delimiter)}")
    if form.decimal != ".":
        settings.append(f"decimal = {quoted(form.decimal)}")
    if form.encoding is not None:
        settings.append(f"encoding = {quoted(form.encoding)}")
    if form.header is not None:
        settings += ["header = [ # rename the columns here and below", *(f"    {quoted(n)}," for n in form.header), "]"]
    settings.append(f"missing = {_list(form.missing)}")
    settings.append(f"suppressed = {_list(form.suppressed)}")
    if form.others is not Others.ERROR:
        settings.append(f"others = {quoted(form.others)} # columns that only the original has")
    return [*lines, "[table]", *settings]


def _column(column: Proposal, place: str | None, marks: Marks) -> list[str]:
    lines = _comment(f"{column.seen}.")
    lines += _comment(f"Role: {column.reason}.")
    if column.candidate is not None:
        lines += _comment(f"Or {column.candidate}: {column.doubt}.")
    lines += _comment(f"Type: {column.type_reason}.")
    if column.hint:
        lines += _comment(column.hint)
    lines += [f"[columns.{key(column.name)}]", f"role = {quoted(column.role)}", f"type = {quoted(column.type)}"]
    if marks.missing is not None:
        lines.append(f"missing = {_list(marks.missing)}")
    if marks.suppressed is not None:
        lines.append(f"suppressed = {_list(marks.suppressed)}")
    if column.order is not None:
        lines += ["order = [", *(f"    {quoted(step)}," for step in column.order), "]"]
    if column.taxonomy is not None:
        lines += _taxonomy(column.name, column.taxonomy, place)
    return lines


def _taxonomy(name: str, shape: Shape, place: str | None) -> list[str]:
    lines = [*_comment(f"Taxonomy: {shape.words}.")]
    if place is not None:
        return [*lines, f"taxonomy = {quoted(place)}"]
    return [*lines, *_nested(f"columns.{key(name)}.taxonomy", nested(shape))]


def _nested(path: str, tree: object) -> list[str]:
    """Nested groups as TOML tables, the lowest ones as lists."""
    assert isinstance(tree, dict)
    lines = [f"[{path}]"]
    lines += [f"{key(label)} = {_list(tuple(inner))}" for label, inner in tree.items() if isinstance(inner, list)]
    for label, inner in tree.items():
        if isinstance(inner, dict):
            lines += _nested(f"{path}.{key(label)}", inner)
    return lines
