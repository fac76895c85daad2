"""PRAM, the post-randomisation method: each value is published as another one with a known probability.

A value is kept with the probability `keep`, and otherwise becomes one of the other values of the column, all equally
likely. This is the transition matrix P. With `invariant` a second step follows: the published value i becomes j with the
probability that it came from j, by Bayes' rule and the true counts. Both steps together are a matrix R for which the
expected counts of all values are those of the original, so that nobody has to correct for it.

Nothing is promised. The matrix is published. Where `keep` is large and somebody's values are rare, the record with these
values is nearly surely theirs.

Paper: J. Gouweleeuw, P. Kooiman, L. Willenborg, P. de Wolf, "Post Randomisation for Statistical Disclosure Control:
Theory and Implementation", 1998.
Decided here: columns are drawn independently of each other. The values of a matrix are those that occur. Numbers are left
to noise and rounding; a nominal or ordinal column of one value stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.perturbing import Perturbed, Perturbing, drawn_once, present
from auditor.model.arrays import Codes, Floats
from auditor.model.errors import UsageError
from auditor.model.mechanism import Change, Transition
from auditor.model.schema import Type
from auditor.model.table import Table

_MOST_VALUES = 2_000


@dataclass(frozen=True)
class Pram(Perturbing):
    """Publishes values as others, by a transition matrix."""

    name: ClassVar[str] = "pram"
    summary: ClassVar[str] = "Publishes each value as another with a known probability; expected counts kept on demand."
    paper: ClassVar[str] = "Gouweleeuw, Kooiman, Willenborg & de Wolf 1998"
    takes: ClassVar[tuple[Type, ...]] = (Type.NOMINAL, Type.ORDINAL)

    keep: float = 0.8
    invariant: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.keep < 1:
            raise UsageError(f"keep must be a probability below 1. Got {self.keep}.")

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        changes: dict[str, Change] = {}
        codes: dict[str, Codes] = {}
        for column in columns:
            domain, true = table.domains[column], table.codes[column]
            there = present(domain, true)
            values, counts = np.unique(true[there], return_counts=True)
            if len(values) > _MOST_VALUES:
                raise UsageError(
                    f"{self.name}: a column must have at most {_MOST_VALUES} values. {column!r} has {len(values)}."
                )
            if len(values) < 2:
                continue
            matrix = self.matrix(counts / counts.sum())
            first, which = drawn_once(table, column)
            place = np.minimum(np.searchsorted(values, true[first]), len(values) - 1)
            running = np.cumsum(matrix, axis=1)
            drawn = (rng.random(len(first))[:, None] >= running[place, :-1]).sum(axis=1)
            codes[column] = np.where(there, values[drawn][which], true)
            changes[column] = Transition(tuple(domain.texts[v] for v in values), tuple(map(tuple, matrix.tolist())))
        return Perturbed(changes, codes)

    def matrix(self, shares: Floats) -> Floats:
        """The probabilities with which values of these shares become each other."""
        size = len(shares)
        plain = np.full((size, size), (1 - self.keep) / (size - 1))
        np.fill_diagonal(plain, self.keep)
        if not self.invariant:
            return plain
        published = shares @ plain
        back = (plain * shares[:, None] / published).T  # by Bayes' rule, what a published value came from
        return np.asarray(plain @ back)
