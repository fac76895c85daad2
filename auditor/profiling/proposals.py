"""Proposals: the data that a profile is made of."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.schema import Role, TableFormat, Type
from auditor.profiling.ranking import Ranking
from auditor.profiling.safe_harbour import Finding
from auditor.profiling.taxonomies import Shape


@dataclass(frozen=True, slots=True)
class Proposal:
    """One column as proposed."""

    name: str
    role: Role
    type: Type
    reason: str
    type_reason: str
    seen: str  # what is in it, in numbers; its range only if that is no person's secret
    candidate: Role | None = None  # another role it may have
    doubt: str = ""  # the reason for the candidate
    order: tuple[str, ...] | None = None
    taxonomy: Shape | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Proposed:
    """Everything proposed for one table."""

    source: str
    rows: int
    format: TableFormat
    found: tuple[str, ...]
    columns: tuple[Proposal, ...]
    ranking: Ranking
    safe_harbour: tuple[Finding, ...]
    seed: int
