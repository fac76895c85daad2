"""Commands that make files: releases, decoded values, the built-in data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from auditor.commands.options import Force, MethodSettings, Quiet, SchemaFile, Seed
from auditor.commands.output import refuse_inputs, refuse_same
from auditor.commands.parsing import setting_pair
from auditor.commands.progress import Progress
from auditor.model.errors import UsageError


def anonymize(
    data: Annotated[Path, typer.Argument(help="The table (CSV, Parquet, Arrow, Excel).", show_default=False)],
    schema: SchemaFile,
    method: Annotated[
        str, typer.Option("--method", help="An anonymizer: see `auditor list anonymizers`.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The release: a file (CSV, or .parquet), or a folder for several blocks."),
    ],
    settings: MethodSettings = None,
    provenance: Annotated[Path | None, typer.Option("--provenance", help="Write the private provenance here.")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Write the private key of `grading` here.")] = None,
    blocks: Annotated[
        bool, typer.Option("--blocks", help="For large tables: cut into blocks of rows first, and work in each.")
    ] = False,
    block_rows: Annotated[
        int | None, typer.Option("--block-rows", min=1, help="Rows of a block at most, with --blocks. Default: 50000.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Processes, with --blocks. Default: one for each processor if it pays."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", help="Where blocks run: processes (the default) or spark.")
    ] = None,
    compare_whole: Annotated[
        bool, typer.Option("--compare-whole", help="Run without blocks as well, and say what the blocks cost.")
    ] = False,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make a release of a table. What is private is written only where --provenance and --key say."""
    from anonymizers import ANONYMIZERS
    from anonymizers.anonymizing import anonymize as make
    from anonymizers.blocks.running import Engine
    from anonymizers.blocks.weighing import check_comparable, cost_of_blocks
    from auditor.files.releases import check_target, write_release
    from auditor.files.tables import read_table, refuse_existing, write_files
    from auditor.measure.classes import class_facts
    from auditor.model.seeding import DEFAULT_SEED

    chosen = DEFAULT_SEED if seed is None else seed
    technique = ANONYMIZERS.get(method).configure(dict(setting_pair(text) for text in settings or []))
    Engine.named(engine)  # its fault before any work
    given = {"--block-rows": block_rows, "--jobs": jobs, "--engine": engine, "--compare-whole": compare_whole or None}
    alone = [option for option, value in given.items() if value is not None and not blocks]
    if alone:
        raise UsageError(f"{alone[0]} is about blocks: give --blocks as well.")
    secret = [file for file in (provenance, key) if file is not None]
    check_target(output)
    refuse_inputs([output, *secret], [data, schema])
    refuse_same([output, *secret])
    if output.exists() and not force:
        raise UsageError(f"{output} exists already. Use --force to replace it.")
    refuse_existing(secret, force)
    table = read_table(data, schema)
    if compare_whole:
        check_comparable(table)
    cost = None
    with Progress(quiet) as progress:
        cut = (block_rows or True) if blocks else False
        release, whose = make(table, technique, chosen, progress.step, blocks=cut, jobs=jobs, engine=engine)
        if compare_whole:
            whole = make(table, technique, chosen, progress.step)
            cost = cost_of_blocks(table, (release, whose), whole, chosen)
    files, private = write_release(release, whose, output)
    if provenance is not None and private is not None:
        files[provenance] = private
    if key is not None:
        if whose.key is None:
            raise UsageError(f"--key: {release.method} has no key; only `grading` does.")
        files[key] = whose.key.to_json()
    write_files(files, force, output if len(release.blocks) > 1 else None, private=secret)
    if whose.key is not None and key is None and not quiet:
        typer.echo("The key was not written (--key FILE): nobody can decode this release.", err=True)
    if not quiet:
        facts = class_facts(release)
        deleted = f", {facts.left_out_rows} deleted" if facts.left_out_rows else ""
        size = f"k = {facts.k}" if facts.k is not None else f"a folder of {len(facts.blocks)} blocks"
        typer.echo(
            f"{output}: {facts.rows} rows in {facts.classes} {'class' if facts.classes == 1 else 'classes'}, {size}, "
            f"{facts.suppressed_rows} suppressed{deleted} (seed {chosen})."
        )
        if blocks:
            count = int(release.params["blocks"])
            typer.echo(f"Made in {count} {'block' if count == 1 else 'blocks'} of rows.")
    if cost is not None:
        typer.echo(f"Against the run without blocks: {cost}.")


def decode(
    file: Annotated[
        Path, typer.Argument(help="Published values (CSV), or any text: rules, a tree.", show_default=False)
    ],
    key: Annotated[Path, typer.Option("--key", help="The key of the release.", show_default=False)],
    column: Annotated[
        list[str] | None, typer.Option("--column", help="A graded column whose numbers are meant in texts.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of to stdout.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Put original values for published ones, with the key of a release by `grading`."""
    from auditor.files.decoding import decode_file, read_key
    from auditor.files.tables import refuse_existing, write_files

    refuse_inputs([output], [file, key])
    refuse_existing([output] if output is not None else [], force)
    decoded = decode_file(file, read_key(key), column or ())
    if output is None:
        sys.stdout.write(decoded.text)
    else:
        write_files({output: decoded.text}, force, private=[output])
    if not quiet:
        unknown = f", {decoded.unknown} unknown to the key left as they are" if decoded.unknown else ""
        typer.echo(f"{decoded.replaced} values decoded{unknown}.", err=True)


def export(
    scenario: Annotated[
        str, typer.Argument(help="A built-in scenario: see `auditor list scenarios`.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")],
    seed: Seed = None,
    force: Force = False,
) -> None:
    """Write a built-in scenario's data, schema and scenario file, to try the other commands on."""
    from auditor.files.tables import write_files
    from auditor.runs.exporting import export_scenario

    files = export_scenario(scenario, output, seed)
    write_files(files, force, output)
    for file in files:
        typer.echo(str(file))
