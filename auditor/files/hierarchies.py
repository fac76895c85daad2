"""Hierarchy files that would explain the labels of a release.

A tool that generalises writes groups (`Higher education` beside `Masters`), and a schema without its hierarchy cannot tell
what they hold. Users mostly have the file: it was given to the tool. So where labels of a column cannot be read, the CSV
files beside the schema and the release, and in the folders there, are tried: one whose leaves are the column's values and
whose labels hold all that could not be read explains them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from auditor.model.discretion import quote
from auditor.model.domain import Domain
from auditor.model.errors import TaxonomyError
from auditor.model.schema import Schema, Type
from auditor.model.taxonomy import Taxonomy

_MOST_FILES = 200
_MOST_BYTES = 2_000_000


def explaining(schema: Schema, column: str, unread: Collection[str], domain: Domain | None, release: str) -> list[str]:
    """What would explain labels of a column that cannot be read: a sentence on a hierarchy file, or on what it must hold.
    Nothing where they are no plain texts, or the column is ordered. `domain` has the column's values, if they are known."""
    known, form = schema.columns[column], schema.format.of(column)
    labels = {text.strip() for text in unread} - {"", *form.missing}
    if not labels or known.type is Type.ORDINAL:
        return []
    values = set() if domain is None else set(domain.texts[: domain.known])
    folder = Path(schema.name).parent
    for file in _files(folder, Path(release).parent) if values else ():
        try:
            taxonomy = Taxonomy.from_file(file)
        except TaxonomyError:
            continue
        if labels <= set(taxonomy.labels) and values <= set(taxonomy.leaves):
            name = Path(os.path.relpath(file, folder)).as_posix()
            return [f"[columns.{column}]: {quote(name)} explains them. Write taxonomy = {quote(name)} there."]
    if known.taxonomy is not None or known.type is Type.NUMERIC:
        return []
    what = "the label is a group" if len(labels) == 1 else f"the {len(labels)} labels are groups"
    return [
        f"[columns.{column}]: if {what} of the tool's hierarchy, give that file as taxonomy (a row for each value: the "
        "value; its group; …; the root)."
    ]


def _files(*folders: Path) -> Iterator[Path]:
    """The CSV files of some folders and of the folders in them, those that are not large, each once."""
    seen: set[str] = set()
    for folder in folders:
        if not folder.is_dir():
            continue
        inner = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
        for place in (folder, *inner):
            for file in sorted(place.glob("*.csv")):
                real = os.path.realpath(file)
                if (
                    len(seen) < _MOST_FILES
                    and real not in seen
                    and file.is_file()
                    and file.stat().st_size <= _MOST_BYTES
                ):
                    seen.add(real)
                    yield file
