"""Faults in the files that people write: all are collected, and raised as one error that names each place.

Schemas, scenarios, policies, keys and manifests are read alike. A `Faults` holds one table of a file and checks what is in
it; parts of the table are opened with `at` and add to the same collection:

    faults = Faults(SchemaError, "schema.toml", read_toml(file, "schema", SchemaError))
    faults.known("table", "columns")
    table = faults.at("[table]", faults.data.get("table", {}))
    others = table.choice("others", Others)          # None where it is not given, or wrong
    faults.check()                                   # raises SchemaError if anything was wrong anywhere

A message has the form "PLACE: KEY must be WHAT. Got VALUE.", with a hint at the nearest known name. Where the file holds
values of people (a key, a release, an audit record), VALUE is only the kind of the value (`auditor/model/discretion.py`).
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from auditor.model.discretion import is_revealing, quote, shown
from auditor.model.errors import AuditorError

E = TypeVar("E", bound=StrEnum)

_LARGEST = sys.float_info.max
_LONGEST = 300  # characters of a value that a message quotes
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # JSON's escape for half of a character; two make a whole one
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Faults:
    """One table of a file, and what is wrong in the whole file. Values that are absent or wrong are returned as None."""

    def __init__(
        self,
        error: type[AuditorError],
        place: str,
        data: Any = _NOTHING,
        wanted: str = "a table of settings",
        whole: list[str] | None = None,
    ) -> None:
        self.error, self.place = error, place
        self._whole: list[str] = [] if whole is None else whole
        self._before = len(self._whole)
        self.data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        if not isinstance(data, Mapping):
            self._whole.append(f"{place} must be {wanted}. Got {got(data, error)}.")

    def at(self, part: str, data: Any = _NOTHING, wanted: str = "a table of settings") -> Faults:
        """A part of the file, with what it holds; faults found there are added to these."""
        return Faults(self.error, f"{self.place}, {part}", data, wanted, self._whole)

    @property
    def found(self) -> bool:
        """Whether there are faults since this part was opened."""
        return len(self._whole) > self._before

    def check(self) -> None:
        """Raises one error for all faults of the file, if there are any."""
        if self._whole:
            raise self.error.of(self._whole)

    def add(self, fault: str) -> None:
        """Adds a fault, a sentence, at this place."""
        self._whole.append(f"{self.place}: {fault}")

    def take(self, error: AuditorError) -> None:
        """Adds the faults that another reader found; those that already name this place are taken as they are."""
        for fault in error.faults:
            self._whole.append(fault if fault.startswith(self.place) else f"{self.place}: {fault}")

    # ----- what a table may hold -------------------------------------------------------------------------------------

    def known(self, *keys: str) -> None:
        """The table has no other keys than these."""
        for key in self.data:
            if key not in keys:
                said = shown(key, "name") if self.error.about_people else quote(key)
                self.add(f"unknown key {said}." + (hint(key, keys) or f" Known keys: {', '.join(keys)}."))

    def value(
        self, key: str, good: Callable[[Any], bool], wanted: str, required: bool = False, near: Iterable[str] = ()
    ) -> Any:
        """The value of a key, which must be good; `wanted` says in words what that is, `near` names what may be meant."""
        if key not in self.data:
            if required:
                self.add(f"{key} must be given, {wanted}.")
        elif good(self.data[key]):
            return self.data[key]
        else:
            said = got(self.data[key], self.error)
            self.add(f"{key} must be {wanted}. Got {said}.{hint(self.data[key], near)}")
        return None

    def text(self, key: str, wanted: str = "a text", required: bool = False) -> str | None:
        """A text that is not empty."""
        found: str | None = self.value(key, lambda value: is_text(value) and bool(value), wanted, required)
        return found

    def texts(self, key: str, wanted: str = "a list of texts") -> tuple[str, ...] | None:
        """A list of texts, which may be empty."""
        found = self.value(key, are_texts, wanted)
        return None if found is None else tuple(found)

    def choice(self, key: str, kind: type[E], required: bool = False) -> E | None:
        """One of a few names."""
        names = list(kind)
        found = self.value(key, lambda value: value in names, f"one of {', '.join(names)}", required, names)
        return None if found is None else kind(found)

    def choices(self, key: str, names: Collection[str]) -> tuple[str, ...] | None:
        """A list of at least one of these names."""
        if key not in self.data:
            return None
        value = self.data[key]
        listed = value if isinstance(value, list) else []
        unknown = [name for name in listed if not is_text(name) or name not in names]
        if value and isinstance(value, list) and not unknown:
            return tuple(value)
        near = "".join(hint(name, names) for name in unknown[:1])
        self.add(f"{key} must be a list of: {', '.join(names)}. Got {got(value, self.error)}.{near}")
        return None

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        """The tables that are written as [[key]]; none where there is none."""
        value = self.data.get(key, [])
        if isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
            return value
        self.add(f"write each {key} as [[{key}]].")
        return []

    def file(self, key: str, folder: Path) -> Path | None:
        """A file or folder that must exist, looked up in a folder."""
        name = self.text(key, "the name of a file")
        if name is not None and not is_there(folder / name):
            self._whole.append(f"{self.place}, {key}: {named(folder / name)}: there is no such file.")
        return None if name is None else folder / name


# ----- checks of single values ---------------------------------------------------------------------------------------


def got(value: Any, error: type[AuditorError]) -> str:
    """A wrong value as a message of this error shows it: as it is, or only its kind where it may be a person's."""
    if error.about_people and not is_revealing():
        if isinstance(value, str):
            return shown(value, "text")
        return next((said for kinds, said in _KINDS if isinstance(value, kinds)), "nothing")
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"),
    (int | float, "a number"),
    (list | tuple, "a list"),
    (Mapping, "an object"),
)


