"""The local page: a small web server that shows the records of a folder, on this machine only.

Records are private, so the server does as little as it can. It listens on a loopback address unless the network is asked
for by name; it answers GET and HEAD only; it knows three addresses, and a file is named by what a search of the folder
found, never by a path that is opened as given, so no path leads outside; links are not followed. The name in the Host
header must be one that no foreign domain can take (against DNS rebinding). Pages carry a strict content security policy
and load nothing. Nothing is written, nothing is asked of any other machine, no cookie is set.

A record is read once, and a page made once, however many ask for it at the same time; both are kept while the file is
unchanged and there is room. Nobody waits for a record that somebody else is reading: large ones are read one after the other,
beside all else, and the list names them as being read.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from auditor.model.errors import RecordError, UsageError
from auditor.model.local_server import HOST, LocalHandler, LocalServer, Place, bound
from auditor.model.record.claim import ClaimTest
from auditor.model.record.record import AuditRecord, RunRecord, read_run
from reports.browsing import (
    ClaimSummary,
    Summary,
    Unread,
    claim_summary,
    compare_page,
    error_page,
    index_page,
    once,
    own_policy,
    report_page,
    style_hash,
    summaries,
)
from reports.text import clean

PORT = 8765
MOST_BYTES = 100_000_000
MOST_FILES = 10_000
KEPT_RUNS, KEPT_PAGES = 50_000_000, 200_000_000
"""The bytes of JSON whose runs are kept in memory, and the bytes of pages."""
LARGE, GRACE = 5_000_000, 2.0
"""From so many bytes on a record is read beside the list, which waits for so many seconds at most."""
_ALWAYS = "base-uri 'none'; frame-ancestors 'none'"
_BEING_READ = "A large record, which is being read. Load this page again in a moment."
_ASKED = ("sort", "order", "filter", "verdict", "utility", "page")
Stamp = tuple[int, ...]
Key = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """What a search of the folder found: the records, the tests of claims, and the files that are not shown. `number` is
    another one when something has changed."""

    rows: list[Summary]
    claims: list[ClaimSummary]
    unread: list[Unread]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is sent, and its content security policy."""

    content: bytes
    policy: str

    @classmethod
    def own(cls, text: str) -> Page:
        """One of our own pages: the one style in it, an empty icon, forms to this server; nothing else."""
        style = f"default-src 'none'; style-src '{style_hash()}'; img-src data:; form-action 'self'; {_ALWAYS}"
        return cls(text.encode("utf-8", "replace"), style)

    @classmethod
    def report(cls, text: str) -> Page:
        """A report, under the policy that it states for itself."""
        return cls(text.encode("utf-8", "replace"), f"{own_policy(text)}; form-action 'none'; {_ALWAYS}")


