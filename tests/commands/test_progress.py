"""Progress where nobody looks at a terminal: lines in a log."""

from __future__ import annotations

import pytest

from auditor.commands import progress
from auditor.commands.progress import Progress


@pytest.mark.parametrize("quiet", [False, True])
def test_a_log_has_a_line_every_ten_seconds(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with Progress(quiet) as shown:
        for step in range(41):
            now = float(step)
            shown.step(step, 80, f"stage {step}")
    expected = ["12 %: stage 10", "25 %, 60 s left: stage 20", "37 %, 50 s left: stage 30"]
    lines = capsys.readouterr().err.splitlines()
    assert lines == ([] if quiet else [*expected, "50 %, 40 s left: stage 40"])


def test_short_work_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(False) as shown:
        shown.step(1, 2, "half")
    assert capsys.readouterr().err == ""
