"""Placing the cells of a comparison on two axes: means over the seeds, and which points no other beats.

Every point has the same two figures. The risk is, unless another is asked for, the strongest attack of one adversary with one
goal, by links of their own (`auditor/model/record/strongest.py`). The utility is the first figure of the first measure asked
for. A cell without these figures is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attacks import ATTACKS
from auditor.measure.intervals import mean_interval
from auditor.model.errors import UsageError
from auditor.model.record.comparison import FEW_ATTEMPTS, Axis, Comparison, LeftOut, Point, RunCell, which_figure
from auditor.model.record.frontier import LOWER, frontier
from auditor.model.record.meaning import Kind
from auditor.model.record.record import OK, AuditRecord, Risk
from auditor.model.record.strongest import GOALS, SUCCESS, Chosen, Source, Strongest, choose, excess, strongest
from auditor.posterior.links import Link

STRONGEST = "strongest"
NO_FIGURE = "no_figure"


@dataclass(frozen=True, slots=True)
class Placed:
    """A cell with its audit record; `point` names its method and settings."""

    point: str
    cell: RunCell
    record: AuditRecord | None


@dataclass(frozen=True, slots=True)
class RiskChoice:
    """The risk that is asked for; without an attack it is the strongest one. What is not said (the adversary, the goal) is
    chosen for all releases together."""

    attack: str | None = None
    measure: str = SUCCESS
    link: str | None = None
    adversary: str | None = None
    goal: str | None = None

    @classmethod
    def read(cls, text: str) -> RiskChoice:
        """A choice written as `strongest`, a goal, `ATTACK.MEASURE` or `ATTACK.MEASURE@LINK`; before each of them may stand
        an adversary and a colon."""
        adversary, colon, asked = text.rpartition(":")
        whose = adversary if colon else None
        if asked == STRONGEST:
            return cls(adversary=whose)
        if asked in GOALS:
            return cls(adversary=whose, goal=GOALS[asked])
        named, _, link = asked.partition("@")
        attack, dot, measure = named.partition(".")
        if not dot or not measure:
            goals = ", ".join(GOALS)
            raise UsageError(
                f"The risk must be {STRONGEST}, a goal ({goals}) or ATTACK.MEASURE, such as linking.success; before it may "
                f"stand ADVERSARY and a colon. Got {text!r}."
            )
        ATTACKS.get(attack)
        if "@" in asked and link not in list(Link):
            raise UsageError(f"The link of a risk must be one of {', '.join(Link)}. Got {link!r}.")
        return cls(attack, measure, link or None, whose)

    @property
    def figure(self) -> str:
        """The choice as it is written."""
        if self.attack is None:
            return STRONGEST
        return f"{self.attack}.{self.measure}" + (f"@{self.link}" if self.link else "")

    @property
    def better(self) -> str:
        """Whether a lower or a higher figure is safer, as the attack declares."""
        declared = ATTACKS.get(self.attack).measures if self.attack is not None else ()
        return next((str(measure.better) for measure in declared if measure.name == self.measure), LOWER)

    def check(self, records: Sequence[AuditRecord]) -> None:
        """An error where the attack was run and has no such measure. An attack that does not apply is no error."""
        tried = [r for record in records for r in record.risks if r.attack == self.attack]
        there = sorted({r.measure for r in tried})
        if any(r.status == OK for r in tried) and self.measure not in there:
            known = ", ".join(f"{self.attack}.{measure}" for measure in there)
            raise UsageError(f"There is no risk {self.attack}.{self.measure}. There are: {known}.")
        there = list(dict.fromkeys(r.adversary for record in records for r in record.risks))
        if there and self.adversary is not None and self.adversary not in there:
            raise UsageError(
                f"There is no adversary {self.adversary!r} to take the risk of. There are: {', '.join(there)}."
            )

    def axis(self, records: Sequence[AuditRecord]) -> Axis:
        """The axis for some releases: whose risk it is, and whether the class is taken for known, the same for all."""
        if self.attack is None:
            chosen = choose(records, self.adversary, self.goal) or Chosen(self.adversary or "", self.goal or "")
            return Axis(STRONGEST, self.better, True, chosen.adversary, chosen.goal, chosen.granted)
        rows = [(place, Source(record), r) for place, record in enumerate(records) for r in self._rows(record)]
        found: dict[tuple[str, bool], set[int]] = {}  # whose, and whether granted: which releases have it
        for place, source, r in rows:
            found.setdefault((r.adversary, source.supposed(r)), set()).add(place)
        whose, granted = max(
            found, key=lambda one: (len(found[one]), not one[1]), default=(self.adversary or "", False)
        )
        relative = any(r.kind == Kind.RATE and "excess" in r.detail for _, _, r in rows)
        return Axis(self.figure, self.better, relative, whose, None, granted)

    def _rows(self, record: AuditRecord) -> Iterator[Risk]:
        """The rows of an audit record that have the risk asked for."""
        for r in record.risks:
            known = r.status == OK and r.value is not None and (r.attack, r.measure) == (self.attack, self.measure)
            if known and self.link in (None, r.link) and self.adversary in (None, r.adversary):
                yield r

    def of(self, record: AuditRecord, axis: Axis) -> Strongest | None:
        """The risk of a release on an axis: the worst over attacks, links and columns."""
        assert axis.adversary is not None
        if self.attack is None:
            return strongest(record, Chosen(axis.adversary, axis.goal or "", axis.granted))
        source, worst = Source(record), 1.0 if self.better == LOWER else -1.0
        found = []
        for r in self._rows(record):
            if (r.adversary, source.supposed(r)) == (axis.adversary, axis.granted) and r.value is not None:
                beyond = excess(r) if axis.excess else (float(r.value), r.low, r.high)
                found += [] if beyond is None else [Strongest(r, *beyond)]
        return max(found, key=lambda one: ((one.row.n or 0) >= FEW_ATTEMPTS, worst * one.value), default=None)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure on an axis, with its interval and its source."""

    value: float
    low: float | None = None
    high: float | None = None
    source: str | None = None


