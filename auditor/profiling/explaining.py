"""How the labels of a release were read: the notations of each column, inferred from its texts, with examples.

Every distinct label is read in all notations that fit it, and the first one counts. If another would denote different
values, the explanation says so, with the schema setting that selects it. How many values a label denotes is known if the
original or the schema lists the values; a release alone names only some.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auditor.files.releases import read_release
from auditor.files.tables import as_schema, raw_table
from auditor.measure.counts import class_sizes
from auditor.measure.overlap import Overlap, overlap
from auditor.model.labels import interval_texts
from auditor.model.labels.labels import Labels
from auditor.model.labels.notation import Found, Reader
from auditor.model.notation_kinds import ASKABLE, Notation
from auditor.model.record.explanation import (
    ColumnFacts,
    ConventionFacts,
    LabelExplanation,
    NotationFacts,
    SuppressionFacts,
)
from auditor.model.release import Release, Suppression
from auditor.model.schema import Role, Schema, Type
from auditor.model.seeding import stage
from auditor.model.table import encode
from auditor.model.values import parse_number

if TYPE_CHECKING:
    import pandas as pd

FEW = 10  # a label that denotes one value and occurs in fewer rows is somebody's value: it is shown only on request
_HIDDEN = "(a rare value)"  # so is any other label that occurs in one row
_EXAMPLES = 2

_MEANINGS = {
    Suppression.EXCLUDED: "neither targets nor candidates: left out of the classes",
    Suppression.WILDCARD: "candidates for everybody; not in a class of their own",
    Suppression.OWN: "one class of their own",
}
_IS = {
    Notation.VALUE: "is a value of the column",
    Notation.GROUP: "is a group of the taxonomy",
    Notation.SUPPRESSED: "is listed under suppressed",
    Notation.CENTROID: "is a number",
    Notation.INTERVAL: "has two ends",
    Notation.BOUND: "has one end",
    Notation.PERIOD: "is a year or month, and the values are dates",
    Notation.MASK: "hides characters with stars",
    Notation.SET: "lists values",
    Notation.EVERYTHING: "is only stars",
}
_LARGELY = 0.5


def explain_labels(
    release: str | Path | pd.DataFrame,
    schema: Schema | str | Path,
    *,
    original: str | Path | pd.DataFrame | None = None,
    population: str | Path | pd.DataFrame | None = None,
    reveal: bool = False,
) -> LabelExplanation:
    """How the labels of a release (a file, folder or frame) are written. The original and the population are read only for
    their values, so it does not matter which row is whose. `reveal` also shows values that few people have."""
    schema = as_schema(schema)
    given = {"original": original, "population": population}
    tables = encode(schema, [raw_table(one, schema, name) for name, one in given.items() if one is not None], ())
    known = tables[0].domains if tables else {}
    read = read_release(release, tables[0].schema if tables else schema, stage(0, "release"), known)
    return explain_release(read.release, bool(tables), reveal)


def explain_release(release: Release, original: bool = True, reveal: bool = False) -> LabelExplanation:
    """How the labels of a release in memory are written; `original` says whether its domains come from an original."""
    blocks = tuple(
        tuple(_Column(release, name, original, reveal).facts() for name in block.columns) for block in release.blocks
    )
    return LabelExplanation(release.name, release.rows, blocks, _suppression(release))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one label was read, and the first other way in which it denotes something else."""

    kind: Notation
    level: int | None = None
    other: Notation | None = None


