"""The verdict as JUnit XML, which every CI system shows: a suite for each release, a test for each check of its policy.

A check that does not hold is a `failure` with its sentence and its source; one whose figure is not there is an `error`,
since nobody can say that it holds; and so is a release that no policy judged. The form is the one that Jenkins, GitLab and
GitHub's actions read (the Surefire schema: testsuites, testsuite, testcase).
"""

from __future__ import annotations

from xml.etree import ElementTree

from auditor.model.record.record import AuditRecord, PolicyCheck, RunRecord
from reports.reading import least_class
from reports.text import clean
from reports.words.verdicts import check_text, policy_name


def render_junit(run: RunRecord) -> str:
    """A run as JUnit XML."""
    suites = [_suite(record) for record in run.records]
    root = ElementTree.Element("testsuites", {"name": _text(run.title), **_counts(suites)})
    root.extend(suites)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(record: AuditRecord) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=_text(record.release.name))
    properties = ElementTree.SubElement(suite, "properties")
    facts = {
        "seed": record.seed,
        "rows": record.release.rows,
        "people": record.release.people,
        "k": least_class(record.release),
        "tool": record.tool.get("version"),
    }
    facts |= {f"sha256 of the {one.role}": one.sha256 for one in record.inputs}
    for name, value in facts.items():
        if value is not None:
            ElementTree.SubElement(properties, "property", name=_text(name), value=_text(str(value)))
    if record.policy is None:
        case = ElementTree.SubElement(suite, "testcase", classname="auditor", name="a policy judged the release")
        ElementTree.SubElement(case, "error", message="No policy judged this release.", type="not judged")
    else:
        for check in record.policy.checks:
            _case(suite, check, record)
    cases = list(suite.iter("testcase"))
    suite.set("tests", str(len(cases)))
    for kind in ("failure", "error"):
        suite.set(f"{kind}s", str(sum(case.find(kind) is not None for case in cases)))
    return suite


def _case(suite: ElementTree.Element, check: PolicyCheck, record: AuditRecord) -> None:
    assert record.policy is not None
    sign = "at most" if check.relation == "<=" else "at least"
    name = f"{check.measure} {sign} {check.limit:g}"
    case = ElementTree.SubElement(suite, "testcase", classname=_text(f"auditor.{record.policy.name}"), name=_text(name))
    if check.passed:
        return
    kind = "error" if check.passed is None else "failure"
    fault = ElementTree.SubElement(case, kind, message=_text(check_text(record, check)), type=_text(check.measure))
    source = f"Source of the limit: {check.source or record.policy.source}"
    fault.text = _text("\n".join([policy_name(record.policy), source]))


def _counts(suites: list[ElementTree.Element]) -> dict[str, str]:
    return {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in ("tests", "failures", "errors")}


def _text(text: str) -> str:
    """A text that XML 1.0 can hold: control characters, which it cannot, are left out."""
    return "\n".join(clean(line, 2_000) for line in text.split("\n"))
