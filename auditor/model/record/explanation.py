"""The explanation of a release's labels: how each column is written, as it was taken. Plain facts, for people and scripts.

It says what was found, not what an adversary makes of it: no attack is run. Labels are published texts; those that denote
one value and stand in few rows, or stand in one row only, are left out of it unless asked for, since they may be somebody's.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from auditor.model.discretion import printable_json

FORMAT = "auditor-label-explanation/1"


@dataclass(frozen=True, slots=True)
class NotationFacts:
    """The labels of one column that are written in one way.

    `level` is that of groups in their taxonomy, counted up from the values as in ARX and `mend`; `labels` and `cells` count
    the distinct texts and the rows; `least` and `greatest` are how many values of the column one of them denotes, None where
    that is not known.
    """

    kind: str
    level: int | None
    labels: int
    cells: int
    examples: tuple[str, ...]
    least: int | None
    greatest: int | None


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """How one column is written.

    `values_from` says where the values are known from: the schema, the original, or nothing but the labels, and then
    `values`, their number, is None. `asked` is the schema's `notation`. `overlap` is how labels lie to each other (apart,
    within, across), `overlapping` two that show it. `notes` are remarks for people, such as how texts were taken that could
    be read in several ways.
    """

    column: str
    role: str
    type: str
    values: int | None
    values_from: str
    asked: tuple[str, ...]
    missing: tuple[str, ...]
    suppressed: tuple[str, ...]
    notations: tuple[NotationFacts, ...]
    overlap: str
    overlapping: tuple[str, ...]
    levels: tuple[int, ...]
    mixed_levels: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConventionFacts:
    """What a convention on suppressed rows makes of them: the classes there are, and the smallest (None: no such)."""

    name: str
    meaning: str
    classes: int
    k: int | None


@dataclass(frozen=True, slots=True)
class SuppressionFacts:
    """Rows whose quasi-identifiers are all withheld, those where some are, and what each convention makes of the former."""

    rows: int
    partly: int
    conventions: tuple[ConventionFacts, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """How the labels of a release are written, block by block."""

    release: str
    rows: int
    blocks: tuple[tuple[ColumnFacts, ...], ...]
    suppression: SuppressionFacts

    @property
    def columns(self) -> tuple[ColumnFacts, ...]:
        """All columns."""
        return tuple(column for block in self.blocks for column in block)

    def find(self, column: str) -> ColumnFacts:
        """The facts of one column."""
        for facts in self.columns:
            if facts.column == column:
                return facts
        raise KeyError(column)

    def to_dict(self) -> dict[str, Any]:
        """The facts as nested mappings and lists."""
        return {"format": FORMAT, **asdict(self)}

    def to_json(self) -> str:
        """The facts as JSON text."""
        return printable_json(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)) + "\n"
