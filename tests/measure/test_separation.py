"""Distinction, separation and uniqueness: worked by hand, and against the obvious double loop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.measure.separation import Separation, greedy_order, joined, refined, separation


def test_by_hand() -> None:
    # Six rows in classes of 3, 2 and 1: three classes; 15 pairs, of which 3 + 1 are alike; one row alone.
    figures = separation(np.array([0, 0, 0, 1, 1, 2]))
    assert figures.distinction == 3 / 6
    assert figures.separation == pytest.approx(1 - 4 / 15)
    assert figures.uniqueness == 1 / 6


def test_edges() -> None:
    assert separation(np.zeros(0, dtype=np.int64)) == Separation(0.0, None, 0.0)
    assert separation(np.array([4])) == Separation(1.0, None, 1.0)  # one row is no pair
    assert separation(np.array([7, 7])) == Separation(0.5, 0.0, 0.0)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    width = draw(st.integers(1, 5))
    top = draw(st.sampled_from([1, 3, 1000]))  # 1000: more combinations than can be counted at once
    return draw(st.lists(st.lists(st.integers(0, top), min_size=width, max_size=width), min_size=1, max_size=25))


def slow(rows: list[tuple[int, ...]]) -> tuple[float, float | None, float]:
    pairs = list(itertools.combinations(rows, 2))
    apart = sum(one != other for one, other in pairs) / len(pairs) if pairs else None
    return len(set(rows)) / len(rows), apart, sum(rows.count(row) == 1 for row in rows) / len(rows)


@given(tables())
def test_is_the_double_loop(table: list[list[int]]) -> None:
    matrix = np.array(table, dtype=np.int32)
    figures = separation(joined(list(matrix.T), len(matrix)))
    distinction, apart, unique = slow([tuple(row) for row in table])
    assert figures.distinction == pytest.approx(distinction)
    assert figures.separation == (None if apart is None else pytest.approx(apart))
    assert figures.uniqueness == pytest.approx(unique)


@given(tables())
def test_refined_numbers_without_gaps_in_the_order_of_content(table: list[list[int]]) -> None:
    matrix = np.array(table, dtype=np.int32)
    groups = joined(list(matrix.T), len(matrix))
    order = sorted({tuple(row) for row in table})
    assert groups.tolist() == [order.index(tuple(row)) for row in table]


@given(tables())
def test_each_greedy_step_is_the_best_one_and_nothing_shrinks(table: list[list[int]]) -> None:
    matrix = np.array(table, dtype=np.int32)
    columns = list(matrix.T)
    chosen: list[int] = []
    before = (0.0, 0.0)
    for column, figures in greedy_order(columns, len(matrix)):
        gains = {}
        for other in set(range(len(columns))) - set(chosen):
            _, apart, unique = slow([tuple(row[c] for c in (*chosen, other)) for row in table])
            gains[other] = (unique, apart or 0.0)
        best = max(gains.values())
        assert gains[column] == pytest.approx(best)
        assert (figures.uniqueness, figures.separation or 0.0) == pytest.approx(best)
        assert best >= before
        before = best
        chosen.append(column)
    assert sorted(chosen) == list(range(len(columns)))


def test_ties_go_to_the_earlier_column() -> None:
    same = np.array([0, 1, 1], dtype=np.int32)
    assert [column for column, _ in greedy_order([same, same, same], 3)] == [0, 1, 2]


def test_many_groups_are_sorted_and_few_are_counted_alike() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 40, 500), rng.integers(0, 40, 500).astype(np.int32)
    wide = other * 100_000  # so many possible pairs that they are sorted
    assert refined(one, other).tolist() == refined(one, wide).tolist()
