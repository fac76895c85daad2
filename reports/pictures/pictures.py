"""Which figures go into which picture: from the record to the arguments of `charts`.

The figures are those of the adversaries' own links. Over several releases the rows of a panel are releases; over one release
they are the links of its adversary or, of several, the adversaries; the last row is the bound if the class were known. The
details of a record may hold anything, so histograms and curves are checked before they are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from auditor.model.record.comparison import Comparison
from auditor.model.record.meaning import Better, Goal
from auditor.model.record.record import AuditRecord, Risk, RunRecord
from auditor.model.record.strongest import SUCCESS, choose, strongest
from reports.pictures.charts import Mark, Panel, Point, Ways
from reports.pictures.points import numbers
from reports.reading import (
    IF_KNOWN,
    Meanings,
    adversaries,
    figures,
    is_synthetic,
    lead_adversary,
    made_by,
    one_person,
    reference_of,
    shared_utility,
    utility_of,
    value_of,
)
from reports.tables.frontier import chosen_axis, risk_title, utility_title
from reports.text import capital, clean, finite, number, spoken

ROWS = 12  # releases in a panel; more make a picture nobody reads
BINS = 16


@dataclass(frozen=True, slots=True)
class Frontier:
    """Risk against utility: the points, what the axes measure, the releases that have no place in it, and which way of each
    axis is better."""

    points: tuple[Point, ...]
    x: str
    y: str
    missing: tuple[str, ...]
    better: Ways


@dataclass(frozen=True, slots=True)
class Histogram:
    """Names and counts of bars, with what they count."""

    title: str
    names: tuple[str, ...]
    counts: tuple[float, ...]
    unit: str
    across: str = "value"
    others: tuple[float, ...] = ()
    who: tuple[str, str] = ("members", "others")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The mean confidence of groups of claims, and the share of each group that was right."""

    title: str
    expected: tuple[float, ...]
    realised: tuple[float, ...]


def frontier(run: RunRecord) -> Frontier | None:
    """Risk against utility over the releases of a run, as a comparison places them where there is one; nothing where an axis
    has no figures."""
    if run.comparison is not None:
        return _compared(run, run.comparison)
    axis = shared_utility(run)
    if axis is None or any(one_person(record) for record in run.records):
        return None
    chosen = choose(run.records)
    points, missing, better = [], [], str(Better.LOWER)
    for place, record in enumerate(run.records, 1):
        row = utility_of(record, *axis)
        found = None if chosen is None else strongest(record, chosen)
        x = finite(row.value) if row is not None else None
        if row is None or found is None or x is None:
            missing.append(clean(record.release.name, 60))
            continue
        better, risk = row.better, found.row
        note = f"Strongest: {risk.attack}" + (f" of {risk.sensitive}" if risk.sensitive else "")
        note += f", {risk.adversary}" + (f", link {risk.link}" if risk.link else "")
        method = made_by(record.release, 40)
        points.append(Point(place, clean(record.release.name, 60), x, found.value, found.low, found.high, note, method))
    if not points or chosen is None:
        return None
    return Frontier(
        tuple(points),
        f"{Meanings(*run.records).utility_name(*axis)}, {clean(better, 20)} is better",
        risk_title(chosen_axis(chosen)),
        tuple(missing),
        (better, Better.LOWER),
    )


def _compared(run: RunRecord, found: Comparison) -> Frontier | None:
    points = tuple(
        Point(
            number,
            clean(point.name, 60),
            point.utility,
            point.risk,
            point.risk_low,
            point.risk_high,
            f"Risk from {clean(point.attack, 60)}" if point.attack else "",
            clean(point.method, 40),
        )
        for number, point in enumerate(found.points, 1)
    )
    x = f"{utility_title(run, found.utility)}, {clean(found.utility.better, 20)} is better"
    y = risk_title(found.risk) + (", higher is better" if found.risk.better == Better.HIGHER else "")
    missing = tuple(clean(one.name, 60) for one in found.left_out)
    return Frontier(points, x, y, missing, (found.utility.better, found.risk.better)) if points else None


def panels(run: RunRecord, whole: bool = False) -> list[Panel]:
    """A panel for each attack and sensitive column; its rows are releases, or the links of the one release. Of many releases
    a panel has those with the highest figures; `whole` ones have all, by their full names."""
    rows, meanings = [r for record in run.records for r in figures(record)], Meanings(*run.records)
    made = []
    for attack, sensitive in meanings.groups(rows):
        of_one = len(run.records) == 1
        marks = (
            _links(meanings, run.records[0], attack, sensitive) if of_one else _releases(run, attack, sensitive, whole)
        )
        if marks:
            real = any(r.attack == attack and r.params.get("against") == "outsiders" for r in rows)
            made.append(
                Panel(_heading(meanings, attack, sensitive, "outsiders" if real else "made-up people"), tuple(marks))
            )
    return made


