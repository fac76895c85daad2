"""Class statistics of a release alone, as an audit records them: tables worked by hand, and the traps that other checkers
fell into."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditor.auditing.audit import audit
from auditor.auditing.subjects import Sources, read_subject
from auditor.measure import wildcards
from auditor.measure.class_risk import class_risk
from auditor.model.arrays import Codes, Ints
from auditor.model.errors import PolicyError, UsageError
from auditor.model.packing import distinct_rows
from auditor.model.record.policy import parse_policy
from auditor.model.record.record import AuditRecord
from auditor.model.record.release_facts import SensitiveFacts
from auditor.model.release import Suppression, WithheldCells
from auditor.model.schema import Schema
from scenarios.options import Options

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "sex": {"role": "quasi"},
    "disease": {"role": "sensitive", "taxonomy": {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]}},
    "income": {"role": "sensitive", "type": "numeric"},
    "grade": {"role": "sensitive", "order": ["low", "middle", "high"]},
    "w": {"role": "weight", "type": "numeric"},
}
FEW = Options(attacks=("linking", "homogeneity"), utility=())


def audited(cells: Mapping[str, list[Any]] | pd.DataFrame, options: Options = FEW) -> AuditRecord:
    """The audit of these cells without an original."""
    frame = cells if isinstance(cells, pd.DataFrame) else pd.DataFrame(cells)
    return audit(frame, Schema.from_dict({"columns": {c: COLUMNS[c] for c in frame.columns}}), options=options)


def facts_of(record: AuditRecord, column: str) -> SensitiveFacts:
    (found,) = [facts for facts in record.release.sensitive if facts.column == column]
    return found


# ----- traps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, ""])
def test_a_row_with_a_missing_quasi_identifier_is_not_dropped(missing: Any) -> None:
    # five people of 30 and one whose age is missing: that one is alone, and k is 1
    record = audited({"age": ["30"] * 5 + [missing], "disease": ["flu", "asthma"] * 3})
    assert (record.release.rows, record.release.k, record.release.classes) == (6, 1, 2)
    assert record.release.class_sizes == {"1": 1, "5": 1}
    assert record.release.risk is not None
    assert (record.release.risk.sample_uniques, record.release.risk.prosecutor_max) == (1, 1.0)
    assert facts_of(record, "disease").l_distinct == 1


@pytest.mark.parametrize(
    "index", [[7, 3, 5, 1, 0, 2], [1, 1, 1, 2, 2, 2], ["b", "a", "b", "c", "", "x"], [np.nan, 1, 2, 3, 4, 5]]
)
def test_the_index_of_a_frame_says_nothing(index: list[Any]) -> None:
    cells = {
        "age": ["30", "30", "30", "40", "40", None],
        "disease": ["flu", "flu", "ulcer", "flu", "asthma", "asthma"],
        "income": [10, 20, 30, 40, 50, 60],
        "w": [1.5, 2, 3, 4, 5, 6],
    }
    plain = audited(pd.DataFrame(cells))
    assert audited(pd.DataFrame(cells, index=pd.Index(index))).to_json() == plain.to_json()
    # rows in another order are the same release: all of it, but for the row numbers of people
    order = [4, 0, 5, 2, 1, 3]
    shuffled = audited(pd.DataFrame(cells).iloc[order])
    assert shuffled.release == plain.release


def test_entropy_of_two_equal_values_is_exactly_two() -> None:
    assert facts_of(audited({"sex": ["f"] * 6, "disease": ["flu", "ulcer"] * 3}), "disease").l_entropy == 2.0


def test_ten_to_one_is_recursively_diverse_for_c_above_ten() -> None:
    record = audited({"sex": ["f"] * 11, "disease": ["flu"] * 10 + ["ulcer"]})
    assert (facts_of(record, "disease").l_recursive_c, facts_of(record, "disease").l_recursive_l) == (10.0, 2)
    three = audited({"sex": ["f"] * 11, "disease": ["flu"] * 10 + ["ulcer"]}, Options(**_few(), recursive_l=3))
    assert facts_of(three, "disease").l_recursive_c is None


def test_ties_of_the_commonest_value_are_split() -> None:
    # f: flu, flu, ulcer, ulcer: a guess among two tied values is right for 1/2 of them. m: flu, asthma, ulcer: 1/3
    record = audited(
        {"sex": ["f"] * 4 + ["m"] * 3, "disease": ["flu", "flu", "ulcer", "ulcer", "flu", "asthma", "ulcer"]}
    )
    guessed = record.find("homogeneity", "success", link="class")
    assert guessed.value == pytest.approx((4 / 2 + 3 / 3) / 7)
    assert facts_of(record, "disease").alpha == 0.5


def _few() -> dict[str, Any]:
    return {"attacks": FEW.attacks, "utility": FEW.utility}


# ----- by hand -------------------------------------------------------------------------------------------------------


def test_class_risk_by_hand() -> None:
    # classes of 1, 4, 5 and 10 people: chances 1, 1/4, 1/5, 1/10; above 0.2 are 1 + 4 of 20 (1/5 is not above)
    risk = class_risk(np.array([4, 1, 10, 5]))
    assert risk is not None
    assert (risk.records, risk.prosecutor_max, risk.prosecutor_min) == (20, 1.0, 0.1)
    assert risk.prosecutor_mean == risk.marketer == 4 / 20  # (1 + 4/4 + 5/5 + 10/10)/20
    assert (risk.at_risk, risk.at_risk_share, risk.threshold) == (5, 0.25, 0.2)
    assert (risk.sample_uniques, risk.sample_unique_share) == (1, 0.05)
    other = class_risk(np.array([4, 1, 10, 5]), 0.09)
    assert other is not None
    assert (other.at_risk, other.threshold) == (20, 0.09)
    assert class_risk(np.array([], dtype=np.int64)) is None


@pytest.mark.parametrize("size", range(2, 60))
def test_a_chance_at_the_threshold_is_not_above_it(size: int) -> None:
    risk = class_risk(np.array([size]), 1 / size)
    assert risk is not None
    assert risk.at_risk == 0


def test_nearness_by_hand() -> None:
    # Table IV of seed 002, first class: 10000, 10020, 10030, 15000: within ±30 of each lie 3, 3, 3 and 1 of 4: m = 4/3.
    # The second class (20000, 22000) has one of two: m = 2. The first decides.
    cells = {"sex": list("ffffmm"), "income": [10000, 10020, 10030, 15000, 20000, 22000]}
    found = facts_of(audited(cells, Options(**_few(), settings={"proximity": {"epsilon": 30}})), "income")
    assert found.proximity_m == pytest.approx(4 / 3)
    assert found.proximity_epsilon == 30
    # by default ±600, a twentieth of 22000 - 10000: the same three
    found = facts_of(audited(cells), "income")
    assert (found.proximity_m, found.proximity_epsilon) == (pytest.approx(4 / 3), pytest.approx(600))
    # at ±0 all are apart; a share of the value is not what (ε,m) asks for: the default then
    apart = facts_of(audited(cells, Options(**_few(), settings={"proximity": {"epsilon": 0}})), "income")
    assert apart.proximity_m == 2
    relative = {"proximity": {"epsilon": 0.5, "relative": True}}
    assert facts_of(audited(cells, Options(**_few(), settings=relative)), "income").proximity_epsilon == 600


def test_nearness_leaves_missing_and_withheld_numbers_out() -> None:
    # f: 10, 20, one missing, one withheld: the numbers are 1/2 each at ±5
    cells = {"sex": ["f"] * 4, "income": ["10", "20", "", "*"]}
    found = facts_of(audited(cells, Options(**_few(), settings={"proximity": {"epsilon": 5}})), "income")
    assert found.proximity_m == 2
    nothing = facts_of(audited({"sex": ["f", "f"], "income": ["", ""]}), "income")
    assert nothing.proximity_m is None


def test_nearness_needs_single_numbers() -> None:
    ranges = facts_of(audited({"sex": ["f"] * 3, "income": ["[10, 20]", "15", "30"]}), "income")
    assert (ranges.proximity_m, ranges.proximity_epsilon) == (None, 1)
    assert facts_of(audited({"sex": ["f"] * 2, "disease": ["flu", "ulcer"]}), "disease").proximity_epsilon is None
    assert facts_of(audited({"sex": ["f"] * 2, "grade": ["low", "high"]}), "grade").proximity_m is None


def test_several_sensitive_columns_each_have_their_own() -> None:
    # f: flu flu; m: flu ulcer. Incomes 10 20 | 30 40. Grades low high | low high
    record = audited(
        {
            "sex": list("ffmm"),
            "disease": ["flu", "flu", "flu", "ulcer"],
            "income": [10, 20, 30, 40],
            "grade": ["low", "high", "low", "high"],
        }
    )
    disease, income, grade = (facts_of(record, c) for c in ("disease", "income", "grade"))
    assert [f.column for f in record.release.sensitive] == ["disease", "income", "grade"]
    assert (disease.l_distinct, income.l_distinct, grade.l_distinct) == (1, 2, 2)
    assert (disease.alpha, income.alpha, grade.alpha) == (1.0, 0.5, 0.5)
    assert (disease.t_ordered, grade.t_hierarchical, income.t_hierarchical) == (None, None, None)
    assert income.t_ordered == pytest.approx(
        1 / 3
    )  # cumulative 1/2 1 1 1 against 1/4 1/2 3/4 1: 1/4 + 1/2 + 1/4 over 3
    assert grade.t_ordered == 0.0
    assert disease.t_hierarchical == pytest.approx(1 / 4)  # a quarter of m moves from flu to ulcer, across the root
    assert (disease.delta_disclosure, grade.delta_disclosure) == (None, 0.0)
    # a policy looks at the worst column
    checks = [{"figure": "release.l_distinct", "at_least": 2}, {"figure": "release.alpha", "at_most": 1}]
    verdict = parse_policy("mine", {"check": checks}).judge(record.release, (), ())
    assert [(c.value, c.passed) for c in verdict.checks] == [(1.0, False), (1.0, True)]


# Two classes: a (flu, ulcer, flu) and b (flu, asthma), and two suppressed rows (ulcer, ulcer).
SUPPRESSED = {
    "age": ["30", "30", "30", "40", "40", "*", "*"],
    "sex": ["f", "f", "f", "m", "m", "*", "*"],
    "disease": ["flu", "ulcer", "flu", "flu", "asthma", "ulcer", "ulcer"],
}


@pytest.mark.parametrize("suppression", ["excluded", "wildcard"])
def test_suppressed_rows_left_out(suppression: str) -> None:
    release = audited(SUPPRESSED, Options(**_few(), suppression=Suppression(suppression))).release
    assert (release.suppression, release.rows, release.suppressed_rows) == (suppression, 7, 2)
    assert (release.classes, release.k, release.class_sizes) == (2, 2, {"2": 1, "3": 1})
    assert release.risk is not None
    assert (release.risk.records, release.risk.prosecutor_mean) == (5, 2 / 5)
    (disease,) = release.sensitive
    # whole (7, since suppressed rows publish their value): flu 3/7, ulcer 3/7, asthma 1/7; a: 2/3, 1/3, 0; b: 1/2, 0, 1/2
    assert (disease.values, disease.alpha, disease.l_distinct) == (3, pytest.approx(2 / 3), 2)
    assert disease.t_equal == pytest.approx(3 / 7)  # b lacks ulcer
    assert disease.beta_basic == pytest.approx((1 / 2 - 1 / 7) / (1 / 7))


def test_a_value_of_suppressed_rows_only() -> None:
    # it is in the table, and in no class: t of the one class of four is the two sixths that it lacks
    cells = {
        "age": ["30"] * 4 + ["*"] * 2,
        "sex": ["f"] * 4 + ["*"] * 2,
        "disease": ["flu", "ulcer"] * 2 + ["gastritis"] * 2,
    }
    (disease,) = audited(cells).release.sensitive
    assert (disease.values, disease.l_distinct) == (3, 2)
    assert disease.t_equal == pytest.approx(2 / 6)
    assert disease.delta_disclosure is None  # a class lacks a value


def test_suppressed_rows_as_a_category_of_their_own() -> None:
    release = audited(SUPPRESSED, Options(**_few(), suppression=Suppression.OWN)).release
    assert (release.suppression, release.suppressed_rows) == ("own", 2)
    assert (release.classes, release.k, release.class_sizes) == (3, 2, {"2": 2, "3": 1})
    assert release.risk is not None
    assert (release.risk.records, release.risk.prosecutor_mean) == (7, 3 / 7)
    (disease,) = release.sensitive
    # whole (7): flu 3/7, ulcer 3/7, asthma 1/7; the suppressed class is all ulcer
    assert (disease.alpha, disease.l_distinct, disease.l_recursive_c) == (1.0, 1, None)
    assert disease.t_equal == pytest.approx(4 / 7)
    assert disease.beta_basic == pytest.approx((1 / 2 - 1 / 7) / (1 / 7))


def test_withheld_cells_as_wildcards_by_hand() -> None:
    # (30, f) ×2, (30, *) ×1, (*, m) ×1 and a suppressed row. (30, f) agrees with itself and (30, *): 3; (30, *) with all: 4;
    # (*, m) with (30, *): 2. So 1/2 at most, 1/4 at least, (2/3 + 1/4 + 1/2)/4 on average
    cells = {"age": ["30", "30", "30", "*", "*"], "sex": ["f", "f", "*", "m", "*"], "disease": ["flu"] * 5}
    risk = audited(cells).release.risk
    assert risk is not None
    assert (risk.prosecutor_max, risk.wildcard_max, risk.wildcard_min) == (1.0, 0.5, 0.25)
    assert risk.wildcard_mean == pytest.approx((2 / 3 + 1 / 4 + 1 / 2) / 4)


def test_both_ways_to_count_wildcards_are_the_same() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        classes, columns = int(rng.integers(1, 25)), int(rng.integers(1, 5))
        hidden = rng.random((classes, columns)) < 0.4
        labels = np.where(hidden, 9, rng.integers(0, 3, (classes, columns))).astype(np.int32)
        sizes = rng.integers(1, 6, (classes, 2)).astype(np.float64)
        pattern = distinct_rows(hidden.astype(np.int32))
        agree = ((labels[:, None] == labels[None]) | hidden[:, None] | hidden[None]).all(axis=2)
        assert wildcards.by_kind(labels, hidden, sizes).tolist() == (agree @ sizes).tolist()
        assert wildcards.by_pattern(labels, hidden, pattern, sizes).tolist() == (agree @ sizes).tolist()


def test_classes_of_many_patterns_are_not_compared_pattern_by_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    # 512 rows, each with other cells withheld: the pairs of patterns would be a quarter of a million sorts
    sorts: list[int] = []

    def sorted_rows(matrix: Codes) -> Ints:
        sorts.append(len(matrix))
        return distinct_rows(matrix)

    monkeypatch.setattr(wildcards, "distinct_rows", sorted_rows)
    keys = {f"q{i}": ["*" if row >> i & 1 else "a" for row in range(512)] for i in range(9)}
    schema = Schema.from_dict({"columns": {name: {"role": "quasi"} for name in keys}})
    release = read_subject(Sources(pd.DataFrame(keys), schema), 1).release
    alike = wildcards.alike_classes(release, Suppression.EXCLUDED, WithheldCells.WILDCARD)
    found = alike.frequency()
    assert found is not None
    assert (
        found[alike.inside].tolist() == [511] * 511
    )  # all shown cells are alike; the row of which all is withheld takes no part
    assert sorts == [511]


# ----- weights -------------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_individual_risk_of_francdat(data_folder: Path) -> None:
    # reference-values.md: .0171443 .0220423 .0220423 .1770758 .0116545 .2970631 .4023595 .0171443 (sdcMicro, mu-Argus)
    with (data_folder / "data" / "casc" / "francdat.csv").open() as file:
        frame = pd.DataFrame(list(csv.DictReader(file)))
    keys = {f"Key{i}": {"role": "quasi"} for i in range(1, 5)}
    schema = Schema.from_dict({"table": {"others": "neutral"}, "columns": {**keys, "w": COLUMNS["w"]}})
    found = audit(frame, schema, options=FEW).release.weighted
    assert found is not None
    assert (found.column, found.reason, found.threshold) == ("w", None, 0.2)
    assert found.max == pytest.approx(0.4023595, abs=5e-8)
    assert found.reidentified == pytest.approx(0.9665261, abs=4e-7)
    assert found.mean == pytest.approx(0.9665261 / 8, abs=5e-8)
    assert found.at_risk == 2  # the sixth and the seventh
    assert found.people == pytest.approx(110 + 84.5 + 17 + 541 + 8 + 5)


def test_weights_by_hand() -> None:
    # a class of one that stands for 4 people: p = 1/4, (1/3)·ln 4 = .462; of three that stand for 6: p = 1/2,
    # .5/(3 - .5) = .2 each, not above the threshold; of one that stands for itself: 1
    cells = {"age": ["1", "2", "2", "2", "3"], "disease": ["flu"] * 5, "w": [4, 1, 2, 3, 1]}
    found = audited(cells).release.weighted
    assert found is not None
    alone = math.log(4) / 3
    assert (found.max, found.at_risk, found.people) == (1.0, 2, 11)
    assert found.reidentified == pytest.approx(alone + 0.6 + 1)
    assert found.mean == pytest.approx((alone + 0.6 + 1) / 5)


@pytest.mark.parametrize("weight", ["", "0", "-1", "*", "[1, 5]"])
def test_weights_that_say_nothing(weight: str) -> None:
    found = audited({"age": ["1", "2"], "disease": ["flu", "flu"], "w": ["3", weight]}).release.weighted
    assert found is not None
    assert (found.max, found.reidentified, found.at_risk) == (None, None, None)
    assert found.reason == "some weights are missing, suppressed, coarsened, not above 0 or far too large"


def test_without_weights_there_is_no_individual_risk() -> None:
    assert audited({"age": ["1", "2"], "disease": ["flu", "flu"]}).release.weighted is None


# ----- policies and old records --------------------------------------------------------------------------------------


def test_policies_on_class_risk_and_weights() -> None:
    cells = {"age": ["1", "2", "2"], "disease": ["flu", "flu", "ulcer"], "income": [1, 2, 9], "w": [4, 2, 2]}
    checks = [
        {"figure": "release.prosecutor_max", "at_most": 0.5},
        {"figure": "release.at_risk_share", "at_most": 1},
        {"figure": "release.sample_uniques", "at_most": 0},
        {"figure": "release.weighted_max", "at_most": 0.5},
        {"figure": "release.proximity_m", "at_least": 2},
    ]
    policy = parse_policy("mine", {"check": checks})
    judged = policy.judge(audited(cells).release, (), ()).checks
    assert [c.passed for c in judged] == [False, True, False, True, None]  # (ε,m) is not for diseases
    only = audited({c: cells[c] for c in ("age", "income")}).release
    assert [c.passed for c in policy.judge(only, (), ()).checks] == [False, True, False, None, False]
    reason = policy.judge(only, (), ()).checks[3].reason
    assert reason == "the release has no column of role weight"
    for wrong in ("weighted_reason", "weighted_people", "proximity_epsilon", "records"):
        with pytest.raises(PolicyError, match="release has no figure"):
            parse_policy("mine", {"check": [{"figure": f"release.{wrong}", "at_most": 1}]})


@pytest.mark.parametrize("limit", [math.inf, -math.inf, math.nan, True, "5", None])
def test_a_limit_of_a_policy_must_be_a_number(limit: Any) -> None:
    with pytest.raises(PolicyError, match="mine, check 1: at_most or at_least must give one number"):
        parse_policy("mine", {"check": [{"figure": "release.k", "at_least": limit}]}, "mine")


def test_a_check_of_a_policy_must_be_a_table() -> None:
    with pytest.raises(PolicyError, match="check 2 must be a table") as caught:
        parse_policy("mine", {"check": [{"figure": "release.size", "at_least": 1}, 7]})
    assert "release has no figure 'size'" in str(caught.value)  # all faults at once


def test_records_of_older_versions_still_load() -> None:
    data = json.loads(audited(SUPPRESSED).to_json())
    del data["lacking"], data["release"]["risk"], data["release"]["weighted"]
    for facts in data["release"]["sensitive"]:
        del facts["proximity_m"], facts["proximity_epsilon"]
    for risk in data["risks"]:
        del risk["lacks"]
    old = AuditRecord.from_json(json.dumps(data))
    assert (old.release.risk, old.release.weighted, old.lacking) == (None, None, ())
    verdict = parse_policy("mine", {"check": [{"figure": "release.at_risk", "at_most": 1}]}).judge(old.release, (), ())
    assert verdict.checks[0].passed is None


def test_settings_of_the_attacks_hold_for_the_statistics() -> None:
    cells = {"sex": list("ffm"), "income": [1, 2, 9]}
    options = Options(**_few(), settings={"linking": {"threshold": 0.6}})
    risk = audited(cells, options).release.risk
    assert risk is not None
    assert (risk.threshold, risk.at_risk) == (0.6, 1)
    with pytest.raises(UsageError, match="epsilon must be at least 0"):
        audited(cells, Options(**_few(), settings={"proximity": {"epsilon": -1}}))
