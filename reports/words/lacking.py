"""What the audit was not given: the line that says so, and the list of what each thing would show.

Where there was no original, everything in the report is of the release alone; the heading of its findings says so, and what
the release alone cannot show has a section of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.record.record import FACTS, MECHANISM, ORIGINAL, POPULATION, AuditRecord
from reports.text import clean, number

_NAMES = {
    ORIGINAL: "With the original",
    POPULATION: "With a population",
    MECHANISM: "With how the release was made",
    FACTS: "With further facts",
}
ALONE = "What the release alone shows"
NOT_ALONE = "What the release alone cannot show"
MORE = "What more would show"
_BASIS = (
    "From the release alone: the figures hold if the class of each person were known, and what is published counts as the "
    "truth. "
    f"What needs more is listed under “{NOT_ALONE}”."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something that was not given: its name, what it would show, and how to give it."""

    name: str
    figures: tuple[str, ...]
    give: str


def alone(record: AuditRecord) -> bool:
    """Whether the record is of a release without its original."""
    return any(lack.what == ORIGINAL for lack in record.lacking)


def basis(record: AuditRecord) -> str:
    """What the figures rest on, where that is the release alone, or a sample of its people."""
    parts = [_BASIS] if alone(record) else []
    if record.sample is not None and record.sample.attacked < record.sample.people:
        some, people = number(record.sample.attacked), number(record.sample.people)
        parts.append(
            f"The attacks are on a sample of {some} of the {people} people that count; class statistics cover all of them."
        )
    return " ".join(parts)


def title(record: AuditRecord) -> str:
    """The heading of what was not given."""
    return NOT_ALONE if alone(record) else MORE


def wanted(record: AuditRecord) -> list[Wanted]:
    """What was not given, and what it would show."""
    return [
        Wanted(
            _NAMES.get(lack.what, clean(lack.what, 40)),
            tuple(clean(f, 400) for f in lack.figures),
            clean(lack.give, 400),
        )
        for lack in record.lacking
    ]
