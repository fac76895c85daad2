"""Libraries beside the commands: what they warn of, log or raise is not for users, and may quote their data.

While a command runs, warnings and log lines of libraries are dropped; with `--debug` one plain line tells the kind and the
place of each. Tracebacks show the frames and the kinds of errors, and the text of our own errors only. Their text, too, is
shown where the user asks for values (`--reveal`).
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from auditor.model.discretion import is_revealing, printable
from auditor.model.errors import AuditorError, AuditorWarning


@contextmanager
def kept_quiet(debug: bool) -> Iterator[None]:
    """Inside this block nothing that a library says reaches the user as it is."""
    reveal = is_revealing()  # what other threads raise is not in this context

    def say(kind: str, place: str, text: str) -> None:
        if debug:
            sys.stderr.write(f"Warning of a library: {kind} ({place}){f': {printable(text)}' if reveal else ''}.\n")

    def show_warning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del file, line
        if issubclass(category, AuditorWarning):  # ours, and no library's
            sys.stderr.write(f"Warning: {printable(str(message))}\n")
            return
        say(category.__name__, f"{Path(filename).name}, line {lineno}", str(message))

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.levelname.lower(), record.name, record.getMessage())

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            sys.stderr.write(traceback_text(args.exc_value, reveal))

    def unraisable(args: sys.UnraisableHookArgs) -> None:
        if debug and args.exc_value is not None:
            sys.stderr.write(traceback_text(args.exc_value, reveal))

    root, lines = logging.getLogger(), Lines(logging.WARNING)
    before = threading.excepthook, sys.unraisablehook
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        if sys.unraisablehook is sys.__unraisablehook__:  # who else has set a hook wants to see for themselves
            threading.excepthook, sys.unraisablehook = in_thread, unraisable
        root.addHandler(lines)
        try:
            yield
        finally:
            root.removeHandler(lines)
            threading.excepthook, sys.unraisablehook = before


def traceback_text(error: BaseException, reveal: bool | None = None) -> str:
    """The traceback of an error and of those that led to it. The text of errors that are not ours is left out, unless values
    are asked for."""
    reveal = is_revealing() if reveal is None else reveal
    parts: list[str] = []
    for place, one in enumerate(reversed(_chain(error))):
        parts += ["\nThis led to another error:\n\n"] if place else []
        parts += ["Traceback (most recent call last):\n", *traceback.format_tb(one.__traceback__)]
        said = str(one) if reveal or isinstance(one, AuditorError) else ""
        parts.append(type(one).__qualname__ + (f": {said}" if said else "") + "\n")
    return printable("".join(parts), keep="\n")


def _chain(error: BaseException) -> list[BaseException]:
    """An error and those that led to it, the last first."""
    found: list[BaseException] = []
    inner: BaseException | None = error
    while inner is not None and inner not in found:
        found.append(inner)
        inner = inner.__cause__ or inner.__context__
    return found
