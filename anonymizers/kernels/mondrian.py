"""Mondrian, compiled: cuts classes until no cut is allowed, without a copy of any class.

The rows of a class stand side by side: `order` holds the row numbers, `codes` (columns × rows) and `values` (the
sensitive ones) go with it. A cut moves the rows of each part together and keeps their order within a part. The last part
is cut further first, so all rows from some place on are always final. The state is that place, and a stack of the starts of
the classes before it.

Why it gives the classes of the plain version (tests/support/naive_mondrian.py), one by one:
- The spread of a class in a column follows from its least and greatest code, by the same floating-point operations, so
  ties between columns are the same ones; of equal spreads the first column wins.
- The median is the least code with enough codes up to it, found by bisection over codes: whole numbers only.
- A relaxed cut takes equal codes in their order, and rows start in a random order: that is the random tie-break.
- Each constraint is computed from the values that occur, as in `auditor.measure`. Whole-number and single-division
  figures (size, distinct, share, recursive, nearness) come out the same; sums (entropy, distances) may differ by the
  order of addition, some 1e-15, where the limits leave room for 1e-9.
- A class below twice the least size has no allowed cut, so none is tried.
"""

from __future__ import annotations

import numpy as np

from anonymizers.kernels.sorting import below as count_below
from anonymizers.kernels.sorting import sort
from anonymizers.shapes import Columns, Limits, Room
from auditor.model.arrays import Codes, Ints
from auditor.model.compiling import kernel


@kernel
def entropy_l(found: Ints, count: Ints, size: int) -> float:
    """exp of the entropy of a class in which the values `found` occur; exact where all occur equally often."""
    entropy = 0.0
    most = 0
    for value in found:
        share = count[value] / size
        entropy -= share * np.log(share)
        most = max(most, count[value])
    if most * len(found) == size:
        return float(len(found))
    return min(float(np.exp(entropy)), float(len(found)))


@kernel
def recursive_c(found: Ints, count: Ints, l: int) -> float:
    """The c that a class must stay below for recursive (c, l)-diversity; infinite where it has fewer than l values."""
    if len(found) < l:
        return np.inf
    ordered = np.empty(len(found), dtype=np.int64)
    for i in range(len(found)):
        ordered[i] = count[found[i]]
    sort(ordered, len(ordered))
    tail = 0
    for i in range(len(found) - l + 1):
        tail += ordered[i]
    return float(ordered[-1] / tail)


@kernel
def ordered_distance(found: Ints, count: Ints, limits: Limits) -> float:
    """The distance of a class from the whole over values in order; `found` must be sorted.

    Between two values that occur, the class's cumulative share is constant and the table's never falls, so a stretch of
    Σ |P - Q| splits at one place into two differences of prefix sums.
    """
    ranked = len(limits.reached)
    size = 0
    kept = 0
    for value in found:
        if value < ranked:  # the missing value has no place in the order
            size += count[value]
            kept += 1
    if ranked < 2 or size == 0:
        return 0.0
    before = limits.before
    total = before[found[0]]
    running = 0
    for i in range(kept):
        start = found[i]
        end = found[i + 1] if i + 1 < kept else ranked
        running += count[start]
        inside = running / size
        split = min(max(count_below(limits.reached, ranked, inside), start), end)
        total += inside * (2 * split - start - end) - 2 * before[split] + before[start] + before[end]
    return max(float(total), 0.0) / (ranked - 1)


@kernel
def tree_distance(found: Ints, count: Ints, size: int, limits: Limits, below: Ints, crossed: Ints) -> float:
    """The distance of a class from the whole over the edges of a tree: Σ weight · |share below - the table's|.

    An edge with no row of the class below it adds weight · expected. `limits.absent` is the sum of that over all edges; only
    the edges above the values that occur are then corrected.
    """
    crossings = 0
    for value in found:
        for i in range(limits.first_edge[value], limits.first_edge[value + 1]):
            e = limits.edge[i]
            if below[e] == 0:
                crossed[crossings] = e
                crossings += 1
            below[e] += count[value]
    distance = limits.absent
    for e in crossed[:crossings]:
        distance += limits.weight[e] * (abs(below[e] / size - limits.expected[e]) - limits.expected[e])
        below[e] = 0
    return max(distance, 0.0)


@kernel
def largest_m(found: Ints, count: Ints, size: int, limits: Limits) -> float:
    """The largest m for which a class is (ε,m)-anonymous; `found` must be sorted. Reaches grow with the values, so the
    window over them only moves on."""
    most = 0
    near = 0
    first = 0
    after = 0
    for value in found:
        while after < len(found) and found[after] < limits.high[value]:
            near += count[found[after]]
            after += 1
        while found[first] < limits.low[value]:
            near -= count[found[first]]
            first += 1
        most = max(most, near)
    return 1 / (most / size)


