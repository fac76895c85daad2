"""MDAV-generic as the paper says it, row by row over the whole table: the oracle of the compiled kernel.

It shares two things with the kernel, both about rounding: squared distances are summed over columns in the same order, and
the sums behind means are running sums (rows leave in the order of their distance).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anonymizers.shapes import Average, Points
from auditor.model.arrays import Floats


def naive_median(values: Sequence[int]) -> int:
    return sorted(values)[(len(values) - 1) // 2]


def naive_convex_median(values: Sequence[int]) -> int:
    times = Counter(values)
    low, high = min(values), max(values)
    filled: list[int] = []
    for c in range(low, high + 1):
        below = max(times[a] for a in range(low, c + 1))
        above = max(times[b] for b in range(c, high + 1))
        filled += [c] * min(below, above)
    return naive_median(filled)


def naive_mode(values: Sequence[int]) -> int:
    times = Counter(values)
    return min(v for v in times if times[v] == max(times.values()))


def naive_distances(points: Points, rows: Sequence[int], centre: Floats) -> list[float]:
    found = []
    for row in rows:
        total = 0.0
        for j in range(points.values.shape[1]):
            difference = float(points.values[row, j]) - float(centre[j])
            if j < points.measured:
                total += difference * difference * float(points.weight[j])
            else:
                total += 1.0 if difference else 0.0
        found.append(total)
    return found


def naive_clusters(points: Points, k: int) -> list[list[int]]:
    """The clusters in the order they are formed, each with the rows in the order of their distance."""
    left = list(range(points.rows))
    width = points.values.shape[1]
    total = [0.0] * width
    for row in left:
        for j in range(width):
            total[j] += float(points.values[row, j])

    def average() -> Floats:
        out = np.empty(width)
        for j, kind in enumerate(points.average):
            column = [int(v) for v in points.values[left, j]]
            if kind == Average.MEAN:
                out[j] = total[j] / len(left)
            elif kind == Average.MEDIAN:
                out[j] = naive_median(column)
            elif kind == Average.CONVEX:
                out[j] = naive_convex_median(column)
            else:
                out[j] = naive_mode(column)
        return out

    def farthest(centre: Floats) -> int:
        distances = naive_distances(points, left, centre)
        return left[distances.index(max(distances))]

    def take(centre: Floats) -> list[int]:
        ranked = sorted(zip(naive_distances(points, left, centre), left, strict=True))
        members = [row for _, row in ranked[:k]]
        for row in members:
            left.remove(row)
            for j in range(width):
                total[j] -= float(points.values[row, j])
        return members

    clusters = []
    while len(left) >= 3 * k:
        r = farthest(average())
        s = farthest(points.values[r])
        clusters.append(take(points.values[r]))
        clusters.append(take(points.values[s]))
    if len(left) >= 2 * k:
        clusters.append(take(points.values[farthest(average())]))
    return [*clusters, left]


def naive_loss(points: Points, clusters: Sequence[Sequence[int]]) -> float:
    """The sum over clusters of the squared distances of all pairs over the number of members."""
    total = 0.0
    for members in clusters:
        pairs = sum(sum(naive_distances(points, members, points.values[row])) for row in members) / 2
        total += pairs / len(members)
    return total
