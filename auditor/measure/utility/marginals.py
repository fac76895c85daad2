"""`marginals`: how the shares of single values change, column by column.

For each column p is the share of people with a value in the original and q their share in the release; the distance is the
total variation ½ Σ |p - q|, from 0 (the same shares) to 1 (nothing in common): the largest error of the share of any group of
values. The figure is the mean over columns, `detail.columns` has each, and `detail.shares` the shares behind them, which
reports draw side by side. It needs no correspondence of rows.

A label that covers several values counts for each of them alike, as in `worlds`, but without drawing. Numbers are compared by
class: each value by itself where there are few, else between deciles of the original (rounded to two digits, so that no
person's number is told), and what is missing is a class of its own. Coded columns are decoded where there is a key.

A value is named only if at least `LEAST_NAMED` people of the original have it; all others are one bar. The distance is over
all of them.

Source: P. Poovammal, M. Ponnavaikko 2009, figures 3, 5 and 6, which hold such shares of the original against those of the
release by eye; the total variation distance is the usual number for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import measure, not_applicable
from auditor.measure.utility.worlds import middles
from auditor.model.arrays import Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.record.record import Utility
from auditor.model.release import Release
from auditor.model.values import format_number

LEAST_NAMED = 10
"""A value that fewer people have is not named in a report."""
MOST_BARS = 12
"""Of more values than this the commonest are named."""
_MISSING = "missing"


def marginals(case: Case) -> list[Utility]:
    """The mean over columns of the total variation distance between the shares of values."""
    original, release = case.original, case.decoded.release
    reason = None
    if original is None:
        reason = "it compares the release with the original, which was not given"
    elif not release.rows or not original.rows:
        reason = "the release has no rows" if not release.rows else "the original has no rows"
    elif not case.columns:
        reason = case.unmatched
    if reason or original is None:
        return [not_applicable("marginals", reason)]
    found = {c: compared(release, c, np.bincount(original.codes[c], minlength=_size(release, c))) for c in case.columns}
    far = {column: shares.distance for column, shares in found.items()}
    several = [c for c in case.columns if (release.labels[c].counts[release.label_counts(c) > 0] > 1).any()]
    params: dict[str, Any] = {
        "columns": list(case.columns),
        "values": "spread evenly inside labels" if several else "as published",
    }
    if case.coded:
        params["decoded"] = list(case.coded)
    if original.rows > release.rows and not release.synthetic:
        params["left_out"] = original.rows - release.rows
    most_changed = sorted(found.items(), key=lambda pair: -pair[1].distance)
    shares = [{"column": column, **one.told()} for column, one in most_changed]
    value = float(np.mean(list(far.values())))
    return [Utility("marginals", value=value, better="lower", params=params, detail={"columns": far, "shares": shares})]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The classes of a column, their shares before and after, and how many people of the original are in each."""

    names: tuple[str, ...]
    people: Ints
    before: Floats
    after: Floats
    ordered: bool

    @property
    def distance(self) -> float:
        """The total variation distance."""
        return float(np.abs(self.before - self.after).sum() / 2)

    def told(self) -> dict[str, list[str] | list[float]]:
        """The shares of the classes that may be named, and of the others together."""
        named = np.flatnonzero(self.people >= LEAST_NAMED)
        commonest = named[np.argsort(-self.people[named], kind="stable")][:MOST_BARS]
        shown = np.sort(commonest) if self.ordered else commonest
        rest = np.setdiff1d(np.arange(len(self.names)), shown)
        names = [self.names[i] for i in shown]
        sides = [[float(side[i]) for i in shown] for side in (self.before, self.after)]
        if len(rest) and max(self.before[rest].sum(), self.after[rest].sum()) > 0:
            names.append("others")
            for told, side in zip(sides, (self.before, self.after), strict=True):
                told.append(float(side[rest].sum()))
        return {"names": names, "original": sides[0], "release": sides[1]}


def compared(release: Release, column: str, people: Ints) -> Shares:
    """The shares of a column's classes; `people` is how many people of the original have each code."""
    labels, times = release.labels[column], release.label_counts(column).astype(np.float64)
    domain = labels.domain
    spread = _spread(labels, times)
    if domain.numbers is None:
        names = tuple(_MISSING if code == domain.missing else domain.texts[code] for code in range(domain.size))
        return Shares(names, people, people / people.sum(), spread / times.sum(), domain.column.type != "nominal")
    edges, names = _classes(domain, people)
    of_code = np.full(domain.size, len(edges) + 1, dtype=np.int64)  # the last class is what is missing
    of_code[: len(domain.numbers)] = np.searchsorted(edges, domain.numbers, side="right")
    size = len(edges) + 2
    after = np.bincount(of_code, weights=spread, minlength=size)
    nowhere = labels.counts == 0  # averages and noisy numbers
    middle = middles(labels)
    place = np.where(np.isnan(middle), size - 1, np.searchsorted(edges, np.nan_to_num(middle), side="right"))
    after += np.bincount(place[nowhere], weights=times[nowhere], minlength=size)
    counted = np.bincount(of_code, weights=people, minlength=size)
    return Shares((*names, _MISSING), counted.astype(np.int64), counted / people.sum(), after / times.sum(), True)


def _size(release: Release, column: str) -> int:
    return release.labels[column].domain.size


def _spread(labels: Labels, times: Floats) -> Floats:
    """How many people have each code if those of a label have its values alike."""
    counts = labels.counts
    each = np.where(counts > 0, times / np.maximum(counts, 1), 0.0)
    size = labels.domain.size
    plain = (counts > 0) & ~np.isin(np.arange(len(counts)), list(labels.gaps))
    steps = np.zeros(size + 1)
    np.add.at(steps, labels.lo[plain], each[plain])
    np.add.at(steps, labels.hi[plain] + 1, -each[plain])
    found = np.maximum(np.cumsum(steps)[:size], 0.0)
    for label, codes in labels.gaps.items():
        found[codes] += each[label]
    return found


def _classes(domain: Domain, people: Ints) -> tuple[Floats, tuple[str, ...]]:
    """The edges between classes of a numeric column, and their names: each value alone if there are few, else tenths."""
    assert domain.numbers is not None
    there = people[: len(domain.numbers)] > 0
    values, times = domain.numbers[there], people[: len(domain.numbers)][there]
    mark = domain.format.decimal
    if not len(values):
        return np.zeros(0), ("any number",)
    if len(values) <= MOST_BARS:
        return (values[1:] + values[:-1]) / 2, tuple(format_number(v, mark) for v in values.tolist())
    reached = np.cumsum(times) / times.sum()
    deciles = values[np.searchsorted(reached, np.arange(1, 10) / 10)]
    edges = np.unique([_rounded(edge, float(values[-1] - values[0])) for edge in deciles.tolist()])
    said = [format_number(edge, mark) for edge in edges.tolist()]
    between = [f"{low} to {high}" for low, high in pairwise(said)]
    return edges, (f"below {said[0]}", *between, f"{said[-1]} or more")


def _rounded(edge: float, spread: float) -> float:
    """An edge to two digits of its own or of the column's spread, whichever is finer: nobody's exact number."""
    places = [1 - math.floor(math.log10(abs(size))) for size in (edge, spread) if size]
    return round(edge, max(places))


MARGINALS = measure(
    "marginals",
    "How far the shares of single values are from those of the original: total variation distance, mean over columns.",
    "change of shares",
    marginals,
    "every kind of release; needs the original",
    "Poovammal & Ponnaivaikko 2009, figures 3, 5, 6",
    best=0,
    worst=1,
)
