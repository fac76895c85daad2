"""The command that compares methods: compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from auditor.commands.groups import Grouped
from auditor.commands.options import (
    Columns,
    Links,
    PlotsAndTables,
    PolicyChoice,
    Reported,
    Required,
    SchemaFile,
    TableFile,
    Withheld,
)
from auditor.commands.output import ANY, Output, exit_if_failed, required, run_files
from auditor.commands.parsing import (
    attack_settings,
    choice,
    link_models,
    names,
    numbers,
    numbers_or_none,
    setting_pair,
    values,
)
from auditor.commands.progress import Progress
from auditor.commands.signals import resumable, what_is_kept
from auditor.commands.telling import tell
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.runs.comparing import Limits, Outcome, Request

_NOTHING = 3
_SLOWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a comparison: methods, settings and seeds."""

    methods: Annotated[str, Option("--methods", help="Anonymizers, separated by commas, or `all`, or `none`.")] = "all"
    mechanism: Annotated[
        list[str] | None,
        Option(
            "--mechanism",
            metavar="NAME=COMMAND",
            help='A program to compare as well: "COMMAND {in} {out} {seed}". {seed} may be left out.',
        ),
    ] = None
    shell: Annotated[bool, Option("--shell", help="A shell reads the commands of --mechanism.")] = False
    k: Annotated[str, Option("--k", help="Class sizes, separated by commas: k, r or bucket_size of a method.")] = (
        "3,5,10"
    )
    l: Annotated[
        str | None,
        Option("--l", help="Diversities, separated by commas; `none` is a release without, where a method allows it."),
    ] = None
    settings: Annotated[
        list[str] | None,
        Option(
            "--set", metavar="NAME.SETTING=VALUE,…", help="Values of a method's setting; or one value of an attack's."
        ),
    ] = None
    seeds: Annotated[int, Option("--seeds", min=1, help="Runs of each method and setting, with consecutive seeds.")] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is measured, and which two figures are the axes."""

    attacks: Annotated[
        str | None,
        Option(
            "--attacks",
            help="Attacks, separated by commas, or `all`. Default: linking, homogeneity, proximity, divergence, "
            "membership; of synthetic releases synthetic-membership and linkability.",
        ),
    ] = None
    link: Links = None
    policy: PolicyChoice = None
    risk: Annotated[
        str,
        Option(
            "--risk",
            help="The risk axis: strongest, value, identity, membership or ATTACK.MEASURE[@LINK]; before it ADVERSARY:.",
        ),
    ] = "strongest"
    utility: Annotated[
        str | None,
        Option(
            "--utility",
            help="Utility measures, separated by commas; the first is the axis, as MEASURE or MEASURE.WHICH.",
        ),
    ] = None
    columns: Columns = None
    sample: Annotated[
        float | None, Option("--sample", help="Release this share of the people; the others are outsiders.")
    ] = None
    holdout: Annotated[
        float | None,
        Option(
            "--holdout",
            metavar="SHARE",
            help="Hold out this share of the people as outsiders, from all releases. Default: 0.5 with a synthesizer.",
        ),
    ] = None
    withheld_cells: Withheld = "wildcard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How cells are run."""

    jobs: Annotated[int | None, Option("--jobs", min=1, help="Processes to use. Default: one for each processor.")] = (
        None
    )
    timeout: Annotated[float | None, Option("--timeout", help="Processor seconds that a cell may take.")] = None
    memory: Annotated[int | None, Option("--memory", min=1, help="Megabytes that a process may use.")] = None
    retry: Annotated[bool, Option("--retry", help="Run cells again that gave no release.")] = False

    @property
    def limits(self) -> Limits:
        """What a cell may take."""
        from auditor.runs.comparing import Limits

        return Limits(self.timeout, self.memory, self.jobs)


