"""IL1 … IL6: how much the numbers and their statistics change.

Over the p numeric columns that are published, where x is a person's number and x' what the release gives for it:

    IL1  = mean over people and columns of |x - x'|/|x|
    IL1s = mean over people and columns of |x - x'|/(√2·S), S the column's standard deviation in the original (a sample's:
           divided by n - 1, as in sdcMicro): no problem with x = 0
    IL2  = mean over columns of |m - m'|/|m|, the means
    IL3  = mean over columns of |v - v'|/|v|, the variances
    IL4  = mean over pairs of columns of |c - c'|/|c|, the covariances
    IL5  = mean over pairs of columns of |r - r'|/|r|, Pearson's correlations
    IL6  = 100 · mean(IL1, …, IL5)

Papers: J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", DMKD
2005 (its slides print "IL1-6" in IL6, a slip); W. Yancey, W. Winkler, R. Creecy, 2002 (IL1s).

Decided here: terms with denominator 0 are left out and counted (`detail.zero`); pairs are of two different columns, since IL3
has the variances; missing numbers are left out; people who are not in the release count in the original's statistics. None
is bounded: one correlation near 0 can decide IL5. Labels that cover several numbers: see `worlds`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from auditor.measure.utility.case import NOBODYS, Case
from auditor.measure.utility.measure import NOT_SYNTHETIC, ORIGINAL, WHO, measure, not_applicable
from auditor.measure.utility.worlds import World, original_numbers, over_worlds, said, worlds
from auditor.model.arrays import Floats
from auditor.model.record.record import Utility

_NONE = 1e-12
"""A statistic this small compared with the spread of its columns is 0: the rest is rounding."""


def changes(case: Case) -> list[Utility]:
    """All of IL1 … IL6."""
    reason = case.unmatched
    if not reason and not case.numeric:
        reason = "no published column is numeric"
    if reason:
        return [not_applicable(name, reason) for name in _MEANINGS]
    columns = case.numeric
    original = np.column_stack([original_numbers(case, c) for c in columns])
    drawn = worlds(case)
    matched = not case.release.synthetic
    found = [relative_changes(original, published(world, columns), matched) for world in drawn]
    params = said(case, drawn, columns)
    rows = []
    for name in _MEANINGS:
        values = [one.values.get(name) for one in found]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            rows.append(not_applicable(name, _why(name, len(columns), matched)))
            continue
        value, low, high = over_worlds(known)
        zero = found[0].zero.get(name, 0)
        detail = {"zero": zero} if zero else {}
        rows.append(Utility(name, value=value, better="lower", low=low, high=high, params=params, detail=detail))
    return rows


def published(world: World, columns: tuple[str, ...]) -> Floats:
    """The numbers of a world, people × columns."""
    return np.column_stack([world.numbers(c) for c in columns])


@dataclass(frozen=True, slots=True)
class Changes:
    """The measures that are defined, and how many terms of each were left out because they would divide by 0."""

    values: dict[str, float]
    zero: dict[str, int] = field(default_factory=dict)


def relative_changes(original: Floats, given: Floats, matched: bool = True) -> Changes:
    """IL1 … IL6 of numbers (people × columns) and the published numbers of the first of these people; NaN is missing. If they
    are not `matched`, the published numbers are nobody's, and only statistics are compared."""
    values: dict[str, float] = {}
    zero: dict[str, int] = {}

    def put(name: str, change: Floats, base: Floats, nothing: Floats | float = 0.0) -> None:
        """The mean of change/base over the terms that are known and whose base is not 0."""
        there = ~(np.isnan(change) | np.isnan(base))
        fine = there & (np.abs(base) > nothing)
        zero[name] = int(there.sum() - fine.sum())
        if fine.any():
            values[name] = float((np.abs(change[fine]) / np.abs(base[fine])).mean())

    same = original[: len(given)]
    mean, covariance, correlation = moments(original)
    mean_given, covariance_given, correlation_given = moments(given)
    spread = np.sqrt(np.diag(covariance))
    scale = np.where(np.isnan(spread), 0.0, spread)
    if matched:
        put("IL1", same - given, same)
        known = (~np.isnan(original)).sum(axis=0)
        sample = spread * np.sqrt(known / np.where(known > 1, known - 1, np.nan))
        put("IL1s", same - given, np.broadcast_to(np.sqrt(2) * sample, same.shape))
    put("IL2", mean - mean_given, mean, _NONE * scale)
    put("IL3", np.diag(covariance - covariance_given), np.diag(covariance))
    pairs = np.triu_indices(original.shape[1], 1)
    beside = np.outer(scale, scale)[pairs]
    put("IL4", (covariance - covariance_given)[pairs], covariance[pairs], _NONE * beside)
    straight = np.nan_to_num(correlation_given[pairs])  # a column without spread correlates with nothing
    put("IL5", correlation[pairs] - straight, correlation[pairs], _NONE)
    parts = [values.get(f"IL{number}") for number in range(1, 6)]
    there = [part for part in parts if part is not None]
    if len(there) == len(parts):
        values["IL6"] = 100 * float(np.mean(there))
    return Changes(values, zero)


