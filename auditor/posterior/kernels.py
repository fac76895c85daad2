"""Compiled kernels: which people fit which labels, by bitsets, and what weighs how much of it; who is left of those who meet
some conditions; running sums within rows; and sampled assignments.

For every attribute and value there is a mask with one bit per label pattern that allows the value. A person's patterns are
the AND of the masks of their values. People are sorted, so the AND over a common prefix of attributes is reused, and words
that became zero are dropped, since zero stays zero. This is exact: it only intersects the sets that labels denote.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.compiling import kernel

_ONE = np.uint64(1)


@kernel
def allow_intervals(masks: NDArray[np.uint64], lo: Codes, hi: Codes, slot: Codes) -> None:
    """Sets the bit of each pattern p in the masks of the values from lo[p] to hi[p]; `slot` maps values to masks."""
    for p in range(len(lo)):
        word = p >> 6
        bit = _ONE << np.uint64(p & 63)
        for value in range(lo[p], hi[p] + 1):
            if slot[value] >= 0:
                masks[slot[value], word] |= bit


@kernel
def _meet(
    people: Codes, i: int, masks: NDArray[np.uint64], first: Ints, left: NDArray[np.uint64], place: Codes, alive: Ints
) -> None:
    """The AND of the masks of person i's first values, for each number of them: its words that are not zero (`left`) and
    where they stand (`place`), `alive` of them. Where the values are the previous person's, it is theirs."""
    width, words = people.shape[1], masks.shape[1]
    shared = 0
    if i > 0:
        while shared < width and people[i, shared] == people[i - 1, shared]:
            shared += 1
    for a in range(shared, width):
        mask = masks[first[a] + people[i, a]]
        kept = 0
        if a == 0:
            for w in range(words):
                if mask[w] != 0:
                    left[0, kept] = mask[w]
                    place[0, kept] = w
                    kept += 1
        else:
            for j in range(alive[a - 1]):
                w = place[a - 1, j]
                both = left[a - 1, j] & mask[w]
                if both != 0:
                    left[a, kept] = both
                    place[a, kept] = w
                    kept += 1
        alive[a] = kept


@kernel
def match(people: Codes, masks: NDArray[np.uint64], first: Ints) -> tuple[Ints, Codes]:
    """The patterns that fit each person, as row starts and pattern numbers.

    `people` (sorted lexicographically) holds mask slots within each attribute; the masks of attribute a begin at `first[a]`.
    """
    count, width = people.shape
    words = masks.shape[1]
    left = np.empty((width, words), dtype=np.uint64)
    place = np.empty((width, words), dtype=np.int32)
    alive = np.zeros(width, dtype=np.int64)
    starts = np.zeros(count + 1, dtype=np.int64)
    found = np.empty(max(count, 1024), dtype=np.int32)
    total = 0
    for i in range(count):
        _meet(people, i, masks, first, left, place, alive)
        for j in range(alive[width - 1]):
            bits = left[width - 1, j]
            base = np.int64(place[width - 1, j]) << 6
            bit = 0
            while bits != 0:
                if bits & _ONE:
                    if total == len(found):
                        grown = np.empty(2 * total, dtype=np.int32)
                        for done in range(total):
                            grown[done] = found[done]
                        found = grown
                    found[total] = base + bit
                    total += 1
                bits >>= _ONE
                bit += 1
        starts[i + 1] = total
    return starts, found[:total].copy()


