"""The trusted server over HTTP: `POST /decode` with a token and results as JSON, on this machine unless asked otherwise.

    {"rules": [{"if": [["age", "<=", 1.366]], "then": [["disease", "=", "A07"]], "figures": {"support": 41}}]}
    {"table": {"columns": ["disease", "sex", "n"], "rows": [["A07", "F", 12]]}}

In a table, columns of the release are conditions (each row is about the people with these values), and all others are
figures. The answer has the same form. Errors are JSON too: `{"error": {"code": …, "message": …}}`. What may be decoded is
the desk's matter (`trusted.py`).

A request has at most a megabyte. Each token may ask so often a minute; so may, together, all who have none.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from auditor.files.trusted import (
    LEAST,
    MOST_RESULTS,
    AskingError,
    Condition,
    Desk,
    Result,
    SinglesOutError,
    Tokens,
    read_condition,
    read_result,
)
from auditor.model.local_server import HOST, LocalHandler, LocalServer, Place, bound

PORT = 8766
MOST_BYTES = 1_000_000
A_MINUTE = 60
"""How many requests a minute each token may make, and all who have none together."""


class Pace:
    """Says who asks too often."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._asked: dict[str | None, deque[float]] = {}

    def allows(self, who: str | None) -> bool:
        """Whether somebody may ask now; if so, it counts."""
        now = monotonic()
        with self._lock:
            asked = self._asked.setdefault(who, deque())
            while asked and asked[0] <= now - 60:
                asked.popleft()
            if len(asked) >= self._most:
                return False
            asked.append(now)
            return True


class DecodeServer(LocalServer):
    """The server of one release."""

    def __init__(self, desk: Desk, tokens: Tokens, place: Place, a_minute: int = A_MINUTE) -> None:
        self.desk, self.tokens, self.pace = desk, tokens, Pace(a_minute)
        super().__init__(place, _Handler)


def decode_server(
    release: Path,
    key: Path,
    tokens: Path,
    log: Path,
    least: int = LEAST,
    host: str = HOST,
    port: int | None = None,
    allow_network: bool = False,
    a_minute: int = A_MINUTE,
) -> DecodeServer:
    """A server for the results of one release, bound and ready. Without a port it is 8766, or a free one if that is taken."""
    desk, known = Desk(release, key, log, least), Tokens.read(tokens)
    ports = [PORT, 0] if port is None else [port]
    return bound(
        lambda place: DecodeServer(desk, known, place, a_minute), host, ports, allow_network, "ask for decodings"
    )


_NO_LOG = "Nothing was decoded, since it cannot be written down. Ask the operator."


