"""The oracle: the design's formulas in the slowest and most obvious way, people × buckets × fragments in plain loops.

Nothing here is shared with the engine but the data: labels as sets of codes, buckets, fragments. Leave-one-out is a
release from which the person's fragments were literally taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import isnan, prod

import numpy as np

from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.release import Block, Release, Suppression
from auditor.posterior.links import Link, Weighting

Compatible = list[tuple[int, float]]
"""Fragments with their weights."""


def codes(labels: Labels, label: int) -> set[int]:
    """The values that a label denotes."""
    if label in labels.gaps:
        return {int(code) for code in labels.gaps[label]}
    return set(range(int(labels.lo[label]), int(labels.hi[label]) + 1))


def believed(labels: Labels, label: int) -> set[int]:
    """The values that a published label makes people believe: a number outside the domain stands for the nearest one."""
    inside = codes(labels, label)
    if inside or isnan(labels.low[label]):
        return inside
    assert labels.domain.numbers is not None
    middle = (labels.low[label] + labels.high[label]) / 2
    distance = [abs(number - middle) for number in labels.domain.numbers]
    return {distance.index(min(distance))}


def without(release: Release, bucket: int, fragment: list[int]) -> Release:
    """The release without one person's fragments."""
    sizes = release.sizes.copy()
    sizes[bucket] -= 1
    blocks = []
    for block, gone in zip(release.blocks, fragment, strict=True):
        assert block.bucket[gone] == bucket
        kept = [i for i in range(len(block.bucket)) if i != gone]
        blocks.append(Block(block.columns, block.bucket[kept], block.cells[kept]))
    return replace(release, blocks=tuple(blocks), sizes=sizes)


