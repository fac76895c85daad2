"""Assignments of known people to records, one each: the joint distribution behind the coupled posterior.

For some people it is known how strongly each record suggests that it is theirs, and no two people have the same record. The
weight of an assignment is the product of its weights, so without weights all assignments are equally likely. Two things are
wanted: how many records of a type remain free for somebody else, and which record is whose.

Records that are the same to everybody are one type with a count. A person with only one type left takes a record of it, which
leaves one fewer for the others. The rest splits into components of people who compete for the same types. Within a component
only the number of records taken of each type matters: a table over these numbers, filled person by person, is exact. If that
table would be too large, assignments are sampled (`sample_seats`). One imagined sample is added, in which people do not
compete, so that chance alone never makes anything certain.

People for whom no record is left contradict the release. They are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from auditor.model.arrays import Bools, Floats, Ints
from auditor.posterior.kernels import sample_seats

MOST_STATES = 1 << 14
MOST_KINDS = 20
MOST_WORK = 1 << 22
"""The limit on the states, the dimensions, and the states times people of a table. Beyond it assignments are sampled."""
ROUNDS, LEAST_ROUNDS, MOST_MOVES = 1_000, 200, 300_000
_DIGITS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """What follows from all assignments."""

    free: Floats
    """The expected number of free records of each type."""
    pairs: Floats
    """The same for pairs of free records: free · (free - 1)."""
    chance: sparse.csr_array
    """The probability of having a record of a type (people × types)."""
    exact: int = 0
    """The number of people whose part is exact."""
    sampled: int = 0
    """The number of people whose part was sampled."""
    contradicted: int = 0
    """The number of people left out."""


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The same for one component. (None stands for a component without any assignment.)"""

    free: Floats
    pairs: Floats
    chance: sparse.csr_array


def assign(weights: sparse.csr_array, counts: Ints, rng: np.random.Generator, whose: bool = True) -> Assigned:
    """All assignments of a record to each person (row). `weights` (people × types) is how strongly a record of a type
    suggests that it is theirs, `counts` how many records of a type there are. Without `whose` only the free records are
    wanted: sampling is then faster, and `chance` of those sampled means nothing."""
    weights = sparse.csr_array(weights, copy=True)
    weights.eliminate_zeros()
    left, forced, contradicted = _propagate(weights, counts)
    placed = np.flatnonzero(forced >= 0)
    rows, kinds, chances = [placed], [forced[placed]], [np.ones(len(placed))]
    free, pairs = left.astype(np.float64), (left * (left - 1)).astype(np.float64)
    out = Assigned(free, pairs, weights, len(placed), 0, int(contradicted.sum()))
    open_people = np.flatnonzero((forced < 0) & ~contradicted)
    rest = sparse.csr_array(weights[open_people] @ sparse.diags_array((left > 0).astype(np.float64)))
    rest.eliminate_zeros()
    for people, types in components(rest):
        merged, total, of_type = _merge(sparse.csr_array(rest[people][:, types]), left[types])
        small = _small(merged, total)
        part = _table(merged.toarray(), total) if small else _sample(merged, total, rng, whose)
        if part is None:
            out = replace(out, contradicted=out.contradicted + len(people))
            continue
        # the records of a merged type are alike: each of its types gets its share of them
        share = left[types] / total[of_type]
        free[types] = part.free[of_type] * share
        ordered = (total * (total - 1)).astype(np.float64)
        ratio = np.divide(part.pairs, ordered, out=np.zeros(len(total)), where=ordered > 0)
        pairs[types] = ratio[of_type] * left[types] * (left[types] - 1)
        apart = sparse.csr_array((share, (of_type, np.arange(len(types)))), shape=(len(total), len(types)))
        each = sparse.coo_array(part.chance @ apart)
        rows.append(open_people[people[each.row]])
        kinds.append(types[each.col])
        chances.append(each.data)
        exact, sampled = (len(people), 0) if small else (0, len(people))
        out = replace(out, exact=out.exact + exact, sampled=out.sampled + sampled)
    entries = (np.concatenate(chances), (np.concatenate(rows), np.concatenate(kinds)))
    return replace(out, chance=sparse.csr_array(entries, shape=weights.shape))


def _propagate(weights: sparse.csr_array, counts: Ints) -> tuple[Ints, Ints, Bools]:
    """Repeatedly gives records to people who have one type left. Returns the remaining records of each type, the type of
    each person who has one now (-1: open), and who finds none."""
    left = counts.astype(np.int64).copy()
    forced = np.full(weights.shape[0], -1, dtype=np.int64)
    lost = np.zeros(weights.shape[0], dtype=np.bool_)
    person = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    while True:
        usable = left[weights.indices] > 0
        options = np.bincount(person[usable], minlength=len(forced))
        lost |= (forced < 0) & (options == 0)
        single = np.flatnonzero((forced < 0) & ~lost & (options == 1))
        if not len(single):
            return left, forced, lost
        only = np.zeros(len(forced), dtype=np.int64)
        only[person[usable]] = weights.indices[usable]
        for i in single.tolist():  # latecomers find none; they are alike, so it does not matter which
            if left[only[i]] > 0:
                left[only[i]] -= 1
                forced[i] = only[i]


