"""Intersection: this person has exactly this value, since several releases leave no other.

Releases about overlapping people are each safe by themselves, not together: whoever finds a person's class in each of them
knows that the value is in all. By Bayes' rule, with releases made independently of each other given the person's value s,

    P(s | all)  ∝  prior(s) · Π_j  P_j(s) / prior(s)

where P_j is what release j alone says; a value that one of them rules out is out. A release in which nothing fits a person
says nothing about them; the person may be in an earlier release with probability `overlap` only, then P_j(s)/prior(s) is
mixed with 1.

Paper: S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition Attacks and Auxiliary Information in Data Privacy", KDD
2008.

Decided here: columns of the releases are matched by the texts of their values; a person whose known values an earlier release
does not have at all is not looked for there. Where releases contradict each other (no value is left) this one alone counts.
Earlier classes are found by the same link model, by `likelihood` under `class`. The prior is that of people at large: where
quasi-identifiers tell of the value, every release tells it again, so that more is expected than is found. Leaving one out
takes the own record out of this release alone, so that the control is what the earlier releases tell anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Attack, Lacks, NotApplicable, View
from attacks.claims import Claims, ValueClaims
from attacks.shared.measures import CONFIDENCE, value_measures
from auditor.model.arrays import Bools, Floats, Ints
from auditor.model.domain import Domain
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge
from auditor.model.packing import distinct_rows
from auditor.model.record.meaning import Criterion, Goal
from auditor.model.release import Release
from auditor.posterior.beliefs import TIE, ValueBeliefs
from auditor.posterior.coupled import beliefs_about_others


@dataclass(frozen=True)
class Intersection(Attack):
    """Claims the likeliest sensitive value of each person given all releases; `overlap` is the probability that a target is
    in an earlier release, `tau` the one that counts as known."""

    name = "intersection"
    title = "combining releases"
    summary = "Keeps the values that a person can have by every one of several releases."
    paper = "Ganta, Kasiviswanathan & Smith 2008"
    goal = Goal.ATTRIBUTE
    beyond_class = "other releases"
    below_one = ("tau",)
    claim = "This person has exactly this value, by several releases together."
    needs = (
        "Some quasi-identifiers of the person, and earlier releases about the same people that publish the sensitive "
        "column."
    )
    success = "The likeliest value given all releases is the true one; among m tied values it counts 1/m."
    lowered_by = "The same classes in every release, or publishing the sensitive column once."
    criterion = Criterion.LINKABILITY
    measures = value_measures("comparing this release with another one, {who} names the right {column} for {share}")
    support = ("certain", "above")
    axis = CONFIDENCE

    overlap: float = 1.0
    tau: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.overlap <= 1:
            raise UsageError(f"intersection: overlap must be above 0 and at most 1. Got {self.overlap}.")

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        column = view.column
        if not view.knowledge.earlier:
            return NotApplicable("the adversary has no other release about the same people.", Lacks.FACTS)
        earlier = [release for release in view.knowledge.earlier if column in release.columns]
        if not earlier:
            return NotApplicable(f"none of the earlier releases publishes {column}.")
        shared = [r for r in earlier if set(r.labels[column].domain.texts) & set(view.domain.texts)]
        if not shared:
            return NotApplicable(f"no earlier release has a value of {column} in common with this one.")
        values = view.beliefs.values(column)
        if view.blind:
            return ValueClaims(values, self.tau)
        told = [_told(view, release) for release in shared]
        if not any(one.found.any() for one in told):
            return NotApplicable("no earlier release has a record that fits what is known of anybody.")
        together, contradicted = _combined(values, told, _floored(view.knowledge.priors[column]), self.overlap)
        beside = {"this_release": values}
        beside.update({f"earlier_{i + 1}": one.values for i, one in enumerate(told)})
        detail = {
            "releases": 1 + len(told),
            "found_in_earlier": [int(one.found.sum()) for one in told],
            "contradicting": contradicted,
            "values_left": _left(together),
            "values_left_alone": [_left(each) for each in beside.values()],
        }
        return ValueClaims(together, self.tau, beside=beside, detail=detail)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What an earlier release says about each target, in codes of this one, and whom it says anything about."""

    values: ValueBeliefs
    found: Bools


