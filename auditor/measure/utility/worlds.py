"""Worlds: tables of plain values that a release may stand for, drawn by its own assumptions.

A label that covers several values is given one of them, all equally likely. In a release of several blocks the fragments of a
class are joined at random. These are the assumptions by which analysts read such releases (uniform inside labels, independent
across blocks; Xiao and Tao 2006). A person of the original keeps their own fragment in the block with the most
quasi-identifiers (the *anchor*); the other blocks are permuted against it. A number that is not a value of the domain (an
average, a centre, a noisy one) stays as it is, and counts as the nearest value where a value is needed.

A release of one block whose labels are all single values or numbers is one world, and figures from it are exact. Others are
measured in several seeded worlds: figures are means over them, with Student's interval of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from scipy import special

from auditor.measure.intervals import CONFIDENCE, Estimate
from auditor.measure.utility.case import Case
from auditor.model.arrays import Codes, Floats
from auditor.model.labels.labels import Labels

WORLDS = 5
"""The number of worlds whose mean a figure is."""
MOST_CELLS = 500_000
"""Above this many people × worlds fewer worlds are drawn, but at least two."""


class World:
    """One table of plain values, over the people of the release in the order of `Case.people`."""

    def __init__(self, case: Case, number: int) -> None:
        self.case, self.number = case, number
        people = case.people
        self.fragment = {people.anchor: people.own}
        for block, pool in people.pool.items():
            key = case.rng("world", number, "block", block).random(len(pool))
            self.fragment[block] = pool[np.lexsort((key, people.bucket))]

    def labels(self, column: str) -> Codes:
        """The number of each person's label."""
        release = self.case.release
        return release.block_of(column).cell(column)[self.fragment[release.block_number(column)]]

    def codes(self, column: str) -> Codes:
        """Each person's value, as a code of the domain."""
        labels, label = self.case.release.labels[column], self.labels(column)
        counts = labels.counts
        share = self.case.rng("world", self.number, "column", column).random(len(label))
        step = np.minimum((share * counts[label]).astype(np.int64), counts[label] - 1)
        code = labels.lo[label] + step
        for gapped, codes in labels.gaps.items():
            here = label == gapped
            code[here] = codes[step[here]]
        nowhere = counts[label] == 0
        code[nowhere] = nearest_codes(labels)[label[nowhere]]
        return code.astype(np.int32)

    def numbers(self, column: str) -> Floats:
        """Each person's number; NaN if it is missing."""
        labels, label = self.case.release.labels[column], self.labels(column)
        number = code_numbers(self.case, column)[self.codes(column)]
        nowhere = labels.counts[label] == 0
        number[nowhere] = middles(labels)[label[nowhere]]
        return number


def worlds(case: Case, most: int = WORLDS) -> list[World]:
    """The worlds of a release: one if it stands for no other table, otherwise several."""
    if settled(case):
        return [World(case, 0)]
    count = min(most, max(2, MOST_CELLS // max(case.people.inside, 1)))
    return [World(case, number) for number in range(count)]


def settled(case: Case) -> bool:
    """Whether a release stands for only one table of plain values."""
    release = case.release
    if len(release.blocks) > 1:
        return False
    return all((release.labels[c].counts[np.unique(release.block_of(c).cell(c))] <= 1).all() for c in case.columns)


def over_worlds(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The mean of a figure over worlds with Student's interval, cut at 0; no interval if there is only one world."""
    amounts = np.array(values, dtype=np.float64)
    mean = float(amounts.mean())
    if len(amounts) < 2:
        return mean, None, None
    half = student(len(amounts) - 1) * float(amounts.std(ddof=1)) / sqrt(len(amounts))
    found = Estimate(mean, max(mean - half, min(mean, 0.0)), mean + half)
    return found.value, found.low, found.high


def student(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The quantile of Student's distribution for a two-sided interval."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def said(case: Case, drawn: Sequence[World], columns: Sequence[str]) -> dict[str, Any]:
    """How a figure over worlds was made."""
    values = "as published" if settled(case) else "drawn evenly inside labels"
    params: dict[str, Any] = {"columns": list(columns), "worlds": len(drawn), "values": values}
    if len(case.release.blocks) > 1:
        params["blocks"] = "put together at random inside buckets"
    if case.release.synthetic:
        params["rows"] = case.people.inside
    elif case.people.inside < len(case.people.row):
        params["left_out"] = len(case.people.row) - case.people.inside
    return params


def original_codes(case: Case, column: str, everybody: bool = True) -> Codes:
    """The true values in the order of `Case.people`: everybody's, or those of the people in the release."""
    assert case.original is not None
    rows = case.people.row if everybody else case.people.row[: case.people.inside]
    return case.original.codes[column][rows]


def original_numbers(case: Case, column: str, everybody: bool = True) -> Floats:
    """The true numbers, likewise; NaN if they are missing."""
    return code_numbers(case, column)[original_codes(case, column, everybody)]


def code_numbers(case: Case, column: str) -> Floats:
    """The number of each code of a numeric column; NaN for the missing value."""
    domain = case.release.labels[column].domain
    assert domain.numbers is not None
    numbers = np.full(domain.size, np.nan)
    numbers[: len(domain.numbers)] = domain.numbers
    return numbers


def middles(labels: Labels) -> Floats:
    """The middle of each label's published bounds; if one is open, the other."""
    low = np.where(np.isfinite(labels.low), labels.low, labels.high)
    high = np.where(np.isfinite(labels.high), labels.high, labels.low)
    return (low + high) / 2


def nearest_codes(labels: Labels) -> Codes:
    """For labels that cover no value, the code of the value nearest to their middle (the lower of two); 0 for others."""
    numbers = labels.domain.numbers
    out = np.zeros(len(labels.texts), dtype=np.int32)
    if numbers is None or not len(numbers):
        return out
    middle = middles(labels)
    here = np.flatnonzero((labels.counts == 0) & np.isfinite(middle))
    above = np.clip(np.searchsorted(numbers, middle[here]), 0, len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    out[here] = np.where(middle[here] - numbers[below] <= numbers[above] - middle[here], below, above)
    return out
