"""What anonymizers and attacks have in common: a name, a paper, settings, and a place in a registry.

A plug-in is a frozen dataclass: parameters in the constructor, data in the call. Settings come as text from the command
line (`--set k=5`) or as values from a scenario file; both are checked against the fields' types here, once.

Built-in ones stand in the explicit tuple of their package; third parties register theirs in the entry-point group
`auditor.plugins`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Any, ClassVar, Generic, Self, TypeVar

from auditor.model.errors import UsageError
from auditor.model.faults import hint

GROUP = "auditor.plugins"


@dataclass(frozen=True)
class Plugin:
    """A named technique. `summary` says in one line what it does, `paper` where it comes from."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]

    @classmethod
    def configure(cls, settings: Mapping[str, Any]) -> Self:
        """An instance with these settings; an error names what is unknown or of the wrong type."""
        hints = typing.get_type_hints(cls)
        fields = {f.name: f for f in dataclasses.fields(cls)}
        values = {}
        for key, value in settings.items():
            if key not in fields:
                known = hint(key, fields) or f" It has: {', '.join(fields) or 'none'}."
                raise UsageError(f"{cls.name} has no setting {key!r}.{known}")
            values[key] = _converted(value, hints[key], f"{cls.name}: {key}")
        return cls(**values)

    def settings(self) -> dict[str, Any]:
        """The settings, as plain values, for titles, records and reports: without those that are part of a secret (fields
        with the metadata `private`)."""
        public = [f for f in dataclasses.fields(self) if not f.metadata.get("private")]
        return {f.name: _plain(getattr(self, f.name)) for f in public}

    @classmethod
    def explanation(cls) -> str:
        """What the technique does, in words: its module's docstring."""
        module = inspect.getmodule(cls)
        return inspect.cleandoc((module.__doc__ if module else None) or cls.summary)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, StrEnum) else value


def _converted(value: Any, hint: Any, what: str) -> Any:
    """A setting as the type its field has; texts are read as TOML values where the field is not text."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value is None and type(None) in options:
        return None
    options = tuple(o for o in options if o is not type(None))
    if isinstance(value, str) and str not in options and not any(_is_enum(o) for o in options):
        try:
            value = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{what} must be {_words(options)}. Got {value!r}.") from error
    for option in options:
        if _is_enum(option):
            if value in list(option):
                return option(value)
        elif option is bool or option is str:
            if isinstance(value, option):
                return value
        elif option is int:
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        elif option is float:
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                return float(value)
        elif typing.get_origin(option) is tuple and isinstance(value, list | tuple):
            inner = typing.get_args(option)[0]
            return tuple(_converted(v, inner, what) for v in value)
    raise UsageError(f"{what} must be {_words(options)}. Got {value!r}.")


def _is_enum(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, StrEnum)


def _words(options: tuple[Any, ...]) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    said = [names.get(o) or (f"one of {', '.join(o)}" if _is_enum(o) else "a list") for o in options]
    return " or ".join(said)


P = TypeVar("P", bound=Plugin)


class Registry(Generic[P]):
    """The techniques of one kind, by name: the built-in ones first, then those of other packages."""

    def __init__(self, kind: type[Any], word: str, builtin: tuple[type[P], ...]) -> None:
        self.kind, self.word, self.builtin = kind, word, builtin

    def all(self) -> dict[str, type[P]]:
        """All techniques by name; a plug-in cannot take the name of a built-in one."""
        found: dict[str, type[P]] = {plugin.name: plugin for plugin in self.builtin}
        for entry in entry_points(group=GROUP):
            plugin = entry.load()
            if isinstance(plugin, type) and issubclass(plugin, self.kind):
                found.setdefault(str(getattr(plugin, "name", entry.name)), plugin)
        return found

    def get(self, name: str) -> type[P]:
        """The technique with this name."""
        own = next((plugin for plugin in self.builtin if plugin.name == name), None)
        if own is not None:
            return own  # without looking for plug-ins, which reads the metadata of every installed package
        known = self.all()
        if name not in known:
            near = hint(name, known) or f" There are: {', '.join(known)}."
            raise UsageError(f"There is no {self.word} {name!r}.{near}")
        return known[name]