class _Handler(LocalHandler):
    server: DecodeServer
    methods = ("POST",)

    def do_POST(self) -> None:
        """Answers with decoded results."""
        body = self._body()
        if body is None:
            return
        if self.path != "/decode":
            self.send_error(HTTPStatus.NOT_FOUND, explain="Only /decode can be asked.")
            return
        who = self._who()
        if who is None:
            return
        try:
            content = json.loads(body.decode("utf-8"), parse_constant=_no_number)
            answer = _answer(self.server.desk, who, content)
        except AskingError as error:
            self._fail(HTTPStatus.BAD_REQUEST, "cannot_be_read", f"{str(error)[0].upper()}{str(error)[1:]}.")
        except (ValueError, RecursionError):
            self._fail(HTTPStatus.BAD_REQUEST, "no_json", "The request must be JSON in UTF-8.")
        except SinglesOutError as error:
            places = [{"result": place, "message": f"{why}."} for place, why in error.why.items()]
            said = "Nothing was decoded, since some results would single people out."
            self._fail(HTTPStatus.FORBIDDEN, "singles_out", said, results=places)
        except OSError:
            self._fail(HTTPStatus.SERVICE_UNAVAILABLE, "no_log", _NO_LOG)
        except Exception:  # ours; said on both sides
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, "bug", "A bug in auditor. The operator's terminal says more.")
            raise
        else:
            self._send(HTTPStatus.OK, answer)

    def _body(self) -> bytes | None:
        """The content of the request; None where it was refused."""
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self.send_error(HTTPStatus.LENGTH_REQUIRED, explain="The request must say its length.")
        elif len(length) > 10 or int(length) > MOST_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, explain=f"A request has at most {MOST_BYTES} bytes.")
        else:
            body = self.rfile.read(int(length))
            if self.headers.get_content_type() == "application/json":
                return body
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, explain="The Content-Type must be application/json.")
        return None

    def _who(self) -> str | None:
        """Who asks; None where they may not, which was said."""
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        who = self.server.tokens.who(token.strip()) if kind.lower() == "bearer" else None
        if not self.server.pace.allows(who):
            said = "Too many requests. Wait a minute."
            self._fail(HTTPStatus.TOO_MANY_REQUESTS, "too_often", said, {"Retry-After": "60"})
            return None
        if who is None:
            try:
                self.server.desk.denied("no token that is known")
            except OSError:
                self._fail(HTTPStatus.SERVICE_UNAVAILABLE, "no_log", _NO_LOG)
                return None
            said = "A token is needed: Authorization: Bearer TOKEN. The operator of this server makes them."
            self._fail(HTTPStatus.UNAUTHORIZED, "no_token", said, {"WWW-Authenticate": "Bearer"})
        return who

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """An error as JSON; also for what the library refuses."""
        status = HTTPStatus(code)
        self._fail(status, status.phrase.lower().replace(" ", "_"), explain or status.description)

    def _fail(
        self, status: HTTPStatus, code: str, said: str, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        self.close_connection = True
        self._send(status, {"error": {"code": code, "message": said, **more}}, headers)

    def _send(self, status: HTTPStatus, content: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self.respond(status, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}, text)


def _no_number(text: str) -> float:
    raise ValueError(text)


def _answer(desk: Desk, who: str, content: object) -> dict[str, Any]:
    """The answer to a request."""
    columns = desk.published.columns
    if isinstance(content, dict) and isinstance(content.get("rules"), list) and set(content) == {"rules"}:
        _need_size(content["rules"])
        figures = [_figures(rule) for rule in content["rules"]]
        decoded = desk.decode(who, [read_result(rule, columns) for rule in content["rules"]])
        pairs = zip(decoded, figures, strict=True)
        return {"rules": [{"if": _rows(one.given), "then": _rows(one.then), "figures": own} for one, own in pairs]}
    if isinstance(content, dict) and isinstance(content.get("table"), dict) and set(content) == {"table"}:
        return {"table": _table(desk, who, content["table"])}
    raise AskingError('the request must be an object with "rules" or "table"')


def _need_size(rows: Sequence[object]) -> None:
    if not 1 <= len(rows) <= MOST_RESULTS:
        raise AskingError(f"a request must have from 1 to {MOST_RESULTS} results")


def _rows(conditions: Sequence[Condition]) -> list[list[str]]:
    return [[one.column, one.sign, one.value] for one in conditions]


def _figures(rule: object) -> dict[str, Any]:
    """The figures of a rule, which are passed on."""
    figures = rule.get("figures", {}) if isinstance(rule, dict) else {}
    if not isinstance(figures, dict) or not all(map(_is_figure, figures.values())):
        raise AskingError('"figures" must be an object of numbers')
    return figures


def _is_figure(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf)


def _table(desk: Desk, who: str, table: dict[str, Any]) -> dict[str, Any]:
    """A table with the values of its conditions decoded."""
    names, rows = table.get("columns"), table.get("rows")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or len(set(names)) < len(names):
        raise AskingError('the "columns" of a table must be a list of distinct texts')
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        raise AskingError('the "rows" of a table must be lists with a cell for each column')
    _need_size(rows)
    known = [place for place, name in enumerate(names) if name in desk.published.columns]
    if not known:
        raise AskingError(f"a table must have a column of the release: {', '.join(desk.published.columns)}")
    if not all(_is_figure(row[place]) for row in rows for place in range(len(names)) if place not in known):
        raise AskingError("columns that are not of the release must hold numbers")
    given = [
        Result(tuple(read_condition([names[i], "=", row[i]], desk.published.columns) for i in known)) for row in rows
    ]
    made = [list(row) for row in rows]
    for row, result in zip(made, desk.decode(who, given), strict=True):
        for place, condition in zip(known, result.given, strict=True):
            row[place] = condition.value
    return {"columns": names, "rows": made}