@kernel
def holds(values: Codes, limits: Limits, room: Room) -> bool:
    """Whether a class with these sensitive values is allowed."""
    size, count = len(values), room.counts
    if size < limits.size or limits.values == 0:
        return size >= limits.size
    distinct = 0
    most = 0
    for value in values:
        if count[value] == 0:
            room.found[distinct] = value
            distinct += 1
        count[value] += 1
        most = max(most, count[value])
    there = room.found[:distinct]
    allowed = distinct >= limits.distinct and most / size <= limits.share
    if allowed and limits.entropy > 0:
        allowed = entropy_l(there, count, size) >= limits.entropy
    if allowed and limits.recursive_l > 0:
        allowed = recursive_c(there, count, limits.recursive_l) < limits.recursive_c
    if allowed and (limits.scattered > 0 or len(limits.reached) > 0):
        sort(there, distinct)
    if allowed and limits.scattered > 0:
        allowed = largest_m(there, count, size, limits) >= limits.scattered
    if allowed and len(limits.reached) > 0:
        allowed = ordered_distance(there, count, limits) <= limits.distance
    if allowed and len(limits.weight) > 0:
        allowed = tree_distance(there, count, size, limits, room.below, room.crossed) <= limits.distance
    for value in there:
        count[value] = 0
    return allowed


@kernel
def _level(column: int, lo: int, hi: int, columns: Columns) -> int:
    """Where the tables of a taxonomy's column have the lowest level on which two different leaves have one node."""
    at = columns.first[column]
    below = at + columns.leaves[column]
    while columns.node[below + lo] == columns.node[below + hi]:
        at = below
        below += columns.leaves[column]
    return int(at)


@kernel
def _spread(column: int, lo: int, hi: int, columns: Columns) -> float:
    """The normalised spread of codes from lo to hi, from 0 (all equal) to 1 (the whole domain)."""
    if lo == hi:
        return 0.0
    if hi == columns.missing[column]:
        return float((hi - lo) / columns.steps[column])
    if columns.tree[column]:
        return float(columns.extent[_level(column, lo, hi, columns) + lo])
    first = columns.first[column]
    return float((columns.position[first + hi] - columns.position[first + lo]) / columns.width[column])


@kernel
def _at_rank(codes: Codes, rank: int, lo: int, hi: int) -> int:
    """The code that would have this place (from 0) if the codes were sorted; they lie between lo and hi."""
    while lo < hi:
        middle = (lo + hi) // 2
        reached = 0
        for code in codes:
            reached += code <= middle
        if reached > rank:
            hi = middle
        else:
            lo = middle + 1
    return lo


@kernel
def _halve(codes: Codes, lo: int, hi: int, room: Room) -> int:
    """The relaxed cut: half of the rows by code, equal codes in the order in which they stand."""
    half = len(codes) // 2
    middle = _at_rank(codes, half - 1, lo, hi)
    equal = half  # how many of the middle code go to the first part
    for code in codes:
        equal -= code < middle
    for i in range(len(codes)):
        if codes[i] == middle:
            room.part[i] = equal <= 0
            equal -= 1
        else:
            room.part[i] = codes[i] > middle
    room.sizes[0], room.sizes[1] = half, len(codes) - half
    return 2


@kernel
def _cut_after(codes: Codes, last: int, room: Room) -> int:
    """The cut between a code and those above it."""
    above = 0
    for i in range(len(codes)):
        room.part[i] = codes[i] > last
        above += room.part[i]
    room.sizes[0], room.sizes[1] = len(codes) - above, above
    return 2


@kernel
def _branch(codes: Codes, child: Codes, room: Room) -> int:
    """The cut into the children of a node, of which `child[code]` is the one above a code."""
    rows = room.nodes
    parts = 0
    for code in codes:
        if rows[child[code]] == 0:
            room.sizes[parts] = child[code]
            parts += 1
        rows[child[code]] += 1
    children = room.sizes[:parts].copy()
    sort(children, parts)
    for p in range(parts):
        room.sizes[p] = rows[children[p]]
        rows[children[p]] = p
    for i in range(len(codes)):
        room.part[i] = rows[child[codes[i]]]
    for p in range(parts):
        rows[children[p]] = 0
    return parts


