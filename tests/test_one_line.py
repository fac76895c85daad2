"""One file and one line: an attack, a utility measure, a file format and a report format are defined here, each is
registered by its one line, and every command, list and report has them at once, in their own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import reports
from attacks import ATTACKS
from attacks.base import Attack, View
from attacks.claims import Claims, ValueClaims
from auditor.files import tables
from auditor.files.formats import Format, begins_with
from auditor.measure.utility import registry
from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import Measure as UtilityMeasure
from auditor.model.record.meaning import UTILITY, Criterion, Goal, Kind, Measure
from auditor.model.record.record import RunRecord, Utility
from auditor.model.schema import TableFormat
from auditor.model.table import RawTable
from tests.conftest import Ended

Cli = Callable[..., Ended]


@dataclass(frozen=True)
class Whisper(Attack):
    """Claims the likeliest value, quietly."""

    name: ClassVar[str] = "whisper"
    summary: ClassVar[str] = "Whispers the likeliest value to a friend."
    paper: ClassVar[str] = "none: an example"
    goal: ClassVar[Goal] = Goal.ATTRIBUTE
    claim: ClassVar[str] = "Between us, this person has this value."
    needs: ClassVar[str] = "A published sensitive column."
    success: ClassVar[str] = "The whispered value is the true one."
    lowered_by: ClassVar[str] = "Speaking up before publishing."
    criterion: ClassVar[Criterion] = Criterion.INFERENCE
    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("certain", "How many people are whispered about with certainty.", kind=Kind.COUNT),
        Measure("above", "How many people are whispered about with confidence.", kind=Kind.COUNT),
        Measure(
            "success",
            "Share of whispers that are true.",
            "{who} whispers the true {column} of {share}",
            label="true whispers",
        ),
    )
    axis: ClassVar[str] = "loudness of the whisper"
    caption: ClassVar[str] = "Whisper: the {column} is whispered rightly"

    def run(self, view: View, rng: np.random.Generator) -> Claims:
        assert view.sensitive is not None
        return ValueClaims(view.beliefs.values(view.sensitive), 0.5)


def blank_cells(case: Case) -> list[Utility]:
    return [Utility("blanks", value=case.release.suppressed_rows, better="lower")]


BLANKS = UtilityMeasure(
    Measure("blanks", "How many rows were left blank by the painter.", of=UTILITY, label="blank rows"),
    blank_cells,
    "every kind of release",
    "none: an example",
)


def read_lines(content: bytes, file: Path, _form: TableFormat, _expected: Sequence[str]) -> RawTable:
    rows = [line.split("|") for line in content.decode().splitlines()[1:]]
    return RawTable(str(file), {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])})


def write_lines(table: RawTable, _: TableFormat) -> str:
    rows = zip(*table.columns.values(), strict=True)
    return "\n".join(["%pipes", "|".join(table.columns), *("|".join(row) for row in rows)]) + "\n"


PIPES = Format("Pipes", (".pipes",), read_lines, begins_with(b"%pipes"), write_lines)


def postcard(run: RunRecord, _: reports.Context) -> str:
    return f"Greetings from {len(run.records)} audited release: {run.title}.\n"


POSTCARD = reports.ReportFormat("postcard", "Write the report on a postcard.", postcard, "postcard.txt")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ATTACKS, "builtin", (*ATTACKS.builtin, Whisper))
    monkeypatch.setattr(registry, "MEASURES", (*registry.MEASURES, BLANKS))
    monkeypatch.setattr(tables, "FORMATS", (*tables.FORMATS, PIPES))
    monkeypatch.setattr(reports, "FORMATS", (*reports.FORMATS, POSTCARD))


def told(ended: Ended) -> str:
    assert ended.code == 0, ended.err
    return " ".join(ended.out.split())


@pytest.mark.usefixtures("registered")
def test_list_and_explain_have_them(auditor_cli: Cli) -> None:
    for what, name, said in (
        ("attacks", "whisper", Whisper.claim),
        ("metrics", "blanks", BLANKS.words.meaning),
        ("formats", "Pipes", ".pipes"),
        ("formats", "postcard", POSTCARD.help),
    ):
        listed = told(auditor_cli("list", what))
        assert name in listed
        assert said.split()[0] in listed
        assert said.split()[-1] in listed
        assert said in told(auditor_cli("explain", name))
    explained = told(auditor_cli("explain", "whisper"))
    for said in (Whisper.needs, Whisper.success, Whisper.lowered_by, "Share of whispers that are true."):
        assert said in explained


@pytest.mark.usefixtures("registered")
def test_commands_offer_them(auditor_cli: Cli) -> None:
    for command in ("audit", "render", "redteam"):
        assert "--postcard" in told(auditor_cli(command, "--help"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    ills = ("flu", "cold", "gout", "mumps", "acne", "ulcer", "rash", "burn")  # many: a class shows those of its people
    rows = [("age", "town", "ill")] + [
        (str(20 + i % 10), "AB"[i % 2], ills[int(rng.integers(len(ills)))]) for i in range(60)
    ]
    (tmp_path / "data.pipes").write_text("%pipes\n" + "\n".join("|".join(row) for row in rows) + "\n")
    (tmp_path / "schema.toml").write_text(
        'columns.age = {role = "quasi", type = "numeric"}\ncolumns.town = {role = "quasi"}\n'
        'columns.ill = {role = "sensitive"}\n'
    )
    return tmp_path


@pytest.mark.usefixtures("registered")
def test_every_report_has_them(folder: Path, auditor_cli: Cli) -> None:
    data, schema, release, whose = (folder / n for n in ("data.pipes", "schema.toml", "release.pipes", "whose.csv"))
    told(
        auditor_cli(
            "anonymize", data, "--schema", schema, "--method", "mondrian", "--set", "k=3", "-o", release,
            "--provenance", whose,
        )
    )  # fmt: skip
    assert release.read_text().startswith("%pipes\nage|town|ill\n")
    mistyped = auditor_cli("audit", release, "--schema", schema, "--attacks", "whispr")
    assert mistyped.code == 2
    assert "Did you mean 'whisper'?" in mistyped.err
    html, markdown, card = (folder / n for n in ("report.html", "report.md", "card.txt"))
    screen = told(
        auditor_cli(
            "audit", release, "--schema", schema, "--original", data, "--provenance", whose, "--attacks",
            "whisper,linking", "--utility", "blanks,queries", "--html", html, "--markdown", markdown, "--postcard", card,
        )
    )  # fmt: skip
    assert card.read_text() == "Greetings from 1 audited release: release.pipes.\n"
    page = re.sub(r"\s+", " ", html.read_text(encoding="utf-8"))
    text = re.sub(r"\s+", " ", markdown.read_text(encoding="utf-8"))
    finding = "his adversary whispers the true ill of "
    assert all(finding in report for report in (screen, text, page))
    assert all("whisper" in report for report in (screen, text, page))
    assert all("blanks" in report or "blank rows" in report for report in (screen, text, page))
    assert all(Whisper.lowered_by in report for report in (text, page))  # advice beside the finding
    assert "Whisper: the ill is whispered rightly" in page  # the picture
    assert "loudness of the whisper" in page  # the spread over people
    assert "Share of whispers that are true." in page  # the glossary
    assert BLANKS.words.meaning in page
