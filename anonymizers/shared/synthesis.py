"""Synthesizers: methods that learn a model of the rows and publish rows drawn from it.

No row of the release is a person's. All columns that may be published are drawn, those with missing values as well: a
missing value is a value of its own. There are as many rows as the table has, unless `rows` says otherwise.

What is drawn depends on the counts of values in the table, never on the order of its rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, at_least, published_columns, read_labels
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish_synthetic
from auditor.model.release import Release
from auditor.model.table import Table
from auditor.model.values import format_number

Drawn = Mapping[str, "Codes | Floats"]
"""By column, the drawn values: codes of the domain, or numbers (NaN is missing), which may be none of its values."""


@dataclass(frozen=True)
class Synthesizer(Anonymizer):
    """A technique whose rows are nobody. Without a budget it promises nothing: a model may have learned people by heart."""

    truthful: ClassVar[bool] = False
    synthetic: ClassVar[bool] = True
    needs_whole: ClassVar[str | None] = "it learns one model of all rows"

    rows: int | None = None

    def __post_init__(self) -> None:
        at_least("rows", self.rows, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        """The drawn values of these columns, and what is promised of them about this table."""

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        columns = published_columns(table)
        if not columns:
            raise PromiseError(f"{self.name}: the table has no column that may be published.")
        drawn, promises = self.synthesize(table, columns, rng, progress)
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        for column in columns:
            labels[column], cells[column] = _labelled(table.domains[column], drawn[column])
        made_from = np.ones(table.rows, dtype=np.bool_)
        said = self.title, self.name, self.settings(), promises
        return publish_synthetic(table.schema, labels, cells, made_from, rng, *said)


def _labelled(domain: Domain, drawn: Codes | Floats) -> tuple[Labels, Codes]:
    """Drawn values as labels."""
    if drawn.dtype.kind != "f":
        return Labels.exact(domain), drawn.astype(np.int32)
    values, place = np.unique(drawn, return_inverse=True)
    missing = domain.format.missing[0]
    texts = [missing if np.isnan(v) else format_number(v, domain.format.decimal) for v in values.tolist()]
    labels, number = read_labels(domain, texts)
    return labels, number[place.reshape(-1)]


def drawn_from(counts: Ints | Floats, size: int, rng: np.random.Generator) -> Ints:
    """Places drawn in proportion to their counts."""
    running = np.cumsum(counts)
    return np.asarray(np.searchsorted(running, rng.random(size) * running[-1], side="right"), dtype=np.int64)


def drawn_alike(group: Ints, codes: Codes, wanted: Ints, rng: np.random.Generator) -> Codes:
    """For each wanted group the code of one of its members, each equally likely. Every wanted group must have members."""
    order = np.lexsort((codes, group))
    start = np.searchsorted(group[order], wanted, side="left")
    end = np.searchsorted(group[order], wanted, side="right")
    place = start + (rng.random(len(wanted)) * (end - start)).astype(np.int64)
    return codes[order][np.minimum(place, end - 1)]


def quantile_bins(domain: Domain, codes: Codes, bins: int) -> Ints:
    """The bin of each code of a domain. The numbers of a column with more than `bins` values are cut at quantiles of its
    rows; other values, and what is missing, have a bin each."""
    size = domain.size
    if domain.numbers is None or domain.known <= bins:
        return np.arange(size, dtype=np.int64)
    counts = np.bincount(codes, minlength=size)[: domain.known]
    reached = (np.cumsum(counts) - counts) * bins // max(int(counts.sum()), 1)
    of_known = np.unique(np.minimum(reached, bins - 1), return_inverse=True)[1].reshape(-1)
    missing = [int(of_known.max()) + 1] * (size - domain.known)
    return np.concatenate([of_known, np.array(missing, dtype=np.int64)]).astype(np.int64)
