"""Trees: how the learning measures encode people, and the decision tree that they share.

Every column becomes a code. Numbers are cut at `BINS` quantiles of the original (each value is by itself where there are not
more), ordinals are their rank, and both are cut by order; a missing one stands below all others. Nominal values are cut into
sets (`splitting`), so it does not matter how they are called or sorted. A published label that is kept as it is is a nominal
value of its own; of numbers and ordinals it stands at the middle of what it denotes, and labels with the same middle side by
side, so that a tree can tell them apart.

The tree is CART with Gini's impurity. Leaves have at least half a percent of the rows, or `LEAST_LEAF` of them, and it is
pruned where a leaf gains less than four rows' worth of impurity, so that it does not learn noise. There is no chance in it,
and the answers depend neither on the order of rows nor on that of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.worlds import World, code_numbers, middles, original_codes, original_numbers
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.schema import Type
from auditor.model.table import Table

LEAVES, LEAST_LEAF = 200, 25
PRUNING = 4.0
"""Measured on Adult and the built-in town: leaves of 0.3 % to 1 % of 7500 rows and a cost of 2 to 8 rows do as well."""
BINS = 64
ORDERS = 4
"""For how many classes, the commonest first, nominal values are put into order."""
MOST_CLASSES = 100
"""Of more classes than this the commonest are learned; the others are one that is never right."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """People as codes (people × columns), how many codes each column has, and which columns are cut by order."""

    codes: Ints
    sizes: Ints
    ordered: Bools

    def take(self, people: Ints | Bools, columns: Ints) -> Features:
        """Some of the people, some of the columns."""
        return Features(
            np.ascontiguousarray(self.codes[people][:, columns]), self.sizes[columns], self.ordered[columns]
        )

    def beside(self, other: Features) -> Features:
        """These people, then others of the same columns."""
        return Features(np.concatenate([self.codes, other.codes]), self.sizes, self.ordered)


class Tree:
    """A tree trained on people and their classes. `leaf` is the least number of people in a leaf (None: by their number),
    `pruning` how many rows' worth of impurity a leaf must gain, `orders` for how many classes nominal values are put into
    order."""

    def __init__(
        self, features: Features, y: Ints, leaf: int | None = None, pruning: float = PRUNING, orders: int = ORDERS
    ) -> None:
        from auditor.measure.utility.splitting import grow  # numba takes a while to start

        values, place, times = np.unique(y, return_inverse=True, return_counts=True)
        rank = np.empty(len(values), dtype=np.int64)
        rank[np.argsort(-times, kind="stable")] = np.arange(len(values))  # the commonest class is 0
        kept = min(len(values), MOST_CLASSES)
        self.classes = np.full(kept + (len(values) > kept), -1, dtype=np.int64)
        self.classes[rank[rank < kept]] = values[rank < kept]
        of_row = np.minimum(rank, kept)[place.reshape(-1)]
        rows, classes = len(y), len(self.classes)
        leaf = max(min(rows // LEAVES, LEAST_LEAF), 2) if leaf is None else leaf
        orders = 1 if classes <= 2 else min(classes, orders)
        self.column, self.child, self.goes, self.counts = grow(
            features.codes, features.sizes, features.ordered, of_row, classes, leaf, orders
        )
        _prune(self.column, self.child, self.counts, pruning)

    def leaves(self, features: Features) -> Ints:
        """The leaf that each of some people falls into."""
        node = np.zeros(len(features.codes), dtype=np.int64)
        on = np.flatnonzero(self.column[node] >= 0)
        while len(on):
            at = node[on]
            first = self.goes[at, features.codes[on, self.column[at]]]
            node[on] = self.child[at] + ~first
            on = on[self.column[node[on]] >= 0]
        return node

    def predicted(self, features: Features) -> Ints:
        """The class that is commonest in each one's leaf; the commonest of all where several are."""
        return np.asarray(self.classes[np.argmax(self.counts, axis=1)[self.leaves(features)]])

    def chances(self, features: Features, value: int) -> Floats:
        """The share of one class in each one's leaf."""
        share = (self.counts[:, self.classes == value].sum(axis=1)) / self.counts.sum(axis=1)
        return np.asarray(share[self.leaves(features)])


def _prune(column: Ints, child: Ints, counts: Floats, pruning: float) -> None:
    """Makes leaves of the nodes whose cuts gain less than `pruning` rows' worth of impurity each: the subtree of least cost,
    found from the leaves up."""
    total = counts.sum(axis=1)
    cost = total - (counts**2).sum(axis=1) / total + pruning
    for node in range(len(column) - 1, -1, -1):
        if column[node] >= 0:
            below = cost[child[node]] + cost[child[node] + 1]
            if below < cost[node] - 1e-9:
                cost[node] = below
            else:
                column[node] = -1


def by_content(case: Case) -> tuple[str, ...]:
    """The columns of a case in an order that depends on what they hold: of equally good cuts the first column's wins."""
    counts = {c: np.sort(np.bincount(original_codes(case, c)))[::-1] for c in case.columns}
    return tuple(sorted(case.columns, key=lambda c: tuple(counts[c][counts[c] > 0].tolist())))