def _heading(meanings: Meanings, attack: str, sensitive: str | None, others: str) -> str:
    column, caption = spoken(sensitive) if sensitive else "value", meanings.attack(attack).caption
    made = capital(clean(attack, 40)) + (f": {column}" if sensitive else "")
    return clean(caption).replace("{others}", others).replace("{column}", column) if caption else made


def _releases(run: RunRecord, attack: str, sensitive: str | None, whole: bool) -> list[Mark]:
    """A mark for each release and adversary; adversaries with equal figures share one, and a single one is not named."""
    marks, several = [], len({r.adversary for one in run.records for r in _rows(one, attack, sensitive)}) > 1
    for place, number_ in sorted(numbers(run).items(), key=lambda pair: (pair[1], pair[0])):
        record = run.records[place - 1]
        meanings = Meanings(record)
        for names, own in meanings.by_adversary(_rows(record, attack, sensitive)):
            row = meanings.compared(own)
            if row is not None:
                by = f" {clean(', '.join(names), 60 if whole else 14)}" if several else ""
                room = max(4, 26 - len(by)) if several and not whole else 60
                name = f"{number_} {clean(record.release.name, room)}{by}"
                marks.append(_mark(name, row, meanings.supposed(row)))
    if len(marks) > ROWS and not whole:
        kept = sorted(marks, key=lambda m: -m.value)[:ROWS]
        marks = [m for m in marks if m in kept][:ROWS]
    return marks


def _links(meanings: Meanings, record: AuditRecord, attack: str, sensitive: str | None) -> list[Mark]:
    """The links of the one adversary, or several adversaries by the strongest of theirs; then what would be if the class were
    known."""
    mine = _rows(record, attack, sensitive)
    found = [r for r in mine if not meanings.granted(r.link)]
    if len({r.adversary for r in found}) > 1:
        named = [(", ".join(names), meanings.compared(own)) for names, own in meanings.by_adversary(found)]
    else:
        links = sorted(dict.fromkeys(r.link for r in found), key=meanings.link_rank)
        named = [(f"link {link}", meanings.compared([r for r in found if r.link == link])) for link in links]
    marks = [
        _mark(spoken(name if row.link or len(named) > 1 else row.adversary), row, meanings.supposed(row))
        for name, row in named
        if row is not None
    ]
    if len(marks) == 1 and not found[0].link and "score" in found[0].params:
        lead = meanings.compared(found)
        like = [r for r in found if lead is not None and _same(r, lead)]
        if len(like) > 1:
            return [_mark(f"score {spoken(r.params.get('score', ''))}", r) for r in like]
    bound = meanings.compared([r for r in mine if meanings.granted(r.link)])
    return marks + ([] if bound is None else [_mark(IF_KNOWN, bound, True)])


def _same(risk: Risk, lead: Risk) -> bool:
    """Whether two figures of membership differ in their score only."""
    return risk.measure == lead.measure and risk.params.get("against") == lead.params.get("against")


def _rows(record: AuditRecord, attack: str, sensitive: str | None) -> list[Risk]:
    return [r for r in figures(record) if r.attack == attack and r.sensitive == sensitive]


def _mark(name: str, risk: Risk, bound: bool = False) -> Mark:
    low, high = finite(risk.low), finite(risk.high)
    held, baseline, control = reference_of(risk), finite(risk.baseline), finite(risk.control)
    return Mark(name, value_of(risk), low, high, baseline, control, held.value if held else None, bound)


