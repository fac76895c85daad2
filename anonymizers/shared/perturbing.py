"""Perturbation: published values are not the true ones, and how they were drawn is published with them.

A method says which types of column it takes, and changes the quasi-identifiers of these types, or the `columns` that are
named. Everything else is published as it is. Missing values stay missing. Numbers are published as numbers, and other
values within their domain, so that the release reads with the schema of the table.

Where several rows are one person's (role `person`), a value that a person has in several rows is drawn once: the mean over
many draws would give it away.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonymizers.base import Anonymizer, published_columns, quasi_columns, read_labels
from anonymizers.shared.aggregation import number_text
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.mechanism import Change, Correlated, PublishedMechanism
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.model.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    """What becomes of the columns: new codes of the domain, or new numbers (of rows whose value is missing, anything). And
    how each was changed, by name; a column that is not named stays as it is."""

    changes: Mapping[str, Change]
    codes: Mapping[str, Codes] | None = None
    numbers: Mapping[str, Floats] | None = None
    correlated: Correlated | None = None


@dataclass(frozen=True)
class Perturbing(Anonymizer):
    """A technique that draws new values for some columns. `takes` are the types of column that it can change."""

    truthful: ClassVar[bool] = False
    needs_whole: ClassVar[str | None] = "it forms no groups, and takes hardly any time"
    takes: ClassVar[tuple[Type, ...]]

    columns: tuple[str, ...] = ()

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        """The new values of some columns."""

    def chosen(self, table: Table) -> tuple[str, ...]:
        """The columns to change: those named, or the quasi-identifiers of a type that the method takes."""
        types = " or ".join(self.takes)
        if not self.columns:
            found = tuple(c for c in quasi_columns(table) if table.schema.columns[c].type in self.takes)
            if not found:
                raise PromiseError(
                    f"{self.name}: the table must have a quasi-identifier that is {types}. Name columns."
                )
            return found
        self.need_published(table, "columns", self.columns)
        for column in self.columns:
            kind = table.schema.columns[column].type
            if kind not in self.takes:
                raise UsageError(f"{self.name}: columns must name columns that are {types}. {column!r} is {kind}.")
        return self.columns

    def need_published(self, table: Table, setting: str, names: tuple[str, ...]) -> None:
        """An error where a setting names a column that is not published, or one twice."""
        known = published_columns(table)
        for name in names:
            if name not in known:
                raise UsageError(
                    f"{self.name}: {setting} must name published columns. Got {name!r}; there are: {', '.join(known)}."
                )
        if len(set(names)) < len(names):
            raise UsageError(f"{self.name}: {setting} must name each column once.")

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        made = self.perturb(table, self.chosen(table), rng)
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        for column, codes in (made.codes or {}).items():
            labels[column], cells[column] = Labels.exact(table.domains[column]), codes.astype(np.int32)
        for column, numbers in (made.numbers or {}).items():
            domain = table.domains[column]
            labels[column], cells[column] = _written(domain, numbers, present(domain, table.codes[column]))
        release, provenance = self.publish(table, labels, cells, [published_columns(table)], None, rng)
        if not made.changes:  # nothing could be changed, as where all values are the same
            return release, provenance
        mechanism = PublishedMechanism(made.changes, made.correlated, {"method": self.name})
        return replace(release, mechanism=mechanism), provenance


def present(domain: Domain, codes: Codes) -> Bools:
    """Which codes are values, and not the missing one."""
    return np.asarray(codes < domain.known)


def numbers_of(table: Table, column: str) -> Floats:
    """The numbers of a column; NaN where they are missing."""
    domain = table.domains[column]
    assert domain.numbers is not None
    return np.append(domain.numbers, np.nan)[np.minimum(table.codes[column], len(domain.numbers))]


def drawn_once(table: Table, column: str) -> tuple[Ints, Ints]:
    """The rows to draw for, and which of these draws each row takes: one for each value of a person."""
    person = table.schema.person
    if person is None or person not in table.codes:
        return np.arange(table.rows), np.arange(table.rows)
    pairs = table.codes[person].astype(np.int64) * table.domains[column].size + table.codes[column]
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _written(domain: Domain, numbers: Floats, there: Bools) -> tuple[Labels, Codes]:
    """Numbers as labels and cells; where they are not there, the missing value."""
    distinct, which = np.unique(np.where(there, numbers, np.inf), return_inverse=True)
    texts = [domain.texts[-1] if np.isinf(one) else number_text(domain, one) for one in distinct.tolist()]
    labels, number = read_labels(domain, texts)
    return labels, number[which.reshape(-1)]
