"""The tables that a campaign prints: what came of the inputs by command and kind, and each failure with its number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tabulate import tabulate


@dataclass(frozen=True)
class Outcome:
    """What came of an input or a kill."""

    index: int
    command: str
    kind: str
    code: int
    seconds: float
    faults: tuple[str, ...]
    line: str

    @property
    def sort(self) -> str:
        """A result, a refusal or a failure."""
        return "failures" if self.faults else "results" if self.code in (0, 1) else "refusals"


def share(outcomes: Sequence[Outcome]) -> float:
    """The share of inputs that gave a result."""
    return sum(one.sort == "results" for one in outcomes) / max(len(outcomes), 1)


def table(outcomes: Sequence[Outcome]) -> str:
    """Counts by command and by kind."""
    sorts = ("results", "refusals", "failures")
    parts = []
    for title, key in (("command", "command"), ("what was changed", "kind")):
        counts: dict[str, Counter[str]] = {}
        for one in outcomes:
            counts.setdefault(getattr(one, key), Counter())[one.sort] += 1
        rows = [(name, sum(found.values()), *(found[sort] for sort in sorts)) for name, found in sorted(counts.items())]
        total = [sum(row[place] for row in rows) for place in range(1, 5)]
        parts.append(tabulate([*rows, ("all", *total)], (title, "inputs", *sorts), tablefmt="simple"))
    return "\n\n".join(parts)


def failures(outcomes: Sequence[Outcome], again: str) -> str:
    """Each failure, and the option that runs it again."""
    lines = [f"  {again} {one.index}  {'; '.join(one.faults)}\n      {one.line}" for one in outcomes if one.faults]
    return "\n".join(lines)
