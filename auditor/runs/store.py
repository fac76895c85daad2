"""Finished cells as files: each is a run record with its cell and, where there is a release, its audit record.

A file is written as soon as its cell is finished, whole or not at all, so that an interruption loses only the cells that were
running. `auditor render` renders it by itself. It is named for the cell's id, so no other cell can be taken for it, and bears
a hash of itself, so that a damaged one is run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from auditor.files.tables import refuse_existing, sha256, write_files
from auditor.model.errors import RecordError, UsageError
from auditor.model.record.comparison import TIMEOUT, RunCell
from auditor.model.record.record import OK, AuditRecord, RunRecord
from auditor.runs.plan import Cell
from auditor.version import VERSION

CELLS = "cells"
SWEPT = "sweep-cells"
"""Where a sweep keeps its adversaries: what it finds there is its own, and no comparison's."""
TOOL = {"name": "auditor", "version": VERSION}
_HASH = "sha256"  # where a file has the hash of what it holds besides


def make_folder(folder: Path, kept: str = CELLS) -> None:
    """Makes a folder with one for what is finished, or says why that is not possible."""
    refuse_existing([], True, folder)
    try:
        (folder / kept).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be made ({error.strerror}).") from error


def seal(run: RunRecord, file: Path) -> None:
    """Writes a run with a hash of itself."""
    marked = replace(run, tool={**TOOL, _HASH: sha256(run.to_json().encode())})
    write_files({file: marked.to_json()}, force=True)


def opened(file: Path) -> RunRecord | None:
    """A run that was sealed; None where its file is missing or damaged."""
    try:
        run = RunRecord.from_json(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError, RecordError):
        return None
    whole = {**TOOL, _HASH: sha256(replace(run, tool=TOOL).to_json().encode())}
    return run if run.tool == whole else None


@dataclass(frozen=True, slots=True)
class Store:
    """The folder of a comparison."""

    folder: Path

    def place(self, cell: Cell) -> str:
        """The file of a cell, relative to the folder."""
        return f"{CELLS}/{cell.id}.json"

    def read(self, cell: Cell) -> tuple[RunCell, AuditRecord | None] | None:
        """A finished cell; None where its file is missing or damaged."""
        run = opened(self.folder / self.place(cell))
        if run is None or len(run.cells) != 1 or run.cells[0].id != cell.id:
            return None
        return run.cells[0], run.records[0] if run.records else None

    def write(self, cell: RunCell, record: AuditRecord | None) -> None:
        """Keeps a finished cell."""
        run = RunRecord(cell.name, cell.seed, () if record is None else (record,), TOOL, cells=(cell,))
        seal(run, self.folder / CELLS / f"{cell.id}.json")


def to_do(found: RunCell | None, timeout: float | None, memory: int | None, retry: bool) -> bool:
    """Whether a cell is to be run: it has not been run; it gave no release and is to be retried; or it may take more time or
    memory than it had."""
    if found is None:
        return True
    if found.status == OK:
        return False
    if retry:
        return True
    had = found.limits.get("timeout")
    longer = found.status == TIMEOUT and had is not None and (timeout is None or timeout > had)
    given = found.limits.get("memory")
    return longer or (given is not None and (memory is None or memory > given))
