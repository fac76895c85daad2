"""Matching: which fragments of a block are compatible with what is known of each person.

Fragments are collapsed to *cells* (bucket × distinct labels over the known columns, with a count) and cells to label
*patterns*; people are collapsed to distinct known tuples. The bitset kernel matches tuples to patterns, the rest is
sparse bookkeeping. A weight per pattern (1, or 1/q(labels) under the link model `likelihood`) turns counts into masses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.model.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.release import Block, Release
from auditor.posterior.kernels import allow_intervals, match

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MASK_WORDS = 1 << 24
"""The most words (of 64 patterns) that the masks of one pass may take: 128 MB. More patterns take more passes."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a block over some of its columns, ordered by bucket.

    `bucket`, `pattern` and `count` have an entry a cell, `start[b]` is the first cell of bucket b, `of_fragment` the
    cell of each fragment, and `labels` (patterns × columns) the label numbers of each pattern.
    """

    columns: tuple[str, ...]
    bucket: Ints
    pattern: Ints
    count: Ints
    start: Ints
    of_fragment: Ints
    labels: NDArray[np.int32]

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


def distinct_people(codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], Ints]:
    """The distinct rows of `codes`, sorted, and for each row the number of its distinct one."""
    number = distinct_rows(codes)
    tuples = np.empty((int(number.max(initial=-1)) + 1, codes.shape[1]), dtype=np.int32)
    tuples[number] = codes
    order = np.lexsort(tuples.T[::-1]) if codes.shape[1] else np.arange(len(tuples))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return tuples[order], rank[number]


def match_patterns(
    release: Release, columns: Sequence[str], labels: NDArray[np.int32], people: NDArray[np.int32]
) -> tuple[Ints, NDArray[np.int32]]:
    """The patterns (`labels`: patterns × columns) compatible with each of the distinct `people`, as row starts and
    pattern numbers in ascending order."""
    if not len(people) or not len(labels):
        return np.zeros(len(people) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    sizes = [release.labels[c].domain.size for c in columns]
    order = np.argsort(sizes, kind="stable")  # coarse attributes first: long common prefixes
    slots, slot_of_code, first = [], [], [0]
    for a in order:
        values, slot_of = np.unique(people[:, a], return_inverse=True)
        slot = np.full(sizes[a], -1, dtype=np.int32)
        slot[values] = np.arange(len(values), dtype=np.int32)
        slots.append(slot_of.reshape(-1).astype(np.int32))
        slot_of_code.append(slot)
        first.append(first[-1] + len(values))
    keys = np.column_stack(slots)
    rows = np.lexsort(keys.T[::-1])
    keys = np.ascontiguousarray(keys[rows])
    step = 64 * max(MASK_WORDS // first[-1], 1)
    passes = []
    for begin in range(0, len(labels), step):
        part = labels[begin : begin + step]
        masks = np.zeros((first[-1], (len(part) + 63) // 64), dtype=np.uint64)
        for place, a in enumerate(order):
            mask = masks[first[place] : first[place + 1]]
            _allow(release.labels[columns[a]], part[:, a], slot_of_code[place], mask)
        starts, found = match(keys, masks, np.array(first[:-1]))
        passes.append((starts, found + np.int32(begin)))
    return _unsort(*_merge(passes), rows)


def _merge(passes: list[tuple[Ints, NDArray[np.int32]]]) -> tuple[Ints, NDArray[np.int32]]:
    """The row lists of several passes as one: each row's first pass first."""
    if len(passes) == 1:
        return passes[0]
    starts = np.sum([part for part, _ in passes], axis=0)
    owner = np.concatenate([np.repeat(np.arange(len(part) - 1), np.diff(part)) for part, _ in passes])
    return starts, np.concatenate([found for _, found in passes])[np.argsort(owner, kind="stable")]


def _allow(labels: Labels, chosen: NDArray[np.int32], slot: NDArray[np.int32], mask: NDArray[np.uint64]) -> None:
    lo, hi = labels.lo[chosen].copy(), labels.hi[chosen].copy()
    for label, codes in labels.gaps.items():
        patterns = np.flatnonzero(chosen == label)
        hi[patterns] = lo[patterns] - 1  # not an interval: set its bits one value at a time
        bits = np.uint64(1) << (patterns & 63).astype(np.uint64)
        for value in codes[slot[codes] >= 0]:
            np.bitwise_or.at(mask[slot[value]], patterns >> 6, bits)
    allow_intervals(mask, lo, hi, slot)


