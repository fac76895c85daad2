"""The findings that matter, in plain words, computed from the record.

A finding gathers what one attack found on one sensitive column of one release, for one adversary or for several with equal
figures: the sentence to remember, the sentences that support it, how it stands against its control, what would be if the
class were known, and what would lower it. They come in the order of what they have over their control (the excess): published
identifiers first; then what is above its control, disclosures before made-up people and harms of false belief; then what has
no control; what is not above its reference comes last. What could not be computed is gathered by its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.model.record.comparison import FEW_ATTEMPTS
from auditor.model.record.meaning import Criterion, Goal, Kind
from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, Risk
from reports.reading import (
    CERTAIN,
    IF_KNOWN,
    Excess,
    Meanings,
    adversaries,
    excess_of,
    figures,
    is_count,
    is_rate,
    label_of,
    reference_of,
    value_of,
)
from reports.text import NONE, capital, clean, finite, number, percent, span, spoken, words
from reports.words.person import confidence, revealed
from reports.words.sentences import comparison, control_people, of_everybody, sentence, shortfall, who, wrong_claims
from reports.words.verdicts import published

IDENTIFIERS, VALUE, HARM, OTHER = "identifiers", "value", "harm", "other"
_KINDS: dict[str, str] = {
    Criterion.LINKABILITY: Goal.IDENTITY,
    Criterion.SINGLING_OUT: Goal.IDENTITY,
    Criterion.MEMBERSHIP: Goal.MEMBERSHIP,
    Criterion.HARM: HARM,
}
WEAK = "Not above their control, or a guess without the release"
_FIRST, _ABOVE, _MADE_UP, _HARM, _NO_CONTROL, _LAST = range(6)
"""The ranks of findings; within each the strongest comes first."""
_FOUND = "class_found"  # of linking: worth saying of links that do not grant the class
_STRONG = 0.2  # what a strong finding has over its reference, as a share of what is left above it
_MOST = 3  # adversaries who have a finding of their own about one attack on one column


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack found on one sensitive column of one release.

    `kind` is `identifiers`, `value`, `identity`, `membership`, `harm` or `other`; `standing` is that of
    `reading.Standing` and `label` says it in words. `bound` is the figure if the class were known, `wrong` says how many of
    the claims made with certainty are wrong.
    `stats` are the figures to set side by side (attack, control, baseline, excess), `comparison` says them in words,
    `remark` says where the attack does not beat them. `criterion` is the regulators' word (WP29 05/2014), `title` a few plain
    words for the attack.
    """

    release: str
    kind: str
    attack: str
    sensitive: str | None
    headline: str
    support: tuple[str, ...]
    stats: tuple[tuple[str, str], ...]
    comparison: str
    remark: str
    standing: str
    label: str
    rank: int
    strength: float
    excess: Excess | None
    advice: str | None
    criterion: str
    adversaries: tuple[str, ...] = ()
    bound: str = ""
    wrong: str = ""
    title: str = ""

    @property
    def weak(self) -> bool:
        """Whether it is no more than the control, or a guess without the release, has."""
        return self.rank == _LAST

    @property
    def strong(self) -> bool:
        """Whether it is well above its control: nothing to publish unawares."""
        return self.rank in (_FIRST, _ABOVE) and self.strength >= _STRONG

    @property
    def told(self) -> str:
        """The label, and beside it what would be if the class were known."""
        return "; ".join(part for part in (self.label, self.bound) if part)

    @property
    def brief(self) -> str:
        """A weak finding in a few words: `training a model (disease), by the neighbour: 12 %, not above the control`."""
        about = f" ({spoken(self.sensitive)})" if self.sensitive else ""
        by = f", by the {words([clean(name, 60) for name in self.adversaries], 3)}" if self.adversaries else ""
        figure = f"{self.stats[0][1]}, " if self.stats else ""
        return f"{self.title or clean(self.attack, 60)}{about}{by}: {figure}{self.label}"


@dataclass(frozen=True, slots=True)
class Gap:
    """Figures that are not there, for one reason: `what` names the attack, column, measures and links."""

    what: str
    status: str
    reason: str


