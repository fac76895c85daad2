"""Estimates: what figures of a sample of people say about everybody.

Rates in the sample estimate those of all people, with an interval. A count or a maximum in the sample can only be smaller
than that of all: it says how bad things are at least. Two figures are exact nevertheless, and their rows say so
(`detail["of_all"]`): the m of (ε,m)-anonymity, a figure of the classes; and the greatest chance of a right link where a
person's class is granted, which is one over the size of the smallest class. Nobody is named: the worst of a sample are not
the worst of all.

A policy judges a rate by the worse end of its interval. A figure that is only known to be at least so large can make a check
fail, and never pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attacks.linking import Linking
from attacks.proximity import Proximity
from auditor.auditing.subjects import Subject
from auditor.model.record.policy import OF_ALL
from auditor.model.record.record import OK, Risk
from auditor.model.record.release_facts import ReleaseFacts
from auditor.model.release import Suppression
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary

JUDGED = (
    "The policy was judged on a sample of people: rates by the worse end of their intervals; counts and maxima of the "
    "sampled may show that a check fails, and never that it holds."
)


def estimated(risks: list[Risk], subject: Subject, facts: ReleaseFacts, adversaries: Sequence[Adversary]) -> list[Risk]:
    """The rows as estimates, where a sample was attacked: nobody is named in them, and figures that are known of all people
    stand for all."""
    if subject.sample is None:
        return risks
    greatest = _greatest_link(subject, facts)
    sure = {a.name for a in adversaries if a.sure_of_membership}
    people, rows = subject.sample.people, []
    for risk in risks:
        detail = {key: value for key, value in risk.detail.items() if key != "worst_classes"}
        figure, value = (risk.attack, risk.measure), None
        if figure == (Proximity.name, "m"):
            value = risk.value
        elif figure == (Linking.name, "max") and risk.link == Link.CLASS and risk.adversary in sure:
            value = greatest
        if risk.status == OK and value is not None:
            risk, detail = replace(risk, value=value, n=people), {**detail, OF_ALL: True}
        rows.append(replace(risk, worst_rows=(), detail=detail))
    return rows


def _greatest_link(subject: Subject, facts: ReleaseFacts) -> float | None:
    """One over the smallest class, where that is the greatest chance of all people; None where it need not be: a release of
    several blocks, suppressed rows that count as people, or a class with nobody of the original."""
    release = subject.release
    if facts.risk is None or (facts.suppressed_rows and facts.suppression != Suppression.EXCLUDED):
        return None
    if subject.has_original:
        assert subject.provenance is not None
        known = np.zeros(len(release.sizes), dtype=np.bool_)
        known[subject.provenance.bucket[subject.provenance.bucket >= 0]] = True
        if not known[~release.suppressed].all():
            return None
    return facts.risk.prosecutor_max
