"""Commands that show: old records again, what there is, what a thing means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditor.commands.options import Force, HtmlFile, JunitFile, MarkdownFile, PlotsFolder, Quiet
from auditor.commands.output import refuse_early, tell, write_run


def render(
    records: Annotated[
        list[Path], typer.Argument(help="Records or runs (JSON); several are shown as one.", show_default=False)
    ],
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    junit: JunitFile = None,
    plots: PlotsFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Render old records again: reports are made from the record alone."""
    from auditor.model.errors import RecordError
    from auditor.model.record.record import RunRecord, read_run

    files = {"html": html, "markdown": markdown, "junit": junit, "plots": plots}
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
    tell(run, files, quiet)


def list_things(
    what: Annotated[
        str,
        typer.Argument(
            help="anonymizers, attacks, adversaries, links, metrics, policies or scenarios.", show_default=False
        ),
    ],
) -> None:
    """What there is."""
    from auditor.commands.catalogue import catalogue

    typer.echo(catalogue(what))


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
    from auditor.commands.catalogue import explanation

    typer.echo(explanation(name))
