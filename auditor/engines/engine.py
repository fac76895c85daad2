"""Engines: where a scan runs, and how much memory it may use.

DuckDB runs inside this process, with one thread per core. It gets the part of `--memory` that Python and the libraries do
not need. What does not fit is written to a spill folder (`--spill`), which is removed at the end. `auditor.engines.spark`
starts Spark or finds a running one. A database groups rows in its own memory; DuckDB keeps the results.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from auditor.engines.pool import processors
from auditor.engines.spark import spark_session
from auditor.files.writing import own_folder
from auditor.model.errors import UsageError

OWN_NEED = 350_000_000  # the memory that Python and the libraries of a scan need, in bytes
LEAST_MEMORY = 500_000_000  # less than this is refused: the libraries would leave an engine nothing to work with
LEAST_SPACE = 100_000_000  # a spill folder must have at least this much room
_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_POLL = 0.5
_BATCH = 100_000  # rows fetched from a database at a time: on the way they are Python objects
_INTERRUPTED = "Query interrupted"  # what DuckDB reports after Ctrl-C
NEEDED = "needs Ibis and DuckDB: pip install 'auditor[scan]'"


class EngineName(StrEnum):
    """The engines that a user can ask for."""

    MEMORY = "memory"
    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(slots=True)
class Engine:
    """An open engine."""

    name: str
    ibis: Any  # the Ibis module
    con: Any  # the Ibis backend
    memory: int | None = None  # the bytes it may use; None if that is not ours to decide
    spill: Path | None = None
    own: Any = None  # the DuckDB of this process, which is there even if a database does the counting
    opened: bool = False  # whether a table has been opened in it
    databases: dict[str, str] = field(default_factory=dict)  # the names of the opened databases, by address

    def use_database(self, name: str, address: str, con: Any) -> None:
        """Lets a database do the counting, in its own memory. The results come into our own DuckDB."""
        self.name, self.con = name, con
        self.databases[address] = name


def read_memory(text: str) -> int:
    """The bytes of a size such as `1GB`, `800 MB` or `2GiB`."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    unit = found[2].upper() if found else ""
    if not found or unit not in _UNITS:
        raise UsageError(f"--memory must be a size such as 1GB or 800MB. Got {text!r}.")
    size = int(float(found[1]) * _UNITS[unit])
    if size < LEAST_MEMORY:
        raise UsageError(f"--memory must be at least 500MB: the libraries take most of that. Got {text!r}.")
    return size


