"""Beliefs by distance: a person is one of the nearest published records.

If averages, cluster centres or noisy values are published, the labels that cover a person are nobody's record, or somebody
else's. The adversary then takes the records nearest to what is known (`metric.py`). Fragments are collapsed to cells as in
`matching.py`. The nearest cells, ties included, share the belief by the number of their records, so the order of rows does
not matter. Nothing says how far a record may be from its person, so all belief goes to the nearest. If clusters are wide, the
expected success is then too high; the realised success is reported beside it.

Without the own record (`without`) a class that still has other records stays where it is: what is left out is one of its
records, not its part in the average. If it was the only one, the next nearest take its place.

**Absence.** Given a list of the population, each of its people is nearest to some cell. Of the F people who are nearest to a
cell of f records, the share f/F is taken to be in the release. Without a list nothing turns nearness into a probability, and
the prior stays.

All known columns must be published in one block: otherwise no published record is near a person as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.knowledge import Knowledge
from auditor.model.release import Release, Suppression
from auditor.posterior.agreement import LEAST_PEOPLE
from auditor.posterior.beliefs import TIE, Linked, MemberBeliefs, RecordBeliefs, Shares, ValueBeliefs, Without, meaning
from auditor.posterior.links import Link, Weighting
from auditor.posterior.matching import Cells, distinct_people, expand
from auditor.posterior.metric import Column, Learned, Metric, Part, parts_of
from auditor.posterior.pruned import columns_of, nearest, tree_of

MOST_COMPARISONS = 2e10
"""The limit on compared values (people × records × columns): about a minute's work."""
MOST_OF_A_COLUMN = 20_000_000
"""The limit on compared values of one column, all at once, where `agreement` is learned: some hundred megabytes."""
_A_CHUNK = 1 << 20
_SAME = 1e-15


def no_distance(release: Release, columns: tuple[str, ...], people: int) -> str | None:
    """Why people with these known columns cannot be linked by distance, or None."""
    known = [c for c in columns if c in release.columns]
    if not known:
        return "nothing that is published is known about the people, so no record is near them"
    if len({release.block_number(c) for c in known}) > 1:
        return "what is known is published in several blocks, so no published record is near a person as a whole"
    distinct = len(Cells.of(release.block_of(known[0]), known, len(release.sizes)).labels)
    comparisons = float(people) * distinct * len(known)
    if comparisons > MOST_COMPARISONS:
        return (
            f"comparing every person with every record takes {comparisons / 1e9:.0f} billion comparisons, above the limit of "
            f"{MOST_COMPARISONS / 1e9:.0f} billion; attack fewer people"
        )
    return None


