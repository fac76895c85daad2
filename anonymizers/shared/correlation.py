"""Attribute partition by correlation: columns that go together are put into one block.

The distance of two columns is 1 - φ², where φ² is their mean-square contingency coefficient. For it, numeric columns are cut
into ranges of equal width, and a missing value is a value of its own. The blocks are the clusters of k-medoids by PAM
(Kaufman and Rousseeuw 1990): medoids are chosen one by one, each time the one that helps most (BUILD), and then exchanged
for other columns as long as the sum of distances to the nearest medoid falls, the best exchange first (SWAP). Ties go to
the column that stands first, so nothing is random.

PAM is written out here. The well-kept package for it (kmedoids) is under the GPL, which does not go with this project's
licence, and for a few dozen columns the plain algorithm takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from auditor.measure.association import mean_square_contingency
from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.progress import Progress, silent
from auditor.model.table import Table

_GAIN = 1e-12
"""An exchange of medoids must lower the sum of distances by more than this; less may be rounding."""


def ranges(codes: Codes, domain: Domain, bins: int) -> Ints:
    """A column as categories: for numbers the range among `bins` of equal width over the domain; the value itself in other
    columns, and in numeric columns of at most `bins` values."""
    if domain.numbers is None or domain.span is None or domain.known <= bins:
        return codes.astype(np.int64)
    place = (domain.numbers - domain.span[0]) / domain.width
    of_code = np.clip((place * bins).astype(np.int64), 0, bins - 1)
    if domain.missing is not None:
        of_code = np.append(of_code, bins)
    return of_code[codes]


def correlations(table: Table, columns: Sequence[str], bins: int, progress: Progress = silent) -> Floats:
    """φ² between all pairs of columns, 1 on the diagonal."""
    categories = [ranges(table.codes[c], table.domains[c], bins) for c in columns]
    phi = np.eye(len(columns))
    pairs = list(combinations(range(len(columns)), 2))
    for done, (i, j) in enumerate(pairs):
        progress(done, len(pairs), "correlating columns")
        phi[i, j] = phi[j, i] = mean_square_contingency(categories[i], categories[j])
    return phi


def k_medoids(distance: Floats, k: int) -> list[list[int]]:
    """The clusters of PAM, each in ascending order; a medoid is always in its own cluster, so none is empty."""
    medoids: list[int] = []
    for _ in range(k):  # BUILD
        outside = [point for point in range(len(distance)) if point not in medoids]
        medoids.append(min(outside, key=lambda point: (_cost(distance, [*medoids, point]), point)))
    while True:  # SWAP
        exchanges = [
            sorted([*medoids[:place], point, *medoids[place + 1 :]])
            for place in range(k)
            for point in range(len(distance))
            if point not in medoids
        ]
        best = min(exchanges, key=lambda chosen: (_cost(distance, chosen), chosen), default=medoids)
        if _cost(distance, best) >= _cost(distance, medoids) - _GAIN:
            break
        medoids = best
    medoids.sort()
    nearest = np.argmin(distance[:, medoids], axis=1)
    nearest[medoids] = np.arange(k)
    return [np.flatnonzero(nearest == cluster).tolist() for cluster in range(k)]


def _cost(distance: Floats, medoids: Sequence[int]) -> float:
    """The sum of the distances to the nearest medoid."""
    return float(distance[:, list(medoids)].min(axis=1).sum())


def blocks_by_correlation(
    table: Table,
    columns: Sequence[str],
    c: int,
    bins: int,
    sensitive: str | None,
    sensitive_size: int | None = None,
    progress: Progress = silent,
    allows: Callable[[Sequence[str]], bool] | None = None,
) -> list[list[str]]:
    """The columns in c blocks, that of the sensitive column last.

    With `sensitive_size` its block holds it and the columns most correlated with it, so many in all, and the others are
    clustered into c - 1 blocks (the paper's special attribute partitioning, where the size is called α). `allows` says which
    columns may stand in its block: of those that are clustered with it, the most correlated first, each stays that is
    allowed with those before it. The others move to the block that has the column they are most correlated with.
    """
    phi = correlations(table, columns, bins, progress)
    if sensitive is None or sensitive_size is None:
        clusters = k_medoids(1 - phi, c)
        if sensitive is not None and allows is not None:
            clusters = _allowed(columns, phi, clusters, columns.index(sensitive), allows)
    else:
        own = columns.index(sensitive)
        near = sorted((i for i in range(len(columns)) if i != own), key=lambda i: (-phi[own, i], i))
        apart = sorted(near[sensitive_size - 1 :])
        clusters = [[apart[i] for i in group] for group in k_medoids(1 - phi[np.ix_(apart, apart)], c - 1)]
        clusters.append(sorted([own, *near[: sensitive_size - 1]]))
    blocks = [[columns[i] for i in cluster] for cluster in sorted(clusters)]
    return sorted(blocks, key=lambda block: sensitive in block)


def _allowed(
    columns: Sequence[str],
    phi: Floats,
    clusters: Sequence[Sequence[int]],
    own: int,
    allows: Callable[[Sequence[str]], bool],
) -> list[list[int]]:
    """The clusters after columns that may not stand beside the column `own` have moved to others."""
    kept: list[int] = [own]
    apart: list[int] = []
    others = [list(cluster) for cluster in clusters if own not in cluster]
    partners = [i for cluster in clusters if own in cluster for i in cluster if i != own]
    for i in sorted(partners, key=lambda i: (-phi[own, i], i)):
        (kept if allows([columns[j] for j in sorted([*kept, i])]) else apart).append(i)
    goal = [max(range(len(others)), key=lambda place: (max(phi[i, j] for j in others[place]), -place)) for i in apart]
    for i, place in zip(apart, goal, strict=True):
        others[place].append(i)
    return [*(sorted(cluster) for cluster in others), sorted(kept)]
