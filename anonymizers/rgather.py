"""r-gather: clusters of at least r rows around centres, with the largest radius as small as can be promised.

Rows are points, and the distance of two is the sum over the quasi-identifiers of |difference| over the range (numbers and
ordinals) or of the common ancestor's height over that of the taxonomy. A threshold T is tried: rows in random order become
centres and mark all rows within T, until all are marked; then every centre must get r rows within T, and all other rows go
to their nearest centre. The T at which bisection ends is taken: it passes, the next lower one does not. Published are, for
each row, the values of its cluster's centre, the size of the cluster (`cluster_size`) and the distance of its farthest row
(`cluster_radius`: the sum over columns, so that 1 is a whole column; rounded up to four decimals). Sensitive values stay as
they are. r is what k is elsewhere.

Paper: G. Aggarwal, T. Feder, K. Kenthapadi, S. Khuller, R. Panigrahy, D. Thomas, A. Zhu, "Achieving Anonymity via
Clustering", PODS 2006 (ACM Transactions on Algorithms 6(3), 2010).

No radius is more than twice the least possible. Let R be the largest radius of the best clusters. Two rows of one of them are
at most 2R apart, by way of their centre. So a threshold T >= 2R always passes: centres are more than T apart, so no best
cluster holds two of them; one that holds a centre gives it r rows within 2R, and no row is asked twice. The bisection
ends with a T that passes while T - 1 fails (distances are whole numbers), so T <= 2R, and no row is farther than T from its
centre. The same holds with the largest distance within a best cluster in place of 2R.

Decided here: rows start at their nearest centre, and only as many as the flow needs move to another (see
`anonymizers/kernels/gathering.py`). A missing value is a whole column away from all others. Mind that a centre is a real
record: its quasi-identifiers are published as they are, once for each row of its cluster. Nobody can tell which of these rows
is the centre's own, but that somebody with these very values is in the table is out. Labels do not cover the values
of the other rows, so the release is no generalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonymizers.base import Anonymizer, at_least, need_quasi, published_columns
from anonymizers.shared.distance import Space
from anonymizers.shared.grouping import Blocking, Grouping, Groups
from anonymizers.shared.growing import new_costs
from auditor.model.arrays import Ints
from auditor.model.domain import Domain
from auditor.model.errors import PromiseError, UsageError
from auditor.model.labels.labels import Labels
from auditor.model.progress import Progress, silent
from auditor.model.provenance import Provenance
from auditor.model.release import CLUSTER_RADIUS, CLUSTER_SIZE, DERIVED, Release
from auditor.model.table import Table
from auditor.model.values import format_number

if TYPE_CHECKING:
    from anonymizers.kernels.gathering import Ground, Search


_A_SLICE = 2_000
_DECIMALS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Rows around centres: the cluster of each row in the order of tuples (`member`) and its distance to the centre (`way`);
    the tuple that is the centre of each cluster."""

    member: Ints
    way: Ints
    centre: Ints

    @property
    def size(self) -> Ints:
        """The number of rows of each cluster."""
        return np.bincount(self.member, minlength=len(self.centre))

    @property
    def radius(self) -> Ints:
        """The distance of the farthest row of each cluster."""
        out = np.zeros(len(self.centre), dtype=np.int64)
        np.maximum.at(out, self.member, self.way)
        return out


@dataclass(frozen=True)
class RGather(Grouping):
    """Clusters of at least r rows with the largest radius at most twice the least possible; their centres are published."""

    name: ClassVar[str] = "rgather"
    summary: ClassVar[str] = "Centres of clusters of r rows, with the largest radius at most twice the least possible."
    paper: ClassVar[str] = "Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas & Zhu 2006"
    truthful: ClassVar[bool] = False

    r: int = 5

    def __post_init__(self) -> None:
        at_least("rgather: r", self.r, 1)

    def promises(self, sensitive: str | None = None) -> tuple[str, ...]:
        return (f"k = {self.r}",)

    @property
    def least_rows(self) -> int:
        return self.r

    def groups(self, table: Table, rng: np.random.Generator, progress: Progress = silent) -> Groups:
        space = centre_space(table, self.r, self.name)
        clusters = gather(space, self.r, rng.permutation(len(space.tuples)), progress)
        return centre_groups(space, clusters)

    def publish_groups(self, table: Table, groups: Groups, rng: np.random.Generator) -> tuple[Release, Provenance]:
        return publish_centres(self, table, groups, rng)

    def in_blocks(self, table: Table) -> Blocking:
        check_derived(table, self.name)
        return super().in_blocks(table)


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
        choose_centres(ground, search, order, limit, most, centre, now, _A_SLICE)
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
    for start in range(0, tuples, _A_SLICE):
        beat()
        join_nearest(ground, centres, number, given, start, min(start + _A_SLICE, tuples))
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


