"""Testing claims: the cells of the chosen items are run, two at a time or more, and every item is judged.

A finished cell is kept in the folder as a file of its own, so that an interruption loses only the cells that were running. It
is named for what was measured, on which data, by which version; a file that does not say so itself is not taken.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from auditor.engines.pool import processors, run_jobs
from auditor.engines.worker import Job, Work
from auditor.files.tables import sha256, write_files
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent
from auditor.model.record.record import OK
from auditor.model.record.reproduction import Outcome, Reproduced, Reproduction, Verdict
from auditor.model.seeding import DEFAULT_SEED
from auditor.runs.papers import PAPERS
from auditor.runs.papers.item import Cell, Cells, Item, Paper, Result, Settings
from auditor.runs.papers.sources import Source
from auditor.runs.store import CELLS, make_folder
from auditor.version import VERSION

TOOL = {"name": "auditor", "version": VERSION}
RULE = (
    "A claim holds where all its parts hold; in part, where some do; it is refuted where none does. A part that compares two "
    "figures is decided by the 95 % interval over seeds of their difference, and cannot be told where that holds zero."
)


@dataclass(frozen=True)
class CellJob(Job):
    """A measurement to be made."""

    cell: Cell


@dataclass(frozen=True)
class CellWork(Work):
    """Measurements on one source."""

    source: Source

    def do(self, job: CellJob) -> Result:
        """The result of a measurement."""
        return job.cell.run(self.source)


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder of finished cells of one source."""

    folder: Path
    mark: str

    def _key(self, cell: Cell) -> str:
        return f"{VERSION}\n{self.mark}\n{cell.name}"

    def _file(self, cell: Cell) -> Path:
        return self.folder / CELLS / f"{sha256(self._key(cell).encode())[:32]}.json"

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """What is kept of a cell: its `result`, or the `reason` why there is none; None where nothing is."""
        try:
            kept = json.loads(self._file(cell).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) and kept.get("key") == self._key(cell) else None

    def write(self, cell: Cell, result: Result | None, reason: str | None, cpu: float) -> None:
        """Keeps a finished cell."""
        kept = {"key": self._key(cell), "result": result, "reason": reason, "cpu_seconds": round(cpu, 3)}
        write_files({self._file(cell): json.dumps(kept, indent=1) + "\n"}, force=True)


def choose(names: Sequence[str]) -> list[tuple[Paper, Item]]:
    """The items of the papers, or the papers and items that are named."""
    everything = [(paper, item) for paper in PAPERS for item in paper.items]
    for name in names:
        if not any(name in (paper.facts.name, item.name) for paper, item in everything):
            known = ", ".join(paper.facts.name for paper in PAPERS)
            raise UsageError(
                f"There is no paper or item {name!r}. Papers are {known}; `auditor reproduce --list` has the items."
            )
    return [(p, i) for p, i in everything if not names or p.facts.name in names or i.name in names]


def find_source(data: Path | None, rows: int | None = None) -> Source:
    """The data in a folder; without one those that AUDITOR_DATA names, and else the built-in town."""
    given = data or (Path(os.environ["AUDITOR_DATA"]) if os.environ.get("AUDITOR_DATA") else None)
    if given is not None and not given.is_dir():
        raise UsageError(f"{given}: the data must be in a folder, and there is none of this name.")
    return Source.at(given, rows)


def reproduce(
    names: Sequence[str],
    source: Source,
    folder: Path,
    settings: Settings | None = None,
    jobs: int | None = None,
    progress: Progress = silent,
) -> Reproduction:
    """Tests the claims of papers: runs what is not finished yet, and judges everything."""
    settings = settings or Settings()
    chosen = choose(names)
    kept = Kept(folder, source.mark())
    make_folder(kept.folder)
    wanted: dict[str, Cells] = {
        item.name: {} if source.lacking(item.needs) else item.cells(settings) for _, item in chosen
    }
    cells = list(dict.fromkeys(cell for each in wanted.values() for cell in each.values()))
    waiting = [cell for cell in cells if (found := kept.read(cell)) is None or found["result"] is None]
    done = len(cells) - len(waiting)

    def tick(running: list[str]) -> None:
        progress(done, len(cells), f"{done} of {len(cells)} measurements, now: {', '.join(running) or 'starting'}")

    work = CellWork(None, source)
    for number, reply in run_jobs(work, [CellJob(c.name, None, c) for c in waiting], jobs or processors(), tick):
        done += 1
        why = None if reply.status == OK else reply.reason or reply.status
        kept.write(waiting[number], reply.result, why, reply.cpu_seconds)
    results = {cell: kept.read(cell) or {} for cell in cells}
    items = tuple(
        _judged(paper, item, {name: results[cell] for name, cell in wanted[item.name].items()}, settings, source)
        for paper, item in chosen
    )
    papers = tuple(dict.fromkeys(paper.facts for paper, _ in chosen))
    return Reproduction(
        "What the papers claimed, and what is true", DEFAULT_SEED, _told(settings, source), papers, items, TOOL
    )


def _judged(
    paper: Paper, item: Item, kept: Mapping[Any, Mapping[str, Any]], settings: Settings, source: Source
) -> Reproduced:
    return Reproduced(
        item.name,
        paper.facts.name,
        item.place,
        item.claim,
        item.printed,
        item.tolerance,
        RULE,
        _outcome(item, kept, settings, source),
    )


def _outcome(item: Item, kept: Mapping[Any, Mapping[str, Any]], settings: Settings, source: Source) -> Outcome:
    lacking = source.lacking(item.needs)
    if lacking:
        where = "no data were given" if source.folder is None else "the folder of data lacks it"
        return Outcome(Verdict.UNKNOWN, f"Data absent: it needs {' and '.join(lacking)}, and {where}.")
    failed = [str(one.get("reason")) for one in kept.values() if one.get("result") is None]
    if failed:
        return Outcome(Verdict.UNKNOWN, f"{len(failed)} of {len(kept)} measurements failed. The first: {failed[0]}.")
    spent = sum(float(one["cpu_seconds"]) for one in kept.values())
    found = item.judge({name: one["result"] for name, one in kept.items()}, settings)
    return replace(found, cpu_seconds=round(spent, 1) if settings.timed else 0.0)


def _told(settings: Settings, source: Source) -> tuple[str, ...]:
    """The settings of a run, in sentences."""
    seeds = f"Every figure that draws is measured with {settings.seeds} seeds." if settings.seeds > 1 else "One seed."
    said = [seeds]
    if source.folder is None:
        said.append("No data were given: the built-in town stands for Adult, so figures differ from the papers'.")
    if source.rows is not None:
        said.append(f"Of each table the first {source.rows} rows are used.")
    if not settings.timed:
        said.append("Time is counted in distances only, not taken.")
    return tuple(said)
