"""Divergences: how far each class's distribution is from the whole table's: earth mover's distances, relative entropy.

Li, Li and Venkatasubramanian, "t-Closeness", ICDE 2007, with their three ground distances: equal (every two values are
1 apart), ordered (neighbours among m values are 1/(m-1) apart) and hierarchical (two values are height of their lowest
common ancestor / height of the taxonomy apart).

The height of a node is its greatest distance to a leaf below it. So leaves have height 0 at any depth, the root has the
taxonomy's height, and two values that meet only in the root are 1 apart even in a ragged tree. A value may also be published
as a group; it then lies beside the values below its node, at that node's height from each.

All are computed only from the counts above zero, for all classes at once, by closed forms:

- equal: total variation, Σ over values of max(p - q, 0); values absent from a class add nothing.
- ordered: Σ |P - Q| over cumulative distributions. P is constant between two values that occur in the class and Q never
  falls, so each such stretch splits at one place, found by bisection, into two differences of prefix sums of Q.
- hierarchical: the ground distance is a tree metric (each edge weighs half the difference in height of its ends), for
  which the earth mover's distance is Σ over edges of weight · |P below - Q below|: all mass that differs below an edge has
  to cross it, and crossing greedily suffices. It equals the paper's recursion.
"""

from __future__ import annotations

import numpy as np

from auditor.measure import words
from auditor.measure.counts import Entries, Matrix, added, entries
from auditor.model.arrays import Floats, Ints
from auditor.model.taxonomy import Taxonomy

DISTANCES = (
    words.extreme(
        "t_equal",
        "t-closeness: the largest distance of a class's values from those of the table, all values equally far apart.",
        "the farthest class is {value} away from the table, all values equally far apart",
        label="farthest class from the table, values alike",
    ),
    words.extreme(
        "t_ordered",
        "t-closeness for ordered values: the largest earth mover's distance over ranks of a class's values from the table's.",
        "the farthest class is {value} away from the table, values in their order",
        label="farthest class from the table, values in order",
    ),
    words.extreme(
        "t_hierarchical",
        "t-closeness by taxonomy: the largest earth mover's distance over the taxonomy of a class's values from the table's.",
        "the farthest class is {value} away from the table, values by their taxonomy",
        label="farthest class from the table, values by taxonomy",
    ),
)
"""How far classes lie from the whole table, in words."""


def _shares(whole: Ints | Floats) -> Floats:
    total = whole.sum()
    return whole / total if total > 0 else np.zeros(len(whole))


def equal_distance(counts: Matrix, whole: Ints) -> Floats:
    """The distance of each class (row of counts) from the whole, all values equally far apart. Empty classes: 0."""
    found = entries(counts)
    return found.per_class(np.maximum(found.share - _shares(whole)[found.column], 0.0))


def ordered_distance(counts: Matrix, whole: Ints) -> Floats:
    """The distance of each class from the whole over values in order (the order of the columns). Empty classes: 0."""
    found = entries(counts)
    values = found.values
    if values < 2 or not len(found.row):
        return np.zeros(len(found.sizes))
    reached = np.cumsum(_shares(whole))
    before = np.concatenate([[0.0], np.cumsum(reached)])
    # cumulative counts restart with each class
    running = np.cumsum(found.count)
    first = np.concatenate([[True], found.row[1:] != found.row[:-1]])
    offset = (running - found.count)[first]
    inside = (running - np.repeat(offset, np.diff(np.append(np.flatnonzero(first), len(running))))) / (
        found.sizes[found.row]
    )
    start = found.column
    end = np.append(start[1:], values)
    end[np.append(first[1:], True)] = values
    split = np.clip(np.searchsorted(reached, inside), start, end)
    stretch = inside * (2 * split - start - end) - 2 * before[split] + before[start] + before[end]
    stretch[first] += before[start[first]]  # up to the first value that occurs, P is 0
    return np.maximum(found.per_class(stretch), 0.0) / (values - 1)


def relative_entropy(counts: Matrix, whole: Ints) -> Floats:
    """What each class tells beyond the whole, in bits: Σ p log2(p/q) (Kullback and Leibler 1951). Infinite if a class has a
    value that the whole does not. Empty classes: 0."""
    found = entries(counts)
    expected = _shares(whole)[found.column]
    ratio = np.divide(found.share, expected, out=np.full(len(expected), np.inf), where=expected > 0)
    return np.maximum(found.per_class(found.share * np.log2(ratio)), 0.0)


def parts(shares: Floats) -> Ints:
    """Shares as counts, in parts per billion, since the formulas here take counts."""
    return np.round(shares * 1e9).astype(np.int64)


def node_heights(taxonomy: Taxonomy) -> Ints:
    """The height of each node: its greatest distance to a leaf below it."""
    heights = np.zeros(len(taxonomy.labels), dtype=np.int64)
    leaf_depth = taxonomy.depth[taxonomy.leaf_node]
    for depth, nodes in enumerate(taxonomy.path):
        np.maximum.at(heights, nodes, np.maximum(leaf_depth - depth, 0))
    return heights


def hierarchical_distance(counts: Matrix, whole: Ints, taxonomy: Taxonomy, nodes: Ints | None = None) -> Floats:
    """The distance of each class from the whole over a taxonomy. `nodes` is the node at which each column of the counts
    is published; without it the columns are the leaves, by code. Empty classes: 0."""
    found = entries(counts)
    places = taxonomy.leaf_node if nodes is None else nodes
    if taxonomy.height == 0:
        return np.zeros(len(found.sizes))
    column, edge, weight = taxonomy_edges(taxonomy, places)
    crossing = _crossing(found, column, edge, len(weight))
    share = crossing.count / found.sizes[crossing.row]
    expected = np.bincount(edge, weights=_shares(whole)[column], minlength=len(weight))
    there = expected[crossing.column]
    moved = crossing.per_class(weight[crossing.column] * (np.abs(share - there) - there))
    return np.where(found.sizes > 0, np.maximum(moved + weight @ expected, 0.0), 0.0)


def _crossing(found: Entries, column: Ints, edge: Ints, edges: int) -> Entries:
    """How many people of each class lie below each edge, given the pairs of a value and an edge above it."""
    order = np.argsort(column, kind="stable")
    many = np.bincount(column, minlength=found.values)
    first = np.cumsum(many) - many
    times = many[found.column]
    ends = np.cumsum(times)
    place = np.arange(int(times.sum())) + np.repeat(first[found.column] - ends + times, times)
    row, count = np.repeat(found.row, times), np.repeat(found.count, times)
    return added(row, edge[order[place]], count, len(found.sizes), edges)


def taxonomy_edges(taxonomy: Taxonomy, places: Ints) -> tuple[Ints, Ints, Floats]:
    """Which edges lie above values at these nodes, as pairs of value and edge, and the weight of each edge. Edges are named
    by their lower node; the values' own edges come after these."""
    heights = node_heights(taxonomy) / (2 * taxonomy.height)
    columns, edges, own = [], [], len(heights)
    climbing, at = np.arange(len(places)), places
    while len(climbing):
        climbing, at = climbing[at > 0], at[at > 0]  # no edge leads up from the root
        columns.append(climbing)
        edges.append(at)
        at = taxonomy.parent[at]
    columns.append(np.arange(len(places)))
    edges.append(own + np.arange(len(places)))
    weight = np.concatenate([[0.0], heights[taxonomy.parent[1:]] - heights[1:], heights[places]])
    return np.concatenate(columns), np.concatenate(edges), weight
