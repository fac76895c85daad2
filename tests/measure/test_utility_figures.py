"""Utility measures worked by hand, and against slow obvious versions on random tables."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations
from math import log2, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizers.anonymizing import anonymize
from auditor.measure.utility import Case
from auditor.measure.utility.categorical import categorical_distance, distance, entropy, tables
from auditor.measure.utility.clusters import information_loss, square_error
from auditor.measure.utility.continuous import changes, moments, relative_changes
from auditor.measure.utility.correlation import correlation, correlation_ratio
from auditor.measure.utility.propensity import pmse
from auditor.measure.utility.sizes import discernibility
from auditor.measure.utility.widths import granularity, granularity_arx
from auditor.measure.utility.worlds import World, over_worlds, worlds
from auditor.model.arrays import Floats
from auditor.model.errors import UsageError
from auditor.model.record.record import Utility
from auditor.model.schema import Schema
from auditor.model.table import Table
from tests.support.utility_cases import COLUMNS, Rows, case_of, published, table_of


def values(rows: list[Utility]) -> dict[str, float]:
    """The values by measure and statistic."""
    found = {}
    for row in rows:
        assert row.value is not None, row
        statistic = row.params.get("statistic")
        found[row.measure if statistic is None else f"{row.measure} {statistic}"] = row.value
    return found


# ----- numbers -------------------------------------------------------------------------------------------------------

NUMBERS = {"age": ["2", "4", "6", "8"], "height": ["1", "2", "4", "5"]}


def test_changes_by_hand() -> None:
    found = values(changes(case_of({"age": ["3", "3", "7", "7"], "height": ["1", "3", "4", "5"]}, table_of(NUMBERS))))
    # age moves by 1 each, height by 0, 1, 0, 0
    assert found["IL1"] == pytest.approx((1 / 2 + 1 / 4 + 1 / 6 + 1 / 8 + 1 / 2) / 8)
    # a sample's variances: age (9 + 1 + 1 + 9)/3, height (4 + 1 + 1 + 4)/3
    assert found["IL1s"] == pytest.approx((4 / sqrt(2 * 20 / 3) + 1 / sqrt(2 * 10 / 3)) / 8)
    # means: age 5 → 5, height 3 → 3.25
    assert found["IL2"] == pytest.approx((0 + 0.25 / 3) / 2)
    # variances: age 5 → 4, height 2.5 → (2.25² + 0.25² + 0.75² + 1.75²)/4 = 2.1875
    assert found["IL3"] == pytest.approx((1 / 5 + 0.3125 / 2.5) / 2)
    # covariance: (6 + 1 + 1 + 6)/4 = 3.5 → (4.5 + 0.5 + 1.5 + 3.5)/4 = 2.5
    assert found["IL4"] == pytest.approx(1 / 3.5)
    before, after = 3.5 / sqrt(5 * 2.5), 2.5 / sqrt(4 * 2.1875)
    assert found["IL5"] == pytest.approx((before - after) / before)
    assert found["IL6"] == pytest.approx(100 * np.mean([found[f"IL{i}"] for i in range(1, 6)]))


def test_terms_that_divide_by_zero_are_left_out_and_counted() -> None:
    # x = 0 is left out of IL1; the mean of -1, 0, 1 is 0, and IL2 has no term left
    table = table_of({"age": ["-1", "0", "1"]})
    rows = {row.measure: row for row in changes(case_of({"age": ["-1", "1", "1"]}, table))}
    assert rows["IL1"].value == 0
    assert rows["IL1"].detail == {"zero": 1}
    assert rows["IL1s"].value == pytest.approx(1 / sqrt(2 * 1) / 3)
    assert "divide by is 0" in str(rows["IL2"].reason)
    for name in ("IL4", "IL5", "IL6"):
        assert "needs two" in str(rows[name].reason)


def slow_changes(original: Floats, given: Floats) -> dict[str, float]:
    """IL1 … IL5 term by term; pandas for the moments of columns with missing values."""
    before, after = pd.DataFrame(original), pd.DataFrame(given)
    columns = range(original.shape[1])
    terms: dict[str, list[float]] = {f"IL{i}": [] for i in range(1, 6)}
    for row in range(len(given)):
        for j in columns:
            x, y = original[row, j], given[row, j]
            if not np.isnan(x) and not np.isnan(y) and x != 0:
                terms["IL1"].append(abs(x - y) / abs(x))
    for j in columns:
        terms["IL2"].append(abs(before[j].mean() - after[j].mean()) / abs(before[j].mean()))
        terms["IL3"].append(abs(before[j].var(ddof=0) - after[j].var(ddof=0)) / before[j].var(ddof=0))
    for i, j in combinations(columns, 2):
        one, two = (np.cov(f[[i, j]].dropna().T, ddof=0)[0, 1] for f in (before, after))
        terms["IL4"].append(abs(one - two) / abs(one))
        one, two = before.corr().loc[i, j], after.corr().loc[i, j]
        terms["IL5"].append(abs(one - two) / abs(one))
    found = {name: float(np.mean(some)) for name, some in terms.items()}
    return {**found, "IL6": 100 * float(np.mean(list(found.values())))}


@pytest.mark.parametrize("seed", range(8))
def test_changes_equal_the_slow_version(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = np.round(rng.normal(seed, 3, (60, 4)) + rng.normal(0, 2, (60, 1)), seed % 3)
    given = original + rng.normal(0, 1, original.shape)
    original[rng.random(original.shape) < 0.1] = np.nan
    given = given[: 60 - seed]
    given[rng.random(given.shape) < 0.05] = np.nan
    found = relative_changes(original, given).values
    expected = slow_changes(original, given)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_a_column_without_spread_goes_with_nothing() -> None:
    # 0.1 + 0.2 and the like: the mean of equal numbers may be off by a last bit, which is no spread
    original = np.array([[0.1, 1.0], [0.2, 2.0], [0.7, 3.0]])
    found = relative_changes(original, np.array([[0.1, 1.0]] * 3)).values
    assert found["IL3"] == pytest.approx(1)
    assert found["IL5"] == pytest.approx(1)


# ----- categories ----------------------------------------------------------------------------------------------------


def test_distance_by_hand() -> None:
    # town: A → B and A → C are others, whatever the taxonomy; grade: low → high is two steps, mid → high one, of three
    # categories; job: other or not
    table = table_of({"town": ["A", "A", "E"], "grade": ["low", "mid", "high"], "job": ["x", "y", "y"]})
    rows = distance(
        case_of({"town": ["B", "C", "E"], "grade": ["high", "high", "high"], "job": ["x", "y", "x"]}, table)
    )
    assert values(rows)["Dist"] == pytest.approx((2 / 3 + (2 / 3 + 1 / 3) / 3 + 1 / 3) / 3)
    assert (rows[0].low, rows[0].params["worlds"], rows[0].params["values"]) == (None, 1, "as published")


def test_distances_are_those_of_the_paper() -> None:
    # slide 21: four ordered categories, neighbours 1/4 apart and the ends 3/4; nominal values 0 or 1; missing is far from all
    schema = {"columns": {"size": {"role": "quasi", "order": ["S", "M", "L", "XL"]}, "town": COLUMNS["town"]}}
    table = Table.from_frame(
        pd.DataFrame({"size": ["S", "M", "L", "XL", ""], "town": list("ABCDE")}), Schema.from_dict(schema)
    )
    size, town = table.domains["size"], table.domains["town"]
    one, other = (np.array(codes, dtype=np.int32) for codes in ([0, 0, 1, 4, 4], [1, 3, 1, 0, 4]))
    assert categorical_distance(size, one, other).tolist() == [0.25, 0.75, 0, 1, 0]
    assert categorical_distance(town, one, other).tolist() == [1, 1, 0, 1, 0]


def test_tables_by_hand() -> None:
    table = table_of({"job": ["x", "x", "y"], "illness": ["f", "f", "g"]})
    found = values(tables(case_of({"job": ["x", "y", "y"], "illness": ["f", "f", "g"]}, table)))
    # job: x 2 → 1, y 1 → 2: 1/2 + 1; illness: unchanged; both: (x, f) 2 → 1: 1/2, (y, f) 0 → 1: 1, (y, g) 1 → 1
    assert found["CTBIL'"] == pytest.approx(1.5 + 0 + 1.5)
    assert found["ACTBIL'"] == pytest.approx(3 / (2 + 2 + 4))


def test_entropy_by_hand() -> None:
    # three people with {x, y}: two of them x, one y
    rows = entropy(case_of({"job": ["{x, y}"] * 3 + ["z"]}, table_of({"job": ["x", "x", "y", "z"]})))
    unknown = 3 * (2 / 3 * log2(3 / 2) + 1 / 3 * log2(3))
    assert values(rows)["EBIL"] == pytest.approx(unknown)
    assert rows[0].detail["share"] == pytest.approx(unknown / (4 * (0.5 * 1 + 2 * 0.25 * 2)))


CATEGORIES = {"town": list("ABCDE"), "job": list("xyz"), "grade": ["low", "mid", "high"], "illness": list("fgh")}


def random_rows(rng: np.random.Generator, count: int) -> Rows:
    return {column: [pool[i] for i in rng.integers(len(pool), size=count)] for column, pool in CATEGORIES.items()}


@pytest.mark.parametrize("seed", range(6))
def test_categorical_measures_equal_the_slow_versions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, after = random_rows(rng, 40), random_rows(rng, 40)
    before = {
        column: [*cells[:-5], *pool, *pool][:40]
        for (column, cells), pool in zip(before.items(), CATEGORIES.values(), strict=True)
    }
    left_out = set(rng.choice(40, seed, replace=False).tolist())
    case = case_of(after, table_of(before), bucket=[-1 if i in left_out else 0 for i in range(40)])
    inside = [i for i in range(40) if i not in left_out]
    far = []
    for i in inside:
        far.append(
            abs(CATEGORIES["grade"].index(before["grade"][i]) - CATEGORIES["grade"].index(after["grade"][i])) / 3
        )
        far += [before[c][i] != after[c][i] for c in ("town", "job", "illness")]
    assert values(distance(case))["Dist"] == pytest.approx(np.mean(far))
    change, cells = 0.0, 0
    for order in (1, 2):
        for columns in combinations(CATEGORIES, order):
            f = Counter(tuple(before[c][i] for c in columns) for i in range(40))
            g = Counter(tuple(after[c][i] for c in columns) for i in inside)
            change += sum(abs(f[cell] - g[cell]) / max(f[cell], 1) for cell in {*f, *g})
            cells += int(np.prod([len(CATEGORIES[c]) for c in columns]))
    assert values(tables(case)) == pytest.approx({"CTBIL'": change, "ACTBIL'": change / cells})
    unknown = 0.0
    for column in CATEGORIES:
        for i in inside:
            mates = Counter(before[column][j] for j in inside if after[column][j] == after[column][i])
            total = sum(mates.values())
            unknown += sum(n / total * log2(total / n) for n in mates.values())
    assert values(entropy(case))["EBIL"] == pytest.approx(unknown)


# ----- labels and classes --------------------------------------------------------------------------------------------

LOSSES: dict[str, dict[str, tuple[float, float]]] = {
    # by hand: what each label hides as granularity counts (values or width) and as the information loss does (height)
    "age": {"20": (0, 0), "60": (0, 0), "[20, 40]": (0.5, 0.5), "]30, 60]": (29 / 40, 29 / 40), "*": (1, 1)},
    "town": {"A": (0, 0), "E": (0, 0), "North": (1 / 4, 1 / 2), "South": (2 / 4, 1 / 2), "*": (1, 1)},
    "job": {"x": (0, 0), "z": (0, 0), "{x, z}": (1 / 2, 1), "{y, z}": (1 / 2, 1), "*": (1, 1)},
    "grade": {"low": (0, 0), "[low, mid]": (1 / 2, 1 / 2), "[mid, high]": (1 / 2, 1 / 2), "*": (1, 1)},
}
WHOLE = {
    "age": ["20", "30", "40", "60", "30"],
    "town": list("ABCDE"),
    "job": ["x", "y", "z", "x", "x"],
    "grade": ["low", "mid", "high", "low", "low"],
}
SIZES = {"age": 4, "town": 5, "job": 3, "grade": 3}
AGES_BY_VALUE = {"20": 0, "60": 0, "[20, 40]": 2 / 3, "]30, 60]": 1 / 3, "*": 1}
"""What ARX counts: 3 and 2 of the ages 20, 30, 40 and 60. By width, ages being whole numbers, ]30, 60] is [31, 60]."""


@pytest.mark.parametrize("seed", range(6))
def test_label_and_class_measures_equal_the_slow_versions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = table_of({column: cells * 6 for column, cells in WHOLE.items()})
    texts: Rows = {}
    for column, known in LOSSES.items():
        pool = list(known)[: 2 + seed % 4]
        texts[column] = [pool[i] for i in rng.integers(len(pool), size=30)]
    case = case_of(texts, original, k=2)
    case = Case(case.release, k=2)  # the labels alone: at random they do not cover anybody
    lost = {c: [LOSSES[c][text][0] for text in texts[c]] for c in LOSSES}
    assert values(granularity(case))["granularity"] == pytest.approx(1 - np.mean([np.mean(v) for v in lost.values()]))
    weights = {c: 1 - 1 / SIZES[c] for c in LOSSES}
    lost["age"] = [AGES_BY_VALUE[text] for text in texts["age"]]
    arx = sum(weights[c] * (1 - np.mean(lost[c])) for c in LOSSES) / sum(weights.values())
    assert values(granularity_arx(case))["granularity_arx"] == pytest.approx(arx)
    total = sum(LOSSES[c][text][1] for c in LOSSES for text in texts[c])
    assert values(information_loss(case)) == pytest.approx(
        {"information_loss total": total, "information_loss normalised": total / (30 * 4)}
    )
    classes = Counter(zip(*texts.values(), strict=True))
    withheld = tuple("*" for _ in LOSSES)
    expected = sum(30 * n if n < 2 or labels == withheld else n * n for labels, n in classes.items())
    assert values(discernibility(case))["discernibility"] == expected


def test_people_who_were_left_out_have_lost_everything() -> None:
    # ages 20, [20, 40], 60 of a range of 40, and a person who was deleted: (0 + 0.5 + 0 + 1)/4; towns: (0 + 0 + 0 + 1)/4
    table = table_of({"age": ["20", "30", "60", "40"], "town": ["A", "B", "C", "D"]})
    texts = {"age": ["20", "[20, 40]", "60", "60"], "town": ["A", "B", "C", "C"]}
    kept = case_of(texts, table, bucket=[0, 0, 0, -1]).release
    assert (kept.rows, kept.left_out) == (3, 1)
    case = Case(kept)
    (row,) = granularity(case)
    assert (row.value, row.detail["columns"]) == (pytest.approx(1 - 2.5 / 8), {"age": 0.625, "town": 0.75})
    assert row.params["left_out"] == 1
    # weights: of four ages and five towns (leaves of the taxonomy) 3/4 and 4/5; [20, 40] covers three of four ages
    arx = (0.75 * (1 - (2 / 3 + 1) / 4) + 0.8 * 0.75) / 1.55
    assert values(granularity_arx(case))["granularity_arx"] == pytest.approx(arx)
    assert values(information_loss(case)) == pytest.approx(
        {"information_loss total": 2.5, "information_loss normalised": 2.5 / 8}
    )


def test_square_error_by_hand() -> None:
    # ages 20, 30 | 40, 60 in classes of two: centroids 25 and 50, range 40: (5² + 5² + 10² + 10²)/40² and over the total
    # spread around 37.5, 17.5² + 7.5² + 2.5² + 22.5²; towns A, B | C, C: one of A and B is half the height away
    table = table_of({"age": ["20", "30", "40", "60"], "town": ["A", "B", "C", "C"]})
    texts = {"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"], "town": ["North", "North", "C", "C"]}
    found = values(square_error(case_of(texts, table)))
    assert found["square_error total"] == pytest.approx(250 / 1600 + 0.25)
    assert found["square_error percent"] == pytest.approx(100 * 250 / 875)
    # published numbers are taken as they are: 21 is not the mean
    found = values(square_error(case_of({**texts, "age": ["21", "21", "50", "50"]}, table)))
    assert found["square_error percent"] == pytest.approx(100 * (1 + 81 + 100 + 100) / 875)


@pytest.mark.data
def test_square_error_of_the_literature(data_folder: Path) -> None:
    """Reference values of the design: MDAV on Tarragona, 100·SSE/SST on z-scored columns."""
    with (data_folder / "data" / "casc" / "Tarragona.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = {c: [row[c] for row in rows] for c in rows[0]}
    schema = Schema.from_dict({"columns": {c: {"role": "quasi", "type": "numeric"} for c in columns}})
    table = Table.from_frame(pd.DataFrame(columns), schema)
    for k, percent in ((3, 16.9326), (10, 33.1929)):
        release, provenance = anonymize(table, "mdav", k=k, restore=False)
        found = values(square_error(Case(release, table, provenance.fragment)))
        assert found["square_error percent"] == pytest.approx(percent, abs=5e-5)


# ----- all published columns -------------------------------------------------------------------------------------------


def test_neutral_columns_count() -> None:
    # ages 20, 30 | 40, 60 as before; pay 1, 3 | 3, 5 is published as it is, and no centre of a class is any row's: range 4,
    # centroids 2 and 4: 4·1²/4²
    rows = {"age": ["20", "30", "40", "60"], "pay": ["1", "3", "3", "5"]}
    texts = {"age": ["25", "25", "50", "50"], "pay": rows["pay"]}
    table = table_of(rows)
    release, provenance = published(texts, table)
    everything, some = (Case(release, table, provenance.fragment, columns=c) for c in (None, ["age"]))
    assert (everything.columns, some.columns) == (("age", "pay"), ("age",))
    found = values(square_error(everything))
    assert found["square_error total"] == pytest.approx(250 / 1600 + 4 / 16)
    assert found["square_error percent"] == pytest.approx(100 * 250 / 875)  # of what was grouped
    assert values(square_error(some))["square_error total"] == pytest.approx(250 / 1600)
    both = values(square_error(Case(release, table, provenance.fragment, columns=["age", "pay"])))
    assert both["square_error percent"] == pytest.approx(100 * (250 / 875) / 2)  # two columns of equal spread, one kept
    changed = {row.measure: row for row in changes(everything)}
    assert changed["IL1"].params["columns"] == ["age", "pay"]
    assert changed["IL5"].value is not None
    assert {row.measure: row.reason for row in changes(some)}["IL5"] is not None  # one column has no pairs
    for absent in (["job"], []):
        with pytest.raises(UsageError, match="some of age, pay"):
            Case(release, table, provenance.fragment, columns=absent)


def test_columns_of_names_are_left_out_and_weights() -> None:
    rows: Rows = {"age": [str(i % 7) for i in range(40)]}
    more = {"note": [f"n{i}" for i in range(40)], "few": [f"n{i % 5}" for i in range(40)], "w": ["2"] * 40}
    kinds = {"note": {"role": "neutral"}, "few": {"role": "neutral"}, "w": {"role": "weight"}}
    schema = Schema.from_dict({"columns": {"age": COLUMNS["age"], **kinds}})
    table = Table.from_frame(pd.DataFrame({**rows, **more}), schema)
    release, provenance = published({**rows, **more}, table)
    assert Case(release, table, provenance.fragment).columns == ("age", "few")
    assert Case(release, table, provenance.fragment, columns=["note"]).columns == ("note",)


@pytest.mark.data
@pytest.mark.parametrize("k", [3, 7])
def test_the_impact_grows_with_the_quasi_identifiers(data_folder: Path, k: int) -> None:
    """Slide 24 of the microaggregation paper on Census, 1080 × 13: the change of correlations over all 13 columns, with 6 and
    with 13 quasi-identifiers. Over the quasi-identifiers alone the first would be the greater from k = 5 on."""
    with (data_folder / "data" / "casc" / "CASCrefmicrodata.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = []
    for count in (6, 13):
        columns = {c: [row[c] for row in rows] for c in rows[0]}
        roles = {c: "quasi" if i < count else "neutral" for i, c in enumerate(columns)}
        schema = Schema.from_dict({"columns": {c: {"role": roles[c], "type": "numeric"} for c in columns}})
        table = Table.from_frame(pd.DataFrame(columns), schema)
        release, provenance = anonymize(table, "mdav", k=k, restore=True)
        found.append(values(changes(Case(release, table, provenance.fragment)))["IL5"])
    assert found == pytest.approx({3: [0.036, 0.058], 7: [0.063, 0.117]}[k], abs=0.0006)


# ----- associations --------------------------------------------------------------------------------------------------


def test_correlation_by_hand() -> None:
    # age and job: groups x (2, 4) and y (6, 8): between 4·4 = 16 of 20, η² = 0.8; published x, y, x, y: means 4 and 6:
    # between 4 of 20, 0.2. age and height, job and height: height 1, 2, 4, 5 is kept: r is kept; x (1, 2), y (4, 5):
    # between 4·1.5² = 9 of 10; published x (1, 4), y (2, 5): 4·0.5² = 1 of 10
    rows = correlation(
        case_of({**NUMBERS, "job": ["x", "y", "x", "y"]}, table_of({**NUMBERS, "job": ["x", "x", "y", "y"]}))
    )
    assert values(rows)["correlation"] == pytest.approx((0 + 0.6 + 0.8) / 3)
    worst = rows[0].detail["most_changed"]
    assert (worst["columns"], worst["before"], worst["after"]) == (
        ["height", "job"],
        pytest.approx(0.9),
        pytest.approx(0.1),
    )


def test_correlation_of_nominal_and_ordinal_columns() -> None:
    # φ² of job and illness 1 → 0; grade by rank: 0, 1, 2, 2 against age 2, 4, 6, 8
    table = table_of({"job": list("xxyy"), "illness": list("ffgg")})
    assert values(correlation(case_of({"job": list("xyxy"), "illness": list("ffgg")}, table)))["correlation"] == 1
    ranks = {"age": NUMBERS["age"], "grade": ["low", "mid", "high", "high"]}
    case = case_of({**ranks, "grade": ["high", "high", "mid", "low"]}, table_of(ranks))
    r = float(np.corrcoef([2, 4, 6, 8], [0, 1, 2, 2])[0, 1])
    assert values(correlation(case))["correlation"] == pytest.approx(2 * r)


@pytest.mark.parametrize("seed", range(5))
def test_correlation_ratio_equals_the_slow_version(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=50).astype(np.int32)
    numbers = rng.normal(size=50) + codes
    numbers[rng.random(50) < 0.1] = np.nan
    known = [(x, c) for x, c in zip(numbers, codes, strict=True) if not np.isnan(x)]
    mean = np.mean([x for x, _ in known])
    groups = {c: np.mean([x for x, d in known if d == c]) for _, c in known}
    between = sum((groups[c] - mean) ** 2 for _, c in known)
    assert correlation_ratio(numbers, codes) == pytest.approx(between / sum((x - mean) ** 2 for x, _ in known))


def test_propensity_by_hand() -> None:
    # original 10 x and 10 y, published 20 x. A tree has the leaves x (30 rows, 20 of them released: p = 2/3) and y (p = 0):
    # (30·(2/3 - 1/2)² + 10·(1/2)²)/40
    table = table_of({"job": ["x", "y"] * 10})
    rows = pmse(case_of({"job": ["x"] * 20}, table))
    assert values(rows)["pmse"] == pytest.approx((30 / 36 + 10 / 4) / 40)
    assert values(pmse(case_of({"job": ["x", "y"] * 10}, table)))["pmse"] == 0
    ages = table_of({"age": [str(20 + i % 10) for i in range(40)]})
    assert values(pmse(case_of({"age": ["99"] * 40}, ages)))["pmse"] == pytest.approx(0.25)  # always told apart


# ----- worlds --------------------------------------------------------------------------------------------------------


def test_a_world_draws_inside_labels_and_permutes_inside_buckets() -> None:
    rng = np.random.default_rng(1)
    rows = {**random_rows(rng, 60), "age": [str(20 + i) for i in range(60)]}
    texts = {**rows, "town": ["North" if t in "AB" else "South" for t in rows["town"]]}
    bucket = [i // 6 for i in range(60)]
    case = case_of(texts, table_of(rows), [["age", "town", "grade"], ["illness", "job"]], bucket)
    drawn = worlds(case)
    assert len(drawn) == 5
    for world in drawn:
        row = case.people.row
        assert world.numbers("age").tolist() == [20 + i for i in row]  # the anchor keeps its people
        given = case.original.domains["town"].texts if case.original else ()
        assert all(
            (given[c] in "AB") == (rows["town"][i] in "AB") for c, i in zip(world.codes("town"), row, strict=True)
        )
        for number in range(10):
            mine = np.flatnonzero(row // 6 == number)
            pairs = Counter(zip(world.labels("illness")[mine], world.labels("job")[mine], strict=True))
            block = case.release.blocks[1]
            home = block.bucket[world.fragment[1][mine]]
            assert len(set(home.tolist())) == 1
            there = block.cells[block.bucket == home[0]]
            assert pairs == Counter(map(tuple, there.tolist()))  # as published: the fragments stay whole
    towns = np.concatenate([World(case, number).codes("town") for number in range(200)])
    share = np.bincount(towns, minlength=5) / len(towns)
    south = sum(t in "CDE" for t in rows["town"]) / 60
    assert share == pytest.approx([(1 - south) / 2] * 2 + [south / 3] * 3, abs=0.02)
    assert not np.array_equal(drawn[0].codes("job"), drawn[1].codes("job"))


def test_means_over_worlds_carry_students_interval() -> None:
    # 1, 2, 3, 4, 5: standard error √(2.5/5), t(4) = 2.7764
    value, low, high = over_worlds([1, 2, 3, 4, 5])
    assert (value, low, high) == (3, pytest.approx(3 - 2.7764451 * sqrt(0.5)), pytest.approx(3 + 2.7764451 * sqrt(0.5)))
    assert over_worlds([0.5]) == (0.5, None, None)
    assert over_worlds([0.0, 1.0])[1] == 0


def test_the_correlation_with_a_number_that_has_no_spread_where_both_are_known_is_none() -> None:
    numbers = np.array([[1.0, 3.0], [np.nan, 3.0], [0.1 + 0.2, 0.3], [0.3, 0.3], [1.0, np.nan]])
    for some in (numbers, numbers[1:4], numbers[[0, 1, 4]]):
        correlation = moments(some)[2]
        known = correlation[~np.isnan(correlation)]
        assert (np.abs(known) <= 1).all()
    assert np.isnan(moments(numbers[[0, 1, 4]])[2][0, 1])
