"""Wildcards: how many people a person hides among if a suppressed cell may be any value.

Rows of a class have the same labels. Tools disagree on what a single suppressed cell means. As a value of its own it makes a
class of its own. As a wildcard it fits every class that agrees with the other cells, so people hide among more than their
class. Two classes agree if in each quasi-identifier their labels are the same or one is suppressed. Rows with everything
suppressed take no part. ARX's wildcard risk is one over the number of people who agree.

Classes are grouped by the pattern of their suppressed cells. Classes of two patterns agree if they have the same labels in
the columns where neither is suppressed, which one sort finds. So the cost grows with the pairs of patterns, not of classes.
If there are nearly as many patterns as classes, each class is compared with all others instead.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Bools, Codes, Ints
from auditor.model.packing import distinct_rows
from auditor.model.release import Release

MOST_PAIRS = 65_536
MOST_SORTED = 4_000_000
"""Patterns are compared with each other up to this many pairs of patterns, and patterns times classes."""
MOST_COMPARED = 400_000_000
"""Each class is compared with all others up to this many cells. Beyond both limits nothing is counted: it takes too long."""
_PAIR = 30_000
"""A pair of patterns costs as much as comparing this many cells."""


def agreeing(release: Release) -> Ints | None:
    """For each class of a one-block release the number of people who agree with it, its own included; None if that would
    take too long."""
    block, kept = release.blocks[0], ~release.suppressed
    sizes = release.sizes[kept]
    first = np.empty(len(release.sizes), dtype=np.int64)
    first[block.bucket[::-1]] = np.arange(len(block.bucket))[::-1]
    cells = {c: block.cell(c)[first[kept]] for c in release.quasi}
    withheld = {c: release.labels[c].suppressed[cell] for c, cell in cells.items()}
    if not any(mask.any() for mask in withheld.values()):
        return sizes
    return agreeing_classes(np.column_stack(list(cells.values())), np.column_stack(list(withheld.values())), sizes)


def agreeing_classes(labels: Codes, hidden: Bools, sizes: Ints) -> Ints | None:
    """The same for classes given by the labels of each (classes × quasi-identifiers), which of them are suppressed, and
    their sizes."""
    pattern = distinct_rows(hidden.astype(np.int32))
    patterns = int(pattern.max()) + 1
    compared = len(sizes) * labels.size
    if compared <= min(MOST_COMPARED, patterns**2 * _PAIR):
        return by_class(labels, hidden, sizes)
    if patterns**2 <= MOST_PAIRS and patterns * len(sizes) <= MOST_SORTED:
        return by_pattern(labels, hidden, pattern, sizes)
    return None


def by_pattern(labels: Codes, hidden: Bools, pattern: Ints, sizes: Ints) -> Ints:
    """For each class the people who agree with it, pattern by pattern."""
    members = [np.flatnonzero(pattern == number) for number in range(int(pattern.max()) + 1)]
    found = np.zeros(len(sizes), dtype=np.int64)
    for mine in members:
        for others in members:
            shown = ~(hidden[mine[0]] | hidden[others[0]])
            key = distinct_rows(labels[np.concatenate([mine, others])][:, shown])
            people = np.bincount(key[len(mine) :], weights=sizes[others], minlength=int(key.max()) + 1)
            found[mine] += people[key[: len(mine)]].astype(np.int64)
    return found


def by_class(labels: Codes, hidden: Bools, sizes: Ints) -> Ints:
    """The same, class by class."""
    found = np.empty(len(sizes), dtype=np.int64)
    # one column at a time: those who disagree in one need not be compared in the next
    columns, masks = np.ascontiguousarray(labels.T), np.ascontiguousarray(hidden.T)
    for here in range(len(sizes)):
        others: Ints | slice = slice(None)
        for column, mask in zip(columns, masks, strict=True):
            if not mask[here]:
                agree = (column[others] == column[here]) | mask[others]
                others = np.flatnonzero(agree) if isinstance(others, slice) else others[agree]
        found[here] = sizes[others].sum()
    return found
