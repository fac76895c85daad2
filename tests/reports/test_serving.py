"""The local page: a real server on a free port. What it shows, what it refuses, and that nothing leads outside the folder."""

from __future__ import annotations

import http.client
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from auditor.model.local_server import known_host
from auditor.model.record.claim import ClaimTest
from auditor.model.record.comparison import RunCell
from reports import serving
from reports.serving import RecordServer, Shelf, record_server
from tests.support import record_samples as samples

SECRET = "canary-outside-the-folder"


@cache
def json_of(name: str) -> str:
    return str(getattr(samples, name)().to_json())


class Answer:
    """What the server answered."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.text = answer.read().decode("utf-8")


@cache
def single_record() -> str:
    return samples.single_run().records[0].to_json()


Ask = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Records in a folder and its folders, files that are none, and secrets around it."""
    root = tmp_path / "records"
    (root / "sub").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / "run.json").write_text(json_of("sample_run"), encoding="utf-8")
    (root / "sub" / "one record.json").write_text(single_record(), encoding="utf-8")
    (root / ".hidden" / "run.json").write_text(json_of("single_run"), encoding="utf-8")
    (root / "broken.json").write_text("{oops", encoding="utf-8")
    (root / "package.json").write_text('{"name": "something else"}', encoding="utf-8")
    (root / "note.txt").write_text(SECRET, encoding="utf-8")
    outside = json_of("single_run").replace("mondrian k=5", SECRET)
    (tmp_path / "secret.json").write_text(outside, encoding="utf-8")
    (root / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.json").write_text(outside, encoding="utf-8")
    (root / "way-out").symlink_to(tmp_path / "other", target_is_directory=True)
    return root


@pytest.fixture
def server(folder: Path) -> Iterator[RecordServer]:
    with record_server(folder, port=0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def ask(server: RecordServer) -> Ask:
    def asked(path: str, method: str = "GET", headers: Mapping[str, str] | None = None, **query: str) -> Answer:
        address = path + ("?" + urlencode(query) if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        try:
            connection.putrequest(method, address, skip_host=True)
            for name, value in (
                headers if headers is not None else {"Host": f"127.0.0.1:{server.server_port}"}
            ).items():
                connection.putheader(name, value)
            connection.endheaders()
            return Answer(connection.getresponse())
        finally:
            connection.close()

    return asked


def releases(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="[^"]*">([^<]*)</a>', page)


def test_the_list_shows_every_record_and_why_others_are_not(ask: Ask) -> None:
    answer = ask("/")
    assert answer.status == 200
    assert sorted(releases(answer.text)) == ["anatomy l=3", "identity", "mondrian k=5", "mondrian k=5", "slicing k=20"]
    assert "5 records" in answer.text
    below = answer.text.partition('id="unread"')[2]
    assert "broken.json must be JSON. Line 1" in below
    assert "package.json must have the format" in below
    assert "A symbolic link, which is not followed." in below
    assert ".hidden" not in answer.text
    assert SECRET not in answer.text
    # what the row of mondrian says: its k, verdict, risk with interval, utility
    row = next(part for part in answer.text.split("<tr>") if "sub/one record.json</small>" in part)
    for text in ("k=5", '<td class="num">5</td>', "✗ FAIL", "ema", "<td>0.110</td>"):
        assert text in row, text
    assert re.search(r"proximity of income by the prosecutor, excess over the baseline", row)


@pytest.mark.parametrize(
    ("sort", "order", "expected"),
    [
        ("k", "up", ["identity", "anatomy l=3", "mondrian k=5", "mondrian k=5", "slicing k=20"]),
        ("k", "down", ["slicing k=20", "mondrian k=5", "mondrian k=5", "anatomy l=3", "identity"]),
        ("risk", "down", ["identity", "mondrian k=5", "anatomy l=3", "mondrian k=5", "slicing k=20"]),
        ("utility", "up", ["identity", "anatomy l=3", "mondrian k=5", "mondrian k=5", "slicing k=20"]),
        ("release", "up", ["anatomy l=3", "identity", "mondrian k=5", "mondrian k=5", "slicing k=20"]),
        ("nonsense", "sideways", None),
    ],
)
def test_sorting_by_address(ask: Ask, sort: str, order: str, expected: list[str] | None) -> None:
    found = releases(ask("/", sort=sort, order=order).text)
    assert found == expected if expected else len(found) == 5
    if expected:
        wanted = "descending" if order == "down" else "ascending"
        assert f'aria-sort="{wanted}"' in ask("/", sort=sort, order=order).text


def test_filters_and_the_measure_of_utility(ask: Ask) -> None:
    assert releases(ask("/", filter="MONDRIAN sub").text) == ["mondrian k=5"]
    assert releases(ask("/", verdict="pass").text) == ["slicing k=20"]
    assert "No record matches." in ask("/", filter="nobody").text
    page = ask("/", utility="granularity", filter="identity").text
    assert "<small>granularity</small>" in page
    assert "<td>1</td>" in page
    quoted = ask("/", filter='"><script>alert(1)</script>').text
    assert "<script" not in quoted


def test_missing_figures_come_last_in_both_orders(ask: Ask) -> None:
    for order in ("up", "down"):
        found = releases(ask("/", sort="utility", order=order, utility="granularity").text)
        assert set(found[3:]) == {"anatomy l=3", "slicing k=20"}  # their granularity does not apply


def test_a_report_with_a_way_back(ask: Ask) -> None:
    answer = ask("/report", file="run.json")
    assert answer.status == 200
    assert "Town register, four ways" in answer.text
    assert '<a href="/">← All records</a>' in answer.text
    assert ask("/report", file="sub/one record.json").status == 200


def test_two_records_side_by_side(ask: Ask) -> None:
    answer = ask("/compare", left="2:run.json", right="4:run.json")
    assert answer.status == 200
    for text in ("Left: ", "mondrian k=5", "slicing k=20", "setting k", "k=20", "holds on the right only", "−0.187"):
        assert text in answer.text, text
    assert answer.text.index("What was done differently") < answer.text.index("Risk figures")
    plain = ask("/compare", left="sub/one record.json", right="1:sub/one record.json")
    assert "Both sides are the same record." in plain.text


def test_tests_of_claims_are_listed_and_shown(ask: Ask, folder: Path) -> None:
    test = ClaimTest(1, "mine & yours", 1.0, 1e-5, "two", "add", 0.95, "refuted", bound=2.31)
    (folder / "claim.json").write_text(test.to_json(), encoding="utf-8")
    (folder / "odd.json").write_text(replace(test, mechanism="other", verdict="<b>").to_json(), encoding="utf-8")
    page = " ".join(ask("/").text.split())
    assert "2 tests of claims" in page
    for said in (
        "mine &amp; yours",
        "ε = 1, δ = 1e-05",
        "ε ≥ 2.31 at 95 %",
        "refuted",
        "Not refuted does not mean private",
    ):
        assert said in page, said
    assert "mine" not in ask("/", filter="other").text
    assert "mine" not in ask("/", verdict="pass").text
    for file in ("claim.json", "odd.json"):
        report = ask("/report", file=file)
        assert report.status == 200
        assert "← All records" in report.text
        assert "<b>" not in report.text
    assert "refuted." in ask("/report", file="claim.json").text
    assert ask("/compare", left="claim.json", right="claim.json").status == 422


def test_a_changed_file_is_read_again_and_a_removed_one_is_gone(ask: Ask, folder: Path) -> None:
    assert "identity" in ask("/").text
    changed = samples.run_of(samples.record("newcomer", 0.2, 0.1))
    (folder / "run.json").write_text(changed.to_json(), encoding="utf-8")
    os.utime(folder / "run.json", (1_000_000_000, 1_000_000_000))
    assert releases(ask("/", filter="run.json").text) == ["newcomer"]
    assert "2001-09-0" in ask("/", filter="newcomer").text  # the file's date
    assert "newcomer" in ask("/report", file="run.json").text
    (folder / "run.json").unlink()
    assert releases(ask("/").text) == ["mondrian k=5"]
    assert ask("/report", file="run.json").status == 404


OUTSIDE = (
    "../secret.json", "sub/../../secret.json", "/etc/passwd", "link.json", "way-out/secret.json", "note.txt", "", ".",
    ".hidden/run.json", "run.json\x00", "%2e%2e/secret.json", "..\\secret.json", "./run.json", "sub//one record.json",
)  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_file_but_those_of_the_list_is_read(ask: Ask, name: str, tmp_path: Path) -> None:
    for answer in (
        ask("/report", file=name),
        ask("/report", file=str(tmp_path / "secret.json")),
        ask("/compare", left=name, right="run.json"),
        ask("/compare", left="run.json", right=f"1:{name}"),
    ):
        assert answer.status == 404
        assert SECRET not in answer.text
        assert "root:" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/../secret.json", "/%2e%2e/secret.json", "/..%2fsecret.json", "/run.json", "//run.json", "/etc/passwd", "/report/",
     "/%2e%2e%5csecret.json", "/sub/../../secret.json", "/report/../../secret.json"],
)  # fmt: skip
def test_no_path_is_a_file(ask: Ask, path: str) -> None:
    answer = ask(path)
    assert answer.status == 404
    assert SECRET not in answer.text


@pytest.mark.parametrize("target", ["http://evil.example/", "*", "report?file=run.json", "http://[/"])
def test_odd_targets_are_refused(ask: Ask, target: str) -> None:
    assert ask(target).status == 400
    assert ask("/", **{f"q{i}": "1" for i in range(30)}).status == 400


@pytest.mark.parametrize(
    "key", ["0:run.json", "5:run.json", "99999999999:run.json", "-1:run.json", "²:run.json", ":run.json"]
)
def test_a_number_that_no_record_has(ask: Ask, key: str) -> None:
    assert ask("/compare", left=key, right="run.json").status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_only_reading_is_allowed(ask: Ask, method: str) -> None:
    answer = ask("/", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_has_no_page(ask: Ask) -> None:
    answer = ask("/", "HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert int(answer.headers["content-length"]) > 1000


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example",
                                  "10.0.0.1", "", "[::ffff:10.0.0.1]", "0.0.0.0", "evil.example@127.0.0.1"])  # fmt: skip
def test_a_foreign_host_header_is_refused(ask: Ask, host: str) -> None:
    answer = ask("/", headers={"Host": host})
    assert answer.status == 421
    assert "mondrian" not in answer.text


def test_no_host_header_is_refused(ask: Ask) -> None:
    assert ask("/", headers={}).status == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1", "127.0.0.1:80", "[::1]:9", "localhost."])
def test_names_of_this_machine_are_known(ask: Ask, host: str) -> None:
    assert ask("/", headers={"Host": host}).status == 200


def test_over_the_network_numbers_and_own_names_are_known() -> None:
    names = frozenset({"localhost", "audit-host"})
    assert known_host("10.0.0.1:8765", names, network=True)
    assert known_host("audit-host:8765", names, network=True)
    assert not known_host("evil.example:8765", names, network=True)
    assert not known_host("10.0.0.1:8765", names, network=False)


@pytest.mark.parametrize(
    "path", ["/", "/report?file=run.json", "/compare?left=1:run.json&right=2:run.json", "/nothing"]
)
def test_headers_let_nothing_in_or_out(ask: Ask, path: str) -> None:
    answer = ask(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "base-uri 'none'; frame-ancestors 'none'" in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy
    assert ("form-action 'self'" in policy) != path.startswith("/report")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers
    assert "python" not in answer.headers["server"].lower()
    assert not re.search(r'(?:src|href|action)="(?!/|#|data:,)', answer.text)
    assert path.startswith("/report") or not re.search(r"<script| style=|@import|url\(| on\w+=", answer.text)


def test_hostile_texts_stay_texts(ask: Ask, folder: Path) -> None:
    name = 'a"><img src=x onerror=alert(1)>.json'
    (folder / name).write_text(samples.hostile_run().to_json(), encoding="utf-8")
    for answer in (ask("/"), ask("/compare", left=f"1:{name}", right="2:run.json"), ask("/report", file=name)):
        assert answer.status == 200
        assert "<script>alert" not in answer.text
        assert "<img" not in answer.text
        assert "\x1b" not in answer.text


def test_records_with_values_of_a_wrong_kind_do_not_break_the_list(ask: Ask, folder: Path) -> None:
    whole = single_record()
    wrong = {
        "k.json": whole.replace('"k": 5,\n  "class', '"k": "five",\n  "class'),
        "passed.json": whole.replace('"passed": false\n', '"passed": "no"\n'),
        "params.json": whole.replace('"params": {\n   "k": 5\n  }', '"params": [5]'),
        "deep.json": "[" * 100_000,
        "bytes.json": "\udcff",
        "empty.json": "",
        "list.json": "[]",
    }
    for name, text in wrong.items():
        assert text != whole, name
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    os.mkfifo(folder / "pipe.json")
    (folder / "locked.json").write_text("{}", encoding="utf-8")
    (folder / "locked.json").chmod(0)
    (folder / "folder.json").mkdir()
    answer = ask("/")
    assert answer.status == 200
    assert len(releases(answer.text)) == 5
    below = answer.text.partition('id="unread"')[2]
    for name in (*wrong, "pipe.json", "locked.json"):
        assert f'<th scope="row">{name}</th>' in below, name
        assert ask("/report", file=name).status == 422
        assert ask("/compare", left=name, right="run.json").status == 422, name
    assert "k must be a whole number" in below
    assert "passed must be true or false" in below
    assert "no ordinary file" in below


def test_a_file_that_is_too_large_is_named_and_not_read(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_BYTES", 50_000)
    text = ask("/").text
    assert "run.json has more than" in text


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read as records, in the order in which that happens."""
    found: list[str] = []
    original = serving.read_run
    monkeypatch.setattr(serving, "read_run", lambda text, name: found.append(name) or original(text, name))
    return found


def test_memory_holds_few_runs_and_only_changed_files_are_read(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(8):
        (folder / f"more-{i}.json").write_text(samples.run_of(samples.record(f"r{i}", 0.1, 0.1)).to_json())
    monkeypatch.setattr(serving, "KEPT_RUNS", (folder / "more-0.json").stat().st_size)
    shelf = Shelf(folder)
    assert len(shelf.search().rows) == 13
    assert (len(reads), len(set(reads))) == (12, 12)
    assert len(shelf.search().rows) == 13
    assert len(reads) == 12  # nothing changed, nothing is read; faults are remembered too
    shelf.content("more-0.json")
    shelf.content("more-0.json")
    assert reads[12:] == ["more-0.json"]  # summaries are kept for all, the whole for a few
    shelf.content("more-1.json")
    shelf.content("more-0.json")
    assert reads[13:] == ["more-1.json", "more-0.json"]
    monkeypatch.setattr(serving, "MOST_FILES", 3)
    assert any("first 3 JSON files" in entry.reason for entry in shelf.search().unread)


# ----- many at once -----------------------------------------------------------------------------------------------------


def all_at_once(server: RecordServer, addresses: list[str]) -> list[int]:
    """The statuses of requests that are all sent before any answer is read."""
    sockets = [socket.create_connection(("127.0.0.1", server.server_port), timeout=60) for _ in addresses]
    for one, address in zip(sockets, addresses, strict=True):
        one.sendall(f"GET {address} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    statuses = []
    for one in sockets:
        with one, one.makefile("rb") as stream:
            statuses.append(int(stream.read().split(b" ", 2)[1]))
    return statuses


def test_two_hundred_at_once_are_answered_and_each_record_is_read_and_made_once(
    server: RecordServer, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    original = serving.report_page
    monkeypatch.setattr(serving, "report_page", lambda run: made.append(run.title) or original(run))
    addresses = ["/report?file=run.json", "/report?file=sub/one%20record.json", "/report?file=broken.json", "/"] * 50
    assert all_at_once(server, addresses) == [200, 200, 422, 200] * 50
    assert sorted(reads) == ["broken.json", "package.json", "run.json", "sub/one record.json"]
    assert len(made) == 2


def test_a_large_record_does_not_keep_others_waiting(ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    another = single_record().replace("mondrian k=5", "another")
    (folder / "large.json").write_text(another + " " * 900_000, encoding="utf-8")
    go_on, original = threading.Event(), serving.read_run

    def slow(text: str, name: str) -> Any:
        if name == "large.json":
            go_on.wait(30)
        return original(text, name)

    monkeypatch.setattr(serving, "read_run", slow)
    monkeypatch.setattr(serving, "LARGE", (folder / "large.json").stat().st_size - 1)
    monkeypatch.setattr(serving, "GRACE", 0.0)
    answers: list[Answer] = []
    waiting = threading.Thread(target=lambda: answers.append(ask("/report", file="large.json")))
    waiting.start()
    listed = ask("/")
    assert len(releases(listed.text)) == 5
    assert "A large record, which is being read." in listed.text
    assert ask("/report", file="run.json").status == 200
    assert ask("/compare", left="1:run.json", right="2:run.json").status == 200
    assert answers == []
    go_on.set()
    waiting.join()
    assert [answer.status for answer in answers] == [200]
    monkeypatch.setattr(serving, "GRACE", 30.0)
    assert "6 records" in ask("/").text


def test_many_records_stand_on_several_pages(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.browsing.PAGE", 2)
    first, second, last = (ask("/", sort="release", page=page) for page in ("1", "2", "99"))
    assert releases(first.text) == ["anatomy l=3", "identity"]
    assert releases(second.text) == ["mondrian k=5", "mondrian k=5"]
    assert releases(last.text) == ["slicing k=20"]
    assert "Page 2 of 3" in second.text


def test_a_folder_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = os.walk

    def refused(top: Path, onerror: Callable[[OSError], None]) -> Iterator[Any]:
        onerror(PermissionError(13, "Permission denied", str(top / "closed")))
        return walk(top)

    monkeypatch.setattr(os, "walk", refused)
    found = Shelf(folder).search()
    assert len(found.rows) == 5
    assert ("closed", "The folder cannot be read (Permission denied).") in [(u.file, u.reason) for u in found.unread]


def test_an_empty_folder_says_how_to_fill_it(tmp_path: Path) -> None:
    found = Shelf(tmp_path).search()
    assert (found.rows, found.unread) == ([], [])


def test_a_release_is_listed_once(tmp_path: Path) -> None:
    run = samples.sample_run()
    cells = [RunCell(f"c{place}", "m", "m", {}, 1) for place in range(len(run.records))]
    (tmp_path / "cells").mkdir()
    (tmp_path / "run.json").write_text(replace(run, cells=tuple(cells)).to_json(), encoding="utf-8")
    for cell, record in zip(cells, run.records, strict=True):
        # a finished cell, whose record the run may hold under another name
        part = replace(run, records=(replace(record, seed=record.seed + 1),), cells=(cell,))
        (tmp_path / "cells" / f"{cell.id}.json").write_text(part.to_json(), encoding="utf-8")
    (tmp_path / "copy.json").write_text(run.records[0].to_json(), encoding="utf-8")
    other = replace(run.records[0], seed=99)
    (tmp_path / "other.json").write_text(other.to_json(), encoding="utf-8")
    found = Shelf(tmp_path).search()
    assert [row.file for row in found.rows] == ["other.json", *["run.json"] * len(run.records)]
    opened = Shelf(tmp_path).record("1:copy.json")[1]
    assert opened.to_json() == run.records[0].to_json()  # it can still be opened and compared
