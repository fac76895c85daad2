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
from numpy.typing import NDArray

from auditor.files import read_raw, sha256
from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError, TableError, UsageError
from auditor.model.packing import distinct_rows
from auditor.model.provenance import Provenance
from auditor.model.record import Input, ReleaseFacts, Utility
from auditor.model.release import CLUSTER_RADIUS, Kind, Release
from auditor.model.sample import Sample
from auditor.model.schema import Role, Schema
from auditor.model.seeding import stage
from auditor.model.table import Codes, RawTable, Table, encode
from auditor.releasing import RawRelease, build_release, read_provenance, read_release, release_schema

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]

BY_ROWS = "rows"
WITHOUT_PEOPLE = (
    "The population was only counted beside the classes: nobody can be looked up in it without the original."
)
"""What is said of a register without an original."""

FEW_ROWS = 10
AT_RANDOM = 0.8
"""Where this share of the labels that rows matched at random would contradict is contradicted, the match is wrong."""
_SHUFFLES, _DEVIATIONS = 20, 4.0


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


def read_table(file: str | Path, schema: Schema | str | Path) -> Table:
    """A table in a file, coded by its schema."""
    schema = as_schema(schema)
    (table,) = encode(schema, [read_raw(file, schema.format, tuple(schema.columns))])
    return table


def as_schema(schema: Schema | str | Path) -> Schema:
    """A schema, read where it is a file."""
    return schema if isinstance(schema, Schema) else Schema.read(schema)


def _raw(source: str | Path | pd.DataFrame, schema: Schema, name: str) -> RawTable:
    if isinstance(source, str | Path):
        return read_raw(source, schema.format, tuple(schema.columns))
    return RawTable.from_frame(source, name, schema.format)


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


def _correspondence(
    raw: RawRelease, table: Table, original: RawTable, match: str | None, provenance: str | Path | None
) -> tuple[Ints | None, Ints | None]:
    """Which original row each release row is (one block), or which fragments each original row has (several)."""
    if provenance is not None:
        fragments = read_provenance(provenance, len(raw.blocks), table.rows, raw.rows)
        if raw.buckets is not None:
            return None, fragments
        lines = np.full(raw.rows, -1, dtype=np.int64)
        here = np.flatnonzero(fragments[:, 0] >= 0)
        lines[fragments[here, 0]] = here
        return lines, None
    if match is None:
        return None, None
    if raw.buckets is not None:
        raise UsageError(
            "A release of several blocks is matched by its provenance (--provenance FILE), not by --match."
        )
    if match == BY_ROWS:
        if raw.rows != table.rows:
            raise ReleaseError(
                f"{raw.name}: to match by rows it must have as many rows as the original. Got {raw.rows} and {table.rows}. "
                "Match by an id column, or give the provenance."
            )
        return np.arange(raw.rows), None
    for source in (raw.blocks[0], original):
        if match not in source.columns:
            raise ReleaseError(f"{source.name}: the column {match!r} to match by must be there.")
    place: dict[str, int] = {}
    for row, text in enumerate(original.columns[match]):
        if text in place:
            raise ReleaseError(f"{original.place(row)}: {match} {text!r} stands twice. Ids must be unique.")
        place[text] = row
    lines = np.array([place.get(text, -1) for text in raw.blocks[0].columns[match]], dtype=np.int64)
    used = lines[lines >= 0]
    if len(np.unique(used)) < len(used):
        raise ReleaseError(f"{raw.name}: an id of the column {match!r} stands twice.")
    return lines, None


def check_truth(release: Release, provenance: Provenance, table: Table) -> list[str]:
    """Notes on quasi-identifier labels that do not cover the true value, as where values were perturbed. An error where
    they cover no more than rows matched at random would: then the rows are matched wrongly. Centres of clusters cover but
    their own values, however rows are matched: of those it is only said what they are. Averages and noisy numbers are
    rarely anybody's: there it is an error where they are no nearer than at random."""
    if CLUSTER_RADIUS in release.columns:
        return [
            "The quasi-identifiers are those of cluster centres and need not cover a row's own values: people are looked for "
            "by distance (the link `distance`, the attack `record-linkage`)."
        ]
    inside = np.flatnonzero(provenance.bucket >= 0)
    averaged = [c for c in release.quasi if _is_averaged(release, c)]
    if averaged:
        if len(inside) >= FEW_ROWS and _far_as_random(release, provenance, table, averaged):
            raise ReleaseError(
                f"{release.name}: the numbers of {averaged[0]} are no nearer to those of the original than if rows were "
                "matched at random. Our own releases are shuffled and need --provenance; others may need --match with an id "
                "column."
            )
        listed = ", ".join(averaged[:3]) + (f" and {len(averaged) - 3} more" if len(averaged) > 3 else "")
        others = {c: n for c, n in _uncovered(release, provenance, table, inside).items() if n and c not in averaged}
        return [
            f"Numbers are published that are no values of the original, such as averages or noisy ones ({listed}): people "
            "are looked for by distance (the link `distance`, the attack `record-linkage`).",
            *(
                f"{column}: {count} of {len(inside)} labels do not cover the original value."
                for column, count in others.items()
            ),
        ]
    wrong = _uncovered(release, provenance, table, inside)
    notes = [
        f"{column}: {count} of {len(inside)} labels do not cover the original value. Is the correspondence of rows right?"
        for column, count in wrong.items()
        if count
    ]
    mixed = _uncovered(release, provenance, table, stage(0, "match").permutation(inside))
    far_off = sum(wrong.values()) >= AT_RANDOM * sum(mixed.values()) and sum(wrong.values()) > 0
    if len(wrong) >= 2 and len(inside) >= FEW_ROWS and far_off:
        raise ReleaseError(
            f"{release.name}: its labels cover the values of the original no better than if rows were matched at random "
            f"({notes[0].split('.')[0]}). Our own releases are shuffled and need --provenance; others may need --match with "
            "an id column."
        )
    return notes


