"""Levels: the values of a column in ever wider groups, from each value by itself (level 0) to everything (the top).

A column with a taxonomy has its levels, counted from the leaves: a leaf that lies less deep stays itself for longer.
Numbers and ordinals without one are cut into 16, 8, 4 and 2 parts of equal width, over the range of the column's
domain; other columns without a taxonomy have two levels, each value and everything. Levels that change nothing are left
out. A missing value is a group of its own below the top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import write_label
from auditor.model.schema import Type

_PARTS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The levels of one column. By level: the group of each code, numbered from 0 in the order of codes, and the share of the
    domain's values that each group covers."""

    domain: Domain
    groups: tuple[Ints, ...]
    shares: tuple[Floats, ...]

    @classmethod
    def of(cls, domain: Domain) -> Levels:
        """The levels of a column with this domain."""
        steps = [np.unique(step, return_inverse=True)[1].astype(np.int64) for step in _steps(domain)]
        steps.append(np.zeros(domain.known, dtype=np.int64))
        if domain.missing is not None:
            steps = [np.append(step, step.max(initial=-1) + 1) for step in steps[:-1]]
            steps.append(np.zeros(domain.size, dtype=np.int64))
        kept = [step for place, step in enumerate(steps) if not place or (step != steps[place - 1]).any()]
        return cls(domain, tuple(kept), tuple(np.bincount(step) / domain.size for step in kept))

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.groups) - 1

    def up(self, level: int, other: int) -> Ints:
        """The group at a higher level of each group at a level."""
        higher = np.zeros(len(self.shares[level]), dtype=np.int64)
        higher[self.groups[level]] = self.groups[other]
        return higher

    def labels(self, level: int) -> list[str]:
        """What the groups of a level are published as."""
        order = np.argsort(self.groups[level], kind="stable").astype(np.int32)
        parts: list[Codes] = np.split(order, np.cumsum(np.bincount(self.groups[level]))[:-1])
        return [write_label(self.domain, part) for part in parts]


def _steps(domain: Domain) -> list[Ints]:
    """The groups of the values by level, without the top and without the missing value."""
    codes = np.arange(domain.known)
    if domain.taxonomy is not None:
        return [domain.taxonomy.path[depth][codes] for depth in range(domain.taxonomy.height, 0, -1)] or [codes]
    place = None
    if domain.numbers is not None and domain.span is not None:
        place = (domain.numbers - domain.span[0]) / (domain.width or 1.0)
    elif domain.column.type is Type.ORDINAL:
        place = codes / max(domain.known, 1)
    if place is None:
        return [codes]
    part = np.clip(np.floor(place * _PARTS), 0, _PARTS - 1).astype(np.int64)
    return [codes, *(part >> shift for shift in range(4))]
