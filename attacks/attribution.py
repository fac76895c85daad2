"""Attribution: whoever looks up a person's known values in a synthetic release reads off this value.

The adversary takes the synthetic records that have all known values of the person, as if one of them were theirs. Three
figures that users of synthpop and SDMetrics know (`auditor/measure/attribution.py`): how often such a record has the person's
value (CAP), for how many people all of them agree on it, rightly (DiSCO), and how many people who are alone with their values
come back as a record that is alone with them (repU). None says by itself what is owed to being in the data: a value that
follows from others is attributed to anybody. So the same figures for outsiders stand beside them as the control, and what is
above them is the risk.

Numbers are taken in `bins` bins of equal width over what is published, as SDMetrics does.

Papers: J. Taub, M. Elliot, M. Pampaka, D. Smith, "Differential Correct Attribution Probability for Synthetic Data", PSD 2018;
G. Raab, B. Nowok, C. Dibben, "Practical privacy metrics for synthetic data", 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import OF_PEOPLE, Attack, Lacks, NotApplicable, Rows, View
from attacks.claims import Claims, KeyClaims
from auditor.measure.attribution import binned
from auditor.measure.points import Points, known_points, published_points
from auditor.model.arrays import Floats, Ints
from auditor.model.packing import distinct_rows
from auditor.model.record.meaning import Goal, Measure
from auditor.model.release import Release
from auditor.model.table import Table


@dataclass(frozen=True)
class Attribution(Attack):
    """Reads a value off the synthetic records that have all known values of a person; numbers are taken in `bins` bins."""

    name = "attribution"
    title = "looking up known values"
    summary = (
        "Looks up a person's known values in the synthetic records, and reads off the value that stands beside them."
    )
    paper = "Taub, Elliot, Pampaka & Smith 2018; Raab, Nowok & Dibben 2024"
    goal = Goal.ATTRIBUTE
    claim = "The records with this person's known values show this person's value."
    needs = "Some published quasi-identifiers of the person, and a published sensitive column."
    success = "A record with the person's known values has the person's value."
    lowered_by = "Noise in the model (differential privacy), a coarser model, or fewer columns."
    rows = Rows.NOBODY
    linked = False
    about_matched = False
    effort = 2
    measures = (
        Measure(
            "cap",
            "CAP: of the synthetic records with a person's known values, the share with the person's value; the mean "
            "over people whose known values occur. It does not show whether the person was in the data: hold it "
            "against outsiders.",
            "looked up by their known values, {share} are shown with their own {column}",
            label="right values looked up (CAP)",
        ),
        Measure(
            "disco",
            "DiSCO: share of people whose known values occur in synthetic records, always with one value, which is "
            "theirs. It does not show whether that could be known without the release.",
            "all synthetic records with their known values agree on their own {column} for {share}",
            label="values disclosed (DiSCO)",
        ),
        Measure(
            "replicated",
            "repU: share of people who are alone with their known values, and whose known values exactly one synthetic "
            "record has. It does not show whether that record was made from them.",
            "{share} are alone with their known values, and come back as a synthetic record that is alone with them",
            label="replicated uniques (repU)",
        ),
    )
    lead = ("disco", "cap")
    compared = ("disco", "cap")
    support = ("cap", "replicated")
    least = (("bins", 1),)

    bins: int = 10

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        release, knowledge = view.release, view.knowledge
        if not release.synthetic:
            return OF_PEOPLE
        known = [c for c in knowledge.columns if c in release.columns and c != view.column]
        if not known:
            return NotApplicable("the adversary knows nothing of the people that is published", Lacks.PEOPLE)
        class_of, value = self._values(release, view.column)
        params = {"bins": self.bins}
        if view.blind:
            shares = np.bincount(class_of, weights=knowledge.priors[view.column], minlength=int(class_of.max()) + 1)
            return KeyClaims(None, None, value, class_of, shares.astype(np.float64), params)
        places = [knowledge.columns.index(c) for c in known]
        people, records = known_points(release, known, knowledge.codes[:, places]), published_points(release, known)
        low, high = _edges(records.numbers)
        parts = [self._parts(points, low, high) for points in (people, records)]
        key = distinct_rows(np.concatenate(parts))

        def among(table: Table) -> tuple[Ints, Ints]:
            more = self._parts(known_points(release, known, table.matrix(known)), low, high)
            number = distinct_rows(np.concatenate([more, parts[0]]))
            return number[: len(more)], number[len(more) :]

        return KeyClaims(key[: people.rows], key[people.rows :], value, class_of, None, params, among)

    def _parts(self, points: Points, low: Floats, high: Floats) -> Ints:
        ends = zip(points.numbers.T, low.tolist(), high.tolist(), strict=True)
        numbers = [binned(column, least, most, self.bins) for column, least, most in ends]
        return np.column_stack([np.empty((points.rows, 0), dtype=np.int64), *numbers, points.values]).astype(np.int64)

    def _values(self, release: Release, column: str) -> tuple[Ints, Ints]:
        """The class of each code of the column in question, and of each record's value."""
        size = release.labels[column].domain.size
        codes = known_points(release, [column], np.arange(size, dtype=np.int32)[:, None])
        records = published_points(release, [column])
        both = [self._parts(points, *_edges(records.numbers)) for points in (codes, records)]
        number = distinct_rows(np.concatenate(both))
        return number[:size], number[size:]


def _edges(numbers: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest number of each column."""
    there = ~np.isnan(numbers)
    low = np.min(numbers, axis=0, initial=np.inf, where=there)
    high = np.max(numbers, axis=0, initial=-np.inf, where=there)
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