def no_agreement(release: Release, knowledge: Knowledge) -> str | None:
    """Why the metric `agreement` cannot be learned from these people, or None."""
    if knowledge.targets < LEAST_PEOPLE:
        return f"what agreement is worth cannot be learned from fewer than {LEAST_PEOPLE} people"
    for place, column in enumerate(knowledge.columns):
        if column not in release.columns:
            continue
        values = len(np.unique(knowledge.codes[:, place]))
        pairs = values * len(np.unique(release.block_of(column).cell(column)))
        if pairs > MOST_OF_A_COLUMN:
            return (
                f"comparing the {values} different values of {column!r} with all published ones takes {pairs / 1e6:.0f} "
                f"million comparisons, above the limit of {MOST_OF_A_COLUMN / 1e6:.0f} million; attack fewer people"
            )
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The nearest cells of each row: (row, cell) pairs, ascending, how much each weighs beside its number of records, and the
    distance of each row."""

    row: Ints
    cell: Ints
    weight: Floats
    distance: Floats


class Search:
    """Finds the nearest cells of the block that holds the known columns."""

    def __init__(self, release: Release, columns: tuple[str, ...], suppression: Suppression, metric: Metric) -> None:
        self.columns = tuple(c for c in columns if c in release.columns)
        self.release, self.metric, self.suppression = release, metric, suppression
        self.block = release.block_number(self.columns[0])
        self.cells = Cells.of(release.blocks[self.block], self.columns, len(release.sizes))
        counted = np.ones(len(release.sizes), np.bool_) if suppression is Suppression.WILDCARD else ~release.suppressed
        cells = np.flatnonzero(counted[self.cells.bucket])
        order = np.argsort(self.cells.pattern[cells], kind="stable")
        self._by_pattern = cells[order]
        self._patterns, self._first = np.unique(self.cells.pattern[self._by_pattern], return_index=True)
        self._fan = np.diff(np.append(self._first, len(cells)))
        records = np.add.reduceat(self.cells.count[self._by_pattern], self._first) if len(cells) else np.empty(0)
        self._records = records.astype(np.float64)
        self._labels = [release.labels[c] for c in self.columns]
        self.learned: Learned | None = None

    def learn(self, people: Codes, times: Floats) -> None:
        """Learns from people (codes over the columns, each row standing for so many) what the metric `agreement` goes by."""
        if len(self._patterns):
            self.learned = Learned(self._labels, self.cells.labels[self._patterns], people, self._records, times)

    def find(self, people: Codes, second: bool = False) -> Entries:
        """The nearest cells of people (codes over the columns), or with `second` the next nearest after these."""
        row, pattern, weight, distance = self.pairs(people, second)
        fan = self._fan[pattern]
        cell = self._by_pattern[expand(self._first[pattern], fan)]
        row, weight = np.repeat(row, fan), np.repeat(weight, fan)
        order = np.lexsort((cell, row))
        root = np.sqrt(distance) if self.metric in (Metric.EUCLID, Metric.MAHALANOBIS) else distance
        return Entries(row[order], cell[order], weight[order], root)

    def pairs(self, people: Codes, second: bool) -> tuple[Ints, Ints, Floats, Floats]:
        """Pairs of a person and a pattern that is one of the nearest, the weight of each, and the distance of each person."""
        row, pattern, distance = np.empty(0, np.int64), np.empty(0, np.int64), np.full(len(people), np.inf)
        if len(self._patterns):
            if self.learned is not None:
                parts = self.learned.parts(people)
            else:
                parts = parts_of(self.metric, self._labels, self.cells.labels[self._patterns], people, self._records)
            columns = [column for part in parts if (column := part.column()) is not None]
            if len(columns) == len(parts) and len(people) * len(self._patterns) > _A_CHUNK:
                row, pattern, distance = pruned(columns, second)
            else:
                row, pattern, distance = compared(parts, len(people), len(self._patterns), second)
        return row, pattern, np.ones(len(row)), distance

    @property
    def patterns(self) -> Codes:
        """The label patterns that are looked at."""
        return self.cells.labels[self._patterns]

    @property
    def records(self) -> Floats:
        """How many records have each of them."""
        return self._records


def pruned(columns: Sequence[Column], second: bool) -> tuple[Ints, Ints, Floats]:
    """The nearest patterns of people, or with `second` the next nearest, as pairs of a person and a pattern, and the distance
    of each person; found by a search."""
    people, labels = (np.column_stack([getattr(one, name) for one in columns]) for name in ("value", "label"))
    order = np.lexsort(people.T[::-1])  # neighbours are near the same patterns
    shapes, tree, least = columns_of([one.distances for one in columns]), tree_of(labels), np.full(len(people), -1.0)
    if second:
        nearest_of_all, *_ = nearest(shapes, tree, people[order], labels, least, TIE, _SAME, np.inf)
        least = nearest_of_all * (1 + TIE) + _SAME
    distance = np.empty(len(people))
    distance[order], starts, pattern, _ = nearest(shapes, tree, people[order], labels, least, TIE, _SAME, np.inf)
    return np.repeat(order, np.diff(starts)), pattern, distance


def compared(parts: Sequence[Part], people: int, patterns: int, second: bool) -> tuple[Ints, Ints, Floats]:
    """The same, found by comparing everybody with every pattern."""
    rows: list[Ints] = []
    found: list[Ints] = []
    distance = np.full(people, np.inf)
    step = max(_A_CHUNK // patterns, 1)
    for begin in range(0, people, step):
        some = slice(begin, min(begin + step, people))
        away = np.zeros((some.stop - begin, patterns))
        for part in parts:
            part.add(some, away)
        if second:
            away[_least(away)] = np.inf
        row, pattern = np.nonzero(_least(away) & np.isfinite(away))
        distance[some] = away.min(axis=1)
        rows.append(row + begin)
        found.append(pattern)
    return np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([np.empty(0, np.int64), *found]), distance


def _least(away: Floats) -> Bools:
    """Which distances are the least of their row, ties included."""
    return np.asarray(away <= (away.min(axis=1) * (1 + TIE) + _SAME)[:, None])


class Nearest(Linked):
    """The beliefs of an adversary who takes the nearest records; see `no_distance` for when there are none."""

    link = Link.DISTANCE

    def __init__(
        self,
        release: Release,
        knowledge: Knowledge,
        suppression: Suppression,
        weighting: Weighting = Weighting.SIZE,
        metric: Metric = Metric.EUCLID,
    ) -> None:
        self.release, self.knowledge, self.weighting = release, knowledge, weighting
        self.search = self._searching(suppression, metric)
        self.targets = knowledge.targets
        places = [knowledge.columns.index(c) for c in self.search.columns]
        self.tuples, self.row_of = distinct_people(knowledge.codes[:, places])
        if metric is Metric.AGREEMENT:
            self.search.learn(self.tuples, np.bincount(self.row_of).astype(np.float64))
        self.entries = self.search.find(self.tuples)
        self.weight = self.weigh(self.entries, self.search.cells.count[self.entries.cell], 0)
        self.total = np.bincount(self.entries.row, self.weight, len(self.tuples)).astype(np.float64)
        self.p = self.weight / self.total[self.entries.row]

    def _searching(self, suppression: Suppression, metric: Metric) -> Search:
        """What finds the records."""
        return Search(self.release, self.knowledge.columns, suppression, metric)

    def weigh(self, entries: Entries, count: Ints, fewer: Ints | int) -> Floats:
        """The weights of entries with so many records each, in classes of some people fewer."""
        size = self.release.sizes[self.search.cells.bucket[entries.cell]] - fewer
        return weights(count, size, self.weighting) * entries.weight

    def meaning(self, column: str) -> sparse.csr_array:
        """What the labels of a sensitive column stand for (labels × codes)."""
        return meaning(self.release, column, self.knowledge.priors[column])

    def _present(self, prior: float | None) -> Floats:
        if prior is None or prior >= 1:
            return np.ones(self.targets)
        register, columns = self.knowledge.register, self.search.columns
        if register is None or any(c not in register.codes for c in columns):
            return np.full(self.targets, prior)
        everybody, number = distinct_people(np.column_stack([register.codes[c] for c in columns]))
        if no_distance(self.release, columns, len(everybody)) is not None:
            return np.full(self.targets, prior)
        times = np.bincount(number, minlength=len(everybody)) / register.coverage
        cells = self.search.cells
        theirs = self.search.find(everybody)
        each = weights(cells.count[theirs.cell], self.release.sizes[cells.bucket[theirs.cell]], self.weighting)
        total = np.bincount(theirs.row, weights=each, minlength=len(everybody))
        people = np.bincount(
            theirs.cell, weights=times[theirs.row] * each / total[theirs.row], minlength=len(cells.bucket)
        )
        share = np.divide(cells.count, people, out=np.ones(len(people)), where=people > cells.count)
        among = np.bincount(self.entries.row, weights=self.p * share[self.entries.cell], minlength=len(self.tuples))
        # the population's own share of members serves as the prior; convert it to the prior that is asked for
        sampled = min(self.release.rows * register.coverage / register.people, 1 - 1 / max(register.people, 2))
        scale = prior / (1 - prior) * (1 - sampled) / sampled
        sure = among > 1 - TIE
        odds = scale * among / np.where(sure, 1.0, 1 - among)
        return np.where(sure, 1.0, odds / (1 + odds))[self.row_of]

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        counts, _ = self.groups(column, shares)
        rows = sparse.csr_array(self.fragment_weights(column) @ counts @ self.meaning(column))
        return self.believed(column, rows, self.row_of, self.matched)

    def fragment_weights(self, column: str) -> sparse.csr_array:
        """The probability of each fragment with a value of a column, the same for its whole group: rows × groups."""
        _, size = self.groups(column)
        each = self.p / np.maximum(size, 1)[self.group(column)[self.entries.cell]]
        shape = (len(self.tuples), len(size))
        return sparse.csr_array((each, (self.entries.row, self.group(column)[self.entries.cell])), shape=shape)

    def group(self, column: str) -> Ints:
        """For each cell the group of fragments with the values of a column: the cell itself, or its class if the column is
        in another block."""
        cells = self.search.cells
        inside = self.release.block_number(column) == self.search.block
        return np.arange(len(cells.bucket), dtype=np.int64) if inside else cells.bucket

    def groups(self, column: str, shares: Shares | None = None) -> tuple[sparse.csr_array, Floats]:
        """How often each label of a column occurs in each group, fragments counting by their shares, and the number of
        fragments of each group."""
        number = self.release.block_number(column)
        block = self.release.blocks[number]
        inside = number == self.search.block
        group = self.search.cells.of_fragment if inside else block.bucket
        groups = len(self.search.cells.bucket) if inside else len(self.release.sizes)
        shape = (groups, len(self.release.labels[column].texts))
        each = np.ones(len(group)) if shares is None else shares.free
        return sparse.csr_array((each, (group, block.cell(column))), shape=shape), np.bincount(
            group, minlength=groups
        ).astype(np.float64)

    def records(self) -> RecordBeliefs:
        count = self.search.cells.count[self.entries.cell]
        return self.likeliest(self.entries.row, self.p / count, count)

    def own_cell(self, fragment: Ints) -> Ints:
        """The cell of each target's own fragment, -1 if there is none."""
        own = fragment[:, self.search.block]
        return np.where(own >= 0, self.search.cells.of_fragment[own], -1)

    def record_probability(self, bucket: Ints, fragment: Ints) -> Floats:
        own = self.own_cell(fragment)
        cells = max(len(self.search.cells.bucket), 1)
        key, wanted = self.entries.row * cells + self.entries.cell, self.row_of * cells + own
        if not len(key):
            return np.zeros(self.targets)
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        found = (own >= 0) & (bucket >= 0) & (key[place] == wanted)
        return np.where(found, self.p[place] / self.search.cells.count[own], 0.0) * self.present

    def classes(self, bucket: Ints) -> tuple[Floats, Floats]:
        shape = (len(self.tuples), len(self.release.sizes))
        mass = sparse.csr_array((self.p, (self.entries.row, self.search.cells.bucket[self.entries.cell])), shape=shape)
        mass.sum_duplicates()
        row = np.repeat(np.arange(shape[0]), np.diff(mass.indptr))
        top = np.zeros(shape[0])
        np.maximum.at(top, row, mass.data)
        at_top = mass.data >= top[row] * (1 - TIE)
        tied = np.maximum(np.bincount(row[at_top], minlength=shape[0]), 1)
        named = sparse.csr_array((np.ones(int(at_top.sum())), (row[at_top], mass.indices[at_top])), shape=shape)
        found = np.asarray(named[self.row_of, np.maximum(bucket, 0)]).reshape(-1) > 0
        return np.where(found & (bucket >= 0), 1 / tied[self.row_of], 0.0), top[self.row_of]

    def membership(self, prior: float) -> MemberBeliefs:
        """The nearer a record, the likelier a member: the degree is 1/(1 + distance)."""
        shape = (len(self.tuples), len(self.release.sizes))
        bucket = self.search.cells.bucket[self.entries.cell]
        nearest = sparse.csr_array((np.ones(len(bucket)), (self.entries.row, bucket)), shape=shape)
        nearest.sum_duplicates()
        degree = 1 / (1 + self.entries.distance)
        buckets = np.diff(nearest.indptr).astype(np.float64)
        register = self.knowledge.register
        judged = register is not None and all(c in register.codes for c in self.search.columns)
        return MemberBeliefs(buckets[self.row_of], degree[self.row_of], self._present(prior), judged=judged)

    def without(self, bucket: Ints, fragment: Ints) -> WithoutOwn:
        """The same beliefs without each target's own record (bucket, and fragment per block)."""
        return WithoutOwn(self, bucket, fragment)


