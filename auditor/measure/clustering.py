"""How compact clusters are: the square error criterion, and the total information loss of a generalised release.

- `square_error`: E = Σ over clusters of Σ |x - m|², where m is the cluster's centroid (El-Rashidy et al. 2011, eq. 4, after
  Han and Kamber). Columns are scaled to 0..1. In an ordered column m is the mean. In others it is the value with the least
  total distance to the cluster's values (ties: the first); the distance of two values is the height of their lowest common
  ancestor over the height of the taxonomy, or 1 without a taxonomy.
- `information_loss`: Σ over classes e of |e|·(Σ (max - min)/|N| + Σ H(Λ(∪C))/H(T)) (Byun et al. 2007; El-Rashidy et al. 2011,
  eq. 1-2): in each quasi-identifier every record costs the width of its interval over the range, or the height of the lowest
  node that covers its label over the height of the taxonomy. `normalised` is the same per record and column, from 0 to 1.

A missing value is a whole column away from every other value: means leave it out, and a record that lacks the value adds 1.
But if most records of the cluster lack it, those add 0 and the others 1. A label for missing and other values costs 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditor.model.arrays import Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.labels.notation import is_everything
from auditor.model.record.record import NOT_APPLICABLE, Utility
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.model.table import Table


def square_error(table: Table, columns: Sequence[str], clusters: Ints) -> float:
    """E over some columns of a table; `clusters` gives the cluster of each row."""
    group = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    return float(sum(_column_error(table.domains[c], table.codes[c].astype(np.int64), group) for c in columns))


def information_loss(release: Release) -> Utility:
    """The total information loss of a release; a quasi-identifier that it lacks is fully lost."""
    reason = None
    if len(release.blocks) > 1:
        reason = "the release has several blocks: what it loses is the link between them, not the width of its labels"
    elif not release.schema.quasi:
        reason = "the schema names no quasi-identifier"
    elif not release.rows:
        reason = "the release has no rows"
    if reason:
        return Utility("information_loss", NOT_APPLICABLE, better="lower", reason=reason)
    parts = {}
    for column in release.schema.quasi:
        if column not in release.quasi:
            parts[column] = float(release.rows)
            continue
        labels = release.labels[column]
        times = release.label_counts(column)
        losses = label_losses(labels)
        if np.isnan(losses[times > 0]).any():
            reason = f"{column}: numbers that are not values of the domain (centroids) cover no values"
            return Utility("information_loss", NOT_APPLICABLE, better="lower", reason=reason)
        parts[column] = float(times @ np.nan_to_num(losses))
    total = sum(parts.values())
    detail = {"normalised": total / (release.rows * len(parts)), "columns": parts}
    return Utility("information_loss", value=total, better="lower", params={"n": release.rows}, detail=detail)


def label_losses(labels: Labels) -> Floats:
    """What a record loses by each label: width over range, or height of the covering node over that of the taxonomy. NaN for
    labels that cover no value and have no width."""
    domain = labels.domain
    whole = labels.suppressed | np.array([is_everything(domain, text.strip()) for text in labels.texts], dtype=np.bool_)
    if not domain.size:  # the column is published only as suppressed cells
        return np.where(whole, 1.0, np.nan)
    none = labels.counts == 0
    lo, hi = np.where(none, 0, labels.lo).astype(np.int64), np.where(none, 0, labels.hi).astype(np.int64)
    if _is_ordered(domain):
        place = _positions(domain)
        lost = np.where(np.isnan(place[lo]) != np.isnan(place[hi]), 1.0, np.nan_to_num(place[hi] - place[lo]))
        said = np.isfinite(labels.high - labels.low)  # published bounds may lie between values
        if domain.width > 0:
            lost = np.where(said, (labels.high - labels.low) / domain.width, lost)
        none &= ~(said & (labels.high > labels.low))
    else:
        path, height = _paths(domain)
        shared = (path[:, lo] == path[:, hi]).sum(axis=0)
        lost = height[path[shared - 1, lo]]
    return np.where(whole, 1.0, np.where(none, np.nan, np.clip(lost, 0.0, 1.0)))


def value_distance(domain: Domain, one: Ints, other: Ints) -> Floats:
    """The distance of values, from 0 to 1: by size or rank in an ordered column, else the height of the lowest common
    ancestor over that of the taxonomy; 1 from a missing value to any other."""
    if _is_ordered(domain):
        place = _positions(domain)
        way = np.abs(place[one] - place[other])
        return np.where(np.isnan(way), (one != other).astype(np.float64), way)
    path, height = _paths(domain)
    shared = (path[:, one] == path[:, other]).sum(axis=0)
    return np.asarray(height[path[shared - 1, one]])


def _column_error(domain: Domain, codes: Ints, group: Ints) -> float:
    """The square error of one column."""
    if _is_ordered(domain):
        place = _positions(domain)[codes]
        there = ~np.isnan(place)
        present = np.bincount(group, weights=there)
        missing = np.bincount(group) - present
        mean = np.bincount(group, weights=np.nan_to_num(place)) / np.maximum(present, 1)
        square = np.where(there, (np.nan_to_num(place) - mean[group]) ** 2, 1.0)
        return float(np.where((missing > present)[group], there, square).sum())
    path, height = _paths(domain)
    total = _totals(path, height, codes, group)
    order = np.lexsort((codes, total, group))
    centre = codes[order[np.flatnonzero(np.diff(group[order], prepend=-1))]]
    return float((value_distance(domain, codes, centre[group]) ** 2).sum())


def _totals(path: Ints, height: Floats, codes: Ints, group: Ints) -> Floats:
    """For each row the total distance of its value to the values of its group: at each node above the value, the node's
    height times the number of the group's rows that branch off there."""
    nodes = len(height)
    under = []
    for level in path:
        _, which, counts = np.unique(group * nodes + level[codes], return_inverse=True, return_counts=True)
        under.append(counts[which])
    total = np.zeros(len(codes))
    for depth in range(len(path) - 1):
        total += height[path[depth, codes]] * (under[depth] - under[depth + 1])
    return np.round(total, 9)  # so that ties stay ties, whatever the heights are divided by


def _is_ordered(domain: Domain) -> bool:
    return domain.numbers is not None or domain.column.type is Type.ORDINAL


def _positions(domain: Domain) -> Floats:
    """The position of each code on a line from 0 to 1; NaN for the missing value."""
    place = np.full(domain.size, np.nan)
    if domain.numbers is None or domain.span is None:
        place[: domain.known] = np.arange(domain.known) / max(domain.known - 1, 1)
    else:
        place[: domain.known] = (domain.numbers - domain.span[0]) / (domain.width or 1.0)
    return place


def _paths(domain: Domain) -> tuple[Ints, Floats]:
    """For each depth the node above each code, and the height of each node over that of the whole tree. The missing value
    is a child of the root."""
    taxonomy = domain.taxonomy
    if taxonomy is None or taxonomy.height == 0:
        codes = np.arange(domain.size)
        height = np.zeros(domain.size + 1)
        height[0] = float(domain.size > 1)
        return np.array([np.zeros_like(codes), codes + 1]), height
    path, nodes = taxonomy.path, len(taxonomy.labels)
    deepest = np.array(
        [taxonomy.depth[taxonomy.leaf_node[a : b + 1]].max() for a, b in zip(taxonomy.lo, taxonomy.hi, strict=True)]
    )
    height = (deepest - taxonomy.depth) / taxonomy.height
    if domain.missing is not None:
        path = np.column_stack([path, np.full(len(path), nodes)])
        path[0, -1] = 0
        height = np.append(height, 0.0)
    return path, height
