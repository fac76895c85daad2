"""Inference: a model trained on the release tells this person's value.

The third criterion of the regulators: with significant probability the value of an attribute follows from the values of
others. A model is trained on what is published and asked about people, whether or not a record fits them: what it gets right
about people who are not in the release as well is knowledge about the world. Only what it gets right beyond them (the
excess over the control) is owed to being in it.

The model is naive Bayes over the quasi-identifiers (`attacks/shared/learning.py`): quick, without chance, and it asks for
counts only, so that labels which cover several values and blocks which were parted can be learned from by expected counts.
For a numeric column it learns classes of equal frequency; the claim is then the window of `width` with the most mass.

Papers: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques; M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi,
"A unified framework for quantifying privacy risk in synthetic data" (Anonymeter), PoPETs 2023.
Decided here: Anonymeter looks up the nearest record; a model does better for people whose record was generalised or parted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Lacks, NotApplicable, View, WholeAttack
from attacks.claims import Claims, ValueClaims, WindowClaims
from attacks.proximity import best_windows
from attacks.shared.learning import Lesson
from attacks.shared.measures import CONFIDENCE, near_measures, value_measures
from auditor.model.knowledge import Knowledge
from auditor.model.record.meaning import Goal
from auditor.model.schema import Type
from auditor.posterior.beliefs import Mixture, ValueBeliefs, meaning
from auditor.posterior.matching import distinct_people


@dataclass(frozen=True)
class Inference(WholeAttack):
    """Claims each person's likeliest value by a model trained on the release. Numbers are learned in `bins` bins; `width` is
    that of the claimed window of a numeric column (default: 5 % of its range), `tau` the probability that counts as known."""

    name = "inference"
    summary = "Trains a model on the release and asks it for each person's sensitive value."
    paper = "Article 29 Working Party 2014; Giomi, Boenisch, Wehmeyer & Tasnádi 2023"
    goal = Goal.ATTRIBUTE
    beyond_class = "what other classes teach"
    below_one = ("tau",)
    claim = "This person has exactly this value; for numbers: one in this short interval."
    needs = "Some published quasi-identifiers of the person, and a published sensitive column."
    success = "The model's likeliest value is the true one, or its window holds the true number."
    lowered_by = "Fewer or coarser quasi-identifiers that go with the sensitive value."
    measures = (
        *value_measures(
            "with a model trained on the release, {who} predicts the right {column} for {share}",
            claimed="value (of numbers: window)",
        ),
        *near_measures(),
    )
    support = ("certain", "above", "mean")
    axis = CONFIDENCE
    about_matched = False
    least = (("bins", 2), ("width", 0))

    bins: int = 12
    width: float | None = None
    tau: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        if view.blind:
            return self._claims(view, view.beliefs.values(view.column))
        if not any(c in view.release.quasi for c in view.knowledge.columns):
            return NotApplicable("The adversary knows nothing of the people that is published.", Lacks.PEOPLE)
        return self._claims(view, _predicted(Lesson(view.release, view.column, self.bins), view.knowledge))

    def _claims(self, view: View, values: ValueBeliefs) -> Claims:
        domain = view.domain
        if domain.column.type is not Type.NUMERIC or domain.numbers is None or not len(domain.numbers):
            return ValueClaims(values, self.tau)
        width = 0.05 * domain.width if self.width is None else self.width
        start, row, mass = best_windows(values, domain.numbers, width)
        return WindowClaims(values, domain.numbers, width, False, width, self.tau, start, row, mass, None)


def _predicted(lesson: Lesson, knowledge: Knowledge) -> ValueBeliefs:
    """P(s|q) for each person by naive Bayes; within a class values have the shares that they have in the release."""
    pairs = lesson.parted()
    tables = lesson.tables(pairs, {block: lesson.even(block, some) for block, some in pairs.items()})
    people, row_of = distinct_people(knowledge.codes)
    labels = lesson.release.labels[lesson.column]
    times = np.bincount(lesson.label, minlength=len(labels.texts)).astype(np.float64)
    people_of = np.bincount(lesson.of_label, weights=times, minlength=lesson.classes)
    log = np.tile(np.log(np.maximum(people_of, 1e-300)), (len(people), 1))
    for attribute in lesson.attributes:
        if attribute.column in knowledge.columns:
            codes = people[:, knowledge.columns.index(attribute.column)]
            log += attribute.of_codes(tables[attribute.column], codes)
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    chance[:, people_of == 0] = 0.0
    chance /= chance.sum(axis=1, keepdims=True)
    share = np.divide(times, people_of[lesson.of_label], out=np.zeros(len(times)), where=times > 0)
    places = (lesson.of_label, np.arange(len(times)))
    by_label = sparse.csr_array((share, places), shape=(lesson.classes, len(times)))
    by_code = sparse.csr_array(by_label @ meaning(lesson.release, lesson.column, knowledge.priors.get(lesson.column)))
    return Mixture(chance, by_code, row_of)
