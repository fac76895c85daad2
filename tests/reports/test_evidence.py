"""Evidence packs: every sentence comes from a place of the record, which its reference finds; the rest is for people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import reports.evidence
from auditor.model.errors import UsageError
from auditor.model.record.record import AuditRecord
from reports.evidence import TEMPLATES, evidence_pack
from reports.evidence.cited import Evidence
from reports.evidence.pack import Blank, Pack, Statement
from reports.evidence.parts import limits
from reports.evidence.references import Reference, resolve
from reports.evidence.writing import render_pack_html, render_pack_markdown
from reports.words.sentences import sentence
from tests.conftest import Ended
from tests.support.record_samples import bare_run, hostile_run, person_run, run_of, sample_run, single_run

Cli = Callable[..., Ended]
RECORDS = {
    "single": single_run().records[0],
    "one of several": sample_run().records[2],
    "one person": person_run().records[0],
    "bare": bare_run().records[0],
    "hostile": hostile_run().records[0],
}
ALL = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
EACH = pytest.mark.parametrize("template", [one.name for one in TEMPLATES])


def pack_of(record: AuditRecord, template: str) -> Pack:
    return evidence_pack(run_of(record), template, "record.json")


@EACH
@ALL
def test_every_reference_is_found_in_the_json(record: AuditRecord, template: str) -> None:
    pack, data = pack_of(record, template), json.loads(record.to_json())
    assert list(pack.statements())
    for statement in pack.statements():
        assert statement.references
        for reference in statement.references:
            found = resolve(data, str(reference))
            if reference.word == "risk":
                # the words of the reference are those of the row that it leads to
                said = [found[key] for key in ("attack", "measure", "adversary", "link", "sensitive")]
                expected = ", ".join(one for one in said if one is not None)
                assert str(reference) == str(Reference("risk", reference.place, tuple(filter(None, said)))), expected


@EACH
def test_sentences_on_risks_are_those_of_the_row_that_they_name(template: str) -> None:
    record = RECORDS["single"]
    evidence = Evidence(record)
    by_place = {evidence.risk(row): row for row in evidence.rows}
    told = [one for one in pack_of(record, template).statements() if one.references[0].word == "risk"]
    told = [one for one in told if one.references[0] in by_place]
    assert len(told) > 5
    for statement in told:
        row = by_place[statement.references[0]]
        pieces = re.split("[Tt]he X", sentence(evidence.meanings, row, "the X"))
        assert all(piece in statement.text for piece in pieces)


def test_another_figure_gives_another_sentence_at_the_same_place() -> None:
    record = RECORDS["single"]
    before = next(
        s for s in pack_of(record, "ema").statements() if s.references[0].said == ("name", "rows", "classes", "k")
    )
    changed = replace(record, release=replace(record.release, k=77))
    after = next(s for s in pack_of(changed, "ema").statements() if s.references == before.references)
    assert "has 77 people" in after.text
    assert "has 77 people" not in before.text


def test_a_wrong_reference_is_not_found() -> None:
    record = RECORDS["single"]
    data = json.loads(record.to_json())
    right = str(Evidence(record).risk(Evidence(record).rows[0]))
    assert resolve(data, right)["attack"] == record.risks[0].attack
    for wrong in (
        right.replace(" 0:", " 1:"),
        right.replace(" 0:", " 9999:"),
        "[nothing 3]",
        "[release: no_key]",
        "text",
    ):
        with pytest.raises(LookupError):
            resolve(data, wrong)
    with pytest.raises(ValueError, match="reference"):
        Statement("A sentence from nowhere.", ())


@EACH
def test_what_only_a_person_can_say_is_marked(template: str) -> None:
    pack = pack_of(RECORDS["single"], template)
    text = render_pack_markdown(pack)
    blanks = list(pack.blanks())
    assert len(blanks) >= 4
    assert text.count("**To be filled in:**") == len(blanks)
    assert isinstance(pack.sections[-1].items[-1], Blank)  # somebody signs
    headings = " ".join(section.heading for section in pack.sections).lower()
    own = " ".join([headings, pack.title, pack.about, *(blank.text for blank in blanks)])
    assert not re.search(r"section \d|§|164\.", own)  # no section of a guideline is cited
    for asked in ("threshold", "adversary", "transformation", "residual risk", "utility"):
        assert asked in headings, asked


@EACH
@pytest.mark.parametrize("record", [RECORDS["single"], RECORDS["hostile"]], ids=["single", "hostile"])
def test_the_page_links_every_reference_and_escapes_names(record: AuditRecord, template: str) -> None:
    pack = pack_of(record, template)
    page = render_pack_html(pack)
    anchors = set(re.findall(r'<tr id="([^"]+)"', page))
    assert anchors == {reference.anchor for reference in pack.references()}
    assert len(anchors) == len(pack.references())
    assert set(re.findall(r'href="#([^"]+)"', page)) >= anchors
    assert "<script" not in page
    assert page.count('class="blank"') == len(list(pack.blanks()))


def test_a_record_without_policy_or_method_asks_for_them() -> None:
    said = [one.text for one in pack_of(RECORDS["bare"], "ema").blanks()]
    assert any("thresholds" in text for text in said)
    assert any("figure of utility" in text for text in said)


def test_every_template_is_registered() -> None:
    folder = Path(reports.evidence.__file__).parent
    files = {file.stem for file in folder.glob("*.py")} - {
        "__init__",
        "cited",
        "pack",
        "parts",
        "references",
        "writing",
    }
    assert files == {template.name.replace("-", "_") for template in TEMPLATES}


def test_on_the_command_line(tmp_path: Path, auditor_cli: Cli) -> None:
    record = tmp_path / "record.json"
    record.write_text(RECORDS["single"].to_json(), encoding="utf-8")
    page, text = tmp_path / "pack.html", tmp_path / "pack.md"
    ended = auditor_cli("render", record, "--template", "wp29", "--html", page, "--markdown", text)
    assert ended.code == 0
    assert "for a person to fill in" in ended.out
    assert "Singling out" in page.read_text(encoding="utf-8")
    assert auditor_cli("render", record, "--template", "wp29").out == text.read_text(encoding="utf-8")
    assert auditor_cli("render", record, "--template", "wp29", "--markdown", text).code == 2  # it exists
    assert auditor_cli("render", record, "--template", "gdpr").code == 2
    listed = auditor_cli("list", "templates").out
    assert all(template.name in listed for template in TEMPLATES)
    assert auditor_cli("render", record, "--template", "ema", "--junit", tmp_path / "j.xml").code == 2
    with pytest.raises(UsageError, match="one release"):
        evidence_pack(sample_run(), "ema")


def test_reasons_are_not_garbled_by_the_name_of_a_column() -> None:
    record = RECORDS["single"]
    first = replace(
        record.risks[0], status="not_applicable", sensitive="a", reason="there is a map, but a has no area."
    )
    second = replace(first, sensitive="is", reason="is is no number.")
    alike = [replace(first, sensitive=name, reason=f"{name} is no date, nor {name!r} a day.") for name in ("x", "y-z")]
    said = [item.text for item in limits(Evidence(replace(record, risks=(first, second, *alike))))]
    assert [text for text in said if text.endswith(": there is a map, but a has no area.")]
    assert [text for text in said if text.endswith(": is is no number.")]
    assert [text for text in said if text.endswith("(2 figures): the column is no date, nor the column a day.")]
