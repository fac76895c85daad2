"""Predicates: how many people of a release meet some conditions on their values, and how likely each does.

A predicate allows some values in some columns. A fragment whose label lies within the allowed values meets it for certain.
If only some of the label's values are allowed, it does so with their share in the label; columns of one block count as
independent within their labels. Across blocks a fragment meets the rest with the share of its class's fragments that do. The
number of people who meet a predicate is then a sum of independent yes-or-no events, one per fragment of the block in which
the fewest do.

A centroid is not a value of its column. It stands for the values that are nearer to it than to any other centroid. In a
column with centroids every number is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.release import Release
from auditor.posterior.kernels import thinned

Meeting = Mapping[int, tuple[Ints, Floats]]
"""For each block with conditions the kinds of fragments that may meet them, and their probabilities."""


_NOISE = 1e-9
_MOST_KNOWN = 4_000_000
"""Of conditions on one column so many shares are kept: the same labels come again and again. So many kinds as well of
conditions on several columns whose weight is asked for, which mostly begin alike."""


class Sets:
    """The values that the labels of a column denote, and the share of each value among people at large."""

    def __init__(self, labels: Labels, used: Ints, shares: Floats) -> None:
        size = labels.domain.size
        # a value that nobody seems to have is still possible
        self.shares = (shares + 1e-9 / size) / (shares.sum() + 1e-9)
        self.lo, self.hi = labels.lo.astype(np.int64), labels.hi.astype(np.int64)
        self._read_centroids(labels, used)
        self.gaps = labels.gaps
        rows = np.repeat(np.arange(len(self.gaps)), [len(codes) for codes in self.gaps.values()])
        codes = np.concatenate([*self.gaps.values(), np.empty(0, dtype=np.int32)])
        self._listed = sparse.csr_array((np.ones(len(codes)), (rows, codes)), shape=(len(self.gaps), size))
        self._whole = self._mass(self.shares)

    def _read_centroids(self, labels: Labels, used: Ints) -> None:
        none = used[self.lo[used] > self.hi[used]]
        if not len(none):
            return
        numbers = labels.domain.numbers
        if numbers is None or not len(numbers):
            self.lo[none], self.hi[none] = 0, labels.domain.size - 1
            return
        none = used[labels.low[used] == labels.high[used]]  # a centroid may happen to be a value
        centres = np.unique(labels.low[none])
        middle = (centres[1:] + centres[:-1]) / 2
        first = np.concatenate([[0], np.searchsorted(numbers, middle)])
        last = np.concatenate([first[1:], [len(numbers)]]) - 1
        after = np.clip(np.searchsorted(numbers, centres), 1, max(len(numbers) - 1, 1))
        nearest = np.minimum(
            after - (centres - numbers[after - 1] <= numbers[after % len(numbers)] - centres), last.max()
        )
        empty = last < first
        place = np.searchsorted(centres, labels.low[none])
        self.lo[none] = np.where(empty, nearest, first)[place]
        self.hi[none] = np.where(empty, nearest, last)[place]

    def codes(self, label: int) -> Ints:
        """The values that a label denotes."""
        if label in self.gaps:
            return self.gaps[label].astype(np.int64)
        return np.arange(self.lo[label], self.hi[label] + 1)

    def _mass(self, weights: Floats) -> Floats:
        running = np.concatenate([[0.0], np.cumsum(weights)])
        total: Floats = running[self.hi + 1] - running[np.minimum(self.lo, self.hi + 1)]
        if self.gaps:
            total[list(self.gaps)] = np.asarray(self._listed @ weights)
        return total

    def within(self, allowed: Bools) -> Floats:
        """For each label the share of its people who have an allowed value."""
        inside = self._mass(np.where(allowed, self.shares, 0.0))
        share = np.clip(inside / np.where(self._whole > 0, self._whole, 1.0), 0.0, 1.0)
        return np.where(share > 1 - 1e-9, 1.0, np.where(share < 1e-12, 0.0, share))


class ReleasedPeople:
    """The people of a release, as far as it tells who meets a predicate. Fragments of one class that are alike are counted
    once, as a kind of so many people."""

    def __init__(self, release: Release, columns: Sequence[str], shares: Mapping[str, Floats]) -> None:
        self.release = release
        self._block = {column: release.block_number(column) for column in columns}
        self._place = {column: place for place, column in enumerate(columns)}
        self.sets, self._cells = {}, {}
        self._bucket, self._times = {}, {}
        self._known: dict[tuple[str, bytes], tuple[Floats, Ints]] = {}
        self._weighed: dict[tuple[tuple[str, bytes], ...], tuple[Meeting, float]] = {}
        self._weighed_kinds = 0
        self._mass: dict[tuple[str, bytes], float] = {}
        for number in sorted(set(self._block.values())):
            block, own = release.blocks[number], [c for c in columns if self._block[c] == number]
            kind = distinct_rows(np.column_stack([block.bucket, *(block.cell(column) for column in own)]))
            first = np.zeros(int(kind.max(initial=-1)) + 1, dtype=np.int64)
            first[kind] = np.arange(len(kind))
            self._bucket[number] = block.bucket[first]
            self._times[number] = np.bincount(kind, minlength=len(first)).astype(np.float64)
            for column in own:
                self._cells[column] = block.cell(column)[first]
                self.sets[column] = Sets(release.labels[column], np.unique(self._cells[column]), shares[column])

    def _met(self, column: str, allowed: Bools) -> tuple[Floats, Ints]:
        """For each kind of fragment the share of its people who have an allowed value, and the kinds with any."""
        key = column, allowed.tobytes()
        found = self._known.get(key)
        if found is None:
            share = self.sets[column].within(allowed)[self._cells[column]]
            found = self._known[key] = share, np.flatnonzero(share)
            if len(self._known) * len(share) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return found

    def meeting(self, column: str, allowed: Bools, so_far: Meeting | None = None) -> Meeting:
        """Who meets a condition on one column, in addition to those on others."""
        (share, some), block = self._met(column, allowed), self._block[column]
        found = {} if so_far is None else dict(so_far)
        if block in found:
            found[block] = thinned(*found[block], share)
        else:
            found[block] = some, share[some]
        return found

    def chances(self, found: Meeting, but: int | None = None) -> tuple[Floats, Floats]:
        """The positive probabilities of meeting all conditions, for each kind of fragment of the block in which the fewest
        do, and of how many people each is; `but` for those of one class."""
        fewest = next(iter(found))
        if len(found) > 1:
            total = {b: float((chance * self._times[b][place]).sum()) for b, (place, chance) in found.items()}
            fewest = min(found, key=lambda block: (round(total[block], 9), block))
        place, chance = found[fewest]
        if len(found) == 1 and but is None:
            return chance, self._times[fewest][place]
        bucket = self._bucket[fewest][place]
        for block, (other, meets) in found.items():
            if block != fewest:
                whose, amount = self._bucket[block][other], meets * self._times[block][other]
                people = np.bincount(whose, weights=amount, minlength=len(self.release.sizes))
                chance = chance * (people / np.maximum(self.release.sizes, 1))[bucket]
        there = (chance > 0) & (True if but is None else bucket != but)
        return chance[there], self._times[fewest][place[there]]

    def expected(self, found: Meeting) -> float:
        """How many people may be expected to meet all conditions."""
        chance, times = self.chances(found)
        return float((chance * times).sum())

    def weight(self, predicate: Mapping[str, Bools]) -> float:
        """The share of people at large who meet a predicate that was made from somebody's record, as far as the release
        tells. The conditions that most people meet come first. Of those who meet the first so many, the one whose record it
        is told nothing new and is left out; the share of the others counts as it is, and the remaining conditions as
        independent of it. The highest of these estimates is taken: columns that go together make a predicate heavier than
        independent ones would, and people whom the release puts apart make it look lighter than it is."""
        size = max(self.release.rows - 1, 1)
        known = {column: (column, allowed.tobytes()) for column, allowed in predicate.items()}
        for column, allowed in predicate.items():
            if known[column] not in self._mass:
                self._mass[known[column]] = float((self.sets[column].shares * allowed).sum())
        mass = {column: self._mass[key] for column, key in known.items()}
        order = sorted(predicate, key=lambda column: (-round(mass[column], 12), self._place[column]))
        after = [1.0]
        for column in reversed(order):
            after.append(after[-1] * mass[column])
        after.reverse()
        heaviest, found = after[0], None
        conditions = tuple(known[column] for column in order)
        for place, column in enumerate(order):
            found, others = self._weigh(conditions[: place + 1], predicate[column], found)
            heaviest = max(heaviest, others / size * after[place + 1])
            if others <= _NOISE:
                break
        return float(f"{heaviest:.9g}")  # sums in another order differ in the last digits

    def _weigh(
        self, conditions: tuple[tuple[str, bytes], ...], allowed: Bools, so_far: Meeting | None
    ) -> tuple[Meeting, float]:
        """Who meets some conditions, of which the last allows these values, and how many they are without one of them."""
        known = self._weighed.get(conditions)
        if known is None:
            found = self.meeting(conditions[-1][0], allowed, so_far)
            chance, times = self.chances(found)
            known = self._weighed[conditions] = found, float((chance * times).sum() - chance.max(initial=0.0))
            self._weighed_kinds += sum(len(place) for place, _ in found.values())
            if self._weighed_kinds > _MOST_KNOWN:
                self._weighed, self._weighed_kinds = {}, 0
        return known
