"""Progress of long work: a function that the work calls now and then.

In a notebook, work that is given no such function shows a bar below its cell, which goes when the work is done. Elsewhere it
says nothing: a script that wants to hear of it passes a function of its own.
"""

from __future__ import annotations

import functools
import html
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Progress = Callable[[int, int, str], None]
"""Called with the steps done, the steps in all, and a word for what is being done."""
PATIENCE = 0.5
"""Seconds that work may take before a bar is shown, and again before it is drawn anew."""


def silent(done: int, total: int, what: str) -> None:
    """Says nothing."""


def shown_in_notebooks(work: Callable[P, R]) -> Callable[P, R]:
    """The same work, which shows a bar where it runs in a notebook and is given no `progress` of the caller's."""
    signature = inspect.signature(work)

    @functools.wraps(work)
    def watched(*given: P.args, **named: P.kwargs) -> R:
        if not in_notebook() or signature.bind(*given, **named).arguments.get("progress") is not None:
            return work(*given, **named)
        bar = _Bar()
        named["progress"] = bar.step
        try:
            return work(*given, **named)
        finally:
            bar.clear()

    return watched


def in_notebook() -> bool:
    """Whether this code runs in a cell of a notebook: IPython is there, with a kernel that shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


class _Bar:
    """A bar below the cell that runs."""

    def __init__(self) -> None:
        self.tools = import_module("IPython.display")
        self.handle: Any = None
        self.drawn = self.start = monotonic()

    def step(self, done: int, total: int, what: str) -> None:
        """Draws how much is done, unless that was drawn just now."""
        now = monotonic()
        if now - self.drawn < PATIENCE:
            return
        self.drawn, share = now, min(1.0, done / max(total, 1))
        said = html.escape(f"{100 * done // max(total, 1)} %, {now - self.start:.0f} s: {what}")
        shown = self.tools.HTML(
            f'<progress max="1" value="{share:.3f}" style="width:16rem;vertical-align:middle"></progress> {said}'
        )
        if self.handle is None:
            self.handle = self.tools.display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def clear(self) -> None:
        """Takes the bar away."""
        if self.handle is not None:
            self.handle.update(self.tools.HTML(""))
