"""The progress line of a command: how much is done, how long the rest will take, and what is being done."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from time import monotonic
from typing import Any

from auditor.model.discretion import printable

_CLEAR = "\r\x1b[K"
_CELLS = 24
_PATIENCE = 1  # seconds that work may take before a line is shown


class Progress:
    """A progress line with the time left, on a terminal only, for work that takes more than a second."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        self.start, self.drawn, self.width = monotonic(), False, get_terminal_size().columns
        if self.shown:
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
        spent = monotonic() - self.start
        if not self.shown or spent < _PATIENCE:
            return
        left = f", {spent / done * (total - done):.0f} s left" if done else ""
        filled = round(_CELLS * done / max(total, 1))
        self._draw(f"[{'#' * filled}{'.' * (_CELLS - filled)}] {100 * done // max(total, 1)} %{left}  {what}")

    def _draw(self, line: str) -> None:
        self._write(f"{_CLEAR}{printable(line)[: self.width - 1]}")
        self.drawn = True

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            from numba.core import event

            event.unregister("numba:compile", self.watch)
        if self.drawn:
            self._write(_CLEAR)
