"""A small web server on this machine: what `serve` and `decode-server` have in common.

It listens on a loopback address unless the network is asked for by name. The name in the Host header must be one that no
foreign domain can take (against DNS rebinding). Nothing is asked of any other machine, and nothing is logged here.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import socketserver
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, TypeVar

from auditor.model.discretion import told
from auditor.model.errors import UsageError

HOST = "127.0.0.1"
AT_ONCE = 1024
"""Connections that may wait to be taken."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens: address, family, the names by which it may be asked, and whether other machines may ask."""

    address: tuple[str, int]
    family: int
    names: frozenset[str]
    network: bool


class LocalServer(ThreadingHTTPServer):
    """A server on this machine. `network` says whether other machines may ask."""

    daemon_threads = True
    request_queue_size = AT_ONCE
    allow_reuse_address = os.name != "nt"  # where it lets two servers share a port

    def __init__(self, place: Place, handler: type[LocalHandler]) -> None:
        self.names, self.network = place.names, place.network
        self.address_family = socket.AddressFamily(place.family)
        super().__init__(place.address, handler)

    def server_bind(self) -> None:
        """Binds without the look-up of the machine's name, which would ask other machines."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address to open."""
        host = str(self.server_address[0])
        if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
            host = socket.gethostname()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Says on the terminal what went wrong, unless the reader only left."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            sys.stderr.write(f"Error while answering: {told(error)}\n")


S = TypeVar("S", bound=LocalServer)


def bound(make: Callable[[Place], S], host: str, ports: Sequence[int], allow_network: bool, may: str) -> S:
    """A server on the first of some ports that is free; `may` says what other machines could do on the network."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host must be an address of this machine, such as {HOST}. Got {host!r}.") from error
    number = str(address[0])
    local = ipaddress.ip_address(number.partition("%")[0]).is_loopback
    if not local and not allow_network:
        raise UsageError(
            f"--host {host} lets other machines {may}. If that is wanted, add --allow-network; else use {HOST}."
        )
    names = frozenset({"localhost"} if local else {"localhost", host.lower(), socket.gethostname().lower()})
    for place, chosen in enumerate(ports, 1):
        try:
            return make(Place((number, chosen), family, names, not local))
        except OSError as error:
            if place == len(ports):
                raise UsageError(
                    f"{host}, port {chosen}: cannot be used ({error.strerror}). Choose another --port."
                ) from error
    raise AssertionError("one of the ports was tried last")


def known_host(header: str, names: frozenset[str], network: bool) -> bool:
    """Whether a Host header names this machine. A name that a foreign domain's owner can point anywhere is refused; a
    number cannot be pointed elsewhere. The port may be any: a tunnel has its own."""
    text = header.strip().lower()
    host = text[1 : text.find("]")] if text.startswith("[") else text.partition(":")[0]
    if host.removesuffix(".") in names:
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_loopback or network


class LocalHandler(BaseHTTPRequestHandler):
    """Answers one request; `methods` are those that it knows."""

    server: LocalServer
    server_version, sys_version = "auditor", ""
    timeout = 30
    methods: ClassVar[tuple[str, ...]] = ()

    def parse_request(self) -> bool:
        """Refuses what asks for another machine, and every other method."""
        if not super().parse_request():
            return False
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not known_host(hosts[0], self.server.names, self.server.network):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain="The Host header does not name this machine.")
        elif self.command not in self.methods:
            known = " and ".join(self.methods)
            self.send_error(HTTPStatus.METHOD_NOT_ALLOWED, explain=f"Only {known} can be asked here.")
        else:
            return True
        return False

    def respond(self, status: HTTPStatus, headers: Mapping[str, str], content: bytes) -> None:
        """Sends an answer."""
        self.send_response(status)
        always = {"Content-Length": str(len(content)), "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            always["Allow"] = ", ".join(self.methods)
        for name, value in {**headers, **always}.items():
            self.send_header(name, value)
        self.end_headers()
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(content)

    def log_message(self, *args: object, **named: object) -> None:
        """Keeps no log of what is looked at."""
