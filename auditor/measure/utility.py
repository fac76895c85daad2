"""Utility: what a release is still good for, as rows of the record.

- `granularity`: 1 - mean over cells (people × quasi-identifiers) of what the label hides, from 0 (exact) to 1
  (everything), after Iyengar 2002. `granularity_arx` averages the columns' granularities with weights 1 - 1/d, d being
  the size of the column's domain, which is what ARX prints.
- `discernibility` (Bayardo and Agrawal 2005): each person costs the size of the class they are lost in; those in
  classes below k, and suppressed ones, the whole table.
- `class_size` (LeFevre, DeWitt and Ramakrishnan 2006): the mean class size, as a multiple of the least one allowed.
- `queries`: see the module of that name.

A measure that does not suit the release says so, with the reason. A quasi-identifier that the schema names and the
release lacks is fully lost. Numbers that are no value of the domain (centroids) cover nothing and hide something all
the same; ARX counts them as lossless, here granularity does not apply to them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from auditor.measure.counts import class_sizes
from auditor.measure.queries import queries
from auditor.model.labels import Labels
from auditor.model.record import NOT_APPLICABLE, Utility
from auditor.model.release import Release
from auditor.model.table import Table


def utility_rows(
    release: Release, original: Table | None, rng: np.random.Generator, k: int | None = None
) -> list[Utility]:
    """All utility figures of a release. `k` is the class size that was asked for, where one was."""
    return [
        granularity(release),
        granularity_arx(release),
        discernibility(release, k),
        class_size(release, k),
        *queries(release, original, rng),
    ]


def granularity(release: Release) -> Utility:
    """1 - mean loss over people × quasi-identifiers; suppressed rows count with their labels."""
    reason = _no_granularity(release)
    if reason:
        return Utility("granularity", NOT_APPLICABLE, reason=reason)
    kept = _kept_per_column(release)
    return Utility(
        "granularity",
        value=float(np.mean(list(kept.values()))),
        params=_granularity_params(release),
        detail={"columns": kept},
    )


def granularity_arx(release: Release) -> Utility:
    """The granularity as ARX prints it: columns weighted by 1 - 1/(size of their domain)."""
    reason = _no_granularity(release)
    if reason:
        return Utility("granularity_arx", NOT_APPLICABLE, reason=reason)
    absent = [c for c in release.schema.quasi if c not in release.quasi]
    if absent:
        reason = f"the release lacks {', '.join(absent)}, and the weight of a column is known from its labels only"
        return Utility("granularity_arx", NOT_APPLICABLE, reason=reason)
    kept = _kept_per_column(release)
    weights = [1 - 1 / max(release.labels[c].domain.known, 1) for c in kept]
    if not any(weights):
        reason = "every quasi-identifier has one value only, and so no weight"
        return Utility("granularity_arx", NOT_APPLICABLE, reason=reason)
    value = float(np.average(list(kept.values()), weights=weights))
    return Utility("granularity_arx", value=value, params=_granularity_params(release))


def discernibility(release: Release, k: int | None = None) -> Utility:
    """Σ|E|² over classes of at least k people, plus n for everybody in a smaller class, suppressed or left out."""
    sizes, n = class_sizes(release), release.rows + release.left_out
    small = sizes < (k or 0)
    withheld = release.suppressed_rows + release.left_out
    value = int((sizes[~small] ** 2).sum()) + n * (int(sizes[small].sum()) + withheld)
    params = {"k": k, "n": n, "suppressed_rows": withheld}
    return Utility("discernibility", value=value, better="lower", params=params)


def class_size(release: Release, k: int | None) -> Utility:
    """The mean class size over k. Suppressed rows are in no class and are left out."""
    sizes = class_sizes(release)
    if k is None or not len(sizes):
        reason = "no k was asked for" if k is None else "the release has no class"
        return Utility("class_size", NOT_APPLICABLE, better="lower", reason=reason)
    params = {"k": k, "n": int(sizes.sum()), "suppressed_rows": release.suppressed_rows}
    return Utility("class_size", value=float(sizes.sum() / len(sizes) / k), better="lower", params=params)


def _no_granularity(release: Release) -> str | None:
    """Why the granularity of a release is not defined, or None."""
    if len(release.blocks) > 1:
        return "the release has several blocks: what it loses is the link between them, not the width of its labels"
    if not release.schema.quasi:
        return "the schema names no quasi-identifier"
    if not release.rows:
        return "the release has no rows"
    outside = [c for c in release.quasi if _without_width(release.labels[c])[np.unique(_cells(release, c))].any()]
    if outside:
        return f"{', '.join(outside)}: numbers that are no value of the domain (centroids) cover no values"
    return None


def _without_width(labels: Labels) -> NDArray[np.bool_]:
    """The labels that cover no value and have no width either: their loss is unknown."""
    empty: NDArray[np.bool_] = labels.counts == 0
    if labels.domain.numbers is None or labels.domain.taxonomy is not None:
        return empty
    return empty & ~(labels.high > labels.low)


def _kept_per_column(release: Release) -> dict[str, float]:
    """1 - mean loss of each quasi-identifier of the schema."""
    kept = {}
    for column in release.schema.quasi:
        if column not in release.quasi:
            kept[column] = 0.0
            continue
        labels = release.labels[column]
        times = np.bincount(_cells(release, column), minlength=len(labels.texts))
        kept[column] = 1.0 - float(times @ labels.losses) / release.rows
    return kept


def _granularity_params(release: Release) -> dict[str, object]:
    """Over what each column's loss is measured."""
    over = {}
    for column in release.quasi:
        domain = release.labels[column].domain
        if domain.taxonomy is not None:
            over[column] = "taxonomy leaves"
        else:
            over[column] = "values" if domain.numbers is None else "range"
    return {"domain": over, "absent": [c for c in release.schema.quasi if c not in release.quasi]}


def _cells(release: Release, column: str) -> NDArray[np.int32]:
    return release.block_of(column).cell(column)