def _is_averaged(release: Release, column: str) -> bool:
    """Whether most of a column are numbers that are no values of the original."""
    labels = release.labels[column]
    nowhere = (labels.counts == 0) & (labels.low == labels.high)
    return bool(nowhere[release.block_of(column).cell(column)].mean() > 0.5)


def _far_as_random(release: Release, provenance: Provenance, table: Table, columns: list[str]) -> bool:
    """Whether published numbers are as far from the original ones as from those of other rows. Where all rows have the same
    number that is so however rows are matched, and says nothing."""
    inside, rng = np.flatnonzero(provenance.bucket >= 0), stage(0, "match")
    orders = [inside, *(rng.permutation(inside) for _ in range(_SHUFFLES))]
    away = np.zeros(len(orders))
    for column in columns:
        labels, number = release.labels[column], release.block_number(column)
        cell = release.blocks[number].cell(column)[provenance.fragment[inside, number]]
        true = np.full(labels.domain.size, np.nan)
        true[: labels.domain.known] = labels.domain.numbers
        for i, order in enumerate(orders):
            way = np.abs(true[table.codes[column][order]] - labels.low[cell])
            away[i] += np.nansum(way) / (labels.domain.width or 1.0)
    spread = float(away[1:].std())
    return spread > 1e-9 * away.mean() and bool(away[0] >= away[1:].mean() - _DEVIATIONS * spread)


def _uncovered(release: Release, provenance: Provenance, table: Table, people: Ints) -> dict[str, int]:
    """For each quasi-identifier, how many labels of the released rows do not cover the value of the person put beside
    them; centroids and the like, which cover no value at all, are left out."""
    inside = np.flatnonzero(provenance.bucket >= 0)
    found = {}
    for column in release.quasi:
        if (release.labels[column].counts > 0).any():
            number = release.block_number(column)
            cell = release.blocks[number].cell(column)[provenance.fragment[inside, number]]
            found[column] = int((~release.labels[column].covers(cell, table.codes[column][people])).sum())
    return found


def find_outsiders(table: Table, population: Table) -> Ints:
    """The rows of a population that are not in the original: by a shared identifier, else by the quasi-identifiers, taking
    as many of those who share them as the original has, and first those who are alike in all other columns too."""
    shared = [c for c in table.schema.identifiers if c in table.codes and c in population.codes]
    quasi = [c for c in table.schema.quasi if c in table.codes and c in population.codes]
    if not shared and not quasi:
        raise TableError(
            f"{population.name}: a population must have the identifiers or quasi-identifiers of the original."
        )
    if shared:
        return np.flatnonzero(~_members(population.matrix(shared), table.matrix(shared)))
    everything = [c for c in table.codes if c in population.codes]
    alike = _members(population.matrix(everything), table.matrix(everything))
    return np.flatnonzero(~_members(population.matrix(quasi), table.matrix(quasi), alike))


def _members(theirs: Codes, ours: Codes, first: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Which rows of `theirs` are in `ours`, as often as they stand there; where more are alike, those of `first`."""
    both = distinct_rows(np.concatenate([theirs, ours]))
    group, mine = both[: len(theirs)], both[len(theirs) :]
    wanted = np.bincount(mine, minlength=int(both.max(initial=0)) + 1)
    later = np.zeros(len(theirs), dtype=np.bool_) if first is None else ~first
    order = np.lexsort((later, group))
    begin = np.searchsorted(group[order], group[order])
    member = np.empty(len(theirs), dtype=np.bool_)
    member[order] = np.arange(len(theirs)) - begin < wanted[group[order]]
    return member


def find_targets(wanted: list[str], table: Table) -> tuple[int, ...]:
    """The rows (from 0) that `--targets` names: row numbers from 1, values of an identifier, or COLUMN=VALUE."""
    rows: list[int] = []
    for text in wanted:
        column, _, value = text.partition("=")
        if value and column in table.codes:
            columns = [column]
        elif text.isascii() and text.isdigit():
            if not 1 <= int(text) <= table.rows:
                raise UsageError(f"targets: row {text} must be from 1 to {table.rows}.")
            rows.append(int(text) - 1)
            continue
        else:
            columns, value = [c for c in table.schema.identifiers if c in table.codes], text
        found: set[int] = set()
        for name in columns:
            code = table.domains[name].code(value)
            if code is not None:
                found.update(np.flatnonzero(table.codes[name] == code).tolist())
        if not found:
            where = ", ".join(columns) or "(the schema names no identifier)"
            raise UsageError(f"targets: {value!r} is not in {where}. Give row numbers, or COLUMN=VALUE.")
        rows += sorted(found)
    return tuple(dict.fromkeys(rows))
