"""Matching: which fragments of a block are compatible with what is known about each person.

Fragments are collapsed to *cells* (class × distinct labels over the known columns, with a count) and cells to label
*patterns*; people are collapsed to distinct known tuples. The bitset kernel matches tuples to patterns, the rest is sparse
bookkeeping. A weight per pattern (1, or 1/q(labels) under the link model `likelihood`) turns counts into masses. If known
values may be wrong or are missing (`noise.py`), a fragment also counts by its likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.release import Block, Release
from auditor.posterior.kernels import allow_intervals, match
from auditor.posterior.noise import Doubt, Noise

MASK_WORDS = 1 << 24
"""The most words (of 64 patterns) that the masks of one pass may use: 128 MB. More patterns need more passes."""

MOST_PAIRS = 50_000_000
"""The limit on pairs of a known tuple and a pattern that it may fit, if known values may be wrong."""
_PEOPLE = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a block over some of its columns, ordered by bucket."""

    columns: tuple[str, ...]
    bucket: Ints
    """The class of each cell."""
    pattern: Ints
    """The pattern of each cell."""
    count: Ints
    """The number of fragments of each cell."""
    start: Ints
    """The first cell of each class."""
    of_fragment: Ints
    """The cell of each fragment."""
    labels: Codes
    """The label numbers of each pattern (patterns × columns)."""

    @classmethod
    def of(cls, block: Block, columns: Sequence[str], buckets: int) -> Cells:
        """The cells of a block over `columns`."""
        chosen = (
            np.column_stack([block.cell(c) for c in columns]) if columns else np.empty((len(block.bucket), 0), np.int32)
        )
        pattern = distinct_rows(chosen)
        patterns = int(pattern.max(initial=-1)) + 1
        labels = np.empty((patterns, len(columns)), dtype=np.int32)
        labels[pattern] = chosen
        key = block.bucket.astype(np.int64) * max(patterns, 1) + pattern
        distinct, of_fragment, count = np.unique(key, return_inverse=True, return_counts=True)
        bucket, cell_pattern = np.divmod(distinct, max(patterns, 1))
        start = np.searchsorted(bucket, np.arange(buckets + 1))
        return cls(tuple(columns), bucket, cell_pattern, count, start, of_fragment.reshape(-1), labels)


def distinct_people(codes: Codes) -> tuple[Codes, Ints]:
    """The distinct rows of `codes`, sorted, and the number of each row's distinct one."""
    number = distinct_rows(codes)
    tuples = np.empty((int(number.max(initial=-1)) + 1, codes.shape[1]), dtype=np.int32)
    tuples[number] = codes
    order = np.lexsort(tuples.T[::-1]) if codes.shape[1] else np.arange(len(tuples))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return tuples[order], rank[number]


def match_patterns(release: Release, columns: Sequence[str], labels: Codes, people: Codes) -> tuple[Ints, Codes]:
    """The patterns (`labels`: patterns × columns) compatible with each of the distinct `people`, as row starts and
    pattern numbers in ascending order."""
    return match_labels([release.labels[c] for c in columns], labels, people, [None] * len(columns))


