"""Commands that attack releases: audit, redteam, demo."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from auditor.commands.explaining import explain_release_labels
from auditor.commands.groups import Grouped
from auditor.commands.options import (
    AllReports,
    Attacks,
    Columns,
    Facts,
    Files,
    Links,
    PlotsAndTables,
    PolicyChoice,
    RecursiveL,
    Reported,
    Reports,
    Required,
    SchemaFile,
    Settings,
    Suppressed,
    Targets,
    Utility,
    Withheld,
)
from auditor.commands.output import ANY, Output, exit_if_failed, refuse_inputs, required, run_files
from auditor.commands.parsing import (
    adversaries,
    attack_settings,
    choice,
    facts_known,
    link_models,
    listed_targets,
    measures,
    names,
)
from auditor.commands.progress import Progress
from auditor.commands.scanning import EngineOptions, chosen_engine, local_files, scan
from auditor.commands.signals import resumable, what_is_kept
from auditor.commands.telling import tell
from auditor.model.discretion import is_revealing
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.model.record.record import AuditRecord
    from scenarios.options import Options
    from scenarios.scenario import Scenario

DEMO = Path("demo")
_SETS = "adversary", "adversaries"  # what a sweep keeps: one for each set of known columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What an audit reads."""

    release: Annotated[
        str,
        Argument(
            help="The release: a file, a folder of blocks or of Parquet or CSV files, or a table (duckdb:///file#table, "
            "postgres://user@host/database#table).",
            show_default=False,
        ),
    ]
    schema: SchemaFile
    original: Annotated[
        Path | None, Option("--original", help="The original: the table that the release was made from.")
    ] = None
    match: Annotated[
        str | None,
        Option("--match", help="How rows correspond: `rows` (same order), or a column with an id in both tables."),
    ] = None
    provenance: Annotated[
        Path | None, Option("--provenance", help="The private provenance that `auditor anonymize` wrote.")
    ] = None
    no_match: Annotated[
        bool,
        Option("--no-match", help="The release is synthetic: no row of it belongs to anybody of the original."),
    ] = False
    population: Annotated[
        str | None, Option("--population", help="A table of people at large, with those in the release among them.")
    ] = None
    holdout: Annotated[
        Path | None,
        Option(
            "--holdout", help="For a synthetic release: people who are certainly not in it, in place of a population."
        ),
    ] = None
    reference: Annotated[
        Path | None,
        Option(
            "--reference",
            help="For a synthetic release: further people who are not in it, for adversaries to learn from. Default: half of "
            "the outsiders.",
        ),
    ] = None
    key: Annotated[
        Path | None,
        Option(
            "--key",
            help="The private key of a graded release: utility is measured on decoded values. No attack sees it.",
        ),
    ] = None

    @property
    def in_databases(self) -> bool:
        """Whether the release or the population is a table of a database."""
        return any("://" in one for one in (self.release, self.population) if one is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an audit is asked to do."""

    policy: PolicyChoice = None
    attacks: Attacks = None
    link: Links = None
    utility: Utility = None
    columns: Columns = None
    settings: Settings = None
    targets: Targets = None
    sample: Annotated[
        int | None,
        Option(
            "--sample",
            min=1,
            metavar="N",
            help="Attack a sample of about N people, drawn by the seed, against the whole release.",
        ),
    ] = None
    knows: Annotated[
        str | None,
        Option(
            "--knows", help="The quasi-identifiers that adversaries know, separated by commas. Default: all of them."
        ),
    ] = None
    suppression: Suppressed = "excluded"
    withheld_cells: Withheld = "wildcard"
    recursive_l: RecursiveL = 2
    facts: Facts = "0,1,2,3"
    weighting: Annotated[
        str, Option("--weighting", help="How classes are weighted: size, or paper (the slicing paper's rule).")
    ] = "size"
    explain_labels: Annotated[
        bool, Option("--explain-labels", help="Show how the labels of each column are read; run no attack.")
    ] = False
    remedies: Annotated[
        bool, Option("--remedies/--no-remedies", help="Where the policy fails, try what would help.")
    ] = True

    def check(self, junit: Path | None) -> None:
        """An error where options contradict each other."""
        if junit is not None and self.policy is None:
            raise UsageError("--junit writes the checks of a policy: give --policy as well.")
        if self.policy is not None and self.targets is not None:
            raise UsageError("A policy judges the whole release; leave out --policy or --targets.")
        if self.sample is not None and self.targets is not None:
            raise UsageError("--sample and --targets both choose whom to attack: leave out one of them.")

    def options(self, seed: int, population: bool) -> Options:
        """The options of the audit, but for its targets, which are found once the original is read."""
        from auditor.model.record.policy import read_policy
        from auditor.model.release import Suppression, WithheldCells
        from auditor.posterior.links import Weighting
        from scenarios.options import Options

        return Options(
            attacks=names(self.attacks),
            links=link_models(self.link),
            adversaries=adversaries(self.knows, population),
            settings=attack_settings(self.settings or []),
            reveal=is_revealing(),
            policy=None if self.policy is None else read_policy(self.policy),
            seed=seed,
            suppression=choice(self.suppression, Suppression, "--suppression"),
            cells=choice(self.withheld_cells, WithheldCells, "--withheld-cells"),
            weighting=choice(self.weighting, Weighting, "--weighting"),
            utility=measures(self.utility),
            columns=names(self.columns),
            recursive_l=self.recursive_l,
            remedies=self.remedies,
            facts=facts_known(self.facts),
            sample=self.sample,
        )


@Grouped
def audit(inputs: Inputs, asked: Asked, engine: EngineOptions, reports: AllReports, common: Reported) -> None:
    """Audit a release made by any tool: what would an adversary get out of it?"""
    from auditor.model.record.record import RunRecord

    output = Output(reports, common.force, common.quiet, single=True, day=common.date)
    read = [
        *local_files(inputs.release, inputs.population),
        inputs.schema,
        inputs.original,
        inputs.provenance,
        inputs.holdout,
        inputs.reference,
        inputs.key,
    ]
    refuse_inputs(reports.values(), read)
    output.check()
    if asked.explain_labels:
        _explain(inputs, asked, output)
        return
    asked.check(reports["junit"])
    options = asked.options(common.chosen_seed, inputs.population is not None and not inputs.no_match)
    in_memory = ("original", "match", "provenance", "holdout", "reference", "key")
    only_memory = {f"--{name}": getattr(inputs, name) for name in in_memory}
    only_memory |= {"--targets": asked.targets, "--no-match": inputs.no_match or None}
    scanner = chosen_engine(inputs.release, inputs.population, engine, only_memory)
    if scanner is None:
        record = _in_memory(inputs, asked.targets, options, common.quiet)
    else:
        record = scan(scanner, inputs.release, inputs.schema, inputs.population, options, common.quiet)
    run = RunRecord(record.release.name, options.seed, (record,), record.tool)
    output.finish(run)
    exit_if_failed(run)


def _explain(inputs: Inputs, asked: Asked, output: Output) -> None:
    """Shows how labels are read, which takes files, and no option of an attack."""
    if inputs.in_databases:
        raise UsageError("--explain-labels reads files, not tables of a database.")
    stray: dict[str, object] = {f"--{name}": file for name, file in output.files.items() if name != "json"}
    stray |= {f"--{name}": getattr(asked, name) for name in ("policy", "attacks", "link")}
    stray |= {"--set": asked.settings, "--targets": asked.targets, "--sample": asked.sample, "--knows": asked.knows}
    given = [option for option, value in stray.items() if value is not None]
    if given:
        raise UsageError(f"--explain-labels runs no audit: leave out {', '.join(given)}.")
    population = None if inputs.population is None else Path(inputs.population)
    explain_release_labels(Path(inputs.release), inputs.schema, inputs.original, population, is_revealing(), output)


def _in_memory(inputs: Inputs, targets: str | None, options: Options, quiet: bool) -> AuditRecord:
    """The record of an audit in memory, with the commands that carry out its remedies."""
    from auditor.auditing.audit import run_audit
    from auditor.auditing.correspondence import find_targets
    from auditor.auditing.remedies.command_lines import with_commands
    from auditor.auditing.subjects import Sources, read_subject

    with Progress(quiet) as progress:
        given = (
            inputs.release,
            inputs.schema,
            inputs.original,
            inputs.match,
            inputs.provenance,
            inputs.population,
            inputs.key,
            inputs.no_match,
            inputs.holdout,
            inputs.reference,
        )
        subject = read_subject(Sources(*given), options.seed)
        if targets is not None:
            if subject.people is None:
                raise UsageError("--targets needs the original, which the people are looked up in.")
            options = options.about(find_targets(listed_targets(targets), subject.people, subject.population))
        record = run_audit(subject, options, progress.step)
    return with_commands(record, Path(inputs.release), inputs.schema, options.suppression, options.recursive_l)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What the command line changes in a scenario."""

    link: Links = None
    attacks: Attacks = None
    utility: Utility = None
    columns: Columns = None
    settings: Settings = None
    withheld_cells: Withheld = "wildcard"

    def of(self, scenario: Scenario) -> Scenario:
        """The scenario with these changes."""
        from auditor.model.release import WithheldCells

        asked, given = scenario.options, attack_settings(self.settings or [])
        attacks = sorted({*asked.settings, *given})
        changed = replace(
            asked,
            attacks=names(self.attacks) or asked.attacks,
            links=link_models(self.link) or asked.links,
            utility=asked.utility if self.utility is None else measures(self.utility),
            columns=asked.columns if self.columns is None else names(self.columns),
            settings={name: {**asked.settings.get(name, {}), **given.get(name, {})} for name in attacks},
            cells=choice(self.withheld_cells, WithheldCells, "--withheld-cells"),
        )
        return replace(scenario, options=changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """The search for the strongest adversary, as the command line asks for it."""

    search: Annotated[
        bool,
        Option(
            "--search",
            help="Search for the strongest adversary: which known attributes are enough. Nothing else is run.",
        ),
    ] = False
    goal: Annotated[
        str | None,
        Option(
            "--goal",
            help="What the search is after: identity, value, membership; several separated by commas. Default: identity.",
        ),
    ] = None
    budget: Annotated[
        float | None,
        Option("--budget", metavar="SECONDS", help="The CPU time that the search may take. Default: 600 seconds."),
    ] = None
    threshold: Annotated[
        float | None,
        Option("--threshold", help="The excess that counts as a breach, where no policy says what does. Default: 0.1."),
    ] = None

    def of(self, scenario: Scenario) -> Scenario:
        """The scenario with these changes."""
        from scenarios.options import Search

        given: dict[str, Any] = {"goals": names(self.goal), "budget": self.budget, "threshold": self.threshold}
        asked = {key: value for key, value in given.items() if value is not None}
        if asked and not self.search and scenario.search is None:
            raise UsageError(
                "--goal, --budget and --threshold are about a search: give --search, or [search] in the scenario."
            )
        if not self.search and scenario.search is None:
            return scenario
        return replace(scenario, search=replace(scenario.search or Search(), **asked))


@Grouped
def redteam(
    scenario: Annotated[str, Argument(help="A scenario file (TOML), or a built-in one.", show_default=False)],
    *,
    output: Annotated[Path | None, Option("--output", "-o", help="Folder for the report and the audit record.")] = None,
    targets: Targets = None,
    changes: Changes,
    programs: Annotated[
        bool, Option("--run-programs", help="Run the programs that the scenario names: only if you trust the file.")
    ] = False,
    seeds: Annotated[
        int,
        Option("--seeds", min=1, help="Releases of each method, with consecutive seeds; intervals are then over them."),
    ] = 1,
    sweep: Annotated[
        str | None,
        Option(
            "--sweep",
            help="Show how success grows with the number of known quasi-identifiers, such as known=1..8.",
            metavar="known=N..M",
        ),
    ] = None,
    sought: Sought,
    reports: Annotated[Files, Reports(without=("html", "markdown"))],  # the folder has these
    require: Required = ANY,
    common: Reported,
) -> None:
    """Carry out a scenario: releases, adversaries and attacks from one file. Fails (1) where no release passes the policy or,
    with --require all, where one does not."""
    from auditor.runs import redteaming, sweeping
    from auditor.runs.store import SWEPT
    from scenarios.scenario import read_scenario

    files = {**({} if output is None else run_files(output)), **{n: f for n, f in reports.items() if f is not None}}
    kept = None if sweep is None or output is None else output
    force = common.force or (kept is not None and (kept / SWEPT).is_dir())  # a sweep that goes on replaces its report
    written = Output(files, force, common.quiet, output, day=common.date)
    written.check()
    wanted = required(require)
    if sweep is not None and seeds > 1:
        raise UsageError("--sweep averages over sets of columns, and --seeds over releases: give one of them.")
    if sought.search and (sweep is not None or seeds > 1):
        raise UsageError(
            "--search looks at one release of each kind and at all sets: give it without --sweep and --seeds."
        )
    plan = sought.of(changes.of(read_scenario(scenario, programs)))
    people = None if targets is None else listed_targets(targets)
    with Progress(common.quiet) as progress:
        if sweep is None:
            run = redteaming.redteam(
                plan,
                seed=common.seed,
                seeds=seeds,
                targets=people,
                reveal=is_revealing(),
                progress=progress.step,
                only_search=sought.search,
            )
        else:
            counts = sweeping.read_sweep(sweep)
            with nullcontext() if kept is None else resumable(lambda: what_is_kept(kept / SWEPT, *_SETS)):
                run = sweeping.sweep(
                    plan, counts, seed=common.seed, targets=people, progress=progress.step, folder=kept
                )
    written.finish(run)
    exit_if_failed(run, wanted, by_choice=people is not None)


@Grouped
def demo(
    *,
    output: Annotated[Path, Option("--output", "-o", help="Folder for the report and the audit record.")] = DEMO,
    folders: PlotsAndTables,
    common: Reported,
) -> None:
    """The whole story on built-in data: releases of a synthetic town, attacked and compared."""
    from auditor.runs.redteaming import redteam
    from scenarios.scenario import read_scenario

    files = {**run_files(output), **folders}
    replaced = common.force or output == DEMO  # the demo may replace its own files
    written = Output(files, replaced, common.quiet, output, day=common.date)
    written.check()
    with Progress(common.quiet) as progress:
        run = redteam(read_scenario("town"), seed=common.seed, progress=progress.step)
    written.write(run)
    written.show(run)
    tell(f"\nReport: {files['html']}\nRecord: {files['json']}")
