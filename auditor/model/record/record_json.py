"""Records as JSON: dataclasses of plain values out, and in again.

What is written has finite numbers only: any other number is a fault of the program, and better found here than read as `NaN`
by somebody's script. What is read must have the fields of the dataclass that have no default, and no others. So a record with
fields that a newer version added is refused, by their names. Records of version 1 are brought up to date before that
(`version_1.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from auditor.model.discretion import printable_json
from auditor.model.errors import RecordError
from auditor.model.faults import other_format

T = typing.TypeVar("T")


def _plain(value: Any) -> Any:
    """Dataclasses, mappings, sequences and numpy scalars as JSON values; refuses numbers that are not finite."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"A record must hold finite numbers. Got {value}.")
    return value


def json_text(record: Any) -> str:
    """A record as JSON text, format, tool and seed first; the same record gives the same bytes."""
    plain = _plain(record)
    head = {key: plain.pop(key) for key in ("format", "tool", "seed")}
    return printable_json(json.dumps({**head, **plain}, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def json_object(text: str, name: str) -> dict[str, Any]:
    """The object in a JSON text, or an error that names the fault."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(f"{name} must be JSON. Line {error.lineno}: {error.msg}.") from error
    if not isinstance(data, dict):
        raise RecordError(f"{name} must hold a JSON object, as `auditor audit --json` writes it.")
    return data


def from_json(cls: type[T], data: dict[str, Any], name: str, wanted: str) -> T:
    """The record of a dataclass in a JSON object of the wanted format."""
    if data.get("format") != wanted:
        raise RecordError(f"{name} must have the format {wanted!r}.{other_format(data, RecordError)}")
    return typing.cast("T", _build(cls, data, name))


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields; to work them out for each of thousands of rows takes most of the time."""
    return typing.get_type_hints(kind)


def _build(kind: Any, data: Any, where: str) -> Any:
    """`data` as an instance of `kind`, which is a dataclass, a sequence of one, or a plain JSON type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in args if a is not type(None)]
        return None if data is None else _build(inner[0], data, where) if len(inner) == 1 else data
    if dataclasses.is_dataclass(kind):
        if not isinstance(data, dict):
            raise RecordError(f"{where} must be an object. Got {type(data).__name__}.")
        hints = _hints(typing.cast("type", kind))
        unknown = sorted(set(data) - set(hints))
        if unknown:
            raise RecordError(f"{where} has fields this version does not know: {', '.join(unknown)}.")
        missing = [
            f.name
            for f in dataclasses.fields(kind)
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING and f.name not in data
        ]
        if missing:
            raise RecordError(f"{where} lacks: {', '.join(missing)}.")
        return typing.cast("type", kind)(
            **{key: _build(hints[key], value, f"{where}.{key}") for key, value in data.items()}
        )
    if origin is Sequence:
        if not isinstance(data, list):
            raise RecordError(f"{where} must be a list. Got {type(data).__name__}.")
        return tuple(_build(args[0], item, f"{where}[{i}]") for i, item in enumerate(data))
    return data