class Coder:
    """How the columns of a case are coded, the same for the original and for worlds. Numbers are cut where the original's
    are; if the two are to be told apart, where those of the original and of one world together are."""

    def __init__(self, case: Case, columns: Sequence[str], beside: World | None = None) -> None:
        self.case, self.columns = case, tuple(columns)
        domains = [case.release.labels[c].domain for c in columns]
        self.edges = {}
        for column in (c for c in columns if c in case.numeric):
            numbers = original_numbers(case, column)
            both = numbers if beside is None else np.concatenate([numbers, beside.numbers(column)])
            self.edges[column] = cut_points(both)
        self.known = {c: d.known for c, d in zip(columns, domains, strict=True) if d.column.type is Type.ORDINAL}
        sizes = [
            len(self.edges[c]) + 2 if c in self.edges else d.size + 1 for c, d in zip(columns, domains, strict=True)
        ]
        self.sizes = np.array(sizes, dtype=np.int64)
        self.ordered = np.array([c in self.edges or c in self.known for c in columns], dtype=np.bool_)

    def original(self) -> Features:
        """Everybody's true values."""
        return self._features(
            [
                binned(original_numbers(self.case, c), self.edges[c])
                if c in self.edges
                else self._code(c, original_codes(self.case, c))
                for c in self.columns
            ]
        )

    def world(self, world: World) -> Features:
        """The values that a world gives the people of the release."""
        return self._features(
            [
                binned(world.numbers(c), self.edges[c]) if c in self.edges else self._code(c, world.codes(c))
                for c in self.columns
            ]
        )

    def table(self, table: Table) -> Features:
        """The values of the people of another table over the same domains."""
        return self._features(
            [
                binned(code_numbers(self.case, c)[table.codes[c]], self.edges[c])
                if c in self.edges
                else self._code(c, table.codes[c])
                for c in self.columns
            ]
        )

    def _code(self, column: str, codes: Codes) -> Ints:
        if column not in self.known:
            return codes.astype(np.int64)
        return np.where(codes < self.known[column], codes.astype(np.int64) + 1, 0)

    def _features(self, coded: list[Ints]) -> Features:
        return Features(np.column_stack(coded), self.sizes, self.ordered)


def labelled(world: World, columns: Sequence[str]) -> Features:
    """The people of a world with the labels of their columns as they are published."""
    coded, ordered = [], []
    for column in columns:
        labels, label = world.case.release.labels[column], world.labels(column)
        by_order = labels.domain.column.type is not Type.NOMINAL
        places = label_places(labels)
        if labels.domain.numbers is not None:
            coded.append(binned(places[label], cut_points(places[label])))
        else:
            missing = (labels.lo == labels.domain.missing) & (labels.counts == 1)
            below = np.where(missing, -1.0, places)  # as in the original
            coded.append(np.unique(below[label], return_inverse=True)[1].reshape(-1).astype(np.int64))
        ordered.append(by_order)
    sizes = np.array([int(codes.max(initial=0)) + 1 for codes in coded], dtype=np.int64)
    return Features(np.column_stack(coded), sizes, np.array(ordered, dtype=np.bool_))


def cut_points(numbers: Floats) -> Floats:
    """Where numbers are cut: between all values that occur, or at quantiles if these are too many."""
    values = np.unique(numbers[~np.isnan(numbers)])
    if len(values) <= BINS:
        return np.asarray((values[1:] + values[:-1]) / 2)
    known = np.sort(numbers[~np.isnan(numbers)])
    return np.unique(known[(np.arange(1, BINS) * len(known)) // BINS])


def binned(numbers: Floats, edges: Floats) -> Ints:
    """The class of each number, from 1; 0 if it is missing."""
    place = np.searchsorted(edges, np.nan_to_num(numbers), side="right") + 1
    return np.where(np.isnan(numbers), 0, place).astype(np.int64)


def label_places(labels: Labels) -> Floats:
    """Where each label of a column stands: missing numbers nowhere (NaN)."""
    domain = labels.domain
    if domain.numbers is not None:
        middle = middles(labels)
        span = domain.span or (0.0, 0.0)
        whole = labels.suppressed | (np.isnan(middle) & (labels.counts > 1))
        return np.where(whole, sum(span) / 2, middle)
    middle = (labels.lo.astype(np.float64) + labels.hi) / 2
    out = middle.copy()
    by_place = sorted(range(len(middle)), key=lambda i: (middle[i], labels.counts[i], labels.texts[i]))
    order = np.array(by_place, dtype=np.int64)
    start = np.flatnonzero(np.diff(middle[order], prepend=-np.inf))
    for first, end in zip(start, [*start[1:], len(order)], strict=True):
        tied = order[first:end]
        out[tied] += 0.25 * np.arange(len(tied)) / len(tied)  # middles are multiples of a half, so none meets another's
    return out
