"""Audits by an engine: which engine is used, and which options go with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from auditor.commands.parsing import choice
from auditor.commands.progress import Progress
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.record import AuditRecord
    from scenarios.options import Options

LARGE = 200_000_000  # larger files, in bytes, are read by an engine unless --engine memory is given


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What reads the release, and what it may use."""

    engine: Annotated[
        str | None,
        Option(
            "--engine",
            help="memory, duckdb or spark. Default: duckdb for large files, folders and databases, else memory.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        Option(
            "--memory",
            metavar="SIZE",
            help="What an engine may use, such as 1GB. Default: half of the machine's memory.",
        ),
    ] = None
    spill: Annotated[
        Path | None, Option("--spill", metavar="DIR", help="Where an engine puts what does not fit into memory.")
    ] = None


@dataclass(frozen=True, slots=True)
class Scanner:
    """The engine that was chosen, with its limit of memory in bytes and its folder for what does not fit."""

    engine: str
    memory: int | None
    spill: Path | None


def local_files(*given: str | None) -> list[Path]:
    """The inputs that are files or folders, not tables of a database."""
    return [Path(one) for one in given if one is not None and "://" not in one]


def chosen_engine(
    release: str, population: str | None, asked: EngineOptions, only_memory: Mapping[str, object]
) -> Scanner | None:
    """The engine that carries out an audit; None for memory. Where none is named, large files, folders (but for releases of
    several blocks) and databases go to DuckDB. `only_memory` are the options that no engine can serve."""
    from auditor.engines.engine import EngineName, read_memory

    engine = None if asked.engine is None else choice(asked.engine, EngineName, "--engine")
    given = [option for option, value in only_memory.items() if value is not None]
    if engine is None and _goes_to_engine(release, population):
        if given:
            raise UsageError(
                f"{given[0]} needs the release in memory, and it is large, a folder or a table of a database. Leave out "
                f"{given[0]}, or give one file and --engine memory."
            )
        engine = EngineName.DUCKDB
    if engine is EngineName.MEMORY and len(local_files(release, population)) < 1 + (population is not None):
        raise UsageError("A table of a database is read by an engine: leave out --engine memory.")
    if engine in (None, EngineName.MEMORY):
        unused = "--memory" if asked.memory is not None else "--spill" if asked.spill is not None else None
        if unused is not None:
            raise UsageError(f"{unused} is for engines: give --engine duckdb or spark as well, or leave it out.")
        return None
    if given:
        raise UsageError(f"{given[0]} needs the release in memory: leave it out, or give --engine memory.")
    return Scanner(str(engine), None if asked.memory is None else read_memory(asked.memory), asked.spill)


def _goes_to_engine(release: str, population: str | None) -> bool:
    """Whether an input is a database, a folder that is not a release of several blocks, or a large file."""
    from auditor.files.manifests import MANIFEST

    for one in (release, population):
        if one is None:
            continue
        if "://" in one:
            return True
        path = Path(one)
        if path.is_dir() and not (path / MANIFEST).is_file():
            return True
        if path.is_file() and path.stat().st_size > LARGE:
            return True
    return False


def scan(
    scanner: Scanner, release: str, schema: Path, population: str | None, options: Options, quiet: bool
) -> AuditRecord:
    """The record of an audit by an engine, which says what it needs before it starts."""
    from auditor.auditing.scanned import scan_audit

    def say(sentence: str) -> None:
        if not quiet:
            tell(sentence, err=True)

    with Progress(quiet) as progress:
        told: dict[str, Any] = {"population": population, "progress": progress.step, "say": say}
        return scan_audit(release, schema, options, **asdict(scanner), **told)
