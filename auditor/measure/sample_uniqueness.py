"""Special uniques: the smallest sets of attributes on which a record is the only one of its kind (SUDA2).

A *minimal sample unique* of a record is a set of attributes on which no other record is like it, while on every smaller part
of the set some other is. Few attributes suffice for somebody special. So a set of m among M attributes counts
(M - m)! = Π_{i=m}^{M-1} (M - i), and a record's *score* is the sum over its minimal sample uniques.

The DIS score turns this into a probability that a match with the record is right. For the file as a whole it is
U·δ/(U·δ + P·(1 - δ)), with U unique records, P records in pairs, and δ the assumed share of the population in the sample
(`fraction`). Records share it in proportion to score^Q, Q = 1 + (8 - M)/20.

Uniqueness only grows with the set: a record unique on a set is unique on all larger ones. So sets are tried by size, and only
records that are unique on all attributes can have any. A set is minimal for a record if it is unique on it and on none of the
sets that lack one of its attributes. A cell that fits any value (`wildcards`) makes no record unique, neither its own nor one
that differs from it in that cell only.

Papers: A. Manning, D. Haglin, J. Keane, "A recursive search algorithm for statistical disclosure assessment", Data Mining
and Knowledge Discovery 2008; M. Elliot, "DIS: A new approach to the measurement of statistical disclosure risk", Risk
Management 2000. The scaling of scores and DIS is sdcMicro's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np

from auditor.measure.wildcards import Alike
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.packing import distinct_rows

MOST_SETS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of a table."""

    score: Floats
    """The score of each record."""
    by_attribute: Floats
    """The part of it from minimal sample uniques with each attribute (records × attributes)."""
    sizes: Ints
    """`sizes[m - 1]` is the number of minimal sample uniques of m attributes."""
    unique: int
    """The number of records whose combination of all attributes occurs once."""
    pairs: int
    """The number of records whose combination occurs twice."""

    @property
    def contribution(self) -> Floats:
        """For each attribute the share of all scores that comes from minimal sample uniques with it."""
        total = self.score.sum()
        return self.by_attribute.sum(axis=0) / total if total > 0 else np.zeros(self.by_attribute.shape[1])


def largest_size(attributes: int, sets: int = MOST_SETS) -> int:
    """The greatest size such that there are at most `sets` sets of that many attributes or fewer; at least one."""
    size, total = 1, attributes
    while size < attributes and total + comb(attributes, size + 1) <= sets:
        size += 1
        total += comb(attributes, size)
    return size


def special_uniques(
    values: Codes, most: int | None = None, silent: Bools | None = None, hidden: Bools | None = None
) -> SpecialUniques | None:
    """The minimal sample uniques of up to `most` attributes of a table (records × attributes, equal numbers for equal
    values). A `silent` cell tells nothing of its record and is in none of its sets; a `hidden` one moreover fits any value.
    None if counting those would take too long."""
    records, attributes = values.shape
    most = attributes if most is None else min(most, attributes)
    nothing = np.zeros(values.shape, dtype=np.bool_)
    hidden = nothing if hidden is None else hidden
    silent = hidden if silent is None else silent | hidden
    count = Alike.of(values, hidden).frequency()
    if count is None:
        return None
    rows = np.flatnonzero(count == 1)
    score, by_attribute = np.zeros(records), np.zeros((records, attributes))
    sizes = np.zeros(attributes, dtype=np.int64)
    telling = ~silent[rows]
    before: dict[tuple[int, ...], Bools] = {(): np.zeros(len(rows), dtype=np.bool_)}
    for size in range(1, most + 1) if len(rows) else ():
        now: dict[tuple[int, ...], Bools] = {}
        for chosen in combinations(range(attributes), size):
            told: Bools = np.all(telling[:, chosen], axis=1)
            known = told & np.logical_or.reduce([before[left_out] for left_out in combinations(chosen, size - 1)])
            asked = np.flatnonzero(told & ~known)  # whoever is unique on a smaller set has no minimal one here
            minimal = asked[_unique(values, hidden, rows[asked], chosen)] if len(asked) else asked
            known[minimal] = True
            now[chosen] = known
            found = rows[minimal]
            sizes[size - 1] += len(found)
            score[found] += factorial(attributes - size)
            by_attribute[np.ix_(found, np.array(chosen))] += factorial(attributes - size)
        before = now
    return SpecialUniques(score, by_attribute, sizes, len(rows), int((count == 2).sum()))


def _unique(values: Codes, hidden: Bools, rows: Ints, chosen: tuple[int, ...]) -> Bools:
    """Which of the rows, none of which hides one of the chosen attributes, are unique on them in the table."""
    places = list(chosen)
    radix = values[:, places].max(axis=0).astype(np.int64) + 1
    if float(np.prod(radix.astype(np.float64))) <= 8 * len(values):  # few enough to count at once
        key = np.zeros(len(values), dtype=np.int64)
        for attribute, base in zip(places, radix.tolist(), strict=True):
            key = key * base + values[:, attribute]
    else:
        key = distinct_rows(values[:, places])
    pattern = hidden[:, places] @ (1 << np.arange(len(places), dtype=np.int64))
    unique: Bools = np.bincount(key[pattern == 0], minlength=int(key.max()) + 1)[key[rows]] == 1
    for number in np.unique(pattern[pattern > 0]).tolist():  # records in which some of them fit any value
        left = np.flatnonzero(unique)
        if not len(left):
            break
        shown = [attribute for place, attribute in enumerate(places) if not number >> place & 1]
        like = distinct_rows(values[np.concatenate([rows[left], np.flatnonzero(pattern == number)])][:, shown])
        unique[left] = ~np.isin(like[: len(left)], like[len(left) :])
    return unique


def dis_scores(found: SpecialUniques, fraction: float) -> Floats:
    """The DIS score of each record: 0 without a minimal sample unique."""
    special = found.score > 0
    dis = np.zeros(len(found.score))
    if not special.any():
        return dis
    attributes = found.by_attribute.shape[1]
    file = found.unique * fraction / (found.unique * fraction + found.pairs * (1 - fraction))
    strength = found.score[special] ** (1 + (8 - attributes) / 20)
    share = strength * (1 / strength).sum()
    dis[special] = 1 / (1 + found.unique * (1 / file - 1) / share)
    return dis