def class_sizes(record: AuditRecord) -> Histogram | None:
    """How many classes there are of each size, in at most some dozen bins."""
    sizes = {int(size): float(count) for size, count in record.release.class_sizes.items() if str(size).isdigit()}
    if not sizes or is_synthetic(record.release):
        return None
    low, high = min(sizes), max(sizes)
    step = -(-(high - low + 1) // BINS)
    names, counts = [], []
    for start in range(low, high + 1, step):
        names.append(str(start) if step == 1 else f"{start}–{start + step - 1}")
        counts.append(sum(count for size, count in sizes.items() if start <= size < start + step))
    return Histogram("Class sizes", tuple(names), tuple(counts), "classes", "people in a class")


def histograms(record: AuditRecord, limit: int = 4) -> list[Histogram]:
    """The distributions over people that the attacks left in their details, for the lead adversary's strongest own link."""
    made: list[Histogram] = []
    seen: set[tuple[str, str | None, str]] = set()
    for risk in _lead_rows(record):
        key = (risk.attack, risk.sensitive, risk.measure)
        noted = risk.detail.get("histogram")
        if key in seen or not isinstance(noted, Mapping) or len(made) >= limit:
            continue
        across = Meanings(record).attack(risk.attack).axis
        title = _title(record, risk, f"people by {across or spoken(risk.measure)}")
        drawn = _histogram(title, noted, across or "value")
        if drawn is not None:
            seen.add(key)
            made.append(drawn)
    return made


def before_and_after(record: AuditRecord, limit: int = 6) -> list[Histogram]:
    """The shares of values in the release and in the original that measures of utility left in their details: of each at
    most `limit` columns, in the order of the record, which has the most changed first."""
    made: list[Histogram] = []
    for row in record.utility:
        noted = row.detail.get("shares")
        for shares in noted[:limit] if isinstance(noted, list | tuple) else ():
            if not isinstance(shares, Mapping):
                continue
            names, column = shares.get("names"), spoken(clean(shares.get("column"), 60))
            after, before = _numbers(shares.get("release")), _numbers(shares.get("original"))
            if not isinstance(names, list | tuple) or after is None or before is None or len(names) < 2:
                continue
            if len(names) == len(before) == len(after):
                title = (
                    f"{capital(Meanings(record).utility_name(row.measure))}: {column} in the release and the original"
                )
                drawn, beside = (tuple(100 * share for share in side) for side in (after, before))
                cells = tuple(clean(name, 40) for name in names)
                made.append(Histogram(title, cells, drawn, "% of people", column, beside, ("release", "original")))
    return made


def _lead_rows(record: AuditRecord) -> list[Risk]:
    """The rows of the lead adversary's strongest own links, attack by attack."""
    adversary, meanings = lead_adversary(record), Meanings(record)
    rows = [r for r in figures(record) if r.adversary == adversary]
    pairs = meanings.groups(rows)
    return [r for pair in pairs for r in meanings.own(one for one in rows if (one.attack, one.sensitive) == pair)]


def _title(record: AuditRecord, risk: Risk, what: str) -> str:
    """What a small picture shows, and whose figures they are."""
    column = f" ({spoken(risk.sensitive)})" if risk.sensitive else ""
    meanings = Meanings(record)
    how = [clean(risk.adversary, 40)] if len(adversaries(record)) > 1 else []
    how += [IF_KNOWN] if meanings.supposed(risk) else [f"link {clean(risk.link, 40)}"] if risk.link else []
    return ", ".join([f"{capital(clean(risk.attack, 40))}{column}: {what}", *how])


def _histogram(title: str, noted: Mapping[str, Any], across: str) -> Histogram | None:
    counts = _numbers(noted.get("counts", noted.get("members")))
    others = _numbers(noted.get("others")) or ()
    edges, labels = _numbers(noted.get("edges")), noted.get("labels")
    if counts is None or not counts:
        return None
    if edges is not None and len(edges) == len(counts) + 1:
        names = tuple(_edge(low, high) for low, high in pairwise(edges))
    elif isinstance(labels, list | tuple) and len(labels) == len(counts):
        names = tuple(clean(label, 40) for label in labels)
    else:
        return None
    return Histogram(title, names, counts, "people", across, others if len(others) == len(counts) else ())


def _edge(low: float, high: float) -> str:
    return f"{low:.3g}–{high:.3g}" if max(abs(low), abs(high)) < 1000 else f"{number(low)}–{number(high)}"


def roc(record: AuditRecord) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The curve of the attack on membership that stands for the release."""
    rows = [r for r in figures(record) if isinstance(r.detail.get("roc"), Mapping)]
    best = Meanings(record).pick(rows, rows[0].measure) if rows else None
    if best is None:
        return None
    across, up = _numbers(best.detail["roc"].get("fpr")), _numbers(best.detail["roc"].get("tpr"))
    if across is None or up is None or len(across) != len(up) or len(up) < 2:
        return None
    return across, up


def calibrations(record: AuditRecord, limit: int = 2) -> list[Calibration]:
    """How often claims are right that are made with a given confidence: of the lead adversary, under the first of their own
    links (if the class were known, the two agree by construction); values before records."""
    made: dict[tuple[str, str | None], Calibration] = {}
    adversary, meanings = lead_adversary(record), Meanings(record)
    rows = [
        r for r in figures(record) if r.adversary == adversary and r.measure == SUCCESS and not meanings.supposed(r)
    ]

    def place(r: Risk) -> tuple[bool, int, int]:
        of_records = meanings.attack(r.attack).goal == Goal.IDENTITY
        return of_records, meanings.attack_rank(r.attack), meanings.link_rank(r.link)

    for risk in sorted(rows, key=place):
        noted = risk.detail.get("calibration")
        if (risk.attack, risk.sensitive) in made or not isinstance(noted, Mapping):
            continue
        expected, realised = _numbers(noted.get("expected")), _numbers(noted.get("realised"))
        if expected and realised and len(expected) == len(realised) > 1:
            title = _title(record, risk, "claims that are right, by their confidence")
            made[risk.attack, risk.sensitive] = Calibration(title, expected, realised)
    return list(made.values())[:limit]


def _numbers(values: object) -> tuple[float, ...] | None:
    if not isinstance(values, list | tuple):
        return None
    found = [finite(value) for value in values]
    kept = tuple(value for value in found if value is not None)
    return kept if len(kept) == len(found) else None
