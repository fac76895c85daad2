"""The command line: parses, calls, prints, exits. Everything heavy is imported when a command needs it.

Results go to stdout, progress and warnings to stderr. Exit codes: 0 fine; 1 a policy failed; 2 wrong usage; 3 bad data,
schema or scenario; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from auditor.cli_support import (
    Progress,
    adversaries,
    attack_settings,
    conventions,
    link_models,
    listed_targets,
    name_files,
    names,
    refuse_early,
    refuse_inputs,
    refuse_same,
    run_files,
    setting_pair,
    show,
    write_run,
)
from auditor.model.errors import AuditorError, UsageError
from auditor.version import VERSION

app = typer.Typer(
    name="auditor",
    help="A red team in a box for data releases: anonymize, attack, and audit risk against utility.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

DEMO = Path("demo")

SchemaFile = Annotated[Path, typer.Option("--schema", help="What each column is (TOML).", show_default=False)]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="One seed, one answer. Default: 2026, or the scenario's.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables; errors are still shown.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="ATTACK.NAME=VALUE", help="A setting of an attack (see `auditor explain ATTACK`)."),
]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method (see `auditor explain METHOD`)."),
]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML file.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the record as JSON; - is stdout.")]
MarkdownFile = Annotated[Path | None, typer.Option("--markdown", help="Write the report as Markdown.")]
Targets = Annotated[
    str | None,
    typer.Option(
        "--targets", help="Only these people: row numbers (from 1), identifiers, COLUMN=VALUE, or @FILE; by commas."
    ),
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show claimed values of persons in details.")]
Links = Annotated[str | None, typer.Option("--link", help="Link models, by commas. Default: all that apply.")]
Attacks = Annotated[str | None, typer.Option("--attacks", help="Attacks, by commas. Default: all.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"auditor {VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    del version, debug  # read where errors are handled


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report and the record.")] = Path(
        "demo"
    ),
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """The whole story on built-in data: releases of a synthetic town, attacked and compared."""
    from auditor.redteaming import redteam
    from scenarios.scenario import read_scenario

    files = run_files(output)
    force = force or output == DEMO  # the demo may replace itself
    refuse_early(files, force, output)
    with Progress(quiet) as progress:
        run = redteam(read_scenario("town"), seed=seed, progress=progress.step)
    write_run(run, files, force, output)
    show(run, quiet)
    typer.echo(f"\nReport: {files['html']}\nRecord: {files['json']}")


@app.command()
def anonymize(
    data: Annotated[Path, typer.Argument(help="The table (CSV).", show_default=False)],
    schema: SchemaFile,
    method: Annotated[
        str, typer.Option("--method", help="An anonymizer: see `auditor list anonymizers`.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The release: a file, or a folder for several blocks.")
    ],
    settings: MethodSettings = None,
    provenance: Annotated[Path | None, typer.Option("--provenance", help="Write the private provenance here.")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Write the private key of `grading` here.")] = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make a release of a table. What is private is written only where --provenance and --key say."""
    from auditor.auditing import DEFAULT_SEED
    from auditor.files import refuse_existing, write_files
    from auditor.measure.classes import class_facts
    from auditor.redteaming import anonymize as make
    from auditor.releasing import write_release
    from auditor.subjects import read_table

    chosen = DEFAULT_SEED if seed is None else seed
    options = dict(setting_pair(text) for text in settings or [])
    secret = [file for file in (provenance, key) if file is not None]
    refuse_inputs([output, *secret], [data, schema])
    refuse_same([output, *secret])
    if output.exists() and not force:
        raise UsageError(f"{output} exists already. Use --force to replace it.")
    refuse_existing(secret, force)
    table = read_table(data, schema)
    with Progress(quiet) as progress:
        release, whose = make(table, method, chosen, progress.step, **options)
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


@app.command()
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
    from auditor.decoding import decode_file, read_key
    from auditor.files import refuse_existing, write_files

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


