"""What a choice bought: who chose what, what a reader learns, and the figures of attacks by choice."""

from __future__ import annotations

from math import log

import pytest

from anonymizers.anonymizing import anonymize
from auditor.auditing.audit import audit, run_audit
from auditor.auditing.choices import choices_of
from auditor.auditing.subjects import Subject
from auditor.model.record.record import AuditRecord, RunRecord
from reports.markdown import render_markdown
from reports.tables.choices import choice_table
from scenarios.options import Options
from tests.support.grading_cases import PATIENTS, patients


def graded(**settings: object) -> Subject:
    table = patients()
    release, provenance = anonymize(table, "grading", **settings)
    return Subject(release, table, provenance)


def test_choices_stand_in_the_original_or_are_seen_in_the_release() -> None:
    subject = graded()
    chosen = [int(choice) for choice in PATIENTS["choice"]]
    found = choices_of(subject)
    assert found is not None
    assert found.tolist() == chosen
    table = patients({"choice": {"role": "neutral"}}, **{c: texts * 20 for c, texts in PATIENTS.items()})
    release, provenance = anonymize(table, "grading", 4)
    seen = choices_of(Subject(release, table, provenance))
    assert seen is not None
    texts = release.labels["disease"].texts
    cell = release.block_of("disease").cell("disease")[provenance.fragment[:, 0]]
    for row, choice in enumerate(seen.tolist()):
        text = texts[cell[row]]
        assert choice == (1 if text in PATIENTS["disease"] else 2 if "-" in text else 3)
    plain, whose = anonymize(table, "identity")
    assert choices_of(Subject(plain, table, whose)) is None


def test_figures_by_choice_by_hand() -> None:
    record = run_audit(graded(), Options(("homogeneity",), utility=()))
    # Flu 2, bronchitis 3, gastritis 1, stomach cancer 1: H = 1.277. Of a respiratory disease 2 and 3 are left (0.673 nats),
    # of a digestive one 1 and 1 (log 2). Choice 2: bronchitis twice, gastritis once.
    whole = -sum(n / 7 * log(n / 7) for n in (2, 3, 1, 1))
    lungs, stomach = -sum(n / 5 * log(n / 5) for n in (2, 3)), log(2)
    kept = {one.choice: one.kept["disease"] for one in record.release.choices}
    assert kept == pytest.approx({1: 1.0, 2: 1 - (2 * lungs + stomach) / 3 / whole, 3: 0.0})
    assert [one.people for one in record.release.choices] == [2, 3, 2]
    success = record.find("homogeneity", "success", sensitive="disease", link="class")
    parts = {row["choice"]: row for row in success.detail["by_choice"]}
    # test_grading has the seven: both who chose 1, 2.5 of three who chose 2, one of two who chose 3
    assert {c: row["value"] for c, row in parts.items()} == pytest.approx({1: 1.0, 2: 2.5 / 3, 3: 0.5})
    assert sum(row["value"] * row["n"] for row in parts.values()) / 7 == pytest.approx(success.value)
    assert sum(row["baseline"] * row["n"] for row in parts.values()) / 7 == pytest.approx(success.baseline)
    assert parts[1]["low"] < 1 == parts[1]["high"]


def test_the_report_has_the_table() -> None:
    subject = graded()
    record = run_audit(subject, Options(("homogeneity",), utility=()))
    table = choice_table(AuditRecord.from_json(record.to_json()))
    assert table is not None
    assert table.headings == ("", "column", "choice 1 (2)", "choice 2 (3)", "choice 3 (2)")
    assert table.rows[0][:3] == ("what a reader learns", "disease", "1")
    assert "What a choice bought" in render_markdown(RunRecord("run", 0, (record,)))
    plain = patients({"choice": {"role": "neutral"}})
    release, provenance = anonymize(plain, "identity")
    record = audit(release, original=plain, provenance=provenance, options=Options(("homogeneity",), utility=()))
    assert (record.release.choices, choice_table(record)) == ((), None)
    assert all("by_choice" not in risk.detail for risk in record.risks)
