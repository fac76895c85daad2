"""Who gets what: a row for each figure, a column for each adversary, and last the bound if the class were known.

An adversary's figure is that of the strongest link of their own. Adversaries with equal figures in all rows share a column.
Of one release all attacks are shown; of several the attack that leads for each goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from auditor.model.record.record import AuditRecord, Risk, RunRecord
from reports.reading import IF_KNOWN, Meanings, adversaries, figures, is_count, label_of
from reports.tables.tables import Table, figure, leading_attacks
from reports.text import NONE, clean, number, spoken

_MOST = 6  # columns of adversaries; every figure of the others is in the tables of the attacks


def matrix(run: RunRecord, places: Sequence[int] = (1,)) -> Table | None:
    """The figures of several adversaries side by side, on the releases at some places; None where there is only one."""
    names = list(dict.fromkeys(name for record in run.records for name in adversaries(record)))
    if len(names) < 2:
        return None
    rows, several = [], len(places) > 1
    for place in places:
        record = run.records[place - 1]
        shown = f"{place} {clean(record.release.name, 60)}"
        for label, cells, bound in _rows(record, names, several):
            rows.append(((shown, label) if several else (label,), cells, bound))
    groups: dict[tuple[str, ...], list[str]] = {}
    for at, name in enumerate(names):
        groups.setdefault(tuple(cells[at] for _, cells, _ in rows), []).append(name)
    kept = list(groups.items())[:_MOST]
    headings = ["release", "figure"] if several else ["figure"]
    headings += [", ".join(clean(name, 40) for name in who) for _, who in kept] + [IF_KNOWN]
    body = [(*start, *(column[i] for column, _ in kept), bound) for i, (start, _, bound) in enumerate(rows)]
    return Table(tuple(headings), tuple(body), frozenset(range(2 if several else 1, len(headings)))).without_empty()


def matrix_note(run: RunRecord, table: Table) -> str:
    """Who has no column of their own, where there are too many adversaries."""
    names = {clean(name, 40) for record in run.records for name in adversaries(record)}
    rest = names - {name for heading in table.headings for name in heading.split(", ")}
    return f"{number(len(rest))} more adversaries are in the tables of the attacks." if rest else ""


def _rows(record: AuditRecord, names: Sequence[str], several: bool) -> Iterable[tuple[str, tuple[str, ...], str]]:
    """Of a release, each figure: what it is, its text for each adversary, and its text if the class were known."""
    rows, meanings = figures(record), Meanings(record)
    wanted = leading_attacks(meanings, rows) if several else None
    for attack, sensitive in meanings.groups(rows):
        if wanted is not None and attack not in wanted:
            continue
        mine = [r for r in rows if (r.attack, r.sensitive) == (attack, sensitive)]
        own = {name: meanings.own(r for r in mine if r.adversary == name) for name in names}
        granted = [r for r in mine if meanings.granted(r.link)]
        for measure in _measures(meanings, mine)[-1 if several else 0 :]:
            found = [meanings.pick(own[name], measure) for name in names]
            like = next((r for r in found if r is not None), None)
            if like is None:
                continue
            cells = tuple(NONE if r is None or meanings.supposed(r) else figure(r) for r in found)
            bound = meanings.pick(granted, measure)
            about = f" ({spoken(sensitive)})" if sensitive else ""
            label = f"{meanings.title(attack)}{about}: {label_of(meanings.measure(attack, like.measure))}"
            yield label, cells, NONE if bound is None else figure(bound)


def _measures(meanings: Meanings, rows: Sequence[Risk]) -> list[str]:
    """The figures of an attack that are shown: the count that may lead, and the rate that is compared."""
    facts = meanings.attack(rows[0].attack)
    first = meanings.pick(rows, facts.lead[0]) if facts.lead else None
    rate = meanings.compared(rows)
    counts = [facts.lead[0]] if first is not None and is_count(first) else []
    return counts + ([rate.measure] if rate is not None else [])
