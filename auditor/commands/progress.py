"""The progress of a command: how much is done, how long the rest will take, and what is being done.

On a terminal it is a line that is drawn again and again. Elsewhere (a log, a pipe, a batch job) it is one every ten seconds
or so, so that whoever looks at the log of a long run knows how far it is.
"""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from time import monotonic
from typing import Any

from auditor.model.discretion import printable

_CLEAR = "\r\x1b[K"
_CELLS = 24
_PATIENCE = 1  # seconds that work may take before a line is shown
_EVERY = 10  # seconds between the lines of a log
_TELLING = 0.2  # before so much is done, how long the rest will take is a guess, and is not told


class Progress:
    """Progress with the time left: a line for work that takes more than a second, lines in a log for what takes more than
    ten."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.terminal = quiet, not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        self.start, self.drawn, self.width = monotonic(), False, get_terminal_size().columns
        self.told = self.start
        if self.terminal:
            self._watch_compiler()
        return self

    def _watch_compiler(self) -> None:
        """Says when numba compiles a function, which takes some seconds, once on each machine."""
        from numba.core import event

        progress = self

        class Watch(event.Listener):
            def on_start(self, started: Any) -> None:
                name = started.data["dispatcher"].py_func.__name__.strip("_").replace("_", " ")
                progress._draw(f"Preparing: compiling {name} (once; later runs begin at once)")

            def on_end(self, _: object) -> None:
                """The next step draws its own line."""

        self.watch = Watch()
        event.register("numba:compile", self.watch)

    def step(self, done: int, total: int, what: str) -> None:
        """Shows that `done` of `total` steps are finished, and `what` comes next."""
        now = monotonic()
        spent = now - self.start
        left = f", {spent / done * (total - done):.0f} s left" if done >= _TELLING * total and done else ""
        share = f"{100 * done // max(total, 1)} %{left}"
        if self.terminal and spent >= _PATIENCE:
            filled = round(_CELLS * done / max(total, 1))
            self._draw(f"[{'#' * filled}{'.' * (_CELLS - filled)}] {share}  {what}")
        elif not self.terminal and not self.quiet and now - self.told >= _EVERY:
            self.told = now
            self._write(f"{printable(share)}: {printable(what)}\n")

    def _draw(self, line: str) -> None:
        self._write(f"{_CLEAR}{printable(line)[: self.width - 1]}")
        self.drawn = True

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.terminal:
            from numba.core import event

            event.unregister("numba:compile", self.watch)
        if self.drawn:
            self._write(_CLEAR)
