"""The picture of one release: risk by kind (identity, value, membership) for each adversary, beside its limit.

A row is the strongest attack of one kind by one adversary, by the strongest link of their own: that which has most over its
reference (the control or, where that is higher or there is none, the guess without the release). A policy judges other
figures, often the worst case (if the class were known); they stand in rows of their own, with the limit. A least class size
of k is drawn as the chance 1/k that it amounts to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Goal
from auditor.model.record.record import AuditRecord, PolicyCheck, Risk
from auditor.model.record.strongest import Source
from reports.reading import (
    Meanings,
    adversaries,
    excess_of,
    figures,
    is_rate,
    label_of,
    one_person,
    reference_of,
    value_of,
)
from reports.text import capital, clean, finite, spoken

KINDS: tuple[tuple[str, str], ...] = (
    (Goal.IDENTITY, "Identity: whose record is it?"),
    (Goal.ATTRIBUTE, "Value: what is {}?"),
    (Goal.MEMBERSHIP, "Membership: who is in it? (a coin has 50 %)"),
)
_MOST = 4  # adversaries in the picture; the tables have all
_LEAST_CLASS = "release.k"


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure with its interval, what it is held against, and its limit; `judged` is the policy's own figure, and `fails`
    says that it is beyond the limit."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    control: float | None = None
    limit: float | None = None
    judged: bool = False
    fails: bool = False
    why: str = ""
    column: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of one kind of risk."""

    heading: str
    bars: tuple[Bar, ...]


def risk_kinds(record: AuditRecord) -> list[Group]:
    """The figures of the picture, kind by kind; of one person there are none, for a belief is no rate."""
    if one_person(record):
        return []
    made = []
    for goal, heading in KINDS:
        bars = [*_attacks(record, goal), *_judged(record, goal)]
        columns = {bar.column for bar in bars if bar.column}
        if bars:
            asked = heading.format(f"a person's {columns.pop()}" if len(columns) == 1 else "a person's value")
            made.append(Group(asked, tuple(bars)))
    return made


def _attacks(record: AuditRecord, goal: str) -> Iterator[Bar]:
    meanings, source = Meanings(record), Source(record)
    rows = [r for r in figures(record) if source.goal(r) == goal and not meanings.attack(r.attack).harm]
    best = []
    for name in adversaries(record):
        found = strongest_rate(meanings, [r for r in rows if r.adversary == name])
        if found is not None:
            best.append((name, found))
    several = len(adversaries(record)) > 1
    same: dict[tuple[float, float | None, str], list[str]] = {}
    for name, row in best:
        same.setdefault((value_of(row), finite(row.control), row.attack), []).append(clean(name, 40))
    drawn: set[tuple[float, float | None, str]] = set()
    for _, row in best[:_MOST]:
        key = (value_of(row), finite(row.control), row.attack)
        if key not in drawn:
            drawn.add(key)
            yield _bar(meanings, row, ", ".join(same[key]) if several else meanings.title(row.attack))


def strongest_rate(meanings: Meanings, rows: Sequence[Risk]) -> Risk | None:
    """Of some rows of one adversary the rate of the attack that gets furthest beyond its reference."""
    found = []
    for attack, sensitive in meanings.groups(rows):
        own = meanings.own(r for r in rows if (r.attack, r.sensitive) == (attack, sensitive))
        rate = meanings.compared(own)
        if rate is not None:
            found.append(rate)
    return max(found, key=beyond, default=None)


def beyond(rate: Risk) -> float:
    """How far a rate gets beyond its reference: its excess, or the difference."""
    excess, held = excess_of(rate), reference_of(rate)
    return excess.value if excess is not None else value_of(rate) - (held.value if held is not None else 0.0)


def _bar(meanings: Meanings, row: Risk, name: str) -> Bar:
    held, column = reference_of(row), spoken(row.sensitive) if row.sensitive else ""
    about = f" ({column})" if column else ""
    why = f"{capital(meanings.title(row.attack))}{about}, {clean(row.adversary, 60)}: {meanings.standing(row).label}"
    control = None if held is None else held.value
    name += ", worst case" if meanings.supposed(row) else ""
    return Bar(name, value_of(row), finite(row.low), finite(row.high), control, why=why, column=column)


def _judged(record: AuditRecord, goal: str) -> Iterator[Bar]:
    """The policy's own figures of this kind, each with its limit."""
    meanings, source = Meanings(record), Source(record)
    for check in record.policy.checks if record.policy is not None else ():
        of, _, name = check.measure.partition(".")
        if check.measure == _LEAST_CLASS and goal == Goal.IDENTITY and check.value and check.limit:
            yield Bar(
                "policy: smallest class", 1 / check.value, limit=1 / check.limit, judged=True, fails=not check.passed
            )
        like = next((r for r in record.risks if (r.attack, r.measure) == (of, name) and is_rate(r)), None)
        if like is None or source.goal(like) != goal or not _drawn(check):
            continue
        label = label_of(meanings.measure(of, name))
        yield Bar(f"policy: {label}", check.value or 0.0, limit=check.limit, judged=True, fails=not check.passed)


def _drawn(check: PolicyCheck) -> bool:
    value = check.value is not None and check.of == "value"
    return value and 0 <= (check.value or 0) <= 1 and 0 <= check.limit <= 1
