"""The lattice of levels: every column at one of its levels, and the choice that costs least.

A node is a level for each column. Its classes are those of a node below it, joined: so nodes are visited upwards, each
from a node that is lower in one column, and a node costs what that one has in classes, not in rows. Classes that break
a constraint are suppressed; a node is allowed where these have at most so many people.

The search is exact, whatever the constraint. What lies above a node costs at least the node's *floor*: what it would
cost if nobody were suppressed. Where the floor is above the least cost found so far, nothing above the node is looked
at. The search begins above the levels that no allowed node has. With a column at one level and all others at their
tops, some people are in classes that break a constraint however these are divided: all those in a class below k; of a
class that is too far from the whole table at least a share, since its distance is at most the mean of the distances of
its parts. Where these are too many, no node with that level or a lower one is allowed. The same is asked of the levels
of several columns on the way. That needs no monotone constraint: with suppression, diversity and closeness are not.

A good node to begin with saves most. It is found by climbing from the bottom by the steps that spare the most people
for what they cost, and then by lowering one column at a time, or one and raising another, as long as that costs less.

Of nodes that cost the same, that with the fewest people suppressed is taken, then that with the fewest levels in sum,
then the first in the order of columns.

Papers: P. Samarati, IEEE TKDE 2001 (levels and suppression); K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito",
SIGMOD 2005 (roll-up); F. Kohlmayer, F. Prasser et al., "Flash", PASSAT 2012.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizers.shared.levels import Levels
from auditor.measure.counts import Entries, added
from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.progress import Progress, silent

Node = tuple[int, ...]
Cost = tuple[float, ...]
"""What a node costs: less is better; the first number decides, then the next."""
_BITS = 62
_NOISE = 1e-6


class Packing:
    """Groups of several columns as whole numbers: each column has bits of its own, the last column the lowest. There are
    several numbers (words) where one does not hold all columns."""

    def __init__(self, sizes: Sequence[int]) -> None:
        bits = [max(int(size - 1).bit_length(), 1) for size in sizes]
        self.places: list[
            tuple[int, int, int]
        ] = []  # the word of each column, how far up its bits are, and a mask of them
        word, used = 0, 0
        for number in reversed(bits):
            if used + number > _BITS:
                word, used = word + 1, 0
            self.places.append((word, used, (1 << number) - 1))
            used += number
        self.places.reverse()
        self.words = word + 1

    def packed(self, groups: Sequence[Ints]) -> tuple[Ints, ...]:
        """Groups by column as words."""
        words = [np.zeros(len(groups[0]), dtype=np.int64) for _ in range(self.words)]
        for (word, shift, _), group in zip(self.places, groups, strict=True):
            words[word] |= group << shift
        return tuple(words)

    def group(self, words: Sequence[Ints], column: int) -> Ints:
        """The groups of a column."""
        word, shift, mask = self.places[column]
        return (words[word] >> shift) & mask

    def replaced(self, words: Sequence[Ints], column: int, group: Ints) -> tuple[Ints, ...]:
        """The words with other groups of a column."""
        word, shift, mask = self.places[column]
        changed = list(words)
        changed[word] = (words[word] & ~(mask << shift)) | (group << shift)
        return tuple(changed)

    def key(self, words: Sequence[Ints]) -> Ints:
        """One number for each, in the order of the groups."""
        key = words[-1]
        for word in reversed(words[:-1]):
            high, low = np.unique(key, return_inverse=True)[1], np.unique(word, return_inverse=True)
            key = high * len(low[0]) + low[1]
        return key


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of a node in the order of their groups: these as words; how many people each has; how many have each
    sensitive value, where there is such a column; and how many people of the population are there."""

    packing: Packing
    words: tuple[Ints, ...]
    sizes: Ints
    counts: Entries | None
    crowd: Ints | None

    def group(self, column: int, which: Ints) -> Ints:
        """The groups of some classes in a column."""
        return self.packing.group([word[which] for word in self.words], column)


class Costing(ABC):
    """What nodes cost."""

    @abstractmethod
    def of(self, node: Node, classes: Classes, kept: Bools) -> Cost:
        """The cost of a node whose classes are kept or suppressed."""

    @abstractmethod
    def floor(self, node: Node, classes: Classes | None) -> Cost:
        """What the node, and all above it, cost at least. Without the classes, as far as it is known without them."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best node and its cost, its classes and which of these are kept, and how many nodes were looked at."""

    node: Node
    cost: Cost
    classes: Classes
    kept: Bools
    visited: int

    @property
    def suppressed(self) -> int:
        """How many people are suppressed."""
        return int(self.classes.sizes[~self.kept].sum())


