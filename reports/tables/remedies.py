"""What would lower the risk, in words: what drives the failing checks, and the remedies that were tried, the best first.

All figures come from the record, where they were recomputed on the mended release. Classes are told by their figures and
people by row numbers, never by values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record.record import AuditRecord
from auditor.model.record.remedy import Driver, Prediction, Remedy
from reports.reading import Meanings, label_of
from reports.tables.tables import Table
from reports.text import NONE, capital, clean, number, percent, short, words

SHOWN = 8
"""How many remedies are shown; the record has the others."""
_ROWS = 10
_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class RemedyWords:
    """The section of a report: a lead, a sentence for each check that fails by some classes, the remedies as a table, and
    the commands that carry out those of its rows that have one."""

    lead: str
    drivers: tuple[str, ...]
    table: Table
    commands: tuple[tuple[str, str], ...]


def remedy_words(record: AuditRecord) -> RemedyWords | None:
    """What to say about remedies; None where there is nothing."""
    if not record.remedies and not record.drivers:
        return None
    shown = record.remedies[:SHOWN]
    commands = tuple(
        (str(i), one_line(remedy.command)) for i, remedy in enumerate(shown, 1) if remedy.command is not None
    )
    said, meanings = _lead(record), Meanings(record)
    return RemedyWords(said, tuple(_driver(meanings, one) for one in record.drivers), _table(meanings, shown), commands)


def _lead(record: AuditRecord) -> str:
    tried, passing = len(record.remedies), sum(r.passes for r in record.remedies)
    if not tried:
        return "No remedy was tried."
    counted = "One remedy was" if tried == 1 else f"{number(tried)} remedies were"
    outcome = "it passes" if tried == 1 else "all pass" if passing == tried else f"{number(passing)} of them pass"
    if not passing:
        outcome = "none of them passes" if tried > 1 else "it does not pass"
    more = f" The best {SHOWN} are shown." if tried > SHOWN else ""
    why = _unmended(Meanings(record), record.remedies)
    return f"{counted} carried out and judged again by the same policy: {outcome}.{why}{more}"


def _unmended(meanings: Meanings, remedies: Sequence[Remedy]) -> str:
    """Why none can pass, where some checks fail under all: their figures are not there, or out of reach."""
    failing = [{one.figure: one for one in remedy.predicted if not one.passes} for remedy in remedies]
    always = [one for figure, one in failing[0].items() if all(figure in other for other in failing)]
    absent = [f"“{_label(meanings, one.figure)}”" for one in always if one.after is None]
    beyond = [f"“{_label(meanings, one.figure)}”" for one in always if one.after is not None]
    said = f" There is no figure of {words(absent)} to judge, so no remedy can pass." if absent else ""
    return said + (f" None of them brings {words(beyond)} to the limit." if beyond else "")


def _driver(meanings: Meanings, driver: Driver) -> str:
    """`Highest risk: 12 classes with 34 people (k<5). One level coarser, age clears 20 and zip 10 of them. Rows: 3, 8.`"""
    figure, criterion = capital(_label(meanings, driver.figure)), clean(driver.criterion, 60)
    if not driver.people:
        return f"{figure}: no class alone drives it ({criterion})."
    classes = "1 class" if driver.classes == 1 else f"{number(driver.classes)} classes"
    people = "1 person" if driver.people == 1 else f"{number(driver.people)} people"
    helping = [c for c in driver.columns if c.cleared]
    named = [f"{clean(c.column, 60)} clears {number(c.cleared)}" for c in helping[:_COLUMNS]]
    coarser = (
        f" One level coarser, {words(named)} of them." if named else " No single column, one level coarser, clears any."
    )
    rows = ", ".join(str(row) for row in driver.row_numbers[:_ROWS])
    more = " …" if driver.people > _ROWS and rows else ""
    return f"{figure}: {classes} with {people} ({criterion}).{coarser}" + (f" Rows: {rows}{more}" if rows else "")


def _table(meanings: Meanings, remedies: Sequence[Remedy]) -> Table:
    headings = ("#", "change", "policy", "figures after it", "rows suppressed", "detail kept")
    rows = tuple(
        (
            str(i),
            change(remedy),
            "pass" if remedy.passes else "FAIL",
            "; ".join(_prediction(meanings, one) for one in remedy.predicted) or NONE,
            number(remedy.rows),
            _detail(remedy),
        )
        for i, remedy in enumerate(remedies, 1)
    )
    return Table(headings, rows, frozenset({0, 4, 5}))


def change(remedy: Remedy) -> str:
    """A remedy in words: `age to bands of 10; suppress k<5`."""
    parts = [f"drop {words([clean(c, 60) for c in remedy.drop])}"] if remedy.drop else []
    parts += [f"{clean(one.column, 60)} to {clean(one.level, 60)}" for one in remedy.coarsen]
    if remedy.suppress:
        parts.append(f"suppress {', '.join(clean(one, 60) for one in remedy.suppress)}")
    return "; ".join(parts) or NONE


def _label(meanings: Meanings, figure: str) -> str:
    """The short name of a figure that a policy judges."""
    of, _, name = figure.partition(".")
    return label_of(meanings.measure(of, name)) if name else clean(figure, 60)


def _prediction(meanings: Meanings, one: Prediction) -> str:
    sign = "" if one.passes else " ✗"
    return f"{_label(meanings, one.figure)} {_value(one.before)} → {_value(one.after)}{sign}"


def _value(value: float | None) -> str:
    return NONE if value is None else short(float(f"{value:.3g}")) if abs(value) < 1000 else number(value)


def _detail(remedy: Remedy) -> str:
    if remedy.granularity is None:
        return NONE
    before = "" if remedy.granularity_before is None else f" of {percent(remedy.granularity_before)}"
    return percent(remedy.granularity) + before


def one_line(command: str) -> str:
    """A command without control and direction characters, otherwise unchanged: it is there to be copied."""
    return "".join(char for char in command if char.isprintable())
