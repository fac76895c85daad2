"""Shapes: the plain tuples that compiled kernels take. They stand below kernels and shared parts, and import neither."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Bools, Codes, Floats, Ints

_NO_NUMBERS: Ints = np.empty(0, dtype=np.int64)


_NO_FLOATS: Floats = np.empty(0, dtype=np.float64)


class Limits(NamedTuple):
    """All constraints in numbers, for the kernel; what is not asked for has a limit that every class keeps.

    `size` and `distinct` are least numbers of rows and values, `entropy` the least entropy diversity, `share` the largest
    share of a value; `recursive_l` is 0 where recursive diversity is not asked for. `distance` is the greatest distance
    from the whole table. Ordered, that is measured with `reached`, the table's cumulative shares, and `before`, the sums
    of these; otherwise with edges: value v lies below the edges `edge[first_edge[v]:first_edge[v + 1]]`, each with its
    weight and the share of the table below it, and `absent` is the distance of a class without any of the values.
    `scattered` is the least m, the values within ±ε of value v are those from
    `low[v]` up to before `high[v]`.
    """

    size: int = 1
    values: int = 0
    distinct: int = 0
    entropy: float = 0.0
    recursive_l: int = 0
    recursive_c: float = 0.0
    share: float = np.inf
    distance: float = np.inf
    reached: Floats = _NO_FLOATS
    before: Floats = _NO_FLOATS
    first_edge: Ints = _NO_NUMBERS
    edge: Ints = _NO_NUMBERS
    weight: Floats = _NO_FLOATS
    expected: Floats = _NO_FLOATS
    absent: float = 0.0
    scattered: float = 0.0
    low: Ints = _NO_NUMBERS
    high: Ints = _NO_NUMBERS


class Columns(NamedTuple):
    """What the kernel has to know of the columns besides their codes.

    `missing` is the code of the missing value (-1: none), `steps` the greatest difference of two codes. A column that is
    `tree` is cut along its taxonomy: at depth d leaf c lies below `node[first + d * leaves + c]`, which spreads over
    `extent[…]` of the domain. Of other columns `position[first + c]` is where code c stands on a line of length `width`.
    """

    missing: Codes
    steps: Floats
    tree: Bools
    first: Ints
    leaves: Ints
    node: Codes
    extent: Floats
    position: Floats
    width: Floats


class Room(NamedTuple):
    """Room for the kernel to work in, made once. Counts are all zeros between any two uses.

    For a class: the part of each row, one column with its rows in parts, and the sizes of the parts; rows below each node
    of a taxonomy. For the values of a part: their counts, which of them occur, rows below each edge, and which edges have
    any.
    """

    part: Codes
    line: Codes
    sizes: Ints
    nodes: Ints
    counts: Ints
    found: Ints
    below: Ints
    crossed: Ints


class Trees(NamedTuple):
    """The trees of the columns that have no order, one after the other. A *slot* is a leaf, numbered through all trees;
    node v covers the slots from `low[v]` to `high[v]`. `leaf` is the node of a slot, `root` the root of each tree, `tree`
    the tree of each node, `height` the greatest number of steps from a node down to a leaf."""

    parent: Ints
    depth: Ints
    height: Ints
    low: Ints
    high: Ints
    tree: Ints
    leaf: Ints
    root: Ints


class Average(IntEnum):
    """How a column of points is averaged."""

    MEAN = 0
    MEDIAN = 1
    CONVEX = 2
    MODE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Records as points (rows × columns). The first `measured` columns count weight · (x - y)², the others 0 or 1.
    Medians and modes are taken over whole numbers from 0 to below `sizes` (0 where a column has a mean)."""

    values: Floats
    weight: Floats
    measured: int
    average: NDArray[np.int8]
    sizes: Ints

    @property
    def rows(self) -> int:
        """How many points there are."""
        return len(self.values)
