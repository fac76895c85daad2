"""Constraints on classes, which can be combined: a class is allowed where every constraint holds for its counts.

Each constraint takes a figure of the class from `auditor.measure`, the same figure that an audit computes from the published
release, and compares it with a limit. Sources: k-anonymity (Samarati and Sweeney 1998); distinct, entropy and recursive
l-diversity (Machanavajjhala et al. 2006); t-closeness (Li, Li and Venkatasubramanian 2007); (α,k)-anonymity (Wong et al.
2006); (ε,m)-anonymity (Li, Tao and Xiao 2008).

What this module says of classes in Python, the kernel of Mondrian computes for millions of classes. `limits` gives it the
numbers to compare with, including the tolerance for rounding, so that both decide alike. β-likeness (Cao and Karras 2012) has
no such numbers: only methods that ask this module know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from anonymizers.shapes import Limits
from auditor.measure import divergences, diversity
from auditor.measure.counts import Entries, entries
from auditor.measure.nearness import largest_ms, lower, upper
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.schema import Type
from auditor.model.table import Table

_NOISE = 1e-9


class Diversity(StrEnum):
    """The readings of l-diversity."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class Closeness(StrEnum):
    """The distances of t-closeness."""

    EQUAL = "equal"
    ORDERED = "ordered"
    HIERARCHICAL = "hierarchical"


class Likeness(StrEnum):
    """The readings of β-likeness."""

    BASIC = "basic"
    ENHANCED = "enhanced"


class Values:
    """The sensitive column that constraints are about. `codes` are its values, numbered without gaps; `present` is the code
    of each such value in the domain, `whole` how often it occurs. In a block, both are those of the whole table."""

    def __init__(self, table: Table, column: str) -> None:
        self.column, self.domain = column, table.domains[column]
        counts = table.counts(column)
        self.present = np.flatnonzero(counts)
        self.whole: Ints = counts[self.present]
        number = np.zeros(self.domain.size, dtype=np.int32)
        number[self.present] = np.arange(len(self.present))
        self.codes = number[table.codes[column]]


class Constraint(ABC):
    """Something that each class must hold."""

    @abstractmethod
    def which(self, found: Entries) -> Bools:
        """Which classes with these counts would be allowed."""

    def holds(self, counts: Ints) -> bool:
        """Whether a class with these counts would be allowed."""
        return bool(self.which(entries(counts[None]))[0])

    def doomed(self, found: Entries) -> Floats:
        """The share of each class that breaks the constraint at least, however the class is divided into smaller ones. By
        default one person where the class itself breaks it: classes that hold it hold it together."""
        return np.where(self.which(found), 0.0, 1 / np.maximum(found.sizes, 1))

    @abstractmethod
    def fault(self) -> str:
        """Why the whole table breaks the constraint, where it does."""


class Limited(Constraint):
    """A constraint that kernels know too."""

    @abstractmethod
    def limits(self) -> dict[str, Any]:
        """The same constraint as fields of `Limits`."""


class Size(Limited):
    """k-anonymity: at least k rows."""

    def __init__(self, k: int, rows: int) -> None:
        self.k, self.rows = k, rows

    def which(self, found: Entries) -> Bools:
        return np.asarray(found.sizes >= self.k)

    def doomed(self, found: Entries) -> Floats:
        return np.where(self.which(found), 0.0, 1.0)  # smaller classes are smaller

    def fault(self) -> str:
        return f"k must be at most the number of rows. Got k = {self.k} and {self.rows} rows"

    def limits(self) -> dict[str, Any]:
        return {"size": self.k}


class DistinctValues(Limited):
    """Distinct l-diversity: at least l different values."""

    def __init__(self, least: int, about: Values) -> None:
        self.least, self.about = least, about

    def which(self, found: Entries) -> Bools:
        return np.asarray(found.distinct >= self.least)

    def doomed(self, found: Entries) -> Floats:
        return np.where(self.which(found), 0.0, 1.0)  # smaller classes have no more values

    def fault(self) -> str:
        there = len(self.about.present)
        return f"l must be at most the {there} distinct values of {self.about.column!r}. Got l = {self.least}"

    def limits(self) -> dict[str, Any]:
        return {"distinct": self.least}


class EntropyDiversity(Limited):
    """Entropy l-diversity: the values are as diverse as l equally frequent ones."""

    def __init__(self, least: float, about: Values) -> None:
        self.least, self.about = least, about

    def which(self, found: Entries) -> Bools:
        return np.asarray(diversity.entropy_ls(found) >= self.least - _NOISE)

    def doomed(self, found: Entries) -> Floats:
        # the mean entropy of the parts is at most that of the whole, and those that hold have log l or more
        asked = np.log(max(self.least - _NOISE, 1.0))
        short = asked - np.log(diversity.entropy_ls(found))
        return np.maximum(short, 0.0) / asked if asked > 0 else np.zeros(len(short))

    def fault(self) -> str:
        whole = diversity.entropy_l(self.about.whole[None])
        return f"the whole table has entropy diversity {whole:.4g} in {self.about.column!r}. Got l = {self.least}"

    def limits(self) -> dict[str, Any]:
        return {"entropy": self.least - _NOISE}