def moments(numbers: Floats) -> tuple[Floats, Floats, Floats]:
    """The means of columns, their covariances and Pearson's correlations, each pair over the rows with both numbers known
    (divided by their count). NaN if there are no such rows, and for the correlation of a column without spread."""
    there = ~np.isnan(numbers)
    count = there.T.astype(np.float64) @ there
    centre = np.where(there, numbers, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    shifted = np.where(there, numbers - centre, 0.0)  # so that numbers far from 0 lose no digits
    with np.errstate(invalid="ignore", divide="ignore"):
        part = shifted.T @ there / count
        covariance = shifted.T @ shifted / count - part * part.T
        square = (shifted**2).T @ there / count - part**2
        square[square <= (_NONE * np.abs(centre[:, None])) ** 2] = 0.0
        np.fill_diagonal(covariance, np.diag(square))
        spread = np.sqrt(square) * np.sqrt(square.T)
        correlation = np.clip(np.where(spread > 0, covariance / spread, np.nan), -1.0, 1.0)
    return np.where(there.any(axis=0), centre, np.nan), covariance, correlation


def _why(name: str, columns: int, matched: bool) -> str:
    """Why a measure is not defined."""
    if name in _OF_PEOPLE and not matched:
        return NOBODYS
    if name in ("IL4", "IL5", "IL6") and columns < 2:
        return "only one published column is numeric, and a covariance needs two"
    if name == "IL6":
        return "one of IL1 to IL5 is not defined"
    return "in the original every statistic that it would divide by is 0 or unknown"


_MEANINGS = {
    "IL1": "Mean relative change of numbers, |x - x'|/|x|; people whose number is 0 are left out.",
    "IL1s": "Mean change of numbers, over √2 standard deviations.",
    "IL2": "Mean relative change of the means of numeric columns.",
    "IL3": "Mean relative change of the variances of numeric columns.",
    "IL4": "Mean relative change of the covariances of numeric columns.",
    "IL5": "Mean relative change of the correlations of numeric columns.",
    "IL6": "100 times the mean of IL1 to IL5.",
}
_OF_PEOPLE = ("IL1", "IL1s", "IL6")  # these compare a person's number with the published one
_PAPERS = {"IL1s": "Yancey, Winkler & Creecy 2002"}
CONTINUOUS = tuple(
    measure(
        name,
        means,
        name,
        changes,
        f"{NOT_SYNTHETIC}, with numeric columns; {WHO}"
        if name in _OF_PEOPLE
        else f"every kind of release with numeric columns; {ORIGINAL}",
        _PAPERS.get(name, "Domingo-Ferrer & Torra 2005"),
        best=0,
    )
    for name, means in _MEANINGS.items()
)
