"""Without the original: what the release alone shows, set apart from what needs more, in the record and in every report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from auditor.auditing.audit import audit
from auditor.auditing.lacking import lacking
from auditor.measure.statistics import STATISTICS
from auditor.model.record.record import NOT_APPLICABLE, OK, AuditRecord, Lack, Risk, RunRecord
from auditor.model.record.release_facts import ClassRisk, RegisterRisk, ReleaseFacts, SensitiveFacts, WeightedRisk
from auditor.model.schema import Schema
from reports.html import render_html
from reports.markdown import render_markdown
from reports.tables.statistics import class_table, statistics_table
from reports.terminal import render_terminal
from reports.words.findings import gaps
from reports.words.lacking import ALONE, MORE, NOT_ALONE, wanted
from scenarios.adversaries import PROSECUTOR
from scenarios.options import Options

SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"role": "quasi", "type": "numeric"},
            "disease": {
                "role": "sensitive",
                "taxonomy": {"Lung": ["flu", "asthma"], "Stomach": ["ulcer", "gastritis"]},
            },
        }
    }
)
ORIGINAL = pd.DataFrame({"age": [20, 25, 30, 40, 45, 50], "disease": ["flu", "flu", "ulcer", "flu", "asthma", "ulcer"]})
RELEASE = ORIGINAL.assign(age=["[20, 30]"] * 3 + ["[40, 50]"] * 3)


@pytest.fixture(scope="module")
def alone() -> AuditRecord:
    return audit(RELEASE, SCHEMA)


@pytest.fixture(scope="module")
def beside() -> AuditRecord:
    return audit(RELEASE, SCHEMA, original=ORIGINAL, match="rows")


def by_what(record: AuditRecord) -> dict[str, Lack]:
    return {lack.what: lack for lack in record.lacking}


def test_the_record_says_what_needs_the_original(alone: AuditRecord) -> None:
    found = by_what(alone)
    assert list(found) == ["original", "population", "mechanism", "facts"]
    original = found["original"]
    assert "--original DATA with --match rows" in original.give
    # linking and homogeneity gave figures with the class granted: only the other links are lacking
    linked = "linking, homogeneity, divergence, skewness, similarity by the links containment, likelihood, tightest, distance"
    assert original.figures[0] == linked
    assert "membership" in original.figures[1]
    assert not any("proximity" in figure for figure in original.figures)  # diseases are no numbers, original or not
    assert found["population"].figures[:2] == ("the journalist's risk", "the marketer's risk")
    assert "--set uniqueness.population=N" in found["population"].give
    assert found["mechanism"].figures == ("replay, minimality, downcoding",)
    assert found["facts"].figures == ("background, intersection",)


def test_with_the_original_only_the_rest_is_lacking(beside: AuditRecord) -> None:
    found = by_what(beside)
    assert "original" not in found
    assert not [risk for risk in beside.risks if risk.lacks == "original"]
    assert "membership against outsiders" in found["population"].figures
    assert "shadow-membership" in found["mechanism"].figures[0]


def test_with_a_register_nothing_of_it_is_lacking() -> None:
    people = pd.concat([ORIGINAL, ORIGINAL.assign(age=ORIGINAL["age"] + 1)], ignore_index=True)
    record = audit(RELEASE, SCHEMA, original=ORIGINAL, match="rows", population=people)
    assert "population" not in by_what(record)
    # without the original the register cannot be used, and both are asked for
    both = audit(RELEASE, SCHEMA, population=people, options=Options(attacks=("linking",), utility=()))
    assert [lack.what for lack in both.lacking] == ["original", "population"]


def test_where_adversaries_are_chosen_nobody_else_is_wanted() -> None:
    options = Options(attacks=("linking",), utility=(), adversaries=(PROSECUTOR,))
    record = audit(RELEASE, SCHEMA, original=ORIGINAL, match="rows", options=options)
    assert by_what(record)["population"].figures == ("controls on people who are not in the release",)


def test_rows_say_what_they_lack(alone: AuditRecord) -> None:
    lacks = {(r.attack, r.link): r.lacks for r in alone.risks if r.status == NOT_APPLICABLE}
    assert lacks["linking", "containment"] == "original"
    assert lacks["membership", None] == lacks["inference", "class"] == lacks["singling-out", None] == "original"
    assert lacks["uniqueness", None] == "population"
    assert lacks["minimality", None] == lacks["downcoding", None] == "mechanism"
    assert lacks["background", "class"] == lacks["intersection", "class"] == "facts"
    assert lacks["proximity", "class"] is None
    assert {r.lacks for r in alone.risks if r.status == OK} == {None}


def test_what_is_lacking_is_not_listed_again(alone: AuditRecord) -> None:
    listed = gaps(alone)
    assert {gap.what.split(",")[0] for gap in listed} == {"proximity", "alias", "degrade"}
    older = replace(alone, lacking=())  # records of older versions have reasons only
    assert any("without the original" in gap.reason for gap in gaps(older))


def run_of(record: AuditRecord) -> RunRecord:
    return RunRecord("one", record.seed, (record,), record.tool)


def test_every_report_sets_the_two_apart(alone: AuditRecord) -> None:
    for text in (render_terminal(run_of(alone)), render_markdown(run_of(alone)), render_html(run_of(alone))):
        plain = " ".join(text.split())
        assert "From the release alone" in plain
        shown, cannot = text.index(ALONE), text.rindex(NOT_ALONE)
        assert shown < cannot
        assert "--original DATA with --match rows" in plain
        assert "--population PEOPLE" in plain
        assert "journalist" in text[cannot:]
        assert MORE not in text


def test_with_the_original_reports_say_what_more_would_show(beside: AuditRecord) -> None:
    for text in (render_terminal(run_of(beside)), render_markdown(run_of(beside)), render_html(run_of(beside))):
        assert MORE in text
        assert ALONE not in text
        assert "From the release alone" not in text


def test_runs_of_several_releases_have_it_for_each(alone: AuditRecord, beside: AuditRecord) -> None:
    run = RunRecord("two", 1, (alone, beside))
    for text in (render_markdown(run), render_html(run)):
        assert text.count(NOT_ALONE) == 1
        assert text.count(MORE) == 1


def test_what_a_record_says_is_escaped(alone: AuditRecord) -> None:
    bad = replace(alone, lacking=(Lack("original", "<script>alert(1)</script>", ("<b>figure</b>",)),))
    html, text = render_html(run_of(bad)), render_markdown(run_of(bad))
    assert "<script>alert" not in html
    assert "<b>figure" not in html
    assert "<script>alert" not in text


def test_a_release_of_several_blocks_lacks_the_original_for_everything() -> None:
    row = Risk("linking", "prosecutor", None, "success", status=NOT_APPLICABLE, reason="no", lacks="original")
    other = replace(row, attack="homogeneity")
    (original, _) = lacking([row, other], {"prosecutor"}, has_original=False, has_population=False)
    assert original.figures[0] == "linking, homogeneity"


def test_nothing_is_lacking_where_all_was_given() -> None:
    row = Risk("linking", "prosecutor", "class", "max", value=0.2)
    assert lacking([row], {"prosecutor", "journalist", "marketer"}, has_original=True, has_population=True) == ()


# ----- the statistics in reports -------------------------------------------------------------------------------------


def facts(**more: Any) -> AuditRecord:
    release = ReleaseFacts("r", "generalised", 7, 0, "excluded", 2, 3, {"3": 1, "4": 1}, **more)
    return AuditRecord(1, release, (), measures=STATISTICS)


def test_class_statistics_as_tables() -> None:
    risk = ClassRisk(7, 1 / 3, 2 / 7, 0.25, 7, 1.0, 0.2, 2 / 7, 0, 0.0)
    weights = WeightedRisk("w", 0.2, 120.0, 0.5, 0.25, 1.75, 3)
    table = class_table(facts(risk=risk, weighted=weights))
    assert table is not None
    cells = {row[0]: row[1] for row in table.rows}
    assert (cells["k"], cells["prosecutor_max"], cells["at_risk (threshold=0.2)"]) == ("3", "0.333", "7 of 7")
    assert (cells["sample_uniques"], cells["weighted_people (weights=w)"]) == ("0 of 7", "120")
    assert (cells["weighted_max"], cells["weighted_reidentified"]) == ("0.500", "1.75")
    assert cells["weighted_at_risk (threshold=0.2)"] == "3 of 7"
    without = class_table(facts(weighted=WeightedRisk("w", 0.2, reason="some weights are missing")))
    assert without is not None
    assert without.rows == (("weighted (w)", "not applicable", "some weights are missing"),)
    assert class_table(facts()) is None


def test_a_register_in_the_table_of_classes() -> None:
    risk = ClassRisk(7, 1 / 3, 2 / 7, 0.25, 7, 1.0, 0.2, 2 / 7, 0, 0.0)
    beside = RegisterRisk(900, 0.2, 0.25, 0.125, 0.1, 3, 3 / 7, 0)
    table = class_table(facts(risk=risk, register=beside))
    assert table is not None
    cells = {row[0]: row[1] for row in table.rows}
    assert (cells["journalist_max (people=900)"], cells["journalist_mean"]) == ("0.250", "0.125")
    assert (cells["register_marketer"], cells["register_at_risk (threshold=0.2)"]) == ("0.100", "3 of 7")
    assert "short" not in cells
    short = class_table(facts(risk=risk, register=replace(beside, short=2)))
    assert short is not None
    assert [row[:2] for row in short.rows if row[0] == "short"] == [("short", "2")]
    why = RegisterRisk(900, 0.2, reason="labels of age overlap")
    without = class_table(facts(risk=risk, register=why))
    assert without is not None
    assert without.rows[-1] == ("population (900 people)", "not applicable", "labels of age overlap")
    assert class_table(facts(register=why)) is None  # several blocks have no classes to look up


def test_sensitive_statistics_as_a_table() -> None:
    numbers = SensitiveFacts("pay", 5, alpha=0.5, l_distinct=2, l_recursive_c=2.0, l_recursive_l=2, proximity_m=1.5,
                             proximity_epsilon=30.0, homogeneity=0.4)  # fmt: skip
    names = SensitiveFacts("job", 3, alpha=1.0, l_distinct=1, l_recursive_l=2)
    table = statistics_table(facts(sensitive=(numbers, names)))
    assert table is not None
    cells = {row[0]: row[1:3] for row in table.rows}
    assert cells["l_recursive_c (l=2)"] == ("2", "no bound")
    assert cells["proximity_m"] == ("1.50 (ε=30)", "–")
    assert cells["delta_disclosure"] == ("no bound", "no bound")
    assert cells["homogeneity"] == ("0.400", "–")
    assert "t_ordered" not in cells
    assert statistics_table(facts()) is None


def test_lacking_travels_as_json(alone: AuditRecord) -> None:
    again = AuditRecord.from_json(alone.to_json())
    assert again.lacking == alone.lacking
    assert wanted(again) == wanted(alone)
    data = json.loads(alone.to_json())
    assert data["lacking"][0]["what"] == "original"