def comparison(cells: Sequence[Placed], risk: RiskChoice, utility: str) -> Comparison:
    """The points of some cells, in the order of the table, and the cells that are left out."""
    records = [placed.record for placed in cells if placed.record is not None]
    risk.check(records)
    across = risk.axis(records)
    which, better = _utility_axis(records, utility)
    measure = utility.partition(".")[0]
    axes = (across, Axis(measure if which is None else f"{measure}.{which}", better))
    left_out: list[LeftOut] = []
    groups: dict[str, list[tuple[Placed, _Figure, _Figure]]] = {}
    for placed in cells:
        cell = placed.cell
        if placed.record is None:
            left_out.append(LeftOut(cell.name, cell.status, cell.reason or "the reason is not known"))
            continue
        at = _risk(placed.record, risk, across), _utility(placed.record, measure, which)
        wanting = [axis.figure for axis, figure in zip(axes, at, strict=True) if figure is None]
        if at[0] is None or at[1] is None:
            left_out.append(LeftOut(cell.name, NO_FIGURE, f"it has no {' and no '.join(wanting)}"))
            continue
        groups.setdefault(placed.point, []).append((placed, at[0], at[1]))
    points = [_point(name, runs, across.excess) for name, runs in groups.items()]
    beaten = frontier([(p.risk, p.utility) for p in points], (axes[0].better, axes[1].better))
    points = [
        point if by is None else replace(point, beaten_by=points[by].name)
        for point, by in zip(points, beaten, strict=True)
    ]
    signs = [1 if axis.better == LOWER else -1 for axis in axes]
    points.sort(key=lambda p: (p.beaten_by is not None, signs[0] * p.risk, signs[1] * p.utility))
    return Comparison(*axes, tuple(points), tuple(left_out))


def _point(name: str, runs: Sequence[tuple[Placed, _Figure, _Figure]], excess: bool) -> Point:
    """The means over the runs. Their intervals are cut off at the bounds: no excess is above 1, no utility below 0."""
    first = runs[0][0]
    risk, utility = _over_seeds([r for _, r, _ in runs]), _over_seeds([u for _, _, u in runs])
    records = [placed.record for placed, _, _ in runs if placed.record is not None]
    verdicts = [record.policy.passed for record in records if record.policy is not None]
    sizes = [record.release.k for record in records if record.release.k is not None]
    return Point(
        name,
        first.cell.method,
        first.cell.params,
        len(runs),
        risk.value,
        utility.value,
        risk.low,
        min(risk.high, 1.0) if excess and risk.high is not None else risk.high,
        None if utility.low is None else max(utility.low, 0.0),
        utility.high,
        risk.source,
        min(sizes) if sizes else None,
        sum(verdicts) if verdicts else None,
    )


def _over_seeds(figures: Sequence[_Figure]) -> _Figure:
    if len(figures) == 1:
        return figures[0]
    over = mean_interval([figure.value for figure in figures])
    sources = dict.fromkeys(figure.source for figure in figures if figure.source)
    return _Figure(over.value, over.low, over.high, "; ".join(sources) or None)


def _risk(record: AuditRecord, choice: RiskChoice, axis: Axis) -> _Figure | None:
    found = choice.of(record, axis)
    return None if found is None else _Figure(found.value, found.low, found.high, _source(found.row))


def _source(row: Risk) -> str:
    """What a risk comes from."""
    return row.attack + (f" of {row.sensitive}" if row.sensitive else "") + (f", {row.link}" if row.link else "")


def _utility_axis(records: Sequence[AuditRecord], asked: str) -> tuple[str | None, str]:
    """Which of a measure's figures is asked for, and which way is better."""
    measure, _, which = asked.partition(".")
    rows = [row for record in records for row in record.utility if row.measure == measure and row.status == OK]
    meant = next((row for row in rows if not which or which_figure(row.params) == which), None)
    if rows and meant is None:
        there = ", ".join(dict.fromkeys(f"{measure}.{which_figure(row.params)}" for row in rows))
        raise UsageError(f"There is no figure {asked!r}. There are: {there}.")
    return (which or None, LOWER) if meant is None else (which_figure(meant.params), meant.better)


def _utility(record: AuditRecord, measure: str, which: str | None) -> _Figure | None:
    for row in record.utility:
        if row.measure == measure and row.status == OK and row.value is not None and which_figure(row.params) == which:
            return _Figure(float(row.value), row.low, row.high)
    return None
