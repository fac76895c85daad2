"""Local suppression: single cells are suppressed until everybody has company; all others are published as they are.

Statistical offices protect microdata so: a rare combination of values loses the value that makes it rare. As few cells
as possible are suppressed, counted by `weights`, which say how much a cell of a column counts, such as [["age", 2]]:
those of important columns are spared (`anonymizers/shared/withholding.py`). Finding the fewest is hard, so this is a
heuristic: greedy, then improved row by row.

Promised is that at least k people agree with everybody, with `l` at least l different sensitive values among them (of
the column `sensitive`, default the first of the schema). By default a suppressed cell agrees with any value (`matching
= "wildcard"`), as sdcMicro counts. That protects less than it seems: a few rows that lost much lend their company to
rows that are published in full, and whoever knows a person finds the row that has all of their values. An audit says
so. With `matching = "own"` a suppressed cell is a value of its own: k people have the same labels in everything, and
many more cells are suppressed.

A row may lose all its quasi-identifiers. Nobody agrees with such a row, and audits leave it out of the classes.

Papers: L. Willenborg, T. de Waal, "Elements of Statistical Disclosure Control", 2001; M. Templ, A. Kowarik, B. Meindl,
"Statistical Disclosure Control for Micro-Data Using the R Package sdcMicro", Journal of Statistical Software 67(4),
2015.
Decided here: people with the same quasi-identifiers lose the same cells. Time grows with the square of the number of
different combinations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from anonymizers.base import (
    Anonymizer,
    at_least,
    column_weights,
    need_quasi,
    need_rows,
    published_columns,
    read_labels,
    sensitive_column,
)
from anonymizers.shared.people import People
from anonymizers.shared.withholding import MOST_COLUMNS, Company, Kinds, agreeing, alike, mark_of_suppressed
from auditor.model.arrays import Bools, Codes
from auditor.model.errors import PromiseError
from auditor.model.labels.labels import Labels
from auditor.model.packing import mark_of
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table


class Matching(StrEnum):
    """What a suppressed cell agrees with."""

    WILDCARD = "wildcard"
    OWN = "own"


@dataclass(frozen=True)
class Suppression(Anonymizer):
    """Suppresses single cells until everybody has company."""

    name: ClassVar[str] = "suppression"
    summary: ClassVar[str] = "Suppresses single cells, as few as it can, until k people agree with everybody."
    paper: ClassVar[str] = "Willenborg & de Waal 2001; Templ, Kowarik & Meindl 2015"
    needs_whole: ClassVar[str | None] = "who agrees with whom depends on all rows"

    k: int = 5
    l: int | None = None
    sensitive: str | None = None
    matching: Matching = Matching.WILDCARD
    weights: tuple[tuple[str | float, ...], ...] = ()

    def __post_init__(self) -> None:
        at_least("suppression: k", self.k, 1)
        at_least("suppression: l", self.l, 1)
        column_weights(self.weights, self.name)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        how = "" if self.matching is Matching.OWN else ", suppressed cells fitting any value"
        said = [f"k = {self.k}{how}"]
        if self.l is not None:
            about = f" ({sensitive or self.sensitive})" if sensitive or self.sensitive else ""
            said.append(f"l = {self.l} distinct{about}{how}")
        return tuple(said)

    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        people = People(table)
        people.need_alike(self.name, "rows of one person must get the same labels")
        hidden = self.suppressed(people.table, progress)
        labels: dict[str, Labels] = {}
        cells: dict[str, Codes] = {}
        for column, gone in hidden.items():
            labels[column], cells[column] = _published(table, column, gone[people.number])
        about = None if self.l is None else sensitive_column(table, self.sensitive, self.name)
        made = self.publish(table, labels, cells, [published_columns(table)], None, rng, about)
        if self.matching is Matching.OWN:
            people.check(*made, self.name)
        return made

    def suppressed(self, table: Table, progress: Progress = silent) -> dict[str, Bools]:
        """By column, the rows whose cells are suppressed, in a table with one row for each person."""
        quasi = need_quasi(table, self.name)
        need_rows(table, self.k, self.name)
        if len(quasi) > MOST_COLUMNS:
            raise PromiseError(
                f"{self.name}: at most {MOST_COLUMNS} quasi-identifiers are searched. There are {len(quasi)}; make some "
                "of them neutral."
            )
        weight = column_weights(self.weights, self.name, quasi)
        columns = sorted(quasi, key=lambda c: (weight[c], -len(np.unique(table.codes[c])), mark_of(table.codes[c]), c))
        values = None
        if self.l is not None:
            about = sensitive_column(table, self.sensitive, self.name)
            present, values = np.unique(table.codes[about], return_inverse=True)
            if len(present) < self.l:
                raise PromiseError(
                    f"{self.name}: l must be at most the {len(present)} distinct values of {about!r}. Got l = {self.l}."
                )
        kinds = Kinds.of(table.matrix(columns), None if values is None else values.astype(np.int32))
        find = agreeing if self.matching is Matching.WILDCARD else alike
        hidden = find(kinds, Company(self.k, self.l or 1), [weight[c] for c in columns], progress)
        return {c: hidden[kinds.of_row, columns.index(c)] for c in quasi}


def _published(table: Table, column: str, gone: Bools) -> tuple[Labels, Codes]:
    """The labels of a column, some of its cells suppressed."""
    domain = table.domains[column]
    used, place = np.unique(np.where(gone, domain.size, table.codes[column]), return_inverse=True)
    texts = [mark_of_suppressed(domain) if code == domain.size else domain.texts[code] for code in used.tolist()]
    labels, number = read_labels(domain, texts)
    return labels, number[place]
