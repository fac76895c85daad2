"""Output of commands: what is written where, what is shown, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.record import RunRecord


Files = Mapping[str, Path | None]
"""What to write where: html, json, markdown, junit, plots (a folder); None for what is not wanted, - for stdout."""


PICTURE = "risk-against-utility.svg"
"""The file that shows risk against utility, among the plots."""


def refuse_inputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuses to write over what is read, whatever --force says."""
    read = {file.resolve() for file in inputs if file is not None}
    for file in outputs:
        if file is not None and file.resolve() in read:
            raise UsageError(f"{file} is read by this command and must not be written over. Choose another name.")


def refuse_same(outputs: Sequence[Path]) -> None:
    """Refuses to write two things into one file."""
    for place, file in enumerate(outputs):
        if file.resolve() in [other.resolve() for other in outputs[:place]]:
            raise UsageError(f"{file} is to hold two things. Give each its own file.")


def run_files(folder: Path) -> dict[str, Path]:
    """What a run writes into its folder."""
    return {"html": folder / "report.html", "json": folder / "run.json", "markdown": folder / "report.md"}


def refuse_early(files: Files, force: bool, folder: Path | None = None) -> None:
    """Refuses, before any work, to write over files, or several results to stdout."""
    from auditor.files.tables import refuse_existing

    to_stdout = [f"--{kind} -" for kind, file in files.items() if file == Path("-")]
    if len(to_stdout) > 1:
        raise UsageError(f"Only one result can go to stdout. Got {' and '.join(to_stdout)}.")

    plots = files.get("plots")
    if plots == Path("-"):
        raise UsageError("--plots must name a folder. Got -.")
    wanted = [file for kind, file in files.items() if kind != "plots" and file is not None and file != Path("-")]
    refuse_existing(wanted, force, _made(folder, plots))
    if plots is not None and not force and plots.is_dir():
        old = sorted(file.name for file in plots.iterdir() if file.suffix in (".svg", ".png"))
        if old:
            raise UsageError(f"{plots} holds pictures already ({old[0]}). Use --force, or give another folder.")


def _made(folder: Path | None, plots: Path | None) -> list[Path]:
    """The folders that are made where they are missing, the outer one first."""
    found = [one for one in (folder, plots) if one is not None]
    return sorted(found, key=lambda one: len(one.parts))


def write_run(run: RunRecord, files: Files, force: bool, folder: Path | None = None, single: bool = False) -> None:
    """Writes what was asked for: all files whole, or none."""
    import reports  # hands out its renderers when they are asked for
    from auditor.files.tables import write_files

    plots = files.get("plots")
    contents: dict[Path, str | bytes] = {} if plots is None else _plots(run, plots)
    for kind, file in files.items():
        if file is None or kind == "plots":
            continue
        if kind == "json":
            text = run.records[0].to_json() if single else run.to_json()
        elif kind == "markdown":
            text = reports.render_markdown(run, _picture(contents, file))
        else:
            text = getattr(reports, f"render_{kind}")(run)
        if file == Path("-"):
            sys.stdout.write(text)
        else:
            contents[file] = text
    if contents:
        write_files(contents, force, _made(folder, plots))


def _picture(contents: Iterable[Path], file: Path) -> str | None:
    """Where the picture of risk against utility stands, seen from a document; None where it is not written."""
    import os

    drawn = next((one for one in contents if one.name == PICTURE), None)
    return None if drawn is None or file == Path("-") else Path(os.path.relpath(drawn, file.parent)).as_posix()


def _plots(run: RunRecord, folder: Path) -> dict[Path, str | bytes]:
    """The pictures of a run; says so where there are none, or only SVG."""
    from reports.pictures.plots import plot_files, png_hindrance

    found = plot_files(run, folder)
    if not found:
        typer.echo("Warning: there is nothing to draw in this record; --plots wrote no file.", err=True)
    elif (why := png_hindrance()) is not None:
        typer.echo(f"Warning: the pictures were written as SVG only. {why}", err=True)
    return found


def show(run: RunRecord, quiet: bool) -> None:
    """Prints the tables of a run."""
    import shutil

    from reports import render_terminal

    if not quiet:
        typer.echo(render_terminal(run, max(80, min(shutil.get_terminal_size((100, 24)).columns, 160))))


def tell(run: RunRecord, files: Files, quiet: bool) -> None:
    """Shows the run and names the files that were written, unless stdout holds one of them."""
    if Path("-") not in files.values():
        show(run, quiet)
        for kind, file in files.items():
            if file is not None and not quiet:
                typer.echo(f"{kind}: {file}")


def exit_if_failed(run: RunRecord) -> None:
    """Exits with 1 where a release fails its policy."""
    if any(record.policy is not None and not record.policy.passed for record in run.records):
        raise typer.Exit(1)
