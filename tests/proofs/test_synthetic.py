"""Synthetic releases of which the truth is known: where nothing was learned of anybody, nobody is told from others, and
no value or link is owed to being in the data; a copy gives everybody away."""

from __future__ import annotations

from collections import Counter

import pytest

from auditor.auditing.audit import run_audit
from auditor.model.record.record import Risk
from scenarios.options import Options
from tests.support.lengths import at_length
from tests.support.synthesizers import blurring, by_margins, copying, subject
from tests.support.telling import Tell

PEOPLE = 100
MOST = 0.1
"""An interval of 95 % may leave the truth out in one case in twenty; this is allowed."""
ATTACKS = ("synthetic-membership", "inference", "linkability")


def left_out(risk: Risk) -> bool | None:
    """Whether the interval of a figure leaves out that nothing was learned; None for other figures."""
    if risk.measure == "auc":
        assert risk.low is not None
        assert risk.high is not None
        return not risk.low <= 0.5 <= risk.high
    excess = risk.detail.get("excess")
    return None if risk.measure != "success" or excess is None else not excess["low"] <= 0


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("how", at_length([blurring], [copying, by_margins]))
def test_nothing_is_found_where_nothing_was_learned(how: object, full: bool, tell: Tell) -> None:
    seeds, wrong, tried = 200 if full else 1, Counter[str](), Counter[str]()
    for seed in range(seeds):
        made = subject(how, PEOPLE, seed, others=2 * PEOPLE, null=True)
        for risk in run_audit(made, Options(ATTACKS, utility=(), seed=seed)).risks:
            beyond = left_out(risk)
            if beyond is not None:
                name = f"{risk.attack} {risk.params.get('score') or risk.link or ''}".strip()
                tried[name] += 1
                wrong[name] += beyond
    tell(f"made from others: {dict(wrong)} of {seeds}")
    assert len(tried) == 10  # six scores and the best of them, two ways to look rows up, and links
    assert set(tried.values()) == {seeds}
    assert not full or max(wrong.values()) <= MOST * seeds


@pytest.mark.proof
@pytest.mark.slow
def test_a_copy_gives_everybody_away(full: bool) -> None:
    for seed in range(20 if full else 1):
        options = Options((*ATTACKS, "singling-out"), utility=(), seed=seed)
        risks = run_audit(subject(copying, PEOPLE, seed, others=2 * PEOPLE), options).risks
        found = {(r.attack, r.measure, r.params.get("score")): r for r in risks}
        area = found["synthetic-membership", "auc", "best-of"].value
        assert area is not None
        assert area > 0.99
        for attack in ("linkability", "singling-out"):
            assert found[attack, "success", None].detail["excess"]["low"] > 0.1
