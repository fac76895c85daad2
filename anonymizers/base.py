"""What an anonymizer is: settings in the constructor, data in the call.

`Method(k=5).anonymize(table, rng)` returns the release and, apart from it, its provenance. A method states what it
promises. Where a table does not allow that promise, the method raises `PromiseError` and never makes a weaker release.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.discretion import shown
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Declared, Labels, write_label
from auditor.model.plugin import Plugin
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.publishing import publish
from auditor.model.release import Release
from auditor.model.schema import Role, Type
from auditor.model.table import Table
from auditor.model.values import format_number

_STRENGTHS = ("k", "l", "m", "r")
"""The settings that a title always shows."""

PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.NEUTRAL)


@dataclass(frozen=True)
class Anonymizer(Plugin):
    """A technique that turns a table into a release. `truthful` says whether every published label covers the true value:
    not so where values are averaged, recoded or drawn. `synthetic` says that the rows of its releases are nobody.
    `needs_whole` says why it cannot work in blocks of rows; None where it can (see `anonymizers/shared/grouping.py`)."""

    truthful: ClassVar[bool] = True
    synthetic: ClassVar[bool] = False
    needs_whole: ClassVar[str | None] = "it sees all rows at once"

    @abstractmethod
    def anonymize(
        self, table: Table, rng: np.random.Generator, progress: Progress = silent
    ) -> tuple[Release, Provenance]:
        """A release of the table, and apart from it which row became which record. Long work calls `progress` about once a
        second or more often; that is also where an interruption is noticed."""

    @abstractmethod
    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        """What the release promises, in the words that the audit record repeats ("k = 5"). `sensitive` is the column that
        a promise is about."""

    @property
    def title(self) -> str:
        """A short name: the method, its strength (k, l, m or r), and every other setting that differs from its default."""
        default = {f.name: f.default for f in dataclasses.fields(self)}
        said = [self.name]
        for key, value in self.settings().items():
            plain = isinstance(value, int | float | str) and key != "sensitive"
            if plain and (key in _STRENGTHS or value != default[key]):
                text = str(value).lower() if isinstance(value, bool) else value
                said.append(f"{key}={format_number(value) if isinstance(value, float) else text}")
        return " ".join(said)

    def publish(
        self,
        table: Table,
        labels: dict[str, Labels],
        cells: dict[str, Codes],
        blocks: Sequence[Sequence[str]],
        bucket: Ints | None,
        rng: np.random.Generator,
        sensitive: str | None = None,
    ) -> tuple[Release, Provenance]:
        """Publishes under this method's name, settings and promises (about the column `sensitive`, where they are about one).
        Columns without labels go out as they are."""
        for column in (c for block in blocks for c in block if c not in cells):
            labels[column] = Labels.exact(table.domains[column])
            cells[column] = table.codes[column]
        return publish(
            table.schema,
            labels,
            cells,
            blocks,
            bucket,
            rng,
            self.title,
            self.name,
            self.settings(),
            self.promises(sensitive),
        )


def published_columns(table: Table) -> list[str]:
    """The columns that may be published, in the table's order: all but identifiers, choices and weights."""
    return [c for c in table.codes if table.schema.columns[c].role in PUBLISHED]


def at_least(name: str, value: int | None, least: int) -> None:
    """Checks a whole-number setting at construction."""
    if value is not None and value < least:
        raise UsageError(f"{name} must be at least {least}. Got {value}.")


def need_rows(table: Table, least: int, name: str, setting: str = "k") -> None:
    """Checks that a table has as many rows as a setting asks for."""
    if table.rows < least:
        raise PromiseError(
            f"{name}: {setting} must be at most the number of rows. Got {setting} = {least} and {table.rows} rows."
        )


def quasi_columns(table: Table) -> tuple[str, ...]:
    """The quasi-identifiers of a table."""
    return tuple(c for c in table.schema.quasi if c in table.codes)


def need_quasi(table: Table, name: str) -> tuple[str, ...]:
    """The quasi-identifiers of a table; an error where it has none."""
    quasi = quasi_columns(table)
    if not quasi:
        raise PromiseError(f'{name}: the schema must name at least one column with role = "quasi".')
    return quasi


def sensitive_columns(table: Table) -> list[str]:
    """The sensitive columns of a table."""
    return [c for c in table.schema.sensitive if c in table.codes]


def sensitive_column(table: Table, wanted: str | None, name: str) -> str:
    """The sensitive column that a promise is about: the one asked for, or else the first of the schema."""
    columns = sensitive_columns(table)
    if wanted is not None:
        if wanted not in columns:
            raise UsageError(f"{name}: sensitive must name a sensitive column. Got {wanted!r}; there are: {columns}.")
        return wanted
    if not columns:
        raise PromiseError(f'{name}: the schema must name at least one column with role = "sensitive".')
    return columns[0]


