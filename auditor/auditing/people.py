"""People: where several rows are one person's, people are counted, not rows.

A column with role `person` says whose a row is. In each class several rows of one person become one record, so that class
sizes, k, l, t and all that follows from them count people. Where a person's rows in a class differ in a sensitive value, the
one counts that most people of the class have: whoever guesses it is right about all of them, and nobody seems safer than
they are. Of equally common values it is the one that the person has most often, then the one that fewest people of the
release have, then the first in order. Neither the order of rows nor the numbers of people matter.

A person in several classes has a record in each, and is found where any of them is (`scoring/people.py`).

Whose a row is comes from the original, or from the release where that has the column. The release alone without the column
does not say how many people a class holds; nor does a table whose identifiers repeat, though nothing says who is who. Then
figures are by row, and no policy is judged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from auditor.auditing.subjects import Subject, repeating
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import TableError
from auditor.model.packing import distinct_rows
from auditor.model.provenance import Provenance
from auditor.model.release import Block, Release, Suppression
from auditor.model.schema import Schema
from auditor.model.seeding import stage
from auditor.model.table import Table

_UNKNOWN = (
    "the schema says that several rows may be one person's ({!r}), and {}. All figures are by row. Give the original, "
    "matched with the release"
)


def by_people(subject: Subject) -> Subject:
    """The subject with people in place of rows, where some have several. It says whose each row is where that matters, and
    why no policy can judge the release where it is not known."""
    release, people = subject.release, subject.people
    column = release.schema.person
    if subject.whole is not None or release.beyond is not None:
        return subject
    if release.synthetic:  # whose its rows are is no question; the people of the original may have several
        tables = (people, subject.population)
        person, owner = (None if table is None else _numbers(table, column) for table in tables)
        return replace(subject, person=person, owner=owner)
    if people is not None:
        subject = replace(subject, household=_numbers(people, release.schema.household))
    if column is None:
        return replace(subject, unjudged=subject.unjudged or _repeated(subject))
    person = None if people is None else _numbers(people, column)
    if person is None or subject.provenance is None:
        return replace(subject, unjudged=_UNKNOWN.format(column, "the release does not say whose its rows are"))
    provenance, subject = subject.provenance, _one_row_each(subject, column)
    inside = provenance.bucket >= 0
    stray = release.rows - int(inside.sum())
    if stray:
        why = f"{stray} rows of the release match no row of the original"
        return replace(subject, unjudged=_UNKNOWN.format(column, why))
    if len(np.unique(person[inside])) == inside.sum():
        return replace(subject, person=person)
    counted, moved = _counted(release, provenance, person)
    return replace(subject, release=counted, provenance=moved, person=person, whole=subject)


def people_in(subject: Subject) -> int | None:
    """How many people the release is about; None where that is not known."""
    if subject.person is None or subject.provenance is None or subject.release.synthetic:
        return None
    return len(np.unique(subject.person[subject.provenance.bucket >= 0]))


def joined_k(subject: Subject) -> int | None:
    """The fewest people whose rows all lie in the same classes, where the release tells which rows are one person's; None
    where it does not, and where everybody has one row."""
    if subject.person is None or subject.provenance is None or subject.whole is None or not subject.joined:
        return None
    person, bucket = _published(subject, Suppression.EXCLUDED)
    first = first_rows(person, bucket)
    person, bucket = person[first], bucket[first]
    order = np.lexsort((bucket, person))
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    found = Counter(classes.tobytes() for classes in np.split(bucket[order], starts[1:]))
    return min(found.values(), default=None)


def chances(subject: Subject, suppression: Suppression) -> Floats:
    """Each person's chance of being found, their class known: one over the size of the smallest class that they are in."""
    person, bucket = _published(subject, suppression)
    release = subject.release
    sizes = np.where(release.suppressed, release.sizes[release.suppressed].sum(), release.sizes)
    _, number = np.unique(person, return_inverse=True)
    found = np.zeros(int(number.max(initial=-1)) + 1)
    np.maximum.at(found, number, 1 / sizes[bucket])
    return found


def _published(subject: Subject, suppression: Suppression) -> tuple[Ints, Codes]:
    """Whose each row in a class that counts is, and its class."""
    assert subject.person is not None
    assert subject.provenance is not None
    bucket = subject.provenance.bucket
    kept = bucket >= 0
    if suppression is not Suppression.OWN:
        kept &= ~subject.release.suppressed[bucket]
    return subject.person[kept], bucket[kept]


def first_rows(person: Ints, key: Codes | Ints) -> Bools:
    """Which rows are the first of their person with their key."""
    pairs = distinct_rows(np.column_stack([person, key.astype(np.int64)]))
    first = np.zeros(len(person), dtype=np.bool_)
    first[np.unique(pairs, return_index=True)[1]] = True
    return first