@app.command()
def audit(
    release: Annotated[Path, typer.Argument(help="The release: a file, or a folder of blocks.", show_default=False)],
    schema: SchemaFile,
    original: Annotated[Path | None, typer.Option("--original", help="The table it was made from.")] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="rows (same order), or a column with an id in both.")
    ] = None,
    provenance: Annotated[
        Path | None, typer.Option("--provenance", help="The private provenance of our own release.")
    ] = None,
    population: Annotated[Path | None, typer.Option("--population", help="A register of the population.")] = None,
    policy: Annotated[str | None, typer.Option("--policy", help="A built-in policy, or a TOML file.")] = None,
    attacks: Attacks = None,
    link: Links = None,
    settings: Settings = None,
    targets: Targets = None,
    knows: Annotated[
        str | None, typer.Option("--knows", help="Known quasi-identifiers, by commas. Default: all.")
    ] = None,
    suppression: Annotated[str, typer.Option("--suppression", help="excluded, own or wildcard.")] = "excluded",
    recursive_l: Annotated[int, typer.Option("--recursive-l", min=1, help="The l of l_recursive_c.")] = 2,
    weighting: Annotated[str, typer.Option("--weighting", help="size, or paper (the slicing paper's rule).")] = "size",
    reveal: Reveal = False,
    html: HtmlFile = None,
    json: JsonFile = None,
    markdown: MarkdownFile = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Audit a release made by any tool: what would an adversary get out of it?"""
    from dataclasses import replace

    from auditor.auditing import DEFAULT_SEED, Options, run_audit
    from auditor.model.record import RunRecord
    from auditor.policy import read_policy
    from auditor.subjects import find_targets, read_subject

    files = {"html": html, "json": json, "markdown": markdown}
    refuse_inputs(files.values(), [release, schema, original, provenance, population])
    refuse_early(files, force)
    if policy is not None and targets is not None:
        raise UsageError("A policy judges the whole release; leave out --policy or --targets.")
    chosen = DEFAULT_SEED if seed is None else seed
    options = Options(
        attacks=names(attacks),
        links=link_models(link),
        settings=attack_settings(settings or []),
        reveal=reveal,
        policy=None if policy is None else read_policy(policy),
        seed=chosen,
        recursive_l=recursive_l,
        **conventions(suppression, weighting),
        **adversaries(knows, population is not None),
    )
    with Progress(quiet) as progress:
        subject = read_subject(release, schema, original, match, provenance, population, chosen)
        if targets is not None:
            if subject.people is None:
                raise UsageError("--targets needs the original that the people are in.")
            options = replace(options, targets=find_targets(listed_targets(targets), subject.people))
        record = run_audit(subject, options, progress.step)
    run = RunRecord(record.release.name, chosen, (record,), record.tool)
    write_run(run, files, force, single=True)
    if json != Path("-"):
        show(run, quiet)
        name_files(files, quiet)
    if record.policy is not None and not record.policy.passed:
        raise typer.Exit(1)


@app.command()
def redteam(
    scenario: Annotated[str, typer.Argument(help="A scenario file (TOML), or a built-in one.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the report and the record.")] = None,
    targets: Targets = None,
    reveal: Reveal = False,
    link: Links = None,
    attacks: Attacks = None,
    settings: Settings = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep", help="known=1..8: success against the number of known attributes.", metavar="known=N..M"
        ),
    ] = None,
    json: JsonFile = None,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Carry out a scenario: releases, adversaries and attacks from one file. Fails (1) where a release fails the policy."""
    from dataclasses import replace

    from auditor.sweeping import read_sweep, red_team
    from scenarios.scenario import read_scenario

    files: dict[str, Path | None] = dict(run_files(output)) if output is not None else {}
    if json is not None:
        files["json"] = json
    refuse_early(files, force, output)
    plan = read_scenario(scenario)
    given = attack_settings(settings or [])
    merged = {name: {**plan.settings.get(name, {}), **given.get(name, {})} for name in {*plan.settings, *given}}
    plan = replace(
        plan,
        attacks=names(attacks) or plan.attacks,
        links=link_models(link) or plan.links,
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
    if json != Path("-"):
        show(run, quiet)
        name_files(files, quiet)
    if any(record.policy is not None and not record.policy.passed for record in run.records):
        raise typer.Exit(1)


@app.command()
def render(
    records: Annotated[
        list[Path], typer.Argument(help="Records or runs (JSON); several are shown as one.", show_default=False)
    ],
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Render old records again: reports are made from the record alone."""
    from auditor.model.errors import RecordError
    from auditor.model.record import RunRecord, read_run

    files = {"html": html, "markdown": markdown}
    refuse_early(files, force)
    runs = []
    for file in records:
        try:
            runs.append(read_run(file.read_text(encoding="utf-8"), str(file)))
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"{file}: the record cannot be read ({error}).") from error
    run = runs[0]
    if len(runs) > 1:
        everything = tuple(record for one in runs for record in one.records)
        run = RunRecord(", ".join(one.title for one in runs), run.seed, everything, run.tool)
    write_run(run, files, force)
    show(run, quiet)
    name_files(files, quiet)


@app.command()
def export(
    scenario: Annotated[
        str, typer.Argument(help="A built-in scenario: see `auditor list scenarios`.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")],
    seed: Seed = None,
    force: Force = False,
) -> None:
    """Write a built-in scenario's data, schema and scenario file, to try the other commands on."""
    from auditor.files import write_files
    from auditor.redteaming import export_scenario

    files = export_scenario(scenario, output, seed)
    write_files(files, force, output)
    for file in files:
        typer.echo(str(file))


@app.command(name="list")
def list_things(
    what: Annotated[
        str,
        typer.Argument(
            help="anonymizers, attacks, adversaries, links, metrics, policies or scenarios.", show_default=False
        ),
    ],
) -> None:
    """What there is."""
    from auditor.catalogue import catalogue

    typer.echo(catalogue(what))


@app.command()
def explain(
    name: Annotated[
        str,
        typer.Argument(
            help="An anonymizer, attack, metric, policy, link model, scenario, or a word of the reports.",
            show_default=False,
        ),
    ],
) -> None:
    """What a thing means, needs and promises, and its paper."""
    from auditor.catalogue import explanation

    typer.echo(explanation(name))


_USAGE: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""What click raises for wrong usage; typer has a copy of click of its own in some versions, so it is found from there."""

INTERRUPTED, INTERNAL, PIPE_CLOSED = 130, 70, 141


def main() -> None:
    """Runs the command line and exits with its code."""
    try:
        code = app(standalone_mode=False)
    except AuditorError as error:
        if "--debug" in sys.argv[1:]:
            raise
        typer.echo(f"Error: {error}", err=True)
        code = error.exit_code
    except _USAGE as error:
        error.show()
        code = error.exit_code
    except SystemExit as stop:
        code = stop.code
    except BrokenPipeError:  # the reader of our output has gone; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    except MemoryError:
        typer.echo("Error: the data do not fit into memory.", err=True)
        code = 3
    except (Exception, KeyboardInterrupt) as error:
        code = _unexpected(error)
    if code == INTERRUPTED:
        typer.echo("Interrupted; nothing was written.", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _unexpected(error: BaseException) -> int:
    """The exit code of an error that is not the user's; an interrupt may arrive wrapped in another one."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, KeyboardInterrupt | typer.Abort):
            return INTERRUPTED
        inner = inner.__cause__ or inner.__context__
    if "--debug" in sys.argv[1:]:
        raise error
    typer.echo(
        f"Internal error, which is ours and not yours: {type(error).__name__}: {error}\nRun again with `auditor --debug …` "
        "for the details, and please report them.",
        err=True,
    )
    return INTERNAL