def _told(view: View, release: Release) -> _Told:
    """The beliefs from an earlier release. Those whom nothing fits hold the prior."""
    column, knowledge = view.column, view.knowledge
    names = [c for c in knowledge.columns if c in release.columns]
    codes = np.empty((knowledge.targets, len(names)), dtype=np.int32)
    there = np.ones(knowledge.targets, dtype=np.bool_)
    same = True
    for place, name in enumerate(names):
        own, other = view.release.labels[name].domain, release.labels[name].domain
        known = knowledge.codes[:, knowledge.columns.index(name)]
        same &= own.texts == other.texts
        found = np.append(_places(own, other), -1)[known]  # what is not known (-1) stays so
        there &= (found >= 0) | (known < 0)
        codes[:, place] = np.where(there | (known < 0), found, 0)
    own, other = view.domain, release.labels[column].domain
    into = _places(other, own)
    kept = into >= 0
    shape = (other.size, own.size)
    renamed = sparse.csr_array((np.ones(int(kept.sum())), (np.flatnonzero(kept), into[kept])), shape=shape)
    prior = knowledge.priors[column]
    theirs = np.asarray(renamed @ prior, dtype=np.float64)
    told = Knowledge(
        tuple(names),
        codes,
        register=knowledge.register if same else None,
        priors={column: theirs if theirs.sum() > 0 else np.full(other.size, 1 / other.size)},
        errors={name: error for name, error in knowledge.errors.items() if name in names},
    )
    posterior = beliefs_about_others(release, told, view.link)
    values = posterior.values(column)
    rows = sparse.csr_array(values.rows @ renamed)
    total = np.asarray(rows.sum(axis=1)).reshape(-1)
    rows = sparse.csr_array(sparse.diags_array(np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)) @ rows)
    found_there = there & posterior.matched & (total > 0)[values.row_of]
    rows = sparse.csr_array(sparse.vstack([rows, sparse.csr_array(prior.reshape(1, -1))]))
    return _Told(ValueBeliefs(rows, np.where(found_there, values.row_of, len(total))), found_there)


def _places(domain: Domain, other: Domain) -> Ints:
    """For each code of a domain the code of the same value in another one, -1 where it is not there."""
    if domain.texts == other.texts:
        return np.arange(domain.size, dtype=np.int64)
    codes = [other.missing if code == domain.missing else other.code(text) for code, text in enumerate(domain.texts)]
    return np.array([-1 if code is None else code for code in codes], dtype=np.int64)


def _floored(prior: Floats) -> Floats:
    """A prior in which no value is impossible: a value with no share counts as the rarest one."""
    positive = prior[prior > 0]
    return np.where(prior > 0, prior, positive.min() if len(positive) else 1.0)


def _combined(values: ValueBeliefs, told: list[_Told], prior: Floats, overlap: float) -> tuple[ValueBeliefs, int]:
    """The beliefs given all releases, summing to what those from this one sum to; and for how many targets the releases
    contradict each other."""
    keys = np.column_stack([values.row_of, *(np.where(o.found, o.values.row_of, -1) for o in told)]).astype(np.int32)
    number = distinct_rows(keys)
    table = np.empty((int(number.max(initial=-1)) + 1, keys.shape[1]), dtype=np.int64)
    table[number] = keys
    before = values.rows[table[:, 0]]
    rows = before.copy()
    for place, one in enumerate(told):
        row = table[:, 1 + place]
        ratio = one.values.rows[row] @ sparse.diags_array(1 / prior)
        weight = np.where(row >= 0, overlap, 0.0)
        rows = sparse.csr_array(
            sparse.diags_array(weight) @ rows.multiply(ratio) + sparse.diags_array(1.0 - weight) @ rows
        )
    rows.eliminate_zeros()
    aim, total = (np.asarray(m.sum(axis=1)).reshape(-1) for m in (before, rows))
    fits = total > 1e-12
    scale = np.divide(aim, total, out=np.zeros(len(total)), where=fits)
    rows = sparse.diags_array(scale) @ rows + sparse.diags_array((~fits).astype(np.float64)) @ before
    combined = sparse.csr_array(rows)
    combined.eliminate_zeros()
    return ValueBeliefs(combined, number), int((~fits)[number].sum())


def _left(values: ValueBeliefs) -> float:
    """The mean number of values that a target can have."""
    possible = np.bincount(values.row_number, weights=values.rows.data > TIE, minlength=values.rows.shape[0])
    return float(possible[values.row_of].mean())
