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
from auditor.model.record.record import NOT_CONVERGED, OK, AuditRecord, Risk
from reports.reading import (
    COUNTS,
    Excess,
    excess_of,
    figures,
    groups,
    is_count,
    is_rate,
    lead_adversary,
    link_rank,
    pick,
    reference_of,
    standing_of,
    strongest_link,
    value_of,
)
from reports.text import NONE, clean, finite, number, percent, probability, span, spoken, words
from reports.words.person import confidence, revealed
from reports.words.sentences import comparison, control_people, sentence, shortfall, who
from reports.words.verdicts import published

_LEAD = {
    "linking": ("at_risk", "mean", "max", "success"),
    "homogeneity": ("certain", "success", "above"),
    "proximity": ("success", "above", "mean", "max"),
    "divergence": ("top", "mean", "above"),
    "membership": ("auc", "advantage", "tpr_at_fpr_0.01"),
    "shadow-membership": ("auc", "advantage"),
    "special-uniques": ("at_risk", "max", "mean"),
    "uniqueness": ("reidentified", "weighted_max"),
}
_RATE = {
    "linking": ("success", "mean"),
    "homogeneity": ("success",),
    "proximity": ("success", "mean"),
    "divergence": ("top", "mean"),
    "membership": ("auc", "advantage"),
}
_SUPPORT = {
    "linking": ("at_risk", "mean", "max", "success"),
    "homogeneity": ("certain", "above", "success"),
    "proximity": ("above", "success", "m"),
    "divergence": ("mean",),
    "membership": ("tpr_at_fpr_0.01", "no_match", "fakes"),
}
_CRITERIA = {
    "linking": "linkability",
    "record-linkage": "linkability",
    "intersection": "linkability",
    "downcoding": "linkability",
    "singling-out": "singling out",
    "special-uniques": "singling out",
    "uniqueness": "singling out",
    "divergence": "harm by false belief",
    "membership": "membership",
    "shadow-membership": "membership",
}
_KINDS = {
    "linkability": "identity",
    "singling out": "identity",
    "membership": "membership",
    "harm by false belief": "harm",
}
_RANKS = {"identifiers": 0, "value": 2, "identity": 3, "other": 3, "membership": 4, "harm": 6}
_LAST = 10  # added to the rank of what is not above its reference


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack found on one sensitive column of one release.

    `kind` is `identifiers`, `value`, `identity`, `membership`, `harm` or `other`; `standing` is that of
    `figures.Standing` and `label` says it in words.
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
    rows = figures(record)
    made = [found for pair in groups(rows) if (found := _finding(record, rows, *pair)) is not None]
    if record.release.identifiers:
        made.append(_identifiers(record))
    return sorted(made, key=lambda f: (f.rank, -f.strength))


def _identifiers(record: AuditRecord) -> Finding:
    return Finding(
        release=clean(record.release.name),
        kind="identifiers",
        attack="identifiers",
        sensitive=None,
        headline=published(record),
        support=(),
        stats=(),
        comparison="",
        remark="",
        standing="certain",
        label="certain",
        rank=_RANKS["identifiers"],
        strength=1.0,
        excess=None,
        advice=None,
        criterion="singling out",
    )


def _finding(record: AuditRecord, rows: Sequence[Risk], attack: str, sensitive: str | None) -> Finding | None:
    mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
    adversary = lead_adversary(record)
    own = [r for r in mine if r.adversary == adversary] or mine
    lead, rate = _lead(own, attack), _first(own, _RATE.get(attack, ("success",)))
    alone = lead.n == 1
    if alone and attack == "divergence" and not value_of(lead):
        return None  # no harm to speak of
    criterion = _CRITERIA.get(attack, "inference" if sensitive else "other")
    kind = _KINDS.get(criterion, "value" if sensitive else "other")
    certain = lead.measure == "certain" or (alone and any(r.measure == "certain" and value_of(r) > 0 for r in own))
    standing = standing_of(lead if lead.measure == "certain" else rate)
    if alone and certain and value_of(lead) > 0:
        standing = replace(standing, kind="certain", label="certain")
    facts = next((a for a in record.attacks if a.name == attack), None)
    return Finding(
        release=clean(record.release.name),
        kind=kind,
        attack=attack,
        sensitive=sensitive,
        headline=_headline(record, lead),
        support=() if alone else tuple(_support(own, mine, lead, rate)),
        stats=() if alone else _stats(rate),
        comparison=comparison(rate),
        remark=" ".join(shortfall(rate)),
        standing=standing.kind,
        label=standing.label,
        rank=_rank(kind, standing.kind, lead, rate),
        strength=confidence(lead) if alone else _strength(lead, rate),
        excess=excess_of(rate),
        advice=clean(facts.lowered_by, 400) if facts and facts.lowered_by else None,
        criterion=criterion,
    )