@kernel
def weigh(
    people: Codes,
    masks: NDArray[np.uint64],
    first: Ints,
    weights: Floats,
    counts: Floats,
    starts: Ints,
    codes: Codes,
    amounts: Floats,
    values: int,
    tie: float,
) -> tuple[Floats, Floats, Floats, Floats]:
    """What fits each person, summed up without listing it; `people`, `masks` and `first` are those of `match`.

    `weights` (links × patterns) is what a record of a pattern weighs under each link, `counts` how many records have it. Its
    records have `amounts` of the values `codes`, from `starts`. Returns by link and person the total weight, the greatest
    weight of a record and how many records tie for it; and by link, person and value (of `values`) the weight of the value.
    """
    count, width = people.shape
    links, words = len(weights), masks.shape[1]
    left = np.empty((width, words), dtype=np.uint64)
    place = np.empty((width, words), dtype=np.int32)
    alive = np.zeros(width, dtype=np.int64)
    total, best, tied = np.zeros((links, count)), np.zeros((links, count)), np.zeros((links, count))
    mass = np.zeros((links, count, values))
    fitting = np.empty(64 * words, dtype=np.int64)
    for i in range(count):
        _meet(people, i, masks, first, left, place, alive)
        found = 0
        for j in range(alive[width - 1]):
            bits = left[width - 1, j]
            pattern = np.int64(place[width - 1, j]) << 6
            while bits != 0:
                if bits & _ONE:
                    fitting[found] = pattern
                    found += 1
                bits >>= _ONE
                pattern += 1
        for link in range(links):
            weight = weights[link]
            for j in range(found):
                pattern = fitting[j]
                each = weight[pattern]
                total[link, i] += each * counts[pattern]
                best[link, i] = max(best[link, i], each)
                for v in range(starts[pattern], starts[pattern + 1]):
                    mass[link, i, codes[v]] += each * amounts[v]
            edge = best[link, i] * (1 - tie)
            for j in range(found):
                if weight[fitting[j]] >= edge:
                    tied[link, i] += counts[fitting[j]]
    return total, best, tied, mass


@kernel
def thinned(place: Ints, chance: Floats, share: Floats) -> tuple[Ints, Floats]:
    """Chances, each times the share at its place, and these places; those that become 0 are left out."""
    left, found = np.empty(len(place), dtype=np.int64), np.empty(len(place), dtype=np.float64)
    count = 0
    for i in range(len(place)):
        both = chance[i] * share[place[i]]
        if both != 0:
            left[count], found[count] = place[i], both
            count += 1
    return left[:count], found[:count]


@kernel
def running_sums(data: Floats, starts: Ints) -> Floats:
    """For each entry the sum of its row's entries up to it. Each row has its own sum: a sum running over all rows would leave
    the noise of a million rows in every difference."""
    out = np.empty(len(data), dtype=np.float64)
    for row in range(len(starts) - 1):
        total = 0.0
        for i in range(starts[row], starts[row + 1]):
            total += data[i]
            out[i] = total
    return out


@kernel
def masses_between(
    rows: Ints, first: Ints, last: Ints, starts: Ints, codes: Codes, data: Floats, running: Floats
) -> Floats:
    """For each of some rows the sum of its entries with codes from `first` up to but not including `last`, by their running
    sums; the entries of a row, from `starts` on, are in the order of their codes."""
    out = np.zeros(len(rows), dtype=np.float64)
    for i in range(len(rows)):
        begin, end = starts[rows[i]], starts[rows[i] + 1]
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if codes[middle] < first[i]:
                low = middle + 1
            else:
                high = middle
        begin, high = low, end
        while low < high:
            middle = (low + high) // 2
            if codes[middle] < last[i]:
                low = middle + 1
            else:
                high = middle
        if low > begin:
            out[i] = min(max(running[low - 1] - running[begin] + data[begin], 0.0), 1.0)
    return out


@kernel
def masses_around(first: Ints, last: Ints, starts: Ints, codes: Codes, data: Floats, running: Floats) -> Floats:
    """For each entry the sum of its row's entries with codes from `first` up to but not including `last`, which are those of
    its own code; otherwise as `masses_between`. From one entry to the next both ends move little."""
    out = np.zeros(len(data), dtype=np.float64)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        low = high = begin
        for i in range(begin, end):
            while low > begin and codes[low - 1] >= first[codes[i]]:
                low -= 1
            while low < end and codes[low] < first[codes[i]]:
                low += 1
            while high > begin and codes[high - 1] >= last[codes[i]]:
                high -= 1
            while high < end and codes[high] < last[codes[i]]:
                high += 1
            if high > low:
                out[i] = min(max(running[high - 1] - running[low] + data[low], 0.0), 1.0)
    return out


