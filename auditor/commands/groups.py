"""Options in groups: a command takes a few objects where its users see one flat list of options.

A parameter of a command decorated with `Grouped` is one of three things: an option; a frozen dataclass, whose fields are
options; or `Annotated[Mapping, mark]`, where `mark.options()` names the options and the mapping holds their values. The
options are looked up when the command line is read, so a report format registered later has its option too. Every command
also has the options in `EVERYWHERE`, which `cli.main` reads.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

from auditor.commands.options import Debug, Reveal

EVERYWHERE: dict[str, tuple[Any, Any]] = {"reveal": (Reveal, False), "debug": (Debug, False)}
_EMPTY = inspect.Parameter.empty


class Grouped:
    """A command as typer sees it: each group is replaced by its options."""

    def __init__(self, command: Callable[..., None]) -> None:
        functools.update_wrapper(self, command)
        self.command = command
        hints = get_type_hints(command, include_extras=True)
        self.parameters = {
            name: (hints[name], parameter.default) for name, parameter in inspect.signature(command).parameters.items()
        }

    @property
    def __signature__(self) -> inspect.Signature:
        options: dict[str, tuple[Any, Any]] = {}
        for name, (hint, default) in self.parameters.items():
            options |= _options(hint) or {name: (hint, default)}
        kind, each = inspect.Parameter.KEYWORD_ONLY, (options | EVERYWHERE).items()
        return inspect.Signature([inspect.Parameter(n, kind, default=d, annotation=hint) for n, (hint, d) in each])

    def __call__(self, **given: Any) -> None:
        taken: dict[str, Any] = {}
        for name, (hint, _) in self.parameters.items():
            group = {option: given[option] for option in _options(hint)}
            taken[name] = given[name] if not group else hint(**group) if isinstance(hint, type) else group
        self.command(**taken)


def _options(hint: Any) -> dict[str, tuple[Any, Any]]:
    """The options of a group, each with its default; nothing where the parameter is an option itself."""
    if is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        return {one.name: (hints[one.name], _EMPTY if one.default is MISSING else one.default) for one in fields(hint)}
    marks = [mark for mark in get_args(hint)[1:] if hasattr(mark, "options")]
    return {name: (option, None) for mark in marks for name, option in mark.options().items()}
