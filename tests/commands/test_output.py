"""What commands leave: the day that reports bear, and the exit code for one release or several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from auditor.commands.output import ALL, ANY, Output, exit_if_failed, report_date, required
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Note, NoteKind
from auditor.model.record.record import AuditRecord, read_run
from auditor.model.record.search import SearchFacts
from tests.conftest import Ended
from tests.support import record_samples as samples

Cli = Callable[..., Ended]
PASSES, FAILS = samples.record("safe", 0.02, 0.1), samples.record("risky", 0.5, 0.1)
UNJUDGED = replace(PASSES, policy=None, notes=(Note("The policy was not judged: so.", NoteKind.NOT_JUDGED),))


def code(require: str, *records: AuditRecord) -> int:
    try:
        exit_if_failed(samples.run_of(*records), require)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


@pytest.mark.parametrize(
    ("records", "for_any", "for_all"),
    [
        ((PASSES,), 0, 0),
        ((FAILS,), 1, 1),
        ((PASSES, FAILS), 0, 1),
        ((FAILS, FAILS), 1, 1),
        ((UNJUDGED,), 3, 3),
        ((PASSES, UNJUDGED), 0, 3),
        ((FAILS, UNJUDGED), 1, 1),
        ((replace(PASSES, policy=None),), 0, 0),
    ],
)
def test_of_several_releases_any_or_all_must_pass(records: tuple[AuditRecord, ...], for_any: int, for_all: int) -> None:
    assert (code(ANY, *records), code(ALL, *records)) == (for_any, for_all)


def test_a_search_that_breaks_the_policy_fails_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchFacts, "breaks_policy", True)
    facts = SearchFacts("identity", "prosecutor", ("age",), "linking.max", 0.09, policy="ema")
    assert code(ANY, replace(PASSES, policy=None, search=(facts,))) == 1
    both = replace(PASSES, search=(facts,)), PASSES
    assert (code(ANY, *both), code(ALL, *both)) == (0, 1)


def test_what_is_required_is_any_or_all() -> None:
    assert required("all") == ALL
    with pytest.raises(UsageError, match=r"--require must be any or all\. Got 'most'"):
        required("most")


def test_the_day_is_given_or_that_of_source_date_epoch_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert report_date(None) is None
    assert report_date("2026-03-01") == "2026-03-01"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")  # 29 February 2000, at midnight in Greenwich
    assert report_date(None) == "2000-02-29"
    assert report_date("2026-03-01") == "2026-03-01"
    for wrong in ("1 March 2026", "2026-02-30", "2026-3-1", "20260301"):
        with pytest.raises(UsageError, match="--date must be a day"):
            report_date(wrong)
    for odd in ("-1", "soon", "9" * 13, "1e3"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", odd)
        with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH must be whole seconds"):
            report_date(None)


def test_the_day_lives_in_the_record(auditor_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    record = tmp_path / "record.json"
    Output({"json": record}, single=True, day="2026-03-01").write(samples.run_of(PASSES))
    assert read_run(record.read_text(encoding="utf-8"), "record").date == "2026-03-01"
    page = tmp_path / "report.html"
    for given, shown in (((), "2026-03-01"), (("--date", "2027-01-31"), "2027-01-31")):
        ended = auditor_cli("render", record, "--html", page, "--force", *given)
        assert ended.code == 0, ended.err
        assert f"Privacy audit · {shown}" in page.read_text(encoding="utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")
    assert Output({}).dated(samples.run_of(PASSES)).date == "2000-02-29"
    assert auditor_cli("render", record, "--html", page, "--force", "--date", "today").code == 2


@pytest.mark.parametrize("command", ["audit", "redteam", "compare", "demo", "render"])
def test_every_command_that_writes_a_report_takes_a_day(auditor_cli: Cli, command: str) -> None:
    assert "--date" in auditor_cli(command, "--help").out
