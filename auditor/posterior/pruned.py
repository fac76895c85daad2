"""The nearest label patterns of people, found without comparing everybody with every pattern.

Patterns stand in a tree: below a node are those that agree in the columns so far, the columns with the fewest labels first.
Walking down, the distance only grows, so a node whose distance so far is above the best one found is skipped with all that is
below it. People come in order, and the search for each begins with the pattern that was nearest to the one before.

It is exact. A distance is a sum of numbers that are not negative, and rounding is monotone: a sum of some of them, in any
order, is above the sum of all by less than 1e-12 of it. At the end of a path the distance is added up anew, column by column
in the order of `metric.py`, so that it is the same number as there, and ties are the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.compiling import kernel

_SLACK = 1 - 1e-12
KNOWN, ABSENT, UNKNOWN = 0, 1, 2
"""Whether a value of a person has a place on its line, is missing, or is not known."""


class Line(NamedTuple):
    """A column whose distances follow from places on a line: by value the place and its state, by label its ends, whether it
    has none (`nowhere`) and whether it covers a missing value (`open_to`). Differences are divided by `scale` and squared,
    or not; `apart` is the distance of a missing value."""

    place: Floats
    state: Ints
    lower: Floats
    upper: Floats
    nowhere: Ints
    open_to: Ints
    scale: float
    apart: float
    squared: bool


class Columns(NamedTuple):
    """All columns, one after the other. `table` from `first[c]` on holds the distances of column c, values × labels (`width`
    labels). Where `width[c]` is 0 the column is a line: its values and labels follow from `value_at[c]` and `label_at[c]`."""

    first: Ints
    width: Ints
    table: Floats
    value_at: Ints
    label_at: Ints
    place: Floats
    state: Ints
    lower: Floats
    upper: Floats
    nowhere: Ints
    open_to: Ints
    scale: Floats
    apart: Floats
    squared: Ints


class Patterns(NamedTuple):
    """The tree of patterns. `way` are the columns from the top down; a node has a `label` of its column and the children from
    `begin` to before `end`, at the bottom the number of its pattern as `begin`. The first `tops` nodes are the top ones."""

    way: Ints
    label: Ints
    begin: Ints
    end: Ints
    tops: int


def columns_of(parts: Sequence[Floats | Line]) -> Columns:
    """The columns, each given as a line or as its distances (values × labels)."""
    lines = [part for part in parts if isinstance(part, Line)]
    tables = [part for part in parts if not isinstance(part, Line)]
    empty = np.empty(0)

    def joined(name: str) -> Floats:
        return np.concatenate([empty, *(getattr(line, name) for line in lines)])

    def starts(sizes: Sequence[int]) -> Ints:
        return np.cumsum([0, *sizes])[:-1]

    def each(name: str) -> list[float]:
        return [float(getattr(part, name)) if isinstance(part, Line) else 0.0 for part in parts]

    return Columns(
        starts([0 if isinstance(part, Line) else part.size for part in parts]),
        np.array([0 if isinstance(part, Line) else part.shape[1] for part in parts]),
        np.concatenate([empty, *(table.ravel() for table in tables)]),
        starts([len(part.place) if isinstance(part, Line) else 0 for part in parts]),
        starts([len(part.lower) if isinstance(part, Line) else 0 for part in parts]),
        joined("place"),
        joined("state").astype(np.int64),
        joined("lower"),
        joined("upper"),
        joined("nowhere").astype(np.int64),
        joined("open_to").astype(np.int64),
        np.array(each("scale")),
        np.array(each("apart")),
        np.array(each("squared")).astype(np.int64),
    )


def tree_of(labels: Codes) -> Patterns:
    """The tree of some patterns (patterns × columns), all different."""
    count, width = labels.shape
    way = np.argsort(labels.max(axis=0, initial=0), kind="stable")
    order = np.lexsort(labels[:, way[::-1]].T)
    ordered = labels[order][:, way]
    new, starts, before = np.zeros(count, dtype=np.bool_), [], [0]
    new[:1] = True
    for level in range(width):
        new[1:] |= ordered[1:, level] != ordered[:-1, level]
        starts.append(np.flatnonzero(new))
        before.append(before[-1] + len(starts[-1]))
    label = np.concatenate([ordered[start, level] for level, start in enumerate(starts)])
    begin = np.concatenate(
        [before[level + 1] + np.searchsorted(starts[level + 1], starts[level]) for level in range(width - 1)] + [order]
    )
    ends = [np.append(begin[before[level] + 1 : before[level + 1]], before[level + 2]) for level in range(width - 1)]
    end = np.concatenate([*ends, order])
    return Patterns(way, label.astype(np.int64), begin.astype(np.int64), end.astype(np.int64), len(starts[0]))


@kernel
def _away(columns: Columns, c: int, value: int, label: int) -> float:
    """What one column adds to a distance."""
    if columns.width[c] > 0:
        return float(columns.table[columns.first[c] + value * columns.width[c] + label])
    value += columns.value_at[c]
    label += columns.label_at[c]
    state = columns.state[value]
    if state == UNKNOWN:
        return 0.0
    if state == ABSENT and columns.open_to[label]:
        return 0.0
    if state == ABSENT or columns.nowhere[label]:
        return float(columns.apart[c])
    x = columns.place[value]
    way = max(columns.lower[label] - x, x - columns.upper[label], 0.0) / columns.scale[c]
    return float(way * way if columns.squared[c] else way)


@kernel
def nearest(
    columns: Columns, tree: Patterns, people: Ints, labels: Ints, above: Floats, tie: float, same: float, most: float
) -> tuple[Floats, Ints, Ints, Floats]:
    """The nearest patterns farther away than `above` (by person) and at most `most`, those included that are tied with the
    nearest (a share `tie` more, and `same`): the distance of each person, where the patterns of each begin, these, and how
    far they are. `people` are values, people × columns, and `labels` patterns × columns."""
    count, width = people.shape
    best = np.full(count, np.inf)
    starts, found, far = np.zeros(count + 1, dtype=np.int64), np.empty(1024, dtype=np.int64), np.empty(1024)
    node, so_far = np.empty(len(tree.label), dtype=np.int64), np.empty(len(tree.label))
    depth = np.empty(len(tree.label), dtype=np.int64)
    total, guess = 0, 0
    for i in range(count):
        limit = most
        here = 0.0
        for c in range(width):
            here += _away(columns, c, people[i, c], labels[guess, c])
        if here > above[i] and here <= most:
            best[i] = here
            limit = min(here * (1 + tie) + same, most)
        begin, end, level, sum_above, waiting = 0, tree.tops, 0, 0.0, 0
        kept = total
        while True:
            column = tree.way[level]
            first, least = waiting, np.inf
            for v in range(begin, end):
                here = sum_above + _away(columns, column, people[i, column], tree.label[v])
                if here * _SLACK <= limit:
                    node[waiting], so_far[waiting], depth[waiting] = v, here, level
                    if here < least:  # the nearest is looked at first
                        least = here
                        node[waiting], node[first] = node[first], node[waiting]
                        so_far[waiting], so_far[first] = so_far[first], so_far[waiting]
                    waiting += 1
            if waiting > first:
                last = waiting - 1
                node[last], node[first] = node[first], node[last]
                so_far[last], so_far[first] = so_far[first], so_far[last]
            going = False
            while waiting > 0 and not going:
                waiting -= 1
                v, sum_above, level = node[waiting], so_far[waiting], depth[waiting]
                if sum_above * _SLACK > limit:
                    continue
                if level < width - 1:
                    begin, end, level, going = tree.begin[v], tree.end[v], level + 1, True
                    continue
                pattern = tree.begin[v]
                here = 0.0
                for c in range(width):
                    here += _away(columns, c, people[i, c], labels[pattern, c])
                if here > above[i] and here <= limit:
                    if here < best[i]:
                        best[i], guess = here, pattern
                        limit = min(here * (1 + tie) + same, most)
                    if total == len(found):
                        found, far = _longer(found, far)
                    found[total], far[total] = pattern, here
                    total += 1
            if not going:
                break
        last = total
        total = kept
        for place in range(kept, last):
            if far[place] <= limit:
                found[total], far[total] = found[place], far[place]
                total += 1
        starts[i + 1] = total
    return best, starts, found[:total].copy(), far[:total].copy()


@kernel
def _longer(found: Ints, far: Floats) -> tuple[Ints, Floats]:
    """The same lists with twice the room."""
    size = len(found)
    more, further = np.empty(2 * size, dtype=np.int64), np.empty(2 * size)
    for i in range(size):
        more[i], further[i] = found[i], far[i]
    return more, further


@kernel
def beside(columns: Columns, people: Ints, labels: Ints) -> Floats:
    """How far each person is from the pattern in the same place."""
    far = np.zeros(len(people))
    for i in range(len(people)):
        for c in range(people.shape[1]):
            far[i] += _away(columns, c, people[i, c], labels[i, c])
    return far
