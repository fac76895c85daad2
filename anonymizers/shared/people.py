"""Groups of people, where several rows may be one person's (role `person`).

A method groups one row of each person, and the person's other rows join that group. So a group of k rows is one of k people,
in blocks and on Spark too. A method that cannot keep its promise so refuses: what it promises about sensitive values, or how
far rows are from a centre, is about the rows that it has seen.
"""

from __future__ import annotations

import re

import numpy as np

from auditor.model.arrays import Codes, Ints
from auditor.model.errors import PromiseError
from auditor.model.provenance import Provenance
from auditor.model.release import Release
from auditor.model.table import Table

_SIZE = re.compile(r"k = (\d+)")
_REMEDY = "Make one row of each person first, or leave the promise out."


class People:
    """The people of a table: the `first` row of each, which is grouped, and the `number` of each row's person among them."""

    def __init__(self, table: Table) -> None:
        column = table.schema.person
        self._whole, self.first, self.number = table, np.arange(table.rows), np.arange(table.rows)
        if column is not None and column in table.codes:
            codes = table.codes[column]
            missing = table.domains[column].missing
            if missing is not None and (codes == missing).any():
                raise PromiseError(f"{table.name}, column {column!r}: each row must say whose it is, and some do not.")
            _, first, number = np.unique(codes, return_index=True, return_inverse=True)
            self.first = np.sort(first)
            self.number = np.searchsorted(self.first, first[number])

    @property
    def several(self) -> bool:
        """Whether somebody has several rows."""
        return len(self.first) < self._whole.rows

    @property
    def table(self) -> Table:
        """One row of each person, in the order of the table."""
        return self._whole.take(self.first) if self.several else self._whole

    def sizes(self, group: Codes | Ints) -> Ints:
        """How many people each group has, given the group of each row (-1: none)."""
        pairs = np.unique(np.column_stack([group, self.number])[group >= 0], axis=0)
        return np.bincount(pairs[:, 0], minlength=int(group.max(initial=-1)) + 1)

    def need_alike(self, name: str, why: str) -> None:
        """An error where rows of one person differ in a quasi-identifier. `why` they must not."""
        table = self._whole
        for column in (c for c in table.schema.quasi if c in table.codes):
            if (table.codes[column] != table.codes[column][self.first][self.number]).any():
                raise PromiseError(f"{name}: {why}, and some differ in {column!r}. {_REMEDY}")

    def check(self, release: Release, provenance: Provenance, name: str) -> None:
        """An error where the promise of a release holds for rows, and not for people."""
        if not self.several or not release.promises:
            return
        people = self.sizes(provenance.bucket)
        sizes = [_SIZE.fullmatch(promise) for promise in release.promises]
        if (people == release.sizes).all():  # everybody has one row in a class, so rows are people there
            return
        others = [promise for promise, size in zip(release.promises, sizes, strict=True) if size is None]
        if others:
            raise PromiseError(
                f"{name}: the promise “{others[0]}” is about rows, and some people have several rows in one class. {_REMEDY}"
            )
        k = max(int(size.group(1)) for size in sizes if size is not None)
        least = int(people[~release.suppressed].min(initial=k))
        if least < k:
            raise PromiseError(f"{name}: a class has {least} people, and k = {k} was asked for. {_REMEDY}")
