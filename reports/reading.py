"""Reading the record: which figure stands for an attack, what it is compared with, and whether it beats that.

The figure for a headline is the prosecutor's under the link `class`, because thresholds of policies mean that one;
membership has no link and is taken from the posterior's score against real outsiders. A rate is compared with what its
excess was taken over (a control that leaves a person out lies too low in small classes, so the higher of control and
baseline counts), else with chance where chance is known. Nothing here makes a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditor.model.record.comparison import FEW_ATTEMPTS
from auditor.model.record.record import OK, AuditRecord, Risk, RunRecord, Utility
from reports.text import finite, percent

COUNTS = frozenset({"at_risk", "certain", "above", "fakes"})
LINKS = ("class", "likelihood", "tightest", "containment", "distance")
ATTACKS = ("linking", "homogeneity", "proximity", "divergence", "membership")
HARMS = frozenset({"divergence"})
_STANCES = ("prosecutor", "journalist", "marketer")
_PREFERRED = {"reading": "frequency", "score": "posterior", "against": "outsiders", "kind": "multivariate"}


@dataclass(frozen=True, slots=True)
class Excess:
    """How much of what the reference gets wrong the attack gets right: (value - reference)/(1 - reference).

    `over` names the reference: `control` or `baseline`."""

    value: float
    low: float | None = None
    high: float | None = None
    over: str = "control"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a figure is held against: the `control`, the `baseline`, or `chance` where chance is known."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a figure beats its reference: `above`, `unclear` (the interval reaches it), `not_above`, or `unknown`;
    a disclosure that is no guess is `certain`."""

    kind: str
    label: str


def figures(record: AuditRecord) -> list[Risk]:
    """The risk rows that hold a figure; where the record is about one person they have no intervals, for there is nothing
    to estimate."""
    rows = [risk for risk in record.risks if risk.status == OK and finite(risk.value) is not None]
    return [_certainly(r) for r in rows] if one_person(record) else rows


def one_person(record: AuditRecord) -> bool:
    """Whether the attacks on values and records were made on one person only."""
    about = {r.n for r in record.risks if r.status == OK and r.attack != "membership" and r.n is not None}
    return about == {1}


def _certainly(risk: Risk) -> Risk:
    detail = {key: value for key, value in risk.detail.items() if key not in ("excess", "histogram")}
    people = risk.n if risk.measure in COUNTS or risk.measure == "no_match" else 1  # of membership: the members
    return replace(risk, low=None, high=None, n=people, detail=detail)


def value_of(risk: Risk) -> float:
    """The figure of a row that has one."""
    value = finite(risk.value)
    if value is None:
        raise ValueError(f"{risk.attack}.{risk.measure} has no figure")
    return value


def is_count(risk: Risk) -> bool:
    """Whether the figure is a number of people; the classes found may be given as a count or as a rate."""
    return risk.measure in COUNTS or (risk.measure == "class_found" and risk.low is None)


def is_rate(risk: Risk) -> bool:
    """Whether the figure is a probability or a share (not a count, not the m of an (ε,m))."""
    value = finite(risk.value)
    whole = isinstance(risk.value, int) and risk.low is None and risk.baseline is None
    if is_count(risk) or risk.measure == "m" or value is None:
        return False
    return 0 <= value <= 1 and not (whole and risk.attack not in ATTACKS)


def excess_of(risk: Risk) -> Excess | None:
    """The excess over the reference: as recorded, else worked out from a rate and its control."""
    noted, control = risk.detail.get("excess"), finite(risk.control)
    if risk.n == 1:
        return None  # one person is no rate
    if isinstance(noted, Mapping) and (value := finite(noted.get("value"))) is not None:
        over = "baseline" if noted.get("over") == "baseline" else "control"
        if "over" in noted or over == _higher(risk):
            return Excess(value, finite(noted.get("low")), finite(noted.get("high")), over)
    if control is None or not is_rate(risk) or risk.measure in ("max", "window"):
        return None
    if risk.attack == "membership" and risk.measure != "success":
        return None  # an area or a difference of rates is not a share of right guesses
    over = _higher(risk)
    held = finite(risk.baseline) if over == "baseline" else control
    return None if held is None or held >= 1 else Excess((value_of(risk) - held) / (1 - held), over=over)


def _higher(risk: Risk) -> str:
    """What an excess is over where the record does not say: leaving a person out makes a control that lies too low."""
    control, baseline = finite(risk.control), finite(risk.baseline)
    left_out = (risk.control_kind or "").startswith("leave")
    return "baseline" if left_out and baseline is not None and baseline > (control or 0.0) else "control"


def reference_of(risk: Risk) -> Reference | None:
    """What the figure is held against."""
    noted = excess_of(risk) if is_rate(risk) else None
    over = noted.over if noted is not None else _higher(risk)
    baseline = finite(risk.baseline)
    if over == "baseline" and baseline is not None:
        return Reference("baseline", baseline)
    if (control := finite(risk.control)) is not None:
        return Reference("control", control)
    if baseline is not None:
        return Reference("baseline", baseline)
    if risk.attack == "membership":
        if risk.measure == "auc":
            return Reference("chance", 0.5)
        if risk.measure == "advantage":
            return Reference("chance", 0.0)
        if (rate := false_positives(risk)) is not None:
            return Reference("chance", rate)
    return None


