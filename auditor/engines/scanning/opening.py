"""Opening a release in an engine: its columns checked against the schema, its labels read, its rows counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from auditor.engines.engine import Engine
from auditor.engines.scanning.coding import Coding, code_column, refuse_header_rows
from auditor.engines.scanning.counting import Counting
from auditor.engines.sources.faults import asking
from auditor.engines.sources.sources import Source, is_database, open_source
from auditor.files.hierarchies import explaining
from auditor.files.manifests import declared_beside
from auditor.files.releases import read_labels, release_schema
from auditor.model.domain import Domain
from auditor.model.errors import LabelError, ReleaseError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress
from auditor.model.release import DERIVED, Suppression
from auditor.model.schema import Role, Schema
from auditor.model.table import RawTable


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A release in an engine, ready to be counted. `columns` are what it publishes, `identifiers` what it should not,
    `ignored` what no figure reads."""

    counting: Counting
    columns: tuple[str, ...]
    identifiers: tuple[str, ...]
    ignored: tuple[str, ...] = ()


def open_release(
    engine: Engine,
    where: str,
    schema: Schema,
    suppression: Suppression,
    progress: Progress,
    known: Mapping[str, Domain] | None = None,
) -> Opened:
    """A release in an engine. `known` are the domains of columns that a population provides."""
    source = open_source(engine, where, schema.format, (*schema.columns, *DERIVED))
    schema = release_schema(schema, [RawTable(source.name, dict.fromkeys(source.columns, ()))])
    identifiers = tuple(c for c in source.columns if schema.columns[c].role is Role.IDENTIFIER)
    unpublished = schema.unpublished
    columns = tuple(c for c in source.columns if c not in unpublished)
    if not columns:
        raise ReleaseError(f"{source.name}: must have a column that is not an identifier.")
    quasi = tuple(c for c in schema.quasi if c in columns)
    sensitive = tuple(c for c in schema.sensitive if c in columns)
    if not quasi and not sensitive:
        raise ReleaseError(
            f"{source.name}: the schema declares none of its columns quasi or sensitive, so there is nothing to count."
        )
    weights = [c for c in schema.names(Role.WEIGHT) if c in columns]
    codings: dict[str, Coding] = {}
    wanted = (*quasi, *sensitive, *weights[:1])
    for done, column in enumerate(wanted):
        progress(done, len(wanted), f"labels of {column}")
        codings[column] = code_column(engine, source, column, schema.format.of(column))
    rows = int(next(iter(codings.values())).rows.sum())
    if not rows:
        raise ReleaseError(f"{source.name}: the release must have at least one row.")
    refuse_header_rows(engine, source, codings)
    labels = _labels(source, where, schema, codings, dict(known or {}))
    weight = weights[0] if weights else None
    counting = Counting(engine, source, schema, labels, codings, quasi, sensitive, suppression, rows, weight=weight)
    ignored = tuple(c for c in source.columns if schema.columns[c].role is Role.IGNORE)
    return Opened(replace(counting, suppressed_rows=_suppressed_rows(counting)), columns, identifiers, ignored)


def _labels(
    source: Source, where: str, schema: Schema, codings: Mapping[str, Coding], known: dict[str, Domain]
) -> dict[str, Labels]:
    """The labels of each coded column, read like those of a file in memory."""
    declared = {} if is_database(where) or Path(where).is_dir() else declared_beside(Path(where), source.sha256, schema)
    labels, faults = dict[str, Labels](), list[str]()
    for c, coding in codings.items():
        said, held = declared.get(c), known.get(c)
        try:
            labels[c] = read_labels(schema, c, coding.texts, source.name, declared=said, domain=held)
        except LabelError as error:
            faults += [*error.faults, *explaining(schema, c, error.labels, held, source.name)]
    if faults:
        raise ReleaseError.of(faults)
    return labels


def _suppressed_rows(counting: Counting) -> int:
    """The number of rows with every quasi-identifier suppressed. 0 if that is all rows: one class that covers everything is
    a generalisation."""
    if not counting.may_suppress():
        return 0
    table = counting.coded()
    with asking(counting.engine, counting.source.name):
        found = int(table.filter(counting.is_suppressed(table)).count().execute())
    return found if found < counting.rows else 0
