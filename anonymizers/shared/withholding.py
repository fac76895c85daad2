"""Suppressed cells: which cells to suppress so that everybody has company, and how they are written.

People with the same quasi-identifiers are a *kind*. Two kinds agree where in every column they have the same value or
one of them is suppressed. Kinds conflict in the columns where they differ and the other's cell is published; as a set
of columns this is a whole number, one bit a column. With the cells of a kind in the columns V published, those agree
with it whose conflicts have no column of V. How many these are, for every V at once, is a sum over subsets: one pass
for each column.

`agreeing` goes through the kinds that lack company and suppresses their cells until they have it: column after column
in the order of importance, which keeps suppressed cells in few columns, where they give company to each other. Then it
goes through all kinds with suppressed cells again, and gives each the cheapest choice under which nobody who needs its
company loses it, until nothing changes. Small tables are tried in two more ways, of which the cheapest is taken: first
the cell after which most people agree; or at once the cheapest cells that are enough.

So few cells do for a bad reason: rows that lost much agree with many, and lend their company to rows that are published
in full. Fewer still would do, since k - 1 rows that lose nearly everything agree with nearly everybody; at least,
nobody begins to lose cells who has company. Rows in which everything is suppressed agree with nobody: whoever reads the
release leaves them out.

`alike` is for readers who take a suppressed cell for a value of its own: then those who agree must have the same cells
suppressed. Cells are suppressed in the cheapest columns first, wherever that makes classes that are large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError
from auditor.model.labels.labels import is_suppressed
from auditor.model.packing import distinct_rows
from auditor.model.progress import Progress

MOST_COLUMNS = 14
"""Every choice of columns is looked at, and with more columns there are too many."""
FEW = 2000
"""Up to this many kinds are tried in several ways."""
_NOISE = 1e-9


def mark_of_suppressed(domain: Domain) -> str:
    """The text for a suppressed value of a column; an error where every such text is a value of the column."""
    for text in domain.format.suppressed:
        if is_suppressed(domain, text):
            return text
    raise PromiseError(
        f"column {domain.column.name!r}: there is no text for a suppressed value. List one under [table] suppressed that "
        "is no value of the column."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The kinds of people: their codes (kinds × columns), how many of each have each sensitive value (kinds × values; one
    value where none is asked about), and the kind of each row."""

    codes: Codes
    counts: Ints
    of_row: Ints

    @classmethod
    def of(cls, codes: Codes, values: Codes | None) -> Kinds:
        """The kinds of people with these quasi-identifiers and sensitive values, in the order of their codes."""
        number = distinct_rows(codes)
        kinds = int(number.max()) + 1
        first = np.zeros(kinds, dtype=np.int64)
        first[number] = np.arange(len(codes))
        value = np.zeros(len(codes), dtype=np.int64) if values is None else values.astype(np.int64)
        width = int(value.max()) + 1
        counts = np.bincount(number * width + value, minlength=kinds * width).reshape(kinds, width)
        return cls(codes[first], counts, number)


@dataclass(frozen=True, slots=True)
class Company:
    """What everybody needs: at least k people, with at least l different values among them."""

    k: int
    l: int

    def enough(self, counts: Ints) -> Bools:
        """Whether people with these values (… × values) are enough."""
        return np.asarray((counts.sum(axis=-1) >= self.k) & ((counts > 0).sum(axis=-1) >= self.l))


