"""Fake tuples: by hand, against all combinations of a small world, and the estimate against the count."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.measure.fake_tuples import fake_tuples
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from reports.tables.tables import release_facts
from scenarios.options import Options

SCHEMA = Schema.from_dict({"columns": {**{c: {"role": "quasi"} for c in "abc"}, "s": {"role": "sensitive"}}})
BLOCKS = [["a", "b"], ["c", "s"]]


def table_of(**columns: list[str]) -> Table:
    (table,) = encode(SCHEMA, [RawTable("t", columns)])
    return table


def counted(release: Release, table: Table, **more: Any) -> Any:
    return fake_tuples(release, table.matrix(release.quasi), np.random.default_rng(0), **more)


def naive(release: Release, table: Table) -> int:
    """All combinations of all values, each looked up in all classes."""
    have = {tuple(row) for row in table.matrix(release.quasi).tolist()}
    found = 0
    for combination in product(*(range(table.domains[c].size) for c in release.quasi)):
        value = dict(zip(release.quasi, combination, strict=True))
        for bucket in range(len(release.sizes)):
            fits = all(
                any(
                    all(row[block.columns.index(c)] == value[c] for c in block.columns if c in value)
                    for row in block.cells[block.bucket == bucket].tolist()
                )
                for block in release.blocks
            )
            if fits:
                found += combination not in have
                break
    return found


def test_by_hand() -> None:
    # one class of three: {(1,1), (1,2), (2,2)} x {u, v} = 6 combinations, of which three are people's
    table = table_of(a=list("112"), b=list("122"), c=list("uvv"), s=list("xyz"))
    sliced, _ = anonymize(table, "slicing", columns=BLOCKS, bucket_size=3)
    found = counted(sliced, table)
    assert (found.count, found.people, found.low, found.high) == (3, 3, None, None)
    apart, _ = anonymize(table, "anatomy", l=2)
    assert counted(apart, table).count == 0  # the paper's argument against bucketization
    assert counted(anonymize(table, "mondrian", k=3)[0], table) is None
    assert counted(anonymize(table, "slicing", columns=BLOCKS, bucket_size=3, generalise=3)[0], table) is None


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), rows=st.sampled_from([1, 8, 40]), size=st.sampled_from([1, 3, 8]))
def test_as_by_looking_at_all_combinations(seed: int, rows: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(**{c: [str(v) for v in rng.integers(4, size=rows)] for c in "abcs"})
    chosen = {"partition": "random"} if seed % 2 else {}
    release, _ = anonymize(table, "slicing", seed, columns=BLOCKS, bucket_size=min(size, rows), **chosen)
    assert counted(release, table).count == naive(release, table)


def test_the_estimate_covers_the_count() -> None:
    rng = np.random.default_rng(3)
    table = table_of(**{c: [str(v) for v in rng.integers(30, size=600)] for c in "abcs"})
    release, _ = anonymize(table, "slicing", 0, columns=BLOCKS, bucket_size=100, partition="random")
    exact = counted(release, table).count
    inside = 0
    for seed in range(20):
        people = table.matrix(release.quasi)
        guess = fake_tuples(release, people, np.random.default_rng(seed), most=0, draws=2000)
        assert guess is not None
        assert guess.low is not None
        assert guess.high is not None
        assert abs(guess.count - exact) < 0.1 * exact
        inside += guess.low <= exact <= guess.high
    assert inside >= 17  # 95 % of 20; fewer than 17 happens once in 60 runs of other seeds


def test_the_record_tells_them() -> None:
    table = table_of(a=list("112"), b=list("122"), c=list("uvv"), s=list("xyz"))
    release, provenance = anonymize(table, "slicing", 0, columns=BLOCKS, bucket_size=3)
    record = run_audit(Subject(release, table, provenance), Options(attacks=("linking",), utility=()))
    assert record.release.fakes is not None
    assert record.release.fakes.count == 3
    said = dict(release_facts(record))
    assert said["fake tuples"].startswith(
        "3 combinations of quasi-identifiers match a class and are nobody's, beside 3"
    )
    assert said["largest class"] == "3"
    again = type(record).from_json(record.to_json())
    assert again.release.fakes == record.release.fakes
    with pytest.raises(KeyError):
        dict(release_facts(record))["people alone in a class"]
