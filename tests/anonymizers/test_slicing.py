"""Slicing: blocks by correlation, generalised columns, and the l-diverse tuple partition against its obvious version."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizers.anonymizing import anonymize
from anonymizers.base import generalise
from anonymizers.shared.correlation import blocks_by_correlation, correlations, k_medoids, ranges
from anonymizers.shared.diverse_buckets import ROUNDING, Diverse, Weighting, cuts_of, tuple_partition
from anonymizers.shared.fragments import fragments_of
from anonymizers.slicing import Slicing
from auditor.files.tables import read_raw
from auditor.measure.association import mean_square_contingency
from auditor.measure.classes import class_facts
from auditor.model.errors import PromiseError, UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.release import Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.links import Weighting as AuditWeighting
from auditor.posterior.posterior import Posterior
from reports.words.verdicts import uneven
from tests.support import naive_slicing
from tests.support.adult import write_adult
from tests.support.anonymizer_cases import BLOCKS, MIXED_BLOCKS, VALUES, tables
from tests.support.anonymizer_cases import table_of as people
from tests.support.naive_slicing import Check, World, most_believed


def table_of(roles: dict[str, dict[str, Any]], **columns: list[str]) -> Table:
    (table,) = encode(Schema.from_dict({"columns": roles}), [RawTable("t", columns)])
    return table


QUASI, SENSITIVE = {"role": "quasi"}, {"role": "sensitive"}


# --- association and attribute partition


def test_mean_square_contingency_by_hand() -> None:
    # 10 rows:      b=0  b=1  | f_i.       f_ij - f_i. f_.j:  .4-.3 = .1   .1-.2 = -.1
    #         a=0   4    1    | .5                            .2-.3 = -.1  .3-.2 = .1
    #         a=1   2    3    | .5
    #         f_.j  .6   .4       φ² = .01/.3 + .01/.2 + .01/.3 + .01/.2 = 1/6, over min(2, 2) - 1 = 1
    a = np.array([0] * 5 + [1] * 5)
    b = np.array([0, 0, 0, 0, 1, 0, 0, 1, 1, 1])
    assert mean_square_contingency(a, b) == pytest.approx(1 / 6)
    assert mean_square_contingency(b, a) == pytest.approx(1 / 6)


def test_mean_square_contingency_of_more_values_by_hand() -> None:
    # a = 0 0 1 1 2 2 is determined by b = 0 1 2 2 3 3: Σ f_ij²/(f_i. f_.j) = 2 · (1/6)²/(1/3 · 1/6) + 2 · (1/3)²/(1/3)²
    # = 1/2 + 1/2 + 1 + 1 = 3, so φ² = (3 - 1)/(min(3, 4) - 1) = 1
    a, b = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 2, 3, 3])
    assert mean_square_contingency(a, b) == pytest.approx(1)
    assert mean_square_contingency(a, np.array([0, 1] * 3)) == pytest.approx(0)  # independent
    assert mean_square_contingency(a, np.zeros(6, dtype=np.int64)) == 0  # constant


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 6), st.integers(1, 300))
def test_mean_square_contingency_is_its_formula(seed: int, rows: int, one: int, other: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(one, size=rows), rng.integers(other, size=rows)
    joint = np.zeros((one, other))
    np.add.at(joint, (a, b), 1 / rows)
    joint = joint[np.ix_(joint.sum(axis=1) > 0, joint.sum(axis=0) > 0)]
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    least = min(joint.shape)
    wanted = 0.0 if least < 2 else float(((joint - product) ** 2 / product).sum()) / (least - 1)
    found = mean_square_contingency(a, b)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert 0 <= found <= 1


def test_numbers_are_cut_into_ranges_of_equal_width() -> None:
    table = table_of({"x": {**QUASI, "type": "numeric"}}, x=["0", "1", "4.9", "5", "10", ""])
    assert ranges(table.codes["x"], table.domains["x"], 2).tolist() == [0, 0, 0, 1, 1, 2]  # missing is a value apart
    assert ranges(table.codes["x"], table.domains["x"], 5).tolist() == [0, 1, 2, 3, 4, 5]  # five values need no ranges


def test_k_medoids_by_hand() -> None:
    # Points on a line: 0, 1, 2 and 10, 11. Two medoids: 1 (cost 2) and 10 or 11 (cost 1); the tie goes to the first.
    line = np.array([0.0, 1, 2, 10, 11])
    distance = np.abs(line[:, None] - line[None, :])
    assert k_medoids(distance, 2) == [[0, 1, 2], [3, 4]]
    assert k_medoids(distance, 5) == [[0], [1], [2], [3], [4]]
    assert k_medoids(distance, 1) == [[0, 1, 2, 3, 4]]
    assert k_medoids(np.zeros((3, 3)), 2) == [[0, 2], [1]]  # a medoid stays with itself


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.data())
def test_k_medoids_cannot_be_bettered_by_an_exchange(seed: int, points: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, points))
    distance = np.random.default_rng(seed).random((points, points))
    distance = distance + distance.T
    np.fill_diagonal(distance, 0)
    clusters = k_medoids(distance, k)
    assert sorted(point for cluster in clusters for point in cluster) == list(range(points))
    assert all(clusters)

    def cost(medoids: tuple[int, ...]) -> float:
        return float(distance[:, list(medoids)].min(axis=1).sum())

    reached = sum(min(float(distance[np.ix_(c, [m])].sum()) for m in c) for c in clusters)
    at_reached = [m for m in combinations(range(points), k) if cost(m) <= reached + 1e-9]
    exchanged = [n for m in at_reached for n in combinations(range(points), k) if len(set(m) & set(n)) == k - 1]
    assert at_reached
    assert any(all(cost(n) >= cost(m) - 1e-9 for n in exchanged if len(set(m) & set(n)) == k - 1) for m in at_reached)


def correlated() -> Table:
    """a and b say the same, c and d say the same, s goes mostly with c."""
    rng = np.random.default_rng(3)
    a, c = rng.integers(3, size=200), rng.integers(3, size=200)
    s = np.where(rng.random(200) < 0.5, c, rng.integers(3, size=200))
    columns = {"a": a, "b": (a + 1) % 3, "c": c, "d": 2 - c, "s": s}
    roles = {**dict.fromkeys("abcd", QUASI), "s": SENSITIVE}
    return table_of(roles, **{name: list(map(str, values)) for name, values in columns.items()})


def test_blocks_by_correlation() -> None:
    table = correlated()
    columns = list("abcds")
    phi = correlations(table, columns, 10)
    assert phi[0, 1] == pytest.approx(1)
    assert phi[2, 3] == pytest.approx(1)
    assert phi[2, 4] > 0.1 > phi[0, 2]
    assert blocks_by_correlation(table, columns, 2, 10, "s") == [["a", "b"], ["c", "d", "s"]]
    assert blocks_by_correlation(table, columns, 3, 10, "s") == [["a", "b"], ["c", "d"], ["s"]]
    assert blocks_by_correlation(table, columns, 3, 10, "s", 2) == [["a", "b"], ["d"], ["c", "s"]]
    assert blocks_by_correlation(table, columns, 2, 10, "s", 1) == [["a", "b", "c", "d"], ["s"]]
    release, _ = anonymize(table, "slicing", c=2, bucket_size=5)
    assert [block.columns for block in release.blocks] == [("a", "b"), ("c", "d", "s")]


# --- tuple partition


def worlds(table: Table, blocks: Any, k: int | None) -> tuple[Any, World, list[str]]:
    """The arrays of the fast check and the naive world of one table, its columns generalised to k where asked for."""
    labels: dict[str, Any] = {}
    cells: dict[str, Any] = {}
    for block in blocks if k is not None else ():
        quasi = [c for c in block if c in table.schema.quasi]
        if quasi:
            groups = np.random.default_rng(k).integers(max(table.rows // (k or 1), 1), size=table.rows)
            groups = np.unique(groups, return_inverse=True)[1]
            more, places = generalise(table, quasi, groups)  # any groups: labels that overlap in every way
            labels, cells = {**labels, **more}, {**cells, **places}
    quasi = [c for c in table.schema.quasi if c in table.codes]
    fragments = fragments_of(table, blocks, "disease", labels, cells)
    return fragments, World.of_table(table, blocks, "disease", labels, cells), quasi


def parts_of(bucket: np.ndarray[Any, Any]) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(bucket == b).tolist()) for b in np.unique(bucket)}


@pytest.mark.slow
@given(
    table=tables(),
    blocks=st.sampled_from([BLOCKS, MIXED_BLOCKS]),
    k=st.sampled_from([None, None, 2, 5]),
    l=st.integers(2, 3),
    strict=st.booleans(),
    paper=st.booleans(),
    together=st.booleans(),
    least=st.sampled_from([1, 1, 3]),
    doubt=st.booleans(),
)
def test_partition_is_the_papers(
    table: Table,
    blocks: Any,
    k: int | None,
    l: int,
    strict: bool,
    paper: bool,
    together: bool,
    least: int,
    doubt: bool,
) -> None:
    exact = table.rows <= 60
    fragments, world, quasi = worlds(table, blocks, k)
    domains = [table.domains[c] for c in quasi]
    check = Check(l, strict, paper, exact)
    wanted = naive_slicing.tuple_partition(world, table.matrix(quasi), domains, check, together, least)
    promise = Diverse(l, strict, Weighting.PAPER if paper else Weighting.SIZE, least)
    rounding = 1e-4 if doubt and exact else ROUNDING  # coarse enough to bring tuples into doubt
    if wanted is None:
        with pytest.raises(PromiseError, match=f"l = {l}"):
            tuple_partition(fragments, cuts_of(table, quasi, together), promise, rounding=rounding)
        return
    found = tuple_partition(fragments, cuts_of(table, quasi, together), promise, rounding=rounding)
    assert parts_of(found) == {tuple(rows.tolist()) for rows in wanted}


def test_tuples_in_doubt_are_decided_in_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    from anonymizers.shared import diverse_buckets

    asked = []
    resolve = diverse_buckets._Partition._resolve

    def counted(self: Any, doubts: Any, bucket: Any) -> Any:
        asked.append(len(doubts))
        return resolve(self, doubts, bucket)

    monkeypatch.setattr(diverse_buckets._Partition, "_resolve", counted)
    table = correlated()
    fragments = fragments_of(table, (("a", "b"), ("c", "d"), ("s",)), "s", {}, {})
    cuts = cuts_of(table, list("abcd"), together=False)
    plain = tuple_partition(fragments, cuts, Diverse(2))
    sure = sum(asked)
    asked.clear()
    doubtful = tuple_partition(fragments, cuts, Diverse(2), rounding=1e-3)
    assert parts_of(plain) == parts_of(doubtful)
    assert sure == 0
    assert sum(asked) > 10
    assert plain.max() > 0


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("together", "paper", "rows"), [(True, False, 160), (False, False, 100), (False, True, 60)])
def test_partition_of_adult(data_folder: Path, tmp_path: Path, together: bool, paper: bool, rows: int) -> None:
    file, toml = write_adult(data_folder, tmp_path)
    schema = Schema.read(toml)
    (table,) = encode(schema, [read_raw(file, schema.format)])
    table = table.take(np.arange(rows))
    quasi = list(table.schema.quasi)
    blocks = [["age", "marital-status"], ["native-country", "workclass"], ["race", "education", "salary-class"]]
    blocks.append(["sex", "occupation"])
    world = World.of_table(table, blocks, "occupation", {}, {})
    check = Check(3, paper=paper, exact=False)
    wanted = naive_slicing.tuple_partition(
        world, table.matrix(quasi), [table.domains[c] for c in quasi], check, together
    )
    assert wanted is not None
    promise = Diverse(3, weighting=Weighting.PAPER if paper else Weighting.SIZE)
    found = tuple_partition(fragments_of(table, blocks, "occupation", {}, {}), cuts_of(table, quasi, together), promise)
    assert len(wanted) > 5
    assert parts_of(found) == {tuple(rows.tolist()) for rows in wanted}


FIVE = {"a": {"role": "quasi", "type": "numeric"}, "s": SENSITIVE}


@pytest.mark.parametrize(
    ("promise", "together", "wanted"),
    [
        (Diverse(2), False, {(0, 1), (2,), (3, 4)}),
        (Diverse(2, weighting=Weighting.PAPER), False, {(0, 1, 2, 3, 4)}),
        (Diverse(2, strict=True), False, {(0, 1, 2, 3, 4)}),
        (Diverse(2, least=2), False, {(0, 1), (2, 3, 4)}),
        (Diverse(2), True, {(0, 1, 2, 3, 4)}),
    ],
)
def test_partition_by_hand(promise: Diverse, together: bool, wanted: set[tuple[int, ...]]) -> None:
    # a = 1 1 1 1 2, s = x x y z w; blocks {a} and {s}. Dividing equal values, the first cut is {0, 1} | {2, 3, 4}.
    # For a = 1: m/|B| is 2/2 on the left and 2/3 on the right, so N(x) = 1·2 and F = 1·2 + 2/3·3 = 4: p(x) = 1/2, a tie:
    # allowed, but not where strict. The paper divides by |B| once more: N(x) = 2/2, F = 2/2 + 2/3, p(x) = 3/5: refused.
    # {0, 1} is all equal. {2} | {3, 4}: for a = 1 N(x) = 2, F = 2 + 1 + 1/2·2 = 4; for a = 2 z and w have 1/2: allowed.
    # {3} | {4}: a = 2 would have w for sure. Keeping equal values together the first cut is {0, 1, 2, 3} | {4}: refused.
    table = table_of(FIVE, a=list("11112"), s=list("xxyzw"))
    fragments = fragments_of(table, (("a",), ("s",)), "s", {}, {})
    assert parts_of(tuple_partition(fragments, cuts_of(table, ["a"], together), promise)) == wanted


def test_all_columns_and_places_are_tried() -> None:
    # a spreads as wide as b and comes first, but people with one a have one s: no cut of a is allowed. b: the median cut
    # 1 2 2 | 3 4 4 would have s = x x y on the left (2/3); 1 2 2 3 | 4 4 (x x y y | x y) and 1 | ... are left: the first.
    table = table_of(FIVE | {"b": FIVE["a"]}, a=list("112212"), b=list("122344"), s=list("xxyyxy"))
    fragments = fragments_of(table, (("a", "b"), ("s",)), "s", {}, {})
    found = tuple_partition(fragments, cuts_of(table, ["a", "b"], True), Diverse(2))
    assert parts_of(found) == {(0, 1, 2, 3), (4, 5)}


def test_one_hard_value_does_not_stop_the_cuts() -> None:
    # the single cut of the printed algorithm fails at once: the 100 people of the lower half of a all have x or y at l = 3
    rng = np.random.default_rng(5)
    s = [*rng.choice(["x", "y"], 100), *rng.choice(list("pqrstuvw"), 900)]
    a = [*range(100), *range(900, 1800)]
    table = table_of(FIVE | {"b": QUASI}, a=list(map(str, a)), b=list(rng.choice(list("klm"), 1000)), s=s)
    release, _ = anonymize(table, "slicing", columns=[["a"], ["b"], ["s"]], l=3)
    assert len(release.sizes) > 50
    assert most_believed(release, table, "s", paper=False) <= 1 / 3 + 1e-9


def test_refusal_says_the_numbers() -> None:
    # the block of s holds a: of the two people with a = 2 both have y, whatever the buckets
    table = table_of(FIVE | {"b": QUASI}, a=list("11122"), b=list("uvuvu"), s=list("xzzyy"))
    with pytest.raises(PromiseError, match=r"probability 1. It must be at most 1/l = 0.5 for l = 2"):
        anonymize(table, "slicing", columns=[["b"], ["a", "s"]], l=2)
    with pytest.raises(PromiseError, match=r"'s' may have n/l = 2.0 rows or more for l = 2. The most common, .* has 2"):
        anonymize(table.take(np.arange(4)), "slicing", columns=[["a", "b"], ["s"]], l=2, strict=True)
    with pytest.raises(PromiseError, match=r"has 2. There are only 3 different values. Lower l, .* set bucket_size"):
        anonymize(table, "slicing", columns=[["a", "b"], ["s"]], l=4)
    with pytest.raises(PromiseError, match=r"the schema names none. Name one, or set bucket_size"):
        anonymize(table_of({"a": QUASI, "b": QUASI, "c": QUASI}, a=["1"], b=["2"], c=["3"]), "slicing")
    with pytest.raises(PromiseError, match=r"generalise = 6 and 5 rows"):
        anonymize(table, "slicing", columns=[["a", "b"], ["s"]], generalise=6, bucket_size=2)


@given(table=tables(), seed=st.integers(0, 5))
def test_with_equal_values_together_every_bucket_is_diverse(table: Table, seed: int) -> None:
    # what the docstring says: cut so, everybody matches one bucket only, unless columns are generalised
    try:
        release, _ = anonymize(table, "slicing", seed, columns=BLOCKS, l=2)
    except PromiseError:
        return
    block = release.blocks[2]
    for bucket in range(len(release.sizes)):
        diseases = Counter(block.cell("disease")[block.bucket == bucket].tolist())
        assert 2 * max(diseases.values()) <= release.sizes[bucket]


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), k=st.sampled_from([None, 3]), paper=st.booleans())
def test_the_audit_believes_the_same(seed: int, k: int | None, paper: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = {column: [values[i] for i in rng.integers(len(values), size=150)] for column, values in VALUES.items()}
    rows["disease"] = (["flu", "cough", "rash", "acne"] * 38)[:150]
    rows["city"] = ["a"] * 75 + ["b"] * 75  # every city has all the diseases
    table = people(rows)
    quasi = tuple(table.schema.quasi)
    weighting = "paper" if paper else "size"
    release, _ = anonymize(
        table, "slicing", columns=MIXED_BLOCKS, generalise=k, ties="divided", weighting=weighting, l=2
    )
    assert len(release.sizes) >= 3
    priors = {"disease": np.full(4, 0.25)}
    matching = Matching(release, Knowledge(quasi, table.matrix(quasi), priors=priors), Suppression.EXCLUDED)
    believed = Posterior(matching, Link.CONTAINMENT, AuditWeighting(weighting)).values("disease").top()
    assert believed.max() <= 0.5 + 1e-9
    assert believed.max() == pytest.approx(most_believed(release, table, "disease", paper))


def test_generalised_columns_let_buckets_be_smaller() -> None:
    # the paper's second reason for it; 200 people with different ages, each of whom alone would fill a bucket's column
    rng = np.random.default_rng(1)
    table = table_of(
        FIVE | {"b": {"role": "quasi", "type": "numeric"}},
        a=[str(v) for v in rng.permutation(200)],
        b=[str(v) for v in rng.integers(0, 50, 200)],
        s=[str(v) for v in rng.integers(0, 3, 200)],
    )
    plain, _ = anonymize(table, "slicing", columns=[["a"], ["b"], ["s"]], l=2)
    wide, _ = anonymize(table, "slicing", columns=[["a"], ["b"], ["s"]], l=2, generalise=20)
    assert len(wide.sizes) > len(plain.sizes)
    ages = Counter(wide.blocks[0].cell("a").tolist())
    assert min(ages.values()) >= 20
    assert not wide.exact


def test_settings_say_what_was_done() -> None:
    release, _ = anonymize(correlated(), "slicing", l=2)
    assert release.params["c"] == 3
    assert release.name == "slicing c=3 l=2"
    assert release.promises == ("l = 2: every s has probability at most 1/2",)
    plain, _ = anonymize(correlated(), "slicing")
    assert (plain.params["l"], plain.params["bucket_size"]) == (2, None)  # the paper's call is the default
    by_size, _ = anonymize(correlated(), "slicing", generalise=2, partition="random")
    assert (by_size.params["l"], by_size.params["bucket_size"]) == (None, 10)
    assert by_size.promises == (
        "buckets of at least 10",
        "quasi-identifiers of a block occur together at least 2 times",
    )


def test_partners_that_give_the_value_away_leave_the_block() -> None:
    # c says s for half of the people: by correlation d and c stand with s (φ² of c and s is the greater one)
    table = correlated()
    assert blocks_by_correlation(table, list("abcds"), 2, 10, "s")[-1] == ["c", "d", "s"]
    release, _ = anonymize(table, "slicing", c=2, l=2)
    assert release.blocks[-1].columns == ("s",)
    assert sorted(release.blocks[0].columns) == list("abcd")
    kept, _ = anonymize(table, "slicing", c=2, l=2, generalise=2)
    assert kept.blocks[-1].columns == ("c", "d", "s")
    for made in (release, kept):
        assert most_believed(made, table, "s", paper=False) <= 0.5 + 1e-9
    with pytest.raises(PromiseError, match="even with all rows in one class"):
        anonymize(table, "slicing", c=2, l=2, sensitive_size=3)


def test_a_partner_that_may_stay_stays() -> None:
    rng = np.random.default_rng(2)
    a, s = rng.integers(4, size=400), rng.integers(6, size=400)
    columns = {"a": a, "b": 3 - a, "c": np.where(s < 3, 0, 1), "s": s}  # c halves the values of s: a third each at most
    roles = {**dict.fromkeys("abc", QUASI), "s": SENSITIVE}
    table = table_of(roles, **{name: list(map(str, values)) for name, values in columns.items()})
    release, _ = anonymize(table, "slicing", c=2, l=2)
    assert [block.columns for block in release.blocks] == [("a", "b"), ("c", "s")]
    strong, _ = anonymize(table, "slicing", c=2, l=4)
    assert [block.columns for block in strong.blocks] == [("a", "b", "c"), ("s",)]


def test_classes_that_hold_all_or_one_are_told() -> None:
    table = table_of(FIVE, a=list("11111122"), s=list("xxxxyyyy"))
    whole, _ = anonymize(table, "slicing", columns=[["a"], ["s"]], l=2)
    facts = class_facts(whole)
    assert (facts.largest_class, facts.alone) == (8, 0)
    (said,) = uneven(facts)
    assert "One class holds 8 of 8 people" in said
    single, _ = anonymize(table, "slicing", columns=[["a"], ["s"]], bucket_size=1, partition="random")
    assert class_facts(single).alone == 8
    assert "8 people are alone in their class" in uneven(class_facts(single))[0]
    even, _ = anonymize(table, "slicing", columns=[["a"], ["s"]], bucket_size=4)
    assert uneven(class_facts(even)) == []
    assert uneven(class_facts(anonymize(table, "mondrian", k=8)[0])) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"l": 1}, "l must be at least 2"),
        ({"c": 1}, "c must be at least 2"),
        ({"bins": 1}, "bins must be at least 2"),
        ({"generalise": 0}, "generalise must be at least 1"),
        ({"columns": [["a"], []]}, "at least one column"),
        ({"columns": [["a", "b"], ["c", "d", "s"]], "c": 2}, "c is for blocks by correlation"),
        ({"columns": [["a", "b"], ["c", "d", "s"]], "bins": 5}, "bins is for blocks by correlation"),
        ({"partition": "random", "bucket_size": 2, "l": 2}, "does not go with l"),
        ({"partition": "random", "bucket_size": 2, "ties": "together"}, "ties is about cuts"),
        ({"bucket_size": 2, "strict": True}, "They need l"),
        ({"bucket_size": 2, "weighting": "paper"}, "They need l"),
        ({"c": 6}, "need at least 6 published columns. Got 5"),
        ({"c": 3, "sensitive_size": 4}, "c = 3 and sensitive_size = 4 need at least 6"),
        ({"sensitive": "a"}, "sensitive must name a sensitive column"),
    ],
)
def test_settings_are_checked(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        anonymize(correlated(), "slicing", **asked)


def test_progress_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    Slicing(l=2, generalise=5, c=3).anonymize(correlated(), np.random.default_rng(0), lambda *said: told.append(said))
    assert {what for _, _, what in told} == {"correlating columns", "generalising columns", "forming classes"}
    assert told[-1][:2] == (200, 200)
    assert all(0 <= done <= total for done, total, _ in told)
