"""Linking: this person is this record.

The adversary looks for records that fit what is known of a person. The chance of naming the right one is one over the
number of candidates (weighted, where the link model weighs them). In a release of several blocks a record is the right
fragment of every block of which something is known.

The prosecutor knows that the person is in the release; the journalist and the marketer do not, so their chance is
multiplied by the probability of membership, which for a class of f records and F people of the population is f/F. The
journalist's mean is the larger of the mean over records, (1/n) Σ f/F, and that over people, #classes/ΣF; the marketer's is
the first.

Papers: P. Samarati, L. Sweeney 1998; K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013;
Poovammal and Ponnaivaikko 2009 (Tables I and II: Barbie).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, RecordClaims
from attacks.shared.measures import RIGHT_LINK, record_measures
from auditor.model.record.meaning import Criterion, Goal
from auditor.model.release import Kind
from auditor.posterior.matching import Cells
from auditor.posterior.population import IndependentPopulation, RegisterPopulation


@dataclass(frozen=True)
class Linking(Attack):
    """Claims a record for each person; `threshold` is the chance above which a person counts as at risk."""

    name = "linking"
    title = "finding the record"
    summary = "Finds the record of a person by what is known of them."
    paper = "Samarati & Sweeney 1998; El Emam 2013; Poovammal & Ponnaivaikko 2009, Tables I and II"
    goal = Goal.IDENTITY
    effort = 1
    calibrated = True
    claim = "This person is this record."
    needs = "Some quasi-identifiers of the person; for the journalist and marketer a population."
    success = "The record named is the person's own; among m equally likely records it counts 1/m."
    lowered_by = "Coarser quasi-identifiers (larger classes), fewer of them, or suppressing rare people."
    criterion = Criterion.LINKABILITY
    measures = record_measures("{who} points at the right record for {share}")
    lead = ("at_risk", "mean", "max", "success")
    compared = ("success", "mean")
    support = ("at_risk", "mean", "max", "success")
    axis = RIGHT_LINK
    caption = "Linking: the right record is found"
    inside = ("threshold",)

    threshold: float = 0.2

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        return RecordClaims(view.beliefs, self.threshold, self._per_class(view))

    def _per_class(self, view: View) -> float | None:
        """The number of classes (by what is known) over the number of people they cover in the population."""
        register, release = view.knowledge.register, view.release
        if view.blind or register is None or not view.knowledge.anybody or release.kind is not Kind.GENERALISED:
            return None
        known = [c for c in release.quasi if c in view.knowledge.columns]
        if any(c not in register.codes for c in known):
            return None  # the population does not say who fits
        cells = Cells.of(release.blocks[0], known, len(release.sizes))
        counted = np.unique(cells.pattern[~release.suppressed[cells.bucket]])
        population = RegisterPopulation(register, IndependentPopulation.from_release(release))
        people = population.of_labels(release, known, cells.labels[counted]) * register.people
        return float(len(counted) / np.maximum(people, 1.0).sum()) if len(counted) else None
