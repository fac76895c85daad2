"""Divergences: the paper's examples, and agreement with the transport problem solved as a linear programme."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse

from auditor.measure.divergences import (
    equal_distance,
    hierarchical_distance,
    node_heights,
    ordered_distance,
)
from auditor.measure.diversity import distinct_l
from auditor.model.arrays import Floats, Ints
from auditor.model.taxonomy import Taxonomy

# The disease hierarchy of Li et al. 2007, figure 1, as far as their example needs it; height 3.
DISEASES = Taxonomy.from_nested(
    "diseases",
    {
        "Respiratory and digestive": {
            "Respiratory": {"Lung": ["flu", "pneumonia", "bronchitis"], "Vascular": ["oedema", "embolism"]},
            "Digestive": {
                "Stomach": ["gastric ulcer", "gastritis", "stomach cancer"],
                "Colon": ["colitis", "colon cancer"],
            },
        }
    },
)
RAGGED = Taxonomy.from_nested("ragged", {"A": {"B": ["a", "b"], "C": ["c"]}, "D": ["d", "e"], "E": ["f"], "F": "g"})


def moved(class_counts: Ints, whole: Ints, cost: Floats) -> float:
    """The earth mover's distance as a linear programme: flows from class to whole, least total cost."""
    p, q = class_counts / class_counts.sum(), whole / whole.sum()
    size = len(p)
    leaving, arriving = np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))
    solved = optimize.linprog(
        cost.ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=np.concatenate([p, q]), method="highs"
    )
    assert solved.fun is not None
    return float(solved.fun)


def meeting(taxonomy: Taxonomy, a: int, b: int) -> int:
    """The lowest common ancestor of two nodes, by walking up."""
    above = [a]
    while above[-1]:
        above.append(int(taxonomy.parent[above[-1]]))
    while b not in above:
        b = int(taxonomy.parent[b])
    return b


def tallest(taxonomy: Taxonomy, node: int) -> int:
    children = np.flatnonzero(taxonomy.parent == node).tolist()
    return 1 + max(tallest(taxonomy, child) for child in children) if children else 0


def tree_cost(taxonomy: Taxonomy, nodes: list[int]) -> Floats:
    return np.array(
        [
            [
                0.0 if i == j else tallest(taxonomy, meeting(taxonomy, a, b)) / taxonomy.height
                for j, b in enumerate(nodes)
            ]
            for i, a in enumerate(nodes)
        ]
    )


def check(
    counts: Ints,
    fast: Callable[[Ints | sparse.csr_array[np.int64, tuple[int, int]], Ints], Floats],
    cost: Floats,
) -> None:
    whole = counts.sum(axis=0)
    found = fast(counts, whole)
    expected = [moved(row, whole, cost) if row.sum() else 0.0 for row in counts]
    assert found == pytest.approx(expected, abs=1e-7)
    assert fast(sparse.csr_array(counts), whole) == pytest.approx(found, abs=0)


def matrices(columns: int) -> st.SearchStrategy[Ints]:
    row = st.lists(st.integers(0, 4), min_size=columns, max_size=columns)
    return st.lists(row, min_size=1, max_size=4).map(np.array).filter(lambda m: bool(m.sum()))


def test_ordered_distance_of_the_paper() -> None:
    # Li et al. 2007, section 5: salaries 3k … 11k; {3k, 4k, 5k} is 0.375 from the whole, {6k, 8k, 11k} 0.167
    counts = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]])
    assert ordered_distance(counts, np.ones(9, dtype=np.int64)) == pytest.approx([0.375, 1 / 6])


def test_equal_distance_by_hand() -> None:
    # (3/4, 1/4, 0) against (1/2, 1/4, 1/4): one quarter moves; the whole against itself: nothing
    counts = np.array([[3, 1, 0], [2, 1, 1]])
    assert equal_distance(counts, np.array([2, 1, 1])).tolist() == [0.25, 0.0]


def test_hierarchical_distance_by_hand() -> None:
    # Heights: Lung 1, Respiratory 2, the top 3 (= H). Class {flu, flu} against {flu, pneumonia}: half the mass moves
    # within Lung (1/3): 1/6. Against {flu, oedema}: within Respiratory (2/3): 1/3. Against {flu, colitis}: 1/2.
    leaves = DISEASES.leaves
    for other, expected in (("pneumonia", 1 / 6), ("oedema", 1 / 3), ("colitis", 1 / 2)):
        counts, whole = np.zeros((1, 10), dtype=np.int64), np.zeros(10, dtype=np.int64)
        counts[0, leaves.index("flu")] = 2
        whole[leaves.index("flu")] = whole[leaves.index(other)] = 1
        assert hierarchical_distance(counts, whole, DISEASES) == pytest.approx([expected])


def test_heights_of_a_ragged_tree() -> None:
    heights = dict(zip(RAGGED.labels, node_heights(RAGGED).tolist(), strict=True))
    assert {name: heights[name] for name in "*ABCDEFag"} == dict(
        zip("*ABCDEFag", [3, 2, 1, 1, 1, 1, 1, 0, 0], strict=True)
    )


@given(matrices(5))
def test_equal_distance_is_the_transport_optimum(counts: Ints) -> None:
    check(counts, equal_distance, 1.0 - np.eye(5))


@given(matrices(6))
def test_ordered_distance_is_the_transport_optimum(counts: Ints) -> None:
    place = np.arange(6)
    check(counts, ordered_distance, np.abs(place[:, None] - place) / 5)


@given(matrices(7))
def test_hierarchical_distance_is_the_transport_optimum(counts: Ints) -> None:
    cost = tree_cost(RAGGED, RAGGED.leaf_node.tolist())
    check(counts, lambda c, w: hierarchical_distance(c, w, RAGGED), cost)


@given(matrices(5), st.lists(st.integers(0, 12), min_size=5, max_size=5, unique=True))
def test_groups_may_be_values_too(counts: Ints, nodes: list[int]) -> None:
    check(counts, lambda c, w: hierarchical_distance(c, w, RAGGED, np.array(nodes)), tree_cost(RAGGED, nodes))


def test_one_value_has_no_distance() -> None:
    lone = Taxonomy.from_nested("lone", ["a"])
    counts, whole = np.array([[3], [0]]), np.array([3])
    assert ordered_distance(counts, whole).tolist() == [0, 0]
    assert equal_distance(counts, whole).tolist() == [0, 0]
    assert hierarchical_distance(counts, whole, lone).tolist() == [0, 0]


def test_many_classes_and_values_stay_sparse() -> None:
    """A dense matrix here would take 80 GB."""
    rng = np.random.default_rng(0)
    size = 100_000
    rows, columns = rng.permutation(size) // 5, rng.integers(0, size, size)
    counts = sparse.csr_array((np.ones(size, dtype=np.int64), (rows, columns)), shape=(size, size))
    whole = np.bincount(columns, minlength=size)
    found = ordered_distance(counts, whole)
    row = 17
    p = np.bincount(columns[rows == row], minlength=size) / 5
    assert found[row] == pytest.approx(np.abs(np.cumsum(p - whole / size)).sum() / (size - 1), rel=1e-9)


def test_the_counts_are_left_as_they_are() -> None:
    counts = sparse.csr_array((np.array([1, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert equal_distance(counts, np.array([2, 0, 4])).tolist() == [0.0]
    assert counts.indices.tolist() == [2, 0, 2]


def test_stored_zeros_are_no_counts() -> None:
    counts = sparse.csr_array((np.array([2, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert equal_distance(counts, np.array([1, 1])).tolist() == [0.5]
    assert distinct_l(counts) == 1
