"""Attacks on tables worked by hand: linking, homogeneity and membership, on every kind of release.

The people are always these six, in two buckets, {1, 2} and {3, 4, 5, 6}:

    row   1    2    3    4    5      6
    zip   a    b    a    c    c      c
    age   1    2    1    1    2      2
    ill   flu  hiv  flu  flu  ulcer  gastritis
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from attacks.base import View
from attacks.claims import MemberClaims
from attacks.homogeneity import Homogeneity
from attacks.linking import Linking
from attacks.membership import Membership
from auditor.auditing.audit import audit
from auditor.model.errors import UsageError
from auditor.model.release import Kind, Suppression
from auditor.model.schema import Schema
from auditor.posterior.beliefs import Prior
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link, Weighting
from scenarios.options import Options
from tests.support.tables import World, beliefs_of, by_hand, figures

COLUMNS = {
    "zip": {"role": "quasi"},
    "age": {"role": "quasi", "type": "numeric"},
    "ill": {"role": "sensitive", "domain": ["flu", "hiv", "ulcer", "gastritis"]},
}
ZIP = ["a", "b", "a", "c", "c", "c"]
AGE = ["1", "2", "1", "1", "2", "2"]
ILL = ["flu", "hiv", "flu", "flu", "ulcer", "gastritis"]
BUCKET = [0, 0, 1, 1, 1, 1]
COVER = ["{a, b}"] * 2 + ["{a, c}"] * 4

without_age = {c: COLUMNS[c] for c in ("zip", "ill")}


def generalised() -> World:
    """Zips {a, b} and {a, c}: the classes overlap in a."""
    return by_hand(without_age, {"zip": ZIP, "ill": ILL}, {"zip": COVER})


def bucketized() -> World:
    return by_hand(without_age, {"zip": ZIP, "ill": ILL}, None, [["zip"], ["ill"]], BUCKET)


def sliced() -> World:
    rows = {"zip": ZIP, "age": AGE, "ill": ILL}
    return by_hand(COLUMNS, rows, None, [["zip"], ["age", "ill"]], BUCKET)


# ----- linking -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [Link.CONTAINMENT, Link.LIKELIHOOD, Link.TIGHTEST])
def test_linking_in_classes_that_overlap(link: Link) -> None:
    # both labels cover two of three zips, so all links agree here. a fits all six records, b two, c four:
    # the right one has 1/6, 1/2, 1/6, 1/4, 1/4, 1/4; mean (1/3 + 1/2 + 3/4)/6 = 19/72; four are above 0.2.
    # a names the larger class, which is right for row 3 only.
    found = figures(Linking(), generalised(), link)
    np.testing.assert_allclose(found["max"].each, [1 / 6, 1 / 2, 1 / 6, 1 / 4, 1 / 4, 1 / 4])
    assert found["max"].value == pytest.approx(1 / 2)
    assert found["mean"].value == pytest.approx(19 / 72)
    assert found["at_risk"].value == 4
    assert found["success"].value == found["success"].expected == pytest.approx(19 / 72)
    assert found["class_found"].each.tolist() == [0, 1, 1, 1, 1, 1]
    assert found["class_found"].expected == pytest.approx(4 / 6 * 2 + 4)


def test_linking_with_the_class_granted() -> None:
    # classes of two and four: 1/2, 1/2, 1/4 × 4
    found = figures(Linking(threshold=0.25), generalised(), Link.CLASS)
    assert found["max"].value == pytest.approx(1 / 2)
    assert found["mean"].value == pytest.approx(2 / 6)
    assert found["at_risk"].value == 2  # 1/4 is not above 1/4
    assert found["class_found"].value == 6


def test_linking_in_buckets() -> None:
    # a: one of two in the first bucket and one of four in the second, w = 1 and 1, so each record has 1/2;
    # b: one record; c: three records of the second bucket
    found = figures(Linking(), bucketized(), Link.CONTAINMENT)
    np.testing.assert_allclose(found["max"].each, [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert found["mean"].value == pytest.approx(3 / 6)
    np.testing.assert_allclose(found["class_found"].each, [1 / 2, 1, 1 / 2, 1, 1, 1])


def test_linking_in_buckets_by_the_papers_rule() -> None:
    # a: f = 1/2 and 1/4, so the buckets have 2/3 and 1/3
    world = bucketized()
    found = figures(Linking(), world, Link.CONTAINMENT, beliefs=beliefs_of(world, Link.CONTAINMENT, Weighting.PAPER))
    np.testing.assert_allclose(found["max"].each, [2 / 3, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert found["success"].each.tolist()[:3] == [1, 1, 0]


def test_linking_in_slices() -> None:
    # (a, 1), rows 1 and 3: w = 2 · 1/2 · 1/2 and 4 · 1/4 · 2/4, so the buckets have 1/2 each. The first holds one record,
    # zip a and age 1, with 1/2; the second two, one zip a and two of age 1, with 1/4 each. Row 1's is named, row 3's not.
    found = figures(Linking(), sliced(), Link.CONTAINMENT)
    np.testing.assert_allclose(found["max"].each[[0, 2]], [1 / 2, 1 / 4])
    assert found["success"].each[[0, 2]].tolist() == [1, 0]


def test_linking_by_a_register() -> None:
    # the classes {a, b} and c, two records each, in a population of 4 people in a or b, 2 in c, 4 elsewhere.
    # P(in) is 2/4 and 2/2, the right record 1/2 of that: 1/F. Over records (1/4 + 1/4 + 1/2 + 1/2)/4 = 3/8, over
    # people 2 classes / 6 people = 1/3: the journalist's mean is the larger.
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    people = {"zip": ["a", "b", "c", "c", "a", "a", "d", "d", "d", "d"]}
    world = by_hand(without_age, rows, {"zip": ["{a, b}", "{a, b}", "c", "c"]}, population=people, membership=4 / 10)
    marketer = figures(Linking(), world, Link.CONTAINMENT)
    np.testing.assert_allclose(marketer["max"].each, [1 / 4, 1 / 4, 1 / 2, 1 / 2])
    assert marketer["mean"].value == pytest.approx(3 / 8)
    assert "over_people" not in marketer["mean"].detail
    anybody = dataclasses.replace(world, knowledge=dataclasses.replace(world.knowledge, anybody=True))
    found = figures(Linking(), anybody, Link.CONTAINMENT)
    assert found["mean"].value == pytest.approx(3 / 8)
    assert found["mean"].detail["over_people"] == pytest.approx(2 / 6)


def test_the_journalist_takes_the_larger_mean_and_the_marketer_the_first() -> None:
    # classes of f = 1 and 9 records in F = 2 and 9 people: over records (1/2 + 9 · 1/9)/10 = 0.15, over people 2/11
    rows = {"zip": ["a"] + ["b"] * 9, "ill": ["flu"] * 10}
    people = {"zip": ["a"] * 2 + ["b"] * 9}
    for anybody, mean in ((False, 0.15), (True, 2 / 11)):
        world = by_hand(without_age, rows, population=people, membership=10 / 11, anybody=anybody)
        assert figures(Linking(), world, Link.CLASS)["mean"].value == pytest.approx(mean)


def test_the_mean_over_people_is_of_the_release_only() -> None:
    # neither people without their own record nor a guess without the release have the 2 classes / 6 people in it
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    people = {"zip": ["a", "b", "c", "c", "a", "a", "d", "d", "d", "d"]}
    cells = {"zip": ["{a, b}", "{a, b}", "c", "c"]}
    world = by_hand(without_age, rows, cells, population=people, membership=4 / 10, anybody=True)
    left_out = LeaveOneOut(beliefs_of(world, Link.CONTAINMENT), world.bucket, world.fragment)
    assert figures(Linking(), world, Link.CONTAINMENT, beliefs=left_out)["mean"].value == 0
    # without the release a record is right for a member with 1/4, and somebody of the ten is one with 4/10
    prior = Prior(4, world.knowledge.priors, world.release.sizes, 4 / 10)
    chance = prior.record_probability(world.bucket, world.fragment)
    np.testing.assert_allclose(chance, 1 / 10)


def test_linking_by_a_register_with_nothing_known() -> None:
    # one class, by what is known, of ten people: 1/10, and for each record P(in) · 1/4 = 4/10 · 1/4
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    people = {"zip": ["a", "b", "c", "c", "a", "a", "d", "d", "d", "d"]}
    world = by_hand(without_age, rows, population=people, membership=4 / 10, known=(), anybody=True)
    found = figures(Linking(), world, Link.CONTAINMENT)
    np.testing.assert_allclose(found["max"].each, 1 / 10)
    assert found["mean"].detail["over_people"] == pytest.approx(1 / 10)


def test_linking_by_a_register_leaves_withheld_rows_out() -> None:
    # as before, and two people of d withheld: they are no candidates, so the right record of a and b has 1/F still
    rows = {"zip": ["a", "b", "c", "c", "d", "d"], "ill": ILL}
    people = {"zip": ["a", "b", "c", "c", "a", "a", "d", "d", "d", "d"]}
    cells = {"zip": ["{a, b}", "{a, b}", "c", "c", "*", "*"]}
    world = by_hand(without_age, rows, cells, population=people, membership=6 / 10)
    found = figures(Linking(), world, Link.CONTAINMENT)
    np.testing.assert_allclose(found["max"].each, [1 / 4, 1 / 4, 1 / 2, 1 / 2, 0, 0], atol=1e-6)
    # as candidates for everybody they make nobody certainly out
    assert (scores(world, 6 / 10).scores["posterior"] > 0.1).all()


def test_linking_to_centroids_by_the_granted_class() -> None:
    # ages 1 and 3 published as their mean, 2, which is nobody's age: no record fits, but the class of two is granted
    columns = {"age": {"role": "quasi", "type": "numeric"}, "ill": COLUMNS["ill"]}
    rows = {"age": ["1", "3", "7", "9"], "ill": ["flu", "hiv", "flu", "flu"]}
    world = by_hand(columns, rows, {"age": ["2", "2", "8", "8"]})
    assert figures(Linking(), world, Link.CLASS)["success"].each.tolist() == [0.5] * 4
    assert figures(Linking(), world, Link.CONTAINMENT)["max"].value == 0
    # the others of the class: hiv, flu, flu, flu. Rows 3 and 4 are guessed right
    left_out = LeaveOneOut(beliefs_of(world, Link.CLASS), world.bucket, world.fragment)
    assert figures(Homogeneity(), world, Link.CLASS, "ill", left_out)["success"].each.tolist() == [0, 0, 1, 1]


def test_suppressed_rows_by_convention() -> None:
    # a and b published, two rows withheld. Excluded: a has one candidate. Wildcard: three, and each withheld row fits
    # everybody. Own: a has one; the withheld class is found only where it is granted, and holds two.
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    world = by_hand(without_age, rows, {"zip": ["a", "b", "*", "*"]})
    expected = {
        (Suppression.EXCLUDED, Link.CONTAINMENT): [1, 1, 0, 0],
        (Suppression.WILDCARD, Link.CONTAINMENT): [1 / 3, 1 / 3, 1 / 2, 1 / 2],
        (Suppression.OWN, Link.CONTAINMENT): [1, 1, 0, 0],
        (Suppression.OWN, Link.CLASS): [1, 1, 1 / 2, 1 / 2],
    }
    for (suppression, link), each in expected.items():
        found = figures(Linking(), world, link, beliefs=beliefs_of(world, link, suppression=suppression))
        np.testing.assert_allclose(found["max"].each, each)


# ----- homogeneity ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [generalised(), bucketized()], ids=["generalised", "bucketized"])
def test_homogeneity(world: World) -> None:
    # generalised: a has flu 3/6, others 1/6; b flu 1/2, hiv 1/2; c flu 2/4, ulcer 1/4, gastritis 1/4.
    # bucketized: a has flu 1/2 · 1/2 + 1/2 · 2/4 = 1/2, hiv 1/4, others 1/8; b and c as before.
    # 0.5 is not above 0.5. Right: rows 1, 3 and 4, and half of row 2's tie.
    found = figures(Homogeneity(), world, Link.CONTAINMENT, "ill")
    assert found["certain"].value == 0
    assert found["above"].value == 0
    assert found["success"].each.tolist() == [1, 1 / 2, 1, 1, 0, 0]
    assert found["success"].expected == pytest.approx(1 / 2)
    assert figures(Homogeneity(tau=0.49), world, Link.CONTAINMENT, "ill")["above"].value == 6


def test_homogeneity_in_slices() -> None:
    # (a, 1): flu in both buckets, so certain. (b, 2): hiv, certain. (c, 1): flu twice. (c, 2): ulcer or gastritis.
    found = figures(Homogeneity(), sliced(), Link.CONTAINMENT, "ill")
    assert found["certain"].each.tolist() == [1, 1, 1, 1, 0, 0]
    assert found["success"].each.tolist() == [1, 1, 1, 1, 1 / 2, 1 / 2]
    assert found["success"].detail["histogram"]["counts"] == [0, 0, 0, 0, 0, 2, 0, 0, 0, 4]


def test_homogeneity_without_the_own_record() -> None:
    # class granted, own record out: rows 1 and 2 see each other's value; row 3 flu, ulcer, gastritis: 1/3; row 4 the same;
    # rows 5 and 6 see flu twice
    world = generalised()
    left_out = LeaveOneOut(beliefs_of(world, Link.CLASS), world.bucket, world.fragment)
    found = figures(Homogeneity(), world, Link.CLASS, "ill", left_out)
    np.testing.assert_allclose(found["success"].each, [0, 0, 1 / 3, 1 / 3, 0, 0])


# ----- membership ----------------------------------------------------------------------------------------------------


def scores(world: World, prior: float = 0.5) -> MemberClaims:
    beliefs = beliefs_of(world, Link.CONTAINMENT, suppression=Suppression.WILDCARD)
    claims = Membership(prior).run(View(world.release, world.knowledge, beliefs), np.random.default_rng(0))
    assert isinstance(claims, MemberClaims)
    return claims


def test_membership_in_slices() -> None:
    # matching buckets and f: (a, 1) both, 1/2 · 1/2 + 1/4 · 2/4 = 3/8; (b, 2) the first, 1/4; (c, 1) and (c, 2) the
    # second, 3/4 · 2/4 = 3/8. Shares in the release: zip a 1/3, b 1/6, c 1/2; age 1/2 each.
    # L = (1/6) Σ w/q: (a, 1) (1/2 + 1/2)/(1/6)/6 = 1; (b, 2) (1/2)/(1/12)/6 = 1; (c, ·) (3/2)/(1/4)/6 = 1, so nothing
    # is learned beyond the marginals, and P(in) is the prior
    claims = scores(sliced(), 0.3)
    np.testing.assert_allclose(claims.scores["buckets"], [2, 1, 2, 1, 1, 1])
    np.testing.assert_allclose(claims.scores["degree"], [3 / 8, 1 / 4, 3 / 8, 3 / 8, 3 / 8, 3 / 8])
    np.testing.assert_allclose(claims.scores["posterior"], 0.3)
    assert claims.population == "marginals of the release"


@pytest.mark.parametrize("prior", [0.4, 0.5])
def test_membership_by_a_register_is_the_share_of_look_alikes(prior: float) -> None:
    # 2 of 4 people who fit {a, b} are in, 2 of 2 who fit c, none of d. At the prior n/N = 0.4 that is P(in); at 0.5 the
    # odds are (1/1)/(4/6) = 1.5 times as high: 0.5 becomes 1.5/2.5
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    people = {"zip": ["a", "b", "c", "c", "a", "a", "d", "d", "d", "d"]}
    world = by_hand(without_age, rows, {"zip": ["{a, b}", "{a, b}", "c", "c"]}, population=people)
    half = {0.4: 0.5, 0.5: 0.6}[prior]
    claims = scores(world, prior)
    np.testing.assert_allclose(claims.scores["posterior"], [half, half, 1, 1], atol=1e-6)
    assert claims.population == "register"


def test_membership_where_everybody_of_the_register_is_in() -> None:
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    world = by_hand(without_age, rows, population={"zip": rows["zip"]}, membership=1.0)
    np.testing.assert_allclose(scores(world).scores["posterior"], 1, atol=1e-6)
    np.testing.assert_allclose(figures(Linking(), world, Link.CONTAINMENT)["max"].each, [1, 1, 1 / 2, 1 / 2])


def test_nobody_is_certainly_out_while_a_row_is_withheld() -> None:
    rows = {"zip": ["a", "b", "c", "c"], "ill": ILL[:4]}
    world = by_hand(without_age, rows, {"zip": ["a", "b", "b", "*"]})
    claims = scores(world)
    np.testing.assert_array_equal(claims.scores["buckets"], [2, 2, 1, 1])
    assert (claims.scores["posterior"] > 0).all()


def test_kinds_are_told_apart() -> None:
    kinds = [world.release.kind for world in (generalised(), bucketized(), sliced())]
    assert kinds == [Kind.GENERALISED, Kind.BUCKETIZED, Kind.SLICED]


@pytest.mark.parametrize("make", [lambda: Linking(1.0), lambda: Homogeneity(1.0), lambda: Membership(0.0)])
def test_settings_are_checked(make: object) -> None:
    with pytest.raises(UsageError):
        make()


def test_a_journalist_who_finds_everybody_in_the_release_is_sure() -> None:
    # five people fit the class of five, and all are in the population: 1/5 exactly, not 0.1999999998
    people = {"age": ["20"] * 5 + ["30"] * 5, "ill": list("ababababab")}
    schema = Schema.from_dict({"columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}})
    frame = pd.DataFrame(people)
    more = pd.concat([frame, frame[5:]])  # ten people are 30
    record = audit(
        frame, schema, original=frame, match="rows", population=more, options=Options(attacks=("linking",), utility=())
    )
    for link in ("class", "containment"):
        assert record.find("linking", "max", adversary="journalist", link=link).value == 0.2
        assert record.find("linking", "mean", adversary="marketer", link=link).value == pytest.approx((0.2 + 0.1) / 2)
