"""Stages: how far an audit is, by what its stages cost.

An attack that learns from the release takes a hundred times as long as one that reads its classes, so counting stages says
nothing about time. Each kind of stage has a weight. Once a stage of a kind was run, the next of that kind (for another
adversary), or of a kind alike (another link model), is expected to take as long; until then its weight times what weights
have turned out to be worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from time import monotonic

from auditor.model.progress import Progress

LINK = "link"
"""The first word of the kinds of stages that are alike: one for each link model."""
FACTS, UTILITY, REMEDIES = "facts", "utility", "remedies"
WEIGHTS = {
    FACTS: 0.3,
    LINK: 2.5,
    "record-linkage": 1.0,
    "membership": 1.0,
    "shadow-membership": 1.0,
    "singling-out": 2.0,
    "special-uniques": 0.3,
    UTILITY: 5.0,
    REMEDIES: 3.0,
}
"""About how many seconds a stage takes on a table of 30 000 people."""
_OTHER = 0.2
_NOTHING = 0.01
"""Seconds. A stage that took less did not apply, and says nothing of others."""
_A_SECOND = 1000
"""The units of progress."""


class Stages:
    """The stages of one audit: those that are planned, and how long those took that were run. `clock` tells seconds."""

    def __init__(
        self, progress: Progress, planned: Iterable[tuple[str, str]], clock: Callable[[], float] = monotonic
    ) -> None:
        """`planned` are kinds of stages, each with its owner: the name of an adversary, or "" for the audit itself."""
        self._progress, self._clock = progress, clock
        self._left = Counter(planned)
        self._took: dict[str, float] = {}
        self._start = self._since = clock()
        self._now: str | None = None

    def begin(self, kind: str, owner: str, what: str) -> None:
        """A stage begins, and with that the one before has ended."""
        self._end()
        self._now = kind
        self._left[kind, owner] -= 1
        ahead = self._expected(kind)
        ahead += sum(times * self._expected(one) for (one, _), times in self._left.items() if times > 0)
        spent = self._clock() - self._start
        self._progress(round(_A_SECOND * spent), max(round(_A_SECOND * (spent + ahead)), 1), what)

    def over(self, owner: str) -> None:
        """Nothing more will come for an owner."""
        self._end()
        self._left = Counter({key: times for key, times in self._left.items() if key[1] != owner})

    def _end(self) -> None:
        now = self._clock()
        if self._now is not None:
            self._took[self._now] = now - self._since
        self._since, self._now = now, None

    def _expected(self, kind: str) -> float:
        """How many seconds a stage will take."""
        told = {one: took for one, took in self._took.items() if took > _NOTHING}
        if kind in self._took and kind not in told:
            return 0.0
        alike = [took for one, took in told.items() if one.split()[0] == kind.split()[0]]
        if alike:
            return min(alike)  # the first of them may have learned for all
        weights = sum(map(_weight, told))
        return _weight(kind) * (sum(told.values()) / weights if weights else 1.0)


def _weight(kind: str) -> float:
    return WEIGHTS.get(kind.split()[0], _OTHER)
