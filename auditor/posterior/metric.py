"""How far a person is from a published record, over what is known about them.

Four metrics, each a sum over the known columns:

- `euclid`: a square. For numbers, of the difference over the standard deviation of the published ones; for ordinals, of the
  steps over the number of categories; for other values, of 0 or 1 (with a taxonomy: of the height of the common ancestor over
  that of the tree);
- `mahalanobis`: the same, but the numbers are taken together: (x - c)' S⁻¹ (x - c), where S is the covariance of the
  published numbers, so that columns with the same information count once;
- `gower`: differences over the range, not squared, so that one bad column does not outweigh all others;
- `agreement`: the weight that a record lacks to agree as well as can be, by the rules of probabilistic record linkage, with
  weights learned from the people asked about and the release (`agreement.py`).

A label that denotes several values is at distance 0 from what it covers, and as far from other values as its nearest value
(under `mahalanobis` an interval stands at its middle). A missing known value is at distance 0 from a label that covers the
missing value, and as far from all others as two people are on average (2 if numbers are squared, else 1); so is a missing
label from known values. What is not known at all adds nothing. Scales come from the release, which the adversary has.

Papers: J. Domingo-Ferrer, V. Torra, "A Quantitative Comparison of Disclosure Control Methods for Microdata", 2001, and
"Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation", 2005; J. C. Gower, "A General Coefficient of
Similarity and Some of Its Properties", 1971.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from auditor.model.arrays import Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.labels.labels import Labels
from auditor.model.packing import contents
from auditor.model.schema import Type
from auditor.model.taxonomy import Taxonomy
from auditor.posterior.agreement import LEAST_PEOPLE, MOST_PAIRS, compare, estimate, level_of
from auditor.posterior.pruned import ABSENT, KNOWN, UNKNOWN, Line

_NEGLIGIBLE = 1e-10
"""A direction with less than this share of the largest variance counts as none: its numbers follow from the others."""
_MOST_OF_A_TABLE = 5_000_000
"""The most distances of a column that are laid out in a table."""


class Metric(StrEnum):
    """How distances are measured."""

    EUCLID = "euclid"
    MAHALANOBIS = "mahalanobis"
    GOWER = "gower"
    AGREEMENT = "agreement"


class Part(ABC):
    """What one column, or several together, add to the distances between people and label patterns."""

    @abstractmethod
    def add(self, people: slice, out: Floats) -> None:
        """Adds the part of some people to `out` (people × patterns)."""

    def column(self) -> Column | None:
        """The same for the pruned search; None where this is no column by itself, or its distances would take much room."""
        return None


class Column(NamedTuple):
    """The distances of the values that occur from the labels that occur, and which of these each person and pattern has."""

    distances: Floats | Line
    value: Ints
    label: Ints


class Learned:
    """The parts of `agreement`: what each level of each column is worth is learned once, from the people given (`times`: how
    many each row stands for), and then used for whomever."""

    def __init__(
        self, columns: Sequence[Labels], patterns: Codes, people: Codes, counts: Floats, times: Floats
    ) -> None:
        self.columns, self.patterns, self.counts = columns, patterns, counts
        compared = [
            compare(*_ways(labels, patterns[:, place], people[:, place], counts), times, counts)
            for place, labels in enumerate(columns)
        ]
        self.cuts = [column.cuts for column in compared]
        order = np.argsort(contents(people.T, len(people)), kind="stable")
        some = max(MOST_PAIRS // max(len(patterns), 1), LEAST_PEOPLE)
        learned_from = order[np.linspace(0, len(order) - 1, min(some, len(order))).astype(np.int64)]
        self.weights = estimate(compared, times, counts, learned_from)

    def parts(self, people: Codes) -> tuple[Part, ...]:
        """The parts of some people."""
        found = []
        for place, labels in enumerate(self.columns):
            way, value, label = _ways(labels, self.patterns[:, place], people[:, place], self.counts)
            lacking = self.weights[place][:-1].max() - self.weights[place]
            lacking[-1] = 0.0  # what is not known
            found.append(_Agreeing(lacking[level_of(way, self.cuts[place])], value, label))
        return tuple(found)


def _ways(labels: Labels, label: Codes, code: Codes, counts: Floats) -> tuple[Floats, Ints, Ints]:
    """The distances (`gower`) of the values that occur from the labels that occur, not a number where a value is not known,
    and which of these each person and each pattern has."""
    values, value = np.unique(code, return_inverse=True)
    used, which = np.unique(label, return_inverse=True)
    records = np.bincount(which.ravel(), weights=counts).astype(np.float64)
    (part,) = parts_of(Metric.GOWER, [labels], used[:, None], values[:, None], records)
    way = np.zeros((len(values), len(used)))
    part.add(slice(0, len(values)), way)
    way[values < 0] = np.nan
    return way, value.ravel(), which.ravel()


class _Agreeing(Part):
    """A column by its levels: what each value lacks beside each label."""

    def __init__(self, cost: Floats, value: Ints, label: Ints) -> None:
        self.cost, self.value, self.label = cost, value, label

    def add(self, people: slice, out: Floats) -> None:
        out += self.cost[self.value[people]][:, self.label]

    def column(self) -> Column | None:
        return Column(self.cost, self.value, self.label)


def parts_of(
    metric: Metric, columns: Sequence[Labels], patterns: Codes, people: Codes, counts: Floats
) -> tuple[Part, ...]:
    """The parts of a metric over the labels of the known columns. `patterns` (patterns × columns) are label numbers and
    `counts` the number of records with each; `people` (people × columns) are codes, -1 if a value is not known."""
    lines: list[_Line] = []
    parts: list[Part] = []
    for place, labels in enumerate(columns):
        label, code = patterns[:, place], people[:, place]
        if _on_a_line(labels, label):
            lines.append(_Line(metric, labels, label, code, counts))
        else:
            parts.append(_Tree(metric, labels, label, code))
    together = metric is Metric.MAHALANOBIS
    numeric = [line for line in lines if line.numeric and together]
    if numeric:
        parts.append(_Together(numeric, counts))
    return (*(line for line in lines if not (line.numeric and together)), *parts)


def _on_a_line(labels: Labels, used: Codes) -> bool:
    """Whether a column has an order and the labels that occur are intervals of it."""
    ordered = labels.domain.numbers is not None or labels.domain.column.type is Type.ORDINAL
    return ordered and not np.isin(used, list(labels.gaps)).any()


def places_of(domain: Domain) -> Floats:
    """The position of each code on its line; NaN for the missing value."""
    place = np.full(domain.size, np.nan)
    place[: domain.known] = np.arange(domain.known) if domain.numbers is None else domain.numbers
    return place


class _Line(Part):
    """A column of numbers, or an ordinal. `place` is the position of each person, `lower` to `upper` what each pattern covers
    (NaN if there is none). `absent` marks the people who lack the value, `open_to` the patterns that cover a missing one."""

    def __init__(self, metric: Metric, labels: Labels, label: Codes, code: Codes, counts: Floats) -> None:
        domain = labels.domain
        places = places_of(domain)
        self.code, self.label = code, label
        self.numeric = domain.numbers is not None
        self.squared = metric is not Metric.GOWER
        self.place = np.where(code >= 0, places[code], np.nan)
        self.unknown = code < 0
        self.absent = ~self.unknown & np.isnan(self.place)
        covers = labels.counts[label] > 0
        lo, hi = np.where(covers, labels.lo[label], 0), np.where(covers, labels.hi[label], 0)
        self.open_to = covers & (hi == (-1 if domain.missing is None else domain.missing))
        everything = self.open_to & (lo != hi)
        self.lower = np.where(everything, -np.inf, np.where(covers, places[lo], labels.low[label]))
        self.upper = np.where(everything, np.inf, np.where(covers, places[hi], labels.high[label]))
        with np.errstate(invalid="ignore"):  # inf - inf, if a label covers everything
            self.middle = (self.lower + self.upper) / 2
        self.middle[~np.isfinite(self.middle)] = np.nan
        self.scale = self._scale(metric, domain, counts)

    def _scale(self, metric: Metric, domain: Domain, counts: Floats) -> float:
        """The divisor of differences."""
        if not self.numeric:
            return float(max(domain.known - (metric is Metric.GOWER), 1))
        if metric is Metric.GOWER:
            return domain.width or 1.0
        there = ~np.isnan(self.middle)
        if not there.any():
            return domain.width or 1.0
        mean = np.average(self.middle[there], weights=counts[there])
        deviation = float(np.sqrt(np.average((self.middle[there] - mean) ** 2, weights=counts[there])))
        return deviation if deviation > _NEGLIGIBLE * abs(mean) else domain.width or 1.0

    @property
    def apart(self) -> float:
        """The distance from a missing value to any other."""
        return 2.0 if self.numeric and self.squared else 1.0

    def add(self, people: slice, out: Floats) -> None:
        nowhere = np.isnan(self.lower)
        place, lower = np.nan_to_num(self.place[people])[:, None], np.where(nowhere, 0.0, self.lower)
        if (self.lower == self.upper)[~nowhere].all():
            way = np.abs(place - lower)
        else:
            way = np.maximum(lower - place, place - np.where(nowhere, 0.0, self.upper))
            np.maximum(way, 0.0, out=way)
        way /= self.scale  # after subtracting, so that equal differences stay equal
        if self.squared:
            way *= way
        way[:, nowhere] = self.apart
        way[self.absent[people]] = np.where(self.open_to, 0.0, self.apart)
        way[self.unknown[people]] = 0.0
        out += way

    def column(self) -> Column | None:
        _, person, value = np.unique(self.code, return_index=True, return_inverse=True)
        _, pattern, label = np.unique(self.label, return_index=True, return_inverse=True)
        state = np.where(self.unknown[person], UNKNOWN, np.where(self.absent[person], ABSENT, KNOWN))
        nowhere = np.isnan(self.lower[pattern])
        line = Line(
            np.nan_to_num(self.place[person]),
            state,
            np.where(nowhere, 0.0, self.lower[pattern]),
            np.where(nowhere, 0.0, self.upper[pattern]),
            nowhere.astype(np.int64),
            self.open_to[pattern].astype(np.int64),
            self.scale,
            self.apart,
            self.squared,
        )
        return Column(line, value.reshape(-1), label.reshape(-1))


class _Together(Part):
    """Numbers taken together: points rotated and scaled so that the published ones are uncorrelated with variance 1. People
    and labels without a number stand at the mean."""

    def __init__(self, lines: Sequence[_Line], counts: Floats) -> None:
        self.lines = lines
        centred, places = [], []
        for line in lines:
            there = ~np.isnan(line.middle)
            mean = np.average(line.middle[there], weights=counts[there]) if there.any() else 0.0
            centred.append(np.where(there, line.middle - mean, 0.0) / line.scale)
            places.append(np.nan_to_num(line.place - mean) / line.scale)
        published, known = np.column_stack(centred), np.column_stack(places)
        covariance = (published * counts[:, None]).T @ published / counts.sum()
        variance, direction = np.linalg.eigh(covariance)
        real = variance > _NEGLIGIBLE * max(variance.max(), _NEGLIGIBLE)
        turn = direction[:, real] / np.sqrt(variance[real])
        self.centre, self.point = _turned(published, turn), _turned(known, turn)

    def add(self, people: slice, out: Floats) -> None:
        for axis in range(self.point.shape[1]):
            way = self.point[people, axis][:, None] - self.centre[:, axis]
            way *= way
            out += way
        for line in self.lines:
            nowhere = np.isnan(line.lower)
            if nowhere.any():
                out[:, nowhere] += np.where(np.isnan(line.place[people]), 0.0, line.apart)[:, None]
            absent = line.absent[people]
            if absent.any():
                out[absent] += np.where(line.open_to, 0.0, line.apart)


def _turned(points: Floats, turn: Floats) -> Floats:
    """`points @ turn`, one product after another: equal rows stay equal, which a matrix product does not guarantee."""
    out = np.zeros((len(points), turn.shape[1]))
    for column, weights in zip(points.T, turn, strict=True):
        out += column[:, None] * weights
    return out


class _Tree(Part):
    """A column without an order: values are equal or not, or have a common ancestor. Also ordered values published as
    explicit sets, which are measured over the range."""

    def __init__(self, metric: Metric, labels: Labels, label: Codes, code: Codes) -> None:
        self.labels, self.code = labels, code
        self.used, self.which = np.unique(label, return_inverse=True)
        self.squared = metric is not Metric.GOWER

    def add(self, people: slice, out: Floats) -> None:
        values, row = np.unique(self.code[people], return_inverse=True)
        out += self._distances(values)[row.reshape(-1)][:, self.which.reshape(-1)]

    def column(self) -> Column | None:
        values, row = np.unique(self.code, return_inverse=True)
        if len(values) * len(self.used) > _MOST_OF_A_TABLE:
            return None
        return Column(self._distances(values), row.reshape(-1), self.which.reshape(-1))

    def _distances(self, values: Codes) -> Floats:
        way = self._ways(values)
        if self.squared:
            way *= way
        way[values < 0] = 0.0
        return way

    def _ways(self, values: Codes) -> Floats:
        """The distance of values from what each label that occurs covers (values × labels), from 0 to 1."""
        labels, domain = self.labels, self.labels.domain
        lo, hi = labels.lo[self.used], labels.hi[self.used]
        inside = (lo <= values[:, None]) & (values[:, None] <= hi)
        there, present = (values >= 0) & (values < domain.known), (hi < domain.known) & (lo <= hi)
        way = np.ones(inside.shape)
        ordered = domain.numbers is not None or domain.column.type is Type.ORDINAL
        if domain.taxonomy is not None and domain.taxonomy.height and not ordered:
            way[np.ix_(there, present)] = _rises(domain.taxonomy, values[there], lo[present], hi[present])
        way[inside] = 0.0
        for place in np.flatnonzero(np.isin(self.used, list(labels.gaps)) | ordered).tolist():
            label = int(self.used[place])
            covered = labels.codes(label)
            listed = covered[covered < domain.known]
            if ordered:
                ends = places_of(domain)[listed] if len(covered) else np.array([labels.low[label], labels.high[label]])
                if len(ends):
                    far = np.abs(places_of(domain)[values[there]][:, None] - ends)
                    way[there, place] = far.min(axis=1) / _span(domain)
            elif domain.taxonomy is not None and domain.taxonomy.height and len(listed):
                each = _rises(domain.taxonomy, values[there], listed, listed)
                way[there, place] = each.min(axis=1)
            else:
                way[:, place] = 1.0
            way[np.isin(values, covered), place] = 0.0
        return way


def _span(domain: Domain) -> float:
    place = places_of(domain)
    return float(place[domain.known - 1] - place[0]) or 1.0


def _rises(taxonomy: Taxonomy, values: Codes, lo: Codes, hi: Codes) -> Floats:
    """The height of the lowest node above each value and each run of leaves (values × runs), over the tree's."""
    depth = np.append(taxonomy.depth[taxonomy.leaf_node], 0)
    deepest = np.maximum.reduceat(depth, np.column_stack([taxonomy.lo, taxonomy.hi + 1]).ravel())[::2]
    low, high = np.minimum(values[:, None], lo), np.maximum(values[:, None], hi)
    node = taxonomy.common_ancestor(low.astype(np.int64), high.astype(np.int64))
    return np.asarray((deepest - taxonomy.depth)[node] / taxonomy.height)
