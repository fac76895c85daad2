"""The choice of a search for a release, in words and tables: which one, why, what was tried, and how it does on people who
had no say in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from auditor.model.record.meaning import Better
from auditor.model.record.record import RunRecord
from auditor.model.record.selection import CHOSEN, EARLY, FAILS, NO_FIGURE, NO_RELEASE, NOT_JUDGED, PASSES, Selection
from reports.reading import Meanings
from reports.tables.tables import Table
from reports.text import NONE, clean, interval, number, probability, settings, words
from reports.words.verdicts import Verdict

_STATUS = {
    CHOSEN: "chosen",
    PASSES: "passes",
    FAILS: "FAILS",
    EARLY: "FAILS",
    NOT_JUDGED: "not judged",
    NO_FIGURE: "no figure",
    NO_RELEASE: "no release",
}
_HALVES = (
    "The release was chosen by what attacks find out about one half of the people. The figures below are of the other half, "
    "which had no say in the choice, but that the release had to pass for everybody."
)
_NAMED = "Nothing is promised of adversaries and figures that the policy does not name."


@dataclass(frozen=True, slots=True)
class Choice:
    """What a search chose, for a reader: `lines` say why, `tried` and `others` are the tables."""

    lines: tuple[str, ...]
    tried: Table
    others: Table | None
    others_note: str = _HALVES


def choice(run: RunRecord) -> Choice | None:
    """The choice of a run; None where it made none."""
    found = run.selection
    if found is None:
        return None
    return Choice((*_why(run, found), _NAMED), _tried(run, found), _others(run, found))


def choice_verdict(run: RunRecord, found: Selection) -> Verdict:
    """The first sentence of a search's report."""
    policy = clean(found.policy, 60)
    if found.chosen is not None:
        kept = f" ({_keep(run, found)} {number(found.kept)})" if found.kept is not None else ""
        return Verdict(
            "pass", f"PASS – {clean(found.chosen, 120)} is the most useful release found that keeps to {policy}{kept}."
        )
    if found.nearest is None and (found.left or found.ended):
        return Verdict("none", f"NOT JUDGED – the budget ended before a release was judged by {policy}.")
    if found.nearest is None:
        return Verdict("fail", f"FAIL – no release could be made and judged by {policy}.", tuple(_reasons(found)))
    nearest = f"The nearest is {clean(found.nearest, 120)}. In the way: {words([clean(s) for s in found.stands])}."
    return Verdict(
        "fail", f"FAIL – no release of {number(len(found.tried))} that were tried keeps to {policy}.", (nearest,)
    )


def _reasons(found: Selection) -> list[str]:
    reasons = Counter(clean(one.reason, 300) for one in found.tried if one.reason)
    return [f"{number(times)} of {number(len(found.tried))}: {text}" for text, times in reasons.most_common(3)]


def _keep(run: RunRecord, found: Selection) -> str:
    measure, _, which = found.keep.partition(".")
    return Meanings(*run.records).utility_name(measure, which or None)


def _why(run: RunRecord, found: Selection) -> list[str]:
    count = Counter(one.status for one in found.tried)
    failed = count[FAILS] + count[EARLY]
    lines = [
        f"{number(len(found.tried))} candidates were made: {number(failed)} fail the policy, {number(count[EARLY])} of them "
        f"by their classes or on a few people already; {number(count[NO_RELEASE] + count[NO_FIGURE])} gave no release, or "
        f"none whose {_keep(run, found)} is known."
    ]
    if found.weights:
        lines.append(f"Columns count by weights: {words([clean(one, 60) for one in found.weights])}; others count 1.")
    if found.chosen is not None and not found.left and not found.ended:
        lines.append(
            f"Every candidate that keeps more than {clean(found.chosen, 120)} fails: it is the best of those made."
        )
    if found.chosen is not None and found.kept == 0 and found.better == Better.HIGHER:
        lines.append("It keeps nothing of what was to be kept: ask yourself whether it is worth publishing.")
    if found.chosen is not None and not found.others:
        lines.append(
            "Of the other half nobody could be attacked: nothing is known of people who had no say in the choice."
        )
    if found.left or found.ended:
        could = f", one of which would keep {number(found.could)}" if found.could is not None else ""
        left = (
            f"{number(found.left)} candidates were not made or not judged{could}"
            if found.left
            else "more could be tried"
        )
        lines.append(f"The budget ended first: {left}. Run the same command again, with --force, to go on.")
    return lines


def _tried(run: RunRecord, found: Selection) -> Table:
    rows = tuple(
        (
            clean(one.name, 120),
            NONE if one.kept is None else number(one.kept),
            _STATUS.get(one.status, clean(one.status, 40)),
            clean(one.reason or "", 300),
        )
        for one in found.tried
    )
    return Table(("candidate", _keep(run, found), "outcome", "why"), rows, frozenset({1}))


def _others(run: RunRecord, found: Selection) -> Table | None:
    if not found.others:
        return None
    meanings = Meanings(*run.records)
    rows = tuple(
        (
            meanings.title(one.attack) + (f" of {clean(one.sensitive, 60)}" if one.sensitive else ""),
            clean(one.measure, 60) + (f" ({settings(one.params)})" if one.params else ""),
            clean(one.adversary, 60) + (f", {clean(one.link, 40)}" if one.link else ""),
            probability(one.value) if one.value <= 1 else number(one.value),
            interval(one.low, one.high),
            NONE if one.excess is None else probability(one.excess),
            interval(one.excess_low, one.excess_high),
        )
        for one in found.others
    )
    return Table(("attack", "figure", "by", "value", "95 %", "beyond control", "95 % of it"), rows, frozenset({3, 5}))