@dataclass(frozen=True)
class Oracle:
    """All beliefs about one target after another."""

    release: Release
    knowledge: Knowledge
    link: Link
    weighting: Weighting = Weighting.SIZE
    suppression: Suppression = Suppression.EXCLUDED

    # ----- matching --------------------------------------------------------------------------------------------------

    def known(self, block: Block) -> list[str]:
        """What is known of a block's columns."""
        return [column for column in self.knowledge.columns if column in block.columns]

    def value(self, target: int, column: str) -> int:
        """What is known of a target."""
        return int(self.knowledge.codes[target, self.knowledge.columns.index(column)])

    def label(self, block: Block, fragment: int, column: str) -> int:
        """The label of a fragment in a column."""
        return int(block.cells[fragment, block.columns.index(column)])

    def fits(self, target: int, block: Block, fragment: int) -> bool:
        """Whether a fragment is compatible with what is known."""
        return all(
            self.value(target, c) in codes(self.release.labels[c], self.label(block, fragment, c))
            for c in self.known(block)
        )

    def volume(self, column: str, label: int) -> float:
        """The share of the domain that a label covers."""
        labels = self.release.labels[column]
        return len(codes(labels, label)) / labels.domain.size

    def mass(self, block: Block, fragment: int) -> float:
        """q(labels): the share of people that the labels of a fragment cover, in the known columns."""
        labels = {c: self.label(block, fragment, c) for c in self.known(block)}
        register = self.knowledge.register
        if register is None:
            return prod(self.volume(c, label) for c, label in labels.items())
        inside = {c: codes(self.release.labels[c], label) for c, label in labels.items() if c in register.codes}
        outside = prod(self.volume(c, label) for c, label in labels.items() if c not in register.codes)
        people = sum(all(int(register.codes[c][i]) in inside[c] for c in inside) for i in range(register.people))
        return outside * max(people, 1) / register.people

    def counted(self, bucket: int) -> bool:
        """Whether a bucket is a candidate."""
        return self.suppression is Suppression.WILDCARD or not bool(self.release.suppressed[bucket])

    def compatible(self, target: int, bucket: int, block: Block) -> Compatible:
        """The compatible fragments of a block in a bucket, weighted."""
        inside = [i for i in range(len(block.bucket)) if block.bucket[i] == bucket]
        if not self.known(block):
            return [(i, 1.0) for i in inside]
        found = [i for i in inside if self.counted(bucket) and self.fits(target, block, i)]
        if self.link is Link.CLASS and not found:
            return [(i, 1.0) for i in inside]
        return [(i, 1 / self.mass(block, i) if self.link is Link.LIKELIHOOD else 1.0) for i in found]

    # ----- buckets ---------------------------------------------------------------------------------------------------

    def weight(self, target: int, bucket: int) -> float:
        """w(t,B), or f(t,B) where the paper's rule is asked for."""
        size = int(self.release.sizes[bucket])
        if size == 0 or not self.counted(bucket):
            return 0.0
        shares = [
            sum(w for _, w in self.compatible(target, bucket, block)) / size
            for block in self.release.blocks
            if self.known(block)
        ]
        return prod(shares) * (size if self.weighting is Weighting.SIZE else 1)

    def loss(self, target: int, bucket: int) -> float:
        """What the labels of a bucket hide of what is known of somebody: the sum over columns of the mean over its
        fragments."""
        total = 0.0
        known = [c for c in self.release.quasi if c in self.knowledge.columns and self.value(target, c) >= 0]
        for column in known:
            block = self.release.block_of(column)
            inside = [i for i in range(len(block.bucket)) if block.bucket[i] == bucket]
            each = [float(self.release.labels[column].losses[self.label(block, i, column)]) for i in inside]
            total += sum(each) / len(each)
        return total

    def buckets(self, target: int) -> dict[int, float]:
        """p(t,B) for the buckets that have any."""
        every = range(len(self.release.sizes))
        if self.link is Link.CLASS:
            assert self.knowledge.granted is not None
            granted = int(self.knowledge.granted[target])
            return {granted: 1.0} if granted >= 0 and self.release.sizes[granted] > 0 else {}
        weights = {b: self.weight(target, b) for b in every}
        weights = {b: w for b, w in weights.items() if w > 0}
        if self.link is Link.TIGHTEST and weights:
            least = min(self.loss(target, b) for b in weights)
            weights = {b: w for b, w in weights.items() if self.loss(target, b) < least + 1e-9}
        total = sum(weights.values())
        return {b: w / total for b, w in weights.items()}

    # ----- beliefs ---------------------------------------------------------------------------------------------------

    def values(self, target: int, column: str) -> list[float]:
        """P(t, s) given that the target is in the release; the prior where nothing fits."""
        labels, block = self.release.labels[column], self.release.block_of(column)
        belief = [0.0] * labels.domain.size
        shares = self.buckets(target)
        for bucket, share in shares.items():
            fragments = self.compatible(target, bucket, block)
            total = sum(w for _, w in fragments)
            for fragment, w in fragments:
                inside = believed(labels, self.label(block, fragment, column))
                for code in inside:
                    belief[code] += share * w / total / len(inside)
        return belief if shares else [float(p) for p in self.knowledge.priors[column]]

    def records(self, target: int) -> dict[tuple[int, ...], float]:
        """The probability of each record: bucket, then a fragment of each block of which something is known (of the first
        block where nothing is known of any)."""
        out: dict[tuple[int, ...], float] = {}
        blocks = [b for b in self.release.blocks if self.known(b)] or [self.release.blocks[0]]
        for bucket, share in self.buckets(target).items():
            options = [self.compatible(target, bucket, block) for block in blocks]
            totals = [sum(w for _, w in option) for option in options]
            for choice in product(*options):
                out[(bucket, *(i for i, _ in choice))] = share * prod(
                    w / total for (_, w), total in zip(choice, totals, strict=True)
                )
        return out

    def record_probability(self, target: int, bucket: int, fragment: list[int]) -> float:
        """The probability of the record made of these fragments."""
        known = [i for i, block in enumerate(self.release.blocks) if self.known(block)] or [0]
        return self.records(target).get((bucket, *(fragment[i] for i in known)), 0.0)

    # ----- membership ------------------------------------------------------------------------------------------------

    def degree(self, target: int) -> tuple[int, float]:
        """The number of matching buckets, and f(t)."""
        plain = replace(self, link=Link.CONTAINMENT, weighting=Weighting.PAPER)
        each = [plain.weight(target, b) for b in range(len(self.release.sizes))]
        return sum(f > 0 for f in each), sum(each)

    def marginal(self, column: str) -> list[float]:
        """The share of each value in the release, labels spread evenly over their values."""
        labels, block = self.release.labels[column], self.release.block_of(column)
        share = [0.0] * labels.domain.size
        for fragment in range(len(block.bucket)):
            inside = codes(labels, self.label(block, fragment, column))
            for code in inside:
                share[code] += 1 / len(inside)
        return [s / sum(share) for s in share] if sum(share) else [1 / len(share)] * len(share)

    def present(self, target: int, prior: float) -> float:
        """P(in) without a register: odds = prior odds × (1/n) Σ_B |B| Π_b (Σ 1/q(labels)) / |B|, q from the marginals."""
        if prior >= 1:
            return 1.0
        shares = {c: self.marginal(c) for c in self.knowledge.columns}
        ratio = 0.0
        plain = replace(self, link=Link.CONTAINMENT)
        for bucket, size in enumerate(self.release.sizes.tolist()):
            if size == 0 or not self.counted(bucket):
                continue
            term = float(size)
            for block in self.release.blocks:
                if not self.known(block):
                    continue
                weights = []
                for fragment, _ in plain.compatible(target, bucket, block):
                    cover = {
                        c: codes(self.release.labels[c], self.label(block, fragment, c)) for c in self.known(block)
                    }
                    weights.append(1 / prod(sum(shares[c][code] for code in cover[c]) for c in cover))
                term *= sum(weights) / size
            ratio += term / self.release.rows
        odds = prior / (1 - prior) * ratio
        return odds / (1 + odds)


def top(belief: list[float] | np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, list[int]]:
    """The largest probability, and the places that share it."""
    best = max(belief)
    return best, [i for i, p in enumerate(belief) if p >= best * (1 - 1e-9)]
