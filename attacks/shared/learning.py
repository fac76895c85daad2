"""Learning from a release: how often each quasi-identifier value goes with each sensitive value, P(q|s).

Naive Bayes, since it asks for counts only, and expected counts will do: a label that covers several values counts for each
of them by what is believed so far (a few steps of EM), and where blocks were parted a fragment counts for every sensitive
value of its bucket, by the chance that they belong together. Nothing depends on a generator or on the order of rows.

Numbers are learned in `bins` bins of equal width, so that neighbours speak for each other; a numeric sensitive column in
`bins` classes of equal frequency. Rare values are drawn towards the shares of everybody (`PSEUDO` people for each bin).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.keeping import Memory, kept
from auditor.model.labels.labels import Labels
from auditor.model.release import Release
from auditor.posterior.beliefs import MOST_COLUMNS, covered
from auditor.posterior.matching import expand
from auditor.posterior.population import IndependentPopulation

PSEUDO = 1.0
_WIDE_STEPS = 10
"""Steps of EM that part the people of wide labels among the values they cover."""
_NEVER = 1e-300
_SMALL = 20_000
"""Up to so many pairs of a label and a bin their shares are listed in full."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A quasi-identifier as it is learned. `bin_of` is the bin of each code, `within` the share of a code in its bin, `cover`
    (labels × bins) the share of each bin that a label covers; `wide` says whether a label in use covers several values."""

    column: str
    block: int
    bin_of: Ints
    within: Floats
    cover: Floats | sparse.csr_array
    wide: bool

    @classmethod
    def of(cls, release: Release, column: str, bins: int, shares: Floats) -> Attribute:
        """The attribute for a published column; `shares` are those of its values among people."""
        labels = release.labels[column]
        number = release.block_number(column)
        bin_of = _bins(labels, bins)
        weight = shares + 1e-12
        within = weight / np.bincount(bin_of, weights=weight)[bin_of]
        size = len(bin_of)
        binning = sparse.csr_array((within, (np.arange(size), bin_of)), shape=(size, int(bin_of.max(initial=-1)) + 1))
        used = np.unique(release.blocks[number].cell(column))
        wide = bool((labels.counts[used] != 1).any())
        cover = sparse.csr_array(covered(labels) @ binning)
        small = cover.shape[0] * cover.shape[1] <= _SMALL  # where a plain product takes less time
        return cls(column, number, bin_of, within, cover.toarray() if small else cover, wide)

    def fitted(self, together: Floats) -> Floats:
        """P(bin|class) from how often each label goes with each class (labels × classes)."""
        back = self.cover.T
        start = back @ together.sum(axis=1, keepdims=True) + _NEVER
        table: Floats = np.repeat(start / start.sum(), together.shape[1], axis=1)
        for _ in range(_WIDE_STEPS if self.wide else 1):
            reached = np.maximum(self.cover @ table, _NEVER)
            counts = table * (back @ (together / reached))
            everybody = counts.sum(axis=1, keepdims=True)
            pseudo = PSEUDO * len(table) * everybody / max(everybody.sum(), _NEVER)
            table = (counts + pseudo) / np.maximum(counts.sum(axis=0) + pseudo.sum(), _NEVER)
        return np.maximum(table, _NEVER)

    def of_labels(self, table: Floats) -> Floats:
        """log P(label|class)."""
        return np.asarray(np.log(np.maximum(self.cover @ table, _NEVER)))

    def of_codes(self, table: Floats, codes: Codes) -> Floats:
        """log P(value|class) for people's values; 0 where a value is not known (-1)."""
        known = codes >= 0
        code = np.where(known, codes, 0)
        log = np.log(np.maximum(table[self.bin_of[code]] * self.within[code, None], _NEVER))
        return np.where(known[:, None], log, 0.0)


def _bins(labels: Labels, bins: int) -> Ints:
    """The bin of each code: numbers in bins of equal width, other values (and the missing one) in bins of their own."""
    domain = labels.domain
    own = np.arange(domain.size, dtype=np.int64)
    numbers = domain.numbers
    if numbers is None or len(numbers) <= bins:
        return own
    low, high = numbers[0], numbers[-1]
    place = np.minimum(((numbers - low) / (high - low) * bins).astype(np.int64), bins - 1)
    missing = np.full(domain.size - len(numbers), bins, dtype=np.int64)
    _, dense = np.unique(np.concatenate([place, missing]), return_inverse=True)
    return dense.reshape(-1).astype(np.int64)


