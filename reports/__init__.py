"""Reports: an audit record rendered for people, as text for a terminal, as Markdown, and as one HTML file.

Every renderer takes a `RunRecord` and returns a string; it sees the record and nothing else, so an old run renders
again from its JSON. The words are made once (`findings`, `sentences`, `glossary`), the tables once (`tables`), the
pictures once (`charts`); the renderers only set them and escape them for their medium.

    render_terminal(run, width=100)    tables and sentences for 80 to 120 columns
    render_markdown(run)               for a repository, a ticket or a wiki
    render_html(run)                   one self-contained file: pictures, both colour schemes, no script, no request
    render_junit(run)                  the policy's checks as tests, for CI systems
    render_labels(explanation)         how labels were read, for a terminal; it belongs to no record
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.explanation import render_labels as render_labels
    from reports.html import render_html as render_html
    from reports.junit import render_junit as render_junit
    from reports.markdown import render_markdown as render_markdown
    from reports.terminal import render_terminal as render_terminal

__all__ = ["render_html", "render_junit", "render_labels", "render_markdown", "render_terminal"]

_HOMES = {
    "render_html": "reports.html",
    "render_junit": "reports.junit",
    "render_labels": "reports.explanation",
    "render_markdown": "reports.markdown",
    "render_terminal": "reports.terminal",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
