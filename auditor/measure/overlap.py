"""How the labels of a column lie to each other: apart, one within another, or across.

Labels of a globally recoded column are apart. Those of several levels lie within each other (`25` in `20-39`). Local recoding
can leave labels that overlap although neither contains the other (`20-39` and `30-49`), so a person may fit several classes.

Intervals of codes are sorted by their beginning, longer ones first. A stack of those still open then shows in one pass
whether any ends inside another. If there are sets with gaps, sets are taken from the largest to the smallest, and each code
remembers the smallest set so far that contains it. A set whose codes remember different sets lies across one of them. (If all
remember the same set, that one contains them all, and so do the sets that contain it; a smaller set cannot contain a larger
one.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.labels.labels import Labels


class Overlap(StrEnum):
    """How labels lie to each other."""

    APART = "apart"
    WITHIN = "within"
    ACROSS = "across"


@dataclass(frozen=True, slots=True)
class Lie:
    """How labels lie to each other, and two that show it (None if all are apart)."""

    overlap: Overlap
    pair: tuple[int, int] | None = None


def overlap(labels: Labels, chosen: Ints) -> Lie:
    """How the chosen labels lie to each other. Labels that denote no value are left out; labels that denote the same values
    count once."""
    chosen = chosen[labels.counts[chosen] > 0]
    gapped = [label for label in chosen.tolist() if label in labels.gaps]
    whole = np.array([label for label in chosen.tolist() if label not in labels.gaps], dtype=np.int64)
    found = _intervals(labels, whole)
    if not gapped or found.overlap is Overlap.ACROSS:
        return found
    return _sets(labels, whole, gapped)


def _intervals(labels: Labels, chosen: Ints) -> Lie:
    lo, hi = labels.lo[chosen].astype(np.int64), labels.hi[chosen].astype(np.int64)
    within: tuple[int, int] | None = None
    stack: list[tuple[int, int, int]] = []
    for i in np.lexsort((chosen, -hi, lo)).tolist():
        label, first, last = int(chosen[i]), int(lo[i]), int(hi[i])
        while stack and stack[-1][1] < first:
            stack.pop()
        if stack:
            above, end, begin = stack[-1]
            if end < last:
                return Lie(Overlap.ACROSS, (above, label))
            if (begin, end) == (first, last):
                continue
            within = within or (above, label)
        stack.append((label, last, first))
    return Lie(Overlap.WITHIN, within) if within else Lie(Overlap.APART)


def _sets(labels: Labels, whole: Ints, gapped: list[int]) -> Lie:
    """The same if some labels have gaps; the others are known not to lie across each other."""
    counts = labels.counts
    smallest = np.full(labels.domain.size, -1, dtype=np.int64)
    within: tuple[int, int] | None = None
    for label in sorted([*whole.tolist(), *gapped], key=lambda label: (-int(counts[label]), label)):
        gaps = labels.gaps.get(label)
        where = slice(int(labels.lo[label]), int(labels.hi[label]) + 1) if gaps is None else gaps
        held = smallest[where]
        first = int(held[0])
        if (held != first).any():
            return Lie(Overlap.ACROSS, (_across(labels, held[held >= 0], label), label))
        if first >= 0:
            if counts[first] == counts[label]:
                continue
            within = within or (first, label)
        smallest[where] = label
    return Lie(Overlap.WITHIN, within) if within else Lie(Overlap.APART)


def _across(labels: Labels, held: Ints, label: int) -> int:
    """One of the sets remembered by codes that does not contain all of a label."""
    codes = labels.codes(label)
    for other in np.unique(held).tolist():
        if not np.isin(codes, labels.codes(other)).all():
            return int(other)
    raise LookupError(label)
