"""What each measure of each attack means, as a sentence about people.

`adversary_line(record)` says once who attacks and what they know; after it `who(record, risk)` is "this adversary".
`sentence(risk, ...)` turns one figure into words, `comparison(risk)` sets it beside its control and baseline. All return
plain text: column names in it come from the user's files, and the renderers escape them. A figure about one person is
worded by `person`.
"""

from __future__ import annotations

from collections.abc import Callable

from auditor.model.record.record import AuditRecord, Risk
from reports.reading import (
    excess_of,
    false_positives,
    figures,
    is_count,
    is_rate,
    lead_adversary,
    link_rank,
    reference_of,
    standing_of,
    value_of,
)
from reports.text import clean, finite, number, percent, probability, short, span, spoken, words
from reports.words.person import about_one

LINK_KNOWLEDGE = {
    "class": "the person's class is known to them",
    "containment": "every class that could hold the person counts alike",
    "likelihood": "classes are weighed by how likely each holds the person",
    "tightest": "the tightest class that covers the person is taken",
    "distance": "the nearest published record is taken",
}


def adversary_line(record: AuditRecord) -> str:
    """Who attacks in the findings, what they know, and how they find the class: said once, at the top."""
    name = lead_adversary(record)
    if name is None:
        return ""
    facts = next((a for a in record.adversaries if a.name == name), None)
    text = clean(facts.sentence, 600) if facts is not None else ""
    if not text and facts is not None and facts.knows:
        text = f"The {clean(name, 60)} knows a person's {words([spoken(c) for c in facts.knows], 12)}"
    text = text.removesuffix(".") or f"The adversary is the {clean(name, 60)}"
    link = _lead_link(record)
    return text + (f"; link {clean(link, 40)}: {LINK_KNOWLEDGE[link]}." if link in LINK_KNOWLEDGE else ".")


def _lead_link(record: AuditRecord) -> str:
    lead = lead_adversary(record)
    mine = [r.link for r in figures(record) if r.adversary == lead and r.link is not None]
    return min(mine, key=link_rank, default="")


def who(record: AuditRecord, risk: Risk) -> str:
    """`this adversary`, who was described by `adversary_line`, or another one by name, with the link if it is another."""
    lead = risk.adversary == lead_adversary(record)
    attacker = "this adversary" if lead else f"the {clean(risk.adversary, 60)}"
    other = risk.link in LINK_KNOWLEDGE and risk.link != _lead_link(record)
    return f"{attacker} (link {clean(risk.link, 40)})" if other else attacker


def sentence(risk: Risk, attacker: str | None = None) -> str:
    """The figure in words; with `attacker` (from `who`) the sentence says by whom."""
    by = f" by {attacker}" if attacker else ""
    if risk.n == 1 and (told := about_one(risk)) is not None:
        return told
    make = _SENTENCES.get((risk.attack, risk.measure))
    if make is not None:
        return make(risk, by)
    return _other_success(risk, by) if risk.measure == "success" and is_rate(risk) else _other(risk, by)


def comparison(risk: Risk) -> str:
    """The figure beside its control and its baseline, and what that leaves; empty where there is neither."""
    if risk.n == 1:
        return ""
    share = percent if is_rate(risk) else number
    control, baseline = finite(risk.control), finite(risk.baseline)
    parts = []
    if control is not None:
        parts.append(f"{control_people(risk)}: {share(control)}")
    if baseline is not None:
        parts.append(f"the same guess without the release: {share(baseline)}")
    text = "; ".join(parts)
    sentences = [text[:1].upper() + text[1:] + "."] if text else []
    excess, standing = excess_of(risk), standing_of(risk)
    if excess is not None and standing.kind == "above":
        rest, over = span(excess.low, excess.high), excess.over == "control"
        sentences.append(
            f"Of the cases that {'fail for people outside' if over else 'a guess without the release gets wrong'}, "
            f"{percent(excess.value)}{f' ({rest})' if rest else ''} {'succeed for people inside' if over else 'succeed'}: "
            "that is the excess."
        )
    sentences.extend(shortfall(risk))
    return " ".join(sentences)


