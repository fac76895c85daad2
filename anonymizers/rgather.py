"""r-gather: clusters of at least r rows around centres, with the largest radius at most twice the least possible.

Rows are points. The distance of two rows is a sum over the quasi-identifiers: for numbers and ordinals |difference| over the
range, for other columns the height of the common ancestor over that of the taxonomy. To try a threshold T, rows in random
order become centres and mark all rows within T, until all rows are marked. T passes if every centre can get r rows within
T; all other rows go to their nearest centre. Bisection ends with a T that passes while the next lower one fails. Each row is
published with the values of its cluster's centre, the size of the cluster (`cluster_size`) and the distance of its farthest
row (`cluster_radius`: summed over columns, so that 1 is a whole column; rounded up to four decimals). Sensitive values stay
as they are. r is what k is in other methods.

Paper: G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas, A. Zhu, "Achieving Anonymity via
Clustering", PODS 2006 (ACM Transactions on Algorithms 6(3), 2010).

No radius is more than twice the least possible. Let R be the largest radius of the best clusters. Two rows of one of them are
at most 2R apart, by way of their centre. So a threshold T ≥ 2R always passes: our centres are more than T apart, so no best
cluster holds two of them; a best cluster that holds one gives it r rows within 2R, and no row is asked twice. The bisection
ends with a T that passes while T - 1 fails (distances are whole numbers), so T ≤ 2R, and no row is farther than T from its
centre. The same holds with the largest distance within a best cluster in place of 2R.

Decided here: rows start at their nearest centre, and only as many as the flow needs move to another (see
`anonymizers/kernels/gathering.py`). A missing value is a whole column away from all others. Note that a centre is a real
record: its quasi-identifiers are published as they are, once for each row of its cluster. A reader cannot tell which of
these rows is the centre's own, but learns that a person with exactly these values is in the table. Labels do not cover the
values of the other rows, so the release is not a generalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.shared.centres import A_SLICE, ByCentres, Clusters, new_ground, new_search, reaches
from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent

if TYPE_CHECKING:
    from anonymizers.kernels.gathering import Ground


@dataclass(frozen=True)
class RGather(ByCentres):
    """Clusters of at least r rows with the largest radius at most twice the least possible; their centres are published."""

    name: ClassVar[str] = "rgather"
    summary: ClassVar[str] = "Centres of clusters of r rows, with the largest radius at most twice the least possible."

    def find_clusters(self, space: Space, order: Ints, progress: Progress) -> Clusters:
        return gather(space, self.r, order, progress)


def gather(space: Space, r: int, order: Ints, progress: Progress = silent) -> Clusters:
    """The clusters of r-gather; `order` is the order in which tuples may become centres."""
    ground = new_ground(space)
    widest = len(space.columns) * space.unit
    low = int(reaches(space, ground, r, progress).max()) - 1  # below, some row has not r rows within the threshold
    high, best = widest, None
    steps = max(high - low, 1).bit_length()
    tried = low + 1
    while best is None or high - low > 1:
        done = steps - max(high - low, 1).bit_length()
        found = _within(space, ground, r, order, tried, partial(progress, done, steps, "r-gather: thresholds"))
        if found is None:
            low = tried
        else:
            high, best = tried, found
        tried = (low + high) // 2 if high - low > 1 else high
    return best


def _within(space: Space, ground: Ground, r: int, order: Ints, limit: int, beat: Callable[[], None]) -> Clusters | None:
    """Clusters of r rows within the limit of centres that are farther apart; None where these centres cannot have them."""
    from anonymizers.kernels.gathering import Assignment, choose_centres, join_nearest, repair, ways

    tuples, rows = len(space.tuples), len(space.rows)
    most = rows // r
    centre, now = np.empty(most + 1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    search = new_search(space, np.arange(tuples))
    while now[0] < tuples and now[1] <= most:
        beat()
        choose_centres(ground, search, order, limit, most, centre, now, A_SLICE)
    if now[1] > most:
        return None
    centre = centre[: now[1]].copy()
    number = np.full(tuples, -1, dtype=np.int64)
    number[centre] = np.arange(len(centre))
    given = Assignment(
        centre,
        np.zeros(len(centre), dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.zeros(len(centre), dtype=np.int64),
        np.full(len(centre), -1, dtype=np.int64),
    )
    centres = new_search(space, np.sort(centre))
    for start in range(0, tuples, A_SLICE):
        beat()
        join_nearest(ground, centres, number, given, start, min(start + A_SLICE, tuples))
    search = new_search(space, np.arange(tuples))
    state = 0
    while state == 0:
        beat()
        state = repair(ground, search, given, limit, r, 100)
    if state < 0:
        return None
    way = np.empty(rows, dtype=np.int64)
    ways(ground, given, 0, tuples, way)
    return Clusters(given.member, way, centre)
