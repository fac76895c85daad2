"""Everything else that a set of attributes gives (membership, numbers, learned attacks, further links): an ordinary audit of
the people of one half by an adversary who knows the set.

In a row of an ordinary audit it is not told how figure and control go together: they count as independent there, and the
interval of the excess is a little too wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attacks import ATTACKS
from auditor.auditing.attacking import Attacker
from auditor.auditing.exposure.halves import Halves
from auditor.auditing.exposure.tried import AREA, SUCCESS, Companion, Tried
from auditor.auditing.sides import Sides
from auditor.measure.intervals import Interval, trials_behind
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.record import OK, Risk
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary
from scenarios.options import Options

MOST_ASKED = 2_000
"""The most people of each half whose membership is asked."""
_TOLD = ("score", "against", "width")  # the settings of a figure that a search tells


class AuditedSets:
    """What the sets of known attributes give in ordinary audits."""

    def __init__(self, halves: Halves, options: Options, adversary: Adversary, goal: Goal, column: str | None) -> None:
        self.halves, self.options, self.adversary, self.goal, self.column = halves, options, adversary, goal, column
        self._sides: dict[tuple[int, tuple[Link, ...]], Sides] = {}

    def figures(self, columns: tuple[str, ...], half: int, attack: str, links: tuple[Link, ...]) -> list[Tried]:
        """The figures of an ordinary audit of one half by somebody who knows the set."""
        adversary = replace(self.adversary, knows=columns, subsets=None)
        chosen = ATTACKS.get(attack).configure(self.options.settings.get(attack, {}))
        attacker = Attacker(adversary, self._half(half, links), (chosen,))
        return [_of_risk(columns, risk) for risk in self._wanted(attacker.risks(lambda *_: None))]

    def _half(self, half: int, links: tuple[Link, ...]) -> Sides:
        """The sides of trials on the people of one half; of membership, on some of them."""
        if (half, links) not in self._sides:
            rows = self.halves.rows(half, MOST_ASKED if self.goal is Goal.MEMBERSHIP else None)
            asked = replace(self.options, targets=rows, links=links, policy=None)
            self._sides[half, links] = Sides(self.halves.subject, asked)
        return self._sides[half, links]

    def _wanted(self, risks: Iterator[Risk]) -> list[Risk]:
        """The rates that say how often the goal is reached."""
        measure = AREA if self.goal is Goal.MEMBERSHIP else SUCCESS
        found = [
            risk
            for risk in risks
            if risk.status == OK and risk.value is not None and risk.low is not None and risk.high is not None
            and risk.measure == measure and risk.sensitive == self.column and risk.link != Link.CLASS
        ]  # fmt: skip
        real = [risk for risk in found if risk.params.get("against") == "outsiders"]
        return real or found


def _of_risk(columns: tuple[str, ...], risk: Risk) -> Tried:
    """A row of an audit as one that was tried."""
    assert risk.value is not None
    assert risk.low is not None
    assert risk.high is not None
    n = risk.n or 0
    trials = trials_behind(float(risk.value), Interval(risk.low, risk.high), n)
    fixed = risk.sensitive is None
    beside = []
    if risk.baseline is not None:
        beside.append(Companion("baseline", risk.baseline, None if fixed else float(n)))
    if risk.control is not None and not fixed:
        beside.append(Companion(risk.control_kind or "control", risk.control, float(risk.detail.get("control_n", n))))
    params = {key: value for key, value in risk.params.items() if key in _TOLD}
    return Tried(
        columns, risk.attack, risk.link, risk.measure, Kind.RATE, float(risk.value), n, trials, tuple(beside), params
    )
