"""What the suppressed cells of a release say about its columns.

Tools suppress cells of quasi-identifiers and of nothing else. So a column with suppressed cells was a quasi-identifier to the
tool that made the release, whatever its name. A column that never has one although several others have is proposed as
sensitive if it may well be that and enough rows have suppressed cells: 20 where the others have theirs in the same rows, as
ARX writes suppressed records; else 20 or 1 % of the rows, whichever is more, since a tool that suppresses single cells may
spare a quasi-identifier by chance. If the others have theirs in the same rows, it was no quasi-identifier to the tool, and a
note says so.

ARX writes `*`. sdcMicro leaves the cell missing, which R writes as `NA` or as nothing. Such cells are taken for suppressed
where only quasi-identifiers have them and other columns are complete: values that people did not give are missing in incomes
and answers too. With the original at hand, they are suppressed where it lacks no value.

With the original at hand it also shows whether rows correspond at all. Where the release has values of the original, as they
are, and its rows agree with those at the same place no better than with any others, its rows are probably nobody's.

Groups in a release are explained by the hierarchy that the tool was given. Where such a file lies beside the release, it
becomes the taxonomy of its column.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from auditor.files.hierarchies import hierarchies
from auditor.model.arrays import Bools
from auditor.model.schema import Marks, Role, TableFormat
from auditor.model.table import RawTable
from auditor.model.values import parse_number
from auditor.profiling.facts import Facts
from auditor.profiling.reading import WITHHELD, Unknown
from auditor.profiling.roles import Judgement

_OPEN = (Role.SENSITIVE, Role.NEUTRAL, Role.QUASI)
_ENOUGH_ROWS = 20
_ENOUGH_SHARE = 0.01
_SHARED_IDS = 0.5
_PLAIN = 0.95
_CLEARLY = 0.05
NOBODYS = (
    "no row of the release corresponds to a row of the original, by place or by an id: its rows seem to be nobody's, "
    "as those of synthetic data are. Audit it with --original and --no-match, and give people who are not in it: "
    "--holdout or --population"
)
"""What is said of a release whose rows correspond to none of the original's."""


def suppressed_cells(raw: RawTable) -> dict[str, Bools]:
    """In which rows the cell of a column is stars alone, for columns that have any."""
    stars = {
        name: np.fromiter((cell.strip() in WITHHELD for cell in cells), dtype=np.bool_, count=len(cells))
        for name, cells in raw.columns.items()
    }
    return {name: rows for name, rows in stars.items() if rows.any()}


def judged_by_suppression(
    judged: Mapping[str, Judgement], hidden: Mapping[str, Bools]
) -> tuple[dict[str, Judgement], list[str]]:
    """The roles of a release's columns, given in which rows each is suppressed; and what must be said about them."""
    found = dict(judged)
    for name, rows in hidden.items():
        if judged[name].role in _OPEN:
            other = judged[name].role if judged[name].role is not Role.QUASI else judged[name].candidate
            reason = f"{int(rows.sum())} cells are suppressed, which tools do to quasi-identifiers"
            found[name] = Judgement(Role.QUASI, reason, other, judged[name].reason if other else "")
    never = [name for name, one in judged.items() if name not in hidden and one.role is Role.QUASI]
    stars = np.array(list(hidden.values()))
    together = len(hidden) > 1 and bool((stars == stars[0]).all())
    for name in never if len(hidden) > 1 and _enough(stars, together) else ():
        if judged[name].candidate is Role.SENSITIVE and judged[name].doubt:
            reason = "never suppressed, so no quasi-identifier to the tool that made the release"
            found[name] = Judgement(Role.SENSITIVE, reason, Role.QUASI, judged[name].reason)
    left = [name for name in never if found[name].role is Role.QUASI]
    notes = []
    if left and together:
        notes.append(
            f"{', '.join(hidden)} are suppressed in the same rows, {', '.join(left)} never: the tool that made the release "
            "did not treat the latter as quasi-identifiers. Others may know them, so they are proposed as such; to count as "
            'the tool does, give them role = "neutral"'
        )
    return found, notes


def _enough(stars: Bools, together: bool) -> bool:
    """Whether so many rows have suppressed cells that a column without one was hardly spared by chance."""
    least = _ENOUGH_ROWS if together else max(_ENOUGH_ROWS, _ENOUGH_SHARE * stars.shape[1])
    return int(stars.any(axis=0).sum()) >= least


