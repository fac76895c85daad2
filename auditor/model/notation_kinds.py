"""The kinds of notation that a label of a release may be written in, and what a schema may ask of them.

A reader tries the kinds in their order and takes the first that fits (`notation` says how each is written). A column of the
schema may name the kinds that its labels are written in, `notation = ["interval"]`: then these are tried, in this order, and
no others. What means missing or withheld is said by `missing` and `suppressed`, what an alias denotes by the release
itself, and stars alone are always everything: those kinds cannot be asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Notation(StrEnum):
    """How a label is written."""

    VALUE = "value"
    GROUP = "group"
    CENTROID = "centroid"
    INTERVAL = "interval"
    BOUND = "bound"
    PERIOD = "period"
    MASK = "mask"
    SET = "set"
    EVERYTHING = "everything"
    SUPPRESSED = "suppressed"
    MISSING = "missing"
    ALIAS = "alias"


SAID_ELSEWHERE: Mapping[Notation, str] = MappingProxyType(
    {
        Notation.EVERYTHING: "stars alone are always everything",
        Notation.SUPPRESSED: "what means withheld is listed under suppressed",
        Notation.MISSING: "what means no value is listed under missing",
        Notation.ALIAS: "what an alias denotes is declared beside the release",
    }
)
ASKABLE = tuple(kind for kind in Notation if kind not in SAID_ELSEWHERE)

_NEEDS: Mapping[Notation, tuple[str, ...]] = MappingProxyType(
    {
        Notation.INTERVAL: ("numeric", "ordinal"),
        Notation.BOUND: ("numeric", "ordinal"),
        Notation.CENTROID: ("numeric",),
        Notation.PERIOD: ("ordinal", "nominal"),
    }
)
"""The column types that a kind is for, where it is not for all."""


def readable(kind: Notation, column_type: str, has_taxonomy: bool) -> bool:
    """Whether labels of a column of this type can be written so."""
    return column_type in _NEEDS.get(kind, (column_type,)) and (has_taxonomy or kind is not Notation.GROUP)


def asked_notations(
    value: Any, where: str, column_type: str | None, has_taxonomy: bool, faults: list[str]
) -> tuple[Notation, ...]:
    """The kinds that a column of a schema asks for, a text or a list of texts; faults are added to those found before."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        faults.append(f"{where}: notation must be a list of {', '.join(ASKABLE)}. Got {value!r}.")
        return ()
    if len(set(texts)) < len(texts):
        faults.append(f"{where}: notation must name each kind once. Got {value!r}.")
    found = []
    for text in dict.fromkeys(texts):
        if text not in list(ASKABLE):
            elsewhere = next((f" For {kind}: {why}." for kind, why in SAID_ELSEWHERE.items() if kind == text), "")
            near = difflib.get_close_matches(text, list(ASKABLE), n=1)
            hint = elsewhere or (f" Did you mean {str(near[0])!r}?" if near else "")
            faults.append(f"{where}: notation must be one of {', '.join(ASKABLE)}. Got {text!r}.{hint}")
        elif column_type is not None and not readable(Notation(text), column_type, has_taxonomy):
            needs = "a taxonomy" if text == Notation.GROUP else f"type = {' or '.join(_NEEDS[Notation(text)])}"
            faults.append(f"{where}: notation = {text!r} needs {needs}.")
        else:
            found.append(Notation(text))
    return tuple(found)
