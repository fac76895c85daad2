"""Utility: tables worked by hand, and query estimates against a slow obvious version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.measure.classes import class_facts
from auditor.measure.utility import MEASURES, Case, find_measures, utility_rows
from auditor.measure.utility import queries as asking
from auditor.measure.utility.queries import queries
from auditor.measure.utility.sizes import class_size, discernibility
from auditor.measure.utility.widths import granularity, granularity_arx
from auditor.model.errors import UsageError
from auditor.model.record.record import AuditRecord, Utility
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Release
from auditor.model.table import Table
from tests.support.utility_cases import GENERALISED, ORIGINAL, Rows, case_of, published, table_of


def release_of(
    texts: Rows, original: Table, blocks: list[list[str]] | None = None, bucket: list[int] | None = None
) -> Release:
    return published(texts, original, blocks, bucket)[0]


def one(rows: list[Utility]) -> Utility:
    (row,) = rows
    return row


def test_granularity_by_hand() -> None:
    # age over its range 20–60: 3 · 20/40, 0, 1, 1 → 3.5 of 6. town over 5 leaves: 1/4, 1/4, 0, 0, 1, 1 → 2.5 of 6.
    # job over 3 values: 1/2, 1/2, 0, 0, 1, 1 → 3 of 6. Mean loss 9/18.
    found = one(granularity(Case(release_of(GENERALISED, table_of(ORIGINAL)))))
    assert found.value == pytest.approx(0.5)
    assert found.better == "higher"
    assert found.params["domain"] == {"age": "range", "town": "taxonomy leaves", "job": "values"}
    assert found.detail["columns"] == pytest.approx({"age": 2.5 / 6, "town": 3.5 / 6, "job": 3 / 6})


def test_granularity_as_arx_prints_it() -> None:
    # ages by values: [20, 40] covers 3 of the 4 that occur, so 3 · 2/3, 0, 1, 1 → 4 of 6
    # weights 1 - 1/4 (ages 20, 30, 40, 60), 1 - 1/5, 1 - 1/3: (.75·2/6 + .8·3.5/6 + .6667·.5)/2.216667
    found = one(granularity_arx(Case(release_of(GENERALISED, table_of(ORIGINAL)))))
    assert found.value == pytest.approx((0.75 * 2 / 6 + 0.8 * 3.5 / 6 + 2 / 3 * 0.5) / (0.75 + 0.8 + 2 / 3))
    assert found.params["domain"] == {"age": "values", "town": "taxonomy leaves", "job": "values"}


def test_a_quasi_identifier_left_out_is_fully_lost() -> None:
    original = table_of(ORIGINAL)
    release = release_of({"age": ORIGINAL["age"], "income": ORIGINAL["income"]}, original)
    found = one(granularity(Case(release)))
    assert found.value == pytest.approx(1 / 3)
    assert found.params["absent"] == ["town", "job"]
    arx = one(granularity_arx(Case(release)))
    assert (arx.status, arx.value) == ("not_applicable", None)
    assert "town" in str(arx.reason)


def test_granularity_does_not_apply() -> None:
    original = table_of(ORIGINAL)
    apart = release_of(ORIGINAL, original, [["age", "town", "job"], ["income"]], [0, 0, 0, 1, 1, 1])
    assert "several blocks" in str(one(granularity(Case(apart))).reason)
    centroids = release_of({**GENERALISED, "age": ["33.3"] * 6}, original)
    for found in (*granularity(Case(centroids)), *granularity_arx(Case(centroids))):
        assert found.status == "not_applicable"
        assert str(found.reason).startswith("age:")
    only = {"income": ORIGINAL["income"]}
    assert "no quasi-identifier" in str(one(granularity(Case(release_of(only, table_of(only))))).reason)


def test_an_interval_between_the_values_has_its_width() -> None:
    # ]40, 60[ covers no age that occurs; ages are whole numbers, so it is [41, 59], 18 of 40 wide
    rows = {"age": ["]40, 60["] * 6}
    found = one(granularity(Case(release_of(rows, table_of({"age": ORIGINAL["age"]})))))
    assert found.value == pytest.approx(1 - 18 / 40)


def test_columns_of_one_value_have_no_weight() -> None:
    rows = {"age": ["20", "20"], "income": ["1", "2"]}
    assert "one value" in str(one(granularity_arx(Case(release_of(rows, table_of(rows))))).reason)


def test_discernibility_by_hand() -> None:
    # classes: {North, {x,y}} 2, {C, z} 1, {C, x} 1, suppressed 2; n = 6
    release = release_of(GENERALISED, table_of(ORIGINAL))
    assert one(discernibility(Case(release))).value == 4 + 1 + 1 + 6 * 2
    assert one(discernibility(Case(release, k=2))).value == 4 + 6 * (1 + 1) + 6 * 2
    assert one(discernibility(Case(release))).better == "lower"


def test_class_size_by_hand() -> None:
    release = release_of(GENERALISED, table_of(ORIGINAL))
    found = one(class_size(Case(release, k=2)))
    assert found.value == pytest.approx(4 / 3 / 2)  # four people in three classes
    assert found.params["suppressed_rows"] == 2
    assert one(class_size(Case(release))).status == "not_applicable"


def test_an_exact_release_answers_every_query() -> None:
    original = table_of(ORIGINAL)
    median, ninetieth = queries(Case(release_of(ORIGINAL, original), original, seed=1))
    assert [median.params["statistic"], ninetieth.params["statistic"]] == ["median", "p90"]
    assert (median.value, ninetieth.value, ninetieth.high) == (0.0, 0.0, 0.0)
    assert median.better == "lower"
    assert median.params["sanity"] == 1.0


def test_estimate_by_hand() -> None:
    original = table_of(ORIGINAL)
    release = release_of(GENERALISED, original)
    age = np.array([True, True, False, False])  # 20 or 30
    town = np.array([True, False, False, False, False])  # A
    # rows 1, 2: [20, 40] 2/3, North 1/2 → 1/3 each; row 3, 4: C no; rows 5, 6: * 2/4 · 1/5 → 1/10 each
    (found,) = asking._estimates(release, ["age", "town"], [{"age": age, "town": town}])
    assert found == pytest.approx(2 / 3 + 2 / 10)
    job = np.array([True, False, True])  # x or z: a label {x, y} is half in, z is in, x is in, * two thirds
    (found,) = asking._estimates(release, ["job"], [{"job": job}])
    assert found == pytest.approx(1 / 2 + 1 / 2 + 1 + 1 + 2 / 3 + 2 / 3)


def test_estimate_across_blocks_by_hand() -> None:
    original = table_of(ORIGINAL)
    release = release_of(ORIGINAL, original, [["age", "town", "job"], ["income"]], [0, 0, 0, 1, 1, 1])
    age, income = np.array([True, True, False, False]), np.array([True, False, False, True])
    # bucket 0: ages 20, 30 (2 of 3), income 1 (1 of 3): 3 · 2/3 · 1/3
    # bucket 1: ages 30, 20 (2 of 3), incomes 4, 1 (2 of 3): 3 · 2/3 · 2/3
    (found,) = asking._estimates(release, ["age", "income"], [{"age": age, "income": income}])
    assert found == pytest.approx(2 / 3 + 4 / 3)


published_cells = {
    "age": ["20", "30", "[20, 40]", "]20, 60]", "{20, 60}", "*"],
    "town": ["A", "B", "E", "North", "South", "*"],
    "job": ["x", "y", "{x, z}", "{y, z}", "*"],
    "income": ["1", "2", "3", "4", "[2, 4]"],
}
rows_of_cells = st.lists(st.tuples(*(st.sampled_from(v) for v in published_cells.values())), min_size=1, max_size=12)
block_choices = st.sampled_from(
    [
        [["age", "town", "job", "income"]],
        [["age", "town", "job"], ["income"]],
        [["age", "income"], ["town"], ["job"]],
    ]
)


@given(rows_of_cells, block_choices, st.integers(0, 2**32 - 1))
def test_estimates_equal_counting_fragment_by_fragment(
    rows: list[tuple[str, ...]], blocks: list[list[str]], seed: int
) -> None:
    original = table_of(ORIGINAL)
    rng = np.random.default_rng(seed)
    texts = {column: [row[i] for row in rows] for i, column in enumerate(published_cells)}
    bucket = None if len(blocks) == 1 else rng.integers(0, 3, len(rows)).tolist()
    release = release_of(texts, original, blocks, bucket)
    columns = list(Case(release, original).columns)
    asked = [asking._draw(release, columns, rng, 3) for _ in range(5)]
    expected = []
    for query in asked:
        total = 0.0
        for number, size in enumerate(release.sizes.tolist()):
            estimate = float(size)
            for block in release.blocks:
                held = 0.0
                for fragment in np.flatnonzero(block.bucket == number):
                    share = 1.0
                    for column in set(query) & set(block.columns):
                        codes = release.labels[column].codes(int(block.cell(column)[fragment]))
                        share *= sum(bool(query[column][code]) for code in codes) / len(codes)
                    held += share
                estimate *= held / size
            total += estimate
        expected.append(total)
    assert asking._estimates(release, columns, asked) == pytest.approx(expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(rows_of_cells, block_choices, st.integers(0, 2**32 - 1))
def test_fragment_order_does_not_matter_to_the_last_bit(
    rows: list[tuple[str, ...]], blocks: list[list[str]], seed: int
) -> None:
    original = table_of(ORIGINAL)
    rng = np.random.default_rng(seed)
    texts = {column: [row[i] for row in rows] for i, column in enumerate(published_cells)}
    bucket = None if len(blocks) == 1 else rng.integers(0, 3, len(rows)).tolist()
    release = release_of(texts, original, blocks, bucket)
    other, _ = release.shuffled(rng)
    assert utility_rows(release, original, k=2, seed=9) == utility_rows(other, original, k=2, seed=9)


def test_queries_have_a_quasi_identifier_and_known_values_only() -> None:
    rows = {**ORIGINAL, "age": ["20", "", "40", "60", "30", "20"], "job": ["x", "", "z", "x", "y", "x"]}
    original = table_of(rows)
    release = release_of(rows, original)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        query = asking._draw(release, ["age", "town", "job", "income"], rng, 3)
        assert 2 <= len(query) <= 3
        assert set(query) & {"age", "town", "job"}
        for column, inside in query.items():
            seen.add((column, tuple(inside.tolist())))
            assert inside.any()
            missing = original.domains[column].missing
            assert missing is None or not inside[missing]
    nodes = {sum(inside) for column, inside in seen if column == "town"}
    assert nodes == {1, 2, 3}  # leaves, North and South, not the root


def test_rows_left_out_are_errors() -> None:
    original = table_of({column: cells * 50 for column, cells in ORIGINAL.items()})
    kept = [0] * 150 + [-1] * 150
    texts = {column: cells * 50 for column, cells in ORIGINAL.items()}
    half = release_of(texts, original, [["age", "town", "job", "income"]], kept)
    median, _ = queries(Case(half, original, seed=1))
    assert (median.params["rows_original"], median.params["rows_release"]) == (300, 150)
    assert median.value == pytest.approx(0.5)


def test_queries_do_not_apply() -> None:
    original = table_of(ORIGINAL)
    for found in queries(Case(release_of(ORIGINAL, original), None, seed=1)):
        assert found.reason == "true counts need the original"
    one_value = {"income": ["1"] * 6}
    alone = Case(release_of(one_value, table_of(one_value)), table_of(one_value))
    assert "no column with two or more values" in str(queries(alone)[0].reason)
    only = {"income": ORIGINAL["income"]}
    assert (
        queries(Case(release_of(only, table_of(only)), table_of(only)))[0].value == 0
    )  # no quasi-identifier is needed


def test_a_number_outside_the_domain_counts_as_the_nearest_value() -> None:
    # ages are 20, 30, 40, 60: 33.3 counts as 30, 25 lies between 20 and 30 and counts as the lower, 99 as 60
    original = table_of(ORIGINAL)
    release = release_of({**ORIGINAL, "age": ["33.3", "33.3", "25", "25", "99", "]40, 60["]}, original)
    for inside, people in (([0, 1, 0, 0], 2), ([1, 0, 0, 0], 2), ([0, 0, 0, 1], 1), ([0, 0, 1, 0], 1)):
        (found,) = asking._estimates(release, ["age"], [{"age": np.array(inside, dtype=np.bool_)}])
        assert found == people  # ]40, 60[ has its middle at 50, as far from 40 as from 60


def test_a_release_of_nobody_has_no_figures() -> None:
    original = table_of(ORIGINAL)
    release = release_of(ORIGINAL, original, bucket=[-1] * 6)
    rows = utility_rows(release, original, k=2, seed=1)
    assert [row.reason for row in rows if row.measure in ("granularity", "queries")] == ["the release has no rows"] * 3
    assert [row.value for row in rows if row.measure == "discernibility"] == [36]  # six people deleted, six each
    assert [row.reason for row in rows if row.measure == "class_size"] == ["the release has no class"]
    facts = class_facts(release)
    assert (facts.rows, facts.classes, facts.k, facts.class_sizes) == (0, 0, None, {})
    assert (facts.sensitive[0].values, facts.sensitive[0].alpha, facts.sensitive[0].t_ordered) == (0, None, None)


def test_queries_refuse_a_release_coded_otherwise() -> None:
    other = table_of({**ORIGINAL, "age": ["20", "30", "40", "60", "30", "99"]})
    with pytest.raises(UsageError, match="must have the same codes"):
        queries(Case(release_of(ORIGINAL, table_of(ORIGINAL)), other, seed=1))
    with pytest.raises(UsageError, match="at least 1"):
        queries(Case(release_of(ORIGINAL, other), other), count=0)


def test_one_column_gives_queries_on_one() -> None:
    rows = {"age": ORIGINAL["age"]}
    original = table_of(rows)
    blurred = release_of({"age": ["[20, 60]"] * 6}, original)
    median, ninetieth = queries(Case(blurred, original, seed=1))
    assert median.value is not None
    assert ninetieth.value is not None
    assert 0 < median.value <= ninetieth.value


def test_one_seed_one_answer_and_blurring_costs() -> None:
    original = table_of(ORIGINAL)
    blurred = release_of(GENERALISED, original)
    first = utility_rows(blurred, original, k=2, seed=4, names=["queries"])
    assert first == utility_rows(blurred, original, k=2, seed=4, names=["queries"])
    ninetieth: Utility = first[-1]
    assert ninetieth.value is not None
    assert ninetieth.low is not None
    assert ninetieth.high is not None
    assert 0 < ninetieth.low <= ninetieth.value <= ninetieth.high


def test_all_rows_with_and_without_the_original_travel_as_json() -> None:
    original = table_of({column: cells * 5 for column, cells in ORIGINAL.items()})
    release, provenance = published({column: cells * 5 for column, cells in GENERALISED.items()}, original)
    facts = ReleaseFacts("r", "generalised", 30, 10, "excluded", 3, 1, {})
    needless = {"granularity", "granularity_arx", "information_loss", "discernibility"}
    for table, fragment, k in ((original, provenance.fragment, 2), (original, None, 2), (None, None, None)):
        rows = utility_rows(release, table, fragment, k=k, seed=4)
        assert list(dict.fromkeys(row.measure for row in rows)) == [measure.name for measure in MEASURES]
        assert all((row.value is None) == (row.reason is not None) for row in rows)
        if table is None:
            assert {row.measure for row in rows if row.status == "ok"} == needless
        elif fragment is None:
            assert {row.measure for row in rows if row.status == "ok"} == {
                *needless,
                "class_size",
                "marginals",
                "queries",
            }
            assert "which record is whose" in str(next(row.reason for row in rows if row.measure == "pmse"))
        text = AuditRecord(seed=1, release=facts, risks=(), utility=rows).to_json()
        assert [row.value for row in AuditRecord.from_json(text).utility] == [row.value for row in rows]


def test_labels_that_do_not_cover_their_people_have_no_granularity() -> None:
    # one of twenty labels may be wrong, two of twenty may not: B and C are no A
    names = ["A"] * 18 + ["B", "C"]
    original = table_of({"town": names, "job": ["x"] * 20})
    for texts, reason in ((["A"] * 19 + ["C"], None), (["A"] * 20, "town: 10 %")):
        rows = granularity(case_of({"town": texts, "job": ["x"] * 20}, original))
        assert (one(rows).reason or "").startswith(reason or "")
        assert (one(rows).value is None) == (reason is not None)


def test_measures_are_found_by_name() -> None:
    assert find_measures(["queries", "ctbil", "CTBIL'", "Classification-Within"]) == (
        "queries",
        "CTBIL'",
        "classification_within",
    )
    assert find_measures([]) == find_measures(["none"]) == ()
    with pytest.raises(UsageError, match=r"'granularit'\. Did you mean 'granularity'"):
        find_measures(["queries", "granularit"])
    with pytest.raises(UsageError, match="There are: granularity, "):
        find_measures(["?"])


def test_only_what_is_asked_for_is_measured_and_is_the_same() -> None:
    original = table_of(ORIGINAL)
    release, provenance = published(GENERALISED, original)
    everything = utility_rows(release, original, provenance.fragment, k=2, seed=4)
    for names in (["IL3"], ["queries", "Dist"], ["correlation", "EBIL", "IL1"]):
        some = utility_rows(release, original, provenance.fragment, k=2, seed=4, names=names)
        assert some == [row for row in everything if row.measure in names]
        assert {row.measure for row in some} == set(names)
    assert utility_rows(release, original, provenance.fragment, names=()) == []
