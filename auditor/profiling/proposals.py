"""Proposals: the data that a profile is made of, below those who write them."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.schema import Role, TableFormat, Type
from auditor.profiling.ranking import Ranking
from auditor.profiling.safe_harbour import Finding
from auditor.profiling.taxonomies import Shape


@dataclass(frozen=True, slots=True)
class Proposal:
    """One column as proposed. `seen` says what is in it, in numbers (a range only where the column points at nobody, is
    not sensitive, and its ends are not single people's); `candidate` is another role it may have, `doubt` the reason."""

    name: str
    role: Role
    type: Type
    reason: str
    type_reason: str
    seen: str
    candidate: Role | None = None
    doubt: str = ""
    order: tuple[str, ...] | None = None
    taxonomy: Shape | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Proposed:
    """Everything that is proposed of one table, for those who write it."""

    source: str
    rows: int
    format: TableFormat
    found: tuple[str, ...]
    columns: tuple[Proposal, ...]
    ranking: Ranking
    safe_harbour: tuple[Finding, ...]
    seed: int
