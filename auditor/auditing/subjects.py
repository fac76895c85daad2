"""Subjects: a release with what is needed to score attacks on it.

Release, original and population are read over shared domains. Whose each row is comes from the provenance, from equal order,
or from an id column (`correspondence`). People of the population who are not in the release are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymizers.base import Anonymizer
from auditor.auditing.correspondence import (
    BY_ROWS,
    certain_outsiders,
    check_truth,
    find_outsiders,
    find_rows,
    met_again,
    nobodys_rows,
    twins,
)
from auditor.files.linked import absent_files, with_linked
from auditor.files.provenances import unordered_fingerprint
from auditor.files.releases import ReadRelease, in_file_order, read_release
from auditor.files.tables import as_schema, raw_table, sha256
from auditor.measure.distinct import distinct_cells
from auditor.measure.points import columns_of_values
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import UsageError
from auditor.model.key import Key
from auditor.model.provenance import Provenance
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import Input, Utility
from auditor.model.record.release_facts import DistinctColumn, ReleaseFacts
from auditor.model.release import Release
from auditor.model.schema import Role, Schema
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table, encode

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_PEOPLE = (
    "The population was only counted beside the classes: without the original nobody can be looked up in it."
)
"""What is said of a population without an original."""
_SEVERAL_BLOCKS = (
    "There is no original, and a release of several blocks does not say whose value is whose: no attack was scored."
)
_ONE_BY_ONE = (
    "No row of a synthetic release is anybody's, so that its linked tables cannot be joined with those of the original. "
    "Audit the tables one by one, each with a schema of its own."
)
_NOT_JOINED = "The original was not used, and figures are of the release alone: {}."
_TOGETHER = (
    "The release holds the household of each row ({!r}): whoever has the release knows who lives together. No figure counts "
    "on that; leave the column out before you publish (auditor mend --drop)."
)
_NOT_ASKED = (
    "Membership was not asked: nobody is known who is not in the release. Give --holdout (people who are certainly not "
    "in it) or --population (people at large), or make the release from one half of the people (auditor anonymize --holdout)."
)
_TWINS = (
    "{} of {} outsiders have the very values of somebody from whom the release was made. No attack can tell the two apart; "
    "such pairs count as half right, which draws figures of membership towards a coin."
)
_SAME_PEOPLE = (
    "most outsiders have the very values of people from whom the release was made, so that no attack can tell them apart. "
    "Give people who are not in it (--holdout)"
)
_MET_AGAIN = (
    "{} of {} rows of the reference are those of people who are asked about, of the original or of the outsiders, and were "
    "left out: an adversary learns from other people."
)
_LEAST_REFERENCE = 10  # with fewer rows there is no reference to speak of
_MANY_TWINS = 0.5  # beyond this share of outsiders with a twin, the figures say nothing
_FOUND = 0.9  # a note is made where less than this share of the people of the original is found in the population


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A release with what is known about it, for scoring."""

    release: Release
    people: Table | None
    """The original; without one, a table of the published sensitive values. None where nobody can be attacked."""
    provenance: Provenance | None
    has_original: bool = True
    """False where only the class of a record is known, not the person's values."""
    population: Table | None = None
    """The people at large. Without an original they are only counted beside the classes."""
    outsiders: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The rows of the population that are not in the release."""
    inputs: tuple[Input, ...] = ()
    notes: tuple[str | Note, ...] = ()
    identifiers: tuple[str, ...] = ()
    """Identifying columns that the release has."""
    ignored: tuple[DistinctColumn, ...] = ()
    """Those of its ignored columns that tell nearly all rows apart."""
    others: Mapping[str, Release] = field(default_factory=dict)
    """Further releases about the same people, by name, for adversaries who have them."""
    sample: Sample | None = None
    """Who is attacked, where that is not everybody. The release may then be held in part (`Release.beyond`)."""
    facts: ReleaseFacts | None = None
    """The facts of the whole release, where it is held in part; otherwise they are computed."""
    utility: tuple[Utility, ...] | None = None
    """The utility of the whole release, likewise."""
    nobody: str | None = None
    """Why nobody can be attacked, where there is a special reason."""
    person: Ints | None = None
    """Whose each row of `people` is, by number, where several may be one person's (`auditor/auditing/people.py`)."""
    owner: Ints | None = None
    """Whose each row of the population is, likewise; of a synthetic release only (others have a row for each of them)."""
    household: Ints | None = None
    """The household of each row's person, by number."""
    whole: Subject | None = None
    """The same before rows became people; None where each person has one row."""
    joined: bool = False
    """Whether the release has the column that says whose a row is: whoever has the release joins a person's rows."""
    maker: Anonymizer | None = None
    """What made the release, where it is in no registry: an adversary who knows the mechanism can run it."""
    unjudged: str | None = None
    """Why no policy can judge the release, with the remedy: it is not known whose the rows are."""
    reference: Table | None = None
    """Further people who are not in the release, for adversaries to learn from; of a synthetic release only."""

    def rows_of(self, rows: Ints) -> Ints:
        """All rows of the people whose these rows are."""
        return rows if self.person is None else np.flatnonzero(np.isin(self.person, self.person[rows]))


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """What a user hands in for an audit: files or frames, or what an anonymizer returned.

    `match` says how the rows of release and original correspond: "rows" (same order) or the name of an id column in both. The
    provenance of our own releases says the same. `no_match` says that none do: the release is synthetic.
    """

    release: str | Path | pd.DataFrame | Release
    schema: Schema | str | Path | None = None
    original: str | Path | pd.DataFrame | Table | None = None
    match: str | None = None
    provenance: str | Path | Provenance | None = None
    population: str | Path | pd.DataFrame | None = None
    key: str | Path | Key | None = None
    """What the coded values of the release stand for. Utility is measured with it; no attack is given it."""
    no_match: bool = False
    """Whether the rows of the release are nobody's."""
    holdout: str | Path | pd.DataFrame | None = None
    """People who are certainly not in the release, in place of a population with its people among them."""
    reference: str | Path | pd.DataFrame | None = None
    """Further people who are not in it, for adversaries to learn from."""


