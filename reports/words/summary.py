"""Several releases side by side in words: the best finding of each kind on each, and which release does best.

Releases are compared by the risk of one adversary with one goal, the same for all. Those whose intervals overlap are not
ranked: the summary says that they cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Goal
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.strongest import Chosen, Strongest, choose, strongest
from reports.reading import IF_KNOWN, Meanings, one_person
from reports.text import clean, finite, number, percent, probability, spoken, words
from reports.words.best import best_release, protecting
from reports.words.findings import IDENTIFIERS, VALUE, Finding, findings
from reports.words.sentences import adversary_lines as lines_of

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
    return lines_of(*run.records)


def bottom_line(run: RunRecord) -> str | None:
    """For several releases: which has the least risk and by which figure, and which the best utility."""
    chosen = choose(run.records)
    if chosen is None or len(run.records) < 2 or any(one_person(r) for r in run.records):
        return None
    risky = [(record, found) for record in run.records if (found := strongest(record, chosen)) is not None]
    text = _least_risk(risky, chosen, len(run.records))
    useful = _most_useful(run)
    return f"{text} {useful}" if useful else text


def _least_risk(risky: Sequence[tuple[AuditRecord, Strongest]], chosen: Chosen, size: int) -> str:
    record, least = min(risky, key=lambda item: item[1].value)
    top = least.high if least.high is not None else least.value
    alike = [r for r, e in risky if r is record or (e.low if e.low is not None else e.value) <= top]
    figure = (
        f"{_attack(Meanings(record).title(least.row.attack), least.row)}, right in {percent(finite(least.row.value))}"
    )
    figure += f" (excess over a guess without the release {probability(least.value)})"
    whose = f"from the {clean(chosen.adversary, 60)}" + (f", {IF_KNOWN}," if chosen.granted else "")
    if len(alike) == 1:
        return (
            f"Of {number(size)} releases, {clean(record.release.name, 60)} has the least risk {whose}: the strongest attack "
            f"is {figure}."
        )
    names = words([clean(r.release.name, 60) for r in alike])
    return (
        f"Of {number(size)} releases, {names} have the least risk {whose} and cannot be told apart (the intervals of their "
        f"strongest attacks overlap); on {clean(record.release.name, 60)} it is {figure}."
    )


def _attack(title: str, risk: Risk) -> str:
    about = f" ({spoken(risk.sensitive)})" if risk.sensitive else ""
    against = " against made-up people" if risk.params.get("against") == "fakes" else ""
    return f"{title}{about}{against}"


def _most_useful(run: RunRecord) -> str:
    """The best utility among the releases that protect; nothing where none does."""
    best = best_release(run)
    if best is None or not best.utility:
        return ""
    if best.alike:
        names = words([best.name, *best.alike])
        return f"Of those {protecting(run)}, {names} are the most useful and cannot be told apart ({best.utility})."
    return f"Of those {protecting(run)}, {best.name} is the most useful ({best.utility})."