def reaches(space: Space, ground: Ground, r: int, progress: Progress) -> Ints:
    """For each tuple the least distance within which there are r rows, its own among them."""
    from anonymizers.kernels.gathering import reach

    tuples = len(space.tuples)
    out = np.zeros(tuples, dtype=np.int64)
    search = new_search(space, np.arange(tuples))
    for start in range(0, tuples, _A_SLICE):
        progress(start, tuples, "distances to the nearest rows")
        reach(ground, search, r, start, min(start + _A_SLICE, tuples), out)
    return out


def new_ground(space: Space) -> Ground:
    """What the kernels search on."""
    from anonymizers.kernels.gathering import Ground
    from anonymizers.kernels.search import Stack
    from anonymizers.kernels.tree import STACK

    stack = Stack(np.zeros(STACK, dtype=np.int64), np.zeros(STACK, dtype=np.int64))
    nodes = np.zeros(len(space.trees.root), dtype=np.int64)
    return Ground(space.tuples, space.first, space.trees, space.rise(), new_costs(space), nodes, stack)


def new_search(space: Space, chosen: Ints) -> Search:
    """A search among some tuples (numbers in ascending order)."""
    from anonymizers.kernels.gathering import Search
    from anonymizers.kernels.tree import build

    left = np.zeros(len(space.tuples), dtype=np.int64)
    left[chosen] = 1
    return Search(build(space.tuples, chosen, space.weight), left, np.empty(len(chosen), dtype=np.int64))


def centre_space(table: Table, r: int, name: str) -> Space:
    """The rows of a table as points, after checking that their centres can be published."""
    quasi = need_quasi(table, name)
    if table.rows < r:
        raise PromiseError(f"{name}: r must be at most the number of rows. Got r = {r} and {table.rows} rows.")
    check_derived(table, name)
    return Space.of(table, quasi)


def check_derived(table: Table, name: str) -> None:
    """An error where the table has a column with the name of one that the release adds."""
    taken = [column for column in DERIVED if column in table.schema.columns]
    if taken:
        raise UsageError(f"{name}: the column {taken[0]!r} must have another name: the release adds one of that name.")


def centre_groups(space: Space, clusters: Clusters) -> Groups:
    """The clusters as groups of the rows of the table."""
    member = space.groups(clusters.member)
    row = space.rows[space.first[clusters.centre]]  # a row that has the values of the centre
    radius = -(-clusters.radius * 10**_DECIMALS // space.unit)  # rounded up: no row is farther
    return Groups(member, centre=row[member], radius=radius[member])


def publish_centres(
    method: Anonymizer, table: Table, groups: Groups, rng: np.random.Generator
) -> tuple[Release, Provenance]:
    """Publishes each row with the quasi-identifiers of its centre, the size and the radius of its cluster."""
    assert groups.centre is not None
    assert groups.radius is not None
    member, quasi = groups.member, need_quasi(table, method.name)
    labels = {column: Labels.exact(table.domains[column]) for column in quasi}
    cells = {column: table.codes[column][groups.centre] for column in quasi}
    size, radius = np.bincount(member), np.zeros(int(member.max()) + 1)
    radius[member] = groups.radius / 10**_DECIMALS
    form = table.schema.format
    for column, numbers in ((CLUSTER_SIZE, size), (CLUSTER_RADIUS, radius)):
        texts = [format_number(float(number), form.decimal) for number in numbers]
        domain = Domain.of(DERIVED[column], form, [(column, texts)])
        labels[column] = Labels.exact(domain)
        cells[column] = domain.encode(texts, column)[member]
    block = [*published_columns(table), *DERIVED]
    return method.publish(table, labels, cells, [block], None, rng)
