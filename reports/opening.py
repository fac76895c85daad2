"""The opening of a report, the same for all renderers: the verdict, what it is about, and what to do.

A run that only searches for the strongest adversary, or sweeps over what is known, has an answer in place of a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.model.record.record import RunRecord
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.record.selection import Selection
from reports.advice import Advice, what_to_do
from reports.reading import adversaries, is_synthetic, one_person
from reports.tables.search import only_search, searches
from reports.tables.selection import choice_verdict
from reports.tables.sweeps import Sweep, is_sweep, steepest, sweeps
from reports.tables.tables import inputs
from reports.text import capital, clean, number, percent, words
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
    if run.selection is not None:
        return Opening(choice_verdict(run, run.selection), _facts(run), _published(run.selection))
    if only_search(run):
        return Opening(_searched(run, found), _facts(run), _against_search(run))
    if swept and found.kind == "none":
        found = replace(found, title=_grown(swept))
    elif found.kind == "none" and len(run.records) == 1:
        told = [one.headline for one in key_findings(findings(run.records[0]))]
        if told and one_person(run.records[0]):
            found = replace(found, title=told[0], lines=(*found.lines, *told[1:2]))
        else:
            found = replace(found, lines=(*found.lines, *told[:1]))
    return Opening(found, _facts(run), what_to_do(run))


def _published(found: Selection) -> Advice:
    """What to do after a search for a release."""
    if found.chosen is None and (found.left or found.ended):
        return Advice("Publish none of them yet.", ("Run the same command again, with a larger --budget, to go on.",))
    if found.chosen is None:
        return Advice("Publish none of them.", ("Allow more in the policy, or publish fewer columns or people.",))
    return Advice(
        "Publish the release that was written.",
        ("Its own audit, of everybody and by all attacks, lies beside this page.",),
    )


def _facts(run: RunRecord) -> tuple[str, ...]:
    date = [clean(run.date, 20)] if run.date else []
    policies = list(dict.fromkeys(policy_name(r.policy) for r in run.records if r.policy is not None))
    return (*date, *(_of_one(run.records[0].release) if len(run.records) == 1 else _of_several(run)), *policies)


def _of_one(release: ReleaseFacts) -> list[str]:
    if is_synthetic(release):
        return [_counted(release.rows, "made-up row", "made-up rows")]
    return [
        _counted(release.rows, "row", "rows"),
        _counted(_people(release), "person", "people"),
        *([f"k = {number(release.k)}"] if release.k is not None else []),
    ]


def _of_several(run: RunRecord) -> list[str]:
    if not run.records:
        return []
    releases = [record.release for record in run.records]
    read = [one.rows for one in inputs(run) if one.role == "original" and one.rows is not None]
    sizes = sorted({release.k for release in releases if release.k is not None and not is_synthetic(release)})
    least = (
        f"k = {number(sizes[0])}"
        if len(sizes) == 1
        else f"k from {number(sizes[0])} to {number(sizes[-1])}"
        if sizes
        else ""
    )
    who = {name for record in run.records for name in adversaries(record)}
    real = [_people(release) for release in releases if not is_synthetic(release)]
    found = [
        _counted(len(releases), "release", "releases"),
        _counted(read[0] if read else max(release.rows for release in releases), "row", "rows"),
        _counted(max(real), "person", "people") if real else "",
        least,
        f"{number(len(who))} adversaries" if len(who) > 1 and not is_sweep(run) else "",
    ]
    return [text for text in found if text]


def _people(release: ReleaseFacts) -> int:
    return release.rows if release.people is None else release.people


def _counted(count: int, one: str, several: str) -> str:
    return f"{number(count)} {one if count == 1 else several}"


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


def _grown(found: Sequence[Sweep]) -> str:
    """How much more is right where more is known, by the curve that rises most."""
    sweep, curve = steepest(found)
    first, last = curve.points[0], curve.points[-1]
    where = f"On {curve.release}, " if curve.release else ""
    verb = "is" if first.known == 1 else "are"
    said = (
        f"{where}{sweep.plain} is right for {percent(first.value)} of people where {number(first.known)} of "
        f"{number(sweep.of)} attributes {verb} known, and for {percent(last.value)} where {number(last.known)} are."
    )
    return capital(said)
