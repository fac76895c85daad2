"""What all tests share: where data files are, and running the command line in-process."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from auditor.model.discretion import revealing
from tests.support.telling import TOLD, Tell, as_tables

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in the background of a script: what tests start must be interruptible
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS", "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
)
"""Spark's Java runs for a minute only: compiling for speed, and collecting garbage on all processors, is not worth it."""

AWKWARD = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
WITH_KERNELS = ("anonymizers", "attacks", "auditing", "claims", "commands", "files", "proofs", "runs")
"""The rooms whose tests make releases with compiled kernels."""
EXAMPLES = 10
"""How many examples a random test tries in `make test`. `make quick` tries fewer, `make proofs` more."""
TRACED: Counter[str] = Counter()
"""How many cases of a test have been run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full`, as `make proofs` has it, and `--examples`, as `make quick` has it."""
    parser.addoption(
        "--full", action="store_true", help="long simulations (mark proof) and random tests at full length"
    )
    parser.addoption("--examples", type=int, default=EXAMPLES, help="examples that a random test tries")


def pytest_configure(config: pytest.Config) -> None:
    """How many examples a random test tries that does not say it itself."""
    examples = 10 * EXAMPLES if config.getoption("--full") else config.getoption("--examples")
    settings.register_profile("chosen", max_examples=examples, **AWKWARD)
    settings.load_profile("chosen")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The file that compiles all kernels goes first; beside it, in another process, run files that need no kernel, those with
    slow tests ahead; then the others, which find the kernels compiled. What is for full length only is left out of a reduced
    run."""
    if not config.getoption("--full"):
        items[:] = [item for item in items if not any(mark.kwargs.get("only") for mark in item.iter_markers("proof"))]
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def order(item: pytest.Item) -> tuple[bool, bool, bool]:
        room, file = item.path.parts[-2:]
        return (room, file) != ("anonymizers", "test_contract.py"), room in WITH_KERNELS, item.path not in slow

    items.sort(key=order)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Coverage looks at the first two cases of each test that is not slow: tracing takes as long again as the test. So what
    only slow tests and further cases reach, or import first, counts as not covered. (The mark `no_cover` of pytest-cov does
    nothing in the processes of pytest-xdist, where one measurement lies on another.)"""
    tracer = sys.gettrace()
    test = item.nodeid.partition("[")[0]
    TRACED[test] += 1
    if item.get_closest_marker("slow") or TRACED[test] > 2:
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture(scope="session", autouse=True)
def same_secret() -> Generator[None, None, None]:
    """In this process all secrets are the same one, so that a test gives the same result every time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("auditor.model.seeding.token_bytes", lambda count: b"\x07" * count)
        yield


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether a simulation runs at its full length, or at the reduced one of `make test`."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Adds a row to a table that is printed at the end of a run at full length."""

    def row(table: str, **found: object) -> None:
        record_property(TOLD, {"table": table, **{name.replace("_", " "): str(text) for name, text in found.items()}})

    return row


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The tables of what proofs found."""
    if not config.getoption("--full"):
        return
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ())]
    told = [
        value for report in reports if report.when == "call" for name, value in report.user_properties if name == TOLD
    ]
    for line in as_tables(told):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with `data/` and `reference/` that AUDITOR_DATA names; tests that need it skip where it is not."""
    folder = os.environ.get("AUDITOR_DATA")
    if not folder or not (Path(folder) / "data").is_dir():
        pytest.skip("AUDITOR_DATA does not name a folder with data/ and reference/")
    return Path(folder)


@pytest.fixture(scope="module")
def revealed() -> Generator[None, None, None]:
    """Messages show the values that they are about, as with `--reveal`."""
    with revealing():
        yield


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def auditor_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs `auditor ARGUMENTS` in this process."""
    from auditor.cli import main

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["auditor", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Ended(int(stop.value.code or 0), captured.out, captured.err)

    return run
