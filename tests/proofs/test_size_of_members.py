"""Where outsiders pose as the people of a release, nobody is found to be in it, and nobody is singled out beyond chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attacks import ATTACKS
from auditor.auditing.audit import run_audit
from auditor.model.record.meaning import Goal
from scenarios.adversaries import Adversary, MechanismKnown, Stance
from scenarios.options import Options
from tests.proofs.test_size_of_values import OF_CROWDS
from tests.support.lengths import at_length
from tests.support.proofs import KINDS, SLICED, Tally, null_subject
from tests.support.telling import Tell

MEMBERS = tuple(a.name for a in ATTACKS.builtin if a.goal is Goal.MEMBERSHIP or a.name in OF_CROWDS)
KNOWING = Adversary(Stance.PROSECUTOR, "knowing", mechanism=MechanismKnown.PARAMETERS, sample=0.5)
SETTINGS = {"shadow-membership": {"releases": 4}, "singling-out": {"predicates": 30}, "downcoding": {"predicates": 30}}


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("kind", at_length([SLICED], [kind for kind in KINDS if kind != SLICED]))
def test_nobody_is_found_who_is_not_in_it(kind: str, full: bool, tell: Tell) -> None:
    tally = Tally(kind)
    for seed in range(400 if full else 5):
        subject = null_subject(kind, 100, seed, posing=True)
        attacks = MEMBERS if full else ("membership",)
        chosen = {name: given for name, given in SETTINGS.items() if name in attacks}
        options = Options(attacks, None, (KNOWING,), utility=(), settings=chosen, seed=seed)
        risks = list(run_audit(subject, options).risks)
        if full:  # without outsiders predicates are held against chance
            subject = null_subject(kind, 100, seed, posing=True, alone=True)
            knowing = replace(KNOWING, name="alone", sample=0)
            risks += run_audit(subject, replace(options, attacks=OF_CROWDS, adversaries=(knowing,))).risks
        tally.add(risks)
    tally.judge(tell, full)