@kernel
def _divide(column: int, codes: Codes, lo: int, hi: int, columns: Columns, strict: bool, room: Room) -> int:
    """Gives each row of a class its part in the cut along a column, and returns how many parts there are."""
    if not strict:
        return _halve(codes, lo, hi, room)
    if not columns.tree[column]:
        middle = _at_rank(codes, (len(codes) - 1) // 2, lo, hi)
        return _cut_after(codes, min(middle, hi - 1), room)  # where most have the greatest value, the cut is below it
    if hi == columns.missing[column]:
        return _cut_after(codes, hi - 1, room)
    below = _level(column, lo, hi, columns) + columns.leaves[column]
    return _branch(codes, columns.node[below : below + columns.leaves[column]], room)


@kernel
def _gather(line: Codes, ends: Ints, room: Room) -> None:
    """Puts a column of a class into `room.line`, with the rows of each part side by side, in their order."""
    places = np.empty(len(ends), dtype=np.int64)
    for p in range(len(ends)):
        places[p] = ends[p] - room.sizes[p]
    for i in range(len(line)):
        part = room.part[i]
        room.line[places[part]] = line[i]
        places[part] += 1


@kernel
def _rearrange(line: Codes, ends: Ints, room: Room) -> None:
    """Moves the rows of each part of a class together, in one column."""
    _gather(line, ends, room)
    for i in range(len(line)):
        line[i] = room.line[i]


@kernel
def _allowed(values: Codes | None, start: int, end: int, parts: int, limits: Limits, room: Room) -> Ints:
    """The ends of the parts of the class from start to end where all parts hold the constraints; empty where one does not.
    Where only the size counts there are no values, and what looks at them is not even compiled."""
    none = np.empty(0, dtype=np.int64)
    ends = np.empty(parts, dtype=np.int64)
    rows = 0
    for p in range(parts):
        if room.sizes[p] < limits.size:
            return none
        rows += room.sizes[p]
        ends[p] = rows
    if values is not None:
        _gather(values[start:end], ends, room)
        for p in range(parts):
            if not holds(room.line[ends[p] - room.sizes[p] : ends[p]], limits, room):
                return none
    return ends


@kernel
def _find_cut(
    codes: Codes, values: Codes | None, start: int, end: int, columns: Columns, limits: Limits, strict: bool, room: Room
) -> Ints:
    """Cuts the class from start to end in the first allowed way, the column with the widest spread first: the ends of the
    parts; empty where no cut is allowed."""
    none = np.empty(0, dtype=np.int64)
    if end - start < 2 * limits.size:
        return none
    width = len(codes)
    least = np.empty(width, dtype=np.int64)
    greatest = np.empty(width, dtype=np.int64)
    spread = np.empty(width, dtype=np.float64)
    for column in range(width):
        lo = hi = codes[column, start]
        for code in codes[column, start:end]:
            lo = min(lo, code)
            hi = max(hi, code)
        least[column], greatest[column] = lo, hi
        spread[column] = _spread(column, least[column], greatest[column], columns)
    while True:
        widest = 0
        for column in range(1, width):
            if spread[column] > spread[widest]:  # of equal ones the first
                widest = column
        if spread[widest] <= 0:
            return none
        spread[widest] = 0.0  # tried
        line = codes[widest, start:end]
        parts = _divide(widest, line, least[widest], greatest[widest], columns, strict, room)
        ends = _allowed(values, start, end, parts, limits, room)
        if len(ends) > 0:
            return ends


@kernel
def cut_classes(
    codes: Codes,
    values: Codes | None,
    order: Codes,
    group: Ints,
    starts: Ints,
    state: Ints,
    columns: Columns,
    limits: Limits,
    strict: bool,
    room: Room,
    budget: int,
) -> None:
    """Cuts classes until all are final or `budget` codes have been looked at; to be called until `state[0]` is 0.

    `state` holds how many rows are not in a final class, how many classes wait (their starts are in `starts`), and how
    many are final; `group` gets the number of each row's final class.
    """
    while state[0] > 0 and budget > 0:
        start, end = starts[state[1] - 1], state[0]
        budget -= (end - start) * len(codes)
        ends = _find_cut(codes, values, start, end, columns, limits, strict, room)
        if len(ends) == 0:
            for i in range(start, end):
                group[order[i]] = state[2]
            state[0], state[1], state[2] = start, state[1] - 1, state[2] + 1
            continue
        _rearrange(order[start:end], ends, room)
        if values is not None:
            _rearrange(values[start:end], ends, room)
        for column in range(len(codes)):
            _rearrange(codes[column, start:end], ends, room)
        for p in range(len(ends) - 1):
            starts[state[1]] = start + ends[p]
            state[1] += 1