def read_subject(sources: Sources, seed: int) -> Subject:
    """A subject from what a user hands in."""
    release, original, provenance = sources.release, sources.original, sources.provenance
    if isinstance(release, Release):
        return _own_subject(sources, release)
    if sources.schema is None:
        raise UsageError("A release from a file or frame needs its schema.")
    if isinstance(original, Table) or isinstance(provenance, Provenance):
        raise UsageError("A release from a file or frame needs its original and provenance as files or frames.")
    _check_matching(sources)
    schema, apart = as_schema(sources.schema), None
    if schema.tables and original is not None:
        if sources.no_match:
            raise UsageError(_ONE_BY_ONE)
        apart = _not_joined(sources, schema)
        if apart is not None:
            original, provenance, sources = None, None, replace(sources, original=None, match=None, provenance=None)
    others = sources.population if sources.holdout is None else sources.holdout
    given = {"original": original, "population": others, "reference": sources.reference}
    raw = {name: raw_table(source, schema, name) for name, source in given.items() if source is not None}
    if schema.tables and isinstance(original, str | Path):
        raw["original"] = with_linked(raw["original"], schema, Path(original))
    coded = dict(zip(raw, encode(schema, list(raw.values()), None if "original" in raw else ()), strict=True))
    known = next(iter(coded.values()), None)
    whose = in_file_order
    if sources.no_match:
        whose = partial(nobodys_rows, original=raw["original"])
    elif original is not None:
        whose = partial(find_rows, original=raw["original"], match=sources.match, provenance=provenance)
    domains = {} if known is None else known.domains
    read = read_release(release, schema if known is None else known.schema, stage(seed, "release"), domains, whose)
    wider = {c: read.release.labels[c].domain for c in read.release.columns if c in domains}
    coded = {name: table.over(wider) for name, table in coded.items()}
    subject = Subject(
        read.release,
        coded.get("original"),
        read.provenance,
        original is not None,
        coded.get("population"),
        reference=coded.get("reference"),
        inputs=_inputs(read, raw, sources),
        notes=tuple(note for table in (*raw.values(), *read.tables) for note in table.notes),
        identifiers=tuple(c for c in read.identifiers if c != sources.match),
        ignored=_ignored(read, sources.match),
        joined=schema.person is not None and any(schema.person in table.columns for table in read.tables),
        unjudged=_repeated(read),
    )
    if apart is not None:
        subject = replace(subject, notes=(*subject.notes, apart))
    if schema.household is not None and any(schema.household in table.columns for table in read.tables):
        subject = replace(subject, notes=(*subject.notes, _TOGETHER.format(schema.household)))
    if sources.match in read.identifiers:
        note = f"The column {sources.match!r} was used to match rows. It is assumed not to be published."
        subject = replace(subject, notes=(*subject.notes, note))
    if sources.key is not None:
        subject = replace(subject, provenance=_with_key(sources.key, subject))
    if read.release.synthetic:
        return _of_nobody(subject, sources.holdout is not None)
    if sources.holdout is not None or sources.reference is not None:
        raise UsageError(
            "--holdout and --reference are for synthetic releases (--no-match). For others give --population."
        )
    complete = _with_outsiders(subject, read.proved) if subject.has_original else _without_original(subject)
    return _told_apart(complete, read)


