"""What drives a failing check: the classes without which it would pass, described by a criterion on their own figure.

A check on the worst class (k, l, t, the highest risk) fails because of the classes beyond its limit alone. A check on a mean,
a share or a count fails because of all classes together: there the worst classes are taken, just as many as it takes to bring
the rest within the limit. Checks that depend on no figure of single classes, such as membership, have no criterion.

A criterion says where to look and what to suppress. The figures after that are computed anew, never predicted from here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from auditor.auditing.remedies.mending import Criterion, Mending
from auditor.measure.class_figures import CLASS_FIGURES, LEAST_COUNTS, class_figures
from auditor.model.arrays import Floats
from auditor.model.record.policy import EXCESS, GRANTED
from auditor.model.record.record import PolicyCheck
from auditor.model.release import Release

_SLACK = 1e-9

_SIZES = {
    "prosecutor_max": "max",
    "prosecutor_mean": "mean",
    "marketer": "mean",
    "at_risk": "at_risk",
    "at_risk_share": "at_risk_share",
    "sample_uniques": "unique",
    "sample_unique_share": "unique",
}
"""Figures of the release that follow from class sizes, and the names of the same figures of `linking`."""


def criterion_of(
    check: PolicyCheck, release: Release, conventions: Mending, settings: Mapping[str, Mapping[str, Any]]
) -> Criterion | None:
    """The classes that drive a failing check; None where it does not depend on a figure of single classes."""
    if check.of == EXCESS:
        return None
    part, _, measure = check.measure.partition(".")
    if part == "release" and measure in _SIZES:
        part, measure = Linking.name, _SIZES[measure]
    if part == "release":
        least = measure in LEAST_COUNTS
        wanted = measure in CLASS_FIGURES and (check.relation == ">=") is least
        if not wanted or class_figures(release, measure, conventions.suppression, conventions.recursive_l) is None:
            return None
        return Criterion(measure, "<" if least else ">", check.limit)
    if part not in (Linking.name, Homogeneity.name) or check.relation == ">=" or check.link not in (None, GRANTED):
        return None
    sizes = class_figures(release, "k", conventions.suppression)
    shares = class_figures(release, "alpha", conventions.suppression)
    counted = ~release.suppressed
    people = release.sizes[counted].astype(np.float64)
    if part == Linking.name and sizes is not None:
        threshold = Linking.configure(settings.get(Linking.name, {})).threshold
        return _by_size(measure, check.limit, sizes[counted], people, threshold)
    if part == Homogeneity.name and shares is not None:
        tau = Homogeneity.configure(settings.get(Homogeneity.name, {})).tau
        return _by_share(measure, check.limit, shares[counted], people, tau)
    return None


def _by_size(measure: str, limit: float, sizes: Floats, people: Floats, threshold: float) -> Criterion | None:
    """Small classes: a person is linked with probability one over the size of their class."""
    if measure == "max":
        return Criterion("k", "<", float(math.ceil(1 / (limit + _SLACK)))) if limit > 0 else None
    if measure in ("mean", "success"):  # each class adds size times one over size
        least = _cut(-sizes, np.ones(len(sizes)), people, limit)
    elif measure in ("at_risk", "at_risk_share"):
        over = np.where(1 / sizes > threshold + _SLACK, people, 0.0)
        least = _cut(-sizes, over, people if measure == "at_risk_share" else None, limit)
    elif measure == "unique":
        least = -2.0
    else:
        return None
    return None if least is None else Criterion("k", "<", -least)


def _by_share(measure: str, limit: float, shares: Floats, people: Floats, tau: float) -> Criterion | None:
    """Uniform classes: a person's value is guessed with the share of the commonest one in their class."""
    if measure == "certain":
        return Criterion("l_distinct", "<", 2.0)
    if measure == "above":
        most = _cut(shares, np.where(shares > tau + _SLACK, people, 0.0), None, limit)
    elif measure == "success":
        most = _cut(shares, shares * people, people, limit)
    else:
        return None
    return None if most is None else Criterion("alpha", ">", most)


def _cut(badness: Floats, adds: Floats, people: Floats | None, limit: float) -> float | None:
    """The worst badness that can stay: all classes up to it together add no more than the limit (per person, where people are
    given), and with the next worse ones they would add more. None where the best class alone is beyond the limit."""
    order = np.argsort(badness, kind="stable")
    total = np.cumsum(adds[order])
    figure = total if people is None else total / np.cumsum(people[order])
    ranked = badness[order]
    last = np.append(np.diff(ranked) > 0, True) if len(ranked) else np.zeros(0, dtype=np.bool_)
    within = np.flatnonzero(last & (figure <= limit + _SLACK))
    return float(ranked[within[-1]]) if len(within) else None