def suppressed_blanks(
    judged: Mapping[str, Judgement], facts: Sequence[Facts], original: Unknown | None = None
) -> tuple[str, ...]:
    """The columns of a release in which missing cells are suppressed ones; none where that is not clear. With the original
    it is: where no value is missing there."""
    lacking = {one.name for one in facts if one.missing and one.distinct}
    if original is not None:
        complete = {
            name
            for name, cells in original.raw.columns.items()
            if not {cell.strip() for cell in cells} & set(original.format.of(name).missing)
        }
        return tuple(one.name for one in facts if one.name in lacking & complete)
    others = [one.name for one in facts if judged[one.name].role in (Role.SENSITIVE, Role.NEUTRAL, Role.WEIGHT)]
    quasi = {name for name, one in judged.items() if one.role is Role.QUASI}
    return tuple(one.name for one in facts if one.name in lacking) if others and lacking <= quasi else ()


def hierarchies_beside(
    source: object, judged: Mapping[str, Judgement], facts: Sequence[Facts]
) -> dict[str, tuple[str, tuple[tuple[str, ...], ...]]]:
    """By column of texts, the hierarchy file beside a release that explains its groups: its name, and its paths. A file does
    that if it holds all that the column holds, groups among it."""
    if not isinstance(source, str | Path):
        return {}
    folder, found = Path(source).parent, {}
    wanted = [one for one in facts if one.numbers is None and judged[one.name].role in (Role.QUASI, Role.SENSITIVE)]
    for file, tree in hierarchies(folder):
        leaves, labels = set(tree.leaves), set(tree.labels)
        for one in wanted:
            values = set(one.values)
            if one.name not in found and values <= labels and not values <= leaves:
                paths = tuple(tuple(tree.labels[node] for node in tree.path[::-1, leaf]) for leaf in range(len(leaves)))
                found[one.name] = Path(os.path.relpath(file, folder)).as_posix(), paths
    return found


def corresponds(release: RawTable, original: RawTable) -> bool:
    """Whether rows of a release belong to rows of the original, as far as cells show it: False where its cells are
    mostly plain values of the original, no column of distinct values is shared, and rows agree with those at the same
    place no better than with others."""
    shared = [c for c in release.columns if c in original.columns]
    cells = {c: ([t.strip() for t in release.columns[c]], [t.strip() for t in original.columns[c]]) for c in shared}
    if not shared or not release.rows or not original.rows:
        return True
    for ours, theirs in cells.values():
        one_each = len(set(ours)) == len(ours) and len(set(theirs)) == len(theirs)
        if one_each and len(set(ours) & set(theirs)) > _SHARED_IDS * min(len(ours), len(theirs)):
            return True  # an id, by which rows can be matched
    texts = [c for c in shared if set(cells[c][1]) and len(set(cells[c][1])) < len(cells[c][1]) / 2]
    plain = [_plain(cells[c][0], set(cells[c][1])) for c in texts]
    if not plain or min(plain) < _PLAIN:
        return True  # coarser labels: rows belong to people
    if release.rows != original.rows:
        return False
    ways = [_agreeing([cells[c] for c in shared], shift) for shift in (0, 1, 2, 3)]
    return ways[0] > max(ways[1:]) + _CLEARLY


def _plain(cells: Sequence[str], known: set[str]) -> float:
    """The share of cells that are values: of the original, or numbers."""
    return sum(cell in known or parse_number(cell, ".") is not None for cell in cells) / len(cells)


def _agreeing(columns: Sequence[tuple[Sequence[str], Sequence[str]]], shift: int) -> float:
    """The share of cells that agree with those of the row so many places further."""
    hits = [
        sum(a == b for a, b in zip(ours, [*theirs[shift:], *theirs[:shift]], strict=True)) for ours, theirs in columns
    ]
    return sum(hits) / sum(len(ours) for ours, _ in columns)


def with_suppressed(form: TableFormat, raw: RawTable, columns: Sequence[str]) -> TableFormat:
    """The form in which the missing cells of some columns are suppressed ones."""
    own = dict(form.own)
    for name in columns:
        missing = form.of(name).missing
        used = {cell.strip() for cell in raw.columns[name]}
        marks = tuple(mark for mark in missing if mark in used)
        own[name] = Marks((), (*marks, *(mark for mark in form.of(name).suppressed if mark not in marks)))
    return replace(form, own=own)
