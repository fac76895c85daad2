"""Identity: removes the identifying columns, and does nothing else.

Every comparison starts from it. It is Table I of the paper: an adversary who knows the quasi-identifiers of a person finds
the record by linking.

Paper: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, published_columns
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Identity(Anonymizer):
    """Publishes the table without its identifiers."""

    name: ClassVar[str] = "identity"
    summary: ClassVar[str] = "Removes identifying columns and nothing else: the starting point of every comparison."
    paper: ClassVar[str] = "Poovammal & Ponnaivaikko 2009, Table I"
    needs_whole: ClassVar[str | None] = "it forms no groups, and takes hardly any time"

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return ()

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        return self.publish(table, {}, {}, [published_columns(table)], None, rng)