def components(weights: sparse.csr_array) -> list[tuple[Ints, Ints]]:
    """The people and types of each component that has people."""
    people, nodes = weights.shape[0], sum(weights.shape)
    if not people:
        return []
    edge = sparse.coo_array(weights)
    graph = sparse.csr_array((np.ones(len(edge.data)), (edge.row, edge.col + people)), shape=(nodes, nodes))
    _, member = connected_components(graph, directed=False)
    order = np.argsort(member, kind="stable")
    edges = np.flatnonzero(np.diff(member[order], prepend=-1))
    parts = [np.sort(part) for part in np.split(order, edges[1:])]
    return [(part[part < people], part[part >= people] - people) for part in parts if part[0] < people]


def _merge(weights: sparse.csr_array, counts: Ints) -> tuple[sparse.csr_array, Ints, Ints]:
    """Merges types that are the same to everybody, in an order that depends only on their weights. Returns the weights and
    counts of the merged types, and the merged type of each type."""
    columns = sparse.csc_array(weights)
    columns.sort_indices()
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(columns.data)))
    rounded, ends = np.round(columns.data * scale) / scale, columns.indptr
    keys = [
        (columns.indices[begin:end].tobytes(), rounded[begin:end].tobytes()) for begin, end in pairwise(ends.tolist())
    ]
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    of_type = np.array([number[key] for key in keys], dtype=np.int64)
    total = np.bincount(of_type, weights=counts, minlength=len(number)).astype(np.int64)
    first = np.empty(len(number), dtype=np.int64)
    first[of_type] = np.arange(len(of_type))
    return sparse.csr_array(columns[:, first]), total, of_type


def _small(weights: sparse.csr_array, counts: Ints) -> bool:
    """Whether a table over the numbers of records taken is small enough."""
    people, kinds = weights.shape
    caps = np.minimum(counts, np.bincount(weights.indices, minlength=kinds))
    if kinds > MOST_KINDS:
        return False
    states = float(np.prod(caps + 1.0))
    return states <= MOST_STATES and states * people * kinds <= MOST_WORK


def _table(weights: Floats, counts: Ints) -> _Part | None:
    """Exact: `before[i][k]` sums over all assignments of the people before i that take k records of each type, `after` over
    all assignments of i and those after, given that k are taken. A type with k of n records taken has n - k left."""
    caps = np.minimum(counts, (weights > 0).sum(axis=0))
    people, kinds = weights.shape
    shape = tuple((caps + 1).tolist())
    moves = []
    for t in range(kinds):
        lower = tuple(slice(0, int(caps[t])) if a == t else slice(None) for a in range(kinds))
        upper = tuple(slice(1, int(caps[t]) + 1) if a == t else slice(None) for a in range(kinds))
        axis = [-1 if a == t else 1 for a in range(kinds)]
        moves.append((lower, upper, (counts[t] - np.arange(caps[t])).reshape(axis)))
    now = np.zeros(shape)
    now[(0,) * kinds] = 1.0
    before = [now]
    for i in range(people):
        now = np.zeros(shape)
        for t in np.flatnonzero(weights[i]).tolist():
            lower, upper, left = moves[t]
            now[upper] += weights[i, t] * left * before[-1][lower]
        if now.sum() <= 0:
            return None
        before.append(now / now.sum())
    after = np.ones(shape)
    chance = np.zeros(weights.shape)
    for i in range(people - 1, -1, -1):
        now = np.zeros(shape)
        for t in np.flatnonzero(weights[i]).tolist():
            lower, upper, left = moves[t]
            step = weights[i, t] * left * after[upper]
            now[lower] += step
            chance[i, t] = (before[i][lower] * step).sum()
        after = now / now.max()
        chance[i] /= chance[i].sum()
    free, pairs = np.empty(kinds), np.empty(kinds)
    for t in range(kinds):
        taken = before[-1].sum(axis=tuple(a for a in range(kinds) if a != t))
        rest = counts[t] - np.arange(caps[t] + 1.0)
        free[t], pairs[t] = (taken * rest).sum(), (taken * rest * (rest - 1)).sum()
    return _Part(free, pairs, sparse.csr_array(chance))


def _sample(weights: sparse.csr_array, counts: Ints, rng: np.random.Generator, whose: bool) -> _Part | None:
    """By sampling, with one imagined sample added."""
    people = weights.shape[0]
    rounds = max(min(ROUNDS, MOST_MOVES // people), LEAST_ROUNDS)
    patience = 10_000 + 100 * people
    free, pairs, chance, fits = sample_seats(
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int64),
        weights.data,
        counts,
        np.array([rounds // 5, rounds]),
        patience,
        whose,
        rng,
    )
    if not fits:
        return None
    person = np.repeat(np.arange(people), np.diff(weights.indptr))
    alone: Floats = weights.data * counts[weights.indices].astype(np.float64)
    alone /= np.bincount(person, weights=alone, minlength=people)[person]
    missed = np.log1p(-np.minimum(alone / counts[weights.indices], 1 - 1e-15))
    empty = np.exp(np.bincount(weights.indices, weights=missed, minlength=len(counts)))
    seen, imagined = rounds / (rounds + 1), 1 / (rounds + 1)
    share = sparse.csr_array((seen * chance + imagined * alone, weights.indices, weights.indptr), shape=weights.shape)
    ordered = (counts * (counts - 1)).astype(np.float64)
    return _Part(seen * free + imagined * counts * empty, seen * pairs + imagined * ordered * empty**2, share)
