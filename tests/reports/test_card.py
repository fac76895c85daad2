"""The card of a notebook: the verdict first, the three findings that matter, one picture, and no harm to the page."""

from __future__ import annotations

import base64
import html
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from auditor.model.record.record import AuditRecord, RunRecord
from reports.advice import what_to_do
from reports.card import SHOWN, card
from reports.words.findings import findings, key_findings
from tests.support import record_samples as samples


def text_of(made: str) -> str:
    return re.sub(r"<[^>]*>", " ", made)


def picture_of(made: str) -> ElementTree.Element:
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', made)
    assert found is not None
    return ElementTree.fromstring(base64.b64decode(found[1]))


def test_a_record_shows_its_verdict_first_then_three_findings_and_k() -> None:
    record = samples.single_run().records[0]
    made = record._repr_html_()
    told = text_of(made)
    assert told.split()[0] in ("FAIL", "PASS")
    assert f"k = {record.release.k}" in told
    first = key_findings(findings(record))[:SHOWN]
    assert first
    assert all(one.headline.split("%")[0].strip() in told for one in first)
    assert made.count("<li") == len(first)
    advice = what_to_do(RunRecord("run", 1, (record,)))
    assert advice is not None
    assert html.escape(advice.title, quote=True) in made
    assert "not applicable" not in told
    assert picture_of(made).tag.endswith("svg")


def test_a_run_shows_how_its_releases_do() -> None:
    run = samples.sample_run()
    made = run._repr_html_()
    assert "4 releases" in text_of(made)
    assert made.count("<li") == SHOWN
    words = [part.text for part in picture_of(made).iter() if part.tag.endswith("text")]
    assert any("identity" in str(text) for text in words)  # risk against utility has a point for each release
    assert repr(run).startswith("<RunRecord Town register")


@pytest.mark.parametrize("name", ["bare_run", "empty_run", "person_run", "hostile_run", "many_run"])
def test_any_record_has_a_card_that_harms_no_page(name: str) -> None:
    run: RunRecord = getattr(samples, name)()
    made = card(run)
    assert ElementTree.fromstring(made).tag == "div"  # whole, and every text escaped
    assert not re.search(r"<(script|style|link|iframe)", made)
    outside = re.sub(r"base64,[^\"]*", "", made)
    assert "://" not in outside
    assert "javascript:" not in outside


def test_the_name_of_a_release_is_text() -> None:
    record = samples.single_run().records[0]
    odd: AuditRecord = replace(record, release=replace(record.release, name="<b onload=x>"))
    assert "<b onload" not in odd._repr_html_()
    assert "&lt;b onload" in odd._repr_html_()
