"""The command that shows audit records in a browser: serve."""

from __future__ import annotations

from pathlib import Path
from signal import SIGTERM
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Quiet
from auditor.commands.signals import Stopped
from auditor.commands.telling import tell

if TYPE_CHECKING:
    from auditor.model.local_server import LocalServer


@Grouped
def serve(
    folder: Annotated[
        Path, Argument(help="A folder with audit records (JSON); its subfolders are searched too.", show_default=False)
    ],
    host: Annotated[str, Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        Option("--port", min=0, max=65535, help="Default: 8765, or any free port if it is taken; 0 is any free port."),
    ] = None,
    allow_network: Annotated[
        bool,
        Option("--allow-network", help="Let other machines read the records; needed where --host is not this machine."),
    ] = False,
    open_browser: Annotated[bool, Option("--open", help="Open the page in the browser.")] = False,
    quiet: Quiet = False,
) -> None:
    """Browse the audit records in a folder and compare two of them, on a local page. Stop it with Ctrl-C (exit code 0)."""
    from reports.serving import record_server

    with record_server(folder, host, port, allow_network) as server:
        if server.network:
            tell(
                "Warning: every machine that can reach this one can read these records; there is no password and no "
                "encryption.",
                err=True,
            )
        tell(server.url if quiet else f"Records of {folder}: {server.url}")
        if not quiet:
            tell(("" if server.network else "Only this machine can open it. ") + "Press Ctrl-C to stop.", err=True)
        if open_browser:
            import webbrowser

            if not webbrowser.open(server.url):
                tell("Warning: no browser could be opened; open the address yourself.", err=True)
        until_stopped(server, quiet)


def until_stopped(server: LocalServer, quiet: bool) -> None:
    """Answers until somebody stops the server."""
    try:
        server.serve_forever()
    except KeyboardInterrupt as stop:
        if not quiet:
            tell("\nStopped.", err=True)
        if isinstance(stop, Stopped) and stop.number == SIGTERM:
            raise typer.Exit(stop.exit_code) from None
