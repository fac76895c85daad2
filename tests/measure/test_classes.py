"""Class statistics: tables worked by hand, and agreement with slow obvious versions on random releases."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from auditor.measure.classes import class_facts, sensitive_facts
from auditor.measure.counts import class_counts, class_of_bucket, class_sizes, entries
from auditor.measure.diversity import (
    alpha,
    alphas,
    basic_beta,
    basic_betas,
    disclosure_delta,
    disclosure_deltas,
    distinct_l,
    enhanced_beta,
    enhanced_betas,
    entropy_l,
    entropy_ls,
    recursive_c,
    recursive_cs,
)
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.publishing import publish
from auditor.model.record.record import AuditRecord
from auditor.model.release import Release
from auditor.model.schema import Schema
from auditor.model.table import Table

COLUMNS = {
    "zip": {"role": "quasi"},
    "sex": {"role": "quasi"},
    "income": {"role": "sensitive", "type": "numeric"},
    "grade": {"role": "sensitive", "order": ["low", "middle", "high"]},
    "disease": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]}},
}


def release_of(
    rows: dict[str, list[str]],
    original: dict[str, list[str]] | None = None,
    blocks: list[list[str]] | None = None,
    bucket: list[int] | None = None,
) -> Release:
    """A release with these published cells; its domains are those of the original (or of the cells themselves)."""
    schema = Schema.from_dict({"columns": {column: COLUMNS[column] for column in rows}})
    table = Table.from_frame(pd.DataFrame(original or rows), schema)
    labels, cells = {}, {}
    for column, texts in rows.items():
        distinct = sorted(set(texts))
        labels[column] = Labels.read(table.domains[column], distinct, lambda i: f"label {i}")
        cells[column] = np.array([distinct.index(text) for text in texts], dtype=np.int32)
    buckets = None if bucket is None else np.array(bucket)
    return publish(table.schema, labels, cells, blocks or [list(rows)], buckets, np.random.default_rng(3))[0]


# Two classes: a holds flu flu asthma ulcer, b flu ulcer; one suppressed row with gastritis.
ROWS = {
    "zip": ["a", "a", "a", "a", "b", "b", "*"],
    "disease": ["flu", "flu", "asthma", "ulcer", "flu", "ulcer", "gastritis"],
}
DISEASES = release_of(ROWS, {"zip": ["a", "a", "a", "a", "b", "b", "b"], "disease": ROWS["disease"]})


def test_facts_by_hand() -> None:
    facts = class_facts(DISEASES)
    assert (facts.rows, facts.suppressed_rows, facts.classes, facts.k) == (7, 1, 2, 2)
    assert facts.class_sizes == {"2": 1, "4": 1}
    assert (facts.kind, facts.suppression) == ("generalised", "excluded")
    assert (facts.quasi, facts.blocks) == (("zip",), (("zip", "disease"),))
    (disease,) = facts.sensitive
    # whole (7 rows, the suppressed one too): flu 3/7, asthma 1/7, ulcer 2/7, gastritis 1/7; a: 1/2, 1/4, 1/4; b: 1/2, 0, 1/2
    assert disease.values == 4
    assert disease.alpha == 0.5
    assert disease.l_distinct == 2
    assert disease.l_entropy == 2.0  # b: two equal values; a: exp(1.0397) = 2.83
    assert disease.l_recursive_c == 1.0  # a: 2/(1 + 1), b: 1/1
    assert disease.t_equal == pytest.approx(2 / 7)  # b: flu 1/14 and ulcer 3/14 more; a: flu 1/14 and asthma 3/28
    assert disease.t_ordered is None
    # b: 1/14 crosses the root, 3/14 stay within a group at half the cost: 5/28. a: 5/28 cross it.
    assert disease.t_hierarchical == pytest.approx(5 / 28)
    assert disease.beta_basic == pytest.approx(0.75)  # a: asthma (1/4 - 1/7)/(1/7); b: ulcer (1/2 - 2/7)/(2/7)
    assert disease.beta_enhanced == pytest.approx(0.75)  # -ln(1/7) = 1.95 and -ln(2/7) = 1.25 both allow it
    assert disease.delta_disclosure is None  # b has no asthma


def test_suppressed_rows_as_a_class_of_their_own() -> None:
    facts = class_facts(DISEASES, suppression="own")
    assert (facts.classes, facts.k, facts.suppressed_rows) == (3, 1, 1)
    assert facts.class_sizes == {"1": 1, "2": 1, "4": 1}
    (disease,) = facts.sensitive
    assert (disease.values, disease.alpha, disease.l_distinct) == (4, 1.0, 1)
    assert disease.l_entropy == 1.0
    assert disease.l_recursive_c is None  # one value is fewer than l = 2
    assert disease.t_equal == pytest.approx(6 / 7)
    assert disease.beta_basic == pytest.approx(6)  # (1 - 1/7)/(1/7)
    assert disease.beta_enhanced is None  # above -ln(1/7) = 1.95


def test_suppressed_rows_under_several_texts_are_one_class() -> None:
    rows = {"zip": ["a", "*", "*", "a"], "sex": ["m", "*", "*", "m"], "disease": ["flu"] * 4}
    release = release_of(rows, {"zip": ["a", "b", "c", "a"], "sex": ["m", "f", "f", "m"], "disease": ["flu"] * 4})
    assert class_sizes(release, "own").tolist() == [2, 2]
    assert sorted(class_of_bucket(release).tolist()) == [-1, 0]


def test_ten_to_one_needs_c_above_ten() -> None:
    assert recursive_c(np.array([[10, 1]])) == 10.0
    # l = 3 over 5, 3, 1, 1: 5/(1 + 1); a class of two values has no third
    assert recursive_c(np.array([[5, 3, 1, 1]]), 3) == 2.5
    assert recursive_c(np.array([[5, 3, 1, 1], [4, 4, 0, 0]]), 3) is None
    # l = 1: 5/10
    assert recursive_c(np.array([[5, 3, 1, 1]]), 1) == 0.5
    with pytest.raises(UsageError, match="at least 1"):
        recursive_c(np.array([[1]]), 0)


@pytest.mark.parametrize("values", range(1, 40))
def test_entropy_of_equal_counts_is_exact(values: int) -> None:
    assert entropy_l(np.full((1, values), 3)) == values


def test_entropy_is_not_rounded_down() -> None:
    # 2/3, 1/3: H = .636514, exp = 1.889882
    assert entropy_l(np.array([[2, 1]])) == pytest.approx(1.889882, abs=1e-6)


def test_enhanced_likeness_can_fail_where_basic_holds() -> None:
    # whole 3/4, 1/4. Class 1 (4, 0): gain of the first (1 - 3/4)/(3/4) = 1/3 > -ln 3/4 = .288
    counts = np.array([[4, 0], [2, 2]])
    assert basic_beta(counts) == 1.0  # class 2: (1/2 - 1/4)/(1/4)
    assert enhanced_beta(counts) is None


def test_delta_needs_every_value_in_every_class() -> None:
    # whole 3/8, 5/8; class 1 (1, 3): ln(1/4 / 3/8) = -.405, class 2 (2, 2): ln(1/2 / 3/8) = .288
    assert disclosure_delta(np.array([[1, 3], [2, 2]])) == pytest.approx(math.log(1.5))
    assert disclosure_delta(np.array([[1, 3], [2, 2], [0, 1]])) is None


def test_classes_like_the_whole_give_exact_zeros() -> None:
    counts = np.array([[1, 2, 4], [3, 6, 12]])
    assert (basic_beta(counts), enhanced_beta(counts), disclosure_delta(counts)) == (0.0, 0.0, 0.0)


def test_one_class_of_one_value_is_like_itself() -> None:
    assert (basic_beta(np.array([[5]])), enhanced_beta(np.array([[5]]))) == (0.0, 0.0)


def test_no_class_has_no_statistics() -> None:
    empty = np.zeros((0, 0), dtype=np.int64)
    for statistic in (alpha, distinct_l, entropy_l, recursive_c, basic_beta, enhanced_beta, disclosure_delta):
        assert statistic(empty) is None


def test_ordered_distance_leaves_missing_and_withheld_values_out() -> None:
    # incomes that occur: 10, 20, 30 (m = 3). a: 10 20 missing, b: 30 30 *
    # whole over the four known: 1/4, 1/4, 1/2. a = (1/2, 1/2, 0): (|1/4| + |1/2|)/2 = 3/8; b: (1/4 + 1/2)/2 = 3/8
    rows = {"zip": list("aaabbb"), "income": ["10", "20", "", "30", "30", "*"]}
    release = release_of(rows, {"zip": list("aaabbb"), "income": ["10", "20", "", "30", "30", "90"]})
    assert sensitive_facts(release, "income").t_ordered == pytest.approx(3 / 8)
    assert sensitive_facts(release, "income").values == 5


def test_ordered_distance_of_intervals_and_centroids() -> None:
    # published [10, 20] (middle 15), 25.5 (a centroid), 30, in this order: a = (1, 0, 0), b = (0, 1/2, 1/2)
    # whole 1/2, 1/4, 1/4: a: (1/2 + 1/4)/2 = 3/8, b: (1/2 + 1/4)/2 = 3/8
    rows = {"zip": list("aabb"), "income": ["[10, 20]", "[10, 20]", "30", "25.5"]}
    release = release_of(rows, {"zip": list("aabb"), "income": ["10", "20", "30", "20"]})
    assert sensitive_facts(release, "income").t_ordered == pytest.approx(3 / 8)


def test_ordered_distance_of_an_ordinal() -> None:
    # low, middle, high in this order, not by text: a low low, b high high: whole (1/2, 0, 1/2) over the two that occur
    release = release_of({"zip": list("aabb"), "grade": ["low", "low", "high", "high"]})
    facts = sensitive_facts(release, "grade")
    assert facts.t_ordered == pytest.approx(0.5)
    assert facts.t_hierarchical is None


def test_missing_and_generalised_sensitive_values_in_the_hierarchy() -> None:
    # a: flu, Lung (a group beside its leaves, 1/2 away); b: missing (at the root), ulcer
    rows = {"zip": list("aabb"), "disease": ["flu", "Lung", "", "ulcer"]}
    release = release_of(rows, {"zip": list("aabb"), "disease": ["flu", "asthma", "", "ulcer"]})
    facts = sensitive_facts(release, "disease")
    # each class differs from the whole in 1/4 of mass on each of its two values, all of which crosses the root: 1/2
    assert facts.t_hierarchical == pytest.approx(0.5)
    assert facts.values == 4
    assert sensitive_facts(release_of({"zip": list("aa"), "disease": ["flu", ""]}), "disease").t_hierarchical == 0.0


def test_labels_of_the_same_set_are_one_value() -> None:
    rows = {"zip": list("aaaaa"), "income": ["[10, 20]", "10-20", "{10, 30}", "{30,10}", "30"]}
    release = release_of(rows, {"zip": list("aaaaa"), "income": ["10", "20", "10", "30", "30"]})
    found = class_counts(release, "income")
    assert sorted(found.counts.count.tolist()) == [1, 2, 2]
    assert sensitive_facts(release, "income").values == 3


def test_several_blocks_count_by_bucket_and_have_no_k() -> None:
    rows = {"zip": list("abcd"), "disease": ["flu", "ulcer", "flu", "flu"]}
    facts = class_facts(release_of(rows, blocks=[["zip"], ["disease"]], bucket=[0, 0, 1, 1]))
    assert (facts.kind, facts.k, facts.classes, facts.class_sizes) == ("bucketized", None, 2, {"2": 2})
    assert facts.blocks == (("zip",), ("disease",))
    assert facts.sensitive[0].l_distinct == 1


def test_facts_travel_as_json() -> None:
    record = AuditRecord(seed=1, release=class_facts(DISEASES), risks=())
    assert AuditRecord.from_json(record.to_json()).release.sensitive[0].l_entropy == 2.0


def naive(release: Release, column: str, recursive_l: int) -> dict[str, float | None]:
    """Every statistic from its definition, with dictionaries, class by class."""
    block = release.block_of(column)
    classes: dict[int, Counter[int]] = {}
    for bucket, label in zip(block.bucket.tolist(), block.cell(column).tolist(), strict=True):
        if not release.suppressed[bucket]:
            classes.setdefault(bucket, Counter())[label] += 1
    whole = Counter(block.cell(column).tolist())  # suppressed rows publish their value too
    n = sum(whole.values())
    q = {v: c / n for v, c in whole.items()}
    out: dict[str, float | None] = {
        "alpha": 0.0,
        "l_distinct": math.inf,
        "l_entropy": math.inf,
        "l_recursive_c": 0.0,
        "t_equal": 0.0,
        "beta_basic": 0.0,
        "delta_disclosure": 0.0,
    }
    cannot = {"beta_enhanced": False}
    for counts in classes.values():
        size = sum(counts.values())
        p = {v: counts[v] / size for v in whole}
        ordered = sorted(counts.values(), reverse=True)
        tail = sum(ordered[recursive_l - 1 :])
        steps = {
            "alpha": max(p.values()),
            "l_recursive_c": ordered[0] / tail if tail else math.inf,
            "t_equal": sum(abs(p[v] - q[v]) for v in whole) / 2,
            "beta_basic": max((p[v] - q[v]) / q[v] for v in whole),
            "delta_disclosure": max(abs(math.log(p[v] / q[v])) if p[v] else math.inf for v in whole),
        }
        for name, step in steps.items():
            out[name] = max(out[name] or 0.0, step)
        entropy = -sum(x * math.log(x) for x in p.values() if x)
        out["l_entropy"] = min(out["l_entropy"] or 0.0, math.exp(entropy))
        out["l_distinct"] = min(out["l_distinct"] or 0.0, len(counts))
        cannot["beta_enhanced"] |= any((p[v] - q[v]) / q[v] > -math.log(q[v]) + 1e-9 for v in whole)
    out["beta_enhanced"] = None if cannot["beta_enhanced"] else out["beta_basic"]
    return {name: None if value == math.inf else value for name, value in out.items()}


cells = st.tuples(st.sampled_from("abc*"), st.sampled_from(["flu", "asthma", "ulcer", "gastritis"]))


@given(st.lists(cells, min_size=1, max_size=25), st.integers(1, 3), st.booleans())
def test_statistics_equal_their_definitions(rows: list[tuple[str, str]], recursive_l: int, apart: bool) -> None:
    zips, diseases = [r[0] for r in rows], [r[1] for r in rows]
    original = {"zip": [z.replace("*", "a") for z in zips], "disease": diseases}
    release = (
        release_of(
            {"zip": zips, "disease": diseases}, original, [["zip"], ["disease"]], ["abc*".index(z) for z in zips]
        )
        if apart
        else release_of({"zip": zips, "disease": diseases}, original)
    )
    facts = sensitive_facts(release, "disease", recursive_l=recursive_l)
    for name, expected in naive(release, "disease", recursive_l).items():
        assert getattr(facts, name) == (expected if expected is None else pytest.approx(expected, abs=1e-9)), name


@settings(deadline=None, max_examples=30)
@given(st.lists(cells, min_size=1, max_size=25), st.integers(0, 2**32 - 1), st.sampled_from(["excluded", "own"]))
def test_row_order_does_not_matter(rows: list[tuple[str, str]], seed: int, suppression: str) -> None:
    zips, diseases = [r[0] for r in rows], [r[1] for r in rows]
    release = release_of(
        {"zip": zips, "disease": diseases}, {"zip": [z.replace("*", "a") for z in zips], "disease": diseases}
    )
    other, _ = release.shuffled(np.random.default_rng(seed))
    first, second = class_facts(release, suppression), class_facts(other, suppression)
    assert first.class_sizes == second.class_sizes
    for name in first.sensitive[0].__slots__:
        before, after = getattr(first.sensitive[0], name), getattr(second.sensitive[0], name)
        assert after == (pytest.approx(before) if isinstance(before, float) else before), name


def test_sparse_and_dense_counts_are_the_same() -> None:
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(
        (np.ones(3_000, dtype=np.int64), (rng.integers(0, 300, 3_000), rng.integers(0, 50, 3_000)))
    )
    for statistic in (alpha, distinct_l, entropy_l, recursive_c, basic_beta, enhanced_beta, disclosure_delta):
        assert statistic(counts) == statistic(counts.toarray())


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(1, 4))
def test_figures_of_each_class_equal_their_definitions(counts: list[list[int]], recursive_l: int) -> None:
    rows = [row for row in counts if sum(row)]
    if not rows:
        return
    found = entries(np.array(rows, dtype=np.int64))
    n = sum(map(sum, rows))
    q = [sum(row[v] for row in rows) / n for v in range(3)]
    there = [v for v in range(3) if q[v]]
    for i, row in enumerate(rows):
        p = [c / sum(row) for c in row]
        down = sorted((c for c in row if c), reverse=True)
        tail = sum(down[recursive_l - 1 :])
        gains = [(p[v] - q[v]) / q[v] for v in there]
        beyond = any(gain > -math.log(q[v]) + 1e-9 for gain, v in zip(gains, there, strict=True))
        assert alphas(found)[i] == pytest.approx(max(p))
        assert entropy_ls(found)[i] == pytest.approx(math.exp(-sum(x * math.log(x) for x in p if x)))
        assert recursive_cs(found, recursive_l)[i] == (pytest.approx(down[0] / tail) if tail else math.inf)
        assert basic_betas(found)[i] == pytest.approx(max(gains), abs=1e-12)
        assert enhanced_betas(found)[i] == (math.inf if beyond else pytest.approx(max(gains), abs=1e-12))
        lacking = len(there) < 3 or not all(row)
        delta = math.inf if lacking else max(abs(math.log(p[v] / q[v])) for v in there)
        assert disclosure_deltas(found)[i] == pytest.approx(delta)
