"""Two audited releases side by side: what differs between them, and every figure of both with its difference.

Figures are paired by what they measure (attack, adversary, link, column, measure and settings). The difference is right
minus left. Where both have an interval and these overlap, the difference is not called better or worse: it may be
chance (two intervals that overlap can still differ; this errs on the side of saying less). Counts over unequal numbers
of people are compared as shares. Nothing here knows of pages; `browsing` sets it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import TypeVar

from auditor.model.record.comparison import which_figure
from auditor.model.record.meaning import RELEASE, Better, Kind
from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, PolicyCheck, Risk, Utility
from auditor.model.record.release_facts import SensitiveFacts
from reports.reading import IF_KNOWN, Meanings, is_count, is_rate, is_synthetic, label_of, least_class
from reports.tables.differences import Difference, differences, warnings
from reports.tables.statistics import BOUNDED, UNBOUNDED, UNDER, class_statistics, column_statistics, facts_of_columns
from reports.tables.tables import measure_text
from reports.text import NONE, clean, finite, interval, number, probability, settings
from reports.words.verdicts import check_text

_NEITHER = ""
_NO_SIDE = ("values",)  # more of it is not plainly a gain or a loss for the people in the data
_ASSUMED = ("prior", "population")  # settings that do not tell figures apart
_SAFER = ("safer", "weaker")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a figure, as text: its value with the interval, its control, and why there is none."""

    text: str
    interval: str = ""
    control: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of both sides. `kind` is better, worse (the right against the left), higher, lower, same, unclear, left or
    right (only that side has it), or none."""

    name: str
    about: str
    left: Cell
    right: Cell
    difference: str
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that belong together under one heading."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two records side by side."""

    differs: tuple[Difference, ...]
    warnings: tuple[str, ...]
    summary: str
    policy: Section
    statistics: Section
    risks: tuple[Section, ...]
    utility: Section


@dataclass(frozen=True, slots=True)
class _Figure:
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    cell: Cell = Cell(NONE)


def compare(left: AuditRecord, right: AuditRecord) -> Comparison:
    """The two records side by side; differences are right minus left."""
    risks = tuple(_risks(left, right))
    return Comparison(
        tuple(differences(left, right)),
        tuple(warnings(left, right)),
        _summary([row for section in risks for row in section.rows]),
        Section("Policy", tuple(_policy(left, right))),
        Section("Class statistics", tuple(_statistics(left, right))),
        risks,
        Section("Utility", tuple(_utility(left, right))),
    )


def _paired(left: Sequence[T], right: Sequence[T], key: Callable[[T], Hashable]) -> Iterable[tuple[T | None, T | None]]:
    """The rows of both sides that measure the same, in the order of the left, then what only the right has."""
    gathered: dict[Hashable, tuple[list[T], list[T]]] = {}
    for side, rows in enumerate((left, right)):
        for row in rows:
            gathered.setdefault(key(row), ([], []))[side].append(row)
    for ones, twos in gathered.values():
        yield from zip_longest(ones, twos)


def _risks(left: AuditRecord, right: AuditRecord) -> Iterable[Section]:
    pairs = _paired(left.risks, right.risks, _risk_key)
    known = [(a, b) for a, b in pairs if _known(a) or _known(b)]
    places = {name: at for at, name in enumerate(dict.fromkeys(_one(pair).adversary for pair in known))}
    meanings = Meanings(left, right)
    known.sort(key=lambda pair: _order(meanings, _one(pair), places))
    why = (_hindrances(left), _hindrances(right))
    for (attack, column), rows in groupby(known, key=lambda pair: (_one(pair).attack, _one(pair).sensitive or "")):
        heading = clean(attack, 60) + (f": {clean(column, 60)}" if column else "")
        yield Section(heading, tuple(_risk_row(meanings, a, b, why) for a, b in rows))


def _hindrances(record: AuditRecord) -> dict[tuple[str, str, str | None], str]:
    """Why an attack gave no figure at all: one row says so for all its measures."""
    return {(r.attack, r.adversary, r.link): clean(r.reason, 300) for r in record.risks if r.status != OK and r.reason}


