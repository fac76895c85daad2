"""Figures of single classes, where `classes` gives only those of the worst.

The class with the least (or greatest) figure gives the statistic of the release with the same name. So suppressing the
classes beyond a limit leaves a release within it. If no limit is enough for a class (recursive c with too few values, δ with
a value lacking), its figure is infinite.
"""

from __future__ import annotations

import numpy as np

from auditor.measure import ambiguity, diversity
from auditor.measure.classes import hierarchical_distances, ordered_distances
from auditor.measure.counts import class_counts, class_sizes
from auditor.measure.divergences import equal_distance
from auditor.model.arrays import Floats
from auditor.model.release import Release, Suppression

CLASS_FIGURES = (
    "k",
    "alpha",
    "l_distinct",
    "l_entropy",
    "l_recursive_c",
    "t_equal",
    "t_ordered",
    "t_hierarchical",
    "beta_basic",
    "beta_enhanced",
    "delta_disclosure",
)
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
    found, labels = counts.counts, release.labels[column]
    if figure in ("alpha", "l_distinct", "l_entropy", "l_recursive_c") and ambiguity.ambiguous(labels, counts.label):
        if figure == "alpha":
            return ambiguity.worst_alphas(labels, counts)
        return ambiguity.least_distinct(labels, counts).astype(np.float64) if figure == "l_distinct" else None
    match figure:
        case "alpha":
            return diversity.alphas(found)
        case "l_distinct":
            return found.distinct.astype(np.float64)
        case "l_entropy":
            return diversity.entropy_ls(found)
        case "l_recursive_c":
            return diversity.recursive_cs(found, recursive_l)
        case "t_equal":
            return equal_distance(found, found.whole)
        case "t_ordered":
            return ordered_distances(release, column, counts)
        case "t_hierarchical":
            return hierarchical_distances(release, column, counts)
        case "beta_basic":
            return diversity.basic_betas(found)
        case "beta_enhanced":
            return diversity.enhanced_betas(found)
        case "delta_disclosure":
            return diversity.disclosure_deltas(found)
        case _:
            return None
