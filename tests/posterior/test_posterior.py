"""The posterior engine against the oracle, on small awkward worlds; and the laws that beliefs obey."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.model.arrays import Floats
from auditor.model.knowledge import Knowledge
from auditor.model.labels.labels import Labels
from auditor.model.publishing import publish
from auditor.model.release import Release, Suppression
from auditor.model.schema import Schema
from auditor.model.table import RawTable, encode
from auditor.posterior.beliefs import TIE, Prior, Some, ValueBeliefs
from auditor.posterior.candidates import Matching
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link, Weighting
from auditor.posterior.posterior import Posterior
from tests.support.oracle import Oracle, without
from tests.support.tables import COVERING, SENSITIVE, Plan, World, plans, renamed, worlds

many = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_link = pytest.mark.parametrize("link", COVERING)


def posterior(
    world: World, link: Link, weighting: Weighting = Weighting.SIZE, suppression: Suppression = Suppression.EXCLUDED
) -> Posterior:
    return Posterior(Matching(world.release, world.knowledge, suppression), link, weighting)


def dense(values: ValueBeliefs) -> Floats:
    return values.rows.toarray()[values.row_of]


# ----- against the oracle --------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_link
@many
@given(world=worlds(), suppression=st.sampled_from(Suppression))
def test_values_are_the_oracles(link: Link, world: World, suppression: Suppression) -> None:
    for weighting in Weighting:
        fast = posterior(world, link, weighting, suppression)
        slow = Oracle(world.release, world.knowledge, link, weighting, suppression)
        for column in SENSITIVE:
            expected = [slow.values(target, column) for target in range(fast.targets)]
            np.testing.assert_allclose(dense(fast.values(column)), expected, atol=1e-12)


@every_link
@many
@given(world=worlds(), suppression=st.sampled_from(Suppression))
def test_records_and_classes_are_the_oracles(link: Link, world: World, suppression: Suppression) -> None:
    fast = posterior(world, link, suppression=suppression)
    slow = Oracle(world.release, world.knowledge, link, suppression=suppression)
    own = fast.record_probability(world.bucket, world.fragment)
    records = fast.records()
    found, named = fast.classes(world.bucket)
    for target in range(fast.targets):
        each = slow.records(target)
        bucket, fragment = int(world.bucket[target]), world.fragment[target].tolist()
        best = max(each.values(), default=0.0)
        tied = sum(p >= best * (1 - TIE) for p in each.values())
        assert own[target] == pytest.approx(slow.record_probability(target, bucket, fragment), abs=1e-12)
        assert records.best[target] == pytest.approx(best, abs=1e-12)
        assert records.tied[target] == max(tied, 1)
        shares = slow.buckets(target)
        assert fast.matched[target] == bool(shares)
        top = max(shares.values(), default=0.0)
        likeliest = [b for b, p in shares.items() if p >= top * (1 - TIE)]
        assert named[target] == pytest.approx(top, abs=1e-12)
        assert found[target] == pytest.approx(1 / len(likeliest) if bucket in likeliest else 0.0)


@pytest.mark.slow
@every_link
@many
@given(world=worlds(), weighting=st.sampled_from(Weighting), suppression=st.sampled_from(Suppression))
def test_leave_one_out_is_the_release_without_the_person(
    link: Link, world: World, weighting: Weighting, suppression: Suppression
) -> None:
    full = posterior(world, link, weighting, suppression)
    left_out = LeaveOneOut(full, world.bucket, world.fragment)
    found = {column: dense(left_out.values(column)) for column in SENSITIVE}
    for target in range(full.targets):
        release = world.release
        if world.bucket[target] >= 0:
            release = without(release, int(world.bucket[target]), world.fragment[target].tolist())
        slow = Oracle(release, world.knowledge, link, weighting, suppression)
        assert left_out.matched[target] == bool(slow.buckets(target))
        for column in SENSITIVE:
            np.testing.assert_allclose(found[column][target], slow.values(target, column), atol=1e-10)
    np.testing.assert_array_equal(left_out.record_probability(world.bucket, world.fragment), 0)
    np.testing.assert_array_equal(left_out.classes(world.bucket)[0], 0)


@many
@given(world=worlds(doubt=True), prior=st.sampled_from([0.05, 0.5, 0.9]), suppression=st.sampled_from(Suppression))
def test_membership_without_a_register_is_the_oracles(world: World, prior: float, suppression: Suppression) -> None:
    knowledge = dataclasses.replace(world.knowledge, register=None)
    world = dataclasses.replace(world, knowledge=knowledge)
    slow = Oracle(world.release, knowledge, Link.CONTAINMENT, suppression=suppression)
    for weighting in Weighting:
        fast = posterior(world, Link.CONTAINMENT, weighting, suppression)
        beliefs = fast.membership(prior)
        for target in range(fast.targets):
            buckets, degree = slow.degree(target)
            assert beliefs.buckets[target] == buckets
            assert beliefs.degree[target] == pytest.approx(degree, abs=1e-12)
            assert beliefs.posterior[target] == pytest.approx(slow.present(target, prior), abs=1e-9)


# ----- laws ----------------------------------------------------------------------------------------------------------


@every_link
@many
@given(world=worlds())
def test_beliefs_sum_to_one(link: Link, world: World) -> None:
    full = posterior(world, link)
    for beliefs in (full, LeaveOneOut(full, world.bucket, world.fragment)):
        for column in SENSITIVE:
            rows = dense(beliefs.values(column))
            assert (rows >= 0).all()
            np.testing.assert_allclose(rows.sum(axis=1), 1)


@every_link
@many
@given(world=worlds(doubt=True))
def test_in_doubt_beliefs_sum_to_the_probability_of_membership(link: Link, world: World) -> None:
    full = posterior(world, link)
    assert ((full.present >= 0) & (full.present <= 1)).all()
    matched = np.ones(full.targets) if full.certain else (full.total[full.row_of] > 0)
    for column in SENSITIVE:
        np.testing.assert_allclose(dense(full.values(column)).sum(axis=1), full.present * matched, atol=1e-12)


@every_link
@many
@given(world=worlds(doubt=True), seed=st.integers(0, 99))
def test_row_order_does_not_matter(link: Link, world: World, seed: int) -> None:
    release, renumber = world.release.shuffled(np.random.default_rng(seed))
    granted = np.where(world.bucket >= 0, renumber[world.bucket], -1).astype(np.int32)
    other = dataclasses.replace(world, release=release, knowledge=dataclasses.replace(world.knowledge, granted=granted))
    before, after = posterior(world, link), posterior(other, link)
    for column in SENSITIVE:
        np.testing.assert_allclose(dense(before.values(column)), dense(after.values(column)), atol=1e-12)
    np.testing.assert_allclose(before.records().best, after.records().best, atol=1e-12)
    np.testing.assert_array_equal(before.records().tied, after.records().tied)
    np.testing.assert_allclose(before.classes(world.bucket), after.classes(granted.astype(np.int64)), atol=1e-12)
    for name in ("buckets", "degree", "posterior"):
        one, two = getattr(before.membership(0.5), name), getattr(after.membership(0.5), name)
        np.testing.assert_allclose(one, two, atol=1e-12)


@every_link
@many
@given(plan=plans(doubt=True))
def test_names_of_values_do_not_matter(link: Link, plan: Plan) -> None:
    one, two = plan.build(), plan.build(renamed)
    same_world = dataclasses.replace(one.knowledge, granted=one.bucket.astype(np.int32))
    before = posterior(dataclasses.replace(one, knowledge=same_world), link)
    after = posterior(two, link)
    for column in SENSITIVE:
        texts = one.table.domains[column].texts
        places = [two.table.domains[column].texts.index(renamed(text)) for text in texts]
        np.testing.assert_allclose(dense(before.values(column)), dense(after.values(column))[:, places], atol=1e-12)
    np.testing.assert_allclose(before.records().best, after.records().best, atol=1e-12)
    np.testing.assert_allclose(before.present, after.present, atol=1e-12)


# ----- by hand -------------------------------------------------------------------------------------------------------


def classes(zips: list[str], diseases: list[str], originals: list[str]) -> tuple[Release, Knowledge]:
    """A one-block release with these labels, and knowledge of one person per original zip."""
    schema = Schema.from_dict({"columns": {"zip": {"role": "quasi"}, "disease": {"role": "sensitive"}}})
    table = RawTable("table", {"zip": originals, "disease": diseases[: len(originals)]})
    diagnoses = RawTable("all", {"zip": [originals[0]] * len(diseases), "disease": diseases})
    people, everybody = encode(schema, [table, diagnoses])
    labels, cells = {}, {}
    for column, texts in (("zip", zips), ("disease", diseases)):
        distinct = sorted(set(texts))
        labels[column] = Labels.read(people.domains[column], distinct, lambda i: f"label {i}")
        cells[column] = np.array([distinct.index(t) for t in texts], dtype=np.int32)
    release, _ = publish(schema, labels, cells, [["zip", "disease"]], None, np.random.default_rng(0))
    prior = np.bincount(everybody.codes["disease"]) / everybody.rows
    return release, Knowledge(("zip",), people.matrix(["zip"]), priors={"disease": prior})


def test_one_class_that_covers_all_tells_the_tables_distribution() -> None:
    release, knowledge = classes(["*"] * 4, ["flu", "flu", "flu", "hiv"], ["a", "b"])
    for link in (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST):
        rows = dense(Posterior(Matching(release, knowledge, Suppression.EXCLUDED), link).values("disease"))
        np.testing.assert_allclose(rows, [[3 / 4, 1 / 4]] * 2)


def test_buckets_weigh_by_their_size_and_not_as_in_the_paper() -> None:
    # somebody of zip a fits nine people with flu in one class, {a, b}, and one with hiv in the other, {a, c}:
    # any of ten people could be theirs, so P(hiv) = 1/10. The paper gives both classes f = 1, so 1/2.
    release, knowledge = classes(["{a, b}"] * 9 + ["{a, c}"], ["flu"] * 9 + ["hiv"], ["a", "b", "c"])
    for weighting, expected in ((Weighting.SIZE, 1 / 10), (Weighting.PAPER, 1 / 2)):
        matching = Matching(release, knowledge, Suppression.EXCLUDED)
        rows = dense(Posterior(matching, Link.CONTAINMENT, weighting).values("disease"))
        assert rows[0, 1] == pytest.approx(expected)
        assert rows[1, 1] == 0
        assert rows[2, 1] == pytest.approx(1)


def test_likelihood_weighs_a_label_by_one_over_its_width() -> None:
    # the domain has a, b, c, d. Somebody of zip a fits `a` (flu; weight 1/(1/4) = 4) and `{a, b}` (hiv; weight 2)
    release, knowledge = classes(["a", "{a, b}", "c", "d"], ["flu", "hiv", "flu", "flu"], ["a", "b", "c", "d"])
    rows = dense(Posterior(Matching(release, knowledge, Suppression.EXCLUDED), Link.LIKELIHOOD).values("disease"))
    np.testing.assert_allclose(rows[0], [4 / 6, 2 / 6])


def test_where_nothing_fits_only_the_prior_is_left() -> None:
    release, knowledge = classes(["a", "a", "b"], ["flu", "flu", "hiv"], ["a", "b", "c"])
    for link in (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST):
        beliefs = Posterior(Matching(release, knowledge, Suppression.EXCLUDED), link)
        np.testing.assert_allclose(dense(beliefs.values("disease"))[2], [2 / 3, 1 / 3])
        assert beliefs.records().best[2] == 0
        assert beliefs.classes(np.array([0, 0, 0]))[0][2] == 0


def test_the_last_other_class_becomes_the_tightest_once_the_own_one_is_gone() -> None:
    # of zip a: the own class `a` (flu) is the tightest; without it `{a, b}` (hiv) is, and not `*` (flu, flu) or the prior
    zips = ["a", "{a, b}", "*", "*"]
    release, knowledge = classes(zips, ["flu", "hiv", "flu", "flu"], ["a", "b", "c"])
    full = Posterior(Matching(release, knowledge.take(np.array([0])), Suppression.WILDCARD), Link.TIGHTEST)
    texts = release.labels["zip"].texts
    own = next(i for i, cell in enumerate(release.blocks[0].cell("zip")) if texts[cell] == "a")
    left_out = LeaveOneOut(full, release.blocks[0].bucket[[own]].astype(np.int64), np.array([[own]]))
    np.testing.assert_allclose(dense(full.values("disease")), [[1, 0]])
    np.testing.assert_allclose(dense(left_out.values("disease")), [[0, 1]])


@every_link
@many
@given(world=worlds(doubt=True), data=st.data())
def test_some_of_the_targets_are_believed_as_before(link: Link, world: World, data: st.DataObject) -> None:
    full = posterior(world, link)
    which = np.array(data.draw(st.lists(st.booleans(), min_size=full.targets, max_size=full.targets)))
    some = Some(full, which)
    bucket, fragment = world.bucket, world.fragment
    np.testing.assert_array_equal(some.matched, full.matched[which])
    np.testing.assert_array_equal(dense(some.values("job")), dense(full.values("job"))[which])
    np.testing.assert_array_equal(some.records().best, full.records().best[which])
    np.testing.assert_array_equal(
        some.record_probability(bucket[which], fragment[which]), full.record_probability(bucket, fragment)[which]
    )
    np.testing.assert_array_equal(some.classes(bucket[which])[0], full.classes(bucket)[0][which])
    np.testing.assert_array_equal(some.membership(0.5).posterior, full.membership(0.5).posterior[which])


def test_nobody_asked_nothing_said() -> None:
    release, knowledge = classes(["a", "b"], ["flu", "hiv"], ["a", "b"])
    for columns in (("zip",), ()):
        nobody = Knowledge(columns, np.empty((0, len(columns)), dtype=np.int32), priors=knowledge.priors)
        for link in (Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST):
            beliefs = Posterior(Matching(release, nobody, Suppression.EXCLUDED), link)
            assert beliefs.values("disease").at(np.empty(0, dtype=np.int64)).shape == (0,)
            assert beliefs.records().best.shape == (0,)


def test_the_prior_knows_neither_records_nor_classes() -> None:
    beliefs = Prior(3, {"disease": np.array([0.75, 0.25])}, np.array([3, 3, 2]))
    np.testing.assert_allclose(dense(beliefs.values("disease")), [[0.75, 0.25]] * 3)
    np.testing.assert_allclose(beliefs.record_probability(np.array([0, 2, -1]), np.zeros((3, 1))), [1 / 8, 1 / 8, 0])
    np.testing.assert_allclose(beliefs.classes(np.array([1, 2, -1]))[0], [1 / 2, 0, 0])
    np.testing.assert_allclose(beliefs.membership(0.3).posterior, 0.3)
