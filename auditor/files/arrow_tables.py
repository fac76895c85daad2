"""Parquet and Arrow files: typed columns in, as text; a release out, as Parquet.

Needs pyarrow (`pip install 'auditor[parquet]'`). A column is converted by its distinct values (Arrow encodes it as a
dictionary), so that a million rows of ten towns make ten texts. `auditor.model.cells` says how values are written. Lists,
structures and the like have no text that a schema could speak of, and are refused.

Writing: a column is written as numbers where each of its texts is the text that its number would be read back as, else as
text; a missing value is null. So what is written reads back without loss (`007` stays a text, `7` becomes a number).
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.files.unpacking import refuse_bomb
from auditor.model.arrays import Ints
from auditor.model.cells import cell_texts, missing_text
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable, check_names
from auditor.model.values import EXACT_INTEGERS, format_number, parse_number, shown

NEEDED = "needs pyarrow: pip install 'auditor[parquet]'"
MOST_CELLS = 400_000_000
"""More cells than fit into the memory of most machines; a small file can claim any number."""
_LONGEST_FAULT = 200


def read_arrow(content: bytes, file: Path, form: TableFormat, kind: str) -> RawTable:
    """The bytes of a Parquet or Arrow (Feather) file as a table of text. `kind` says which, as a message names it."""
    try:
        pa = importlib.import_module("pyarrow")
    except ImportError as error:
        raise TableError(f"{file} is {kind}; reading it {NEEDED}, or export it as CSV.") from error
    try:
        table = _opened(pa, content, file)
        table.validate(full=True)  # a file of others may point outside of its own bytes
    except (pa.ArrowException, OSError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise TableError(f"{file}: {kind} that is damaged or cut short ({_first_line(error)}).") from error
    names = [str(name).strip() for name in table.column_names]
    check_names(names, str(file))
    nested = [shown(name) for name, field in zip(names, table.schema, strict=True) if _is_nested(pa, field.type)]
    if nested:
        raise TableError(
            f"{file}: the column{'s' if len(nested) > 1 else ''} {', '.join(nested[:8])} must hold single values, not lists "
            "or structures. Flatten or leave out what is nested."
        )
    columns = {
        name: _texts(pa, table.column(i), form.of(name), f"{file}, column {name!r}") for i, name in enumerate(names)
    }
    return RawTable(str(file), columns)


def column_texts(values: Any, form: TableFormat, where: str) -> list[str]:
    """The cells of an Arrow array as text."""
    pa = importlib.import_module("pyarrow")
    return _texts(pa, pa.chunked_array([values]), form, where)


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0][:_LONGEST_FAULT].rstrip(".") if text else type(error).__name__


def _opened(pa: ModuleType, content: bytes, file: Path) -> Any:
    """The Arrow table in a file; too many cells are refused before they are unpacked, as far as the file says so."""
    source = pa.BufferReader(content)
    if content.startswith(b"PAR1"):
        reader = importlib.import_module("pyarrow.parquet").ParquetFile
        facts, schema = reader(source).metadata, reader(source).schema_arrow
        _refuse_many(facts.num_rows, facts.num_columns, file)
        refuse_bomb(len(content), sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups)), file)
        # Texts stay numbers of their distinct ones, as they are stored: a long one that stands often is held once.
        texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_binary(field.type)]
        return reader(source, read_dictionary=texts).read()
    ipc = importlib.import_module("pyarrow.ipc")
    if content.startswith(b"ARROW1"):
        reader = ipc.open_file(source)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        reader = ipc.open_stream(source)
        batches = iter(reader)
    kept, rows = [], 0
    for batch in batches:
        rows += batch.num_rows
        _refuse_many(rows, batch.num_columns, file)
        kept.append(batch)
    return pa.Table.from_batches(kept, reader.schema)


def _refuse_many(rows: int, columns: int, file: Path) -> None:
    if rows * columns > MOST_CELLS:
        raise TableError(
            f"{file}: {rows} rows of {columns} columns are more than the {MOST_CELLS} cells a table may have. "
            "Leave out columns that the schema calls neutral, or take a sample."
        )


def _is_nested(pa: ModuleType, kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return bool(pa.types.is_nested(kind))


def _texts(pa: ModuleType, column: Any, form: TableFormat, where: str) -> list[str]:
    """The cells of a column as text, made from its distinct values."""
    try:
        values, numbers = _distinct(pa, column, where)
        narrow = _narrow(pa, values.type)
        texts = cell_texts([narrow(value) for value in values.to_pylist()] if narrow else values.to_pylist(), form)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise TableError(f"{where}: its values ({column.type}) cannot be read ({_first_line(error)}).") from error
    nul = next((text for text in texts if "\x00" in text), None)
    if nul is not None:
        row = int(np.flatnonzero(numbers == texts.index(nul))[0])
        raise TableError(f"{where}, row {row + 1}: a NUL character in {shown(nul)}. Take it out.")
    cells: list[str] = np.array(texts, dtype=object)[numbers].tolist()
    return cells


def _distinct(pa: ModuleType, column: Any, where: str) -> tuple[Any, Ints]:
    """The distinct values of a column, and the number of each cell's value; null is the last value."""
    if isinstance(column.type, pa.BaseExtensionType):
        if isinstance(column.type, pa.UuidType):
            import uuid

            names = [None if raw is None else str(uuid.UUID(bytes=raw)) for raw in _storage(pa, column).to_pylist()]
            column = pa.chunked_array([pa.array(names, pa.string())])
        else:
            column = _storage(pa, column)
    if pa.types.is_run_end_encoded(column.type):
        column = pa.chunked_array([pa.compute.run_end_decode(chunk) for chunk in column.chunks], column.type.value_type)
    if pa.types.is_null(column.type):
        return pa.array([None], pa.null()), np.zeros(len(column), dtype=np.int64)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    values = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
    if _is_bytes(pa, values.type):
        values = _as_text(pa, values, where)
    indices = [chunk.indices.fill_null(len(values)) for chunk in column.chunks]
    numbers = [np.asarray(index.to_numpy(zero_copy_only=False), dtype=np.int64) for index in indices]
    with_null = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return with_null, np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)


