"""Progress in a notebook: a bar for work that is given no function of its own, which goes when the work ends."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from auditor.model import progress
from auditor.model.progress import Progress, shown_in_notebooks, silent


class Screen:
    """What a notebook would show: the outputs, in the order they were drawn."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def display(self, shown: str, display_id: bool) -> SimpleNamespace:
        assert display_id
        self.drawn.append(shown)
        return SimpleNamespace(update=self.drawn.append)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made, ipython, tools = Screen(), ModuleType("IPython"), ModuleType("IPython.display")
    parts: Any = tools
    parts.HTML, parts.display = str, made.display
    shell: Any = ipython
    shell.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", tools)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    return made


@shown_in_notebooks
def work(steps: int, progress: Progress | None = None, fail: bool = False) -> int:
    """Some work."""
    for done in range(steps):
        (progress or silent)(done, steps, "a <step>")
    if fail:
        raise ValueError("no")
    return steps


def test_a_bar_that_goes(screen: Screen) -> None:
    assert work(4) == 4
    assert len(screen.drawn) == 5
    assert 'value="0.500"' in screen.drawn[2]
    assert "50 %" in screen.drawn[2]
    assert "a &lt;step&gt;" in screen.drawn[2]
    assert screen.drawn[-1] == ""


def test_it_goes_where_the_work_fails(screen: Screen) -> None:
    with pytest.raises(ValueError, match="no"):
        work(1, fail=True)
    assert screen.drawn[-1] == ""


def test_who_brings_a_function_of_their_own_sees_no_bar(screen: Screen) -> None:
    told: list[int] = []
    assert work(3, lambda done, *_: told.append(done)) == 3  # by its place
    assert work(3, progress=silent) == 3
    assert (told, screen.drawn) == ([0, 1, 2], [])


def test_quick_work_and_other_places_show_nothing(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 60)
    work(3)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    work(3)
    monkeypatch.delitem(sys.modules, "IPython")
    work(3)
    assert screen.drawn == []
