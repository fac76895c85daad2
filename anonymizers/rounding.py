"""Rounding: numbers are published as multiples of a base.

A number becomes the nearest multiple of `base`, the greater of two. With `random` it becomes one of the two multiples
around it, the nearer the likelier, so that the published number is expected to be the true one: sums and means have no
bias.

Promised is the distance: at most half a base, or with `random` less than a base.

Papers: I. Fellegi, "Controlled Random Rounding", 1975; L. Willenborg, T. de Waal, "Elements of Statistical Disclosure
Control", 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizers.shared.perturbing import Perturbed, Perturbing, drawn_once, numbers_of
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.key import decimals_of
from auditor.model.mechanism import Rounding as Rounded
from auditor.model.schema import Type
from auditor.model.table import Table

_NOISE = 1e-9


@dataclass(frozen=True)
class Rounding(Perturbing):
    """Publishes numbers as multiples of a base."""

    name: ClassVar[str] = "rounding"
    summary: ClassVar[str] = "Rounds numbers to multiples of a base; at random and without bias on demand."
    paper: ClassVar[str] = "Fellegi 1975"
    takes: ClassVar[tuple[Type, ...]] = (Type.NUMERIC,)

    base: float = 5.0
    random: bool = False

    def __post_init__(self) -> None:
        if not 1e-9 <= self.base <= 1e12:
            raise UsageError(f"base must be a number above 0, from 1e-9 to 1e12. Got {self.base}.")

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        most = f"less than {self.base:g}" if self.random else f"at most {self.base / 2:g}"
        return (f"|published - true| is {most}",)

    def perturb(self, table: Table, columns: tuple[str, ...], rng: np.random.Generator) -> Perturbed:
        numbers: dict[str, Floats] = {}
        for column in columns:
            steps = numbers_of(table, column) / self.base
            whole = np.round(steps)
            exact = np.abs(steps - whole) < _NOISE
            below = np.where(exact, whole, np.floor(steps))
            up = 0.5 * np.ones(table.rows)
            if self.random:
                first, which = drawn_once(table, column)
                up = 1 - rng.random(len(first))[which]
            made = below + (np.where(exact, 0.0, steps - below) >= up - _NOISE * (not self.random))
            numbers[column] = np.round(made * self.base, decimals_of([self.base])) + 0.0  # no -0
        return Perturbed(dict.fromkeys(columns, Rounded(self.base, self.random)), numbers=numbers)
