"""The facts of a release: what it shows by itself, with the thresholds that the attacks were given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attacks.linking import Linking
from attacks.proximity import Proximity
from auditor.auditing.choices import choice_facts, choices_of
from auditor.auditing.people import chances, joined_k, people_in
from auditor.auditing.subjects import Subject
from auditor.measure.class_risk import risk_of_people
from auditor.measure.classes import class_facts
from auditor.measure.distinct import distinct_column
from auditor.measure.fake_tuples import fake_tuples
from auditor.measure.register_risk import count_register, risk_beside
from auditor.model.record.release_facts import FakeTuples, ReleaseFacts
from auditor.model.release import Suppression
from auditor.model.schema import Type
from auditor.model.seeding import stage
from auditor.posterior.matching import Cells, distinct_people, match_patterns
from scenarios.options import Options


def release_facts(subject: Subject, options: Options) -> ReleaseFacts:
    """The class statistics of a subject's release: those that came along with it, or computed here."""
    facts = subject.facts
    if facts is None:
        near = Proximity.configure(options.settings.get(Proximity.name, {}))
        linked = Linking.configure(options.settings.get(Linking.name, {}))
        epsilon = None if near.relative else near.epsilon
        conventions = options.suppression, options.recursive_l, epsilon, linked.threshold, options.cells
        facts = class_facts(subject.release, *conventions)
        people = subject.population
        if people is not None and not subject.release.synthetic:
            beside = risk_beside(count_register(subject.release, people), people.rows, linked.threshold)
            facts = replace(facts, register=beside)
        facts = replace(facts, people=people_in(subject), fit_one=_fit_one(subject, options.suppression))
        facts = replace(facts, fakes=_fakes(subject, options.seed))
        if subject.release.synthetic:  # nobody's record is in a class
            facts = replace(facts, risk=None, weighted=None)
        if subject.whole is not None:
            facts = _of_people(facts, subject, options)
        facts = _with_published_person(facts, subject)
        facts = replace(facts, choices=choice_facts(subject, choices_of(subject)))
    distinct = facts.distinct
    if subject.release.synthetic:  # a made-up number names nobody; but no synthesizer makes up texts
        columns = subject.release.schema.columns
        distinct = tuple(one for one in distinct if columns[one.column].type is not Type.NUMERIC)
    return replace(facts, identifiers=subject.identifiers, distinct=(*distinct, *subject.ignored))


def _with_published_person(facts: ReleaseFacts, subject: Subject) -> ReleaseFacts:
    """The facts with the column of persons among those that tell nearly all rows apart, where the release has it and it
    does. As the key of linked tables it is only named: without it they would be no tables of one release."""
    column = subject.release.schema.person
    if column is None or facts.people is None or not subject.joined:
        return facts
    found = distinct_column(subject.release.schema.columns[column], facts.people, facts.rows, whole=True)
    if found is None:
        return facts
    named = replace(found, identifying=not subject.release.schema.tables)
    return replace(facts, distinct=(*facts.distinct, named))


def _fit_one(subject: Subject, suppression: Suppression) -> int | None:
    """How many people fit exactly one record by their own quasi-identifiers; None where no single cell is suppressed, where
    that is not known, and where several rows are one person's."""
    release, people, provenance = subject.release, subject.people, subject.provenance
    known = subject.has_original and people is not None and provenance is not None and subject.whole is None
    known = known and not release.synthetic
    if not known or len(release.blocks) > 1 or release.beyond is not None:
        return None
    assert people is not None
    assert provenance is not None
    block, published = release.blocks[0], ~release.suppressed
    if not any(release.labels[c].suppressed[block.cell(c)][published[block.bucket]].any() for c in release.quasi):
        return None
    counted = np.ones_like(published) if suppression is Suppression.WILDCARD else published
    cells = Cells.of(block, release.quasi, len(release.sizes))
    records = np.bincount(cells.pattern, weights=cells.count * counted[cells.bucket])
    theirs = np.append(published, False)[provenance.bucket]  # whoever was left out has the class -1
    tuples, number = distinct_people(people.matrix(release.quasi)[theirs])
    starts, found = match_patterns(release, release.quasi, cells.labels, tuples)
    fitting = np.diff(np.concatenate([[0.0], np.cumsum(records[found])])[starts])
    return int((fitting[number] == 1).sum())


def _fakes(subject: Subject, seed: int) -> FakeTuples | None:
    """The count of fake tuples, where the people in the release are known."""
    people, provenance = subject.people, subject.provenance
    if not subject.has_original or people is None or provenance is None or subject.whole is not None:
        return None
    if subject.release.synthetic:
        return None
    published = people.matrix(subject.release.quasi)[provenance.bucket >= 0]
    return fake_tuples(subject.release, published, stage(seed, "fake tuples"))


def _of_people(facts: ReleaseFacts, subject: Subject, options: Options) -> ReleaseFacts:
    """The facts of a release in which several rows are one person's: the risks are those of people, and rows are rows."""
    assert subject.whole is not None
    rows = subject.whole.release
    risk = facts.risk and risk_of_people(facts.risk, chances(subject, options.suppression))
    joined = joined_k(subject)
    return replace(facts, rows=rows.rows, suppressed_rows=rows.suppressed_rows, risk=risk, k_joined=joined)
