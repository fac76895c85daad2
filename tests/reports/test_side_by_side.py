"""Two records side by side: pairing, differences, overlap of intervals, and what was done differently.

Figures are made by hand, so that each difference can be worked out in the comment beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditor.model.record.record import (
    NOT_APPLICABLE,
    AdversaryFacts,
    AuditRecord,
    Input,
    PolicyCheck,
    PolicyVerdict,
    Risk,
    Utility,
)
from auditor.model.record.release_facts import ClassRisk, RegisterRisk, ReleaseFacts, SensitiveFacts
from reports.tables.side_by_side import Row, compare
from tests.support import record_samples as samples
from tests.support import record_samples_rows as rows


def release(**fields: Any) -> ReleaseFacts:
    given = {"name": "r", "kind": "generalised", "rows": 100, "suppressed_rows": 0, "suppression": "excluded",
             "classes": 20, "k": 5, "class_sizes": {"5": 20}, "method": "mondrian", "params": {"k": 5}}  # fmt: skip
    return ReleaseFacts(**{**given, **fields})


def record(*risks: Risk, **fields: Any) -> AuditRecord:
    return AuditRecord(
        seed=fields.pop("seed", 1), release=fields.pop("release", release()), risks=risks, **samples.WORDS, **fields
    )


def risk(value: float | None, low: float | None = None, high: float | None = None, **fields: Any) -> Risk:
    given: dict[str, Any] = {"attack": "linking", "adversary": "prosecutor", "link": "class", "measure": "success"}
    return rows.row(**{**given, **fields}, value=value, low=low, high=high)


def only(left: Risk, right: Risk) -> Row:
    made = compare(record(left), record(right))
    assert [len(section.rows) for section in made.risks] == [1]
    return made.risks[0].rows[0]


@pytest.mark.parametrize(
    ("left", "right", "difference", "kind"),
    [
        # 0.30 - 0.50 = -0.20, [0.45, 0.55] and [0.25, 0.35] do not meet: less risk
        ((0.50, 0.45, 0.55), (0.30, 0.25, 0.35), "−0.200", "better"),
        # 0.60 - 0.50 = +0.10, [0.45, 0.54] and [0.55, 0.65] do not meet: more risk
        ((0.50, 0.45, 0.54), (0.60, 0.55, 0.65), "+0.100", "worse"),
        # [0.45, 0.55] and [0.55, 0.65] meet in one point: cannot be told
        ((0.50, 0.45, 0.55), (0.60, 0.55, 0.65), "+0.100", "unclear"),
        # one interval inside the other
        ((0.50, 0.30, 0.70), (0.51, 0.50, 0.52), "+0.0100", "unclear"),
        ((0.50, 0.45, 0.55), (0.50, 0.40, 0.60), "0", "same"),
        # without intervals the sign alone counts
        ((0.50, None, None), (0.25, None, None), "−0.250", "better"),
        # an interval on one side only says nothing about overlap
        ((0.50, 0.0, 1.0), (0.25, None, None), "−0.250", "better"),
    ],
)
def test_difference_and_overlap(left: Any, right: Any, difference: str, kind: str) -> None:
    row = only(risk(*left), risk(*right))
    assert (row.difference, row.kind) == (difference, kind)
    assert ("overlap" in row.words) == (kind == "unclear")
    assert ("apart" in row.words) == (kind in ("better", "worse") and left[1] is not None and right[1] is not None)


def test_swapping_the_sides_turns_the_words_around() -> None:
    turned = {
        "better": "worse",
        "worse": "better",
        "left": "right",
        "right": "left",
        "higher": "lower",
        "lower": "higher",
    }
    one, two = samples.sample_run().records[1:3]
    there, back = compare(one, two), compare(two, one)
    kinds = {(s.heading, r.name, r.about): (r.kind, r.left, r.right) for s in there.risks for r in s.rows}
    assert len(kinds) > 50
    for section in back.risks:
        for row in section.rows:
            kind, left, right = kinds.pop((section.heading, row.name, row.about))
            assert (row.left.text, row.right.text) == (right.text, left.text)
            assert row.kind == turned.get(kind, kind)
    assert not kinds


def test_a_record_beside_itself_has_no_difference() -> None:
    one = samples.single_run().records[0]
    made = compare(one, one)
    assert made.differs == ()
    assert {row.kind for section in (*made.risks, made.statistics) for row in section.rows} == {"same"}
    assert {row.kind for row in made.utility.rows} <= {"same", "none"}


def test_counts_over_unequal_numbers_of_people_are_compared_as_shares() -> None:
    # 30 of 100 = 0.30 and 40 of 200 = 0.20: -0.10 of the people, less risk although the count is higher
    row = only(
        risk(30, attack="homogeneity", measure="certain", n=100),
        risk(40, attack="homogeneity", measure="certain", n=200),
    )
    assert (row.left.text, row.right.text) == ("30 of 100", "40 of 200")
    assert (row.difference, row.kind) == ("−0.100 of the people", "better")
    row = only(
        risk(30, attack="homogeneity", measure="certain", n=100),
        risk(40, attack="homogeneity", measure="certain", n=100),
    )
    assert (row.difference, row.kind) == ("+10", "worse")
    row = only(
        risk(30, attack="homogeneity", measure="certain", n=100),
        risk(60, attack="homogeneity", measure="certain", n=200),
    )
    assert (row.kind, row.words) == ("same", "the same share")


def test_measures_that_are_safer_when_higher_or_no_risk_at_all() -> None:
    assert only(risk(2, measure="m", attack="proximity"), risk(4, measure="m", attack="proximity")).kind == "better"
    row = only(risk(0.2, attack="divergence", measure="top"), risk(0.4, attack="divergence", measure="top"))
    assert row.kind == "higher"
    matching = [risk(n, attack="membership", measure="fakes", n=9) for n in (4, 9)]  # the more match, the less it says
    assert only(*matching).kind == "better"


def test_figures_are_paired_by_what_they_measure() -> None:
    left = record(risk(0.5), risk(0.4, link="likelihood"), risk(0.3, params={"tau": 0.5, "prior": "uniform"}))
    right = record(risk(0.2, params={"tau": 0.5, "prior": "release"}), risk(0.1, params={"tau": 0.8}), risk(0.5))
    rows = {(r.name, r.about): r for section in compare(left, right).risks for r in section.rows}
    assert rows["success", "prosecutor, if the class were known"].kind == "same"
    assert rows["success", "prosecutor, link likelihood"].kind == "left"
    assert (
        rows["success (tau=0.5)", "prosecutor, if the class were known"].difference == "−0.100"
    )  # the prior does not tell apart
    assert rows["success (tau=0.8)", "prosecutor, if the class were known"].kind == "right"
    assert len(rows) == 4


def test_a_figure_of_one_side_says_why_the_other_has_none() -> None:
    why = "the release has no classes"
    row = only(risk(0.5), risk(None, status=NOT_APPLICABLE, reason=why))
    assert (row.kind, row.right.text, row.words) == ("left", "not applicable", f"only on the left: {why}")
    # the row that does not apply has another measure, and stands for all of the attack
    made = compare(record(risk(None, status=NOT_APPLICABLE, reason=why)), record(risk(0.5, measure="mean")))
    assert [row.words for row in made.risks[0].rows] == [f"only on the right: {why}"]
    assert compare(record(), record(risk(None, status=NOT_APPLICABLE, reason=why))).risks == ()
    assert compare(record(), record()).summary == "The two records have no risk figure in common."


def test_summary_counts_the_outcomes() -> None:
    left = record(risk(0.5, 0.4, 0.6), risk(0.5, measure="mean"), risk(3, measure="at_risk", n=9), risk(0.1, link="x"))
    right = record(risk(0.55, 0.5, 0.6), risk(0.4, measure="mean"), risk(4, measure="at_risk", n=9))
    assert compare(left, right).summary == (
        "3 risk figures are on both sides: 1 has less risk on the right, 1 has more risk on the right, 1 has a "
        "difference that may be chance (the intervals overlap). 1 more is on one side only."
    )


def test_statistics_know_which_way_is_safer() -> None:
    sizes = ClassRisk(100, 0.2, 0.1, 0.05, 10, 0.1, 0.2, 0.2, 0, 0.0)
    facts = SensitiveFacts("disease", 7, alpha=0.8, l_distinct=2, l_recursive_c=3.0, l_recursive_l=2, t_equal=0.4)
    left = record(release=release(risk=sizes, sensitive=(facts,)))
    # at risk: 10 of 100 = 0.10 and 10 of 50 = 0.20: +0.10
    other = replace(sizes, records=50, prosecutor_max=0.1)
    facts = replace(facts, alpha=0.5, l_distinct=1, l_recursive_l=3, t_equal=0.4)
    right = record(release=release(risk=other, sensitive=(facts,), k=10, left_out_rows=4))
    rows = {row.name: row for row in compare(left, right).statistics.rows}
    assert (rows["k"].difference, rows["k"].kind) == ("+5", "better")
    assert (rows["prosecutor_max"].difference, rows["prosecutor_max"].kind) == ("−0.100", "better")
    at_risk = rows["at_risk (threshold=0.2)"]
    assert (at_risk.difference, at_risk.kind) == ("+0.100 of the people", "worse")
    assert (rows["alpha of disease"].kind, rows["l_distinct of disease"].kind) == ("better", "worse")
    assert rows["t_equal of disease"].kind == "same"
    assert rows["left out rows"].kind == "higher"
    # c for l=2 and c for l=3 are two statistics
    assert (rows["l_recursive_c of disease (l=2)"].kind, rows["l_recursive_c of disease (l=3)"].kind) == (
        "left",
        "right",
    )


def test_registers_and_guesses_side_by_side() -> None:
    sizes = ClassRisk(100, 0.2, 0.1, 0.05, 10, 0.1, 0.2, 0.2, 0, 0.0)
    beside = RegisterRisk(900, 0.2, 0.5, 0.1, 0.1, 30, 0.3, 0)
    guessed = SensitiveFacts("disease", 7, alpha=0.8, homogeneity=0.4)
    left = record(release=release(risk=sizes, register=beside, sensitive=(guessed,)))
    better = replace(beside, journalist_max=0.25, at_risk=20)
    right = record(release=release(risk=sizes, register=better, sensitive=(replace(guessed, homogeneity=0.5),)))
    rows = {row.name: row for row in compare(left, right).statistics.rows}
    most = rows["journalist_max (people=900)"]
    assert (most.difference, most.kind) == ("−0.250", "better")
    assert rows["register_marketer (people=900)"].kind == "same"
    at_risk = rows["register_at_risk (people=900, threshold=0.2)"]
    assert (at_risk.difference, at_risk.kind) == ("−10", "better")
    assert rows["homogeneity of disease"].kind == "worse"
    # beside another register it is another figure
    other = record(release=release(risk=sizes, register=replace(better, people=5)))
    rows = {row.name: row for row in compare(left, other).statistics.rows}
    assert (rows["journalist_max (people=900)"].kind, rows["journalist_max (people=5)"].kind) == ("left", "right")


def test_utility_is_paired_however_it_was_made() -> None:
    tree = {"class": "sex", "worlds": 1, "values": "as published"}
    parted = {"class": "sex", "worlds": 3, "values": "as published", "blocks": "put together at random"}
    left = record(
        utility=(
            Utility("classification", value=0.9, low=0.89, high=0.91, params=tree),
            Utility("classification", value=0.5, params={**tree, "class": "town"}),
            Utility("granularity", value=0.6, params={"absent": []}),
            Utility(
                "square_error", "not_applicable", better="lower", reason="two blocks", params={"statistic": "total"}
            ),
        )
    )
    right = record(
        utility=(
            Utility("classification", value=0.7, low=0.69, high=0.71, params=parted),
            Utility("granularity", "not_applicable", reason="several blocks"),
            Utility("correlation", "not_applicable", better="lower", reason="one column"),
            Utility(
                "square_error", "not_applicable", better="lower", reason="two blocks", params={"statistic": "total"}
            ),
        )
    )
    rows = {row.name: row for row in compare(left, right).utility.rows}
    assert list(rows) == [
        "classification (sex)", "classification (town)", "granularity", "square_error (total)", "correlation",
    ]  # fmt: skip
    assert (rows["classification (sex)"].kind, rows["classification (sex)"].about) == (
        "worse",
        "higher is better; made with other worlds, blocks",
    )
    assert rows["classification (town)"].kind == rows["granularity"].kind == "left"
    assert rows["granularity"].right.reason == "several blocks"
    # trees for some class attributes on one side, none at all on the other: the reason stands beside each
    none = record(utility=(Utility("classification", "not_applicable", reason="one column"),))
    for one, two in ((left, none), (none, left)):
        rows = {row.name: row for row in compare(one, two).utility.rows}
        assert "classification" not in rows
        cells = [cell for row in rows.values() for cell in (row.left, row.right) if row.name.startswith("class")]
        assert [cell.reason for cell in cells if cell.text == "not applicable"] == ["one column"] * 2


def test_utility_follows_the_way_that_is_better() -> None:
    left = record(
        utility=(Utility("granularity", value=0.6), Utility("queries", value=0.1, better="lower", low=0.08, high=0.12))
    )
    right = record(
        utility=(Utility("granularity", value=0.7), Utility("queries", value=0.3, better="lower", low=0.2, high=0.4))
    )
    rows = {row.name: row for row in compare(left, right).utility.rows}
    assert (rows["granularity"].difference, rows["granularity"].kind) == ("+0.100", "better")
    assert (rows["queries"].difference, rows["queries"].kind) == ("+0.200", "worse")
    assert rows["queries"].words == "higher on the right: less useful; the intervals are apart"


def verdict(*passed: bool | None) -> PolicyVerdict:
    checks = [PolicyCheck(f"m{i}", 0.09, "<=", None if p is None else 0.1, p) for i, p in enumerate(passed)]
    return PolicyVerdict("ema", "", "", checks, all(passed))


def test_checks_of_the_policies() -> None:
    made = compare(
        record(policy=verdict(True, False, True, False, True)), record(policy=verdict(True, False, False, True, None))
    )
    assert [row.kind for row in made.policy.rows] == ["same", "same", "worse", "better", "worse"]
    assert made.policy.rows[1].words == "holds on neither side"
    assert made.policy.rows[4].right.text == "cannot be judged"
    alone = compare(record(policy=verdict(True)), record())
    assert [(row.kind, row.words) for row in alone.policy.rows] == [("left", "asked on the left only")]
    assert [(d.what, d.left, d.right) for d in alone.differs] == [("policy", "ema", "not judged")]


def test_what_was_done_differently_comes_first() -> None:
    prosecutor = AdversaryFacts("prosecutor", "Knows age.", "prosecutor", ("age",))
    left = record(
        adversaries=(prosecutor,), inputs=(Input("original", "a.csv", "aa" * 32), Input("release", "x", "11"))
    )
    changed = release(method="slicing", params={"k": 10, "l": 2}, kind="sliced", identifiers=("name",))
    right = record(
        risk(0.5), seed=2, release=changed, tool={"name": "auditor"},
        adversaries=(replace(prosecutor, sentence="Knows age and sex."), replace(prosecutor, name="journalist")),
        inputs=(Input("original", "a.csv", "bb" * 32), Input("release", "x", "22")),
    )  # fmt: skip
    made = compare(left, right)
    told = {d.what: (d.left, d.right) for d in made.differs}
    assert list(told)[:4] == ["method", "setting k", "setting l", "kind of release"]
    assert told["setting k"] == ("k=5", "k=10")
    assert told["setting l"] == ("–", "l=2")
    assert told["adversary prosecutor"] == ("Knows age.", "Knows age and sex.")
    assert told["adversary journalist"] == ("not asked", "Knows age.")
    assert told["attacks"] == ("–", "linking")
    assert told["input original"] == ("SHA-256 aaaaaaaaaaa… (a.csv)", "SHA-256 bbbbbbbbbbb… (a.csv)")
    assert "input release" not in told  # that is the point of a comparison
    assert told["seed"] == ("1", "2")
    moved = compare(left, replace(left, inputs=(Input("original", "elsewhere.csv", "aa" * 32),)))
    assert moved.differs == ()  # the same content under another name
    assert len(made.warnings) == 2
    assert "different originals" in made.warnings[0]
    assert "right release publishes identifiers" in made.warnings[1]