class Lattice:
    """All nodes over some columns.

    `codes` are the values of people by column, `values` their sensitive values (None: none). `allowed` says which classes
    may be published, and may answer "none" where the others have more people than it is told. `doomed` says how many people
    cannot be published however the classes are divided. At most `most` people are suppressed. `population` are the codes of
    a population's people by column.
    """

    def __init__(
        self,
        levels: Sequence[Levels],
        codes: Sequence[Codes],
        values: Codes | None,
        allowed: Callable[[Classes, int | None], Bools],
        costing: Costing,
        most: int,
        doomed: Callable[[Classes], float],
        population: Sequence[Codes] | None = None,
    ) -> None:
        self.doomed = doomed
        self.levels, self.allowed, self.costing, self.most = levels, allowed, costing, most
        self._ups = [
            [[one.up(low, high) for high in range(one.top + 1)] for low in range(one.top + 1)] for one in levels
        ]
        self.bottom = self._bottom(codes, values, population)
        self.node: Node = tuple(0 for _ in levels)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(np.prod([float(one.top + 1) for one in self.levels]))

    def _bottom(self, codes: Sequence[Codes], values: Codes | None, population: Sequence[Codes] | None) -> Classes:
        """The classes of the lowest node: one for each combination of values."""
        rows = len(codes[0])
        people = [one.astype(np.int64) for one in codes]
        if population is not None:
            people = [np.concatenate([one, other]) for one, other in zip(people, population, strict=True)]
        packing = Packing([len(level.shares[0]) for level in self.levels])
        words = packing.packed([level.groups[0][one] for level, one in zip(self.levels, people, strict=True)])
        mine = (np.arange(len(people[0])) < rows).astype(np.int64)
        counts = None
        if values is not None:
            counts = Entries.of(np.arange(rows), values.astype(np.int64), mine[:rows], len(mine), int(values.max()) + 1)
        return _joined(packing, words, mine, counts, None if population is None else 1 - mine)

    def raised(self, node: Node, classes: Classes, higher: Node) -> Classes:
        """The classes of a node, from those of one below it."""
        changed = [place for place, (low, high) in enumerate(zip(node, higher, strict=True)) if low != high]
        words, packing = classes.words, classes.packing
        for place in changed:
            up = self._ups[place][node[place]][higher[place]]
            words = packing.replaced(words, place, up[packing.group(words, place)])
        in_order = changed == [len(node) - 1]
        return _joined(packing, words, classes.sizes, classes.counts, classes.crowd, in_order)

    def judged(self, node: Node, classes: Classes, in_full: bool = False) -> tuple[Cost | None, Bools]:
        """The cost of a node, None where too many people would be suppressed; and the classes that would be kept, which are
        then told only where that is asked for `in_full`."""
        kept = self.allowed(classes, None if in_full else self.most)
        if int(classes.sizes[~kept].sum()) > self.most:
            return None, kept
        return self.costing.of(node, classes, kept), kept

    def best(self, progress: Progress = silent) -> Found | None:
        """The node that costs least; None where no node is allowed."""
        self._found: Found | None = None
        self._visited, self._told = 0, progress
        self._known: dict[Node, bool] = {}
        if not self._rise():
            return None
        self._climb()
        self._descend()
        self._search(self.node, self.bottom, 0)
        found = self._found
        return None if found is None else Found(found.node, found.cost, found.classes, found.kept, self._visited)

    def _rise(self) -> bool:
        """Takes for the bottom the lowest levels that an allowed node may have. Whether there can be one at all."""
        tops, lowest = [one.top for one in self.levels], list(self.node)
        for place, top in enumerate(tops):
            node: Node = (*tops[:place], 0, *tops[place + 1 :])
            classes = self.raised(self.node, self.bottom, node)
            while self.doomed(classes) > self.most + _NOISE:
                if node[place] == top:
                    return False
                node, below = _up(node, place), node
                classes = self.raised(below, classes, node)
            lowest[place] = node[place]
        self.bottom = self.raised(self.node, self.bottom, tuple(lowest))
        self.node = tuple(lowest)
        return True

    def _offer(self, node: Node, classes: Classes, in_full: bool = False) -> int:
        """Takes a node if it is the best so far. How many people would be suppressed there, where that is asked for."""
        cost, kept = self.judged(node, classes, in_full)
        if cost is not None:
            mine = Found(node, cost, classes, kept, 0)
            if self._found is None or _rank(mine) < _rank(self._found):
                self._found = mine
        return int(classes.sizes[~kept].sum())

    def _climb(self) -> None:
        """A first node that is allowed: up from the bottom by the steps that spare the most people for what they cost."""
        node, classes = self.node, self.bottom
        suppressed = self._offer(node, classes, in_full=True)
        while suppressed > self.most:
            steps = [_up(node, place) for place, level in enumerate(self.levels) if node[place] < level.top]
            if not steps:
                return
            tried = [self.raised(node, classes, step) for step in steps]
            left = [self._offer(step, made, in_full=True) for step, made in zip(steps, tried, strict=True)]
            floor = sum(self.costing.floor(node, classes))
            price = [sum(self.costing.floor(step, made)) - floor for step, made in zip(steps, tried, strict=True)]
            spared = [(suppressed - many) / max(dear, 1e-9) for many, dear in zip(left, price, strict=True)]
            place = max(range(len(steps)), key=lambda i: (spared[i], -i))
            node, classes, suppressed = steps[place], tried[place], left[place]

    def _descend(self) -> None:
        """A better node near the best so far, step by step: one column lower, or one lower and another higher."""
        tried: set[Node] = set()
        while self._found is not None:
            start = self._found.node
            lower = [_up(start, place, -1) for place, at in enumerate(start) if at > self.node[place]]
            both = [
                _up(node, place) for node in lower for place, one in enumerate(self.levels) if start[place] < one.top
            ]
            for node in (n for n in [*lower, *both] if n != start and n not in tried):
                tried.add(node)
                if not self._beaten(self.costing.floor(node, None)):
                    self._offer(node, self.raised(self.node, self.bottom, node))
            if self._found.node == start:
                return

    def _search(self, node: Node, classes: Classes, first: int) -> None:
        """Looks at a node and at all above it that differ from it in no column before `first`."""
        self._visited += 1
        if not self._visited % 200:
            self._told(self._visited, self.nodes, "levels")
        self._offer(node, classes)
        if self._beaten(self.costing.floor(node, classes)):
            return
        for place in range(first, len(self.levels)):
            higher = _up(node, place)
            if node[place] == self.levels[place].top or self._beaten(self.costing.floor(higher, None)):
                continue
            if place and classes.counts is not None and self._hopeless(node, classes, place):
                continue
            self._search(higher, self.raised(node, classes, higher), place)

    def _hopeless(self, node: Node, classes: Classes, place: int) -> bool:
        """Whether no node is allowed that has these levels in all columns before one."""
        before = node[:place]
        if before not in self._known:
            high = before + tuple(one.top for one in self.levels[place:])
            self._known[before] = self.doomed(self.raised(node, classes, high)) > self.most + _NOISE
        return self._known[before]

    def _beaten(self, floor: Cost) -> bool:
        return self._found is not None and floor > self._found.cost


