"""Numbers that nobody has: noise and averages, published in a column of numbers, and what they stand for.

The adversary has not got the original: which of its values happens to be nearest to a published number is not theirs to know,
and even whoever knows all values that people have cannot be certain of the nearest one. What they know are the shares of
values at large (the prior, which is granted), and by how much the variance of what is published differs from that of the
prior: noise adds the variance of its errors, averages take it away. So a value s counts by its share times a normal density
around the number, with this variance, and with a deviation of at least the mean distance of the published numbers from each
other. A prior that is the original's own is a strong one: it holds every true value, so that a little noise on values that
are far apart still gives them away. That is what noise does.
"""

from __future__ import annotations

import math

import numpy as np

from auditor.model.arrays import Floats, Ints
from auditor.model.labels.labels import Labels

Entries = tuple[Ints, Ints, Floats]
"""Labels, codes, and how much of each label each code has."""
_AROUND = 32
"""A number may stand for so many values below it, and so many above."""
_LEAST = 1e-6
"""Values that are less likely than this share of the likeliest are left out."""
_TINY = 1e-12


def _lost(labels: Labels) -> Ints:
    """The labels that are numbers without being a value of the domain."""
    numbers = labels.domain.numbers
    if numbers is None or not len(numbers):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero((labels.counts == 0) & ~np.isnan(labels.low))


def _middles(labels: Labels) -> Floats:
    """Where labels stand; one that is open to a side at its end."""
    low = np.where(np.isinf(labels.low), labels.high, labels.low)
    high = np.where(np.isinf(labels.high), labels.low, labels.high)
    return np.asarray((low + high) / 2)


def nearest(labels: Labels) -> Entries:
    """The nearest values to such numbers: where they stand, not what is believed of anybody."""
    numbers, lost = labels.domain.numbers, _lost(labels)
    if numbers is None or not len(lost):
        return lost, lost, np.empty(0)
    middle = _middles(labels)[lost]
    right = np.clip(np.searchsorted(numbers, middle), 0, len(numbers) - 1)
    left = np.maximum(right - 1, 0)
    closer = np.where(np.abs(numbers[left] - middle) <= np.abs(numbers[right] - middle), left, right)
    return lost, closer, np.ones(len(lost))


def blurred(labels: Labels, counts: Floats | Ints, prior: Floats) -> Entries:
    """The values that such numbers stand for, given how many records have each label, and the shares of values at large."""
    numbers, lost = labels.domain.numbers, _lost(labels)
    if numbers is None or not len(lost):
        return lost, lost, np.empty(0)
    known = np.flatnonzero(prior[: len(numbers)] > 0)  # a value that nobody at large has is not one to the adversary
    known = known if len(known) else np.arange(len(numbers))
    numbers, share = numbers[known], prior[known]
    middle = _middles(labels)[lost]
    width = max(_deviation(labels, counts, numbers, share), _TINY * max(float(np.abs(numbers).max()), 1.0))
    place = np.searchsorted(numbers, middle)[:, None] + np.arange(-_AROUND, _AROUND)
    there = (place >= 0) & (place < len(numbers))
    place = np.clip(place, 0, len(numbers) - 1)
    log = np.log(np.maximum(share, _TINY))[place] - ((numbers[place] - middle[:, None]) / width) ** 2 / 2
    log = np.where(there, log, -np.inf)
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    chance = np.where(chance >= _LEAST, chance, 0.0)
    chance /= chance.sum(axis=1, keepdims=True)
    row, column = np.nonzero(chance)
    return lost[row], known[place[row, column]], chance[row, column]


def _deviation(labels: Labels, counts: Floats | Ints, numbers: Floats, share: Floats) -> float:
    """How far the numbers are from the values they were made of, as far as it can be known without these."""
    middle = _middles(labels)
    told = np.flatnonzero(~np.isnan(middle) & ~labels.is_alias & (counts > 0))
    wrong = float(counts[_lost(labels)].sum())
    if not wrong:
        return 0.0
    differ = abs(_variance(middle[told], counts[told]) - _variance(numbers, share))
    apart = float(np.ptp(middle[told])) / max(len(np.unique(middle[told])) - 1, 1)
    return max(math.sqrt(differ * float(counts[told].sum()) / wrong), apart)


def _variance(numbers: Floats, often: Floats | Ints) -> float:
    total = float(often.sum())
    if total <= 0:
        return 0.0
    mean = float((numbers * often).sum()) / total
    return float(((numbers - mean) ** 2 * often).sum()) / total
