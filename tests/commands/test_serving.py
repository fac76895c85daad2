"""`auditor serve` from the outside: where it listens, what it refuses to do, and how it ends."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.model.errors import UsageError
from reports import serving
from reports.serving import RecordServer, record_server
from tests.conftest import Ended
from tests.support import record_samples as samples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "records"
    root.mkdir()
    (root / "run.json").write_text(samples.person_run().to_json(), encoding="utf-8")
    return root


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_the_network_must_be_asked_for_by_name(folder: Path, host: str) -> None:
    with pytest.raises(UsageError, match="--allow-network"):
        record_server(folder, host, 0)


def test_with_the_network_allowed(folder: Path) -> None:
    with record_server(folder, "0.0.0.0", 0, allow_network=True) as made:
        assert made.network
        assert socket.gethostname() in made.url
    with record_server(folder, "127.0.0.1", 0, allow_network=True) as made:
        assert not made.network  # nothing to warn of


def test_bad_hosts_ports_and_folders_are_usage_errors(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--host must be an address"):
        record_server(folder, "no such host.invalid", 0)
    with pytest.raises(UsageError, match="does not exist"):
        record_server(tmp_path / "nowhere", port=0)
    with pytest.raises(UsageError, match="It is a file"):
        record_server(folder / "run.json", port=0)
    with record_server(folder, port=0) as made, pytest.raises(UsageError, match="Choose another --port"):
        record_server(folder, port=made.server_port)


def test_a_taken_default_port_gives_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with record_server(folder, port=0) as first:
        monkeypatch.setattr(serving, "PORT", first.server_port)
        with record_server(folder) as second:
            assert second.server_port != first.server_port


def test_binding_asks_no_other_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise AssertionError("the machine's name was looked up")

    monkeypatch.setattr(socket, "getfqdn", refuse)
    monkeypatch.setattr(socket, "gethostbyaddr", refuse)
    with record_server(folder, port=0) as made:
        assert made.url.startswith("http://127.0.0.1:")


def test_the_command_refuses_the_network(auditor_cli: Callable[..., Ended], folder: Path) -> None:
    ended = auditor_cli("serve", folder, "--host", "0.0.0.0")
    assert ended.code == 2
    assert "--allow-network" in ended.err


def test_ctrl_c_ends_the_command_well(folder: Path) -> None:
    command = [sys.executable, "-m", "auditor", "serve", str(folder), "--port", "0"]
    going = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert going.stdout is not None
        line = going.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
        for _ in range(50):  # bound before it listens in its loop: the first answer shows that the loop runs
            try:
                connection.request("GET", "/report?file=run.json")
                break
            except ConnectionError:
                time.sleep(0.1)
        assert connection.getresponse().status == 200
        connection.close()
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=30)
    finally:
        going.kill()
    assert going.returncode == 0, err
    assert "Only this machine can open it." in err
    assert "Stopped." in err
    assert "Traceback" not in err
    assert out == ""


def test_the_browser_is_opened_when_asked(
    auditor_cli: Callable[..., Ended], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)))
    monkeypatch.setattr(RecordServer, "serve_forever", interrupt)
    ended = auditor_cli("serve", folder, "--port", 0, "--open", "--quiet")
    assert ended.code == 0
    assert opened == [ended.out.strip()]
    assert "no browser could be opened" in ended.err