def _up(node: Node, place: int, steps: int = 1) -> Node:
    return (*node[:place], node[place] + steps, *node[place + 1 :])


def _rank(found: Found) -> tuple[Cost, int, int, Node]:
    return found.cost, found.suppressed, sum(found.node), found.node


def _joined(
    packing: Packing,
    words: tuple[Ints, ...],
    sizes: Ints,
    counts: Entries | None,
    crowd: Ints | None,
    in_order: bool = False,
) -> Classes:
    """Classes with the same groups as one, in the order of groups; `in_order`: they are in it already."""
    key = packing.key(words)
    order = None if in_order else np.argsort(key, kind="stable")
    ranked = key if order is None else key[order]
    new = np.empty(len(ranked), dtype=np.bool_)
    new[:1] = True
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    first = starts if order is None else order[starts]
    if counts is not None:
        run = np.cumsum(new) - 1
        member = run
        if order is not None:
            member = np.empty(len(run), dtype=np.int64)
            member[order] = run
        counts = added(member[counts.row], counts.column, counts.count, len(starts), counts.values)
    amounts = [
        None if amount is None else np.add.reduceat(amount if order is None else amount[order], starts)
        for amount in (sizes, crowd)
    ]
    assert amounts[0] is not None
    return Classes(packing, tuple(word[first] for word in words), amounts[0], counts, amounts[1])
