"""Candidates: what is known about people, matched with a whole release: who could be in which class.

Shared by all link models. People who cannot be told apart (they match every block in the same way) share a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.packing import distinct_rows
from auditor.model.release import Release, Suppression
from auditor.posterior.beliefs import meaning
from auditor.posterior.matching import BlockMatch, Cells, Masses, expand
from auditor.posterior.noise import Reading, doubts
from auditor.posterior.population import IndependentPopulation, Population, RegisterPopulation


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The (row, bucket) pairs with positive probability, ordered by row; `group[i]` is the group of each in block match i,
    -1 if nothing in a granted class is compatible."""

    row: Ints
    bucket: Ints
    group: tuple[Ints, ...]

    def take(self, which: Ints | Bools) -> Entries:
        """Some of the entries."""
        return Entries(self.row[which], self.bucket[which], tuple(g[which] for g in self.group))


class Matching:
    """What is known, matched with a release: shared by all link models.

    `blocks[i]` is the number of the block that `matches[i]` matches; blocks about which nothing is known are left out.
    Targets that match in the same ways share a row: `row_of` maps targets to rows, `way[i]` rows to ways of match i.
    """

    def __init__(self, release: Release, knowledge: Knowledge, suppression: Suppression) -> None:
        self.release, self.knowledge, self.suppression = release, knowledge, suppression
        self.targets = knowledge.targets
        self._contents: dict[tuple[str, int | None], sparse.csr_array] = {}
        wildcard = suppression is Suppression.WILDCARD
        self.counted = np.ones(len(release.sizes), np.bool_) if wildcard else ~release.suppressed
        self.blocks: list[int] = []
        self.matches: list[BlockMatch] = []
        wrong = doubts({c: release.labels[c].domain for c in release.columns}, knowledge.errors)
        for number, block in enumerate(release.blocks):
            known = [c for c in knowledge.columns if c in block.columns]
            if known:
                cells = Cells.of(block, known, len(release.sizes))
                codes = knowledge.codes[:, [knowledge.columns.index(c) for c in known]]
                self.blocks.append(number)
                doubtful = {c: doubt for c, doubt in wrong.items() if c in known}
                self.matches.append(BlockMatch.of(release, cells, codes, self.counted, doubtful))

    def values(self, column: str, place: int | None) -> sparse.csr_array:
        """What the fragments of a sensitive column's block hold (see `content`)."""
        key = column, place
        if key not in self._contents:
            number = self.release.block_number(column)
            self._contents[key] = self.content(number, self.marks(column), self.meaning(column), place)
        return self._contents[key]

    def marks(self, column: str, share: Floats | None = None) -> sparse.csr_array:
        """The label of each fragment of a column's block (fragments × labels), counting by its share."""
        label, labels = self.release.block_of(column).cell(column), self.release.labels[column]
        ones = np.ones(len(label)) if share is None else share
        return sparse.csr_array((ones, (np.arange(len(label)), label)), shape=(len(label), len(labels.texts)))

    def meaning(self, column: str) -> sparse.csr_array:
        """What the labels of a sensitive column stand for (labels × codes)."""
        return meaning(self.release, column, self.knowledge.priors.get(column))

    def content(
        self, number: int, marks: sparse.csr_array, meaning: sparse.csr_array, place: int | None
    ) -> sparse.csr_array:
        """What the fragments of a block hold: the sum over each cell of match `place` or, for None, over each class. `marks`
        (fragments × marks) tells what a fragment counts for, `meaning` (marks × meanings) what that is."""
        fragments = np.arange(len(self.release.blocks[number].bucket))
        if place is None:
            group, groups = self.release.blocks[number].bucket.astype(np.int64), len(self.release.sizes)
        else:
            cells = self.matches[place].cells
            group, groups = cells.of_fragment, len(cells.bucket)
        held = sparse.csr_array((np.ones(len(fragments)), (group, fragments)), shape=(groups, len(fragments)))
        return sparse.csr_array((held @ marks) @ meaning)

    @property
    def inexact(self) -> bool:
        """Whether something that is known may be wrong or missing."""
        return any(m.noise is not None for m in self.matches)

    def alike(self, column: str | None) -> bool:
        """Whether everything that is known stands in one block, which has the column too (where one is asked about), under
        labels that do not overlap: everybody fits one combination of them at most."""
        if len(self.blocks) != 1 or (column is not None and self.release.block_number(column) != self.blocks[0]):
            return False
        return self._one_pattern

    @cached_property
    def _one_pattern(self) -> bool:
        """Whether everybody fits one combination of labels of the first match at most."""
        way, pattern = self.matches[0].hit_pairs()
        first = np.full(self.matches[0].ways, -1, dtype=np.int64)
        first[way] = pattern
        return bool((first[way] == pattern).all())

    def ungranted(self) -> Matching:
        """The same without granted classes, which only the link model `class` may know."""
        if self.knowledge.granted is None:
            return self
        other = copy(self)
        other.knowledge = replace(self.knowledge, granted=None)
        return other

    @cached_property
    def population(self) -> Population:
        """The population for `likelihood`: the adversary's list, or leaf volume if there is none."""
        return self._population(IndependentPopulation.volume(self.release))

    @cached_property
    def membership_population(self) -> Population:
        """The population for membership: the adversary's list, or the marginals of the release."""
        return self._population(IndependentPopulation.from_release(self.release))

    def _population(self, otherwise: IndependentPopulation) -> Population:
        register = self.knowledge.register
        return otherwise if register is None else RegisterPopulation(register, otherwise)

    def label_weights(self, population: Population) -> list[Floats]:
        """1/q(labels) for the patterns of each match."""
        return [1 / population.of_labels(self.release, m.cells.columns, m.cells.labels) for m in self.matches]

    def masses(self, weights: Sequence[Floats], population: Population, reading: Reading) -> list[Masses]:
        """The masses of each match, with the `weights` of its patterns; `population` tells whom the known values may mean."""
        return [
            match.masses(weight, self._likelihood(match, population, reading))
            for match, weight in zip(self.matches, weights, strict=True)
        ]

    def _likelihood(self, match: BlockMatch, population: Population, reading: Reading) -> Floats | None:
        """The likelihood of each hit of a match; None if nothing known may be wrong."""
        noise, patterns = match.noise, match.cells.labels
        if noise is None:
            return None
        way, pattern = match.hit_pairs()
        if reading is Reading.BAYES:
            return population.of_known(noise, way, patterns, pattern)
        every = [np.arange(len(labels.texts), dtype=np.int32).reshape(-1, 1) for labels in noise.labels]
        shares = [population.of_labels(self.release, [c], e) for c, e in zip(noise.columns, every, strict=True)]
        return noise.likelihood(way, patterns, pattern, reading, shares)

    def rows(self, granted: Codes | None) -> tuple[Ints, list[Ints], Ints | None]:
        """Targets that cannot be told apart share a row: the row of each target, the ways and granted class of each row."""
        parts: list[Ints] = [m.way_of for m in self.matches]
        if granted is not None:
            parts.append(granted.astype(np.int64))
        if not parts:
            return np.zeros(self.targets, dtype=np.int64), [], None
        stacked = np.column_stack(parts).astype(np.int32)
        row_of = distinct_rows(stacked)
        table = np.empty((int(row_of.max(initial=-1)) + 1, stacked.shape[1]), dtype=np.int64)
        table[row_of] = stacked
        ways = [table[:, i] for i in range(len(self.matches))]
        return row_of, ways, (None if granted is None else table[:, -1])

    def entries(self, ways: Sequence[Ints], rows: int, granted: Ints | None) -> Entries:
        """All (row, bucket) pairs in which every block has something compatible; with granted classes, only those."""
        if granted is not None:
            row = np.flatnonzero(granted >= 0)
            bucket = granted[row]
            groups = tuple(m.group(way[row], bucket) for m, way in zip(self.matches, ways, strict=True))
            return Entries(row, bucket, groups)
        if not self.matches:
            bucket = np.flatnonzero(self.counted if rows else self.counted[:0])
            return Entries(np.zeros(len(bucket), dtype=np.int64), bucket, ())
        fans = [m.groups_of_ways() for m in self.matches]
        totals = [int(count[way].sum()) for (_, count), way in zip(fans, ways, strict=True)]
        seed = int(np.argmin(totals))  # start from the most selective block, look the others up
        first, count = fans[seed][0][ways[seed]], fans[seed][1][ways[seed]]
        seeded = expand(first, count)
        row = np.repeat(np.arange(rows), count)
        bucket = self.matches[seed].key[seeded] % len(self.release.sizes)
        groups = tuple(
            seeded if i == seed else m.group(way[row], bucket)
            for i, (m, way) in enumerate(zip(self.matches, ways, strict=True))
        )
        everywhere = np.logical_and.reduce([g >= 0 for g in groups])
        return Entries(row, bucket, groups).take(everywhere)
