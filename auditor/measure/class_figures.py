"""Figures of single classes, where `classes` gives only those of the worst.

The class with the least (or greatest) figure gives the statistic of the release with the same name. So suppressing the
classes beyond a limit leaves a release within it. If no limit is enough for a class (recursive c with too few values, δ with
a value lacking), its figure is infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from auditor.measure import ambiguity, diversity
from auditor.measure.classes import hierarchical_distances, ordered_distances
from auditor.measure.counts import ClassCounts, class_counts, class_sizes
from auditor.measure.divergences import equal_distance
from auditor.model.arrays import Floats
from auditor.model.release import Release, Suppression

_FIGURES: dict[str, Callable[[ClassCounts, int, Release, str], Floats | None]] = {
    "alpha": lambda found, *_: diversity.alphas(found.counts),
    "l_distinct": lambda found, *_: found.counts.distinct.astype(np.float64),
    "l_entropy": lambda found, *_: diversity.entropy_ls(found.counts),
    "l_recursive_c": lambda found, recursive_l, *_: diversity.recursive_cs(found.counts, recursive_l),
    "t_equal": lambda found, *_: equal_distance(found.counts, found.counts.whole),
    "t_ordered": lambda found, _, release, column: ordered_distances(release, column, found),
    "t_hierarchical": lambda found, _, release, column: hierarchical_distances(release, column, found),
    "beta_basic": lambda found, *_: diversity.basic_betas(found.counts),
    "beta_enhanced": lambda found, *_: diversity.enhanced_betas(found.counts),
    "delta_disclosure": lambda found, *_: diversity.disclosure_deltas(found.counts),
}
CLASS_FIGURES = ("k", *_FIGURES)
"""The figures of single classes, named as in the audit record."""
LEAST_COUNTS = ("k", "l_distinct", "l_entropy")
"""Figures of which the least counts. Of the others the greatest does."""


def class_figures(
    release: Release, figure: str, suppression: Suppression = Suppression.EXCLUDED, recursive_l: int = 2
) -> Floats | None:
    """The figure of each bucket, the worst of all sensitive columns (NaN if it is suppressed); None if there is no such
    figure."""
    counted = ~release.suppressed
    out = np.full(len(release.sizes), np.nan)
    if figure == "k":
        out[counted] = class_sizes(release)
        return out
    worst: Floats | None = None
    for column in release.sensitive:
        each = _of_column(release, column, figure, suppression, recursive_l)
        if each is None:
            return None
        each = each[: int(counted.sum())]  # suppressed rows, if they are a class of their own, are the last one
        worse = np.minimum if figure in LEAST_COUNTS else np.maximum
        worst = each if worst is None else worse(worst, each)
    if worst is None:
        return None
    out[counted] = worst
    return out


def _of_column(release: Release, column: str, figure: str, suppression: Suppression, recursive_l: int) -> Floats | None:
    counts = class_counts(release, column, suppression)
    labels = release.labels[column]
    if figure in ("alpha", "l_distinct", "l_entropy", "l_recursive_c") and ambiguity.ambiguous(labels, counts.label):
        if figure == "alpha":
            return ambiguity.worst_alphas(labels, counts)
        return ambiguity.least_distinct(labels, counts).astype(np.float64) if figure == "l_distinct" else None
    compute = _FIGURES.get(figure)
    return None if compute is None else compute(counts, recursive_l, release, column)
