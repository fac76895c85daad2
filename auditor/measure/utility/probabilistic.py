"""`PIL`: probabilistic information loss, how unlikely the change of a statistic would be as chance of sampling.

IL1 … IL6 have no bound, and a statistic near 0 can decide them. Here the original is taken for a sample: a statistic s of
it has a standard error e, and what the release gives for it, s', is an error of

    pil = 100 · P(|Z| ≤ |s' - s|/e),  Z standard normal,

from 0 (no change) to 100 (no sample of this size would be so far off); 68 is one standard error. Five kinds of statistics
of the numeric columns are compared: their `mean`, `variance` and `quantiles` (5 %, 10 %, … 95 %), the `covariance` and
the `correlation` of pairs. Each figure is the mean over columns or pairs, `all` the mean of the five (of three where only
one column is numeric).

Paper: J. M. Mateo-Sanz, J. Domingo-Ferrer, F. Sebé, "Probabilistic information loss measures in confidentiality
protection of continuous microdata", DMKD 11, 2005.

Standard errors are those of large samples: √(mean of squared influences/n), where the influence of a person on the mean
is x, on the variance x², on the covariance xy, on the correlation xy - r(x² + y²)/2 (x and y centred, for r
standardised), each less its mean. For a quantile it is half the distance between those √(q(1 - q)/n) above and below
(Woodruff 1952), which needs no density. Decided here: with error 0, any change is 100; missing numbers are left out;
pairs are of two different columns. With many rows errors are small, and even small changes count in full: the figure is
about this original, not about all like it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy import special

from auditor.measure.utility.case import Case
from auditor.measure.utility.continuous import published
from auditor.measure.utility.measure import ORIGINAL, measure, not_applicable
from auditor.measure.utility.worlds import original_numbers, over_worlds, said, worlds
from auditor.model.arrays import Floats
from auditor.model.record.record import Utility

QUANTILES = np.arange(1, 20) / 20
STATISTICS = ("all", "mean", "variance", "covariance", "correlation", "quantiles")
_SAME = 1e-9
"""A change this small, compared with the spread of the column, is rounding."""


def probabilistic_loss(case: Case) -> list[Utility]:
    """The probabilistic information loss of each kind of statistic, and of all."""
    reason = case.unmatched or (None if case.numeric else "no published column is numeric")
    if reason:
        return [not_applicable("PIL", reason, statistic=name) for name in STATISTICS]
    columns = case.numeric
    original = np.column_stack([original_numbers(case, c) for c in columns])
    drawn = worlds(case)
    found = [losses(original, published(world, columns)) for world in drawn]
    rows = []
    for name in STATISTICS:
        if any(name not in one for one in found):
            few = "only one published column is numeric, and a pair needs two"
            why = few if len(columns) < 2 else "no column has two known numbers in the original and in the release"
            rows.append(not_applicable("PIL", why, statistic=name))
            continue
        value, low, high = over_worlds([one[name] for one in found])
        params = {"statistic": name, **said(case, drawn, columns)}
        rows.append(Utility("PIL", value=value, better="lower", low=low, high=high, params=params))
    return rows


def losses(original: Floats, given: Floats) -> dict[str, float]:
    """The mean loss of each kind of statistic of numbers (people × columns, NaN is missing) that is defined, and of all."""
    found: dict[str, list[float]] = {name: [] for name in STATISTICS[1:]}
    for column in range(original.shape[1]):
        before, after = _known(original[:, column]), _known(given[:, column])
        if len(before) < 2 or len(after) < 1:
            continue
        for name, loss in _of_column(before, after):
            found[name].append(loss)
    for one, other in combinations(range(original.shape[1]), 2):
        before, after = _known(original[:, [one, other]]), _known(given[:, [one, other]])
        if len(before) < 2 or len(after) < 1:
            continue
        for name, loss in _of_pair(before, after):
            found[name].append(loss)
    told = {name: float(np.mean(terms)) for name, terms in found.items() if terms}
    if told:
        told["all"] = float(np.mean(list(told.values())))
    return told


def loss(change: float, error: float, scale: float) -> float:
    """100 · P(|Z| ≤ change/error); a change below rounding, `scale` being the statistic's size, is none."""
    if abs(change) <= _SAME * scale:
        return 0.0
    return 100.0 if error <= 0 else float(100 * special.erf(abs(change) / error / np.sqrt(2)))


def _of_column(before: Floats, after: Floats) -> Iterator[tuple[str, float]]:
    """The loss of the mean, the variance and the quantiles of a column."""
    n, centre = len(before), before.mean()
    x, y = before - centre, after - centre  # so that numbers far from 0 lose no digits
    spread = float(np.sqrt((x**2).mean()))
    yield "mean", loss(float(y.mean()), spread / np.sqrt(n), spread)
    yield "variance", loss(float(y.var() - x.var()), _error(x**2), spread**2)
    step = np.sqrt(QUANTILES * (1 - QUANTILES) / n)
    ends = [np.quantile(x, np.clip(QUANTILES + way * step, 0, 1)) for way in (-1, 1)]
    moved = np.quantile(y, QUANTILES) - np.quantile(x, QUANTILES)
    errors = (ends[1] - ends[0]) / 2
    yield (
        "quantiles",
        float(np.mean([loss(m, e, spread) for m, e in zip(moved.tolist(), errors.tolist(), strict=True)])),
    )


def _of_pair(before: Floats, after: Floats) -> Iterator[tuple[str, float]]:
    """The loss of the covariance and the correlation of two columns. A column without spread correlates with nothing."""
    x, y = (before - before.mean(axis=0)).T
    u, v = (after - after.mean(axis=0)).T
    scale = float(np.sqrt((x**2).mean() * (y**2).mean()))
    together = float((x * y).mean())
    yield "covariance", loss(float((u * v).mean()) - together, _error(x * y), scale)
    if scale > 0:
        a, b = x / np.sqrt((x**2).mean()), y / np.sqrt((y**2).mean())
        r = together / scale
        beside = float(np.sqrt((u**2).mean() * (v**2).mean()))
        straight = float((u * v).mean()) / beside if beside > 0 else 0.0
        yield "correlation", loss(straight - r, _error(a * b - r * (a**2 + b**2) / 2), 1.0)


def _error(influence: Floats) -> float:
    """The standard error of a mean."""
    return float(influence.std() / np.sqrt(len(influence)))


def _known(numbers: Floats) -> Floats:
    """The rows without missing numbers."""
    return numbers[~np.isnan(numbers if numbers.ndim == 1 else numbers.sum(axis=1))]


PROBABILISTIC = measure(
    "PIL",
    "How unlikely the change of means, variances, covariances, correlations and quantiles would be by chance: 0 to 100.",
    "probabilistic information loss",
    probabilistic_loss,
    f"every kind of release with numeric columns; {ORIGINAL}",
    "Mateo-Sanz, Domingo-Ferrer & Sebé 2005",
    best=0,
    worst=100,
    statistic="all",
)
