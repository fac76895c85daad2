"""Averages over runs: the figures of several releases of the same people as one audit record.

The interval of a figure is about the people, given one release. A method that draws makes another release with another seed,
with other figures, and one release does not say by how much they differ. So `redteam --seeds` makes several. A rate and its
excess are then means over the releases, with Student's t interval of the mean; other figures are means without an interval.
Everything else (the release's facts, bounds, who is hit hardest, details) is of the first release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from auditor.measure.intervals import mean_interval
from auditor.model.record.meaning import Kind, Note
from auditor.model.record.record import OK, AuditRecord, PolicyVerdict, Risk, Utility

RELEASES = "releases"
"""The detail of a figure that says over how many releases it is a mean, and what it was in each."""


def by_figure(risks: Iterable[Risk]) -> dict[tuple[object, ...], list[Risk]]:
    """Rows that are the same figure, whoever it is of."""
    groups: dict[tuple[object, ...], list[Risk]] = {}
    for risk in risks:
        key = (risk.attack, risk.link, risk.measure, risk.sensitive, tuple(sorted(map(str, risk.params.items()))))
        groups.setdefault(key, []).append(risk)
    return groups


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of values that are all there."""
    there = [float(v) for v in values if v is not None]
    return fmean(there) if there and len(there) == len(values) else None


def over_releases(records: Sequence[AuditRecord]) -> AuditRecord:
    """One record of several releases of the same people, by the same method with other seeds."""
    first, last = records[0], records[-1]
    if len(records) == 1:
        return first
    found = {record.seed: _by_adversary(record.risks) for record in records}
    risks = [_mean_risk([found[r.seed].get(key) for r in records]) for key in found[first.seed]]
    utility = [_mean_utility(row, records) for row in first.utility]
    note = Note(
        f"Figures are means over {len(records)} releases (seeds {first.seed} to {last.seed}), with intervals over the "
        "releases. The classes, the bounds, and who is hit hardest, are those of the first."
    )
    verdict, said = _verdict([r.policy for r in records if r.policy is not None])
    notes = (*first.notes, note, *said)
    return replace(first, risks=tuple(risks), utility=tuple(utility), policy=verdict, notes=notes)


def _by_adversary(risks: Sequence[Risk]) -> dict[tuple[object, ...], Risk]:
    names = dict.fromkeys(risk.adversary for risk in risks)
    return {
        (name, *key): rows[0]
        for name in names
        for key, rows in by_figure(r for r in risks if r.adversary == name).items()
    }


def _mean_risk(rows: Sequence[Risk | None]) -> Risk:
    """A figure over the releases that have it; as it is where only the first or none has."""
    good = [r for r in rows if r is not None and r.status == OK and r.value is not None]
    first = next(r for r in rows if r is not None)
    if len(good) < 2:
        return first
    values = [float(r.value) for r in good if r.value is not None]
    figures: dict[str, Any] = {"value": fmean(values), "low": None, "high": None}
    if first.kind == Kind.RATE:
        _, low, high = mean_interval(values)
        figures.update(low=max(low, min(0.0, *values)), high=min(high, 1.0))
    for name in ("expected", "baseline", "control"):
        figures[name] = mean([getattr(r, name) for r in good])
    detail = {**good[0].detail, RELEASES: {"n": len(good), "values": values}}
    excess = [r.detail.get("excess") for r in good]
    if all(isinstance(one, Mapping) for one in excess):
        over = mean_interval([float(one["value"]) for one in excess if one is not None])
        which = {one["over"] for one in excess if one is not None}
        name = which.pop() if len(which) == 1 else "control"
        detail["excess"] = {"value": over.value, "low": over.low, "high": min(over.high, 1.0), "over": name}
    return replace(good[0], **figures, detail=detail)


def _mean_utility(row: Utility, records: Sequence[AuditRecord]) -> Utility:
    same = [
        other
        for record in records
        for other in record.utility
        if (other.measure, str(other.params.get("statistic")), str(other.params.get("class")))
        == (row.measure, str(row.params.get("statistic")), str(row.params.get("class")))
    ]
    values = [float(one.value) for one in same if one.status == OK and one.value is not None]
    if len(values) < 2:
        return row
    over = mean_interval(values)
    detail = {**row.detail, RELEASES: {"n": len(values), "values": values}}
    return replace(row, value=over.value, low=over.low, high=over.high, detail=detail)


def _verdict(verdicts: Sequence[PolicyVerdict]) -> tuple[PolicyVerdict | None, list[Note]]:
    """The verdict of several releases: it passes where all do; otherwise it is that of the first that fails."""
    if not verdicts:
        return None, []
    failed = [one for one in verdicts if not one.passed]
    said = Note(f"{len(failed)} of {len(verdicts)} releases fail the policy: the verdict is that of the first of them.")
    return (failed[0], [said]) if failed else (verdicts[0], [])
