"""Progress of a command on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


class Progress:
    """A progress line with the time left, on a terminal only, and only for work of more than a second."""

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        from shutil import get_terminal_size
        from time import monotonic

        self.clock, self.start, self.drawn = monotonic, monotonic(), False
        self.width = get_terminal_size().columns
        if self.shown:
            self._watch_compiler()
        return self

    def _watch_compiler(self) -> None:
        """Says that kernels are being compiled, which happens once on a machine and takes some seconds."""
        from numba.core import event

        progress = self

        class Watch(event.Listener):
            def on_start(self, _: object) -> None:
                progress._draw("compiling kernels, only on the first run")

            def on_end(self, _: object) -> None:
                """The next step says what goes on."""

        self.watch = Watch()
        event.register("numba:compile", self.watch)

    def step(self, done: int, total: int, what: str) -> None:
        """Says that `done` of `total` steps are finished and `what` is next."""
        spent = self.clock() - self.start
        if not self.shown or spent < 1:
            return
        left = f", {spent / done * (total - done):.0f} s left" if done else ""
        filled = round(24 * done / max(total, 1))
        line = f"[{'#' * filled}{'.' * (24 - filled)}] {100 * done // max(total, 1)} %{left}  {what}"
        self._draw(line)

    def _draw(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line[: self.width - 1]}")
        sys.stderr.flush()
        self.drawn = True

    def __exit__(self, *_: object) -> None:
        if self.shown:
            from numba.core import event

            event.unregister("numba:compile", self.watch)
        if self.drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