def _ignored(read: ReadRelease, match: str | None) -> tuple[DistinctColumn, ...]:
    """The ignored columns of a release that tell nearly all its rows apart, but for the one that matches rows."""
    schema, found = read.release.schema, []
    for table in read.tables:
        for name in (c for c in table.columns if c in schema.names(Role.IGNORE) and c != match):
            found.append(distinct_cells(schema.columns[name], table.columns[name], schema.format.of(name)))
    return tuple(one for one in found if one is not None)


def _with_key(given: str | Path | Key, subject: Subject) -> Provenance:
    """The provenance of a release with its key."""
    if subject.provenance is None or not subject.has_original:
        raise UsageError("A key is for comparing decoded values with the original: give the original as well.")
    key = given if isinstance(given, Key) else Key.read(Path(given))
    release = subject.release
    absent = [column for column in key.columns if column not in release.labels]
    if absent:
        raise UsageError(f"The key is of another release: it decodes {absent[0]!r}, which is not published.")
    if key.release is not None and release.rows == key.rows:
        cells = {c: [release.labels[c].texts[i] for i in release.block_of(c).cell(c).tolist()] for c in key.columns}
        if unordered_fingerprint(cells) != key.release:
            raise UsageError("The key is of another release, and would give wrong values.")
    return replace(subject.provenance, key=key)


def _not_joined(sources: Sources, schema: Schema) -> str | None:
    """Why an original with linked tables cannot be used: its rows would have to be those of the release, joined alike."""
    release, original = sources.release, sources.original
    if not isinstance(original, str | Path) or not isinstance(release, str | Path):
        return _NOT_JOINED.format("they must be files")
    absent = absent_files(schema, Path(original))
    if absent:
        return _NOT_JOINED.format(f"there is no {absent[0].name} beside the original")
    if sources.match != BY_ROWS:
        return _NOT_JOINED.format("rows of linked tables are matched by --match rows")
    ours, theirs = (with_linked(raw_table(one, schema, ""), schema, Path(one)) for one in (release, original))
    if ours.rows != theirs.rows:
        return _NOT_JOINED.format(f"joined, the release has {ours.rows} rows and the original {theirs.rows}")
    for column in (name for linked in schema.tables.values() for name in linked.columns.values()):
        known = {cell.strip() for cell in theirs.columns[column]} | set(schema.format.of(column).suppressed)
        if schema.columns[column].role is Role.QUASI and not {cell.strip() for cell in ours.columns[column]} <= known:
            return _NOT_JOINED.format(f"the release has coarser values than the original in {column!r}")
    return None


def _repeated(read: ReadRelease) -> str | None:
    """Why it is not known whose the rows of a release are: its identifiers repeat, and no column says who people are."""
    schema = read.release.schema
    if schema.person is not None:
        return None
    for table in read.tables:
        for column in (c for c in table.columns if c in schema.identifiers):
            missing = set(schema.format.of(column).missing)
            cells = [cell.strip() for cell in table.columns[column] if cell.strip() not in missing]
            if len(set(cells)) < len(cells):
                return repeating(column, "the release", len(cells), len(set(cells)))
    return None


def repeating(column: str, where: str, rows: int, values: int) -> str:
    """Why a policy cannot judge a table in which an identifier repeats."""
    return (
        f"the identifier {column!r} repeats in {where} ({rows} rows, {values} values), so several rows may be one person's. "
        'All figures are by row. Give the column that tells people apart role = "person"'
    )


def _told_apart(subject: Subject, read: ReadRelease) -> Subject:
    """The subject whose people are told apart by the release's own columns of persons and households, where the original has
    none."""
    people, schema, lines = subject.people, read.release.schema, read.lines
    if people is None or lines is None:
        return subject
    codes, domains = dict(people.codes), dict(people.domains)
    for column in (schema.person, schema.household):
        table = read.tables[0]
        if column is not None and column not in codes and len(read.tables) == 1 and column in table.columns:
            cells = table.columns[column]
            domains[column] = Domain.of(schema.columns[column], schema.format, [(table.name, cells, table.lines)])
            numbers = domains[column].encode(cells, table.name, table.lines)
            codes[column] = np.where(lines[:, 0] >= 0, numbers[lines[:, 0]], -1).astype(np.int32)
    return replace(subject, people=replace(people, codes=codes, domains=domains))


