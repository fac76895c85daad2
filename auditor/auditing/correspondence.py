"""Correspondence: whose each row of a release is, and whether that can be true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from auditor.files.provenances import Lines, read_provenance
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.discretion import is_revealing, quote, shown
from auditor.model.domain import row_place
from auditor.model.errors import ReleaseError, TableError, UsageError
from auditor.model.packing import distinct_rows
from auditor.model.provenance import Provenance
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.release import CLUSTER_RADIUS, Release
from auditor.model.schema import Role
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table

BY_ROWS = "rows"
FEW_ROWS = 10  # with fewer rows, labels may fail to cover their values by chance
AT_RANDOM = 0.8
"""Rows are matched wrongly where this share of the labels that rows matched at random would contradict is contradicted."""
_SHUFFLES, _DEVIATIONS = 20, 4.0
_BY_DISTANCE = "people are looked for by distance (the link `distance`, the attack `record-linkage`)."
_OTHER_MATCH = (
    "Our own releases are shuffled and need --provenance; others may need --match with an id column. Where no row "
    "belongs to a person (synthetic data), give --no-match."
)


def find_rows(
    blocks: Sequence[RawTable], original: RawTable, match: str | None, provenance: str | Path | None
) -> Lines:
    """Whose each row of the release is."""
    if provenance is not None:
        return read_provenance(provenance, blocks, original.rows)
    assert match is not None
    if len(blocks) > 1:
        raise UsageError(
            "A release of several blocks is matched by its provenance (--provenance FILE), not by --match."
        )
    release = blocks[0]
    if match != BY_ROWS:
        return Lines(_by_id(release, original, match))
    if release.rows != original.rows:
        raise ReleaseError(
            f"{release.name}: to match by rows it must have as many rows as the original. Got {release.rows} and "
            f"{original.rows}. Match by an id column, or give the provenance; for synthetic data, whose rows are "
            f"nobody's, give "
            "--no-match."
        )
    return Lines(np.arange(release.rows)[:, None])


def nobodys_rows(blocks: Sequence[RawTable], original: RawTable) -> Lines:
    """The correspondence of a synthetic release: none. It was made from all rows of the original."""
    return Lines(np.full((original.rows, len(blocks)), -1), made_from=np.ones(original.rows, dtype=np.bool_))


def _by_id(release: RawTable, original: RawTable, match: str) -> Ints:
    """The correspondence by a column of ids that both have."""
    for source in (release, original):
        if match not in source.columns:
            raise ReleaseError(f"{source.name}: there is no column {match!r} to match rows by.")
    place: dict[str, int] = {}
    for row, text in enumerate(original.columns[match]):
        if text in place:
            first = row_place(place[text], original.lines)
            raise ReleaseError(
                f"{original.place(row)}, column {match!r}: {shown(text, 'id')} that {first} has too. Ids must be unique."
            )
        place[text] = row
    owner = np.array([place.get(text, -1) for text in release.columns[match]], dtype=np.int64)
    here = np.flatnonzero(owner >= 0)
    if len(np.unique(owner[here])) < len(here):
        raise ReleaseError(f"{release.name}: an id of the column {match!r} occurs twice.")
    found = np.full((original.rows, 1), -1, dtype=np.int64)
    found[owner[here], 0] = here
    return found


def check_truth(release: Release, provenance: Provenance, table: Table, proved: bool) -> list[Note]:
    """Notes on quasi-identifier labels that do not cover the true value, as where values were perturbed. They are doubts
    whether rows are matched rightly, unless that is `proved`: above all where labels cover no more, or averages lie no
    nearer, than if rows were matched at random.

    The centres of clusters cover only their own values, however rows are matched; a note says so.
    """
    if CLUSTER_RADIUS in release.columns:
        text = (
            f"The quasi-identifiers are those of cluster centres and need not cover a row's own values: {_BY_DISTANCE}"
        )
        return [Note(text)]
    inside = np.flatnonzero(provenance.bucket >= 0)
    wrong = _uncovered(release, provenance, table, inside)
    averaged = [c for c in release.quasi if _is_averaged(release, c)]
    doubts = []
    if averaged:
        share = 0.0 if proved or len(inside) < FEW_ROWS else _far_as_random(release, provenance, table, averaged)
        if share:
            doubts = [
                f"The numbers of {averaged[0]} are {share:.0%} as far from those of the original as if rows were matched at "
                f"random. {_OTHER_MATCH}"
            ]
        listed = ", ".join(averaged[:3]) + (f" and {len(averaged) - 3} more" if len(averaged) > 3 else "")
        text = f"Some published numbers are not values of the original, but averages or noisy ones ({listed}): {_BY_DISTANCE}"
        doubts += [f"{_not_covering(c, n, inside)}." for c, n in wrong.items() if n and c not in averaged]
        return [Note(text), *(Note(doubt, _kind(proved)) for doubt in doubts)]
    check = "" if proved else " Check how rows are matched."
    faults = [f"{_not_covering(c, n, inside)}.{check}" for c, n in wrong.items() if n]
    if not proved:
        mixed = sum(_uncovered(release, provenance, table, stage(0, "match").permutation(inside)).values())
        far_off = sum(wrong.values()) >= AT_RANDOM * mixed and sum(wrong.values()) > 0
        if len(wrong) >= 2 and len(inside) >= FEW_ROWS and far_off:
            doubts = [
                f"{sum(wrong.values())} labels do not cover the values of the original, and {mixed} would not if rows were "
                f"matched at random. {_OTHER_MATCH}"
            ]
    return [Note(text, _kind(proved)) for text in (*doubts, *faults)]


def _kind(proved: bool) -> NoteKind:
    return NoteKind.REMARK if proved else NoteKind.DOUBT


def _not_covering(column: str, count: int, inside: Ints) -> str:
    return f"{column}: {count} of {len(inside)} labels do not cover the original value"


def _is_averaged(release: Release, column: str) -> bool:
    """Whether most numbers of a column are not values of the original."""
    labels = release.labels[column]
    nowhere = (labels.counts == 0) & (labels.low == labels.high)
    return bool(nowhere[release.block_of(column).cell(column)].mean() > 0.5)


def _far_as_random(release: Release, provenance: Provenance, table: Table, columns: list[str]) -> float:
    """How far published numbers are from the original ones, as a share of how far they are from those of other rows; 0 where
    they are clearly nearer, or where all rows have the same number, which tells nothing."""
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
    as_far = spread > 1e-9 * away.mean() and away[0] >= away[1:].mean() - _DEVIATIONS * spread
    return float(away[0] / away[1:].mean()) if as_far else 0.0


def _uncovered(release: Release, provenance: Provenance, table: Table, people: Ints) -> dict[str, int]:
    """For each quasi-identifier, how many labels of the released rows do not cover the value of the person paired with them.
    Columns of centroids and the like, which cover no value at all, are left out."""
    inside = np.flatnonzero(provenance.bucket >= 0)
    found = {}
    for column in release.quasi:
        if (release.labels[column].counts > 0).any():
            number = release.block_number(column)
            cell = release.blocks[number].cell(column)[provenance.fragment[inside, number]]
            found[column] = int((~release.labels[column].covers(cell, table.codes[column][people])).sum())
    return found


def find_outsiders(table: Table, population: Table) -> Ints:
    """The rows of a population that are not in the original. People are told by a shared identifier, else by the
    quasi-identifiers: of those who share them as many are in it as the original has, first those alike in all columns."""
    person = table.schema.person
    if person is not None and person in table.codes and person in population.codes:
        return np.flatnonzero(~np.isin(population.codes[person], table.codes[person]))
    shared = [c for c in table.schema.identifiers if c in table.codes and c in population.codes]
    quasi = [c for c in table.schema.quasi if c in table.codes and c in population.codes]
    if not shared and not quasi:
        raise TableError(
            f"{population.name}: a population must have the identifiers or quasi-identifiers of the original."
        )
    if shared:
        return np.flatnonzero(~_members(population.matrix(shared), table.matrix(shared)))
    if person is not None and person in table.codes:  # rows of one person that are alike are one
        alike_rows = distinct_rows(table.matrix([person, *quasi]))
        table = table.take(np.sort(np.unique(alike_rows, return_index=True)[1]))
    everything = [c for c in table.codes if c in population.codes]
    alike = _members(population.matrix(everything), table.matrix(everything))
    return np.flatnonzero(~_members(population.matrix(quasi), table.matrix(quasi), alike))


def certain_outsiders(table: Table, holdout: Table) -> Ints:
    """The rows of a table of people who are said not to be in the original: all but those whose identifiers it has."""
    return np.flatnonzero(~_named_alike(table, holdout, _names(table, holdout)))


def _names(table: Table, others: Table) -> list[str]:
    """The columns that name people in both tables."""
    named = (table.schema.person, *table.schema.identifiers)
    return [c for c in named if c is not None and c in table.codes and c in others.codes]


def _named_alike(table: Table, others: Table, named: Sequence[str]) -> Bools:
    """Which rows of others have a name that somebody of the table has."""
    inside = np.zeros(others.rows, dtype=np.bool_)
    for column in named:
        known = others.codes[column] < table.domains[column].known
        inside |= np.isin(others.codes[column], table.codes[column]) & known
    return inside


def twins(table: Table, outsiders: Table) -> int:
    """How many outsiders have the very values of somebody in the original, in all columns but identifiers."""
    unnamed = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.IGNORE)
    columns = [c for c in table.codes if c in outsiders.codes and table.schema.columns[c].role not in unnamed]
    return int(_alike(table, outsiders, columns).sum())


def _alike(table: Table, others: Table, columns: Sequence[str]) -> Bools:
    """Which rows of others have the very values of somebody of a table."""
    both = distinct_rows(np.concatenate([others.matrix(columns), table.matrix(columns)]))
    return np.isin(both[: others.rows], both[others.rows :])


def met_again(reference: Table, members: Table, outsiders: Table, published: Sequence[str]) -> Bools:
    """Which rows of a reference are those of people who are asked about: by a name that both tables have, else by all that is
    published, where more are alike than by chance. By chance as many are alike as are members and outsiders, of whom it is
    known that they are not the same people."""
    again = np.zeros(reference.rows, dtype=np.bool_)
    for table, strangers in ((members, outsiders), (outsiders, members)):
        named = _names(table, reference)
        if named:
            again |= _named_alike(table, reference, named)
            continue
        columns = [c for c in published if all(c in one.codes for one in (table, strangers, reference))]
        if not columns or not strangers.rows:
            continue
        found = _alike(table, reference, columns)
        expected = float(_alike(table, strangers, columns).mean()) * reference.rows
        beyond = expected + _DEVIATIONS * np.sqrt(expected * (1 + reference.rows / strangers.rows))
        again |= found if found.sum() > beyond else False
    return again


def _rows_with(table: Table, columns: Sequence[str], value: str) -> set[int]:
    """The rows that have a value in one of some columns."""
    found: set[int] = set()
    for name in columns:
        code = table.domains[name].code(value) if name in table.codes else None
        if code is not None:
            found.update(np.flatnonzero(table.codes[name] == code).tolist())
    return found


def _members(theirs: Codes, ours: Codes, first: Bools | None = None) -> Bools:
    """Which rows of `theirs` are in `ours`, as often as they occur there; where more are alike, those of `first`."""
    both = distinct_rows(np.concatenate([theirs, ours]))
    group, mine = both[: len(theirs)], both[len(theirs) :]
    wanted = np.bincount(mine, minlength=int(both.max(initial=0)) + 1)
    later = np.zeros(len(theirs), dtype=np.bool_) if first is None else ~first
    order = np.lexsort((later, group))
    begin = np.searchsorted(group[order], group[order])
    member = np.empty(len(theirs), dtype=np.bool_)
    member[order] = np.arange(len(theirs)) - begin < wanted[group[order]]
    return member


def find_targets(wanted: list[str], table: Table, outside: Table | None = None) -> tuple[int, ...]:
    """The rows (from 0) that `--targets` names: row numbers from 1, values of an identifier or of the column of
    persons, or COLUMN=VALUE. `outside` are people at large: an error says where somebody is one of them."""
    rows: list[int] = []
    for place, text in enumerate(wanted, 1):
        column, _, value = text.partition("=")
        said = f" Got {quote(text)}." if is_revealing() else ""
        if value and column in table.codes:
            columns = [column]
        elif text.isascii() and text.isdigit():
            if not 1 <= int(text) <= table.rows:
                raise UsageError(f"targets: number {place} in the list must be a row from 1 to {table.rows}.{said}")
            rows.append(int(text) - 1)
            continue
        else:
            named = (*table.schema.identifiers, *table.schema.names(Role.PERSON))
            columns, value = [c for c in named if c in table.codes], text
        found = _rows_with(table, columns, value)
        if not found and outside is not None and _rows_with(outside, columns, value):
            raise UsageError(
                f"targets: number {place} in the list is not in the original but in {outside.name}: an outsider, who is "
                f"part of the control. Name people of the original.{said}"
            )
        if not found:
            where = f"is not in {', '.join(columns)}" if columns else "cannot be found: the schema names no identifier"
            raise UsageError(f"targets: number {place} in the list {where}. Give row numbers, or COLUMN=VALUE.{said}")
        rows += sorted(found)
    return tuple(dict.fromkeys(rows))
