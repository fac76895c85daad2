"""What `auditor audit --explain-labels` does: it shows how the labels of a release are read, and runs no attack."""

from __future__ import annotations

import sys
from pathlib import Path

from auditor.commands.output import STDOUT, Output, terminal_width
from auditor.commands.telling import tell


def explain_release_labels(
    release: Path, schema: Path, original: Path | None, population: Path | None, reveal: bool, output: Output
) -> None:
    """Prints how the labels are read, and writes it as JSON where that is asked for."""
    from auditor.files.tables import write_files
    from auditor.profiling.explaining import explain_labels
    from reports import render_labels

    explanation = explain_labels(release, schema, original=original, population=population, reveal=reveal)
    json = output.files["json"]
    if json == STDOUT:
        sys.stdout.write(explanation.to_json())
        return
    if json is not None:
        write_files({json: explanation.to_json()}, output.force)
    if not output.quiet:
        tell(render_labels(explanation, terminal_width()), nl=False)
        if json is not None:
            tell(f"\njson: {json}")
