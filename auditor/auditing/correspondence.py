"""Correspondence: which row of the release is whose, and whether that can be true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auditor.files.releases import RawRelease, read_provenance
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.errors import ReleaseError, TableError, UsageError
from auditor.model.packing import distinct_rows
from auditor.model.provenance import Provenance
from auditor.model.release import CLUSTER_RADIUS, Release
from auditor.model.seeding import stage
from auditor.model.table import RawTable, Table

if TYPE_CHECKING:
    pass


BY_ROWS = "rows"


FEW_ROWS = 10


AT_RANDOM = 0.8
"""Where this share of the labels that rows matched at random would contradict is contradicted, the match is wrong."""


_SHUFFLES, _DEVIATIONS = 20, 4.0


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
    return bool(spread > 1e-9 * away.mean() and away[0] >= away[1:].mean() - _DEVIATIONS * spread)


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


def _members(theirs: Codes, ours: Codes, first: Bools | None = None) -> Bools:
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
