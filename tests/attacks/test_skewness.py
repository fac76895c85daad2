"""The skewness attack: what a release makes likelier than it is at large."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from attacks.base import NotApplicable, View
from attacks.skewness import Skewness
from auditor.auditing.scoring.claims import score
from auditor.auditing.scoring.figures import Truth
from auditor.measure.classes import class_facts
from auditor.measure.divergences import parts, relative_entropy
from auditor.model.errors import UsageError
from auditor.posterior.beliefs import Prior
from auditor.posterior.leave_one_out import LeaveOneOut
from auditor.posterior.links import Link
from tests.support.tables import World, beliefs_of, by_hand, figures, worlds

# The paper's example, smaller: a quarter of all test positive, half of the first class, nobody in the second.
TEST = {"zip": {"role": "quasi"}, "test": {"role": "sensitive"}}
ZIP = ["a"] * 4 + ["b"] * 4
RESULT = ["pos", "pos", "neg", "neg"] + ["neg"] * 4
BLOCKS = {"generalised": None, "bucketized": [["zip"], ["test"]]}

# Table 3 of the paper: salary (in thousands) of three classes of three.
SALARY = {"zip": {"role": "quasi"}, "salary": {"role": "sensitive", "type": "numeric"}}
SALARIES = ["3", "4", "5", "6", "11", "8", "7", "9", "10"]


def clinic(kind: str = "generalised") -> World:
    return by_hand(TEST, {"zip": ZIP, "test": RESULT}, None, BLOCKS[kind], [0] * 4 + [1] * 4)


@pytest.mark.parametrize("kind", list(BLOCKS))
@pytest.mark.parametrize("link", [Link.CONTAINMENT, Link.LIKELIHOOD, Link.CLASS])
def test_half_of_a_class_against_a_quarter_at_large(kind: str, link: Link) -> None:
    # Class a: P(pos) = 1/2 over 1/4: lift 2; P(neg) = 1/2 over 3/4. Class b: P(neg) = 1 over 3/4: lift 4/3.
    # Claims: a positive, b negative; 2 of 4 and 4 of 4 are right. Gains: 1/2 log2 2 + 1/2 log2 (2/3) = 0.2075 bits in a,
    # log2 (4/3) = 0.4150 in b. t, all values equally far apart: 1/2 - 1/4 = 1/4 in a, 1 - 3/4 in b.
    found = figures(Skewness(), clinic(kind), link, "test")
    assert found["lift_max"].value == pytest.approx(2)
    assert found["lift_max"].each == pytest.approx([2] * 4 + [4 / 3] * 4)
    assert found["success"].value == pytest.approx(6 / 8)
    assert found["success"].expected == pytest.approx(6 / 8)
    assert found["certain"].value == 4
    assert found["above"].value == 4  # one half is not above one half
    assert found["gain_mean"].value == pytest.approx((4 * 0.20752 + 4 * 0.41504) / 8, abs=1e-5)
    assert found["t_max"].value == pytest.approx(0.25)
    assert found["t_max"].params == {"ground": "equal"}


def test_the_salaries_of_the_paper() -> None:
    # the paper, section 4.1: the first class, {3, 4, 5}, is 0.375 away from {3, …, 11}; the second, {6, 8, 11}, 0.167
    world = by_hand(SALARY, {"zip": list("aaabbbccc"), "salary": SALARIES})
    found = figures(Skewness(), world, Link.CONTAINMENT, "salary")
    each = found["t_max"].each
    assert each is not None
    assert found["t_max"].value == pytest.approx(0.375)
    assert each[3] == pytest.approx(1 / 6)
    assert found["t_max"].params == {"ground": "ordered"}
    # three values of nine, equally likely: log2 3 bits; each is three times as likely as at large, a tie of three
    assert found["gain_mean"].value == pytest.approx(np.log2(3))
    assert found["success"].value == pytest.approx(1 / 3)


@given(worlds(("generalised",)))
def test_with_only_the_class_known_it_finds_what_the_classes_are(world: World) -> None:
    """Where every label is one value, the greatest lift is 1 + β of β-likeness, and t that of t-closeness."""
    inside = np.flatnonzero(world.bucket >= 0)
    if len(inside) < world.table.rows or world.release.suppressed.any():
        return
    knowledge = world.knowledge.take(inside)
    bare = replace(world, knowledge=replace(knowledge, columns=(), codes=knowledge.codes[:, :0], membership=None))
    for fact in class_facts(world.release).sensitive:
        labels = world.release.labels[fact.column]
        used = np.unique(world.release.block_of(fact.column).cell(fact.column))
        if (labels.counts[used] != 1).any() or fact.beta_basic is None:
            continue
        view = View(bare.release, bare.knowledge, beliefs_of(bare, Link.CLASS), Link.CLASS, fact.column)
        claims = Skewness().run(view, np.random.default_rng(0))
        assert not isinstance(claims, NotApplicable)
        truth = Truth(inside, world.bucket, world.fragment, world.table.codes[fact.column].astype(np.int64))
        found = {figure.measure: figure for figure in score(claims, truth)}
        assert found["lift_max"].value == pytest.approx(1 + fact.beta_basic)
        grounds = {"equal": fact.t_equal, "ordered": fact.t_ordered, "hierarchical": fact.t_hierarchical}
        assert found["t_max"].value == pytest.approx(grounds[found["t_max"].params["ground"]] or 0.0, abs=1e-6)


def test_relative_entropy() -> None:
    # {1/2, 1/2} against {1/4, 3/4}: 1/2 log2 2 + 1/2 log2 (2/3); the same: 0; what the whole has not: infinite; nobody: 0
    counts = np.array([[2, 2, 0], [1, 3, 0], [0, 0, 1], [0, 0, 0]])
    found = relative_entropy(counts, np.array([1, 3, 0]))
    assert found == pytest.approx([0.5 + 0.5 * np.log2(2 / 3), 0, np.inf, 0])
    assert parts(np.array([0.25, 1 / 3])).tolist() == [250000000, 333333333]


def test_without_the_release_nothing_is_likelier_than_it_is() -> None:
    world = clinic()
    prior = Prior(8, world.knowledge.priors, world.release.sizes)
    found = figures(Skewness(), world, Link.CONTAINMENT, "test", prior)
    assert found["lift_max"].value == pytest.approx(1)
    assert found["gain_mean"].value == pytest.approx(0, abs=1e-9)
    assert found["t_max"].value == pytest.approx(0, abs=1e-9)
    assert found["success"].value == pytest.approx(0.5)  # both values tie


def test_one_class_that_covers_all_tells_nothing() -> None:
    world = by_hand(TEST, {"zip": ["a"] * 8, "test": RESULT})
    found = figures(Skewness(), world, Link.CONTAINMENT, "test")
    assert found["lift_max"].value == pytest.approx(1)
    assert found["success"].value == pytest.approx(0.5)
    assert found["t_max"].value == pytest.approx(0)


def test_permuted_truths_are_no_better_than_leaving_the_record_out() -> None:
    left, permuted, right = [], [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = {"zip": [f"z{z}" for z in np.repeat(np.arange(40), 5)], "test": rng.choice(list("uvwxy"), 200).tolist()}
        world = by_hand(TEST, rows)
        beliefs = beliefs_of(world, Link.CONTAINMENT)
        without = LeaveOneOut(beliefs, world.bucket, world.fragment)
        right.append(figures(Skewness(), world, Link.CONTAINMENT, "test")["success"].value)
        left.append(figures(Skewness(), world, Link.CONTAINMENT, "test", without)["success"].value)
        shuffled = {**world.table.codes, "test": rng.permutation(world.table.codes["test"])}
        other = replace(world, table=replace(world.table, codes=shuffled))
        permuted.append(figures(Skewness(), other, Link.CONTAINMENT, "test")["success"].value)
    assert np.mean(right) > 0.35
    assert np.mean(permuted) == pytest.approx(0.2, abs=0.03)  # five values, equally common
    assert np.mean(left) < 0.23


def test_the_order_of_rows_does_not_matter() -> None:
    world = clinic()
    release, renumber = world.release.shuffled(np.random.default_rng(0))
    other = World(world.table, release, world.provenance, world.knowledge, renumber[world.bucket], world.fragment)
    before = figures(Skewness(), world, Link.CONTAINMENT, "test")
    after = figures(Skewness(), other, Link.CONTAINMENT, "test")
    assert {m: f.value for m, f in before.items()} == {m: f.value for m, f in after.items()}


def test_what_it_needs() -> None:
    world = clinic()
    knowledge = type(world.knowledge)(world.knowledge.columns, world.knowledge.codes)
    view = View(world.release, knowledge, beliefs_of(world, Link.CONTAINMENT), Link.CONTAINMENT, "test")
    claims = Skewness().run(view, np.random.default_rng(0))
    assert claims == NotApplicable("how common the values of test are at large is not known.")
    with pytest.raises(UsageError):
        Skewness(tau=1)
