"""The commands, as typer knows them."""

from __future__ import annotations

from typing import Annotated

import typer

from auditor.commands import (
    auditing,
    claiming,
    comparing,
    decoding,
    making,
    mending,
    profiling,
    releasing,
    reproducing,
    serving,
    showing,
)
from auditor.commands.options import Debug, Reveal
from auditor.version import VERSION

app = typer.Typer(
    name="auditor",
    help="A red team in a box for data releases: anonymize, attack, and audit risk against utility.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"auditor {VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    reveal: Reveal = False,
    debug: Debug = False,
) -> None:
    del version, reveal, debug  # `cli.main` reads them: they hold for errors too


app.command()(auditing.demo)
app.command()(profiling.profile)
app.command()(making.anonymize)
app.command()(auditing.audit)
app.command()(mending.mend)
app.command()(auditing.redteam)
app.command()(comparing.compare)
app.command()(releasing.release)
app.command()(claiming.epsilon)
app.command()(reproducing.reproduce)
app.command()(showing.render)
app.command()(serving.serve)
app.command()(making.decode)
app.command(name="decode-server")(decoding.decode_server)
app.command()(making.export)
app.command(name="list")(showing.list_things)
app.command()(showing.explain)


def run(arguments: list[str]) -> int:
    """Carries out a command and returns its exit code. Errors are raised, also those of the output: typer's own `main` would
    turn a closed pipe into the code of a failed policy."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("auditor", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0
