"""The verdicts of docs/papers.md against a run on a small part of the data.

The small part is the first rows of each table. Time is counted in distances, never taken. A few verdicts need more rows or a
clock, and are listed in `WHOLE` with the reason: of them the small part must not say the opposite.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from auditor.model.record.reproduction import Verdict
from auditor.runs.papers import PAPERS
from auditor.runs.papers.item import Cell, Item, Result, Settings
from auditor.runs.papers.sources import ADULT, ADULT_TEST, CENSUS, Source

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
ROWS = 500
SETTINGS = Settings(seeds=3, timed=False)
WHOLE = {
    "001.fig5": "with few rows the seeds differ more than the algorithms",
    "001.fig6": "with few rows the seeds differ more than the methods",
    "001.fig8": "classes with the same labels, which count as one, need many rows",
    "001.headline": "accuracies on a hundred rows differ by chance",
    "002.table5": "accuracies on a few hundred rows differ by chance",
    "002.time": "its only number is a time",
    "003.membership": "in a few hundred rows nearly everybody is unlike all others",
    "003.utility": "accuracies on a hundred rows differ by chance",
}
"""Items whose verdict needs the whole table, and why."""
ITEMS = [item for paper in PAPERS for item in paper.items]


def printed() -> dict[str, str]:
    """The verdicts of the page, by item."""
    rows = re.findall(
        r"^\| \[([^\]]+)\]\([^)]*\) \| .* \| \*\*\S+ ([a-z ]+)\*\* \|$", PAGE.read_text(encoding="utf-8"), re.M
    )
    return dict(rows)


def test_the_page_has_every_item() -> None:
    found = printed()
    assert list(found) == [item.name for item in ITEMS]
    assert set(found.values()) <= set(Verdict)


@pytest.fixture(scope="module")
def measured(data_folder: Path) -> Callable[[Cell], Result]:
    """The result of a measurement; items share some, and each is made once."""
    source = Source.at(data_folder, ROWS)
    assert not source.lacking((ADULT, ADULT_TEST, CENSUS))
    return cache(lambda cell: cell.run(source))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_verdict_on_a_small_part(item: Item, measured: Callable[[Cell], Result]) -> None:
    found = {name: measured(cell) for name, cell in item.cells(SETTINGS).items()}
    outcome, told = item.judge(found, SETTINGS), printed()[item.name]
    if item.name not in WHOLE:
        assert str(outcome.verdict) == told, outcome.checks
    opposite = {Verdict.HOLDS: Verdict.REFUTED, Verdict.REFUTED: Verdict.HOLDS}
    assert outcome.verdict is not opposite.get(Verdict(told)), outcome.checks
