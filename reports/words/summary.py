"""Several releases side by side in words: the best finding of each kind on each, and which release does best.

Releases whose intervals overlap are not ranked: the summary says that they cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Better, Goal
from auditor.model.record.record import AuditRecord, Risk, RunRecord, Utility
from reports.reading import Excess, Meanings, one_person, shared_utility, strongest_success, utility_of
from reports.text import clean, finite, number, percent, probability, spoken, words
from reports.words.findings import IDENTIFIERS, VALUE, Finding, findings
from reports.words.sentences import adversary_line

_KINDS = (IDENTIFIERS, VALUE, Goal.IDENTITY, Goal.MEMBERSHIP)


@dataclass(frozen=True, slots=True)
class Brief:
    """The findings to remember of one release, at most one of each kind."""

    place: int
    release: str
    findings: tuple[Finding, ...]


def briefs(run: RunRecord, places: Sequence[int]) -> list[Brief]:
    """For the releases at some places the best finding of each kind: value, identity, membership."""
    chosen = [(place, run.records[place - 1]) for place in places]
    return [Brief(place, clean(record.release.name, 60), _best(record)) for place, record in chosen]


def _best(record: AuditRecord) -> tuple[Finding, ...]:
    """The best finding of each kind; about one person the best on each column, for each is about this person."""
    chosen: dict[tuple[str, str | None], Finding] = {}
    each = one_person(record)
    for found in findings(record):
        if found.kind in _KINDS:
            chosen.setdefault((found.kind, found.sensitive if each else None), found)
    return tuple(sorted(chosen.values(), key=lambda f: _KINDS.index(f.kind)))


def adversary_lines(run: RunRecord) -> list[str]:
    """Who attacks in the findings, said once for all releases that have the same adversary."""
    return [line for line in dict.fromkeys(adversary_line(record) for record in run.records) if line]


def bottom_line(run: RunRecord) -> str | None:
    """For several releases: which has the least risk and by which figure, and which the best utility."""
    risky = [(r, *pair) for r in run.records if (pair := strongest_success(r)) is not None]
    if len(run.records) < 2 or not risky or any(one_person(r) for r in run.records):
        return None
    text = _least_risk(risky, len(run.records))
    useful = _most_useful(run)
    return f"{text} {useful}" if useful else text


def _least_risk(risky: Sequence[tuple[AuditRecord, Risk, Excess]], size: int) -> str:
    record, risk, excess = min(risky, key=lambda item: item[2].value)
    top = excess.high if excess.high is not None else excess.value
    alike = [r for r, _, e in risky if r is record or (e.low if e.low is not None else e.value) <= top]
    over = "the control" if excess.over == "control" else "a guess without the release"
    figure = (
        f"{_attack(risk)}, right in {percent(finite(risk.value))}, with an excess over {over} of "
        f"{probability(excess.value)}"
    )
    if len(alike) == 1:
        return (
            f"Of {number(size)} releases, {clean(record.release.name, 60)} has the least risk: its strongest attack is "
            f"{figure}."
        )
    names = words([clean(r.release.name, 60) for r in alike])
    return (
        f"Of {number(size)} releases, {names} have the least risk and cannot be told apart (the intervals of their "
        f"strongest attacks overlap); on {clean(record.release.name, 60)} it is {figure}."
    )


def _attack(risk: Risk) -> str:
    about = f" of the {spoken(risk.sensitive)}" if risk.sensitive else ""
    against = " against made-up people" if risk.params.get("against") == "fakes" else ""
    link = f" (link {clean(risk.link, 40)})" if risk.link else ""
    return f"{clean(risk.attack, 60)}{about}{against} by the {clean(risk.adversary, 60)}{link}"


def _most_useful(run: RunRecord) -> str:
    """The best utility among releases that changed something: the original has no error, which is no merit."""
    axis, meanings = shared_utility(run), Meanings(*run.records)
    rows = [(r, u) for r in run.records if axis is not None and (u := utility_of(r, *axis)) is not None]
    rows = [(r, u) for r, u in rows if finite(u.value) != meanings.utility(u.measure).best]
    if not rows or axis is None:
        return ""
    sign = 1 if rows[0][1].better == Better.LOWER else -1
    best, figure = min(rows, key=lambda pair: sign * (finite(pair[1].value) or 0.0))
    alike = [r for r, u in rows if r is best or _meet(u, figure)]
    name = meanings.utility_name(*axis)
    value = number(finite(figure.value))
    if len(alike) == 1:
        return f"{clean(best.release.name, 60)} has the best {name} of those that protect: {value}."
    names = words([clean(r.release.name, 60) for r in alike])
    return f"By {name}, {names} are best and cannot be told apart ({value} for {clean(best.release.name, 60)})."


def _meet(one: Utility, two: Utility) -> bool:
    """Whether two figures are the same, or their intervals overlap."""
    low, high = (finite(one.low), finite(two.low)), (finite(one.high), finite(two.high))
    if None in low or None in high:
        return one.value == two.value
    return max(v for v in low if v is not None) <= min(v for v in high if v is not None)
