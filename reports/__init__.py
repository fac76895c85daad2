"""Reports: an audit record rendered for people, as text for a terminal, as Markdown, and as one HTML file.

A renderer sees the record and nothing else, so an old run renders again from its JSON. What an attack, a link or a measure
is, the record says itself. The words are made once (`words`), the tables once (`tables`), the pictures once (`pictures`); the
renderers only set them and escape them for their medium.

    FORMATS                            the formats of files, which every command that writes reports offers
    render_terminal(run, width=100)    tables and sentences for 80 to 120 columns
    render_labels(explanation)         how labels were read, for a terminal; it belongs to no record

To add a format, write a function from a `RunRecord` to text, and a line in `FORMATS`. A renderer is imported when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditor.model.record.record import RunRecord
    from reports.explanation import render_labels as render_labels
    from reports.html import render_html as render_html
    from reports.junit import render_junit as render_junit
    from reports.markdown import render_markdown as render_markdown
    from reports.terminal import render_terminal as render_terminal

_HOMES = {
    "render_html": "reports.html",
    "render_junit": "reports.junit",
    "render_labels": "reports.explanation",
    "render_markdown": "reports.markdown",
    "render_terminal": "reports.terminal",
}
__all__ = ["FORMATS", "Context", "ReportFormat", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


@dataclass(frozen=True, slots=True)
class Context:
    """What a report may need to know beside the run: where the picture of risk against utility stands, seen from the report,
    and whether the run is one audit record alone (`single`)."""

    picture: str | None = None
    single: bool = False


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format of reports. `file` is its name in the folder of a run; empty where the folder holds none."""

    name: str
    help: str
    renderer: Callable[[RunRecord, Context], str]
    file: str = ""

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--{self.name}"

    def render(self, run: RunRecord, picture: str | None = None, single: bool = False) -> str:
        """The run in this format."""
        return self.renderer(run, Context(picture, single))


def _html(run: RunRecord, _: Context) -> str:
    from reports.html import render_html

    return render_html(run)


def _json(run: RunRecord, context: Context) -> str:
    return run.records[0].to_json() if context.single else run.to_json()


def _markdown(run: RunRecord, context: Context) -> str:
    from reports.markdown import render_markdown

    return render_markdown(run, context.picture)


def _junit(run: RunRecord, _: Context) -> str:
    from reports.junit import render_junit

    return render_junit(run)


FORMATS: tuple[ReportFormat, ...] = (
    ReportFormat("html", "Write the report as one HTML file.", _html, "report.html"),
    ReportFormat("json", "Write the audit record as JSON; - is stdout.", _json, "run.json"),
    ReportFormat("markdown", "Write the report as Markdown.", _markdown, "report.md"),
    ReportFormat("junit", "Write the policy's checks as JUnit XML, for CI.", _junit),
)
"""The formats, in the order of the help."""
