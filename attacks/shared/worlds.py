"""Worlds: ways in which the sensitive values of a class may belong to its people, and what would be done with each.

The people of a class are known by their quasi-identifiers, and its sensitive values are published; who has which is not
known. People alike in their quasi-identifiers are a group, and worlds that differ only in who of a group has what count as
one, weighing as many as they are. Where more people fit a class than it has, the others are absent, which is treated as one
value more. All worlds are listed where they are few enough; otherwise some are drawn.

`Cuts` are Mondrian's strict ones: along every column at the median, or into the children of a taxonomy's node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import factorial, lgamma, log
from typing import Any

import numpy as np

from attacks.shared.narrowest import Parts
from auditor.measure import diversity
from auditor.measure.divergences import equal_distance, hierarchical_distance, ordered_distance
from auditor.measure.nearness import largest_m
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.packing import distinct_rows
from auditor.model.schema import Type

ABSENT = -1
_NOISE = 1e-9
_MOST_LISTED = 500
"""Listing takes longer than drawing; more worlds than these are not listed."""


@dataclass(frozen=True, slots=True, eq=False)
class Worlds:
    """For each world the value of each person (ABSENT: not in the class), and how many ways it stands for; `exact` where
    these are all worlds."""

    values: Ints
    weight: Floats
    exact: bool


def worlds(sizes: Sequence[int], counts: Sequence[int], most: int, rng: np.random.Generator) -> Worlds:
    """The worlds of groups of people of some sizes among whom each value occurs as often as counted; people beyond the
    values are absent. At most `most` are looked at: all, where they are few enough to be listed, or so many at random."""
    people = sum(sizes)
    every = (*counts, people - sum(counts))
    value = np.array([*range(len(counts)), ABSENT])
    few = min(most, _MOST_LISTED)
    if _least(sizes, every) <= log(few) + _NOISE:
        listed = list(islice(_listed(list(sizes), every), few + 1))
        if len(listed) <= few:
            rows = [np.repeat(np.tile(value, len(sizes)), np.concatenate(shares)) for shares, _ in listed]
            return Worlds(np.array(rows), np.array([weight for _, weight in listed]), True)
    pool = np.repeat(value, every)
    return Worlds(rng.permuted(np.tile(pool, (most, 1)), axis=1), np.ones(most), False)


def _least(sizes: Sequence[int], counts: Sequence[int]) -> float:
    """The log of how many worlds there are at least: all ways over those within groups; and the most that there are of two
    groups, the first so many together and the others, which are coefficients of Π (1 + z + … + z^count)."""
    ways = lgamma(sum(sizes) + 1) - sum(lgamma(c + 1) for c in counts)
    split = np.ones(1)
    for count in counts:
        split = np.convolve(split, np.ones(count + 1))
    return max(ways - sum(lgamma(s + 1) for s in sizes), log(split[np.cumsum([0, *sizes])].max()))


def _listed(sizes: list[int], counts: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """All tables of groups by values with these totals, each with the number of ways that it stands for."""
    if not sizes:
        yield [], 1.0
        return
    for share in _shares(sizes[0], counts):
        left = tuple(c - s for c, s in zip(counts, share, strict=True))
        ways = factorial(sizes[0])
        for number in share:
            ways //= factorial(number)
        for rest, weight in _listed(sizes[1:], left):
            yield [share, *rest], ways * weight


def _shares(people: int, counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """How many of so many people may have each value."""
    if not counts:
        yield ()
        return
    others = sum(counts[1:])
    for number in range(max(people - others, 0), min(people, counts[0]) + 1):
        for rest in _shares(people - number, counts[1:]):
            yield (number, *rest)


def joined(each: list[Worlds], most: int, rng: np.random.Generator) -> Worlds:
    """Worlds of several pieces as worlds of all: every combination where they are few enough, else some at random."""
    number = [len(some.values) for some in each]
    exact = all(some.exact for some in each) and float(np.prod(np.array(number, dtype=np.float64))) <= most
    if exact:
        chosen = np.stack([grid.reshape(-1) for grid in np.meshgrid(*map(np.arange, number), indexing="ij")])
    else:
        drawn = [rng.choice(n, most, p=some.weight / some.weight.sum()) for n, some in zip(number, each, strict=True)]
        chosen = np.stack(drawn)
    values = np.concatenate([some.values[row] for some, row in zip(each, chosen, strict=True)], axis=1)
    weight = np.ones(chosen.shape[1])
    if exact:
        for some, row in zip(each, chosen, strict=True):
            weight = weight * some.weight[row]
    return Worlds(values, weight, exact)


def held(some: Worlds, own: Bools, kept: Bools, count: int) -> Floats | None:
    """The share of each value among some people of the class in the kept worlds; None where none of them is in it."""
    values = some.values[np.ix_(kept, own)]
    amount = np.broadcast_to(some.weight[kept][:, None], values.shape)
    there = values != ABSENT
    mass = np.bincount(values[there], weights=amount[there], minlength=count)
    return mass / mass.sum() if mass.sum() > 0 else None


class Constraint:
    """What Mondrian's settings ask of the sensitive values of a class beyond its size. `present` are the codes of the
    values, `whole` how often each occurs in the whole release."""

    def __init__(self, params: Mapping[str, Any], domain: Domain, present: Ints, whole: Ints) -> None:
        self.params, self.domain, self.present, self.whole = params, domain, present, whole
        self._judged: dict[bytes, bool] = {}

    def holds(self, counts: Ints) -> Bools:
        """Whether classes with these counts (classes × values) would be allowed. Counts that come again are judged once."""
        if self.params.get("t") is None and self.params.get("epsilon") is None:
            counts = -np.sort(-counts, axis=1)  # which values they are does not matter
        number = distinct_rows(counts.astype(np.int32))
        first = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
        first[number] = np.arange(len(counts))
        judged = np.array([self._known(counts[i]) for i in first], dtype=np.bool_)
        return judged[number]

    def _known(self, counts: Ints) -> bool:
        key = counts.tobytes()
        if key not in self._judged:
            self._judged[key] = self._one(counts)
        return self._judged[key]

    def _one(self, counts: Ints) -> bool:
        params, row = self.params, counts[None]
        if not counts.any():
            return True
        least, kind = params.get("l"), params.get("diversity", "distinct")
        if least is not None and kind == "distinct" and (diversity.distinct_l(row) or 0) < least:
            return False
        if least is not None and kind == "entropy" and (diversity.entropy_l(row) or 0.0) < least - _NOISE:
            return False
        if least is not None and kind == "recursive":
            needed = diversity.recursive_c(row, least)
            if needed is None or needed >= params["c"]:
                return False
        alpha = params.get("alpha")
        if alpha is not None and (diversity.alpha(row) or 0.0) > alpha + _NOISE:
            return False
        if params.get("t") is not None and self._distance(row) > params["t"] + _NOISE:
            return False
        return params.get("epsilon") is None or self._scattered(counts)

    def _distance(self, row: Ints) -> float:
        kind, missing = self.params.get("closeness", "equal"), self.domain.missing
        if kind == "ordered":
            ranked = len(self.present) - int(missing is not None and missing in self.present)
            return float(ordered_distance(row[:, :ranked], self.whole[:ranked])[0])
        if kind == "hierarchical" and self.domain.taxonomy is not None:
            leaf = self.domain.taxonomy.leaf_node
            nodes = np.where(self.present < len(leaf), leaf[np.minimum(self.present, len(leaf) - 1)], 0)
            return float(hierarchical_distance(row, self.whole, self.domain.taxonomy, nodes)[0])
        return float(equal_distance(row, self.whole)[0])

    def _scattered(self, counts: Ints) -> bool:
        assert self.domain.numbers is not None
        numbers = np.repeat(self.domain.numbers[self.present], counts)
        found = largest_m(np.zeros(len(numbers), dtype=np.int64), numbers, self.params["epsilon"])
        return bool(found >= self.params["m"] - _NOISE)


class Cuts:
    """The cuts of some people (people × columns) that Mondrian would try."""

    def __init__(self, codes: Codes, domains: Sequence[Domain], k: int) -> None:
        self.codes, self.domains, self.k = codes.astype(np.int64), tuple(domains), k

    def any_by_size(self) -> bool:
        """Whether any cut of all of them leaves k in every part."""
        values = np.zeros((1, len(self.codes)), dtype=np.int64)
        return bool(self.allowed(values, None, 1)[0])

    def allowed(self, values: Ints, constraint: Constraint | None, count: int) -> Bools:
        """In which worlds (worlds × people, `count` different values) any cut would be allowed."""
        found = np.zeros(len(values), dtype=np.bool_)
        for place in range(len(self.domains)):
            rest = np.flatnonzero(~found)
            if len(rest):
                found[rest] = self._along(place, values[rest], constraint, count)
        return found

    def _along(self, place: int, values: Ints, constraint: Constraint | None, count: int) -> Bools:
        """In which worlds the cut along one column would be allowed."""
        there = values != ABSENT
        same = bool(there.all())  # who is in the class is the same in all worlds, and so are the parts
        part = self._parts(place, there[:1] if same else there)
        number = int(part.max(initial=0)) + 1
        if same and not self._large_enough(np.bincount(part[0], minlength=number)[None])[0]:
            return np.zeros(len(values), dtype=np.bool_)
        world = np.repeat(np.arange(len(values)), there.sum(axis=1))
        key = (world * number + np.broadcast_to(part, values.shape)[there]) * count + values[there]
        table = np.bincount(key, minlength=len(values) * number * count).reshape(len(values), number, count)
        fine = self._large_enough(table.sum(axis=2))
        if constraint is not None:
            fine[fine] = constraint.holds(table[fine].reshape(-1, count)).reshape(-1, number).all(axis=1)
        return fine

    def _large_enough(self, size: Ints) -> Bools:
        """Where there are several parts (rows of sizes), and k people in each."""
        return np.asarray(((size > 0).sum(axis=1) > 1) & ((size == 0) | (size >= self.k)).all(axis=1))

    def _parts(self, place: int, there: Bools) -> Ints:
        code, domain = self.codes[:, place], self.domains[place]
        by_tree = domain.taxonomy is not None and domain.column.type is Type.NOMINAL
        return self._children(code, there, domain) if by_tree else self._halves(code, there)

    @staticmethod
    def _halves(code: Ints, there: Bools) -> Ints:
        """Up to the median and above it; where the median is the greatest value, the cut is below it."""
        order = np.argsort(code, kind="stable")
        reached = np.cumsum(there[:, order], axis=1)
        rank = (reached[:, -1] - 1) // 2
        median = code[order][np.argmax(reached > rank[:, None], axis=1)]
        greatest = np.where(there, code, -1).max(axis=1)
        return np.asarray((code > np.minimum(median, greatest - 1)[:, None]).astype(np.int64))

    @staticmethod
    def _children(code: Ints, there: Bools, domain: Domain) -> Ints:
        """The children of the node that covers the people; missing values are cut off before others are cut."""
        assert domain.taxonomy is not None
        least = np.where(there, code, domain.size).min(axis=1)
        greatest = np.where(there, code, -1).max(axis=1)
        known = domain.known - 1
        path = domain.taxonomy.path
        shared = (path[:, np.minimum(least, known)] == path[:, np.minimum(greatest, known)]).sum(axis=0)
        node = path[np.minimum(shared, len(path) - 1)[:, None], np.minimum(code, known)[None]]
        used = np.zeros(len(domain.taxonomy.labels), dtype=np.int64)
        used[node] = 1
        part: Ints = (np.cumsum(used) - 1)[node]
        lacking = greatest > known
        part[lacking] = code > known
        return part


def narrow(codes: Codes, columns: Sequence[Parts | None], values: Ints) -> Bools:
    """In which worlds the labels of a class are the narrowest of the people who are in it."""
    there = values != ABSENT
    fits = np.ones(len(values), dtype=np.bool_)
    for place, column in enumerate(columns):
        if column is not None:
            part = column.of_code[codes[:, place]]
            occupied = np.stack([(there & (part == p)).any(axis=1) for p in range(column.count)])
            fits &= occupied.sum(axis=0) >= column.occupied
    return fits
