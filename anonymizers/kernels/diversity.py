"""The diversity check of l-diverse slicing, kept up to date from cut to cut.

For a person's known values t (a *tuple*; equal ones are treated once), columns b (the sensitive one last) and buckets B:

    a(t,B)   = product over columns b but the last of m_b(t,B)/|B|      (with the paper's weighting divided by |B| again)
    N(t,s)   = sum over B of a(t,B) n_s(t,B)          n_s(t,B): compatible fragments of the sensitive column with value s
    F(t)     = sum over s of N(t,s)                   p(t,s) = N(t,s)/F(t)

**Only tuples that match B can change when B is cut.** For every other tuple some m_b(t,B) is 0, so it is 0 in both parts,
and the summand of B is 0 before and after. So F and N are kept for all tuples, and each bucket (the paper's word for a
class) has the list of tuples that match it. A cut takes off B's summand and adds those of its parts; the lists of the
parts are found in B's list. A tuple that matches B alone has nothing but B's summand, so the new ones replace it.

**Rounding cannot change a decision.** `error` bounds, for each tuple, how far the kept F and each N are from their true
values. With unit roundoff u: a summand is made by at most 2c+1 operations from whole numbers, so it is off by at most
(2c+1)u times itself, and the three additions by at most 3u times the sum of the sizes of what is added; each summand of N
is at most that of F. Hence adding (2c+8)u (F + the three summands) to `error` at each cut keeps it a bound. A tuple breaks
the check where l N(t,s) - limit F(t) is above 0; this is off by less than 2(l+1)·error, and where it is nearer to 0 than
that, the tuple is *in doubt* and the caller decides it in rational numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.compiling import kernel


class Fragments(NamedTuple):
    """What the check needs to know of a table. Known values and published labels are numbered over all columns, each
    column's after those of the column before.

    `known`: tuples × columns but the sensitive one, the tuple's known values. `shown`: rows × the same columns, the
    labels that a row is published with. `cover` from `cover_start[v]` on: the labels that cover the known value v.

    The sensitive column: `sensitive_known` is each tuple's known value in it; `pair` each row's label and sensitive value
    as one number. `entry_pair` from `entry_start[v]` on: the pairs whose label covers v, `entry_slot` the place of the pair's
    sensitive value among those that v may have, of which there are `slots[v]`. `first[t]`: where N(t, ·) begins.
    """

    known: Codes
    shown: Codes
    cover_start: Ints
    cover: Codes
    sensitive_known: Codes
    pair: Codes
    entry_start: Ints
    entry_pair: Codes
    entry_slot: Codes
    slots: Ints
    first: Ints


class Sums(NamedTuple):
    """F and N of all tuples for the present buckets, the bound on their rounding, and how many buckets each tuple matches."""

    total: Floats
    value: Floats
    error: Floats
    matched: Ints


class Counts(NamedTuple):
    """How often each label, and each pair of label and sensitive value, occurs in the two parts of a cut; all 0 between
    cuts. `value`, `left` and `right` are room for the slots of one tuple."""

    label: Ints
    pair: Ints
    value: Floats
    left: Ints
    right: Ints


class Rule(NamedTuple):
    """The check: l N(t,s) must not be above limit F(t). `paper`: the paper's weighting. `least`: the least size of a bucket.
    `rounding`: the unit roundoff."""

    l: float
    limit: float
    paper: bool
    least: int
    rounding: float


@kernel
def count(fragments: Fragments, counts: Counts, rows: Codes, side: int, step: int) -> None:
    """Counts the labels of rows in the left (0) or right (1) part (step 1), or takes them off again (step -1)."""
    for row in rows:
        for b in range(fragments.shown.shape[1]):
            counts.label[side, fragments.shown[row, b]] += step
        counts.pair[side, fragments.pair[row]] += step


@kernel
def clear(fragments: Fragments, counts: Counts, rows: Codes) -> None:
    """Takes off all that is counted, which is about these rows only."""
    for row in rows:
        for side in range(2):
            for b in range(fragments.shown.shape[1]):
                counts.label[side, fragments.shown[row, b]] = 0
            counts.pair[side, fragments.pair[row]] = 0


@kernel
def begin(fragments: Fragments, sums: Sums, counts: Counts, rule: Rule, size: int) -> None:
    """F and N where all rows, counted as a left part, are one bucket."""
    operations = 2 * (fragments.known.shape[1] + 1) + 8
    for t in range(len(fragments.known)):
        a = 1.0 / size if rule.paper else 1.0
        for b in range(fragments.known.shape[1]):
            v = fragments.known[t, b]
            fits = 0
            for i in range(fragments.cover_start[v], fragments.cover_start[v + 1]):
                fits += counts.label[0, fragments.cover[i]]
            a *= fits / size
        v = fragments.sensitive_known[t]
        for j in range(fragments.slots[v]):
            counts.left[j] = 0
        fits = 0
        for i in range(fragments.entry_start[v], fragments.entry_start[v + 1]):
            here = counts.pair[0, fragments.entry_pair[i]]
            counts.left[fragments.entry_slot[i]] += here
            fits += here
        for j in range(fragments.slots[v]):
            sums.value[fragments.first[t] + j] = a * counts.left[j]
        sums.total[t] = a * fits
        sums.matched[t] = 1
        sums.error[t] = operations * rule.rounding * sums.total[t]


@kernel
def _after(
    fragments: Fragments, sums: Sums, counts: Counts, rule: Rule, left: int, right: int, t: int
) -> tuple[float, float, bool, bool]:
    """F and the error bound of a tuple after a cut into parts of these sizes, and whether it matches the left and the right
    one; N is left in `counts.value`."""
    whole, one, other = 1.0, 1.0, 1.0
    fits_left, fits_right = True, True
    if rule.paper:
        whole, one, other = 1.0 / (left + right), 1.0 / left, 1.0 / right
    for b in range(fragments.known.shape[1]):
        v = fragments.known[t, b]
        in_left, in_right = 0, 0
        for i in range(fragments.cover_start[v], fragments.cover_start[v + 1]):
            in_left += counts.label[0, fragments.cover[i]]
            in_right += counts.label[1, fragments.cover[i]]
        whole *= (in_left + in_right) / (left + right)
        one *= in_left / left
        other *= in_right / right
        fits_left &= in_left > 0
        fits_right &= in_right > 0
    v = fragments.sensitive_known[t]
    slots = fragments.slots[v]
    for j in range(slots):
        counts.left[j], counts.right[j] = 0, 0
    all_left, all_right = 0, 0
    for i in range(fragments.entry_start[v], fragments.entry_start[v + 1]):
        in_left, in_right = counts.pair[0, fragments.entry_pair[i]], counts.pair[1, fragments.entry_pair[i]]
        counts.left[fragments.entry_slot[i]] += in_left
        counts.right[fragments.entry_slot[i]] += in_right
        all_left += in_left
        all_right += in_right
    first = fragments.first[t]
    gone, new_left, new_right = whole * (all_left + all_right), one * all_left, other * all_right
    operations = 2 * (fragments.known.shape[1] + 1) + 8
    if sums.matched[t] == 1:
        for j in range(slots):
            counts.value[j] = one * counts.left[j] + other * counts.right[j]
        total = new_left + new_right
        error = operations * rule.rounding * total
    else:
        for j in range(slots):
            gone_here = whole * (counts.left[j] + counts.right[j])
            counts.value[j] = sums.value[first + j] - gone_here + one * counts.left[j] + other * counts.right[j]
        total = sums.total[t] - gone + new_left + new_right
        error = sums.error[t] + operations * rule.rounding * (abs(sums.total[t]) + gone + new_left + new_right)
    return total, error, fits_left and all_left > 0, fits_right and all_right > 0


@kernel
def check(
    fragments: Fragments, sums: Sums, counts: Counts, rule: Rule, left: int, right: int, matching: Codes, suspect: int
) -> tuple[int, Codes]:
    """A tuple that surely breaks the check after the cut that is counted, -1 where none does, and the tuples that are in
    doubt. The tuple `suspect` is looked at first (-1: none)."""
    doubts = matching[:0]
    found = 0
    for place in range(-1, len(matching)):
        if place < 0 and suspect < 0:
            continue
        t = suspect if place < 0 else matching[place]
        total, error, _, _ = _after(fragments, sums, counts, rule, left, right, t)
        most = 0.0
        for j in range(fragments.slots[fragments.sensitive_known[t]]):
            most = max(most, counts.value[j])
        gap = rule.l * most - rule.limit * total
        slack = 2 * (rule.l + 1) * error
        if gap > slack:
            return t, matching[:0]
        if gap >= -slack and place >= 0:
            if found == 0:
                doubts = np.empty(len(matching), dtype=np.int32)
            doubts[found] = t
            found += 1
    return -1, doubts[:found]


@kernel
def accept(
    fragments: Fragments,
    sums: Sums,
    counts: Counts,
    rule: Rule,
    left: int,
    right: int,
    matching: Codes,
    room: Codes,
) -> tuple[int, int]:
    """Makes the cut that is counted the present state. Writes the tuples that match the left part to the beginning of
    `room`, those that match the right part after them, and returns how many they are."""
    i, j = 0, len(matching)
    for place in range(len(matching)):
        t = int(matching[place])
        total, error, one, other = _after(fragments, sums, counts, rule, left, right, t)
        sums.total[t] = total
        sums.error[t] = error
        first = fragments.first[t]
        for slot in range(fragments.slots[fragments.sensitive_known[t]]):
            sums.value[first + slot] = counts.value[slot]
        sums.matched[t] += int(one) + int(other) - 1
        if one:
            room[i] = t
            i += 1
        if other:
            room[j] = t
            j += 1
    others = j - len(matching)
    for place in range(others):
        room[i + place] = room[len(matching) + place]
    return i, others
