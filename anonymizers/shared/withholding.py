"""Suppressed cells: how a method that suppresses single values or whole rows writes them."""

from __future__ import annotations

from auditor.model.domain import Domain
from auditor.model.errors import PromiseError
from auditor.model.labels.labels import is_suppressed


def mark_of_suppressed(domain: Domain) -> str:
    """The text for a suppressed value of a column; an error where every such text is a value of the column."""
    for text in domain.format.suppressed:
        if is_suppressed(domain, text):
            return text
    raise PromiseError(
        f"column {domain.column.name!r}: there is no text for a suppressed value. List one under [table] suppressed that "
        "is no value of the column."
    )