def _lead(own: Sequence[Risk], attack: str) -> Risk:
    """The figure of the headline: about one person what is believed, with the claim of any row of the attack."""
    mean = pick(own, "mean") if attack == "linking" else None
    if mean is not None and (value_of(mean) >= 1 or mean.n == 1):
        return mean
    found = _first(own, _LEAD.get(attack, ("success",)))
    best = pick(own, "success")
    if found.n != 1 or best is None or attack not in ("homogeneity", "proximity"):
        return found
    claims = [r.detail for r in own if r.link == best.link and revealed(r) is not None]
    return best if revealed(best) is not None or not claims else replace(best, detail=claims[0])


def _headline(record: AuditRecord, lead: Risk) -> str:
    text = sentence(lead, who(record, lead))
    if lead.attack == "linking" and len(record.release.blocks) > 1:
        hidden = " or ".join(spoken(f.column) for f in record.release.sensitive[:3]) or "sensitive value"
        apart = not any(
            set(block) & set(record.release.quasi) and set(block) & {f.column for f in record.release.sensitive}
            for block in record.release.blocks
        )
        part = (
            f"the row of the quasi-identifier table, not the {hidden}"
            if apart
            else "the right row in each block of quasi-identifiers"
        )
        text = text.removesuffix(".") + f" ({part})."
    return text


def _rank(kind: str, standing: str, lead: Risk, rate: Risk) -> int:
    """The place of a kind of finding; certain disclosure of a value comes before guesses."""
    rank = _RANKS[kind]
    if standing == "certain":
        return rank - 1 if kind == "value" else rank
    if kind == "membership" and rate.params.get("against") == "fakes":
        rank += 1
    wrong = lead.n == 1 and value_of(lead) == 0
    return rank + _LAST if standing in ("not_above", "unclear") or wrong else rank


def _support(own: Sequence[Risk], mine: Sequence[Risk], lead: Risk, rate: Risk) -> list[str]:
    """The sentences beside the headline: other measures, claims, links and adversaries."""
    extra = [r for name in _SUPPORT.get(lead.attack, _other_measures(own)) if (r := pick(own, name)) is not None]
    same_count = {value_of(lead)} if lead.measure in COUNTS else set()
    support = _count_control(lead)
    said = [r for r in extra if r is not lead and r is not rate]
    if lead.measure == "mean" and value_of(lead) >= 1:
        said = []  # everybody is linked: nothing can be added
    support += [sentence(r) for r in said if r.measure not in COUNTS or value_of(r) not in same_count]
    if rate is not lead and (lead.measure != "mean" or value_of(lead) < 1):
        support.append(sentence(rate))
    support.extend(_claim(lead, rate))
    support.extend(_other_links(mine, rate))
    if lead.attack == "linking":
        support.extend(_class_found(mine, lead.adversary))
        support.extend(_other_adversaries(mine, lead.adversary))
    return [line for line in support if line]


def _count_control(lead: Risk) -> list[str]:
    """The control of a count, which has no place among the rates."""
    control = finite(lead.control)
    if lead.measure not in COUNTS or control is None or lead.n is None or lead.n == 1:
        return []
    text = f"{control_people(lead)}: {number(round(control))} of {number(lead.n)}."
    return [text[:1].upper() + text[1:]]


def _first(rows: Sequence[Risk], names: Sequence[str]) -> Risk:
    """The row for the first of `names` that says something (a count of nobody does not, if another row does)."""
    found = [r for name in names if (r := pick(rows, name)) is not None]
    telling = [r for r in found if r.measure not in COUNTS or value_of(r) > 0]
    return (telling or found or list(rows))[0]


