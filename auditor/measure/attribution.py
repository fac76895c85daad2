"""What a key of known values gives away of another: the figures that users of synthpop and SDMetrics know.

People and synthetic records have a *key*, the values of some columns taken together, and a value in question, each as a
number.

- CAP (correct attribution probability): of the records with a person's key, the share that has the person's value; the mean
  over people whose key occurs;
- DiSCO (disclosive in synthetic, correct in original): the share of all people whose key occurs, always with one value,
  which is theirs;
- repU (replicated uniques): the share of all people who have a key of their own among people, which exactly one record has.
  Somebody who is not in the data has one of their own where nobody in the data has it, so that the share does not depend on
  how many such people there are.

Papers: M. Elliot, "Final Report on the Disclosure Risk Associated with the Synthetic Data Produced by the SYLLS Team", 2014,
and J. Taub et al., "Differential Correct Attribution Probability for Synthetic Data", PSD 2018 (CAP); G. Raab, B. Nowok,
C. Dibben, "Practical privacy metrics for synthetic data", 2024 (DiSCO, repU).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditor.model.arrays import Bools, Floats, Ints


class Attributed(NamedTuple):
    """For each person: whether their key occurs, the share of its records that has their value (0 where there is none),
    whether it gives their value away, and whether they are a replicated unique."""

    matched: Bools
    right: Floats
    disclosed: Bools
    replicated: Bools


def attributed(key: Ints, value: Ints, record_key: Ints, record_value: Ints, others: Ints | None = None) -> Attributed:
    """People by their key and value, beside records by theirs; `others` is how many other people have each one's key, where
    these people are not all, or several rows are one person's."""
    held = _times(key, record_key)
    together = max(int(max(value.max(initial=0), record_value.max(initial=0))) + 1, 1)
    right = _times(key * together + value, record_key * together + record_value)
    matched = held > 0
    alone = (_times(key, key) - 1 if others is None else others) == 0
    share = np.divide(right, held, out=np.zeros(len(key)), where=matched)
    return Attributed(matched, share, matched & (right == held), alone & (held == 1))


def others_with(key: Ints, person: Ints, keys: Ints, whose: Ints) -> Ints:
    """How many people have each key, besides the person whose it is. `keys` are those of everybody, and `whose` they are."""
    owned = np.unique(np.column_stack([keys, whose]), axis=0)
    width = int(max(owned[:, 1].max(initial=0), person.max(initial=0))) + 1
    own = np.isin(key * width + person, owned[:, 0] * width + owned[:, 1])
    return _times(key, owned[:, 0]) - own


def _times(wanted: Ints, among: Ints) -> Ints:
    """How often each number occurs among others."""
    ordered = np.sort(among)
    return np.searchsorted(ordered, wanted, side="right") - np.searchsorted(ordered, wanted, side="left")


def binned(numbers: Floats, low: float, high: float, bins: int) -> Ints:
    """Numbers in bins of equal width; those outside the range in one below or above it, and what is missing in the last."""
    width = (high - low) / bins if high > low else 1.0
    with np.errstate(invalid="ignore"):
        place = np.ceil((numbers - low) / width)  # bins are closed above, as pandas cuts them
    place = np.where(numbers == low, 1.0, place)
    return np.where(np.isnan(place), bins + 2, np.clip(np.nan_to_num(place), 0, bins + 1)).astype(np.int64)
