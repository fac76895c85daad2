"""Parquet and Arrow files (Feather is Arrow): typed columns are read as text; tables are written as Parquet.

Needs pyarrow (`pip install 'auditor[parquet]'`). Only the distinct values of a column are converted (Arrow encodes it as a
dictionary): a million rows of ten towns make ten texts. `auditor.model.cells` says how values are written as text. Lists,
structures and other nested values have no text that a schema could describe, and are refused.

A column is written as numbers where every text is exactly how its number would be read back, else as text; a missing value
is null. So a table reads back without loss: `007` stays a text, `7` becomes a number.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from auditor.files.formats import Format, begins_with
from auditor.files.unpacking import refuse_bomb
from auditor.model.arrays import Ints
from auditor.model.cells import cell_texts, missing_text
from auditor.model.discretion import cause, header, shown, told
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable, check_names
from auditor.model.values import EXACT_INTEGERS, format_number, parse_number

NEEDED = "needs pyarrow: pip install 'auditor[parquet]'"
MOST_CELLS = 400_000_000  # more than most machines can hold; a small file can claim any number of cells
_PARQUET, _FILE, _STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_KINDS = {_PARQUET: "a Parquet file", _FILE: "an Arrow file", _STREAM: "an Arrow stream"}


def read_arrow(content: bytes, file: Path, form: TableFormat, expected: Sequence[str] = ()) -> RawTable:
    """The bytes of a Parquet or Arrow (Feather) file as a table of text."""
    kind = next(kind for magic, kind in _KINDS.items() if content.startswith(magic))
    try:
        pa = importlib.import_module("pyarrow")
    except ImportError as error:
        raise TableError(f"{file} is {kind}. Reading it {NEEDED}. Or export it as CSV.") from error
    try:
        table = _opened(pa, content, file)
        table.validate(full=True)  # a file from elsewhere may point outside its own bytes
    except (pa.ArrowException, OSError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise TableError(f"{file} is {kind} that is damaged or cut short ({told(error)}).") from cause(error)
    names = [str(name).strip() for name in table.column_names]
    check_names(names, str(file))
    places = [header(place, name, expected) for place, name in enumerate(names, 1)]
    nested = [place for place, field in zip(places, table.schema, strict=True) if _is_nested(pa, field.type)]
    if nested:
        raise TableError(
            f"{file}: {', '.join(nested[:8])} must hold single values, not lists or structures. Flatten nested columns, or "
            "leave them out."
        )
    columns = {name: _texts(pa, table.column(i), form.of(name), f"{file}, {places[i]}") for i, name in enumerate(names)}
    return RawTable(str(file), columns)


def column_texts(values: Any, form: TableFormat, where: str) -> list[str]:
    """The cells of an Arrow array as text."""
    pa = importlib.import_module("pyarrow")
    return _texts(pa, pa.chunked_array([values]), form, where)


def _opened(pa: ModuleType, content: bytes, file: Path) -> Any:
    """The Arrow table in a file. Too many cells are refused before they are unpacked, where the file states their number."""
    source = pa.BufferReader(content)
    if content.startswith(_PARQUET):
        reader = importlib.import_module("pyarrow.parquet").ParquetFile
        facts, schema = reader(source).metadata, reader(source).schema_arrow
        _refuse_many(facts.num_rows, facts.num_columns, file)
        refuse_bomb(len(content), sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups)), file)
        # Texts stay dictionary-encoded, as they are stored: a long text that occurs often is held once.
        texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_binary(field.type)]
        return reader(source, read_dictionary=texts).read()
    ipc = importlib.import_module("pyarrow.ipc")
    if content.startswith(_FILE):
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
            f"{file}: a table may have at most {MOST_CELLS} cells. Got {rows} rows of {columns} columns. Leave out neutral "
            "columns, or take a sample."
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
        raise TableError(f"{where}: the values ({column.type}) cannot be read ({told(error)}).") from cause(error)
    nul = np.flatnonzero(np.isin(numbers, [i for i, text in enumerate(texts) if "\x00" in text]))
    if len(nul):
        row, text = int(nul[0]), texts[numbers[nul[0]]]
        raise TableError(f"{where}, row {row + 1}: {shown(text)} holds a NUL character. Remove it.")
    cells: list[str] = np.array(texts, dtype=object)[numbers].tolist()
    return cells


def _distinct(pa: ModuleType, column: Any, where: str) -> tuple[Any, Ints]:
    """The distinct values of a column, with null as the last one, and the number of each cell's value."""
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
            f"{where}: holds bytes that are not UTF-8 text. Convert the column, or leave it out."
        ) from cause(error)


def _narrow(pa: ModuleType, kind: Any) -> Callable[[Any], object] | None:
    """How to give a value its width back, since Arrow hands out narrow numbers as wide ones; None where it has it."""
    narrow = np.float32 if pa.types.is_float32(kind) else np.float16 if pa.types.is_float16(kind) else None
    return None if narrow is None else lambda value: None if value is None else narrow(value)


# ----- writing --------------------------------------------------------------------------------------------------------


def require_parquet() -> None:
    """An error, before any work, where Parquet cannot be written."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise UsageError(f"Writing Parquet {NEEDED}. Or give the file the ending .csv.") from error


def write_parquet(table: RawTable, form: TableFormat) -> bytes:
    """A table of text as a Parquet file."""
    require_parquet()
    pa, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    arrays = {}
    for name, cells in table.columns.items():
        empty = missing_text(form.of(name)) if form.of(name).missing else None
        coded = pa.array(cells, pa.large_string()).dictionary_encode()
        arrays[name] = pa.array(typed(coded.dictionary.to_pylist(), form.decimal, empty)).take(coded.indices)
    stream = io.BytesIO()
    parquet.write_table(pa.table(arrays), stream)
    return stream.getvalue()


def typed(texts: Sequence[str], decimal: str, empty: str | None) -> list[Any]:
    """Texts as Parquet holds them: all whole numbers, all numbers or all texts. `empty` is the text of a missing value."""
    known = [text for text in texts if text != empty]
    numbers = [parse_number(text, decimal) for text in known]
    exact = [n for n, t in zip(numbers, known, strict=True) if n is not None and format_number(n, decimal) == t]
    if not known or len(exact) < len(known):
        return [None if text == empty else text for text in texts]
    whole = all(number == int(number) and abs(number) <= EXACT_INTEGERS for number in exact)
    found = iter(exact)
    return [None if text == empty else int(next(found)) if whole else next(found) for text in texts]


PARQUET = Format("Parquet", (".parquet",), read_arrow, begins_with(_PARQUET), write_parquet, require_parquet)
ARROW = Format("Arrow", (".arrow", ".feather"), read_arrow, begins_with(_FILE, _STREAM))
