"""The command that searches for a release: release."""

from __future__ import annotations

import os
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

_SECRET, _AUDIT = "secret.txt", "audit.json"
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
        Option(
            "--holdout",
            metavar="SHARE",
            help="Leave out this share of the people, by chance: outsiders, from whom members are told.",
        ),
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
    from auditor.files.tables import write_files
    from auditor.model.record.policy import read_policy
    from auditor.runs.candidates import methods_for
    from auditor.runs.releasing import Search, member_world
    from auditor.runs.store import CELLS
    from auditor.runs.trying import Wanted, made

    begun = (work / _SECRET).exists()
    force = common.force or begun
    pages = Output(run_files(work), force, common.quiet, work, day=common.date)
    _check_places(output, provenance, work, [data, schema, Path(policy)], common.force)
    pages.check()
    if searched.holdout is not None and provenance is None:
        raise UsageError("--holdout: only the provenance says who was left out. Give --provenance FILE as well.")
    keeping = kept.keeping()
    methods = names(searched.methods) or methods_for(keeping.measure)
    wanted = Wanted(read_policy(policy), methods, keeping, searched.seconds, common.chosen_seed, searched.jobs)
    secret = _secret(work)
    world, members, drawing = member_world(data, schema, searched.holdout, secret)
    wanted.check(world)
    _keep(work, secret)
    audited = work / _AUDIT
    with resumable(lambda: what_is_kept(work / CELLS, "step", "steps")):
        with Progress(common.quiet) as progress:
            found = Search(world, wanted, work, drawing, progress.step).run()
        if found.chosen is not None and found.audit is not None:
            subject = made(world, found.chosen, wanted, drawing)
            whole = found.whole(subject, members)
            written, whose = write_release(subject.release, None if provenance is None else whole, output)
            files: dict[Path, str | bytes] = {}
            if provenance is not None and whose is not None:
                files[provenance] = whose  # private files first: no release without its provenance
            folder = output if len(subject.release.blocks) > 1 else None
            private = [file for file in (provenance, audited) if file is not None]
            files |= {audited: found.audit.to_json()} | written
            write_files(files, True, folder, private=private, gone=files_of_older(output))
        else:
            audited.unlink(missing_ok=True)  # of a release that an earlier search chose
        pages.write(found.run)
    pages.tell(found.run)
    if found.chosen is None:
        older = f" What lies at {output} was written before." if output.exists() else ""
        tell(f"No release was written.{older}", err=True)
        raise typer.Exit(POLICY_FAILED)
    if not common.quiet:
        tell(f"release: {output}")
        tell(f"audit record of everybody: {audited} (`auditor render` shows it)")


def _check_places(output: Path, provenance: Path | None, work: Path, inputs: list[Path], force: bool) -> None:
    """Refuses, before any work is done, outputs that would be lost or would lie where they must not."""
    from auditor.files.tables import refuse_existing, target_format

    target_format(output)
    private = [
        work / _SECRET,
        work / _AUDIT,
        *run_files(work).values(),
        *([provenance] if provenance is not None else []),
    ]
    refuse_inputs([output, *private], inputs)
    refuse_same([output, work, *private])
    if output.exists() and not force:
        raise UsageError(f"{output} exists already. Use --force to replace it.")
    refuse_existing([provenance] if provenance is not None else [], force)
    for file in (work, *private):
        if Path(os.path.realpath(output)) in Path(os.path.realpath(file)).parents:
            raise UsageError(f"{file} is private and would lie in the folder of the release. Give it another place.")


def _secret(work: Path) -> int:
    """The secret of a search: that of its folder, or a new one."""
    from auditor.files.provenances import read_secret
    from auditor.model.seeding import new_secret

    file = work / _SECRET
    return read_secret(file) if file.exists() else new_secret()


def _keep(work: Path, secret: int) -> None:
    """Keeps the secret in the folder of its search, which nobody else may read."""
    from auditor.files.tables import write_files
    from auditor.runs.store import make_folder

    file = work / _SECRET
    if not file.exists():
        make_folder(work)
        work.chmod(0o700)
        write_files({file: f"{secret:064x}\n"}, False, private=[file])
