"""How commands end: signals, pipes that nobody reads, streams that are full or closed, and bugs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor import cli
from tests.conftest import Ended
from tests.support.record_samples import sample_run

Cli = Callable[..., Ended]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and /dev/full")

SCHEMA = '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.disease]\nrole = "sensitive"\n'
KEEP_GOING = """
import sys, time
from pathlib import Path
from auditor import cli
from auditor.files import tables, writing
where, what = Path(sys.argv.pop(1)), sys.argv.pop(1)
def told(*_, **__):
    print("here", file=sys.stderr, flush=True)
def waiting(*given, **named):
    told()
    time.sleep(60)
if what == "reading":
    tables.read_table = waiting
elif what == "a kernel":
    from auditor.model.compiling import kernel
    @kernel
    def forever(n):
        x = 0
        while x < n:
            x += 1 - x % 2
            if x > 1:
                x = 0
        return x
    def busy(*_):
        told()
        forever(10)
    tables.read_table = busy
elif what == "after writing":
    real = writing.write_files
    def then_wait(*given, **named):
        real(*given, **named)
        waiting()
    tables.write_files = then_wait
cli.main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "data.csv").write_text("age,disease\n" + "".join(f"{20 + i % 7},{'ab'[i % 2]}\n" for i in range(60)))
    return tmp_path


def anonymize(home: Path) -> list[str]:
    made = ["-o", str(home / "release.csv"), "--provenance", str(home / "private.csv")]
    return ["anonymize", str(home / "data.csv"), "--schema", str(home / "schema.toml"), "--method", "identity", *made]


def started(home: Path, what: str, *arguments: str) -> subprocess.Popen[str]:
    """A command that says "here" once it does what is told, and stays at it."""
    command = [sys.executable, "-c", KEEP_GOING, str(home), what, *arguments]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    while (line := run.stderr.readline()) != "here\n":
        assert line, "it ended before"
    return run


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_before_anything_is_written(home: Path, sign: signal.Signals, code: int) -> None:
    run = started(home, "reading", *anonymize(home))
    run.send_signal(sign)
    _, err = run.communicate(timeout=20)
    assert (run.returncode, err) == (code, "Interrupted; nothing was written.\n")
    assert sorted(os.listdir(home)) == ["data.csv", "schema.toml"]


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_after_the_files_are_written_names_them(home: Path, sign: signal.Signals, code: int) -> None:
    run = started(home, "after writing", *anonymize(home))
    run.send_signal(sign)
    _, err = run.communicate(timeout=20)
    assert run.returncode == code
    assert err == f"Interrupted; written before that: {home / 'private.csv'}, {home / 'release.csv'}.\n"
    assert sorted(os.listdir(home)) == ["data.csv", "private.csv", "release.csv", "schema.toml"]


