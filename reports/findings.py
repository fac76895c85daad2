"""The findings that matter, in plain words, computed from the record.

A finding gathers what one attack found on one sensitive column of one release: the sentence to remember, the
sentences that support it, how it stands against its control, and what would lower it. Disclosures come strongest
first (excess over the control); the harm of false beliefs (divergence) comes after them, being another kind of thing.
What could not be computed is gathered by its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model.record import NOT_CONVERGED, OK, AuditRecord, PolicyCheck, Risk, RunRecord
from reports.figures import (
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
    shared_utility,
    standing_of,
    standing_rank,
    strongest_link,
    strongest_success,
    utility_of,
    value_of,
)
from reports.sentences import comparison, control_people, revealed, sentence, shortfall, who
from reports.text import NONE, clean, finite, number, percent, probability, short, span, spoken, words

_LEAD = {
    "linking": ("at_risk", "mean", "max", "success"),
    "homogeneity": ("certain", "success", "above"),
    "proximity": ("success", "above", "mean", "max"),
    "divergence": ("top", "mean", "above"),
    "membership": ("auc", "advantage", "tpr_at_fpr_0.01"),
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


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack found on one sensitive column of one release.

    `standing` is `above`, `unclear`, `not_above` or `unknown` (see `figures.Standing`) and `label` says it in words.
    `stats` are the figures to set side by side (attack, control, baseline, excess), `comparison` says them in words,
    `remark` says where the attack does not beat them. `criterion` is the regulators' word (WP29 05/2014).
    """

    release: str
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for a reader in a hurry: `kind` is `pass`, `fail`, `mixed` or `none`."""

    kind: str
    title: str
    lines: tuple[str, ...]


def findings(record: AuditRecord) -> list[Finding]:
    """The findings on one release: disclosures strongest first, then made-up people told apart, then harms."""
    rows = figures(record)
    made = [_finding(record, rows, attack, sensitive) for attack, sensitive in groups(rows)]
    return sorted(made, key=lambda f: (f.rank, -f.strength))


def strongest_findings(run: RunRecord, limit: int = 10) -> list[Finding]:
    """The strongest finding of each release, strongest first, of at most `limit` releases."""
    first = [found[0] for record in run.records if (found := findings(record))]
    return sorted(first, key=lambda f: (f.rank, -f.strength))[:limit]


def _finding(record: AuditRecord, rows: Sequence[Risk], attack: str, sensitive: str | None) -> Finding:
    mine = [r for r in rows if r.attack == attack and r.sensitive == sensitive]
    adversary = lead_adversary(record)
    own = [r for r in mine if r.adversary == adversary] or mine
    lead = _first(own, _LEAD.get(attack, ("success",)))
    rate = _first(own, _RATE.get(attack, ("success",)))
    extra = [r for name in _SUPPORT.get(attack, _other_measures(own)) if (r := pick(own, name)) is not None]
    same_count = {value_of(lead)} if lead.measure in COUNTS else set()
    support = _count_control(lead)
    said = [r for r in extra if r is not lead and r is not rate]
    support += [sentence(r) for r in said if r.measure not in COUNTS or value_of(r) not in same_count]
    if rate is not lead:
        support.append(sentence(rate))
    support.extend(_claim(lead, rate))
    support.extend(_other_links(mine, rate))
    if attack == "linking":
        support.extend(_class_found(mine, adversary))
        support.extend(_other_adversaries(mine, lead.adversary))
    facts = next((a for a in record.attacks if a.name == attack), None)
    standing = standing_of(rate)
    return Finding(
        release=clean(record.release.name),
        attack=attack,
        sensitive=sensitive,
        headline=sentence(lead, who(record, lead)),
        support=tuple(line for line in support if line),
        stats=_stats(rate),
        comparison=comparison(rate),
        remark=" ".join(shortfall(rate)),
        standing=standing.kind,
        label=standing.label,
        rank=standing_rank(rate),
        strength=_strength(lead, rate),
        excess=excess_of(rate),
        advice=clean(facts.lowered_by, 400) if facts and facts.lowered_by else None,
        criterion=_CRITERIA.get(attack, "inference" if sensitive else "other"),
    )


def _count_control(lead: Risk) -> list[str]:
    """The control of a count, which has no place among the rates."""
    control = finite(lead.control)
    if lead.measure not in COUNTS or control is None or lead.n is None or lead.n == 1:
        return []
    return [f"For {control_people(lead)} it is {number(round(control, 1))} of {number(lead.n)}."]


def _first(rows: Sequence[Risk], names: Sequence[str]) -> Risk:
    """The row for the first of `names` that says something (a count of nobody does not, if another row does)."""
    found = [r for name in names if (r := pick(rows, name)) is not None]
    telling = [r for r in found if r.measure not in COUNTS or value_of(r) > 0]
    return (telling or found or list(rows))[0]


def _other_measures(rows: Sequence[Risk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(r.measure for r in rows))[:3]


def _strength(lead: Risk, rate: Risk) -> float:
    """How far the attack gets beyond its reference, 0 to 1; a count of certain people weighs as their share."""
    excess, held = excess_of(rate), reference_of(rate)
    if rate.measure == "auc":
        return 2 * value_of(rate) - 1  # from a coin to certainty
    strength = excess.value if excess is not None else value_of(rate) - (held.value if held is not None else 0.0)
    if lead.measure == "certain" and lead.n:
        strength = max(strength, (value_of(lead) - (finite(lead.control) or 0.0)) / lead.n)
    return strength if rate.measure not in COUNTS and rate.measure != "m" else 0.0


def _stats(rate: Risk) -> tuple[tuple[str, str], ...]:
    """The rate, what it is held against and what is left, each with its name."""
    show = percent if is_rate(rate) else number
    excess = excess_of(rate) if rate.n != 1 else None
    bounds = span(excess.low, excess.high) if excess is not None else ""
    pairs = [
        (f"attack ({spoken(rate.measure)})", show(value_of(rate))),
        ("control", show(finite(rate.control))),
        ("baseline", show(finite(rate.baseline))),
        (
            "excess over control",
            percent(excess.value) + (f" ({bounds})" if bounds else "") if excess is not None else NONE,
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
    """The figures that are not there, one entry for each attack, column, status and reason."""
    gathered: dict[tuple[str, str | None, str, str], list[Risk]] = {}
    for risk in record.risks:
        if risk.status != OK or finite(risk.value) is None:
            status = risk.status if risk.status != OK else "no figure"
            gathered.setdefault((risk.attack, risk.sensitive, status, risk.reason or "no reason given"), []).append(
                risk
            )
    made = []
    for (attack, sensitive, status, reason), rows in gathered.items():
        links = sorted({r.link for r in rows if r.link is not None}, key=lambda link: (link_rank(link), link))
        measures = list(dict.fromkeys(spoken(r.measure) for r in rows))
        what = clean(attack, 60) + (f", {spoken(sensitive)}" if sensitive else "")
        if len(measures) <= 3:
            what += f": {words(measures)}"
        if links:
            what += f" (link {words([clean(link, 40) for link in links])})"
        label = "did not converge" if status == NOT_CONVERGED else status.replace("_", " ")
        made.append(Gap(what, label, clean(reason, 400)))
    return made


def verdict(run: RunRecord) -> Verdict:
    """What the policy said, over all releases of the run."""
    judged = [r for r in run.records if r.policy is not None]
    if not run.records:
        return Verdict("none", "Nothing was audited", ("The run holds no release.",))
    if not judged:
        return Verdict("none", "No policy", ("No policy was asked for, so nothing is judged; the findings follow.",))
    names = words(list(dict.fromkeys(clean(r.policy.title or r.policy.name) for r in judged if r.policy)))
    passed = [r for r in judged if r.policy is not None and r.policy.passed]
    lines = [line for r in judged for line in failed_checks(r)] if len(run.records) == 1 else []
    if len(judged) == 1 and len(run.records) == 1:
        checks = len(judged[0].policy.checks) if judged[0].policy else 0
        if passed:
            held = "the one check holds" if checks == 1 else f"all {number(checks)} checks hold"
            return Verdict("pass", f"Passes: {names}", (f"Under this policy {held}.",))
        return Verdict("fail", f"Fails: {names}", tuple(lines))
    title = f"{number(len(passed))} of {number(len(judged))} releases pass: {names}"
    kind = "pass" if len(passed) == len(judged) else "mixed" if passed else "fail"
    lines = [_release_line(r) for r in judged] if len(judged) <= 12 else [_passing(passed)]
    if len(judged) < len(run.records):
        rest = len(run.records) - len(judged)
        lines.append(f"{number(rest)} {'release was' if rest == 1 else 'releases were'} not judged by a policy.")
    return Verdict(kind, title, tuple(lines))


def _passing(passed: Sequence[AuditRecord]) -> str:
    return f"Passing: {words([clean(r.release.name, 60) for r in passed], 12)}." if passed else "None passes."


def _release_line(record: AuditRecord) -> str:
    name = clean(record.release.name, 60)
    if record.policy is None or record.policy.passed:
        return f"{name} passes."
    failed = [c for c in record.policy.checks if not c.passed]
    return f"{name} fails: {words([check_text(c) for c in failed], 4)}."


def failed_checks(record: AuditRecord) -> list[str]:
    """A line for each check of the policy that does not hold."""
    checks = record.policy.checks if record.policy is not None else ()
    return [check_text(check) + "." for check in checks if not check.passed]


def check_text(check: PolicyCheck) -> str:
    """`linking.max is 0.2 (must be ≤ 0.09)`."""
    name, bound = clean(check.measure, 80), f"{relation(check.relation)} {short(check.limit)}"
    if check.value is None:
        return f"{name} must be {bound}, and there is no figure for it" + (
            f" ({clean(check.reason)})" if check.reason else ""
        )
    return f"{name} is {number(check.value)} (must be {bound})"


def bottom_line(run: RunRecord) -> str | None:
    """For several releases: which has the least risk, and which the best utility."""
    risky = [(r, pair[1].value) for r in run.records if (pair := strongest_success(r)) is not None]
    axis = shared_utility(run)
    if len(run.records) < 2 or not risky:
        return None
    safest = min(risky, key=lambda pair: pair[1])
    text = (
        f"Of {number(len(run.records))} releases, {clean(safest[0].release.name, 60)} has the least risk: "
        f"its strongest attack exceeds the control by {probability(safest[1])}"
    )
    useful = [(r, u) for r in run.records if axis is not None and (u := utility_of(r, *axis)) is not None]
    if not useful or axis is None:
        return text + "."
    sign = 1 if useful[0][1].better == "lower" else -1
    best = min(useful, key=lambda pair: sign * (finite(pair[1].value) or 0.0))
    name = utility_name(*axis)
    return f"{text}; {clean(best[0].release.name, 60)} has the best {name}: {number(finite(best[1].value))}."


def utility_name(measure: str, statistic: str | None = None) -> str:
    """The name of a utility measure in a report."""
    if measure == "queries":
        return {"median": "query error (median)", "p90": "query error (90th percentile)"}.get(
            statistic or "", "query error"
        )
    name = spoken(measure)
    return f"{name} ({spoken(statistic)})" if statistic else name


def relation(sign: str) -> str:
    """The sign of a check as it is printed."""
    return {"<=": "≤", ">=": "≥", "==": "="}.get(sign, clean(sign, 20))