def column_weights(
    given: Sequence[Sequence[str | float]], name: str, columns: Sequence[str] | None = None
) -> dict[str, float]:
    """How much each column counts: 1, unless the setting `weights` says otherwise ([["age", 2]]). Where the columns are
    known, an error if it names another."""
    found: dict[str, float] = dict.fromkeys(columns or (), 1.0)
    for entry in given:
        column, weight = (*entry, 0, 0)[:2]
        if len(entry) != 2 or not isinstance(column, str) or isinstance(weight, str) or not weight > 0:
            raise UsageError(f'{name}: weights must be pairs of a column and a number above 0, such as [["age", 2]].')
        if columns is not None and column not in columns:
            raise UsageError(f"{name}: weights must name quasi-identifiers. Got {column!r}.")
        found[column] = float(weight)
    return found


def need_eligible(
    table: Table,
    column: str,
    l: int,
    name: str,
    strict: bool = False,
    remedy: str = "Lower l, or suppress rows.",
    called: str = "l",
) -> None:
    """Checks that a sensitive column allows l-diverse classes: no value has more than the share 1/l of the rows (where
    `strict`, so much). Then at least l values occur."""
    values, counts = np.unique(table.codes[column], return_counts=True)
    most = int(counts.max())
    if most * l < table.rows or (most * l == table.rows and not strict):
        return
    often = table.domains[column].texts[int(values[counts.argmax()])]
    share = f"n/{called} = {table.rows / l:.1f} rows"
    few = f" There are only {len(values)} different values." if len(values) < l else ""
    raise PromiseError(
        f"{name}: no value of {column!r} may have {f'{share} or more' if strict else f'more than {share}'} for "
        f"{called} = {l}. The most common, {shown(often)}, has {most}.{few} {remedy}"
    )


def generalise(table: Table, columns: Sequence[str], groups: Ints) -> tuple[dict[str, Labels], dict[str, Codes]]:
    """The generalisation step of all methods: in each group every value of a column becomes the narrowest label that covers
    the group's values. Rows in no group (-1) get some label, which is not published. Returns labels and cells."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-2))
    sizes = np.diff(np.append(starts, table.rows))
    labels: dict[str, Labels] = {}
    cells: dict[str, Codes] = {}
    for column in columns:
        domain = table.domains[column]
        which, samples = _covers(domain, table.codes[column][order], starts, sizes)
        labels[column], number = read_labels(domain, [write_label(domain, sample) for sample in samples])
        cells[column] = np.empty(table.rows, dtype=np.int32)
        cells[column][order] = np.repeat(number[which], sizes)
    return labels, cells


def _covers(domain: Domain, codes: Codes, starts: Ints, sizes: Ints) -> tuple[Ints, list[Codes]]:
    """What each group of codes needs a label for: the number of its case, and for each case the codes to cover.

    On a line and in a taxonomy the least and the greatest code decide the label; elsewhere the set of codes does."""
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    pairs, which = np.unique(low.astype(np.int64) * domain.size + high, return_inverse=True)
    samples = [np.array([pair // domain.size, pair % domain.size], dtype=np.int32) for pair in pairs]
    if domain.numbers is not None or domain.taxonomy is not None or domain.column.type is Type.ORDINAL:
        return which, samples
    group = np.repeat(np.arange(len(starts)), sizes)
    distinct = np.unique(group * domain.size + codes)
    held = (distinct % domain.size).astype(np.int32)
    bounds = np.searchsorted(distinct, np.arange(len(starts) + 1) * domain.size)
    sets: dict[bytes, int] = {}
    for g in np.flatnonzero(low != high).tolist():
        members = held[bounds[g] : bounds[g + 1]]
        number = sets.setdefault(members.tobytes(), len(samples))
        if number == len(samples):
            samples.append(members)
        which[g] = number
    return which, samples


def read_labels(domain: Domain, texts: Sequence[str], declared: Declared | None = None) -> tuple[Labels, Codes]:
    """The distinct texts, sorted, as labels of a column, and the number of each text among them. `declared` says what the
    aliases among them denote."""
    distinct = sorted(set(texts))
    rank = {text: number for number, text in enumerate(distinct)}
    labels = Labels.read(domain, distinct, lambda _: f"column {domain.column.name!r}", declared)
    return labels, np.array([rank[text] for text in texts], dtype=np.int32)
