"""Commands that show something: old audit records, lists of what there is, the meaning of a name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Files, Force, Quiet, ReportDate, Reports
from auditor.commands.output import STDOUT, Output
from auditor.commands.telling import tell

if TYPE_CHECKING:
    from auditor.model.record.record import RunRecord


@Grouped
def render(
    records: Annotated[
        list[Path], Argument(help="Audit records or runs (JSON); several are shown as one.", show_default=False)
    ],
    reports: Annotated[Files, Reports(without=("json",))],
    date: ReportDate = None,
    template: Annotated[
        str | None,
        Option(
            "--template",
            help="Write an evidence pack for one release instead (ema, hipaa, sp800-188 or wp29), with --markdown or --html.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Render old audit records again: a report is made from its record alone."""
    from auditor.model.errors import RecordError
    from auditor.model.record.record import RunRecord, read_run

    output = Output(reports, force, quiet, day=date)
    output.check()
    texts = {}
    for file in records:
        try:
            texts[file] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"{file}: the record cannot be read ({error}).") from error
    if template is None and _is_claim(texts):
        _render_claim(texts, reports, output)
        return
    runs = [read_run(text, str(file)) for file, text in texts.items()]
    run = runs[0]
    if len(runs) > 1:
        everything = tuple(record for one in runs for record in one.records)
        day = run.date if all(one.date == run.date for one in runs) else None
        run = RunRecord(", ".join(one.title for one in runs), run.seed, everything, run.tool, date=day)
    if template is not None:
        _write_pack(output.dated(run), template, records[0].name, reports, force, quiet)
        return
    output.finish(run)


def _is_claim(texts: Mapping[Path, str]) -> bool:
    """Whether this is the test of a claim, by itself."""
    from auditor.model.record.claim import ClaimTest

    return len(texts) == 1 and all(ClaimTest.is_in(text) for text in texts.values())


def _render_claim(texts: Mapping[Path, str], files: Files, output: Output) -> None:
    """Renders the test of a claim again."""
    from auditor.commands.claiming import ClaimOutput
    from auditor.commands.output import report_date
    from auditor.model.errors import UsageError
    from auditor.model.record.claim import ClaimTest

    asked = {name: file for name, file in files.items() if file is not None}
    other = [name for name in asked if name not in ("html", "markdown")]
    if other:
        raise UsageError(f"The test of a claim is rendered with --html or --markdown. Got --{other[0]}.")
    ((file, text),) = texts.items()
    found = ClaimTest.from_json(text, str(file))
    day = found.date if output.day is None and found.date is not None else report_date(output.day)
    ClaimOutput(asked, output.force, output.quiet).finish(replace(found, date=day))


def _write_pack(run: RunRecord, template: str, source: str, files: Files, force: bool, quiet: bool) -> None:
    """Writes the evidence pack of a run of one release, as Markdown to stdout where no file is named."""
    from auditor.files.tables import write_files
    from auditor.model.errors import UsageError
    from reports.evidence import evidence_pack
    from reports.evidence.writing import render_pack_html, render_pack_markdown

    renderers = {"markdown": render_pack_markdown, "html": render_pack_html}
    asked = {name: file for name, file in files.items() if file is not None}
    other = [name for name in asked if name not in renderers]
    if other:
        raise UsageError(f"An evidence pack is written with --markdown or --html. Got --{other[0]}.")
    pack = evidence_pack(run, template, source)
    made = {file: renderers[name](pack) for name, file in (asked or {"markdown": STDOUT}).items()}
    write_files({file: text for file, text in made.items() if file != STDOUT}, force)
    if STDOUT in made:
        sys.stdout.write(made[STDOUT])
    elif not quiet:
        blanks = sum(1 for _ in pack.blanks())
        tell(f"{len(pack.references())} references to the record; {blanks} places are for a person to fill in.")
        for name, file in asked.items():
            tell(f"{name}: {file}")


@Grouped
def list_things(
    what: Annotated[
        str,
        Argument(
            help="anonymizers, attacks, adversaries, formats, links, metrics, policies, scenarios or templates.",
            show_default=False,
        ),
    ],
) -> None:
    """List the anonymizers, attacks, adversaries, formats, link models, measures, policies, scenarios or templates."""
    from auditor.commands.catalogue import catalogue

    tell(catalogue(what))


@Grouped
def explain(
    name: Annotated[
        str,
        Argument(
            help="An anonymizer, attack, metric, policy, link model, scenario, or a word of the reports.",
            show_default=False,
        ),
    ],
) -> None:
    """Explain a name: what it means, needs and promises, and the paper it comes from."""
    from auditor.commands.catalogue import explanation

    tell(explanation(name))
