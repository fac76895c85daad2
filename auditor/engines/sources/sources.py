"""Sources: tables that an engine reads where they are.

- a Parquet or CSV file, or a folder of such files, all of one kind (but not our own release folders of several blocks, which
  are not one table);
- a table of a DuckDB file, `duckdb:///folder/file.duckdb#table`, or of a PostgreSQL database,
  `postgres://user:password@host:port/database#table` (`#schema.table` for a schema other than public). `#table` may be left
  out if there is only one. A database does the counting itself: its rows do not come here.

Cells of CSV files are texts, as when they are read into memory; an empty cell is the empty text. The code that reads files
into memory finds the delimiter and the header from the first lines.
"""

from __future__ import annotations

import codecs
import hashlib
import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from uuid import uuid4

from auditor.engines.engine import Engine, EngineName
from auditor.engines.sources.faults import ELSEWHERE, POSTGRES, engine_errors, fault, first_line, postgres_errors
from auditor.engines.sources.file_paths import folder_columns, home_of, literal_paths
from auditor.engines.sources.parquet_files import same_columns
from auditor.files.csv_tables import STATED, read_csv
from auditor.files.manifests import MANIFEST
from auditor.files.tables import sha256
from auditor.model.discretion import cause, header, told
from auditor.model.errors import TableError, UsageError
from auditor.model.schema import TableFormat
from auditor.model.table import check_names

DATABASES = ("duckdb://", "postgres://", "postgresql://")
_HEAD = 1_000_000  # how many bytes of a CSV file are read to find its delimiter and header
_CHUNK = 1 << 22
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")  # the first bytes of compressed files
_TABLES = "select table_name from information_schema.tables where table_catalog = ? and table_schema = 'main'"
_OWN_TYPES = """select column_name from information_schema.columns where data_type = 'USER-DEFINED'
    and table_schema = coalesce(%s, current_schema()) and table_name = %s"""
"""The columns of a PostgreSQL table whose type cannot be compared with text, such as enumerations. They are cast to text."""
_UTF8 = ("utf-8", "utf-8-sig", "ascii")
_APART = "a release and a population are counted in one place: both must be files, or tables of the same database."


@dataclass(frozen=True, slots=True)
class Source:
    """A table in an engine: `table` is the Ibis table, `cells_are_text` says whether it comes from CSV."""

    name: str
    table: Any
    cells_are_text: bool = False
    sha256: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.table.columns)


def is_database(where: str) -> bool:
    """Whether this is the address of a table in a database."""
    return where.startswith(DATABASES)


def shown_address(where: str) -> str:
    """An address without user and password, which must not go into audit records and messages. An error if it is unclear
    which part of the address they are."""
    if not where.startswith(DATABASES[1:]):
        return where
    hidden = f"{where.partition('://')[0]}://…"
    try:
        parts = urlsplit(where)
        parted = "@" not in parts.path + parts.query + parts.fragment
        _ = parts.port
    except ValueError:  # a port that is not a number may be a password
        parted = False
    if not parted:
        raise UsageError(
            f"{hidden}: must be postgres://user:password@host:port/database#table. The port must be a number. In user, "
            "password and table, write characters other than letters and digits as %40 (@), %23 (#), %2F (/)."
        )
    if parts.query:
        raise UsageError(f"{hidden}: takes no settings after '?'. PostgreSQL reads them from PGSSLMODE and the like.")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def files_of(where: Path) -> list[Path]:
    """The data files of a path: the file itself, or all files in a folder and its subfolders, sorted by name."""
    if not where.exists():
        raise TableError(f"{where}: there is no such file or folder.")
    if where.is_file():
        return [where]
    if (where / MANIFEST).is_file():
        raise TableError(
            f"{where}: a release of several blocks is audited in memory. Leave out --engine, or give --engine memory."
        )
    found = sorted(f for f in where.rglob("*") if f.is_file() and not f.name.startswith((".", "_")))
    if not found:
        raise TableError(f"{where}: the folder has no files. It must hold Parquet or CSV files.")
    return found