class RecursiveDiversity(Limited):
    """Recursive (c, l)-diversity: the most frequent value occurs less than c times as often as all from the l-th on."""

    def __init__(self, c: float, least: int, about: Values) -> None:
        self.c, self.least, self.about = c, least, about

    def which(self, found: Entries) -> Bools:
        return np.asarray(diversity.recursive_cs(found, self.least) < self.c)

    def fault(self) -> str:
        needed = diversity.recursive_c(self.about.whole[None], self.least)
        found = f"needs c above {needed:.4g}" if needed is not None else f"has fewer than {self.least} values"
        return f"the whole table {found} in {self.about.column!r}. Got c = {self.c:g} and l = {self.least}"

    def limits(self) -> dict[str, Any]:
        return {"recursive_l": self.least, "recursive_c": float(self.c)}


class LargestShare(Limited):
    """(α,k)-anonymity: no value has more than the share α of a class."""

    def __init__(self, alpha: float, about: Values) -> None:
        self.alpha, self.about = alpha, about

    def which(self, found: Entries) -> Bools:
        return np.asarray(diversity.alphas(found) <= self.alpha + _NOISE)

    def doomed(self, found: Entries) -> Floats:
        return _beyond(diversity.alphas(found), self.alpha + _NOISE)

    def fault(self) -> str:
        most, column = diversity.alpha(self.about.whole[None]), self.about.column
        return f"one value of {column!r} has the share {most:.4g} of the whole table. Got alpha = {self.alpha:g}"

    def limits(self) -> dict[str, Any]:
        return {"share": self.alpha + _NOISE}


class Close(Limited):
    """t-closeness: the values of a class are distributed nearly as those of the whole table."""

    def __init__(self, t: float, kind: Closeness, about: Values) -> None:
        column, domain = about.column, about.domain
        nominal = domain.column.type is Type.NOMINAL
        if kind is Closeness.ORDERED and nominal:
            raise UsageError(f'closeness = "ordered" is for numeric and ordinal columns. {column!r} is nominal.')
        if kind is Closeness.HIERARCHICAL and (domain.taxonomy is None or not nominal):
            raise UsageError(f'closeness = "hierarchical" needs a nominal column with a taxonomy. Got {column!r}.')
        self.t, self.kind, self.about = t, kind, about

    @cached_property
    def ranked(self) -> int:
        """How many values have a place in an order: all but the missing one, which is the last."""
        missing = self.about.domain.missing
        return len(self.about.present) - int(missing is not None and missing in self.about.present)

    @cached_property
    def nodes(self) -> Ints:
        """The node of each value; the missing one, whose code comes after the leaves, stands at the root."""
        assert self.about.domain.taxonomy is not None
        present, leaf_node = self.about.present, self.about.domain.taxonomy.leaf_node
        return np.where(present < len(leaf_node), leaf_node[np.minimum(present, len(leaf_node) - 1)], 0)

    def _distances(self, found: Entries) -> tuple[Floats, Floats]:
        """How far each class is from the whole, and the share of its people who have a place there."""
        whole = self.about.whole
        if self.kind is Closeness.EQUAL:
            return divergences.equal_distance(found, whole), np.ones(len(found.sizes))
        if self.kind is Closeness.ORDERED:
            placed = found.arranged(np.arange(self.ranked))
            return divergences.ordered_distance(placed, whole[: self.ranked]), placed.sizes / np.maximum(found.sizes, 1)
        assert self.about.domain.taxonomy is not None
        distance = divergences.hierarchical_distance(found, whole, self.about.domain.taxonomy, self.nodes)
        return distance, np.ones(len(distance))

    def which(self, found: Entries) -> Bools:
        return np.asarray(self._distances(found)[0] <= self.t + _NOISE)

    def doomed(self, found: Entries) -> Floats:
        # the distance of the whole is at most the mean of the distances of its parts
        distance, placed = self._distances(found)
        return _beyond(distance, self.t + _NOISE) * placed

    def fault(self) -> str:
        return f"t must be at least 0. Got t = {self.t:g}"  # the whole table is at distance 0 from itself

    def limits(self) -> dict[str, Any]:
        found = {"distance": self.t + _NOISE}
        if self.kind is not Closeness.ORDERED:
            return found | self._edges()
        whole = self.about.whole[: self.ranked]
        reached = np.cumsum(whole / max(int(whole.sum()), 1))
        return found | {"reached": reached, "before": np.concatenate([[0.0], np.cumsum(reached)])}

    def _edges(self) -> dict[str, Any]:
        """The values as leaves of a tree whose edges weigh half a distance: one edge each below a common node (equal), or
        the taxonomy's edges and, for a value that is no leaf, one of its own (hierarchical)."""
        values = len(self.about.present)
        ways = [[value] for value in range(values)]
        weight = np.full(values, 0.5)
        if self.kind is Closeness.HIERARCHICAL:
            taxonomy = self.about.domain.taxonomy
            assert taxonomy is not None
            heights = divergences.node_heights(taxonomy) / (2 * max(taxonomy.height, 1))
            weight = np.concatenate([heights[self.nodes], [0.0], heights[taxonomy.parent[1:]] - heights[1:]])
            for value, node in enumerate(self.nodes.tolist()):
                while node > 0:
                    ways[value].append(values + node)
                    node = int(taxonomy.parent[node])
        edge = np.array([e for way in ways for e in way], dtype=np.int64)
        lengths = [len(way) for way in ways]
        share = np.repeat(self.about.whole / self.about.whole.sum(), lengths)
        expected = np.bincount(edge, weights=share, minlength=len(weight))
        return {
            "first_edge": np.concatenate([[0], np.cumsum(lengths)]),
            "edge": edge,
            "weight": weight,
            "expected": expected,
            "absent": float(weight @ expected),
        }


