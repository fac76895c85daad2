"""Finding: where an adversary looks for each person under a link model, fragment by fragment.

A learned attack refines what a link model believes: it keeps the classes and fragments in which the link model looks for a
person, with their weights, and says better which sensitive value goes with them. `Found` lists them, whether people are
looked for by what contains them or by distance. People are told apart by all that is known of them, and not only by what
fits them, since a model may be asked about their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.posterior.beliefs import Beliefs, Some
from auditor.posterior.distance import Nearest
from auditor.posterior.links import Link, Weighting
from auditor.posterior.matching import Cells, distinct_people, expand
from auditor.posterior.posterior import Posterior

_SWEEPS = 30
"""How often the entries of everybody are scaled to people and fragments in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The fragments of one block in which people are looked for: of entry i the `count[i]` hits from `begin[i]` on. A hit is
    a cell of the block, each of whose fragments has the hit's weight."""

    block: int
    cells: Cells
    begin: Ints
    count: Ints
    cell: Ints
    weight: Floats

    def all(self) -> tuple[Ints, Ints]:
        """The entry and the number of every hit."""
        return np.repeat(np.arange(len(self.count)), self.count), expand(self.begin, self.count)

    def take(self, which: Ints) -> Hits:
        """The hits of some entries."""
        return replace(self, begin=self.begin[which], count=self.count[which])


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The classes in which people are looked for: entry i looks for person `row[i]` in class `bucket[i]`, which counts
    `factor[i]` times. `weighed` says whether labels were weighed by how likely they are at large."""

    linked: Posterior | Nearest
    columns: tuple[str, ...]
    people: Codes
    """The distinct people (people × columns)."""
    row_of: Ints
    """The number of each target among them."""
    row: Ints
    bucket: Ints
    factor: Floats
    hits: tuple[Hits, ...]
    weighed: bool

    @classmethod
    def of(cls, beliefs: Beliefs, knowledge: Knowledge) -> Found | None:
        """Where some beliefs look for people; None if they do not look for anybody (the prior) or for somebody else (a
        release without the own record)."""
        if isinstance(beliefs, Some):
            everybody = cls._linked(beliefs.everybody)
            return None if everybody is None else cls._of(everybody.take(np.flatnonzero(beliefs.which)), knowledge)
        linked = cls._linked(beliefs)
        return None if linked is None else cls._of(linked, knowledge)

    @staticmethod
    def _linked(beliefs: Beliefs) -> Posterior | Nearest | None:
        return beliefs if isinstance(beliefs, Posterior | Nearest) else None

    @classmethod
    def _of(cls, linked: Posterior | Nearest, knowledge: Knowledge) -> Found:
        told = np.column_stack([knowledge.codes, linked.row_of.astype(np.int32)])
        distinct, row_of = distinct_people(told)
        where = distinct[:, -1].astype(np.int64)
        first = np.searchsorted(linked.entries.row, where)
        count = np.searchsorted(linked.entries.row, where, side="right") - first
        entry, row = expand(first, count), np.repeat(np.arange(len(distinct)), count)
        if isinstance(linked, Posterior):
            bucket = linked.entries.bucket[entry]
            hits = tuple(_of_match(linked, place, entry) for place in range(len(linked.matching.blocks)))
            weighed = linked.link is Link.LIKELIHOOD
        else:
            row, bucket, one = _nearest(linked, row, entry)
            hits, weighed = (one,), True
        factor = np.ones(len(row))
        if linked.weighting is Weighting.PAPER:
            factor /= np.maximum(linked.release.sizes[bucket], 1)
        return cls(linked, knowledge.columns, distinct[:, :-1], row_of, row, bucket, factor, hits, weighed)

    @property
    def complete(self) -> bool:
        """Whether these people are everybody in the release, each in one class of several blocks, under labels of which one
        fits in each block: who is in which class can then be fitted for all of them at once."""
        release = self.linked.release
        people = len(self.row_of) == int(release.sizes[~release.suppressed].sum())
        granted = isinstance(self.linked, Posterior) and self.linked.link is Link.CLASS
        return people and not granted and len(self.hits) > 1 and all((one.count == 1).all() for one in self.hits)

    def jointly(self, total: Floats) -> Found:
        """The entries weighed so that everybody is in one class, and every fragment is one person's: their `total` masses
        scaled to both in turn (iterative proportional fitting)."""
        fitted = total.copy()
        people = np.bincount(self.row_of, minlength=len(self.people)).astype(np.float64)
        cells = [one.cell[one.begin] for one in self.hits]
        for _ in range(_SWEEPS):
            for one, cell in zip(self.hits, cells, strict=True):
                fitted *= _scale(one.cells.count.astype(np.float64), cell, fitted)
            fitted *= _scale(people, self.row, fitted)
        factor = np.divide(fitted, total, out=np.zeros(len(total)), where=total > 0)
        return replace(self, factor=self.factor * factor)

    def take(self, which: Ints) -> Found:
        """Some of the entries."""
        hits = tuple(one.take(which) for one in self.hits)
        return replace(self, row=self.row[which], bucket=self.bucket[which], factor=self.factor[which], hits=hits)

    def parts(self, each: Ints, most: int) -> Iterator[Found]:
        """The entries in parts that fit into memory: about `most` hits times what `each` class counts."""
        load = np.ones(len(self.row), dtype=np.int64)
        for hits in self.hits:
            load += hits.count
        part = np.cumsum(load * each[self.bucket]) // most
        edges = np.flatnonzero(np.diff(part, prepend=-1, append=-1))
        for begin, end in pairwise(edges):
            yield self.take(np.arange(begin, end))


def _scale(wanted: Floats, group: Ints, fitted: Floats) -> Floats:
    """What each entry is multiplied by so that its group sums to what is wanted."""
    there = np.bincount(group, weights=fitted, minlength=len(wanted))
    return np.asarray(np.divide(wanted, there, out=np.zeros(len(wanted)), where=there > 0)[group])


def _of_match(linked: Posterior, place: int, entry: Ints) -> Hits:
    """The hits of one block; all its fragments in a granted class in which nothing fits."""
    match, masses = linked.matching.matches[place], linked.masses[place]
    cells, group, bucket = match.cells, linked.entries.group[place][entry], linked.entries.bucket[entry]
    weight = masses.weight[cells.pattern[match.hit_cell]]
    if masses.likelihood is not None:
        weight = weight * masses.likelihood
    fits: Bools = group >= 0
    begin = cells.start[bucket] + len(match.hit_cell)
    count = cells.start[bucket + 1] - cells.start[bucket]
    begin[fits], count[fits] = match.hits(group[fits]) if fits.any() else (begin[fits], count[fits])
    everything = np.arange(len(cells.bucket))
    return Hits(
        linked.matching.blocks[place],
        cells,
        begin,
        count,
        np.concatenate([match.hit_cell, everything]),
        np.concatenate([weight, np.ones(len(everything))]),
    )


def _nearest(linked: Nearest, row: Ints, entry: Ints) -> tuple[Ints, Ints, Hits]:
    """The classes of the nearest cells of people, and these as hits."""
    cells = linked.search.cells
    cell = linked.entries.cell[entry]
    key = row * len(linked.release.sizes) + cells.bucket[cell]  # ascending, since cells are ordered by bucket
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(np.append(begin, len(key)))
    hits = Hits(linked.search.block, cells, begin, count, cell, linked.entries.weight[entry])
    return row[begin], cells.bucket[cell[begin]], hits
