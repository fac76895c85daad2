"""Shapes: the plain tuples of numbers that the compiled kernels take. The modules in `shared` fill them from a table.

They stand in a module of their own, below both: kernels import shapes and never `shared`, and whoever fills a shape need
not import numba. In the order of this file: `Trees` for the clustering methods; `Limits`, `Columns` and `Room` for
Mondrian's cuts; `Average` and `Points` for microaggregation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.model.arrays import Bools, Codes, Floats, Ints

_NO_INTS: Ints = np.empty(0, dtype=np.int64)
_NO_FLOATS: Floats = np.empty(0, dtype=np.float64)


class Trees(NamedTuple):
    """The trees of the columns that have no order, one after the other. A *slot* is a leaf, numbered through all trees.

    Per node: its `parent` (-1 for a root), its `depth`, its `height` (the greatest number of steps down to a leaf), the first
    and the last slot that it covers (`low`, `high`), and its `tree`. Per slot: its node (`leaf`). Per tree: its `root`.
    """

    parent: Ints
    depth: Ints
    height: Ints
    low: Ints
    high: Ints
    tree: Ints
    leaf: Ints
    root: Ints


class Limits(NamedTuple):
    """All constraints on a class as numbers. A constraint that is not asked for has a limit that every class keeps.

    - k-anonymity: at least `size` rows. `values` is the number of sensitive values that occur, 0 where only the size counts.
    - l-diversity: at least `distinct` values; at least `entropy` as entropy diversity; (`recursive_c`, `recursive_l`), where
      `recursive_l` is 0 unless recursive diversity is asked for.
    - (α,k)-anonymity: no value has a larger `share` of the class.
    - t-closeness: at most `distance` from the whole table. For ordered values, `reached` are the table's cumulative shares
      and `before` their sums. For others, value v lies below the edges `edge[first_edge[v]:first_edge[v + 1]]` of a tree,
      each with its `weight` and the share of the table below it (`expected`); `absent` is Σ weight · expected.
    - (ε,m)-anonymity: m is at least `scattered`. The values within ±ε of value v are those from `low[v]` to before `high[v]`.
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
    first_edge: Ints = _NO_INTS
    edge: Ints = _NO_INTS
    weight: Floats = _NO_FLOATS
    expected: Floats = _NO_FLOATS
    absent: float = 0.0
    scattered: float = 0.0
    low: Ints = _NO_INTS
    high: Ints = _NO_INTS


class Columns(NamedTuple):
    """The columns along which a table is cut, apart from their codes.

    `missing` is the code of the missing value (-1: none), `steps` the greatest difference of two codes. A column is cut along
    its taxonomy where `tree` says so: at depth d leaf c lies below `node[first + d * leaves + c]`, which covers the share
    `extent[...]` (at the same place) of the domain. In other columns code c stands at `position[first + c]`, on a line of
    length `width`.
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
    """Memory for Mondrian's kernel, allocated once.

    For the class being cut: the `part` of each row, one column with the rows of each part side by side (`line`), the `sizes`
    of the parts, the rows below each of the taxonomy's `nodes`. For the sensitive values of a part: their `counts`, the
    values `found`, the rows `below` each edge, the edges `crossed`. `nodes`, `counts` and `below` are all 0 between two uses.
    """

    part: Codes
    line: Codes
    sizes: Ints
    nodes: Ints
    counts: Ints
    found: Ints
    below: Ints
    crossed: Ints


class Average(IntEnum):
    """How a column of points is averaged."""

    MEAN = 0
    MEDIAN = 1
    CONVEX = 2
    MODE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Records as points (rows × columns).

    In the first `measured` columns the squared distance is weight · (x - y)², in the others 0 or 1. A median or a mode is
    taken over whole numbers from 0 to below `sizes`, which is 0 for a column with a mean.
    """

    values: Floats
    weight: Floats
    measured: int
    average: NDArray[np.int8]
    sizes: Ints

    @property
    def rows(self) -> int:
        """The number of points."""
        return len(self.values)
