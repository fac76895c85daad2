"""Scoring membership: members against people who are not in the release.

Unlike other claims these are judged in two groups at once: scores of members against scores of real outsiders, and against
fake tuples (plausible values that nobody has). The control is one half of the outsiders against the other: nothing can be
learned there, so what it shows is chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attacks.claims import MemberClaims
from auditor.auditing.scoring.figures import COUNT, RATE, Figure
from auditor.measure.intervals import Interval, auc, best_advantage, difference, excess, roc, tpr_at_fpr, wilson
from auditor.model.arrays import Bools, Floats
from auditor.posterior.beliefs import TIE

LEVELS = {"tpr_at_fpr_0.01": 0.01, "tpr_at_fpr_0.001": 0.001}
_CURVE = 200


def score_members(members: MemberClaims, others: MemberClaims, against: str, rng: np.random.Generator) -> list[Figure]:
    """The figures of members against one other group (`outsiders` or `fakes`)."""
    figures = []
    order = np.lexsort(tuple(others.scores.values()))  # by score, so that the halves do not depend on the order of rows
    order = order[rng.permutation(len(order))]
    half, rest = order[: len(order) // 2], order[len(order) // 2 :]
    for name, inside in members.scores.items():
        outside = others.scores[name]
        params = {"score": name, "against": against, "prior": members.prior, "population": members.population}
        control = _measures(outside[half], outside[rest]) if len(half) else {}
        for measure, (value, interval) in _measures(inside, outside).items():
            baseline = 0.5 if measure == "auc" else 0.0 if measure == "advantage" else LEVELS[measure]
            chance = control[measure][0] if measure in control else None
            detail = _detail(members, others, inside, outside, name) if measure == "auc" else None
            doubt = (members.doubt or others.doubt) if name == members.probability else None
            n = len(inside) + len(outside)
            hit = inside if name == "posterior" else None
            companions = _companions(baseline, chance, against)
            figures.append(
                Figure(
                    measure, RATE, value, n, None, inside, params, detail or {}, hit, None, interval, doubt, *companions
                )
            )
    if "buckets" in others.scores:
        figures.append(_matched(others.scores["buckets"] > 0, against))
    if against == "outsiders" and members.probability in members.scores:
        figures.append(_guesses(members, others))
    return figures


def _matched(matched: Bools, against: str) -> Figure:
    """How many outsiders nothing matches, or how many fakes something does."""
    if against != "outsiders":
        return Figure("fakes", COUNT, float(matched.sum()), len(matched))
    out = float((~matched).mean())
    return Figure("no_match", RATE, out, len(matched), baseline=0.0)


def _settled(inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Scores by their rank, those that differ by float noise being tied: noise depends on the order of rows."""
    both = np.concatenate([inside, outside])
    order = np.argsort(both, kind="stable")
    ordered = both[order]
    rank = np.empty(len(both))
    rank[order] = np.cumsum(np.diff(ordered, prepend=ordered[:1]) > TIE * np.abs(ordered))
    return rank[: len(inside)], rank[len(inside) :]


def _measures(inside: Floats, outside: Floats) -> dict[str, tuple[float, tuple[float, float] | None]]:
    inside, outside = _settled(inside, outside)
    area = auc(inside, outside)
    if area is None:
        return {}
    false, true = roc(inside, outside)
    best = int(np.argmax(true - false))
    hits, alarms = float(true[best]), float(false[best])
    gap = difference(hits, wilson(hits * len(inside), len(inside)), alarms, wilson(alarms * len(outside), len(outside)))
    out: dict[str, tuple[float, tuple[float, float] | None]] = {
        "auc": (area.value, (area.low, area.high)),
        "advantage": (best_advantage(false, true), (gap.low, gap.high)),
    }
    for measure, level in LEVELS.items():
        rate = tpr_at_fpr(false, true, level)
        out[measure] = (rate, wilson(rate * len(inside), len(inside)))
    return out


def _detail(members: MemberClaims, others: MemberClaims, inside: Floats, outside: Floats, name: str) -> dict[str, Any]:
    false, true = roc(*_settled(inside, outside))
    step = max(1, len(false) // _CURVE)
    keep = np.unique(np.append(np.arange(0, len(false), step), len(false) - 1))
    detail: dict[str, Any] = {"roc": {"fpr": false[keep].round(6).tolist(), "tpr": true[keep].round(6).tolist()}}
    detail.update(members.detail)
    if name == "buckets":
        labels = ["0", "1-10", "11-20", ">20"]
        edges = [-0.5, 0.5, 10.5, 20.5, np.inf]
        detail["histogram"] = {
            "labels": labels,
            "members": np.histogram(members.scores[name], bins=edges)[0].tolist(),
            "others": np.histogram(others.scores[name], bins=edges)[0].tolist(),
        }
    return detail


def _guesses(members: MemberClaims, others: MemberClaims) -> Figure:
    """In or out, by the posterior, for a crowd in which the prior's share are members: right guesses, and expected."""
    prior = members.prior

    def right(p: Floats, inside: bool) -> Floats:
        guess = np.where(np.abs(p - 0.5) < TIE, 0.5, (p > 0.5).astype(np.float64))
        return guess if inside else 1 - guess

    ours, theirs = members.scores[members.probability], others.scores[members.probability]
    hits, passes, alarms = right(ours, True), right(theirs, False), right(theirs, True)
    value, interval = _mixed(hits, passes, prior)
    sure = prior * np.maximum(ours, 1 - ours).mean() + (1 - prior) * np.maximum(theirs, 1 - theirs).mean()
    # the control: the same guesses about outsiders, the prior's share of whom pose as members
    chance, chance_interval = _mixed(alarms, passes, prior)
    beyond = excess(value, interval, chance, chance_interval)
    detail: dict[str, Any] = {"members": len(ours), "others": len(theirs)}
    if beyond is not None:
        detail["excess"] = {"value": beyond.value, "low": beyond.low, "high": beyond.high, "over": "control"}
    params = {"score": members.probability, "against": "outsiders", "prior": prior, "population": members.population}
    doubt = members.doubt or others.doubt
    n, baseline = len(ours) + len(theirs), max(prior, 1 - prior)
    hit = ours if members.probability == "posterior" else None
    companions = _companions(baseline, chance, "outsiders")
    return Figure("success", RATE, value, n, float(sure), ours, params, detail, hit, None, interval, doubt, *companions)


def _companions(baseline: float, control: float | None, against: str) -> tuple[float, float | None, str | None]:
    return baseline, control, None if control is None else against


def _mixed(first: Floats, second: Floats, share: float) -> tuple[float, Interval]:
    """A rate in a crowd that is `share` of one group and the rest of another, and its interval: the groups' Wilson
    intervals, weighted and added in squares."""
    a, b = float(first.mean()), float(second.mean())
    of_a, of_b = wilson(a * len(first), len(first)), wilson(b * len(second), len(second))
    value = share * a + (1 - share) * b
    below = np.hypot(share * (a - of_a.low), (1 - share) * (b - of_b.low))
    above = np.hypot(share * (of_a.high - a), (1 - share) * (of_b.high - b))
    return value, Interval(max(value - float(below), 0.0), min(value + float(above), 1.0))
