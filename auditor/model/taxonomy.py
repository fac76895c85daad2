"""A taxonomy: a tree of ever wider groups over the values of a column.

It is read from a file as ARX writes hierarchies (one row per leaf, `;`-separated, leaf first, root last) or from nested
tables in the schema, checked, and compiled: leaves get their depth-first number as code, so that every node is a contiguous
interval of codes, and the lowest common ancestor of a set follows from its least and greatest code. That makes numeric and
categorical generalisation the same arithmetic.

A label repeated along one path (`Other;Other;*`) is one node. Several top groups get a common root `*`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from auditor.model.arrays import Ints
from auditor.model.errors import TaxonomyError
from auditor.model.faults import Faults, read_text
from auditor.model.formulas import unguarded

ROOT = "*"


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """A compiled tree. Nodes are numbered in preorder (the root is 0), leaves by their depth-first code."""

    name: str
    labels: tuple[str, ...]  # the labels by node
    parent: Ints  # the parent of each node; -1 for the root
    depth: Ints  # the depth of each node; 0 for the root
    lo: Ints  # the first leaf code under each node
    hi: Ints  # the last leaf code under each node
    leaf_node: Ints  # the node of each leaf
    path: Ints  # by depth and leaf, the node on the way from the root (its own where the leaf is less deep)
    numbers: Mapping[str, int]  # the nodes by label

    @property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves, by code."""
        return tuple(self.labels[i] for i in self.leaf_node)

    @property
    def height(self) -> int:
        """The greatest depth of a leaf; a tree of one node has height 0."""
        return len(self.path) - 1

    def node(self, label: str) -> int | None:
        """The node with this label, or None."""
        return self.numbers.get(label)

    def common_ancestor(self, low: Ints, high: Ints) -> Ints:
        """The lowest node that covers all leaves from code `low` to code `high`, elementwise."""
        low, high = np.asarray(low), np.asarray(high)
        shared = (self.path[:, low] == self.path[:, high]).sum(axis=0)
        nodes: Ints = self.path[shared - 1, low]
        return nodes

    def groups_below(self, level: int) -> Ints:
        """For each leaf the node at depth `level + 1` above it (or itself): leaves in different groups have their
        lowest common ancestor at or above `level` (the root is level 0)."""
        if not 0 <= level <= self.height:
            raise TaxonomyError(f"{self.name}: a level must be from 0 (the root) to {self.height}. Got {level}.")
        groups: Ints = self.path[min(level + 1, self.height)]
        return groups

    @classmethod
    def from_paths(cls, name: str, paths: Iterable[tuple[str, Sequence[str]]]) -> Taxonomy:
        """From pairs of a place, which errors name ("line 3"), and the labels from a leaf to the root."""
        below: dict[str, list[str]] = {}
        above: dict[str, str] = {}
        leaves: dict[str, str] = {}
        faults = Faults(TaxonomyError, name)
        for place, path in paths:
            here = faults.at(place)
            steps = [label for i, label in enumerate(path) if i == 0 or label != path[i - 1]]
            if not all(path):
                here.add(
                    "every label must have a text. Leave missing values out; repeat a label where a path is shorter."
                )
            elif len(set(steps)) < len(steps):
                here.add(f"a label must not come back further up. Got {' → '.join(steps)}.")
            elif steps[0] in leaves:
                here.add(f"{steps[0]!r} is already listed ({leaves[steps[0]]}).")
            if here.found:
                continue
            leaves[steps[0]] = place
            below.setdefault(steps[0], [])
            for child, parent in pairwise(steps):
                before = above.get(child, parent)
                if before != parent:
                    here.add(f"{child!r} must have one parent. Got {parent!r}, but {before!r} before.")
                    break
                children = below.setdefault(parent, [])
                if child not in above:
                    above[child] = parent
                    children.append(child)
        for leaf, place in leaves.items():
            if below[leaf]:
                faults.at(place).add(f"{leaf!r} must be a leaf or a group, not both. Rename the group.")
        faults.check()
        return cls._compile(name, below)

    @classmethod
    def from_nested(cls, name: str, nested: Any) -> Taxonomy:
        """From nested tables and lists, as a schema holds them: `{Group = ["leaf", …], …}`, a top list, or deeper."""
        paths: list[tuple[str, list[str]]] = []

        def walk(part: Any, above: list[str]) -> None:
            if isinstance(part, Mapping | list) and not part and above:
                raise TaxonomyError(f"{name}: the group {above[0]!r} must hold at least one value.")
            if isinstance(part, Mapping):
                for key, inner in part.items():
                    walk(inner, [str(key).strip(), *above])
            elif isinstance(part, list):
                for item in part:
                    walk(item, above)
            elif isinstance(part, str | int | float) and not isinstance(part, bool):
                paths.append((f"under {above[0]!r}" if above else "top level", [str(part).strip(), *above]))
            else:
                raise TaxonomyError(f"{name}: a taxonomy must hold tables, lists and values. Got {part!r}.")

        walk(nested, [])
        if not paths:
            raise TaxonomyError(f"{name}: a taxonomy must hold at least one value.")
        tops = {path[-1] for _, path in paths}
        if len(tops) > 1:
            paths = [(place, [*path, ROOT]) for place, path in paths]
        return cls.from_paths(name, paths)

    @classmethod
    def from_file(cls, file: Path, delimiter: str = ";") -> Taxonomy:
        """From an ARX hierarchy file."""
        reader = csv.reader(StringIO(read_text(file, "taxonomy", TaxonomyError), newline=""), delimiter=delimiter)
        try:
            rows = [
                (f"line {reader.line_num}", [unguarded(cell.strip()) for cell in row])
                for row in reader
                if any(cell.strip() for cell in row)
            ]
        except csv.Error as error:
            raise TaxonomyError(f"{file}, line {reader.line_num}: this is not a line of CSV ({error}).") from error
        if not rows:
            raise TaxonomyError(f"{file}: the taxonomy is empty. It must hold one line per leaf: leaf;group;…;root.")
        width, faults = len(rows[0][1]), Faults(TaxonomyError, str(file))
        for place, row in rows:
            if len(row) != width:
                faults.at(place).add(f"must have {width} labels, as the first line has. Got {len(row)}.")
        faults.check()
        if width == 1 and all("," in row[0] or "\t" in row[0] for _, row in rows):
            raise TaxonomyError(f"{file}: labels must be separated by {delimiter!r}: leaf;group;…;root.")
        if len({row[-1] for _, row in rows}) > 1:
            rows = [(place, [*row, ROOT]) for place, row in rows]
        return cls.from_paths(str(file), rows)

    def sorted_by(self, key: Callable[[str], float]) -> Taxonomy:
        """The same tree with its leaves in the order of `key`; an error where the values of a group are not neighbours."""
        below: dict[str, list[str]] = {label: [] for label in self.labels}
        keys = np.array([key(leaf) for leaf in self.leaves])
        least = [float(keys[self.lo[i] : self.hi[i] + 1].min()) for i in range(len(self.labels))]
        for i in sorted(range(1, len(self.labels)), key=lambda i: least[i]):
            below[self.labels[self.parent[i]]].append(self.labels[i])
        result = self._compile(self.name, below)
        ordered = [key(leaf) for leaf in result.leaves]
        for after, (before, here) in enumerate(pairwise(ordered), 1):
            if before >= here:
                one, other = result.leaves[after - 1], result.leaves[after]
                raise TaxonomyError(
                    f"{self.name}: a group of a numeric column must hold neighbouring values, each once. "
                    f"{other!r} is not above {one!r}, the last value of the group before it."
                )
        return result

    @classmethod
    def _compile(cls, name: str, below: Mapping[str, Sequence[str]]) -> Taxonomy:
        """The tree in which these labels have these children; each has at most one parent."""
        above = {child: label for label, children in below.items() for child in children}
        roots = [label for label in below if label not in above]
        order, waiting = [], roots[:1]
        while waiting:
            order.append(waiting.pop())
            waiting.extend(reversed(below[order[-1]]))
        if len(roots) != 1 or len(order) < len(below):
            raise TaxonomyError(f"{name}: a taxonomy must be one tree. Got the roots {', '.join(map(repr, roots))}.")
        number = {label: i for i, label in enumerate(order)}
        size = len(order)
        parent = np.full(size, -1)
        depth = np.zeros(size, dtype=np.int64)
        for child in order[1:]:
            parent[number[child]] = number[above[child]]
            depth[number[child]] = depth[number[above[child]]] + 1
        leaf_node = np.array([i for i, label in enumerate(order) if not below[label]])
        lo, hi = np.full(size, len(leaf_node)), np.full(size, -1)
        path = np.empty((int(depth.max()) + 1, len(leaf_node)), dtype=np.int64)
        for code, leaf in enumerate(leaf_node):
            path[depth[leaf] :, code] = leaf
            node = leaf
            while node >= 0:
                path[depth[node], code] = node
                lo[node], hi[node] = min(lo[node], code), max(hi[node], code)
                node = parent[node]
        return cls(name, tuple(order), parent, depth, lo, hi, leaf_node, path, number)
