"""Columns that tell nearly all rows apart are named whatever their role, and no policy passes them unless it says so."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from auditor.auditing.audit import audit
from auditor.model.record.policy import parse_policy, read_policy
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.schema import Schema
from reports.words.verdicts import verdict
from scenarios.options import Options

NUMERIC = {"type": "numeric"}
CHECK = [{"figure": "release.k", "at_least": 5}]


def audited(cells: list[Any], about: dict[str, Any], policy: Any = None, **table: Any) -> AuditRecord:
    """A release of two classes in which everything is in order but for one column."""
    half = len(cells) // 2
    frame = pd.DataFrame({"age": ["20"] * half + ["30"] * (len(cells) - half), "x": cells})
    frame["ill"] = ["a", "b"] * half + ["a"] * (len(cells) - 2 * half)
    columns = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, **({"x": about} if about else {})}
    schema = Schema.from_dict({"columns": columns, "table": table})
    options = Options(attacks=("linking",), utility=(), policy=policy or read_policy("k5"))
    return audit(frame, schema, options=options)


IDS = [f"{700 + 13 * i}" for i in range(40)]


@pytest.mark.parametrize(
    ("cells", "about", "share", "fails"),
    [
        (IDS, {"role": "sensitive", **NUMERIC}, 1.0, True),  # a person id taken for something sensitive
        (IDS, {"role": "sensitive"}, 1.0, True),
        (IDS, {"role": "neutral"}, 1.0, True),
        (IDS, {"role": "weight", **NUMERIC}, 1.0, True),
        (IDS, {"role": "sensitive", "type": "ordinal", "order": IDS}, 1.0, True),
        ([*IDS[:38], IDS[0], IDS[0]], {"role": "neutral"}, 0.95, True),  # 38 values in 40 cells
        ([*IDS[:37], *IDS[:3]], {"role": "neutral"}, None, False),  # 37
        ([*IDS[:20], *[""] * 20], {"role": "neutral"}, 1.0, True),  # missing cells do not count
        ([*IDS[:19], *[""] * 21], {"role": "neutral"}, None, False),  # fewer than 20 cells say nothing
        ([*IDS[:20], *["*"] * 20], {"role": "sensitive"}, 1.0, True),  # nor do suppressed ones
        ([f"{i}.5" for i in range(40)], {"role": "sensitive", **NUMERIC}, 1.0, False),  # incomes are named only
        ([f"{i}.5" for i in range(40)], {"role": "neutral"}, 1.0, True),  # texts
    ],
)
def test_a_column_is_named_whatever_its_role(cells: list[str], about: Any, share: float | None, fails: bool) -> None:
    record = audited(cells, about)
    assert record.policy is not None
    assert record.policy.passed is not fails
    found = [(one.column, one.share, one.identifying) for one in record.release.distinct]
    assert found == ([] if share is None else [("x", pytest.approx(share), fails)])
    told = verdict(RunRecord("run", 1, (record,))).warnings
    assert any("'x'" in text for text in told) is (share is not None)
    checks = [check.measure for check in record.policy.checks]
    assert ("release.distinct" in checks) is fails


def test_a_column_that_the_schema_does_not_name_hides_nothing() -> None:
    record = audited(IDS, {}, others="neutral")
    assert record.policy is not None
    assert not record.policy.passed
    assert record.release.distinct[0].column == "x"


def test_a_quasi_identifier_is_named_only() -> None:
    record = audited(IDS, {"role": "quasi"}, parse_policy("mine", {"check": [{"figure": "release.k", "at_least": 1}]}))
    assert record.policy is not None
    assert record.policy.passed  # the classes account for it
    assert [(one.role, one.identifying) for one in record.release.distinct] == [("quasi", False)]


def test_a_policy_may_allow_it() -> None:
    allowing = parse_policy("mine", {"distinct": "allow", "check": CHECK})
    record = audited(IDS, {"role": "neutral"}, allowing)
    assert record.policy is not None
    assert record.policy.passed
    assert record.release.distinct  # named nevertheless
    assert parse_policy("mine", {"check": CHECK}).distinct is False
    strict = audited(IDS, {"role": "neutral"}, parse_policy("mine", {"distinct": "fail", "check": CHECK}))
    assert strict.policy is not None
    assert not strict.policy.passed


@pytest.mark.parametrize("role", ["neutral", "sensitive"])  # another sensitive column stays
def test_the_remedy_is_to_drop_it(role: str) -> None:
    remedies = audited(IDS, {"role": role}).remedies
    assert [(list(one.drop), one.passes) for one in remedies[:1]] == [(["x"], True)]


def test_a_column_that_says_whose_rows_are_is_named_too() -> None:
    record = audited(IDS, {"role": "person"})
    assert [(one.column, one.role, one.identifying) for one in record.release.distinct] == [("x", "person", True)]
    assert audited([text for text in IDS[:20] for _ in range(2)], {"role": "person"}).release.distinct == ()
