"""The command that runs the trusted server of a release by `grading`: decode-server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from auditor.commands.groups import Grouped
from auditor.commands.options import Quiet
from auditor.commands.serving import until_stopped
from auditor.commands.telling import tell
from auditor.model.errors import UsageError


@Grouped
def decode_server(
    tokens: Annotated[Path, Option("--tokens", help="The file of tokens.", show_default=False)],
    release: Annotated[Path | None, Argument(help="The release, as it was published.", show_default=False)] = None,
    key: Annotated[Path | None, Option("--key", help="The key of the release.", show_default=False)] = None,
    log: Annotated[
        Path | None, Option("--log", help="Where every decoding is written down; only added to.", show_default=False)
    ] = None,
    new_token: Annotated[
        str | None,
        Option("--new-token", help="Make a token for NAME, print it, and end.", metavar="NAME", show_default=False),
    ] = None,
    least: Annotated[int, Option("--least", min=1, help="Results about fewer people of the release are refused.")] = 5,
    a_minute: Annotated[int, Option("--a-minute", min=1, help="How many requests a minute each token may make.")] = 60,
    host: Annotated[str, Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        Option("--port", min=0, max=65535, help="Default: 8766, or any free port if it is taken; 0 is any free port."),
    ] = None,
    allow_network: Annotated[
        bool,
        Option("--allow-network", help="Let other machines ask; needed where --host is not this machine."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Decode results of a release by `grading` for those who have a token. Stop it with Ctrl-C (exit code 0)."""
    if new_token is not None:
        from auditor.files.trusted import new_token as make

        tell(make(tokens, new_token))
        if not quiet:
            tell("Give it to them by a safe way: it is shown only now, and the file holds its hash.", err=True)
        return
    if release is None or key is None or log is None:
        raise UsageError("decode-server needs the release, --key and --log; or --new-token NAME.")
    from auditor.commands.output import refuse_inputs
    from auditor.files.decode_server import decode_server as made

    refuse_inputs([log], [release, key, tokens])
    with made(release, key, tokens, log, least, host, port, allow_network, a_minute) as server:
        if server.network:
            tell(
                "Warning: tokens and values travel without encryption. Put a server with TLS in front, or use a tunnel.",
                err=True,
            )
        tell(server.url if quiet else f"Results of {release} are decoded at {server.url}decode")
        until_stopped(server, quiet)
