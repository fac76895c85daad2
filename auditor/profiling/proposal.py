"""The profile of a table: role, type and taxonomy of each column with reasons, the ranking, and the safe harbour.

`profile` reads a file or frame and puts the parts together. Its schema always works: written out and read again, it accepts
the table that it was made for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.model.discretion import printable_json
from auditor.model.errors import UsageError
from auditor.model.schema import WHOSE, Role, TableFormat, Type
from auditor.model.seeding import DEFAULT_SEED
from auditor.model.values import format_number, parse_number
from auditor.profiling.facts import Facts, column_facts
from auditor.profiling.proposals import Proposal, Proposed
from auditor.profiling.ranking import rank
from auditor.profiling.reading import WITHHELD, read_unknown
from auditor.profiling.released import (
    NOBODYS,
    corresponds,
    hierarchies_beside,
    judged_by_suppression,
    suppressed_blanks,
    suppressed_cells,
    with_suppressed,
)
from auditor.profiling.roles import Judgement, column_type, holds_ranges, judge_all
from auditor.profiling.safe_harbour import safe_harbour
from auditor.profiling.signs import Looks, look
from auditor.profiling.taxonomies import Shape, reads_back, shape
from auditor.profiling.tool_roles import read_tool_roles
from auditor.profiling.words import Concept, meaning
from auditor.profiling.writing import schema_text

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "auditor-profile/1"
FEW = 10  # a value in fewer rows is somebody's and is not shown, even as the end of a range


class Taxonomies(StrEnum):
    """Which taxonomies are proposed: none; those of text quasi-identifiers (numbers need none: their intervals are found as
    needed); or all, including those of numbers and of sensitive columns, whose values they list."""

    NONE = "none"
    TEXTS = "texts"
    ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Profile(Proposed):
    """The proposed schema of a table, and why."""

    def __getitem__(self, name: str) -> Proposal:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns with this role."""
        return tuple(column.name for column in self.columns if column.role is role)

    def to_toml(self) -> str:
        """The schema as commented TOML, with all taxonomies inside."""
        return schema_text(self)

    def discreet(self) -> Profile:
        """The profile without orders and taxonomies that list a value which few rows have."""
        return replace(self, columns=tuple(column.discreet() for column in self.columns))

    def to_frame(self) -> pd.DataFrame:
        """One row per column: role, type, reasons."""
        import pandas as pd

        rows = [
            (c.name, str(c.role), str(c.type), c.reason, c.seen, c.candidate and str(c.candidate), c.doubt)
            for c in self.columns
        ]
        return pd.DataFrame(rows, columns=["column", "role", "type", "reason", "seen", "candidate", "doubt"])

    def to_json(self) -> str:
        """The profile as JSON. Of taxonomies it has only the names of the levels."""
        plain = ("name", "role", "type", "reason", "type_reason", "seen", "candidate")
        columns = [
            {name: getattr(c, name) for name in plain}
            | {"doubt": c.doubt or None, "taxonomy": None if c.taxonomy is None else c.taxonomy.words}
            for c in self.columns
        ]
        data: dict[str, Any] = {
            "format": FORMAT,
            "source": self.source,
            "rows": self.rows,
            "seed": self.seed,
            "found": self.found,
            "columns": columns,
            "ranking": asdict(self.ranking),
            "safe_harbour": [
                {"letter": f.letter, "item": f.item, "found": [{"column": c, "reason": r} for c, r in f.found]}
                for f in self.safe_harbour
            ],
        }
        return printable_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"

    def __repr__(self) -> str:
        counts = {role: len(self.names(role)) for role in Role}
        said = ", ".join(f"{count} {role}" for role, count in counts.items() if count)
        return f"<Profile of {self.source}: {self.rows} rows, {said}>"

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(index=False)


def profile(
    source: str | Path | pd.DataFrame,
    taxonomies: Taxonomies | str = Taxonomies.TEXTS,
    seed: int = DEFAULT_SEED,
    release: bool = False,
    roles_from: str | Path | None = None,
    original: str | Path | pd.DataFrame | None = None,
) -> Profile:
    """The proposed schema of an unknown table (a file or frame), with reasons. `release` says that the table is a release to
    be audited: what looks suppressed is suppressed, and ranges of numbers are labels of numbers. `roles_from` is a file that
    says which roles another tool was given (`tool_roles.py`); `original` is what a release was made from, which tells
    suppressed cells from missing ones."""
    if taxonomies not in list(Taxonomies):
        raise UsageError(f"taxonomies must be one of {', '.join(Taxonomies)}. Got {taxonomies!r}.")
    if original is not None and not release:
        raise UsageError("An original goes with a release: say that the table is one (--release).")
    unknown = read_unknown(source, release=release)
    before = None if original is None else read_unknown(original, "original")
    raw, form = unknown.raw, unknown.format
    facts = {name: column_facts(name, cells, form.of(name), seed) for name, cells in raw.columns.items()}
    height = any(Concept.BODY in meaning(name).concepts for name in facts)
    looks = [look(one, height) for one in facts.values()]
    judged = judge_all(looks, raw.rows)
    stated, notes = unknown.stated, list(unknown.found)
    hidden = suppressed_cells(raw) if release else {}
    told = None if roles_from is None else read_tool_roles(Path(roles_from), tuple(facts))
    judged, said = judged_by_suppression(judged, hidden) if told is None else told.applied(judged)
    notes += said
    blanks = suppressed_blanks(judged, list(facts.values()), before) if release and not hidden else ()
    if blanks:
        stated = with_suppressed(stated, raw, blanks)
        known = "none of the original" if before is not None else "none of other columns"
        notes.append(
            f"cells of {', '.join(blanks)} are missing, and {known}: they are read as suppressed. If people did not give "
            "these values, remove the columns' own missing and suppressed"
        )
    if before is not None and not corresponds(raw, before.raw):
        notes.append(NOBODYS)
    columns = tuple(
        _proposal(one, judged[one.facts.name], form.of(one.facts.name), Taxonomies(taxonomies), release)
        for one in looks
    )
    trees = hierarchies_beside(source, judged, list(facts.values())) if release else {}
    if told is not None:
        trees |= {name: (told.source, paths) for name, paths in told.hierarchies.items()}
    columns = tuple(_with_hierarchy(c, *trees[c.name], stated) if c.name in trees else c for c in columns)
    if release:
        marks = {name: stated.of(name).suppressed if name in blanks else WITHHELD for name in facts}
        columns = tuple(
            replace(c, seen=_withheld(c.seen, facts[c.name], raw.columns[c.name], marks[c.name])) for c in columns
        )
    quasi = [facts[column.name] for column in columns if column.role is Role.QUASI]
    ranking = rank(quasi, list(facts.values()), raw.rows, seed)
    harbour = safe_harbour(looks, judged)
    return Profile(raw.name, raw.rows, stated, tuple(notes), columns, ranking, harbour, seed)


