"""Queries: the relative error of random COUNT range queries, which is what analysts do with any kind of release.

A query asks how many people have, on two or three columns (one a quasi-identifier, one sensitive if there is one), a value
within a range: an interval of codes for numbers and ordinals, a node of the taxonomy (a group or a leaf) for nominals that
have one, a random subset for other nominals. A query's selectivity s is drawn log-uniformly between 0.01 and 0.5, and on each
of its d columns the range holds the share s^(1/d) of the domain (as in Xiao and Tao 2006, Anatomy, section 6; nodes have the
sizes they have). Missing values are in no range.

The truth is counted in the original. The estimate assumes that values are uniform inside labels and blocks independent inside
classes: a fragment counts the product over its queried columns of |label ∩ range|/|label|, a class B counts
|B| · Π over blocks b of (sum over its fragments of b / |B|). The error is |estimate - truth|/max(truth, sanity). The sanity
bound (1, or 0.1 % of the people) keeps queries that hardly anybody meets from deciding.

A number that is not a value of the domain (an average, a centre, a noisy one) counts as the nearest value. Queries go to the
published columns. Rows that were left out of the release are missing from its estimates, and so count as error; the counts of
a synthetic release are scaled to the number of people in the original. The answers
do not depend on the order of fragments or the numbers of classes, to the last bit: equal fragments are counted together in
the order of their labels, and classes are summed in the order of their estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from auditor.measure.intervals import quantile_interval
from auditor.measure.utility.case import Case
from auditor.measure.utility.measure import measure, not_applicable
from auditor.measure.utility.worlds import nearest_codes
from auditor.model.arrays import Bools, Codes, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import UsageError
from auditor.model.labels.labels import Labels
from auditor.model.packing import distinct_rows
from auditor.model.record.record import Utility
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.model.table import Table

SELECTIVITY = (0.01, 0.5)
"""The least and the greatest selectivity of a query if all domains were uniform."""

SANITY = 0.001
"""The least divisor of an error, as a share of people."""

STATISTICS = {"median": 0.5, "p90": 0.9}

Query = dict[str, Bools]
"""For each queried column, which of its codes are in the range."""


def queries(case: Case, count: int = 200, attributes: int = 3) -> list[Utility]:
    """The median and the 90th percentile of the relative error over `count` random queries on up to `attributes`
    columns, with the interval between order statistics."""
    if count < 1 or attributes < 1:
        raise UsageError(f"queries: count and attributes must be at least 1. Got {count} and {attributes}.")
    release, original, rng = case.release, case.original, case.rng("queries")
    columns = [c for c in case.columns if release.labels[c].domain.known > 1]
    reason = _no_queries(release, original, columns)
    if reason or original is None:
        return [not_applicable("queries", reason, statistic=name) for name in STATISTICS]
    asked = [_draw(release, columns, rng, attributes) for _ in range(count)]
    truth = np.array([_true_count(original, query) for query in asked], dtype=np.float64)
    estimate = _estimates(release, columns, asked) * case.people_a_row
    sanity = max(1.0, SANITY * original.rows)
    errors = np.abs(estimate - truth) / np.maximum(truth, sanity)
    params: dict[str, Any] = {
        "count": count,
        "attributes": attributes,
        "columns": columns,
        "selectivity": list(SELECTIVITY),
        "sanity": sanity,
        "rows_original": original.rows,
        "rows_release": release.rows,
    }
    rows = []
    for name, level in STATISTICS.items():
        value, low, high = quantile_interval(errors, level)
        rows.append(
            Utility("queries", value=value, better="lower", low=low, high=high, params={"statistic": name, **params})
        )
    return rows


def _no_queries(release: Release, original: Table | None, columns: list[str]) -> str | None:
    """Why queries cannot be asked, or None."""
    if original is None:
        return "true counts need the original"
    if not release.rows:
        return "the release has no rows"
    return None if columns else "no column with two or more values is both published and in the original"


def _draw(release: Release, columns: list[str], rng: np.random.Generator, attributes: int) -> Query:
    """A random query."""
    most = min(attributes, len(columns))
    dimensions = int(rng.integers(min(2, most), most + 1))
    low, high = np.log(SELECTIVITY)
    share = float(np.exp(rng.uniform(low, high))) ** (1 / dimensions)
    quasi = [c for c in columns if c in release.quasi] or columns
    first = quasi[int(rng.integers(len(quasi)))]
    sensitive = [c for c in columns if c in release.sensitive and c != first]
    second = [sensitive[int(rng.integers(len(sensitive)))]] if sensitive and dimensions > 1 else []
    others = [c for c in columns if c not in (first, *second)]
    more = rng.permutation(len(others))[: dimensions - 1 - len(second)]
    chosen = [first, *second, *(others[i] for i in more)]
    return {column: _range(release.labels[column].domain, share, rng) for column in chosen}


def _range(domain: Domain, share: float, rng: np.random.Generator) -> Bools:
    """A random range of a column that holds about this share of its domain; with a taxonomy, a random node."""
    inside = np.zeros(domain.size, dtype=np.bool_)
    values = domain.known
    width = min(max(ceil(share * values), 1), values)
    if domain.column.type is not Type.NOMINAL:
        start = int(rng.integers(values - width + 1))
        inside[start : start + width] = True
    elif domain.taxonomy is not None:
        node = int(rng.integers(1, len(domain.taxonomy.labels)))
        inside[domain.taxonomy.lo[node] : domain.taxonomy.hi[node] + 1] = True
    else:
        inside[rng.choice(values, size=width, replace=False)] = True
    return inside


def _true_count(original: Table, query: Query) -> int:
    """How many people of the original meet a query."""
    meets = np.ones(original.rows, dtype=np.bool_)
    for column, inside in query.items():
        meets &= inside[original.codes[column]]
    return int(np.count_nonzero(meets))


class _Overlaps:
    """Shares of labels inside a range, for the labels of one column."""

    def __init__(self, labels: Labels) -> None:
        nowhere, nearest = labels.counts == 0, nearest_codes(labels)
        self.start = np.where(nowhere, nearest, labels.lo)
        self.stop = np.where(nowhere, nearest, labels.hi) + 1
        self.counts = np.maximum(labels.counts, 1)
        self.gapped = np.array(sorted(labels.gaps), dtype=np.int64)
        codes = [labels.gaps[label] for label in self.gapped.tolist()]
        ends = np.cumsum([0, *map(len, codes)])
        flat = np.concatenate(codes) if codes else np.zeros(0, dtype=np.int32)
        self.members = sparse.csr_array(
            (np.ones(len(flat), dtype=np.int64), flat, ends), shape=(len(codes), labels.domain.size)
        )

    def shares(self, inside: Bools) -> Floats:
        """The share of each label's values that are inside the range."""
        running = np.concatenate([[0], np.cumsum(inside)])
        covered = running[self.stop] - running[np.minimum(self.start, self.stop)]
        if len(self.gapped):
            covered[self.gapped] = self.members @ inside.astype(np.int64)
        return np.asarray(covered / self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Fragments:
    """The distinct fragments of one block, and how often each occurs."""

    bucket: Codes
    cells: dict[str, Codes]
    times: Ints


def _fragments(release: Release, number: int, columns: list[str]) -> _Fragments:
    """The distinct fragments of a block, by class and then by labels. With one block classes do not matter: the estimates of
    all classes are summed."""
    block = release.blocks[number]
    bucket = block.bucket if len(release.blocks) > 1 else np.zeros_like(block.bucket)
    queried = [c for c in columns if c in block.columns]
    kinds = distinct_rows(np.column_stack([bucket, *(block.cell(c) for c in queried)]))
    _, first, times = np.unique(kinds, return_index=True, return_counts=True)
    return _Fragments(bucket[first], {c: block.cell(c)[first] for c in queried}, times)


def _estimates(release: Release, columns: list[str], asked: list[Query]) -> Floats:
    """The counts that the release suggests."""
    overlaps = {column: _Overlaps(release.labels[column]) for column in columns}
    fragments = [_fragments(release, number, columns) for number in range(len(release.blocks))]
    single = len(release.blocks) == 1
    estimates = np.empty(len(asked))
    for i, query in enumerate(asked):
        shares = {column: overlaps[column].shares(inside) for column, inside in query.items()}
        buckets = release.sizes.astype(np.float64)
        for block in fragments:
            queried = [column for column in query if column in block.cells]
            if not queried:
                continue
            weight = block.times.astype(np.float64)
            for column in queried:
                weight *= shares[column][block.cells[column]]
            if single:
                estimates[i] = weight.sum()
            else:
                buckets *= np.bincount(block.bucket, weights=weight, minlength=len(buckets)) / release.sizes
        if not single:
            estimates[i] = np.sort(buckets).sum()
    return estimates


QUERIES = measure(
    "queries",
    "Relative error of random counting queries, as an analyst would ask them: median and 90th percentile; 0 is exact.",
    "query error",
    queries,
    "every kind of release; needs the original",
    "Xiao & Tao 2006",
    best=0,
    statistic="median",
    headline=True,
)
