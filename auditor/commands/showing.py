"""Commands that show something: old audit records, lists of what there is, the meaning of a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from auditor.commands.groups import Grouped
from auditor.commands.options import Files, Force, Quiet, ReportDate, Reports
from auditor.commands.output import Output
from auditor.commands.telling import tell


@Grouped
def render(
    records: Annotated[
        list[Path], Argument(help="Audit records or runs (JSON); several are shown as one.", show_default=False)
    ],
    reports: Annotated[Files, Reports(without=("json",))],
    date: ReportDate = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Render old audit records again: a report is made from its record alone."""
    from auditor.model.errors import RecordError
    from auditor.model.record.record import RunRecord, read_run

    output = Output(reports, force, quiet, day=date)
    output.check()
    runs = []
    for file in records:
        try:
            runs.append(read_run(file.read_text(encoding="utf-8"), str(file)))
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"{file}: the record cannot be read ({error}).") from error
    run = runs[0]
    if len(runs) > 1:
        everything = tuple(record for one in runs for record in one.records)
        day = run.date if all(one.date == run.date for one in runs) else None
        run = RunRecord(", ".join(one.title for one in runs), run.seed, everything, run.tool, date=day)
    output.finish(run)


@Grouped
def list_things(
    what: Annotated[
        str,
        Argument(
            help="anonymizers, attacks, adversaries, formats, links, metrics, policies or scenarios.",
            show_default=False,
        ),
    ],
) -> None:
    """List the anonymizers, attacks, adversaries, formats, link models, measures, policies or scenarios."""
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
