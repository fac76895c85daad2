"""Inference: a model trained on the release tells this person's value.

The third criterion of the regulators: with significant probability the value of an attribute follows from the values of
others. A model is trained on what is published and asked about people, whether or not a record fits them: what it gets right
about people who are not in the release as well is knowledge about the world. Only what it gets right beyond them (the
excess over the control) is owed to being in it.

The model g is one of gradient-boosted trees, or naive Bayes where there are few rows or blocks were parted; where it guesses
fewer rows of the release right than the commonest value does, that is guessed (`attacks/shared/models.py`). For a numeric
column it learns classes of equal frequency; the claim is then the window of `width` with the most mass.

Whoever finds a person in the release has more than a model: the values of the classes in which the link model looks for them.
These are refined: the link's belief in s counts by g(s|q) / g(s|L), where q is what is known of the person and L are the
labels that stand beside the sensitive values there (where blocks are parted, those of their own block, if any). Of people
whom nothing fits there is g(s|q).

Papers: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques; M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi,
"A unified framework for quantifying privacy risk in synthetic data" (Anonymeter), PoPETs 2023.
Decided here: Anonymeter looks up the nearest record; a model does better for people whose record was generalised or parted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from attacks.base import Lacks, NotApplicable, Rows, View, WholeAttack
from attacks.claims import Claims, ValueClaims, WindowClaims
from attacks.proximity import best_windows
from attacks.shared.finding import Found
from attacks.shared.learning import Lesson, lesson_of
from attacks.shared.measures import CONFIDENCE, near_measures, value_measures
from attacks.shared.models import Model, best_model
from auditor.model.arrays import Floats, Ints
from auditor.model.keeping import kept
from auditor.model.record.meaning import Goal
from auditor.model.release import Release
from auditor.model.schema import Type
from auditor.posterior.beliefs import MOST_COLUMNS, Mixture, ValueBeliefs, meaning, times
from auditor.posterior.matching import distinct_people

_MOST = 30_000_000
"""Where so many beliefs (people × values) would have to be refined, the model alone is asked."""

_LEAST = 1e-12
"""No value that the release allows is ruled out by a model."""


@dataclass(frozen=True)
class Inference(WholeAttack):
    """Claims each person's likeliest value by a model trained on the release. Numbers are learned in `bins` bins; `width` is
    that of the claimed window of a numeric column (default: 5 % of its range), `tau` the probability that counts as known."""

    name = "inference"
    title = "training a model"
    summary = "Trains a model on the release and asks it for each person's sensitive value."
    paper = "Article 29 Working Party 2014; Giomi, Boenisch, Wehmeyer & Tasnádi 2023"
    goal = Goal.ATTRIBUTE
    beyond_class = "what other classes teach"
    linked = True
    rows = Rows.EITHER
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
        return self._claims(view, _predicted(_model(view.release, view.column, self.bins), view))

    def _claims(self, view: View, values: ValueBeliefs) -> Claims:
        domain = view.domain
        if domain.column.type is not Type.NUMERIC or domain.numbers is None or not len(domain.numbers):
            return ValueClaims(values, self.tau)
        width = 0.05 * domain.width if self.width is None else self.width
        start, row, mass = best_windows(values, domain.numbers, width)
        return WindowClaims(values, domain.numbers, width, False, width, self.tau, start, row, mass, None)


@kept(MOST_COLUMNS)
def _model(release: Release, column: str, bins: int) -> Model:
    return best_model(lesson_of(release, column, bins))


def _predicted(model: Model, view: View) -> ValueBeliefs:
    """What the link model believes of people whom something fits, refined by the model; else what the model says, within
    a class by the shares that values have in the release."""
    lesson, knowledge = model.lesson, view.knowledge
    by_code = _by_code(lesson, knowledge.priors.get(lesson.column))
    found = Found.of(view.beliefs, knowledge)
    if found is None:
        people, row_of = distinct_people(knowledge.codes)
        return Mixture(model.of_people(knowledge.columns, people), by_code, row_of)
    chance = model.of_people(found.columns, found.people)
    matched = np.bincount(found.row, minlength=len(found.people)) > 0
    linked = view.beliefs.values(lesson.column)
    one = np.zeros(len(found.people), dtype=np.int64)
    one[found.row_of] = linked.row_of
    load = int(np.diff(linked.rows.indptr)[one].sum()) + int((~matched).sum()) * by_code.shape[1]
    if load > _MOST or not matched.any():
        return Mixture(chance, by_code, found.row_of)
    beside = _beside(model, found)
    ratio = np.maximum(np.divide(chance, beside, out=np.ones(chance.shape), where=beside > 0), _LEAST)
    refined = sparse.csr_array(linked.rows[one])
    class_of = _class_of(lesson, knowledge.priors.get(lesson.column))
    person = np.repeat(np.arange(len(one)), np.diff(refined.indptr))
    before = np.asarray(refined.sum(axis=1)).reshape(-1)  # below one where membership is in doubt
    refined.data = refined.data * ratio[person, class_of[refined.indices]]
    after = np.asarray(refined.sum(axis=1)).reshape(-1)
    scale = np.divide(before, after, out=np.zeros(len(after)), where=matched & (after > 0))
    refined = times(refined, scale)
    if not matched.all():
        refined = refined + sparse.csr_array(chance * ~matched[:, None]) @ by_code
    return ValueBeliefs(refined, found.row_of)


@kept(1)
def _class_of(lesson: Lesson, prior: Floats | None) -> Ints:
    """The class of the sensitive column that each code is likeliest of."""
    return np.asarray(_by_code(lesson, prior).tocsc().argmax(axis=0), dtype=np.int64).reshape(-1)


@kept(1)
def _by_code(lesson: Lesson, prior: Floats | None) -> sparse.csr_array:
    """The values of each class of the sensitive column, by their shares in the release (classes × codes)."""
    times = np.bincount(lesson.label, minlength=len(lesson.of_label)).astype(np.float64)
    people = np.bincount(lesson.of_label, weights=times, minlength=lesson.classes)
    share = np.divide(times, people[lesson.of_label], out=np.zeros(len(times)), where=times > 0)
    places = (lesson.of_label, np.arange(len(times)))
    by_label = sparse.csr_array((share, places), shape=(lesson.classes, len(times)))
    return sparse.csr_array(by_label @ meaning(lesson.release, lesson.column, prior))


def _beside(model: Model, found: Found) -> Floats:
    """What the model says of the labels beside the sensitive values where each person is looked for: the mean over them."""
    hits = next((one for one in found.hits if one.block == model.lesson.number), None)
    if hits is None:
        return np.tile(model.shares, (len(found.people), 1))
    owner, hit = hits.all()
    weight = hits.weight[hit] * hits.cells.count[hits.cell[hit]] * found.factor[owner]
    shape = (len(found.people), len(hits.cells.labels))
    mass = sparse.csr_array((weight, (found.row[owner], hits.cells.pattern[hits.cell[hit]])), shape=shape)
    total: Floats = np.asarray(mass.sum(axis=1)).reshape(-1)
    scale = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
    return np.asarray(scale[:, None] * (mass @ model.of_labels(hits.cells)))