def test_a_signal_while_the_handlers_are_set_ends_the_command(
    auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.commands.signals.os.set_blocking", lambda *_: signal.raise_signal(signal.SIGINT))
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ended = auditor_cli("list", "policies")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert (ended.code, ended.err) == (130, "Interrupted; nothing was written.\n")


@pytest.mark.slow
def test_a_signal_ends_a_command_in_compiled_code(home: Path) -> None:
    run = started(home, "a kernel", *anonymize(home))
    time.sleep(3)  # the kernel is compiled by now
    run.send_signal(signal.SIGTERM)
    _, err = run.communicate(timeout=20)  # the kernel is of no file, so a warning about its cache comes first
    assert (run.returncode, err.splitlines()[-1]) == (143, "Interrupted; nothing was written.")


# ----- streams ----------------------------------------------------------------------------------------------------------


def shell(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of the shell in which `auditor` is the command, and $AT its exit code."""
    text = f'auditor() {{ "{sys.executable}" -m auditor "$@"; }}\n{line}\n'
    return subprocess.run(["bash", "-c", text], cwd=home, capture_output=True, text=True, check=False, timeout=120)


PRINTING = ["list links", "explain linking", "--help", "--version", "profile data.csv", "render record.json --junit -"]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "data.csv").write_text("age,disease\n" + "".join(f"{20 + i % 7},{'ab'[i % 2]}\n" for i in range(60)))
    (folder / "record.json").write_text(sample_run().to_json())
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", PRINTING)
def test_a_pipe_that_nobody_reads(records: Path, command: str) -> None:
    done = shell(f"auditor {command} | true; exit ${{PIPESTATUS[0]}}", records)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_a_full_device_and_a_closed_stream(records: Path, where: str) -> None:
    for command in ("list links", "render record.json --junit - --html report.html"):
        done = shell(f"auditor {command} {where}", records)
        assert done.returncode == 2, command
        assert re.fullmatch(r"Error: the output cannot be written \(.*\)\.\n", done.stderr), (command, done.stderr)
    assert not (records / "report.html").exists()  # all results, or none
    done = shell(f"auditor --help {where} 2>&-", records)
    assert (done.returncode, done.stderr) == (2, "")
    assert shell("auditor list 2>/dev/full", records).returncode == 2


# ----- bugs -------------------------------------------------------------------------------------------------------------


def broken(*_: object, **__: object) -> None:
    secret = {"name": "Ms Canary"}
    raise KeyError(secret["name"])


def test_a_bug_leaves_its_details_in_a_file_for_its_owner(
    auditor_cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.auditing.subjects.read_subject", broken)
    monkeypatch.setattr("tempfile.tempdir", str(home))
    ended = auditor_cli("audit", home / "data.csv", "--schema", home / "schema.toml")
    (file,) = home.glob("auditor-error-*.txt")
    assert ended.code == cli.INTERNAL
    assert f"are in {file}. Please report them" in ended.err
    details = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert ("in broken" in details, "KeyError" in details, details.startswith("auditor ")) == (True, True, True)
    assert "Canary" not in details + ended.err


def test_a_bug_is_shown_with_debug_and_where_no_file_can_be_kept(
    auditor_cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.auditing.subjects.read_subject", broken)
    command = ("audit", home / "data.csv", "--schema", home / "schema.toml")
    ended = auditor_cli(*command, "--debug")
    assert (ended.code, "in broken" in ended.err, "Canary" in ended.err) == (cli.INTERNAL, True, False)
    monkeypatch.setattr("tempfile.tempdir", str(home / "missing"))
    ended = auditor_cli(*command)
    assert (ended.code, "could not be kept" in ended.err) == (cli.INTERNAL, True)


def test_a_file_that_the_system_refuses_is_no_bug(auditor_cli: Cli, home: Path) -> None:
    for arguments in (
        ("audit", "x" * 5000, "--schema", home / "schema.toml"),
        ("audit", home / "data.csv", "--schema", "x" * 5000),
        ("redteam", f"{'x' * 5000}.toml"),
        ("serve", "x" * 5000),
        ("render", "x" * 5000),
        ("audit", home / "data.csv", "--schema", home / "schema.toml", "--policy", "x" * 5000),
        ("audit", home / "data.csv", "--schema", home / "schema.toml", "--html", "x" * 5000),
        ("decode", "x" * 5000, "--key", "y" * 5000),
    ):
        ended = auditor_cli(*arguments)
        assert ended.code in (2, 3), (arguments[0], ended.err)
        assert ended.err.startswith("Error: "), ended.err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there file names are texts")
def test_files_whose_names_are_no_text(auditor_cli: Cli, home: Path) -> None:
    """A file system takes any bytes for a name."""
    data, out = home / os.fsdecode(b"d\xff.csv"), home / os.fsdecode(b"o\xfe")
    data.write_bytes((home / "data.csv").read_bytes())
    common = ("--schema", home / "schema.toml", "--attacks", "linking", "--utility", "none")
    files = [part for name in ("json", "html", "markdown") for part in (f"--{name}", f"{out}.{name}")]
    ended = auditor_cli("audit", data, *common, *files)
    assert ended.code == 0, ended.err
    assert (home / os.fsdecode(b"o\xfe.html")).exists()
    ended = auditor_cli("render", f"{out}.json", "--plots", home / os.fsdecode(b"p\xff"))
    assert ended.code == 0, ended.err
    ended = auditor_cli("audit", data, "--schema", home / "schema.toml", "--explain-labels", "--json", home / "e.json")
    assert ended.code == 0, ended.err
    ended = auditor_cli("audit", data, *common, "--engine", "duckdb")
    assert (ended.code, "whose names are UTF-8" in ended.err) == (3, True)
