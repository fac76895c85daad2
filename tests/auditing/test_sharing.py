"""What attacks share: no figure depends on what else is run, nor on who else attacks."""

from __future__ import annotations

import pytest

from auditor.auditing.audit import run_audit
from auditor.model.record.record import Risk
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.proofs import AVERAGED, SLICED, null_subject

ATTACKS = ("proximity", "definetti", "inference")
LINKS = {SLICED: (Link.CONTAINMENT, Link.CLASS), AVERAGED: (Link.DISTANCE,)}
CREW = (
    Adversary(Stance.PROSECUTOR, "one"),
    Adversary(Stance.PROSECUTOR, "two", knows=("birth_year", "sex"), not_values=1),
)


def rows(kind: str, attacks: tuple[str, ...], links: tuple[Link, ...], crew: tuple[Adversary, ...]) -> list[Risk]:
    """The rows of an audit that shares nothing with any other."""
    subject = null_subject(kind, 40, 3, posing=False, alone=True)
    return list(run_audit(subject, Options(attacks, links, crew, utility=(), facts=())).risks)


@pytest.mark.parametrize("kind", LINKS)
def test_attacks_together_find_what_each_finds_alone(kind: str) -> None:
    together = rows(kind, ATTACKS, LINKS[kind], CREW)
    assert len(together) > 20
    apart = [
        risk
        for adversary in CREW
        for link in LINKS[kind]
        for attack in ATTACKS
        for risk in rows(kind, (attack,), (link,), (adversary,))
    ]
    assert together == apart