class Scattered(Limited):
    """(ε,m)-anonymity: at most 1/m of a class lies within ±ε of any of its numbers."""

    def __init__(self, epsilon: float, m: float, about: Values) -> None:
        column, domain = about.column, about.domain
        if domain.numbers is None:
            raise UsageError(f"epsilon and m are for numeric columns. {column!r} is {domain.column.type}.")
        if domain.missing is not None and domain.missing in about.present:
            raise PromiseError(f"(ε,m)-anonymity needs a number in every row of {column!r}: some are missing.")
        self.epsilon, self.m, self.about = epsilon, m, about
        self.numbers = domain.numbers[about.present]

    def which(self, found: Entries) -> Bools:
        return np.asarray(largest_ms(found, self.numbers, self.epsilon) >= self.m - _NOISE)

    def doomed(self, found: Entries) -> Floats:
        return np.zeros(len(found.sizes))  # classes that hold it need not hold it together

    def fault(self) -> str:
        whole, column = entries(self.about.whole[None]), self.about.column
        most = float(largest_ms(whole, self.numbers, self.epsilon)[0])
        return f"the whole table has m = {most:.4g} for epsilon = {self.epsilon:g} in {column!r}. Got m = {self.m:g}"

    def limits(self) -> dict[str, Any]:
        low = np.searchsorted(self.numbers, lower(self.numbers, self.epsilon), side="left")
        high = np.searchsorted(self.numbers, upper(self.numbers, self.epsilon), side="right")
        return {"scattered": self.m - _NOISE, "low": low, "high": high}


class Like(Constraint):
    """β-likeness: no value's share of a class exceeds that of the whole table by more than β times the latter; enhanced, by
    more than min(β, -ln of the latter)."""

    def __init__(self, beta: float, kind: Likeness, about: Values) -> None:
        self.beta, self.kind, self.about = beta, kind, about

    def which(self, found: Entries) -> Bools:
        found = replace(found, whole=self.about.whole)
        betas = diversity.basic_betas if self.kind is Likeness.BASIC else diversity.enhanced_betas
        return np.asarray(betas(found) <= self.beta + _NOISE)

    def fault(self) -> str:
        return f"the whole table must be {self.kind} β-like itself in {self.about.column!r}. Got beta = {self.beta:g}"


def _beyond(amount: Floats, most: float) -> Floats:
    """The least share of parts with amounts up to 1 that, with others of at most `most`, have a mean of so much."""
    return np.maximum(amount - most, 0.0) / (1 - most) if most < 1 else np.zeros(len(amount))


def check_whole(constraints: Sequence[Constraint], whole: Ints, name: str) -> None:
    """An error where even one class of all rows would break a constraint: then no release can hold it."""
    for constraint in constraints:
        if not constraint.holds(whole):
            raise PromiseError(f"{name}: {constraint.fault()}.")


def all_limits(constraints: Sequence[Limited], about: Values | None) -> Limits:
    """The constraints as numbers; without a sensitive column, only the size counts."""
    fields: dict[str, Any] = {"values": 0 if about is None else len(about.present)}
    for constraint in constraints:
        fields |= constraint.limits()
    return Limits(**fields)
