"""The compiled part of l-diverse slicing: Mondrian's cut, and the diversity check kept up to date from cut to cut.

For a person's known values t (a *tuple*; equal ones are treated once), columns b (the sensitive one last) and buckets B:

    a(t,B)   = product over columns b but the last of m_b(t,B)/|B|      (with the paper's weighting divided by |B| again)
    N(t,s)   = sum over B of a(t,B) n_s(t,B)          n_s(t,B): compatible fragments of the sensitive column with value s
    F(t)     = sum over s of N(t,s)                   p(t,s) = N(t,s)/F(t)

**Only tuples that match B can change when B is cut.** For every other tuple some m_b(t,B) is 0, so it is 0 in both parts,
and the summand of B is 0 before and after. So F and N are kept for all tuples, and each bucket (the paper's word for a
class) has the list of tuples that match it. A cut takes off B's summand and adds those of its parts; the lists of the
parts are found in B's list.

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

from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.compiling import kernel

MORE, ROOM, DOUBT = 0, 1, 2
"""Why `run` stopped."""
NONE, ACCEPT, REJECT = 0, 1, 2
"""What the caller decided about the first cut."""


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
    """F and N of all tuples for the present buckets, and the bound on their rounding."""

    total: Floats
    value: Floats
    error: Floats


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


class Cuts(NamedTuple):
    """What a cut needs: `codes`, columns × rows; from `start[a]` on in `place`, where each value of column a lies in its
    domain; whether equal values stay `together`."""

    codes: Codes
    place: Floats
    start: Ints
    together: bool


class Buckets(NamedTuple):
    """The buckets in the order of the queue. Bucket i holds the rows order[first[i]:end[i]]; the tuples that match it are
    matching[match_first[i]:match_end[i]] as long as it waits; `parted[i]` says that its parts have taken its place."""

    order: Codes
    spare: Codes
    first: Ints
    end: Ints
    match_first: Ints
    match_end: Ints
    parted: Bools


@kernel
def halve(cuts: Cuts, rows: Codes, spare: Codes) -> int:
    """Cuts rows at the median of the column in which they spread widest, and puts the left part before the right one;
    returns its size, 0 where all rows are equal. Equal values stay together, or are divided in the order in which the rows
    stand so that the left part has half of the rows, rounded down."""
    widest = -1
    most = -1.0
    low, high = 0, 0
    for a in range(len(cuts.codes)):
        values = cuts.codes[a]
        least = values[rows[0]]
        greatest = least
        for row in rows:
            code = values[row]
            least = min(least, code)
            greatest = max(greatest, code)
        if least < greatest:
            spread = min(cuts.place[cuts.start[a] + greatest] - cuts.place[cuts.start[a] + least], 1.0)
            if spread > most:
                most = spread
                widest = a
                low, high = least, greatest
    if widest < 0:
        return 0
    values = cuts.codes[widest]
    middle = _ranked(values, rows, low, high, (len(rows) - 1) // 2 if cuts.together else len(rows) // 2 - 1)
    if cuts.together and middle == high:
        middle -= 1  # more than half have the greatest value: cut below it
    lower, upto = 0, 0
    for row in rows:
        lower += values[row] < middle
        upto += values[row] <= middle
    size = upto if cuts.together else len(rows) // 2
    equal = size - lower  # so many rows with the middle value go left
    i, j = 0, 0
    for row in rows:
        if values[row] < middle or (values[row] == middle and equal > 0):
            equal -= values[row] == middle
            rows[i] = row
            i += 1
        else:
            spare[j] = row
            j += 1
    rows[i:] = spare[:j]
    return size


@kernel
def _ranked(values: Codes, rows: Codes, low: int, high: int, rank: int) -> int:
    """The value of this rank among those of the rows, which lie from `low` to `high`."""
    if high - low > 2 * len(rows):
        return int(np.sort(values[rows])[rank])
    counts = np.zeros(high - low + 1, dtype=np.int64)
    for row in rows:
        counts[values[row] - low] += 1
    value = low
    below = counts[0]
    while below <= rank:
        value += 1
        below += counts[value - low]
    return value


@kernel
def count(fragments: Fragments, counts: Counts, left: Codes, right: Codes, step: int) -> None:
    """Counts the labels of the two parts (step 1), or takes them off again (step -1)."""
    for part in range(2):
        for row in left if part == 0 else right:
            for b in range(fragments.shown.shape[1]):
                counts.label[part, fragments.shown[row, b]] += step
            counts.pair[part, fragments.pair[row]] += step


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
        counts.left[: fragments.slots[v]] = 0
        fits = 0
        for i in range(fragments.entry_start[v], fragments.entry_start[v + 1]):
            here = counts.pair[0, fragments.entry_pair[i]]
            counts.left[fragments.entry_slot[i]] += here
            fits += here
        for j in range(fragments.slots[v]):
            sums.value[fragments.first[t] + j] = a * counts.left[j]
        sums.total[t] = a * fits
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
    counts.left[:slots] = 0
    counts.right[:slots] = 0
    all_left, all_right = 0, 0
    for i in range(fragments.entry_start[v], fragments.entry_start[v + 1]):
        in_left, in_right = counts.pair[0, fragments.entry_pair[i]], counts.pair[1, fragments.entry_pair[i]]
        counts.left[fragments.entry_slot[i]] += in_left
        counts.right[fragments.entry_slot[i]] += in_right
        all_left += in_left
        all_right += in_right
    first = fragments.first[t]
    for j in range(slots):
        gone = whole * (counts.left[j] + counts.right[j])
        counts.value[j] = sums.value[first + j] - gone + one * counts.left[j] + other * counts.right[j]
    gone, new_left, new_right = whole * (all_left + all_right), one * all_left, other * all_right
    total = sums.total[t] - gone + new_left + new_right
    operations = 2 * (fragments.known.shape[1] + 1) + 8
    error = sums.error[t] + operations * rule.rounding * (abs(sums.total[t]) + gone + new_left + new_right)
    return total, error, fits_left and all_left > 0, fits_right and all_right > 0


@kernel
def check(
    fragments: Fragments, sums: Sums, counts: Counts, rule: Rule, left: int, right: int, matching: Codes
) -> tuple[bool, Codes]:
    """Whether no tuple surely breaks the check after the cut that is counted, and the tuples that are in doubt."""
    doubts = np.empty(len(matching), dtype=np.int32)
    found = 0
    for t in matching:
        total, error, _, _ = _after(fragments, sums, counts, rule, left, right, t)
        most = 0.0
        for j in range(fragments.slots[fragments.sensitive_known[t]]):
            most = max(most, counts.value[j])
        gap = rule.l * most - rule.limit * total
        slack = 2 * (rule.l + 1) * error
        if gap > slack:
            return False, doubts[:0]
        if gap >= -slack:
            doubts[found] = t
            found += 1
    return True, doubts[:found]


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
    for t in matching:
        total, error, one, other = _after(fragments, sums, counts, rule, left, right, t)
        sums.total[t] = total
        sums.error[t] = error
        first = fragments.first[t]
        for slot in range(fragments.slots[fragments.sensitive_known[t]]):
            sums.value[first + slot] = counts.value[slot]
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


@kernel
def run(
    fragments: Fragments,
    cuts: Cuts,
    rule: Rule,
    sums: Sums,
    counts: Counts,
    buckets: Buckets,
    matching: Codes,
    head: int,
    tail: int,
    verdict: int,
    budget: int,
) -> tuple[int, int, int, int, Codes]:
    """Cuts the waiting buckets from `head` to `tail` until none is left or the budget of steps is used up.

    It returns the new head and tail, why it stopped (`MORE`, `ROOM` where `matching` is too short for the next cut, `DOUBT`
    where the cut of the first bucket depends on tuples in doubt), the size of that cut's left part, and those tuples. After a
    doubt it is called with a verdict (`ACCEPT` or `REJECT`) and stops again when that is carried out.
    """
    doubts = matching[:0]
    while head < tail and budget > 0:
        rows = buckets.order[buckets.first[head] : buckets.end[head]]
        here = matching[buckets.match_first[head] : buckets.match_end[head]]
        used = buckets.match_end[tail - 1]
        if len(matching) - used < 2 * len(here):
            return head, tail, ROOM, 0, doubts
        size = halve(cuts, rows, buckets.spare)
        holds = min(size, len(rows) - size) >= max(rule.least, 1)
        if holds:
            left, right = rows[:size], rows[size:]
            count(fragments, counts, left, right, 1)
            if verdict == NONE:
                holds, doubts = check(fragments, sums, counts, rule, len(left), len(right), here)
            else:
                holds = verdict == ACCEPT
            if holds and len(doubts) == 0:
                one, other = accept(fragments, sums, counts, rule, len(left), len(right), here, matching[used:])
                middle = buckets.first[head] + size
                buckets.first[tail], buckets.end[tail] = buckets.first[head], middle
                buckets.match_first[tail], buckets.match_end[tail] = used, used + one
                buckets.first[tail + 1], buckets.end[tail + 1] = middle, buckets.end[head]
                buckets.match_first[tail + 1], buckets.match_end[tail + 1] = used + one, used + one + other
                buckets.parted[head] = True
                tail += 2
            count(fragments, counts, left, right, -1)
            if len(doubts) > 0:
                return head, tail, DOUBT, size, doubts
        head += 1
        budget -= len(rows) * len(cuts.codes) + len(here)
        if verdict != NONE:
            break
    return head, tail, MORE, 0, doubts
