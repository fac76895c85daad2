"""The compiled part of l-diverse slicing: Mondrian's cuts, and the diversity check kept up to date from cut to cut.

For a person's known values t (a *tuple*; equal ones are treated once), columns b (the sensitive one last) and buckets B:

    a(t,B)   = product over columns b but the last of m_b(t,B)/|B|      (with the paper's weighting divided by |B| again)
    N(t,s)   = sum over B of a(t,B) n_s(t,B)          n_s(t,B): compatible fragments of the sensitive column with value s
    F(t)     = sum over s of N(t,s)                   p(t,s) = N(t,s)/F(t)

**Only tuples that match B can change when B is cut.** For every other tuple some m_b(t,B) is 0, so it is 0 in both parts,
and the summand of B is 0 before and after. So F and N are kept for all tuples, and each bucket (the paper's word for a
class) has the list of tuples that match it. A cut takes off B's summand and adds those of its parts; the lists of the
parts are found in B's list. A tuple that matches B alone has nothing but B's summand, so the new ones replace it.

**A refused cut costs little.** Along a column, the place of the cut moves over the sorted rows, and each row changes sides
once. The tuple that broke the last cut is looked at first: it mostly breaks the next one too. The order in which tuples are
looked at changes no decision.

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

from anonymizers.kernels.sorting import below, order_of, sort
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.compiling import kernel

MORE, ROOM, DOUBT = 0, 1, 2
"""Why `run` stopped."""


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
        ordered = np.empty(len(rows), dtype=np.int32)
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
    keys, line = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int32)
    for i in range(len(rows)):
        keys[i] = values[rows[i]]
    order = order_of(keys)
    for i in range(len(rows)):
        line[i] = rows[order[i]]
    return line


@kernel
def count(fragments: Fragments, counts: Counts, rows: Codes, side: int, step: int) -> None:
    """Counts the labels of rows in the left (0) or right (1) part (step 1), or takes them off again (step -1)."""
    for row in rows:
        for b in range(fragments.shown.shape[1]):
            counts.label[side, fragments.shown[row, b]] += step
        counts.pair[side, fragments.pair[row]] += step


@kernel
def _clear(fragments: Fragments, counts: Counts, rows: Codes) -> None:
    """Takes off all that is counted, which is about these rows only."""
    for row in rows:
        for side in range(2):
            for b in range(fragments.shown.shape[1]):
                counts.label[side, fragments.shown[row, b]] = 0
            counts.pair[side, fragments.pair[row]] = 0


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
    for t in matching:
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
        _clear(fragments, counts, rows)
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
                    _clear(fragments, counts, rows)
                    return cut, doubts
                if allowed:
                    best = Cut(a, cut.middle, cut.quota, size, doubt)
                    even = smaller
                    break
                place += -1 if down else 1
            _clear(fragments, counts, rows)
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
            _clear(fragments, counts, rows)
        head += 1
        budget -= len(rows) * len(cuts.codes) + len(here)
        if len(verdicts) > 0:
            break
    return head, tail, MORE, last, matching[:0]
