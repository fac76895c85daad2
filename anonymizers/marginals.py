"""Marginals: a tree of the pairs of columns that have most in common, and rows drawn along it; with `epsilon`, privately.

A tree over the columns is chosen so that its edges hold as much as a tree can of what pairs of columns have in common. The
first column of a row is drawn from its own distribution, and every other one from its distribution given its neighbour. So
the model keeps all single columns, the pairs on the tree, and whatever follows from them.

**Without `epsilon`** the tree is that of Chow and Liu: the largest mutual information, less what chance gives ((r - 1)(c
- 1)/2n), and no edge that has none left. Values are those of people whose neighbouring value is the same. Numbers with
more than `bins` values are cut at quantiles. Nothing is promised.

**With `epsilon`**, and `delta` where it may be spent, the release is (ε, δ)-differentially private for one person more or
less in the table (ε-private where delta is 0). The budget goes in thirds to three steps, each of which sees the table only
through what it pays for:

1. All single columns are counted with noise. From them come the number of rows (unless `rows` says it), the distribution
   of each column, and the values that are rarer than three standard deviations of the noise, which are one value in what
   follows.
2. The tree is chosen edge by edge. The score of a pair is the distance of its true counts M from independence by the
   noisy ones, Σ|M - AB/N|, which one row changes by at most 1, less the noise that counting it would add. One of the
   pairs that join two parts of the tree, or to stop, is drawn with probability growing exponentially in the score.
3. All pairs of the tree are counted with noise.

The rest needs nothing but these counts: negative ones are made up for by the others (the nearest counts with the same
sum), and rows are drawn. With delta = 0 the noise is discrete Laplace, and ε is added up; with delta it is discrete
Gaussian, and zCDP is added up (`anonymizers/shared/differential.py`). Columns are cut by what the schema declares, and
the release says what is taken as public beyond that (`anonymizers/shared/public_bins.py`). Where people have several
rows, `most_rows` of each count at most, and all noise grows by that factor.

Papers: C. Chow, C. Liu, "Approximating discrete probability distributions with dependence trees", IEEE Transactions on
Information Theory 1968; R. McKenna, G. Miklau, D. Sheldon, "Winning the NIST Contest", Journal of Privacy and
Confidentiality 2021 (MST: the three steps and the score); R. McKenna, B. Mullins, D. Sheldon, G. Miklau, "AIM", VLDB 2022
(a score less its noise); J. Zhang et al., "PrivBayes", SIGMOD 2014 (drawing along a tree). MST fits one model to all
counts together (Private-PGM), where we draw from each pair given the neighbour; and it joins all columns, where we may
stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import pi, sqrt
from typing import ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.differential import Budget, chosen
from anonymizers.shared.public_bins import NEIGHBOURS, PublicBins, bounded, taken_as_public
from anonymizers.shared.synthesis import Drawn, Synthesizer, drawn_alike, drawn_from, quantile_bins
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress
from auditor.model.table import Table

Edge = tuple[str, str]
_RARE = 3.0  # standard deviations of noise below which values are counted together
_DENSE = 4_000_000  # the most cells of a pair that are counted in an array; a larger one cannot be counted with noise


@dataclass(frozen=True)
class Marginals(Synthesizer):
    """Draws rows along a tree of two-way counts, exact or with noise."""

    name: ClassVar[str] = "marginals"
    summary: ClassVar[str] = (
        "Synthetic: rows drawn along a tree of two-way counts; with epsilon, differentially private."
    )
    paper: ClassVar[str] = "Chow & Liu 1968; McKenna, Miklau & Sheldon 2021"

    epsilon: float | None = None
    delta: float = 0.0
    bins: int = 20
    most_rows: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("bins", self.bins, 2)
        at_least("most_rows", self.most_rows, 1)
        if self.budget is None and (self.delta or self.most_rows):
            raise UsageError(
                f"{self.name}: {'delta' if self.delta else 'most_rows'} is for a private release: set epsilon."
            )

    @property
    def budget(self) -> Budget | None:
        """What may be spent; None for exact counts."""
        return None if self.epsilon is None else Budget(self.epsilon, self.delta)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return () if self.budget is None else (str(self.budget), NEIGHBOURS)

    def synthesize(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        if self.budget is None:
            return self._exact(table, columns, rng, progress), ()
        bins = {c: PublicBins(table.domains[c], self.bins) for c in columns}
        some = bounded(table, self.most_rows, self.name, rng)
        codes = {c: bins[c].of_code[some.codes[c]] for c in columns}
        private = Private(self.budget, self.most_rows or 1, rng)
        model = private.model(codes, {c: bins[c].size for c in columns}, progress)
        drawn = model.draw(self.rows or model.rows, rng)
        promises = (*self.promises(), *taken_as_public(bins.values()))
        return {c: bins[c].draw(drawn[c], rng) for c in columns}, promises

    def _exact(
        self, table: Table, columns: Sequence[str], rng: np.random.Generator, progress: Progress
    ) -> dict[str, Codes]:
        """Rows drawn along the tree of Chow and Liu."""
        bins = {c: quantile_bins(table.domains[c], table.codes[c], self.bins) for c in columns}
        binned = {c: bins[c][table.codes[c]] for c in columns}
        gains: dict[Edge, float] = {}
        for number, pair in enumerate(combinations(columns, 2)):
            progress(number, len(columns) * (len(columns) - 1) // 2, "pairs of columns")
            gains[pair] = shared_information(binned[pair[0]], binned[pair[1]])
        parts, edges = _Parts(columns), list[Edge]()
        for pair in sorted(gains, key=lambda pair: -gains[pair]):
            if gains[pair] > 0 and parts.join(pair):
                edges.append(pair)
        count = self.rows or table.rows
        drawn: dict[str, Codes] = {}
        nothing, nowhere = np.zeros(table.rows, dtype=np.int64), np.zeros(count, dtype=np.int64)
        for column, parent in along(columns, edges):
            group = nothing if parent is None else binned[parent]
            wanted = nowhere if parent is None else bins[parent][drawn[parent]]
            drawn[column] = drawn_alike(group, table.codes[column], wanted, rng)
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Noisy counts: of single columns, of the classes that their values are put into, and of the pairs on the tree."""

    rows: int
    single: Mapping[str, Floats]
    classes: Mapping[str, Ints]
    pairs: Mapping[Edge, Floats]

    def draw(self, count: int, rng: np.random.Generator) -> dict[str, Ints]:
        """Rows drawn along the tree."""
        drawn: dict[str, Ints] = {}
        for column, parent in along(list(self.single), list(self.pairs)):
            single, classes = self.single[column], self.classes[column]
            if parent is None:
                drawn[column] = drawn_from(single, count, rng)
                continue
            joint = self.pairs[parent, column] if (parent, column) in self.pairs else self.pairs[column, parent].T
            alone = np.bincount(classes, weights=single)
            empty = joint.sum(axis=1) <= 0
            joint = np.where(empty[:, None], alone / max(float(alone.sum()), 1.0), joint)
            given = self.classes[parent][drawn[parent]]
            drawn[column] = _inside(classes, single, _by_row(joint, given, rng), rng)
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """The three private steps."""

    budget: Budget
    most: int
    rng: np.random.Generator

    def model(self, codes: Mapping[str, Ints], sizes: Mapping[str, int], progress: Progress) -> Model:
        """The noisy counts of a table, given the bin of each row in each column."""
        columns, rng = list(codes), self.rng
        share = 1 / 3 if len(columns) > 1 else 1.0
        noise = self.budget.noise(share, len(columns), self.most)
        exact = [np.bincount(codes[c], minlength=sizes[c]) for c in columns]
        ends = np.cumsum([sizes[c] for c in columns])[:-1]
        noisy = np.split(np.concatenate(exact) + noise.draw(sum(sizes.values()), rng), ends)
        precision = np.array([1 / sizes[c] for c in columns])
        total = max(round(float((precision * [one.sum() for one in noisy]).sum() / precision.sum())), 1)
        single = {c: summing_to(one, total) for c, one in zip(columns, noisy, strict=True)}
        if len(columns) == 1:
            return Model(total, single, {c: np.arange(sizes[c]) for c in columns}, {})
        classes = {c: _together(single[c], _RARE * noise.deviation) for c in columns}
        binned = {c: classes[c][codes[c]] for c in columns}
        counts = {c: np.rint(np.bincount(classes[c], weights=single[c])).astype(np.int64) for c in columns}
        progress(1, 3, "the tree")
        edges = self._edges(binned, counts, total, share)
        progress(2, 3, "pairs of columns")
        return Model(total, single, classes, self._pairs(binned, counts, edges, total, share))

    def _edges(self, binned: Mapping[str, Ints], counts: Mapping[str, Ints], total: int, share: float) -> list[Edge]:
        """The edges of the tree, each chosen privately among those that join two of its parts."""
        columns = list(binned)
        choices = len(columns) - 1
        rate = self.budget.rate(share, choices, self.most)
        added = sqrt(2 / pi) * self.budget.noise(share, choices, self.most).deviation
        scores: dict[Edge, int] = {}
        for one, other in combinations([c for c in columns if len(counts[c]) > 1], 2):
            if len(counts[one]) * len(counts[other]) > _DENSE:
                continue
            joint = _joint(binned[one], binned[other], len(counts[one]), len(counts[other]))
            scores[one, other] = dependence(joint, counts[one], counts[other], total) - round(added * joint.size)
        parts, edges = _Parts(columns), list[Edge]()
        for _ in range(choices):
            open_ = [pair for pair in scores if parts.apart(pair)]
            option = chosen([0, *(scores[pair] for pair in open_)], rate, self.rng)
            if option == 0:
                break
            edges.append(open_[option - 1])
            parts.join(open_[option - 1])
        return edges

    def _pairs(
        self, binned: Mapping[str, Ints], counts: Mapping[str, Ints], edges: Sequence[Edge], total: int, share: float
    ) -> dict[Edge, Floats]:
        """The noisy counts of the pairs on the tree."""
        if not edges:
            return {}
        exact = [_joint(binned[a], binned[b], len(counts[a]), len(counts[b])) for a, b in edges]
        drawn = self.budget.noise(share, len(edges), self.most).draw(sum(one.size for one in exact), self.rng)
        parts = np.split(drawn, np.cumsum([one.size for one in exact])[:-1])
        return {
            edge: summing_to((one.ravel() + part), total).reshape(one.shape)
            for edge, one, part in zip(edges, exact, parts, strict=True)
        }


