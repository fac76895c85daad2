"""The verdict as JUnit XML: what a CI system counts, and that nothing in a record breaks the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from auditor.model.record.record import AuditRecord, PolicyCheck, PolicyVerdict, RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from reports import render_junit
from tests.conftest import Ended
from tests.support.record_samples import WORDS

Cli = Callable[..., Ended]

RELEASE = ReleaseFacts("release.csv", "generalised", 8, 0, "excluded", 2, 4, {"4": 2})
CHECKS = (
    PolicyCheck("release.k", 3, ">=", 4.0, True, None, "a source"),
    PolicyCheck("linking.max", 0.09, "<=", 0.25, False, None, "EMA 2018"),
    PolicyCheck("membership.auc", 0.6, "<=", None, None, "no outsiders are known"),
)
RECORD = AuditRecord(
    1, RELEASE, (), policy=PolicyVerdict("own", "a title", "somebody", CHECKS, False), tool={"version": "0"}, **WORDS
)


def suites(*records: AuditRecord) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(RunRecord("a run", 1, records)))


def test_a_check_is_a_test() -> None:
    root = suites(RECORD)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    held, failed, unknown = root.iter("testcase")
    assert held.get("name") == "release.k at least 3"
    assert len(held) == 0
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("message") == (
        "The most exposed person is linked to their own record with probability 0.25 (one in 4); at most 0.09 (one in 11) is "
        "allowed (linking.max)."
    )
    assert "EMA 2018" in (failure.text or "")
    error = unknown.find("error")
    assert error is not None
    assert "no outsiders are known" in error.get("message", "")


def test_a_release_that_was_not_judged_is_an_error_and_not_a_success() -> None:
    root = suites(RECORD, replace(RECORD, policy=None))
    assert [(s.get("tests"), s.get("failures"), s.get("errors")) for s in root] == [("3", "1", "1"), ("1", "0", "1")]


def test_markup_and_control_characters_stay_text() -> None:
    name = 'a<b>&"\x00\x1b[31m]]>\u202e.csv'
    root = suites(replace(RECORD, release=replace(RELEASE, name=name)))
    assert root[0].get("name") == r'a<b>&"\x00\x1b[31m]]>\u202e.csv'


def test_from_the_command_line(auditor_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(
        '[columns.age]\nrole = "quasi"\ntype = "numeric"\n[columns.disease]\nrole = "sensitive"\n'
    )
    (tmp_path / "release.csv").write_text("age,disease\n[20; 40],flu\n[20; 40],cold\n[41; 60],flu\n[41; 60],flu\n")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[check]]\nfigure = "release.k"\nat_least = 5\n[[check]]\nfigure = "release.classes"\nat_least = 2\n'
    )
    common = ("audit", tmp_path / "release.csv", "--schema", tmp_path / "schema.toml")
    file = tmp_path / "checks.xml"
    ended = auditor_cli(*common, "--policy", policy, "--junit", file, "--quiet")
    assert ended.code == 1, ended.err
    root = ElementTree.parse(file).getroot()
    assert root.get("failures") == "1"
    assert "release.k at least 5" in [case.get("name") for case in root.iter("testcase")]

    assert auditor_cli(*common, "--junit", tmp_path / "none.xml").code == 2  # there is nothing to check
    both = auditor_cli(*common, "--policy", policy, "--junit", "-", "--json", "-")
    assert both.code == 2
    assert "--json - and --junit -" in both.err
    piped = auditor_cli(*common, "--policy", policy, "--junit", "-")
    assert ElementTree.fromstring(piped.out.encode()).get("failures") == "1"  # nothing but the XML is on stdout