@Grouped
def compare(
    data: TableFile,
    schema: SchemaFile,
    output: Annotated[
        Path,
        Option("--output", "-o", help="Folder for the report and the audit records; finished cells are kept in it."),
    ],
    cells: Cells,
    figures: Figures,
    work: Work,
    folders: PlotsAndTables,
    common: Reported,
    require: Required = ANY,
) -> None:
    """Compare methods at several strengths: risk against utility, and which choices no other beats. Run it again to go on
    after an interruption. Fails (1) where no release passes the policy (--require all: where one does not), (3) where there
    is no release at all."""
    from auditor.runs.comparing import held_out, read_world, run_comparison
    from auditor.runs.store import CELLS, Store

    kept = output / CELLS
    force = common.force or kept.is_dir()  # a comparison may replace its own report, since its cells are all kept
    plots = folders["plots"] or output / "plots"
    files = {**run_files(output), **folders, "plots": plots}
    written = Output(files, force, common.quiet, output, day=common.date)
    written.check()
    wanted = required(require)
    asked = _request(cells, figures, work, common.chosen_seed)
    holdout = held_out(asked.grid, figures.sample, figures.holdout)
    world = read_world(data, schema, figures.sample, common.chosen_seed, holdout)
    if not common.quiet:
        for remark in world.remarks:
            tell(remark, err=True)

    with resumable(lambda: what_is_kept(kept, "cell", "cells")):
        with Progress(common.quiet) as progress:
            found = run_comparison(world, asked, Store(output), progress.step)
        written.write(found.run)
    written.tell(found.run)
    if not common.quiet:
        _tell_cells(found)
    if not found.run.records:
        tell("Error: no cell gave a release; the report says why.", err=True)
        raise typer.Exit(_NOTHING)
    exit_if_failed(found.run, wanted)


def _request(cells: Cells, figures: Figures, work: Work, seed: int) -> Request:
    """What the options ask of a comparison."""
    from auditor.model.record.policy import read_policy
    from auditor.model.release import WithheldCells
    from auditor.runs.comparing import ATTACKS_COMPARED, UTILITY_COMPARED, Request
    from auditor.runs.mechanisms import programs_named
    from auditor.runs.placing import RiskChoice
    from auditor.runs.plan import grid
    from auditor.runs.worlds import run_seeds
    from scenarios.options import Options

    swept, of_attacks = _settings(cells.settings or [])
    options = Options(
        attacks=None if figures.attacks == "all" else names(figures.attacks) or ATTACKS_COMPARED,
        links=link_models(figures.link),
        settings=of_attacks,
        policy=None if figures.policy is None else read_policy(figures.policy),
        seed=seed,
        columns=names(figures.columns),
        cells=choice(figures.withheld_cells, WithheldCells, "--withheld-cells"),
    )
    strengths, diversities = numbers(cells.k, "--k"), numbers_or_none(cells.l, "--l")
    methods = names(cells.methods) or ()
    programs = programs_named(cells.mechanism or [], cells.shell, work.timeout)
    asked = grid(methods, strengths, diversities, swept, run_seeds(cells.seeds, seed), programs)
    utility = names(figures.utility) or UTILITY_COMPARED
    return Request(asked, options, RiskChoice.read(figures.risk), utility, work.limits, work.retry)


def _settings(texts: list[str]) -> tuple[dict[str, dict[str, list[str]]], Mapping[str, Mapping[str, str]]]:
    """The swept settings of methods, and the settings of attacks."""
    from anonymizers import ANONYMIZERS
    from attacks import ATTACKS

    swept: dict[str, dict[str, list[str]]] = {}
    of_attacks = []
    for text in texts:
        key, value = setting_pair(text)
        owner, dot, name = key.partition(".")
        if not dot or not name:
            raise UsageError(f"--set must name the method or attack, such as slicing.c=2,3. Got {text!r}.")
        if owner in ATTACKS.all():
            of_attacks.append(text)
            continue
        ANONYMIZERS.get(owner)
        swept.setdefault(owner, {}).setdefault(name, []).extend(values(value))
    return swept, attack_settings(of_attacks)


def _tell_cells(found: Outcome) -> None:
    """Prints how the cells ended, and the processor time they took."""
    cells = found.run.cells
    counts = {status: sum(cell.status == status for cell in cells) for status in dict.fromkeys(c.status for c in cells)}
    ended = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items())
    reused = f"; {found.reused} of them were there already" if found.reused else ""
    tell(f"{len(cells)} cells: {ended}{reused}.", err=True)
    slow = sorted(found.seconds.items(), key=lambda item: -item[1])[:_SLOWEST]
    named = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in slow)
    tell(f"Processor time of all cells: {sum(found.seconds.values()):.0f} s; slowest: {named}.", err=True)
