"""Intersection: the hospitals of the composition paper by hand, releases over other domains, and where nothing adds up."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from anonymizers.anonymizing import anonymize
from attacks.base import NotApplicable, View
from attacks.claims import ValueClaims
from attacks.intersection import Intersection
from auditor.auditing.audit import run_audit
from auditor.auditing.subjects import Subject
from auditor.model.errors import UsageError
from auditor.model.schema import Schema
from auditor.model.table import Table
from auditor.posterior.beliefs import Beliefs, Prior
from auditor.posterior.links import Link
from scenarios import town
from scenarios.adversaries import Adversary, Stance
from scenarios.options import Options
from tests.support.tables import World, beliefs_of, by_hand, figures

# Ganta, Kasiviswanathan & Smith 2008, Table 1: hospital A is 4-anonymous, hospital B 6-anonymous. Alice is 28, lives in
# 13012 and was in both: her class in A has AIDS, heart disease and two viral infections, the one in B AIDS, tuberculosis
# (twice), flu and cancer (twice). Only AIDS is in both.
COLUMNS: dict[str, dict[str, object]] = {
    "zip": {"role": "quasi"},
    "age": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive"},
}
A = {
    "zip": ["13012", "13053", "13068", "13068"],
    "age": ["28", "29", "21", "23"],
    "ill": ["AIDS", "heart disease", "viral infection", "viral infection"],
}
B = {
    "zip": ["13012", "13044", "13044", "13012", "13044", "13044"],
    "age": ["28", "34", "31", "25", "33", "30"],
    "ill": ["AIDS", "tuberculosis", "flu", "tuberculosis", "cancer", "cancer"],
}
ALL = sorted({*A["ill"], *B["ill"]})


def hospital(rows: dict[str, list[str]], cells: dict[str, str], illnesses: list[str] | None = None) -> World:
    count = len(rows["zip"])
    columns = {**COLUMNS, "ill": {"role": "sensitive", **({"domain": illnesses} if illnesses else {})}}
    return by_hand(columns, rows, {c: [text] * count for c, text in cells.items()})


def pair(illnesses: list[str] | None = ALL) -> tuple[World, World]:
    a = hospital(A, {"zip": "{13012, 13053, 13068}", "age": "[21, 29]"}, illnesses)
    b = hospital(B, {"zip": "{13012, 13044}", "age": "[25, 34]"}, illnesses)
    priors = {"ill": np.full(a.release.labels["ill"].domain.size, 1 / a.release.labels["ill"].domain.size)}
    return dataclasses.replace(a, knowledge=dataclasses.replace(a.knowledge, priors=priors)), b


def knowing(world: World, *earlier: World) -> World:
    knowledge = dataclasses.replace(world.knowledge, earlier=tuple(e.release for e in earlier))
    return dataclasses.replace(world, knowledge=knowledge)


def claimed(world: World, attack: Intersection | None = None, beliefs: Beliefs | None = None, **more: Any) -> Any:
    view = View(
        world.release,
        world.knowledge,
        beliefs or beliefs_of(world, Link.CONTAINMENT),
        Link.CONTAINMENT,
        more.pop("sensitive", "ill"),
        **more,
    )
    return (attack or Intersection()).run(view, np.random.default_rng(0))


def dense(claims: ValueClaims) -> Any:
    return claims.values.rows.toarray()[claims.values.row_of]


@pytest.mark.parametrize("illnesses", [ALL, None], ids=["one domain", "domains of their own"])
@pytest.mark.parametrize("link", list(Link)[:4])
def test_alice_has_aids(link: Link, illnesses: list[str] | None) -> None:
    a, b = pair(illnesses)
    found = figures(Intersection(), knowing(a, b), link, "ill")
    assert found["certain"].each is not None
    assert found["certain"].each.tolist() == [1, 0, 0, 0]
    # nobody else of A is in B: A alone says viral infection, right for two. All: (1 + 0 + 1 + 1)/4; A alone 2/4
    assert found["success"].value == pytest.approx(3 / 4)
    detail = found["success"].detail
    assert detail["success_of"]["this_release"] == pytest.approx(1 / 2)
    assert detail["found_in_earlier"] == [1]
    assert detail["contradicting"] == 0
    assert detail["values_left"] == pytest.approx((1 + 3 * 3) / 4)
    assert detail["values_left_alone"][0] == 3


def test_from_the_other_side() -> None:
    _, b = pair()
    a, _ = pair()
    flat = {"ill": np.full(len(ALL), 1 / len(ALL))}
    b = dataclasses.replace(b, knowledge=dataclasses.replace(b.knowledge, priors=flat))
    found = figures(Intersection(), knowing(b, a), Link.CONTAINMENT, "ill")
    assert found["certain"].each is not None
    assert found["certain"].each.tolist() == [1, 0, 0, 0, 0, 0]


def test_the_product_over_the_prior() -> None:
    # {flu, flu, hiv, cold} and {flu, hiv, hiv, cold}; prior flu 1/2, hiv and cold 1/4. Over the prior:
    # flu 1/2·1/4/(1/2) = 1/4, hiv 1/4·1/2/(1/4) = 1/2, cold 1/4·1/4/(1/4) = 1/4
    columns = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive", "domain": ["flu", "hiv", "cold"]}}
    one = by_hand(columns, {"zip": ["a"] * 4, "ill": ["flu", "flu", "hiv", "cold"]})
    two = by_hand(columns, {"zip": ["a"] * 4, "ill": ["flu", "hiv", "hiv", "cold"]})
    priors = {"ill": np.array([0.5, 0.25, 0.25])}
    one = dataclasses.replace(one, knowledge=dataclasses.replace(one.knowledge, priors=priors))
    np.testing.assert_allclose(dense(claimed(knowing(one, two)))[0], [0.25, 0.5, 0.25])
    # half of the people are in the other one: the ratios 1/2, 2, 1 mixed with 1 are 3/4, 3/2, 1
    mixed = np.array([0.5 * 0.75, 0.25 * 1.5, 0.25])
    np.testing.assert_allclose(dense(claimed(knowing(one, two), Intersection(overlap=0.5)))[0], mixed / mixed.sum())
    # three releases: once more times 1/2, 2, 1 is 1/8, 1, 1/4
    np.testing.assert_allclose(dense(claimed(knowing(one, two, two)))[0], np.array([1, 8, 2]) / 11)


def test_releases_that_contradict_each_other() -> None:
    # the same zip, no value in common: this release alone counts, and it is said
    columns = {"zip": {"role": "quasi"}, "ill": {"role": "sensitive", "domain": ["flu", "hiv", "cold"]}}
    one = by_hand(columns, {"zip": ["a", "a"], "ill": ["flu", "hiv"]})
    two = by_hand(columns, {"zip": ["a", "a"], "ill": ["cold", "cold"]})
    claims = claimed(knowing(one, two))
    np.testing.assert_allclose(dense(claims), [[0.5, 0.5, 0]] * 2)
    assert claims.detail["contradicting"] == 2


def test_reasons_why_it_does_not_apply() -> None:
    a, b = pair(None)
    answers = [claimed(a)]
    hidden = by_hand({"zip": {"role": "quasi"}}, {"zip": ["13012"]})
    answers.append(claimed(knowing(a, hidden)))
    others = {**B, "ill": ["x", "y", "x", "y", "x", "y"]}
    answers.append(claimed(knowing(a, hospital(others, {"zip": "{13012, 13044}", "age": "[25, 34]"}))))
    elsewhere = {**B, "zip": ["9"] * 6}
    answers.append(claimed(knowing(a, hospital(elsewhere, {"zip": "9", "age": "[25, 34]"}))))
    assert all(isinstance(answer, NotApplicable) for answer in answers)
    assert [answer.reason for answer in answers] == [
        "the adversary has no other release about the same people.",
        "none of the earlier releases publishes ill.",
        "no earlier release has a value of ill in common with this one.",
        "no earlier release has a record that fits what is known of anybody.",
    ]
    assert b.release.rows == 6


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="overlap must be above 0"):
        Intersection(overlap=0)
    with pytest.raises(UsageError, match="tau must be at least 0"):
        Intersection(tau=1)


def test_the_baseline_is_the_prior() -> None:
    a, b = pair()
    world = knowing(a, b)
    prior = Prior(4, world.knowledge.priors, world.release.sizes)
    np.testing.assert_allclose(dense(claimed(world, beliefs=prior, blind=True)), 1 / len(ALL))


def test_another_order_of_rows_tells_the_same() -> None:
    a, b = pair(None)
    first = claimed(knowing(a, b))
    release = b.release.shuffled(np.random.default_rng(1))[0]
    other = dataclasses.replace(b, release=release)
    mixed = dataclasses.replace(a, release=a.release.shuffled(np.random.default_rng(2))[0])
    np.testing.assert_allclose(dense(claimed(knowing(mixed, other))), dense(first), atol=1e-12)


# ----- where nothing can be learned, and where much can --------------------------------------------------------------


def two_releases(seed: int, permuted: bool) -> World:
    """60 people in two releases, with classes of five that are drawn anew; `permuted`: values handed out anew after."""
    rng = np.random.default_rng(seed)
    columns = {
        "zip": {"role": "quasi", "domain": [f"p{i:02}" for i in range(60)]},
        "ill": {"role": "sensitive", "domain": ["cold", "flu", "hiv", "ulcer"]},
    }
    rows = {"zip": [f"p{i:02}" for i in range(60)], "ill": rng.choice(["cold", "flu", "hiv", "ulcer"], 60).tolist()}
    worlds = []
    for _ in range(2):
        group = rng.permutation(60) // 5
        cells = ["{" + ", ".join(f"p{i:02}" for i in np.flatnonzero(group == group[row])) + "}" for row in range(60)]
        worlds.append(by_hand(columns, rows, {"zip": cells}))
    world = knowing(*worlds)
    if not permuted:
        return world
    codes = rng.permutation(world.table.codes["ill"])
    return dataclasses.replace(world, table=dataclasses.replace(world.table, codes={**world.table.codes, "ill": codes}))


def test_two_releases_tell_more_than_either() -> None:
    gains, calibration = [], []
    for seed in range(20):
        found = figures(Intersection(), two_releases(seed, False), Link.CONTAINMENT, "ill")["success"]
        assert found.value is not None
        assert found.expected is not None
        gains.append(found.value - max(found.detail["success_of"].values()))
        calibration.append(found.value - found.expected)
    assert np.mean(gains) > 0.08
    assert abs(np.mean(calibration)) < 0.03  # what is expected is found: Bayes' rule holds for independent classes


def test_nothing_where_values_were_handed_out_anew() -> None:
    excess = []
    for seed in range(60):
        world = two_releases(seed, True)
        found = figures(Intersection(), world, Link.CONTAINMENT, "ill")["success"].value
        assert found is not None
        excess.append(found - world.knowledge.priors["ill"].max())
    assert np.mean(excess) <= 2.6 * np.std(excess) / np.sqrt(len(excess))


# ----- in an audit ---------------------------------------------------------------------------------------------------


def test_two_releases_in_an_audit() -> None:
    schema = Schema.read(town.schema_path())
    everybody = Table.from_frame(town.population(people=600, seed=5), schema, "town")
    people, outsiders = everybody.take(np.arange(300)), np.arange(300, 600)
    release, provenance = anonymize(people, "mondrian", 3, k=5)
    other, _ = anonymize(people, "anatomy", 4, l=3, sensitive="disease")
    subject = Subject(release, people, provenance, True, everybody, outsiders, others={"first": other})
    adversary = Adversary(Stance.PROSECUTOR, "reader", earlier=("first",))
    options = Options(attacks=("intersection",), adversaries=(adversary,), links=(Link.CONTAINMENT,), utility=())
    risks = {(r.sensitive, r.measure): r for r in run_audit(subject, options).risks}
    risk = risks["disease", "success"]
    assert risk.status == "ok"
    assert risk.value > max(risk.detail["success_of"].values())
    assert risk.value > risk.control