class _Column:
    """One column being explained: holds what the steps share."""

    def __init__(self, release: Release, name: str, given: bool, reveal: bool) -> None:
        self.column, self.labels = release.schema.columns[name], release.labels[name]
        self.domain, self.reveal = self.labels.domain, reveal
        size = len(self.labels.texts)
        self.cells = np.bincount(release.block_of(name).cell(name), minlength=size)
        declared = self.column.taxonomy is not None or self.column.values is not None
        self.values_from = "schema" if declared else "original" if given else "labels"
        self.counts = self.labels.counts
        reader = Reader(self.domain, self.column.notation)
        self.used: list[int] = np.flatnonzero(self.cells).tolist()
        self.readings = {label: self._reading(reader, label) for label in self.used}

    def facts(self) -> ColumnFacts:
        parts: dict[tuple[Notation, int], list[int]] = defaultdict(list)
        for label, reading in self.readings.items():
            parts[reading.kind, -1 if reading.level is None else reading.level].append(label)
        order = list(Notation)
        ordered = sorted(parts.items(), key=lambda part: (order.index(part[0][0]), part[0][1]))
        specific = [n for n, r in self.readings.items() if r.kind not in (Notation.SUPPRESSED, Notation.ALIAS)]
        lie = overlap(self.labels, np.array(specific, dtype=np.int64))
        levels = sorted({level for _, level in parts if level >= 0})
        kinds = {kind for kind, _ in parts}
        return ColumnFacts(
            column=self.column.name,
            role=str(self.column.role),
            type=str(self.column.type),
            values=None if self.values_from == "labels" else self.domain.known,
            values_from=self.values_from,
            asked=tuple(map(str, self.column.notation)),
            missing=self.domain.format.missing,
            suppressed=self.domain.format.suppressed,
            notations=tuple(self._notation(kind, level, members) for (kind, level), members in ordered),
            overlap=str(lie.overlap),
            overlapping=tuple(self._shown(label) for label in lie.pair or ()),
            levels=tuple(levels),
            mixed_levels=len(levels) + (Notation.VALUE in kinds and bool(levels)) > 1 or lie.overlap is Overlap.WITHIN,
            notes=(*self._ambiguous(kinds), *self._remarks(kinds, lie.overlap)),
        )

    def _reading(self, reader: Reader, label: int) -> _Reading:
        if label in self.labels.aliases:
            return _Reading(Notation.ALIAS)
        text = self.labels.texts[label].strip()
        found = list(reader.readings(text))
        if not found:  # a label in memory that was read in a notation the schema does not ask for
            return _Reading(Notation.VALUE)
        first, level = found[0], None
        if first.kind is Notation.GROUP and self.domain.taxonomy is not None:
            level = self.domain.taxonomy.height - int(self.domain.taxonomy.depth[self.domain.taxonomy.numbers[text]])
        others = [one.kind for one in found[1:] if one.kind in ASKABLE and _differ(first, one)]
        return _Reading(first.kind, level, others[0] if others else None)

    def _notation(self, kind: Notation, level: int, members: list[int]) -> NotationFacts:
        counts = self.counts[members]
        known = self.values_from != "labels" or kind in (Notation.VALUE, Notation.SET, Notation.MISSING)
        often = sorted(members, key=lambda label: (-int(self.cells[label]), self.labels.texts[label]))
        return NotationFacts(
            kind=str(kind),
            level=None if level < 0 else level,
            labels=len(members),
            cells=int(self.cells[members].sum()),
            examples=tuple(dict.fromkeys(self._shown(label) for label in often[:_EXAMPLES])),
            least=int(counts.min()) if known else None,
            greatest=int(counts.max()) if known else None,
        )

    def _shown(self, label: int) -> str:
        """A label as an example, unless it is a value that few people have, or one person's own label."""
        alone = label not in self.labels.aliases and self.counts[label] <= 1
        rare = self.cells[label] < (FEW if alone else 2)
        says = self.readings[label].kind not in (Notation.MISSING, Notation.SUPPRESSED, Notation.EVERYTHING)
        return _HIDDEN if rare and says and not self.reveal else self.labels.texts[label].strip()

    def _ambiguous(self, kinds: set[Notation]) -> list[str]:
        """How texts were read that fit several notations."""
        parts: dict[tuple[Notation, Notation], list[int]] = defaultdict(list)
        for label, reading in self.readings.items():
            if reading.other is not None:
                parts[reading.kind, reading.other].append(label)
        notes = []
        for (kind, other), members in parts.items():
            if other is Notation.CENTROID and Notation.CENTROID not in kinds:
                continue  # every number could be an average; that matters only if there are others
            example = self._shown(max(members, key=lambda label: (int(self.cells[label]), self.labels.texts[label])))
            more = f" (and {len(members) - 1} more like it)" if len(members) > 1 else ""
            wanted = [other, *(one for one in ASKABLE if one in kinds and one not in (other, kind))]
            if len(members) < sum(reading.kind is kind for reading in self.readings.values()):
                wanted.append(kind)
            listed = ", ".join(f'"{one}"' for one in wanted)
            notes.append(
                f"`{example}`{more} {_IS[kind]}, so it is read as {_named(kind)}; write notation = [{listed}] under "
                f"[columns.{self.column.name}] to read it as {_named(other)}."
            )
        return notes

    def _remarks(self, kinds: set[Notation], lie: Overlap) -> list[str]:
        """What else a person should know about how the column was read."""
        notes = []
        if self.domain.stand_ins & {self.labels.texts[label].strip() for label in self.used}:
            notes.append(
                "It is not known which values masks and periods cover beyond those that other labels name: each counts as "
                "these and one value more. Give the original, or list the values in the schema, to have them counted."
            )
        if self.column.type is Type.NOMINAL and self.column.taxonomy is None and not self.column.notation:
            values = [n for n in self.used if self.readings[n].kind is Notation.VALUE]
            texts, decimal = self.labels.texts, self.domain.format.decimal
            alike = [n for n in values if interval_texts.is_range(texts[n].strip(), decimal)]
            numbers = [n for n in values if parse_number(texts[n], decimal) is not None]
            if alike and len(alike) + len(numbers) > _LARGELY * max(len(self.used), 1):
                notes.append(
                    f"`{self._shown(alike[0])}` looks like a range of numbers, but the column is nominal, so it is read as "
                    f'a value; write type = "numeric" under [columns.{self.column.name}] to read it as an interval.'
                )
        if self.column.role is Role.SENSITIVE and lie is not Overlap.APART:
            notes.append(
                "Class statistics count each label of a sensitive column as a value of its own. Labels that overlap may mean "
                "the same value: then diversity (l) is lower, and alpha higher, than they say."
            )
        if Notation.CENTROID in kinds and self.values_from != "labels":
            notes.append("Numbers that are not values of the column are read as averages; they denote no value.")
        return notes


