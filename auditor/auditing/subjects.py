"""Subjects: a release brought together with what is needed to score attacks on it.

Release, original and population are read over shared domains; the correspondence of rows comes from the provenance, from
equal order, or from an id column; and the people of the population who are not in the release are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auditor.auditing.correspondence import _correspondence, check_truth, find_outsiders
from auditor.files.releases import RawRelease, build_release, read_release, release_schema
from auditor.files.tables import _raw, as_schema, sha256
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError, UsageError
from auditor.model.provenance import Provenance
from auditor.model.record.record import Input, ReleaseFacts, Utility
from auditor.model.release import Kind, Release
from auditor.model.schema import Role, Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode

if TYPE_CHECKING:
    import pandas as pd


WITHOUT_PEOPLE = (
    "The population was only counted beside the classes: nobody can be looked up in it without the original."
)
"""What is said of a register without an original."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A release with what is known about it, for scoring.

    `people` is the original table (or, where there is none, a table of the published sensitive values, `has_original`
    being False: then only the class of a record is known, not the person's values). `population` is a register;
    `outsiders` are the rows of it that are not in the release. `identifiers` are identifying columns that the release has.
    `others` are further releases about the same people, by name, for adversaries who have them.

    `sample` says who is attacked where that is not everybody. The release may then be held in part (`Release.beyond`), so
    that `facts` about all of it come along; they are taken instead of computed, and so is `utility` where it is given.
    `nobody` says why nobody can be attacked, where that has a reason of its own. `register` is a population without an
    original, which is only counted beside the classes.
    """

    release: Release
    people: Table | None
    provenance: Provenance | None
    has_original: bool = True
    population: Table | None = None
    outsiders: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    others: Mapping[str, Release] = field(default_factory=dict)
    sample: Sample | None = None
    facts: ReleaseFacts | None = None
    utility: tuple[Utility, ...] | None = None
    register: Table | None = None
    nobody: str | None = None


def read_subject(
    release: str | Path | pd.DataFrame | Release,
    schema: Schema | str | Path | None,
    original: str | Path | pd.DataFrame | Table | None,
    match: str | None,
    provenance: str | Path | Provenance | None,
    population: str | Path | pd.DataFrame | None,
    seed: int,
) -> Subject:
    """A subject from files, frames, or what an anonymizer returned."""
    if isinstance(release, Release):
        return _own_subject(release, original, provenance, population)
    if schema is None:
        raise UsageError("A release from a file or frame needs its schema.")
    if isinstance(original, Table) or isinstance(provenance, Provenance):
        raise UsageError("A release from a file or frame needs its original and provenance as files or frames.")
    if match is not None and provenance is not None:
        raise UsageError("Give either match or provenance: both say which row is whose.")
    if (original is None) != (match is None and provenance is None):
        raise UsageError(
            "An original goes with how its rows correspond to the release's: --match rows (same order), --match COLUMN "
            "(an id in both) or --provenance FILE. Give both, or neither."
        )
    schema_name = str(schema.name if isinstance(schema, Schema) else schema)
    schema = as_schema(schema)
    raw = read_release(release, schema) if isinstance(release, str | Path) else _framed(release, schema)
    raws = [] if original is None else [_raw(original, schema, "original")]
    people_raw = _raw(population, schema, "population") if population is not None else None
    tables = (
        encode(schema, [*raws, *([people_raw] if people_raw else [])], None if raws else ())
        if raws or people_raw
        else []
    )
    if tables:
        schema = tables[0].schema
    table = tables[0] if raws else None
    people = tables[-1] if people_raw else None
    known = dict(tables[0].domains) if tables else {}
    rng = stage(seed, "release")
    inputs = [Input("release", Path(raw.name).name, raw.sha256, raw.rows)]
    inputs += [Input("original", Path(r.name).name, r.sha256, r.rows) for r in raws]
    inputs += (
        [Input("population", Path(people_raw.name).name, people_raw.sha256, people_raw.rows)] if people_raw else []
    )
    if Path(schema_name).is_file():
        inputs.append(Input("schema", Path(schema_name).name, sha256(Path(schema_name).read_bytes())))
    notes = [
        note for table_read in [*raws, *([people_raw] if people_raw else []), *raw.blocks] for note in table_read.notes
    ]
    schema = release_schema(schema, raw)
    public = [c for block in raw.blocks for c in block.columns if schema.columns[c].role is Role.IDENTIFIER]
    if match in public:
        public.remove(match)
        notes.append(f"The column {match!r} was used to match rows, and is taken to be left out of what is published.")
    if table is None:
        if people is not None:
            notes.append(WITHOUT_PEOPLE)
        alone = _without_original(raw, schema, known, rng, tuple(inputs))
        return replace(alone, notes=(*notes, *alone.notes), identifiers=tuple(public), register=people)
    lines, fragments = _correspondence(raw, table, raws[0], match, provenance)
    if provenance is not None:
        inputs.append(Input("provenance", Path(provenance).name, sha256(Path(provenance).read_bytes())))
    made, whose = build_release(raw, schema, known, rng, lines, fragments, table.rows)
    assert whose is not None
    made = replace(made, left_out=int((whose.bucket < 0).sum()))
    notes += check_truth(made, whose, table)
    outsiders = find_outsiders(table, people) if people is not None else np.empty(0, dtype=np.int64)
    if people is not None and people.rows - len(outsiders) < 0.9 * table.rows:
        found = people.rows - len(outsiders)
        notes.append(f"Only {found} of the {table.rows} people of the original were found in the population.")
    return Subject(made, table, whose, True, people, outsiders, tuple(inputs), tuple(notes), tuple(public))


def _framed(frame: pd.DataFrame, schema: Schema) -> RawRelease:
    raw = RawTable.from_frame(frame, "release", schema.format)
    if raw.rows == 0:
        raise ReleaseError("release: the frame must have at least one row.")
    return RawRelease("release", (raw,), None, None)


def _own_subject(
    release: Release,
    original: str | Path | pd.DataFrame | Table | None,
    provenance: str | Path | Provenance | None,
    population: str | Path | pd.DataFrame | None,
) -> Subject:
    if not isinstance(original, Table) or not isinstance(provenance, Provenance):
        raise UsageError("A release in memory needs the table it was made from and its provenance.")
    if population is not None:
        raise UsageError("For a population beside a release in memory, build a Subject with both coded together.")
    inputs = (Input("original", original.name, None, original.rows),)
    return Subject(release, original, provenance, True, inputs=inputs)


def _without_original(
    raw: RawRelease,
    schema: Schema,
    known: dict[str, Domain],
    rng: np.random.Generator,
    inputs: tuple[Input, ...],
) -> Subject:
    """A release alone: each record's class is known, and its published sensitive value stands for the truth."""
    lines = np.arange(raw.rows)
    release, provenance = build_release(raw, schema, known, rng, lines, None, raw.rows)
    if release.kind is not Kind.GENERALISED or provenance is None:
        note = (
            "There is no original, and a release of several blocks does not say whose value is whose: "
            "no attack was scored."
        )
        return Subject(release, None, None, False, inputs=inputs, notes=(note,))
    return release_alone(release, provenance, inputs)


def release_alone(release: Release, provenance: Provenance, inputs: tuple[Input, ...] = ()) -> Subject:
    """A release of one block alone: a record's published sensitive values are its person's, in the provenance's order."""
    block, codes = release.blocks[0], {}
    for column in release.sensitive:
        labels = release.labels[column]
        single = labels.counts == 1
        of_label = np.where(single, np.maximum(labels.lo, 0), -1).astype(np.int32)
        codes[column] = of_label[block.cell(column)][provenance.fragment[:, 0]]
    domains = {c: labels.domain for c, labels in release.labels.items()}
    people = Table(release.name, release.schema, domains, codes, provenance.rows)
    note = "There is no original: figures are of the release alone, with the class of each record taken as known."
    return Subject(release, people, provenance, False, inputs=inputs, notes=(note,))


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rows (from 0) of those who are attacked, drawn by the seed, in place of all `people` that count."""

    targets: Ints
    people: int

    @property
    def partial(self) -> bool:
        """Whether not everybody is attacked."""
        return len(self.targets) < self.people
