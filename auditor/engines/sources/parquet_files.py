"""Parquet files of a release: their columns, from their footers, before an engine reads them.

Engines take the columns of the first file for those of all: what another file has besides is passed over, and its numbers are
made those of the first (1.4 becomes 1 where that has whole numbers). Such files are refused, whatever the engine.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.engines.sources.faults import first_line
from auditor.model.errors import TableError
from auditor.model.table import check_names


def same_columns(where: Path, files: Sequence[Path]) -> tuple[str, ...]:
    """The columns that are stored in each of the files, or an error where they differ in name or type."""
    first = _columns(where, files[0])
    for file in files[1:]:
        other = _columns(where, file)
        if other != first:
            name = next(n for n in (*first, *other) if first.get(n) != other.get(n))
            kinds = [str(found.get(name, "absent")) for found in (first, other)]
            raise TableError(
                f"{where}: files whose columns differ: {name!r} is {kinds[0]} in {files[0].name} and {kinds[1]} in "
                f"{file.name}. Write all of them with the same columns and types."
            )
    return tuple(first)


def _columns(where: Path, file: Path) -> dict[str, Any]:
    """The columns of a file with their types, texts being texts however they are laid out."""
    pa = importlib.import_module("pyarrow")
    try:
        schema = importlib.import_module("pyarrow.parquet").read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{where}: Parquet that is damaged or cut short ({first_line(error)}).") from error
    check_names([name.strip() for name in schema.names], str(file))
    plain = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    found = {}
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        found[field.name] = plain.get(kind, kind)
    return found
