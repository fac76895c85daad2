"""What the registry of claims is made of: papers, their claims (items), and the measurements (cells) that items rest on.

An item says what a paper claims, where, with which number, and what counts as the same. Its `cells` are the measurements it
needs, by a name of its own; its `judge` turns their results into the outcome, and computes nothing else. So cells run in any
order and in any process, several items can share one, and a finished one is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from auditor.model.record.reproduction import Outcome, PaperFacts
from auditor.runs.papers.sources import Source

Result = Mapping[str, Any]
"""What a cell measured: figures by name, as JSON can hold them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How claims are tested: over how many seeds, and whether time is taken as well as counted."""

    seeds: int = 5
    timed: bool = True

    @property
    def draws(self) -> range:
        """The seeds."""
        return range(1, self.seeds + 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement: a function of the source, and its arguments."""

    measure: Callable[..., Result]
    args: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        """What is shown while it runs, and what tells it from other cells."""
        where = self.measure.__module__.rpartition(".")[2]
        return f"{where}.{self.measure.__name__}({', '.join(f'{name}={value}' for name, value in self.args)})"

    def run(self, source: Source) -> Result:
        """The result."""
        return self.measure(source, **dict(self.args))


def cell(measure: Callable[..., Result], **args: Any) -> Cell:
    """A measurement with its arguments."""
    return Cell(measure, tuple(args.items()))


Cells = Mapping[Hashable, Cell]
Found = Mapping[Any, Result]


@dataclass(frozen=True, slots=True)
class Item:
    """A claim of a paper. `printed` is the paper's number or words, `tolerance` says what counts as the same, `needs` names
    the files without which nothing can be told."""

    name: str
    place: str
    claim: str
    printed: str
    tolerance: str
    cells: Callable[[Settings], Cells]
    judge: Callable[[Found, Settings], Outcome]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its claims."""

    facts: PaperFacts
    items: tuple[Item, ...]
