"""Commands that attack releases: audit, redteam, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.commands.explaining import explain_release_labels
from auditor.commands.options import (
    Attacks,
    EngineChoice,
    Force,
    HtmlFile,
    JsonFile,
    JunitFile,
    Links,
    MarkdownFile,
    Memory,
    PlotsFolder,
    Quiet,
    RecursiveL,
    Reveal,
    Sample,
    SchemaFile,
    Seed,
    Settings,
    Spill,
    Suppressed,
    Targets,
    Utility,
)
from auditor.commands.output import exit_if_failed, refuse_early, refuse_inputs, run_files, show, tell, write_run
from auditor.commands.parsing import (
    adversaries,
    attack_settings,
    conventions,
    link_models,
    listed_targets,
    measures,
    names,
)
from auditor.commands.progress import Progress
from auditor.commands.scanning import chosen_engine, local_files, scan
from auditor.model.errors import UsageError

DEMO = Path("demo")


def audit(
    release: Annotated[
        str,
        typer.Argument(
            help="The release: a file, a folder of blocks or of Parquet or CSV files, or a table (duckdb:///file#table, "
            "postgres://user@host/database#table).",
            show_default=False,
        ),
    ],
    schema: SchemaFile,
    original: Annotated[Path | None, typer.Option("--original", help="The table it was made from.")] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="rows (same order), or a column with an id in both.")
    ] = None,
    provenance: Annotated[
        Path | None, typer.Option("--provenance", help="The private provenance of our own release.")
    ] = None,
    population: Annotated[str | None, typer.Option("--population", help="A register of the population.")] = None,
    policy: Annotated[str | None, typer.Option("--policy", help="A built-in policy, or a TOML file.")] = None,
    attacks: Attacks = None,
    link: Links = None,
    utility: Utility = None,
    settings: Settings = None,
    targets: Targets = None,
    sample: Sample = None,
    knows: Annotated[
        str | None, typer.Option("--knows", help="Known quasi-identifiers, by commas. Default: all.")
    ] = None,
    suppression: Suppressed = "excluded",
    recursive_l: RecursiveL = 2,
    weighting: Annotated[str, typer.Option("--weighting", help="size, or paper (the slicing paper's rule).")] = "size",
    explain_labels: Annotated[
        bool, typer.Option("--explain-labels", help="Say how the labels of each column are read; run no attack.")
    ] = False,
    remedies: Annotated[
        bool, typer.Option("--remedies/--no-remedies", help="Where the policy fails: try what would help.")
    ] = True,
    reveal: Reveal = False,
    engine: EngineChoice = None,
    memory: Memory = None,
    spill: Spill = None,
    html: HtmlFile = None,
    json: JsonFile = None,
    markdown: MarkdownFile = None,
    junit: JunitFile = None,
    plots: PlotsFolder = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Audit a release made by any tool: what would an adversary get out of it?"""
    from dataclasses import replace

    from auditor.auditing.audit import run_audit
    from auditor.auditing.correspondence import find_targets
    from auditor.auditing.remedies.command_lines import with_commands
    from auditor.auditing.subjects import read_subject
    from auditor.model.record.policy import read_policy
    from auditor.model.record.record import RunRecord
    from auditor.model.seeding import DEFAULT_SEED
    from scenarios.options import Options

    files = {"html": html, "json": json, "markdown": markdown, "junit": junit, "plots": plots}
    refuse_inputs(files.values(), [*local_files(release, population), schema, original, provenance])
    refuse_early(files, force)
    if explain_labels:
        if len(local_files(release, population)) < (1 if population is None else 2):
            raise UsageError("--explain-labels reads files, not tables of a database.")
        stray: dict[str, object] = {
            "--html": html,
            "--markdown": markdown,
            "--junit": junit,
            "--plots": plots,
            "--policy": policy,
            "--attacks": attacks,
        }
        stray |= {"--link": link, "--set": settings, "--targets": targets, "--sample": sample, "--knows": knows}
        people = None if population is None else Path(population)
        explain_release_labels(
            Path(release), schema, original, people, json, stray, reveal=reveal, force=force, quiet=quiet
        )
        return
    if junit is not None and policy is None:
        raise UsageError("--junit writes the checks of a policy: give --policy as well.")
    if policy is not None and targets is not None:
        raise UsageError("A policy judges the whole release; leave out --policy or --targets.")
    if sample is not None and targets is not None:
        raise UsageError(
            "A sample of people and certain people cannot both be attacked: leave out --sample or --targets."
        )
    chosen = DEFAULT_SEED if seed is None else seed
    options = Options(
        attacks=names(attacks),
        links=link_models(link),
        settings=attack_settings(settings or []),
        sample=sample,
        reveal=reveal,
        policy=None if policy is None else read_policy(policy),
        seed=chosen,
        recursive_l=recursive_l,
        utility=measures(utility),
        remedies=remedies,
        **conventions(suppression, weighting),
        **adversaries(knows, population is not None),
    )
    only_memory = {"--original": original, "--match": match, "--provenance": provenance, "--targets": targets}
    scanned = chosen_engine(release, population, engine, memory, spill, only_memory)
    if scanned is not None:
        record = scan(scanned, release, schema, population, options, quiet)
        run = RunRecord(record.release.name, chosen, (record,), record.tool)
        write_run(run, files, force, single=True)
        tell(run, files, quiet)
        exit_if_failed(run)
        return
    with Progress(quiet) as progress:
        subject = read_subject(release, schema, original, match, provenance, population, chosen)
        if targets is not None:
            if subject.people is None:
                raise UsageError("--targets needs the original that the people are in.")
            options = replace(options, targets=find_targets(listed_targets(targets), subject.people))
        record = run_audit(subject, options, progress.step)
    record = with_commands(record, Path(release), schema, options.suppression, recursive_l)
    run = RunRecord(record.release.name, chosen, (record,), record.tool)
    write_run(run, files, force, single=True)
    tell(run, files, quiet)
    exit_if_failed(run)


