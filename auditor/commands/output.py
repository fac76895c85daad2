"""Where the results of a command go: files, stdout, the terminal, and the exit code."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import reports
from auditor.commands.options import FOLDERS, Files
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.record import RunRecord
    from reports.pictures.plots import Plot

STDOUT = Path("-")
PICTURE = "risk-against-utility.svg"  # the picture that a Markdown report shows, among the plots
POLICY_FAILED = 1
NOT_JUDGED = 3  # as for other faults of the data
ANY, ALL = "any", "all"  # which of several releases must pass
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LAST_SECOND = 253_402_300_800  # the year 10000 begins


def terminal_width(default: int = 100) -> int:
    """How wide tables may be: the width of the terminal, from 80 to 160 columns."""
    return max(80, min(shutil.get_terminal_size((default, 24)).columns, 160))


def refuse_inputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuses to write over a file that the command reads, even with --force."""
    read = {os.path.realpath(file) for file in inputs if file is not None}
    for file in outputs:
        if file is not None and os.path.realpath(file) in read:
            raise UsageError(f"{file} is read by this command and must not be written over. Choose another name.")


def refuse_same(outputs: Sequence[Path]) -> None:
    """Refuses to write two results into one file."""
    for place, file in enumerate(outputs):
        if os.path.realpath(file) in [os.path.realpath(other) for other in outputs[:place]]:
            raise UsageError(f"{file} is named for two different results. Give each its own file.")


def run_files(folder: Path) -> dict[str, Path]:
    """What a run writes into its folder."""
    return {one.name: folder / one.file for one in reports.FORMATS if one.file}


_ENDINGS = {"plots": (".svg", ".png", ".pdf"), "tables": (".csv", ".tex")}
_CALLED = {"plots": "pictures", "tables": "tables"}


def refuse_filled(name: str, folder: Path, force: bool) -> None:
    """Refuses to write plots or tables to stdout, or into a folder that holds such already."""
    if folder == STDOUT:
        raise UsageError(f"--{name} must name a folder. Got -.")
    if not force and folder.is_dir():
        old = sorted(file.name for file in folder.iterdir() if file.suffix in _ENDINGS[name])
        if old:
            raise UsageError(f"{folder} holds {_CALLED[name]} already ({old[0]}). Use --force, or give another folder.")


@dataclass(frozen=True, slots=True)
class Output:
    """The reports that a command was asked for, by format. `folder`, and those of plots and tables, are made if missing;
    with `single` the JSON file holds the one audit record, not a run. `day` is what --date gave."""

    files: Files
    force: bool = False
    quiet: bool = False
    folder: Path | None = None
    single: bool = False
    day: str | None = None

    @property
    def _documents(self) -> dict[str, Path]:
        """All reports that are one file."""
        return {name: file for name, file in self.files.items() if file is not None and name not in FOLDERS}

    @property
    def _collections(self) -> dict[str, Path]:
        """The folders of the plots and of the tables, where they are asked for."""
        return {name: folder for name in FOLDERS if (folder := self.files.get(name)) is not None}

    @property
    def _folders(self) -> list[Path]:
        """The folders to make, the outer one first."""
        wanted = [*([] if self.folder is None else [self.folder]), *self._collections.values()]
        return sorted(dict.fromkeys(wanted), key=lambda one: len(one.parts))

    def check(self) -> None:
        """Refuses, before any work is done, to replace files or to write several results to stdout."""
        from auditor.files.tables import refuse_existing

        report_date(self.day)  # its fault before any work
        to_stdout = [f"--{name} -" for name, file in self.files.items() if file == STDOUT]
        if len(to_stdout) > 1:
            raise UsageError(f"Only one result can go to stdout. Got {' and '.join(to_stdout)}.")
        for name, folder in self._collections.items():
            refuse_filled(name, folder, self.force)
        refuse_existing([file for file in self._documents.values() if file != STDOUT], self.force, self._folders)

    def dated(self, run: RunRecord) -> RunRecord:
        """The run with the day that its reports bear: the one that was given or, where the record has none, that of
        SOURCE_DATE_EPOCH. The clock is never asked, so that the same audit gives the same bytes."""
        day = report_date(self.day) if self.day is not None or run.date is None else run.date
        records = tuple(replace(record, date=day) for record in run.records) if self.single else run.records
        return replace(run, date=day, records=records)

    def write(self, run: RunRecord) -> None:
        """Writes the reports: all of them, or none where one cannot be written."""
        from auditor.files.tables import write_files

        run = self.dated(run)
        plots, tables = (self._collections.get(name) for name in ("plots", "tables"))
        contents: dict[Path, str | bytes] = {} if plots is None else _pictures(run, plots)
        drawn = next((file for file in contents if file.name == PICTURE), None)
        contents |= {} if tables is None else _tables(run, tables)
        formats = {one.name: one for one in reports.FORMATS}
        for name, file in self._documents.items():
            seen = None if drawn is None or file == STDOUT else Path(os.path.relpath(drawn, file.parent)).as_posix()
            text = formats[name].render(run, seen, self.single)
            if file == STDOUT:
                sys.stdout.write(text)
                sys.stdout.flush()  # where it cannot be written, no file is
            else:
                contents[file] = text
        if contents:
            write_files(contents, self.force, self._folders)

    def show(self, run: RunRecord) -> None:
        """Prints the tables of a run."""
        if not self.quiet:
            tell(reports.render_terminal(self.dated(run), terminal_width()))

    def finish(self, run: RunRecord) -> None:
        """Writes the reports, and tells of them."""
        self.write(run)
        self.tell(run)

    def tell(self, run: RunRecord) -> None:
        """Prints the tables and the names of the files, unless stdout holds a report."""
        if STDOUT in self.files.values():
            return
        self.show(run)
        for name, file in self.files.items():
            if file is not None and not self.quiet:
                tell(f"{name}: {file}")


