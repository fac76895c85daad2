"""The local page: a small web server that shows the records of a folder, on this machine only.

Records are private, so the server does as little as it can. It listens on a loopback address unless the network is asked
for by name; it answers GET and HEAD only; it knows three addresses, and a file is named by what a search of the folder
found, never by a path that is opened as given, so no path leads outside; links are not followed. The name in the Host
header must be one that no foreign domain can take (against DNS rebinding). Pages carry a strict content security policy
and load nothing. Nothing is written, nothing is asked of any other machine, no cookie is set.

Records are read when they are needed and kept while their file is unchanged: a short summary of each, the whole of a few.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import socketserver
import stat
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, urlsplit

from auditor.model.discretion import told
from auditor.model.errors import RecordError, UsageError
from auditor.model.record.record import AuditRecord, RunRecord, read_run
from reports.browsing import (
    Summary,
    Unread,
    compare_page,
    error_page,
    index_page,
    own_policy,
    report_page,
    style_hash,
    summaries,
)
from reports.text import clean

HOST, PORT = "127.0.0.1", 8765
MOST_BYTES = 100_000_000
MOST_FILES = 10_000
KEPT = 4
"""Whole runs that are kept in memory."""
_MALFORMED = (AttributeError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError)
"""What a record with values of a wrong kind makes the reports raise."""
_ALWAYS = "base-uri 'none'; frame-ancestors 'none'"
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search of the folder found: the records, and the files that are not shown."""

    rows: list[Summary]
    unread: list[Unread]


class Shelf:
    """The records in a folder and the folders in it. Hidden files and folders are left out."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._lock = Lock()
        self._known: dict[str, tuple[Stamp, list[Summary] | Unread]] = {}
        self._runs: OrderedDict[str, tuple[Stamp, RunRecord]] = OrderedDict()

    def search(self) -> Found:
        """The records as they are now; only files that changed are read again."""
        with self._lock:
            known: dict[str, tuple[Stamp, list[Summary] | Unread]] = {}
            unread: list[Unread] = []
            for name in self._files():
                if len(known) >= MOST_FILES:
                    unread.append(Unread("…", f"Only the first {MOST_FILES} JSON files are shown."))
                    break
                if isinstance(name, Unread):
                    unread.append(name)
                    continue
                known[name] = self._looked_at(name)
            self._known = known
            seen = [entry for _, entry in known.values()]
            unread += [entry for entry in seen if isinstance(entry, Unread)]
            rows = [row for entry in seen if not isinstance(entry, Unread) for row in entry]
            return Found(rows, unread)

    def run(self, file: str) -> RunRecord:
        """The run in a file that a search finds; raises LookupError for any other, RecordError where it cannot be read."""
        with self._lock:
            if file not in {name for name in self._files() if isinstance(name, str)}:
                raise LookupError(file)
            run = self._run(file)[1]
            summaries(run, file, 0.0)  # refuses values of a wrong kind, as the list does
            return run

    def record(self, key: str) -> tuple[Summary, AuditRecord]:
        """The record of a key, `2:run.json`: its number in the file (1 where none is given) and the file."""
        number, sign, rest = key.partition(":")
        named = sign and number.isascii() and number.isdigit() and len(number) < 10
        file, place = (rest, int(number)) if named else (key, 1)
        run = self.run(file)
        if not 1 <= place <= len(run.records):
            raise LookupError(key)
        changed = (self.root / file).stat().st_mtime
        return summaries(run, file, changed)[place - 1], run.records[place - 1]

    def _files(self) -> Iterator[str | Unread]:
        """The names of the JSON files, relative to the folder; links and names that are not valid text count as unread."""
        closed: list[OSError] = []
        for folder, inner, files in os.walk(self.root, onerror=closed.append):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in sorted(files):
                if name.startswith(".") or not name.lower().endswith(".json"):
                    continue
                file = Path(folder, name)
                relative = file.relative_to(self.root).as_posix()
                if not relative.isprintable():
                    yield Unread(clean(relative), "The name holds characters that cannot be shown.")
                elif file.is_symlink():
                    yield Unread(relative, "A symbolic link, which is not followed.")
                else:
                    yield relative
        for error in closed:
            where = Path(str(error.filename)).relative_to(self.root).as_posix()
            yield Unread(clean(where), f"The folder cannot be read ({error.strerror}).")

    def _looked_at(self, file: str) -> tuple[Stamp, list[Summary] | Unread]:
        try:
            found = (self.root / file).stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if file in self._known and self._known[file][0] == stamp:
                return self._known[file]
            stamp, run = self._run(file)
            return stamp, summaries(run, file, found.st_mtime)
        except RecordError as error:
            return stamp, Unread(file, clean(error, 400))
        except OSError as error:
            return (0, 0), Unread(file, f"The file cannot be read ({error.strerror}).")
        except _MALFORMED as error:
            return stamp, Unread(file, f"The record holds values of a wrong kind ({told(error)}).")

    def _run(self, file: str) -> tuple[Stamp, RunRecord]:
        stamp, text = self._text(file)
        if text is None:
            self._runs.move_to_end(file)
            return self._runs[file]
        self._runs.pop(file, None)
        run = read_run(text, file)
        self._runs[file] = (stamp, run)
        while len(self._runs) > KEPT:
            self._runs.popitem(last=False)
        return stamp, run

    def _text(self, file: str) -> tuple[Stamp, str | None]:
        """The text of a file, nothing where the run in it is kept already. No part of its path may be a link."""
        path = self.root / file
        if path.resolve() != path:
            raise RecordError(f"{file} lies outside of the folder.")
        careful = sum(
            getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
        )  # as the system has them
        descriptor = os.open(path, os.O_RDONLY | careful)
        with open(descriptor, "rb") as stream:
            found = os.fstat(stream.fileno())
            stamp = (found.st_mtime_ns, found.st_size)
            if not stat.S_ISREG(found.st_mode):
                raise RecordError(f"{file} is no ordinary file.")
            if file in self._runs and self._runs[file][0] == stamp:
                return stamp, None
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise RecordError(f"{file} has more than {MOST_BYTES // 1_000_000} MB. Use `auditor render` for it.")
        try:
            return stamp, content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RecordError(f"{file} must be UTF-8 text. {error.reason} at byte {error.start}.") from error


class RecordServer(ThreadingHTTPServer):
    """The server of one folder. `network` says whether other machines may ask."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # where it lets two servers share a port

    def __init__(
        self, folder: Path, address: tuple[str, int], family: int, names: frozenset[str], network: bool
    ) -> None:
        self.shelf, self.names, self.network = Shelf(folder), names, network
        self.address_family = socket.AddressFamily(family)
        super().__init__(address, _Handler)

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


