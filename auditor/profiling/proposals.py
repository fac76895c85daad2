"""Proposals: the data that a profile is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    rare: bool = False  # whether it has a value that few rows have, which its order or taxonomy would list

    def discreet(self) -> Proposal:
        """The proposal without an order or taxonomy that lists a value which few rows have."""
        if not self.rare or (self.order is None and self.taxonomy is None):
            return self
        what = "An order" if self.taxonomy is None else f"A taxonomy by {self.taxonomy.words}"
        hint = f"{what} is possible, but lists values that few rows have: --output writes it, --reveal prints it."
        kind = self.type if self.order is None else Type.NOMINAL
        return replace(self, type=kind, order=None, taxonomy=None, hint=f"{hint} {self.hint}".strip())


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
