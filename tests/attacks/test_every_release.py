"""Every attack on a release of every anonymizer, by an adversary who knows of everything something: no exception, figures
where they apply and reasons where they do not, the same answers under the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from attacks import attacks_on
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.record.meaning import Kind
from auditor.model.record.record import NOT_APPLICABLE, Risk
from auditor.model.table import Table
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.attacks.test_attacks_meaning import assert_declared
from tests.support.anonymizer_cases import SETTINGS, VALUES, kinds, table_of

KNOWING = Adversary(
    Stance.PROSECUTOR,
    "knowing",
    mechanism="parameters",
    sample=0.5,
    not_values=1,
    acquaintances=5,
)

SMALLER = {"singling-out": {"predicates": 20}, "downcoding": {"predicates": 20}, "shadow-membership": {"releases": 4}}


def people() -> Table:
    rng = np.random.default_rng(4)
    return table_of(
        {column: [values[i] for i in rng.integers(len(values), size=160)] for column, values in VALUES.items()}
    )


def control_of(risk: Risk) -> str:
    """What the control of a figure is, or why there is none."""
    if risk.status == NOT_APPLICABLE:
        assert risk.reason
        return "not applicable"
    if risk.control_kind is not None:
        assert risk.control is not None
        return risk.control_kind
    if risk.kind == Kind.FACT:
        return "none: a fact"
    assert risk.detail["no_control"]
    return f"none: {risk.detail['no_control']}"


@pytest.mark.slow
@pytest.mark.parametrize("name", kinds())
def test_every_attack_runs_on_every_release(name: str) -> None:
    population = people()
    members = np.arange(80)
    release, provenance = anonymize(population.take(members), name, 3, **SETTINGS[name][0])
    subject = Subject(release, population.take(members), provenance, True, population, np.arange(80, 160))
    options = Options(adversaries=(KNOWING,), seed=3, utility=(), settings=SMALLER)
    record = run_audit(subject, options)
    risks = record.risks
    assert {risk.attack for risk in risks} == set(attacks_on(release.synthetic))
    assert all(control_of(risk) for risk in risks)
    assert any(risk.value is not None for risk in risks)
    assert_declared(record)
    if name == kinds()[0]:
        assert record.to_json() == run_audit(subject, options).to_json()