def _check_matching(sources: Sources) -> None:
    """An error unless an original comes with one way to tell whose row is whose."""
    if sources.holdout is not None and sources.population is not None:
        raise UsageError(
            "Give either a holdout (people who are not in the release) or a population (those in it among them)."
        )
    if sources.no_match:
        if sources.original is None or sources.match is not None or sources.provenance is not None:
            raise UsageError(
                "--no-match says that no row of the release belongs to anybody: give it with --original (the people "
                "from whom the release was made), and without --match and --provenance."
            )
        return
    if sources.match is not None and sources.provenance is not None:
        raise UsageError("Give either match or provenance: both say whose row is whose.")
    if (sources.original is None) != (sources.match is None and sources.provenance is None):
        raise UsageError(
            "An original needs to be matched with the release: by --match rows (same order), --match COLUMN (an id in both) "
            "or --provenance FILE; or, where no row corresponds to a person (synthetic data), by --no-match. Give the "
            "original and one of these, or neither."
        )


def _own_subject(sources: Sources, release: Release) -> Subject:
    original, provenance = sources.original, sources.provenance
    if not isinstance(original, Table) or not isinstance(provenance, Provenance):
        raise UsageError("A release in memory needs the table it was made from and its provenance.")
    if sources.key is not None:
        raise UsageError("A release in memory has its key in its provenance. Leave out key.")
    if sources.population is not None:
        raise UsageError("For a population beside a release in memory, build a Subject with both coded together.")
    if sources.holdout is not None or sources.reference is not None:
        raise UsageError(
            "The outsiders of a synthetic release in memory are the rows of its original that it was not made from."
        )
    if sources.no_match != release.synthetic and sources.no_match:
        raise UsageError("The rows of this release belong to people: leave out no_match.")
    return Subject(release, original, provenance, inputs=(Input("original", original.name, None, original.rows),))


def _inputs(read: ReadRelease, tables: Mapping[str, RawTable], sources: Sources) -> tuple[Input, ...]:
    """The files that were read."""
    found = [Input("release", read.release.name, read.sha256, read.tables[0].rows)]
    roles = {name: name for name in tables} | ({} if sources.holdout is None else {"population": "holdout"})
    found += [Input(roles[name], Path(raw.name).name, raw.sha256, raw.rows) for name, raw in tables.items()]
    schema = sources.schema.name if isinstance(sources.schema, Schema) else sources.schema
    files = {"schema": Path(str(schema)), "provenance": sources.provenance}
    for name, file in files.items():
        if isinstance(file, str | Path) and Path(file).is_file():
            found.append(Input(name, Path(file).name, sha256(Path(file).read_bytes())))
    return tuple(found)


def _with_outsiders(subject: Subject, proved: bool) -> Subject:
    """A subject with an original: whether its rows are matched rightly is checked unless that is `proved`, and who is not in
    it is found."""
    people, population = subject.people, subject.population
    assert people is not None
    assert subject.provenance is not None
    notes = [*subject.notes, *check_truth(subject.release, subject.provenance, people, proved)]
    if population is None:
        return replace(subject, notes=tuple(notes))
    made_from = subject.provenance.made_from
    people = people if made_from is None else people.take(np.flatnonzero(made_from))
    outsiders = find_outsiders(people, population)
    found = population.rows - len(outsiders)
    if found < _FOUND * people.rows:
        notes.append(f"Only {found} of the {people.rows} people of the original were found in the population.")
    return replace(subject, notes=tuple(notes), outsiders=outsiders)


def _of_nobody(subject: Subject, certain: bool) -> Subject:
    """A synthetic release: who is not in it is found; by `certain` all people of the holdout but those with a shared name."""
    people, provenance = subject.people, subject.provenance
    assert people is not None
    assert provenance is not None
    assert provenance.made_from is not None
    if subject.population is None:
        return subject
    members = people.take(np.flatnonzero(provenance.made_from))
    population, notes = subject.population, list(subject.notes)
    person = people.schema.person
    if person is not None and person in people.codes and person not in population.codes:
        raise UsageError(
            f"{population.name}: must have the column {person!r} too. People of the original may have several rows, and "
            "members and others must be counted alike."
        )
    if certain:
        outsiders = certain_outsiders(members, population)
        inside = population.rows - len(outsiders)
        if inside:
            notes.append(
                f"{inside} of the {population.rows} people of the holdout are in the original, and were left out."
            )
    else:
        outsiders = find_outsiders(members, population)
        found = population.rows - len(outsiders)
        if found < _FOUND * members.rows:
            notes.append(f"Only {found} of the {members.rows} people of the original were found in the population.")
    return replace(subject, outsiders=outsiders, notes=tuple(notes))


