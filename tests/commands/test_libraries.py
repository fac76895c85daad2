"""Warnings, log lines and errors of libraries: what a user sees of them."""

from __future__ import annotations

import logging
import sys
import threading
import warnings

import pytest

from auditor.commands.libraries import kept_quiet, traceback_text
from auditor.model.discretion import revealing
from auditor.model.errors import TableError

Captured = pytest.CaptureFixture[str]


def noise() -> None:
    warnings.warn("Parsing 'Ann' failed", RuntimeWarning, stacklevel=1)
    logging.getLogger("library").warning("dropped 'Ann'")


@pytest.mark.parametrize(
    ("debug", "reveal", "said"),
    [
        (False, False, ()),
        (False, True, ()),
        (True, False, ("RuntimeWarning (test_libraries.py, line", "warning (library).")),
        (True, True, ("RuntimeWarning (test_libraries.py", "Parsing 'Ann' failed", "dropped 'Ann'")),
    ],
)
def test_warnings_and_log_lines(debug: bool, reveal: bool, said: tuple[str, ...], capsys: Captured) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with revealing(reveal), kept_quiet(debug):
            noise()
    told = capsys.readouterr().err
    assert ("Ann" in told) == (debug and reveal)
    assert all(part in told for part in said)
    assert said or not told


def test_an_error_in_a_thread(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)  # as without pytest
    value = "An" + "n"

    def fail() -> None:
        raise ValueError(f"no number: {value}")

    with kept_quiet(False):
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    told = capsys.readouterr().err
    assert "ValueError\n" in told
    assert "in fail" in told
    assert "Ann" not in told


def chained() -> Exception:
    try:
        try:
            float("Ann\x1b[31m")
        except ValueError as error:
            raise TableError("data.csv, line 3: a value must be a number.") from error
    except TableError as error:
        return error
    raise AssertionError


def test_tracebacks_have_our_words_and_the_kinds_of_other_errors() -> None:
    told = traceback_text(chained())
    assert told.index("ValueError\n") < told.index("This led to another error") < told.index("TableError: data.csv")
    assert "in chained" in told
    assert "could not convert" not in told
    with revealing():
        assert r"could not convert string to float: 'Ann\x1b[31m'" in traceback_text(chained())
