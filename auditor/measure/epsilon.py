"""Lower bounds on epsilon: what a test of a mechanism shows of its differential privacy.

A mechanism is (epsilon, delta)-differentially private if for neighbouring tables, which differ by one person, and every set S
of releases, P(S | with) <= e^epsilon P(S | without) + delta, and the same with the two exchanged. So any test that tells the
two worlds apart better than that refutes the claim. No test proves it: a low bound means that this test found nothing.

*Two worlds*: many runs with the person and many without, a score for each run. The set S is "the score reaches a threshold",
or "it does not". Threshold, side and direction are chosen on some of the runs; on the others the two probabilities have
Clopper-Pearson limits, each one-sided at half the error, so that both hold at once: epsilon >= ln((low - delta)/high).
(Ding et al. 2018; Jagielski, Ullman and Oprea 2020; the learned score is Bichsel et al. 2021, DP-Sniper.)

*One run*: each of m canaries is in or out by a coin; the r guesses that the scores favour most (their number is fixed before
the scores are seen) are right v times. Under pure epsilon, v is at most a binomial of r guesses that are right with
e^epsilon/(1 + e^epsilon) each. With delta, P(v or more) grows by at most 2 m delta max_i P(v > binomial >= v - i)/i (Steinke,
Nasr and Jagielski 2023, Theorem 5.2).

*Gaussian differential privacy* (Dong, Roth and Su 2022): a mechanism as hard to tell apart as N(0, 1) and N(mu, 1). The same
two limits give a larger bound on mu, and mu gives epsilon for a delta. This holds only for mechanisms that claim it, or are
Gaussian by their description; it never refutes a claim of another kind.

Hypotheses are nested: whoever keeps epsilon keeps every larger one. So the largest epsilon that a test rejects is a bound at
the test's confidence, and no further allowance is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from scipy import special

from auditor.measure.intervals import CONFIDENCE
from auditor.model.arrays import Bools, Floats, Ints

_CANDIDATES = 1_000
"""How many thresholds are tried at most: from either end of the scores, close together there."""
_LARGEST = 64.0
"""An epsilon that no test of a machine's life reaches: where the search for a bound ends."""
_HALVINGS = 60
_STRICTER = 10
"""By how much the error is smaller where the best of many sets is chosen."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A set of releases: those whose score is at least `threshold` or, where not `above`, below it. `swapped` says that it is
    likelier without the person than with: then the worlds change places."""

    threshold: float
    above: bool
    swapped: bool

    def hits(self, scores: Floats) -> int:
        """How many releases are in the set."""
        reached = int(np.count_nonzero(np.asarray(scores) >= self.threshold))
        return reached if self.above else len(scores) - reached


@dataclass(frozen=True, slots=True)
class WorldsBound:
    """What two worlds show: the bound, the plain estimate of the same, and what they come from. `hits` of `runs` are in the
    chosen set in the world where it is likelier, `low` at least; `other_hits` of `other_runs` in the other, `high` at
    most."""

    epsilon: float
    estimate: float
    hits: int
    runs: int
    other_hits: int
    other_runs: int
    low: float
    high: float
    rule: Rule


@dataclass(frozen=True, slots=True)
class RunBound:
    """What one run with canaries shows: the bound, and how many guesses were right."""

    epsilon: float
    estimate: float
    right: int
    guesses: int
    canaries: int


def guessed_at_most(epsilon: float) -> float:
    """Epsilon in words: how often whoever has even odds beforehand can be right at most that a person is in the data."""
    return float(special.expit(epsilon))


def lower_limit(hits: Ints | int, n: Ints | int, error: float) -> Floats:
    """The one-sided Clopper-Pearson limit from below: the rate is lower with probability `error` at most."""
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(hits <= 0, 0.0, special.betaincinv(np.maximum(hits, 1), n - hits + 1, error))


def upper_limit(hits: Ints | int, n: Ints | int, error: float) -> Floats:
    """The one-sided Clopper-Pearson limit from above."""
    misses = np.asarray(n) - np.asarray(hits)
    return np.asarray(1 - lower_limit(misses, n, error))


def _ratio(low: Floats, high: Floats, delta: float) -> Floats:
    """ln((low - delta)/high), 0 where that is negative."""
    beyond = np.asarray(low, dtype=np.float64) - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.where(beyond > 0, beyond, 1.0)) - np.log(high)
    return np.where(beyond > 0, np.maximum(found, 0.0), 0.0)


def choose_rule(inside: Floats, outside: Floats, delta: float = 0.0, confidence: float = CONFIDENCE) -> Rule:
    """The set of releases with the greatest bound on these runs. It must be judged on others. Of many bounds the greatest is
    often a lucky one of a small set, so that a smaller error is allowed here, where any set has a bound then."""
    worlds = inside, outside = _numbers(inside), _numbers(outside)
    thresholds = _thresholds(np.concatenate([inside, outside]))
    reached = [len(scores) - np.searchsorted(np.sort(scores), thresholds) for scores in worlds]
    best, chosen = 0.0, Rule(float(thresholds[0]), True, False)
    for level in (1 - (1 - confidence) / _STRICTER, confidence):
        for above in (True, False):
            hits, others = (count if above else len(s) - count for count, s in zip(reached, worlds, strict=True))
            for swapped in (False, True):
                found = _bounds(hits, len(inside), others, len(outside), swapped, delta, level)
                place = int(np.argmax(found))
                if found[place] > best:
                    best, chosen = float(found[place]), Rule(float(thresholds[place]), above, swapped)
        if best > 0:
            break
    return chosen


