"""Records of version 1 are read, get the words that version 2 carries, and render."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reports
from auditor.model.record.meaning import Kind, NoteKind
from auditor.model.record.record import AuditRecord, read_run
from auditor.model.record.version_1 import upgraded

FILE = Path(__file__).parents[1] / "support" / "record-1.json"
"""Written by `auditor audit` of version 1, on the built-in hospital; one note was added by hand."""


@pytest.fixture(scope="module")
def old() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    assert data["format"] == "auditor-record/1"
    return data


@pytest.fixture(scope="module")
def record() -> AuditRecord:
    return AuditRecord.from_json(FILE.read_text(encoding="utf-8"))


def test_every_figure_is_that_of_the_file(old: dict[str, Any], record: AuditRecord) -> None:
    assert len(record.risks) == len(old["risks"]) > 100
    for made, given in zip(record.risks, old["risks"], strict=True):
        assert (made.attack, made.measure, made.value, made.control) == tuple(
            given[key] for key in ("attack", "measure", "value", "control")
        )


def test_figures_get_their_kind(record: AuditRecord) -> None:
    kinds = {(risk.attack, risk.measure): (risk.kind, risk.better) for risk in record.risks if risk.status == "ok"}
    assert kinds["linking", "max"] == ("extreme", "lower")
    assert kinds["linking", "at_risk"] == ("count", "lower")
    assert kinds["homogeneity", "success"] == ("rate", "lower")
    assert kinds["proximity", "m"] == ("fact", "higher")
    assert {(m.of, m.name) for m in record.measures} >= set(kinds)
    assert {attack.name: attack.criterion for attack in record.attacks}["singling-out"] == "singling out"
    assert record.links[0].granted


def test_notes_get_their_kind(record: AuditRecord) -> None:
    assert [note.text for note in record.notes if note.kind == NoteKind.DOUBT] == [
        "age: 1 of 7 labels do not cover the original value. Is the correspondence of rows right?"
    ]
    assert all(note.text for note in record.notes)


def test_what_is_not_known_is_a_rate_or_a_count(old: dict[str, Any]) -> None:
    row = {**old["risks"][0], "attack": "own", "measure": "new", "value": 0.5}
    made = upgraded({**old, "risks": [row, {**row, "value": 12}, {**row, "value": None}]})
    assert [risk["kind"] for risk in made["risks"]] == [Kind.RATE, Kind.COUNT, Kind.RATE]


def test_runs_of_version_1_are_read_too(old: dict[str, Any]) -> None:
    run = {
        "format": "auditor-run/1", "tool": {}, "seed": 1, "title": "old", "records": [old], "cells": [], "comparison": None,
    }  # fmt: skip
    assert read_run(json.dumps(run), "run.json").records[0].release.name == old["release"]["name"]


def test_it_renders_with_its_words(old: dict[str, Any]) -> None:
    run = read_run(json.dumps(old), "record.json")
    for text in (reports.render_html(run), reports.render_markdown(run), reports.render_terminal(run, 100)):
        assert "linked to their own record" in text
