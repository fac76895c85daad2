"""One-pass k-means, the three k-means algorithms and weighted-feature C-means as the papers print them, in plain Python.

No duplicates, trees or tables: every row is compared with every centroid. Rows are in the order of their values; seeds and
the order in which an adjustment puts rows back are given. Sums over columns take trees first, as the fast version does, so
that rounding, and with it every tie, is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from anonymizers.shared.distance import Space

Row = tuple[int, ...]
Centre = tuple[float, ...]
Clusters = list[list[int]]


class Naive:
    """The rows of a space and what distances between them are."""

    def __init__(self, space: Space, square: bool) -> None:
        self.space, self.square = space, square
        self.gaps: dict[tuple[int, int], int] = {}
        self.rows: list[Row] = []
        for values, copies in zip(space.tuples.tolist(), space.copies.tolist(), strict=True):
            self.rows += [tuple(values)] * copies
        self.columns = [*range(space.ordered, len(space.columns)), *range(space.ordered)]

    def gap(self, a: int, b: int) -> int:
        """The distance of two slots: the height of the lowest node that covers both, in units."""
        if (a, b) not in self.gaps:
            self.gaps[a, b] = self._gap(a, b)
        return self.gaps[a, b]

    def _gap(self, a: int, b: int) -> int:
        trees, node = self.space.trees, int(self.space.trees.leaf[a])
        while not trees.low[node] <= b <= trees.high[node]:
            node = int(trees.parent[node])
        whole = max(int(trees.height[trees.root[trees.tree[node]]]), 1)
        return self.space.unit * int(trees.height[node]) // whole

    def part(self, j: int, x: float, m: float) -> float:
        """The distance in one column: x and m are positions from 0 to 1 (2: missing), or slots."""
        way = min(abs(x - m), 1.0) if j < self.space.ordered else self.gap(int(x), int(m)) / self.space.unit
        return way * way if self.square else way

    def point(self, row: Row) -> Centre:
        return tuple(x / self.space.unit if j < self.space.ordered else float(x) for j, x in enumerate(row))

    def distance(self, point: Centre, centre: Centre, weight: Iterable[float] | None = None) -> float:
        weights = [1.0] * len(point) if weight is None else list(weight)
        total = 0.0
        for j in self.columns:
            total += weights[j] * self.part(j, point[j], centre[j])
        return total

    def centroid(self, members: list[int]) -> Centre:
        centre = []
        for j in range(len(self.space.columns)):
            values = [self.rows[i][j] for i in members]
            if j >= self.space.ordered:
                tree = j - self.space.ordered
                root = self.space.trees.root[tree]
                candidates = range(int(self.space.trees.low[root]), int(self.space.trees.high[root]) + 1)
                centre.append(float(min(candidates, key=lambda v: (sum(self.gap(v, w) for w in values), v))))
                continue
            present = [x for x in values if x != 2 * self.space.unit]
            if len(present) * 2 < len(values):
                centre.append(2.0)
            else:
                centre.append(sum(present) / (len(present) * self.space.unit))
        return tuple(centre)

    def nearest(self, row: int, centres: list[Centre], allowed: Callable[[int], bool] = lambda _: True) -> int:
        point = self.point(self.rows[row])
        return min((self.distance(point, m), c) for c, m in enumerate(centres) if allowed(c))[1]

    def centroids(self, clusters: Clusters, before: list[Centre]) -> list[Centre]:
        return [self.centroid(members) if members else before[c] for c, members in enumerate(clusters)]

    def add(self, row: int, clusters: Clusters, centres: list[Centre], k: int) -> None:
        """To the nearest cluster below k where there is one, else to the nearest."""
        small = any(len(members) < k for members in clusters)
        clusters[self.nearest(row, centres, lambda c: not small or len(clusters[c]) < k)].append(row)

    def adjust(self, clusters: Clusters, centres: list[Centre], order: list[int], k: int) -> Clusters:
        """Figure 4."""
        out: set[int] = set()
        kept = []
        for members, centre in zip(clusters, centres, strict=True):
            away = sorted(members, key=lambda i: (self.distance(self.point(self.rows[i]), centre), i))
            kept.append(away[:k])
            out |= set(away[k:])
        for row in (row for row in order if row in out):
            self.add(row, kept, centres, k)
        return kept


def naive_k_means(
    space: Space, algorithm: int, k: int, seeds: list[int], order: list[int], iterations: int
) -> Clusters:
    """Figures 1 to 3."""
    naive = Naive(space, square=True)
    centres = [naive.point(naive.rows[i]) for i in seeds]
    table_order = sorted(range(len(naive.rows)), key=lambda i: space.rows[i])
    seen = []
    for _ in range(iterations):
        clusters: Clusters = [[] for _ in seeds]
        if algorithm == 2:
            for row in table_order:
                naive.add(row, clusters, centres, k)
        else:
            for row in range(len(naive.rows)):
                clusters[naive.nearest(row, centres)].append(row)
        if algorithm == 1:
            clusters = naive.adjust(clusters, naive.centroids(clusters, centres), order, k)
        last, centres = centres, naive.centroids(clusters, centres)
        if centres == last or centres in seen:
            break
        seen.append(centres)
    if algorithm == 3:
        clusters = naive.adjust(clusters, centres, order, k)
    return clusters


def naive_one_pass(space: Space, k: int, seeds: list[int], order: list[int], square: bool) -> Clusters:
    naive = Naive(space, square=square)
    clusters = [[i] for i in seeds]
    centres = [naive.centroid(members) for members in clusters]
    for row in range(len(naive.rows)):
        if row not in seeds:
            c = naive.nearest(row, centres)
            clusters[c].append(row)
            centres[c] = naive.centroid(clusters[c])
    return naive.adjust(clusters, centres, order, k)


def naive_weighted_c_means(space: Space, k: int, seeds: list[int], iterations: int) -> Clusters:
    naive = Naive(space, square=True)
    rows, columns = range(len(naive.rows)), range(len(space.columns))
    points = [naive.point(row) for row in naive.rows]
    weight = [1 / len(space.columns)] * len(space.columns)
    centres = [points[i] for i in seeds]
    whole = naive.centroid(list(rows))
    member = [-1] * len(points)
    for _ in range(iterations):
        last = member
        member = [min((naive.distance(p, m, weight), c) for c, m in enumerate(centres))[1] for p in points]
        if member == last:
            break
        clusters = [[i for i in rows if member[i] == c] for c in range(len(seeds))]
        centres = naive.centroids(clusters, centres)
        a, b = [0.0] * len(weight), [0.0] * len(weight)
        for i in rows:
            for j in columns:
                a[j] += naive.part(j, points[i][j], centres[member[i]][j])
                b[j] += naive.part(j, centres[member[i]][j], whole[j])
        parted = [a[j] == 0 < b[j] for j in columns]
        if any(parted):
            ratio = [b[j] if parted[j] else 0.0 for j in columns]
        else:
            ratio = [b[j] / a[j] if a[j] > 0 else 0.0 for j in columns]
        if math.fsum(ratio) > 0:
            total = sum(ratio)
            weight = [0.5 * (weight[j] + ratio[j] / total) for j in columns]
    clusters = [[i for i in rows if member[i] == c] for c in range(len(seeds))]
    large = [c for c in range(len(seeds)) if len(clusters[c]) >= k]
    merged = [list(members) if len(members) >= k else [] for members in clusters]
    for c, members in enumerate(clusters):
        if 0 < len(members) < k:
            merged[min((naive.distance(centres[c], centres[d], weight), d) for d in large)[1]] += members
    return merged
