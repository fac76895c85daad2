"""What commands print beside their results: names come from files of others, and must not command the terminal."""

from __future__ import annotations

import typer

from auditor.model.discretion import printable


def tell(text: str, err: bool = False, nl: bool = True) -> None:
    """Prints a text, its control and direction-changing characters escaped."""
    typer.echo(printable(text, keep="\n\t"), err=err, nl=nl)
