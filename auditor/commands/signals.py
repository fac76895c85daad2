"""Signals: Ctrl-C (SIGINT) and SIGTERM end a command, with the exit code 130 or 143 and a word on what was written.

A signal raises `Stopped` in the main thread, so that everything is left in order. Python does so only between two of its own
steps, and a compiled kernel may run for minutes. So a second thread waits as well: where the main thread does not take
notice for some seconds, the process ends at once. What it leaves behind is swept by the next run
(`auditor/files/writing.py`), and its own processes end with it (`auditor/engines/worker.py`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType

from auditor.files import writing

PATIENCE = 2.0  # seconds that the main thread may take to notice a signal
_BESIDES_ERRORS = 128  # exit codes of signals begin here
_MOST_NAMED = 5

_resumes: list[Callable[[], str]] = []


class Stopped(KeyboardInterrupt):
    """A signal that ends the command; its exit code is what a shell reports for the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.exit_code = number, _BESIDES_ERRORS + number


def what_is_kept(folder: Path, one: str, several: str) -> str:
    """How many finished parts of the work lie in a folder, and how to go on."""
    count = sum(1 for _ in folder.glob("*.json"))
    parts = f"1 finished {one} is" if count == 1 else f"{count} finished {several} are"
    return f"{parts} kept in {folder}. Run the same command again to go on."


@contextmanager
def resumable(told: Callable[[], str]) -> Iterator[None]:
    """In this block an interruption loses only a part: `told` says what is kept, and how to go on."""
    _resumes.append(told)
    try:
        yield
    finally:
        _resumes.pop()


def say(text: str) -> None:
    """Writes a line to stderr, if anybody is there to read it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Signals:
    """The signals that arrive while a command runs."""

    def __init__(self) -> None:
        self.caught: int | None = None
        """The signal that ends the command; None where there was none."""
        self.last_words = ""
        self._told = False
        self._heard = threading.Event()
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    @property
    def exit_code(self) -> int:
        """The exit code of an interrupted command."""
        return Stopped(self.caught or signal.SIGINT).exit_code

    def tell(self) -> None:
        """Says once what is kept of the work."""
        if not self._told:
            self._told = True
            say(self.last_words or _words())

    def __enter__(self) -> Signals:
        writing.WRITTEN.clear()
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, self._arrived)
        self._ears, self._mouth = os.pipe()
        os.set_blocking(self._mouth, False)
        self._woken = signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        self._watch = threading.Thread(target=self._listen, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        signal.set_wakeup_fd(self._woken)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.write(self._mouth, b"\0")
        self._watch.join()
        os.close(self._ears)
        os.close(self._mouth)

    def _arrived(self, number: int, _: FrameType | None) -> None:
        self.caught = self.caught or number
        self.last_words = self.last_words or _words()  # now, since unwinding leaves the block that can tell
        self._heard.set()
        raise Stopped(number)

    def _listen(self) -> None:
        """Ends the process where a signal has come and the main thread is busy with something that hears none."""
        while number := os.read(self._ears, 1)[0]:
            if number not in self._before:
                continue
            while not self._heard.wait(PATIENCE):
                if not writing.COMMITTING.is_set():
                    say(_words())
                    os._exit(Stopped(number).exit_code)


def _words() -> str:
    if _resumes:
        return f"Interrupted; {_resumes[-1]()}"
    if not writing.WRITTEN:
        return "Interrupted; nothing was written."
    names = [str(file) for file in writing.WRITTEN[:_MOST_NAMED]]
    more = len(writing.WRITTEN) - len(names)
    return f"Interrupted; written before that: {', '.join(names)}{f' and {more} more' if more else ''}."