def _differ(one: Found, other: Found) -> bool:
    """Whether two readings denote different values."""
    same = (one.lo, one.hi) == (other.lo, other.hi) and (one.codes is None) == (other.codes is None)
    if same and one.codes is not None and other.codes is not None:
        same = bool(np.array_equal(one.codes, other.codes))
    return not same


def _named(kind: Notation) -> str:
    """A notation as part of a sentence."""
    if kind in (Notation.EVERYTHING, Notation.SUPPRESSED):
        return "everything" if kind is Notation.EVERYTHING else "suppressed"
    return f"{'an' if kind is Notation.INTERVAL else 'the' if kind in (Notation.VALUE, Notation.GROUP) else 'a'} {kind}"


def _suppression(release: Release) -> SuppressionFacts:
    """How rows with suppressed quasi-identifiers count."""
    conventions = []
    for convention in Suppression:
        sizes = class_sizes(release, convention)
        k = int(sizes.min()) if len(release.blocks) == 1 and len(sizes) else None
        conventions.append(ConventionFacts(str(convention), _MEANINGS[convention], len(sizes), k))
    notes = []
    partly, rows = 0, release.suppressed_rows
    if len(release.blocks) > 1:
        notes.append("In a release of several blocks no row is suppressed as a whole: its fragments are separate.")
    else:
        block = release.blocks[0]
        withheld = np.zeros(len(block.bucket), dtype=np.int64)
        by_column: dict[str, int] = {}
        for column in release.quasi:
            here = release.labels[column].suppressed[block.cell(column)]
            by_column[column] = int(here.sum())
            withheld += here
        partly = int(np.count_nonzero(withheld)) - rows
        notes += _together(by_column, partly, rows)
        if release.quasi and not rows and (withheld == len(release.quasi)).all():
            partly = 0
            notes.append("All quasi-identifiers of all rows are suppressed: that is one class, and it counts.")
    roots = [column for column in release.columns if _withheld_root(release.labels[column])]
    if roots:
        notes.append(
            f"A mark for suppressed values is also the root of the taxonomy ({', '.join(roots)}). It is read as suppressed. "
            "If the tool writes it for the widest group, write suppressed = [] under that column: then those rows count."
        )
    return SuppressionFacts(rows, partly, tuple(conventions), tuple(notes))


def _together(withheld: dict[str, int], partly: int, rows: int) -> list[str]:
    """A note if some quasi-identifiers are always suppressed together and others never are: the tool that made the release
    may have treated only the former as quasi-identifiers."""
    named = [column for column, count in withheld.items() if count]
    never = [column for column, count in withheld.items() if not count]
    if rows or not never or len(named) < 2 or any(withheld[column] != partly for column in named):
        return []
    return [
        f"{', '.join(named)} are suppressed together, {', '.join(never)} never: the tool that made the release may not have "
        "treated the latter as quasi-identifiers. As quasi-identifiers they make such rows part of classes; in another role, "
        "such rows are suppressed."
    ]


def _withheld_root(labels: Labels) -> bool:
    """Whether a label that means suppressed is also the root of the column's taxonomy."""
    taxonomy = labels.domain.taxonomy
    return taxonomy is not None and any(
        labels.texts[label].strip() == taxonomy.labels[0] for label in np.flatnonzero(labels.suppressed)
    )
