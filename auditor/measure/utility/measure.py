"""What a utility measure is: the words that the record carries, and what only `auditor explain` and the documents say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from auditor.measure.utility.case import Case
from auditor.model.record import meaning
from auditor.model.record.meaning import UTILITY, Better, Kind
from auditor.model.record.record import NOT_APPLICABLE, Utility

ONE_BLOCK = "releases of one block whose labels cover their people (generalised ones)"
ORIGINAL = "needs the original and, unless it is synthetic, who is who"
ALL = f"every kind of release; {ORIGINAL}"
NOT_SYNTHETIC = "every kind of release but synthetic ones"
WHO = "needs the original and who is who"


@dataclass(frozen=True, slots=True)
class Measure:
    """A utility measure: its words, what computes it, the releases it applies to, its source, and the worst value it can
    have (None: no bound)."""

    words: meaning.Measure
    compute: Callable[[Case], list[Utility]]
    applies: str
    paper: str
    worst: float | None = None

    @property
    def name(self) -> str:
        """The name in records and options."""
        return self.words.name

    def explanation(self) -> str:
        """What the measure means, where it applies, and how its file says it is computed."""
        said = [f"{self.words.better} is better"]
        ends = (("best", self.words.best), ("worst", self.worst))
        said += [f"{word} {end:g}" for word, end in ends if end is not None]
        how = (sys.modules[self.compute.__module__].__doc__ or "").strip()
        better = ", ".join(said).capitalize()
        return f"{self.words.meaning}\n{better}.\n\nApplies to: {self.applies}.\nSource: {self.paper}\n\n{how}"


def measure(
    name: str,
    means: str,
    label: str,
    compute: Callable[[Case], list[Utility]],
    applies: str,
    paper: str,
    best: float | None = None,
    worst: float | None = None,
    *,
    better: str = Better.LOWER,
    statistic: str = "",
    headline: bool = False,
) -> Measure:
    """A utility measure: what it means in a line, and as `label` its name in tables and pictures; see `Measure` for the
    others."""
    words = meaning.Measure(
        name, means, "", UTILITY, label, Kind.FACT, better, best=best, statistic=statistic, headline=headline
    )
    return Measure(words, compute, applies, paper, worst)


def not_applicable(name: str, reason: str | None, **params: str) -> Utility:
    """The row of a measure that does not apply to a release."""
    return Utility(name, NOT_APPLICABLE, better="lower", reason=reason, params=params)
