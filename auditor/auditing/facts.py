"""The facts of a release: what it shows by itself, with the thresholds that the attacks were given."""

from __future__ import annotations

from dataclasses import replace

from attacks.linking import Linking
from attacks.proximity import Proximity
from auditor.auditing.subjects import Subject
from auditor.measure.classes import class_facts
from auditor.measure.register_risk import count_register, risk_beside
from auditor.model.record.release_facts import ReleaseFacts
from scenarios.options import Options


def release_facts(subject: Subject, options: Options) -> ReleaseFacts:
    """The class statistics of a subject's release: those that came along with it, or computed here."""
    facts = subject.facts
    if facts is None:
        near = Proximity.configure(options.settings.get(Proximity.name, {}))
        linked = Linking.configure(options.settings.get(Linking.name, {}))
        epsilon = None if near.relative else near.epsilon
        facts = class_facts(subject.release, options.suppression, options.recursive_l, epsilon, linked.threshold)
        people = subject.population
        if people is not None:
            beside = risk_beside(count_register(subject.release, people), people.rows, linked.threshold)
            facts = replace(facts, register=beside)
    return replace(facts, identifiers=subject.identifiers)