def match_labels(
    columns: Sequence[Labels], labels: Codes, people: Codes, doubts: Sequence[Doubt | None]
) -> tuple[Ints, Codes]:
    """The same over any labels; `doubts` tell how the known values of a column may be wrong, and -1 fits everything."""
    if not len(people) or not len(labels):
        return np.zeros(len(people) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    slots = Slots.of(columns, people)
    step = 64 * max(MASK_WORDS // slots.masks, 1)
    passes = []
    for begin in range(0, len(labels), step):
        masks = slots.allowed(columns, labels[begin : begin + step], doubts)
        starts, found = match(slots.keys, masks, slots.first)
        passes.append((starts, found + np.int32(begin)))
    return _unsort(*_merge(passes), slots.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """People as the kernels take them: sorted, their values numbered within each column. Columns of few values come first,
    so that people have long prefixes in common."""

    order: Ints
    """The columns, in the order in which they are looked at."""
    known: tuple[Codes, ...]
    """The values of each that occur."""
    first: Ints
    """The first mask of each."""
    masks: int
    """The number of masks: one for each value of each column."""
    keys: Codes
    """By person, the numbers of their values."""
    rows: Ints
    """Which of the people as they were given each one is."""

    @classmethod
    def of(cls, columns: Sequence[Labels], people: Codes) -> Slots:
        """The slots of distinct people (codes over the columns)."""
        order = np.argsort([one.domain.size for one in columns], kind="stable")
        slots, known, first = [], [], [0]
        for a in order:
            values, slot_of = np.unique(people[:, a], return_inverse=True)
            slots.append(slot_of.reshape(-1).astype(np.int32))
            known.append(values)
            first.append(first[-1] + len(values))
        keys = np.column_stack(slots)
        rows = np.lexsort(keys.T[::-1])
        return cls(order, tuple(known), np.array(first[:-1]), first[-1], np.ascontiguousarray(keys[rows]), rows)

    def allowed(self, columns: Sequence[Labels], labels: Codes, doubts: Sequence[Doubt | None]) -> NDArray[np.uint64]:
        """By value, one bit for each of some patterns of `labels` that may hold it."""
        masks = np.zeros((self.masks, (len(labels) + 63) // 64), dtype=np.uint64)
        for place, a in enumerate(self.order):
            begin, values = self.first[place], self.known[place]
            _allow(columns[a], labels[:, a], values, masks[begin : begin + len(values)], doubts[a])
        return masks


def _merge(passes: list[tuple[Ints, Codes]]) -> tuple[Ints, Codes]:
    """The row lists of several passes as one, each row's first pass first."""
    if len(passes) == 1:
        return passes[0]
    starts = np.sum([part for part, _ in passes], axis=0)
    owner = np.concatenate([np.repeat(np.arange(len(part) - 1), np.diff(part)) for part, _ in passes])
    return starts, np.concatenate([found for _, found in passes])[np.argsort(owner, kind="stable")]


def _allow(labels: Labels, chosen: Codes, values: Codes, mask: NDArray[np.uint64], doubt: Doubt | None) -> None:
    """Sets in the mask of each known value the bits of the patterns that may hold it; `chosen` are their labels."""
    unknown = int(values[0] < 0)
    if unknown:
        mask[0] = _bits(np.ones(len(chosen), dtype=np.bool_))
    if doubt is not None:
        for place, value in enumerate(values[unknown:], unknown):
            mask[place] = _bits(doubt.possible(labels, int(value))[chosen])
        return
    slot = np.full(labels.domain.size, -1, dtype=np.int32)
    slot[values[unknown:]] = np.arange(unknown, len(values), dtype=np.int32)
    lo, hi = labels.lo[chosen].copy(), labels.hi[chosen].copy()
    for label, codes in labels.gaps.items():
        patterns = np.flatnonzero(chosen == label)
        hi[patterns] = lo[patterns] - 1  # not an interval: set its bits one value at a time
        bits = np.uint64(1) << (patterns & 63).astype(np.uint64)
        for value in codes[slot[codes] >= 0]:
            np.bitwise_or.at(mask[slot[value]], patterns >> 6, bits)
    allow_intervals(mask, lo, hi, slot)


def _bits(fits: Bools) -> NDArray[np.uint64]:
    """Truth values as words of 64 bits, the first in the lowest bit."""
    padded = np.zeros((len(fits) + 63) // 64 * 64, dtype=np.bool_)
    padded[: len(fits)] = fits
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def match_doubtful(
    columns: Sequence[Labels], labels: Codes, people: Codes, doubts: Sequence[Doubt | None]
) -> tuple[Ints, Codes]:
    """`match_labels` for values that may be wrong, which may fit very much: refused if it does not fit into memory."""
    starts, found, total = [np.zeros(1, dtype=np.int64)], [], 0
    for begin in range(0, len(people), _PEOPLE):
        ends, some = match_labels(columns, labels, people[begin : begin + _PEOPLE], doubts)
        starts.append(ends[1:] + total)
        found.append(some)
        total += len(some)
        if total > MOST_PAIRS:
            raise UsageError(
                f"What is known, with its errors, fits more than {MOST_PAIRS // 1_000_000} million pairs of a person and a "
                "record. Make fewer columns stale or missing, or attack fewer people."
            )
    return np.concatenate(starts), np.concatenate(found) if found else np.empty(0, dtype=np.int32)


def _unsort(starts: Ints, found: Codes, rows: Ints) -> tuple[Ints, Codes]:
    """Row lists of sorted people back in the people's own order."""
    lengths = np.empty(len(rows), dtype=np.int64)
    lengths[rows] = np.diff(starts)
    back = np.concatenate([[0], np.cumsum(lengths)])
    source = np.empty(len(rows), dtype=np.int64)
    source[rows] = starts[:-1]
    return back, found[expand(source, lengths)]


def expand(first: Ints, lengths: Ints) -> Ints:
    """The indices first[i], first[i]+1, … (lengths[i] of them) for each i, in one array."""
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    offset = np.repeat(first - (ends - lengths), lengths)
    return np.asarray(np.arange(total, dtype=np.int64) + offset)


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """The masses of each group of a `BlockMatch`."""

    weight: Floats
    """The weight of each pattern. A fragment weighs this times the likelihood of its hit."""
    likelihood: Floats | None
    """The likelihood of each hit; None if all are 1."""
    total: Floats
    """The total weight of the compatible fragments of each group."""
    best: Floats
    """The largest weight of one fragment."""
    best_count: Floats
    """How many fragments have that weight."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockMatch:
    """Compatible cells of one block, for each distinct way to match it.

    `way_of` maps each person to their way. People whose known values fit the same patterns share one; if these may be wrong,
    people with the same known values do. Hits are (way, cell) pairs, ascending: `hit_key` = way * cells + cell. Groups are
    the hits of one (way, bucket), ascending: `key` = way * buckets + bucket, `begin` the first hit of each group.
    """

    cells: Cells
    way_of: Ints
    ways: int
    buckets: int
    hit_key: Ints
    hit_cell: Ints
    key: Ints
    begin: Ints
    noise: Noise | None = None

    @classmethod
    def of(
        cls, release: Release, cells: Cells, people: Codes, counted: Bools, doubts: Mapping[str, Doubt] | None = None
    ) -> BlockMatch:
        """Matches `people` (codes over the cells' columns) with the cells in classes that are `counted`; `doubts` tell how
        the values of a column may be wrong."""
        tuples, tuple_of = distinct_people(people)
        noise = None
        if doubts or (people < 0).any():
            labels = tuple(release.labels[c] for c in cells.columns)
            noise = Noise(cells.columns, labels, tuple((doubts or {}).get(c) for c in cells.columns), tuples)
            starts, pattern = match_doubtful(labels, cells.labels, tuples, noise.doubts)
            way_of_tuple = first = np.arange(len(tuples), dtype=np.int64)
        else:
            starts, pattern = match_patterns(release, cells.columns, cells.labels, tuples)
            way_of_tuple, first = _ways(starts, pattern, len(cells.labels))
        source, lengths = starts[first], starts[first + 1] - starts[first]
        pattern = pattern[expand(source, lengths)]
        by_pattern = np.argsort(cells.pattern, kind="stable")
        pattern_start = np.searchsorted(cells.pattern[by_pattern], np.arange(len(cells.labels) + 1))
        fan = pattern_start[pattern + 1] - pattern_start[pattern]
        way = np.repeat(np.repeat(np.arange(len(first)), lengths), fan)
        cell = by_pattern[expand(pattern_start[pattern], fan)]
        keep = counted[cells.bucket[cell]]
        way, cell = way[keep], cell[keep]
        hit_key = np.sort(way * max(len(cells.bucket), 1) + cell)
        way, cell = np.divmod(hit_key, max(len(cells.bucket), 1))
        buckets = len(release.sizes)
        group = way * buckets + cells.bucket[cell]  # ascending, since cells are ordered by bucket
        begin = np.flatnonzero(np.diff(group, prepend=-1))
        return cls(cells, way_of_tuple[tuple_of], len(first), buckets, hit_key, cell, group[begin], begin, noise)

    def hit_pairs(self) -> tuple[Ints, Ints]:
        """The way and the pattern of each hit."""
        return self.hit_key // max(len(self.cells.bucket), 1), self.cells.pattern[self.hit_cell]

    def masses(self, weight: Floats, likelihood: Floats | None = None) -> Masses:
        """The masses of the groups if a fragment with pattern p weighs `weight[p]` times the `likelihood` of its hit."""
        each = weight[self.cells.pattern[self.hit_cell]]
        if likelihood is not None:
            each = each * likelihood
        count = self.cells.count[self.hit_cell].astype(np.float64)
        if not len(self.begin):
            return Masses(weight, likelihood, np.empty(0), np.empty(0), np.empty(0))
        total = np.add.reduceat(each * count, self.begin)
        best = np.maximum.reduceat(each, self.begin)
        lengths = np.diff(np.append(self.begin, len(each)))
        at_best = each >= np.repeat(best, lengths) * (1 - 1e-12)
        return Masses(weight, likelihood, total, best, np.add.reduceat(np.where(at_best, count, 0.0), self.begin))

    def groups_of_ways(self) -> tuple[Ints, Ints]:
        """For each way its first group and its number of groups: the classes it is compatible with."""
        edges = np.searchsorted(self.key, np.arange(self.ways + 1) * self.buckets)
        return edges[:-1], np.diff(edges)

    def group(self, way: Ints, bucket: Ints) -> Ints:
        """The groups of (way, bucket) pairs; -1 if nothing in the class is compatible."""
        return _find(self.key, way * self.buckets + bucket)

    def hits(self, group: Ints) -> tuple[Ints, Ints]:
        """The first hit of each group, and its number of hits."""
        end = np.append(self.begin, len(self.hit_cell))
        return self.begin[group], end[group + 1] - self.begin[group]

    def weights(self, masses: Masses, way: Ints, cell: Ints) -> Floats:
        """The weight of a fragment for each (way, cell) pair; 0 if they are not compatible."""
        hit = _find(self.hit_key, way * max(len(self.cells.bucket), 1) + cell)
        weight = np.where(hit >= 0, masses.weight[self.cells.pattern[cell]], 0.0)
        if masses.likelihood is not None and len(masses.likelihood):
            weight *= masses.likelihood[hit]
        return weight


def _find(sorted_keys: Ints, wanted: Ints) -> Ints:
    """The place of each wanted key among sorted ones, -1 if it is not there."""
    place = np.searchsorted(sorted_keys, wanted)
    hit = np.zeros(len(wanted), dtype=np.bool_)
    inside = place < len(sorted_keys)
    hit[inside] = sorted_keys[place[inside]] == wanted[inside]
    return np.where(hit, place, -1)


def _ways(starts: Ints, pattern: Codes, patterns: int) -> tuple[Ints, Ints]:
    """Groups rows with the same pattern lists: for each row its way, and for each way one row.

    Lists are compared by two sums of fixed random 64-bit numbers, one per pattern: the probability that two different lists
    among a million agree in both is below 1e-26.
    """
    marks = np.random.default_rng(0).integers(0, 2**64, size=(2, patterns), dtype=np.uint64)
    rows = len(starts) - 1
    sums = np.zeros((rows, 2), dtype=np.uint64)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        for i in range(2):
            sums[filled, i] = np.add.reduceat(marks[i][pattern], starts[filled])
    packed = np.ascontiguousarray(sums).view([("a", np.uint64), ("b", np.uint64)]).reshape(-1)
    _, first, way = np.unique(packed, return_index=True, return_inverse=True)
    return way.reshape(-1).astype(np.int64), first.astype(np.int64)
