"""Success against the number of known attributes: the figures of a sweep, as curves and as tables.

A sweep leaves in a record one adversary for each number of known attributes, which stands in the settings of their figures
(`known`). Over one release the curves of a picture are its links, the last of them the bound if the class were known; over
several they are the releases, each under the strongest link of the adversary's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.model.record.record import AuditRecord, Risk, RunRecord
from reports.reading import IF_KNOWN, Meanings, figures, is_rate, value_of
from reports.tables.tables import Table
from reports.text import NONE, capital, clean, finite, interval, number, probability, spoken

SIDE_BY_SIDE = 4
"""So many curves find room beside each other in a table; more stand below each other."""


@dataclass(frozen=True, slots=True)
class Known:
    """The figure for one number of known attributes."""

    known: int
    value: float
    low: float | None = None
    high: float | None = None
    control: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """The figures of one release or link, by the number of known attributes."""

    name: str
    points: tuple[Known, ...]
    release: str = ""
    """The release that it is of, where the curves of a picture are releases."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The curves of one attack by one adversary, and how many attributes there are."""

    title: str
    measure: str
    of: int
    curves: tuple[Curve, ...]
    plain: str = ""
    """The attack in a few plain words, with its column."""


def is_sweep(run: RunRecord) -> bool:
    """Whether the figures of a run are those of a sweep."""
    return any(_known(risk) is not None for record in run.records for risk in record.risks)


def sweeps(run: RunRecord) -> list[Sweep]:
    """The curves of a run: for each adversary and attack (and sensitive column) those of its links or releases."""
    everything = [[r for r in figures(record) if _known(r) is not None] for record in run.records]
    rows = [r for each in everything for r in each]
    made, meanings = [], Meanings(*run.records)
    for who in dict.fromkeys(_who(r) for r in rows):
        for attack, sensitive in meanings.groups(rows):
            mine = [
                [r for r in each if (_who(r), r.attack, r.sensitive) == (who, attack, sensitive)] for each in everything
            ]
            there = {r.measure for each in mine for r in each}
            measure = next((name for name in meanings.attack(attack).compared if name in there), None)
            chosen = [[r for r in each if r.measure == measure and is_rate(r)] for each in mine]
            curves = _links(meanings, chosen[0]) if len(chosen) == 1 else _releases(meanings, run.records, chosen)
            if measure is not None and curves:
                of = max(_of(r) for each in chosen for r in each)
                plain = meanings.title(attack) + (f" ({spoken(sensitive)})" if sensitive else "")
                title = f"{capital(plain)} by the {clean(who, 60)}"
                made.append(Sweep(title, measure, of, tuple(curves), plain))
    return made


def steepest(found: Sequence[Sweep]) -> tuple[Sweep, Curve]:
    """The curve that rises most, and its sweep."""
    curves = [
        (sweep, curve) for sweep in found for curve in sweep.curves if curve.name != IF_KNOWN or len(sweep.curves) == 1
    ]
    return max(curves, key=lambda pair: pair[1].points[-1].value - pair[1].points[0].value)


def sweep_table(sweep: Sweep) -> Table:
    """A row for each number of known attributes; for each curve its figure with its interval, and its control. Many curves
    stand below each other."""
    if len(sweep.curves) > SIDE_BY_SIDE:
        return _below_each_other(sweep)
    headings, columns = ["known"], []
    numbers = sorted({p.known for curve in sweep.curves for p in curve.points})
    for curve in sweep.curves:
        at = {p.known: p for p in curve.points}
        found = [at.get(n) for n in numbers]
        headings.append(curve.name)
        columns.append([NONE if p is None else _said(p) for p in found])
        if any(p is not None and p.control is not None for p in found):
            headings.append("control")
            columns.append([NONE if p is None or p.control is None else probability(p.control) for p in found])
    rows = [(number(n), *(column[i] for column in columns)) for i, n in enumerate(numbers)]
    return Table(tuple(headings), tuple(rows), frozenset({0}))


def _below_each_other(sweep: Sweep) -> Table:
    rows = [(curve.name, p) for curve in sweep.curves for p in curve.points]
    cells = tuple(
        (name, number(p.known), probability(p.value), interval(p.low, p.high) or NONE, probability(p.control))
        for name, p in rows
    )
    return Table(("release", "known", "value", "interval", "control"), cells, frozenset({1, 2, 3, 4})).without_empty()


def _said(point: Known) -> str:
    if point.low is None or point.high is None:
        return probability(point.value)
    return f"{probability(point.value)} [{probability(point.low)}, {probability(point.high)}]"


def _links(meanings: Meanings, rows: Sequence[Risk]) -> list[Curve]:
    links = sorted(dict.fromkeys(r.link for r in rows), key=meanings.link_rank)
    made = []
    for link in links:
        name = IF_KNOWN if meanings.granted(link) else f"link {spoken(link)}" if link else "success"
        made.append(_curve(name, [r for r in rows if r.link == link]))
    return [curve for curve in made if len(curve.points) > 1]


def _releases(meanings: Meanings, records: Sequence[AuditRecord], rows: Sequence[Sequence[Risk]]) -> list[Curve]:
    made = []
    for place, (record, mine) in enumerate(zip(records, rows, strict=True), 1):
        best = meanings.own(mine)
        name = clean(record.release.name, 60)
        made.append(replace(_curve(f"{place} {name}", best), release=name))
    return [curve for curve in made if len(curve.points) > 1]


def _curve(name: str, rows: Sequence[Risk]) -> Curve:
    first: dict[int, Known] = {}
    for r in rows:
        known = _known(r)
        if known is not None:
            first.setdefault(known, Known(known, value_of(r), finite(r.low), finite(r.high), finite(r.control)))
    return Curve(name, tuple(first[known] for known in sorted(first)))


def _known(risk: Risk) -> int | None:
    known = risk.params.get("known")
    return known if isinstance(known, int) and not isinstance(known, bool) and _of(risk) >= known else None


def _of(risk: Risk) -> int:
    of = risk.params.get("of")
    return of if isinstance(of, int) and not isinstance(of, bool) else 0


def _who(risk: Risk) -> str:
    """The adversary without the number."""
    return risk.adversary.removesuffix(f" knowing {_known(risk)} of {_of(risk)}")