def redteam(
    scenario: Annotated[str, typer.Argument(help="A scenario file (TOML), or a built-in one.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the report and the record.")] = None,
    targets: Targets = None,
    reveal: Reveal = False,
    link: Links = None,
    attacks: Attacks = None,
    utility: Utility = None,
    settings: Settings = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep", help="known=1..8: success against the number of known attributes.", metavar="known=N..M"
        ),
    ] = None,
    json: JsonFile = None,
    junit: JunitFile = None,
    plots: PlotsFolder = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Carry out a scenario: releases, adversaries and attacks from one file. Fails (1) where a release fails the policy."""
    from dataclasses import replace

    from auditor.runs.sweeping import read_sweep, red_team
    from scenarios.scenario import read_scenario

    files: dict[str, Path | None] = dict(run_files(output)) if output is not None else {}
    if json is not None:
        files["json"] = json
    files |= {"junit": junit, "plots": plots}
    refuse_early(files, force, output)
    plan = read_scenario(scenario)
    given = attack_settings(settings or [])
    merged = {name: {**plan.settings.get(name, {}), **given.get(name, {})} for name in {*plan.settings, *given}}
    plan = replace(
        plan,
        attacks=names(attacks) or plan.attacks,
        links=link_models(link) or plan.links,
        utility=plan.utility if utility is None else measures(utility),
        settings=dict(sorted(merged.items())),
    )
    with Progress(quiet) as progress:
        run = red_team(
            plan,
            None if sweep is None else read_sweep(sweep),
            seed=seed,
            targets=None if targets is None else listed_targets(targets),
            reveal=reveal,
            progress=progress.step,
        )
    write_run(run, files, force, output)
    tell(run, files, quiet)
    exit_if_failed(run)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report and the record.")] = Path(
        "demo"
    ),
    plots: PlotsFolder = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """The whole story on built-in data: releases of a synthetic town, attacked and compared."""
    from auditor.runs.redteaming import redteam
    from scenarios.scenario import read_scenario

    files: dict[str, Path | None] = {**run_files(output), "plots": plots}
    force = force or output == DEMO  # the demo may replace itself
    refuse_early(files, force, output)
    with Progress(quiet) as progress:
        run = redteam(read_scenario("town"), seed=seed, progress=progress.step)
    write_run(run, files, force, output)
    show(run, quiet)
    typer.echo(f"\nReport: {files['html']}\nRecord: {files['json']}")
