"""The first minutes with a foreign file, typed as a new user would: profile, audit, the remedy that the audit ends with, and
the audit of what it made. The schema is used as it is proposed: nothing is edited, nothing is typed again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ended
from tests.support.surveys import as_r, survey

Cli = Callable[..., Ended]
pytestmark = pytest.mark.slow


def test_profile_audit_remedy_publish(tmp_path: Path, auditor_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(as_r(survey(60, seed=11)), encoding="utf-8")
    assert auditor_cli("profile", "data.csv", "-o", "schema.toml").code == 0
    asked = ("--schema", "schema.toml", "--policy", "k3", "--attacks", "linking")
    assert auditor_cli("audit", "data.csv", *asked, "--json", "audit.json").code == 1
    best = json.loads(Path("audit.json").read_text(encoding="utf-8"))["remedies"][0]
    assert best["passes"] is True
    program, *typed = shlex.split(best["command"])
    assert program == "auditor"
    assert auditor_cli(*typed).code == 0
    release = typed[typed.index("--output") + 1]
    ended = auditor_cli("audit", release, *asked, "--json", "release.json")
    assert ended.code == 0
    pack = auditor_cli("render", "release.json", "--template", "ema")
    assert pack.code == 0
    assert "passes the policy k3" in pack.out
