"""Synthesizers: what they keep of the table, what they do not depend on, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from anonymizers.anonymizing import anonymize
from anonymizers.marginals import Marginals, Private, along, dependence, shared_information, summing_to
from anonymizers.shared.differential import Budget, Noise, chosen
from anonymizers.shared.public_bins import PublicBins
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import PromiseError, UsageError
from auditor.model.progress import silent
from auditor.model.release import Kind, Release
from auditor.model.schema import Schema
from auditor.model.table import RawTable, Table, encode

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric", "domain": [0, 120]},
            "pay": {"role": "sensitive", "type": "numeric", "domain": [0, 9000]},
            "grade": {"role": "quasi", "order": ["low", "mid", "high"]},
            "town": {"role": "quasi", "domain": ["A", "B", "C", "D"]},
            "note": {"role": "neutral", "domain": ["x", "y"]},
        }
    }
)
METHODS: dict[str, dict[str, Any]] = {
    "cart": {},
    "copula": {},
    "marginals": {},
    "marginals (private)": {"epsilon": 100.0},
    "marginals (zCDP)": {"epsilon": 100.0, "delta": 1e-6},
}


def people(rows: int = 1500, seed: int = 0) -> Table:
    """People whose pay goes by age, whose grade by pay, and whose note by town; a tenth of the ages are missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, rows)
    pay = 50 * age + rng.integers(0, 1000, rows)
    grade = np.array(["low", "mid", "high"])[np.digitize(pay + rng.normal(0, 400, rows), [2200, 3200])]
    town = rng.choice(list("ABCD"), rows, p=[0.5, 0.3, 0.15, 0.05])
    note = np.where(rng.random(rows) < np.where(town == "A", 0.9, 0.2), "x", "y")
    ages = [str(a) if there else "" for a, there in zip(age, rng.random(rows) > 0.1, strict=True)]
    columns = {"age": ages, "pay": [str(p) for p in pay], "grade": list(grade), "town": list(town), "note": list(note)}
    (table,) = encode(SCHEMA, [RawTable("people", columns)])
    return table


def made(table: Table, name: str, **settings: Any) -> Release:
    return anonymize(table, name.partition(" ")[0], 1, **(METHODS.get(name, {}) | settings))[0]


def numbers(release: Release, column: str) -> Floats:
    """The published numbers of a column; NaN where they are missing."""
    return np.asarray(release.labels[column].low[release.blocks[0].cell(column)])


def shares(codes: Any, size: int) -> Floats:
    return np.bincount(codes, minlength=size) / len(codes)


def published(release: Release, column: str) -> Any:
    """The codes of a column that is published value by value."""
    return release.labels[column].lo[release.blocks[0].cell(column)]


TABLE = people()


@pytest.mark.parametrize("name", METHODS)
def test_single_columns_are_kept(name: str) -> None:
    release = made(TABLE, name)
    assert release.kind is Kind.SYNTHETIC
    for column in ("grade", "town", "note"):
        size = TABLE.domains[column].size
        far = np.abs(shares(published(release, column), size) - shares(TABLE.codes[column], size)).sum() / 2
        assert far < 0.05, column
    missing = TABLE.codes["age"] == TABLE.domains["age"].missing
    assert np.isnan(numbers(release, "age")).mean() == pytest.approx(missing.mean(), abs=0.03)
    for column in ("age", "pay"):
        known = TABLE.domains[column].numbers
        assert known is not None
        codes = TABLE.codes[column]
        true, given = known[codes[codes < len(known)]], numbers(release, column)
        assert stats.ks_2samp(true, given[~np.isnan(given)]).statistic < 0.07, column


@pytest.mark.parametrize("name", METHODS)
def test_pairs_of_columns_are_kept(name: str) -> None:
    release = made(TABLE, name)
    age, pay = numbers(release, "age"), numbers(release, "pay")
    there = ~np.isnan(age)
    assert np.corrcoef(age[there], pay[there])[0, 1] > 0.8  # 0.93 in the table
    assert np.corrcoef(pay, published(release, "grade"))[0, 1] > 0.7
    joint = shares(published(release, "town") * 2 + published(release, "note"), 8)
    far = np.abs(joint - shares(TABLE.codes["town"].astype(int) * 2 + TABLE.codes["note"], 8)).sum() / 2
    assert far < (0.25 if name == "copula" else 0.06)  # a copula has one number for a pair of columns


