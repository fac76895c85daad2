"""Similarity: this person's value is one of these, which are much the same.

A class may hold different values that all say the same: gastric ulcer, gastritis and stomach cancer are three diseases of the
stomach, and salaries of 3000, 4000 and 5000 are three low ones. Values are near where they share a group of the taxonomy, or
where they lie in a window of a given `width` (numbers; for ordinals, steps). The claim is the group or window with the most
posterior mass, ties included, and beside it stands how much more that is than its share at large (`lift_max`).

Paper: N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007.
Decided here: `level` 0 takes the groups just below the root of the taxonomy, level 1 those below these, and so on. Numbers go
by windows, though they may have a taxonomy; by default a window is a tenth of the range wide (for ordinals at least one
step). A missing value is near to none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, RangeClaims
from attacks.proximity import best_windows
from attacks.shared.measures import CONFIDENCE, lift_measure, value_measures
from attacks.skewness import at_large, least_share
from auditor.measure.nearness import upper
from auditor.model.arrays import Floats, Ints
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Goal
from auditor.model.schema import Type
from auditor.posterior.beliefs import ValueBeliefs

_WIDTH = 0.1
"""The width of a window, as a share of the range."""


@dataclass(frozen=True)
class Similarity(Attack):
    """Claims a group of similar values for each person; `tau` is the probability that counts as known."""

    name = "similarity"
    title = "naming a group of values"
    summary = "Reads off what the values of everybody who fits have in common, though they differ."
    paper = "Li, Li & Venkatasubramanian 2007"
    goal = Goal.ATTRIBUTE
    below_one = ("tau",)
    effort = 1
    calibrated = True
    claim = "This person's value is one of this group of similar values."
    needs = "Some quasi-identifiers of the person, and a sensitive column of numbers, of ordered values, or with a taxonomy."
    success = "The true value is in the claimed group or window; among m tied ones each counts 1/m."
    lowered_by = "Classes whose values are spread over groups as in the whole table (t-closeness by taxonomy)."
    measures = (
        *value_measures(
            "{who} names the right group of similar values of the {column} for {share}",
            "be placed in one group of similar values of the {column}",
            claimed="group of similar values",
        ),
        lift_measure("one group of similar values of the {column}"),
    )
    support = ("certain", "above", "lift_max")
    axis = CONFIDENCE
    least = (("width", 0),)

    level: int = 0
    width: float | None = None
    tau: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level < 0:
            raise UsageError(f"similarity: level must be at least 0 (just below the root). Got {self.level}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        column = view.column
        prior = at_large(view, column)
        if prior is None:
            return NotApplicable(f"how common the values of {column} are at large is not known.")
        domain, taxonomy = view.domain, view.domain.taxonomy
        if not domain.known:
            return NotApplicable(f"{column} has no value that could be near another.")
        if domain.numbers is not None or (domain.column.type is Type.ORDINAL and taxonomy is None):
            return self._windows(view, column, prior)
        if taxonomy is None:
            return NotApplicable(f"{column} has no taxonomy that would say which values are similar.")
        if self.level > taxonomy.height - 2:
            return NotApplicable(
                f"the taxonomy of {column} has no groups at level {self.level}: its height is {taxonomy.height}."
            )
        groups = taxonomy.groups_below(self.level)
        if domain.missing is not None:
            groups = np.append(groups, -1)
        values = view.beliefs.values(column)
        ranges = _heaviest_groups(values, groups)
        return RangeClaims(values, *ranges, prior, least_share(view), self.tau, {"level": self.level})

    def _windows(self, view: View, column: str, prior: Floats) -> Claims:
        domain, values = view.domain, view.beliefs.values(column)
        ordinal = domain.numbers is None
        numbers = np.arange(domain.known, dtype=np.float64) if domain.numbers is None else domain.numbers
        span = float(domain.known - 1) if ordinal else domain.width
        width = self.width if self.width is not None else max(_WIDTH * span, 1.0 if ordinal else 0.0)
        start, row, _ = best_windows(values, numbers, width)
        first = np.searchsorted(numbers, start)
        last = np.searchsorted(numbers, upper(start, width), side="right")
        return RangeClaims(values, row, first, last, prior, least_share(view), self.tau, {"width": width})


def _heaviest_groups(values: ValueBeliefs, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """The groups with the most mass in each row, as rows and ranges of codes. `groups` numbers the group of each code, and
    each group is a run of codes."""
    first = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    last = np.append(first[1:], len(groups))
    number = np.repeat(np.arange(len(first)), last - first)
    ones = np.ones(len(groups))
    into = sparse.csr_array((ones, (np.arange(len(groups)), number)), shape=(len(groups), len(first)))
    mass = ValueBeliefs(sparse.csr_array(values.rows @ into), values.row_of)
    top = mass.top_entries() & (mass.rows.data > 0)
    chosen = mass.rows.indices[top].astype(np.int64)
    return mass.row_number[top], first[chosen], last[chosen]
