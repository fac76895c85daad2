"""Isolation: whether a predicate singles out exactly one person.

Papers: A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020; M. Giomi et al., "A unified
framework for quantifying privacy risk in synthetic data" (Anonymeter), PoPETs 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from auditor.model.arrays import Bools, Codes, Floats, Ints

_SURE = 1 - 1e-12


def meeting(predicate: Mapping[str, Bools], codes: Mapping[str, Codes], people: int) -> Ints:
    """The people whose values are all allowed. An unknown value (-1) is not allowed."""
    place: Ints | None = None
    for column in sorted(predicate, key=lambda c: float(predicate[c].mean())):  # narrowest first: fewest are left
        allowed = np.append(predicate[column], False)
        place = np.flatnonzero(allowed[codes[column]]) if place is None else place[allowed[codes[column][place]]]
    return np.arange(people) if place is None else place


def isolated(matches: Ints, people: int, size: int) -> Floats:
    """The probability that exactly one person meets a predicate in data of `size`, given how many of `people` meet it.

    If the people are the data this is yes or no. If they are more, it is the probability that exactly one of those who meet
    it is among `size` people drawn without replacement; if they are fewer, drawn with replacement.
    """
    if people == size:
        return np.where(matches == 1, 1.0, 0.0)
    if people < size:
        return by_chance(matches / max(people, 1), size)
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.pmf(1, people, matches, size), dtype=np.float64)


def by_chance(weight: Floats, people: int) -> Floats:
    """The probability that a predicate of this weight isolates one of n people drawn at random: n·w·(1-w)^(n-1)."""
    w = np.clip(weight, 0.0, 1.0)
    return np.asarray(people * w * (1 - w) ** (people - 1))


def exactly_one(chances: Floats, times: Floats) -> float:
    """The probability that exactly one of independent events happens, of which there are so many of each chance."""
    sure = chances >= _SURE
    certain = int(times[sure].sum())
    if certain > 1:
        return 0.0
    order = np.lexsort((times[~sure], chances[~sure]))  # so that sums do not depend on the order of rows
    rest, often = chances[~sure][order], times[~sure][order]
    none = float(np.exp((np.log1p(-rest) * often).sum()))
    return none if certain else none * float((rest / (1 - rest) * often).sum())


def nobody(chances: Floats, times: Floats) -> float:
    """The probability that none of independent events happens."""
    order = np.lexsort((times, chances))
    return float(np.exp((np.log1p(-np.minimum(chances[order], _SURE)) * times[order]).sum()))
