"""A population in an engine: how many of its people fit each class, without fetching the rows of either.

Population and release are first grouped by their own codes. Only these groups get the label numbers of the release, are
grouped by them and joined. The figures are those of `auditor.measure.register_risk`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.engines.engine import Engine
from auditor.engines.scanning.coding import Coding, Keys, code_column, coded_table, refuse_header_rows
from auditor.engines.scanning.counting import Counting, fetch, small_table
from auditor.engines.sources.faults import asking
from auditor.engines.sources.sources import Source, open_source
from auditor.measure.register_risk import RegisterCounts, label_of_code, not_apart
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import TableError
from auditor.model.schema import Schema
from auditor.model.table import RawTable


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """A population in an engine: the codings and domains of its quasi-identifiers."""

    source: Source
    codings: dict[str, Coding]
    domains: dict[str, Domain]
    rows: int


def open_register(engine: Engine, where: str, schema: Schema) -> Register:
    """A population in an engine, its values checked like those of a file in memory."""
    source = open_source(engine, where, schema.format, tuple(schema.columns))
    schema = RawTable(source.name, dict.fromkeys(source.columns, ())).check(schema)
    codings: dict[str, Coding] = {}
    domains: dict[str, Domain] = {}
    for column in source.columns:
        if column in schema.quasi or column in schema.sensitive:
            coding = codings[column] = code_column(engine, source, column, schema.format.of(column))
            domains[column] = Domain.of(schema.columns[column], schema.format, [(source.name, coding.texts, ())])
    if not codings:
        raise TableError(f"{source.name}: a population must have quasi-identifiers of the release.")
    rows = int(next(iter(codings.values())).rows.sum())
    if not rows:
        raise TableError(f"{source.name}: the table must have at least one row below its header.")
    refuse_header_rows(engine, source, codings)
    return Register(source, codings, domains, rows)


def count_register(counting: Counting, register: Register) -> RegisterCounts | str:
    """How many people of a population fit each class of a release, or why that cannot be told."""
    absent = [c for c in counting.quasi if c not in register.codings]
    if absent or not counting.quasi:
        return f"the population has no column {absent[0]}" if absent else "the release publishes no quasi-identifier"
    occurring = {column: _occurring(counting, column) for column in counting.quasi}
    why = not_apart(counting.labels, occurring)
    if why is not None:
        return why
    ibis = counting.engine.ibis
    ours = counting.people(everybody=True)
    if counting.suppressed_rows:
        ours = ours.filter(~counting.is_suppressed(ours))
    ours = ours.group_by(counting.keys.names).agg(size=ours.count())
    numbers = {column: counting.codings[column].label for column in counting.quasi}
    ours = _numbered(ibis, ours, counting.keys, numbers, "size")
    theirs = _theirs(counting, register, occurring)
    names = [f"label{i}" for i in range(len(counting.quasi))]
    both = ours.left_join(theirs, names)
    fitting = both.fitting.fill_null(0)
    both = both.mutate(enough=ibis.greatest(fitting, both["size"]), short=ibis.ifelse(fitting < both["size"], 1, 0))
    found = both.group_by("enough").agg(classes=both.count(), records=both["size"].sum(), short=both.short.sum())
    with asking(counting.engine, register.source.name):
        rows = fetch(found.order_by("enough"))
    enough, classes, records = (rows[name].astype(np.int64) for name in ("enough", "classes", "records"))
    return RegisterCounts(enough, classes, records, int(rows["short"].sum()))


def _occurring(counting: Counting, column: str) -> Ints:
    """The labels of a column in rows that are not wholly suppressed."""
    coding = counting.codings[column]
    if not counting.suppressed_rows:
        return np.flatnonzero(coding.rows)
    table = counting.coded()
    table = table.filter(~counting.is_suppressed(table))
    code = table[counting.code(column)]
    with asking(counting.engine, counting.source.name):
        found = fetch(table.select(code=code).distinct())["code"].astype(np.int64)
    return np.unique(coding.label[found])


def _theirs(counting: Counting, register: Register, occurring: Mapping[str, Ints]) -> Any:
    """The people of the population who fit each combination of the release's labels."""
    engine = counting.engine
    codings = [register.codings[column] for column in counting.quasi]
    place = {column: f"c{i}" for i, column in enumerate(counting.quasi)}
    table = coded_table(engine, register.source, {place[coding.column]: coding for coding in codings})
    keys = Keys.of([(coding.column, coding.size) for coding in codings])
    table = table.mutate(**keys.packed(engine.ibis, lambda column: table[place[column]]))
    people = table.group_by(keys.names).agg(fitting=table.count())
    numbers = {}
    for coding in codings:
        labels = counting.labels[coding.column]
        held = label_of_code(labels, occurring[coding.column])
        value = np.array(
            [-1 if (code := labels.domain.code(t)) is None else code for t in coding.texts], dtype=np.int64
        )
        of_text = np.where(value >= 0, held[value], -1)
        numbers[coding.column] = np.where(coding.label >= 0, of_text[coding.label], -1)
    found = _numbered(engine.ibis, people, keys, numbers, "fitting")
    return found.group_by([f"label{i}" for i in range(len(codings))]).agg(fitting=found.fitting.sum().cast("int64"))


def _numbered(ibis: Any, table: Any, keys: Keys, numbers: Mapping[str, Ints], kept: str) -> Any:
    """Groups with label numbers in place of their keys. Groups with a code that has no label (-1) are left out."""
    codes = keys.unpacked(table)
    table = table.select(kept, **{f"code{i}": codes[column] for i, column in enumerate(numbers)})
    for i, number in enumerate(numbers.values()):
        some = np.flatnonzero(number >= 0)
        listed = small_table(ibis, number=some, **{f"label{i}": number[some]})
        table = table.join(listed, table[f"code{i}"] == listed.number).drop("number", f"code{i}")
    return table
