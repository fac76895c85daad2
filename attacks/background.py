"""Background: this person has exactly this value, after facts that rule out others.

The attack against which l-diversity was made. Whoever knows that a person does not have a value ("Japanese rarely have heart
disease"), or knows the value of somebody else in the class, strikes candidates off: a class with l different values
withstands l - 2 facts about the person, and one more leaves one value. The facts are values which the person is known not to
have, and acquaintances in the release whose values are known. The claim is the likeliest value under the coupled posterior,
in which the acquaintances have records of their own (see `auditor/posterior/coupled.py`).

Papers: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-Diversity: Privacy beyond k-Anonymity", ACM TKDD
2007; D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern, "Worst-Case Background Knowledge for Privacy-Preserving
Data Publishing", ICDE 2007.

Decided here: the facts are given, not the worst ones possible; `facts_needed` says how few would do. The baseline has the
facts about the person without the release. A target is a case by itself unless `together` is set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base import ONLY_A_PART, Attack, Lacks, NotApplicable, View
from attacks.claims import Claims, Fact, FactClaims, SeveralClaims, ValueClaims
from attacks.shared.measures import CONFIDENCE, fact_measure, value_measures
from auditor.model.record.meaning import Better, Goal
from auditor.posterior.beliefs import TIE, ValueBeliefs
from auditor.posterior.coupled import Coupled


@dataclass(frozen=True)
class Background(Attack):
    """Claims the likeliest sensitive value of each person given facts about them and others; `tau` is the probability that
    counts as known, `together` says that the facts about all targets are held at once."""

    name = "background"
    title = "ruling values out"
    summary = (
        "Strikes off what a person is known not to have and what belongs to acquaintances, and claims what is left."
    )
    paper = "Machanavajjhala et al. 2007; Martin et al. 2007"
    goal = Goal.ATTRIBUTE
    beyond_class = "facts about people"
    below_one = ("tau",)
    calibrated = True
    claim = "This person has exactly this value, since the others are ruled out."
    needs = (
        "Some quasi-identifiers of the person, a published sensitive column, and facts: values which the person does not "
        "have, or acquaintances in the release whose values are known."
    )
    success = "The likeliest value given the facts is the true one; among m tied values it counts 1/m."
    lowered_by = "More different sensitive values in every class, in even shares (entropy or recursive l)."
    measures = (
        *value_measures(
            "knowing facts about people and their acquaintances, {who} names the right {column} for {share}"
        ),
        fact_measure(
            "breached",
            "How many people's value is certain given the facts, and is not without them.",
            "these facts, and not the release alone, make the {column} certain for {of}",
            label="values certain by the facts",
        ),
        fact_measure(
            "facts_needed",
            "How many facts of the kind “this person does not have this value” would leave one value, on average.",
            "on average, {value} facts of the kind “this person does not have this {column}” would leave one value",
            label="facts needed for certainty",
            better=Better.HIGHER,
        ),
    )
    support = ("certain", "breached", "facts_needed")
    axis = CONFIDENCE

    tau: float = 0.5
    together: bool = False

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        column, knowledge = view.column, view.knowledge
        excluded, friends = knowledge.not_values.get(column), knowledge.acquaintances
        known = friends is not None and column in friends.values and friends.people > 0
        if not known and (excluded is None or not excluded.any()):
            return NotApplicable(
                f"the adversary knows no value of {column} that a person does not have, and no acquaintance's value.",
                Lacks.FACTS,
            )
        if known and view.release.beyond is not None:
            return ONLY_A_PART  # acquaintances may have records of any class
        coupled = Coupled(view.beliefs, knowledge, rng, self.together)
        before, after = view.beliefs.values(column), coupled.values(column)
        detail = {
            **coupled.detail(column),
            "facts_per_person": 0.0 if excluded is None else float(excluded.sum(axis=1).mean()),
        }
        claims = ValueClaims(after, self.tau, beside={"before_facts": before}, detail=detail)
        return SeveralClaims((claims, FactClaims((_breached(before, after), _needed(before)))))


def _certain(values: ValueBeliefs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(values.top() > 1 - TIE)[values.row_of]


def _breached(before: ValueBeliefs, after: ValueBeliefs) -> Fact:
    """How many people's value is certain given the facts, and was not without them."""
    breached = (_certain(after) & ~_certain(before)).astype(np.float64)
    return Fact("breached", float(breached.sum()), len(breached), each=breached)


def _needed(before: ValueBeliefs) -> Fact:
    """How many facts of the kind "not s" leave one value of those that were possible: one fewer than these are."""
    possible = np.bincount(before.row_number, weights=before.rows.data > TIE, minlength=before.rows.shape[0])
    needed = np.maximum(possible - 1, 0)[before.row_of]
    detail = {"least": float(needed.min()), "most": float(needed.max())} if len(needed) else {}
    value = float(needed.mean()) if len(needed) else None
    return Fact("facts_needed", value, len(needed), detail=detail, each=1 / (1 + needed))