@pytest.mark.parametrize("name", [*METHODS, "noisy-histogram"])
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    table = people(300)
    settings = {"epsilon": 9.0, "delta": 0.1, "bins": 2} if name == "noisy-histogram" else {}
    ours = made(table, name, **settings)
    theirs = made(table.take(np.random.default_rng(5).permutation(table.rows)), name, **settings)
    assert ours.blocks[0].cells.tolist() == theirs.blocks[0].cells.tolist()


@pytest.mark.parametrize("name", METHODS)
def test_small_tables(name: str) -> None:
    one = TABLE.take(np.array([0]))
    assert made(one, name, rows=3).rows == 3
    schema = Schema.from_dict({"columns": {"town": {"role": "quasi"}}})
    (single,) = encode(schema, [RawTable("t", {"town": ["A", "A", "B"] * 40})])
    assert set(np.unique(published(made(single, name), "town"))) == {0, 1}
    (constant,) = encode(schema, [RawTable("t", {"town": ["A"] * 50})])
    assert set(np.unique(published(made(constant, name), "town"))) == {0}


def test_large_leaves_lose_what_columns_have_in_common() -> None:
    release = made(TABLE, "cart", leaf=751)  # no cut leaves so many on both sides: columns are drawn independently
    age, pay = numbers(release, "age"), numbers(release, "pay")
    assert abs(np.corrcoef(age[~np.isnan(age)], pay[~np.isnan(age)])[0, 1]) < 0.1


def test_tree_of_pairs_by_hand() -> None:
    # Two equal columns of 4 rows in two halves share ln 2 nats; chance would give (2-1)(2-1)/(2·4) = 1/8.
    same = np.array([0, 0, 1, 1])
    assert shared_information(same, same) == pytest.approx(np.log(2) - 1 / 8)
    assert shared_information(same, np.array([0, 1, 0, 1])) == pytest.approx(-1 / 8)
    assert along(["a", "b", "c", "d"], [("b", "c"), ("a", "c")]) == [("a", None), ("c", "a"), ("b", "c"), ("d", None)]
    # 5, 1, -3 shall sum to 2: taking 3 from each leaves 2, 0, 0 (the nearest: 5 - 3 = 2, 1 - 3 < 0).
    assert summing_to(np.array([5, 1, -3]), 2).tolist() == [2.0, 0.0, 0.0]


