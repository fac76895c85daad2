"""The kinds of notation that a label of a release may be written in, and what a schema may ask of them.

A reader tries the kinds in their order and takes the first that fits (`labels/notation.py` says how each is written). A
column of the schema may name the kinds that its labels are written in, `notation = ["interval"]`: then only these are tried,
in this order. Four kinds cannot be asked for: the schema lists the texts for missing and suppressed values, the release
declares its aliases, and stars alone always mean everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from auditor.model.faults import Faults, are_texts, hint


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


SAID_ELSEWHERE: Mapping[Notation, str] = {
    Notation.EVERYTHING: "stars alone always mean everything",
    Notation.SUPPRESSED: "list the texts for suppressed values under suppressed",
    Notation.MISSING: "list the texts for missing values under missing",
    Notation.ALIAS: "what an alias denotes is declared with the release",
}
ASKABLE = tuple(kind for kind in Notation if kind not in SAID_ELSEWHERE)

_NEEDS: Mapping[Notation, tuple[str, ...]] = {
    Notation.INTERVAL: ("numeric", "ordinal"),
    Notation.BOUND: ("numeric", "ordinal"),
    Notation.CENTROID: ("numeric",),
    Notation.PERIOD: ("ordinal", "nominal"),
}
"""The column types that a kind is for, where it is not for all."""


def readable(kind: Notation, column_type: str, has_taxonomy: bool) -> bool:
    """Whether labels of a column of this type can be written so."""
    return column_type in _NEEDS.get(kind, (column_type,)) and (has_taxonomy or kind is not Notation.GROUP)


def asked_notations(column: Faults, column_type: str | None, has_taxonomy: bool) -> tuple[Notation, ...]:
    """The kinds that a column of a schema asks for under `notation`, a text or a list of texts."""
    value = column.data.get("notation")
    texts = [value] if isinstance(value, str) else value
    wanted = ", ".join(ASKABLE)
    if not texts or not are_texts(texts):
        column.add(f"notation must be a list of {wanted}. Got {value!r}.")
        return ()
    if len(set(texts)) < len(texts):
        column.add(f"notation must name each kind once. Got {value!r}.")
    found = []
    for text in dict.fromkeys(texts):
        if text not in list(ASKABLE):
            elsewhere = next((f" For {kind}: {why}." for kind, why in SAID_ELSEWHERE.items() if kind == text), "")
            column.add(f"notation must be one of {wanted}. Got {text!r}.{elsewhere or hint(text, ASKABLE)}")
        elif column_type is not None and not readable(Notation(text), column_type, has_taxonomy):
            needs = "a taxonomy" if text == Notation.GROUP else f"type = {' or '.join(_NEEDS[Notation(text)])}"
            column.add(f"notation = {text!r} needs {needs}.")
        else:
            found.append(Notation(text))
    return tuple(found)
