"""One-pass k-means, the k-means algorithms and weighted-feature C-means: against the plain versions, and by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers import ANONYMIZERS
from anonymizers.anonymizing import anonymize
from anonymizers.base import generalise
from anonymizers.kmeans import k_means
from anonymizers.oka import Distance, one_pass_k_means
from anonymizers.shared.centroids import Attributes, Records, update
from anonymizers.shared.distance import Space
from anonymizers.wfcm import next_weight, weighted_c_means
from auditor.measure.clustering import information_loss, square_error
from auditor.model.errors import PromiseError, UsageError
from auditor.model.publishing import publish
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from tests.support.anonymizer_cases import tables
from tests.support.lengths import at_length
from tests.support.naive_kmeans import Clusters, Naive, naive_k_means, naive_one_pass, naive_weighted_c_means

QUASI = ("age", "grade", "city", "team")
Groups = frozenset[frozenset[int]]


def records_of(table: Table, attributes: str) -> Records:
    return Records.of(Space.of(table, Attributes(attributes).columns(table, "test")))


def by_label(groups: np.ndarray[Any, Any]) -> Groups:
    """Clusters as sets of the table's rows."""
    return frozenset(frozenset(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups))


def by_rows(clusters: Clusters, space: Space) -> Groups:
    return frozenset(frozenset(space.rows[members].tolist()) for members in clusters if members)


@pytest.mark.slow
@given(
    table=tables(),
    k=st.integers(1, 6),
    seed=st.integers(0, 1000),
    attributes=st.sampled_from(["all", "qi"]),
    iterations=st.integers(1, 5),
)
def test_the_fast_versions_give_the_clusters_of_the_plain_ones(
    table: Table, k: int, seed: int, attributes: str, iterations: int
) -> None:
    if not k <= table.rows <= 60:
        return
    records, rng = records_of(table, attributes), np.random.default_rng(seed)
    space = records.space
    seeds, order = records.seeds(table.rows // k, rng), rng.permutation(table.rows)
    plain = (seeds.tolist(), order.tolist())
    for algorithm in (1, 2, 3):
        fast = k_means(records, algorithm, k, seeds, order, iterations)
        assert by_label(fast) == by_rows(naive_k_means(space, algorithm, k, *plain, iterations), space)
    for distance in Distance:
        fast = one_pass_k_means(records, k, seeds, order, distance)
        assert by_label(fast) == by_rows(naive_one_pass(space, k, *plain, distance is Distance.SQUARED), space)
    fast = weighted_c_means(records, k, seeds, iterations)
    assert by_label(fast) == by_rows(naive_weighted_c_means(space, k, seeds.tolist(), iterations), space)


def clustered(count: int, seed: int) -> Table:
    """A table with more centroids than a leaf of the search tree holds."""
    rng = np.random.default_rng(seed)
    cities = list("abcdef")
    schema = {
        "age": {"role": "quasi", "type": "numeric"},
        "pay": {"role": "quasi", "type": "numeric"},
        "city": {
            "role": "quasi",
            "taxonomy": {"North": ["a", "b"], "South": {"Coast": ["c"], "Hills": ["d", "e", "f"]}},
        },
        "team": {"role": "quasi"},
    }
    rows = {
        "age": [str(v) for v in rng.integers(20, 60, count)],
        "pay": ["" if v > 95 else str(v) for v in rng.integers(0, 100, count)],
        "city": [cities[i] for i in rng.integers(6, size=count)],
        "team": [f"t{i}" for i in rng.integers(15, size=count)],
    }
    (table,) = encode(Schema.from_dict({"columns": schema}), [RawTable("t", rows)])
    return table


@pytest.mark.slow
@pytest.mark.parametrize("seed", at_length([0], [1]))
def test_the_fast_versions_with_hundreds_of_centroids(seed: int) -> None:
    table = clustered(600, seed)
    records, rng = records_of(table, "qi"), np.random.default_rng(seed)
    seeds, order = records.seeds(200, rng), rng.permutation(600)
    space, plain = records.space, (seeds.tolist(), order.tolist())
    for algorithm in (1, 2, 3):
        fast = k_means(records, algorithm, 3, seeds, order, 2)
        assert by_label(fast) == by_rows(naive_k_means(space, algorithm, 3, *plain, 2), space)
    for distance in Distance:
        fast = one_pass_k_means(records, 3, seeds, order, distance)
        assert by_label(fast) == by_rows(naive_one_pass(space, 3, *plain, distance is Distance.SQUARED), space)
    fast = weighted_c_means(records, 3, seeds, 2)
    assert by_label(fast) == by_rows(naive_weighted_c_means(space, 3, plain[0], 2), space)


def ages(*values: int) -> Table:
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}}})
    (table,) = encode(schema, [RawTable("t", {"age": [str(v) for v in values], "s": ["x"] * len(values)})])
    return table


