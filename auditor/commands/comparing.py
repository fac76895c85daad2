"""The command that compares methods: compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from auditor.commands.options import Force, Links, Quiet, SchemaFile, Seed
from auditor.commands.output import refuse_early, run_files, tell, write_run
from auditor.commands.parsing import attack_settings, link_models, names, setting_pair
from auditor.commands.progress import Progress
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.runs.comparing import Outcome

_INTERRUPTED, _FAILED, _NOTHING = 130, 1, 3
_SLOWEST = 3
_OPEN, _CLOSE = "[{", "]}"


def compare(
    data: Annotated[Path, typer.Argument(help="The table (CSV, Parquet, Arrow, Excel).", show_default=False)],
    schema: SchemaFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for the report and the records; finished cells are kept in it."),
    ],
    methods: Annotated[str, typer.Option("--methods", help="Anonymizers, by commas, or all.")] = "all",
    k: Annotated[str, typer.Option("--k", help="Class sizes, by commas: k, r or bucket_size of a method.")] = "3,5,10",
    l: Annotated[
        str | None, typer.Option("--l", help="Diversities, by commas; none is without, where a method allows it.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME.SETTING=VALUE,…", help="Values of a method's setting; or one of an attack's."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Runs of each method and setting, with seeds in a row.")
    ] = 1,
    attacks: Annotated[
        str | None,
        typer.Option(
            "--attacks",
            help="Attacks, by commas, or all. Default: linking, homogeneity, proximity, divergence, membership.",
        ),
    ] = None,
    link: Links = None,
    policy: Annotated[str | None, typer.Option("--policy", help="A built-in policy, or a TOML file.")] = None,
    risk: Annotated[
        str, typer.Option("--risk", help="The risk axis: strongest, or ATTACK.MEASURE[@LINK].")
    ] = "strongest",
    utility: Annotated[
        str | None,
        typer.Option(
            "--utility", help="Utility measures, by commas; the first is the axis, as MEASURE or MEASURE.WHICH."
        ),
    ] = None,
    sample: Annotated[
        float | None, typer.Option("--sample", help="Release this share of the people; the others are outsiders.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Processes. Default: one for each processor.")
    ] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Processor seconds that a cell may take.")] = None,
    memory: Annotated[int | None, typer.Option("--memory", min=1, help="Megabytes that a process may take.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run cells again that gave no release.")] = False,
    seed: Seed = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods at several strengths: risk against utility, and what no other beats. Run again, it goes on where it was
    interrupted. Fails (1) where there is a policy and no release passes it, (3) where there is no release at all."""
    from auditor.model.record.policy import read_policy
    from auditor.model.seeding import DEFAULT_SEED
    from auditor.runs.comparing import (
        ATTACKS_COMPARED,
        UTILITY_COMPARED,
        Limits,
        read_world,
        run_comparison,
        run_seeds,
    )
    from auditor.runs.placing import RiskChoice
    from auditor.runs.plan import grid
    from auditor.runs.store import CELLS, Store
    from scenarios.options import Options

    files = {**run_files(output), "plots": output / "plots"}
    force = force or (output / CELLS).is_dir()  # a comparison may replace its own report: its cells are all there
    refuse_early(files, force, output)
    chosen = DEFAULT_SEED if seed is None else seed
    swept, of_attacks = _settings(settings or [])
    options = Options(
        attacks=None if attacks == "all" else names(attacks) or ATTACKS_COMPARED,
        links=link_models(link),
        settings=of_attacks,
        policy=None if policy is None else read_policy(policy),
        seed=chosen,
    )
    asked = grid(
        names(methods) or (), _numbers(k, "--k"), _numbers(l, "--l", none=True), swept, run_seeds(seeds, chosen)
    )
    axis, measures = RiskChoice.read(risk), names(utility) or UTILITY_COMPARED
    limits = Limits(timeout, memory, jobs)
    world = read_world(data, schema, sample, chosen)
    try:
        with Progress(quiet) as progress:
            found = run_comparison(world, asked, options, axis, measures, limits, Store(output), retry, progress.step)
    except KeyboardInterrupt:
        kept = sum(1 for _ in (output / CELLS).glob("*.json"))
        typer.echo(
            f"Interrupted; {kept} finished cells are kept in {output / CELLS}. The same command goes on from there.",
            err=True,
        )
        raise typer.Exit(_INTERRUPTED) from None
    write_run(found.run, files, force, output)
    tell(found.run, files, quiet)
    if not quiet:
        _tell_cells(found)
    if not found.run.records:
        typer.echo("Error: no cell gave a release; the report says why.", err=True)
        raise typer.Exit(_NOTHING)
    verdicts = [record.policy.passed for record in found.run.records if record.policy is not None]
    if policy is not None and not any(verdicts):
        raise typer.Exit(_FAILED)


def _tell_cells(found: Outcome) -> None:
    """How the cells ended, and what they took."""
    cells = found.run.cells
    counts = {status: sum(cell.status == status for cell in cells) for status in dict.fromkeys(c.status for c in cells)}
    ended = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items())
    reused = f"; {found.reused} of them were there already" if found.reused else ""
    typer.echo(f"{len(cells)} cells: {ended}{reused}.", err=True)
    slow = sorted(found.seconds.items(), key=lambda item: -item[1])[:_SLOWEST]
    named = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in slow)
    typer.echo(f"Processor time of all cells: {sum(found.seconds.values()):.0f} s; slowest: {named}.", err=True)


def _numbers(text: str | None, option: str, none: bool = False) -> tuple[Any, ...]:
    """The whole numbers in a list by commas; with `none` also that word, as None."""
    found: list[int | None] = []
    for part in names(text) or ():
        if none and part == "none":
            found.append(None)
        elif part.isascii() and part.isdigit():
            found.append(int(part))
        else:
            words = "whole numbers by commas" + (", or none" if none else "")
            raise UsageError(f"{option} must be {words}, such as {option} 2,3. Got {part!r}.")
    return tuple(dict.fromkeys(found))


def _settings(texts: list[str]) -> tuple[dict[str, dict[str, list[str]]], Mapping[str, Mapping[str, str]]]:
    """The swept settings of methods, and those of attacks."""
    from anonymizers import ANONYMIZERS
    from attacks import ATTACKS

    swept: dict[str, dict[str, list[str]]] = {}
    others = []
    for text in texts:
        key, value = setting_pair(text)
        owner, dot, name = key.partition(".")
        if not dot or not name:
            raise UsageError(f"--set must name the method or attack, such as slicing.c=2,3. Got {text!r}.")
        if owner in ATTACKS.all():
            others.append(text)
            continue
        ANONYMIZERS.get(owner)
        swept.setdefault(owner, {}).setdefault(name, []).extend(split_values(value))
    return swept, attack_settings(others)


def split_values(text: str) -> list[str]:
    """The values in a list by commas; commas in brackets and quotes part nothing."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += sign
    values = [part.strip() for part in parts]
    if not all(values):
        raise UsageError(f"--set must give values by commas. Got {text!r}.")
    return values