def open_source(engine: Engine, where: str, form: TableFormat, expected: Sequence[str]) -> Source:
    """A table in an engine, its columns checked. `expected` are the column names in the schema."""
    if "://" in where and not is_database(where):
        shown = where.partition("://")[0]
        raise UsageError(f"The address of a table must begin with {' or '.join(DATABASES[:2])}. Got {shown}://….")
    source = _database(engine, where) if is_database(where) else _files(engine, Path(where), form, expected)
    engine.opened = True
    names = [str(name).strip() for name in source.columns]
    check_names(names, source.name)
    if tuple(names) != source.columns:
        source = replace(source, table=source.table.rename(dict(zip(names, source.columns, strict=True))))
    kinds = enumerate(source.table.schema().items(), 1)
    nested = [header(place, name, expected) for place, (name, kind) in kinds if kind.is_nested()]
    if nested:
        raise TableError(
            f"{source.name}: {', '.join(nested[:8])} must hold single values, not lists or structures. Flatten nested "
            "columns or leave them out."
        )
    odd = [name for name, kind in source.table.schema().items() if not _is_plain(kind)]
    if odd:  # such as enumerations, UUIDs, and columns without any values
        source = replace(source, table=source.table.mutate(**{c: source.table[c].cast("string") for c in odd}))
    return source


def _is_plain(kind: Any) -> bool:
    """Whether values of a type come back unchanged from every engine."""
    numbers = kind.is_numeric() or kind.is_boolean()
    return bool(numbers or kind.is_string() or kind.is_binary() or kind.is_temporal() or kind.is_interval())


# ----- files ----------------------------------------------------------------------------------------------------------


def _files(engine: Engine, where: Path, form: TableFormat, expected: Sequence[str]) -> Source:
    if engine.name == POSTGRES:
        raise UsageError(f"{where}: {_APART}")
    files = files_of(where)
    for file in files:
        if any("\ud800" <= sign <= "\udfff" for sign in str(file)):  # how Python reads a name that is no UTF-8
            raise TableError(
                f"{file}: an engine reads files whose names are UTF-8. Rename it, or give --engine memory."
            )
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        odd = next(file for file in files if _kind(file) != _kind(files[0]))
        raise TableError(
            f"{where}: all files must be of one kind, Parquet or CSV. {files[0].name} and {odd.name} are not. (A release of "
            f"several blocks must have its {MANIFEST} beside them.)"
        )
    if kinds == {"parquet"}:
        return _parquet(engine, where, files, expected)
    return _csv(engine, where, files, form, expected)


