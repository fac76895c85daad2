"""What a person's choice bought: the risk of those who chose alike, and what a reader still learns of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditor.model.record.record import AuditRecord, Risk
from auditor.model.record.release_facts import ChoiceFacts
from reports.reading import Meanings, label_of
from reports.tables.tables import Table
from reports.text import NONE, clean, number, probability, spoken

CHOICE_HEADING = "What a choice bought"
CHOICE_LEAD = (
    "People chose what is published of them: 1 the value, 2 its group, 3 nothing of it. Each cell has the share of "
    "those people for whom the attack is right, and in brackets what a guess without the release gets. Of each attack "
    "it is the adversary and link that get most. “What a reader learns” is the share of the uncertainty about the "
    "value that the published form takes away, for somebody without the key: 1 for a value that is shown, 0 for a "
    "name that shows nothing."
)
_DETAIL = "by_choice"


def choice_table(record: AuditRecord) -> Table | None:
    """The figures by choice; None where nobody had a choice, or nobody was attacked."""
    facts = [one for one in record.release.choices if one.people]
    if not facts:
        return None
    headings = ("", "column", *(f"choice {one.choice} ({number(one.people)})" for one in facts))
    rows = [*_learnt(facts), *_attacked(record, facts)]
    return Table(headings, tuple(rows), frozenset(range(2, len(headings)))) if rows else None


def _learnt(facts: list[ChoiceFacts]) -> list[tuple[str, ...]]:
    columns = dict.fromkeys(column for one in facts for column in one.kept)
    return [
        ("what a reader learns", clean(column, 60), *(probability(one.kept.get(column)) for one in facts))
        for column in columns
    ]


def _attacked(record: AuditRecord, facts: list[ChoiceFacts]) -> list[tuple[str, ...]]:
    """A row for each attack and column: of the strongest adversary and link."""
    best: dict[tuple[str, str | None, str], Risk] = {}
    for risk in record.risks:
        if risk.detail.get(_DETAIL) and risk.value is not None:
            key = risk.attack, risk.sensitive, risk.measure
            if key not in best or risk.value > (best[key].value or 0):
                best[key] = risk
    meanings, rows = Meanings(record), []
    for risk in best.values():
        of = {row["choice"]: row for row in risk.detail[_DETAIL]}
        cells = [_cell(of.get(one.choice)) for one in facts]
        rows.append(
            (
                f"{spoken(risk.attack)}: {label_of(meanings.measure(risk.attack, risk.measure))}",
                clean(risk.sensitive or NONE, 60),
                *cells,
            )
        )
    return rows


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return NONE
    beside = "" if row.get("baseline") is None else f" ({probability(row['baseline'])})"
    return probability(row["value"]) + beside
