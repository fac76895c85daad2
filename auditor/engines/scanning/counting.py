"""Counting in an engine: the people who count, their classes, and how often each value occurs in each class.

Who counts follows `auditor.measure.counts`. Rows with every quasi-identifier suppressed are left out under `excluded` and
`wildcard`, and are one class under `own`. Everything here is an Ibis expression: nothing runs until its result is fetched.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.engine import Engine
from auditor.engines.scanning.coding import Coding, Keys, coded_table
from auditor.engines.sources.faults import asking
from auditor.engines.sources.sources import Source
from auditor.measure.individual_risk import can_be_weight, known_weights
from auditor.model.arrays import Ints
from auditor.model.labels.labels import Labels
from auditor.model.release import Suppression
from auditor.model.schema import Schema, Type
from auditor.model.values import parse_number

_ABOUT = 0.7
"""Counting about is not further off than this: a column with fewer values in a cell does not tell nearly all rows apart."""
_SOME = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Counting:
    """A release in an engine, its columns coded. `quasi` and `sensitive` are those that it publishes; `suppressed_rows` is
    the number of rows with every quasi-identifier suppressed."""

    engine: Engine
    source: Source
    schema: Schema
    labels: Mapping[str, Labels]
    codings: Mapping[str, Coding]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    suppression: Suppression
    rows: int
    suppressed_rows: int = 0
    weight: str | None = None

    @property
    def keys(self) -> Keys:
        """How the quasi-identifiers are packed into keys."""
        return Keys.of([(column, self.codings[column].size) for column in self.quasi])

    @property
    def counted_rows(self) -> int:
        """The number of rows that count."""
        return self.rows if self.suppression is Suppression.OWN else self.rows - self.suppressed_rows

    def code(self, column: str) -> str:
        """The name of a column's code in the coded table."""
        return f"c{list(self.codings).index(column)}"

    def coded(self, *others: str) -> Any:
        """All rows: the codes of the quasi-identifiers, and of some other columns."""
        wanted = dict.fromkeys((*self.quasi, *others)) or dict.fromkeys(self.codings)
        return coded_table(self.engine, self.source, {self.code(c): self.codings[c] for c in wanted})

    def is_suppressed(self, table: Any) -> Any:
        """Whether every quasi-identifier of a coded row is suppressed."""
        found = self.engine.ibis.literal(bool(self.quasi))
        for column in self.quasi:
            codes = self.codings[column].codes_of(self.labels[column].suppressed)
            found = found & table[self.code(column)].isin(codes)
        return found

    def may_suppress(self) -> bool:
        """Whether a row may have every quasi-identifier suppressed: each column has a label for that."""
        return bool(self.quasi) and all(self.codings[c].codes_of(self.labels[c].suppressed) for c in self.quasi)

    def people(self, *others: str, everybody: bool = False) -> Any:
        """The rows that count (or everybody), with the keys of their class and the codes of some other columns."""
        table = self.coded(*others)
        ibis, keys = self.engine.ibis, self.keys
        packed = keys.packed(ibis, lambda column: table[self.code(column)])
        if self.suppressed_rows and not everybody:
            if self.suppression is Suppression.OWN:
                apart = ibis.literal(-1, type="int64")
                packed = {name: ibis.ifelse(self.is_suppressed(table), apart, key) for name, key in packed.items()}
            else:
                return table.mutate(**packed).filter(~self.is_suppressed(table))
        return table.mutate(**packed)

    def classes(self) -> Any:
        """The classes: keys and size."""
        people = self.people()
        return people.group_by(self.keys.names).agg(size=people.count())

    def weighed_classes(self, weight: str, everybody: bool = False) -> Any:
        """The classes of the rows that count (or of everybody): keys, size, sum of a sampling weight, and whether the weight
        can be one in all rows."""
        labels, coding, ibis = self.labels[weight], self.codings[weight], self.engine.ibis
        known = known_weights(labels)
        number, codes = np.where(can_be_weight(known), known, 0.0), np.flatnonzero(coding.label >= 0)
        listed = small_table(ibis, number=codes, weight=number[coding.label[codes]])
        people = self.people(weight, everybody=everybody)
        people = people.join(listed, people[self.code(weight)] == listed.number)
        found = people.group_by(self.keys.names).agg(
            size=people.count(), people=people.weight.sum(), least=people.weight.min()
        )
        return found.select(*self.keys.names, "size", "people", sound=found.least > 0)

    def different_values(self, column: str) -> tuple[int, int, bool]:
        """How many different values a column that is not coded has, in how many cells that hold something, and whether its
        numbers are whole. The values are counted about, and exactly where they may be nearly as many as the cells."""
        native, marks = self.source.table[column], self._marks(column)
        text = native.cast("string").strip()
        table = self.source.table.filter(native.notnull() & ~text.isin(marks))
        with asking(self.engine, self.source.name):
            about = fetch(table.agg(cells=table.count(), values=table[column].approx_nunique()))
            cells, values = int(about["cells"][0]), int(about["values"][0])
            if values < _ABOUT * cells:
                return values, cells, False
            values = int(table[column].nunique().execute())
            whole = self.schema.columns[column].type is Type.NUMERIC and self._whole(table, column)
        return values, cells, whole

    def _marks(self, column: str) -> list[str]:
        form = self.schema.format.of(column)
        return [*form.missing, *form.suppressed]

    def _whole(self, table: Any, column: str) -> bool:
        """Whether the numbers of a column are whole, by the texts of some of them."""
        texts = table[column].cast("string").strip().name("text")
        some = table.select(texts).limit(_SOME).to_pyarrow().column("text").to_pylist()
        numbers = [parse_number(text, self.schema.format.decimal) for text in some]
        return all(number is None or number.is_integer() for number in numbers)

    def entries(self, column: str, values: Ints) -> Any:
        """How often each value of a column occurs in each class: keys, `value` and `n`. `values` gives the value of each
        label, -1 for labels that do not occur."""
        people, coding = self.people(column), self.codings[column]
        names, code = self.keys.names, self.code(column)
        counted = people.group_by([*names, people[code].name("code")]).agg(n=people.count())
        codes = np.flatnonzero(coding.label >= 0)
        value = values[coding.label[codes]]
        codes, value = codes[value >= 0], value[value >= 0]
        found = counted.join(small_table(self.engine.ibis, code=codes, value=value), "code").drop("code")
        if len(np.unique(values[values >= 0])) < int((values >= 0).sum()):  # two labels may denote the same set
            found = found.group_by([*names, "value"]).agg(n=found.n.sum())
        return found


def small_table(ibis: Any, **columns: NDArray[Any]) -> Any:
    """A small table for an engine to join with."""
    pa = importlib.import_module("pyarrow")
    return ibis.memtable(pa.table({name: pa.array(column) for name, column in columns.items()}))


def fetch(expression: Any) -> dict[str, NDArray[Any]]:
    """The result of an expression, as arrays; null becomes NaN."""
    table = expression.to_pyarrow()
    return {name: table.column(name).to_numpy() for name in table.column_names}
