"""Asks a server of records for its pages: all must answer with a page or a clear refusal, and the server must end well."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import quote

from tests.campaign.generating import Case
from tests.campaign.running import HUNG, PATIENCE, SECONDS, called, forked, settle, waited

_STATUSES = (200, 400, 404, 405, 414, 421, 422, 431, 501, 505)


def serve(case: Case, folder: Path) -> tuple[int, list[str]]:
    """The exit code of a server and the failures."""
    reader, writer = os.pipe()
    with open(f"{folder}.err", "w+b") as err:
        pid = forked(lambda: _child(case, folder, writer, err.fileno()))
        os.close(writer)
        address = _address(reader)
        faults = [] if address is None else list(_ask(case, address))
        if address is not None:
            os.kill(pid, signal.SIGINT)
        code = waited(pid, PATIENCE)
        os.close(reader)
        err.seek(0)
        said = err.read().decode("utf-8", "replace")
    if code == HUNG:
        faults.append("hang")
    elif code not in (0, 2, 3):
        faults.append(f"exit code {code}")
    refused = "--debug" in case.arguments and code in (2, 3)
    if "Error while answering" in said or "Internal error" in said or ("Traceback" in said and not refused):
        faults.append("internal error")
    return code, faults


def _child(case: Case, folder: Path, out: int, err: int) -> int:
    settle(folder, out, err)
    return called(case.arguments)


def _address(reader: int) -> tuple[str, int] | None:
    """Where the server listens; none where it ended without a word."""
    text = b""
    while b"\n" not in text:
        if not select.select([reader], [], [], SECONDS)[0]:
            return None
        piece = os.read(reader, 1_000)
        if not piece:
            return None
        text += piece
    found = re.search(rb"http://([0-9.]+):([0-9]+)/", text)
    return None if found is None else (found[1].decode(), int(found[2]))


def _ask(case: Case, address: tuple[str, int]) -> Iterator[str]:
    """Asks for the list, every record, pairs of records, and odd addresses."""
    rng = Random(case.index)
    names = [quote(name) for name in case.files]
    paths = ["/", "/?sort=risk", f"/?text={quote(rng.choice(('x', '<', chr(0), '%')))}&verdict=passed"]
    paths += [f"/report?file={name}" for name in names]
    paths += [f"/compare?left={rng.choice(names)}&right={rng.choice(('2:', '9:', '')) + rng.choice(names)}"]
    paths += [
        rng.choice(("/x", "/report?file=../x", "/report?file=%00", "//x", "/compare", "/?" + "a=1&" * 50, "/report"))
    ]
    for path in paths:
        talk = http.client.HTTPConnection(*address, timeout=SECONDS)
        try:
            talk.request(rng.choice(("GET", "GET", "GET", "HEAD", "POST")), path)
            answer = talk.getresponse()
            answer.read()
            if answer.status not in _STATUSES:
                yield f"status {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            yield f"no answer ({type(error).__name__})"
        finally:
            talk.close()
