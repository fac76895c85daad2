"""Reading the record: what its figures mean, which figure stands for an attack, and whether it beats what it is held against.

`Meanings` looks up what the record says about its attacks, links and measures; what it does not say gets a plain default.
The figures of an adversary are those of their own links, and among these of the strongest; a link that grants the class is a
bound, never what they get. Where nothing else is there (without the original) its figures are said to hold if the class were
known. Claims made count only where nobody knows which of them are true. A rate is compared with what its excess was taken
over: the control or the baseline. Nothing here makes a sentence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditor.model.record.meaning import RELEASE, UTILITY, AttackFacts, Better, Goal, Kind, LinkFacts, Measure
from auditor.model.record.record import OK, ORIGINAL, AuditRecord, Risk, RunRecord, Utility
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.record.strongest import is_supposed
from reports.text import clean, finite, number, percent, spoken

CERTAIN = "certain"
"""How many people have a value that is certain: a word that all attacks share."""
IF_KNOWN = "if the class were known"
_STANCES = ("prosecutor", "journalist", "marketer")
_PREFERRED = {
    "reading": ("frequency",),
    "score": ("posterior", "best-of"),
    "against": ("outsiders",),
    "kind": ("multivariate",),
}
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
    """Whether a figure beats its reference: `above`, `unclear` (the interval reaches it), `not_above`, or `unknown` where it
    has no control; a disclosure that is no guess, and that outsiders do not suffer, is `certain`."""

    kind: str
    label: str


_ALONE = Standing("unknown", "one person")


class Meanings:
    """What some records say about their attacks, links and measures, each under its name."""

    def __init__(self, *records: AuditRecord) -> None:
        self.attacks = {facts.name: facts for record in records for facts in record.attacks}
        self.links = {facts.name: facts for record in records for facts in record.links}
        self.measures = {(measure.of, measure.name): measure for record in records for measure in record.measures}
        self.alone = bool(records) and all(any(lack.what == ORIGINAL for lack in r.lacking) for r in records)
        self._attack_ranks = {name: place for place, name in enumerate(self.attacks)}
        ordered = sorted(self.links.values(), key=lambda facts: facts.granted)  # a bound comes after what is found
        self._link_ranks = {facts.name: place for place, facts in enumerate(ordered)}

    def attack(self, name: str) -> AttackFacts:
        """What an attack is; of one that is not declared, the name and the defaults."""
        return self.attacks.get(name) or AttackFacts(name, "", "", "", "", criterion="")

    def title(self, attack: str) -> str:
        """A few plain words for an attack, for readers who do not know its name."""
        return clean(self.attack(attack).title, 60) or spoken(attack.replace("-", " "))

    def link(self, name: str) -> LinkFacts:
        """What a link is."""
        return self.links.get(name) or LinkFacts(name, "", "")

    def granted(self, link: str | None) -> bool:
        """Whether the link takes the class for known."""
        return link is not None and self.link(link).granted

    def supposed(self, risk: Risk) -> bool:
        """Whether a figure holds only if the class were known: no adversary gets it by what they know."""
        return is_supposed(self.granted(risk.link), self.alone, self.attack(risk.attack).goal)

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

    def own(self, rows: Iterable[Risk]) -> list[Risk]:
        """Of the rows of one attack by one adversary on one column those of their strongest own link; where they have none,
        those of the class that is granted."""
        found = list(rows)
        theirs = [r for r in found if not self.supposed(r)] or found
        links = sorted(dict.fromkeys(r.link for r in theirs), key=self.link_rank)
        if len(links) < 2:
            return theirs

        def reached(link: str | None) -> float:
            rate = self.compared([r for r in theirs if r.link == link])
            return -1.0 if rate is None else _danger(rate)

        best = max(links, key=reached)
        return [r for r in theirs if r.link == best]

    def by_adversary(self, rows: Iterable[Risk]) -> list[tuple[tuple[str, ...], list[Risk]]]:
        """The rows of one attack on one column by adversary, each with their strongest own link; adversaries with equal
        figures together, under the names of all."""
        everybody = list(rows)
        gathered: dict[Hashable, tuple[list[str], list[Risk]]] = {}
        for name in dict.fromkeys(r.adversary for r in everybody):
            own = self.own(r for r in everybody if r.adversary == name)
            same = tuple((r.measure, str(r.params), r.link, r.value, r.baseline, r.control) for r in own)
            gathered.setdefault(same, ([], own))[0].append(name)
        return [(tuple(names), own) for names, own in gathered.values()]

    def bound(self, rows: Iterable[Risk], like: Risk) -> Risk | None:
        """The figure of the same adversaries and measure if the class were known; None where that is what `like` is."""
        same = [r for r in rows if self.granted(r.link) and r.params == like.params and _topic(r) == _topic(like)]
        return None if self.supposed(like) else max(same, key=_danger, default=None)

    def pick(self, rows: Iterable[Risk], measure: str) -> Risk | None:
        """The row that stands for a measure: found before granted, then the preferred settings, then the highest risk. Of
        claims it is the row of those that are true, where that is known."""
        found = [r for r in rows if r.measure == measure]
        right = self.measure(found[0].attack, measure).right if found else ""
        found = [r for r in rows if r.measure == right] or found

        def place(r: Risk) -> tuple[bool, int, float, int]:
            return self.supposed(r), _strangeness(r), -_danger(r), self.link_rank(r.link)

        return min(found, key=place, default=None)

    def certain(self, risk: Risk) -> bool:
        """Whether the figure counts claims that are certain: all of them, or those that are true."""
        return risk.measure in (CERTAIN, self.measure(risk.attack, CERTAIN).right)

    def wrong(self, rows: Sequence[Risk]) -> Risk | None:
        """Of the claims made with certainty in some rows those that are wrong, among all of them; None where none is."""
        made, right = next((r for r in rows if r.measure == CERTAIN), None), self.pick(rows, CERTAIN)
        if made is None or right is None or right is made:
            return None
        noted = None if "releases" in made.detail else finite(made.detail.get("wrong"))  # a mean has no such detail
        wrong = value_of(made) - value_of(right) if noted is None else noted
        return replace(made, value=round(wrong), n=round(value_of(made)), detail={}) if wrong >= 0.5 else None

    def compared(self, rows: Sequence[Risk]) -> Risk | None:
        """The rate of one attack that is held against control and baseline."""
        names = self.attack(rows[0].attack).compared if rows else ()
        return next((r for name in names if (r := self.pick(rows, name)) is not None and is_rate(r)), None)

    def groups(self, rows: Sequence[Risk]) -> list[tuple[str, str | None]]:
        """The (attack, sensitive column) pairs that occur, in the order of the reports."""
        pairs = dict.fromkeys((r.attack, r.sensitive) for r in rows)
        return sorted(pairs, key=lambda pair: self.attack_rank(pair[0]))

    def standing(self, risk: Risk) -> Standing:
        """Whether a figure beats what it is held against, by its interval. What is certain of outsiders too is no news."""
        found = self._against(risk)
        if found.kind == "above" and self.certain(risk):
            found = Standing("certain", "certain")
        no_control = finite(risk.control) is None and not self.about_members(risk) and risk.n != 1
        if not no_control or found.kind not in ("certain", "above"):
            return found
        over = "" if found.kind == "certain" else f"; {found.label}"
        return Standing("unknown", f"no control{over}")

    def _against(self, risk: Risk) -> Standing:
        if risk.n == 1:
            return Standing("certain", "certain") if self.certain(risk) and value_of(risk) > 0 else _ALONE
        held = reference_of(risk)
        if held is None:
            return Standing("unknown", "no control")
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


def is_synthetic(release: ReleaseFacts) -> bool:
    """Whether the rows of a release are nobody's: what its classes are like then promises nothing to anybody."""
    return release.kind == "synthetic"