class Kept(Generic[T]):
    """Things that are made once, however many ask for them at the same time, and kept while their stamp is the same; those
    that were not asked for longest go where all together would be larger than `most`."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._held: OrderedDict[Key, tuple[Stamp, T, int]] = OrderedDict()
        self._turns: dict[Key, Lock] = {}

    def get(self, key: Key, stamp: Stamp, make: Callable[[], tuple[T, int]]) -> T:
        """What is kept under this key and stamp; `make` makes it, and says its size."""
        with self._lock:
            turn = self._turns.setdefault(key, Lock())
        with turn:  # nobody waits for the making of anything else
            with self._lock:
                found = self._held.get(key)
                if found is not None and found[0] == stamp:
                    self._held.move_to_end(key)
                    return found[1]
            made, size = make()
            with self._lock:
                self._held[key] = stamp, made, size
                self._held.move_to_end(key)
                while len(self._held) > 1 and sum(held[2] for held in self._held.values()) > self._most:
                    gone, _ = self._held.popitem(last=False)
                    self._turns.pop(gone, None)
            return made


class Shelf:
    """The records in a folder and the folders in it. Hidden files and folders are left out."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._seen: dict[str, tuple[Stamp, list[Summary] | ClaimSummary | Unread]] = {}
        self._readers: dict[str, tuple[Stamp, Thread]] = {}
        self._runs: Kept[RunRecord | ClaimTest | RecordError] = Kept(KEPT_RUNS)
        self._pages: Kept[Page] = Kept(KEPT_PAGES)
        self._searching, self._listing, self._one_large = Lock(), Lock(), Lock()
        self._began, self._found = -1.0, Found([], [], [])
        self._listed_at, self._list, self._names = -1.0, list[str | Unread](), frozenset[str]()

    # ----- pages -----------------------------------------------------------------------------------------------------

    def index(self, asked: Mapping[str, str]) -> Page:
        """The list, as an address asks for it."""
        found, wanted = self.search(), {key: asked[key] for key in _ASKED if key in asked}
        title = self.root.name or "/"
        return self._page(
            ("", *(f"{key}={value}" for key, value in wanted.items())),
            (found.number,),
            lambda: Page.own(index_page(found.rows, found.claims, found.unread, title, wanted)),
        )

    def report(self, file: str) -> Page:
        """The report of a file."""
        return self._page((file,), self._stamp(file), lambda: Page.report(report_page(self.content(file))))

    def compare(self, left: str, right: str) -> Page:
        """Two records side by side."""
        stamp = *self._stamp(_placed(left)[0]), *self._stamp(_placed(right)[0])
        return self._page((left, right), stamp, lambda: Page.own(compare_page(self.record(left), self.record(right))))

    def _page(self, key: Key, stamp: Stamp, make: Callable[[], Page]) -> Page:
        def made() -> tuple[Page, int]:
            page = make()
            return page, len(page.content)

        return self._pages.get(key, stamp, made)

    # ----- records ---------------------------------------------------------------------------------------------------

    def search(self) -> Found:
        """The records as they are now; only files that changed are read again. Who asks while a search goes on gets the
        next one, together with all others who wait."""
        asked = monotonic()
        with self._searching:
            if self._began < asked:
                self._began = monotonic()
                found = self._search(self._found.number)
                if found != self._found:
                    self._found = replace(found, number=found.number + 1)
            return self._found

    def _search(self, number: int) -> Found:
        listed = self._listed(monotonic())
        unread = [one for one in listed if isinstance(one, Unread)]
        names = [one for one in listed if not isinstance(one, Unread)]
        self._seen = {name: self._seen[name] for name in names if name in self._seen}
        self._readers = {name: self._readers[name] for name in names if name in self._readers}
        late = [thread for name in names if (thread := self._look_at(name)) is not None]
        until = monotonic() + GRACE
        for thread in late:
            thread.join(max(until - monotonic(), 0.0))
        entries = [self._seen[name][1] if name in self._seen else Unread(name, _BEING_READ) for name in names]
        unread += [entry for entry in entries if isinstance(entry, Unread)]
        claims = [entry for entry in entries if isinstance(entry, ClaimSummary)]
        rows = [row for entry in entries if isinstance(entry, list) for row in entry]
        return Found(once(rows), claims, unread, number)

    def content(self, file: str) -> RunRecord | ClaimTest:
        """The run, or the test of a claim, in a file that a search finds; raises LookupError for any other, RecordError where
        it cannot be read."""
        path, stamp = self._path(file), self._stamp(file)

        def made() -> tuple[RunRecord | ClaimTest | RecordError, int]:
            with self._one_large if stamp[-1] > LARGE else nullcontext():
                try:
                    text = _text(path, file)
                    read = ClaimTest.from_json if ClaimTest.is_in(text) else read_run
                    return read(text, file), stamp[-1]
                except RecordError as error:
                    return error, 0

        found = self._runs.get((file,), stamp, made)
        if isinstance(found, RecordError):
            raise RecordError(str(found))
        return found

    def record(self, key: str) -> tuple[Summary, AuditRecord]:
        """The record of a key, `2:run.json`: its number in the file (1 where none is given) and the file."""
        file, place = _placed(key)
        run = self.content(file)
        if isinstance(run, ClaimTest):
            raise RecordError("The test of a claim has no release to put beside another.")
        if not 1 <= place <= len(run.records):
            raise LookupError(key)
        return summaries(run, file, _date(self._stamp(file)))[place - 1], run.records[place - 1]

    def _look_at(self, file: str) -> Thread | None:
        """Takes note of a file that is new or has changed; a large one in a thread of its own, which is returned."""
        try:
            stamp = self._stamp(file)
        except (OSError, LookupError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is gone"
            self._seen[file] = (), Unread(file, f"The file cannot be read ({why}).")
            return None
        if file in self._seen and self._seen[file][0] == stamp:
            return None
        if stamp[-1] <= LARGE:
            self._note(file, stamp)
            return None
        self._seen.pop(file, None)
        known = self._readers.get(file)
        if known is None or known[0] != stamp or not known[1].is_alive():
            self._readers[file] = known = stamp, Thread(target=self._note, args=(file, stamp), daemon=True)
            known[1].start()
        return known[1]

    def _note(self, file: str, stamp: Stamp) -> None:
        """What the list says of a file."""
        try:
            entry = self._entry(file, _date(stamp))
        except RecordError as error:
            entry = Unread(file, clean(error, 400))
        except OSError as error:
            entry = Unread(file, f"The file cannot be read ({error.strerror}).")
        except LookupError:
            return  # gone since the search
        self._seen[file] = stamp, entry

    def _entry(self, file: str, changed: float) -> list[Summary] | ClaimSummary | Unread:
        """What the list says of a file that can be read."""
        found = self.content(file)
        return claim_summary(found, file, changed) if isinstance(found, ClaimTest) else summaries(found, file, changed)

    # ----- files -----------------------------------------------------------------------------------------------------

    def _listed(self, asked: float) -> list[str | Unread]:
        """The files there are, as they were at some time after the list was asked for."""
        with self._listing:
            if self._listed_at < asked:
                self._listed_at, self._list = monotonic(), list(islice(self._files(), MOST_FILES + 1))
                if len(self._list) > MOST_FILES:
                    self._list[-1] = Unread("…", f"Only the first {MOST_FILES} JSON files are shown.")
                self._names = frozenset(one for one in self._list if isinstance(one, str))
            return self._list

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

    def _path(self, file: str) -> Path:
        """The path of a file that was found in the folder; LookupError for any other. No part of it may be a link by now."""
        if file not in self._names:
            self._listed(monotonic())
        path = self.root / file
        if file not in self._names or os.path.realpath(path) != str(path):
            raise LookupError(file)
        return path

    def _stamp(self, file: str) -> Stamp:
        """When a file was changed last, and its size."""
        try:
            found = self._path(file).lstat()
        except FileNotFoundError as error:
            raise LookupError(file) from error
        return found.st_mtime_ns, found.st_size


def _placed(key: str) -> tuple[str, int]:
    """The file that a record's key names, and the record's place in it."""
    number, sign, rest = key.partition(":")
    named = sign and number.isascii() and number.isdigit() and len(number) < 10
    return (rest, int(number)) if named else (key, 1)


def _date(stamp: Stamp) -> float:
    return stamp[0] / 1e9


def _text(path: Path, file: str) -> str:
    """The text of an ordinary file that is not too large."""
    careful = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))  # as the system has them
    with open(os.open(path, os.O_RDONLY | careful), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RecordError(f"{file} is no ordinary file.")
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RecordError(f"{file} has more than {MOST_BYTES // 1_000_000} MB. Use `auditor render` for it.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{file} must be UTF-8 text. {error.reason} at byte {error.start}.") from error


class RecordServer(LocalServer):
    """The server of one folder."""

    def __init__(self, folder: Path, place: Place) -> None:
        self.shelf = Shelf(folder)
        super().__init__(place, _Handler)


def record_server(folder: Path, host: str = HOST, port: int | None = None, allow_network: bool = False) -> RecordServer:
    """A server for the records in a folder, bound and ready. Without a port it is 8765, or a free one where that is taken."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder} must be a folder with records. " + ("It is a file." if folder.exists() else "It does not exist.")
        )
    wanted = [PORT, 0] if port is None else [port]
    return bound(lambda place: RecordServer(folder, place), host, wanted, allow_network, "read the records")


class _Handler(LocalHandler):
    server: RecordServer
    methods = ("GET", "HEAD")

    def do_GET(self) -> None:
        """Answers with a page."""
        make: Callable[[dict[str, str]], Page] | None = None
        try:
            parts = urlsplit(self.path)
            asked = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20))
            if not self.path.startswith("/") or parts.netloc:
                raise ValueError(self.path)
            make = {"/": self._index, "/report": self._report, "/compare": self._compare}.get(parts.path)
        except ValueError:
            self.send_error(HTTPStatus.BAD_REQUEST, explain="The address cannot be read.")
            return
        if make is None:
            self.send_error(HTTPStatus.NOT_FOUND, explain="There is no such page.")
            return
        try:
            page = make(asked)
        except (LookupError, FileNotFoundError):
            self.send_error(HTTPStatus.NOT_FOUND, explain="There is no such record in the folder.")
        except RecordError as error:
            self.send_error(HTTPStatus.UNPROCESSABLE_ENTITY, explain=str(error))
        except OSError as error:
            self.send_error(HTTPStatus.UNPROCESSABLE_ENTITY, explain=f"The record cannot be shown ({error.strerror}).")
        except Exception:  # ours; said on both sides
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain="A bug in auditor. The terminal says more.")
            raise
        else:
            self._send(HTTPStatus.OK, page)

    def do_HEAD(self) -> None:
        """Answers like GET, without the page."""
        self.do_GET()

    def _index(self, asked: dict[str, str]) -> Page:
        return self.server.shelf.index(asked)

    def _report(self, asked: dict[str, str]) -> Page:
        return self.server.shelf.report(asked.get("file", ""))

    def _compare(self, asked: dict[str, str]) -> Page:
        return self.server.shelf.compare(asked.get("left", ""), asked.get("right", ""))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A page that says what is wrong; also for what the library refuses."""
        status = HTTPStatus(code)
        self.close_connection = True
        self._send(status, Page.own(error_page(message or status.phrase, explain or status.description)))

    def _send(self, status: HTTPStatus, page: Page) -> None:
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": page.policy,
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        self.respond(status, headers, page.content)