def shortfall(risk: Risk) -> list[str]:
    """What must be said where a figure does not beat the guesses it is held against."""
    standing, held = standing_of(risk), reference_of(risk)
    if risk.n == 1:
        return []
    against = {"control": "what it reaches on people outside the release", "baseline": "a guess without the release"}
    said = []
    if held is not None and standing.kind != "above":
        name = against.get(held.name, "chance")
        verb = "The attack does not beat" if standing.kind == "not_above" else "The attack is not shown to beat"
        why = "" if standing.kind == "not_above" else ": the difference may be chance"
        said.append(f"{verb} {name}{why}.")
    baseline = finite(risk.baseline)
    if held is not None and held.name == "control" and baseline is not None and value_of(risk) <= baseline + 1e-9:
        said.append(f"{'Nor does it' if said else 'It does not'} beat {against['baseline']}.")
    return said


def control_people(risk: Risk) -> str:
    """Who the control is made of, in words."""
    kind = (risk.control_kind or "").replace("_", "-").lower()
    if kind.startswith("outsider"):
        return "the same attack on people who are not in the release"
    if kind.startswith("leave"):
        return "the same attack on the same people with their own record taken out"
    if kind.startswith("fake"):
        return "the same attack on made-up people"
    return f"the same attack on a control group ({spoken(kind)})" if kind else "the same attack on a control group"


def _column(risk: Risk) -> str:
    return spoken(risk.sensitive) if risk.sensitive else "sensitive value"


def _of(risk: Risk, plural: str = "people") -> str:
    """`34 of 100 people`, `None of 100 people`."""
    count = value_of(risk)
    shown = "None" if count == 0 else number(count)
    return f"{shown} of {number(risk.n)} {plural}" if risk.n is not None else f"{shown} of the {plural}"


def _share(risk: Risk) -> str:
    """`62 % of 100 people (95 % interval 52–71 %)`."""
    value = value_of(risk)
    if risk.n == 1:
        return f"the person with probability {probability(value)}"
    bounds = span(finite(risk.low), finite(risk.high))
    people = f"{number(risk.n)} people" if risk.n is not None else "the people"
    return f"{percent(value)} of {people}" + (f" (95{chr(0x202F)}% interval {bounds})" if bounds else "")


def _one_in(value: float) -> str:
    """`0.2 (one in 5)`."""
    text = probability(value)
    if not 0 < value <= 0.5:
        return text
    return f"{text} (one in {short(round(1 / value, 1 if value > 0.1 else 0))})"


def _tau(risk: Risk, name: str, usual: float) -> str:
    value = finite(risk.params.get(name))
    return percent(usual if value is None else value)


def _epsilon(risk: Risk) -> str:
    value = finite(risk.params.get("epsilon"))
    if value is None:
        return "a short distance"
    return f"±{percent(value)}" if risk.params.get("relative") is True else f"±{number(value)}"


def _near(risk: Risk, truth: str) -> str:
    """`within ±5 of the truth`, or exactly there."""
    return f"exactly on {truth}" if finite(risk.params.get("epsilon")) == 0 else f"within {_epsilon(risk)} of {truth}"


def _width(risk: Risk) -> str:
    value = finite(risk.params.get("width", risk.params.get("epsilon")))
    return "a short interval" if value is None else f"an interval of width {number(value)}"


def _reading(risk: Risk) -> str:
    return " (each distinct value counted once)" if risk.params.get("reading") == "distinct" else ""


def _attacker(by: str) -> str:
    """The attacker as the subject of a sentence."""
    name = by.removeprefix(" by ")
    return name[:1].upper() + name[1:] if name else "This adversary"


def _others(risk: Risk) -> str:
    return "made-up people" if risk.params.get("against") == "fakes" else "people who are not in the data"


def _linking_max(risk: Risk, by: str) -> str:
    return f"The most exposed person is linked to their own record with probability {_one_in(value_of(risk))}{by}."


def _linking_mean(risk: Risk, by: str) -> str:
    if value_of(risk) >= 1:
        return f"Everybody can be linked to their own record with certainty{by}."
    return f"On average a person is linked to their own record with probability {_one_in(value_of(risk))}{by}."


def _linking_at_risk(risk: Risk, by: str) -> str:
    return f"{_of(risk)} can be linked to their own record with a probability above {_tau(risk, 'threshold', 0.2)}{by}."


def _linking_success(risk: Risk, by: str) -> str:
    return f"{_attacker(by)} points at the right record for {_share(risk)}."


def _nearest_success(risk: Risk, by: str) -> str:
    return f"{_attacker(by)} takes the nearest record, and it is the right one for {_share(risk)}."


def _rank_interval(risk: Risk, by: str) -> str:
    reach = number(finite(risk.params.get("percent")) or 0.0)
    right = percent(value_of(risk))
    return f"{_attacker(by)} has {right} of the true numbers within {reach} % of the ranks of the published ones."


