"""Skewness: this person is far likelier than people at large to have this value.

A class may hold several values and still tell a lot: where one person in a hundred has a disease, a class in which every
second one has it makes all its people suspects. What a release tells about a person is what the posterior P(t, s) has over
the prior P(s), the share of the value among people at large. The claim is the value with the greatest lift P(t, s)/P(s),
ties included. Beside it stand two figures that need no truth: the information gained, as relative entropy in bits, and the
earth mover's distance t between posterior and prior, whose greatest value over classes is the t of t-closeness.

Paper: N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007.
Decided here: t is ordered for numeric and ordinal columns, hierarchical for nominal ones with a taxonomy, else equal, over
the values that people at large have. A value that nobody at large has counts as half a person of the release. Without the
release no value is likelier than at large; so the baseline of a claim is how often it is true of anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Attack, NotApplicable, View
from attacks.claims import Claims, Fact, FactClaims, RangeClaims, SeveralClaims
from attacks.shared.measures import CONFIDENCE, fact_measure, lift_measure, value_measures
from auditor.measure.divergences import equal_distance, hierarchical_distance, ordered_distance, parts, relative_entropy
from auditor.model.arrays import Floats
from auditor.model.domain import Domain
from auditor.model.record.meaning import Goal
from auditor.model.schema import Type
from auditor.posterior.beliefs import TIE, ValueBeliefs


@dataclass(frozen=True)
class Skewness(Attack):
    """Claims the value whose belief rose most over the prior; `tau` is the probability that counts as known."""

    name = "skewness"
    title = "going by unusual values"
    summary = "Finds people of whom the release makes a value far likelier than it is at large."
    paper = "Li, Li & Venkatasubramanian 2007"
    goal = Goal.ATTRIBUTE
    below_one = ("tau",)
    effort = 1
    calibrated = True
    claim = "This person is far likelier than people at large to have this value."
    needs = (
        "Some quasi-identifiers of the person, a published sensitive column, and how common its values are at large."
    )
    success = "The value with the greatest lift over the prior is the true one; among m tied it counts 1/m."
    lowered_by = "Classes whose sensitive values are distributed as in the whole table (t-closeness)."
    measures = (
        *value_measures("going by what is more common here than at large, {who} names the right {column} for {share}"),
        lift_measure("one {column}"),
        fact_measure(
            "gain_mean",
            "What the release tells about a person's value beyond the shares at large, in bits, on average.",
            "on average, the release tells {value} bits about a person's {column}",
            label="mean information gained (bits)",
        ),
        fact_measure(
            "t_max",
            "The largest distance between the belief about a person and the shares at large: the t of t-closeness.",
            "the belief about one person's {column} is up to {value} away from the shares at large (the t of t-closeness)",
            label="largest distance from the shares at large",
        ),
    )
    support = ("certain", "above", "lift_max")
    axis = CONFIDENCE

    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        prior = at_large(view, view.column)
        if prior is None:
            return NotApplicable(f"how common the values of {view.column} are at large is not known.")
        values, least = view.beliefs.values(view.column), least_share(view)
        rows, row = values.rows, values.row_number
        lift = rows.data / np.maximum(prior, least)[rows.indices]
        best = np.zeros(rows.shape[0])
        np.maximum.at(best, row, lift)
        top = (lift >= best[row] * (1 - TIE)) & (lift > 0)
        code = rows.indices[top].astype(np.int64)
        claims = RangeClaims(values, row[top], code, code + 1, prior, least, self.tau, at_large=True)
        believed = np.bincount(rows.indices, weights=rows.data, minlength=len(prior)) > 0
        known = np.where(believed, np.maximum(prior, least), prior)
        return SeveralClaims((claims, FactClaims(_facts(values, known, view.domain))))


def at_large(view: View, column: str) -> Floats | None:
    """The share of each value among people at large; None where nothing is known of it."""
    prior = view.knowledge.priors.get(column)
    return None if prior is None or prior.sum() <= 0 else prior / prior.sum()


def least_share(view: View) -> float:
    """The share of half a person, which counts for what nobody at large has."""
    return 0.5 / max(view.release.rows, 1)


def _facts(values: ValueBeliefs, prior: Floats, domain: Domain) -> tuple[Fact, ...]:
    """What the posterior says beyond the prior, with no truth needed."""
    rows = values.rows
    counts = sparse.csr_array((parts(rows.data), rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    gain = relative_entropy(counts, parts(prior))[values.row_of]
    ground, distance = _distances(counts, prior, domain)
    away = distance[values.row_of]
    some = len(values.row_of) > 0
    return (
        Fact("gain_mean", float(gain.mean()) if some else None, len(gain), {"unit": "bits"}, each=gain),
        Fact("t_max", float(away.max()) if some else None, len(away), {"ground": ground}, each=away),
    )


def _distances(
    counts: sparse.csr_array[np.int64, tuple[int, int]], prior: Floats, domain: Domain
) -> tuple[str, Floats]:
    """The earth mover's distance of each row from the prior, and its ground distance in words."""
    whole = parts(prior)
    if domain.column.type is not Type.NOMINAL:
        placed = np.flatnonzero(whole[: domain.known])  # a missing value has no place in the order
        return "ordered", ordered_distance(counts[:, placed], whole[placed])
    if domain.taxonomy is not None:
        nodes = np.append(domain.taxonomy.leaf_node, np.zeros(domain.size - domain.known, dtype=np.int64))
        return "hierarchical", hierarchical_distance(counts, whole, domain.taxonomy, nodes)
    return "equal", equal_distance(counts, whole)
