"""Scoring membership: members against people who are not in the release.

Unlike other claims these are judged in two groups at once: scores of members against scores of real outsiders, and against
fake tuples (plausible values that nobody has). The control is one half of the outsiders against the other: nothing can be
learned there, so what it shows is chance.

Where an attack asks for the best of its scores (`best-of`), members and outsiders are halved. The score with the
greatest area under the curve on one half is judged on the other, and the other way round; this for several divisions
into halves. A figure is the mean over them all, so that choosing does not flatter it. Its interval is that of the two
halves of one division: more divisions of the same people make the mean steadier, and are not counted as more evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attacks.claims import CloseClaims, MemberClaims
from auditor.auditing.scoring.figures import COUNT, FACT, RATE, Figure, rate
from auditor.measure.closeness import as_near, identical, identifiable, nearer, ratio, to_people
from auditor.measure.intervals import Estimate, Interval, advantage, auc, combined, mean_of, roc, tpr_at_fpr
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.record.policy import OF_SAMPLE
from auditor.posterior.beliefs import TIE

LEVELS = {"tpr_at_fpr_0.01": 0.01, "tpr_at_fpr_0.001": 0.001}
BEST = "best-of"
"""The name of the best of several scores, chosen on other people."""
_DIVISIONS = 10
_CURVE = 200
_ARE_OUTSIDE = "it is a figure of people who are not in the release: there is nobody else to compare them with"
_TOO_FEW = "there is one person who is not in the release, and a control compares two"


def score_members(members: MemberClaims, others: MemberClaims, against: str, rng: np.random.Generator) -> list[Figure]:
    """The figures of members against one other group (`outsiders` or `fakes`)."""
    figures = []
    order = np.lexsort(tuple(others.scores.values()))  # by score, so that the halves do not depend on the order of rows
    order = order[rng.permutation(len(order))]
    half, rest = order[: len(order) // 2], order[len(order) // 2 :]
    for name, inside in members.scores.items():
        outside = others.scores[name]
        params = {"score": name, "against": against, "prior": members.prior, "population": members.population}
        control = _measures(outside[half], outside[rest], rng) if len(half) else {}
        for measure, found in _measures(inside, outside, rng).items():
            baseline = 0.5 if measure == "auc" else 0.0 if measure == "advantage" else LEVELS[measure]
            chance = control[measure].value if measure in control else None
            detail = _detail(members, others, inside, outside, name) if measure == "auc" else {}
            detail[OF_SAMPLE] = True
            if chance is None:
                detail["no_control"] = _TOO_FEW
            doubt = (members.doubt or others.doubt) if name == members.probability else None
            n = len(inside) + len(outside)
            hit = inside if name == "posterior" else None
            companions = _companions(baseline, chance, against)
            figures.append(
                Figure(
                    measure,
                    RATE,
                    found.value,
                    n,
                    None,
                    inside,
                    params,
                    detail,
                    hit,
                    None,
                    found.interval,
                    doubt,
                    *companions,
                )
            )
    if members.best:
        figures += _best(members, others, against, control_of=(half, rest), rng=rng)
    if "buckets" in others.scores:
        figures.append(_matched(others.scores["buckets"] > 0, against))
    if against == "outsiders" and members.probability in members.scores:
        figures.append(_guesses(members, others))
    return figures


def _best(
    members: MemberClaims, others: MemberClaims, against: str, control_of: tuple[Ints, Ints], rng: np.random.Generator
) -> list[Figure]:
    """The figures of the best score, chosen on other people."""
    inside, outside = _ordered(members.scores), _ordered(others.scores)
    found, picked = best_of(inside, outside, rng)
    halves = [_ordered({name: scores[half] for name, scores in others.scores.items()}) for half in control_of]
    control, _ = best_of(halves[0], halves[1], rng)
    params = {"score": BEST, "against": against, "prior": members.prior, "population": members.population}
    figures = []
    for measure, estimate in found.items():
        baseline = 0.5 if measure == "auc" else 0.0 if measure == "advantage" else LEVELS[measure]
        chance = control[measure].value if measure in control else None
        detail: dict[str, Any] = {"picked": picked, OF_SAMPLE: True} if measure == "auc" else {OF_SAMPLE: True}
        if chance is None:
            detail["no_control"] = _TOO_FEW
        n = sum(len(next(iter(scores.values()))) for scores in (inside, outside))
        figure = Figure(measure, RATE, estimate.value, n, None, params=params, detail=detail, limits=estimate.interval)
        if measure in LEVELS:
            figure = replace(figure, hit=_recognised(members, others, picked, LEVELS[measure]))
        baseline, control_value, kind = _companions(baseline, chance, against)
        figures.append(replace(figure, baseline=baseline, control=control_value, control_kind=kind))
        if measure == "advantage":
            figures.append(_right_guesses(figures[-1]))
    return figures


def _recognised(members: MemberClaims, others: MemberClaims, picked: Mapping[str, float], level: float) -> Floats:
    """How far each member stands above the outsiders by the score that was the best most often; 0 for those who are not above
    the level at which a share of the outsiders is called members."""
    name = max(picked, key=lambda one: picked[one])
    inside, outside = _settled(members.scores[name], others.scores[name])
    above = np.searchsorted(np.sort(outside), inside, side="left") / len(outside)
    rank = np.searchsorted(np.sort(inside), inside, side="left") / len(inside)
    return np.where(above >= 1 - level, above + rank, 0.0)


def _right_guesses(advantage: Figure) -> Figure:
    """How often it is guessed rightly whether somebody is in, of a crowd of whom half are: (1 + advantage)/2."""

    def right(value: float | None) -> float | None:
        return None if value is None else (1 + value) / 2

    assert advantage.limits is not None
    low, high = ((1 + end) / 2 for end in advantage.limits)
    return replace(
        advantage,
        measure="success",
        value=right(advantage.value),
        params={**advantage.params, "prior": 0.5},
        limits=(low, high),
        baseline=right(advantage.baseline),
        control=right(advantage.control),
    )


def _ordered(scores: Mapping[str, Floats]) -> dict[str, Floats]:
    """The scores of people, in an order that does not depend on that of rows."""
    order = np.lexsort([scores[name] for name in sorted(scores)])
    return {name: each[order] for name, each in scores.items()}


def best_of(
    inside: Mapping[str, Floats], outside: Mapping[str, Floats], rng: np.random.Generator, divisions: int = _DIVISIONS
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """What the best score reaches, chosen on one half of the people and judged on the other; and how often each was the
    best."""
    sizes = [len(next(iter(scores.values()), ())) for scores in (inside, outside)]
    if min(sizes) < 4:
        return {}, {}
    tries: list[dict[str, Estimate]] = []
    picked = Counter[str]()
    for _ in range(divisions):
        halves = [np.array_split(rng.permutation(size), 2) for size in sizes]
        judged = []
        for here, there in ((0, 1), (1, 0)):
            chosen = max(inside, key=lambda name: _area(inside[name], outside[name], halves[0][here], halves[1][here]))
            picked[chosen] += 1
            some = inside[chosen][halves[0][there]], outside[chosen][halves[1][there]]
            judged.append(_measures(*some, rng))
        tries.append(
            {
                measure: combined((one.value + judged[1][measure].value) / 2, [(0.5, one), (0.5, judged[1][measure])])
                for measure, one in judged[0].items()
                if measure in judged[1]
            }
        )
    found = {measure: _mean([one[measure] for one in tries], measure == "advantage") for measure in tries[0]}
    return found, {name: times / (2 * divisions) for name, times in sorted(picked.items())}


def _area(inside: Floats, outside: Floats, members: Ints, others: Ints) -> float:
    found = auc(*_settled(inside[members], outside[others]))
    assert found is not None
    return round(found.value, 12)


def _mean(tries: Sequence[Estimate], signed: bool) -> Estimate:
    """The mean over divisions, with the mean reach of their intervals."""
    value, low, high = (float(np.mean([one[i] for one in tries])) for i in range(3))
    return Estimate(value, max(low, -1.0 if signed else 0.0), min(high, 1.0))


def score_closeness(members: CloseClaims, others: CloseClaims) -> list[Figure]:
    """How close the rows of a release come to members, and to as many others. The DCR share is of the rows to which no other
    member is nearer (`attacks/closeness.py` says why); distances (DCR, NNDR) are those to all members, and beside them
    those to as many of either group."""
    size = min(len(one.drawn) for one in (members, others))
    if size < 2:
        return []
    records, drawn = members.some_records, [one.some_people(size) for one in (members, others)]
    whole = to_people(records, members.people, members.person)
    ours, theirs = (to_people(records, *some) for some in drawn)
    images = identical(members.records, members.people)
    by_chance = float(identical(others.records, others.people).mean()) * members.people.rows / others.people.rows
    judged = as_near(np.minimum(ours[:, 0], theirs[:, 0]), whole[:, 0])
    identified = [identifiable(records, *some) for some in drawn]
    some: dict[str, Any] = {"people": size, OF_SAMPLE: True}
    shares: tuple[tuple[str, Floats, float, dict[str, Any]], ...] = (
        ("dcr_share", nearer(ours[judged, 0], theirs[judged, 0]), 0.5, some),
        ("identical", images, min(by_chance, 1.0), {}),
        ("identifiability", identified[0], float(identified[1].mean()), some),
    )
    figures = [
        replace(rate(name, each, detail=detail), hit=None, control=held, control_kind="outsiders")
        for name, each, held, detail in shares
        if len(each)
    ]
    apart = (whole, ours, theirs)
    for name, means in (
        ("nndr", [ratio(one).mean() for one in apart]),
        ("dcr", [np.median(one[:, 0]) for one in apart]),
    ):
        value, alike, held = map(float, means)
        beside = {"people": size, "of_as_many": alike, "of_outsiders": held}
        figures.append(Figure(name, FACT, value, records.rows, detail=beside))
    return figures


def _matched(matched: Bools, against: str) -> Figure:
    """How many outsiders nothing matches, or how many fakes something does."""
    if against != "outsiders":
        return Figure("fakes", COUNT, float(matched.sum()), len(matched), detail={"no_control": _ARE_OUTSIDE})
    out = float((~matched).mean())
    return Figure("no_match", RATE, out, len(matched), baseline=0.0, detail={"no_control": _ARE_OUTSIDE})


def _settled(inside: Floats, outside: Floats) -> tuple[Floats, Floats]:
    """Scores by their rank, those that differ by float noise being tied: noise depends on the order of rows."""
    both = np.concatenate([inside, outside])
    order = np.argsort(both, kind="stable")
    ordered = both[order]
    rank = np.empty(len(both))
    rank[order] = np.cumsum(np.diff(ordered, prepend=ordered[:1]) > TIE * np.abs(ordered))
    return rank[: len(inside)], rank[len(inside) :]


def _measures(inside: Floats, outside: Floats, rng: np.random.Generator) -> dict[str, Estimate]:
    """What can be measured of members and others; of a single person there is no cut-off to choose."""
    inside, outside = _settled(inside, outside)
    found = {"auc": auc(inside, outside), "advantage": advantage(inside, outside, rng)}
    found.update({measure: tpr_at_fpr(inside, outside, level) for measure, level in LEVELS.items()})
    return {measure: estimate for measure, estimate in found.items() if estimate is not None}


def _detail(members: MemberClaims, others: MemberClaims, inside: Floats, outside: Floats, name: str) -> dict[str, Any]:
    false, true, _ = roc(*_settled(inside, outside))
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
    hits, passes = (_rate(right(ours, True)), _rate(right(theirs, False)))
    crowd = combined(prior * hits.value + (1 - prior) * passes.value, [(prior, hits), (1 - prior, passes)])
    interval = Interval(max(crowd.low, 0.0), min(crowd.high, 1.0))
    sure = prior * np.maximum(ours, 1 - ours).mean() + (1 - prior) * np.maximum(theirs, 1 - theirs).mean()
    # the control: the same guesses about outsiders, the prior's share of whom pose as members
    chance, baseline = prior * (1 - passes.value) + (1 - prior) * passes.value, max(prior, 1 - prior)
    detail: dict[str, Any] = {"members": len(ours), "others": len(theirs), OF_SAMPLE: True}
    beyond = _beyond(crowd.value, chance, baseline, prior, hits, passes)
    if beyond is not None:
        detail["excess"] = beyond
    params = {"score": members.probability, "against": "outsiders", "prior": prior, "population": members.population}
    doubt = members.doubt or others.doubt
    n, value = len(ours) + len(theirs), crowd.value
    hit = ours if members.probability == "posterior" else None
    companions = _companions(baseline, chance, "outsiders")
    return Figure("success", RATE, value, n, float(sure), ours, params, detail, hit, None, interval, doubt, *companions)


def _beyond(
    value: float, chance: float, baseline: float, prior: float, hits: Estimate, passes: Estimate
) -> dict[str, Any] | None:
    """The excess of right guesses over the control or, where that is higher, the baseline, which is no estimate. The control
    has the same guesses about outsiders as the figure itself: so both go up and down with them."""
    over, beside = ("baseline", baseline) if baseline > chance else ("control", chance)
    left = 1 - beside
    if left <= 0:
        return None
    moves = 0.0 if over == "baseline" else (1 - value) * (1 - 2 * prior) / left**2
    found = combined((value - beside) / left, [(prior / left, hits), ((1 - prior) / left - moves, passes)])
    return {"value": found.value, "low": found.low, "high": min(found.high, 1.0), "over": over}


def _companions(baseline: float, control: float | None, against: str) -> tuple[float, float | None, str | None]:
    return baseline, control, None if control is None else against


def _rate(each: Floats) -> Estimate:
    return Estimate(float(each.mean()), *mean_of(each))
