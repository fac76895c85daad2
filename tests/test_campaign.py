"""The campaign at a small scale: hostile inputs and kills, as `python -m tests.campaign` runs them by the thousand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.generating import generate

ROOT = Path(__file__).parents[1]


def campaign(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own, which forks: it must not be one with threads and a tracer."""
    command = [sys.executable, "-m", "tests.campaign", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks, /dev/full and signals as Linux has them")
def test_hostile_inputs_and_kills_break_nothing() -> None:
    ended = campaign("--inputs", 60, "--kills", 3, "--seed", 15)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    share = re.search(r"Share of inputs with a result: ([0-9.]+)", ended.stdout)
    assert share is not None
    assert float(share[1]) > 1 / 3


def test_the_same_seed_and_number_give_the_same_input() -> None:
    for index in (3, 14, 15):
        first, second = generate(9, index), generate(9, index)
        assert first.arguments == second.arguments
        assert first.files == second.files
    assert generate(9, 3).files != generate(10, 3).files
