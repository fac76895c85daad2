"""The findings that matter, in plain words, computed from the record.

A finding gathers what one attack found on one sensitive column of one release: the sentence to remember, the
sentences that support it, how it stands against its control, and what would lower it. They come in the order of what a
person has to fear: published identifiers, certain disclosure of a value, right guesses of values, links to records,
membership (against outsiders before made-up people), harms of false belief; within a kind by excess. What is not above
its reference comes last. What could not be computed is gathered by its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.model.record.comparison import FEW_ATTEMPTS
from auditor.model.record.meaning import Criterion, Goal, Kind
from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, Risk
from reports.reading import (
    CERTAIN,
    Excess,
    Meanings,
    excess_of,
    figures,
    is_count,
    is_rate,
    label_of,
    lead_adversary,
    reference_of,
    value_of,
)
from reports.text import NONE, capital, clean, finite, number, percent, probability, span, spoken, words
from reports.words.person import confidence, revealed
from reports.words.sentences import comparison, control_people, of_everybody, sentence, shortfall, who
from reports.words.verdicts import published

IDENTIFIERS, VALUE, HARM, OTHER = "identifiers", "value", "harm", "other"
_KINDS: dict[str, str] = {
    Criterion.LINKABILITY: Goal.IDENTITY,
    Criterion.SINGLING_OUT: Goal.IDENTITY,
    Criterion.MEMBERSHIP: Goal.MEMBERSHIP,
    Criterion.HARM: HARM,
}
_RANKS: dict[str, int] = {IDENTIFIERS: 0, VALUE: 2, Goal.IDENTITY: 3, OTHER: 3, Goal.MEMBERSHIP: 4, HARM: 6}
_LAST = 10  # added to the rank of what is not above its reference
_FOUND = "class_found"  # of linking: worth saying of links that are not told the class


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack found on one sensitive column of one release.

    `kind` is `identifiers`, `value`, `identity`, `membership`, `harm` or `other`; `standing` is that of
    `reading.Standing` and `label` says it in words.
    `stats` are the figures to set side by side (attack, control, baseline, excess), `comparison` says them in words,
    `remark` says where the attack does not beat them. `criterion` is the regulators' word (WP29 05/2014).
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


@dataclass(frozen=True, slots=True)
class Gap:
    """Figures that are not there, for one reason: `what` names the attack, column, measures and links."""

    what: str
    status: str
    reason: str


def findings(record: AuditRecord) -> list[Finding]:
    """The findings on one release, in the order of what a person has to fear."""
    rows, meanings = figures(record), Meanings(record)
    made = [found for pair in meanings.groups(rows) if (found := _finding(record, meanings, rows, *pair)) is not None]
    if record.release.identifiers:
        made.append(_identifiers(record))
    return sorted(made, key=lambda f: (f.rank, -f.strength))


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
        rank=_RANKS[IDENTIFIERS],
        strength=1.0,
        excess=None,
        advice=None,
        criterion=Criterion.SINGLING_OUT,
    )


def _finding(
    record: AuditRecord, meanings: Meanings, rows: Sequence[Risk], attack: str, sensitive: str | None
) -> Finding | None:
    mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
    adversary = lead_adversary(record)
    own = [r for r in mine if r.adversary == adversary] or mine
    facts = meanings.attack(attack)
    lead, rate = _lead(meanings, own), _first(meanings, own, facts.compared)
    alone = lead.n == 1
    if alone and facts.harm and not value_of(lead):
        return None  # no harm to speak of
    criterion = clean(facts.criterion, 60) or (Criterion.INFERENCE if sensitive else OTHER)
    kind = _KINDS.get(criterion, VALUE if sensitive else OTHER)
    standing = meanings.standing(lead if lead.measure == CERTAIN else rate)
    if alone and value_of(lead) > 0 and any(r.measure == CERTAIN and value_of(r) > 0 for r in own):
        standing = replace(standing, kind=CERTAIN, label="certain")
    return Finding(
        release=clean(record.release.name),
        kind=kind,
        attack=attack,
        sensitive=sensitive,
        headline=_headline(record, meanings, lead),
        support=() if alone else tuple(_support(meanings, own, mine, lead, rate)),
        stats=() if alone else _stats(meanings, rate),
        comparison=comparison(meanings, rate),
        remark=" ".join(shortfall(meanings, rate)),
        standing=standing.kind,
        label=standing.label,
        rank=_rank(kind, standing.kind, lead, rate),
        strength=confidence(lead) if alone else _strength(meanings, lead, rate),
        excess=excess_of(rate),
        advice=clean(facts.lowered_by, 400) or None,
        criterion=criterion,
    )


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


def _headline(record: AuditRecord, meanings: Meanings, lead: Risk) -> str:
    text = sentence(meanings, lead, who(record, lead))
    linked = meanings.attack(lead.attack).goal == Goal.IDENTITY and lead.link is not None
    if linked and len(record.release.blocks) > 1:
        columns = {f.column for f in record.release.sensitive}
        hidden = " or ".join(spoken(f.column) for f in record.release.sensitive[:3]) or "sensitive value"
        apart = not any(
            set(block) & set(record.release.quasi) and set(block) & columns for block in record.release.blocks
        )
        whole, part = "the right row in each block of quasi-identifiers", "the row of the quasi-identifier table"
        text = text.removesuffix(".") + f" ({f'{part}, not the {hidden}' if apart else whole})."
    return text


def _rank(kind: str, standing: str, lead: Risk, rate: Risk) -> int:
    """The place of a kind of finding; certain disclosure of a value comes before guesses."""
    rank = _RANKS[kind]
    if standing == CERTAIN:
        return rank - 1 if kind == VALUE else rank
    if kind == Goal.MEMBERSHIP and rate.params.get("against") == "fakes":
        rank += 1
    wrong = lead.n == 1 and value_of(lead) == 0
    return rank + _LAST if standing in ("not_above", "unclear") or wrong else rank


def _support(meanings: Meanings, own: Sequence[Risk], mine: Sequence[Risk], lead: Risk, rate: Risk) -> list[str]:
    """The sentences beside the headline: other measures, claims, links and adversaries."""
    facts = meanings.attack(lead.attack)
    support = _count_control(lead)
    if not _everybody(meanings, lead):
        names = facts.support or tuple(dict.fromkeys(r.measure for r in own))[:3]
        extra = [r for name in names if (r := meanings.pick(own, name)) is not None and r is not lead and r is not rate]
        same = value_of(lead) if is_count(lead) else None
        support += [sentence(meanings, r) for r in extra if not is_count(r) or value_of(r) != same]
        support += [sentence(meanings, rate)] if rate is not lead else []
    claim = next((claim for row in (lead, rate) if (claim := revealed(row)) is not None), None)
    support += [f"The adversary's claim: {claim}."] if claim is not None else []
    support += _other_links(meanings, mine, rate)
    if facts.goal == Goal.IDENTITY:
        support += _class_found(meanings, mine, lead.adversary)
        support += _other_adversaries(meanings, mine, lead.adversary)
    return support


def _count_control(lead: Risk) -> list[str]:
    """The control of a count, which has no place among the rates."""
    control = finite(lead.control)
    if not is_count(lead) or control is None or lead.n is None or lead.n == 1:
        return []
    return [capital(f"{control_people(lead)}: {number(round(control))} of {number(lead.n)}.")]


def _first(meanings: Meanings, rows: Sequence[Risk], names: Sequence[str]) -> Risk:
    """The row for the first of `names` that says something (a count of nobody does not, if another row does)."""
    found = [r for name in names if (r := meanings.pick(rows, name)) is not None]
    telling = [r for r in found if is_rate(r) or value_of(r) > 0]
    return (telling or found or list(rows))[0]


def _strength(meanings: Meanings, lead: Risk, rate: Risk) -> float:
    """How far the attack gets beyond its reference, 0 to 1; a count of certain people weighs as their share."""
    if lead.measure == CERTAIN and lead.n:
        return value_of(lead) / lead.n
    if rate.kind in (Kind.COUNT, Kind.FACT):
        return 0.0
    excess, held = excess_of(rate), reference_of(rate)
    if excess is None:
        beyond = value_of(rate) - (held.value if held is not None else 0.0)
        return 2 * beyond if meanings.about_members(rate) else beyond  # from a coin to certainty
    few = 1 < (rate.n or 0) < FEW_ATTEMPTS and excess.low is not None
    return (excess.low or 0.0) if few else excess.value  # three lucky guesses are not a strong attack


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


def _other_links(meanings: Meanings, rows: Sequence[Risk], rate: Risk) -> list[str]:
    """What the strongest of the other link models reaches."""
    other = meanings.strongest_link(rows, rate)
    if other is None or other.link is None or rate.link is None:
        return []
    told = (
        "Without being told the class" if meanings.granted(rate.link) else f"Under links other than {clean(rate.link)}"
    )
    if value_of(other) == value_of(rate):
        return [f"{told}, the link {clean(other.link)} reaches just as much."]
    return [f"{told}, the strongest link ({clean(other.link)}) reaches {percent(value_of(other))}."]


def _class_found(meanings: Meanings, rows: Sequence[Risk], adversary: str | None) -> list[str]:
    """The class found by a link that was not told it: worth saying where most are found."""
    found = [
        (value_of(r) / r.n if is_count(r) and r.n else value_of(r), r)
        for r in rows
        if r.measure == _FOUND and r.link and not meanings.granted(r.link) and r.adversary == adversary
    ]
    share, best = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if best is None or share < 0.5:
        return []
    return [sentence(meanings, best, f"the link {clean(best.link)}, which was not told it")]


def _other_adversaries(meanings: Meanings, rows: Sequence[Risk], lead: str) -> list[str]:
    said = []
    for name in dict.fromkeys(r.adversary for r in rows if r.adversary != lead):
        theirs = [r for r in rows if r.adversary == name]
        picked = [meanings.pick(theirs, measure) for measure in meanings.attack(rows[0].attack).lead]
        known = [
            f"{label_of(meanings.measure(r.attack, r.measure))} {probability(value_of(r))}"
            for r in picked
            if r is not None and is_rate(r)
        ]
        said += [f"For the {clean(name, 60)}: {words(known)}."] if known else []
    return said


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
