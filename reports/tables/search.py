"""The search for the strongest adversary: its answer in words, the tables behind it, and the curves of its picture.

The answer comes first: "knowing birth year, postcode and occupation is enough to …; no pair is". What is said to be enough is
beyond the limit on people who did not choose it, with the interval that holds for all reported figures at once. That fewer
attributes are not enough is said of all sets of that number, or it is said that none was shown to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Goal
from auditor.model.record.record import OK, AuditRecord, RunRecord
from auditor.model.record.search import KnownNumber, SearchFacts, SetFigure
from reports.tables.sweeps import Curve, Known, Sweep
from reports.tables.tables import Table
from reports.text import (
    NONE,
    capital,
    clean,
    finite,
    interval,
    number,
    percent,
    probability,
    short,
    span,
    spoken,
    words,
)

SEARCH_TABLES = ("The smallest sets", "By the number of known attributes", "The strongest attacks on the best sets")
_FEW, _LEAST_POINTS = 3, 2
_FEWER = {
    1: ("no single attribute", "is", "was"),
    2: ("no pair", "is", "was"),
    **{size: (f"no {word}", "are", "were") for size, word in enumerate(("three", "four", "five", "six", "seven"), 3)},
}
"""Sets of so many attributes, in words."""


@dataclass(frozen=True, slots=True)
class SearchWords:
    """One search as a report shows it."""

    title: str
    answer: str
    lines: tuple[str, ...]
    tables: tuple[Table | None, ...]
    """By `SEARCH_TABLES`; None where there is nothing to show."""
    sweep: Sweep | None


def only_search(run: RunRecord) -> bool:
    """Whether a run holds searches and no other figures."""
    return bool(run.records) and all(record.search and not record.risks for record in run.records)


def searches(run: RunRecord) -> list[SearchWords]:
    """The searches of a run, release by release."""
    several = len(run.records) > 1
    return [_words(record, facts, several) for record in run.records for facts in record.search]


def _words(record: AuditRecord, facts: SearchFacts, several: bool) -> SearchWords:
    where = f", {clean(record.release.name, 60)}" if several else ""
    goal = f"the {spoken(facts.sensitive)}" if facts.sensitive else clean(facts.goal, 40)
    title = f"The strongest {clean(facts.adversary, 60)} after {goal}{where}"
    if facts.status != OK:
        return SearchWords(
            title, f"Nothing was searched: {clean(facts.reason or '', 300)}.", (), (None,) * len(SEARCH_TABLES), None
        )
    tables = (_figures(facts, facts.minimal), _numbers(facts), _figures(facts, facts.strongest))
    return SearchWords(
        title, _answer(facts), (_limit(facts), _method(facts), *_unseen(facts)), tables, _sweep(facts, title)
    )


# ----- words ----------------------------------------------------------------------------------------------------------


def _answer(facts: SearchFacts) -> str:
    """What is enough, and that less is not."""
    enough = [one for one in facts.minimal if one.breaks]
    if not enough:
        every = facts.numbers and all(one.none_breaks for one in facts.numbers) and facts.tried == facts.of
        lead = "No set of known attributes is beyond the limit" if every else "No set was shown to be beyond the limit"
        best = max((one.best for one in facts.numbers), key=lambda one: one.value, default=None)
        return lead + (
            "." if best is None else f"; {_knowing(facts, best)}, the best that was found is to {_deed(facts, best)}."
        )
    first = enough[0]
    size = len(first.columns)
    said = f"{capital(_knowing(facts, first))} is enough to {_deed(facts, first)}"
    fewer = next((one for one in facts.numbers if one.known == size - 1), None)
    if size == 0:
        return f"{said}."
    shown = fewer is not None and fewer.none_breaks
    if size == 1:
        return f"{said}; knowing nothing {'is not' if shown else 'was not shown to be'}."
    none, verb, past = _FEWER.get(size - 1, (f"no {number(size - 1)} attributes", "are", "were"))
    others = sum(len(one.columns) == size for one in enough) - 1
    also = f" So {'is' if others == 1 else 'are'} {number(others)} more of that size." if others else ""
    return f"{said}; {none} {verb if shown else f'{past} shown to be'}.{also}"


def _knowing(facts: SearchFacts, one: SetFigure) -> str:
    return f"knowing {_set(facts, one)}" if one.columns else "knowing nothing of people"


def _set(facts: SearchFacts, one: SetFigure) -> str:
    """A set of attributes in words."""
    count = len(one.columns)
    if count == len(facts.attributes) > _FEW:
        return f"all {number(count)} attributes"
    return words([spoken(column) for column in one.columns], count) if count else "nothing"


def _deed(facts: SearchFacts, one: SetFigure) -> str:
    bounds = f"{percent(one.value)} ({span(one.low, one.high)})"
    if facts.goal == "identity":
        said = f"link {bounds} of people to their own record"
    elif facts.goal == Goal.MEMBERSHIP:
        others = "made-up people" if one.params.get("against") == "fakes" else "people who are not in the data"
        said = f"rank members above {others} in {bounds} of pairs, where a coin has 50\u202f%"
    elif (width := finite(one.params.get("width"))) is not None:
        said = (
            f"name an interval of width {short(width)} that holds the {spoken(facts.sensitive)} of {bounds} of people"
        )
    else:
        said = f"name the right {spoken(facts.sensitive)} of {bounds} of people"
    if facts.goal == "value" and one.excess is not None:
        beside = max(x for x in (one.baseline, one.control, 0.0) if x is not None)
        said += f", where {percent(beside)} are right without these people's records"
    return said


def _limit(facts: SearchFacts) -> str:
    if facts.policy is not None:
        figure = f"{clean(facts.figure)} at most {short(facts.limit)}"
        return f"The limit is that of the policy {clean(facts.policy, 60)}: {figure}."
    return f"The limit is an excess of {short(facts.limit)}: that share of what baseline and control leave."


def _method(facts: SearchFacts) -> str:
    return (
        f"{number(facts.tried)} of {number(facts.of)} sets were tried. Sets, links and attacks were chosen on "
        f"{number(facts.choosing)} people; the figures are of {number(facts.reporting)} others, and all "
        f"{number(facts.intervals)} intervals hold at once with {percent(facts.confidence)}."
    )


def _unseen(facts: SearchFacts) -> tuple[str, ...]:
    return tuple(f"Not looked at: {clean(one, 400)}." for one in facts.unseen)


# ----- tables ---------------------------------------------------------------------------------------------------------

_COLUMNS: tuple[tuple[str, Callable[[SetFigure], str]], ...] = (
    ("attack", lambda one: clean(one.attack, 40)),
    ("link", lambda one: spoken(one.link) if one.link else NONE),
    ("figure", lambda one: f"{probability(one.value)} {interval(one.low, one.high)}"),
    ("baseline", lambda one: NONE if one.baseline is None else probability(one.baseline)),
    ("control", lambda one: NONE if one.control is None else probability(one.control)),
    (
        "excess",
        lambda one: (
            NONE if one.excess is None else f"{probability(one.excess)} {interval(one.excess_low, one.excess_high)}"
        ),
    ),
    ("beyond the limit", lambda one: "yes" if one.breaks else "not shown"),
)


def _figures(facts: SearchFacts, figures: Sequence[SetFigure]) -> Table | None:
    if not figures:
        return None
    rows = tuple((_set(facts, one), *(cell(one) for _, cell in _COLUMNS)) for one in figures)
    if facts.sensitive is not None:  # without a control nobody knows what is owed to the release
        rows = tuple(
            row if one.control is not None else (*row[:-1], "no control")
            for row, one in zip(rows, figures, strict=True)
        )
    return Table(("known", *(name for name, _ in _COLUMNS)), rows).without_empty()


def _numbers(facts: SearchFacts) -> Table | None:
    """Success and excess against the number of known attributes: the best, the typical and the worst set."""
    if not facts.numbers:
        return None
    headings = ("known", "sets", "best set", "figure", "its excess", "typical excess", "worst excess")
    rows = tuple(
        (
            number(one.known),
            f"{number(one.tried)} of {number(one.of)}",
            _set(facts, one.best),
            probability(one.best.value),
            f"{probability(one.best.excess)} {interval(one.best.excess_low, one.best.excess_high)}",
            probability(one.typical.excess),
            probability(one.worst.excess),
        )
        for one in facts.numbers
    )
    return Table(headings, rows, frozenset({0, 3, 5, 6}))


def _sweep(facts: SearchFacts, title: str) -> Sweep | None:
    """The curves of the picture: the excess, by which sets are best and worst."""
    parts: tuple[tuple[str, Callable[[KnownNumber], SetFigure]], ...] = (
        ("best set", lambda one: one.best),
        ("typical set", lambda one: one.typical),
        ("worst set", lambda one: one.worst),
    )
    curves = tuple(
        Curve(name, tuple(_point(one.known, of(one)) for one in facts.numbers if of(one).excess is not None))
        for name, of in parts
    )
    if any(len(curve.points) < _LEAST_POINTS for curve in curves):
        return None
    return Sweep(title, "excess", len(facts.attributes), curves)


def _point(known: int, one: SetFigure) -> Known:
    value, low, high = (None if end is None else max(end, 0.0) for end in (one.excess, one.excess_low, one.excess_high))
    return Known(known, value or 0.0, low, high)