def _numbers(people: Table, column: str | None) -> Ints | None:
    """The person (or household) of each row, by number; somebody of whom it is not known is alone."""
    if column is None or column not in people.codes:
        return None
    codes, domain = people.codes[column].astype(np.int64), people.domains[column]
    silent = [
        code for code, text in enumerate(domain.texts) if code == domain.missing or text in domain.format.suppressed
    ]
    nobody = np.isin(codes, silent)
    if nobody.any():
        row = int(np.argmax(nobody)) + 1
        raise TableError(
            f"{people.name}, column {column!r}: row {row} below the header has no value. Each row must say whose it is."
        )
    alone = np.flatnonzero(codes < 0)
    codes[alone] = codes.max(initial=0) + 1 + np.arange(len(alone))
    return codes


def _repeated(subject: Subject) -> str | None:
    """Why it is not known whose the rows of an original are: its identifiers repeat."""
    people = subject.people
    if people is None or not subject.has_original:
        return None
    for column in (c for c in subject.release.schema.identifiers if c in people.codes):
        codes = people.codes[column]
        there = codes[codes != people.domains[column].missing]
        values = len(np.unique(there))
        if values < len(there):
            return repeating(column, "the original", len(there), values)
    return None


def _one_row_each(subject: Subject, column: str) -> Subject:
    """The population with one row a person: of several the first in the order of their values."""
    population, people = subject.population, subject.people
    if population is None or column not in population.codes:
        return subject
    mine = population.codes[column].astype(np.int64)
    others = population.matrix([c for c in sorted(population.codes) if c != column])
    order = np.lexsort(np.column_stack([others, mine]).T)
    rows = np.sort(order[np.unique(mine[order], return_index=True)[1]])
    reduced, outsiders = population.take(rows), subject.outsiders
    if people is not None and subject.has_original:
        known = people.codes[column] if column in people.codes else np.empty(0, dtype=np.int32)
        outside = np.isin(mine, mine[outsiders]) & ~np.isin(mine, known)
        outsiders = np.flatnonzero(outside[rows])
    return replace(subject, population=reduced, outsiders=outsiders)


# ----- one record for each person and class ------------------------------------------------------------------------------


def _counted(release: Release, provenance: Provenance, person: Ints) -> tuple[Release, Provenance]:
    """The release with one record for each person and class, and where these are."""
    inside = np.flatnonzero(provenance.bucket >= 0)
    blocks, places = [], []
    for number, block in enumerate(release.blocks):
        whose = np.empty(len(block.bucket), dtype=np.int64)
        whose[provenance.fragment[inside, number]] = person[inside]
        record = distinct_rows(np.column_stack([block.bucket, whose]))
        made, moved = _records(block, record, whose, release.schema, stage(0, "people", number))
        place = np.full(provenance.rows, -1, dtype=np.int32)
        place[inside] = moved[record[provenance.fragment[inside, number]]]
        blocks.append(made)
        places.append(place)
    sizes = np.bincount(blocks[0].bucket, minlength=len(release.sizes)).astype(np.int64)
    counted = replace(release, blocks=tuple(blocks), sizes=sizes)
    return counted, replace(provenance, fragment=np.column_stack(places))


def _records(block: Block, record: Ints, whose: Ints, schema: Schema, rng: np.random.Generator) -> tuple[Block, Ints]:
    """A block with one fragment for each record, in random order, and the new place of each record."""
    sensitive = [place for place, column in enumerate(block.columns) if column in schema.sensitive]
    others = [place for place in range(len(block.columns)) if place not in sensitive]
    count = int(record.max()) + 1
    cells: Codes = np.empty((count, len(block.columns)), dtype=np.int32)
    chosen = _chosen(record, block.bucket, whose, distinct_rows(block.cells[:, others]))
    bucket = block.bucket[chosen]
    cells[:, others] = block.cells[chosen][:, others]
    for place in sensitive:
        value = block.cells[:, place].astype(np.int64)
        cells[:, place] = value[_chosen(record, block.bucket, whose, value)]
    order = rng.permutation(count)
    order = order[np.argsort(bucket[order], kind="stable")]
    moved = np.empty(count, dtype=np.int64)
    moved[order] = np.arange(count)
    return Block(block.columns, bucket[order], cells[order]), moved


def _chosen(record: Ints, bucket: Codes, whose: Ints, value: Ints) -> Ints:
    """For each record the fragment whose value stands for the person in the class (see the head of this module)."""
    in_class = _people(np.column_stack([bucket, value]), whose)
    in_release = _people(value[:, None], whose)
    own = distinct_rows(np.column_stack([record, value]))
    times = np.bincount(own)[own]
    order = np.lexsort([value, in_release, -times, -in_class, record])
    return order[np.unique(record[order], return_index=True)[1]]


def _people(what: Ints, whose: Ints) -> Ints:
    """For each fragment how many people have what it has."""
    number = distinct_rows(what)
    return np.bincount(number[first_rows(whose, number)])[number]
