"""Progress of long work: a function that the work calls now and then."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with the steps done, the steps in all, and a word for what is being done."""


def silent(done: int, total: int, what: str) -> None:
    """Says nothing."""
