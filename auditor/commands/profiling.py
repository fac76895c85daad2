"""The command that proposes a schema: profile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Common
from auditor.commands.output import STDOUT, refuse_inputs, refuse_same, terminal_width
from auditor.commands.telling import tell
from auditor.model.discretion import is_revealing


@Grouped
def profile(
    data: Annotated[Path, Argument(help="Any table.", show_default=False)],
    *,
    output: Annotated[
        Path | None, Option("--output", "-o", help="The schema to write (TOML). Default: to stdout.")
    ] = None,
    taxonomies: Annotated[
        str,
        Option(
            "--taxonomies",
            help="none; texts: dates, postcodes and other codes; all: bands of numbers and sensitive columns as well.",
        ),
    ] = "texts",
    release: Annotated[
        bool, Option("--release", help="The table is a release: * is suppressed, 20-39 and [20, 40[ are numbers.")
    ] = False,
    original: Annotated[
        Path | None,
        Option("--original", help="With --release: what it was made from, to tell suppressed from missing."),
    ] = None,
    roles_from: Annotated[
        Path | None,
        Option(
            "--roles-from",
            help="Take roles (and hierarchies) from an ARX project (.deid), or roles from an sdcMicro script or report.",
        ),
    ] = None,
    json: Annotated[Path | None, Option("--json", help="Write the profile as JSON; - is stdout.")] = None,
    common: Common,
) -> None:
    """Propose the schema of an unknown table, with reasons: a commented TOML file to edit."""
    from auditor.files.tables import refuse_existing, write_files
    from auditor.profiling.proposal import profile as make
    from auditor.profiling.showing import profile_text
    from auditor.profiling.writing import files, hierarchy_folder

    to_stdout = json == STDOUT
    written = [file for file in (output, json) if file is not None and file != STDOUT]
    refuse_inputs(written, [data, original, roles_from])
    refuse_same(written)
    refuse_existing(written, common.force)
    found = make(data, taxonomies, common.chosen_seed, release, roles_from, original)
    contents = {} if output is None else files(found, output)
    if json is not None and not to_stdout:
        contents[json] = found.to_json()
    folder = hierarchy_folder(output) if output is not None else None
    needed = folder is not None and any(file.parent == folder for file in contents)
    write_files(contents, common.force, folder if needed else None)
    if to_stdout:
        sys.stdout.write(found.to_json())
    elif output is None:
        sys.stdout.write((found if is_revealing() else found.discreet()).to_toml())
    if not common.quiet and not to_stdout:
        tell(profile_text(found, terminal_width(120)), err=output is None)
        for file in contents:
            tell(str(file))
