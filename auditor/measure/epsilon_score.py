"""A score that tells two worlds apart, learned from runs of both (the idea of DP-Sniper).

The set of releases that shows the most of a mechanism is one where the odds of the two worlds are far from even (Neyman and
Pearson). The odds are not known, but runs can be had, and a classifier learns them. Where releases are few and come again and
again, their own counts are the odds. Otherwise it is logistic regression: on each figure and, since mechanisms mix numbers
with words such as "no answer", on whether the figure is one of those that come again and again; or, where few runs can teach
no more, the one figure that differs most.

The runs are used in three parts that do not overlap: some to learn the scores, some to choose among scores and thresholds,
the others to judge. So whatever is learned or chosen, the bound holds.

Paper: B. Bichsel, S. Steffen, I. Bogunovic, M. Vechev, "DP-Sniper: Black-Box Discovery of Differential Privacy Violations
using Classifiers", IEEE S&P 2021. Departures: they fix the probability of the set beforehand and break ties at random; here
the threshold is the one with the best bound on runs that are not judged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from auditor.measure.epsilon import Rule, WorldsBound, choose_rule, two_worlds
from auditor.measure.intervals import CONFIDENCE, auc
from auditor.model.arrays import Bools, Floats
from auditor.model.packing import Hashes

Score = Callable[[Floats], Floats]
"""From runs × figures, a score for each run: higher where the person is likelier in."""

LEAST_RUNS = 8
"""The fewest runs of each world that can be divided."""
_FEW = 500
"""So many different releases at most are counted one by one."""
_OFTEN, _WORDS = 0.02, 12
"""A figure that this share of the runs has is taken for a word; so many a column at most."""
_ODD = np.uint64(0x9E3779B97F4A7C15)


def parts(runs: int) -> tuple[slice, slice, slice]:
    """The runs that learn, that choose, and that judge: a quarter, a quarter and a half."""
    return slice(0, runs // 4), slice(runs // 4, runs // 2), slice(runs // 2, runs)


def learned_bound(inside: Floats, outside: Floats, delta: float = 0.0, confidence: float = CONFIDENCE) -> WorldsBound:
    """The bound that runs with the person and runs without show (each runs × figures), by a score learned from some."""
    (learn, choose, judge), (learn_out, choose_out, judge_out) = parts(len(inside)), parts(len(outside))
    if min(len(inside), len(outside)) < LEAST_RUNS:
        raise ValueError(f"Each world must have at least {LEAST_RUNS} runs.")
    found: list[tuple[float, Score, Rule]] = []
    for score in learned_scores(inside[learn], outside[learn_out]):
        tried = score(inside[choose]), score(outside[choose_out])
        rule = choose_rule(*tried, delta, confidence)
        found.append((two_worlds(*tried, rule, delta, confidence).epsilon, score, rule))
    _, score, rule = max(found, key=lambda one: one[0])
    return two_worlds(score(inside[judge]), score(outside[judge_out]), rule, delta, confidence)


def learned_scores(inside: Floats, outside: Floats) -> list[Score]:
    """The scores that runs of both worlds teach."""
    seen = np.concatenate([inside, outside])
    member = np.arange(len(seen)) < len(inside)
    counted = _counted(seen, member)
    return [*([] if counted is None else [counted]), _single(seen, member), _logistic(seen, member)]


def _single(seen: Floats, member: Bools) -> Score:
    """The one figure that tells the worlds apart best: where runs are few, more cannot be learned."""
    areas = [auc(column[member], column[~member]) for column in seen.T]
    best = int(np.argmax([0.0 if area is None else abs(area.value - 0.5) for area in areas]))
    return lambda runs: np.asarray(runs[:, best], dtype=np.float64)


def _counted(seen: Floats, member: Bools) -> Score | None:
    """The odds of each release by its counts; None where there are too many different ones."""
    marks = _marks(seen)
    distinct, number = np.unique(marks, return_inverse=True)
    if len(distinct) > _FEW:
        return None
    inside = np.bincount(number, weights=member, minlength=len(distinct))
    odds = np.log((inside + 1) / (np.bincount(number, minlength=len(distinct)) - inside + 1))

    def score(runs: Floats) -> Floats:
        asked = _marks(runs)
        place = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
        return np.where(distinct[place] == asked, odds[place], 0.0)

    return score


def _marks(runs: Floats) -> Hashes:
    """A hash of each release: the same for the same figures."""
    mark = np.zeros(len(runs), dtype=np.uint64)
    for column in runs.T:
        mark = (mark ^ (column + 0.0).view(np.uint64)) * _ODD  # + 0.0: there is one zero only
        mark ^= mark >> np.uint64(29)
    return mark


def _logistic(seen: Floats, member: Bools) -> Score:
    from sklearn.linear_model import LogisticRegression

    words = [_words(column) for column in seen.T]
    plain = _signs(seen, words)
    centre, spread = plain.mean(axis=0), plain.std(axis=0)
    spread[spread < 1e-12] = 1.0
    model = LogisticRegression(max_iter=100).fit((plain - centre) / spread, member)

    def score(runs: Floats) -> Floats:
        return np.asarray(model.decision_function((_signs(runs, words) - centre) / spread), dtype=np.float64)

    return score


def _words(column: Floats) -> Floats:
    """The figures of a column that come again and again, unless all of it are such."""
    values, counts = np.unique(column, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:_WORDS]
    return np.sort(values[often[counts[often] >= _OFTEN * len(column)]])


def _signs(runs: Floats, words: list[Floats]) -> Floats:
    """Each figure, 0 where it is a word, and for each word whether the figure is it."""
    made = []
    for column, known in zip(runs.T, words, strict=True):
        matches = column[:, None] == known
        made += [np.where(matches.any(axis=1), 0.0, column)[:, None], matches.astype(np.float64)]
    return np.concatenate(made, axis=1)
