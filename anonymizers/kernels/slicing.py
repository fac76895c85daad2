"""The compiled part of l-diverse slicing: Mondrian's cuts, each accepted where the check (`diversity.py`) allows it.

**A refused cut costs little.** Along a column, the place of the cut moves over the sorted rows, and each row changes sides
once. The tuple that broke the last cut is looked at first: it mostly breaks the next one too. The order in which tuples are
looked at changes no decision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymizers.kernels.diversity import Counts, Fragments, Rule, Sums, accept, check, clear, count
from anonymizers.kernels.sorting import below, order_of, sort
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.compiling import kernel

MORE, ROOM, DOUBT = 0, 1, 2
"""Why `run` stopped."""


class Cuts(NamedTuple):
    """What a cut needs: `codes`, columns × rows; from `start[a]` on in `place`, where each value of column a lies in its
    domain; whether equal values stay `together`."""

    codes: Codes
    place: Floats
    start: Ints
    together: bool


class Cut(NamedTuple):
    """A cut of some rows: those whose value in `column` is below `middle` go left, and of those that have it the first
    `quota`. The left part has `size` rows. `doubt` is the number of the verdict that allowed it, -1 where none was needed."""

    column: int
    middle: int
    quota: int
    size: int
    doubt: int


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
def _spreads(cuts: Cuts, rows: Codes) -> tuple[Ints, Ints, Floats]:
    """The least and the greatest code of the rows in each column, and how far they lie apart in its domain: -1 where they
    are equal."""
    width = len(cuts.codes)
    low, high = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    spread = np.full(width, -1.0)
    for a in range(width):
        values = cuts.codes[a]
        least = values[rows[0]]
        greatest = least
        for row in rows:
            code = values[row]
            least = min(least, code)
            greatest = max(greatest, code)
        low[a], high[a] = least, greatest
        if least < greatest:
            spread[a] = min(cuts.place[cuts.start[a] + greatest] - cuts.place[cuts.start[a] + least], 1.0)
    return low, high, spread


@kernel
def _widest_first(spread: Floats) -> Ints:
    """The columns with different values, the widest first; of equal ones that which stands first."""
    order = np.empty(len(spread), dtype=np.int64)
    found = 0
    left = spread.copy()
    while True:
        widest = 0
        for a in range(1, len(left)):
            if left[a] > left[widest]:
                widest = a
        if len(left) == 0 or left[widest] < 0:
            return order[:found]
        left[widest] = -1.0
        order[found] = widest
        found += 1


@kernel
def _half(cuts: Cuts, rows: Codes, a: int, low: int, high: int) -> Cut:
    """Mondrian's cut at the median of a column. Equal values stay together, or are divided in the order in which the rows
    stand so that the left part has half of the rows, rounded down."""
    values = cuts.codes[a]
    middle = _ranked(values, rows, low, high, (len(rows) - 1) // 2 if cuts.together else len(rows) // 2 - 1)
    if cuts.together and middle == high:
        middle -= 1  # more than half have the greatest value: cut below it
    lower, upto = 0, 0
    for row in rows:
        lower += values[row] < middle
        upto += values[row] <= middle
    size = upto if cuts.together else len(rows) // 2
    return Cut(a, middle, size - lower, size, -1)


@kernel
def part(cuts: Cuts, rows: Codes, spare: Codes, cut: Cut) -> None:
    """Puts the left part of a cut before the right one; within a part the rows keep their order."""
    values = cuts.codes[cut.column]
    quota = cut.quota
    i, j = 0, 0
    for row in rows:
        if values[row] < cut.middle or (values[row] == cut.middle and quota > 0):
            quota -= values[row] == cut.middle
            rows[i] = row
            i += 1
        else:
            spare[j] = row
            j += 1
    for place in range(j):
        rows[i + place] = spare[place]


@kernel
def _ranked(values: Codes, rows: Codes, low: int, high: int, rank: int) -> int:
    """The value of this rank among those of the rows, which lie from `low` to `high`."""
    if high - low > 2 * len(rows):
        ordered = np.empty(len(rows), dtype=np.int64)
        for i in range(len(rows)):
            ordered[i] = values[rows[i]]
        sort(ordered, len(ordered))
        return int(ordered[rank])
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
def _sorted(values: Codes, rows: Codes) -> Codes:
    """The rows by their values; those with equal values as they stand."""
    keys, line = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int32)
    for i in range(len(rows)):
        keys[i] = values[rows[i]]
    order = order_of(keys)
    for i in range(len(rows)):
        line[i] = rows[order[i]]
    return line


@kernel
def _count_cut(fragments: Fragments, counts: Counts, cuts: Cuts, rows: Codes, cut: Cut) -> None:
    """Counts the labels of the two parts of a cut."""
    values = cuts.codes[cut.column]
    quota = cut.quota
    for place in range(len(rows)):
        code = values[rows[place]]
        left = code < cut.middle or (code == cut.middle and quota > 0)
        quota -= left and code == cut.middle
        count(fragments, counts, rows[place : place + 1], 0 if left else 1, 1)


@kernel
def _judge(
    fragments: Fragments,
    sums: Sums,
    counts: Counts,
    rule: Rule,
    cut: Cut,
    rows: int,
    here: Codes,
    suspect: int,
    verdicts: Bools,
    asked: int,
) -> tuple[bool, int, int, int, Codes]:
    """Whether the cut that is counted is allowed; the number of the verdict that says so (-1: none was needed), the tuple to
    suspect next, how many verdicts are used, and the tuples in doubt where there is no verdict about them yet."""
    broken, doubts = check(fragments, sums, counts, rule, cut.size, rows - cut.size, here, suspect)
    if broken >= 0:
        return False, -1, broken, asked, doubts
    if len(doubts) == 0:
        return True, -1, suspect, asked, doubts
    if asked < len(verdicts):
        return verdicts[asked], asked, suspect, asked + 1, doubts[:0]
    return False, -1, suspect, asked, doubts


@kernel
def _find_cut(
    fragments: Fragments,
    cuts: Cuts,
    rule: Rule,
    sums: Sums,
    counts: Counts,
    rows: Codes,
    here: Codes,
    verdicts: Bools,
) -> tuple[Cut, Codes]:
    """The first allowed cut of a bucket; one of size 0 where there is none. Where a cut depends on tuples in doubt and there
    is no verdict about it yet: that cut, and those tuples.

    First Mondrian's cuts, at the median of each column, the widest column first. Then the most even allowed cut between two
    values of any column; of equally even ones that of the wider column, and in a column the lower one."""
    least = max(rule.least, 1)
    none = here[:0]
    asked, suspect = 0, -1
    low, high, spread = _spreads(cuts, rows)
    columns = _widest_first(spread)
    for a in columns:
        cut = _half(cuts, rows, a, low[a], high[a])
        if min(cut.size, len(rows) - cut.size) < least:
            continue
        _count_cut(fragments, counts, cuts, rows, cut)
        allowed, doubt, suspect, asked, doubts = _judge(
            fragments, sums, counts, rule, cut, len(rows), here, suspect, verdicts, asked
        )
        clear(fragments, counts, rows)
        if allowed or len(doubts) > 0:
            return Cut(cut.column, cut.middle, cut.quota, cut.size, doubt), doubts
    best = Cut(0, 0, 0, 0, -1)
    even = least - 1  # the smaller part must have more rows than this
    for a in columns:
        values = cuts.codes[a]
        line = _sorted(values, rows)
        ends = np.empty(len(line), dtype=np.int64)  # where each value ends, but for the greatest
        places = 0
        for i in range(1, len(line)):
            if values[line[i - 1]] < values[line[i]]:
                ends[places] = i
                places += 1
        middle = below(ends, places, (len(line) + 1) // 2)
        for down in range(2):
            at = 0  # the rows that are counted as left
            count(fragments, counts, line, 1, 1)
            place = middle - 1 if down else middle
            while 0 <= place < places:
                size = ends[place]
                smaller = min(size, len(line) - size)
                if smaller < even or (smaller == even and not (down and best.size > 0 and best.column == a)):
                    break
                moved = line[min(at, size) : max(at, size)]
                count(fragments, counts, moved, 0, 1 if size > at else -1)
                count(fragments, counts, moved, 1, -1 if size > at else 1)
                at = size
                middle_value = int(np.int64(values[line[size - 1]]))  # numba: of the type of other cuts
                cut = Cut(a, middle_value, len(rows), size, -1)
                allowed, doubt, suspect, asked, doubts = _judge(
                    fragments, sums, counts, rule, cut, len(line), here, suspect, verdicts, asked
                )
                if len(doubts) > 0:
                    clear(fragments, counts, rows)
                    return cut, doubts
                if allowed:
                    best = Cut(a, cut.middle, cut.quota, size, doubt)
                    even = smaller
                    break
                place += -1 if down else 1
            clear(fragments, counts, rows)
    return best, none


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
    verdicts: Bools,
    budget: int,
) -> tuple[int, int, int, Cut, Codes]:
    """Cuts the waiting buckets from `head` to `tail` until none is left or the budget of steps is used up.

    It returns the new head and tail, why it stopped (`MORE`, `ROOM` where `matching` is too short for the next cut, `DOUBT`
    where a cut of the first bucket depends on tuples in doubt), the last cut, and those tuples. After a doubt it is called
    with one verdict more about the first bucket; it stops again when that bucket is done.
    """
    last = Cut(0, 0, 0, 0, -1)
    while head < tail and budget > 0:
        rows = buckets.order[buckets.first[head] : buckets.end[head]]
        here = matching[buckets.match_first[head] : buckets.match_end[head]]
        used = buckets.match_end[tail - 1]
        if len(matching) - used < 2 * len(here):
            return head, tail, ROOM, last, matching[:0]
        last, doubts = _find_cut(fragments, cuts, rule, sums, counts, rows, here, verdicts)
        if len(doubts) > 0:
            return head, tail, DOUBT, last, doubts
        if last.size > 0:
            part(cuts, rows, buckets.spare, last)
            count(fragments, counts, rows[: last.size], 0, 1)
            count(fragments, counts, rows[last.size :], 1, 1)
            sizes = last.size, len(rows) - last.size
            one, other = accept(fragments, sums, counts, rule, sizes[0], sizes[1], here, matching[used:])
            middle = buckets.first[head] + last.size
            buckets.first[tail], buckets.end[tail] = buckets.first[head], middle
            buckets.match_first[tail], buckets.match_end[tail] = used, used + one
            buckets.first[tail + 1], buckets.end[tail + 1] = middle, buckets.end[head]
            buckets.match_first[tail + 1], buckets.match_end[tail + 1] = used + one, used + one + other
            buckets.parted[head] = True
            tail += 2
            clear(fragments, counts, rows)
        head += 1
        budget -= len(rows) * len(cuts.codes) + len(here)
        if len(verdicts) > 0:
            break
    return head, tail, MORE, last, matching[:0]
