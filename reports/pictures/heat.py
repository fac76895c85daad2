"""Releases against attacks: how often each attack is right on each release, as a map of heat with numbers.

A cell is the adversary (and sensitive column) against whom the release does worst, by the strongest link of their own; its
shade is what the attack has over its reference, so that a high figure which outsiders have too stays pale. What it is made of
is said where it is pointed at. Harms of false belief have no place here: there a high figure is no disclosure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record.meaning import Goal
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.strongest import Source
from reports.pictures.kinds import beyond, strongest_rate
from reports.pictures.points import entries
from reports.reading import Meanings, adversaries, excess_of, figures, reference_of, value_of
from reports.tables.tables import left_out_people, verdict_word
from reports.text import NONE, capital, clean, finite, percent, span, spoken

SHADES = (0.02, 0.1, 0.25, 0.5)
"""Where the shades begin: what an attack has over its reference."""
_KINDS: tuple[tuple[str, str], ...] = (
    (Goal.IDENTITY, "identity"),
    (Goal.ATTRIBUTE, "value"),
    (Goal.MEMBERSHIP, str(Goal.MEMBERSHIP)),
)


@dataclass(frozen=True, slots=True)
class Heated:
    """A cell: its text, its shade (0 to 4, or none), what it is made of, and by what it is sorted."""

    text: str
    shade: int | None = None
    why: str = ""
    key: float | None = None


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A release: its number, its place in the run and its name, whether it passes, who is left out, and its cells."""

    number: int
    place: int
    name: str
    verdict: str
    left_out: str
    lost: int
    cells: tuple[Heated, ...]


@dataclass(frozen=True, slots=True)
class Heat:
    """The map: kinds of risk with the number of their columns, the attacks in plain words, and the releases."""

    kinds: tuple[tuple[str, int], ...]
    attacks: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    judged: bool
    lacking: bool
    """Whether people are left out of a release."""
    repeated: bool
    """Whether releases were made with several seeds: the figures are those of the first."""


def heat(run: RunRecord) -> Heat | None:
    """The map of a run of several releases; None where no attack has a rate."""
    points = [(entry, entry.records[0]) for entry in entries(run)]
    columns = _columns([record for _, record in points])
    if len(points) < 2 or not columns:
        return None
    rows = []
    for entry, record in points:
        cells = tuple(_cell(record, attack) for _, attack in columns)
        release = record.release
        lost = left_out_people(release) or NONE, release.left_out_rows + release.suppressed_rows
        rows.append(HeatRow(entry.number, entry.place, entry.name, verdict_word(*entry.records), *lost, cells))
    meanings = Meanings(*run.records)
    kinds = [(word, sum(goal == kind for goal, _ in columns)) for kind, word in _KINDS]
    return Heat(
        tuple(kind for kind in kinds if kind[1]),
        tuple(meanings.title(attack) for _, attack in columns),
        tuple(rows),
        any(row.verdict != NONE for row in rows),
        any(row.left_out != NONE for row in rows),
        any(len(entry.records) > 1 for entry, _ in points),
    )


def _columns(records: Sequence[AuditRecord]) -> list[tuple[str, str]]:
    """The attacks that have a rate on some release, with what they are after, kind by kind."""
    found: dict[tuple[str, str], None] = {}
    for record in records:
        meanings, source = Meanings(record), Source(record)
        rows = figures(record)
        for attack, sensitive in meanings.groups(rows):
            mine = [r for r in rows if (r.attack, r.sensitive) == (attack, sensitive)]
            if not meanings.attack(attack).harm and meanings.compared(mine) is not None:
                found[(source.goal(mine[0]), attack)] = None
    order = [kind for kind, _ in _KINDS]
    return sorted((one for one in found if one[0] in order), key=lambda one: order.index(one[0]))


def _cell(record: AuditRecord, attack: str) -> Heated:
    meanings = Meanings(record)
    rows = [r for r in figures(record) if r.attack == attack]
    each = [strongest_rate(meanings, [r for r in rows if r.adversary == name]) for name in adversaries(record)]
    worst = max((one for one in each if one is not None), key=beyond, default=None)
    if worst is None:
        missing = next((r for r in record.risks if r.attack == attack and r.reason), None)
        return Heated(NONE, None, capital(clean(missing.reason, 300)) if missing is not None else "Not run.")
    coin = meanings.about_members(worst) and excess_of(worst) is None
    over = 2 * beyond(worst) if coin else beyond(worst)  # of members: from a coin to certainty
    shade = sum(over > edge for edge in SHADES)
    return Heated(percent(value_of(worst)), shade, _why(meanings, worst), value_of(worst))


def _why(meanings: Meanings, worst: Risk) -> str:
    about = f" ({spoken(worst.sensitive)})" if worst.sensitive else ""
    bounds, held = span(finite(worst.low), finite(worst.high)), reference_of(worst)
    parts = [f"{percent(value_of(worst))} right" + (f" ({bounds})" if bounds else "")]
    if held is not None:
        parts.append(f"{'control' if held.name == 'control' else 'without the release'} {percent(held.value)}")
    parts.append(meanings.standing(worst).label)
    return f"{capital(meanings.title(worst.attack))}{about}, {clean(worst.adversary, 60)}: {'; '.join(parts)}."
