"""The risk by which releases are compared: one adversary and one goal, by name, the same for every release.

The figure is the strongest `success` of that adversary's attacks with that goal, as its excess over the baseline,
(success − baseline)/(1 − baseline). The control of a release is its own, and lies higher where a release tells more about the
world: what a release has over it ranks attacks on one release, and not releases. The baseline is the same guess without any
release, so the order is that of the success itself.

A class that is granted is never set beside one that was found: figures come from links of the adversary's own in all releases
or, where some release has none, from the granted class in all (`granted`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.model.record.comparison import FEW_ATTEMPTS
from auditor.model.record.meaning import Goal, Kind
from auditor.model.record.record import OK, ORIGINAL, AuditRecord, Risk

SUCCESS, SYNTHETIC = "success", "synthetic"
GOALS: dict[str, str] = {"value": Goal.ATTRIBUTE, "identity": Goal.IDENTITY, "membership": Goal.MEMBERSHIP}
"""The goals by the names that users know, in the order in which a comparison looks for one that all releases have."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Whose figures releases are compared by, what they are after, and whether the class is taken for known."""

    adversary: str
    goal: str
    granted: bool = False


@dataclass(frozen=True, slots=True)
class Strongest:
    """The strongest attack on a release: its row, and its excess over the baseline with the interval of the success."""

    row: Risk
    value: float
    low: float | None
    high: float | None


class Source:
    """What a record says about where its figures come from."""

    def __init__(self, record: AuditRecord) -> None:
        self.record = record
        self._goals = {facts.name: facts.goal for facts in record.attacks}
        self._harms = {facts.name for facts in record.attacks if facts.harm}
        self._ranks = {facts.name: place for place, facts in enumerate(record.links)}
        self._granted = {facts.name for facts in record.links if facts.granted}
        self._alone = any(lack.what == ORIGINAL for lack in record.lacking)

    def goal(self, row: Risk) -> str:
        """What the attack of a row is after."""
        return self._goals.get(row.attack) or (Goal.ATTRIBUTE if row.sensitive else Goal.IDENTITY)

    def rank(self, row: Risk) -> int:
        """The place of a row's link in the order of the reports."""
        return self._ranks.get(row.link or "", len(self._ranks))

    def supposed(self, row: Risk) -> bool:
        """Whether a figure holds only if the class were known."""
        return is_supposed(row.link in self._granted, self._alone, self.goal(row))

    def successes(self) -> Iterator[Risk]:
        """The shares of right claims by attacks that disclose something."""
        for row in self.record.risks:
            known = row.status == OK and row.value is not None and row.kind == Kind.RATE
            if row.measure == SUCCESS and known and row.attack not in self._harms and excess(row) is not None:
                yield row


def is_supposed(granted: bool, alone: bool, goal: str) -> bool:
    """Whether a figure holds only if the class were known: under a link that grants it and, where there is no original, of
    all claims of a value. No adversary gets it by what they know."""
    return granted or (alone and goal == Goal.ATTRIBUTE)


def excess(row: Risk) -> tuple[float, float | None, float | None] | None:
    """What a rate has over its baseline (its control, where it has no baseline), with the interval of the rate; None where it
    can have nothing over it."""
    held = next((one for one in (row.baseline, row.control) if one is not None), 0.0)
    if row.value is None or held >= 1:
        return None
    low, high = (None if end is None else (end - held) / (1 - held) for end in (row.low, row.high))
    return (row.value - held) / (1 - held), low, high


def choose(records: Sequence[AuditRecord], adversary: str | None = None, goal: str | None = None) -> Chosen | None:
    """Whose figures some releases are compared by: the first goal that one adversary has figures of on all of them, found
    before granted, and of several such adversaries the one who gets furthest. Where no goal has that, the choice that most
    releases have. None where there is no figure at all. Where a release is synthetic, membership comes first: rows that are
    nobody's show next to nothing of the other goals, however much they give away."""
    found: dict[Chosen, list[float]] = {}
    for record in records:
        source = Source(record)
        best: dict[Chosen, float] = {}
        for row in source.successes():
            one, beyond = Chosen(row.adversary, source.goal(row), source.supposed(row)), excess(row)
            if beyond is not None and adversary in (None, row.adversary) and goal in (None, one.goal):
                best[one] = max(best.get(one, beyond[0]), beyond[0])
        for one, value in best.items():
            found.setdefault(one, []).append(value)
    goals: list[str] = list(GOALS.values())
    if any(record.release.kind == SYNTHETIC for record in records):
        goals.sort(key=lambda one: one != Goal.MEMBERSHIP)
    order = {one: place for place, one in enumerate(goals)}

    def worth(one: Chosen) -> tuple[int, int, bool, float]:
        return len(found[one]), -order.get(one.goal, len(order)), not one.granted, max(found[one])

    return max(found, key=worth, default=None)


def strongest(record: AuditRecord, chosen: Chosen) -> Strongest | None:
    """The strongest attack on a release; one of a few attempts only where there is no other, so that three lucky guesses do
    not outdo thousands."""
    source, found = Source(record), []
    for row in source.successes():
        if (row.adversary, source.goal(row), source.supposed(row)) == (chosen.adversary, chosen.goal, chosen.granted):
            beyond = excess(row)
            if beyond is not None:
                found.append(Strongest(row, *beyond))

    def worth(one: Strongest) -> tuple[bool, float, int]:
        return (one.row.n or 0) >= FEW_ATTEMPTS, one.value, -source.rank(one.row)

    return max(found, key=worth, default=None)
