"""The trusted server: a real one on a free port. Who may ask, what is decoded, what is refused, and what is written down."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.files.decode_server import DecodeServer, decode_server
from auditor.files.provenances import unordered_fingerprint
from auditor.files.trusted import Condition, Published, Remembered, Tokens, new_token
from auditor.model.errors import KeyFileError, TokenFileError, UsageError
from auditor.model.key import Aliases, Categories, Key
from tests.conftest import Ended

# 12 people with flu (A01), 6 with gout (A02), 4 with cancer (A03); ages from 10 to 31 in a category from 10 to 110.
PEOPLE = [("A01", "F")] * 6 + [("A01", "M")] * 6 + [("A02", "F")] * 6 + [("A03", "M")] * 4
AGES = [str(1 + place / 100) for place in range(22)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{name},{sex},{age}" for (name, sex), age in zip(PEOPLE, AGES, strict=True)]
    (tmp_path / "r.csv").write_text("disease,sex,age\n" + "\n".join(lines) + "\n")
    aliases = Aliases(("Flu", "Gout", "Cancer"), ("Ill-1", "Ill-2", "Ill-3"), ("A01", "A02", "A03"))
    ages = Categories((10.0,), (110.0,), digits=3).listing(np.arange(10.0, 32.0))
    mark = unordered_fingerprint({"disease": [name for name, _ in PEOPLE], "age": AGES})
    (tmp_path / "key.json").write_text(Key({"disease": aliases, "age": ages}, release=mark, rows=22).to_json())
    return tmp_path


@contextmanager
def running(folder: Path, **more: Any) -> Iterator[DecodeServer]:
    files = (folder / name for name in ("r.csv", "key.json", "tokens.json", "log.jsonl"))
    with decode_server(*files, port=0, **more) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()


def ask(server: DecodeServer, token: str | None, content: object, **more: Any) -> tuple[int, Any, dict[str, str]]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"Content-Type": "application/json", **more.pop("headers", {})}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    link = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    link.request(more.get("method", "POST"), more.get("path", "/decode"), body, headers)
    answer = link.getresponse()
    text = answer.read().decode()
    link.close()
    found = {name.lower(): value for name, value in answer.getheaders()}
    assert found["content-type"].startswith("application/json")
    return answer.status, json.loads(text) if text else None, found


def rule(*given: list[Any], then: list[Any] | None = None, **figures: float) -> dict[str, Any]:
    return {"if": list(given), "then": [] if then is None else [then], "figures": figures}


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


FLU = ["disease", "=", "A01"]


def test_results_are_decoded_and_written_down(folder: Path) -> None:
    token = new_token(folder / "tokens.json", "alice")
    with running(folder) as server:
        status, answer, headers = ask(server, token, {"rules": [rule(["age", "<=", 1.11], then=FLU, support=12)]})
        assert (status, answer) == (
            200,
            {"rules": [{"if": [["age", "<=", "21"]], "then": [["disease", "=", "Flu"]], "figures": {"support": 12}}]},
        )
        assert headers["cache-control"] == "no-store"
        table = {"columns": ["sex", "disease", "n"], "rows": [["F", "A01", 6], ["F", "A02", 6]]}
        status, answer, _ = ask(server, token, {"table": table})
        assert (status, answer["table"]["rows"]) == (200, [["F", "Flu", 6], ["F", "Gout", 6]])
    entries = [entry for entry in written(folder) if entry["what"] == "decoded"]
    assert [(e["who"], e["columns"], e["cells"]) for e in entries] == [
        ("alice", ["age", "disease"], 2),
        ("alice", ["disease"], 2),
    ]
    log = (folder / "log.jsonl").read_text()
    assert token not in log
    assert "Flu" not in log
    assert stat.S_IMODE((folder / "log.jsonl").stat().st_mode) == 0o600


def test_results_that_single_people_out_are_refused(folder: Path) -> None:
    token = new_token(folder / "tokens.json", "alice")
    with running(folder) as server:
        few = {"rules": [rule(FLU), rule(["disease", "=", "A03"]), rule(["age", "=", 1.05])]}
        status, answer, _ = ask(server, token, few)
        assert (status, answer["error"]["code"]) == (403, "singles_out")
        assert [one["result"] for one in answer["error"]["results"]] == [2, 3]  # 4 people, and one
        # nobody at all: an alias cannot be decoded by asking for people who are not there
        status, answer, _ = ask(server, token, {"rules": [rule(FLU, ["sex", "=", "none"])]})
        assert status == 403
        # 18 of 22 people: the other four would be told by what is left
        assert ask(server, token, {"rules": [rule(["disease", "!=", "A03"])]})[0] == 403
        # the rule holds for 12 of 16: four exceptions
        assert ask(server, token, {"rules": [rule(["disease", "!=", "A02"], then=FLU)]})[0] == 403
        # nothing of what was refused counts as decoded
        assert ask(server, token, {"rules": [rule(FLU)]})[0] == 200


@pytest.mark.parametrize(
    "condition",
    [
        ["disease", "!=", "A01 A02 A03"],  # no cell has this text, so that everybody meets it
        ["disease", "!=", "A77"],
        ["disease", "!=", "HIV"],
        ["age", "!=", "1.9 1.4"],
        ["age", "!=", "1.9000001"],
    ],
)
def test_what_few_have_is_not_decoded_by_asking_about_the_others(folder: Path, condition: list[str]) -> None:
    token = new_token(folder / "tokens.json", "Ann")
    with running(folder) as server:
        status, answer, _ = ask(server, token, {"rules": [rule(condition)]})
        assert (status, answer["error"]["code"]) == (403, "singles_out")


def test_odd_line_ends_in_a_request_do_not_break_the_log(folder: Path) -> None:
    token = new_token(folder / "tokens.json", "Ann")
    for text in ("x\u2028y\u0085z", "x"):  # the second server reads what the first has written down
        with running(folder) as server:
            assert ask(server, token, {"rules": [rule(["disease", "=", text])]})[0] == 403


def test_differences_from_what_was_decoded_before_are_refused_for_everybody(folder: Path) -> None:
    alice, bob = (new_token(folder / "tokens.json", name) for name in ("alice", "bob"))
    with running(folder) as server:
        assert ask(server, alice, {"rules": [rule(FLU)]})[0] == 200
        status, answer, _ = ask(server, bob, {"rules": [rule(FLU, ["age", "<=", 1.1])]})  # 11 of the 12
        assert (status, "another result" in answer["error"]["results"][0]["message"]) == (403, True)
        assert ask(server, bob, {"rules": [rule(FLU, ["sex", "=", "F"])]})[0] == 200  # six of the twelve
        both = {"rules": [rule(["age", "<=", 1.15]), rule(["age", "<=", 1.16])]}  # one person between them
        assert ask(server, bob, both)[0] == 403
    with running(folder) as server:  # it is remembered
        assert ask(server, bob, {"rules": [rule(FLU, ["age", "<=", 1.1])]})[0] == 403
    with running(folder, least=1) as server:
        assert ask(server, bob, {"rules": [rule(FLU, ["age", "<=", 1.1])]})[0] == 200


def test_whoever_has_no_token_gets_nothing(folder: Path) -> None:
    new_token(folder / "tokens.json", "alice")
    with running(folder, a_minute=3) as server:
        for token, headers in ((None, {}), ("wrong", {}), (None, {"Authorization": "Basic eDp5"})):
            status, answer, found = ask(server, token, {"rules": [rule(FLU)]}, headers=headers)
            assert (status, answer["error"]["code"], found["www-authenticate"]) == (401, "no_token", "Bearer")
        assert ask(server, None, {"rules": [rule(FLU)]})[0] == 429
    assert [entry["what"] for entry in written(folder)] == ["denied"] * 3
    assert "wrong" not in (folder / "log.jsonl").read_text()


def test_each_token_has_its_pace(folder: Path) -> None:
    alice, bob = (new_token(folder / "tokens.json", name) for name in ("alice", "bob"))
    with running(folder, a_minute=2) as server:
        assert [ask(server, alice, {"rules": [rule(FLU)]})[0] for _ in range(3)] == [200, 200, 429]
        status, _, _ = ask(server, bob, {"rules": [rule(FLU)]})
        assert status == 200


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "must be JSON"),
        (b'{"rules": [NaN]}', "must be JSON"),
        (b"[" * 100_000, "must be JSON"),
        ({}, '"rules" or "table"'),
        ({"rules": []}, "from 1 to 1000 results"),
        ({"rules": [5]}, "must be an object"),
        ({"rules": [{"if": []}]}, "must have a condition"),
        ({"rules": [{"if": [FLU] * 21}]}, "at most 20 conditions"),
        ({"rules": [rule(["name", "=", "x"])]}, "columns of the release: disease, sex, age"),
        ({"rules": [rule(["age", "~", 1])]}, "one of = !="),
        ({"rules": [rule(["age", "=", True])]}, "a text or a number"),
        ({"rules": [{**rule(FLU), "figures": {"n": "x"}}]}, "object of numbers"),
        ({"table": {"columns": ["disease"], "rows": [["A01", 1]]}}, "a cell for each column"),
        ({"table": {"columns": ["n"], "rows": [[1]]}}, "a column of the release"),
        ({"table": {"columns": ["disease", "note"], "rows": [["A01", "x"]]}}, "must hold numbers"),
    ],
)
def test_what_cannot_be_read_is_said_in_json(folder: Path, content: object, said: str) -> None:
    token = new_token(folder / "tokens.json", "alice")
    with running(folder, least=1) as server:
        status, answer, _ = ask(server, token, content)
        assert status == 400
        assert said in answer["error"]["message"]


def test_other_requests_are_refused(folder: Path) -> None:
    token = new_token(folder / "tokens.json", "alice")
    with running(folder) as server:
        good = {"rules": [rule(FLU)]}
        assert ask(server, token, good, path="/")[0] == 404
        assert ask(server, token, b"", method="GET")[0] == 405
        assert ask(server, token, good, headers={"Content-Type": "text/plain"})[0] == 415
        assert ask(server, token, b"", headers={"Host": "evil.example"})[0] == 421
        assert ask(server, token, b"", headers={"Content-Length": "1000001"})[0] == 413
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as raw:
            raw.sendall(b"POST /decode HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n")
            assert b" 411 " in raw.recv(200)


def test_nothing_is_decoded_that_cannot_be_written_down(folder: Path) -> None:
    token = new_token(folder / "tokens.json", "alice")
    with running(folder) as server:
        server.desk.log = folder  # a folder, which takes no lines
        status, answer, _ = ask(server, token, {"rules": [rule(FLU)]})
        assert (status, answer["error"]["code"]) == (503, "no_log")


# ----- files ----------------------------------------------------------------------------------------------------------


def test_the_file_of_tokens_holds_hashes(folder: Path) -> None:
    file = folder / "tokens.json"
    alice, bob = new_token(file, "alice"), new_token(file, "bob")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert alice not in file.read_text()
    tokens = Tokens.read(file)
    assert (tokens.who(alice), tokens.who(bob), tokens.who(alice + "x"), tokens.who("")) == ("alice", "bob", None, None)
    with pytest.raises(UsageError, match="already"):
        new_token(file, "alice")


def test_files_that_do_not_fit_are_refused(folder: Path) -> None:
    (folder / "tokens.json").write_text('{"format": "auditor-tokens/1", "tokens": {"a": "no hash"}}')
    with pytest.raises(TokenFileError, match="SHA-256"), running(folder):
        pass
    new_token(folder / "others.json", "alice")
    (folder / "others.json").replace(folder / "tokens.json")
    (folder / "log.jsonl").write_text("no log\n")
    with pytest.raises(TokenFileError, match=r"line 1"), running(folder):
        pass
    (folder / "log.jsonl").unlink()
    (folder / "r.csv").write_text("disease,sex,age\nA01,F,1\n")
    with pytest.raises(KeyFileError, match="not the key"), running(folder):
        pass
    (folder / "r.csv").write_text("disease,sex,age\n" + "A01,F,1\n" * 22)
    with pytest.raises(KeyFileError, match="another release"), running(folder):
        pass


def test_groups_that_are_parts_of_each_other() -> None:
    known = Remembered(20)
    known.add(np.arange(20) < 10)
    known.add(np.arange(20) < 10)
    assert len(known) == 2  # with everybody
    assert known.nearly(np.arange(20) < 8, 5)
    assert known.nearly(np.arange(20) < 12, 5)
    assert known.nearly(np.arange(20) > 1, 5)  # everybody but two
    assert not known.nearly(np.arange(20) < 10, 5)  # the same again
    assert not known.nearly(np.arange(20) < 5, 5)
    assert not known.nearly((np.arange(20) > 1) & (np.arange(20) < 10), 1)
    assert not known.nearly((np.arange(20) > 3) & (np.arange(20) < 13), 5)  # no part of it, nor the other way round
    for place in range(100):
        known.add(np.arange(20) == place % 20)
    assert len(known) == 22


def test_conditions_are_met_by_rows() -> None:
    rows = Published({"age": ["1,5", "2", "", "x"], "sex": ["F", "M", "F", "F"]}, ",")

    def met(*condition: str) -> list[bool]:
        return rows.meeting([Condition(*condition)]).tolist()

    assert met("age", "<", "2") == [True, False, False, False]
    assert met("age", "=", "1,50") == [True, False, False, False]
    assert met("age", "!=", "x") == [True, True, True, False]
    assert met("age", ">=", "1") == [True, True, False, False]
    assert rows.meeting([Condition("sex", "=", "F"), Condition("age", "=", "x")]).tolist() == [False] * 3 + [True]


# ----- the command ----------------------------------------------------------------------------------------------------


def test_the_command_makes_tokens_and_refuses_bad_files(folder: Path, auditor_cli: Callable[..., Ended]) -> None:
    tokens = folder / "tokens.json"
    ended = auditor_cli("decode-server", "--tokens", tokens, "--new-token", "alice")
    assert ended.code == 0
    assert Tokens.read(tokens).who(ended.out.strip()) == "alice"
    assert auditor_cli("decode-server", "--tokens", tokens).code == 2
    whole = ["decode-server", folder / "r.csv", "--tokens", tokens, "--log", folder / "log.jsonl", "--port", "0"]
    (folder / "bad.json").write_text("{}")
    ended = auditor_cli(*whole, "--key", folder / "bad.json")
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    tokens.write_text("{}")
    ended = auditor_cli(*whole, "--key", folder / "key.json")
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    ended = auditor_cli(*whole, "--key", folder / "key.json", "--host", "0.0.0.0")
    assert ended.code == 3  # the files come first
    new_token(folder / "new.json", "alice")
    (folder / "new.json").replace(tokens)
    ended = auditor_cli(*whole, "--key", folder / "key.json", "--host", "0.0.0.0")
    assert (ended.code, "--allow-network" in ended.err) == (2, True)
