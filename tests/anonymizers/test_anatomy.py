"""Anatomy: the compiled groups are those of the paper's loop, and large tables keep the promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.anatomy import Anatomy
from auditor.model.errors import PromiseError
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

SCHEMA = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}}})


def table_of(values: list[str]) -> Table:
    ages = [str(i % 90) for i in range(len(values))]
    (table,) = encode(SCHEMA, [RawTable("people", {"age": ages, "s": values})])
    return table


def naive_groups(values: list[str], l: int, rng: np.random.Generator) -> list[frozenset[int]]:
    """The paper's loop: lists of tuples by value, from the l longest of which one tuple each is taken."""
    piles: dict[str, list[int]] = {value: [] for value in sorted(set(values))}
    for row in rng.permutation(len(values)).tolist():
        piles[values[row]].append(row)
    groups: list[set[int]] = []
    while sum(bool(pile) for pile in piles.values()) >= l:
        largest = sorted(piles.values(), key=len, reverse=True)[:l]  # of equally long ones the first
        groups.append({pile.pop() for pile in largest})
    for value, pile in piles.items():
        assert len(pile) <= 1  # the paper's Property 1
        for row in pile:
            lacking = [g for g, members in enumerate(groups) if value not in {values[i] for i in members}]
            groups[int(rng.choice(lacking))].add(row)
    return [frozenset(group) for group in groups]


@given(st.data())
def test_compiled_groups_are_the_plain_ones(data: st.DataObject) -> None:
    l = data.draw(st.integers(2, 4))
    values = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=l, max_size=60))
    values += [v for v in "wxyz" for _ in range(max(map(values.count, values)))]  # no value has more than n/4 rows
    seed = data.draw(st.integers(0, 9))
    _, provenance = Anatomy(l=l).anonymize(table_of(values), np.random.default_rng(seed))
    found = {frozenset(np.flatnonzero(provenance.bucket == b).tolist()) for b in np.unique(provenance.bucket)}
    assert found == set(naive_groups(values, l, np.random.default_rng(seed)))


def test_work_in_slices_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(list("aaabbbccddeefg" * 9))
    _, at_once = Anatomy(l=3).anonymize(table, np.random.default_rng(1))
    monkeypatch.setattr("anonymizers.shared.dealing._SLICE", 1)
    seen: list[int] = []
    _, sliced = Anatomy(l=3).anonymize(table, np.random.default_rng(1), lambda done, *_: seen.append(done))
    assert sliced.bucket.tolist() == at_once.bucket.tolist()
    assert seen == [*range(0, 126, 3), 126]  # 126 rows in groups of three, one group a slice


def test_many_values_and_many_rows() -> None:
    # 20 000 values three times each, and l = 5: every group has five different values.
    table = table_of([str(i % 20_000) for i in range(60_000)])
    _, provenance = Anatomy(l=5).anonymize(table, np.random.default_rng(2))
    pairs = np.column_stack([provenance.bucket, table.codes["s"]])
    assert len(np.unique(pairs, axis=0)) == 60_000
    assert (np.bincount(provenance.bucket) == 5).all()


def test_a_number_beyond_all_rows_is_refused() -> None:
    with pytest.raises(PromiseError, match="Lower l"):
        Anatomy(l=999_999_999_999_999_999_999).anonymize(table_of(list("abcd")), np.random.default_rng(0))