def false_positives(risk: Risk) -> float | None:
    """The false-positive rate in the name of a measure such as `tpr_at_fpr_0.01`."""
    tail = risk.measure.rpartition("_")[2] if risk.measure.startswith("tpr_at_fpr_") else ""
    try:
        return finite(float(tail))
    except ValueError:
        return None


def standing_of(risk: Risk) -> Standing:
    """Whether the figure beats what it is held against, by its interval; certain disclosures are no matter of chance."""
    if risk.measure == "certain" and value_of(risk) > 0:
        return Standing("certain", "certain")
    held = reference_of(risk)
    if risk.n == 1:
        return Standing("unknown", "one person")
    if held is None:
        return Standing("unknown", "nothing to compare with")
    guess = held.name == "baseline" and risk.attack != "membership"
    name = "guessing without the release" if guess else "the control" if held.name == "control" else "chance"
    shown = f" ({percent(held.value)})" if is_rate(risk) else ""
    better = f"better than {name}" if guess else f"above {name}"
    if value_of(risk) - held.value <= 1e-9:
        return Standing("not_above", (f"no {better}" if guess else f"not {better}") + shown)
    low, noted = finite(risk.low), excess_of(risk)
    edge = noted.low if noted is not None else None
    if edge is None and low is not None:
        edge = low - held.value
    if edge is None and not is_count(risk) and risk.measure != "max":
        return Standing("unclear", f"not shown to be {better}{shown}: no interval")
    if edge is not None and edge <= 1e-9:
        return Standing("unclear", f"not shown to be {better}{shown}: it may be chance")
    return Standing("above", f"above {name}")


def lead_adversary(record: AuditRecord) -> str | None:
    """The adversary that stands for the release: the first prosecutor where there is one."""
    present = {risk.adversary for risk in record.risks}
    stances = [
        a.name for stance in _STANCES for a in record.adversaries if a.stance == stance and a.name not in _STANCES
    ]
    named = [*_STANCES[:1], *stances, *_STANCES[1:], *(r.adversary for r in record.risks)]
    return next((name for name in named if name in present), None)


def pick(rows: Iterable[Risk], measure: str, **wanted: str | None) -> Risk | None:
    """The row that stands for a measure: link `class` first, then the preferred parameters, then the highest."""
    found = [r for r in rows if r.measure == measure and all(getattr(r, key) == value for key, value in wanted.items())]
    if not found:
        return None
    return min(
        found, key=lambda r: (link_rank(r.link), _strangeness(r), -value_of(r) if r.attack == "membership" else 0.0)
    )


def link_rank(link: str | None) -> int:
    """The place of a link model in the order of the reports."""
    return LINKS.index(link) if link in LINKS else len(LINKS)


def attack_rank(attack: str) -> int:
    """The place of an attack in the order of the reports."""
    return ATTACKS.index(attack) if attack in ATTACKS else len(ATTACKS)


def _strangeness(risk: Risk) -> int:
    return sum(risk.params.get(key, value) != value for key, value in _PREFERRED.items())


def strongest_link(rows: Iterable[Risk], like: Risk) -> Risk | None:
    """Of the rows that differ from `like` in their link only, the one with the highest figure."""
    same = [
        r
        for r in rows
        if (r.attack, r.adversary, r.sensitive, r.measure)
        == (like.attack, like.adversary, like.sensitive, like.measure)
        and r.link != like.link
        and r.params == like.params
    ]
    return max(same, key=lambda r: (value_of(r), -link_rank(r.link)), default=None)


def groups(rows: Sequence[Risk]) -> list[tuple[str, str | None]]:
    """The (attack, sensitive column) pairs that occur, in the order of the reports."""
    seen = dict.fromkeys((r.attack, r.sensitive) for r in rows)
    order = list(seen)
    return sorted(order, key=lambda pair: (attack_rank(pair[0]), order.index(pair)))


def strongest_success(record: AuditRecord) -> tuple[Risk, Excess] | None:
    """The `success` with the largest excess, over all attacks that disclose, adversaries and links; one of a few attempts
    only where there is no other, so that three lucky guesses do not outdo thousands."""
    rows = [r for r in figures(record) if r.measure == "success" and r.attack not in HARMS]
    pairs = [(r, e) for r in rows if (e := excess_of(r)) is not None]
    return max(pairs, key=lambda pair: ((pair[0].n or 0) >= FEW_ATTEMPTS, pair[1].value), default=None)


def strongest_value(record: AuditRecord) -> Risk | None:
    """The highest `success`, for runs in which nothing has a control."""
    return max((r for r in figures(record) if r.measure == "success" and is_rate(r)), key=value_of, default=None)


def utility_of(record: AuditRecord, measure: str, statistic: str | None = None) -> Utility | None:
    """The utility figure of that name, where the release has one."""
    for row in record.utility:
        if row.measure == measure and row.status == OK and finite(row.value) is not None:
            found = row.params.get("statistic")
            if statistic is None or found is None or found == statistic:
                return row
    return None


def shared_utility(run: RunRecord) -> tuple[str, str | None] | None:
    """The utility measure to set risk against: the median query error, else the first that all releases have."""
    if not run.records:
        return None
    wanted: list[tuple[str, str | None]] = [("queries", "median")]
    for row in run.records[0].utility:
        statistic = row.params.get("statistic")
        wanted.append((row.measure, statistic if isinstance(statistic, str) else None))
    for measure, statistic in wanted:
        if all(utility_of(record, measure, statistic) is not None for record in run.records):
            return measure, statistic
    known = [utility_of(record, "queries", "median") is not None for record in run.records]
    return ("queries", "median") if any(known) else None
