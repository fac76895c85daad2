"""What overlapping labels leave open: three times `Flu` and three times `Respiratory` may be six people with flu.

If one published sensitive label may hold the value of another, a class has as few values as its labels allow: the least
number of values such that every label holds one of them. For intervals of codes that is the greatest number of labels that
are all apart from each other, found by going through them by their ends (a classic of interval graphs). Likewise, a value's
share is at worst that of all labels that may hold it. A set with gaps counts as the interval from its least to its greatest
value, which can only make a class look worse.

Labels that are suppressed, missing or aliases are each a value of their own, as everywhere.
"""

from __future__ import annotations

import numpy as np

from auditor.measure.counts import ClassCounts
from auditor.measure.overlap import Overlap, overlap
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.labels.labels import Labels

NOTE = (
    "Labels of {} overlap, so one may hold the value of another. Alpha and l_distinct are the worst case; entropy and "
    "recursive l have no figure; distances compare the labels as published."
)


def ambiguous(labels: Labels, chosen: Ints) -> bool:
    """Whether one of the labels that occur may hold the value of another."""
    return overlap(labels, chosen[~_apart(labels, chosen)]).overlap is not Overlap.APART


def least_distinct(labels: Labels, found: ClassCounts) -> Ints:
    """The least number of values that the labels of each class allow."""
    lo, hi = _spans(labels, found)
    counts = found.counts
    least = np.zeros(len(counts.sizes), dtype=np.int64)
    row, taken = -1, -1
    for i in np.lexsort((hi[counts.column], counts.row)).tolist():
        here, value = int(counts.row[i]), int(counts.column[i])
        if here != row or lo[value] > taken:
            least[here] += 1
            row, taken = here, int(hi[value])
    return least


def worst_alphas(labels: Labels, found: ClassCounts) -> Floats:
    """The largest share of a class that may have one value."""
    lo, hi = _spans(labels, found)
    counts = found.counts
    row = np.concatenate([counts.row, counts.row])
    place = np.concatenate([lo[counts.column], hi[counts.column] + 1])
    change = np.concatenate([counts.count, -counts.count])
    order = np.lexsort((change, place, row))  # at the same place labels end before others begin
    inside = np.cumsum(change[order])  # 0 at the beginning and end of every class
    most = np.zeros(len(counts.sizes), dtype=np.int64)
    np.maximum.at(most, row[order], inside)
    return np.asarray(most / np.maximum(counts.sizes, 1))


def _spans(labels: Labels, found: ClassCounts) -> tuple[Ints, Ints]:
    """The codes between which each value of the counts may lie. Values of their own lie apart, after all others."""
    lo, hi = labels.lo[found.label].astype(np.int64), labels.hi[found.label].astype(np.int64)
    own = np.flatnonzero(_apart(labels, found.label) | (hi < lo))
    lo[own] = hi[own] = 2 * labels.domain.size + 2 * np.arange(len(own))
    return lo, hi


def _apart(labels: Labels, chosen: Ints) -> Bools:
    apart: Bools = labels.suppressed[chosen] | labels.is_alias[chosen]
    missing = labels.domain.missing
    return apart if missing is None else apart | (labels.lo[chosen] == missing)
