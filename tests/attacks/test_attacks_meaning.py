"""What figures mean stands beside what computes them: every attack, link, statistic and utility measure says it, every row of
a record is of a measure that was declared, and the tables of the documents are made from it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import attacks
from attacks import ATTACKS
from attacks.base import Attack
from auditor.auditing.audit import audit
from auditor.measure.statistics import STATISTICS
from auditor.measure.utility import MEASURES, utility_meanings
from auditor.model.record.meaning import RELEASE, UTILITY, Better, Criterion, Kind, Measure
from auditor.model.record.record import OK, AuditRecord, Utility
from auditor.model.record.release_facts import ClassRisk, SensitiveFacts
from auditor.model.record.terms import STANCES
from auditor.posterior.links import LINKS, Link
from scenarios.adversaries import Stance
from tests.support import documents

HOSPITAL = Path(attacks.__file__).parents[1] / "scenarios" / "data" / "hospital"
NO_FIGURES = {"column", "l_recursive_l", "proximity_epsilon", "labels_overlap", "records", "threshold"}


def assert_worded(measure: Measure, settings: frozenset[str] = frozenset()) -> None:
    """A measure means something, and its sentences hold nothing in braces that reports do not know."""
    assert measure.meaning.endswith(".")
    assert measure.label
    assert measure.faults(settings) == []
    assert measure.kind in list(Kind)
    assert measure.better in list(Better)
    for text in (measure.sentence, measure.none, measure.everybody, measure.one, measure.one_none):
        assert not text.endswith(".")
        assert text[:1] == text[:1].lower()


def assert_declared(record: AuditRecord) -> None:
    """Every figure is of a declared measure, has its kind and better, and the settings that its sentence says."""
    declared = {(measure.of, measure.name): measure for measure in record.measures}
    assert {link.name for link in record.links} == set(Link)
    for risk in record.risks:
        assert risk.attack in {attack.name for attack in record.attacks}
        if risk.status == OK:
            measure = declared[risk.attack, risk.measure]
            assert (risk.kind, risk.better) == (measure.kind, measure.better), (risk.attack, risk.measure)
            said = re.findall(r"\{(?:set|percent)_(\w+)\}", measure.sentence)
            assert set(said) <= set(risk.params), (risk.attack, risk.measure)
    for row in record.utility:
        measure = declared[UTILITY, row.measure]
        assert row.better == measure.better
        assert not measure.statistic or "statistic" in row.params


@pytest.mark.parametrize("attack", ATTACKS.builtin, ids=lambda attack: attack.name)
def test_an_attack_says_what_its_figures_mean(attack: type[Attack]) -> None:
    names = [measure.name for measure in attack.measures]
    assert names
    assert len(set(names)) == len(names)
    assert {*attack.lead, *attack.compared, *attack.support} <= set(names)
    settings = frozenset(field.name for field in dataclasses.fields(attack))
    for measure in attack.measures:
        assert_worded(measure, settings)
        assert measure.sentence
    assert attack.criterion in list(Criterion)
    assert {measure.of for measure in attack.meanings()} == {attack.name}
    facts = attack.facts()
    assert (facts.name, facts.lead, facts.compared) == (attack.name, attack.lead, attack.compared)


@pytest.mark.parametrize("measure", [*STATISTICS, *(one.words for one in MEASURES)], ids=lambda one: one.name)
def test_statistics_and_utility_measures_say_what_they_mean(measure: Measure) -> None:
    assert_worded(measure)
    assert measure.of == (RELEASE if measure in STATISTICS else UTILITY)
    assert measure.sentence or measure.of == UTILITY


def test_every_figure_of_the_classes_is_a_statistic() -> None:
    names = [measure.name for measure in STATISTICS]
    assert len(set(names)) == len(names)
    figures = {field.name for facts in (ClassRisk, SensitiveFacts) for field in dataclasses.fields(facts)}
    assert set(names) >= figures - NO_FIGURES


def test_reports_show_the_query_error_before_the_granularity() -> None:
    rows = [Utility(measure.name) for measure in MEASURES]
    said = utility_meanings(rows)
    assert {measure.name for measure in said} == {measure.name for measure in MEASURES}
    assert [measure.name for measure in said if measure.headline] == ["queries", "granularity"]
    assert utility_meanings(rows[:1]) == (MEASURES[0].words,)


def test_links_are_told_in_the_order_of_the_reports() -> None:
    assert [link.name for link in LINKS] == ["class", "likelihood", "tightest", "containment", "distance", "mechanism"]
    assert {link.name for link in LINKS} == set(Link)
    assert [link.name for link in LINKS if link.granted] == ["class"]
    assert set(STANCES) == set(Stance)


def test_the_tables_of_the_documents_are_those_of_the_registries() -> None:
    text = documents.DOCUMENT.read_text(encoding="utf-8")
    assert documents.written(text) == text, "run python -m tests.support.documents"
    assert all(text.count(f"<!-- table: {name} -->") == 1 for name in documents.TABLES)


@pytest.mark.parametrize("table", ["table3", "table4"])
def test_every_figure_is_declared(table: str) -> None:
    record = audit(
        HOSPITAL / f"{table}.csv",
        HOSPITAL / "schema.toml",
        original=HOSPITAL / "patients.csv",
        provenance=HOSPITAL / f"{table}.provenance.csv",
    )
    assert_declared(record)
