"""The frontier of a comparison as tables: what no other beats, what is beaten and by what, and what was left out.

The points come placed and sorted in the record; here they get their words.
"""

from __future__ import annotations

import re

from auditor.model.record.comparison import Axis, Comparison, Point
from auditor.model.record.meaning import Better, Goal
from auditor.model.record.record import RunRecord
from auditor.model.record.strongest import Chosen
from reports.reading import IF_KNOWN, Meanings
from reports.tables.tables import LEFT_OUT, Table, left_out_people
from reports.text import NONE, clean, interval, number, probability, spoken

_ON: dict[str, str] = {
    Goal.ATTRIBUTE: " on values",
    Goal.IDENTITY: " on identity",
    Goal.MEMBERSHIP: " on membership",
}
_STATUS = {
    "timeout": "too slow",
    "failed": "failed",
    "not_applicable": "not applicable",
    "no_figure": "no figure",
}


def risk_title(axis: Axis) -> str:
    """What the risk axis measures, in words: `strongest attack on values by the prosecutor, excess over the baseline`."""
    named = axis.figure != "strongest"
    text = clean(axis.figure, 60) if named else f"strongest attack{_ON.get(axis.goal or '', '')}"
    text += f" by the {clean(axis.adversary, 60)}" if axis.adversary else ""
    text += f" {IF_KNOWN}" if axis.granted else ""
    return f"{text}, excess{' over the baseline' if axis.adversary else ''}" if axis.excess else text


def chosen_axis(chosen: Chosen) -> Axis:
    """The axis of a run that was not asked for one."""
    return Axis("strongest", Better.LOWER, True, chosen.adversary, chosen.goal, chosen.granted)


def utility_title(run: RunRecord, axis: Axis) -> str:
    """What the utility axis measures, in words."""
    measure, _, which = axis.figure.partition(".")
    return Meanings(*run.records).utility_name(measure, which or None)


def frontier_note(run: RunRecord, found: Comparison) -> str:
    """How the table is to be read, in a sentence or two."""
    best = sum(point.beaten_by is None for point in found.points)
    several = any(point.seeds > 1 for point in found.points)
    over = "means over seeds, with the interval of the mean" if several else "figures with their 95 % intervals"
    beaten = (
        " The others are beaten by the one named: it has no more risk, and the best utility of all such."
        if best < len(found.points)
        else ""
    )
    return (
        f"{number(best)} of {number(len(found.points))} are on the frontier: no other is as "
        "good on both axes and better on one. "
        f"Risk is {risk_title(found.risk)}, {clean(found.risk.better, 10)} is better; utility is "
        f"{utility_title(run, found.utility)}, {clean(found.utility.better, 10)} is better: {over}.{beaten}"
        + "".join(f" {clean(note, 400)}" for note in found.notes)
    )


def frontier_table(run: RunRecord, found: Comparison) -> Table:
    """One row for each method with its settings: the frontier first, by risk; then what is beaten, and by what."""
    headings = ("#", "release", "risk", "from", "utility", "k", LEFT_OUT, "passes", "beaten by")
    lost = {record.release.name: left_out_people(record.release) for record in run.records}
    titles = Meanings(*run.records)
    rows = tuple(
        _row(number, point, titles, lost.get(_release_of(run, point), ""))
        for number, point in enumerate(found.points, 1)
    )
    return Table(headings, rows, frozenset({0, 2, 4, 5, 6})).without_empty()


def _release_of(run: RunRecord, point: Point) -> str:
    """The name of a point's release, of the first seed where there are several."""
    cells = (c for c in run.cells if c.method == point.method and dict(c.params) == dict(point.params))
    return next((cell.name for cell in cells), point.name)


def _row(number_: int, point: Point, titles: Meanings, lost: str) -> tuple[str, ...]:
    passed = NONE
    if point.passed is not None:
        passed = ("pass" if point.passed else "FAIL") if point.seeds == 1 else f"{point.passed} of {point.seeds}"
    risk = probability(point.risk) if -1 <= point.risk <= 1 else number(point.risk)
    return (
        str(number_),
        clean(point.name, 60),
        f"{risk} {interval(point.risk_low, point.risk_high)}".rstrip(),
        _source(titles, point.attack) if point.attack else NONE,
        f"{number(point.utility)} {_range(point.utility_low, point.utility_high)}".rstrip(),
        number(point.k),
        lost or NONE,
        passed,
        "nobody" if point.beaten_by is None else clean(point.beaten_by, 60),
    )


def _source(titles: Meanings, attack: str) -> str:
    """What a risk comes from, in plain words: the record has `definetti of disease, likelihood`."""
    name = next((one for one in titles.attacks if re.match(rf"{re.escape(one)}($| of |, )", attack)), None)
    if name is None:
        return clean(attack, 60)
    column = attack.removeprefix(name).removesuffix(
        next((f", {one}" for one in titles.links if attack.endswith(f", {one}")), "")
    )
    return titles.title(name) + (f" ({spoken(column.removeprefix(' of '))})" if column else "")


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None or low == high else f"[{number(low)}, {number(high)}]"


def left_out_table(found: Comparison) -> Table:
    """What was left out of the picture, and why."""
    rows = tuple(
        (clean(one.name, 60), _STATUS.get(one.status, spoken(one.status)), clean(one.reason, 300))
        for one in found.left_out
    )
    return Table(("release", "status", "why"), rows)
