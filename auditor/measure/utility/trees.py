"""Trees: how the learning measures encode people, and the decision tree that they share.

A decision tree cuts only by order. Numbers are encoded as themselves, other values as their codes: ordinals by rank, leaves
of a taxonomy depth-first, so that a cut separates its groups, other nominals by text. A missing number stands below all
others. A published label that is kept as it is (`labelled`) stands at the middle of the codes or numbers that it denotes, and
labels with the same middle side by side, so that a tree can tell them apart.

The tree is scikit-learn's (CART, Gini), with leaves of at least half a percent of the rows. It is pruned where a leaf gains
less than four rows' worth of impurity, so that it does not learn noise. Its answers do not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.worlds import World, middles, original_codes, original_numbers
from auditor.model.arrays import Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels

LEAVES = 200
PRUNING = 4.0
"""Measured on Adult and the built-in town with 7500 rows: leaves of 0.3 % to 1 % and a cost of 2 to 8 rows do as well."""


def new_tree(rows: int, case: Case) -> Any:
    """A tree to be trained on this many rows."""
    from sklearn.tree import DecisionTreeClassifier

    chance = int(case.rng("tree").integers(2**31))  # decides between equally good cuts
    leaf, cost = max(rows // LEAVES, 2), PRUNING / max(rows, 1)
    return DecisionTreeClassifier(min_samples_leaf=leaf, ccp_alpha=cost, random_state=chance)


def predicted(tree: Any, x: Floats) -> Ints:
    """The classes that a tree predicts."""
    return np.asarray(tree.predict(x).astype(np.int64))


def true_features(case: Case, columns: Sequence[str]) -> Floats:
    """The original's people, people × columns."""
    return np.column_stack([true_feature(case, c) for c in columns])


def true_feature(case: Case, column: str) -> Floats:
    """One column of the original."""
    domain = case.release.labels[column].domain
    if domain.numbers is None:
        return original_codes(case, column).astype(np.float64)
    return _filled(original_numbers(case, column), domain)


def world_features(world: World, columns: Sequence[str]) -> Floats:
    """The people of a world, people × columns."""
    made = []
    for column in columns:
        domain = world.case.release.labels[column].domain
        if domain.numbers is None:
            made.append(world.codes(column).astype(np.float64))
        else:
            made.append(_filled(world.numbers(column), domain))
    return np.column_stack(made)


def labelled(world: World, column: str) -> Floats:
    """The labels of one column as they are published."""
    labels = world.case.release.labels[column]
    return label_places(labels)[world.labels(column)]


def label_places(labels: Labels) -> Floats:
    """Where each label of a column stands."""
    domain = labels.domain
    if domain.numbers is not None:
        middle = middles(labels)
        span = domain.span or (0.0, 0.0)
        whole = labels.suppressed | (np.isnan(middle) & (labels.counts > 1))
        return _filled(np.where(whole, sum(span) / 2, middle), domain)
    middle = (labels.lo.astype(np.float64) + labels.hi) / 2
    out = middle.copy()
    by_place = sorted(range(len(middle)), key=lambda i: (middle[i], labels.counts[i], labels.texts[i]))
    order = np.array(by_place, dtype=np.int64)
    start = np.flatnonzero(np.diff(middle[order], prepend=-np.inf))
    for first, end in zip(start, [*start[1:], len(order)], strict=True):
        tied = order[first:end]
        out[tied] += 0.25 * np.arange(len(tied)) / len(tied)  # middles are multiples of a half, so none meets another's
    return out


def _filled(numbers: Floats, domain: Domain) -> Floats:
    """Numbers, with missing ones placed below all others."""
    missing = np.isnan(numbers)
    low = numbers[~missing].min(initial=domain.span[0] if domain.span is not None else 0.0)
    return np.where(missing, low - (domain.width or 1.0), numbers)
