"""How long work says how far it is: a function that is called now and then."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with what is done, what there is in all, and a word for what is being done."""


def silent(done: int, total: int, what: str) -> None:
    """Says nothing."""
