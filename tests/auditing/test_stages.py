"""Progress: how far an audit says it is, against how far it is."""

from __future__ import annotations

import pytest

from auditor.auditing.audit import run_audit
from auditor.auditing.stages import FACTS, LINK, UTILITY, Stages
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.proofs import SLICED, null_subject

SECONDS = {
    FACTS: 0.1,
    f"{LINK} containment": 2.0,
    f"{LINK} class": 1.5,
    "singling-out": 1.0,
    "uniqueness": 0.0,
    UTILITY: 4.0,
}
PEOPLE = ("ann", "bob", "cem")


def test_the_time_left_is_that_of_what_is_left() -> None:
    now, told = 0.0, list[tuple[float, float]]()
    stages = [(kind, who) for who in PEOPLE for kind in list(SECONDS)[1:5]]
    plan = [(FACTS, ""), *stages, (UTILITY, "")]

    def heard(done: int, total: int, _: str) -> None:
        told.append((now, (total - done) / 1000))

    progress = Stages(heard, plan, lambda: now)
    for kind, who in plan:
        progress.begin(kind, who, f"{who}, {kind}")
        now += SECONDS[kind]
    assert len(told) == len(plan)
    for at, left in told[5:-1]:  # once everything but the utility has been seen
        utility = SECONDS[UTILITY]
        assert abs(left - (now - at)) < utility * 3
    assert all(left >= 0 for _, left in told)
    last = [left for _, left in told[-2:]]
    assert last == [pytest.approx(last[1], abs=0.01)] * 2  # the stage before takes no time


def test_what_the_first_learns_for_all_is_not_expected_again() -> None:
    now, told = 0.0, list[float]()
    plan = [(f"{LINK} {link}", who) for who in PEOPLE for link in ("containment", "class")]
    progress = Stages(lambda done, total, _: told.append((total - done) / 1000), plan, lambda: now)
    for place, (kind, who) in enumerate(plan):
        progress.begin(kind, who, who)
        now += 30.0 if place == 0 else 1.0
    assert told[2:] == [pytest.approx(len(plan) - place) for place in range(2, len(plan))]


def test_what_does_not_apply_says_nothing_of_others() -> None:
    now, told = 0.0, list[int]()
    plan = [(f"{LINK} distance", "ann"), (f"{LINK} containment", "ann")]
    progress = Stages(lambda done, total, _: told.append(total - done), plan, lambda: now)
    for kind, who in plan:
        progress.begin(kind, who, kind)  # the first takes no time
    assert told[1] == told[0] / 2


def test_what_an_adversary_leaves_out_is_not_waited_for() -> None:
    now, told = 0.0, list[int]()
    progress = Stages(lambda done, total, _: told.append(total - done), [(LINK, "ann"), (LINK, "bob")], lambda: now)
    progress.over("ann")
    progress.begin(LINK, "bob", "bob")
    alone = Stages(lambda done, total, _: told.append(total - done), [(LINK, "bob")], lambda: now)
    alone.begin(LINK, "bob", "bob")
    assert told[0] == told[1] > 0


def test_an_audit_tells_of_every_stage() -> None:
    told: list[tuple[int, int, str]] = []
    crew = tuple(Adversary(Stance.PROSECUTOR, name, knows=("sex", "birth_year")) for name in ("one", "two"))
    options = Options(("linking", "singling-out", "uniqueness"), None, crew, utility=("granularity",))
    run_audit(null_subject(SLICED, 40, 1, posing=False), options, lambda *at: told.append(at))
    assert all(0 <= done <= total and what for done, total, what in told)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    said = [what for _, _, what in told]
    assert said[0] == "facts of the release"
    assert said[-1] == "utility"
    assert {"one, containment", "two, containment", "one, singling-out", "two, uniqueness"} <= set(said)
    assert "two, singling-out" not in said  # it does not matter who attacks
