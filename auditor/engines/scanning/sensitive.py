"""A sensitive column in an engine: its values, their order, and their counts in the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.engines.engine import batches
from auditor.engines.scanning.counting import Counting, small_table
from auditor.measure import classes
from auditor.measure.counts import ClassCounts, Entries, values_of
from auditor.model.arrays import Floats, Ints
from auditor.model.labels.labels import Labels

_BATCH = 500_000


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a sensitive column: `value[l]` is the value of label l, `label[v]` the first label of value v, `whole[v]`
    how many people have it, those in no class included."""

    labels: Labels
    value: Ints
    label: Ints
    whole: Ints

    @classmethod
    def of(cls, labels: Labels, times: Ints) -> Values:
        """The values of labels, given how often each occurs."""
        value, label = values_of(labels, times)
        whole = np.bincount(value[value >= 0], weights=times[value >= 0], minlength=len(label)).astype(np.int64)
        return cls(labels, value, label, whole)


@dataclass(frozen=True, slots=True, eq=False)
class Sensitive:
    """A sensitive column. `order` are the values that have a place in its order, None if it has no order. `number` are their
    numbers, if each is a single one. `reach` is the ε of proximity."""

    counting: Counting
    name: str
    values: Values
    order: Ints | None
    number: Floats | None
    reach: float | None

    @classmethod
    def of(cls, counting: Counting, name: str, values: Values, epsilon: float | None) -> Sensitive:
        """What is known of a column before its classes are counted."""
        reach = classes.proximity_reach(values.labels, epsilon)
        numbered = None if reach is None else classes.single_numbers(values.labels, values.label)
        order = classes.in_order(values.labels, values.label)
        return cls(counting, name, values, order, None if numbered is None else numbered[1], reach)

    @property
    def ibis(self) -> Any:
        """The module."""
        return self.counting.engine.ibis

    @property
    def keys(self) -> list[str]:
        """The names of the columns that tell classes apart."""
        return self.counting.keys.names

    @property
    def share(self) -> Floats:
        """The share of each value in the whole table."""
        found: Floats = self.values.whole / self.values.whole.sum()
        return found

    @property
    def placed(self) -> int:
        """How many values have a place in the order."""
        return 0 if self.order is None else len(self.order)

    @property
    def all_placed(self) -> bool:
        """Whether all values have a place in the order."""
        return self.placed == len(self.values.whole)

    @property
    def place(self) -> Ints:
        """The place of each value; those without come last."""
        found = np.full(len(self.values.whole), self.placed, dtype=np.int64)
        if self.order is not None:
            found[self.order] = np.arange(self.placed)
        return found

    @property
    def reached(self) -> Floats:
        """The cumulative shares of the whole table over the values in order."""
        whole = self.values.whole[self.order] if self.order is not None else self.values.whole[:0]
        found: Floats = np.cumsum(whole / max(int(whole.sum()), 1))
        return found

    def entries(self) -> Any:
        """How often each value occurs in each class: keys, `value` and `n`."""
        # floats are exact for whole numbers up to 2^53, and engines sum them faster than integers checked for overflow
        found = self.counting.entries(self.name, self.values.value)
        return found.select(*self.keys, "value", n=found.n.cast("float64"))

    def joined(self, entries: Any, **known: NDArray[Any]) -> Any:
        """Entries with what is known of each value."""
        # left joins, so that engines keep the short tables in memory
        table = small_table(self.ibis, of=np.arange(len(self.values.whole)), **known)
        return entries.left_join(table, entries.value == table.of).drop("of")

    def counts(self, entries: Any) -> Iterator[ClassCounts]:
        """Entries as counts in memory, in batches of whole classes."""
        rest = np.empty((0, len(self.keys) + 2), dtype=np.int64)
        entries = entries.select(*self.keys, "value", "n")
        for batch in batches(self.counting.engine, entries, _BATCH, [*self.keys, "value"]):
            block = np.column_stack([np.asarray(column).astype(np.int64) for column in batch.columns])
            block = np.concatenate([rest, block])
            differs = (block[1:, :-2] != block[:-1, :-2]).any(axis=1)
            last = int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0  # the last class may continue
            rest = block[last:]
            if last:
                yield self._counts(block[:last])
        if len(rest):
            yield self._counts(rest)

    def _counts(self, block: Ints) -> ClassCounts:
        row = np.concatenate([[0], np.cumsum((block[1:, :-2] != block[:-1, :-2]).any(axis=1))])
        entries = Entries.of(row, block[:, -2], block[:, -1], int(row[-1]) + 1, len(self.values.label))
        return ClassCounts(entries, self.values.label)