def findings(record: AuditRecord) -> list[Finding]:
    """The findings on one release, in the order of what they have over their control."""
    rows, meanings = figures(record), Meanings(record)
    made = []
    for attack, sensitive in meanings.groups(rows):
        mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
        made += _of_attack(record, meanings, mine)
    if record.release.identifiers:
        made.append(_identifiers(record))
    told: set[str | None] = set()
    found = []
    for one in sorted(made, key=_order):  # what lowers several of them is said once
        found.append(replace(one, advice=None) if one.advice in told else one)
        told.add(one.advice)
    return found


def key_findings(found: Sequence[Finding]) -> list[Finding]:
    """The findings to remember: of each kind and column the first that is more than its reference has."""
    chosen: dict[tuple[str, str | None], Finding] = {}
    for one in found:
        if not one.weak:
            chosen.setdefault((one.kind, one.sensitive), one)
    return list(chosen.values())


def _order(finding: Finding) -> tuple[int, float]:
    return finding.rank, -finding.strength


def _of_attack(record: AuditRecord, meanings: Meanings, rows: Sequence[Risk]) -> list[Finding]:
    """What one attack found on one column: a finding for each adversary whose figures differ, the strongest of many."""
    told = [_finding(record, meanings, rows, names, own) for names, own in meanings.by_adversary(rows)]
    made = sorted((found for found in told if found is not None), key=_order)
    if len(made) <= _MOST:
        return made
    rest = sum(len(found.adversaries) for found in made[_MOST:])
    less = f"{number(rest)} more adversaries get no further than that."
    return [*made[: _MOST - 1], replace(made[_MOST - 1], support=(*made[_MOST - 1].support, less))]


def _identifiers(record: AuditRecord) -> Finding:
    return Finding(
        release=clean(record.release.name),
        kind=IDENTIFIERS,
        attack=IDENTIFIERS,
        sensitive=None,
        headline=published(record),
        support=(),
        stats=(),
        comparison="",
        remark="",
        standing=CERTAIN,
        label="certain",
        rank=_FIRST,
        strength=1.0,
        excess=None,
        advice=None,
        criterion=Criterion.SINGLING_OUT,
    )


def _finding(
    record: AuditRecord, meanings: Meanings, rows: Sequence[Risk], names: tuple[str, ...], own: Sequence[Risk]
) -> Finding | None:
    attack, sensitive = own[0].attack, own[0].sensitive
    facts = meanings.attack(attack)
    lead, rate = _lead(meanings, own), _first(meanings, own, facts.compared)
    alone = lead.n == 1
    if alone and facts.harm and not value_of(lead):
        return None  # no harm to speak of
    criterion = clean(facts.criterion, 60) or (Criterion.INFERENCE if sensitive else OTHER)
    kind = _KINDS.get(criterion, VALUE if sensitive else OTHER)
    standing = meanings.standing(lead if meanings.certain(lead) else rate)
    if alone and value_of(lead) > 0 and any(meanings.certain(r) and value_of(r) > 0 for r in own):
        standing = replace(standing, kind=CERTAIN, label="certain")
    bound = meanings.bound([r for r in rows if r.adversary in names], lead)
    beyond = (lead, rate) if meanings.certain(lead) else (rate,)
    return Finding(
        release=clean(record.release.name),
        kind=kind,
        attack=attack,
        sensitive=sensitive,
        headline=_headline(record, meanings, lead, names),
        support=() if alone else tuple(_support(meanings, own, lead, rate)),
        stats=() if alone else _stats(meanings, rate),
        comparison=comparison(meanings, rate),
        remark=" ".join(shortfall(meanings, rate)),
        standing=standing.kind,
        label=standing.label,
        rank=_rank(kind, standing.kind, lead, rate),
        strength=confidence(lead) if alone else max(_strength(meanings, r) for r in beyond),
        excess=excess_of(rate),
        advice=clean(facts.lowered_by, 400) or None,
        criterion=criterion,
        adversaries=names if len(adversaries(record)) > 1 else (),
        bound="" if bound is None or value_of(bound) == value_of(lead) else f"{_figure(bound)} {IF_KNOWN}",
        wrong=wrong_claims(meanings, own),
        title=meanings.title(attack),
    )


