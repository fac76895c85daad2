"""The bitset kernel against brute force: labels with gaps, empty labels, more patterns than a word has bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.model.labels.labels import Labels
from auditor.model.release import Block, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.posterior import matching
from auditor.posterior.matching import BlockMatch, Cells, distinct_people, expand, match_patterns

SIZES = {"a": 3, "b": 7, "c": 40}


def release_with(rng: np.random.Generator, labels: int, fragments: int, buckets: int) -> Release:
    """One block of random labels over the columns a, b, c: intervals, sets with gaps, and labels that cover nothing."""
    schema = Schema.from_dict({"columns": {c: {"role": "quasi", "type": "numeric"} for c in SIZES}})
    most = max(SIZES.values())
    texts = {c: [str(i % size) for i in range(most)] for c, size in SIZES.items()}
    (table,) = encode(schema, [RawTable("table", texts)])
    made = {}
    for column, size in SIZES.items():
        names = []
        for _ in range(labels):
            kind = rng.integers(4)
            lo, hi = np.sort(rng.integers(size, size=2))
            if kind == 0:
                names.append(str(lo))
            elif kind == 1:
                names.append(f"[{lo}, {hi}]")
            elif kind == 2:
                names.append("{" + ", ".join(map(str, rng.choice(size, size=min(3, size), replace=False))) + "}")
            else:
                names.append(["*", "0.5"][rng.integers(2)])  # everything, or no value of the domain
        made[column] = Labels.read(table.domains[column], names, lambda i: f"label {i}")
    cells = rng.integers(labels, size=(fragments, len(SIZES))).astype(np.int32)
    bucket = rng.integers(buckets, size=fragments).astype(np.int32)
    sizes = np.bincount(bucket, minlength=buckets).astype(np.int64)
    suppressed = rng.random(buckets) < 0.2
    return Release(schema, made, (Block(tuple(SIZES), bucket, cells),), sizes, suppressed)


def fits(release: Release, columns: list[str], labels: np.ndarray, person: np.ndarray) -> bool:
    return all(
        int(code) in release.labels[c].codes(int(label)).tolist()
        for c, label, code in zip(columns, labels, person, strict=True)
    )


@pytest.mark.parametrize("patterns", [1, 5, 63, 64, 65, 130, 300])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), passes=st.booleans())
def test_patterns_are_those_of_brute_force(patterns: int, seed: int, passes: bool) -> None:
    rng = np.random.default_rng(seed)
    release = release_with(rng, 12, 1, 1)
    columns = list(rng.permutation(list(SIZES))[: rng.integers(1, 4)])
    labels = rng.integers(12, size=(patterns, len(columns))).astype(np.int32)
    codes = np.column_stack([rng.integers(SIZES[c], size=60) for c in columns]).astype(np.int32)
    people, number = distinct_people(codes)
    np.testing.assert_array_equal(people[number], codes)
    with pytest.MonkeyPatch.context() as patch:
        if passes:  # so few words to a pass that there are several
            patch.setattr(matching, "MASK_WORDS", 1)
        starts, found = match_patterns(release, columns, labels, people)
    for i, person in enumerate(people):
        expected = [p for p in range(patterns) if fits(release, columns, labels[p], person)]
        assert found[starts[i] : starts[i + 1]].tolist() == expected


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), fragments=st.integers(0, 200), buckets=st.integers(1, 9))
def test_groups_are_those_of_brute_force(seed: int, fragments: int, buckets: int) -> None:
    rng = np.random.default_rng(seed)
    release = release_with(rng, 10, fragments, buckets)
    columns = list(rng.permutation(list(SIZES))[: rng.integers(1, 4)])
    block = release.blocks[0]
    codes = np.column_stack([rng.integers(SIZES[c], size=30) for c in columns]).astype(np.int32)
    counted = ~release.suppressed
    cells = Cells.of(block, columns, buckets)
    found = BlockMatch.of(release, cells, codes, counted)
    masses = found.masses(np.ones(len(cells.labels)))
    for person, way in zip(codes, found.way_of, strict=True):
        group = found.group(np.repeat(way, buckets), np.arange(buckets))
        for bucket in range(buckets):
            inside = [
                i
                for i in np.flatnonzero(block.bucket == bucket)
                if counted[bucket] and fits(release, columns, [block.cell(c)[i] for c in columns], person)
            ]
            assert (masses.total[group[bucket]] if group[bucket] >= 0 else 0) == len(inside)
            fragment = np.flatnonzero(block.bucket == bucket)
            if counted[bucket] and len(fragment):
                mine = found.weights(masses, np.repeat(way, len(fragment)), cells.of_fragment[fragment]) == 1
                assert fragment[mine].tolist() == inside


def test_the_people_who_fit_the_same_share_a_way() -> None:
    release = release_with(np.random.default_rng(0), 3, 40, 4)
    codes = np.array([[0, 1], [0, 1], [1, 0]], dtype=np.int32)
    cells = Cells.of(release.blocks[0], ["a", "b"], 4)
    found = BlockMatch.of(release, cells, codes, np.ones(4, dtype=np.bool_))
    assert found.way_of[0] == found.way_of[1]
    first, count = found.groups_of_ways()
    assert len(first) == found.ways
    assert count.sum() == len(found.key)


def test_expand_lists_ranges() -> None:
    assert expand(np.array([5, 0, 2]), np.array([2, 0, 3])).tolist() == [5, 6, 2, 3, 4]
    assert expand(np.empty(0, np.int64), np.empty(0, np.int64)).tolist() == []