@kernel
def sample_seats(
    starts: Ints,
    kinds: Ints,
    weights: Floats,
    counts: Ints,
    rounds: Ints,
    patience: int,
    whose: bool,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, bool]:
    """Samples assignments of a seat to each person, each with probability proportional to the product of the weights of the
    assigned seats.

    Person i may sit on kinds[starts[i]:starts[i+1]] of seats, where each seat of the kind has the weight in `weights`. There
    are `counts` seats of each kind. `rounds` are the rounds before sampling and those sampled; in a round as many people get
    up as there are, each drawn at random.

    A person who gets up draws one of all their possible seats by weight. If somebody sits there, that person gets up and
    draws in turn, until a free seat is drawn. This is reversible. Let a state in which person u stands have weight W(u)/N
    times the product of the assigned seats, where W(u) is the sum of u's weights and N the number of people. From a full
    state each person gets up with probability 1/N, and u standing takes seat r with w(u,r)/W(u): the flow between the full
    state and the standing one is w(u,r)/N · rest in both directions. If r was v's, the flow between "u stands, v on r" and
    "v stands, u on r" is w(v,r) w(u,r)/N · rest in both directions. So full states occur in proportion to the product of
    their weights. Every full state can be reached from any other: two of them differ by cycles and paths along which people
    can be moved one by one.

    Returns the mean number of free seats of each kind, and the mean of that number times one less. For each place in `kinds`
    it returns how often it is that person's, averaged over what they could have had with the others in place (only
    if `whose`). Finally, whether everybody found a seat at all, within `patience` draws each.
    """
    people, size = len(starts) - 1, len(counts)
    first = np.zeros(size + 1, dtype=np.int64)
    for t in range(size):
        first[t + 1] = first[t] + counts[t]
    owner = np.full(first[size], -1, dtype=np.int64)
    seat = np.full(people, -1, dtype=np.int64)
    kind_of = np.full(people, -1, dtype=np.int64)
    used = np.zeros(size, dtype=np.int64)
    running = running_sums(weights * counts[kinds], starts)
    free = np.zeros(size, dtype=np.float64)
    pairs = np.zeros(size, dtype=np.float64)
    chance = np.zeros(len(kinds), dtype=np.float64)
    for step in range(1 + rounds[0] + rounds[1]):
        for person in range(people):
            i = person
            if step > 0:
                i = int(rng.integers(0, people))
                owner[seat[i]] = -1
                used[kind_of[i]] -= 1
            draws = 0
            while i >= 0:
                if step == 0:
                    draws += 1
                    if draws > patience:
                        return free, pairs, chance, False
                begin, end = starts[i], starts[i + 1]
                j = begin + np.searchsorted(running[begin:end], rng.random() * running[end - 1], side="right")
                j = min(j, end - 1)
                t = kinds[j]
                r = first[t] + rng.integers(0, counts[t])
                other = owner[r]
                owner[r], seat[i], kind_of[i] = i, r, t
                if other < 0:
                    used[t] += 1
                i = int(other)
        if step > rounds[0]:
            for t in range(size):
                left = counts[t] - used[t]
                free[t] += left / rounds[1]
                pairs[t] += left * (left - 1.0) / rounds[1]
            for i in range(people if whose else 0):
                total = 0.0
                for j in range(starts[i], starts[i + 1]):
                    total += weights[j] * (counts[kinds[j]] - used[kinds[j]] + (kinds[j] == kind_of[i]))
                for j in range(starts[i], starts[i + 1]):
                    left = counts[kinds[j]] - used[kinds[j]] + (kinds[j] == kind_of[i])
                    chance[j] += weights[j] * left / total / rounds[1]
    return free, pairs, chance, True
