"""Classes that are widened row by row, in numpy: what `l-clustering` and `ebkc` share.

The loss of a class is a sum over columns, each with its weight: the width of its interval, or the height of the common
ancestor of its values, in the whole numbers of `distance.py`. Every step looks at all rows that are left, so the work grows
with the square of the rows (`--blocks` cuts it); the kernels of `growing` are faster, but take neither weights nor
conditions.

Rows are handled in the order of their values ("places"), so ties go to the row whose values come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints


@dataclass(slots=True, eq=False)
class Cover:
    """What a class covers: an interval on each line and a node of each tree; and the number of its rows."""

    low: Ints
    high: Ints
    node: Ints
    size: int = 1


class Rows:
    """The rows of a space, as places in the order of their values, and what it costs to put them into classes."""

    def __init__(self, space: Space, weight: Ints | None = None) -> None:
        self.space, self.trees, self.rise = space, space.trees, space.rise()
        self.points = np.repeat(space.tuples, space.copies, axis=0)
        self.weight = np.ones(len(space.columns), dtype=np.int64) if weight is None else weight
        self._table = np.zeros(len(space.trees.leaf), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.points)

    def cover(self, place: int) -> Cover:
        """A class of one row."""
        values = self.points[place]
        ordered = self.space.ordered
        return Cover(values[:ordered].copy(), values[:ordered].copy(), self.trees.leaf[values[ordered:]].copy())

    def add(self, cover: Cover, place: int) -> None:
        """Puts a row into a class."""
        values, ordered = self.points[place], self.space.ordered
        np.minimum(cover.low, values[:ordered], out=cover.low)
        np.maximum(cover.high, values[:ordered], out=cover.high)
        for t, slot in enumerate(values[ordered:].tolist()):
            cover.node[t] = self._above(cover.node[t : t + 1], slot)[0]
        cover.size += 1

    def losses(self, cover: Cover, places: Ints) -> Ints:
        """The loss of the class with each of some rows in it."""
        total = np.zeros(len(places), dtype=np.int64)
        points, ordered = self.points[places], self.space.ordered
        for j in range(ordered):
            width = np.maximum(points[:, j], cover.high[j]) - np.minimum(points[:, j], cover.low[j])
            total += self.weight[j] * np.minimum(width, self.space.unit)
        for t, node in enumerate(cover.node.tolist()):
            self._fill(node)
            total += self.weight[ordered + t] * self._table[points[:, ordered + t]]
        return total

    def rises(self, covers: Sequence[Cover], place: int) -> Ints:
        """By how much a row would raise the loss of all records of each class."""
        values, ordered, unit = self.points[place], self.space.ordered, self.space.unit
        low, high, node = (np.array([getattr(c, name) for c in covers]) for name in ("low", "high", "node"))
        size = np.array([c.size for c in covers])
        old, new = np.zeros((2, len(covers)), dtype=np.int64)
        for j in range(ordered):
            old += self.weight[j] * np.minimum(high[:, j] - low[:, j], unit)
            wide = np.maximum(high[:, j], values[j]) - np.minimum(low[:, j], values[j])
            new += self.weight[j] * np.minimum(wide, unit)
        for t, slot in enumerate(values[ordered:].tolist()):
            old += self.weight[ordered + t] * self.rise[node[:, t]]
            new += self.weight[ordered + t] * self.rise[self._above(node[:, t], slot)]
        return np.asarray((size + 1) * new - size * old)

    def _above(self, node: Ints, slot: int) -> Ints:
        """The lowest node above each node that covers a slot."""
        found = node.copy()
        outside = (slot < self.trees.low[found]) | (slot > self.trees.high[found])
        while outside.any():
            found[outside] = self.trees.parent[found[outside]]
            outside = (slot < self.trees.low[found]) | (slot > self.trees.high[found])
        return found

    def _fill(self, node: int) -> None:
        """The rise of the lowest node above a node and every slot of its tree."""
        low, high = int(self.trees.low[node]), int(self.trees.high[node])
        self._table[low : high + 1] = self.rise[node]
        while self.trees.parent[node] >= 0:
            node = int(self.trees.parent[node])
            first, last = int(self.trees.low[node]), int(self.trees.high[node])
            self._table[first:low] = self._table[high + 1 : last + 1] = self.rise[node]
            low, high = first, last


def join_rest(rows: Rows, covers: list[Cover], member: Ints) -> None:
    """Puts each row that is in no class into the one whose loss it raises least."""
    for place in np.flatnonzero(member < 0).tolist():
        found = int(rows.rises(covers, place).argmin())
        rows.add(covers[found], place)
        member[place] = found
