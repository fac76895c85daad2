"""How near points lie to a sample, and how dense it is there: nearest neighbours and kernel estimates.

The kernel is Gaussian, of one width in all directions of a standardised space, by Silverman's rule for the number of columns
(not of axes: a column of texts is one). It is computed for any number of columns. Where there are many the kernels are narrow
and the estimate goes over into that by the nearest points, which on tables of mixed columns told more than the odds of a
classifier did (`docs/synthetic.md` has the figures).

Papers: B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditor.measure.points import Axes, blocks, exact_squares, squares
from auditor.model.arrays import Floats, Ints

_MORE = 3
"""So many more neighbours are found than asked for, and ordered by their exact distances."""
_DIGITS = 9
"""Squared distances that agree to so many digits are equal."""


class Near(NamedTuple):
    """For each point its nearest points of a sample, nearest first, their squared distances, and the logarithm of the sum of
    kernels of the sample at the point for each of some widths (points × widths)."""

    place: Ints
    square: Floats
    kernels: Floats


def silverman(rows: int, columns: int) -> float:
    """Silverman's width of a kernel for standardised columns."""
    return float((rows * (columns + 2) / 4) ** (-1 / (columns + 4)))


def near(points: Axes, sample: Axes, neighbours: int, widths: tuple[float, ...] = ()) -> Near:
    """The nearest points of a sample, and its kernel sums."""
    wanted = min(neighbours, sample.rows)
    found = min(wanted + _MORE, sample.rows)
    place = np.zeros((points.rows, wanted), dtype=np.int64)
    square, kernels = np.zeros((points.rows, wanted)), np.zeros((points.rows, len(widths)))
    for part in blocks(points.rows, sample.rows):
        some = points.take(part)
        apart = squares(some, sample)
        some_place = (
            np.sort(np.argpartition(apart, found - 1, axis=1)[:, :found], axis=1)
            if found < sample.rows
            else (np.broadcast_to(np.arange(sample.rows), apart.shape))
        )
        exact = exact_squares(some, sample, some_place)
        order = np.argsort(exact.round(_DIGITS), axis=1, kind="stable")[:, :wanted]  # of several as near, the first
        place[part], square[part] = (np.take_along_axis(one, order, axis=1) for one in (some_place, exact))
        for number, width in enumerate(widths):
            kernels[part, number] = _log_sum(apart, exact.min(axis=1), width)
    return Near(place, square, kernels)


def _log_sum(apart: Floats, nearest: Floats, width: float) -> Floats:
    """log Σ exp(-d²/2h²) over each row."""
    scaled = (nearest[:, None] - apart) / (2 * width**2)
    np.exp(np.minimum(scaled, 0.0, out=scaled), out=scaled)
    return np.asarray(np.log(scaled.sum(axis=1)) - nearest / (2 * width**2))
