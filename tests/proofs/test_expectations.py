"""What the record says that an adversary expects is found, or the record does not say it.

On the built-in town, for every attack and kind of release: an expectation that is told lies within 0.02 and two standard
errors of what was realised. Attacks whose claims are not known to be calibrated, and those that are but not here (classes
that overlap, knowledge that is partial or wrong, averages, aliases), have none.
"""

from __future__ import annotations

from math import sqrt

import pytest

from attacks import ATTACKS
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.record.meaning import Kind
from auditor.model.record.record import OK, Risk
from scenarios.adversaries import Adversary, MechanismKnown, Stance
from scenarios.options import Options
from tests.support.lengths import at_length
from tests.support.proofs import GENERALISED, KINDS, OVERLAPPING, SLICED, halves, released
from tests.support.telling import Tell

CALIBRATED = tuple(attack.name for attack in ATTACKS.builtin if attack.calibrated)
OTHERS = tuple(attack.name for attack in ATTACKS.builtin if not attack.calibrated)
ADVERSARIES = {
    "everything": Adversary(
        Stance.PROSECUTOR,
        "everything",
        not_values=1,
        acquaintances=0.02,
        mechanism=MechanismKnown.PARAMETERS,
        sample=0.3,
    ),
    "a little": Adversary(Stance.PROSECUTOR, "a little", ("birth_year", "sex")),
    "some": Adversary(Stance.PROSECUTOR, "some", ("birth_year", "sex", "postcode")),
    "vaguely": Adversary(
        Stance.PROSECUTOR, "vaguely", noise={"birth_year": 2.0}, stale={"postcode": 0.1}, missing=0.05
    ),
}


def audited(kind: str, people: int, knowing: str, attacks: tuple[str, ...]) -> list[Risk]:
    """The rates and counts of attacks on a release of `people` of a town, and as many others outside of it."""
    population, members, outsiders = halves(2 * people, 11)
    table = population.take(members)
    release, provenance = released(table, kind, 11)
    subject = Subject(release, table, provenance, True, population, outsiders)
    settings = {
        "singling-out": {"predicates": max(people // 20, 30)},
        "shadow-membership": {"releases": 4, "targets": 50},
    }
    chosen = {name: given for name, given in settings.items() if name in attacks}
    options = Options(attacks, None, (ADVERSARIES[knowing],), utility=(), settings=chosen, seed=11)
    return [r for r in run_audit(subject, options).risks if r.status == OK and r.value is not None]


def shares(risk: Risk) -> tuple[float, float, float]:
    """What was realised and what was expected, as shares, and what they may differ by."""
    assert risk.n
    assert risk.value is not None
    assert risk.expected is not None
    each = risk.n if risk.kind == Kind.COUNT else 1
    found, believed = risk.value / each, risk.expected / each
    variance = max(found * (1 - found), believed * (1 - believed), 0.0)
    return found, believed, 0.02 + 2 * sqrt(variance / risk.n)


EVERY = [(kind, knowing) for kind in KINDS for knowing in ADVERSARIES]
FEW = [(GENERALISED, "everything"), (OVERLAPPING, "a little")]


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "knowing"), at_length(FEW, [pair for pair in EVERY if pair not in FEW]))
def test_what_is_expected_is_found(kind: str, knowing: str, full: bool, tell: Tell) -> None:
    people = 5000 if full else 300
    told = [r for r in audited(kind, people, knowing, CALIBRATED) if r.expected is not None]
    for name in CALIBRATED:
        rows = sorted((r for r in told if r.attack == name), key=lambda r: -abs(shares(r)[0] - shares(r)[1]))
        worst = shares(rows[0]) if rows else None
        tell(
            f"Expected and realised, {people} people: the figure that is furthest off",
            attack=name,
            release=kind,
            known=knowing,
            figures=len(rows),
            figure=" ".join(filter(None, (rows[0].measure, rows[0].sensitive, rows[0].link))) if rows else "none told",
            expected=f"{worst[1]:.4f}" if worst else "",
            realised=f"{worst[0]:.4f}" if worst else "",
            n=rows[0].n if rows else "",
        )
    off = [(r.attack, r.measure, r.sensitive, r.link, *shares(r)) for r in told]
    assert [row for row in off if abs(row[4] - row[5]) > row[6]] == []


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("kind", at_length([SLICED], [kind for kind in KINDS if kind != SLICED]))
def test_other_attacks_expect_nothing(kind: str, tell: Tell) -> None:
    rows = audited(kind, 300, "everything", OTHERS)
    assert {r.attack for r in rows} >= {"inference", "shadow-membership"}
    assert [(r.attack, r.measure) for r in rows if r.expected is not None or "calibration" in r.detail] == []
    for name in OTHERS:
        tell(
            "Expected and realised, 5000 people: the figure that is furthest off",
            attack=name,
            release=kind,
            known="everything",
            figures=0,
            figure="none told",
        )