class _Parts:
    """Which columns are joined by the edges of a tree."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.of = {column: number for number, column in enumerate(columns)}

    def apart(self, pair: Edge) -> bool:
        """Whether an edge would join two parts."""
        return self.of[pair[0]] != self.of[pair[1]]

    def join(self, pair: Edge) -> bool:
        """Joins two parts; False where they are one already."""
        if not self.apart(pair):
            return False
        kept, gone = self.of[pair[0]], self.of[pair[1]]
        self.of = {column: kept if part == gone else part for column, part in self.of.items()}
        return True


def along(columns: Sequence[str], edges: Sequence[Edge]) -> list[tuple[str, str | None]]:
    """The columns in an order in which each but the first of its part comes after the neighbour that it is drawn from."""
    order: list[tuple[str, str | None]] = []
    seen: set[str] = set()
    for first in columns:
        waiting: list[tuple[str, str | None]] = [] if first in seen else [(first, None)]
        while waiting:
            column, parent = waiting.pop(0)
            seen.add(column)
            order.append((column, parent))
            near = [b if a == column else a for a, b in edges if column in (a, b)]
            waiting += [(other, column) for other in near if other not in seen]
    return order


def shared_information(one: Ints, other: Ints) -> float:
    """The mutual information of two columns in nats, less its mean where they have nothing in common."""
    width = int(other.max()) + 1
    if (int(one.max()) + 1) * width <= _DENSE:
        joint = np.bincount(one * width + other)
    else:
        joint = np.unique(one * width + other, return_counts=True)[1]
    rows, left, right = len(one), np.bincount(one), np.bincount(other)
    free = (np.count_nonzero(left) - 1) * (np.count_nonzero(right) - 1)
    entropy = [float((n[n > 0] * np.log(n[n > 0] / rows)).sum() / -rows) for n in (left, right, joint)]
    return entropy[0] + entropy[1] - entropy[2] - free / (2 * rows)


def dependence(joint: Ints, one: Ints, other: Ints, total: int) -> int:
    """Σ|M - AB/N| in whole numbers, rounded down. A row more adds 1 to one count of M, and so changes the sum by at most 1,
    and its whole part by at most 1; A, B and N are noisy counts, which it does not change."""
    return int(np.abs(total * joint - np.multiply.outer(one, other)).sum()) // total


def summing_to(counts: Ints | Floats, total: float) -> Floats:
    """The nearest counts, none of them negative, with a given sum: the same is taken from all, and none falls below 0."""
    falling = np.sort(counts)[::-1].astype(np.float64)
    taken = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling - taken > 0)[-1])
    return np.asarray(np.maximum(counts - taken[last], 0.0))


def _together(single: Floats, rare: float) -> Ints:
    """The class of each value: its own, or that of all rare ones, which is the last."""
    few = single < rare
    if int(few.sum()) < 2:
        return np.arange(len(single))
    classes = np.cumsum(~few) - 1
    return np.where(few, int((~few).sum()), classes).astype(np.int64)


def _joint(one: Ints, other: Ints, height: int, width: int) -> Ints:
    """The counts of pairs of classes."""
    return np.bincount(one * width + other, minlength=height * width).reshape(height, width)


def _by_row(joint: Floats, row: Ints, rng: np.random.Generator) -> Ints:
    """For each of some rows of a table of counts a column of it, in proportion to the counts."""
    running = np.cumsum(joint, axis=1)
    share = rng.random(len(row)) * running[row, -1]
    out = np.empty(len(row), dtype=np.int64)
    for number in np.unique(row).tolist():
        here = row == number
        out[here] = np.searchsorted(running[number], share[here], side="right")
    return np.asarray(np.minimum(out, joint.shape[1] - 1))


def _inside(classes: Ints, single: Floats, wanted: Ints, rng: np.random.Generator) -> Ints:
    """A value in each of some classes, in proportion to the counts of single values; evenly where these are 0."""
    whole = np.bincount(classes, weights=single)
    weight = np.where(whole[classes] > 0, single, 1.0)
    table = np.zeros((len(whole), len(single)))
    table[classes, np.arange(len(single))] = weight
    return _by_row(table, wanted, rng)
