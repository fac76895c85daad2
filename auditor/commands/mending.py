"""The command that mends a release: it drops columns, coarsens quasi-identifiers, suppresses rows and classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Force, Quiet, RecursiveL, SchemaFile, Suppressed
from auditor.commands.output import refuse_inputs, refuse_same
from auditor.commands.parsing import choice, listed_in
from auditor.commands.telling import tell
from auditor.model.discretion import is_revealing, quote
from auditor.model.errors import UsageError

if TYPE_CHECKING:
    from auditor.auditing.remedies.mending import Mended, Mending
    from auditor.model.release import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is to be done to a release."""

    coarsen: Annotated[
        list[str] | None,
        Option("--coarsen", metavar="COLUMN[=LEVELS]", help="A quasi-identifier to make one or more levels coarser."),
    ] = None
    suppress_below: Annotated[
        int | None, Option("--suppress-below", min=2, metavar="K", help="Suppress classes of fewer people.")
    ] = None
    suppress: Annotated[
        list[str] | None,
        Option("--suppress", metavar="CRITERION", help="Suppress classes by a figure: 'l_distinct<3', 'alpha>0.5'."),
    ] = None
    suppress_rows: Annotated[
        str | None,
        Option("--suppress-rows", help="Suppress these rows of the file (from 1), separated by commas, or @FILE."),
    ] = None
    drop: Annotated[list[str] | None, Option("--drop", metavar="COLUMN", help="A column to leave out.")] = None
    suppression: Suppressed = "excluded"
    recursive_l: RecursiveL = 2

    def mending(self, columns: list[str]) -> Mending:
        """The mending of a release with these columns, but for its single rows."""
        from auditor.auditing.remedies.mending import Criterion, Mending
        from auditor.model.release import Suppression

        criteria = [Criterion.parse(text) for text in self.suppress or []]
        if self.suppress_below is not None:
            criteria.append(Criterion("k", "<", float(self.suppress_below)))
        return Mending(
            drop=tuple(dict.fromkeys(self.drop or [])),
            coarsen=_levels(self.coarsen or [], columns),
            suppress=tuple(criteria),
            suppression=choice(self.suppression, Suppression, "--suppression"),
            recursive_l=self.recursive_l,
        )


@Grouped
def mend(
    release: Annotated[Path, Argument(help="The release: a file of one block.", show_default=False)],
    schema: SchemaFile,
    output: Annotated[Path, Option("--output", "-o", help="The mended release (CSV, or .parquet).")],
    steps: Steps,
    provenance: Annotated[Path | None, Option("--provenance", help="The private provenance of the release.")] = None,
    new_provenance: Annotated[
        Path | None, Option("--new-provenance", help="Write the provenance of the mended release here.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Mend a release: drop columns, make quasi-identifiers coarser, suppress rows and classes, in this order."""
    from auditor.auditing.remedies.mending import mended_files, mended_table
    from auditor.files.manifests import files_of_older
    from auditor.files.provenances import renewed
    from auditor.files.releases import in_file_order, read_release
    from auditor.files.tables import as_schema, refuse_existing, target_format, write_files
    from auditor.model.seeding import stage

    if not (steps.coarsen or steps.suppress or steps.suppress_below or steps.suppress_rows or steps.drop):
        raise UsageError("Say what to mend: --coarsen, --suppress-below, --suppress, --suppress-rows or --drop.")
    target_format(output)  # its fault before any work
    if (provenance is None) != (new_provenance is None):
        raise UsageError("--provenance and --new-provenance go together: one is read, the other written.")
    outputs = [output] if new_provenance is None else [output, new_provenance]
    refuse_inputs(outputs, [release, schema, provenance])
    refuse_same(outputs)
    refuse_existing(outputs, force)
    read = read_release(release, as_schema(schema), stage(0, "mend"), whose=in_file_order)
    mending = steps.mending([name for table in read.tables for name in table.columns])
    table, mended = mended_table(read, mending, _rows(steps.suppress_rows))
    files = mended_files(read, table, output)
    if provenance is not None and new_provenance is not None:
        files = {new_provenance: renewed(provenance, read.tables[0], table), **files}
    write_files(files, force, private=[new_provenance], gone=files_of_older(output))
    if not quiet:
        tell(_summary(output, mending.drop, read.release, mended))


def _levels(texts: list[str], columns: list[str]) -> dict[str, int]:
    """How many levels coarser each column becomes, from COLUMN or COLUMN=LEVELS; repeated ones add up."""
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
    """The rows (from 0) that --suppress-rows names, separated by commas or, in a file, by lines."""
    if text is None:
        return []
    content = listed_in(text, "--suppress-rows")
    named = text.split(",") if content is None else content.replace(",", "\n").splitlines()
    found = [part.strip() for part in named if part.strip()]
    wrong = [part for part in found if not (part.isascii() and part.isdigit() and int(part[:18]) > 0)]
    if wrong or not found:
        got = f" Got {quote(wrong[0] if wrong else text)}." if content is None or is_revealing() else ""
        raise UsageError(f"--suppress-rows must name rows of the file, from 1.{got}")
    return [int(part[:18]) - 1 for part in found]


def _summary(output: Path, dropped: tuple[str, ...], before: Release, mended: Mended) -> str:
    """What was done, in one line."""
    from auditor.measure.classes import class_facts

    facts = class_facts(mended.release)
    done = [f"{column} to {level}" for column, level in mended.levels.items()]
    done += [f"{column} dropped" for column in dropped]
    if mended.suppressed.any():
        done.append(f"{int(mended.suppressed.sum())} rows suppressed anew")
    return (
        f"{output}: {'; '.join(done) or 'nothing to change'}. {facts.rows} rows in {facts.classes} "
        f"{'class' if facts.classes == 1 else 'classes'}, k = {facts.k} (before: {class_facts(before).k}), "
        f"{facts.suppressed_rows} suppressed."
    )
