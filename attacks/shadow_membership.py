"""Shadow membership: this person is in the data, judged by releases that the adversary made.

Somebody who can run the anonymizer and has a sample of the population makes *shadow* releases of their own, of whose people
they know who is in and who is not. Of each of some probe people, in half of the shadows each, they note how the shadow
matches them: the share of classes that match, the matching degree, the posterior of membership, the smallest and the
tightest class that fits, the distance to the nearest labels where these are centroids; and the same less what it is on
average for this person in shadows without them, since for some people a match says little. A classifier learns which of it
tells members; it is then asked about the real release.

Papers: T. Stadler, B. Oprisanu, C. Troncoso, "Synthetic Data – Anonymisation Groundhog Day", USENIX Security 2022; R. Shokri,
M. Stronati, C. Song, V. Shmatikov, "Membership Inference Attacks Against Machine Learning Models", IEEE S&P 2017; N. Carlini
et al., "Membership Inference Attacks From First Principles", IEEE S&P 2022 (what is typical of the person is taken off).
Decided here: one classifier for everybody, trained on people of the auxiliary sample only, instead of one for each target: it
is the same whoever is asked about, so that members and outsiders are judged alike, and a dozen shadows are enough. Where
the sample has fewer than twice the people of the release, shadows are smaller than it. At most `targets` people are asked
about, drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attacks.base import Lacks, NotApplicable, View
from attacks.claims import Claims, MemberClaims
from attacks.shared.measures import RANKED
from attacks.shared.members import MemberAttack
from auditor.model.arrays import Bools, Floats
from auditor.model.errors import AuditorError
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.release import Release, Suppression
from auditor.model.table import Table
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.matching import Cells, distinct_people
from auditor.posterior.posterior import Posterior

_PROBES = 1_000
_LEAST = 40
_CELLS = 4_000_000
"""How many pairs of a person and a centroid are worked on at a time."""


@dataclass(frozen=True)
class ShadowMembership(MemberAttack):
    """Scores each person by a classifier trained on `releases` shadow releases; at most `targets` people are asked about;
    `prior` is the share of people at large who are taken to be in."""

    name = "shadow-membership"
    title = "telling who is in, with training"
    summary = "Makes releases of its own from a sample, and learns from them what tells members from others."
    paper = "Stadler, Oprisanu & Troncoso 2022; Shokri et al. 2017; Carlini et al. 2022"
    claim = "This person is in the data."
    needs = "Some quasi-identifiers of the person, the anonymizer with its settings, and a sample of the population."
    lowered_by = "Coarser quasi-identifiers, larger classes, or a release of a random sample only."
    caption = f"Shadow membership: {RANKED}"
    least = (("releases", 4), ("targets", 1))

    releases: int = 12
    targets: int = 2_000
    prior: float = 0.5

    def run(self, view: View, rng: np.random.Generator) -> Claims | NotApplicable:
        knowledge = view.knowledge
        if knowledge.mechanism is None or knowledge.mechanism.run is None:
            return NotApplicable("How the release was made is not known, or it cannot be repeated.", Lacks.MECHANISM)
        if knowledge.auxiliary is None:
            why = "There is no sample of the population from which to make shadow releases."
            return NotApplicable(why, Lacks.FACTS)
        known = [c for c in knowledge.columns if c in view.release.quasi and c in knowledge.auxiliary.codes]
        if not known:
            return NotApplicable("The adversary knows nothing of the people that is published.", Lacks.PEOPLE)
        if knowledge.auxiliary.rows < _LEAST:
            return NotApplicable(f"The sample of the population has fewer than {_LEAST} people.")
        try:
            shadows = _shadows(knowledge.auxiliary, knowledge, view.release.rows, self.releases, rng)
        except AuditorError as error:
            return NotApplicable(f"The sample of the population could not be released in the same way: {error}")
        asked = knowledge.some_people(self.targets, rng)
        some = knowledge.take(asked)
        score = _Classifier(shadows, known).scores(view.release, some)
        odds = score / (1 - score) * self.prior / (1 - self.prior)
        detail = {"shadow_releases": self.releases, "shadow_rows": shadows.rows, "asked": some.people}
        detail["people"] = knowledge.people
        scores = {"shadow": odds / (1 + odds)}
        return MemberClaims(scores, "auxiliary sample", self.prior, None, "shadow", detail, asked)


@dataclass(frozen=True, slots=True, eq=False)
class _Shadows:
    """Shadow releases of `rows` people each, and the probe people with which of them each is in (releases × probes)."""

    releases: tuple[Release, ...]
    probes: Table
    inside: Bools
    rows: int


def _shadows(sample: Table, knowledge: Knowledge, people: int, releases: int, rng: np.random.Generator) -> _Shadows:
    """Shadow releases of a sample: each probe is in half of them, the others are drawn afresh for each."""
    assert knowledge.mechanism is not None
    assert knowledge.mechanism.run is not None
    rows = min(people, sample.rows // 2)
    order = rng.permutation(sample.rows)
    probes, rest = np.split(order, [min(_PROBES, rows)])
    inside = np.zeros((releases, len(probes)), dtype=np.bool_)
    for place in range(len(probes)):
        inside[rng.permutation(releases)[: releases // 2], place] = True
    made = []
    for chosen in inside:
        others = rng.choice(rest, min(rows - int(chosen.sum()), len(rest)), replace=False)
        table = sample.take(np.concatenate([probes[chosen], others]), "shadow")
        made.append(knowledge.mechanism.run(table, rng.spawn(1)[0]))
    return _Shadows(tuple(made), sample.take(probes), inside, rows)


class _Classifier:
    """Tells members from others by how a release matches them, learned from shadows. Logistic regression: the signs are few
    and each speaks for or against, and a model that bends more learns the probes by heart."""

    def __init__(self, shadows: _Shadows, columns: Sequence[str]) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.shadows, self.columns = shadows, tuple(columns)
        probes = Knowledge(self.columns, shadows.probes.matrix(self.columns))
        seen = np.stack([_signs(release, probes) for release in shadows.releases])
        signs = np.concatenate([seen, seen - _typical(seen, ~shadows.inside)], axis=2)
        self.model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        self.model.fit(signs.reshape(-1, signs.shape[2]), shadows.inside.reshape(-1))

    def scores(self, release: Release, knowledge: Knowledge) -> Floats:
        """The probability that each person is in a release, where half of all people are."""
        places = [knowledge.columns.index(c) for c in self.columns]
        codes, number = distinct_people(knowledge.codes[:, places])
        errors = {c: error for c, error in knowledge.errors.items() if c in self.columns}
        known = Knowledge(self.columns, codes, errors=errors)
        seen = _signs(release, known)
        typical = np.mean([_signs(shadow, known) for shadow in self.shadows.releases], axis=0)
        chance = self.model.predict_proba(np.concatenate([seen, seen - typical], axis=1))[:, 1]
        return np.asarray(np.clip(np.asarray(chance, dtype=np.float64), 1e-6, 1 - 1e-6)[number])


def _typical(seen: Floats, outside: Bools) -> Floats:
    """For each shadow and probe the mean of the signs in other shadows that the probe is not in. Always over one fewer than
    there are, whether or not the probe is in this one: the number must not give that away."""
    total = (seen * outside[:, :, None]).sum(axis=0)
    count, probes = outside.sum(axis=0), np.arange(outside.shape[1])
    typical = np.empty_like(seen)
    for shadow in range(len(seen)):
        following = np.roll(outside, -shadow, axis=0)  # this shadow first, then the next ones
        left_out = (np.argmax(following, axis=0) + shadow) % len(seen)
        typical[shadow] = (total - seen[left_out, probes]) / (count - 1)[:, None]
    return typical


def _signs(release: Release, knowledge: Knowledge) -> Floats:
    """How a release matches people (people × signs). All are rounded, so that float noise, which depends on the order of
    rows, does not decide on which side of a threshold somebody lies."""
    posterior = Posterior(Matching(release, knowledge, Suppression.WILDCARD), Link.CONTAINMENT)
    member = posterior.membership(0.5)
    entries = posterior.entries
    smallest, tightest = np.full(posterior.rows, np.inf), np.full(posterior.rows, np.inf)
    np.minimum.at(smallest, entries.row, release.sizes[entries.bucket].astype(np.float64))
    np.minimum.at(tightest, entries.row, posterior.hidden(entries))
    most = float(len(release.quasi))
    chance = np.clip(member.posterior, 1e-9, 1 - 1e-9)
    signs = [
        np.log(member.buckets / len(release.sizes) + 1e-6),
        np.log(member.degree + 1e-6),
        np.log(chance / (1 - chance)),
        np.log(np.minimum(smallest, 2.0 * release.rows))[posterior.row_of],
        np.minimum(tightest, most + 1)[posterior.row_of],
        _distances(release, knowledge),
    ]
    return np.column_stack(signs).round(9)


def _distances(release: Release, knowledge: Knowledge) -> Floats:
    """How far each person is from the nearest fragment, summed over blocks: by column the share of the range between their
    number and a label, or 1 where a label is about other values. 0 where no label is a centroid, since then people are in the
    labels or they are not."""
    distance = np.zeros(knowledge.targets)
    columns = [c for c in knowledge.columns if c in release.columns]
    used = {c: np.unique(release.block_of(c).cell(c)) for c in columns}
    if not any((release.labels[c].counts[used[c]] == 0).any() for c in columns):
        return distance
    for block in release.blocks:
        inside = [c for c in columns if c in block.columns]
        if not inside:
            continue
        patterns = Cells.of(replace(block, bucket=np.zeros_like(block.bucket)), inside, 1).labels
        gaps = [_gaps(release.labels[c]) for c in inside]
        step = max(_CELLS // max(len(patterns), 1), 1)
        for begin in range(0, knowledge.targets, step):
            part = slice(begin, begin + step)
            apart = np.zeros((len(knowledge.codes[part]), len(patterns)))
            for place, column in enumerate(inside):
                codes = knowledge.codes[part, knowledge.columns.index(column)]
                apart += np.where(codes[:, None] >= 0, gaps[place][patterns[:, place]].T[codes], 0.0)
            distance[part] += apart.min(axis=1)
    return distance


def _gaps(labels: Labels) -> Floats:
    """How far each value lies from each label (labels × codes)."""
    domain = labels.domain
    size = len(labels.texts)
    gaps = np.ones((size, domain.size))
    for label in range(size):
        gaps[label, labels.codes(label)] = 0.0
    if domain.numbers is not None and domain.width > 0:
        numeric = ~np.isnan(labels.low)
        low, high = labels.low[numeric, None], labels.high[numeric, None]
        away = np.maximum(np.maximum(low - domain.numbers, domain.numbers - high), 0.0) / domain.width
        gaps[np.ix_(numeric, np.arange(len(domain.numbers)))] = np.minimum(away, 1.0)
    return gaps
