"""The command line: its commands, which are in `auditor/commands/`, and the exit code of every error.

Results go to stdout, progress and warnings to stderr. Exit codes: 0 success; 1 a policy failed; 2 wrong usage;
3 bad data, schema or scenario; 70 a bug of the program; 130 interrupted; 141 the reader of the output has gone.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from auditor.commands import auditing, comparing, making, mending, profiling, serving, showing
from auditor.commands.libraries import kept_quiet, traceback_text
from auditor.commands.options import Debug, Reveal
from auditor.model.discretion import printable, revealing, told
from auditor.model.errors import AuditorError
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
    del version, reveal, debug  # `main` reads them: they hold for errors too


app.command()(auditing.demo)
app.command()(profiling.profile)
app.command()(making.anonymize)
app.command()(auditing.audit)
app.command()(mending.mend)
app.command()(auditing.redteam)
app.command()(comparing.compare)
app.command()(showing.render)
app.command()(serving.serve)
app.command()(making.decode)
app.command()(making.export)
app.command(name="list")(showing.list_things)
app.command()(showing.explain)

_USAGE: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""What click raises for wrong usage. Some versions of typer carry their own copy of click, so it is taken from typer."""

INTERRUPTED, INTERNAL, PIPE_CLOSED = 130, 70, 141


def main() -> None:
    """Runs a command and exits with its code."""
    debug = "--debug" in sys.argv[1:]
    with revealing("--reveal" in sys.argv[1:]), kept_quiet(debug):
        code = _run(debug)
    sys.exit(code if isinstance(code, int) else 0)


def _run(debug: bool) -> object:
    """Runs a command and returns its exit code; what is not a whole number means success."""
    code: object
    try:
        code = app(standalone_mode=False)
    except AuditorError as error:
        if debug:
            typer.echo(traceback_text(error), err=True, nl=False)
        else:
            typer.echo(printable(f"Error: {error}", keep="\n"), err=True)
        code = error.exit_code
    except _USAGE as error:
        error.show()
        code = error.exit_code
    except SystemExit as stop:
        code = stop.code
    except BrokenPipeError:  # the reader of our output has gone; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    except MemoryError:
        typer.echo("Error: the data do not fit into memory.", err=True)
        code = 3
    except (Exception, KeyboardInterrupt) as error:
        code = _unexpected(error, debug)
    return code


def _unexpected(error: BaseException, debug: bool) -> int:
    """Reports a bug, or an interrupt, which may arrive wrapped in another error; returns the exit code."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, KeyboardInterrupt | typer.Abort):
            typer.echo("Interrupted; nothing was written.", err=True)
            return INTERRUPTED
        inner = inner.__cause__ or inner.__context__
    if debug:
        typer.echo(traceback_text(error), err=True, nl=False)
        return INTERNAL
    typer.echo(
        f"Internal error, a bug in auditor: {told(error)}.\nRun the command again as `auditor --debug …` to see the details, "
        "which hold no value of your data, and please report them.",
        err=True,
    )
    return INTERNAL
