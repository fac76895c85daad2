"""Options in groups: users see one flat list, the command takes objects."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from auditor.commands.groups import EVERYWHERE, Grouped

OPTIONS = {"red": Annotated[str | None, typer.Option("--red")]}


class Colours:
    """Names its options when it is asked, so that later ones are there too."""

    def options(self) -> dict[str, Any]:
        return OPTIONS


@dataclass(frozen=True, kw_only=True)
class Size:
    width: Annotated[int, typer.Option("--width", "-w")]
    height: Annotated[int, typer.Option("--height")] = 3


taken: list[object] = []


@Grouped
def draw(
    name: Annotated[str, typer.Argument()],
    size: Size,
    colours: Annotated[Mapping[str, str | None], Colours()],
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    """Draw something."""
    taken[:] = [name, size, dict(colours), loud]


def run(*arguments: str) -> int:
    app = typer.Typer()
    app.command()(draw)
    return CliRunner().invoke(app, list(arguments)).exit_code


def test_groups_become_options_in_their_place() -> None:
    parameters = inspect.signature(draw).parameters
    assert [*parameters] == ["name", "width", "height", "red", "loud", *EVERYWHERE]
    assert [p.default for p in parameters.values()] == [inspect.Parameter.empty] * 2 + [3, None, False, False, False]
    assert (draw.__name__, draw.__doc__) == ("draw", "Draw something.")


def test_a_command_takes_the_groups_that_its_options_make() -> None:
    assert run("house", "-w", "5", "--red", "dark", "--loud") == 0
    assert taken == ["house", Size(width=5), {"red": "dark"}, True]
    assert run("house", "-w", "5", "--height", "1") == 0
    assert taken == ["house", Size(width=5, height=1), {"red": None}, False]
    assert run("house") == 2  # a field without a default is a required option


def test_an_option_that_is_registered_later_is_there(monkeypatch: Any) -> None:
    monkeypatch.setitem(OPTIONS, "blue", Annotated[str | None, typer.Option("--blue")])
    assert run("house", "-w", "5", "--blue", "pale") == 0
    assert taken[2] == {"red": None, "blue": "pale"}