def _linking_class_found(risk: Risk, by: str) -> str:
    people = _of(risk) if is_count(risk) else _share(risk)
    people = people[:1].lower() + people[1:]
    return f"The right class was named for {people}{by}."


def _certain(risk: Risk, by: str) -> str:
    return f"{_of(risk)} in this release can be given their {_column(risk)} with certainty{by}."


def _homogeneity_above(risk: Risk, by: str) -> str:
    return f"{_of(risk)} can be given their {_column(risk)} with a confidence above {_tau(risk, 'tau', 0.5)}{by}."


def _homogeneity_success(risk: Risk, by: str) -> str:
    return f"{_attacker(by)} guesses the {_column(risk)} right for {_share(risk)}."


def _proximity_max(risk: Risk, by: str) -> str:
    return (
        f"For the most exposed person, {percent(value_of(risk))} of the belief about their {_column(risk)} lies "
        f"{_near(risk, 'the truth')}{by and f', as seen{by}'}."
    )


def _proximity_mean(risk: Risk, by: str) -> str:
    return (
        f"On average {percent(value_of(risk))} of the belief about a person's {_column(risk)} lies "
        f"{_near(risk, 'the truth')}{by and f', as seen{by}'}."
    )


def _proximity_above(risk: Risk, by: str) -> str:
    return (
        f"{_of(risk)} can be placed {_near(risk, f'their true {_column(risk)}')} with a confidence above "
        f"{_tau(risk, 'tau', 0.5)}{by}."
    )


def _proximity_window(risk: Risk, by: str) -> str:
    return (
        f"At most, {percent(value_of(risk))} of the belief about one person's {_column(risk)} falls into "
        f"{_width(risk)}{by and f', as seen{by}'}."
    )


def _proximity_success(risk: Risk, by: str) -> str:
    return f"{_attacker(by)} names {_width(risk)} that holds the true {_column(risk)} for {_share(risk)}."


def _proximity_m(risk: Risk, by: str) -> str:
    m = value_of(risk)
    near = _near(risk, "one of them").replace("exactly on", "exactly at")
    if m <= 1:
        return f"No protection against a near guess: in some class all {_column(risk)} values lie {near} (m = 1)."
    share = f"one in {number(m)}" if float(m).is_integer() else percent(1 / m)
    return (
        f"At most {share} of the {_column(risk)} values of a class lies {near} "
        f"((ε,m)-anonymity holds up to m = {number(m)}){by and f', as seen{by}'}."
    )


def _divergence_mean(risk: Risk, by: str) -> str:
    return (
        f"On average {percent(value_of(risk))} of the belief about a person's {_column(risk)} lies on values unrelated "
        f"to the truth{_reading(risk)}{by and f', as seen{by}'}."
    )


def _divergence_above(risk: Risk, by: str) -> str:
    return (
        f"{_of(risk)} would be believed to have an unrelated {_column(risk)} with a confidence above "
        f"{_tau(risk, 'tau', 0.5)}{_reading(risk)}{by}."
    )


def _divergence_top(risk: Risk, by: str) -> str:
    return (
        f"The strongest belief about the {_column(risk)} is wrong, and unrelated to the truth, for "
        f"{_share(risk)}{_reading(risk)}{by and f', as seen{by}'}."
    )


def _auc(risk: Risk, by: str) -> str:
    bounds = span(finite(risk.low), finite(risk.high))
    other = "made-up person" if risk.params.get("against") == "fakes" else "who is not"
    return (
        f"{_attacker(by)} tells one person who is in the data from one {other} in {percent(value_of(risk))} of pairs"
        f"{f' ({bounds})' if bounds else ''}; tossing a coin gives {percent(0.5)}."
    )


def _advantage(risk: Risk, by: str) -> str:
    value = percent(value_of(risk)).removesuffix("%").strip(" \u202f")
    return (
        f"At the best cut-off, the share called members is {value} percentage points higher among members than among "
        f"{_others(risk)}{by and f', as told{by}'}."
    )


def _tpr(risk: Risk, by: str) -> str:
    rate = false_positives(risk) or 0.0
    return (
        f"If {percent(rate)} of {_others(risk)} may be called members in error, "
        f"{percent(value_of(risk))} of the members are recognised{by}."
    )


def _no_match(risk: Risk, by: str) -> str:
    seen = f", seen{by}" if by else ""
    share = percent(value_of(risk))
    return f"{share} of outsiders match nothing that is published: they are known for certain to be out{seen}."


