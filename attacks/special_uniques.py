"""Special uniques: which records stand out, and by which attributes.

A record that is the only one of its kind on few attributes is easier to find, and more likely the only one in the
population too, than one for which many are needed. SUDA2 looks for the smallest sets of quasi-identifiers on which a record
is unique (minimal sample uniques), weighs them by how few they need, and turns the sum into a probability that a match
is right (the DIS score). What drives it is the share of the scores that comes from sets with an attribute.

Labels are compared as published: equal where they denote the same values. A suppressed cell fits any value unless
`--withheld-cells own` makes it a value of its own. Quasi-identifiers in several blocks are several files, each looked at by
itself.

Papers: A. Manning, D. Haglin, J. Keane 2008 (SUDA2); M. Elliot 2000 (DIS); see `auditor/measure/sample_uniqueness.py`.

Decided here: a suppressed cell, or one that covers everything, says nothing of its record and is in none of its sets; rows
with all quasi-identifiers suppressed are left out, unless `--suppression` counts them. With many attributes only small sets
are looked at (`most`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import NotApplicable, View, WholeAttack
from attacks.claims import Claims, Fact, FactClaims
from attacks.shared.measures import count_measure, fact_measure
from auditor.measure.sample_uniqueness import dis_scores, largest_size, special_uniques
from auditor.measure.wildcards import TOO_LONG, alike_records
from auditor.model.arrays import Bools
from auditor.model.record.meaning import Criterion, Goal
from auditor.model.release import Release


@dataclass(frozen=True)
class SpecialUniques(WholeAttack):
    """Scores each record by its minimal sample uniques of up to `most` attributes. `fraction` is the DIS fraction, the
    share of the population that a sample would be of; a DIS score above `threshold` counts as at risk."""

    name = "special-uniques"
    title = "standing out"
    summary = "Finds the records that are unique on few attributes, and which attributes make them so."
    paper = "Manning, Haglin & Keane 2008; Elliot 2000"
    goal = Goal.IDENTITY
    claim = "This record stands out by these few attributes."
    needs = "Published quasi-identifiers."
    success = "A high DIS score: a match with the record is likely right."
    lowered_by = "Coarsening or suppressing the attributes that contribute most."
    criterion = Criterion.SINGLING_OUT
    measures = (
        fact_measure(
            "max",
            "The highest DIS score: the probability that a match with the record is right.",
            "a match with the record that stands out most is right with probability {one_in}",
            label="highest DIS score",
        ),
        fact_measure(
            "mean",
            "The mean DIS score of the records.",
            "on average, a match with a record is right with probability {one_in}",
            label="mean DIS score",
        ),
        count_measure(
            "at_risk",
            "How many records have a DIS score above the threshold: few attributes make them unique.",
            "{of} stand out: a few of their quasi-identifiers tell them from all others",
            label="special uniques",
            none="nobody stands out by a few of their quasi-identifiers: none of {n} records is told from all others so",
        ),
    )
    lead = ("at_risk", "max", "mean")
    compared = ("max", "mean")
    support = ("max", "mean", "at_risk")
    least = (("most", 1),)
    inside = ("fraction",)
    below_one = ("threshold",)

    most: int | None = None
    fraction: float = 0.01
    threshold: float = 0.1

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        if view.blind:
            return NotApplicable("without the release there are no records.")
        release = view.release
        known = [c for c in release.quasi if c in view.knowledge.columns] or list(release.quasi)
        if not known:
            return NotApplicable("no quasi-identifier is published.")
        facts: list[Fact] = []
        numbers = sorted({release.block_number(c) for c in known})
        for number in numbers:
            columns = [c for c in release.blocks[number].columns if c in known]
            found = self._facts(view, number, columns, len(numbers) > 1)
            if found is None:
                return NotApplicable(f"{TOO_LONG}.")
            facts += found
        return FactClaims(tuple(facts))

    def _facts(self, view: View, number: int, columns: list[str], several: bool) -> list[Fact] | None:
        release = view.release
        alike, values, hidden = alike_records(release, columns, view.suppression, view.cells)
        kept = np.flatnonzero(alike.inside)
        most = min(self.most or len(columns), largest_size(len(columns)))
        found = special_uniques(values[kept], most, _silent(release, columns)[kept], hidden[kept])
        if found is None:
            return None
        dis = np.zeros(len(values))
        dis[kept] = dis_scores(found, self.fraction)
        at_risk = dis > self.threshold
        params = {"fraction": self.fraction, "most": most, **({"columns": ", ".join(columns)} if several else {})}
        sizes = {str(size + 1): int(times) for size, times in enumerate(found.sizes) if times}
        detail = {
            "contribution": dict(zip(columns, found.contribution.round(6).tolist(), strict=True)),
            "minimal_sample_uniques": sizes,
            "sample_uniques": found.unique,
            "score_max": float(found.score.max(initial=0.0)),
            "withheld_cells": str(view.cells),
        }
        n, threshold = len(kept), {**params, "threshold": self.threshold}
        mean = float(dis[kept].mean()) if n else None
        return [
            Fact("max", float(dis.max(initial=0.0)) if n else None, n, params, detail, dis, block=number),
            Fact("mean", mean, n, params, {}, dis, block=number),
            Fact("at_risk", float(at_risk.sum()), n, threshold, {}, np.where(at_risk, dis, 0.0), block=number),
        ]


def _silent(release: Release, columns: list[str]) -> Bools:
    """Which cells of some columns of one block tell nothing, because they are suppressed or cover everything."""
    found = []
    for column in columns:
        labels = release.labels[column]
        whole = labels.suppressed | ((labels.counts == labels.domain.size) & (labels.domain.size > 1))
        found.append((whole & ~labels.is_alias)[release.block_of(column).cell(column)])
    return np.column_stack(found)
