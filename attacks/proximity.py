"""Proximity: this person's number lies in this short interval.

A numeric value need not be known exactly to be disclosed: an income known to ±30 is an income known. The claim is the
window of a given width that holds the most posterior mass. The best window may be taken to start at a value with mass (any
other can be moved right until it does, losing nothing), so one pass over the sorted values finds it. Scoring measures the
mass within ±ε of the true value, which is the paper's x/|G| for a class G.

(ε,m)-anonymity asks that in every class, for every value in it, at most 1/m of the class lies within ±ε of it; the
largest m for which it holds is one over the largest such share, computed from the published classes.

Papers: J. Li, Y. Tao, X. Xiao, "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data", SIGMOD 2008;
Poovammal and Ponnaivaikko 2009, Table IV (Girija's income in [10000, 10030] with 75 %).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, WindowClaims
from attacks.shared.measures import count_measure, fact_measure, near_measures
from auditor.measure.classes import NEAR, proximity
from auditor.measure.counts import class_counts
from auditor.measure.nearness import upper
from auditor.model.arrays import Floats, Ints
from auditor.model.keeping import kept
from auditor.model.record.meaning import Better, Goal, Measure
from auditor.model.release import Release, Suppression
from auditor.model.schema import Type
from auditor.posterior.beliefs import MOST_COLUMNS, TIE, ValueBeliefs


@dataclass(frozen=True)
class Proximity(Attack):
    """Claims a short interval for each person's number.

    `epsilon` is the tolerance around the truth (default: 5 % of the domain's range; with `relative`, a share of the true
    value), `width` the width of the claimed window (default: epsilon), `tau` the mass that counts as known.
    """

    name = "proximity"
    title = "narrowing a number down"
    summary = "Pins a person's number down to a short interval."
    paper = "Li, Tao & Xiao 2008; Poovammal & Ponnaivaikko 2009, Table IV"
    goal = Goal.ATTRIBUTE
    below_one = ("tau",)
    effort = 2
    calibrated = True
    claim = "This person's number lies in this short interval."
    needs = "Some quasi-identifiers of the person, and a published numeric sensitive column."
    success = "The true number lies in the claimed window; among m tied windows each counts 1/m."
    lowered_by = "Classes whose numbers lie far apart ((ε,m)-anonymity, ordered t-closeness)."
    measures = (
        *near_measures(),
        count_measure(
            "above",
            "How many people have more than τ of the belief within ±ε of their true number.",
            "{of} can be placed {near} their true {column} with a confidence above {percent_tau}{by}",
            label="near disclosure with high confidence",
        ),
        Measure(
            "success",
            "Share of people whose true number lies in the claimed interval; among m tied intervals each counts 1/m.",
            "{who} names {width} that holds the true {column} for {share}",
            label="right intervals",
            one="{belief}",
        ),
        fact_measure(
            "m",
            "The largest m for which (ε,m)-anonymity holds: at most one in m values of a class lies within ±ε of any.",
            "of the {column} values of a class, at most a share of 1/{value} lies {near} any one of them ((ε,m)-anonymity)",
            label="m of (ε,m)-anonymity",
            better=Better.HIGHER,
            everybody="in some class all {column} values lie {near} one of them: no protection against a near guess (m = 1)",
        ),
    )
    lead = ("success", "above", "mean", "max")
    compared = ("success", "mean")
    support = ("above", "success", "m")
    axis = "belief near the truth"
    least = (("epsilon", 0), ("width", 0))
    caption = "Proximity: the {column} lies in the claimed interval"

    epsilon: float | None = None
    width: float | None = None
    relative: bool = False
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        domain = view.domain
        if domain.column.type is not Type.NUMERIC or domain.numbers is None or not len(domain.numbers):
            return NotApplicable(f"{view.column} is not numeric, so no value is near another.")
        epsilon = self.epsilon if self.epsilon is not None else (NEAR if self.relative else NEAR * domain.width)
        width = self.width if self.width is not None else (NEAR * domain.width if self.relative else epsilon)
        values = view.beliefs.values(view.column)
        start, row, mass = best_windows(values, domain.numbers, width)
        m = None if self.relative else _published_m(view.release, view.column, view.suppression, epsilon)
        return WindowClaims(values, domain.numbers, epsilon, self.relative, width, self.tau, start, row, mass, m)


@kept(2)
def best_windows(values: ValueBeliefs, numbers: Floats, width: float) -> tuple[Floats, Ints, Floats]:
    """The windows [start, start + width] with the most mass in each row, ties included: starts, their rows, and the mass
    of each row. Mass on the missing value lies in no window."""
    starts, rows_of, masses = [np.empty(0)], [np.empty(0, dtype=np.int64)], [np.empty(0)]
    # where a window that begins at a number ends, as a code: integers, so ends are exact
    ends = np.searchsorted(numbers, upper(numbers, width), side="right")
    for where, part in values.parts():
        rows = part.rows
        row, inside = part.row_number, part.around(np.arange(len(numbers)), ends)
        best, filled = np.zeros(rows.shape[0]), np.flatnonzero(np.diff(rows.indptr))
        if len(filled):
            best[filled] = np.maximum.reduceat(inside, rows.indptr[filled])
        top = (inside >= best[row] * (1 - TIE) - 1e-15) & (rows.indices < len(numbers))
        starts.append(numbers[rows.indices[top]])
        rows_of.append(row[top] + where.start)
        masses.append(best)
    return np.concatenate(starts), np.concatenate(rows_of), np.concatenate(masses)


@kept(MOST_COLUMNS)
def _published_m(release: Release, column: str, suppression: Suppression, epsilon: float) -> float | None:
    """The largest m for which the published classes are (ε,m)-anonymous; None where cells are not single numbers."""
    if release.beyond is not None:  # a figure of all classes, of which not all are held
        return release.beyond.proximity_m[column]
    return proximity(release, column, class_counts(release, column, suppression), epsilon)[1]
