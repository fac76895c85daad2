"""Individual risk in a weighted sample: how likely is a record's person to be picked among all similar people in the
population?

A class of f records stands for F people, the sum of the records' sampling weights. How many people of the population are in
the class is not known. Given f it is modelled as negative binomial with p = f/F, and the risk of a record is the mean of one
over that number:

    f = 1:  p/q · ln(1/p)            f = 2:  p/q - (p/q)² · ln(1/p)            f > 2:  about p/(f - q)          q = 1 - p

If F is not larger than f, the sample is the whole population and the risk is 1/f.

Papers: R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", NTTS 1998;
A. Capobianchi, S. Polettini, M. Lucarelli, "Strategy for the implementation of individual risk methodology into μ-ARGUS",
2001. sdcMicro computes the same.
"""

from __future__ import annotations

import numpy as np

from auditor.model.arrays import Floats, Ints

_NEARLY_ALL = 1e-4
"""Below this q the closed form for f = 2 loses digits to cancellation, and its series in q is exact to a few 1e-14."""


def individual_risk(sample: Ints, population: Floats) -> Floats:
    """The risk of a record in a class of `sample` records that stand for `population` people."""
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


def class_totals(key: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """For each record the number of records in its class, and the sum of their weights."""
    classes = int(key.max(initial=-1)) + 1
    records = np.bincount(key, minlength=classes).astype(np.int64)
    people = np.bincount(key, weights=weights, minlength=classes).astype(np.float64)
    return records[key], people[key]