def _figure(risk: Risk) -> str:
    if is_count(risk):
        return number(value_of(risk)) + (f" of {number(risk.n)}" if risk.n is not None else "")
    return percent(value_of(risk)) if is_rate(risk) else number(value_of(risk))


def _lead(meanings: Meanings, own: Sequence[Risk]) -> Risk:
    """The figure of the headline: everybody where that can be said; about one person what is believed, with the claim of any
    row of the attack."""
    names = meanings.attack(own[0].attack).lead
    found = [r for name in names if (r := meanings.pick(own, name)) is not None]
    everybody = next((r for r in found if _everybody(meanings, r)), None)
    if not found or found[0].n != 1:
        return everybody or _first(meanings, own, names)
    told = {r.measure: meanings.measure(r.attack, r.measure).one for r in found}
    best = min(found, key=lambda r: ("{belief}" not in told[r.measure], not told[r.measure]))
    claims = [r.detail for r in own if r.link == best.link and revealed(r) is not None]
    return best if revealed(best) is not None or not claims else replace(best, detail=claims[0])


def _everybody(meanings: Meanings, risk: Risk) -> bool:
    """Whether a share of people is everybody, and its measure has a sentence for that: nothing can be added to it."""
    return bool(is_rate(risk) and of_everybody(risk) and meanings.measure(risk.attack, risk.measure).everybody)


def _headline(record: AuditRecord, meanings: Meanings, lead: Risk, names: Sequence[str]) -> str:
    text = sentence(meanings, lead, who(record, lead, names))
    linked = meanings.attack(lead.attack).goal == Goal.IDENTITY and lead.link is not None
    if linked and len(record.release.blocks) > 1:
        columns = {f.column for f in record.release.sensitive}
        hidden = " or ".join(spoken(f.column) for f in record.release.sensitive[:3]) or "sensitive value"
        apart = not any(
            set(block) & set(record.release.quasi) and set(block) & columns for block in record.release.blocks
        )
        whole, part = "the right row in each block of quasi-identifiers", "the row of the quasi-identifier table"
        text = text.removesuffix(".") + f": {f'{part}, not the {hidden}' if apart else whole}."
    return text


def _rank(kind: str, standing: str, lead: Risk, rate: Risk) -> int:
    """The place of a finding: what is above its control, then what has none, then what is not above it."""
    wrong = value_of(lead) == 0 and (lead.n == 1 or is_count(lead))
    if standing in ("not_above", "unclear") or wrong:
        return _LAST
    if standing == "unknown" and lead.n != 1:
        return _NO_CONTROL
    if kind == HARM:
        return _HARM
    return _MADE_UP if kind == Goal.MEMBERSHIP and rate.params.get("against") == "fakes" else _ABOVE


def _support(meanings: Meanings, own: Sequence[Risk], lead: Risk, rate: Risk) -> list[str]:
    """The sentences beside the headline: other measures and claims."""
    facts = meanings.attack(lead.attack)
    support = _count_control(lead)
    if not _everybody(meanings, lead):
        names = facts.support or tuple(dict.fromkeys(r.measure for r in own))[:3]
        extra = [r for name in names if (r := meanings.pick(own, name)) is not None and r is not lead and r is not rate]
        same = value_of(lead) if is_count(lead) else None
        support += [sentence(meanings, r) for r in extra if not is_count(r) or value_of(r) not in (same, 0)]
        support += [sentence(meanings, rate)] if rate is not lead else []
    claim = next((claim for row in (lead, rate) if (claim := revealed(row)) is not None), None)
    support += [f"The adversary's claim: {claim}."] if claim is not None else []
    return support + _class_found(meanings, own)


def _count_control(lead: Risk) -> list[str]:
    """The control of a count, which has no place among the rates."""
    control = finite(lead.control)
    if not is_count(lead) or not control or lead.n is None or lead.n == 1:
        return []
    return [capital(f"{control_people(lead)}: {number(round(control))} of {number(lead.n)}.")]


