"""Figures of the single classes: what each class has, where `classes` says only what the worst one has.

The class of least (or greatest) figure gives the statistic of the release that bears the same name, so whoever withholds the
classes beyond a limit has a release within it. Where no limit would do for a class (a recursive c where it has too few
values, a δ where it lacks a value) its figure is infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auditor.measure import diversity
from auditor.measure.classes import hierarchical_distances, ordered_distances
from auditor.measure.counts import ClassCounts, Entries, class_counts, class_sizes, entries
from auditor.measure.divergences import equal_distance
from auditor.model.release import Release, Suppression

Figures = NDArray[np.float64]

LEAST_COUNTS = ("k", "l_distinct", "l_entropy")
"""Figures of which the least counts; of the others the greatest."""


def class_figures(
    release: Release, figure: str, suppression: Suppression = Suppression.EXCLUDED, recursive_l: int = 2
) -> Figures | None:
    """The figure of each bucket that is not withheld (not a number for those that are), the worst of all sensitive columns;
    None where there is none."""
    counted = ~release.suppressed
    out = np.full(len(release.sizes), np.nan)
    if figure == "k":
        out[counted] = class_sizes(release)
        return out
    worst: Figures | None = None
    for column in release.sensitive:
        each = _of_column(release, column, figure, suppression, recursive_l)
        if each is None:
            return None
        each = each[: int(counted.sum())]  # withheld rows, where they are a class of their own, are the last one
        worse = np.minimum if figure in LEAST_COUNTS else np.maximum
        worst = each if worst is None else worse(worst, each)
    if worst is None:
        return None
    out[counted] = worst
    return out


def _of_column(
    release: Release, column: str, figure: str, suppression: Suppression, recursive_l: int
) -> Figures | None:
    counts = class_counts(release, column, suppression)
    found = entries(counts.counts)
    if figure in ("t_equal", "t_ordered", "t_hierarchical"):
        return _distances(release, column, figure, counts, found)
    if figure == "alpha":
        return _greatest(found, found.share)
    if figure == "l_distinct":
        return np.bincount(found.row, minlength=len(found.sizes)).astype(np.float64)
    if figure == "l_entropy":
        return _one_by_one(found, lambda one: diversity.entropy_l(one))
    if figure == "l_recursive_c":
        return _one_by_one(found, lambda one: diversity.recursive_c(one, recursive_l))
    share = found.whole[found.column] / max(found.whole.sum(), 1)
    gain = found.share / share - 1
    if figure == "beta_basic":
        return np.maximum(_greatest(found, gain), 0.0)
    if figure == "beta_enhanced":
        return np.maximum(_greatest(found, np.where(gain > -np.log(share) + 1e-12, np.inf, gain)), 0.0)
    if figure == "delta_disclosure":
        values = np.bincount(found.row, minlength=len(found.sizes))
        return np.where(values < found.values, np.inf, _greatest(found, np.abs(np.log1p(gain))))
    return None


def _distances(release: Release, column: str, figure: str, counts: ClassCounts, found: Entries) -> Figures | None:
    if figure == "t_equal":
        return equal_distance(counts.counts, found.whole)
    return (ordered_distances if figure == "t_ordered" else hierarchical_distances)(release, column, counts)


def _greatest(found: Entries, amounts: Figures) -> Figures:
    """The greatest amount of each class's entries."""
    out = np.full(len(found.sizes), -np.inf)
    np.maximum.at(out, found.row, amounts)
    return out


def _one_by_one(found: Entries, statistic: Callable[[NDArray[np.int64]], float | None]) -> Figures:
    """A statistic of each class's counts alone. Classes with the same counts, in whatever order, have the same."""
    ends = np.cumsum(np.bincount(found.row, minlength=len(found.sizes)))
    known: dict[tuple[int, ...], float] = {}
    out = np.empty(len(found.sizes))
    for number, counts in enumerate(np.split(found.count, ends[:-1])):
        key = tuple(sorted(counts.tolist()))
        if key not in known:
            value = statistic(np.array([key], dtype=np.int64))
            known[key] = np.inf if value is None else value
        out[number] = known[key]
    return out