def classes(release: ReleaseFacts) -> tuple[str, ...]:
    """`9 classes` and `k = 5`, where the rows of the release are people."""
    if is_synthetic(release):
        return ()
    return f"{number(release.classes)} classes", f"k = {number(release.k)}"


def kind_of(release: ReleaseFacts, most: int = 60) -> str:
    """What kind of release it is, in a word. Of one table whose making is not known it says no more than that: its rows may
    be generalised, as they were, or made up."""
    return "one table" if release.method is None and release.kind == "generalised" else clean(release.kind, most)


def made_by(release: ReleaseFacts, most: int = 60) -> str:
    """The method; where it is not known, the kind."""
    return kind_of(release, most) if release.method is None else clean(release.method, most)


def least_class(release: ReleaseFacts) -> int | None:
    """k; None where the rows of the release are nobody's, so that a class hides nobody."""
    return None if is_synthetic(release) else release.k


def size(release: ReleaseFacts) -> str:
    """`15 rows of 6 people`; where each row is a person, `15 rows`."""
    made_up = "made-up " if is_synthetic(release) else ""
    rows = f"{number(release.rows)} {made_up}{'row' if release.rows == 1 else 'rows'}"
    if release.people is None:
        return rows
    return f"{rows} of {number(release.people)} {'person' if release.people == 1 else 'people'}"


def label_of(measure: Measure) -> str:
    """The short name of a measure in a report."""
    return clean(measure.label, 120) or spoken(measure.name)


def _topic(risk: Risk) -> tuple[str, str, str | None, str]:
    return risk.attack, risk.adversary, risk.sensitive, risk.measure


def _strangeness(risk: Risk) -> int:
    return sum(risk.params.get(key, wanted[0]) not in wanted for key, wanted in _PREFERRED.items())


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
    first = noted.over == "baseline" if noted is not None else left_out
    if baseline is not None and (first or control is None):
        return Reference("baseline", baseline)
    return None if control is None else Reference("control", control)


def adversaries(record: AuditRecord) -> list[str]:
    """The adversaries who have figures, in the order of the record."""
    there = dict.fromkeys(risk.adversary for risk in figures(record))
    named = [facts.name for facts in record.adversaries if facts.name in there]
    return list(dict.fromkeys([*named, *there]))


def lead_adversary(record: AuditRecord) -> str | None:
    """The adversary for whom there is room where only one can be shown: the first prosecutor where there is one."""
    present = {risk.adversary for risk in record.risks}
    stances = [
        a.name for stance in _STANCES for a in record.adversaries if a.stance == stance and a.name not in _STANCES
    ]
    named = [*_STANCES[:1], *stances, *_STANCES[1:], *(r.adversary for r in record.risks)]
    return next((name for name in named if name in present), None)


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
