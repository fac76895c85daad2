"""Commands that make files: releases, decoded values, the data of a built-in scenario."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Force, Quiet, SchemaFile, Seed, TableFile
from auditor.commands.output import refuse_inputs, refuse_same
from auditor.commands.parsing import setting_pair
from auditor.commands.progress import Progress
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.provenance import Provenance
    from auditor.model.release import Release
    from auditor.model.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """The files that must not be published with a release: two that are written, and one that is read."""

    provenance: Annotated[Path | None, Option("--provenance", help="Write the private provenance here.")] = None
    key: Annotated[Path | None, Option("--key", help="Write the private key of `grading` here.")] = None
    secret: Annotated[
        Path | None,
        Option("--secret", help="Repeat an earlier run: its provenance, or a file with 64 hexadecimal digits."),
    ] = None

    @property
    def files(self) -> list[Path]:
        """Those that are to be written."""
        return [file for file in (self.provenance, self.key) if file is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Whether, and how, a table is cut into blocks of rows."""

    blocks: Annotated[
        bool, Option("--blocks", help="For large tables: cut the table into blocks of rows, and work on each.")
    ] = False
    block_rows: Annotated[
        int | None, Option("--block-rows", min=1, help="The most rows of a block, with --blocks. Default: 50000.")
    ] = None
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            min=1,
            help="Processes to use, with --blocks. Default: one for each processor where that is faster.",
        ),
    ] = None
    engine: Annotated[str | None, Option("--engine", help="Where blocks run: processes (the default) or spark.")] = None
    compare_whole: Annotated[
        bool, Option("--compare-whole", help="Run without blocks as well, and show what the blocks cost.")
    ] = False

    def check(self) -> None:
        """An error for an unknown engine, or for an option that needs --blocks."""
        from anonymizers.blocks.running import Engine

        Engine.named(self.engine)
        given = {"--block-rows": self.block_rows, "--jobs": self.jobs, "--engine": self.engine}
        given["--compare-whole"] = self.compare_whole or None
        alone = [option for option, value in given.items() if value is not None and not self.blocks]
        if alone:
            raise UsageError(f"{alone[0]} is about blocks: give --blocks as well.")


