"""Averages against somebody who knows all records but one: what the rounding of the published average leaves open.

An average of n numbers, n - 1 of them known, is the missing number but for rounding: with x published, off by at most h, and
S the sum of the known ones, the number lies between n(x - h) - S and n(x + h) - S. Among the values that lie there the best
guess is the one that most people have, and it is right with its share among them. Most averages are written with many
digits, and then one value is left.

The sum of the others is known, and so is the person's class: the one who knows all others knows their classes too. Whether a
value at the very end of the range would have been rounded up or down is left open: the worse of the two counts.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from auditor.model.arrays import Floats, Ints

_NOISE = 1e-9
"""Sums of doubles are off by less than this share of what is summed."""


def are_averages(numbers: Floats, group: Ints, published: Floats, off: float) -> bool:
    """Whether each published number is the average of its group's numbers, within `off`. All are by person; `group` numbers
    the groups from 0."""
    sizes = np.bincount(group)
    mean = np.bincount(group, weights=numbers) / np.maximum(sizes, 1)
    return bool((np.abs(mean[group] - published) <= off + _slack(numbers)).all())


def rounding_leaves(
    numbers: Floats, group: Ints, published: Floats, off: float, domain: Floats, share: Floats
) -> Floats:
    """For each person, the chance of the best guess at their number by somebody who knows the numbers of all others of the
    group and its published average, off by at most `off`. `domain` are the numbers that there are, ascending, and `share`
    their shares among people at large."""
    sizes, total = np.bincount(group)[group], np.bincount(group, weights=numbers)[group]
    slack = sizes * _slack(numbers)
    middle, reach = numbers + sizes * published - total, sizes * off
    own, mass = np.searchsorted(domain, numbers), np.concatenate([[0.0], np.cumsum(share)])
    chance = np.zeros(len(numbers))
    for below, above in product((slack, -slack), repeat=2):  # with and without the very ends
        first = np.minimum(np.searchsorted(domain, middle - reach - below, side="left"), own)
        last = np.maximum(np.searchsorted(domain, middle + reach + above, side="right"), own + 1)
        likeliest = np.maximum.reduceat(np.append(share, 0.0), np.column_stack([first, last]).ravel())[::2]
        possible = mass[last] - mass[first]
        best = np.divide(likeliest, possible, out=np.ones(len(numbers)), where=possible > 0)
        chance = np.maximum(chance, best)
    return np.minimum(chance, 1.0)


def _slack(numbers: Floats) -> float:
    return _NOISE * float(np.abs(numbers).max(initial=0.0))
