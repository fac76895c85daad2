"""Shadow membership, on the built-in town: members are told from outsiders where they can be, and nobody where not."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizers import ANONYMIZERS
from attacks.base import NotApplicable, View
from attacks.claims import MemberClaims
from attacks.shadow_membership import ShadowMembership, _distances, _typical
from auditor.auditing.scoring.figures import Figure
from auditor.auditing.scoring.members import score_members
from auditor.model.arrays import Codes
from auditor.model.errors import UsageError
from auditor.model.knowledge import Knowledge, Mechanism
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.candidates import Matching
from auditor.posterior.links import Link
from auditor.posterior.posterior import Posterior
from scenarios import town
from tests.support.tables import by_hand

SCHEMA = Schema.read(Path(str(town.schema_path())))
BLOCKS = [
    ["birth_year", "sex", "marital_status", "education"],
    ["postcode", "ethnicity"],
    ["occupation", "income", "disease"],
]
SLICING: dict[str, Any] = {"columns": BLOCKS, "bucket_size": 10}
ATTACK = ShadowMembership(releases=8, targets=500)


@dataclass(frozen=True)
class Town:
    """A release of 800 people of a town of 3200, 800 outsiders, and a sample of the 1600 others."""

    population: Table
    release: Release
    mechanism: Mechanism

    def knowledge(self, rows: slice) -> Knowledge:
        people = self.population.take(np.arange(3200)[rows])
        sample = self.population.take(np.arange(1600, 3200))
        return Knowledge(SCHEMA.quasi, people.matrix(SCHEMA.quasi), auxiliary=sample, mechanism=self.mechanism)

    def claims(self, rows: slice, attack: ShadowMembership = ATTACK, release: Release | None = None) -> MemberClaims:
        claims = run(attack, release or self.release, self.knowledge(rows))
        assert isinstance(claims, MemberClaims), claims
        return claims


def run(attack: ShadowMembership, release: Release, knowledge: Knowledge) -> object:
    beliefs = Posterior(Matching(release, knowledge, Suppression.WILDCARD), Link.CONTAINMENT)
    return attack.run(View(release, knowledge, beliefs), np.random.default_rng(4))


def town_with(method: str, seed: int = 1, **settings: Any) -> Town:
    drawn = Table.from_frame(town.population(people=3200, seed=seed), SCHEMA, "town")
    population = drawn.take(np.random.default_rng(seed).permutation(3200))
    anonymizer = ANONYMIZERS.get(method).configure(settings)

    def again(table: Table, rng: np.random.Generator) -> Release:
        return anonymizer.anonymize(table, rng)[0]

    release = again(population.take(np.arange(800)), np.random.default_rng(seed))
    return Town(population, release, Mechanism(method, settings, again))


def figure(members: MemberClaims, others: MemberClaims, measure: str) -> Figure:
    found = score_members(members, others, "outsiders", np.random.default_rng(0))
    return next(f for f in found if f.measure == measure)


MEMBERS, OUTSIDERS = slice(0, 800), slice(800, 1600)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings", "least"),
    [("identity", {}, 0.95), ("slicing", SLICING, 0.9), ("mondrian", {"k": 5}, 0.6), ("rgather", {"r": 3}, 0.5)],
)
def test_members_are_told_from_outsiders(method: str, settings: dict[str, Any], least: float) -> None:
    world = town_with(method, **settings)
    members, others = world.claims(MEMBERS), world.claims(OUTSIDERS)
    assert len(members.scores["shadow"]) == 500
    area, guesses = figure(members, others, "auc"), figure(members, others, "success")
    assert area.value > least
    assert area.params["score"] == guesses.params["score"] == "shadow"
    assert area.n == guesses.n == 1000  # those who were asked about
    assert area.detail is not None
    assert {k: area.detail[k] for k in ("shadow_releases", "shadow_rows", "asked", "people")} == {
        "shadow_releases": 8,
        "shadow_rows": 800,
        "asked": 500,
        "people": 800,
    }
    # half in, half out: as often right as expected, or a little less
    assert guesses.expected is not None
    assert abs(guesses.value - guesses.expected) < 0.1


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize(("method", "settings"), [("identity", {}), ("slicing", SLICING), ("mondrian", {"k": 5})])
def test_outsiders_posing_as_members_are_not_told_from_others(
    method: str, settings: dict[str, Any], full: bool
) -> None:
    beyond, wrong, runs = [], 0, 4 if full else 2
    for seed in range(runs):
        world = town_with(method, seed, **settings)
        area = figure(world.claims(slice(800, 1200)), world.claims(slice(1200, 1600)), "auc")
        assert area.interval is not None
        beyond.append(area.value - 0.5)
        wrong += not area.interval[0] <= 0.5 <= area.interval[1]
    assert abs(np.mean(beyond)) < 3 * 0.29 * (2 / 400 / runs) ** 0.5
    assert wrong <= 1


def test_one_class_for_all_tells_nothing() -> None:
    world = town_with("mondrian", k=800)
    area = figure(world.claims(MEMBERS), world.claims(OUTSIDERS), "auc")
    assert area.value == pytest.approx(0.5, abs=0.05)


def test_the_order_of_rows_does_not_matter() -> None:
    world = town_with("slicing", **SLICING)
    moved, _ = world.release.shuffled(np.random.default_rng(9))
    first, second = world.claims(MEMBERS), world.claims(MEMBERS, release=moved)
    np.testing.assert_allclose(first.scores["shadow"], second.scores["shadow"], atol=1e-6)
    again = world.claims(MEMBERS)
    np.testing.assert_array_equal(first.scores["shadow"], again.scores["shadow"])


def test_everybody_is_asked_about_where_they_are_few() -> None:
    world = town_with("identity")
    assert len(world.claims(slice(0, 7)).scores["shadow"]) == 7


def test_what_it_needs() -> None:
    world = town_with("identity")
    knowledge = world.knowledge(slice(0, 5))
    without: dict[str, dict[str, Any]] = {
        "mechanism": {"mechanism": None},
        "way": {"mechanism": Mechanism("identity")},
        "sample": {"auxiliary": None},
        "people": {"columns": (), "codes": np.empty((5, 0), dtype=np.int32)},
        "few": {"auxiliary": world.population.take(np.arange(10))},
    }
    for lacking, changes in without.items():
        claims = run(ATTACK, world.release, dataclasses.replace(knowledge, **changes))
        assert isinstance(claims, NotApplicable), lacking
        assert claims.reason.endswith(".")


def test_a_sample_that_cannot_be_released_alike() -> None:
    # some disease is that of more than one person in forty
    world = town_with("identity")
    anatomy = ANONYMIZERS.get("anatomy").configure({"l": 40, "sensitive": "disease"})
    mechanism = Mechanism("anatomy", {}, lambda table, rng: anatomy.anonymize(table, rng)[0])
    claims = run(ATTACK, world.release, dataclasses.replace(world.knowledge(slice(0, 5)), mechanism=mechanism))
    assert isinstance(claims, NotApplicable)
    assert "could not be released in the same way" in claims.reason


@pytest.mark.parametrize("wrong", [{"releases": 3}, {"targets": 0}, {"prior": 1.0}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        ShadowMembership.configure(wrong)


def test_what_is_typical_does_not_tell_whether_a_probe_is_in() -> None:
    # one probe, one sign, shadows 10, 20, 30, 40; the probe is in the first and the third. In the second, the fourth is what
    # is left of the others, and the other way round; in the first and third one of the two is left out as well.
    seen = np.array([10.0, 20.0, 30.0, 40.0]).reshape(4, 1, 1)
    outside = np.array([[False], [True], [False], [True]])
    assert _typical(seen, outside).reshape(-1).tolist() == [40, 40, 20, 20]


def test_distances_to_centroids_by_hand() -> None:
    # ages from 0 to 10; centroids 2.5 and 9 with towns p and q. (0, p) is 0.25 from the first; (10, p) is 0.1 + 1 from the
    # second and 0.75 from the first
    columns = {"age": {"role": "quasi", "type": "numeric"}, "town": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    rows = {"age": ["0", "5", "8", "10"], "town": ["p", "p", "q", "q"], "ill": ["a", "b", "a", "b"]}
    world = by_hand(columns, rows, {"age": ["2.5", "2.5", "9", "9"]})
    codes: Codes = world.table.matrix(("age", "town"))[[0, 3]].copy()
    codes[1, 1] = codes[0, 1]
    np.testing.assert_allclose(_distances(world.release, Knowledge(("age", "town"), codes)), [0.25, 0.75])
    exact = by_hand(columns, rows)
    assert not _distances(exact.release, Knowledge(("age", "town"), codes)).any()