def with_holdout(subject: Subject) -> Subject:
    """A release with its outsiders: where no others are given, those of the original from whom it was not made. Of a
    synthetic one, remarks say where there are none, and where outsiders are the very image of members."""
    people, provenance = subject.people, subject.provenance
    if people is None or provenance is None or (provenance.made_from is None and not subject.release.synthetic):
        return subject
    if provenance.made_from is None:
        raise UsageError("The provenance of a synthetic release must say which rows it was made from (made_from).")
    if subject.population is None and not provenance.made_from.all():
        others = np.flatnonzero(~provenance.made_from)
        person = people.schema.person
        if person is not None and person in people.codes:  # whoever is in with another row is no outsider
            codes = people.codes[person]
            others = others[~np.isin(codes[others], codes[provenance.made_from])]
        subject = replace(subject, population=people, outsiders=others)
    if not subject.release.synthetic:
        return subject
    notes = list(subject.notes)
    if not len(subject.outsiders):
        notes.append(_NOT_ASKED)
    elif subject.population is not None:
        strangers = subject.population.take(subject.outsiders)
        members = people.take(np.flatnonzero(provenance.made_from))
        subject, again = _apart_from(subject, members, strangers)
        notes += again
        alike = twins(members, strangers)
        if alike:
            kind = NoteKind.DOUBT if alike > _MANY_TWINS * strangers.rows else NoteKind.REMARK
            notes.append(Note(_TWINS.format(alike, strangers.rows), kind))
        if alike > _MANY_TWINS * strangers.rows:
            subject = replace(subject, unjudged=subject.unjudged or _SAME_PEOPLE)
    return replace(subject, notes=tuple(notes))


def _apart_from(subject: Subject, members: Table, strangers: Table) -> tuple[Subject, list[Note]]:
    """A subject whose reference has nobody who is asked about, and a remark where it had: scores that are set against the
    reference would be lower for those who are in it."""
    reference = subject.reference
    if reference is None:
        return subject, []
    again = met_again(reference, members, strangers, columns_of_values(subject.release))
    left = reference.rows - int(again.sum())
    if left < _LEAST_REFERENCE and again.any():
        raise UsageError(
            f"{reference.name}: {int(again.sum())} of its {reference.rows} rows are those of people who are asked about, "
            "of the original or of the outsiders. A reference takes other people. Give these, or leave --reference out: "
            "then one half of the outsiders is the reference."
        )
    if not again.any():
        return subject, []
    kind = NoteKind.DOUBT if 2 * left < reference.rows else NoteKind.REMARK
    note = Note(_MET_AGAIN.format(int(again.sum()), reference.rows), kind)
    return replace(subject, reference=reference.take(np.flatnonzero(~again))), [note]


def _without_original(subject: Subject) -> Subject:
    """A release alone: each record's class is known, and its published sensitive value stands for the truth."""
    notes = subject.notes if subject.population is None else (*subject.notes, WITHOUT_PEOPLE)
    if subject.provenance is None:
        return replace(subject, notes=(*notes, _SEVERAL_BLOCKS))
    alone = release_alone(subject.release, subject.provenance)
    return replace(subject, people=alone.people, notes=(*notes, *alone.notes))


def release_alone(release: Release, provenance: Provenance, inputs: tuple[Input, ...] = ()) -> Subject:
    """A release of one block alone: the published sensitive values of a record are its person's. People are in the order of
    the provenance."""
    block, codes = release.blocks[0], {}
    for column in release.sensitive:
        labels = release.labels[column]
        single = labels.counts == 1
        of_label = np.where(single, np.maximum(labels.lo, 0), -1).astype(np.int32)
        codes[column] = of_label[block.cell(column)][provenance.fragment[:, 0]]
    domains = {c: labels.domain for c, labels in release.labels.items()}
    people = Table(release.name, release.schema, domains, codes, provenance.rows)
    note = "There is no original: figures are of the release alone, and each person's class is taken to be known."
    return Subject(release, people, provenance, False, inputs=inputs, notes=(note,))


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The rows (from 0) of the people who are attacked, drawn by the seed from all `people` that count. `attacked` is how
    many people they are, where that is not the number of rows."""

    targets: Ints
    people: int
    attacked: int | None = None

    @property
    def size(self) -> int:
        """How many people are attacked."""
        return len(self.targets) if self.attacked is None else self.attacked

    @property
    def partial(self) -> bool:
        """Whether not everybody is attacked."""
        return self.size < self.people