def _one(pair: tuple[Risk | None, Risk | None]) -> Risk:
    """The side of a pair that is there."""
    return next(risk for risk in pair if risk is not None)


def _risk_key(risk: Risk) -> Hashable:
    return (risk.attack, risk.adversary, risk.link, risk.sensitive, risk.measure, settings(risk.params, _ASSUMED))


def _known(risk: Risk | None) -> bool:
    return risk is not None and risk.status == OK and finite(risk.value) is not None


def _order(meanings: Meanings, risk: Risk, adversaries: Mapping[str, int]) -> tuple[int, str, str, int, int]:
    place, rank = adversaries[risk.adversary], meanings.attack_rank(risk.attack)
    return rank, risk.attack, risk.sensitive or "", place, meanings.link_rank(risk.link)


_Why = tuple[Mapping[tuple[str, str, str | None], str], ...]


def _risk_row(meanings: Meanings, left: Risk | None, right: Risk | None, why: _Why) -> Row:
    shown = _one((left, right))
    link = IF_KNOWN if meanings.granted(shown.link) else f"link {shown.link}" if shown.link else ""
    about = ", ".join(part for part in (clean(shown.adversary, 40), link) if part)
    missing = [each.get((shown.attack, shown.adversary, shown.link), "not asked") for each in why]
    one, two = _risk_figure(left, missing[0]), _risk_figure(right, missing[1])
    good = _NEITHER if meanings.attack(shown.attack).harm else shown.better
    counted = any(is_count(r) for r in (left, right) if r is not None and _known(r))
    rated = all(is_rate(r) for r in (left, right) if r is not None and _known(r))
    return _row(measure_text(shown), clean(about), one, two, good, ("less risk", "more risk"), counted, rated)


def _risk_figure(risk: Risk | None, missing: str) -> _Figure:
    if risk is None:
        return _Figure(None, cell=Cell(NONE, reason=missing))
    value = finite(risk.value)
    if risk.status != OK or value is None:
        word = "did not converge" if risk.status == NOT_CONVERGED else "not applicable" if risk.status != OK else NONE
        return _Figure(None, cell=Cell(word, reason=clean(risk.reason or "no reason given", 300)))
    low, high, control = finite(risk.low), finite(risk.high), finite(risk.control)
    if is_count(risk):
        text = number(value) + (f" of {number(risk.n)}" if risk.n is not None else "")
        return _Figure(value, n=risk.n, cell=Cell(text, control=number(control)))
    write = probability if is_rate(risk) else number
    return _Figure(value, low, high, risk.n, Cell(write(value), interval(low, high), write(control)))


def _row(
    name: str,
    about: str,
    left: _Figure,
    right: _Figure,
    good: str,
    words: tuple[str, str],
    counted: bool = False,
    rated: bool = False,
) -> Row:
    """The row of two figures; `good` says which way is better, `words` name a gain and a loss."""
    if left.value is None or right.value is None:
        kind = "none" if left.value is None and right.value is None else "right" if left.value is None else "left"
        said = {"none": "on neither side", "left": "only on the left", "right": "only on the right"}[kind]
        why = left.cell.reason if kind == "right" else right.cell.reason if kind == "left" else ""
        return Row(name, about, left.cell, right.cell, NONE, kind, said + (f": {why}" if why else ""))
    one, two, shares = left.value, right.value, False
    if counted and left.n and right.n and left.n != right.n:
        one, two, shares = one / left.n, two / right.n, True
    change = two - one
    if abs(change) <= 1e-9 * max(1.0, abs(one), abs(two)):
        return Row(name, about, left.cell, right.cell, "0", "same", "the same" + (" share" if shares else ""))
    sign = "+" if change > 0 else "−"
    size = abs(change)
    text = sign + (probability(size) if rated or shares else number(size)) + (" of the people" if shares else "")
    overlap = _overlap(left, right)
    way = Better.HIGHER if change > 0 else Better.LOWER
    if overlap:
        said = f"{way} on the right, but the intervals overlap: it may be chance"
        return Row(name, about, left.cell, right.cell, text, "unclear", said)
    sided = good in list(Better)
    kind = str(way) if not sided else "better" if way == good else "worse"
    said = f"{way} on the right" + (f": {words[0] if kind == 'better' else words[1]}" if sided else "")
    said += "; the intervals are apart" if overlap is False else ""
    return Row(name, about, left.cell, right.cell, text, kind, said)


