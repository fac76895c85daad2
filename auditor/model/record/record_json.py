"""Records as JSON: dataclasses of plain values out, and in again.

What is written has finite numbers only: any other number is a fault of the program, and better found here than read as `NaN`
by somebody's script. What is read is checked here, once: it must have the fields of the dataclass that have no default, and
no others, and every value must be of its field's type. So the reports can rely on it, and a record with fields that a newer
version added is refused, by their names. Records of version 1 are brought up to date before that (`version_1.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auditor.model.discretion import printable_json, shown
from auditor.model.errors import RecordError
from auditor.model.faults import got, other_format, read_json

T = typing.TypeVar("T")
Reader = Callable[[Any], Any]
"""A value as a type asks for it; raises `_WrongError` where it is of another kind."""
_LARGEST = 1e300  # no figure is larger, and sums of some such numbers are finite


def _plain(value: Any) -> Any:
    """Dataclasses, mappings, sequences and numpy scalars as JSON values; refuses numbers that are not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_written(str(k)): _plain(v) for k, v in value.items()}
    if isinstance(value, str):
        return _written(value)
    if value is None or isinstance(value, bool):
        return value
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"A record must hold finite numbers. Got {value}.")
    return value


def _written(text: str) -> str:
    """A text that a file can hold. The name of a file need not be one; what is not is escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_text(record: Any) -> str:
    """A record as JSON text, format, tool and seed first; the same record gives the same bytes."""
    plain = _plain(record)
    head = {key: plain.pop(key) for key in ("format", "tool", "seed")}
    return printable_json(json.dumps({**head, **plain}, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def json_object(text: str, name: str) -> dict[str, Any]:
    """The object in a JSON text, or an error that names the fault."""
    data = read_json(text, name, RecordError)
    if not isinstance(data, dict):
        raise RecordError(f"{name} must hold a JSON object, as `auditor audit --json` writes it.")
    return data


def from_json(cls: type[T], data: dict[str, Any], name: str, wanted: str) -> T:
    """The record of a dataclass in a JSON object of the wanted format."""
    if data.get("format") != wanted:
        raise RecordError(f"{name} must have the format {wanted!r}.{other_format(data, RecordError)}")
    try:
        return typing.cast("T", _object(cls)(data))
    except _WrongError as fault:
        raise RecordError(f"{name}{''.join(reversed(fault.place))} {fault.what}") from fault


class _WrongError(Exception):
    """What is wrong with a value, and where it stands, from the inside out."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what, self.place = what, list[str]()


def _wrong(wanted: str, value: Any) -> _WrongError:
    return _WrongError(f"must be {wanted}. Got {got(value, RecordError)}.")


@functools.cache
def _reader(kind: Any) -> Reader:
    """How a type is read: a dataclass, a sequence or mapping, several types, or a plain JSON type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of(args)
    if dataclasses.is_dataclass(kind):
        return _object(kind)
    if origin is Sequence:
        return _list(_reader(args[0]))
    if origin is Mapping:
        return _mapping(_reader(args[1]))
    return {Any: _plain_value, str: _text, bool: _flag, int: _whole, float: _number}[kind]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _wrong("a text", value)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong("true or false", value)


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return value
    raise _wrong("a whole number", value)


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return value
    raise _wrong("a number", value)


def _plain_value(value: Any) -> Any:
    """Any JSON value; only its numbers are checked."""
    if isinstance(value, dict):
        return _each(value)
    if isinstance(value, list):
        return _items(value)
    return value if value is None or isinstance(value, str | bool) else _number(value)


def _one_of(kinds: tuple[Any, ...]) -> Reader:
    """One of several types, of which null may be one. The types must differ in JSON; a float may be an int."""
    inner = [one for one in kinds if one is not type(None)]
    optional = len(inner) < len(kinds)
    read = _reader(float if set(inner) == {int, float} else inner[0])

    def optional_value(value: Any) -> Any:
        return None if value is None and optional else read(value)

    return optional_value


def _list(read: Reader) -> Reader:
    def values(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise _wrong("a list", data)
        made = []
        for place, item in enumerate(data):
            try:
                made.append(read(item))
            except _WrongError as fault:
                fault.place.append(f"[{place}]")
                raise
        return tuple(made)

    return values


def _mapping(read: Reader) -> Reader:
    def values(data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise _wrong("an object", data)
        return {key: read(value) for key, value in data.items()}

    return values


_items, _each = _list(_plain_value), _mapping(_plain_value)


def _object(kind: Any) -> Reader:
    """A dataclass: its fields, those with a default where they are there, and no others."""
    hints, fields = typing.get_type_hints(kind), dataclasses.fields(kind)
    required = [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    readers = {f.name: _reader(hints[f.name]) for f in fields}

    def made(data: Any) -> Any:
        if not isinstance(data, dict):
            raise _wrong("an object", data)
        unknown = sorted(data.keys() - readers.keys())
        if unknown:
            said = [name if name.isidentifier() else shown(name, "name") for name in unknown]
            raise _WrongError(f"has fields this version does not know: {', '.join(said)}.")
        missing = [name for name in required if name not in data]
        if missing:
            raise _WrongError(f"lacks: {', '.join(missing)}.")
        values = {}
        for key, value in data.items():
            try:
                values[key] = readers[key](value)
            except _WrongError as fault:
                fault.place.append(f".{key}")
                raise
        return kind(**values)

    return made
