"""Hierarchy files that would explain the labels of a release.

A tool that generalises writes groups (`Higher education` beside `Masters`), and a schema without its hierarchy cannot tell
what they hold. Users mostly have the file: it was given to the tool. So where labels of a column cannot be read, the CSV
files beside the schema and the release, and in the folders there, are tried: one whose leaves are the column's values and
whose labels hold all that could not be read explains them.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from auditor.model.discretion import quote
from auditor.model.domain import Domain
from auditor.model.errors import TaxonomyError
from auditor.model.schema import Schema, Type
from auditor.model.taxonomy import Taxonomy

_MOST_FILES = 200
_MOST_BYTES = 2_000_000
_LOOKED_AT = 200


def explaining(schema: Schema, column: str, unread: Collection[str], domain: Domain | None, release: str) -> list[str]:
    """What would explain labels of a column that cannot be read: a sentence on a hierarchy file, or on what it must hold.
    Nothing where they are no plain texts, or the column is ordered. `domain` has the column's values, if they are known."""
    known, form = schema.columns[column], schema.format.of(column)
    labels = {text.strip() for text in unread} - {"", *form.missing}
    if not labels or known.type is Type.ORDINAL:
        return []
    values = set() if domain is None else set(domain.texts[: domain.known])
    folder = Path(schema.name).parent
    for file, taxonomy in hierarchies(folder, Path(release).parent) if values else ():
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


def hierarchies(*folders: Path) -> Iterator[tuple[Path, Taxonomy]]:
    """The hierarchy files in some folders and in the folders there, each once."""
    for file in _files(*folders):
        try:
            with file.open(encoding="utf-8", errors="replace", newline="") as stream:
                first = [row[0] for row in islice(csv.reader(stream, delimiter=";"), _LOOKED_AT) if len(row) > 1]
            if first and len(set(first)) == len(first):  # in a table, values come again
                yield file, Taxonomy.from_file(file)
        except (OSError, csv.Error, TaxonomyError):
            continue


def _files(*folders: Path) -> list[Path]:
    """The CSV files of some folders and of the folders in them, those that are not large."""
    held = {folder: _held(folder) for folder in folders}
    inner = [one for inside in held.values() for one in inside if one.name[:1] != "." and os.path.isdir(one)]
    held |= {folder: _held(folder) for folder in inner}
    found = {os.path.realpath(one): one for inside in held.values() for one in inside if one.suffix == ".csv"}
    return [file for file in found.values() if _is_small(file)][:_MOST_FILES]


def _held(folder: Path) -> list[Path]:
    """What is in a folder; nothing where it is none, or may not be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_small(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_size <= _MOST_BYTES
    except OSError:
        return False
