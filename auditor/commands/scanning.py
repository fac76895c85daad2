"""Audits by an engine: which engine, and what of the command's options goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auditor.commands.progress import Progress
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.record import AuditRecord
    from scenarios.options import Options


LARGE = 200_000_000
"""A file of more bytes than this goes to an engine unless memory is asked for."""


@dataclass(frozen=True, slots=True)
class Scanner:
    """An engine that was chosen: `memory` in bytes."""

    engine: str
    memory: int | None
    spill: Path | None


def local_files(*given: str | None) -> list[Path]:
    """Those of some inputs that are files or folders here, not tables of a database."""
    return [Path(one) for one in given if one is not None and "://" not in one]


def chosen_engine(
    release: str,
    population: str | None,
    engine: str | None,
    memory: str | None,
    spill: Path | None,
    only_memory: Mapping[str, object],
) -> Scanner | None:
    """The engine that an audit is done by; None for memory. Where none is named the size decides: large files, folders that
    are no release of several blocks, and databases go to DuckDB."""
    from auditor.engines.engine import EngineName, read_memory

    if engine is not None and engine not in list(EngineName):
        raise UsageError(f"--engine must be one of {', '.join(EngineName)}. Got {engine!r}.")
    given = [option for option, value in only_memory.items() if value is not None]
    if engine is None and _goes_to_engine(release, population):
        if given:
            raise UsageError(
                f"{given[0]} needs the release in memory, and it is large, a folder or a table of a database. Leave out "
                f"{given[0]}, or give one file and --engine memory."
            )
        engine = EngineName.DUCKDB
    tables = [one for one in (release, population) if one is not None and "://" in one]
    if engine == EngineName.MEMORY and tables:
        raise UsageError("A table of a database is counted where it is: leave out --engine memory.")
    if engine in (None, EngineName.MEMORY):
        unused = "--memory" if memory is not None else "--spill" if spill is not None else None
        if unused is not None:
            raise UsageError(f"{unused} is for engines: give --engine duckdb or spark as well, or leave it out.")
        return None
    if given:
        raise UsageError(f"{given[0]} needs the release in memory: leave it out, or give --engine memory.")
    return Scanner(str(engine), None if memory is None else read_memory(memory), spill)


def _goes_to_engine(release: str, population: str | None) -> bool:
    """Whether something is no single file, or a large one."""
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
    """The record of an audit by an engine; what it needs is said before it starts."""
    from auditor.auditing.scanned import scan_audit

    def say(sentence: str) -> None:
        if not quiet:
            typer.echo(sentence, err=True)

    with Progress(quiet) as progress:
        return scan_audit(
            release,
            schema,
            options,
            engine=scanner.engine,
            memory=scanner.memory,
            spill=scanner.spill,
            population=population,
            progress=progress.step,
            say=say,
        )
