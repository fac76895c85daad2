"""Opening a release in an engine: its columns checked against the schema, its labels read, its rows counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from auditor.engines.engine import Engine
from auditor.engines.scanning.coding import Coding, code_column, refuse_header_rows
from auditor.engines.scanning.counting import Counting
from auditor.engines.sources.faults import asking
from auditor.engines.sources.sources import Source, is_database, open_source
from auditor.files.manifests import declared_beside
from auditor.files.releases import RawRelease, release_domains, release_schema
from auditor.model.domain import Domain
from auditor.model.errors import ReleaseError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress
from auditor.model.release import DERIVED, Suppression
from auditor.model.schema import Role, Schema
from auditor.model.table import RawTable


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A release in an engine, ready to be counted; `columns` are what it publishes, `identifiers` what it should not."""

    counting: Counting
    columns: tuple[str, ...]
    identifiers: tuple[str, ...]


def open_release(
    engine: Engine,
    where: str,
    schema: Schema,
    suppression: Suppression,
    progress: Progress,
    known: Mapping[str, Domain] | None = None,
) -> Opened:
    """A release in an engine. `known` are the domains of columns that a register gives."""
    source = open_source(engine, where, schema.format, (*schema.columns, *DERIVED))
    names = dict.fromkeys(source.columns, ())
    schema = release_schema(schema, RawRelease(source.name, (RawTable(source.name, names),), None, None))
    identifiers = tuple(c for c in source.columns if schema.columns[c].role is Role.IDENTIFIER)
    columns = tuple(c for c in source.columns if c not in identifiers)
    if not columns:
        raise ReleaseError(f"{source.name}: must have a column that the schema does not call an identifier.")
    quasi = tuple(c for c in schema.quasi if c in columns)
    sensitive = tuple(c for c in schema.sensitive if c in columns)
    if not quasi and not sensitive:
        raise ReleaseError(
            f"{source.name}: the schema calls none of its columns quasi or sensitive, so that there is nothing to count."
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
    counting = Counting(
        engine,
        source,
        schema,
        labels,
        codings,
        quasi,
        sensitive,
        suppression,
        rows,
        weight=weights[0] if weights else None,
    )
    return Opened(replace(counting, suppressed_rows=_suppressed_rows(counting)), columns, identifiers)


def _labels(
    source: Source, where: str, schema: Schema, codings: Mapping[str, Coding], known: dict[str, Domain]
) -> dict[str, Labels]:
    """The labels of each coded column, read as those of a file in memory are."""
    declared = {} if is_database(where) or Path(where).is_dir() else declared_beside(Path(where), source.sha256, schema)
    distinct = RawTable(source.name, {column: coding.texts for column, coding in codings.items()})
    raw = RawRelease(source.name, (distinct,), None, None, declared=declared)
    domains = release_domains(schema, raw, known)
    found = {}
    for column, coding in codings.items():
        place = partial(_place, f"{source.name}, column {column!r}")
        asked = schema.columns[column].notation
        found[column] = Labels.read(domains[column], coding.texts, place, declared.get(column), asked)
    return found


def _place(where: str, _: int) -> str:
    """Where a label stands: an engine does not say in which row."""
    return where


def _suppressed_rows(counting: Counting) -> int:
    """The rows of which every quasi-identifier is withheld; none where that is all there is, since one class that covers
    everything is a generalisation."""
    if not counting.can_withhold():
        return 0
    table = counting.coded()
    with asking(counting.engine, counting.source.name):
        found = int(table.filter(counting.withheld(table)).count().execute())
    return found if found < counting.rows else 0
