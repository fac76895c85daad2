"""The best of several releases: of those that protect, the one that is most useful.

A release protects where it passes the policy. Without a policy it protects where the strongest attack has at most
`STATED_RISK` over a guess without the release, by the upper end of its interval. What protects less is never called best,
however useful it is: the original has no error at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auditor.model.record.comparison import Point
from auditor.model.record.meaning import Better
from auditor.model.record.record import AuditRecord, RunRecord
from auditor.model.record.strongest import Chosen, choose, strongest
from reports.reading import Meanings, one_person, shared_utility, utility_of
from reports.text import clean, finite, number, short

STATED_RISK = 0.1
"""The excess up to which a release counts as protecting where no policy says what does; a search takes the same."""


@dataclass(frozen=True, slots=True)
class Best:
    """The release to choose: its name and place, what its utility is, and among how many it is the best. `alike` names the
    others whose utility cannot be told from it."""

    name: str
    place: int
    utility: str
    among: int
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    place: int
    value: float | None
    low: float | None
    high: float | None
    risk: float
    """What orders those of equal utility: less is safer."""


def is_judged(run: RunRecord) -> bool:
    """Whether a policy judged any of the releases."""
    return any(record.passes is not None for record in run.records)


def protecting(run: RunRecord) -> str:
    """How those that protect were told from the others: `that pass`, or by the stated risk."""
    return "that pass" if is_judged(run) else f"with a risk of at most {short(STATED_RISK)}"


def best_release(run: RunRecord) -> Best | None:
    """The most useful of the releases that protect, and of equally useful ones the safest; None where none protects, and of
    people who were asked for one by one."""
    if len(run.records) < 2 or any(one_person(record) for record in run.records):
        return None
    found, name, better = _compared(run) if run.comparison is not None else _candidates(run)
    if not found:
        return None
    sign = -1.0 if better == Better.HIGHER else 1.0
    first = min(found, key=lambda one: (one.value is None, sign * (one.value or 0.0), one.risk, one.place))
    value = "" if first.value is None else f"{name} {number(first.value)}, {better} is better"
    alike = tuple(one.name for one in found if one is not first and first.value is not None and _meet(one, first))
    return Best(first.name, first.place, value, len(found), alike)


def _compared(run: RunRecord) -> tuple[list[_Candidate], str, str]:
    """The points of a comparison that protect, in all of their runs."""
    comparison = run.comparison
    assert comparison is not None
    worse = -1.0 if comparison.risk.better == Better.HIGHER else 1.0
    places = {record.release.name: place for place, record in enumerate(run.records, 1)}
    judged = is_judged(run)
    low_risk = comparison.risk.excess and comparison.risk.better == Better.LOWER

    def protects(point: Point) -> bool:
        if judged:
            return point.passed == point.seeds
        return low_risk and (point.risk if point.risk_high is None else point.risk_high) <= STATED_RISK

    found = [
        _Candidate(
            clean(p.name, 60),
            places.get(p.name, 0),
            p.utility,
            p.utility_low,
            p.utility_high,
            worse * p.risk,
        )
        for p in comparison.points
        if protects(p)
    ]
    measure, _, which = comparison.utility.figure.partition(".")
    return found, Meanings(*run.records).utility_name(measure, which or None), comparison.utility.better


def _candidates(run: RunRecord) -> tuple[list[_Candidate], str, str]:
    axis = shared_utility(run)
    protects, chosen = _judgement(run), choose(run.records)
    found, better = [], str(Better.LOWER)
    for place, record in enumerate(run.records, 1):
        row = None if axis is None else utility_of(record, *axis)
        if not protects(record):
            continue
        better = better if row is None else row.better
        figures = (None, None, None) if row is None else (finite(row.value), finite(row.low), finite(row.high))
        risk = None if chosen is None else strongest(record, chosen)
        found.append(_Candidate(clean(record.release.name, 60), place, *figures, 0.0 if risk is None else risk.value))
    return found, "" if axis is None else Meanings(*run.records).utility_name(*axis), better


def _judgement(run: RunRecord) -> Callable[[AuditRecord], bool]:
    """Whether a release protects."""
    if is_judged(run):
        return lambda record: record.passes is True
    chosen = choose(run.records)
    return lambda record: chosen is not None and _low(record, chosen)


def _low(record: AuditRecord, chosen: Chosen) -> bool:
    if record.release.identifiers or any(one.identifying for one in record.release.distinct):
        return False
    found = strongest(record, chosen)
    return found is not None and (found.value if found.high is None else found.high) <= STATED_RISK


def _meet(one: _Candidate, two: _Candidate) -> bool:
    """Whether two figures are the same, or their intervals overlap."""
    if one.low is None or two.low is None or one.high is None or two.high is None:
        return one.value == two.value
    return max(one.low, two.low) <= min(one.high, two.high)
