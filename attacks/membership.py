"""Membership: this person is in the data.

Few or no classes match what is known of somebody who is not in the data. Three scores, each higher for likelier members:

- `buckets`: the number of matching classes, those in which every block has something compatible;
- `degree`: the matching degree f(t) = Σ_B Π_b m_b/|B|, the slicing probabilities' denominator;
- `posterior`: the probability of membership with prior `prior`, from how many of the person's look-alikes in the population
  must be in the release (see `auditor/posterior/posterior.py`).

Suppressed rows are candidates for everybody here, so nobody is certainly out while one exists.

Paper: T. Li, N. Li, J. Zhang, I. Molloy, "Slicing", IEEE TKDE 2012, section on membership disclosure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import NotApplicable, View
from attacks.claims import Claims, MemberClaims
from attacks.shared.measures import MATCHED, RANKED, member_measures
from attacks.shared.members import MemberAttack
from auditor.posterior.presence import CONVERGED


@dataclass(frozen=True)
class Membership(MemberAttack):
    """Scores each person by how likely they are in the release."""

    name = "membership"
    title = "telling who is in"
    summary = "Tells members from outsiders by the classes that match them (slicing probabilities)."
    paper = "Li, Li, Zhang & Molloy 2012"
    effort = 4
    calibrated = True
    claim = "This person is in the data."
    needs = "Some quasi-identifiers of the person; to be scored, people who are not in the data, or made-up ones."
    lowered_by = "Coarser quasi-identifiers, or blocks that many classes match."
    measures = (*member_measures(), *MATCHED)
    lead = ("auc", "advantage", "tpr_at_fpr_0.01")
    support = ("tpr_at_fpr_0.01", "no_match", "fakes")
    axis = "matching classes"
    caption = f"Membership: {RANKED}"

    prior: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        beliefs = view.beliefs.membership(self.prior)
        scores = {"buckets": beliefs.buckets, "degree": beliefs.degree}
        if beliefs.judged:
            scores["posterior"] = beliefs.posterior
        source = "register" if view.knowledge.register is not None else "marginals of the release"
        doubt = None
        if beliefs.gap >= CONVERGED:
            doubt = f"the model of who is present misplaces {beliefs.gap:.1%} of the people"
        return MemberClaims(scores, source, self.prior, doubt)
