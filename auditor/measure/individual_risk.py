"""Individual risk in a weighted sample: how likely is a record's person to be picked among all similar people in the
population?

The f records that agree with a record stand for F people, the sum of their sampling weights. How many people of the
population agree with it is not known. Given f it is modelled as negative binomial with p = f/F, and the risk of a record is
the mean of one over that number:

    f = 1:  p/q · ln(1/p)            f = 2:  p/q - (p/q)² · ln(1/p)            f > 2:  about p/(f - q)          q = 1 - p

If F is not larger than f, the sample is the whole population and the risk is 1/f.

Papers: R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", NTTS 1998;
A. Capobianchi, S. Polettini, M. Lucarelli, "Strategy for the implementation of individual risk methodology into μ-ARGUS",
2001. sdcMicro computes the same; there a suppressed cell agrees with any value, which is the default here too (`wildcards`).
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.labels.labels import Labels
from auditor.model.release import Release
from auditor.model.schema import Role

_NEARLY_ALL = 1e-4
"""Below this q the closed form for f = 2 loses digits to cancellation, and its series in q is exact to a few 1e-14."""
_MOST_PEOPLE = 1e15
"""No record stands for more people than this."""


def individual_risk(sample: Ints | Floats, population: Floats) -> Floats:
    """The risk of a record with which `sample` records agree, itself included, that stand for `population` people."""
    f = sample.astype(np.float64)
    p = np.minimum(f / np.maximum(population, f), 1.0)
    q = 1 - p
    inside = np.where(q > 0, q, 1.0)
    ratio, log = p / inside, -np.log(p)
    one = ratio * log
    series = 1 / 2 - q / 3 - q**2 / 12
    two = np.where(q < _NEARLY_ALL, series, ratio - ratio**2 * log)
    more = p / (f - q)
    risk = np.where(f == 1, one, np.where(f == 2, two, more))
    return np.where(q > 0, risk, 1 / f)


def can_be_weight(numbers: Floats) -> Bools:
    """Which numbers can be sampling weights."""
    possible: Bools = (numbers > 0) & (numbers <= _MOST_PEOPLE)
    return possible


def known_weights(labels: Labels) -> Floats:
    """The weight that each label of a published column gives; not a number where it is missing, suppressed, coarsened or
    hidden."""
    known = (labels.low == labels.high) & ~labels.suppressed & ~labels.is_alias
    return np.where(known, labels.low, np.nan)


def published_weights(release: Release) -> tuple[str, Floats] | None:
    """The column of published sampling weights, and the weight of each fragment of its block; None if none are published."""
    column = next((c for c in release.schema.names(Role.WEIGHT) if c in release.columns), None)
    if column is None:
        return None
    return column, known_weights(release.labels[column])[release.block_of(column).cell(column)]
