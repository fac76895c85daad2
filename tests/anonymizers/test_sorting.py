"""Sorting and searching in kernels, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.kernels.sorting import below, order_of, sort

LISTS = st.lists(st.integers(-5, 5), max_size=80)


@pytest.mark.parametrize("sort_of_number", [np.int64, np.float64])
@given(values=LISTS, limit=st.integers(-6, 6))
def test_sorting_is_that_of_numpy(sort_of_number: type, values: list[int], limit: int) -> None:
    given_values = np.array(values, dtype=sort_of_number)
    assert order_of(given_values).tolist() == np.argsort(given_values, kind="stable").tolist()
    ordered = given_values.copy()
    sort(ordered, len(ordered) // 2)
    assert ordered[: len(ordered) // 2].tolist() == sorted(values[: len(values) // 2])
    assert ordered[len(ordered) // 2 :].tolist() == given_values[len(ordered) // 2 :].tolist()
    ordered.sort()
    assert below(ordered, len(ordered), sort_of_number(limit)) == np.searchsorted(ordered, limit)
