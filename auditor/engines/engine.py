"""Engines: where a scan is carried out, and within how much memory.

DuckDB runs inside this process, on as many threads as there are cores. It gets what `--memory` leaves beside Python and the
libraries, and puts what does not fit into files of a folder (`--spill`), which is removed at the end. Spark is started (or
found) by `auditor.engines.spark`. A database groups rows within its own memory; what comes of it is kept by DuckDB.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from auditor.engines.spark import spark_session
from auditor.model.errors import UsageError

OWN_NEED = 350_000_000
"""What Python and the libraries of a scan take themselves, in bytes."""
LEAST_MEMORY = 500_000_000
"""Less than this is refused: the libraries would leave an engine nothing to work with."""
LEAST_SPACE = 100_000_000
"""A spill folder must have at least this much room."""
_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_POLL = 0.5
_BATCH = 100_000
"""So many rows at a time come from a database: they are Python's objects on the way."""
_INTERRUPTED = "Query interrupted"
"""What DuckDB says where somebody pressed Ctrl-C."""
NEEDED = "needs Ibis and DuckDB: pip install 'auditor[scan]'"


class EngineName(StrEnum):
    """The engines that can be asked for."""

    MEMORY = "memory"
    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(slots=True)
class Engine:
    """An open engine: `con` is the Ibis backend, `ibis` the module; `memory` the bytes that it may use, where it is ours;
    `own` the DuckDB of this process, also beside a database that counts. `opened` says that a table was opened in it;
    `databases` are the names of those that were, by their address."""

    name: str
    ibis: Any
    con: Any
    memory: int | None = None
    spill: Path | None = None
    own: Any = None
    opened: bool = False
    databases: dict[str, str] = field(default_factory=dict)

    def use_database(self, name: str, address: str, con: Any) -> None:
        """Lets a database count instead, with its own memory; what it counted comes into our own DuckDB."""
        self.name, self.con = name, con
        self.databases[address] = name

    def spilled(self) -> int:
        """The bytes that lie in the spill folder now."""
        if self.spill is None:
            return 0
        sizes = []
        for file in self.spill.rglob("*"):
            try:
                sizes.append(file.stat().st_size)
            except FileNotFoundError:  # the engine removed it while we looked
                continue
        return sum(sizes)


def read_memory(text: str) -> int:
    """A size like `1GB`, `800 MB` or `2GiB` in bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    unit = found[2].upper() if found else ""
    if not found or unit not in _UNITS:
        raise UsageError(f"--memory must be a size such as 1GB or 800MB. Got {text!r}.")
    size = int(float(found[1]) * _UNITS[unit])
    if size < LEAST_MEMORY:
        raise UsageError(f"--memory must be at least 500MB, of which the libraries take most. Got {text!r}.")
    return size


def machine_memory() -> int:
    """The memory of this machine, or of the container that it runs in, in bytes."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        if os.path.exists(limit):
            text = Path(limit).read_text(encoding="ascii").strip()
            if text.isdigit():
                size = min(size, int(text))
    return size


def default_memory() -> int:
    """What a scan may use where nothing is said: half of the machine's memory."""
    return max(machine_memory() // 2, LEAST_MEMORY)


@contextmanager
def open_engine(name: str, memory: int | None = None, spill: Path | None = None) -> Iterator[Engine]:
    """An engine for the time of a scan. What it spilled is removed afterwards."""
    memory = default_memory() if memory is None else memory
    ibis = import_ibis()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(ibis|pyspark)\.")  # of what pandas will change under them
        if name == EngineName.SPARK:
            if spill is not None:
                raise UsageError("--spill is for DuckDB: Spark puts its files where spark.local.dir says.")
            session = _small_shuffles(spark_session(f"{memory // 2**20}m"))
            yield Engine(name, ibis, ibis.pyspark.connect(session), memory)
            return
        folder = _spill_folder(spill)
        try:
            con = _duckdb(ibis, memory, folder)
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
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def duckdb_limit(memory: int) -> int:
    """What DuckDB may use of the memory of a scan. It runs over its limit now and then: an eighth is kept back."""
    return max((memory - OWN_NEED) * 7 // 8, 100_000_000)


def _duckdb(ibis: Any, memory: int, folder: Path) -> Any:
    return ibis.duckdb.connect(
        memory_limit=f"{duckdb_limit(memory) // 1_000_000}MB",
        temp_directory=str(folder),
        threads=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        preserve_insertion_order=False,
    )


def _small_shuffles(session: Any) -> Any:
    """On one machine as many parts of a shuffle as it has use for, where Spark's default is for a cluster."""
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


def _spill_folder(spill: Path | None) -> Path:
    home = Path(tempfile.gettempdir()) if spill is None else spill
    try:
        folder = Path(tempfile.mkdtemp(prefix="auditor-spill-", dir=home))
    except OSError as error:
        raise UsageError(f"--spill: no folder can be made in {home} ({error.strerror}).") from error
    if shutil.disk_usage(folder).free < LEAST_SPACE:
        folder.rmdir()
        raise UsageError(
            f"--spill: {home} has less than {LEAST_SPACE // 1_000_000} MB left. Name a folder with more room."
        )
    return folder


@contextmanager
def watched(engine: Engine, tell: Callable[[float], None]) -> Iterator[None]:
    """Calls `tell` with the share that is done of a query while it runs, as far as the engine knows it (DuckDB does)."""
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
    """The rows of an expression, found once for several questions: in a table of DuckDB's, or where Spark keeps them. What a
    database found comes into our own DuckDB."""
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
    backend._run_pre_execute_hooks(expression)  # lets Spark know our small tables, which its own cache() forgets
    frame = session.sql(backend.compile(expression)).persist()
    try:
        frame.createTempView(name)
        yield backend.table(name)
    finally:
        for release in (lambda: session.catalog.dropTempView(name), frame.unpersist):
            with suppress(*gone):  # where Java has died, what it died of is to be told
                release()


def _copy(expression: Any, con: Any, name: str) -> None:
    """Copies the rows of an expression into a table of DuckDB's, some at a time. (DuckDB would read them itself, but takes an
    interruption for a fault of the data.)"""
    pa = importlib.import_module("pyarrow")
    reader = expression.to_pyarrow_batches(chunk_size=_BATCH)
    con.from_arrow(reader.schema.empty_table()).create(name)
    for batch in reader:
        con.from_arrow(pa.Table.from_batches([batch])).insert_into(name)


def batches(engine: Engine, expression: Any, rows: int, by: Sequence[str] = ()) -> Iterator[Any]:
    """The rows of an expression as Arrow batches of so many rows, in the order of some columns where they are named. DuckDB
    keeps the rest where its limit lets it (memory, or the spill folder); other engines hand them over as their Ibis backend
    does."""
    backend = expression.get_backend()
    if backend.name != "duckdb":
        yield from (expression.order_by(list(by)) if by else expression).to_pyarrow_batches(chunk_size=rows)
        return
    with kept(engine, expression) as found:
        # it is put in order while it is read: threads read a table in any order, also one that was written in order
        order = f" order by {', '.join(by)}" if by else ""
        relation = backend.con.sql(f'select {", ".join(found.columns)} from "{found.get_name()}"{order}')
        try:
            yield from relation.to_arrow_reader(rows)  # Ibis 12 asks DuckDB 2 for it by its old name
        except OSError as error:  # so Arrow tells what DuckDB said
            raise importlib.import_module("duckdb").Error(str(error)) from error