def _overlap(left: _Figure, right: _Figure) -> bool | None:
    """Whether the intervals overlap; nothing where a side has none."""
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return None
    return max(left.low, right.low) <= min(left.high, right.high)


def _summary(rows: Sequence[Row]) -> str:
    """How many figures went which way."""
    both = [row for row in rows if row.kind not in ("left", "right", "none")]
    if not both:
        return "The two records have no risk figure in common."
    parts = [
        f"{number(count)} {'has' if count == 1 else 'have'} {text}"
        for kind, text in (
            ("better", "less risk on the right"),
            ("worse", "more risk on the right"),
            ("unclear", "a difference that may be chance (the intervals overlap)"),
            ("same", "the same on both"),
            ("higher", "a higher figure on the right that is no risk in itself"),
            ("lower", "a lower one"),
        )
        if (count := sum(row.kind == kind for row in both))
    ]
    alone = len(rows) - len(both)
    rest = f" {number(alone)} more {'is' if alone == 1 else 'are'} on one side only." if alone else ""
    count_said = "1 risk figure is" if len(both) == 1 else f"{number(len(both))} risk figures are"
    return f"{count_said} on both sides: " + ", ".join(parts) + "." + rest


def _statistics(left: AuditRecord, right: AuditRecord) -> Iterable[Row]:
    a, b = left.release, right.release
    deleted = ["left_out_rows"] if a.left_out_rows or b.left_out_rows else []
    for name in ("rows", "suppressed_rows", *deleted):
        yield _row(name.replace("_", " "), "", _plain(getattr(a, name)), _plain(getattr(b, name)), _NEITHER, _SAFER)
    if not (is_synthetic(a) and is_synthetic(b)):
        first, second = (_plain(None if is_synthetic(one) else one.classes) for one in (a, b))
        yield _row("classes", "", first, second, _NEITHER, _SAFER)
        meaning = label_of(Meanings(left, right).measure(RELEASE, "k"))
        yield _row("k", meaning, _plain(least_class(a)), _plain(least_class(b)), Better.HIGHER, _SAFER)
    sides = [{one.measure.name: one for one in class_statistics(record)} for record in (left, right)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        both = [side.get(name) for side in sides]
        measure = next(one.measure for one in both if one is not None)
        one, two = (_plain(s and s.value, s.records if s else None) for s in both)
        rated, counted = measure.kind in (Kind.RATE, Kind.EXTREME), measure.kind == Kind.COUNT
        for label, first, second in _apart(
            name, one, two, [", ".join(filter(None, (s.given, s.threshold))) if s else "" for s in both]
        ):
            yield _row(label, label_of(measure), first, second, measure.better, _SAFER, counted, rated)
    columns = tuple({f.column: f for f in facts_of_columns(record)} for record in (left, right))
    for column in dict.fromkeys([*columns[0], *columns[1]]):
        for measure in column_statistics((left, right)):
            name, facts = measure.name, [side.get(column) for side in columns]
            one, two = (_statistic(fact, name) for fact in facts)
            if one.value is None and two.value is None:
                continue
            sign, source = UNDER.get(name, ("", ""))
            unlike = [settings({sign: getattr(fact, source, None)}) if sign else "" for fact in facts]
            good = _NEITHER if name in _NO_SIDE else measure.better
            for label, first, second in _apart(f"{name} of {clean(column, 60)}", one, two, unlike):
                yield _row(label, label_of(measure), first, second, good, _SAFER)


def _apart(name: str, one: _Figure, two: _Figure, unlike: Sequence[str]) -> Iterable[tuple[str, _Figure, _Figure]]:
    """A statistic of both sides as one row, or as two where they hold under unlike settings."""
    named = [f"{name} ({given})" if given else name for given in unlike]
    if unlike[0] == unlike[1] or one.value is None or two.value is None:
        yield named[0] if one.value is not None else named[1], one, two
    else:
        other = _Figure(None, cell=Cell(NONE, reason="under another setting"))
        yield named[0], one, other
        yield named[1], other, two


def _statistic(facts: SensitiveFacts | None, name: str) -> _Figure:
    found = _plain(getattr(facts, name, None))
    if found.value is None and facts is not None and name in BOUNDED and facts.alpha is not None:
        return _Figure(None, cell=Cell(UNBOUNDED, reason="no bound holds there"))
    return found


def _plain(value: object, n: int | None = None) -> _Figure:
    found = finite(value)
    return _Figure(found, n=n, cell=Cell(number(found)))


def _utility(left: AuditRecord, right: AuditRecord) -> Iterable[Row]:
    """The utility figures, paired by measure and statistic or class attribute. How a figure was made (worlds, rows) depends
    on the kind of release and does not make it another one, but is said where it differs."""

    def key(row: Utility) -> Hashable:
        return row.measure, which_figure(row.params)

    for one, two in _paired(left.utility, right.utility, key):
        shown = one or two
        if shown is None:
            continue
        rest = (left if one is None else right).utility if one is None or two is None else ()
        instead = next((row for row in rest if row.measure == shown.measure and OK in (row.status, shown.status)), None)
        if instead is not None and instead.status == OK != shown.status:
            continue  # why a measure does not apply is said beside each of the other side's figures
        if instead is not None and instead.status != OK:
            one, two = one or instead, two or instead
        good = shown.better
        about = [f"{good} is better"] if good in list(Better) else []
        if one is not None and two is not None and one.status == two.status == OK:
            apart = [name for name in {**one.params, **two.params} if one.params.get(name) != two.params.get(name)]
            about += [f"made with other {', '.join(clean(name, 40) for name in apart)}"] if apart else []
        which = which_figure(shown.params)
        name = clean(shown.measure, 40) + (f" ({clean(which, 60)})" if which else "")
        yield _row(name, "; ".join(about), _useful(one), _useful(two), good, ("more useful", "less useful"))


def _useful(row: Utility | None) -> _Figure:
    if row is None:
        return _Figure(None, cell=Cell(NONE, reason="not asked"))
    value = finite(row.value)
    if row.status != OK or value is None:
        word = "did not converge" if row.status == NOT_CONVERGED else "not applicable" if row.status != OK else NONE
        return _Figure(None, cell=Cell(word, reason=clean(row.reason or "no reason given", 300)))
    low, high = finite(row.low), finite(row.high)
    return _Figure(value, low, high, cell=Cell(number(value), interval(low, high)))


def _policy(left: AuditRecord, right: AuditRecord) -> Iterable[Row]:
    """The checks of the policies, paired by figure and limit, with the sentences of both sides."""

    def key(check: PolicyCheck) -> Hashable:
        return check.measure, check.relation, check.limit

    checks = [record.policy.checks if record.policy is not None else () for record in (left, right)]
    for one, two in _paired(checks[0], checks[1], key):
        shown = one or two
        if shown is None:
            continue
        held = (None if one is None else bool(one.passed), None if two is None else bool(two.passed))
        outcomes: dict[tuple[bool | None, bool | None], tuple[str, str]] = {
            (True, True): ("same", "holds on both sides"),
            (False, False): ("same", "holds on neither side"),
            (False, True): ("better", "holds on the right only"),
            (True, False): ("worse", "holds on the left only"),
        }
        other = ("left" if two is None else "right", f"asked on the {'left' if two is None else 'right'} only")
        kind, said = outcomes.get(held, other)
        bound = f"{clean(shown.measure, 80)} {clean(shown.relation, 4)} {settings({'': shown.limit}).removeprefix('=')}"
        yield Row(bound, "", _check(left, one), _check(right, two), NONE, kind, said)


def _check(record: AuditRecord, check: PolicyCheck | None) -> Cell:
    if check is None:
        return Cell(NONE, reason="not asked")
    word = "holds" if check.passed else "FAILS" if check.passed is not None else "cannot be judged"
    return Cell(word, reason=check_text(record, check))
