"""Faults: what an engine could not do, said as an audit in memory would say it.

Engines speak of their own options, and quote the line that they stumbled over, which holds somebody's values. Neither goes
into a message: what is known to go wrong is put in words of our own, with file, line and remedy; of the rest the first line
is shown, without what it quotes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager

from auditor.engines.engine import Engine, EngineName
from auditor.model.errors import AuditorError, TableError, UsageError

POSTGRES = "postgres"
"""What an engine is called that is a PostgreSQL database."""
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
    """What an engine refuses, as one message that names the table; `column` is what values were asked of."""
    try:
        yield
    except engine_errors(engine) as error:
        raise fault(engine, table, error, column) from error


def engine_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """What an engine raises where it cannot read or reckon."""
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
    """What an engine refused, in words; `name` is that of the table, `column` the one whose values were asked for."""
    text = str(error)
    if type(error).__name__ == "OutOfMemoryException" or any(sign in text for sign in _FULL):
        return UsageError(
            f"{name}: the engine {engine.name} needs more room than it was given. Give more memory (--memory), or a folder "
            "with more space (--spill)."
        )
    if type(error).__module__.startswith("pyarrow"):
        where = name if column is None else f"{name}, column {column!r}"
        return TableError(
            f"{where}: holds values that cannot be fetched, such as a numeric with more than 9 decimals, or NaN. Give a view "
            "that makes it a text or double precision, or call the column neutral."
        )
    if "CSV" in text and engine.name == EngineName.DUCKDB:
        return TableError(_csv_fault(name, text))
    if any(sign in text for sign in _MALFORMED):
        return TableError(
            f"{name}: a CSV line does not have as many cells as there are columns, or its quotes are wrong. Quote cells that "
            "hold the delimiter, or say the right [table] delimiter. The engine duckdb names the line."
        )
    if any(sign in text.lower() for sign in _PARQUET):
        return TableError(
            f"{name}: Parquet that is damaged or cut short, or files whose columns differ ({first_line(error)})."
        )
    return TableError(f"{name}: the engine {engine.name} stopped: {first_line(error)}.")


def _csv_fault(name: str, text: str) -> str:
    """What DuckDB says of a CSV file, without the line that it quotes."""
    file, line, cells = _FILE.search(text), _LINE.search(text), _CELLS.search(text)
    where = (file[1].strip() if file else name) + (f", line {line[1]}" if line else "")
    if cells:
        return (
            f"{where}: {cells[2]} cells where there are {cells[1]} columns. Quote cells that hold the delimiter, or say the "
            "right [table] delimiter."
        )
    if "Invalid unicode" in text:
        return f"{where}: the text is not UTF-8. {ELSEWHERE}"
    if "Maximum line size" in text:
        return f"{where}: a line longer than 2 000 000 bytes. Is a quote never closed? Or use --engine memory."
    if "unterminated quote" in text:
        return f"{where}: not a proper CSV line. Check its quotes."
    return (
        f"{where}: not proper CSV. All lines must end in the same way (LF, or CR and LF), and quotes must be closed. Write "
        "it anew, or use --engine memory."
    )


def first_line(error: Exception) -> str:
    """The first line of what an engine says, shortened, without the values that it quotes."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return _QUOTED.sub("'…'", lines[0])[:_SHOWN].rstrip(".") if lines else type(error).__name__
