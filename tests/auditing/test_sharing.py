"""What attacks share: no figure depends on what else is run, nor on who else attacks."""

from __future__ import annotations

from collections import Counter

import pytest

from auditor.auditing.audit import run_audit
from auditor.auditing.sides import Side, Sides
from auditor.model.arrays import Ints
from auditor.model.record.record import Risk
from auditor.model.release import Release
from auditor.posterior.links import Link
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.proofs import AVERAGED, GENERALISED, SLICED, null_subject

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


def test_held_out_classes_are_made_once_for_a_link_and_kept_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    made, most, apart = Counter[tuple[int, Link, int]](), [0], Sides._apart

    def counted(self: Sides, main: Side, link: Link, number: int) -> tuple[Release, Ints, Side]:
        made[id(self), link, number] += 1
        most.append(len(self._others))  # beside the one that is made
        return apart(self, main, link, number)

    monkeypatch.setattr(Sides, "_apart", counted)
    links = Link.CONTAINMENT, Link.CLASS, Link.LIKELIHOOD, Link.DISTANCE  # for the class, distance stands in here
    rows(GENERALISED, ("inference",), links, CREW[:1])
    assert {link for _, link, _ in made} == {Link.CONTAINMENT, Link.LIKELIHOOD, Link.DISTANCE}
    assert set(made.values()) == {1}
    assert max(most) == 1
