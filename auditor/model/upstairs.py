"""What objects of the model do with the help of higher floors: a release writes itself, a record shows itself in a notebook.

The model imports nothing above it. The face of the package (`auditor/__init__.py`), which is always imported first, leaves
here where the help is found, and it is fetched when it is first called for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_HELP: dict[str, Callable[..., Any]] = {}


def offer(name: str, helper: Callable[..., Any]) -> None:
    """Leaves a helper under a name."""
    _HELP[name] = helper


def ask(name: str) -> Callable[..., Any]:
    """The helper of that name."""
    return _HELP[name]
