"""Reading the record: what its figures mean, which figure stands for an attack, and whether it beats what it is held against.

`Meanings` looks up what the record says about its attacks, links and measures; what it does not say gets a plain default.
The figure for a headline is the lead adversary's under the first link of the record, because policies judge that one. A rate
is compared with what its excess was taken over: the control or the baseline. Nothing here makes a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditor.model.record.comparison import FEW_ATTEMPTS
from auditor.model.record.meaning import RELEASE, UTILITY, AttackFacts, Better, Goal, Kind, LinkFacts, Measure
from auditor.model.record.record import OK, AuditRecord, Risk, RunRecord, Utility
from auditor.model.record.release_facts import ReleaseFacts
from reports.text import clean, finite, number, percent, spoken

SUCCESS, CERTAIN = "success", "certain"
"""Words that all attacks share: the share of claims that are right, and how many people have a value that is certain."""
_STANCES = ("prosecutor", "journalist", "marketer")
_PREFERRED = {"reading": "frequency", "score": "posterior", "against": "outsiders", "kind": "multivariate"}
_STATISTICS = {"p90": "90th percentile"}


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
    """What a figure is held against: the `control` or the `baseline`."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a figure beats its reference: `above`, `unclear` (the interval reaches it), `not_above`, or `unknown`;
    a disclosure that is no guess is `certain`."""

    kind: str
    label: str


class Meanings:
    """What some records say about their attacks, links and measures, each under its name."""

    def __init__(self, *records: AuditRecord) -> None:
        self.attacks = {facts.name: facts for record in records for facts in record.attacks}
        self.links = {facts.name: facts for record in records for facts in record.links}
        self.measures = {(measure.of, measure.name): measure for record in records for measure in record.measures}
        self._attack_ranks = {name: place for place, name in enumerate(self.attacks)}
        self._link_ranks = {name: place for place, name in enumerate(self.links)}

    def attack(self, name: str) -> AttackFacts:
        """What an attack is; of one that is not declared, the name and the defaults."""
        return self.attacks.get(name) or AttackFacts(name, "", "", "", "", criterion="")

    def link(self, name: str) -> LinkFacts:
        """What a link is."""
        return self.links.get(name) or LinkFacts(name, "", "")

    def granted(self, link: str | None) -> bool:
        """Whether the adversary is told the class."""
        return link is not None and self.link(link).granted

    def measure(self, of: str, name: str) -> Measure:
        """What a measure of an attack, of utility or of the release means."""
        return self.measures.get((of, name)) or Measure(name, "", of=of)

    def utility(self, name: str) -> Measure:
        """What a measure of utility means."""
        return self.measure(UTILITY, name)

    def statistics(self) -> list[Measure]:
        """The class statistics, in the order of the tables."""
        return [measure for (of, _), measure in self.measures.items() if of == RELEASE]

    def headlines(self) -> list[Measure]:
        """The measures of utility for reports that have room for one or two."""
        return [measure for (of, _), measure in self.measures.items() if of == UTILITY and measure.headline]

    def utility_name(self, name: str, which: str | None = None) -> str:
        """The name of a utility measure in a report: `query error (median)`."""
        label = label_of(self.utility(name))
        return f"{label} ({_STATISTICS.get(which, spoken(which))})" if which else label

    def attack_rank(self, name: str) -> int:
        """The place of an attack in the order of the reports."""
        return self._attack_ranks.get(name, len(self._attack_ranks))

    def link_rank(self, link: str | None) -> int:
        """The place of a link in the order of the reports."""
        return self._link_ranks.get(link or "", len(self._link_ranks))

    def about_members(self, risk: Risk) -> bool:
        """Whether the attack is after membership."""
        return self.attack(risk.attack).goal == Goal.MEMBERSHIP

    def pick(self, rows: Iterable[Risk], measure: str) -> Risk | None:
        """The row that stands for a measure: the first link, then the preferred settings, then the highest risk."""
        found = [r for r in rows if r.measure == measure]
        return min(found, key=lambda r: (self.link_rank(r.link), _strangeness(r), -_danger(r)), default=None)

    def compared(self, rows: Sequence[Risk]) -> Risk | None:
        """The rate of one attack that is held against control and baseline."""
        names = self.attack(rows[0].attack).compared if rows else ()
        return next((r for name in names if (r := self.pick(rows, name)) is not None and is_rate(r)), None)

    def strongest_link(self, rows: Iterable[Risk], like: Risk) -> Risk | None:
        """Of the rows that differ from `like` in their link only, the one with the highest figure."""
        same = [r for r in rows if r.link != like.link and r.params == like.params and _topic(r) == _topic(like)]
        return max(same, key=lambda r: (value_of(r), -self.link_rank(r.link)), default=None)

    def groups(self, rows: Sequence[Risk]) -> list[tuple[str, str | None]]:
        """The (attack, sensitive column) pairs that occur, in the order of the reports."""
        pairs = dict.fromkeys((r.attack, r.sensitive) for r in rows)
        return sorted(pairs, key=lambda pair: self.attack_rank(pair[0]))

    def standing(self, risk: Risk) -> Standing:
        """Whether a figure beats what it is held against, by its interval; certain disclosures are no matter of chance."""
        if risk.measure == CERTAIN and value_of(risk) > 0:
            return Standing("certain", "certain")
        if risk.n == 1:
            return Standing("unknown", "one person")
        held = reference_of(risk)
        if held is None:
            return Standing("unknown", "nothing to compare with")
        guess = held.name == "baseline" and not self.about_members(risk)
        name = "guessing without the release" if guess else "the control" if held.name == "control" else "chance"
        shown = f" ({percent(held.value)})" if is_rate(risk) else ""
        better = f"better than {name}" if guess else f"above {name}"
        if value_of(risk) - held.value <= 1e-9:
            return Standing("not_above", (f"no {better}" if guess else f"not {better}") + shown)
        low, noted = finite(risk.low), excess_of(risk)
        edge = noted.low if noted is not None else None
        if edge is None and low is not None:
            edge = low - held.value
        if edge is None and risk.kind == Kind.RATE:
            return Standing("unclear", f"not shown to be {better}{shown}: no interval")
        if edge is not None and edge <= 1e-9:
            return Standing("unclear", f"not shown to be {better}{shown}: it may be chance")
        return Standing("above", f"above {name}")


def size(release: ReleaseFacts) -> str:
    """`15 rows of 6 people`; where each row is a person, `15 rows`."""
    rows = f"{number(release.rows)} {'row' if release.rows == 1 else 'rows'}"
    if release.people is None:
        return rows
    return f"{rows} of {number(release.people)} {'person' if release.people == 1 else 'people'}"


def label_of(measure: Measure) -> str:
    """The short name of a measure in a report."""
    return clean(measure.label, 120) or spoken(measure.name)


def _topic(risk: Risk) -> tuple[str, str, str | None, str]:
    return risk.attack, risk.adversary, risk.sensitive, risk.measure


def _strangeness(risk: Risk) -> int:
    return sum(risk.params.get(key, value) != value for key, value in _PREFERRED.items())


def _danger(risk: Risk) -> float:
    return -value_of(risk) if risk.better == Better.HIGHER else value_of(risk)


def figures(record: AuditRecord) -> list[Risk]:
    """The risk rows that hold a figure; where the record is about one person they have no intervals, for there is nothing
    to estimate."""
    rows = [risk for risk in record.risks if risk.status == OK and finite(risk.value) is not None]
    return [_certainly(r) for r in rows] if one_person(record) else rows


def one_person(record: AuditRecord) -> bool:
    """Whether the attacks on values and records were made on one person only."""
    members = {facts.name for facts in record.attacks if facts.goal == Goal.MEMBERSHIP}
    return {r.n for r in record.risks if r.status == OK and r.attack not in members and r.n is not None} == {1}


def _certainly(risk: Risk) -> Risk:
    detail = {key: value for key, value in risk.detail.items() if key not in ("excess", "histogram")}
    people = risk.n if risk.kind in (Kind.COUNT, Kind.FACT) else 1  # of membership: the members
    return replace(risk, low=None, high=None, n=people, detail=detail)


def value_of(risk: Risk) -> float:
    """The figure of a row that has one."""
    value = finite(risk.value)
    if value is None:
        raise ValueError(f"{risk.attack}.{risk.measure} has no figure")
    return value


def is_count(risk: Risk) -> bool:
    """Whether the figure is a number of people."""
    return risk.kind == Kind.COUNT


def is_rate(risk: Risk) -> bool:
    """Whether the figure is a probability or a share."""
    value = finite(risk.value)
    return risk.kind in (Kind.RATE, Kind.EXTREME) and value is not None and 0 <= value <= 1


def excess_of(risk: Risk) -> Excess | None:
    """The excess over the reference, where the record has one and it is about several people."""
    noted = risk.detail.get("excess")
    if risk.n == 1 or not isinstance(noted, Mapping) or (value := finite(noted.get("value"))) is None:
        return None
    over = "baseline" if noted.get("over") == "baseline" else "control"
    return Excess(value, finite(noted.get("low")), finite(noted.get("high")), over)


def reference_of(risk: Risk) -> Reference | None:
    """What the figure is held against. A control that leaves a person out lies too low in small classes: where the record
    does not say what it took the excess over, a higher baseline counts then."""
    control, baseline, noted = finite(risk.control), finite(risk.baseline), excess_of(risk)
    left_out = (risk.control_kind or "").startswith("leave") and (baseline or 0.0) > (control or 0.0)
    first = noted.over == "baseline" if noted is not None and is_rate(risk) else left_out
    if baseline is not None and (first or control is None):
        return Reference("baseline", baseline)
    return None if control is None else Reference("control", control)


def lead_adversary(record: AuditRecord) -> str | None:
    """The adversary that stands for the release: the first prosecutor where there is one."""
    present = {risk.adversary for risk in record.risks}
    stances = [
        a.name for stance in _STANCES for a in record.adversaries if a.stance == stance and a.name not in _STANCES
    ]
    named = [*_STANCES[:1], *stances, *_STANCES[1:], *(r.adversary for r in record.risks)]
    return next((name for name in named if name in present), None)


def strongest_success(record: AuditRecord) -> tuple[Risk, Excess] | None:
    """The `success` with the largest excess, over all attacks that disclose, adversaries and links; one of a few attempts
    only where there is no other, so that three lucky guesses do not outdo thousands."""
    harms = {facts.name for facts in record.attacks if facts.harm}
    rows = [r for r in figures(record) if r.measure == SUCCESS and r.attack not in harms]
    pairs = [(r, e) for r in rows if (e := excess_of(r)) is not None]
    return max(pairs, key=lambda pair: ((pair[0].n or 0) >= FEW_ATTEMPTS, pair[1].value), default=None)


def strongest_value(record: AuditRecord) -> Risk | None:
    """The highest `success`, for runs in which nothing has a control."""
    return max((r for r in figures(record) if r.measure == SUCCESS and is_rate(r)), key=value_of, default=None)


def utility_of(record: AuditRecord, measure: str, statistic: str | None = None) -> Utility | None:
    """The utility figure of that name, where the release has one."""
    for row in record.utility:
        if row.measure == measure and row.status == OK and finite(row.value) is not None:
            found = row.params.get("statistic")
            if statistic is None or found is None or found == statistic:
                return row
    return None


def shared_utility(run: RunRecord) -> tuple[str, str | None] | None:
    """The utility measure to set risk against: the first headline that all releases have, else any that all have, else the
    first headline of any."""
    headlines = [(measure.name, measure.statistic or None) for measure in Meanings(*run.records).headlines()]
    wanted = list(headlines)
    for row in run.records[0].utility if run.records else ():
        statistic = row.params.get("statistic")
        wanted.append((row.measure, statistic if isinstance(statistic, str) else None))
    counts = {one: sum(utility_of(record, *one) is not None for record in run.records) for one in wanted}
    shared = next((one for one in wanted if counts[one] == len(run.records)), None)
    return shared or next((one for one in headlines if counts[one]), None)