def _fakes(risk: Risk, by: str) -> str:
    return f"{_of(risk, 'made-up people')} match the release as if they were in it{by and f', seen{by}'}."


_MEANS = {
    "background": "Knowing some facts about people and their acquaintances, {who} names the right {column} for {share}.",
    "intersection": "Comparing this release with another one, {who} names the right {column} for {share}.",
    "skewness": "Going by what is more common here than at large, {who} names the right {column} for {share}.",
    "similarity": "{Who} names the right group of similar values of the {column} for {share}.",
    "alias": "Decoding the aliases, {who} names the right {column} for {share}.",
    "degrade": "Decoding the graded numbers, {who} names the exact {column} for {share}.",
    "definetti": "Learning from the release which values go with whom, {who} names the right {column} for {share}.",
    "inference": "With a model trained on the release, {who} predicts the right {column} for {share}.",
    "minimality": "Knowing that no more was generalised than needed, {who} names the right {column} for {share}.",
    "downcoding": "Knowing that labels are the narrowest possible, {who} describes people more finely than the release "
    "does: right in {rate} of {n} cases{span}.",
    "singling-out": "{Who} describes people so that {rate} of {n} descriptions{span} fit exactly one person in the data.",
}
"""How the attacks that claim something by a way of their own say how often they are right."""


def _means_success(risk: Risk, by: str) -> str:
    attacker = _attacker(by)
    share = _share(risk)
    _, _, limits = share.partition(" (")
    return _MEANS[risk.attack].format(
        who=attacker[:1].lower() + attacker[1:],
        Who=attacker,
        column=_column(risk),
        share=share,
        rate=percent(value_of(risk)),
        n=number(risk.n),
        span=f" ({limits}" if limits else "",
    )


def _special(risk: Risk, _: str) -> str:
    return f"{_of(risk)} are special uniques: a few of their quasi-identifiers are enough to tell them from all others."


def _other_success(risk: Risk, by: str) -> str:
    about = f" at the {_column(risk)}" if risk.sensitive else ""
    return f"The {clean(risk.attack, 60)} attack{about} is right for {_share(risk)}{by and f', made{by}'}."


def _other(risk: Risk, by: str) -> str:
    about = f" ({_column(risk)})" if risk.sensitive else ""
    value = probability(value_of(risk)) if is_rate(risk) else number(value_of(risk))
    name = f"{clean(risk.attack, 60)}{about}"
    return f"{name[:1].upper()}{name[1:]}: {spoken(risk.measure)} is {value}{by and f', reached{by}'}."


_SENTENCES: dict[tuple[str, str], Callable[[Risk, str], str]] = {
    ("linking", "max"): _linking_max,
    ("linking", "mean"): _linking_mean,
    ("linking", "at_risk"): _linking_at_risk,
    ("linking", "success"): _linking_success,
    ("linking", "class_found"): _linking_class_found,
    ("record-linkage", "max"): _linking_max,
    ("record-linkage", "mean"): _linking_mean,
    ("record-linkage", "at_risk"): _linking_at_risk,
    ("record-linkage", "success"): _nearest_success,
    ("record-linkage", "class_found"): _linking_class_found,
    ("record-linkage", "rank_interval"): _rank_interval,
    ("homogeneity", "certain"): _certain,
    ("homogeneity", "above"): _homogeneity_above,
    ("homogeneity", "success"): _homogeneity_success,
    ("proximity", "max"): _proximity_max,
    ("proximity", "mean"): _proximity_mean,
    ("proximity", "above"): _proximity_above,
    ("proximity", "window"): _proximity_window,
    ("proximity", "success"): _proximity_success,
    ("proximity", "m"): _proximity_m,
    ("divergence", "mean"): _divergence_mean,
    ("divergence", "above"): _divergence_above,
    ("divergence", "top"): _divergence_top,
    **{(attack, "success"): _means_success for attack in _MEANS},
    **{(attack, "certain"): _certain for attack in _MEANS},
    **{(attack, "above"): _homogeneity_above for attack in _MEANS},
    ("special-uniques", "at_risk"): _special,
    ("shadow-membership", "auc"): _auc,
    ("shadow-membership", "advantage"): _advantage,
    ("membership", "auc"): _auc,
    ("membership", "advantage"): _advantage,
    ("membership", "tpr_at_fpr_0.01"): _tpr,
    ("membership", "tpr_at_fpr_0.001"): _tpr,
    ("membership", "no_match"): _no_match,
    ("membership", "fakes"): _fakes,
}
