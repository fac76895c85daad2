"""Beliefs in parts: work on some rows at a time gives what work on all of them gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from attacks.proximity import best_windows
from auditor.posterior import beliefs
from auditor.posterior.beliefs import Mixture, ValueBeliefs


def made(seed: int) -> Mixture:
    """People who mix three distributions over eleven values, the last of which is the missing one."""
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet(np.ones(3), 17) * (rng.random((17, 1)) < 0.9)
    each = rng.dirichlet(np.ones(11), 3) * (rng.random((3, 11)) < 0.6)
    return Mixture(chance, sparse.csr_array(each), rng.integers(0, 17, 40))


@pytest.mark.parametrize("size", [1, 7, 30])
def test_parts_give_the_same_as_the_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(size)
    row = rng.integers(0, 17, 200)
    first = rng.integers(0, 11, 200)
    last = np.minimum(first + rng.integers(0, 5, 200), 11)
    numbers = np.cumsum(rng.integers(1, 4, 10)).astype(np.float64)
    for mixed in (made(size), made(size + 100)):
        whole = ValueBeliefs(mixed.rows, mixed.row_of)
        dense = whole.rows.toarray()
        naive = [dense[r, a:b].sum() for r, a, b in zip(row, first, last, strict=True)]
        expected = whole.between(row, first, last), best_windows(whole, numbers, 4.0)
        assert expected[0] == pytest.approx(naive)
        with monkeypatch.context() as patch:
            patch.setattr(beliefs, "A_PART", size)
            for some in (ValueBeliefs(mixed.rows, mixed.row_of), mixed):
                assert len(list(some.parts())) > 1
                assert np.array_equal(some.between(row, first, last), expected[0])
                for ours, theirs in zip(best_windows(some, numbers, 4.0), expected[1], strict=True):
                    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("seed", range(4))
def test_around_each_entry_lies_what_lies_between(seed: int) -> None:
    mixed, rng = made(seed), np.random.default_rng(seed)
    values = ValueBeliefs(mixed.rows, mixed.row_of)
    first, last = rng.integers(0, 11, (2, 10))  # in any order, and none for the missing value
    code = values.rows.indices.astype(np.int64)
    known = code < 10
    place = np.where(known, code, 0)
    between = np.where(known, values.between(values.row_number, first[place], last[place]), 0.0)
    assert known.any()
    assert not known.all()
    assert np.array_equal(values.around(first, last), between)


def test_other_targets_have_the_same_rows() -> None:
    mixed = made(3)
    other = mixed.of(np.array([2, 2, 5]))
    assert np.array_equal(other.at(np.array([0, 1, 0])), mixed.rows.toarray()[[2, 2, 5], [0, 1, 0]])
    assert len(mixed.row_of) == 40
