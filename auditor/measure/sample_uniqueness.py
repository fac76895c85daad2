"""Special uniques: the smallest sets of attributes on which a record is the only one of its kind (SUDA2).

A *minimal sample unique* of a record is a set of attributes on which no other record is like it, while on every smaller part
of the set some other is. Few attributes suffice for somebody special. So a set of m among M attributes counts
(M - m)! = Π_{i=m}^{M-1} (M - i), and a record's *score* is the sum over its minimal sample uniques.

The DIS score turns this into a probability that a match with the record is right. For the file as a whole it is
U·δ/(U·δ + P·(1 - δ)), with U unique records, P records in pairs, and δ the assumed share of the population in the sample
(`fraction`). Records share it in proportion to score^Q, Q = 1 + (8 - M)/20.

Uniqueness only grows with the set: a record unique on a set is unique on all larger ones. So sets are tried by size, and only
records that are unique on all attributes can have any. A set is minimal for a record if it is unique on it and on none of the
sets that lack one of its attributes.

Papers: A. Manning, D. Haglin, J. Keane, "A recursive search algorithm for statistical disclosure assessment", Data Mining
and Knowledge Discovery 2008; M. Elliot, "DIS: A new approach to the measurement of statistical disclosure risk", Risk
Management 2000. The scaling of scores and DIS is sdcMicro's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial

import numpy as np

from auditor.measure.counts import distinct_sets
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.release import Release

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


def published_values(release: Release, columns: Sequence[str]) -> tuple[Codes, Bools]:
    """The labels of some columns of one block, numbered so that labels with the same values are equal (fragments × columns),
    and which of them tell nothing, because they are suppressed or cover everything."""
    values, hidden = [], []
    for column in columns:
        labels, cell = release.labels[column], release.block_of(column).cell(column)
        used = np.flatnonzero(np.bincount(cell, minlength=len(labels.texts)))
        number = np.zeros(len(labels.texts), dtype=np.int32)
        number[used] = distinct_sets(labels, used)
        values.append(number[cell])
        says_nothing = labels.suppressed | ((labels.counts == labels.domain.size) & (labels.domain.size > 1))
        hidden.append((says_nothing & ~labels.is_alias)[cell])
    return np.column_stack(values), np.column_stack(hidden)


def largest_size(attributes: int, sets: int = MOST_SETS) -> int:
    """The greatest size such that there are at most `sets` sets of that many attributes or fewer; at least one."""
    size, total = 1, attributes
    while size < attributes and total + comb(attributes, size + 1) <= sets:
        size += 1
        total += comb(attributes, size)
    return size


def special_uniques(values: Codes, most: int | None = None, withheld: Bools | None = None) -> SpecialUniques:
    """The minimal sample uniques of up to `most` attributes of a table (records × attributes, equal numbers for equal
    values). A `withheld` (suppressed) cell tells nothing of a record and is in none of its sets."""
    records, attributes = values.shape
    most = attributes if most is None else min(most, attributes)
    whole = distinct_rows(values)
    count = np.bincount(whole)[whole] if records else whole
    rows = np.flatnonzero(count == 1)
    score, by_attribute = np.zeros(records), np.zeros((records, attributes))
    sizes = np.zeros(attributes, dtype=np.int64)
    hidden = np.zeros((len(rows), attributes), dtype=np.bool_) if withheld is None else withheld[rows]
    before: dict[tuple[int, ...], Bools] = {(): np.zeros(len(rows), dtype=np.bool_)}
    for size in range(1, most + 1) if len(rows) else ():
        now: dict[tuple[int, ...], Bools] = {}
        for chosen, unique in _unique_on_sets(values, rows, size):
            now[chosen] = unique & ~hidden[:, chosen].any(axis=1)
            minimal = now[chosen].copy()
            for left_out in combinations(chosen, size - 1):
                minimal &= ~before[left_out]
            found = rows[minimal]
            sizes[size - 1] += len(found)
            score[found] += factorial(attributes - size)
            by_attribute[np.ix_(found, np.array(chosen))] += factorial(attributes - size)
        before = now
    return SpecialUniques(score, by_attribute, sizes, len(rows), int((count == 2).sum()))


def _unique_on_sets(values: Codes, rows: Ints, size: int) -> Iterator[tuple[tuple[int, ...], Bools]]:
    """All sets of `size` attributes, and for each which of the given rows are unique in the table."""
    radix = values.max(axis=0).astype(np.int64) + 1
    for chosen in combinations(range(values.shape[1]), size):
        if float(np.prod(radix[list(chosen)].astype(np.float64))) <= 8 * len(values):  # few enough to count at once
            key = np.zeros(len(values), dtype=np.int64)
            for attribute in chosen:
                key = key * radix[attribute] + values[:, attribute]
        else:
            key = distinct_rows(values[:, chosen])
        yield chosen, np.bincount(key)[key[rows]] == 1


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
