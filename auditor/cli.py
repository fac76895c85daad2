"""The command line: the exit code of every error. The commands themselves are in `auditor/commands/`.

Results go to stdout, progress and warnings to stderr. Exit codes: 0 success; 1 a policy failed; 2 wrong usage, or a result
that cannot be written; 3 bad data, schema or scenario; 70 a bug of the program; 130 interrupted (SIGINT); 141 the reader of
the output has gone; 143 ended (SIGTERM).

Whatever takes long to import is imported inside, where signals and errors are dealt with already.
"""

from __future__ import annotations

import atexit
import errno
import os
import platform
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from auditor.commands.libraries import kept_quiet, traceback_text
from auditor.commands.signals import Signals, say
from auditor.files.writing import tidy
from auditor.model.discretion import is_revealing, printable, revealing, told
from auditor.model.errors import AuditorError
from auditor.version import VERSION

NOT_WRITTEN, BAD_DATA, INTERNAL, INTERRUPTED, PIPE_CLOSED, TERMINATED = 2, 3, 70, 130, 141, 143

_NO_OUTPUT = (errno.EBADF, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a stream answers that cannot take the output; files that are written have errors of their own."""


_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Products of matrices are small here. Threads that share them mostly wait for each other, which takes a busy machine up to
ten times as long; and one thread gives one answer on every machine. Whoever sets these variables is heard."""


def main() -> None:
    """Runs a command and exits with its code."""
    for name in _ONE_THREAD:  # before numpy is imported, which reads them once
        os.environ.setdefault(name, "1")
    _open_streams()
    debug = "--debug" in sys.argv[1:]
    signals = Signals()
    try:
        with revealing("--reveal" in sys.argv[1:]), kept_quiet(debug), signals:
            code = _run(debug, signals)
            for stream in (sys.stdout, sys.stderr):
                _let_go(stream)
    except KeyboardInterrupt:  # before a command began, or a second one while the first was dealt with
        signals.tell()
        code = signals.exit_code
    atexit.register(_deaf)
    sys.exit(code)


def _run(debug: bool, signals: Signals) -> int:
    """Runs a command and returns its exit code."""
    try:
        from auditor.commands.app import run

        code = run(sys.argv[1:])
        sys.stdout.flush()
        return code
    except (Exception, KeyboardInterrupt) as error:
        if signals.caught is not None or _is_interrupt(error):
            tidy()
            signals.tell()
            return signals.exit_code
        return _failed(error, debug)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0


def _failed(error: BaseException, debug: bool) -> int:
    """Says what is wrong, and returns the exit code."""
    from typer import BadParameter

    # What click raises for wrong usage. Some versions of typer carry their own copy of click, so it is taken from typer.
    usage: Any = next(c for c in BadParameter.__mro__ if c.__name__ == "ClickException")
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    if isinstance(error, usage):
        with suppress(OSError):
            error.show()
        return int(error.exit_code)
    if isinstance(error, AuditorError):
        words, code = str(error), error.exit_code
    elif isinstance(error, MemoryError):
        words, code = "the data do not fit into memory.", BAD_DATA
    elif isinstance(error, OSError) and error.filename is None and error.errno in _NO_OUTPUT:
        words, code = f"the output cannot be written ({error.strerror}).", NOT_WRITTEN
    elif isinstance(error, OSError) and isinstance(error.filename, str):
        words, code = f"{error.filename}: {error.strerror}.", BAD_DATA
    else:
        return _bug(error, debug)
    say(traceback_text(error).rstrip() if debug else printable(f"Error: {words}", keep="\n"))
    return code


def _bug(error: BaseException, debug: bool) -> int:
    """Reports a bug: its kind, and the file that has the details."""
    details = traceback_text(error)
    if debug:
        say(details.rstrip())
        return INTERNAL
    hold = "may hold values of your data" if is_revealing() else "hold no value of your data"
    kept = _kept(f"auditor {VERSION}, Python {platform.python_version()}, {platform.platform()}\n\n{details}")
    where = f"are in {kept}" if kept else "could not be kept; run the command again with --debug to see them"
    say(
        f"Internal error, a bug in auditor: {told(error)}.\nThe details, which {hold}, {where}. Please report them, and what "
        "you ran."
    )
    return INTERNAL


def _kept(details: str) -> Path | None:
    """A new file with the details of a bug, which only the user may read; None where there can be none."""
    try:
        handle, name = tempfile.mkstemp(".txt", "auditor-error-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(details)
    except OSError:
        return None
    return Path(name)


def _is_interrupt(error: BaseException) -> bool:
    """Whether an error is an interrupt, which may arrive wrapped in another error."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, KeyboardInterrupt):
            return True
        inner = inner.__cause__ or inner.__context__
    return False


# ----- streams --------------------------------------------------------------------------------------------------------


def _open_streams() -> None:
    """Opens the streams that were closed when the program started, or the next file would be taken for one of them. What
    goes to stdout then fails, what goes to stderr is lost. Characters that a stream does not have are escaped."""
    for number, name, mode in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, mode)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _flushes(stream: TextIO) -> bool:
    """Whether a stream takes what is waiting to be written."""
    try:
        stream.flush()
    except OSError:
        return False
    return True


def _let_go(stream: TextIO) -> None:
    """What a stream does not take is dropped, or Python would complain about it at the very end, with a code of its own."""
    if not _flushes(stream):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _deaf() -> None:
    """From here on signals are of no use: the work is done, and the interpreter only tidies up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
