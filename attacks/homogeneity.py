"""Homogeneity: this person has exactly this value.

k-anonymity hides which record is whose, but not what all of them share: where everybody who fits has the same sensitive
value, the value is known. The claim is the likeliest value under the posterior P(t, s); a claim among m tied values counts
1/m, since anything else would depend on row order. `reading = "distinct"` believes all values that fit alike, however many
people have each (`attacks/shared/readings.py`): a weaker guess, and the one by which papers on l-diversity count.

Papers: A. Machanavajjhala et al., "l-Diversity", ICDE 2006; Poovammal and Ponnaivaikko 2009, Table III (Girija:
Bronchitis with 100 %) and Table IV (the actual disease with 50 %: one of two diseases, though three of four people have it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, ValueClaims
from attacks.shared.measures import CONFIDENCE, value_measures
from attacks.shared.readings import Reading
from auditor.model.record.meaning import Goal


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Claims the likeliest sensitive value of each person; `tau` is the probability that counts as known,
    `reading` whether values count by how many people have them."""

    name = "homogeneity"
    title = "reading off the value"
    summary = "Reads off the sensitive value that everybody who fits has in common, or the likeliest one."
    paper = "Machanavajjhala et al. 2006; Poovammal & Ponnaivaikko 2009, Table III"
    goal = Goal.ATTRIBUTE
    beyond_class = ""
    below_one = ("tau",)
    effort = 1
    calibrated = True
    claim = "This person has exactly this value."
    needs = "Some quasi-identifiers of the person, and a published sensitive column."
    success = "The likeliest value is the true one; among m tied values it counts 1/m."
    lowered_by = "More different sensitive values in every class (l-diversity, t-closeness)."
    measures = value_measures("{who} guesses the {column} right for {share}{reading}", one="{belief}")
    lead = ("certain", "success", "above")
    support = ("certain", "above", "success")
    axis = CONFIDENCE
    caption = "Homogeneity: the {column} is guessed right"

    tau: float = 0.5
    reading: Reading = Reading.FREQUENCY

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        params = {} if self.reading is Reading.FREQUENCY else {"reading": str(self.reading)}
        return ValueClaims(self.reading.of(view.beliefs.values(view.column)), self.tau, params=params)
