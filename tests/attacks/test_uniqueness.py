"""Population uniqueness: estimates beside the register's truth, non-convergence said, and sampling weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from attacks.base import NotApplicable, View
from attacks.claims import Claims, FactClaims, SeveralClaims
from attacks.uniqueness import Uniqueness
from auditor.auditing.audit import run_audit
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Crowd, Figure, Truth
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.posterior.links import Link
from scenarios.options import Options
from tests.support.proofs import halves
from tests.support.tables import World, beliefs_of, by_hand

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive"},
    "w": {"role": "weight"},
}
ROWS = {"age": ["20", "20", "30", "40"], "ill": list("abcd"), "w": ["2", "3", "4", "1"]}


def claims_of(world: World, blind: bool = False, **settings: Any) -> Claims | NotApplicable:
    view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), blind=blind)
    return Uniqueness(**settings).run(view, np.random.default_rng(0))


def figures(world: World, **settings: Any) -> dict[str, Figure]:
    claims = claims_of(world, **settings)
    assert not isinstance(claims, NotApplicable), claims.reason
    rows = np.arange(world.table.rows)
    crowd = Crowd(world.table, rows, world.fragment, world.table.rows)
    truth = Truth(rows, world.bucket, world.fragment, crowd=crowd)
    return {str(f.params.get("model", f.measure)): f for f in score(claims, truth)}


def bare() -> tuple[dict[str, Any], dict[str, list[str]]]:
    return {c: COLUMNS[c] for c in ("age", "ill")}, {c: ROWS[c] for c in ("age", "ill")}


def test_the_register_stands_beside_the_estimates() -> None:
    # 30 and 40 are alone among the four; in the register of eight there is another 40.
    columns, rows = bare()
    world = by_hand(
        columns, rows, population={"age": ["20", "20", "30", "40", "40", "50", "50", "60"], "ill": list("abcdabcd")}
    )
    found = figures(world)
    assert set(found) == {"dankar", "pitman", "zayatz", "snb"}
    for figure in found.values():
        assert figure.params["population"] == 8
        assert figure.detail["sample_uniques"] == 2
        assert figure.detail["register"] == 1 / 4
        assert figure.n == 4
        assert figure.hit is not None
        assert figure.hit.tolist() == [0, 0, 1, 0]
    # Zayatz: classes 1, 1, 2; drawn once with 4/8, 4/8 and C(2,1)·C(6,3)/C(8,4) = 40/70; 2 · (1/(1 + 4/7)) / (4/8) of 8
    assert found["zayatz"].value == pytest.approx(2 / (1 + 4 / 7) / 0.5 / 8)


def test_what_does_not_converge_is_said() -> None:
    columns, rows = bare()
    world = by_hand(columns, {**rows, "age": ["20", "30", "40", "50"]})
    found = figures(world, population=100)
    for model in ("pitman", "snb"):
        assert found[model].value is None
        assert found[model].doubt
    assert (found["dankar"].value, found["dankar"].doubt, found["dankar"].detail["chosen"]) == (1.0, None, "zayatz")


def test_sampling_weights_by_hand() -> None:
    # The two of 20 stand for 5 people (p = 2/5), the one of 30 for 4, that of 40 for itself alone.
    world = by_hand(COLUMNS, ROWS, blocks=[["age", "ill"]])
    found = figures(world)
    two = 2 / 3 - (2 / 3) ** 2 * np.log(5 / 2)
    four = 1 / 3 * np.log(4)
    assert found["weighted_max"].value == 1
    assert found["weighted_mean"].value == pytest.approx((2 * two + four + 1) / 4)
    assert found["reidentified"].value == pytest.approx(2 * two + four + 1)
    assert found["weighted_max"].hit == pytest.approx([two, two, four, 1])


def test_weights_that_are_missing_are_said() -> None:
    world = by_hand(COLUMNS, {**ROWS, "w": ["2", "", "4", "1"]}, blocks=[["age", "ill"]])
    figure = figures(world)["weighted_max"]
    assert figure.value is None
    assert figure.doubt


def test_reasons_and_settings() -> None:
    columns, rows = bare()
    world = by_hand(columns, rows)
    apart = by_hand(
        {**columns, "sex": {"role": "quasi"}},
        {**rows, "sex": list("fmfm")},
        blocks=[["age", "ill"], ["sex"]],
        bucket=[0, 0, 1, 1],
    )
    for claims, word in (
        (claims_of(world), "size of the population"),
        (claims_of(world, population=3), "fewer people"),
        (claims_of(world, True, population=9), "without the release"),
        (claims_of(apart, population=9), "several blocks"),
    ):
        assert isinstance(claims, NotApplicable)
        assert word in claims.reason
        assert claims.reason.endswith(".")
    with pytest.raises(UsageError):
        Uniqueness(population=0)


@pytest.mark.slow
def test_a_sample_of_a_town_in_an_audit() -> None:
    population, members, outsiders = halves(6000, 4)
    people = population.take(members)
    release, provenance = anonymize(people, "identity", 4)
    subject = Subject(release, people, provenance, True, population, outsiders)
    record = run_audit(subject, Options(attacks=("uniqueness", "special-uniques", "singling-out"), utility=()))
    dankar = [r for r in record.risks if r.attack == "uniqueness" and r.params.get("model") == "dankar"]
    assert {r.adversary for r in dankar} == {"prosecutor", "journalist", "marketer"}
    for risk in dankar:
        assert risk.value == pytest.approx(risk.detail["register"], abs=0.05)
        assert risk.link is None
    single = [r for r in record.risks if r.attack == "singling-out"]
    assert {(risk.adversary, risk.measure) for risk in single} == {
        ("prosecutor", "success"), ("prosecutor", "success_all")
    }  # fmt: skip
    for risk in single:
        assert risk.value is not None
        assert risk.value > 0.99
        assert risk.control is not None
        assert risk.control < 0.15
        assert risk.control_kind == "outsiders"
        assert risk.worst_rows


def test_the_order_of_rows_does_not_matter() -> None:
    columns, rows = bare()
    world = by_hand(columns, rows)
    shuffled, _ = world.release.shuffled(np.random.default_rng(1))
    first, second = claims_of(world, population=50), claims_of(replace(world, release=shuffled), population=50)
    facts = [
        part.facts
        for c in (first, second)
        if isinstance(c, SeveralClaims)
        for part in c.parts
        if isinstance(part, FactClaims)
    ]
    assert len(facts) == 2
    for mine, theirs in zip(*facts, strict=True):
        assert (mine.value, mine.n, mine.detail) == (theirs.value, theirs.n, theirs.detail)
