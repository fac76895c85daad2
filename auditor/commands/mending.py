"""The command that mends a release: coarser columns, suppressed classes and rows, dropped columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditor.commands.options import Force, Quiet, RecursiveL, SchemaFile, Suppressed
from auditor.commands.output import refuse_inputs
from auditor.commands.parsing import conventions
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.auditing.remedies.mending import Mended
    from auditor.model.release import Release


def mend(
    release: Annotated[Path, typer.Argument(help="The release: a file of one block.", show_default=False)],
    schema: SchemaFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The mended release (CSV, or .parquet).")],
    coarsen: Annotated[
        list[str] | None,
        typer.Option("--coarsen", metavar="COLUMN[=LEVELS]", help="A quasi-identifier, one or more levels coarser."),
    ] = None,
    suppress_below: Annotated[
        int | None, typer.Option("--suppress-below", min=2, metavar="K", help="Suppress classes of fewer people.")
    ] = None,
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            "--suppress", metavar="CRITERION", help="Suppress classes by a figure: 'l_distinct<3', 'alpha>0.5'."
        ),
    ] = None,
    suppress_rows: Annotated[
        str | None,
        typer.Option("--suppress-rows", help="Suppress these rows of the file (from 1), by commas, or @FILE."),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="A column to leave out.")] = None,
    suppression: Suppressed = "excluded",
    recursive_l: RecursiveL = 2,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Mend a release: drop columns, make quasi-identifiers coarser, suppress rows and classes, in this order."""
    from auditor.auditing.remedies.mending import Criterion, Mending, mended_files, mended_table
    from auditor.files.releases import check_target, read_release
    from auditor.files.tables import as_schema, refuse_existing, write_files

    if not (coarsen or suppress or suppress_below or suppress_rows or drop):
        raise UsageError("Say what to mend: --coarsen, --suppress-below, --suppress, --suppress-rows or --drop.")
    check_target(output)
    refuse_inputs([output], [release, schema])
    refuse_existing([output], force)
    columns = as_schema(schema)
    raw = read_release(release, columns)
    criteria = [Criterion.parse(text) for text in suppress or []]
    if suppress_below is not None:
        criteria.append(Criterion("k", "<", float(suppress_below)))
    published = [name for block in raw.blocks for name in block.columns]
    mending = Mending(
        drop=tuple(dict.fromkeys(drop or [])),
        coarsen=_levels(coarsen or [], published),
        suppress=tuple(criteria),
        suppression=conventions(suppression, "size")["suppression"],
        recursive_l=recursive_l,
    )
    table, before, mended = mended_table(raw, columns, mending, _rows(suppress_rows))
    write_files(mended_files(raw, table, columns, output), force)
    if not quiet:
        typer.echo(_summary(output, mending.drop, before, mended))


def _levels(texts: list[str], columns: list[str]) -> dict[str, int]:
    """How many levels each column goes up, from COLUMN or COLUMN=LEVELS; what is said twice adds up."""
    found: dict[str, int] = {}
    for text in texts:
        column, sign, levels = text.rpartition("=")
        if text in columns or not sign:
            column, levels = text, "1"
        elif not (levels.isascii() and levels.isdigit() and 0 < int(levels) <= 99):
            raise UsageError(f"--coarsen must be COLUMN or COLUMN=LEVELS, from 1 to 99 levels. Got {text!r}.")
        found[column] = found.get(column, 0) + int(levels)
    return found


def _rows(text: str | None) -> list[int]:
    """The rows (from 0) that --suppress-rows names, by commas or one a line in a file."""
    if text is None:
        return []
    named = text.split(",")
    if text.startswith("@"):
        try:
            named = Path(text[1:]).read_text(encoding="utf-8").replace(",", "\n").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--suppress-rows: {text[1:]} cannot be read ({error}).") from error
    found = [part.strip() for part in named if part.strip()]
    wrong = [part for part in found if not (part.isascii() and part.isdigit() and int(part[:18]) > 0)]
    if wrong or not found:
        raise UsageError(f"--suppress-rows must name rows of the file, from 1. Got {wrong[0] if wrong else text!r}.")
    return [int(part[:18]) - 1 for part in found]


def _summary(output: Path, dropped: tuple[str, ...], before: Release, mended: Mended) -> str:
    """What was done, in one line."""
    from auditor.measure.classes import class_facts

    facts = class_facts(mended.release)
    done = [f"{column} to {level}" for column, level in mended.levels.items()]
    done += [f"{column} dropped" for column in dropped]
    if mended.withheld.any():
        done.append(f"{int(mended.withheld.sum())} rows suppressed anew")
    return (
        f"{output}: {'; '.join(done) or 'nothing to change'}. {facts.rows} rows in {facts.classes} "
        f"{'class' if facts.classes == 1 else 'classes'}, k = {facts.k} (before: {class_facts(before).k}), "
        f"{facts.suppressed_rows} suppressed."
    )
