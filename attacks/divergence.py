"""Divergence: this person is believed to have something unrelated.

A harm rather than a gain: a release that hides the truth among unrelated values makes people believe them. The paper calls
it worse than releasing the actual disease. Two values are unrelated where their lowest common ancestor in the taxonomy lies
at or above `level` (0 is the root).

Values are weighed by two readings (`attacks/shared/readings.py`), both unless one is asked for: Girija of Table IV is
believed to have stomach cancer by 25 % (`frequency`) or, as the paper reads it, by 50 % (`distinct`).

Paper: E. Poovammal, M. Ponnaivaikko, "Categorical Grading Based Personalized Privacy Preservation Against Attacks", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, SeveralClaims, UnrelatedClaims
from attacks.shared.measures import count_measure
from attacks.shared.readings import Reading
from auditor.model.errors import UsageError
from auditor.model.record.meaning import Criterion, Goal, Measure


@dataclass(frozen=True)
class Divergence(Attack):
    """Measures belief in values that have nothing to do with the truth."""

    name = "divergence"
    title = "false beliefs"
    summary = "Measures how far a release makes people believe something unrelated to the truth."
    paper = "Poovammal & Ponnaivaikko 2009, Table IV"
    goal = Goal.ATTRIBUTE
    below_one = ("tau",)
    effort = 2
    calibrated = True
    harm = True
    claim = "This person is believed to have something unrelated (a harm)."
    needs = "Some quasi-identifiers of the person, and a sensitive column with a taxonomy."
    success = "The top belief is unrelated to the truth; among m tied beliefs each counts 1/m."
    lowered_by = "Classes whose sensitive values are related (groups of one taxonomy branch)."
    criterion = Criterion.HARM
    measures = (
        Measure(
            "mean",
            "Mean belief in values unrelated to the truth: the harm of being thought to have what one has not.",
            "on average {rate} of the belief about a person's {column} lies on values unrelated to the truth{reading}{seen}",
            label="mean belief in unrelated values",
            one="{rate} of the belief about the person's {column} lies on values unrelated to the truth",
        ),
        count_measure(
            "above",
            "How many people are believed, with a confidence above τ, to have an unrelated value.",
            "{of} would be believed to have an unrelated {column} with a confidence above {percent_tau}{reading}{by}",
            label="strong belief in unrelated values",
        ),
        Measure(
            "top",
            "Share of people about whom the strongest belief is unrelated to the truth.",
            "the strongest belief about the {column} is wrong, and unrelated to the truth, for {share}{reading}{seen}",
            label="strongest belief unrelated",
            one="with {sure}, the strongest belief about the person's {column} is unrelated to the truth",
        ),
    )
    lead = ("top", "mean", "above")
    compared = ("top", "mean")
    support = ("mean",)
    axis = "belief in unrelated values"
    caption = "Divergence: an unrelated {column} is believed (a harm)"

    level: int = 0
    tau: float = 0.5
    reading: Reading | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level < 0:
            raise UsageError(f"divergence: level must be at least 0 (the root). Got {self.level}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        domain = view.domain
        if domain.taxonomy is None:
            return NotApplicable(f"{view.column} has no taxonomy that would say which values are unrelated.")
        if self.level >= max(domain.taxonomy.height, 1):
            return NotApplicable(
                f"level {self.level} is not above the leaves of {view.column}'s taxonomy, height {domain.taxonomy.height}."
            )
        groups = domain.taxonomy.groups_below(self.level)
        if domain.missing is not None:
            groups = np.append(groups, -1)
        values = view.beliefs.values(view.column)
        readings = list(Reading) if self.reading is None else [self.reading]
        return SeveralClaims(
            tuple(UnrelatedClaims(r.of(values), groups, self.tau, self.level, str(r)) for r in readings)
        )