def test_the_three_algorithms_by_hand() -> None:
    # Ages 0 1 2 3 10 11, k = 3: two clusters, seeds 10 and 11. The first round assigns {0 1 2 3 10} and {11}.
    table = ages(0, 1, 2, 3, 10, 11)
    records = records_of(table, "qi")
    seeds, order = np.array([4, 5]), np.arange(6)
    # 1: the mean of {0 1 2 3 10} is 3.2; 10 (6.8) and 0 (3.2) are the farthest, leave and fill up {11}: {1 2 3}, {0 10 11},
    # means 2 and 7. Next round {0 1 2 3} and {10 11}, means 1.5 and 10.5: 0 and 3 are equally far, the first stays, 3
    # leaves: {0 1 2}, {3 10 11}, means 1 and 8. Next {0 1 2 3}, {10 11} again: the same clusters, the same centroids.
    assert by_label(k_means(records, 1, 3, seeds, order, 1)) == {frozenset({1, 2, 3}), frozenset({0, 4, 5})}
    assert by_label(k_means(records, 1, 3, seeds, order, 9)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    # 2: in the table's order 0 1 2 fill the cluster of 10; 3 10 11 go to that of 11. Means 1 and 8: the same again.
    assert by_label(k_means(records, 2, 3, seeds, order, 1)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert by_label(k_means(records, 2, 3, seeds, order, 9)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    # 3: {0 1 2 3 10} and {11}, means 3.2 and 11; {0 1 2 3}, {10 11}, means 1.5 and 10.5, stay; then one adjustment as above.
    assert by_label(k_means(records, 3, 3, seeds, order, 9)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_one_pass_by_hand() -> None:
    # Ages 0 2 4 5 10, k = 2, seeds 0 and 10. 2 joins 0 (mean 1); 4 joins 1 (3 < 6; mean 2); 5 joins 2 (3 < 5; mean 2.75).
    # Had the centroid stayed at 0, 5 would be a tie. {0 2 4 5}: 0 (2.75) and 5 (2.25) leave. In the order of rows, 0 goes
    # first, to the only cluster below 2: {0 10}; 5 then goes to the nearest of all, at 2.75. The other way round 5 joins 10.
    records = records_of(ages(0, 2, 4, 5, 10), "qi")
    groups = one_pass_k_means(records, 2, np.array([0, 4]), np.arange(5))
    assert by_label(groups) == {frozenset({0, 4}), frozenset({1, 2, 3})}
    groups = one_pass_k_means(records, 2, np.array([0, 4]), np.arange(5)[::-1])
    assert by_label(groups) == {frozenset({3, 4}), frozenset({0, 1, 2})}


def test_weights_by_hand() -> None:
    # b/a = 6/2, 1/1: Δ = ¾, ¼, and half the way from ½, ½ is ⅝, ⅜.
    half = np.array([0.5, 0.5])
    assert next_weight(half, np.array([2.0, 1.0]), np.array([6.0, 1.0])).tolist() == [0.625, 0.375]
    # The clusters agree in the first column: it gets all of Δ. Nothing differs at all: weights stay.
    assert next_weight(half, np.array([0.0, 1.0]), np.array([6.0, 1.0])).tolist() == [0.75, 0.25]
    assert next_weight(half, np.array([0.0, 0.0]), np.array([0.0, 0.0])).tolist() == [0.5, 0.5]
    # A constant column (0/0) gets nothing of Δ.
    assert next_weight(half, np.array([0.0, 1.0]), np.array([0.0, 2.0])).tolist() == [0.25, 0.75]


def test_small_clusters_are_merged_with_the_nearest_large_one() -> None:
    # Seeds 0, 6 and 20: {0 1 2}, {6}, {19 20 21}: 6 is nearer to the mean 1 than to 20. k = 2 of seven rows: three.
    records = records_of(ages(0, 1, 2, 6, 19, 20, 21), "qi")
    groups = weighted_c_means(records, 2, np.array([0, 3, 5]), 10)
    assert by_label(groups) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6})}


def pets(columns: Mapping[str, object], **rows: list[str]) -> Table:
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", rows)])
    return table


def test_centroids_of_mixed_columns_by_hand() -> None:
    # Tree of height 2: * → Cat → (lion, tiger), * → Dog → (wolf, fox). Total distances within {lion, tiger, wolf, wolf}: lion
    # ½+1+1 = 2.5, tiger 2.5, wolf 1+1 = 2, so wolf, though Cats are as many. {lion, tiger}: ½ each, the first: lion.
    # Sizes 1..5 over {1, 3, missing, 5}: mean of the present 3. {missing, missing, 1, missing}: most are missing.
    columns = {
        "pet": {"role": "quasi", "taxonomy": {"Cat": ["lion", "tiger"], "Dog": ["wolf", "fox"]}},
        "size": {"role": "quasi", "type": "numeric"},
    }
    table = pets(
        columns,
        pet=["lion", "tiger", "wolf", "wolf", "lion", "tiger", "tiger", "lion"],
        size=["1", "3", "", "5", "", "", "1", ""],
    )
    records = records_of(table, "qi")
    member = np.array([0, 0, 0, 0, 1, 1, 1, 1])[records.space.rows]
    measure = records.measure(square=True)
    centre = update(records, measure, member, np.zeros((3, 2)))
    size, pet = records.space.columns.index("size"), records.space.columns.index("pet")
    assert centre[:2, size].tolist() == [0.5, 2.0]  # (1+3+5)/3 = 3 is the middle of 1..5; 2 stands for missing
    leaves = ["lion", "tiger", "wolf", "fox"]
    assert [leaves[int(slot)] for slot in centre[:2, pet]] == ["wolf", "lion"]
    assert centre[2].tolist() == [0.0, 0.0]  # no rows: it stays
    # E: sizes 0.5² + 0 + 1 (missing) + 0.5², and 0 + 0 + 1 + 0; pets 1² + 1² + 0 + 0, and 0 + ½² + ½² + 0.
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert square_error(table, ["size"], groups) == pytest.approx(2.5)
    assert square_error(table, ["pet"], groups) == pytest.approx(2.5)


@given(table=tables(), seed=st.integers(0, 100))
def test_square_error_is_the_distance_to_the_naive_centroids(table: Table, seed: int) -> None:
    if table.rows > 60:
        return
    space = Space.of(table, QUASI)
    naive = Naive(space, square=True)
    groups = np.random.default_rng(seed).integers(4, size=table.rows)
    expected = 0.0
    for g in np.unique(groups):
        members = np.flatnonzero(groups[space.rows] == g).tolist()
        centre = naive.centroid(members)
        expected += sum(naive.distance(naive.point(naive.rows[i]), centre) for i in members)
    assert square_error(table, QUASI, groups) == pytest.approx(expected)


def test_information_loss_by_hand() -> None:
    # Two classes of two: ages [20, 30] and 40 of 20..40: ½ and 0; pets Cat (height 1 of 2): ½, and *: 1; hues {red, blue}
    # without a taxonomy: 1, and red: 0; grade [low, mid] of three: ½, and high: 0.
    # Total 2·(½+½+1+½) + 2·(0+1+0+0) = 7, of 4·4 cells.
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "pet": {"role": "quasi", "taxonomy": {"Cat": ["lion", "tiger"], "Dog": ["wolf", "fox"]}},
        "hue": {"role": "quasi"},
        "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
    }
    table = pets(
        columns,
        age=["20", "30", "40", "40"],
        pet=["lion", "tiger", "wolf", "lion"],
        hue=["red", "blue", "red", "red"],
        grade=["low", "mid", "high", "high"],
    )
    labels, cells = generalise(table, list(columns), np.array([0, 0, 1, 1]))
    release, _ = publish(table.schema, labels, cells, [list(columns)], None, np.random.default_rng(0))
    row = information_loss(release)
    assert row.value == pytest.approx(7)
    assert row.detail["normalised"] == pytest.approx(7 / 16)
    assert row.better == "lower"