def _kind(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return "parquet" if stream.read(4) == b"PAR1" else "csv"
    except OSError as error:
        raise TableError(f"{file}: the file cannot be read ({error.strerror}).") from error


def _parquet(engine: Engine, where: Path, files: list[Path], expected: Sequence[str]) -> Source:
    stored = same_columns(where, files, expected)
    inside, above = _folder_columns(engine, where, files, stored, expected)
    spark = engine.name == EngineName.SPARK
    paths = literal_paths(files, spark)
    try:
        if spark:  # each file by its path: Spark ignores files of inner folders
            table = _viewed(engine, _reader(engine, where).parquet(*paths))
        else:
            table = engine.con.read_parquet(paths, hive_partitioning=bool(inside), hive_types_autocast=False)
            table = table.drop(*(above & set(table.columns)))
    except engine_errors(engine) as error:
        raise TableError(
            f"{where}: the Parquet is damaged or cut short, or its files have different columns ({told(error)})."
        ) from cause(error)
    return Source(str(where), table, False, digest(files))


def _folder_columns(
    engine: Engine, where: Path, files: Sequence[Path], stored: Sequence[str], expected: Sequence[str]
) -> tuple[set[str], set[str]]:
    """The columns that folders inside a release add to the stored ones, and those that only folders above it would add. An
    error if two columns differ only in case: engines take them for one, or rename one of them."""
    inside, above = folder_columns(where, files)
    names = [name.strip() for name in (*stored, *sorted(inside))]
    check_names(names, str(where))
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        other = seen.setdefault(name.casefold(), place)
        if other != place:
            both = " and ".join(header(one, names[one - 1], expected) for one in (other, place))
            raise TableError(
                f"{where}: {both} have the same name to the engine {engine.name}, which ignores case. Rename one of them, or "
                "use --engine memory."
            )
    return inside, above - inside - set(stored)


def _reader(engine: Engine, where: Path) -> Any:
    """Spark's reader of files. Values from folder names are read as text."""
    session = engine.con._session
    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    return session.read.option("basePath", str(home_of(where)))


def _viewed(engine: Engine, frame: Any) -> Any:
    """A frame of Spark as an Ibis table."""
    name = f"auditor_{uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return engine.con.table(name)


@dataclass(frozen=True, slots=True)
class _Written:
    """How a CSV file is written: its columns and delimiter, whether it has a header, and how many lines stand above that."""

    header: tuple[str, ...]
    delimiter: str
    headed: bool
    above: int


def _csv(engine: Engine, where: Path, files: list[Path], form: TableFormat, expected: Sequence[str]) -> Source:
    found = [_written(file, form, expected) for file in files]
    way = found[0][0]
    for file, (other, _) in zip(files, found, strict=True):
        if other != way:
            raise TableError(f"{file}: must have the columns and the delimiter of {files[0]}.")
    inside, above = _folder_columns(engine, where, files, way.header, expected)
    paths, alone = literal_paths(files, engine.name == EngineName.SPARK), len(way.header) == 1
    try:
        if engine.name == EngineName.SPARK:
            if way.above:
                raise TableError(
                    f"{files[0]}: Spark reads CSV whose header is its first line. Remove the line above it."
                )
            frame = _reader(engine, where).csv(
                paths,
                schema=", ".join(f"`{name.replace('`', '``')}` string" for name in way.header),
                sep=way.delimiter, header=way.headed, quote='"', escape='"', mode="FAILFAST",
                multiLine=True, ignoreLeadingWhiteSpace=True, enforceSchema=True,
            )  # fmt: skip
            table = _viewed(engine, frame)
        else:
            table = engine.con.read_csv(
                paths,
                delim=way.delimiter, header=way.headed, quote='"', escape='"', skip=way.above,
                strict_mode=True, null_padding=False, auto_detect=False, allow_quoted_nulls=not alone,
                columns=dict.fromkeys(way.header, "VARCHAR"),
                hive_partitioning=bool(inside), hive_types_autocast=False,
            )  # fmt: skip
            table = table.drop(*(above & set(table.columns)))
    except engine_errors(engine) as error:
        raise fault(engine, str(where), error) from cause(error)
    if alone:  # in a table of one column an empty line is no row, and an empty cell is quoted
        table = table.filter(table[way.header[0]].notnull())
    return Source(str(where), table, True, digest(files), tuple(note for _, notes in found for note in notes))


def _written(file: Path, form: TableFormat, expected: Sequence[str]) -> tuple[_Written, tuple[str, ...]]:
    """How a CSV file is written, judged by its beginning, with notes on that."""
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        whole = not stream.read(1)
    if head.startswith(_PACKED):
        raise TableError(f"{file}: an engine cannot read compressed CSV. Unpack it, or use --engine memory.")
    if not whole:
        if b"\n" not in head:
            raise TableError(f"{file}: its first line is longer than {_HEAD} bytes. Is it a table?")
        head = head[: head.rindex(b"\n") + 1]
    _check_encoding(head, file, form)
    raw = read_csv(head, file, form, expected)
    above = 1 if STATED.match(head.decode("utf-8-sig")) else 0
    first = raw.lines[0] if raw.lines else 2 + above
    if first > 2 + above:
        raise TableError(
            f"{file}: an engine needs CSV with the header in its first line and rows right below. Remove empty lines there."
        )
    return _Written(tuple(raw.columns), raw.delimiter, first == 2 + above, above), tuple(raw.notes)


def _check_encoding(head: bytes, file: Path, form: TableFormat) -> None:
    """An error if a CSV file is not UTF-8, judged by its beginning and the schema."""
    marked = head.startswith(codecs.BOM_UTF8)
    if not marked and form.encoding is not None and codecs.lookup(form.encoding).name not in _UTF8:
        raise TableError(f"{file}: an engine reads CSV in UTF-8, and [table] says {form.encoding}. {ELSEWHERE}")
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise TableError(f"{file}, line {line}: the text is not UTF-8. {ELSEWHERE}") from error


def digest(files: Iterable[Path]) -> str:
    """The SHA-256 of a file. For several files, the SHA-256 of their digests, joined."""
    found = []
    for file in files:
        running = hashlib.sha256()
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                running.update(chunk)
        found.append(running.hexdigest())
    return found[0] if len(found) == 1 else sha256("".join(found).encode())


# ----- databases ------------------------------------------------------------------------------------------------------


def _database(engine: Engine, where: str) -> Source:
    if engine.name == EngineName.SPARK:
        raise UsageError("The engine spark reads files. Leave out --engine for a table in a database.")
    shown = shown_address(where)
    parts = urlsplit(where)
    if parts.scheme == "duckdb":
        file = Path(unquote(parts.netloc + parts.path if parts.netloc else parts.path))
        file = file if file.exists() else Path(str(file).lstrip("/"))
        if not file.is_file():
            raise TableError(f"{shown}: there is no such file. Write duckdb:///folder/file.duckdb#table.")
        return _duckdb(engine, file, shown, unquote(parts.fragment))
    return _postgres(engine, where, shown, unquote(parts.fragment))


def _duckdb(engine: Engine, file: Path, shown: str, wanted: str) -> Source:
    if engine.name == POSTGRES:
        raise UsageError(f"{shown}: {_APART}")
    address = str(file.resolve())
    name = engine.databases.get(address, f"given{len(engine.databases)}")
    try:
        if address not in engine.databases:
            engine.con.attach(file, name, read_only=True)
            engine.databases[address] = name
        tables = [row[0] for row in engine.con.con.execute(_TABLES, [name]).fetchall()]
    except engine_errors(engine) as error:
        raise TableError(f"{shown}: not a DuckDB file, or it cannot be opened ({first_line(error)}).") from error
    return Source(shown, engine.con.table(_chosen(wanted, tables, shown), database=name))


def _postgres(engine: Engine, where: str, shown: str, wanted: str) -> Source:
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        raise UsageError("A PostgreSQL table needs its driver: pip install 'auditor[postgres]'.") from error
    parts = urlsplit(where)
    space, _, name = wanted.rpartition(".")
    address = shown.partition("#")[0]
    if engine.opened and address not in engine.databases:
        raise UsageError(f"{shown}: {_APART}")
    try:
        if address not in engine.databases:
            engine.use_database(POSTGRES, address, engine.ibis.postgres.connect(**_connection(parts)))
        tables = engine.con.list_tables(database=space or None)
        name = _chosen(name, tables, shown)
        table = engine.con.table(name, database=space or None)
        own = engine.con.con.execute(_OWN_TYPES, (space or None, name)).fetchall()
        table = table.mutate(**{column: table[column] + "" for (column,) in own if table[column].type().is_string()})
    except postgres_errors() as error:
        said = first_line(error).replace(f'user "{unquote(parts.username or "")}"', "the user")
        raise TableError(f"{shown}: the database cannot be reached or read ({said}).") from error
    return Source(shown, table)


def _connection(parts: SplitResult) -> dict[str, Any]:
    """How a database is reached, from its address."""
    return {
        "host": parts.hostname or "localhost",
        "port": parts.port or 5432,
        "user": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
        "database": unquote(parts.path.lstrip("/")) or None,
    }


def _chosen(wanted: str, tables: Sequence[str], shown: str) -> str:
    listed = ", ".join(sorted(tables)[:12]) or "none"
    if wanted:
        if wanted not in tables:
            raise TableError(f"{shown}: there is no table {wanted!r}. There are: {listed}.")
        return wanted
    if len(tables) != 1:
        raise TableError(f"{shown}: say which table, as …#table. There are: {listed}.")
    return tables[0]