@Grouped
def anonymize(
    data: TableFile,
    schema: SchemaFile,
    method: Annotated[
        str, Option("--method", help="An anonymizer: see `auditor list anonymizers`.", show_default=False)
    ],
    output: Annotated[
        Path, Option("--output", "-o", help="The release: a file (CSV, or .parquet), or a folder for several blocks.")
    ],
    *,
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="A setting of the method (see `auditor explain METHOD`)."),
    ] = None,
    holdout: Annotated[
        float | None,
        Option(
            "--holdout",
            metavar="SHARE",
            help="Leave out this share of the people, by chance: an audit with the provenance has them as outsiders.",
        ),
    ] = None,
    private: Private,
    cut: Blocks,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make a release of a table. What it draws is secret: the same command gives another release each time. Private files
    are written only where --provenance and --key say."""
    from anonymizers import ANONYMIZERS
    from anonymizers.anonymizing import anonymize as anonymize_table
    from auditor.files.manifests import files_of_older
    from auditor.files.provenances import read_secret
    from auditor.files.releases import write_release
    from auditor.files.tables import read_table, refuse_existing, target_format, write_files
    from auditor.model.seeding import DEFAULT_SEED, new_secret

    technique = ANONYMIZERS.get(method).configure(dict(setting_pair(text) for text in settings or []))
    cut.check()
    if holdout is not None and cut.compare_whole:
        raise UsageError("--compare-whole is about everybody in the table: leave --holdout out.")
    target_format(output)  # its fault before any work
    refuse_inputs([output, *private.files], [data, schema, private.secret])
    refuse_same([output, *private.files])
    if output.exists() and not force:
        raise UsageError(f"{output} exists already. Use --force to replace it.")
    if holdout is not None and private.provenance is None:
        raise UsageError("--holdout: only the provenance says who was left out. Give --provenance FILE as well.")
    refuse_existing(private.files, force)
    for file in private.files:
        if Path(os.path.realpath(output)) in Path(os.path.realpath(file)).parents:
            raise UsageError(f"{file} is private and would lie in the folder of the release. Give it another place.")
    secret = new_secret() if private.secret is None else read_secret(private.secret)
    table = read_table(data, schema)
    if cut.compare_whole:
        from anonymizers.blocks.weighing import check_comparable, cost_of_blocks

        check_comparable(table)
    cost = None
    with Progress(quiet) as progress:
        blocks = (cut.block_rows or True) if cut.blocks else False
        make = partial(anonymize_table, table, technique, secret, progress.step)
        release, whose = make(blocks=blocks, jobs=cut.jobs, engine=cut.engine, holdout=holdout)
        if cut.compare_whole:
            whole = make()
            cost = cost_of_blocks(table, (release, whose), whole, DEFAULT_SEED)
    summary, warnings = _summary(release, table, whose)  # and its faults, before anything is written
    written, provenance = write_release(release, None if private.provenance is None else whose, output)
    files: dict[Path, str | bytes] = {}
    if private.provenance is not None and provenance is not None:
        files[private.provenance] = provenance  # private files first: no release without its provenance
    if private.key is not None:
        if whose.key is None:
            raise UsageError(f"--key: {release.method} has no key; only `grading` does.")
        files[private.key] = whose.key.to_json()
    folder = output if len(release.blocks) > 1 else None
    write_files(files | written, force, folder, private=private.files, gone=files_of_older(output))
    if whose.key is not None and private.key is None and not quiet:
        tell("The key was not written (--key FILE): nobody can decode this release.", err=True)
    for text in warnings:
        tell(f"Warning: {text}", err=True)
    if not quiet:
        tell(f"{output}: {summary}.")
        if cut.blocks:
            count = int(release.params["blocks"])
            tell(f"Made in {count} {'block' if count == 1 else 'blocks'} of rows.")
    if cost is not None:
        tell(f"Against the run without blocks: {cost}.")


def _summary(release: Release, table: Table, whose: Provenance) -> tuple[str, list[str]]:
    """The size of a release and of its classes, and what to say of classes that are too large or too small; of a synthetic
    release, what of the table its promise does not cover."""
    from anonymizers.shared.public_bins import TAKEN
    from auditor.auditing.people import by_people, people_in
    from auditor.auditing.subjects import Subject
    from auditor.measure.classes import class_facts
    from reports.words.verdicts import uneven

    members = int(whose.made_from.sum()) if whose.made_from is not None else table.rows
    held_out = f", {table.rows - members} rows held out" if members < table.rows else ""
    if release.synthetic:
        public = [f"{release.method}: {said}." for said in release.promises if said.startswith(TAKEN)]
        return f"{release.rows} made-up rows, from {members} rows{held_out}", public
    subject = by_people(Subject(release, table, whose))
    facts, people = class_facts(subject.release), people_in(subject)
    deleted = f", {facts.left_out_rows} left out" if facts.left_out_rows else ""
    size = f"k = {facts.k}" if facts.k is not None else f"a folder of {len(facts.blocks)} blocks"
    largest = f", the largest of {facts.largest_class}" if len(facts.blocks) > 1 else ""
    made_up = f", {release.params['counterfeits']} counterfeits" if release.params.get("counterfeits") else ""
    summary = (
        f"{release.rows} rows{'' if people is None else f' of {people} people'} in {facts.classes} "
        f"{'class' if facts.classes == 1 else 'classes'}{largest}, {size}, "
        f"{release.suppressed_rows} suppressed{deleted}{made_up}{held_out}"
    )
    return summary, uneven(facts)


@Grouped
def decode(
    file: Annotated[
        Path, Argument(help="Published values (CSV), or any text, such as rules or a tree.", show_default=False)
    ],
    key: Annotated[Path, Option("--key", help="The key of the release.", show_default=False)],
    column: Annotated[
        list[str] | None, Option("--column", help="A graded column whose numbers are decoded in texts.")
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Write here instead of to stdout.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Replace published values with the original ones, with the key of a release by `grading`."""
    from auditor.files.decoding import decode_file
    from auditor.files.tables import refuse_existing, write_files
    from auditor.model.key import Key

    refuse_inputs([output], [file, key])
    refuse_existing([output] if output is not None else [], force)
    decoded = decode_file(file, Key.read(key), column or ())
    if output is None:
        sys.stdout.write(decoded.text)
    else:
        write_files({output: decoded.content(output)}, force, private=[output])
    if not quiet:
        unknown = f", {decoded.unknown} not in the key and left unchanged" if decoded.unknown else ""
        wide = f", {decoded.ranges} of them to an interval (numbers that are published alike)" if decoded.ranges else ""
        tell(f"{decoded.replaced} values decoded{wide}{unknown}.", err=True)
    if decoded.doubt is not None:
        tell(f"Warning: {key}: {decoded.doubt}", err=True)


@Grouped
def export(
    scenario: Annotated[str, Argument(help="A built-in scenario: see `auditor list scenarios`.", show_default=False)],
    output: Annotated[Path, Option("--output", "-o", help="Folder for the files.")],
    seed: Seed = None,
    force: Force = False,
) -> None:
    """Write the data, schema and scenario file of a built-in scenario, to try the other commands on."""
    from auditor.files.tables import write_files
    from auditor.runs.exporting import export_scenario

    files = export_scenario(scenario, output, seed)
    write_files(files, force, output)
    for file in files:
        tell(str(file))