def hint(name: Any, known: Iterable[str]) -> str:
    """A question that names the known name nearest to this one, with a space before it; empty where none is near."""
    near = difflib.get_close_matches(name, [str(one) for one in known], n=1) if isinstance(name, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def is_text(value: Any) -> bool:
    """Whether this is a text."""
    return isinstance(value, str)


def are_texts(value: Any) -> bool:
    """Whether this is a list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


def is_number(value: Any, least: float = -_LARGEST, most: float = _LARGEST) -> bool:
    """Whether this is a number in a range, by default any finite one."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def is_count(value: Any, least: int = 0) -> bool:
    """Whether this is a whole number of at least `least`."""
    return isinstance(value, int) and is_number(value, least)


# ----- reading files -------------------------------------------------------------------------------------------------


def is_there(file: Path) -> bool:
    """Whether there is a file or folder of this name; there is none of a name that none can have."""
    try:
        return file.exists()
    except (OSError, ValueError):
        return False


def named(file: Path) -> str:
    """A path as a message shows it, cut where it is very long."""
    text = str(file)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def read_text(file: Path, what: str, error: type[AuditorError]) -> str:
    """The text of a file in UTF-8; `what` says in errors what it should hold."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as fault:
        raise error(f"{file}: there is no such file.") from fault
    except OSError as fault:
        raise error(f"{named(file)}: the {what} cannot be read ({fault.strerror}).") from fault
    except UnicodeDecodeError as fault:
        raise error(f"{file}: the {what} must be UTF-8 text ({fault.reason}).") from fault
    except ValueError as fault:
        raise error(f"{named(file)}: no file can have this name.") from fault


def read_toml(file: Path, what: str, error: type[AuditorError]) -> dict[str, Any]:
    """What a TOML file holds."""
    try:
        return tomllib.loads(read_text(file, what, error))
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{file}: the {what} must be TOML. {fault}.") from fault
    except (ValueError, RecursionError) as fault:
        raise error(f"{file}: the {what} must be TOML. {_beyond_reading(fault)}.") from fault


def read_json(text: str, place: str, error: type[AuditorError], more: str = "") -> Any:
    """What a JSON text holds. NaN is no JSON, and half of a character is no text."""
    try:
        content = json.loads(text, parse_constant=_no_number)
        if _HALF.search(text):
            json.dumps(content, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as fault:
        raise error(f"{place} must be JSON. Line {fault.lineno}: {fault.msg}.{more}") from fault
    except (ValueError, RecursionError) as fault:
        raise error(f"{place} must be JSON. {_beyond_reading(fault)}.{more}") from fault
    return content


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _beyond_reading(fault: ValueError | RecursionError) -> str:
    """Why a text cannot be read although its signs are in order."""
    if isinstance(fault, RecursionError):
        return "Too many things lie inside each other"
    return (
        "It holds half of a character"
        if isinstance(fault, UnicodeEncodeError)
        else "It holds a number beyond all bounds"
    )


def other_format(content: Any, error: type[AuditorError]) -> str:
    """What format a JSON file names that has not the one it must have, as the end of a message."""
    named: Any = content.get("format") if isinstance(content, dict) else None
    ours = is_text(named) and re.fullmatch(r"auditor-[a-z-]+/\d{1,3}", named)
    return "" if named is None else f" Got {named!r}." if ours else f" Got {got(named, error)}."


def parse_json(text: str, place: str, form: str, error: type[AuditorError], more: str = "") -> dict[str, Any]:
    """The JSON object in a text, whose "format" must be `form`; `more` is advice that ends an error."""
    content = read_json(text, place, error, more)
    if not isinstance(content, dict) or content.get("format") != form:
        raise error(f"{place} must have the format {form!r}.{other_format(content, error)}{more}")
    return content