def _first(meanings: Meanings, rows: Sequence[Risk], names: Sequence[str]) -> Risk:
    """The row for the first of `names` that says something, if one does. A count of nobody does not, nor does one that the
    control has too: what is certain of outsiders is no news."""
    found = [r for name in names if (r := meanings.pick(rows, name)) is not None]
    telling = [r for r in found if is_rate(r) or (value_of(r) > 0 and _news(meanings, r))]
    return (telling or [r for r in found if not meanings.certain(r)] or found or list(rows))[0]


def _news(meanings: Meanings, risk: Risk) -> bool:
    return meanings.standing(risk).kind not in ("not_above", "unclear")


def _strength(meanings: Meanings, rate: Risk) -> float:
    """How far a figure gets beyond its reference, 0 to 1."""
    excess, held = excess_of(rate), reference_of(rate)
    if excess is not None:
        few = 1 < (rate.n or 0) < FEW_ATTEMPTS and excess.low is not None
        return (excess.low or 0.0) if few else excess.value  # three lucky guesses are not a strong attack
    if rate.kind in (Kind.COUNT, Kind.FACT):
        return 0.0
    beyond = value_of(rate) - (held.value if held is not None else 0.0)
    return 2 * beyond if meanings.about_members(rate) else beyond  # from a coin to certainty


def _stats(meanings: Meanings, rate: Risk) -> tuple[tuple[str, str], ...]:
    """The rate, what it is held against and what is left, each with its name."""
    show, excess = percent if is_rate(rate) else number, excess_of(rate)
    label = label_of(meanings.measure(rate.attack, rate.measure))
    pairs = [
        (f"attack ({label})", show(value_of(rate))),
        ("control", show(finite(rate.control))),
        ("baseline", show(finite(rate.baseline))),
    ]
    if excess is not None:
        bounds = span(excess.low, excess.high)
        pairs.append((f"excess over {excess.over}", percent(excess.value) + (f" ({bounds})" if bounds else "")))
    return tuple((name, text) for name, text in pairs if text != NONE)


def _class_found(meanings: Meanings, own: Sequence[Risk]) -> list[str]:
    """The class found by the adversary: worth saying where most are found."""
    found = [r for r in own if r.measure == _FOUND and not meanings.supposed(r) and r.n]
    best = max(found, key=value_of, default=None)
    return [sentence(meanings, best)] if best is not None and value_of(best) >= 0.5 * (best.n or 0) else []


def gaps(record: AuditRecord) -> list[Gap]:
    """The figures that are not there, one entry for each attack, column, status and reason; attacks that lack the same for
    the same reason share one. What only lacks something that was not given is said there (`lacking`)."""
    said, meanings = {lack.what for lack in record.lacking}, Meanings(record)
    gathered: dict[tuple[str, str | None, str, str], list[Risk]] = {}
    for risk in record.risks:
        if risk.lacks is not None and risk.lacks in said:
            continue
        if risk.status != OK or finite(risk.value) is None:
            status = risk.status if risk.status != OK else "no figure"
            gathered.setdefault((risk.attack, risk.sensitive, status, risk.reason or "no reason given"), []).append(
                risk
            )
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for (attack, sensitive, status, reason), rows in gathered.items():
        links = sorted({r.link for r in rows if r.link is not None}, key=lambda link: (meanings.link_rank(link), link))
        measures = list(dict.fromkeys(spoken(r.measure) for r in rows))
        whose = clean(attack, 60) + (f", {spoken(sensitive)}" if sensitive else "")
        what = f": {words(measures)}" if len(measures) <= 3 else ""
        if links:
            what += f" (link {words([clean(link, 40) for link in links])})"
        label = "did not converge" if status == NOT_CONVERGED else status.replace("_", " ")
        alike.setdefault((what, label, clean(reason, 400), whose if sensitive else ""), []).append(whose)
    return [Gap(words(whose, len(whose)) + what, label, reason) for (what, label, reason, _), whose in alike.items()]
