"""Granularity: how much of the detail of the quasi-identifiers the labels keep.

- `granularity`: 1 - mean over cells (people × quasi-identifiers) of what the label hides, from 0 (exact) to 1 (everything):
  (leaves covered - 1)/(leaves - 1), with values instead of leaves if there is no taxonomy, or width over range for numbers.
- `granularity_arx` averages the columns' granularities with weights 1 - 1/d, where d is the size of the column's domain, and
  counts the values of numbers too: (values covered - 1)/(values - 1). This is what ARX prints.

Paper: V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.

A quasi-identifier that the schema names and the release lacks is fully lost, and so is everything of a person who was left
out: a method does not gain by deleting rows. Numbers that are not values of the domain (averages), and labels that do not
cover their people (modes, cluster centres), hide something too. ARX counts them as lossless; here granularity does not apply
to them.
"""

from __future__ import annotations

import numpy as np

from auditor.measure.utility.case import NOBODYS, Case, uncovered
from auditor.measure.utility.measure import ONE_BLOCK, measure
from auditor.model.arrays import Bools
from auditor.model.labels.labels import Labels
from auditor.model.labels.notation import is_everything
from auditor.model.record.meaning import Better
from auditor.model.record.record import NOT_APPLICABLE, Utility
from auditor.model.release import CLUSTER_RADIUS, Release


def granularity(case: Case) -> list[Utility]:
    """1 - mean loss over people × quasi-identifiers; suppressed rows count with their labels."""
    reason = no_widths(case)
    if reason:
        return [Utility("granularity", NOT_APPLICABLE, reason=reason)]
    kept = _kept_per_column(case.release)
    value = float(np.mean(list(kept.values())))
    return [Utility("granularity", value=value, params=_params(case.release), detail={"columns": kept})]


def granularity_arx(case: Case) -> list[Utility]:
    """The granularity as ARX prints it: columns weighted by 1 - 1/(size of their domain)."""
    release, reason = case.release, no_widths(case)
    absent = [c for c in release.schema.quasi if c not in release.quasi]
    if not reason and absent:
        reason = f"the release lacks {', '.join(absent)}, and the weight of a column is known only from its labels"
    if reason:
        return [Utility("granularity_arx", NOT_APPLICABLE, reason=reason)]
    kept = _kept_per_column(release, by_values=True)
    weights = [1 - 1 / max(release.labels[c].domain.known, 1) for c in kept]
    if not any(weights):
        reason = "every quasi-identifier has only one value, so none has a weight"
        return [Utility("granularity_arx", NOT_APPLICABLE, reason=reason)]
    value = float(np.average(list(kept.values()), weights=weights))
    return [Utility("granularity_arx", value=value, params=_params(release, by_values=True))]


def no_widths(case: Case) -> str | None:
    """Why the widths of a release's labels do not tell what it loses, or None."""
    release = case.release
    if release.synthetic:
        return NOBODYS
    if len(release.blocks) > 1:
        return "the release has several blocks: what it loses is the link between them, not the width of its labels"
    if not release.schema.quasi:
        return "the schema names no quasi-identifier"
    if not release.rows:
        return "the release has no rows"
    if CLUSTER_RADIUS in release.columns:
        return "cluster centres are published: they cover only their own values, not those of the others"
    outside = [c for c in release.quasi if (_without_width(release.labels[c]) & (release.label_counts(c) > 0)).any()]
    if outside:
        return f"{', '.join(outside)}: numbers that are not values of the domain (centroids) cover no values"
    return uncovered(case)


def _without_width(labels: Labels) -> Bools:
    """The labels that cover no value and have no width either: their loss is unknown."""
    whole = [is_everything(labels.domain, text.strip()) for text in labels.texts]
    empty: Bools = (labels.counts == 0) & ~labels.suppressed & ~np.array(whole, dtype=np.bool_)
    if labels.domain.numbers is None or labels.domain.taxonomy is not None:
        return empty
    return empty & ~(labels.high > labels.low)


def _kept_per_column(release: Release, by_values: bool = False) -> dict[str, float]:
    """1 - mean loss of each quasi-identifier of the schema; `by_values` also of numbers, which otherwise lose by width."""
    kept = {}
    for column in release.schema.quasi:
        if column not in release.quasi:
            kept[column] = 0.0
            continue
        labels = release.labels[column]
        losses = labels.value_losses if by_values else labels.losses
        lost = float(release.label_counts(column) @ losses) + release.left_out
        kept[column] = 1.0 - lost / (release.rows + release.left_out)
    return kept


def _params(release: Release, by_values: bool = False) -> dict[str, object]:
    """What each column's loss is measured over."""
    over = {}
    for column in release.quasi:
        domain = release.labels[column].domain
        if domain.taxonomy is not None:
            over[column] = "taxonomy leaves"
        else:
            over[column] = "values" if domain.numbers is None or by_values else "range"
    params: dict[str, object] = {"domain": over, "absent": [c for c in release.schema.quasi if c not in release.quasi]}
    return params if not release.left_out else {**params, "left_out": release.left_out}


GRANULARITY = measure(
    "granularity",
    "How fine the published quasi-identifiers are: 1 is as in the original, 0 is nothing left.",
    "granularity",
    granularity,
    ONE_BLOCK,
    "Iyengar 2002",
    best=1,
    worst=0,
    better=Better.HIGHER,
    headline=True,
)
GRANULARITY_ARX = measure(
    "granularity_arx",
    "The granularity of the columns by the values that labels cover, weighted by 1 - 1/domain size: what ARX prints.",
    "granularity (ARX)",
    granularity_arx,
    ONE_BLOCK,
    "Iyengar 2002; ARX",
    best=1,
    worst=0,
    better=Better.HIGHER,
)