def classes_of(labels: Labels, cells: Codes, bins: int) -> Ints:
    """The class of each label of a sensitive column: its own, or for many numbers one of `bins` of equal frequency."""
    times = np.bincount(cells, minlength=len(labels.texts))
    middle = (labels.low + labels.high) / 2
    number = ~np.isnan(middle) & ~labels.is_alias & (times > 0)
    if labels.domain.numbers is None or number.sum() <= bins:
        return np.arange(len(times), dtype=np.int64)
    values, rank = np.unique(middle[number], return_inverse=True)
    weight = np.bincount(rank.reshape(-1), weights=times[number], minlength=len(values))
    before = np.cumsum(weight) - weight
    quantile = np.minimum((before / weight.sum() * bins).astype(np.int64), bins - 1)
    out = bins + np.arange(len(times), dtype=np.int64)  # the others have classes of their own
    out[number] = quantile[rank.reshape(-1)]
    _, dense = np.unique(out, return_inverse=True)
    return dense.reshape(-1).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The fragments of a block that could go with a class: fragment `row[i]` with slot `slot[i]` of its bucket; ordered by
    fragment, whose first pair is `start`."""

    row: Ints
    slot: Ints
    start: Ints
    count: Ints


class Lesson:
    """What a release shows of one sensitive column: a *slot* is a class in a bucket, with `slot_count` people."""

    def __init__(self, release: Release, column: str, bins: int) -> None:
        self.release, self.column, self.memory = release, column, Memory()
        self.number = release.block_number(column)
        block, labels = release.blocks[self.number], release.labels[column]
        self.label = block.cell(column)
        self.of_label = classes_of(labels, self.label, bins)
        self.classes = int(self.of_label.max(initial=-1)) + 1
        self.of_fragment = self.of_label[self.label]
        key = block.bucket.astype(np.int64) * max(self.classes, 1) + self.of_fragment
        slots, count = np.unique(key, return_counts=True)
        bucket, self.slot_class = np.divmod(slots, max(self.classes, 1))
        self.slot_count = count.astype(np.float64)
        edges = np.searchsorted(bucket, np.arange(len(release.sizes) + 1))
        self.slot_first, self.slots = edges[:-1], np.diff(edges)
        shares = IndependentPopulation.from_release(release).shares
        self.attributes = tuple(Attribute.of(release, c, bins, shares[c]) for c in release.quasi if c != column)

    def pairs(self, block: int) -> Pairs:
        """All pairs of a block's fragments with the slots of their buckets."""
        bucket = self.release.blocks[block].bucket
        count = self.slots[bucket]
        row = np.repeat(np.arange(len(bucket)), count)
        return Pairs(row, expand(self.slot_first[bucket], count), np.cumsum(count) - count, count)

    def even(self, block: int, pairs: Pairs) -> Floats:
        """Every fragment belongs with every person of its bucket alike."""
        size = self.release.sizes[self.release.blocks[block].bucket].astype(np.float64)
        return np.asarray(self.slot_count[pairs.slot] / size[pairs.row])

    def tables(self, pairs: Mapping[int, Pairs], chance: Mapping[int, Floats]) -> dict[str, Floats]:
        """P(bin|class) of every attribute, by what belongs together with what chance; in the sensitive block that is
        published."""
        return {a.column: a.fitted(self._together(a, pairs, chance)) for a in self.attributes}

    def _together(self, attribute: Attribute, pairs: Mapping[int, Pairs], chance: Mapping[int, Floats]) -> Floats:
        label = self.release.blocks[attribute.block].cell(attribute.column).astype(np.int64)
        size = attribute.cover.shape[0]
        if attribute.block == self.number:
            key, weight = label * self.classes + self.of_fragment, None
        else:
            some = pairs[attribute.block]
            key = label[some.row] * self.classes + self.slot_class[some.slot]
            weight = chance[attribute.block]
        counts = np.bincount(key, weights=weight, minlength=size * self.classes)
        return counts.astype(np.float64).reshape(size, self.classes)

    def parted(self) -> dict[int, Pairs]:
        """The pairs of every block with a quasi-identifier that is parted from the sensitive column."""
        return {b: self.pairs(b) for b in sorted({a.block for a in self.attributes}) if b != self.number}


@kept(MOST_COLUMNS)
def lesson_of(release: Release, column: str, bins: int) -> Lesson:
    """The lesson of a column, for whatever learns from it."""
    return Lesson(release, column, bins)
