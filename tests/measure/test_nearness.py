"""Nearness, on a table worked by hand and against the obvious double loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.measure.nearness import by_number, largest_m, near
from auditor.model.arrays import Floats, Ints


def near_share(group: Ints, number: Floats, epsilon: float) -> list[float]:
    """For each person the share of the group that lies within ±epsilon, from low to high."""
    found, distinct = by_number(group, number)
    return sorted(np.repeat(near(found, distinct, epsilon) / found.sizes[found.row], found.count).tolist())


def test_by_hand() -> None:
    # Table IV of seed 002, first class: 10000, 10020, 10030, 15000. Within 30 lie 3 of 4, and 15000 is alone.
    number = np.array([10000.0, 10020, 10030, 15000])
    assert near_share(np.zeros(4, dtype=np.int64), number, 30) == [0.25, 0.75, 0.75, 0.75]
    assert largest_m(np.zeros(4, dtype=np.int64), number, 30) == pytest.approx(4 / 3)
    assert largest_m(np.array([0, 0, 1, 1]), number, 30) == 1  # 10000 and 10020 are all of their class


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=40), st.integers(0, 6))
def test_is_the_double_loop(rows: list[tuple[int, int]], epsilon: int) -> None:
    group = np.unique([g for g, _ in rows], return_inverse=True)[1].astype(np.int64)
    number = np.array([v / 10 for _, v in rows])
    slow = [
        sum(group[j] == group[i] and abs(rows[j][1] - rows[i][1]) <= epsilon for j in range(len(rows)))
        / int((group == group[i]).sum())
        for i in range(len(rows))
    ]
    assert near_share(group, number, epsilon / 10) == pytest.approx(sorted(slow))