def record_server(folder: Path, host: str = HOST, port: int | None = None, allow_network: bool = False) -> RecordServer:
    """A server for the records in a folder, bound and ready. Without a port it is 8765, or a free one where that is taken."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} must be a folder with records. " + ("It is a file." if folder.exists() else "It does not exist.")
        )
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host must be an address of this machine, such as {HOST}. Got {host!r}.") from error
    number = str(address[0])
    local = ipaddress.ip_address(number.partition("%")[0]).is_loopback
    if not local and not allow_network:
        raise UsageError(
            f"--host {host} lets other machines read the records. If that is wanted, add --allow-network; "
            f"else use {HOST}."
        )
    names = frozenset({"localhost"} if local else {"localhost", host.lower(), socket.gethostname().lower()})
    wanted = [PORT, 0] if port is None else [port]
    for place, chosen in enumerate(wanted, 1):
        try:
            return RecordServer(folder, (number, chosen), family, names, not local)
        except OSError as error:
            if place == len(wanted):
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


class _Handler(BaseHTTPRequestHandler):
    server: RecordServer
    server_version, sys_version = "auditor", ""
    timeout = 30

    def parse_request(self) -> bool:
        """Refuses what asks for another machine, and all that does not only read."""
        if not super().parse_request():
            return False
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not known_host(hosts[0], self.server.names, self.server.network):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain="The Host header does not name this machine.")
        elif self.command not in ("GET", "HEAD"):
            self.send_error(HTTPStatus.METHOD_NOT_ALLOWED, explain="Pages can only be read.")
        else:
            return True
        return False

    def do_GET(self) -> None:
        """Answers with a page."""
        page: Callable[[dict[str, str]], tuple[str, str]] | None = None
        try:
            parts = urlsplit(self.path)
            asked = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20))
            if not self.path.startswith("/") or parts.netloc:
                raise ValueError(self.path)
            page = {"/": self._index, "/report": self._report, "/compare": self._compare}.get(parts.path)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST, explain="The address cannot be read.")
            return
        if page is None:
            self.send_error(HTTPStatus.NOT_FOUND, explain="There is no such page.")
            return
        try:
            text, policy = page(asked)
        except (LookupError, FileNotFoundError):
            self.send_error(HTTPStatus.NOT_FOUND, explain="There is no such record in the folder.")
        except RecordError as error:
            self.send_error(HTTPStatus.UNPROCESSABLE_ENTITY, explain=str(error))
        except (*_MALFORMED, OSError) as error:
            self.send_error(
                HTTPStatus.UNPROCESSABLE_ENTITY, explain=f"The record cannot be shown ({type(error).__name__})."
            )
        except Exception:  # ours; said on both sides
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain="A bug in auditor. The terminal says more.")
            raise
        else:
            self._send(HTTPStatus.OK, text, policy)

    def do_HEAD(self) -> None:
        """Answers like GET, without the page."""
        self.do_GET()

    def _index(self, asked: dict[str, str]) -> tuple[str, str]:
        found = self.server.shelf.search()
        return index_page(found.rows, found.unread, self.server.shelf.root.name or "/", asked), _own()

    def _report(self, asked: dict[str, str]) -> tuple[str, str]:
        page = report_page(self.server.shelf.run(asked.get("file", "")))
        return page, f"{own_policy(page)}; form-action 'none'; {_ALWAYS}"

    def _compare(self, asked: dict[str, str]) -> tuple[str, str]:
        sides = [self.server.shelf.record(asked.get(side, "")) for side in ("left", "right")]
        return compare_page(sides[0], sides[1]), _own()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A page that says what is wrong; also for what the library refuses."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send(status, error_page(message or status.phrase, explain or status.description), _own())

    def _send(self, status: HTTPStatus, page: str, policy: str) -> None:
        content = page.encode("utf-8", "replace")
        self.send_response(status)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, HEAD"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(content)

    def log_message(self, *args: object, **named: object) -> None:
        """Keeps no log of what is looked at."""


def _own() -> str:
    """The policy of our own pages: the one style in them, an empty icon, forms to this server; nothing else."""
    return f"default-src 'none'; style-src '{style_hash()}'; img-src data:; form-action 'self'; {_ALWAYS}"