def _other_measures(rows: Sequence[Risk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(r.measure for r in rows))[:3]


def _strength(lead: Risk, rate: Risk) -> float:
    """How far the attack gets beyond its reference, 0 to 1; a count of certain people weighs as their share."""
    if lead.measure == "certain" and lead.n:
        return value_of(lead) / lead.n
    excess, held = excess_of(rate), reference_of(rate)
    if rate.measure == "auc":
        return 2 * value_of(rate) - 1  # from a coin to certainty
    strength = excess.value if excess is not None else value_of(rate) - (held.value if held is not None else 0.0)
    if 1 < (rate.n or 0) < FEW_ATTEMPTS and excess is not None and excess.low is not None:
        strength = excess.low  # three lucky guesses are not a strong attack
    return strength if rate.measure not in COUNTS and rate.measure != "m" else 0.0


def _stats(rate: Risk) -> tuple[tuple[str, str], ...]:
    """The rate, what it is held against and what is left, each with its name."""
    show = percent if is_rate(rate) else number
    excess = excess_of(rate) if rate.n != 1 else None
    bounds = span(excess.low, excess.high) if excess is not None else ""
    bounds = f" ({bounds})" if bounds else ""
    pairs = [
        (f"attack ({spoken(rate.measure)})", show(value_of(rate))),
        ("control", show(finite(rate.control))),
        ("baseline", show(finite(rate.baseline))),
        (
            f"excess over {excess.over if excess is not None else 'control'}",
            percent(excess.value) + bounds if excess is not None else NONE,
        ),
    ]
    return tuple((name, text) for name, text in pairs if text != NONE)


def _claim(*rows: Risk) -> list[str]:
    for row in rows:
        if (claim := revealed(row)) is not None:
            return [f"The attacker's claim: {claim}."]
    return []


def _other_links(rows: Sequence[Risk], rate: Risk) -> list[str]:
    """What the strongest of the other link models reaches."""
    other = strongest_link(rows, rate)
    if other is None or other.link is None or rate.link is None or rate.measure == "auc":
        return []
    told = "Without being told the class" if rate.link == "class" else f"Under the other links than {clean(rate.link)}"
    if value_of(other) == value_of(rate):
        return [f"{told}, the link {clean(other.link)} reaches just as much."]
    return [f"{told}, the strongest link ({clean(other.link)}) reaches {percent(value_of(other))}."]


def _class_found(rows: Sequence[Risk], adversary: str | None) -> list[str]:
    """The class found by a link that was not told it: worth saying where most are found."""
    found = [r for r in rows if r.measure == "class_found" and r.link != "class" and r.adversary == adversary]
    best = max(found, key=_found_share, default=None)
    if best is None or _found_share(best) < 0.5:
        return []
    text = sentence(best).removesuffix(".")
    return [f"{text} by the link {clean(best.link)}, which was not told it."]


def _found_share(risk: Risk) -> float:
    return value_of(risk) / risk.n if is_count(risk) and risk.n else value_of(risk)


def _other_adversaries(rows: Sequence[Risk], lead: str) -> list[str]:
    said = []
    for name in dict.fromkeys(r.adversary for r in rows if r.adversary != lead):
        theirs = [r for r in rows if r.adversary == name]
        figures_said = [
            f"{measure} {probability(value_of(row))}"
            for measure in ("mean", "max")
            if (row := pick(theirs, measure)) is not None
        ]
        if figures_said:
            said.append(f"For the {clean(name, 60)}: {words(figures_said)}.")
    return said


def gaps(record: AuditRecord) -> list[Gap]:
    """The figures that are not there, one entry for each attack, column, status and reason; attacks that lack the same for
    the same reason share one. What only lacks something that was not given is said there (`lacking`)."""
    said = {lack.what for lack in record.lacking}
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
        links = sorted({r.link for r in rows if r.link is not None}, key=lambda link: (link_rank(link), link))
        measures = list(dict.fromkeys(spoken(r.measure) for r in rows))
        whose = clean(attack, 60) + (f", {spoken(sensitive)}" if sensitive else "")
        what = f": {words(measures)}" if len(measures) <= 3 else ""
        if links:
            what += f" (link {words([clean(link, 40) for link in links])})"
        label = "did not converge" if status == NOT_CONVERGED else status.replace("_", " ")
        alike.setdefault((what, label, clean(reason, 400), whose if sensitive else ""), []).append(whose)
    return [Gap(words(whose, len(whose)) + what, label, reason) for (what, label, reason, _), whose in alike.items()]
