"""One record with its places: what the parts of a pack read, and how they say where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from auditor.model.record.record import OK, AuditRecord, Risk
from reports.evidence.references import Reference, reference_to
from reports.reading import Meanings, figures
from reports.text import finite


class Evidence:
    """One record, and references to its places."""

    def __init__(self, record: AuditRecord) -> None:
        self.record, self.meanings = record, Meanings(record)
        self.rows = figures(record)
        known = [i for i, r in enumerate(record.risks) if r.status == OK and finite(r.value) is not None]
        self._places = {id(row): place for row, place in zip(self.rows, known, strict=True)}

    def release(self, *keys: str) -> Reference:
        """The reference to keys of the release's facts."""
        return Reference("release", None, keys)

    def risk(self, row: Risk) -> Reference:
        """The reference to one of `rows`."""
        place = self._places[id(row)]
        return reference_to("risk", place, self.record.risks[place])

    def every(self, word: str, entries: Sequence[Any]) -> Iterator[tuple[Reference, Any]]:
        """The entries of a list of the record, each with its reference."""
        return ((reference_to(word, place, entry), entry) for place, entry in enumerate(entries))
