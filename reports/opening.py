"""The opening of a report, the same for all renderers: the verdict, what it is about, and what to do.

A run that only searches for the strongest adversary, or sweeps over what is known, has an answer in place of a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from auditor.model.record.record import RunRecord
from reports.advice import Advice, what_to_do
from reports.reading import adversaries
from reports.tables.search import only_search, searches
from reports.tables.sweeps import Sweep, sweeps
from reports.tables.tables import inputs
from reports.text import clean, number, percent, words
from reports.words.findings import findings, key_findings
from reports.words.verdicts import Verdict, policy_name, verdict


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands on the first screen: the verdict, the facts (`30 162 rows`, `k = 5`), and what to do."""

    verdict: Verdict
    facts: tuple[str, ...]
    advice: Advice | None


def opening(run: RunRecord) -> Opening:
    """The opening of a run."""
    found, swept = verdict(run), sweeps(run)
    if only_search(run):
        return Opening(_searched(run, found), _facts(run), _against_search(run))
    if swept and found.kind == "none":
        found = replace(found, title=_grown(swept))
    elif found.kind == "none" and len(run.records) == 1:
        told = key_findings(findings(run.records[0]))
        found = replace(found, lines=(*found.lines, *(one.headline for one in told[:1])))
    return Opening(found, _facts(run), what_to_do(run))


def _facts(run: RunRecord) -> tuple[str, ...]:
    date = [clean(run.date, 20)] if run.date else []
    policies = list(dict.fromkeys(policy_name(r.policy) for r in run.records if r.policy is not None))
    if len(run.records) == 1:
        release = run.records[0].release
        rows = f"{number(release.rows)} {'row' if release.rows == 1 else 'rows'}"
        people = release.rows if release.people is None else release.people
        counted = f"{number(people)} {'person' if people == 1 else 'people'}"
        least = [f"k = {number(release.k)}"] if release.k is not None else []
        return (*date, rows, counted, *least, *policies)
    ks = sorted({r.release.k for r in run.records if r.release.k is not None})
    span = [f"k = {number(ks[0])}" if len(ks) == 1 else f"k from {number(ks[0])} to {number(ks[-1])}"] if ks else []
    read = [one.rows for one in inputs(run) if one.role == "original" and one.rows is not None]
    rows = read[0] if read else max((r.release.rows for r in run.records), default=0)
    counts = {r.release.rows if r.release.people is None else r.release.people for r in run.records}
    people = [f"{number(max(counts))} people"] if counts else []
    who = list(dict.fromkeys(name for record in run.records for name in adversaries(record)))
    attackers = [f"{number(len(who))} adversaries"] if len(who) > 1 else []
    several = [f"{number(len(run.records))} releases", f"{number(rows)} rows"] if run.records else []
    return (*date, *several, *people, *span, *attackers, *policies)


def _searched(run: RunRecord, found: Verdict) -> Verdict:
    """The answer of a search; it is a failure where a set breaks the policy for sure."""
    answers = [one.answer for one in searches(run)]
    fails = any(facts.breaks_policy for record in run.records for facts in record.search)
    return replace(found, kind="fail" if fails else "none", title=answers[0], lines=tuple(answers[1:]))


def _against_search(run: RunRecord) -> Advice | None:
    """What to make coarser: the smallest set that is enough."""
    enough = [one for r in run.records for facts in r.search for one in facts.minimal if one.breaks and one.columns]
    if not enough:
        return None
    columns = words([clean(column, 60) for column in enough[0].columns])
    return Advice(f"Make {columns} coarser, or leave {'it' if len(enough[0].columns) == 1 else 'one of them'} out.")


def _grown(found: list[Sweep]) -> str:
    """How much more is right where more is known, by the curve that rises most."""
    curves = [(sweep, curve) for sweep in found for curve in sweep.curves]
    sweep, curve = max(curves, key=lambda pair: pair[1].points[-1].value - pair[1].points[0].value)
    first, last = curve.points[0], curve.points[-1]
    where = f" of {curve.name}" if len(sweep.curves) > 1 else ""
    return (
        f"Knowing {number(last.known)} of {number(sweep.of)} attributes instead of {number(first.known)} takes "
        f"{sweep.plain}{where} from {percent(first.value)} right to {percent(last.value)}."
    )
