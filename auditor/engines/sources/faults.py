"""Faults: what an engine could not do, reported as an audit in memory would report it.

Engines mention their own options and quote the offending line, which holds somebody's values. Neither may go into a message.
Known faults are described in our own words, with file, line and remedy. Of any other, only the kind is told.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager

from auditor.engines.engine import Engine, EngineName
from auditor.model.discretion import cause, told
from auditor.model.errors import AuditorError, TableError, UsageError

POSTGRES = "postgres"  # the name of an engine that is a PostgreSQL database
ELSEWHERE = "Convert it to UTF-8, or use --engine memory."
_SHOWN = 300
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_QUOTED = re.compile(r"'[^']*'")
_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)
_CELLS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_MALFORMED = ("MALFORMED_RECORD", "Malformed records", "MalformedInputException")
_PARQUET = ("parquet", "tprotocolexception", "thrift", "decompress", "snappy", "zstd", "gzip")
_FULL = ("OutOfMemoryError", "Java heap space", "GC overhead")


@contextmanager
def asking(engine: Engine, table: str, column: str | None = None) -> Iterator[None]:
    """Turns an engine's error into a message that names the table. `column` is the column whose values were read."""
    try:
        yield
    except engine_errors(engine) as error:
        raise fault(engine, table, error, column) from cause(error)


def engine_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """What an engine raises if it cannot read or compute something."""
    if engine.name == EngineName.SPARK:
        found = importlib.import_module("pyspark.errors").PySparkException
        return (found, importlib.import_module("py4j.protocol").Py4JError)
    if engine.name == POSTGRES:
        arrow, duckdb = importlib.import_module("pyarrow"), importlib.import_module("duckdb")
        return (*postgres_errors(), arrow.ArrowException, duckdb.Error)
    return (importlib.import_module("duckdb").Error,)


def postgres_errors() -> tuple[type[Exception], ...]:
    """What the driver of PostgreSQL raises."""
    return (OSError, importlib.import_module("psycopg").Error)


def fault(engine: Engine, name: str, error: Exception, column: str | None = None) -> AuditorError:
    """An engine's error in our words. `name` is the table, `column` the column whose values were read."""
    text = str(error)
    if type(error).__name__ == "OutOfMemoryException" or any(sign in text for sign in _FULL):
        return UsageError(
            f"{name}: the engine {engine.name} needs more room than it was given. Give more memory (--memory), or a folder "
            "with more space (--spill)."
        )
    if type(error).__module__.startswith("pyarrow"):
        where = name if column is None else f"{name}, column {column!r}"
        return TableError(
            f"{where}: has values that cannot be fetched, such as NaN or a numeric with more than 9 decimals. Give a view "
            "that converts it to text or double precision, or declare the column neutral."
        )
    if "CSV" in text and engine.name == EngineName.DUCKDB:
        return TableError(_csv_fault(name, text))
    if any(sign in text for sign in _MALFORMED):
        return TableError(
            f"{name}: a CSV line does not have as many cells as there are columns, or its quotes are wrong. Quote cells that "
            "contain the delimiter, or set the right [table] delimiter. The engine duckdb reports the line."
        )
    if any(sign in text.lower() for sign in _PARQUET):
        return TableError(
            f"{name}: the Parquet is damaged or cut short, or its files have different columns ({told(error)})."
        )
    return TableError(f"{name}: the engine {engine.name} stopped ({told(error)}).")


def _csv_fault(name: str, text: str) -> str:
    """DuckDB's report on a CSV file, without the line that it quotes."""
    file, line, cells = _FILE.search(text), _LINE.search(text), _CELLS.search(text)
    where = (file[1].strip() if file else name) + (f", line {line[1]}" if line else "")
    if cells:
        return (
            f"{where}: {cells[2]} cells, but there are {cells[1]} columns. Quote cells that contain the delimiter, or set "
            "the right [table] delimiter."
        )
    if "Invalid unicode" in text:
        return f"{where}: the text is not UTF-8. {ELSEWHERE}"
    if "Maximum line size" in text:
        return f"{where}: a line longer than 2 000 000 bytes. Is a quote never closed? Or use --engine memory."
    if "unterminated quote" in text:
        return f"{where}: not a valid CSV line. Check its quotes."
    return (
        f"{where}: not valid CSV. All lines must end in the same way (LF, or CR and LF), and quotes must be closed. Write "
        "the file again, or use --engine memory."
    )


def first_line(error: Exception) -> str:
    """The first line of an engine's message about a database that it could not open, before any row was read: shortened,
    without what it quotes."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return _QUOTED.sub("'…'", lines[0])[:_SHOWN].rstrip(".") if lines else type(error).__name__