def _pictures(run: RunRecord, folder: Path) -> dict[Path, str | bytes]:
    """The pictures of a run, with a warning where there are none, or not in all formats."""
    from reports.pictures.plots import plots

    return picture_files(plots(run), folder)


def picture_files(found: Mapping[str, Plot], folder: Path) -> dict[Path, str | bytes]:
    """Pictures as the contents of files, with a warning where there are none, or not in all formats."""
    from reports.pictures.plots import hindrances, plot_files

    if not found:
        tell("Warning: this record holds nothing to draw; --plots wrote no file.", err=True)
    else:
        for kind, why in hindrances().items():
            tell(f"Warning: the pictures were not written as {kind}. {why}", err=True)
    return plot_files(found, folder)


def _tables(run: RunRecord, folder: Path) -> dict[Path, str | bytes]:
    from reports.table_files import table_files

    found = table_files(run, folder)
    if not found:
        tell("Warning: this record holds no release; --tables wrote no file.", err=True)
    return found


def report_date(given: str | None) -> str | None:
    """The day that reports bear (YYYY-MM-DD): the one that was given, else that of SOURCE_DATE_EPOCH, else none."""
    if given is not None:
        if not _DAY.fullmatch(given):
            raise UsageError(f"--date must be a day as YYYY-MM-DD. Got {given!r}.")
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError as error:
            raise UsageError(f"--date must be a day of the calendar. Got {given!r}.") from error
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        return None
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) < 13 and int(seconds) < _LAST_SECOND):
        raise UsageError(f"SOURCE_DATE_EPOCH must be whole seconds since 1970. Got {seconds!r}.")
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()


def exit_if_failed(run: RunRecord, require: str = ANY, by_choice: bool = False) -> None:
    """Exits with 1 where releases fail their policy or a search found who breaks it, and with 3 where it could not be judged,
    unless that was `by_choice`. Of several releases `require` says whether any must pass, or all."""
    from auditor.model.record.meaning import NoteKind

    verdicts = [one for record in run.records if (one := record.passes) is not None]
    if verdicts and not (all(verdicts) if require == ALL else any(verdicts)):
        raise typer.Exit(POLICY_FAILED)
    unjudged = any(note.kind == NoteKind.NOT_JUDGED for record in run.records for note in record.notes)
    if unjudged and not by_choice and (require == ALL or not verdicts):
        tell("Error: the policy was not judged; the report says why.", err=True)
        raise typer.Exit(NOT_JUDGED)


def required(text: str) -> str:
    """What --require asks for."""
    if text not in (ANY, ALL):
        raise UsageError(f"--require must be {ANY} or {ALL}. Got {text!r}.")
    return text
