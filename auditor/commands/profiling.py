"""The command that proposes a schema: profile."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from auditor.commands.options import Force, Quiet, Seed
from auditor.commands.output import refuse_inputs, refuse_same


def profile(
    data: Annotated[Path, typer.Argument(help="Any table.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The schema to write (TOML). Default: to stdout.")
    ] = None,
    taxonomies: Annotated[
        str,
        typer.Option(
            "--taxonomies",
            help="none; texts: dates, postcodes and other codes; all: bands of numbers and sensitive columns as well.",
        ),
    ] = "texts",
    release: Annotated[
        bool,
        typer.Option("--release", help="The table is a release: * is withheld, 20-39 and [20, 40[ are numbers."),
    ] = False,
    json: Annotated[Path | None, typer.Option("--json", help="Write the profile as JSON; - is stdout.")] = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Propose the schema of an unknown table, with reasons: a commented TOML to edit."""
    from auditor.files.tables import refuse_existing, write_files
    from auditor.model.seeding import DEFAULT_SEED
    from auditor.profiling.proposal import profile as make
    from auditor.profiling.showing import profile_text
    from auditor.profiling.writing import files, hierarchy_folder

    to_stdout = json == Path("-")
    written = [file for file in (output, json) if file is not None and file != Path("-")]
    refuse_inputs(written, [data])
    refuse_same(written)
    refuse_existing(written, force)
    found = make(data, taxonomies, DEFAULT_SEED if seed is None else seed, release)
    contents = {} if output is None else files(found, output)
    if json is not None and not to_stdout:
        contents[json] = found.to_json()
    folder = hierarchy_folder(output) if output is not None else None
    needed = folder is not None and any(file.parent == folder for file in contents)
    write_files(contents, force, folder if needed else None)
    if to_stdout:
        sys.stdout.write(found.to_json())
    elif output is None:
        sys.stdout.write(found.to_toml())
    if not quiet and not to_stdout:
        width = max(80, min(shutil.get_terminal_size((120, 24)).columns, 160))
        typer.echo(profile_text(found, width), err=output is None)
        for file in contents:
            typer.echo(str(file))
