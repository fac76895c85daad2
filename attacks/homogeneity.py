"""Homogeneity: this person has exactly this value.

k-anonymity hides which record is whose, but not what all of them share: where everybody who fits has the same sensitive
value, the value is known. The claim is the likeliest value under the posterior P(t, s); a claim among m tied values counts
1/m, since anything else would depend on row order.

Papers: A. Machanavajjhala et al., "l-Diversity", ICDE 2006; Poovammal and Ponnaivaikko 2009, Table III (Girija:
Bronchitis with 100 %).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, ValueClaims
from attacks.shared.measures import CONFIDENCE, value_measures
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Goal, Measure


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Claims the likeliest sensitive value of each person; `tau` is the probability that counts as known."""

    name: ClassVar[str] = "homogeneity"
    summary: ClassVar[str] = (
        "Reads off the sensitive value that everybody who fits has in common, or the likeliest one."
    )
    paper: ClassVar[str] = "Machanavajjhala et al. 2006; Poovammal & Ponnaivaikko 2009, Table III"
    goal: ClassVar[Goal] = Goal.ATTRIBUTE
    claim: ClassVar[str] = "This person has exactly this value."
    needs: ClassVar[str] = "Some quasi-identifiers of the person, and a published sensitive column."
    success: ClassVar[str] = "The likeliest value is the true one; among m tied values it counts 1/m."
    lowered_by: ClassVar[str] = "More different sensitive values in every class (l-diversity, t-closeness)."
    measures: ClassVar[tuple[Measure, ...]] = value_measures(
        "{who} guesses the {column} right for {share}", one="{belief}"
    )
    lead: ClassVar[tuple[str, ...]] = ("certain", "success", "above")
    support: ClassVar[tuple[str, ...]] = ("certain", "above", "success")
    axis: ClassVar[str] = CONFIDENCE
    caption: ClassVar[str] = "Homogeneity: the {column} is guessed right"

    tau: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.tau < 1:
            raise UsageError(f"homogeneity: tau must be at least 0 and below 1. Got {self.tau}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        assert view.sensitive is not None
        return ValueClaims(view.beliefs.values(view.sensitive), self.tau)