def test_a_row_changes_the_score_of_a_pair_by_at_most_one() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        height, width = rng.integers(1, 6, size=2)
        joint = rng.integers(0, 9, size=(height, width))
        one, other = rng.integers(0, 30, size=height), rng.integers(0, 30, size=width)
        total = int(rng.integers(1, 60))
        more = joint.copy()
        more[rng.integers(height), rng.integers(width)] += 1
        assert abs(dependence(joint, one, other, total) - dependence(more, one, other, total)) <= 1


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_no_more_is_spent_than_the_budget(delta: float, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A person's rows change `most` counts of each histogram that is measured, by 1 each, and every score by at most `most`.
    noises: list[Noise] = []
    rates: list[float] = []
    draw = Noise.draw

    def drawn(noise: Noise, size: int, rng: np.random.Generator) -> Ints:
        noises.append(noise)
        return draw(noise, size, rng)

    def option(scores: Sequence[int], rate: float, rng: np.random.Generator) -> int:
        rates.append(rate)
        return chosen(scores, rate, rng)

    monkeypatch.setattr(Noise, "draw", drawn)
    monkeypatch.setattr("anonymizers.marginals.chosen", option)
    budget = Budget(3.0, delta)
    codes = {c: TABLE.codes[c].astype(np.int64) for c in ("grade", "town", "note")}
    model = Private(budget, most, np.random.default_rng(0)).model(codes, {"grade": 3, "town": 4, "note": 2}, silent)
    assert model.pairs
    histograms = [3, len(model.pairs)]
    if delta == 0:
        spent = [most * count / (noise.scale or 0) for count, noise in zip(histograms, noises, strict=True)]
        spent += [most * rate for rate in rates]
        assert sum(spent) <= 3.0 + 1e-9
    else:
        spent = [most**2 * n / (2 * (noise.variance or 0)) for n, noise in zip(histograms, noises, strict=True)]
        spent += [(most * rate) ** 2 / 8 for rate in rates]
        assert sum(spent) <= budget.rho + 1e-9
    assert len(rates) == 2
    assert sum(spent) > (0.9 if delta == 0 else 0.9 * budget.rho)


def test_the_tree_is_that_of_the_table() -> None:
    rng = np.random.default_rng(0)
    codes = {c: TABLE.codes[c].astype(np.int64) for c in ("grade", "town", "note")}
    codes["copy"] = codes["town"].copy()
    sizes = {"grade": 3, "town": 4, "note": 2, "copy": 4}
    assert ("town", "copy") in Private(Budget(1.0), 1, rng).model(codes, sizes, silent).pairs
    assert not Private(Budget(0.02), 1, rng).model(codes, sizes, silent).pairs  # noise would drown every pair


def test_noise_of_single_counts_has_the_variance_that_is_claimed() -> None:
    # One column of two values: all of ε = 0.5 goes to it, so each count has discrete Laplace noise of scale 2, and the number
    # of rows is their sum: variance 2 · 2p/(1-p)² with p = e^(-1/2), about 15.66.
    rng = np.random.default_rng(3)
    codes = {"note": np.array([0] * 1000 + [1] * 500)}
    totals = [Private(Budget(0.5), 1, rng).model(codes, {"note": 2}, silent).rows for _ in range(300)]
    p = np.exp(-0.5)
    claimed = 4 * p / (1 - p) ** 2
    low, high = stats.chi2.ppf([0.0005, 0.9995], 299) / 299  # wider tails than the normal's are allowed for below
    assert 0.9 * low < np.var(totals, ddof=1) / claimed < 1.1 * high
    assert np.mean(totals) == pytest.approx(1500, abs=1)


def test_private_counts_do_not_show_the_number_of_rows() -> None:
    sizes = {anonymize(TABLE, "marginals", seed, epsilon=1.0)[0].rows for seed in range(4)}
    assert len(sizes) > 1
    assert made(TABLE, "marginals", epsilon=1.0, rows=10).rows == 10


def test_numbers_of_a_private_release_are_not_those_of_people() -> None:
    given = numbers(made(TABLE, "marginals", epsilon=20.0), "pay")
    known = TABLE.domains["pay"].numbers
    assert known is not None
    assert not set(given) <= set(known)
    assert given.min() >= 0
    assert given.max() <= 9000
    assert (given == np.rint(given)).all()
    ours = numbers(made(TABLE, "marginals"), "pay")
    assert set(ours) <= set(known)


def test_bins_by_hand() -> None:
    # The range 0 … 120 has its ends in bins of their own; the 119 numbers between are in four: 1-29, 30-59, 60-89, 90-119.
    bins = PublicBins(TABLE.domains["age"], 4)
    domain = TABLE.domains["age"]
    assert bins.size == 7
    assert [int(bins.of_code[domain.code(text) or 0]) for text in ("29", "30", "59", "60")] == [1, 2, 2, 3]
    assert bins.of_code[domain.missing or 0] == 6
    drawn = bins.draw(np.array([4] * 500 + [0, 5, 6]), np.random.default_rng(0))
    assert (drawn[:500].min(), drawn[:500].max()) == (90, 119)
    assert drawn[500:502].tolist() == [0, 120]
    assert np.isnan(drawn[-1])
    assert bins.taken is None


def test_wide_ranges_and_many_decimals() -> None:
    columns = {
        "sum": {"role": "quasi", "type": "numeric", "domain": [-(2**52), 2**52]},
        "share": {"role": "quasi", "type": "numeric", "domain": [0, 1]},
    }
    cells = {"sum": ["-4503599627370496", "12", "4503599627370495"] * 20, "share": ["0.1234567", "0.5", "1"] * 20}
    (table,) = encode(Schema.from_dict({"columns": columns}), [RawTable("t", cells)])
    release = made(table, "marginals", epsilon=50.0)
    assert np.abs(numbers(release, "sum")).max() <= 2**52
    share = numbers(release, "share")
    assert (share == np.round(share, 6)).all()
    assert share.min() >= 0
    assert share.max() <= 1


def test_what_is_taken_as_public_is_said() -> None:
    missing = "which columns have missing values is public"
    assert made(TABLE, "marginals", epsilon=1.0).promises == ("epsilon = 1", "for one person more or less", missing)
    schema = Schema.from_dict({"columns": {"pay": {"role": "quasi", "type": "numeric"}, "town": {"role": "quasi"}}})
    (bare,) = encode(schema, [RawTable("t", {"pay": ["1", "7"] * 30, "town": ["A", "B"] * 30})])
    assert made(bare, "marginals", epsilon=1.0).promises[2] == (
        "taken as public, since the schema does not declare it: the range of pay, the values of town"
    )
    assert made(bare, "noisy-histogram", epsilon=5.0).promises[2].endswith(": the range of pay")


def test_rare_combinations_are_never_published() -> None:
    schema = Schema.from_dict({"columns": {"town": {"role": "quasi"}, "note": {"role": "sensitive"}}})
    cells = {"town": ["A"] * 200 + ["B"] * 100 + ["Z"], "note": ["x"] * 300 + ["secret"]}
    (table,) = encode(schema, [RawTable("t", cells)])
    for seed in range(30):
        release = anonymize(table, "noisy-histogram", seed, epsilon=1.0, delta=1e-6)[0]
        counts = np.bincount(published(release, "town"), minlength=3)
        assert counts[2] == 0
        assert abs(counts[0] - 200) < 20
        assert abs(counts[1] - 100) < 20
    with pytest.raises(PromiseError, match="no combination of values is common enough"):
        anonymize(table.take(np.array([300])), "noisy-histogram", 1)


def test_people_with_several_rows() -> None:
    columns: dict[str, Any] = {"pid": {"role": "person"}, "town": {"role": "quasi", "domain": ["A", "B"]}}
    (table,) = encode(
        Schema.from_dict({"columns": columns}),
        [RawTable("visits", {"pid": ["one"] * 300 + [f"p{i}" for i in range(100)], "town": ["A"] * 300 + ["B"] * 100})],
    )
    with pytest.raises(PromiseError, match="who may have several rows"):
        made(table, "marginals", epsilon=1.0)
    release = made(table, "marginals", epsilon=20.0, most_rows=2)
    assert np.bincount(published(release, "town"), minlength=2) == pytest.approx([2, 100], abs=4)
    assert "pid" not in release.columns
    assert made(table, "cart").rows == 400


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("cart", {"leaf": 0}, "leaf must be at least 1"),
        ("cart", {"order": ["height"]}, "order must name published columns.*'height'"),
        ("cart", {"order": ["age", "age"]}, "none twice"),
        ("copula", {"rows": 0}, "rows must be at least 1"),
        ("marginals", {"delta": 0.1}, "delta is for a private release"),
        ("marginals", {"epsilon": 0.0}, "epsilon must be above 0"),
        ("noisy-histogram", {"delta": 0.0}, "delta must be above 0"),
    ],
)
def test_refused_settings(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        anonymize(TABLE, name, 1, **settings)


def test_tables_without_a_column_to_publish_are_refused() -> None:
    (table,) = encode(Schema.from_dict({"columns": {"name": {"role": "identifier"}}}), [RawTable("t", {"name": ["x"]})])
    with pytest.raises(PromiseError, match="no column that may be published"):
        anonymize(table, "cart", 1)


def test_titles_name_the_budget() -> None:
    assert Marginals(epsilon=0.1).title == "marginals epsilon=0.1"
    assert Marginals(epsilon=1.0, delta=1e-6).title == "marginals epsilon=1 delta=1e-06"


def test_decimals_are_those_of_the_declared_range() -> None:
    columns = {"age": {"role": "quasi", "type": "numeric", "domain": [0, 120]}}
    with_half = [RawTable("t", {"age": ["40"] * 99 + ["40.5"]})]
    (table,) = encode(Schema.from_dict({"columns": columns}), with_half)
    ages = numbers(made(table, "marginals", epsilon=1.0), "age")
    assert (ages == np.round(ages)).all()
