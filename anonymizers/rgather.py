"""r-gather: clusters of at least r rows around centres, with the largest radius at most twice the least possible.

Rows are points. The distance of two rows is a sum over the quasi-identifiers: for numbers and ordinals |difference| over
the range, for other columns the height of the common ancestor over that of the taxonomy. To try a threshold T, rows in
random order become centres and mark all rows within T, until all rows are marked. T passes if every centre can get r rows
within T; all other rows go to their nearest centre. Bisection ends with a T that passes while the next lower one fails.
Then every cluster takes as its centre the row of its own, no other cluster's centre, from which the farthest one is least
far, and of several random orders (`orders`, and more where there are few different rows) the clusters with the smallest
largest radius are kept. Each row is published with the values of its cluster's centre, the size of the cluster
(`cluster_size`) and the distance of its farthest row (`cluster_radius`: summed over columns, so that 1 is a whole column;
rounded up to four decimals). Sensitive values stay as they are. r is what k is in other methods.

Paper: G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas, A. Zhu, "Achieving Anonymity via
Clustering", PODS 2006 (ACM Transactions on Algorithms 6(3), 2010).

No radius is more than twice the least possible. Let R be the largest radius of the best clusters. Two rows of one of them
are at most 2R apart, by way of their centre. So a threshold T ≥ 2R always passes: our centres are more than T apart, so no
best cluster holds two of them; a best cluster that holds one gives it r rows within 2R, and no row is asked twice. The
bisection ends with a T that passes while T - 1 fails (distances are whole numbers), so T ≤ 2R, and no row is farther than T
from its centre. The same holds with the largest distance within a best cluster in place of 2R. A centre moves only where
that makes the radius less, and of several orders the best is kept, so neither can break the bound.

Decided here: recentring and several orders, since the printed procedure keeps whatever centres the order brings: on the
paper's own example (0111, 1011, 1101, 1110, 1111) it ended with radius 2, where (1, 1, 1, 1) has radius 1. Rows start at
their nearest centre, and only as many as the flow needs move to another (see `anonymizers/kernels/gathering.py`). A missing
value is a whole column away from all others. Note that a centre is a real record: its quasi-identifiers are published as
they are, once for each row of its cluster. A reader cannot tell which of these rows is the centre's own, but learns that a
person with exactly these values is in the table. Labels do not cover the values of the other rows, so the release is not a
generalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import at_least
from anonymizers.shared.centres import A_SLICE, ByCentres, Clusters, new_ground, new_search, reaches
from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints
from auditor.model.progress import Progress, silent

if TYPE_CHECKING:
    from anonymizers.kernels.gathering import Ground

_FEW = 200
"""Clusters between two reports of progress; tables with fewer different rows are tried in more orders."""


@dataclass(frozen=True)
class RGather(ByCentres):
    """Clusters of at least r rows with the largest radius at most twice the least possible; their centres are published."""

    name: ClassVar[str] = "rgather"
    summary: ClassVar[str] = "Centres of clusters of r rows, with the largest radius at most twice the least possible."

    orders: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(f"{self.name}: orders", self.orders, 1)

    def find_clusters(self, space: Space, rng: np.random.Generator, progress: Progress) -> Clusters:
        ground, tuples = new_ground(space), len(space.tuples)
        least = reaches(space, ground, self.r, progress)
        tried = (
            recentred(
                space, ground, _gathered(space, ground, self.r, rng.permutation(tuples), least, progress), progress
            )
            for _ in range(max(self.orders, _FEW // tuples))
        )
        return min(tried, key=lambda clusters: (int(clusters.radius.max()), int(clusters.way.sum())))


def gather(space: Space, r: int, order: Ints, progress: Progress = silent) -> Clusters:
    """The clusters of r-gather; `order` is the order in which tuples may become centres."""
    ground = new_ground(space)
    return _gathered(space, ground, r, order, reaches(space, ground, r, progress), progress)


def _gathered(space: Space, ground: Ground, r: int, order: Ints, least: Ints, progress: Progress) -> Clusters:
    """The same, given the least distance within which each tuple has r rows."""
    widest = len(space.columns) * space.unit
    low = int(least.max()) - 1  # below, some row has not r rows within the threshold
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


def recentred(space: Space, ground: Ground, clusters: Clusters, progress: Progress = silent) -> Clusters:
    """The same clusters, each around the one of its rows that makes its radius least."""
    from anonymizers.kernels.gathering import Assignment, recentre, ways

    tuple_of = np.repeat(np.arange(len(space.tuples)), np.diff(space.first))
    pairs = np.unique(clusters.member * len(space.tuples) + tuple_of)
    owner, order = np.divmod(pairs, len(space.tuples))
    begins = np.searchsorted(owner, np.arange(len(clusters.centre) + 1))
    room = np.zeros(len(clusters.centre), dtype=np.int64)
    given = Assignment(clusters.centre.copy(), clusters.size, clusters.member, room, room)
    radius = clusters.radius
    for c in range(0, len(room), _FEW):
        progress(c, len(room), "r-gather: centres")
        recentre(ground, given, order, begins, c, min(c + _FEW, len(room)), radius)
    way = np.empty(len(space.rows), dtype=np.int64)
    ways(ground, given, 0, len(space.tuples), way)
    return Clusters(clusters.member, way, given.centre)


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