def test_information_loss_where_it_does_not_apply() -> None:
    table = ages(1, 2, 3, 4)
    anatomy, _ = anonymize(ages_with(["x", "y", "x", "y"]), "anatomy", l=2)
    assert "several blocks" in (information_loss(anatomy).reason or "")
    exact, _ = anonymize(table, "identity")
    assert information_loss(exact).value == 0


def ages_with(sensitive: list[str]) -> Table:
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi", "type": "numeric"}, "s": {"role": "sensitive"}}})
    (table,) = encode(schema, [RawTable("t", {"age": [str(i) for i in range(len(sensitive))], "s": sensitive})])
    return table


def test_missing_and_other_values_lose_the_whole_column() -> None:
    columns = {
        "age": {"role": "quasi", "type": "numeric"},
        "city": {"role": "quasi", "taxonomy": {"N": ["a"], "S": ["b", "c"]}},
    }
    table = pets(columns, age=["1", "", "5"], city=["b", "b", "c"])
    release, _ = anonymize(table, "kmember", k=3)
    assert information_loss(release).value == pytest.approx(3 * (1 + 0.5))


def test_seeds_are_different_rows_as_long_as_there_are_any() -> None:
    records = records_of(ages(1, 1, 1, 1, 2, 2, 3), "qi")
    for seed in range(20):
        seeds = records.seeds(5, np.random.default_rng(seed))
        assert len(set(seeds.tolist())) == 5
        assert set(records.which[seeds[:3]].tolist()) == {0, 1, 2}