def machine_memory() -> int:
    """The memory of this machine or container, in bytes."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        if os.path.exists(limit):
            text = Path(limit).read_text(encoding="ascii").strip()
            if text.isdigit():
                size = min(size, int(text))
    return size


def default_memory() -> int:
    """What a scan may use by default: half of the machine's memory."""
    return max(machine_memory() // 2, LEAST_MEMORY)


@contextmanager
def open_engine(name: str, memory: int | None = None, spill: Path | None = None) -> Iterator[Engine]:
    """An engine for one scan. Its spill folder is removed afterwards."""
    memory = default_memory() if memory is None else memory
    ibis = import_ibis()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(ibis|pyspark)\.")  # about coming changes in pandas
        if name == EngineName.SPARK:
            if spill is not None:
                raise UsageError("--spill is for DuckDB: Spark puts its files where spark.local.dir says.")
            session = _small_shuffles(spark_session(f"{memory // 2**20}m"))
            yield Engine(name, ibis, ibis.pyspark.connect(session), memory)
            return
        with _spill_folder(spill) as folder:
            limit = f"{duckdb_limit(memory) // 1_000_000}MB"
            places = {"temp_directory": str(folder), "preserve_insertion_order": False}
            con = ibis.duckdb.connect(memory_limit=limit, threads=processors(), **places)
            engine = Engine(name, ibis, con, memory, folder, own=con)
            try:
                yield engine
            except RuntimeError as error:
                if _INTERRUPTED not in str(error):
                    raise
                raise KeyboardInterrupt from error
            finally:
                con.disconnect()
                if engine.con is not con:
                    engine.con.disconnect()


def duckdb_limit(memory: int) -> int:
    """DuckDB's part of a scan's memory. It sometimes exceeds its limit, so an eighth is kept in reserve."""
    return max((memory - OWN_NEED) * 7 // 8, 100_000_000)


def _small_shuffles(session: Any) -> Any:
    """On a single machine, a number of shuffle partitions that suits it. Spark's default is for a cluster."""
    if session.conf.get("spark.master", "").startswith("local"):
        session.conf.set("spark.sql.shuffle.partitions", str(2 * (os.cpu_count() or 1)))
    return session


def import_ibis() -> Any:
    """Ibis, or an error that says how to get it."""
    try:
        importlib.import_module("duckdb")
        return importlib.import_module("ibis")
    except ImportError as error:
        raise UsageError(f"An audit by an engine {NEEDED}. Or audit in memory: --engine memory.") from error


@contextmanager
def _spill_folder(spill: Path | None) -> Iterator[Path]:
    """A folder for what does not fit into memory. What a killed run has left is removed: it is people's data."""
    home = Path(tempfile.gettempdir()) if spill is None else spill
    with ExitStack() as held:
        try:
            folder = held.enter_context(own_folder(home, "auditor-spill-", ""))
        except OSError as error:
            raise UsageError(f"--spill: no folder can be made in {home} ({error.strerror}).") from error
        if shutil.disk_usage(folder).free < LEAST_SPACE:
            raise UsageError(
                f"--spill: {home} has less than {LEAST_SPACE // 1_000_000} MB left. Name a folder with more room."
            )
        yield folder


@contextmanager
def watched(engine: Engine, tell: Callable[[float], None]) -> Iterator[None]:
    """Calls `tell` with the finished share of a query while it runs, if the engine knows it (DuckDB does)."""
    raw: Any = getattr(engine.con, "con", None)
    if engine.name != EngineName.DUCKDB or not hasattr(raw, "query_progress"):
        yield
        return
    over = Event()

    def watch() -> None:
        while not over.wait(_POLL):
            share = raw.query_progress()
            if share >= 0:
                tell(min(share / 100, 1.0))

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def kept(engine: Engine, expression: Any) -> Iterator[Any]:
    """The rows of an expression, computed once for several queries: in a DuckDB table or in Spark's cache. The results of a
    database come into our own DuckDB."""
    backend, name = expression.get_backend(), f"auditor_{uuid4().hex}"
    if backend.name == "pyspark":
        with _kept_by_spark(backend, expression, name) as found:
            yield found
        return
    home = engine.own if backend.name == "postgres" else backend
    try:
        if home is backend:
            home.create_table(name, expression, temp=True)
        else:
            _copy(expression, home.con, name)
        yield home.table(name)
    finally:
        home.con.execute(f'drop table if exists "{name}"')


@contextmanager
def _kept_by_spark(backend: Any, expression: Any, name: str) -> Iterator[Any]:
    session = backend._session
    gone = (OSError, importlib.import_module("py4j.protocol").Py4JError)
    backend._run_pre_execute_hooks(expression)  # registers our small tables with Spark, which its own cache() forgets
    frame = session.sql(backend.compile(expression)).persist()
    try:
        frame.createTempView(name)
        yield backend.table(name)
    finally:
        for release in (lambda: session.catalog.dropTempView(name), frame.unpersist):
            with suppress(*gone):  # if Java has died, the error to report is the one that killed it
                release()


def _copy(expression: Any, con: Any, name: str) -> None:
    """Copies the rows of an expression into a DuckDB table, in batches. (DuckDB could read them itself, but would report an
    interruption as a fault in the data.)"""
    pa = importlib.import_module("pyarrow")
    reader = expression.to_pyarrow_batches(chunk_size=_BATCH)
    con.from_arrow(reader.schema.empty_table()).create(name)
    for batch in reader:
        con.from_arrow(pa.Table.from_batches([batch])).insert_into(name)


def batches(engine: Engine, expression: Any, rows: int, by: Sequence[str] = ()) -> Iterator[Any]:
    """The rows of an expression as Arrow batches of `rows` rows, sorted by the columns `by` if there are any. DuckDB keeps
    the rest within its memory limit or in the spill folder. Other engines deliver them as their Ibis backend does."""
    backend = expression.get_backend()
    if backend.name != "duckdb":
        yield from (expression.order_by(list(by)) if by else expression).to_pyarrow_batches(chunk_size=rows)
        return
    with kept(engine, expression) as found:
        # sorted on reading: threads read a table in any order, even one that was written in order
        order = f" order by {', '.join(by)}" if by else ""
        relation = backend.con.sql(f'select {", ".join(found.columns)} from "{found.get_name()}"{order}')
        try:
            yield from relation.to_arrow_reader(rows)  # not by Ibis: Ibis 12 calls DuckDB 2 by an old name
        except OSError as error:  # how Arrow passes on DuckDB's errors
            raise importlib.import_module("duckdb").Error(str(error)) from error
