"""Fake tuples: combinations of quasi-identifiers that match a class of the release and that nobody in the data has.

Where a release has several blocks, every combination of one fragment of each block of a class may be a person. Most of them
are nobody: the more there are, the less it says that somebody matches. A release whose quasi-identifiers stand in one block
(Anatomy) has none, which is the slicing paper's argument that bucketization discloses who is in the data.

Different classes can hold the same combination, and it counts once. Up to `MOST` combinations are listed. Beyond that their
number is estimated (Karp and Luby 1983): draw a class in proportion to its combinations, and one of these; if it is in M
classes, it stands for 1/M of a combination.

Paper: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing", IEEE TKDE 2012, section on membership disclosure.
Decided here: combinations are of quasi-identifiers, which is what an adversary knows. Where labels cover several values
there is no count: what matches a label is not one combination.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from auditor.measure.intervals import mean_of
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.record.release_facts import FakeTuples
from auditor.model.release import Release

MOST = 4_000_000
"""Combinations that are listed one by one."""
DRAWS = 20_000
"""Combinations that are drawn where there are more."""


def fake_tuples(
    release: Release, people: Codes, rng: np.random.Generator, most: int = MOST, draws: int = DRAWS
) -> FakeTuples | None:
    """The number of fake tuples of a release about people with these quasi-identifiers (people × columns, in the order of
    `release.quasi`); None for a release of one block, or with labels that cover several values."""
    if len(release.blocks) < 2 or release.beyond is not None or not release.quasi or not release.exact:
        return None
    taken = int(distinct_rows(people).max(initial=-1)) + 1
    parts = [_patterns(release, number) for number, block in enumerate(release.blocks) if _known(release, number)]
    if len(parts) == 1:
        return FakeTuples(0, taken)
    classes = len(release.sizes)
    total = np.prod([np.bincount(bucket, minlength=classes).astype(np.float64) for bucket, _ in parts], axis=0)
    room = np.prod([float(pattern.max()) + 1 for _, pattern in parts])
    if total.sum() <= most and room < 2.0**62:
        return FakeTuples(_listed(parts, classes) - taken, taken)
    share = _distinct_share(parts, total, rng, draws)
    interval, all_of_them = mean_of(share), float(total.sum())
    ends = [max(round(all_of_them * end) - taken, 0) for end in (float(share.mean()), interval.low, interval.high)]
    return FakeTuples(ends[0], taken, ends[1], ends[2])


def _known(release: Release, number: int) -> list[str]:
    return [c for c in release.blocks[number].columns if c in release.quasi]


def _patterns(release: Release, number: int) -> tuple[Ints, Ints]:
    """The different fragments of a block in each class, by their quasi-identifiers: class and number of the pattern."""
    block = release.blocks[number]
    pattern = distinct_rows(np.column_stack([block.cell(c) for c in _known(release, number)]))
    width = int(pattern.max(initial=-1)) + 1
    key = np.unique(block.bucket.astype(np.int64) * width + pattern)
    return key // width, key % width


def _listed(parts: list[tuple[Ints, Ints]], classes: int) -> int:
    """How many different combinations there are, all of them listed."""
    ends = [np.searchsorted(bucket, np.arange(classes + 1)) for bucket, _ in parts]
    found = []
    for b in range(classes):
        keys = np.zeros(1, dtype=np.int64)
        for (_, pattern), end in zip(parts, ends, strict=True):
            here = pattern[end[b] : end[b + 1]]
            keys = (keys[:, None] * (int(pattern.max()) + 1) + here[None, :]).reshape(-1)
        found.append(keys)
    return len(np.unique(np.concatenate(found)))


def _distinct_share(parts: list[tuple[Ints, Ints]], total: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """1/M of combinations drawn from classes in proportion to their number: M classes have the combination."""
    chosen = rng.choice(len(total), size=draws, p=total / total.sum())
    matching = None
    for bucket, pattern in parts:
        start = np.searchsorted(bucket, chosen)
        length = np.searchsorted(bucket, chosen, side="right") - start
        drawn = pattern[start + (rng.random(draws) * length).astype(np.int64)]
        shape = (int(pattern.max()) + 1, len(total))
        holds = sparse.csr_array((np.ones(len(bucket)), (pattern, bucket)), shape=shape)[drawn]
        matching = holds if matching is None else matching.multiply(holds)
    assert matching is not None
    share: Floats = 1 / np.asarray(matching.sum(axis=1)).reshape(-1)
    return share