def _storage(pa: ModuleType, column: Any) -> Any:
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _is_bytes(pa: ModuleType, kind: Any) -> bool:
    types = pa.types
    return any((types.is_binary(kind), types.is_large_binary(kind), types.is_fixed_size_binary(kind)))


def _as_text(pa: ModuleType, values: Any, where: str) -> Any:
    """Bytes as text: some tools write text without saying that it is text."""
    try:
        return values.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise TableError(
            f"{where}: holds bytes that are no UTF-8 text. Leave the column out, or convert it."
        ) from error


def _narrow(pa: ModuleType, kind: Any) -> Callable[[Any], object] | None:
    """How a value as Python has it gets its own width back, as Arrow hands out narrow numbers as wide ones; None where it
    has it."""
    narrow = np.float32 if pa.types.is_float32(kind) else np.float16 if pa.types.is_float16(kind) else None
    return None if narrow is None else lambda value: None if value is None else narrow(value)


# ----- writing --------------------------------------------------------------------------------------------------------


def require_parquet() -> None:
    """An error, before any work, where Parquet cannot be written."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise UsageError(f"Writing Parquet {NEEDED}, or name the release .csv.") from error


def parquet_bytes(columns: Mapping[str, tuple[Sequence[str], NDArray[np.integer[Any]]]], form: TableFormat) -> bytes:
    """A table as a Parquet file. Each column is given by its distinct texts and the number of each cell's text."""
    require_parquet()
    pa, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    arrays = {}
    for name, (texts, numbers) in columns.items():
        empty = missing_text(form.of(name)) if form.of(name).missing else None
        used = sorted(set(np.unique(numbers).tolist()))
        values = typed([texts[i] for i in used], form.decimal, empty)
        place = np.zeros(len(texts), dtype=np.int64)
        place[used] = np.arange(len(used))
        arrays[name] = pa.array(values).take(pa.array(place[np.asarray(numbers)]))
    stream = io.BytesIO()
    parquet.write_table(pa.table(arrays), stream)
    return stream.getvalue()


def typed(texts: Sequence[str], decimal: str, empty: str | None) -> list[Any]:
    """Texts as what Parquet holds for them: whole numbers, numbers or texts, all alike; `empty` is no value."""
    known = [text for text in texts if text != empty]
    numbers = [parse_number(text, decimal) for text in known]
    exact = [n for n, t in zip(numbers, known, strict=True) if n is not None and format_number(n, decimal) == t]
    if not known or len(exact) < len(known):
        return [None if text == empty else text for text in texts]
    whole = all(number == int(number) and abs(number) <= EXACT_INTEGERS for number in exact)
    found = iter(exact)
    return [None if text == empty else int(next(found)) if whole else next(found) for text in texts]
