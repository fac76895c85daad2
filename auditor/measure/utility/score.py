"""`loss_risk_score`: information loss and disclosure risk in one number, as methods of microaggregation are ranked.

    score = (IL + DR)/2

Both go from 0 to 100. IL is `PIL` (statistic `all`): it has a bound, unlike IL6. DR is the mean of two figures of the
attack `record-linkage` by one adversary, in per cent: the share of people whose nearest record is their own (`success`,
distance linkage) and the share of true numbers that lie within `percent` of the ranks of the published ones
(`rank_interval`). Of several adversaries it is the one with the greatest DR. A score says which of several releases to
prefer, the lower one; it is no measure of safety: half of it is utility.

Papers: J. Domingo-Ferrer, V. Torra, "A quantitative comparison of disclosure control methods for microdata", 2001 (score,
with DR = ½ linkage + ½ interval disclosure; where they average intervals of 1 to 10 %, one of 5 % counts here unless the
attack is set otherwise); Mateo-Sanz, Domingo-Ferrer, Sebé 2005 (PIL in its place).
"""

from __future__ import annotations

from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import measure, not_applicable
from auditor.measure.utility.probabilistic import probabilistic_loss
from auditor.model.record.record import OK, Risk, Utility

ATTACK, FIGURES = "record-linkage", ("success", "rank_interval")


def score(case: Case) -> list[Utility]:
    """The mean of probabilistic information loss and disclosure risk."""
    found = _disclosure(case)
    if found is None:
        why = f"the audit has no figures {' and '.join(FIGURES)} of {ATTACK}, which are its disclosure risk"
        return [not_applicable("loss_risk_score", why)]
    lost = probabilistic_loss(case)[0]
    if lost.status != OK or lost.value is None:
        return [not_applicable("loss_risk_score", lost.reason)]
    risk, adversary, parts = found
    params = {"loss": "PIL", "risk": f"{ATTACK}: {' and '.join(FIGURES)}", "adversary": adversary}
    params["columns"] = lost.params["columns"]
    detail = {"IL": lost.value, "DR": risk, **{f"DR.{name}": 100 * part for name, part in parts.items()}}
    return [Utility("loss_risk_score", value=(lost.value + risk) / 2, better="lower", params=params, detail=detail)]


def _disclosure(case: Case) -> tuple[float, str, dict[str, float]] | None:
    """The greatest disclosure risk of an adversary, in per cent, who that is, and its parts; None where there is none."""
    figures: dict[str, dict[str, float]] = {}
    for row in case.risks:
        if _counts(row):
            of_adversary = figures.setdefault(row.adversary, {})
            of_adversary[row.measure] = max(of_adversary.get(row.measure, 0.0), float(row.value or 0.0))
    whole = {who: parts for who, parts in figures.items() if len(parts) == len(FIGURES)}
    if not whole:
        return None
    worst = max(sorted(whole), key=lambda who: sum(whole[who].values()))
    return 100 * sum(whole[worst].values()) / len(FIGURES), worst, whole[worst]


def _counts(row: Risk) -> bool:
    return row.attack == ATTACK and row.measure in FIGURES and row.status == OK and row.value is not None


SCORE = measure(
    "loss_risk_score",
    "The mean of probabilistic information loss and of disclosure risk by record linkage and rank intervals, 0 to 100.",
    "score of loss and risk",
    score,
    "releases of numbers, each published by itself; needs the original, who is who, and the attack record-linkage",
    "Domingo-Ferrer & Torra 2001; Mateo-Sanz, Domingo-Ferrer & Sebé 2005",
    best=0,
    worst=100,
)