def _unsort(starts: Ints, found: NDArray[np.int32], rows: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Row lists of sorted people back in the people's own order."""
    lengths = np.empty(len(rows), dtype=np.int64)
    lengths[rows] = np.diff(starts)
    back = np.concatenate([[0], np.cumsum(lengths)])
    source = np.empty(len(rows), dtype=np.int64)
    source[rows] = starts[:-1]
    return back, found[expand(source, lengths)]


def expand(first: Ints, lengths: Ints) -> Ints:
    """The indices first[i], first[i]+1, … for lengths[i] places each, all in a row."""
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    offset = np.repeat(first - (ends - lengths), lengths)
    places: Ints = np.arange(total, dtype=np.int64) + offset
    return places


@dataclass(frozen=True, slots=True, eq=False)
class Masses:
    """Per group of a `BlockMatch`: the total weight of its compatible fragments, the largest weight of one fragment,
    and how many fragments have that weight."""

    weight: Floats
    total: Floats
    best: Floats
    best_count: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BlockMatch:
    """Compatible cells of one block, for each distinct way to match it.

    `way_of` maps each person to their way: people whose known values fit the same patterns share one. Hits are (way,
    cell) pairs, ascending: `hit_key` = way * cells + cell. Groups are the hits of one (way, bucket), ascending:
    `key` = way * buckets + bucket, `begin` the first hit of each group.
    """

    cells: Cells
    way_of: Ints
    ways: int
    buckets: int
    hit_key: Ints
    hit_cell: Ints
    key: Ints
    begin: Ints

    @classmethod
    def of(cls, release: Release, cells: Cells, people: NDArray[np.int32], counted: NDArray[np.bool_]) -> BlockMatch:
        """Matches `people` (codes over the cells' columns) with the cells in buckets that are `counted`."""
        tuples, tuple_of = distinct_people(people)
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
        return cls(cells, way_of_tuple[tuple_of], len(first), buckets, hit_key, cell, group[begin], begin)

    def masses(self, weight: Floats) -> Masses:
        """The masses of the groups where a fragment with pattern p weighs `weight[p]`."""
        each = weight[self.cells.pattern[self.hit_cell]]
        count = self.cells.count[self.hit_cell].astype(np.float64)
        if not len(self.begin):
            return Masses(weight, np.empty(0), np.empty(0), np.empty(0))
        total = np.add.reduceat(each * count, self.begin)
        best = np.maximum.reduceat(each, self.begin)
        lengths = np.diff(np.append(self.begin, len(each)))
        at_best = each >= np.repeat(best, lengths) * (1 - 1e-12)
        return Masses(weight, total, best, np.add.reduceat(np.where(at_best, count, 0.0), self.begin))

    def groups_of_ways(self) -> tuple[Ints, Ints]:
        """For each way its first group and how many it has: the buckets it is compatible with."""
        edges = np.searchsorted(self.key, np.arange(self.ways + 1) * self.buckets)
        return edges[:-1], np.diff(edges)

    def group(self, way: Ints, bucket: Ints) -> Ints:
        """The groups of (way, bucket) pairs; -1 where nothing of the bucket is compatible."""
        return _find(self.key, way * self.buckets + bucket)

    def hits(self, group: Ints) -> tuple[Ints, Ints]:
        """For groups their first hit, and how many hits they have."""
        end = np.append(self.begin, len(self.hit_cell))
        return self.begin[group], end[group + 1] - self.begin[group]

    def compatible(self, way: Ints, cell: Ints) -> NDArray[np.bool_]:
        """Whether each (way, cell) pair is compatible."""
        return _find(self.hit_key, way * max(len(self.cells.bucket), 1) + cell) >= 0


def _find(sorted_keys: Ints, wanted: Ints) -> Ints:
    """The place of each wanted key among sorted ones, -1 where it is not there."""
    place = np.searchsorted(sorted_keys, wanted)
    hit = np.zeros(len(wanted), dtype=np.bool_)
    inside = place < len(sorted_keys)
    hit[inside] = sorted_keys[place[inside]] == wanted[inside]
    return np.where(hit, place, -1)


def _ways(starts: Ints, pattern: NDArray[np.int32], patterns: int) -> tuple[Ints, Ints]:
    """Groups rows with the same pattern lists: for each row its way, and for each way one row.

    Lists are compared by two sums of fixed random 64-bit numbers, one a pattern: two different lists among a million
    share both with a probability below 1e-26.
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
