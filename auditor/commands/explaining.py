"""What `auditor audit --explain-labels` does: says how the labels of a release were read, and runs no attack."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from auditor.model.errors import UsageError


def explain_release_labels(
    release: Path,
    schema: Path,
    original: Path | None,
    population: Path | None,
    json: Path | None,
    without: Mapping[str, object],
    *,
    reveal: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Prints how the labels are written, or writes it as JSON. `without` are options that go with an audit only."""
    from auditor.files.tables import write_files
    from auditor.profiling.explaining import explain_labels
    from reports import render_labels

    stray = [option for option, value in without.items() if value is not None]
    if stray:
        raise UsageError(f"--explain-labels runs no audit: leave out {', '.join(stray)}.")
    explanation = explain_labels(release, schema, original=original, population=population, reveal=reveal)
    if json == Path("-"):
        sys.stdout.write(explanation.to_json())
        return
    if json is not None:
        write_files({json: explanation.to_json()}, force)
    if not quiet:
        typer.echo(render_labels(explanation, max(80, min(shutil.get_terminal_size((100, 24)).columns, 160))), nl=False)
        if json is not None:
            typer.echo(f"\njson: {json}")
