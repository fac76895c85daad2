"""How much worse could it be: for each column and kind of adversary, from the best attack that was found to the bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.model.record.bound import Bound, Contender
from auditor.model.record.record import OK, AuditRecord
from reports.reading import one_person
from reports.tables.tables import Table
from reports.text import ELLIPSIS, NONE, clean, probability, words

HEADING = "How much worse could it be"
_SHARE = "the share of people whose value they name rightly, and the chance for the most exposed person"
_CHANCE = "the chance that they name the person's value rightly"
_LEAD = (
    "A bound is the most that an adversary of the kind named can expect: {}. Somebody who knows the classes knows "
    "everybody's class, and nothing tells them who in a class has which of its values. A fact is of the kind “if A has this "
    "value, B has that one”. The bound is for the worst facts that can be true, about anybody in the release. Under “own "
    "class only” the facts are about people of the person's own class{}."
)
_WORST = "most exposed"
_HEADINGS = ("column", "somebody who knows", f"best attack {ELLIPSIS} bound", _WORST, "own class only")


@dataclass(frozen=True, slots=True)
class BoundWords:
    """The section of a report: a lead, the table, and remarks on it."""

    lead: str
    table: Table
    remarks: tuple[str, ...]


def bound_words(record: AuditRecord) -> BoundWords | None:
    """What to say about bounds; None where the record has none."""
    if not record.bounds:
        return None
    one = one_person(record)
    table = Table(_HEADINGS, tuple(_row(bound, one) for bound in record.bounds), frozenset({2, 3, 4})).without_empty()
    lead = _LEAD.format(*((_CHANCE, "") if one else (_SHARE, "; in brackets, the most exposed person")))
    remarks = (*_reasons(record), *dict.fromkeys(_attacks(record)))
    return BoundWords(lead, table.without(_WORST) if one else table, remarks)


def _row(bound: Bound, one: bool) -> tuple[str, ...]:
    start = (clean(bound.column, 60), clean(bound.who))
    if bound.status != OK:
        return (*start, "not applicable", NONE, NONE)
    best = NONE if bound.best is None else probability(bound.best.value)
    own = NONE if bound.own_mean is None else probability(bound.own_mean)
    if bound.own_mean is not None and not one:
        own += f" ({probability(bound.own_worst)})"
    return (*start, f"{best} {ELLIPSIS} {probability(bound.mean)}", probability(bound.worst), own)


def _reasons(record: AuditRecord) -> Iterator[str]:
    """Why bounds are as they are, or are not there: once for the columns that share it."""
    shared: dict[str, list[str]] = {}
    for bound in record.bounds:
        if bound.reason is not None:
            shared.setdefault(clean(bound.reason, 400), []).append(clean(bound.column, 60))
    for reason, columns in shared.items():
        yield f"{words(list(dict.fromkeys(columns)))}: {reason}."


def _attacks(record: AuditRecord) -> Iterator[str]:
    """Which attacks the bounds are set beside, and which of them go by more than these allow for."""
    for bound in (one for one in record.bounds if one.facts is not None):
        column = clean(bound.column, 60)
        if bound.best is not None:
            yield f"{column}: the best attack by the classes alone is {_named(bound.best)}."
        if bound.outside:
            said = [f"{_named(one)} {probability(one.value)} (by {clean(one.beyond)})" for one in bound.outside]
            yield f"{column}: outside the bounds by classes and facts, for they go by more: {words(said)}."


def _named(one: Contender) -> str:
    link = "" if one.link is None else f", link {clean(one.link, 40)}"
    return f"{clean(one.attack, 60)} of the {clean(one.adversary, 60)}{link}"
