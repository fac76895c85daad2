"""r-cellular clustering by a heuristic: clusters of at least r rows with a low total of size times radius.

A cluster costs `facility + size · radius`: every row pays the radius of its cluster, and every cluster pays `facility` once,
in the same unit (1 moves one row by a whole column). Unlike in r-gather, a few outlying rows do not widen all other clusters.
Centres, sizes and radii are published as by `rgather`, with the same distances and the same warning: a centre is a real
record.

First, the ball of r or more free rows with the lowest price a row (facility/rows + radius) becomes a cluster, again and
again, until fewer than r rows are free; each of those joins the cluster whose cost it raises least. Then the clusters are
improved as long as the cost falls: rows move to clusters where they cost less, clusters whose rows cost less elsewhere are
closed, and clusters are opened around rows at the edge of another. Where the clusters of `rgather` are cheaper, those are
published, so the cost is never above that of `rgather`.

Paper: G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas, A. Zhu, "Achieving Anonymity via
Clustering", PODS 2006 (ACM Transactions on Algorithms 6(3), 2010), for the measure.
Decided here: the paper proves a constant factor for an algorithm of its own. This one is a heuristic and promises no factor,
only r rows a cluster. Ties go to the row whose values come first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.rgather import gather
from anonymizers.shared.centres import ByCentres, Clusters, new_ground, new_search, reaches
from anonymizers.shared.distance import Space
from auditor.model.arrays import Ints
from auditor.model.errors import UsageError
from auditor.model.progress import Progress, silent

if TYPE_CHECKING:
    from anonymizers.kernels.cellular import Cells
    from anonymizers.kernels.gathering import Ground

_A_SLICE = 500
"""Rows between two reports of progress."""
_FEW = 20
"""The same for larger pieces of work: balls that are priced, and clusters that might be closed."""
_MOST_PASSES = 30
"""Passes of improvement; most tables need a few."""
LARGEST_FACILITY = 1_000_000


@dataclass(frozen=True)
class RCellular(ByCentres):
    """Clusters of at least r rows with a low sum of facility + size · radius, by a heuristic; their centres are published."""

    name: ClassVar[str] = "rcellular"
    summary: ClassVar[str] = "Heuristic: centres of clusters of r rows with a low sum of size times radius."

    facility: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.facility <= LARGEST_FACILITY:
            raise UsageError(
                f"{self.name}: facility must be a number from 0 to {LARGEST_FACILITY}. Got {self.facility}."
            )

    def find_clusters(self, space: Space, rng: np.random.Generator, progress: Progress) -> Clusters:
        order = rng.permutation(len(space.tuples))
        return cellular(space, self.r, round(self.facility * space.unit), order, progress)


def cellular(space: Space, r: int, facility: int, order: Ints, progress: Progress = silent) -> Clusters:
    """The clusters of the heuristic; `facility` in whole numbers, as distances are, `order` as for r-gather."""
    ground = new_ground(space)
    cells = cheapest_balls(space, ground, r, facility, progress)
    found = improve(space, ground, cells, r, facility, progress)
    return min(found, gather(space, r, order, progress), key=lambda clusters: cost(clusters, facility))


def cost(clusters: Clusters, facility: int) -> int:
    """What clusters cost in all."""
    return facility * len(clusters.centre) + int((clusters.size * clusters.radius).sum())  # may pass 64 bits


def cheapest_balls(space: Space, ground: Ground, r: int, facility: int, progress: Progress) -> Cells:
    """Clusters by the cheapest ball first; each of the last rows joins the cluster that it raises least.

    The price of a ball around a tuple only rises while rows are taken, since a ball of free rows was there before as well,
    perhaps with more rows. So an old price is a lower bound, and only the tuples at the front of the queue are asked anew.
    """
    from anonymizers.kernels.cellular import cheapest_ball, relocate, take_ball

    cells = _no_cells(space, r)
    free, made = len(space.rows), 0
    search = new_search(space, np.arange(len(space.tuples)))
    first = reaches(space, ground, r, progress) + facility / free  # no ball of all rows is cheaper
    queue = [(float(price), u) for u, price in enumerate(first)]
    heapq.heapify(queue)
    asked = 0
    while free >= r:
        _, u = heapq.heappop(queue)
        if not search.left[u]:
            continue
        asked += 1
        if asked % _FEW == 1:
            progress(len(space.rows) - free, len(space.rows), "cheapest balls")
        price, radius = cheapest_ball(ground, search, u, r, facility)
        if queue and (price, u) > queue[0]:
            heapq.heappush(queue, (price, u))
            continue
        take_ball(ground, search, cells, u, radius, made)
        free -= int(cells.size[made])
        made += 1
    centres = new_search(space, np.flatnonzero(cells.number >= 0))
    for row in np.flatnonzero(cells.member < 0).tolist():
        relocate(ground, centres, cells, r, row, row + 1)
    return cells


def improve(space: Space, ground: Ground, cells: Cells, r: int, facility: int, progress: Progress) -> Clusters:
    """The clusters after all moves that lower their cost."""
    from anonymizers.kernels.cellular import close, open_new, relocate

    rows = len(space.rows)
    now = np.array([int(np.count_nonzero(cells.size))], dtype=np.int64)
    everybody = new_search(space, np.arange(len(space.tuples)))
    for number in range(_MOST_PASSES):
        centres = new_search(space, np.flatnonzero(cells.number >= 0))
        change = 0
        for start in range(0, rows, _A_SLICE):
            progress(start, rows, f"improvement {number + 1}: rows")
            change += relocate(ground, centres, cells, r, start, min(start + _A_SLICE, rows))
        last = int(now[0])
        for start in range(0, last, _FEW):
            progress(start, last, f"improvement {number + 1}: closing")
            change += close(ground, centres, cells, facility, start, min(start + _FEW, last))
        for start in range(0, rows, _A_SLICE):
            progress(start, rows, f"improvement {number + 1}: opening")
            change += open_new(ground, everybody, cells, r, facility, start, min(start + _A_SLICE, rows), now)
        if change == 0:
            break
    kept = np.flatnonzero(cells.size)
    renumber = np.full(len(cells.size), -1, dtype=np.int64)
    renumber[kept] = np.arange(len(kept))
    return Clusters(renumber[cells.member], cells.way, cells.centre[kept])


def _no_cells(space: Space, r: int) -> Cells:
    """Room for clusters, twice as many as there can be at a time: those that were closed keep their place."""
    from anonymizers.kernels.cellular import Cells

    rows, tuples, room = len(space.rows), len(space.tuples), 2 * (len(space.rows) // r) + 2
    member, way, before, after = (np.full(rows, -1, dtype=np.int64) for _ in range(4))
    centre, anchor, head, kept = (np.full(room, -1, dtype=np.int64) for _ in range(4))
    size, radius = (np.zeros(room, dtype=np.int64) for _ in range(2))
    number, tuple_of = np.full(tuples, -1, dtype=np.int64), np.repeat(np.arange(tuples), space.copies)
    return Cells(member, way, before, after, centre, anchor, head, size, radius, kept, number, tuple_of)
