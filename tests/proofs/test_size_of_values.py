"""Where nothing can be learned of people's values and records, attacks find nothing more often than the level says.

The truth is permuted after the release, and nobody's record is their own: with outsiders, who are the control, and without,
where the control is by leaving out a record or a whole class.
(Where the class is granted, a record is found by that alone: linking is left out there.)
"""

from __future__ import annotations

import pytest

from attacks import ATTACKS
from auditor.auditing.audit import run_audit
from auditor.model.record.meaning import Goal
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary, MechanismKnown, Stance
from scenarios.options import Options
from tests.support.lengths import at_length
from tests.support.proofs import AVERAGED, KINDS, SLICED, Tally, null_subject
from tests.support.telling import Tell

FEW = ("homogeneity", "skewness", "definetti", "inference")
OF_CROWDS = ("singling-out", "downcoding", "uniqueness", "special-uniques")
"""Attacks on whoever is in the data, whatever their values: see `test_size_of_members.py`."""
VALUES = tuple(a.name for a in ATTACKS.builtin if a.goal is not Goal.MEMBERSHIP and a.name not in OF_CROWDS)
KNOWING = Adversary(
    Stance.PROSECUTOR,
    "knowing",
    not_values=1,
    acquaintances=5,
    mechanism=MechanismKnown.PARAMETERS,
    sample=0.3,
    earlier=("earlier",),
)
ALONE = Adversary(Stance.PROSECUTOR, "alone", mechanism=MechanismKnown.PARAMETERS, earlier=("earlier",))


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", at_length([SLICED, AVERAGED], [kind for kind in KINDS if kind not in (SLICED, AVERAGED)])
)
def test_nothing_is_found_of_permuted_values(kind: str, full: bool, tell: Tell) -> None:
    tally = Tally(kind)
    for seed in range(400 if full else 2):
        risks = []
        for alone in (False, True):
            subject = null_subject(kind, 80, seed, posing=False, alone=alone)
            adversary = ALONE if alone else KNOWING
            options = Options(VALUES if full else FEW, None, (adversary,), utility=(), seed=seed)
            found = run_audit(subject, options).risks
            risks += [r for r in found if not (r.attack == "linking" and r.link == Link.CLASS)]
        tally.add(risks)
    tally.judge(tell, full)