def weights(count: Ints, size: Ints, weighting: Weighting) -> Floats:
    """The weights of cells with these numbers of records, in classes of these sizes."""
    weight = count.astype(np.float64)
    return weight if weighting is Weighting.SIZE else weight / np.maximum(size, 1)


class WithoutOwn(Without[Nearest]):
    """Beliefs by distance without each target's own record."""

    @cached_property
    def _left(self) -> tuple[Ints, Ints, Floats]:
        """(target, cell) pairs and their probabilities."""
        full = self.full
        target, cell, weight = self._expand(full.entries, np.arange(self.targets), full.row_of)
        alone = np.setdiff1d(np.arange(self.targets), target)
        if len(alone) and len(full.entries.row):
            rows, row = np.unique(full.row_of[alone], return_inverse=True)
            further = full.search.find(full.tuples[rows], second=True)
            more = self._expand(further, alone, row.reshape(-1))
            target, cell, weight = (np.concatenate(pair) for pair in zip((target, cell, weight), more, strict=True))
        total = np.bincount(target, weights=weight, minlength=self.targets)
        return target, cell, weight / total[target]

    def _expand(self, entries: Entries, who: Ints, row: Ints) -> tuple[Ints, Ints, Floats]:
        """The entries of some targets, given their rows, with their weights once the own record is gone."""
        full, cells = self.full, self.full.search.cells
        first = np.searchsorted(entries.row, row)
        lengths = np.searchsorted(entries.row, row, side="right") - first
        place = expand(first, lengths)
        target, cell = np.repeat(who, lengths), entries.cell[place]
        count = cells.count[cell] - (cell == full.own_cell(self.fragment)[target])
        some = Entries(target, cell, entries.weight[place], entries.distance)
        weight = full.weigh(some, count, cells.bucket[cell] == self.bucket[target])
        keep = count > 0
        return target[keep], cell[keep], weight[keep]

    @property
    def matched(self) -> Bools:
        return np.bincount(self._left[0], minlength=self.targets) > 0

    def thinned(self, column: str, shares: Shares | None) -> ValueBeliefs:
        full, (target, cell, p) = self.full, self._left
        counts, size = full.groups(column, shares)
        group = full.group(column)[cell]
        block = full.release.block_number(column)
        own_fragment = self.fragment[:, block]
        label = full.release.blocks[block].cell(column)[own_fragment]
        own = np.where(own_fragment >= 0, self._own_group(column, own_fragment), -1)
        mine = group == own[target]
        # the own group has one fragment fewer: p · (counts - own label) / (size - 1)
        each = p / np.maximum(size[group] - mine, 1)
        chosen = sparse.csr_array((each, (target, group)), shape=(self.targets, len(size)))
        gone: Floats = np.bincount(target[mine], weights=each[mine], minlength=self.targets).astype(np.float64)
        if shares is not None:
            gone = gone * shares.gone[own_fragment]
        marks = sparse.csr_array((gone, (np.arange(self.targets), label)), shape=(self.targets, counts.shape[1]))
        rows = sparse.csr_array((chosen @ counts - marks) @ full.meaning(column))
        rows.data[rows.data < TIE * TIE] = 0.0
        rows.eliminate_zeros()
        return full.believed(column, rows, np.arange(self.targets), self.matched)

    def _own_group(self, column: str, fragment: Ints) -> Ints:
        full = self.full
        if full.release.block_number(column) == full.search.block:
            return full.search.cells.of_fragment[fragment]
        return self.bucket