class _Choices:
    """All sets of columns, as numbers, and what suppressing each costs. `order` has the cheapest first; of equally dear ones
    that with fewer columns, then the first."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.columns = len(weights)
        sets = np.arange(1 << self.columns)
        has = (sets[:, None] >> np.arange(self.columns)) & 1
        self.cost: Floats = has.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
        self.order = np.lexsort([sets, has.sum(axis=1), np.round(self.cost, 9)])
        self.every = len(sets) - 1

    def first(self, allowed: Bools) -> int:
        """The cheapest of the sets that are allowed."""
        return int(self.order[np.argmax(allowed[self.order])])

    def within(self, conflicts: Ints, counts: Ints) -> Ints:
        """For each set of columns the summed counts of those whose conflicts all lie in it (sets × values)."""
        width = counts.shape[1]
        total = np.zeros((self.every + 1, width), dtype=np.int64)
        for value in range(width):
            total[:, value] = np.bincount(conflicts, weights=counts[:, value], minlength=self.every + 1)
        for column in range(self.columns):
            halves = total.reshape(-1, 2, 1 << column, width)
            halves[:, 1] += halves[:, 0]
        return total


class _State:
    """Which cells of which kinds are suppressed, and who agrees with whom."""

    def __init__(self, kinds: Kinds, company: Company, choices: _Choices) -> None:
        self.kinds, self.company, self.choices = kinds, company, choices
        self.columns = np.ascontiguousarray(kinds.codes.T)
        self.hidden = np.zeros(len(kinds.codes), dtype=np.int64)
        self.friends = kinds.counts.copy()
        """How many of those who agree with each kind have each value."""

    def conflicts(self, kind: int) -> Ints:
        """The columns in which each kind differs from this one with a published cell."""
        found = np.zeros(len(self.hidden), dtype=np.int64)
        for place, column in enumerate(self.columns):
            found |= (column != column[kind]).astype(np.int64) << place
        return found & ~self.hidden

    def counted(self) -> Bools:
        """The kinds that others may agree with: not those with everything suppressed."""
        return np.asarray(self.hidden != self.choices.every)

    def enough(self, kind: int) -> tuple[Bools, Ints, Ints]:
        """Which sets of cells, if suppressed, give a kind company; the conflicts of all with it; and those who would agree
        with it (sets × values)."""
        conflicts, counted = self.conflicts(kind), self.counted()
        counted[kind] = True
        conflicts[kind] = 0
        total = self.choices.within(conflicts[counted], self.kinds.counts[counted])
        enough = self.company.enough(total)
        enough[self.choices.every] = True  # all suppressed: that needs no company
        return enough, conflicts, total

    def cheapest(self, kind: int) -> int:
        """The cheapest cells that give a kind company."""
        return self.choices.first(self.enough(kind)[0])

    def in_turn(self, kind: int) -> int:
        """The cells that give a kind company, suppressed in the order of columns."""
        enough, cells = self.enough(kind)[0], int(self.hidden[kind])
        for place in range(self.choices.columns):
            if enough[cells]:
                break
            cells |= 1 << place
        return cells

    def steepest(self, kind: int) -> int:
        """The cells that give a kind company, suppressed in the order of how many people then agree."""
        enough, _, total = self.enough(kind)
        people, cells = total.sum(axis=1), int(self.hidden[kind])
        while not enough[cells]:
            steps = [cells | 1 << place for place in range(self.choices.columns) if not cells >> place & 1]
            cells = max(steps, key=lambda one: int(people[one]))
        return cells

    def spared(self, kind: int) -> int:
        """The cheapest cells of a kind that keep it in company, and those who need it."""
        enough, conflicts, _ = self.enough(kind)
        if self.hidden[kind] != self.choices.every:
            agree = self.counted() & (conflicts & ~self.hidden[kind] == 0)
            agree[kind] = False
            near = np.flatnonzero(agree)
            leaning = near[~self.company.enough(self.friends[near] - self.kinds.counts[kind])]
            if len(leaning):
                keep = int(np.bitwise_or.reduce(conflicts[leaning]))
                enough &= np.arange(len(enough)) & keep == keep
                enough[self.choices.every] = False
        return self.choices.first(enough)

    def suppress(self, kind: int, cells: int) -> None:
        """Suppresses these cells of a kind, and no others."""
        old = int(self.hidden[kind])
        if old == cells:
            return
        conflicts, counted = self.conflicts(kind), self.counted()
        counted[kind] = False
        every = self.choices.every
        before = counted & (conflicts & ~old == 0) & (old != every)
        after = counted & (conflicts & ~cells == 0) & (cells != every)
        mine = self.kinds.counts[kind]
        self.friends[before & ~after] -= mine
        self.friends[after & ~before] += mine
        self.hidden[kind] = cells
        self.friends[kind] = mine + self.kinds.counts[after].sum(axis=0)

    def lonely(self) -> Ints:
        """The kinds that lack company, those with the least first."""
        found = np.flatnonzero(self.counted() & ~self.company.enough(self.friends))
        return found[np.argsort(self.friends[found].sum(axis=1), kind="stable")]


def agreeing(kinds: Kinds, company: Company, weights: Sequence[float], progress: Progress) -> Bools:
    """Which cells of each kind to suppress (kinds × columns), so that enough people agree with everybody. Columns come with
    the least important first."""
    choices, people = _Choices(weights), kinds.counts.sum(axis=1)
    found: list[tuple[float, Ints]] = []
    for way in (_State.in_turn, _State.steepest, _State.cheapest)[: 3 if len(kinds.codes) <= FEW else 1]:
        state = _State(kinds, company, choices)
        _suppress(state, way, progress)
        _give_back(state, progress)
        found.append((round(float(people @ choices.cost[state.hidden]), 9), state.hidden))
    hidden = min(found, key=lambda one: one[0])[1]
    return np.asarray((hidden[:, None] >> np.arange(kinds.codes.shape[1])) & 1, dtype=np.bool_)


def _suppress(state: _State, way: Callable[[_State, int], int], progress: Progress) -> None:
    """Gives company to everybody."""
    lonely = state.lonely()
    while len(lonely):
        for done, kind in enumerate(lonely.tolist()):
            if not done % 100:
                progress(done, len(lonely), "suppressing cells")
            if not state.company.enough(state.friends[kind]):
                state.suppress(kind, way(state, kind))
        lonely = state.lonely()


def _give_back(state: _State, progress: Progress) -> None:
    """Gives cells back that are not needed, those of the kinds that lost most first, until no more can be."""
    cost, changed = state.choices.cost, True
    while changed:
        changed = False
        there = np.flatnonzero(state.hidden)
        there = there[np.argsort(-cost[state.hidden[there]], kind="stable")]
        for done, kind in enumerate(there.tolist()):
            if not done % 100:
                progress(done, len(there), "giving cells back")
            cells = state.spared(kind)
            if cost[cells] < cost[state.hidden[kind]] - _NOISE:
                state.suppress(kind, cells)
                changed = True


def alike(kinds: Kinds, company: Company, weights: Sequence[float], progress: Progress) -> Bools:
    """Which cells of each kind to suppress (kinds × columns), so that enough people have the same cells."""
    choices, columns = _Choices(weights), kinds.codes.shape[1]
    hidden = np.full(len(kinds.codes), -1, dtype=np.int64)
    costs = np.unique(np.round(choices.cost, 9))
    for done, cost in enumerate(costs.tolist()):
        progress(done, len(costs), "suppressing cells")
        level = [int(s) for s in choices.order if abs(choices.cost[s] - cost) < _NOISE and s != choices.every]
        found = [(_classes(kinds, company, hidden, cells, columns), cells) for cells in level]
        found.sort(key=lambda one: (-int(kinds.counts[one[0]].sum()), choices.order.tolist().index(one[1])))
        for _, cells in found:  # the most people first; for the others those who are left count
            hidden[_classes(kinds, company, hidden, cells, columns)] = cells
    hidden[hidden < 0] = choices.every
    return np.asarray((hidden[:, None] >> np.arange(columns)) & 1, dtype=np.bool_)


def _classes(kinds: Kinds, company: Company, hidden: Ints, cells: int, columns: int) -> Ints:
    """The kinds without a place yet that are enough, with those that they equal in all columns but some: others without
    a place, and those that already lose these cells."""
    free = np.flatnonzero(hidden < 0)
    placed = np.flatnonzero(hidden == cells)
    both = np.concatenate([free, placed])
    shown = [c for c in range(columns) if not cells >> c & 1]
    number = distinct_rows(kinds.codes[both][:, shown])
    total = np.zeros((int(number.max(initial=-1)) + 1, kinds.counts.shape[1]), dtype=np.int64)
    np.add.at(total, number, kinds.counts[both])
    return free[company.enough(total)[number[: len(free)]]]
