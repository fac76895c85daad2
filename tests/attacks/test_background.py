"""Background: the example of the l-diversity paper by hand, acquaintances, and where nothing can be learned."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from attacks.background import Background
from attacks.base import NotApplicable, View
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.model.knowledge import Acquaintances
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.beliefs import Prior
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from scenarios import town
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.tables import BLOCKS, World, beliefs_of, by_hand, figures
from tests.support.tables import COLUMNS as MANY

# Machanavajjhala et al. 2007, Figures 1 and 2, their first and last classes: zip 130**, under 30, and zip 130**, thirties
COLUMNS = {
    "zip": {"role": "quasi"},
    "age": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive", "domain": ["cancer", "flu", "heart", "viral"]},
}
ROWS = {
    "zip": ["13053", "13068", "13068", "13053", "13053", "13053", "13068", "13068"],
    "age": ["28", "29", "21", "23", "31", "37", "36", "35"],
    "ill": ["heart", "heart", "viral", "viral", "cancer", "cancer", "cancer", "cancer"],
}
CELLS = {"zip": ["{13053, 13068}"] * 8, "age": ["[21, 29]"] * 4 + ["[31, 37]"] * 4}
UMEKO = 2


def hospital() -> World:
    return by_hand(COLUMNS, ROWS, CELLS)


def told(world: World, ruled: dict[int, list[str]], friends: list[int] | None = None) -> World:
    """The same with facts: values which rows are known not to have, and rows whose values are known."""
    column = world.release.sensitive[0]
    domain = world.release.labels[column].domain
    out = np.zeros((world.table.rows, domain.size), dtype=np.bool_)
    for row, texts in ruled.items():
        out[row, [domain.codes[text] for text in texts]] = True
    known = None
    if friends:
        known = Acquaintances(
            world.knowledge.columns, world.knowledge.codes[friends], {column: world.table.codes[column][friends]}
        )
    knowledge = dataclasses.replace(world.knowledge, not_values={column: out}, acquaintances=known)
    return dataclasses.replace(world, knowledge=knowledge)


@pytest.mark.parametrize("link", list(Link)[:4])
def test_umeko_does_not_have_a_heart_disease(link: Link) -> None:
    # Umeko's class: heart, heart, viral, viral. "Japanese rarely have heart disease": viral for sure.
    # The rest of her class keeps 1/2 each, the other class was certain before: success (1 + 3/2 + 4)/8
    found = figures(Background(), told(hospital(), {UMEKO: ["heart"]}), link, "ill")
    assert found["certain"].each is not None
    assert found["certain"].each.tolist() == [0, 0, 1, 0, 1, 1, 1, 1]
    assert found["success"].value == found["success"].expected == pytest.approx(6.5 / 8)
    assert found["success"].detail["success_of"] == {"before_facts": pytest.approx(6 / 8)}
    assert found["success"].detail["joint"] == "none"
    assert found["success"].detail["facts_per_person"] == 1 / 8
    assert found["breached"].value == 1
    assert found["breached"].each is not None
    assert found["breached"].each.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    # one fact is needed in the first class, none in the second
    assert found["facts_needed"].value == pytest.approx(0.5)
    assert found["facts_needed"].detail == {"least": 0, "most": 1}


def test_acquaintances_take_their_records_away() -> None:
    # rows 0 and 1, both heart, are acquaintances: two records are left in the class, both viral
    found = figures(Background(), told(hospital(), {}, [0, 1]), Link.CONTAINMENT, "ill")
    assert found["certain"].each is not None
    assert found["certain"].each[2:4].tolist() == [1, 1]
    assert found["success"].detail["joint"] == "exact"
    assert found["success"].detail["known_people"] == 2
    # row 0 alone: heart 1/3, viral 2/3
    found = figures(Background(tau=0.6), told(hospital(), {}, [0]), Link.CONTAINMENT, "ill")
    assert found["above"].each is not None
    assert found["above"].each[2:4].tolist() == [1, 1]
    assert found["certain"].each is not None
    assert found["certain"].each[2:4].tolist() == [0, 0]


def test_facts_about_all_targets_at_once() -> None:
    # rows 0 and 1 do not have viral infections: theirs are the heart records, so 2 and 3 have the others
    world = told(hospital(), {0: ["viral"], 1: ["viral"]})
    apart = figures(Background(), world, Link.CONTAINMENT, "ill")["certain"].each
    together = figures(Background(together=True), world, Link.CONTAINMENT, "ill")["certain"].each
    assert apart is not None
    assert together is not None
    assert apart[:4].tolist() == [1, 1, 0, 0]
    assert together[:4].tolist() == [1, 1, 1, 1]


def test_the_baseline_has_the_facts_without_the_release() -> None:
    # prior: cancer 1/2, heart and viral 1/4; Umeko has no cancer: heart or viral, a tie
    world = told(hospital(), {UMEKO: ["cancer"]}, [0])
    prior = Prior(8, world.knowledge.priors, world.release.sizes)
    found = figures(Background(), world, Link.CONTAINMENT, "ill", prior)
    assert found["success"].each is not None
    assert found["success"].each.tolist() == [0, 0, 0.5, 0, 1, 1, 1, 1]
    assert found["success"].detail["joint"] == "none"


def test_leaving_the_own_record_out() -> None:
    # without Umeko's record: heart, heart, viral. She has no heart disease: viral, from the one left.
    # Row 3 is an acquaintance: of the records left the viral one is theirs, and nothing is left that she could have
    world = told(hospital(), {UMEKO: ["heart"]})
    out = LeaveOneOut(beliefs_of(world, Link.CONTAINMENT), world.bucket, world.fragment)
    found = figures(Background(), world, Link.CONTAINMENT, "ill", out)
    assert found["success"].each is not None
    assert found["success"].each[UMEKO] == 1
    world = told(hospital(), {}, [3])
    out = LeaveOneOut(beliefs_of(world, Link.CONTAINMENT), world.bucket, world.fragment)
    found = figures(Background(), world, Link.CONTAINMENT, "ill", out)
    assert found["success"].each is not None
    assert found["success"].each[UMEKO] == 0
    assert found["certain"].each is not None
    assert found["certain"].each[UMEKO] == 1  # certain, and wrong: hearts are all that is left


def test_without_facts_it_does_not_apply() -> None:
    for world in (hospital(), told(hospital(), {})):
        view = View(world.release, world.knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "ill")
        answer = Background().run(view, np.random.default_rng(0))
        assert isinstance(answer, NotApplicable)
        assert answer.reason.startswith("the adversary knows no value of ill")


def test_tau_is_checked() -> None:
    with pytest.raises(UsageError, match="tau must be at least 0 and below 1"):
        Background(tau=1.0)


# ----- every kind of release -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("link", [Link.CONTAINMENT, Link.LIKELIHOOD, Link.CLASS])
def test_another_order_of_rows_tells_the_same(kind: str, link: Link) -> None:
    rng = np.random.default_rng(2)
    values = {
        "age": ["1", "2", "3"],
        "grade": ["low", "high"],
        "zip": ["p", "q"],
        "city": ["a", "d"],
        "income": ["10", "20", "40"],
        "disease": ["flu", "ulcer", "asthma"],
        "job": ["cook", "judge", "nurse"],
    }
    rows = {c: rng.choice(v, 24).tolist() for c, v in values.items()}
    blocks = [list(block) for block in BLOCKS[kind]]
    groups = None if kind == "generalised" else np.repeat(np.arange(4), 6).tolist()
    cells = {"age": ["[1, 3]"] * 24, "zip": ["{p, q}"] * 24} if kind == "generalised" else None
    world = by_hand(MANY, rows, cells, blocks, groups)
    column, size = "job", world.release.labels["job"].domain.size
    ruled = rng.random((24, size)) < 0.3
    ruled[np.arange(24), world.table.codes[column]] = False
    friends = np.array([0, 7, 13])
    known = Acquaintances(
        world.knowledge.columns, world.knowledge.codes[friends], {column: world.table.codes[column][friends]}
    )
    knowledge = dataclasses.replace(world.knowledge, not_values={column: ruled}, acquaintances=known)
    other, renumber = world.release.shuffled(np.random.default_rng(3))
    assert knowledge.granted is not None
    again = dataclasses.replace(knowledge, granted=renumber[knowledge.granted].astype(np.int32))
    first = dataclasses.replace(world, knowledge=knowledge)
    second = dataclasses.replace(world, release=other, knowledge=again)
    found = [figures(Background(), w, link, column) for w in (first, second)]
    for measure in ("certain", "success", "breached", "facts_needed"):
        assert found[0][measure].each is not None
        np.testing.assert_allclose(found[0][measure].each, found[1][measure].each, atol=1e-9)


# ----- where nothing can be learned ----------------------------------------------------------------------------------


def null_world(seed: int, kind: str) -> World:
    """60 people in classes of five (or one class), and values that were handed out anew after the release: each person is
    known not to have one of the values they do not have now."""
    rng = np.random.default_rng(seed)
    zips = [f"z{i // (5 if kind == 'classes' else 60)}" for i in range(60)]
    ill = rng.choice(["cold", "flu", "hiv", "ulcer"], 60, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    columns = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive", "domain": ["cold", "flu", "hiv", "ulcer"]}}
    world = by_hand(columns, {"zip": zips, "ill": ill})
    codes = rng.permutation(world.table.codes["ill"]) if kind == "classes" else world.table.codes["ill"]
    table = dataclasses.replace(world.table, codes={**world.table.codes, "ill": codes})
    wrong = (codes + rng.integers(1, 4, 60)) % 4
    ruled = np.zeros((60, 4), dtype=np.bool_)
    ruled[np.arange(60), wrong] = True
    knowledge = dataclasses.replace(world.knowledge, not_values={"ill": ruled})
    return dataclasses.replace(world, table=table, knowledge=knowledge)


@pytest.mark.parametrize("kind", ["classes", "one class"])
def test_no_more_than_the_facts_alone_where_nothing_can_be_learned(kind: str) -> None:
    excess = []
    for seed in range(60):
        world = null_world(seed, kind)
        prior = Prior(60, world.knowledge.priors, world.release.sizes)
        with_release = figures(Background(), world, Link.CONTAINMENT, "ill")["success"].value
        without = figures(Background(), world, Link.CONTAINMENT, "ill", prior)["success"].value
        assert with_release is not None
        assert without is not None
        excess.append(with_release - without)
    mean, error = np.mean(excess), np.std(excess) / np.sqrt(len(excess))
    assert mean <= 2.6 * error + 1e-12  # one-sided, at 0.5 %
    if kind == "one class":
        np.testing.assert_allclose(excess, 0, atol=1e-12)


# ----- in an audit ---------------------------------------------------------------------------------------------------


def audited(adversary: Adversary, method: str, **params: Any) -> dict[str, Any]:
    schema = Schema.read(town.schema_path())
    everybody = Table.from_frame(town.population(people=600, seed=5), schema, "town")
    people, outsiders = everybody.take(np.arange(300)), np.arange(300, 600)
    release, provenance = anonymize(people, method, 3, **params)
    subject = Subject(release, people, provenance, True, everybody, outsiders)
    options = Options(attacks=("background",), adversaries=(adversary,), links=(Link.CONTAINMENT,), utility=())
    found = run_audit(subject, options).risks
    return {r.measure: r for r in found if r.sensitive == "disease"}


def test_facts_in_an_audit_add_to_what_the_release_tells() -> None:
    knowing = Adversary(Stance.PROSECUTOR, "relative", not_values=3, acquaintances=0.2)
    risk = audited(knowing, "mondrian", k=5)["success"]
    assert risk.status == "ok"
    assert risk.n == 240  # acquaintances are no targets
    assert risk.detail["known_people"] == 60
    assert risk.detail["contradicting"] == 0
    assert risk.value > risk.detail["success_of"]["before_facts"]
    assert risk.value > risk.control
    assert risk.expected == pytest.approx(risk.value, abs=0.12)
    assert risk.control_kind == "outsiders"


def test_facts_on_anatomy() -> None:
    knowing = Adversary(Stance.PROSECUTOR, "relative", not_values=1, acquaintances=60)
    found = audited(knowing, "anatomy", l=3, sensitive="disease")
    assert found["success"].value > found["success"].detail["success_of"]["before_facts"]
    assert found["breached"].value > 0
