"""The columns of a release's Parquet files, read from their footers before an engine reads them.

Engines take the columns of the first file for those of all. They ignore further columns of other files and convert their
numbers to the types of the first (1.4 becomes 1 if that has whole numbers). Such files are refused for every engine.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.model.discretion import cause, header, told
from auditor.model.errors import TableError
from auditor.model.table import check_names


def same_columns(where: Path, files: Sequence[Path], known: Sequence[str]) -> tuple[str, ...]:
    """The columns stored in every file. An error if files differ in a column's name or type; `known` are the names that it
    may show."""
    first = _columns(where, files[0])
    for file in files[1:]:
        other = _columns(where, file)
        if other != first:
            place, name = next(
                (i, n) for names in (first, other) for i, n in enumerate(names, 1) if first.get(n) != other.get(n)
            )
            kinds = [str(found.get(name, "absent")) for found in (first, other)]
            raise TableError(
                f"{where}: the files have different columns: {header(place, name, known)} is {kinds[0]} in {files[0].name} "
                f"and {kinds[1]} in {file.name}. Write all of them with the same columns and types."
            )
    return tuple(first)


def _columns(where: Path, file: Path) -> dict[str, Any]:
    """The columns of a file with their types. All layouts of text count as text."""
    pa = importlib.import_module("pyarrow")
    try:
        schema = importlib.import_module("pyarrow.parquet").read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{where}: the Parquet is damaged or cut short ({told(error)}).") from cause(error)
    check_names([name.strip() for name in schema.names], str(file))
    plain = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    found = {}
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        found[field.name] = plain.get(kind, kind)
    return found