@pytest.mark.parametrize("name", ["oka", "kmeans1", "kmeans2", "kmeans3", "wfcm"])
def test_settings_and_promises_are_checked(name: str) -> None:
    with pytest.raises(UsageError, match="k must be at least 1"):
        ANONYMIZERS.get(name).configure({"k": 0})
    with pytest.raises(UsageError, match="one of all, qi"):
        ANONYMIZERS.get(name).configure({"attributes": "some"})
    with pytest.raises(PromiseError, match="k = 4 and 3 rows"):
        anonymize(ages(1, 2, 3), name, k=4)


@pytest.mark.parametrize("name", ["oka", "kmeans1", "kmeans2", "kmeans3", "wfcm"])
def test_all_attributes_bring_the_sensitive_column_in(name: str) -> None:
    # Sensitive values have nothing to do with ages: they are alike within clusters only where they count.
    rng = np.random.default_rng(0)
    sensitive = [str(v) for v in rng.integers(4, size=200)]
    table = ages_with(sensitive)
    error = {}
    for attributes in ("all", "qi"):
        records = records_of(table, attributes)
        seeds, order = records.seeds(20, rng), rng.permutation(200)
        if name == "oka":
            groups = one_pass_k_means(records, 10, seeds, order)
        elif name == "wfcm":
            groups = weighted_c_means(records, 10, seeds, 5)
        else:
            groups = k_means(records, int(name[-1]), 10, seeds, order, 5)
        error[attributes] = square_error(table, ["s"], groups)
    assert error["all"] < 0.5 * error["qi"]


def test_rounds_end_and_progress_moves() -> None:
    table = clustered(300, 1)
    said: list[tuple[int, int, str]] = []
    anonymize(table, "kmeans1", k=3, iterations=4, progress=lambda *now: said.append(now))
    assert {what for _, _, what in said} <= {f"k-means, round {i} of at most 4" for i in range(1, 5)}
    assert all(0 <= done <= total for done, total, _ in said)
    assert said


def test_a_cycle_ends_the_rounds() -> None:
    # Centroids that go back and forth: the clusters of rounds 3 and 4 differ, and round 4 brings back those of round 2.
    records, rng = records_of(ages(35, 34, 32, 34, 2, 32, 37, 10, 6), "qi"), np.random.default_rng(13)
    seeds, order = records.seeds(3, rng), rng.permutation(9)
    after = {rounds: by_label(k_means(records, 1, 3, seeds, order, rounds)) for rounds in (2, 3, 4)}
    assert after[2] == after[4] != after[3]
    said: list[str] = []
    k_means(records, 1, 3, seeds, order, 500, lambda _done, _total, what: said.append(what))
    assert said[-1] == "k-means, round 4 of at most 500"
