"""Certain people: what is found of somebody does not depend on who else is asked for."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from auditor.auditing.audit import run_audit
from auditor.auditing.sides import Sides
from auditor.model.record.record import OK, AuditRecord, Risk
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.proofs import GENERALISED, SLICED, null_subject

ATTACKS = ("homogeneity", "background", "definetti", "inference")
KNOWING = Adversary(Stance.PROSECUTOR, "knowing", not_values=1, acquaintances=3, stale={"birth_year": 0.3})
ROWS = (3, 17, 30)


def audited(kind: str, *rows: int) -> AuditRecord:
    subject = null_subject(kind, 40, 1, posing=False, alone=True)
    return run_audit(subject, Options(ATTACKS, (Link.CONTAINMENT,), (KNOWING,), targets=rows, seed=5))


def successes(record: AuditRecord) -> dict[tuple[str, str | None], Risk]:
    return {(r.attack, r.sensitive): r for r in record.risks if r.measure == "success" and r.status == OK}


@pytest.mark.parametrize("kind", [GENERALISED, SLICED])
def test_the_classes_that_are_held_out_for_somebody_are_the_same_whoever_else_is_asked_for(kind: str) -> None:
    subject = null_subject(kind, 120, 1, posing=False, alone=True)
    everybody = Sides(subject, Options()).facing(Adversary())
    folds = everybody._folds
    assert len(folds) > 2
    for row in (*ROWS, 8):
        (own,) = Sides(subject, Options(targets=(row,))).facing(Adversary())._folds
        assert own.people.tolist() == [0]
        theirs = next(fold for fold in folds if row in everybody.targets[fold.people])
        assert np.array_equal(own.held, theirs.held)


def test_the_classes_that_are_held_out_for_somebody_do_not_depend_on_acquaintances() -> None:
    plain = null_subject(GENERALISED, 120, 1, posing=False, alone=True)
    subject = replace(plain, person=np.arange(120) // 2)  # whoever has records in several classes is held out of all
    sociable = replace(KNOWING, acquaintances=30)
    everybody = Sides(subject, Options(seed=5)).facing(sociable)
    assert len(everybody._acquainted) == 30
    compared = 0
    for row in range(0, 120, 7):
        mine = Sides(subject, Options(targets=(row,), seed=5)).facing(sociable)
        theirs = [fold for fold in everybody._folds if row in everybody.targets[fold.people]]
        if theirs:  # nobody known is attacked
            compared += 1
            assert np.array_equal(mine._folds[0].held, theirs[0].held)
    assert compared > 5


def test_acquaintances_are_the_same_people_but_for_those_asked_for() -> None:
    subject = null_subject(GENERALISED, 40, 1, posing=False, alone=True)
    known = {
        row: set(Sides(subject, Options(targets=(row,), seed=5)).facing(KNOWING)._acquainted.tolist())
        for row in range(40)
    }
    assert all(len(some) == 3 and row not in some for row, some in known.items())
    usual = set.intersection(*[some for row, some in known.items() if row not in set.union(*known.values())])
    assert len(usual) == 3
    for row, some in known.items():
        assert len(some - usual) == (row in usual)


def test_people_together_are_found_as_each_of_them_alone() -> None:
    alone = [successes(audited(GENERALISED, row)) for row in ROWS]
    together = successes(audited(GENERALISED, *ROWS))
    compared = 0
    for key, risk in together.items():
        same = [one[key] for one in alone if key in one]
        if len(same) < len(ROWS) or risk.n != len(ROWS):
            continue  # nothing fits one of them
        compared += 1
        for name in ("value", "baseline", "control"):
            figures = [getattr(one, name) for one in same]
            assert None not in figures
            assert getattr(risk, name) == pytest.approx(fmean(figures), abs=1e-12), (key, name)
    assert compared >= 4


def test_no_utility_is_measured_for_certain_people_unless_it_is_asked_for() -> None:
    subject = null_subject(GENERALISED, 40, 1, posing=False, alone=True)
    asked = Options(("linking",), (Link.CLASS,))
    assert run_audit(subject, asked.about((3,))).utility == ()
    assert run_audit(subject, replace(asked, utility=("granularity",)).about((3,))).utility
