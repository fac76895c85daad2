"""The command that searches for a release: release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Reported, SchemaFile, TableFile
from auditor.commands.output import POLICY_FAILED, Output, refuse_inputs, refuse_same, run_files
from auditor.commands.parsing import names, setting_pair
from auditor.commands.progress import Progress
from auditor.commands.signals import resumable, what_is_kept
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.runs.trying import Keeping

_SECRET = "secret.txt"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the release is to be good for."""

    keep: Annotated[
        str,
        Option("--keep", help="The utility measure to keep, as MEASURE or MEASURE.WHICH: see `auditor list metrics`."),
    ] = "granularity"
    weight: Annotated[
        list[str] | None,
        Option(
            "--weight", metavar="COLUMN=WEIGHT", help="How much a quasi-identifier counts in granularity. Default: 1."
        ),
    ] = None

    def keeping(self) -> Keeping:
        """The same, checked as far as it can be without the data."""
        from auditor.runs.trying import Keeping

        weights = {}
        for text in self.weight or []:
            column, value = setting_pair(text)
            try:
                weights[column] = float(value)
            except ValueError as error:
                raise UsageError(f"--weight must be COLUMN=NUMBER. Got {text!r}.") from error
        return Keeping(self.keep, weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Where and how long is searched."""

    methods: Annotated[
        str | None, Option("--methods", help="Anonymizers, separated by commas. Default: quick ones that differ.")
    ] = None
    holdout: Annotated[
        float | None,
        Option("--sample", help="Release this share of the people only; the others are outsiders, for membership."),
    ] = None
    budget: Annotated[str, Option("--budget", help="How long to search, such as 90s, 10m or 2h.")] = "10m"
    jobs: Annotated[int | None, Option("--jobs", min=1, help="Processes to use. Default: one for each processor.")] = (
        None
    )

    @property
    def seconds(self) -> float:
        """The budget in seconds."""
        found = _TIME.fullmatch(self.budget.strip())
        if found is None or not float(found[1]) > 0:
            raise UsageError(f"--budget must be a time such as 90s, 10m or 2h. Got {self.budget!r}.")
        return float(found[1]) * _UNITS[found[2]]


@Grouped
def release(
    data: TableFile,
    schema: SchemaFile,
    policy: Annotated[
        str, Option("--policy", help="A policy: see `auditor list policies`, or a TOML file.", show_default=False)
    ],
    output: Annotated[
        Path, Option("--output", "-o", help="The release: a file (CSV, or .parquet), or a folder for several blocks.")
    ],
    work: Annotated[
        Path,
        Option(
            "--work", help="Private folder for the page, the audit record and what was tried; a search goes on there."
        ),
    ],
    *,
    provenance: Annotated[Path | None, Option("--provenance", help="Write the private provenance here.")] = None,
    kept: Kept,
    searched: Searched,
    common: Reported,
) -> None:
    """Search for the most useful release that passes a policy, and write it with its evidence. Run it again to go on after an
    interruption. Fails (1) where nothing passes: it says what comes nearest, and no release is written."""
    from auditor.files.manifests import files_of_older
    from auditor.files.releases import write_release
    from auditor.files.tables import refuse_existing, target_format, write_files
    from auditor.model.record.policy import read_policy
    from auditor.runs.candidates import METHODS
    from auditor.runs.comparing import read_world
    from auditor.runs.releasing import Search
    from auditor.runs.store import CELLS
    from auditor.runs.trying import Wanted, made

    target_format(output)
    outputs = [output, *([provenance] if provenance is not None else [])]
    refuse_inputs(outputs, [data, schema])
    refuse_same([*outputs, work])
    refuse_existing(outputs, common.force)
    begun = (work / CELLS).is_dir()
    pages = Output(run_files(work), common.force or begun, common.quiet, work, day=common.date)
    pages.check()
    wanted = Wanted(
        read_policy(policy),
        names(searched.methods) or METHODS,
        kept.keeping(),
        searched.seconds,
        common.chosen_seed,
        searched.jobs,
    )
    world = read_world(data, schema, searched.holdout, common.chosen_seed)
    wanted.check(world)
    secret = _secret(work)
    with resumable(lambda: what_is_kept(work / CELLS, "step", "steps")):
        with Progress(common.quiet) as progress:
            found = Search(world, wanted, work, secret, progress.step).run()
        files: dict[Path, str | bytes] = {}
        if found.chosen is not None and found.audit is not None:
            subject = made(world, found.chosen, wanted, secret)
            written, whose = write_release(subject.release, None if provenance is None else subject.provenance, output)
            if provenance is not None and whose is not None:
                files[provenance] = whose
            folder = output if len(subject.release.blocks) > 1 else None
            files |= written | {work / "audit.json": found.audit.to_json()}
            private = [file for file in (provenance, work / "audit.json") if file is not None]
            write_files(files, True, folder, private=private, gone=files_of_older(output))
        pages.write(found.run)
    pages.tell(found.run)
    if found.chosen is None:
        tell("No release was written.", err=True)
        raise typer.Exit(POLICY_FAILED)
    if not common.quiet:
        tell(f"release: {output}")
        tell(f"audit record of everybody: {work / 'audit.json'} (`auditor render` shows it)")


def _secret(work: Path) -> int:
    """The secret of a search: that of its folder, or a new one."""
    from auditor.files.provenances import read_secret
    from auditor.files.tables import write_files
    from auditor.model.seeding import new_secret
    from auditor.runs.store import make_folder

    file = work / _SECRET
    if file.exists():
        return read_secret(file)
    make_folder(work)
    secret = new_secret()
    write_files({file: f"{secret:064x}\n"}, False, private=[file])
    return secret