def _proposal(looks: Looks, judgement: Judgement, form: TableFormat, taxonomies: Taxonomies, release: bool) -> Proposal:
    facts, role = looks.facts, judgement.role
    kind, why = column_type(looks)
    order, tree, hint = None, None, ""
    ranges = role not in (Role.IDENTIFIER, *WHOSE) and holds_ranges(looks, form.decimal)
    if ranges and release:
        kind, why = Type.NUMERIC, "ranges of numbers"
    if role in (Role.IDENTIFIER, *WHOSE):
        kind, why = Type.NOMINAL, "identifiers are not compared"
    elif role is Role.WEIGHT:
        kind = Type.NUMERIC
    elif kind is Type.ORDINAL and role is Role.QUASI:
        order = looks.order
    elif kind is Type.ORDINAL:
        kind, hint = Type.NOMINAL, 'It looks ordered: give type = "ordinal" and order = [lowest, …, highest] if it is.'
    if ranges and release:
        hint = "Give domain = [least, greatest] if values outside the ranges are possible."
    elif taxonomies is Taxonomies.ALL and role in (Role.QUASI, Role.SENSITIVE):
        tree = shape(looks, kind, form)
    elif role is Role.QUASI and kind is Type.NUMERIC:
        hint = "Intervals are found as needed; for a taxonomy of fixed bands: --taxonomies all."
    elif role is Role.QUASI:
        possible = shape(looks, kind, form)
        if taxonomies is Taxonomies.TEXTS:
            tree = possible
        elif possible is not None:
            hint = f"A taxonomy by {possible.words} is possible: --taxonomies texts."
    elif role is Role.SENSITIVE and looks.codes is not None:
        hint = "A taxonomy of its codes is possible, but would list them: --taxonomies all."
    if ranges and not release:
        hint = f"{hint} It holds ranges of numbers: if the table is a release to be audited, use --release.".strip()
    return Proposal(
        facts.name, role, kind, judgement.reason, why, _seen(facts, role, kind, form), judgement.candidate, judgement.doubt,
        order, tree, hint, bool((facts.counts < FEW).any()),
    )  # fmt: skip


def _with_hierarchy(column: Proposal, source: str, paths: Sequence[tuple[str, ...]], form: TableFormat) -> Proposal:
    """A proposal with the hierarchy that another tool used, where that can be read as a taxonomy."""
    if column.role not in (Role.QUASI, Role.SENSITIVE):
        return column
    found = Shape(f"the hierarchy in {source}", tuple(paths))
    numeric = all(parse_number(path[0], form.decimal) is not None for path in paths)
    for kind in (Type.NUMERIC, Type.NOMINAL) if numeric else (Type.NOMINAL,):
        if reads_back(found, kind, form.of(column.name)):
            return replace(column, type=kind, order=None, taxonomy=found, hint="")
    return column


def _seen(facts: Facts, role: Role, kind: Type, form: TableFormat) -> str:
    """What is in a column, in numbers. Its range only if that is no person's secret: the least and the greatest value must
    each belong to several people."""
    values = f"{facts.distinct} value{'' if facts.distinct == 1 else 's'}"
    if role in (Role.QUASI, Role.NEUTRAL) and kind is Type.NUMERIC and facts.numbers is not None and facts.distinct > 1:
        ends = [int(facts.numbers.argmin()), int(facts.numbers.argmax())]
        if facts.counts[ends].min() >= FEW:
            values += " from {} to {}".format(*(format_number(float(facts.numbers[i]), form.decimal) for i in ends))
    return values + (f", {facts.missing} missing" if facts.missing else "")


def _withheld(seen: str, facts: Facts, cells: Sequence[str], marks: Sequence[str]) -> str:
    """What is in a column of a release, where suppressed cells are not missing."""
    withheld = sum(cell.strip() in marks for cell in cells)
    if not withheld:
        return seen
    missing = facts.missing - withheld
    before = seen.removesuffix(f", {facts.missing} missing")
    return f"{before}{f', {missing} missing' if missing else ''}, {withheld} suppressed"