def _bounds(hits: Ints, n: int, others: Ints, m: int, swapped: bool, delta: float, confidence: float) -> Floats:
    if swapped:
        hits, n, others, m = others, m, hits, n
    tail = (1 - confidence) / 2
    return _ratio(lower_limit(hits, n, tail), upper_limit(others, m, tail), delta)


def _thresholds(scores: Floats) -> Floats:
    """The thresholds to try: all distinct scores or, where these are many, some of them, closer together at both ends."""
    distinct = np.unique(scores)
    if len(distinct) <= _CANDIDATES:
        return distinct
    steps = np.unique(np.geomspace(1, len(distinct) / 2, _CANDIDATES // 2).astype(np.int64))
    return np.asarray(distinct[np.unique(np.concatenate([steps - 1, len(distinct) - steps]))])


def two_worlds(
    inside: Floats, outside: Floats, rule: Rule, delta: float = 0.0, confidence: float = CONFIDENCE
) -> WorldsBound:
    """The bound that runs with the person and runs without show, by a rule that was chosen on other runs."""
    first, second = (outside, inside) if rule.swapped else (inside, outside)
    first, second = _numbers(first), _numbers(second)
    hits, others, n, m = rule.hits(first), rule.hits(second), len(first), len(second)
    tail = (1 - confidence) / 2
    low, high = float(lower_limit(hits, n, tail)), float(upper_limit(others, m, tail))
    plain = hits / n - delta
    estimate = 0.0 if plain <= 0 else inf if not others else max(log(plain * m / others), 0.0)
    bound = float(_ratio(np.array(low), np.array(high), delta))
    return WorldsBound(bound, estimate, hits, n, others, m, low, high, rule)


def gaussian_bound(found: WorldsBound, delta: float) -> float:
    """The bound on epsilon at a delta, for a mechanism that claims Gaussian differential privacy, from the same limits."""
    if not 0 < delta < 1:
        raise ValueError(f"Gaussian differential privacy has an epsilon only for a delta between 0 and 1. Got {delta}.")
    mu = float(special.ndtri(found.low) - special.ndtri(found.high))
    return 0.0 if not mu > 0 else _last_below(lambda epsilon: delta - gaussian_delta(mu, epsilon))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The delta of mu-Gaussian differential privacy at an epsilon (Dong, Roth and Su 2022, Corollary 2.13)."""
    tails = special.ndtr(-epsilon / mu + mu / 2), special.ndtr(-epsilon / mu - mu / 2)
    return float(tails[0] - exp(epsilon) * tails[1])


def canary_p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float = 0.0) -> float:
    """The chance that so many guesses or more are right, at most, where the mechanism keeps (epsilon, delta)."""
    q = guessed_at_most(epsilon)
    chance = float(special.bdtrc(right - 1, guesses, q)) if right > 0 else 1.0
    if delta > 0 and right > 0:
        steps = np.arange(1, right + 1)
        below = special.bdtr(right - 1, guesses, q) - np.where(
            right - steps > 0, special.bdtr(np.maximum(right - steps - 1, 0), guesses, q), 0.0
        )
        chance += 2 * canaries * delta * float(np.max(below / steps))
    return min(chance, 1.0)


def one_run(
    scores: Floats, included: Bools, guesses: int, delta: float = 0.0, confidence: float = CONFIDENCE
) -> RunBound:
    """The bound that one run with canaries shows. Half of the `guesses` say in, of the canaries with the highest scores; the
    others say out, of those with the lowest. Ties are broken by the canaries' order, so the coins must not depend on it."""
    scores, included = _numbers(scores), np.asarray(included, dtype=np.bool_)
    if not 0 < guesses <= len(scores):
        raise ValueError(f"There must be 1 to {len(scores)} guesses. Got {guesses}.")
    order = np.argsort(-scores, kind="stable")
    said_in, said_out = order[: (guesses + 1) // 2], order[len(order) - guesses // 2 :]
    right = int(included[said_in].sum() + (~included[said_out]).sum())
    return run_bound(right, guesses, len(scores), delta, confidence)


def run_bound(right: int, guesses: int, canaries: int, delta: float = 0.0, confidence: float = CONFIDENCE) -> RunBound:
    """The bound of one run in which so many of the guesses were right."""
    error = 1 - confidence
    found = _last_below(lambda epsilon: canary_p_value(right, guesses, canaries, epsilon, delta) - error)
    estimate = inf if right == guesses else max(log(right / (guesses - right)), 0.0) if right else 0.0
    return RunBound(found, estimate, right, guesses, canaries)


def _last_below(fault: Callable[[float], float]) -> float:
    """The largest epsilon at which a test still rejects: where `fault`, negative while it does, becomes zero."""
    low, high = 0.0, _LARGEST
    if fault(low) >= 0:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fault(middle) < 0 else (low, middle)
    return low


def _numbers(scores: Floats) -> Floats:
    found = np.asarray(scores, dtype=np.float64)
    if not len(found) or np.isnan(found).any():
        raise ValueError("Each world must have scores, and they must be numbers.")
    return found
