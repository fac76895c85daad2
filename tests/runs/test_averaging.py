"""Averages over releases: means and Student's intervals by hand, and a scenario carried out with several seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.model.record.record import AuditRecord, PolicyVerdict, Risk, Utility
from auditor.model.record.release_facts import ReleaseFacts
from auditor.runs.averaging import RELEASES, over_releases
from auditor.runs.redteaming import redteam
from scenarios.scenario import read_scenario
from tests.conftest import Ended

SCENARIO = """
data = { file = "people.csv", schema = "schema.toml" }
attacks = { run = ["homogeneity"], link = ["containment"] }
utility = { run = [] }
[[release]]
name = "bucketized"
method = "anatomy"
l = 2
[[release]]
name = "as it is"
file = "people.csv"
match = "rows"
"""
SCHEMA = """
[columns]
zip = { role = "quasi" }
ill = { role = "sensitive" }
"""


def record(seed: int, value: float | None, passed: bool = True, kind: str = "rate") -> AuditRecord:
    status = "ok" if value is not None else "not_applicable"
    excess = {} if value is None else {"excess": {"value": value / 2, "low": 0.0, "high": 1.0, "over": "control"}}
    risks = [
        Risk("linking", "prosecutor", "class", "success", None, {}, status, value=value, control=0.2, low=0.0, high=1.0,
             n=50, detail=excess, kind=kind),
        Risk("linking", "marketer", "class", "success", value=0.5, n=50),
    ]  # fmt: skip
    facts = ReleaseFacts("a", "generalised", 100, 0, "excluded", 20, 5, {"5": 20})
    verdict = PolicyVerdict("p", "p", "s", (), passed)
    return AuditRecord(seed, facts, risks, [Utility("queries", value=value, better="lower")], verdict)


def test_means_with_students_interval() -> None:
    found = over_releases([record(7, 0.3), record(8, 0.5)])
    row = found.risks[0]
    # t(0.975, 1 degree) = 12.7062; the deviation of 0.3 and 0.5 is 0.141421; 12.7062 · 0.141421/√2 = 1.27062
    assert (row.value, row.low, row.high) == (pytest.approx(0.4), 0.0, 1.0)
    assert row.control == pytest.approx(0.2)
    assert row.detail["excess"]["value"] == pytest.approx(0.2)
    assert row.detail["excess"]["low"] == pytest.approx(0.2 - 1.27062 / 2, abs=1e-4)
    assert row.detail[RELEASES] == {"n": 2, "values": [0.3, 0.5]}
    assert found.risks[1].value == 0.5  # another adversary's
    assert found.utility[0].value == pytest.approx(0.4)
    assert found.seed == 7
    assert "means over 2 releases (seeds 7 to 8)" in found.notes[-1].text


def test_counts_have_no_interval_and_a_figure_of_one_release_stays() -> None:
    counted = over_releases([record(7, 3, kind="count"), record(8, 6, kind="count")])
    assert (counted.risks[0].value, counted.risks[0].low) == (4.5, None)
    once = over_releases([record(7, 0.3), record(8, None)])
    assert (once.risks[0].value, once.risks[0].high) == (0.3, 1.0)
    assert RELEASES not in once.risks[0].detail


def test_a_policy_holds_where_all_releases_pass() -> None:
    assert over_releases([record(7, 0.3), record(8, 0.5)]).policy == record(7, 0.3).policy
    failed = over_releases([record(7, 0.3), record(8, 0.5, passed=False)])
    assert failed.policy is not None
    assert not failed.policy.passed
    assert failed.notes[-1].text.startswith("1 of 2 releases fail the policy")
    assert over_releases([record(7, 0.3)]) == record(7, 0.3)


def test_a_scenario_with_several_seeds(tmp_path: Path) -> None:
    rows = [f"{i % 20},{'flu' if i % 3 else 'ulcer' if i % 2 else 'cold'}" for i in range(61) if i % 3 or i % 2]
    rows += [f"{i},{ill}" for i, ill in enumerate(["ulcer", "cold"] * 15)]
    files = {"people.csv": "\n".join(["zip,ill", *rows]), "schema.toml": SCHEMA, "twice.toml": SCENARIO}
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    scenario = read_scenario(str(tmp_path / "twice.toml"))
    once, again = redteam(scenario, seed=5).records
    mean, same = redteam(scenario, seed=5, seeds=3).records
    row, alone = (r.find("homogeneity", "success", sensitive="ill") for r in (mean, once))
    values = row.detail[RELEASES]["values"]
    assert values[0] == pytest.approx(alone.value)
    assert len(set(values)) > 1  # other releases of the same people
    assert row.value == pytest.approx(sum(values) / 3)
    assert mean.release == once.release
    assert same == again  # a file is the same whatever the seed


def test_a_sweep_has_one_release(auditor_cli: Callable[..., Ended]) -> None:
    ended = auditor_cli("redteam", "town", "--sweep", "known=1..2", "--seeds", "2")
    assert ended.code == 2
    assert "--sweep averages over sets of columns" in ended.err
