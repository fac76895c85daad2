"""What the suppressed cells of a release say about its columns.

Tools suppress cells of quasi-identifiers and of nothing else. So a column with suppressed cells was a quasi-identifier to the
tool that made the release, whatever its name. A column that never has one although several others have is proposed as
sensitive if it may well be that. If the others have theirs in the same rows, as ARX writes suppressed records, it was no
quasi-identifier to the tool, and a note says so.

ARX writes `*`. sdcMicro leaves the cell missing, which R writes as `NA` or as nothing. Such cells are taken for suppressed
where only quasi-identifiers have them and other columns are complete: values that people did not give are missing in incomes
and answers too. With the original at hand, they are suppressed where it lacks no value.

Groups in a release are explained by the hierarchy that the tool was given. Where such a file lies beside the release, it
becomes the taxonomy of its column.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from auditor.files.hierarchies import hierarchies
from auditor.model.schema import Marks, Role, TableFormat
from auditor.model.table import RawTable
from auditor.profiling.facts import Facts
from auditor.profiling.reading import WITHHELD, Unknown
from auditor.profiling.roles import Judgement

_OPEN = (Role.SENSITIVE, Role.NEUTRAL, Role.QUASI)


def suppressed_cells(raw: RawTable) -> dict[str, int]:
    """How many cells of each column are stars alone, where there are any."""
    counts = {name: sum(cell.strip() in WITHHELD for cell in cells) for name, cells in raw.columns.items()}
    return {name: count for name, count in counts.items() if count}


def judged_by_suppression(
    judged: Mapping[str, Judgement], hidden: Mapping[str, int]
) -> tuple[dict[str, Judgement], list[str]]:
    """The roles of a release's columns, given how many cells of each are suppressed; and what must be said about them."""
    found = dict(judged)
    for name, count in hidden.items():
        if judged[name].role in _OPEN:
            other = judged[name].role if judged[name].role is not Role.QUASI else judged[name].candidate
            reason = f"{count} cells are suppressed, which tools do to quasi-identifiers"
            found[name] = Judgement(Role.QUASI, reason, other, judged[name].reason if other else "")
    never = [name for name, one in judged.items() if name not in hidden and one.role is Role.QUASI]
    for name in never if len(hidden) > 1 else ():
        if judged[name].candidate is Role.SENSITIVE and judged[name].doubt:
            reason = "never suppressed, so no quasi-identifier to the tool that made the release"
            found[name] = Judgement(Role.SENSITIVE, reason, Role.QUASI, judged[name].reason)
    left = [name for name in never if found[name].role is Role.QUASI]
    notes, together = [], len(hidden) > 1 and len(set(hidden.values())) == 1
    if left and together:
        notes.append(
            f"{', '.join(hidden)} are suppressed in the same rows, {', '.join(left)} never: the tool that made the release "
            "did not treat the latter as quasi-identifiers. Others may know them, so they are proposed as such; to count as "
            'the tool does, give them role = "neutral"'
        )
    return found, notes


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


def with_suppressed(form: TableFormat, raw: RawTable, columns: Sequence[str]) -> TableFormat:
    """The form in which the missing cells of some columns are suppressed ones."""
    own = dict(form.own)
    for name in columns:
        missing = form.of(name).missing
        used = {cell.strip() for cell in raw.columns[name]}
        marks = tuple(mark for mark in missing if mark in used)
        own[name] = Marks((), (*marks, *(mark for mark in form.of(name).suppressed if mark not in marks)))
    return replace(form, own=own)
